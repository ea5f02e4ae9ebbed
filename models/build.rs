//! Copies the gate out of charz for the models, once as it is and once with each of the seeded bugs.
//!
//! The bugs are edits of the very text that charz compiles. One that finds nothing to edit fails the build, so that they
//! cannot fall behind the code.

use std::path::PathBuf;
use std::{env, fs};

const GATE: &str = "../crates/charz/src/harness/gate.rs";

/// Each bug: the name of the copy, what is taken out, and what stands there instead.
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
    ("rushing_sees_nothing", "self.rushed.load(Ordering::Acquire)", "self.rushed.load(Ordering::Relaxed)"),
];

fn main() {
    println!("cargo::rerun-if-changed={GATE}");
    println!("cargo::rerun-if-changed=build.rs");
    let text = fs::read_to_string(GATE).unwrap_or_else(|error| panic!("cannot read {GATE}: {error}"));
    // A module that is included has no room for inner comments, and the gate's own tests run in charz.
    let (code, _) = text.split_once("#[cfg(test)]").unwrap_or((&text, ""));
    let code: String = code.lines().filter(|line| !line.starts_with("//!")).map(|line| format!("{line}\n")).collect();
    write("faithful", &code);
    for (name, from, to) in BUGS {
        assert!(code.matches(from).count() == 1, "{GATE} no longer says {from:?} once; adapt the bug {name}");
        write(name, &code.replace(from, to));
    }
}

fn write(name: &str, code: &str) {
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names the folder"));
    fs::write(folder.join(format!("{name}.rs")), code).expect("the copy can be written");
}
