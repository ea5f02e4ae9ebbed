//! Checks of repetitions and invocations as samples.

use super::{Check, Scale};

/// The fewest invocations that have a confidence interval: with 6, smallest to largest covers the median with 96.9%.
pub const INTERVAL_NEEDS: usize = 6;

/// From how many invocations on their number leaves nothing to wish for (V12).
pub const ENOUGH: usize = 10;

/// The fewest clean repetitions of which a share of outliers says anything (V14): of fewer, one is more than the limit.
pub const LEAST_FOR_OUTLIERS: usize = 10;

/// Half of the width that an interval may have, as a fraction, whatever was asked for (V28).
pub const WIDEST: f64 = 0.05;

/// The same of kernels that only compute.
pub const WIDEST_OF_COMPUTE: f64 = 0.03;

/// By how much longer a cache line takes, as a fraction, where CPUs are elsewhere than before (V16): its own line in a cache moves the time
/// by a tenth, and the nearest two distances of known processors are further apart.
pub const MOVED: f64 = 0.3;

/// The fewest runs that show a placement or a speed: one may be an accident.
pub const LEAST_OF_A_GROUP: usize = 2;

pub static V12: Check = Check {
    code: "V12",
    title: "too few runs",
    of_capacity: true,
    cause: "Iterations within a process share its layout and its luck; only fresh processes (runs) tell how much \
            numbers differ. With fewer than 6 there is no interval. With fewer than 10 the \
            interval is smallest to largest or nearly so.",
    quantity: "Runs with a value that are missing to 10.",
    scale: Scale::Count,
    note: Some(0.0),
    // More than 4 missing are fewer than `INTERVAL_NEEDS`; all 10, and there is no number.
    suspect: Some(4.0),
    invalid: Some(9.0),
    evidence: "The report's own samples.",
    families: "All.",
    fix: "Ask for more iterations and runs, or a larger `--budget`.",
    source: "Order statistics of the median: 1 - 2/2⁶ = 96.9%. lmbench takes 11 tries, EPCC 20, criterion 100 samples.",
    ..Check::NEVER_RAISED
};

pub static V13: Check = Check {
    code: "V13",
    title: "high variation",
    of_capacity: true,
    cause: "Something changes from one iteration to the next that no other check names: neighbours in caches and memory, \
            pages in other places, power. The middle one is right for no iteration in particular.",
    quantity: "1.4826 times the median absolute deviation of the clean iterations, as a share of their median: a standard \
               deviation that outliers cannot move.",
    scale: Scale::Share,
    note: Some(0.10),
    evidence: "The report's own samples.",
    families: "Numbers made of iterations.",
    fix: "Quieten the machine (`charz doctor`), and repeat the configuration with more runs.",
    source: "Pyperf warns at a standard deviation of 10%, nanobench at 5%; the factor: Rousseeuw and Croux (JASA 1993).",
    // What spreads repetitions spreads invocations.
    covers: &["V28"],
    ..Check::NEVER_RAISED
};

pub static V14: Check = Check {
    code: "V14",
    title: "outliers",
    of_capacity: true,
    cause: "Now and then something takes far longer: an interrupt storm, a management interrupt, compaction, a neighbour. \
            Outliers are never dropped for their value; many of them say that what disturbs is no accident.",
    quantity: "The share of clean iterations outside of Tukey's outer fences, 3 interquartile ranges beyond the quartiles, and more \
               than one step of the readings.",
    scale: Scale::Share,
    note: Some(0.10),
    evidence: "The report's own samples.",
    families: "Numbers made of iterations.",
    fix: "Quieten the machine (`charz doctor`); look for interrupts with `watch -d cat /proc/interrupts`.",
    source: "Tukey, Exploratory Data Analysis (1977); criterion keeps outliers by the same fences. The 10% is charz's first \
             guess.",
    ..Check::NEVER_RAISED
};

