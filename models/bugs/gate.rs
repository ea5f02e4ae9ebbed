//! The bugs of the harness' gate.

use super::Part;

pub(super) const PARTS: &[Part] = &[Part { name: "gate", file: "../crates/measure/src/harness/gate.rs", bugs: BUGS }];

const BUGS: &[(&str, &str, &str)] = &[
    ("closes_without_the_lock", "let _queue = self.lock();", ""),
    (
        "closes_silently",
        "self.closed.store(true, Ordering::Relaxed);\n        self.bell.notify_all();",
        "self.closed.store(true, Ordering::Relaxed);",
    ),
    (
        "closing_wakes_one",
        "self.closed.store(true, Ordering::Relaxed);\n        self.bell.notify_all();",
        "self.closed.store(true, Ordering::Relaxed);\n        self.bell.notify_one();",
    ),
    ("forgets_that_it_is_closed", "if self.closed() {\n            return Decision::NoGo;\n        }", ""),
    (
        "calls_back_who_has_passed",
        "if queue.generation == generation { Decision::NoGo }",
        "if self.closed() { Decision::NoGo }",
    ),
    (
        "the_last_wakes_one",
        "queue.generation += 1;\n            self.bell.notify_all();",
        "queue.generation += 1;\n            self.bell.notify_one();",
    ),
    ("the_last_passes_alone", "queue.generation += 1;\n            self.bell.notify_all();", "queue.generation += 1;"),
    ("lets_the_first_pass", "if queue.arrived == self.parties {", "if queue.arrived == self.parties - 1 {"),
    ("cannot_be_used_again", "queue.arrived = 0;", ""),
    ("rushes_once", "round * self.spinners", "self.spinners"),
    ("rushes_behind_a_closed_gate", "self.spinners && !self.closed()", "self.spinners"),
    ("rushing_publishes_nothing", "fetch_add(1, Ordering::AcqRel)", "fetch_add(1, Ordering::Acquire)"),
    ("rushing_sees_nothing", "self.released.load(Ordering::Acquire)", "self.released.load(Ordering::Relaxed)"),
];
