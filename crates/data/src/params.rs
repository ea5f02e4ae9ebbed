//! The parameters of kernels: one type, and one table that flags, configuration, columns, labels and documents walk.
//!
//! A new parameter is a field of [`Params`], with its default, and a line of [`PARAMS`]; the kernels that obey it name it on
//! their cards.
#![allow(missing_docs, reason = "a parameter has its own line of help")]

mod kinds;
mod param;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use crate::bounds::{Bounds, MAX_CHAINS, MAX_OPS, MAX_TIMEOUT_NS, Quantity};
use crate::bounds::{LINE, MAX_DEPTH, MAX_ORDER, MAX_POOL, PERIOD_BOUNDS, PETABYTE, SECTION_BOUNDS, SPAN_BOUNDS};
use crate::memory::{MemoryPolicy, PageKind};
use crate::mix::Mix;
use crate::{quantity, units};
pub use kinds::{Class, Layout, Period, Process};

/// The parameters of a cell. Every kernel takes the same; its card lists those that it obeys. A report that lacks one
/// is from before it was known, and was measured with the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Params {
    /// Steps of a loop, per worker and repetition.
    pub iterations: u64,
    /// Pairs of times that a repetition takes.
    pub samples: u64,
    /// How long a repetition of a kernel lasts that runs by time and not by work.
    pub span_ns: u64,
    /// Size of a worker's private block; kernels of several arrays divide it.
    pub size_bytes: u64,
    /// The pages of blocks.
    pub pages: PageKind,
    /// Where blocks lie.
    pub memory: MemoryPolicy,
    /// From one place of a block that may be read to the next.
    pub stride_bytes: u64,
    /// Chains of dependent loads that a worker follows at once.
    pub chains: u64,
    /// Arithmetic operations, each of which waits for the one before it, between a load and the next of its chain.
    pub ops_per_load: u64,
    /// Steps of about 1 ns between two portions of a worker that loads the memory.
    pub delay: u64,
    /// How the words of several workers lie beside each other.
    pub layout: Layout,
    /// Work inside a critical section, in steps of about 1 ns.
    pub inside_steps: u64,
    /// Work between critical sections, in steps of about 1 ns.
    pub outside_steps: u64,
    /// The time from one sample to the next.
    pub period: Period,
    /// How long a wait lasts that nothing but its timeout ends.
    pub timeout_ns: u64,
    /// How large the problem of a benchmark of the NPB is.
    pub class: Class,
    /// Threads that a runtime keeps for the next activity.
    pub pool_threads: u64,
    /// Rows and columns of the matrices that are multiplied.
    pub order: u64,
    /// How often a product of matrices is divided into eight.
    pub depth: u64,
    /// The kinds of units that workers do.
    pub mix: Mix,
    /// What the process has done before.
    pub process: Process,
    /// Locks that sections are divided among.
    pub stripes: u64,
    /// Sections of a hundred that write.
    pub writes: u64,
    /// Threads of each process, where workers are processes.
    pub per_process: u64,
}

impl Params {
    /// The defaults, but for what a sweep adapts to the machine and its budget: iterations, samples, span and size are the
    /// smallest.
    pub const SMALL: Params = Params {
        iterations: 1,
        samples: 1,
        span_ns: 1_000_000,
        size_bytes: 64,
        pages: PageKind::Small,
        memory: MemoryPolicy::Local,
        stride_bytes: 64,
        chains: 1,
        ops_per_load: 0,
        delay: 0,
        layout: Layout::Padded,
        inside_steps: 0,
        outside_steps: 0,
        period: Period::Fitting,
        timeout_ns: 1_000_000,
        class: Class::S,
        pool_threads: MAX_POOL,
        order: 64,
        depth: 1,
        mix: Mix::ALONE,
        process: Process::Fresh,
        stripes: 16,
        writes: 1,
        per_process: 1,
    };

    /// [`Params::span_ns`] as a duration.
    pub const fn span(&self) -> Duration {
        Duration::from_nanos(self.span_ns)
    }

    /// [`Params::timeout_ns`] as a duration.
    pub const fn timeout(&self) -> Duration {
        Duration::from_nanos(self.timeout_ns)
    }
}

/// The values of a sweep without flags on a machine with time and memory enough.
impl Default for Params {
    fn default() -> Self {
        Params {
            iterations: 100_000_000,
            samples: 10_000,
            span_ns: 50_000_000,
            size_bytes: 256 << 20,
            pages: PageKind::Transparent,
            order: 1024,
            depth: 2,
            ..Params::SMALL
        }
    }
}

