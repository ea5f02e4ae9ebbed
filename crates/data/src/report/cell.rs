//! One cell of a report.

use crate::checks::MOVED;
use crate::params::Params;
use crate::words::words;
use crate::{Card, Distribution, Family, Hardware, Histogram, JointHistogram, Role, Sharing, WakeUps};
use serde::{Deserialize, Serialize};

use super::evidence::{Evidence, Mark};
use super::number::{Interval, Measured, Unit};
use super::point::Point;
use super::run::{Run, snug};

/// From this share of its capacity on what the machine gave is all.
pub const NEARLY_ALL: f64 = 0.95;

/// One kernel, under one mapping, with one number of workers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cell {
    /// The kernel's name.
    pub kernel: String,
    /// The mapping, as on the command line.
    pub mapping: String,
    /// The parameters that the sweep varies for its kernel; absent where it varies none.
    #[serde(default, skip_serializing_if = "Point::is_empty")]
    pub point: Point,
    /// The level of caches that holds all workers' blocks, by the sizes that the operating system claims: `L1`, `L2`, … or
    /// `memory`; absent for kernels without blocks, and where it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<String>,
    /// How many bytes move for each that is counted where the blocks are far larger than the caches, with the reads of lines that
    /// ordinary stores overwrite (write-allocate); absent where that is not known, or has no meaning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traffic: Option<f64>,
    /// The size of a worker's block in place of the plan's or the point's, where workers share the last caches and fill them together; absent
    /// where it is that size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_bytes: Option<u64>,
    /// Whether the number is claimed to be one of memory, and not of a cache on purpose; absent where it is not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub about_memory: bool,
    /// How many workers.
    pub workers: u64,
    /// OS id of each worker's seat; null for a floating worker.
    pub seats: Vec<Option<u32>>,
    /// What the number counts.
    pub unit: Unit,
    /// Derived: how an invocation becomes its value. It follows from the kernel, from where its blocks lie, and from whether workers share
    /// strands; never from a value.
    #[serde(skip)]
    pub estimator: Estimator,
    /// Derived: the relative half width of the interval that is wanted, as a fraction, by the plan or the kernel's family.
    #[serde(skip)]
    pub precision: f64,
    /// Repetitions in each invocation: at least two of them, and no more than fit into one and a half times the time that was predicted.
    /// All of them where they were asked for, and where the best of them counts.
    pub repetitions: u64,
    /// Memory that the workers' blocks take in all.
    pub footprint_bytes: u64,
    /// Why it was not to be measured when the sweep was planned, or since a model predicts it; absent where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<String>,
    /// Where the number of another program lies with a confidence of 95%, as its table says; absent where charz measured, and where the
    /// values of the runs say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated_interval: Option<Interval>,
    /// Every attempt, in the order in which they were made; none is left out.
    #[serde(rename = "runs")]
    pub invocations: Vec<Invocation>,
    /// The attempts with hardware counters, in their order; absent without any. No number but those of counters is made of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counted: Vec<Invocation>,
    /// Derived: how it ended.
    #[serde(skip)]
    pub status: Status,
    /// Derived: why, in words, unless it is `ok` or `pending`.
    #[serde(skip)]
    pub reason: Option<String>,
    /// Derived: what the hardware does when nothing else takes the strands: the headline. `None` unless the cell is `ok` or `suspect`.
    #[serde(skip)]
    pub capacity: Option<Measured>,
    /// Derived: what the machine gave with everything that ran on it meanwhile: all work over all time. There too where other
    /// programs left no capacity.
    #[serde(skip)]
    pub delivered: Option<Measured>,
    /// Derived: everything that is wrong with the number. Empty is good.
    #[serde(skip)]
    pub marks: Vec<Mark>,
    /// Derived: the numbers; `None` where nothing was measured.
    #[serde(skip)]
    pub summary: Option<Summary>,
    /// Derived: the distribution of the pairs of times that workers stamped; `None` where they stamp none.
    #[serde(skip)]
    pub distribution: Option<Distribution>,
    /// Derived: what the workers cost each other; `None` where they share nothing.
    #[serde(skip)]
    pub contention: Option<Sharing>,
    /// Derived: what the hardware counters say; `None` where nothing was counted.
    #[serde(skip)]
    pub hardware: Option<Hardware>,
    /// Derived: what its clean repetitions took of energy; `None` where the system does not count it, or they are too short for its counts.
    #[serde(skip)]
    pub energy: Option<Energy>,
}

