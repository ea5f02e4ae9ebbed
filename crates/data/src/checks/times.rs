//! Checks of pairs of times that workers stamped, and of the schedule that they were taken by.

use super::{Check, Scale};

/// How many pairs the T3-4 report took: of so many, ten lie beyond the 99.99th percentile.
pub const ENOUGH_PAIRS: u64 = 100_000;

pub static V30: Check = Check {
    code: "V30",
    title: "too few samples for percentiles",
    cause: "What is rare is seen rarely: of fewer than 100,000 pairs, fewer than 10 lie beyond the 99.99th percentile, which is \
            null then. The median, which is the configuration's number, needs far fewer.",
    quantity: "Pairs of times in clean iterations that are missing to 100,000.",
    scale: Scale::Count,
    note: Some(0.0),
    evidence: "The report's own samples.",
    families: "Kernels that stamp each operation.",
    fix: "Ask for more with `--samples` or more runs, or a larger `--budget`.",
    source: "The T3-4 report took 100,000 samples of each.",
    ..Check::NEVER_RAISED
};

pub static V31: Check = Check {
    code: "V31",
    title: "timer overhead is significant",
    cause: "Between two readings of the clock lies the better part of one reading, and it is in every time. Nothing is \
            subtracted: how much of a reading overlaps with what is timed is unknown. Elsewhere a thread may read it at the \
            end of each block of its work, and the reading is in the time of the block.",
    quantity: "The cost of a reading, as a share of the median of the second time, which is the configuration's number; where only the \
               first time is short, that is a note. Where threads time blocks of their work, all readings of a thread as a share of \
               its iteration: suspect above 1%.",
    scale: Scale::Share,
    note: Some(0.10),
    suspect: Some(0.50),
    evidence: "The clock's overhead, measured before the sweep; the report's own samples.",
    families: "Kernels that stamp each operation, or time blocks. A clock that is itself looked at (`step-*`, `first-*`) is not stamped by \
               another.",
    fix: "Let the kernel use `tsc` where it can (`charz doctor`), or take the clock that is read fastest (`--clock auto`). Read such \
          times as bounds from above.",
    source: "Hoefler and Belli (SC 2015) ask for 5% of an iteration; for single operations charz's first guess.",
    ..Check::NEVER_RAISED
};

pub static V32: Check = Check {
    code: "V32",
    title: "sampling fell behind schedule",
    cause: "Samples of waking and creating are due at given times, and one that begins late, since the one before took so \
            long, counts from when it was due; after more than ten periods the schedule starts anew. Where many are late, the \
            times are those of a queue: of a machine that was away, or of a schedule that is too fast for it.",
    quantity: "The share of samples that began more than 1 µs after they were due.",
    scale: Scale::Share,
    note: Some(0.02),
    suspect: Some(0.2),
    invalid: Some(0.5),
    evidence: "Counted by the thread that takes the samples.",
    families: "Sync kernels that obey `--period`.",
    fix: "Quieten the machine (`charz doctor`), or give samples more time (`--period 200us`); `--period closed` times each from \
           its own call, and hides what a stall would have cost the others.",
    source: "G. Tene, How NOT to Measure Latency (2013), for counting from when a sample was due; the limits are charz's first \
             guesses.",
    ..Check::NEVER_RAISED
};