/// A parameter: all that flags, configuration, columns, labels, keys of series and documents have to know about it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Param {
    /// The flag without its dashes, the key in a configuration file, the head of a column, the word in a label.
    pub name: &'static str,
    /// The word for it on the cards of reports, which keeps when a flag is renamed.
    pub stored: &'static str,
    /// The key in JSON and the column of numbers, with the unit.
    pub key: &'static str,
    /// The placeholder of a value in help, e.g. `SIZE`.
    pub value: &'static str,
    /// One line of help.
    pub about: &'static str,
    /// What long help adds, or nothing.
    pub details: &'static str,
    /// A value for error messages.
    pub example: &'static str,
    /// What its values are, and their range.
    pub quantity: Quantity,
    /// Whether a sweep may take a list of values, each of which makes cells of its own.
    pub vary: bool,
    /// Whether the sweep chooses a value where none is given.
    pub auto: bool,
    /// Sets the value typed, or returns a clause that says what is wrong with it.
    pub read: fn(&str, &mut Params) -> Result<(), String>,
    /// The value, as people and `read` read it: `48 KiB`.
    pub show: fn(&Params) -> String,
    /// The value as labels have it, rounded where it is a size: `45.3 MiB`.
    pub brief: fn(&Params) -> String,
    /// Whether a label has the value without the name of the parameter.
    pub bare: bool,
    /// The value as a number without a unit, or a word: `49152`.
    pub raw: fn(&Params) -> String,
    /// Takes the value of the second.
    pub copy: fn(&mut Params, &Params),
}

/// A line of help, and whether a sweep may vary the parameter and choose it.
const fn param(name: &'static str, value: &'static str, example: &'static str, about: &'static str) -> Param {
    Param {
        name,
        stored: name,
        key: name,
        value,
        about,
        details: "",
        example,
        quantity: Quantity::Word,
        vary: false,
        auto: false,
        read: |_, _| Ok(()),
        show: |_| String::new(),
        brief: |_| String::new(),
        bare: false,
        raw: |_| String::new(),
        copy: |_, _| (),
    }
}

impl Param {
    const fn varied(self) -> Param {
        Param { vary: true, auto: true, ..self }
    }

    const fn adapted(self) -> Param {
        Param { auto: true, ..self }
    }

    const fn with(self, details: &'static str) -> Param {
        Param { details, ..self }
    }

    const fn stored_as(self, stored: &'static str) -> Param {
        Param { stored, ..self }
    }

    const fn bare(self) -> Param {
        Param { bare: true, ..self }
    }
}

/// Binds a parameter to its field of [`Params`].
macro_rules! field {
    ($param:expr, $field:ident, $kind:ident $bounds:expr, $read:ident, $show:expr) => {
        Param {
            key: stringify!($field),
            quantity: Quantity::$kind($bounds),
            read: |text, params| $bounds.$read(text).map(|value| params.$field = value),
            show: |params| $show(params.$field),
            brief: |params| $show(params.$field),
            raw: |params| params.$field.to_string(),
            copy: |params, other| params.$field = other.$field,
            ..$param
        }
    };
    ($param:expr, $field:ident) => {
        Param {
            key: stringify!($field),
            read: |text, params| text.parse().map(|value| params.$field = value),
            show: |params| params.$field.to_string(),
            brief: |params| params.$field.to_string(),
            raw: |params| params.$field.to_string(),
            copy: |params, other| params.$field = other.$field,
            ..$param
        }
    };
}

macro_rules! count {
    ($param:expr, $field:ident, $bounds:expr) => {
        field!($param, $field, Count $bounds, count, |number: u64| number.to_string())
    };
}

macro_rules! bytes {
    ($param:expr, $field:ident, $bounds:expr) => {
        Param {
            brief: |params| units::iec(params.$field),
            ..field!($param, $field, Bytes $bounds, bytes, quantity::show_bytes)
        }
    };
}

macro_rules! nanos {
    ($param:expr, $field:ident, $bounds:expr) => {
        field!($param, $field, Nanoseconds $bounds, nanos, quantity::show_nanos)
    };
}

/// The most values of one parameter in a sweep: each multiplies the cells.
const MAX_VALUES: usize = 256;