pub static V15: Check = Check {
    code: "V15",
    title: "results drift over time",
    cause: "The machine was still warming up, or cooling down: caches, page tables, frequency, heat. The result depends on \
            how many iterations were made.",
    quantity: "The difference between the medians of the first third and the last third of the runs, as a share, where \
               they rise or fall by more than chance; in cycles where they follow the clock of the cores. First iterations \
               that differ by as much from the others of their process are a note, and are left out of every run \
               alike; so is a trend of numbers made of iterations, which is that of the disturbances. Between two saved \
               reports a trend of any size widens the interval of the difference, which may be the rest of it.",
    scale: Scale::Share,
    suspect: Some(0.02),
    evidence: "The report's own samples, in the order in which they were taken.",
    families: "Kernels with work to repeat.",
    fix: "Measure longer (`--iterations`, `--steps`), and see whether the frequency settles (V08).",
    source: "Georges, Buytaert and Eeckhout (OOPSLA 2007) for steady states; Mann (Econometrica 1945) for the trend; \
             hyperfine warns of a slow first run. The 2% is charz's first guess.",
    // A trend is spread too, and many small steps look like modes.
    covers: &["V13", "V16", "V28"],
    ..Check::NEVER_RAISED
};

pub static V16: Check = Check {
    code: "V16",
    title: "multimodal results",
    of_capacity: true,
    cause: "There are two or more typical results, as when some pages land in other places, a turbo step comes and goes, a lock \
            has two speeds, or a host moves virtual CPUs. One number says nothing of the other.",
    quantity: "The m-value of the clean iterations: the rises and falls of their histogram, 2 for a single mode. Numbers \
               made of blocks are suspect where a slower sharp mode holds a fourth of the blocks, and no fewer than the fast \
               one; unless the canary saw two clocks within a run that are as much apart, except for locks and other \
               primitives. Those are suspect also where the fast mode holds less than a fifth. Other numbers are suspect, and the \
               interval holds all groups, where the values of runs fall into groups of at least 2 runs and 15% of all, more \
               than 5% apart and more than five times as far as runs are from the middle of their group. A note where at least 2 runs each fall into groups by how long a \
               cache line takes between the threads' CPUs, with gaps of more than 30%: the number is that of the largest group, of \
               equals the nearest, and is compared with no other.",
    scale: Scale::Ratio,
    note: Some(3.2),
    evidence: "The report's own samples; a cache line that threads on those CPUs exchange before and after the iterations of a run.",
    families: "Kernels with work to repeat.",
    fix: "Look at all iterations of the configuration (`charz render REPORT --format json`), and measure what separates the groups \
           apart, e.g. with `--pages 2m`.",
    source: "Gregg, frequency trails: modes and modality (2015); the limit is BenchmarkDotNet's. Groups by single linkage: \
             Sibson (The Computer Journal 1973); the 30% is measured for charz.",
    // Two groups are spread.
    covers: &["V13", "V28"],
    ..Check::NEVER_RAISED
};

pub static V18: Check = Check {
    code: "V18",
    title: "threads did not overlap",
    of_capacity: true,
    cause: "Threads started late or ended early, so the interval from the first start to the last end holds less \
            parallel work than it says. The rate is too low as that of all threads, and too high for the few that had the \
            machine to themselves at the end.",
    quantity: "The share of iterations that are dirty. An iteration is dirty if for more than the lap limit's share of it not all \
               threads were at work: what (first end - last start) / (last end - first start) lacks to 1.",
    scale: Scale::Share,
    lap: Some(0.20),
    note: Some(0.0),
    evidence: "The stamps of all laps.",
    families: "Numbers made of iterations of several threads on CPUs of their own (not V19), unless they take their work from one pool. \
               Of blocks those count during which all threads were at work.",
    fix: "Give an iteration more work (`--steps`, `--size`). Where cores differ (hybrid processors), measure each kind \
           by itself.",
    source: "The T3-4 report calls its own first start to last end \"not completely accurate\"; the limit is charz's first \
             guess.",
    ..Check::NEVER_RAISED
};

