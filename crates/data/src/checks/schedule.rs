//! What can be wrong with times that are taken by a schedule.

use super::{Check, Scale};

/// Samples that began late.
pub static V32: Check = Check {
    code: "V32",
    title: "the schedule of samples was not kept",
    cause: "Samples of waking and creating are due at given times, and one that begins late, since the one before took so \
            long, counts from when it was due; after more than ten periods the schedule starts anew. Where many are late, the \
            times are those of a queue: of a machine that was away, or of a schedule that is too fast for it.",
    quantity: "The share of samples that began more than 1 µs after they were due.",
    scale: Scale::Share,
    lap: None,
    note: Some(0.02),
    suspect: Some(0.2),
    invalid: Some(0.5),
    evidence: "Counted by the worker that takes the samples.",
    families: "Sync kernels that obey `--period`.",
    mend: "Quieten the machine (`charz doctor`), or give samples more time (`--period 200us`); `--period closed` times each from \
           its own call, and hides what a stall would have cost the others.",
    source: "G. Tene, How NOT to Measure Latency (2013), for counting from when a sample was due; the limits are charz's first \
             guesses.",
    covers: &[],
    waives: &[],
};