/// What processor packages took while repetitions were made, that of other programs included.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Energy {
    /// The mean power of each package in watts, in the order of the host's `energy`.
    pub watts: Vec<f64>,
    /// Joules of all packages per operation; per byte where bytes are counted, per run of a user's program; null where none of them is.
    pub joules: Option<f64>,
}

/// How one invocation becomes a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Estimator {
    /// The clean repetition in the middle: for what workers do together.
    #[default]
    Median,
    /// The best clean repetition: for streams, which others on the same memory can only slow down.
    Best,
    /// The sharp fast mode of the blocks: for what a core does by itself, where no block has to be disturbed.
    FastMode,
}

impl Estimator {
    /// That of a kernel, but for blocks. What a processor or the system does by itself varies to both sides; what flows to and from a shared
    /// memory can only be slowed down by others. A program does some of both. A latency under load is that of the load, which the fastest
    /// iteration has least of.
    pub fn of(card: &Card) -> Self {
        let is_flow = card.family == Family::Memory && !card.blocks_in_kernel && card.role != Role::LoadedLatency;
        if is_flow { Estimator::Best } else { Estimator::Median }
    }
}

/// How the reason of a cell begins that was not measured since a model predicts it.
pub const PREDICTED: &str = "not measured, predicted: ";

/// The kinds of endings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Not measured yet.
    #[default]
    Pending,
    /// Measured, verified, and nothing is wrong with the number.
    Ok,
    /// Measured and verified; the marks say what is wrong with the number.
    Suspect,
    /// Measured, and the number is not what it claims to be: it enters no maximum, no comparison and no plot.
    Invalid,
    /// Not measured by decision, e.g. because its memory would not fit, or because the kernel cannot run here.
    Skipped,
    /// Given up in the middle; what was finished is kept.
    Failed,
}

/// One attempt: a fresh process that measures the cell a few times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Invocation {
    /// Nanoseconds from the start of the sweep, over all sittings, what was between them left out.
    pub started_ns: u64,
    /// From it came the process's order in its round and the size of its environment, which moves the stack.
    pub seed: u64,
    /// How the process ended.
    pub ending: Ending,
    /// Why, in words, unless it is `done`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The code path that the kernel chose when it ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// What was seen around the iterations; absent where the process ended before it could report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// Every finished iteration.
    #[serde(rename = "iterations", deserialize_with = "snug")]
    pub runs: Vec<Run>,
    /// How fast each worker was, by rank, in 1/10,000 of the fastest one; empty where each has laps of its own, which tell it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub speeds: Vec<u16>,
    /// Derived: the estimate from the clean repetitions in the cell's unit; `None` without any, and where the process did not end by
    /// itself.
    #[serde(skip)]
    pub value: Option<f64>,
}

/// How an invocation's process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// All repetitions were measured and verified.
    Done,
    /// Asked to stop by the user or by the budget.
    Stopped,
    /// The kernel cannot run here, or not with these parameters.
    Unavailable,
    /// Not made by decision: its memory would not fit any more, or it would not have been safe.
    Skipped,
    /// The system refused something: memory, a thread, a seat.
    Refused,
    /// What it needs went away before its end: a CPU or NUMA node (offline, or out of the cpuset), or memory or threads for a cell that
    /// has runs. It is made again when that is back, or at once where the CPU was another's.
    Away,
    /// A wrong answer.
    Wrong,
    /// The process died: a signal, the memory killer, a panic. Or a user's program failed, or reported no number.
    Died,
    /// It did not end in its time, and was killed.
    TimedOut,
}

/// The numbers of a cell in its [`Unit`]. "Best" is the largest rate, or the shortest time where the unit is nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Summary {
    /// The capacity for every status, for inspection only; null where no invocation has a value.
    pub raw: Option<f64>,
    /// Runs with a value.
    #[serde(rename = "runs", alias = "invocations")]
    pub invocations: u64,
    /// Iterations that count.
    #[serde(rename = "clean_iterations", alias = "clean_runs")]
    pub clean_runs: u64,
    /// Iterations that do not count, for the causes that they name.
    #[serde(rename = "dirty_iterations", alias = "dirty_runs")]
    pub dirty_runs: u64,
    /// The robust spread of the clean repetitions: 1.4826 times the median absolute deviation, as a fraction of the median.
    pub spread: Option<f64>,
    /// The best of all repetitions, dirty ones included.
    pub best: f64,
    /// The worst of all repetitions.
    pub worst: f64,
    /// The best of the first three invocations with a value, as the T3-4 report has it; it is biased upwards. Null where none has one.
    pub best_of_three: Option<f64>,
    /// The share of the blocks that have the speed of the capacity, as a fraction: what is missing to 1 was disturbed, or has another speed.
    /// Null where the capacity is not made of blocks, and where none shows a fast mode.
    pub fast_share: Option<f64>,
    /// How far the CPUs were apart in the invocations with a value, by the median of their evidence. Null where none has it, where the
    /// capacity is made of blocks, and outside of a virtual machine.
    pub apart_ns: Option<f64>,
    /// Largest start skew of any run.
    pub start_skew_ns: u64,
}

