//! What a sweep that is resumed takes from its report.

use super::counters::CountersArgs;
use charz_data::params::PARAMS;

/// The flags that `--resume` excludes: every parameter, and everything else that a report's plan or its file determines.
pub(super) fn set_by_the_report() -> impl Iterator<Item = &'static str> {
    const OTHERS: [&str; 27] = [
        "command",
        "value",
        "work",
        "unit",
        "direction",
        "verify",
        "setup",
        "run_timeout",
        "mapping",
        "allow_stack",
        "kernel",
        "family",
        "threads",
        "repetitions",
        "invocations",
        "precision",
        "seed",
        "oversubscribed",
        "accept_panic",
        "clock",
        "binder",
        "config",
        "output",
        "force",
        "quick",
        "dry_run",
        "topology",
    ];
    PARAMS.iter().map(|param| param.name).chain(OTHERS).chain(CountersArgs::NAMES)
}
