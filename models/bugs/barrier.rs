//! The bugs of the barriers.

use super::Part;

pub(super) const PARTS: &[Part] = &[Part {
    name: "barrier",
    file: "../crates/kernels/src/sync/barrier/own.rs",
    bugs: &[
        ("central_lets_the_first_pass", "+ 1 == self.parties", "+ 1 >= self.parties - 1"),
        ("central_arriving_publishes_nothing", "fetch_add(1, Ordering::AcqRel)", "fetch_add(1, Ordering::Acquire)"),
        ("central_arriving_sees_nothing", "fetch_add(1, Ordering::AcqRel)", "fetch_add(1, Ordering::Release)"),
        (
            "central_arrives_in_two_steps",
            "self.arrived.fetch_add(1, Ordering::AcqRel) + 1",
            "{ let seen = self.arrived.load(Ordering::Acquire); self.arrived.store(seen + 1, Ordering::Release); seen } + 1",
        ),
        ("central_cannot_be_used_again", "self.arrived.store(0, Ordering::Relaxed);", ""),
        (
            "central_changing_publishes_nothing",
            "wrapping_add(1), Ordering::Release",
            "wrapping_add(1), Ordering::Relaxed",
        ),
        (
            "central_leaving_sees_nothing",
            "self.generation.load(Ordering::Acquire)",
            "self.generation.load(Ordering::Relaxed)",
        ),
        ("central_lets_pass_and_then_counts", CENTRAL, CENTRAL_LATE),
        ("central_looks_too_late", LOOKS, LOOKS_LATE),
        ("sense_arriving_publishes_nothing", "fetch_sub(1, Ordering::AcqRel)", "fetch_sub(1, Ordering::Acquire)"),
        ("sense_arriving_sees_nothing", "fetch_sub(1, Ordering::AcqRel)", "fetch_sub(1, Ordering::Release)"),
        ("sense_is_not_turned", "*own = !*own;", ""),
        ("sense_cannot_be_used_again", "self.missing.store(self.parties, Ordering::Relaxed);", ""),
        ("sense_turning_publishes_nothing", "store(*own, Ordering::Release)", "store(*own, Ordering::Relaxed)"),
        ("sense_leaving_sees_nothing", "self.sense.load(Ordering::Acquire)", "self.sense.load(Ordering::Relaxed)"),
        ("sense_lets_pass_and_then_counts", SENSE, SENSE_LATE),
    ],
}];

const CENTRAL: &str = "            self.arrived.store(0, Ordering::Relaxed);
            self.generation.store(generation.wrapping_add(1), Ordering::Release);";

const CENTRAL_LATE: &str = "            self.generation.store(generation.wrapping_add(1), Ordering::Release);
            self.arrived.store(0, Ordering::Relaxed);";

const LOOKS: &str = "        spin_until(each, || self.generation.load(Ordering::Acquire) != generation);";

const LOOKS_LATE: &str = "        let generation = self.generation.load(Ordering::Relaxed);
        spin_until(each, || self.generation.load(Ordering::Acquire) != generation);";

const SENSE: &str = "            self.missing.store(self.parties, Ordering::Relaxed);
            self.sense.store(*own, Ordering::Release);";

const SENSE_LATE: &str = "            self.sense.store(*own, Ordering::Release);
            self.missing.store(self.parties, Ordering::Relaxed);";
