//! The bugs of the stack without a lock.

use super::Part;

pub(super) const PARTS: &[Part] = &[Part {
    name: "treiber",
    file: "../crates/kernels/src/sync/pool/treiber.rs",
    bugs: &[
        ("has_no_tag", "Self::with_top(seen.head, seen.below, 1)", "Self::with_top(seen.head, seen.below, 0)"),
        ("looking_sees_nothing", "self.head.load(Ordering::Acquire)", "self.head.load(Ordering::Relaxed)"),
        ("pushing_publishes_nothing", "Ordering::Release, Ordering::Relaxed", "Ordering::Relaxed, Ordering::Relaxed"),
        ("forgets_what_lies_below", "self.below[item as usize].store(Self::top(head), Ordering::Relaxed);", ""),
        (
            "takes_in_two_steps",
            "self.head.compare_exchange(seen.head, new, Ordering::Relaxed, Ordering::Relaxed);",
            "if self.head.load(Ordering::Acquire) == seen.head { self.head.store(new, Ordering::Release); Ok(0) } else { Err(0) };",
        ),
        ("gives_up_after_a_failure", "while !self.push(item) {", "if !self.push(item) {"),
    ],
}];
