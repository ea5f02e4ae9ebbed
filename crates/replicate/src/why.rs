//! Why a value has no counterpart, or a conclusion no answer.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use charz_data::CellSpec;
use charz_data::params::Class;
use charz_data::report::Status;

/// Why there is no number, or why numbers decide nothing.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Why<'a> {
    /// Words about the document, which say so.
    Stated(&'a str),
    /// The figure plots a table, and has its status.
    Plots {
        /// The number of the table.
        table: &'a str,
        /// Whether the table is among these figures.
        is_here: bool,
    },
    /// No kernel of charz answers it.
    Unanswered,
    /// The document has no number of threads for it.
    NoThreads,
    /// The machine has no CPU that may be used.
    NoCpu,
    /// This share of the machine's cores or CPUs is less than one thread.
    LessThanOne {
        /// The numerator of the share.
        times: u64,
        /// Its denominator.
        over: u64,
        /// The machine's cores or CPUs.
        parts: u64,
        /// Whether they are cores.
        of_cores: bool,
    },
    /// No number of threads lies between 1 and the CPUs.
    NoneBetween {
        /// The machine's CPUs.
        cpus: u64,
    },
    /// It takes more than twice as many threads as there are CPUs.
    TooManyThreads {
        /// The machine's CPUs.
        cpus: u64,
    },
    /// Both sides of a conclusion have as many threads on a machine of this size.
    SameThreads {
        /// The machine's CPUs.
        cpus: u64,
    },
    /// No two CPUs are as far apart as this mapping wants them.
    NoSuchPair {
        /// The mapping.
        mapping: &'a str,
    },
    /// The conclusion is about machines that have something which this one lacks.
    Lacks {
        /// What that is.
        requirement: Requirement,
        /// The machine's CPUs.
        cpus: u64,
    },
    /// A kernel takes another number of threads.
    OtherThreads {
        /// The kernel.
        kernel: &'a str,
        /// The least that it takes.
        least: usize,
        /// Whether it takes more too.
        or_more: bool,
        /// The number of threads.
        threads: u64,
    },
    /// The machine lacks what a kernel needs, in the kernel's words.
    Needs(Cow<'static, str>),
    /// The system gives no hardware counters, in its own words.
    NoCounters(Cow<'a, str>),
    /// Hardware counters were not asked for.
    CountersNotRead,
    /// The processor does not count it, or its clock or issue width is not known.
    NotCounted,
    /// It takes the report of another machine too.
    OneReport,
    /// The same of the report of the other machine.
    Other(Box<Why<'a>>),
    /// The same of one thread, to which others are compared.
    OneThread(Box<Why<'a>>),
    /// The same of a depth of recursion that may be the fastest.
    Depth(u64, Box<Why<'a>>),
    /// The report has no such cell.
    NotInReport(Box<CellSpec>),
    /// The cell has no number.
    Unmeasured {
        /// How it ended.
        status: Status,
        /// The report's words, one for each check that failed where it has no others.
        reasons: Vec<&'a str>,
    },
    /// The kernel has no such number.
    NoSuchNumber,
    /// No times were sampled, or of no waits.
    NotSampled,
    /// Fewer than 10 times are beyond the percentile.
    FewTimes,
    /// No run reached this size.
    NotReached {
        /// The size of the program.
        size: u64,
    },
    /// The clock is not known, so there are no cycles.
    NoClock,
    /// The number is none of this unit.
    OtherUnit(&'a str),
    /// The smallest time is within what the clocks of two CPUs differ by.
    WithinSkew {
        /// By how much they differ, in nanoseconds.
        ns: f64,
    },
    /// A number to divide by is 0.
    Zero,
    /// The conclusion is about memory, and the sizes of the last caches are not known.
    UnknownCaches,
    /// The conclusion is about memory, and the last caches hold all of the problem.
    InCaches {
        /// The bytes of these caches.
        held: u64,
        /// The bytes of the problem.
        bytes: u64,
        /// The kernel.
        kernel: Cow<'a, str>,
        /// The class of the problem.
        class: Class,
    },
    /// One thread is the same under any mapping: a conclusion about them takes two.
    OneIsNotSpread {
        /// The machine's CPUs.
        cpus: u64,
    },
    /// Threads shared CPUs with each other or with other programs, which the conclusion is not about.
    SharedCpus {
        /// The least share of the capacity that was delivered, as a fraction.
        delivered: f64,
    },
    /// Both mappings put the threads on the same CPUs.
    SameSeats,
    /// Numbers have no intervals, for want of runs.
    TooFewRuns,
    /// The intervals reach over the bound.
    LeftOpen,
}

/// What a conclusion is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Requirement {
    /// Two packages.
    Packages,
    /// Two NUMA nodes.
    Nodes,
    /// Two ALU groups on a core, of two strands each.
    AluGroups,
    /// As many strands as a pool needs to be contended.
    ManyStrands,
}

/// Why a kernel does not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It takes `least` threads, or more too.
    Threads {
        /// The least that it takes.
        least: usize,
        /// Whether it takes more too.
        or_more: bool,
    },
    /// The machine lacks what it needs, in the kernel's words.
    Needs(Cow<'static, str>),
}

/// What could fill a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum GapKind {
    /// Another sweep.
    Open,
    /// Another machine.
    Machine,
    /// Nothing that charz does.
    Final,
}

impl Why<'_> {
    /// What could change it.
    pub fn kind(&self) -> GapKind {
        match self {
            Why::OneThread(why) | Why::Depth(_, why) => why.kind(),
            Why::NoCpu
            | Why::LessThanOne { .. }
            | Why::NoneBetween { .. }
            | Why::TooManyThreads { .. }
            | Why::SameThreads { .. }
            | Why::NoSuchPair { .. }
            | Why::Lacks { .. }
            | Why::OtherThreads { .. }
            | Why::Needs(_)
            | Why::NoCounters(_)
            | Why::OneIsNotSpread { .. }
            | Why::SameSeats => GapKind::Machine,
            Why::CountersNotRead
            | Why::OneReport
            | Why::Other(_)
            | Why::NotInReport(_)
            | Why::InCaches { .. }
            | Why::SharedCpus { .. }
            | Why::TooFewRuns
            | Why::LeftOpen
            | Why::Unmeasured { status: Status::Pending | Status::Failed | Status::Invalid, .. } => GapKind::Open,
            _ => GapKind::Final,
        }
    }
}