impl From<[f64; 2]> for Interval {
    fn from([low, high]: [f64; 2]) -> Self {
        Interval { low, high }
    }
}

// In the order in which they are counted.
words! { Status {
    Ok = "ok", Suspect = "suspect", Invalid = "invalid", Skipped = "skipped", Failed = "failed", Pending = "pending",
} }

words! { Ending {
    Done = "done", Stopped = "stopped", Unavailable = "unavailable", Skipped = "skipped", Refused = "refused",
    Away = "away", Wrong = "wrong", Died = "died", TimedOut = "timed_out",
} }

impl Cell {
    /// Fills in what follows from its laps and is in no file; see [`Invocation::complete`].
    pub fn complete(&mut self) {
        let seats = &self.seats;
        self.invocations.iter_mut().chain(&mut self.counted).for_each(|run| run.complete(seats));
    }

    /// Its parameters, by its own point and the plan.
    pub fn params(&self, plan: &Params) -> Params {
        self.point.params_with(plan, self.block_bytes)
    }

    /// Its number, if it is `ok` or `suspect`.
    pub fn value(&self) -> Option<f64> {
        let has_number = matches!(self.status, Status::Ok | Status::Suspect);
        self.capacity.map(|capacity| capacity.value).filter(|value| has_number && value.is_finite())
    }

    /// What was delivered as a share of the capacity, as a fraction of performance.
    pub fn delivered_share(&self) -> Option<f64> {
        let (capacity, delivered) = (self.capacity?.value, self.delivered?.value);
        let share = if self.unit.more_is_better() { delivered / capacity } else { capacity / delivered };
        Some(share).filter(|share| share.is_finite())
    }

    /// The share of the time on CPUs for which its threads asked that they had, as a fraction; `None` where that was not counted.
    pub fn cpu_time_share(&self) -> Option<f64> {
        let laps = self.invocations.iter().flat_map(|invocation| &invocation.runs).flat_map(|run| &run.laps);
        let times = laps.map(|lap| Some((lap.counts.cpu_ns? as f64, lap.counts.run_delay_ns? as f64)));
        let (had, waited) = times.reduce(|sum, next| Some((sum?.0 + next?.0, sum?.1 + next?.1)))??;
        Some(had / (had + waited)).filter(|share| share.is_finite())
    }

    /// The values of the invocations, times as rates, each with the highest clock that its cores had, in hertz; none unless all are known.
    pub fn clocked_rates(&self) -> Vec<(f64, f64)> {
        let with_clock = |invocation: &Invocation| {
            let value = invocation.value?;
            let rate = if self.unit.more_is_better() { value } else { value.recip() };
            let clock = invocation.evidence.as_ref().and_then(|evidence| evidence.frequency.as_ref());
            Some(clock.map(|clock| (rate, clock.highest_hz)))
        };
        self.invocations.iter().filter_map(with_clock).collect::<Option<_>>().unwrap_or_default()
    }

    /// How far the CPUs were apart in this cell and in another, in nanoseconds, where that differs: they are not the same CPUs, or the host
    /// moved them.
    pub fn moved(&self, other: &Cell) -> Option<[f64; 2]> {
        let apart = |cell: &Cell| cell.summary.as_ref()?.apart_ns;
        let (one, next) = (apart(self)?, apart(other)?);
        (one.max(next) > one.min(next) * (1.0 + MOVED)).then_some([one, next])
    }

    /// Whether it was left out since a model predicts it: its reason has what is predicted.
    pub fn is_predicted(&self) -> bool {
        self.status == Status::Skipped && self.reason.as_ref().is_some_and(|why| why.starts_with(PREDICTED))
    }

    /// Why hardware counters did not count although they were asked for; `None` where they did, or were not asked for.
    pub fn no_counters(&self) -> Option<&str> {
        self.invocations.iter().find_map(|invocation| invocation.evidence.as_ref()?.no_counters.as_deref())
    }

