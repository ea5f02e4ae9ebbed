//! The bugs of the locks.

use super::Part;

pub(super) const PARTS: &[Part] = &[
    Part { name: "tas", file: "../crates/kernels/src/sync/lock/tas.rs", bugs: OF_A_FLAG },
    Part { name: "backoff", file: "../crates/kernels/src/sync/lock/backoff.rs", bugs: OF_A_FLAG },
    Part { name: "ttas", file: "../crates/kernels/src/sync/lock/ttas.rs", bugs: OF_A_FLAG },
    Part {
        name: "ticket",
        file: "../crates/kernels/src/sync/lock/ticket.rs",
        bugs: &[
            (
                "draws_a_number_twice",
                "self.next.fetch_add(1, Ordering::Relaxed)",
                "self.next.load(Ordering::Relaxed); self.next.store(number + 1, Ordering::Relaxed)",
            ),
            ("being_called_sees_nothing", "self.called.load(Ordering::Acquire)", "self.called.load(Ordering::Relaxed)"),
            ("calling_publishes_nothing", "Ordering::Release", "Ordering::Relaxed"),
            ("calls_two", "store(number.wrapping_add(1)", "store(number.wrapping_add(2)"),
        ],
    },
    Part {
        name: "mcs",
        file: "../crates/kernels/src/sync/lock/mcs.rs",
        bugs: &[
            ("joining_sees_nothing", "Ordering::AcqRel", "Ordering::Release"),
            ("its_turn_sees_nothing", "place.waits.load(Ordering::Acquire)", "place.waits.load(Ordering::Relaxed)"),
            ("telling_publishes_nothing", "store(false, Ordering::Release)", "store(false, Ordering::Relaxed)"),
            (
                "leaving_publishes_nothing",
                "Ordering::Release, Ordering::Relaxed",
                "Ordering::Relaxed, Ordering::Relaxed",
            ),
            ("waits_after_it_was_told", WAITS, WAITS_LATE),
            ("leaves_a_waiter_behind", "while next == NONE {", "if next == NONE { return; } while false {"),
            ("never_hands_over", "self.place(next).waits.store(false, Ordering::Release);", ""),
            ("remembers_the_last_next", "place.next.store(NONE, Ordering::Relaxed);", ""),
        ],
    },
    Part {
        name: "clh",
        file: "../crates/kernels/src/sync/lock/clh.rs",
        bugs: &[
            ("joining_publishes_nothing", "Ordering::AcqRel", "Ordering::Acquire"),
            ("joining_sees_nothing", "Ordering::AcqRel", "Ordering::Release"),
            (
                "its_turn_sees_nothing",
                "self.place(before).load(Ordering::Acquire)",
                "self.place(before).load(Ordering::Relaxed)",
            ),
            ("giving_publishes_nothing", "store(false, Ordering::Release)", "store(false, Ordering::Relaxed)"),
            ("keeps_its_place", "owned.store(before, Ordering::Relaxed);", ""),
            ("is_not_given_back", "self.place(place).store(false, Ordering::Release);", ""),
        ],
    },
];

/// Those of a lock that is a flag, set by its holder.
const OF_A_FLAG: &[(&str, &str, &str)] = &[
    ("looks_and_then_takes", "self.taken.swap(true, Ordering::Acquire)", TWO_STEPS),
    ("taking_sees_nothing", "swap(true, Ordering::Acquire)", "swap(true, Ordering::Relaxed)"),
    ("giving_publishes_nothing", "store(false, Ordering::Release)", "store(false, Ordering::Relaxed)"),
    ("is_not_given_back", "self.taken.store(false, Ordering::Release)", "()"),
];

/// Looking and taking as two steps, with room for another thread in between.
const TWO_STEPS: &str =
    "{ let taken = self.taken.load(Ordering::Acquire); self.taken.store(true, Ordering::Relaxed); taken }";

const WAITS: &str = "place.waits.store(true, Ordering::Relaxed);
        // Release: the next one finds the place empty. Acquire: with no waiter before, what the last holder did is seen.
        let before = self.tail.swap(rank, Ordering::AcqRel);
        if before == NONE {
            return spin;
        }
        // Release: the worker before this one does so after this one has stored that it waits.
        self.place(before).next.store(rank, Ordering::Release);";

const WAITS_LATE: &str = "let before = self.tail.swap(rank, Ordering::AcqRel);
        if before == NONE {
            return spin;
        }
        self.place(before).next.store(rank, Ordering::Release);
        place.waits.store(true, Ordering::Relaxed);";