pub const STEPS: Param = count!(
    param("steps", "N", "1000000", "Steps of the loop per thread and iteration in compute kernels")
        .stored_as("iterations")
        .adapted()
        .with("auto takes as many as the budget allows, at most 100,000,000. The T3-4 report took 1,000,000,000."),
    iterations,
    Bounds::new(1, 1_000_000_000_000, 1)
);
pub const SAMPLES: Param = count!(
    param("samples", "N", "10000", "Pairs of times per iteration in kernels that stamp each operation")
        .adapted()
        .with("auto takes as many as the budget allows, at most 10,000: over all runs the 100,000 of the T3-4 report."),
    samples,
    Bounds::new(1, 10_000_000, 1)
);
pub const SPAN: Param = nanos!(
    param("span", "TIME", "20ms", "Duration of an iteration in kernels that run for a given time")
        .adapted()
        .with("auto is as long as the budget allows, at most 50 ms, or 2 s for fft kernels without others."),
    span_ns,
    SPAN_BOUNDS
);
pub const SIZE: Param = bytes!(
    param("size", "SIZE", "256MiB", "Size of each thread's block, in whole cache lines").varied().bare().with(
        "levels is one size inside each cache level, for threads on all CPUs at once, and for memory four times the last \
         cache and at least 32 MiB, or 256 MiB (128 with --quick or --preset node) where no last cache that cores share is known. Threads that share a last cache divide the one for memory, down to 32 MiB each. curve goes from 4 KiB to four times the last cache (64 MiB to 1 GiB) in steps of the square \
         root of two. auto takes what a kernel is about: for memory kernels that size for memory. A configuration whose blocks exceed half of \
         the available memory, or of the NUMA node that --memory binds them to, is skipped, and the report gives the reason. K, M and G are KiB, MiB and GiB. Threads of cmt-working-set divide the size."
    ),
    size_bytes,
    Bounds::new(LINE, PETABYTE, LINE)
);
pub const PAGES: Param = field!(
    param("pages", "KIND", "thp", "Pages of the blocks: 4k (base pages), thp (transparent huge pages), 2m or 1g").varied().bare().with(
        "auto is thp, or 4k where the system has no transparent huge pages; both if a kernel is about the difference. 4k means base pages of any size. The report says which pages were obtained."
    ),
    pages
);
pub const MEMORY: Param = field!(
    param(
        "memory",
        "WHERE",
        "remote",
        "NUMA node of the blocks: local, first, remote, interleaved or node:N, by OS id"
    )
    .varied()
    .with(
        "auto is local: the node of each thread, by first touch. first is the node of the first thread, for all threads; \
         remote the node farthest from each thread; interleaved all nodes in turn, page by page. A configuration whose node does \
         not exist on this machine is skipped. The report says where the blocks were."
    ),
    memory
);
pub const STRIDE: Param = field!(
    param("stride", "BYTES", "256", "Distance between the places of a block that loads read, in bytes").varied(),
    stride_bytes, Bytes Bounds::new(LINE, PETABYTE, LINE), bytes_or_count, |bytes: u64| bytes.to_string()
);
pub const CHAINS: Param = count!(
    param("chains", "N", "4", "Chains of dependent loads that a thread follows at once").varied(),
    chains,
    Bounds::new(1, MAX_CHAINS, 1)
);
pub const OPS: Param = count!(
    param("ops-per-load", "N", "100", "Operations of a cycle each from a load to the next").varied(),
    ops_per_load,
    Bounds::new(0, MAX_OPS, 2)
);
pub const DELAY: Param = count!(
    param("delay", "N", "100", "Delay between the accesses of threads that load the memory, in steps of about 1 ns")
        .varied(),
    delay,
    SECTION_BOUNDS
);
pub const LAYOUT: Param = field!(
    param(
        "layout",
        "WORD",
        "contiguous",
        "Inputs of arithmetic kernels in memory: padded to cache lines, or contiguous as in the T3-4 report"
    )
    .bare(),
    layout
);
pub const INSIDE: Param = count!(
    param("inside-steps", "N", "100", "Work inside critical sections, in steps of about 1 ns")
        .varied()
        .with("auto is 0."),
    inside_steps,
    SECTION_BOUNDS
);
pub const OUTSIDE: Param = count!(
    param("outside-steps", "N", "100", "Work between critical sections, in steps of about 1 ns")
        .varied()
        .with("auto is 0."),
    outside_steps,
    SECTION_BOUNDS
);
pub const PERIOD: Param = field!(
    param(
        "period",
        "TIME",
        "50us",
        "Schedule of samples in kernels that wake or create threads: fitting, closed, or the time from one to the next"
    )
    .with(
        "fitting is a schedule a few times as slow as what is measured. Times count from the scheduled start of a sample, so \
         a slow sample does not delay the next. closed starts each sample when the one before has ended, as the T3-4 \
         report did."
    ),
    period
);
pub const TIMEOUT: Param = nanos!(
    param("timeout", "TIME", "1ms", "Timeout of the waits of timer kernels"),
    timeout_ns,
    Bounds::new(1, MAX_TIMEOUT_NS, 1)
);
pub const CLASS: Param = field!(
    param("class", "CLASS", "A", "Problem size of NPB kernels: S, W, A, B or C").varied().with(
        "auto is for each kernel the largest whose runs fit into half of the budget, shared by the kernels of the NPB, and whose \
         arrays fit into half of the available memory. A class is 4 to 36 times the work of the one before."
    ),
    class
);
pub const POOL: Param = count!(
    param("pool", "N", "16", "Threads that a runtime keeps for its next activity").with(
        "A thread that has done its activity and finds as many in the pool ends. The default keeps all. 0 makes a thread for each \
         activity."
    ),
    pool_threads,
    Bounds::new(0, MAX_POOL, 1)
);
pub const ORDER: Param = count!(
    param("order", "N", "2048", "Rows and columns of the matrices that are multiplied").varied().with(
        "auto is 1024. The T3-4 report took 1024, 2048, 4096 and 8192. A multiple of 16 for each level of the recursion: 32 halved \
         twice is too small."
    ),
    order,
    Bounds::new(16, MAX_ORDER, 16)
);
pub const DEPTH: Param = count!(
    param("depth", "K", "3", "Levels of the recursion that multiplies matrices: each divides a product into eight")
        .varied()
        .with("0 multiplies on one thread, without a runtime. auto is 0 to 5: those of the T3-4 report, and what they save."),
    depth,
    Bounds::new(0, MAX_DEPTH, 1)
);
pub const MIX: Param = field!(
    param("mix", "C:W:I", "2:1:1", "Threads of cmt kernels that do compute, working-set and I/O units").varied().with(
        "With alone, as with auto, all threads do the units of their kernel. In a mix each kernel counts the units of its own kind, so three kernels \
         in the same mix give three rates. The number of threads is a multiple of the sum. Working-set threads in a mix of another kernel \
         than cmt-working-set divide 8 MiB."
    ),
    mix
);
pub const PROCESS: Param = field!(
    param("process", "WORD", "warm", "What the process of a cmt kernel has done before: fresh, nothing, or warm").varied().with(
        "A warm process has run the kernel with 1, then 2, 4, … threads, as the source's did, each as often as the number that it reports; \
         in a mix with its sum, then twice as many. auto is fresh."
    ),
    process
);
pub const STRIPES: Param = count!(
    param("stripes", "N", "256", "Locks that the sections of lock-striped are divided among, at random")
        .varied()
        .with("auto is 16."),
    stripes,
    Bounds::new(1, 65_536, 1)
);
pub const WRITES: Param = count!(
    param("writes", "N", "10", "Sections of a hundred that write, in kernels of locks for readers and writers")
        .varied(),
    writes,
    Bounds::new(0, 100, 1)
);
pub const PER_PROCESS: Param = count!(
    param("per-process", "T", "2", "Threads of each process in rings of processes")
        .varied()
        .with("auto is 1. The number of threads must be a multiple of it."),
    per_process,
    Bounds::new(1, 1024, 1)
);

/// Every parameter, in the order of flags and columns. What is shown of a label comes first.
#[rustfmt::skip]
pub const PARAMS: &[&Param] = &[
    &SIZE, &PAGES, &MEMORY, &STRIDE, &CHAINS, &OPS, &DELAY, &LAYOUT, &INSIDE, &OUTSIDE, &PERIOD, &TIMEOUT, &CLASS, &POOL,
    &ORDER, &DEPTH, &MIX, &PROCESS, &STRIPES, &WRITES, &PER_PROCESS, &STEPS, &SAMPLES, &SPAN,
];

#[cfg(test)]
mod tests;