pub static V35: Check = Check {
    code: "V35",
    title: "ended at another size",
    cause: "The program makes one size after the other until its time is over. An iteration that reached fewer sizes, or more, or that \
            was stopped within one, did other work, and what an operation costs depends on the size.",
    quantity: "The share of iterations that are dirty. An iteration is dirty if a size was left unfinished, or if it reached another size \
               than most iterations did.",
    scale: Scale::Share,
    note: Some(0.0),
    evidence: "The sizes that each iteration finished.",
    families: "Programs that grow: `fft-*`, and products of matrices.",
    fix: "Give an iteration more time (`--span`), and stop other programs.",
    source: "Times of other work cannot have one median.",
    ..Check::NEVER_RAISED
};

pub static V28: Check = Check {
    code: "V28",
    title: "wide confidence interval",
    of_capacity: true,
    cause: "The runs differ so much, or were so few, that the budget ended before the confidence interval was as \
            narrow as this family requires. The number stands with the width that was reached; a difference \
            smaller than that cannot be seen in it.",
    quantity: "Half of the interval's width, divided by what was asked for; beyond 5% of the number (3% of kernels that \
               compute) it is suspect whatever was asked for. Where values follow the clock of the cores, the width in cycles \
               decides, and what the clock adds is a note.",
    scale: Scale::Ratio,
    // A memory kernel on a busy guest that reaches 4% where 2% was asked for is not suspect: its interval shows the 4%.
    // Three times as wide takes nine times the invocations, which no budget that was a little too small explains.
    note: Some(1.0),
    suspect: Some(3.0),
    evidence: "The values of the runs.",
    families: "Kernels with work to repeat.",
    fix: "Give more time (`--budget`), or quieten the machine (`charz doctor`).",
    source: "Kalibera and Jones (ISMM 2013) for measuring until an interval is narrow enough; the 3 is charz's first guess.",
    ..Check::NEVER_RAISED
};

pub static V33: Check = Check {
    code: "V33",
    title: "no sharp fast mode",
    of_capacity: true,
    cause: "Hardly any block of the work was left alone, or too few to be told from chance: the number is that of disturbed \
            blocks, and the hardware does better. The interval reaches as far as the fastest blocks.",
    quantity: "By how much the fastest twentieth of the blocks is faster than the number, in the run in the middle, as \
               a fraction.",
    scale: Scale::Share,
    note: Some(0.01),
    suspect: Some(0.02),
    evidence: "The times of the blocks of each lap.",
    families: "Numbers made of blocks.",
    fix: "Quieten the machine (`charz doctor`), or give more time (`--budget`): a neighbour that pauses leaves blocks alone.",
    source: "Measured for charz: in 554 configurations the distance to the fastest iterations told which medians were wrong, where \
             waiting did not.",
    covers: &["V28"],
    ..Check::NEVER_RAISED
};

pub static V29: Check = Check {
    code: "V29",
    title: "runs failed",
    cause: "A measuring process died, was refused what it needs, or did not end in its time. What is left are the values of \
            those that survived, and if it was no accident who did, the number is theirs alone. A configuration without a survivor, \
            or with too many failures, is `failed` and has no value.",
    quantity: "Runs that ended without a result, other than by a stop.",
    scale: Scale::Count,
    suspect: Some(0.0),
    invalid: Some(2.0),
    evidence: "The exit of each measuring process, and its own last words.",
    families: "All.",
    fix: "Read the reason. Out of memory: smaller blocks (`--size`) or fewer threads. Killed by the watchdog: less work per \
           iteration (`--steps`), or a quieter machine. A crash is a defect: report it. Of a program: \
           its exit code, `--value`, `--run-timeout`.",
    source: "Charz: first guess.",
    // Those that failed are missing to an interval.
    covers: &["V12"],
    ..Check::NEVER_RAISED
};