    /// The last size of its iterations that count, where they grow: a number of another size is one of other work.
    pub fn last_size(&self) -> Option<u64> {
        // Of a cell all iterations grow, or none: that spares a look at the million of one that does not.
        self.invocations.iter().find_map(|invocation| invocation.runs.first())?.growth.as_ref()?;
        let grown = self.invocations.iter().flat_map(Invocation::clean_runs).find_map(|run| run.growth.as_ref());
        Some(grown?.steps.last()?.size)
    }

    /// Whether something that it needs was not there the last time.
    pub fn is_away(&self) -> bool {
        let last = self.invocations.iter().chain(&self.counted).max_by_key(|invocation| invocation.started_ns);
        last.is_some_and(|invocation| invocation.ending == Ending::Away)
    }

    /// Whether each worker is bound to a CPU of its own.
    pub fn has_own_cpus(&self) -> bool {
        let mut seats: Vec<u32> = self.seats.iter().copied().flatten().collect();
        seats.sort_unstable();
        seats.dedup();
        seats.len() == self.seats.len()
    }

    /// How late an innocent thread woke up beside its workers; `None` where none was looked at.
    pub fn wake_ups(&self) -> Option<WakeUps> {
        let seen = self.invocations.iter().filter_map(|one| one.evidence.as_ref()?.wake_ups.as_ref());
        let seen: Vec<&Histogram> = seen.filter(|times| times.count() > 0).collect();
        (!seen.is_empty()).then(|| WakeUps::of(&Histogram::sum(&seen)))
    }

    /// Whether a check of the cell makes its number doubtful.
    pub fn is_suspect(&self) -> bool {
        self.status == Status::Suspect
    }

    /// The pairs of times of all repetitions that count, together.
    pub fn samples(&self) -> JointHistogram {
        let done = self.invocations.iter().filter(|invocation| invocation.ending == Ending::Done);
        JointHistogram::sum(done.flat_map(Invocation::clean_runs).filter_map(|run| run.samples.as_deref()))
    }
}

impl Invocation {
    /// Fills in what follows from its laps and from the seats of its cell, and is in no file: the seat of each lap, and the interval and the start
    /// skew of each repetition.
    pub fn complete(&mut self, seats: &[Option<u32>]) {
        for run in &mut self.runs {
            for lap in &mut run.laps {
                lap.seat = usize::try_from(lap.rank).ok().and_then(|rank| *seats.get(rank)?);
            }
            (run.interval_ns, run.start_skew_ns) = run.span();
        }
    }

    /// One that gave no runs, and why.
    pub fn without_runs(ending: Ending, reason: impl Into<String>) -> Self {
        Invocation {
            started_ns: 0,
            seed: 0,
            ending,
            reason: Some(reason.into()),
            variant: None,
            evidence: None,
            runs: Vec::new(),
            speeds: Vec::new(),
            value: None,
        }
    }

    /// The two numbers whose quotient is what was delivered, in `unit`: all work of its repetitions and all of their time, dirty ones
    /// included, or the other way round for times; for times that are no quotient, their sum and their number. Sums of both over
    /// invocations are what these gave together.
    pub fn delivered_parts(&self, unit: Unit) -> (f64, f64) {
        let runs = || self.runs.iter().map(|run| (run.value(unit), run.interval_ns as f64));
        match unit {
            // More of a reported number is taken for a rate: what else grows with the work that is done.
            unit if unit.more_is_better() => {
                runs().fold((0.0, 0.0), |sum, (rate, time)| (sum.0 + rate * time, sum.1 + time))
            }
            Unit::NanosecondsPerOp | Unit::NanosecondsPerStep | Unit::MillisecondsPerGib => {
                runs().fold((0.0, 0.0), |sum, (value, time)| (sum.0 + time, sum.1 + time / value))
            }
            _ => runs().fold((0.0, 0.0), |sum, (value, _)| (sum.0 + value, sum.1 + 1.0)),
        }
    }

    /// What it delivered, in `unit`: all work of its repetitions over all of their time.
    pub fn delivered(&self, unit: Unit) -> Option<f64> {
        let (work, time) = self.delivered_parts(unit);
        Some(work / time).filter(|value| value.is_finite())
    }

    /// How far the CPUs were apart, in nanoseconds, if it has a value.
    pub fn apart_ns(&self) -> Option<f64> {
        self.value.and(self.evidence.as_ref()?.apart_ns)
    }

    /// Whether hardware counters counted during its repetitions.
    pub fn is_counted(&self) -> bool {
        self.runs.iter().flat_map(|run| &run.laps).any(|lap| lap.hardware.is_some())
    }

    /// The repetitions that count.
    pub fn clean_runs(&self) -> impl Iterator<Item = &Run> {
        self.runs.iter().filter(|run| run.dirty.is_empty())
    }
}
