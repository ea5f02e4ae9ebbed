//! Options of version 0.1 that have other names since: the old one, and today's.

/// How many processes a configuration has.
pub const RUNS: (&str, &str) = ("invocations", "runs");
/// How often a process times it.
pub const ITERATIONS: (&str, &str) = ("repetitions", "iterations");
/// How often the loop of a kernel goes round.
pub const STEPS: (&str, &str) = ("iterations", "steps");
