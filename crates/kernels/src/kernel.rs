//! What a kernel is: a card, a stage, and workers.
//!
//! A kernel lives in three steps. [`Kernel::stage`] builds what the workers share, before any thread exists.
//! [`Stage::worker`] builds one worker's own state, on its own, already seated thread: it allocates and touches there, so
//! that first-touch placement follows the seat. [`Worker::run`] is the timed span and nothing else. [`Worker::prepare`]
//! and [`Worker::verify`] stand around it, untimed, once per repetition.

use std::ops::AddAssign;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::block::PagePolicy;
use crate::joint::Joint;
use crate::watch::Watch;
use crate::work::{Bytes, Work};

/// A family of kernels, for `--family`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// Arithmetic on registers.
    Compute,
    /// Caches and memory: how long they take, how much they move, and what their pages cost.
    Memory,
    /// Workers that meet at one line of memory.
    Sync,
    /// Clocks, and waits that are to end at a given time.
    Timer,
    /// The cost of the apparatus itself.
    Floor,
}

impl Family {
    /// Every family, in the order of the catalog.
    pub const ALL: [Family; 5] = [Family::Compute, Family::Memory, Family::Sync, Family::Timer, Family::Floor];

    /// The word used on the command line and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Family::Compute => "compute",
            Family::Memory => "memory",
            Family::Sync => "sync",
            Family::Timer => "timer",
            Family::Floor => "floor",
        }
    }
}

/// What a kernel's throughput counts, with the meaning of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts {
    /// Operations; the text says what one is.
    Ops(&'static str),
    /// Bytes that the program asked for; the text says which.
    Bytes(&'static str),
    /// Operations of which one begins when another ends, over all workers: the number is the time from one to the next. The
    /// text says what one is.
    Turns(&'static str),
    /// Pairs of times that the workers stamp themselves ([`Worker::samples`]): the number is the median of the second one. The
    /// texts say from what to what the first and the second go.
    Samples(&'static str, &'static str),
    /// Operations of which each begins when the one before it, of the same worker, has ended: the number is the time of one,
    /// over the workers that do any. The text says what one is.
    Steps(&'static str),
    /// Bytes that the operating system hands out, locks or takes back: the number is the time of a GiB. The text says which.
    Handled(&'static str),
    /// Nothing: only the time is of interest.
    Nothing,
}

/// How many workers a kernel takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crew {
    /// Any number.
    Any,
    /// So many and no other number.
    Exactly(usize),
    /// So many or more.
    AtLeast(usize),
}

impl Crew {
    /// Whether it may be so many.
    pub const fn admits(self, workers: usize) -> bool {
        match self {
            Crew::Any => workers > 0,
            Crew::Exactly(number) => workers == number,
            Crew::AtLeast(number) => workers >= number,
        }
    }

    /// The fewest.
    pub const fn least(self) -> usize {
        match self {
            Crew::Any => 1,
            Crew::Exactly(number) | Crew::AtLeast(number) => number,
        }
    }
}

/// A parameter that changes what a kernel does. The others leave it alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Knob {
    /// [`Params::iterations`].
    Iterations,
    /// [`Params::size`].
    Size,
    /// [`Params::pages`].
    Pages,
    /// [`Params::stride`].
    Stride,
    /// [`Params::chains`].
    Chains,
    /// [`Params::delay`].
    Delay,
    /// [`Params::layout`].
    Layout,
    /// [`Params::samples`].
    Samples,
    /// [`Params::span`].
    Span,
    /// [`Params::critical`] and [`Params::parallel`].
    Sections,
    /// [`Params::period`].
    Period,
    /// [`Params::timeout`].
    Timeout,
}

/// What is declared beside a kernel's loop.
#[derive(Debug)]
pub struct Card {
    /// The name on the command line and in reports, e.g. `mem-read`.
    pub name: &'static str,
    /// The family it belongs to.
    pub family: Family,
    /// One sentence: what a worker does.
    pub about: &'static str,
    /// What is counted.
    pub counts: Counts,
    /// What the hardware moves or does beside what is counted, e.g. write-allocate reads. Empty when nothing.
    pub beside: &'static str,
    /// The parameters that it obeys.
    pub knobs: &'static [Knob],
    /// Where the kernel comes from: paper and section, or manual.
    pub source: &'static str,
    /// Whether `charz sweep` without flags runs it.
    pub by_default: bool,
    /// An upper bound on the work that a worker can do in one cycle of its core's clock, in what [`Card::counts`] counts:
    /// operations or bytes. More than that is no measurement but a mistake, such as a loop that was optimised away. `None`
    /// where nothing is counted.
    ///
    /// It is [`ROOM`] times what the most capable processor known to us can do; the source stands beside each number.
    pub most_per_cycle: Option<f64>,
    /// Whether its workers fight for one line of memory, so that a run may take many times longer than its work alone, and
    /// be hard to stop from outside: it is to run with a deadline, and with a bounded number of workers.
    pub contends: bool,
    /// How many workers it takes.
    pub crew: Crew,
    /// Whether the operating system's doing is part of what is measured: workers sleep and are woken, threads come and go.
    /// That a worker stood still, waited for its strand, or met page faults is then no disturbance.
    pub system: bool,
}

/// By how much [`Card::most_per_cycle`] exceeds what any processor is known to do: the clock of a core is an estimate from
/// below, and processors grow wider. A loop that does nothing exceeds the bound by far more than that.
pub const ROOM: f64 = 2.0;

/// How the inputs of several workers lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Layout {
    /// Each worker's inputs on lines of their own.
    #[default]
    Padded,
    /// All workers' inputs in one array without gaps, as in the T3-4 report.
    Contiguous,
}

/// The parameters of one run. Every kernel takes the same; [`Card::knobs`] says which it obeys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// Steps of a loop, per worker and repetition. At least 1.
    pub iterations: u64,
    /// Bytes of the private block of a worker (`mem-copy` and `mem-triad` divide it among their arrays).
    pub size: Bytes,
    /// The kind of pages asked for.
    pub pages: PagePolicy,
    /// From one place of a block that a load reads to the next that one may read; a multiple of 64 bytes.
    pub stride: Bytes,
    /// Chains of loads that a worker follows at once, each of which waits for nothing but itself. 1 to 16.
    pub chains: u64,
    /// Steps of about a nanosecond ([`section`](crate::sync::section)) that a worker that loads the memory makes between
    /// two portions.
    pub delay: u64,
    /// How the inputs of arithmetic kernels lie in memory.
    pub layout: Layout,
    /// Pairs of times that a repetition takes. At least 1.
    pub samples: u64,
    /// How long a repetition of a kernel lasts that runs by time and not by work ([`Stage::span`]).
    pub span: Duration,
    /// Steps of about a nanosecond ([`section`](crate::sync::section)) that a worker makes while it holds a lock or an item.
    pub critical: u64,
    /// Such steps that it makes in between.
    pub parallel: u64,
    /// From the intended beginning of a sample to that of the next; zero begins one when the one before has ended.
    pub period: Period,
    /// How long a wait is to last that nothing ends but its time: more than nothing, and at most [`MOST_TIMEOUT`](crate::timer::MOST_TIMEOUT).
    pub timeout: Duration,
}

/// When samples begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Period {
    /// By a schedule whose period is found out at the beginning of a run: a multiple of what a sample takes, so that
    /// samples rarely meet.
    #[default]
    Fitting,
    /// Each when the one before has ended, as the T3-4 report had it: what is slow delays the samples that would have
    /// seen it, and so hides itself.
    Closed,
    /// By a schedule with this period.
    Every(Duration),
}

impl Params {
    /// A small run of anything.
    pub const SMALL: Params = Params {
        iterations: 1,
        size: Bytes(64),
        pages: PagePolicy::Small,
        stride: Bytes(64),
        chains: 1,
        delay: 0,
        layout: Layout::Padded,
        samples: 1,
        span: Duration::from_millis(1),
        critical: 0,
        parallel: 0,
        period: Period::Fitting,
        timeout: Duration::from_millis(1),
    };
}

/// What of the parameters a sweep varies where nothing else was asked for.
///
/// An empty list stands for the one value that all kernels have. Knobs that are not on the kernel's card have no list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axes {
    /// Values of [`Params::size`].
    pub sizes: Sizes,
    /// Values of [`Params::pages`].
    pub pages: &'static [PagePolicy],
    /// Values of [`Params::stride`], in bytes.
    pub strides: &'static [u64],
    /// Values of [`Params::chains`].
    pub chains: &'static [u64],
    /// Values of [`Params::delay`].
    pub delays: &'static [u64],
    /// Whether a single crew, the smallest, is enough.
    pub alone: bool,
}

impl Axes {
    /// Nothing is varied but the number of workers and where they are.
    pub const NONE: Axes =
        Axes { sizes: Sizes::Block, pages: &[], strides: &[], chains: &[], delays: &[], alone: false };
}

/// Which sizes of blocks tell what a kernel is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// A large one: the kernel is about memory.
    Block,
    /// This one, in bytes, whatever the machine: that of the source.
    Fixed(u64),
    /// One for each level of caches, well inside of it with all workers' blocks together, and one for memory.
    Levels,
    /// Many, in steps of a constant ratio, from inside the first cache to well past the last.
    Curve,
}

/// Why a kernel could not be built or gave a wrong answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// It cannot run on this machine, or not with these parameters.
    #[error("{0}")]
    Unavailable(String),
    /// The operating system refused something (memory, pages).
    #[error("{0}")]
    Refused(String),
    /// A wrong result: the measurement is void.
    #[error("{0}")]
    Wrong(String),
}

/// Asks all workers of a run to stop early. Each sees it through its own [`Watch`].
///
/// Clones share one flag, so that a signal handler can raise it without a thread in between.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// A flag that is not raised.
    pub fn new() -> Self {
        Stop::default()
    }

    /// The flag itself, for a signal handler to set.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }

    /// Raises the flag; it stays raised.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the flag is raised.
    #[inline]
    pub fn raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Where a worker's memory lies, so that the harness can look up what pages it got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// The address of its first byte.
    pub start: usize,
    /// Its length in bytes.
    pub bytes: usize,
}

/// What a worker met at a line that it shares with others, in one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Contention {
    /// How often it tried.
    pub attempts: u64,
    /// How often another worker came first.
    pub failures: u64,
    /// How many of its operations had to wait: spun, slept, or found nothing to take.
    pub waits: u64,
}

impl Contention {
    /// How often it succeeded.
    pub const fn successes(&self) -> u64 {
        self.attempts - self.failures
    }
}

impl AddAssign for Contention {
    fn add_assign(&mut self, other: Contention) {
        self.attempts += other.attempts;
        self.failures += other.failures;
        self.waits += other.waits;
    }
}

/// What one size of a recursion took that asks for a thread for each of its activities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrowthStep {
    /// The size, from 1.
    pub size: u64,
    /// How long it took, in nanoseconds.
    pub nanos: u64,
    /// How many activities it has.
    pub activities: u64,
    /// How many threads there were at its end.
    pub threads: u64,
    /// How many more there would have been, were there no limit.
    pub would_spawn: u64,
    /// How often threads were taken from their pool and returned to it, with the attempts that failed.
    pub attempts: u64,
    /// How many attempts failed, or found the pool empty.
    pub failures: u64,
}

/// Why a recursion grew no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halt {
    /// The next size would have taken more than the rest of the time.
    Time,
    /// There would be more than a million threads.
    Threads,
    /// There is no larger size.
    Sizes,
}

/// How a recursion grew from size to size in one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Growth {
    /// The sizes that were ended, in ascending order.
    pub steps: Vec<GrowthStep>,
    /// Why there are no more.
    pub halt: Halt,
}

/// A kernel: one value, one line in [`crate::catalog::KERNELS`].
pub trait Kernel: Sync {
    /// Its card.
    fn card(&self) -> &'static Card;

    /// Whether it can run on this machine.
    ///
    /// # Errors
    /// [`Error::Unavailable`] with the reason.
    fn check(&self) -> Result<(), Error> {
        Ok(())
    }

    /// What a sweep varies of it by itself.
    fn axes(&self) -> Axes {
        Axes::NONE
    }

    /// How many bytes move between the caches and memory for each one that is counted, where the block is far larger than the
    /// caches and each line that ordinary stores overwrite is read first (write-allocate). `None` where that is not known, or has
    /// no meaning.
    fn traffic(&self) -> Option<f64> {
        None
    }

    /// The memory that one worker allocates, for planning.
    fn footprint(&self, params: &Params) -> Bytes;

    /// Builds what `workers` workers share. Nothing that one worker alone uses is allocated here.
    ///
    /// # Errors
    /// [`Error::Unavailable`] as [`Kernel::check`], or for parameters without sense for this kernel;
    /// [`Error::Refused`] if memory is refused.
    fn stage(&self, params: &Params, workers: usize) -> Result<Box<dyn Stage>, Error>;
}

/// What the workers of one cell share.
pub trait Stage: Sync {
    /// The code path chosen at run time, e.g. `avx512`, `avx2+fma`, `neon`, `scalar`, `rep stosb`.
    fn variant(&self) -> &'static str;

    /// The work of one worker in one full run. Without meaning where there is a [span](Stage::span).
    fn work(&self) -> Work;

    /// How long a run lasts, for kernels that do what they can in a given time. The watch ends it.
    fn span(&self) -> Option<Duration> {
        None
    }

    /// Whether the workers take their work out of one pool, each as much as it gets to: [`Stage::work`] is then what each would get
    /// to if all were alike, and that together they did all of it is for [`Worker::verify`] to check.
    fn pooled(&self) -> bool {
        false
    }

    /// Builds worker number `rank` (from 0) on the calling thread, which is already seated; touches all of its memory.
    ///
    /// # Errors
    /// [`Error::Refused`] if memory is refused.
    fn worker(&self, rank: usize) -> Result<Box<dyn Worker>, Error>;
}

/// One worker. It lives and dies on the thread that made it.
pub trait Worker {
    /// Untimed, before each repetition's gate: makes a wrong run visible to [`Worker::verify`].
    fn prepare(&mut self) {}

    /// The timed span. Returns the work done: [`Stage::work`], or less when the watch ended it.
    fn run(&mut self, watch: &Watch) -> Work;

    /// Untimed, after each repetition that did not end early (one that runs by time never does): checks the answer against one found another way. Every worker
    /// of the stage has ended its run then, and none prepares another before all have verified.
    ///
    /// # Errors
    /// [`Error::Wrong`] with what was expected and found.
    fn verify(&mut self) -> Result<(), Error>;

    /// Its memory, if it streams through any.
    fn region(&self) -> Option<Region> {
        None
    }

    /// What it met in its last run at a line that it shares with other workers, if there is one.
    fn contention(&self) -> Option<Contention> {
        None
    }

    /// How its last run grew from size to size, if it did; asked for untimed, after [`Worker::verify`].
    fn growth(&mut self) -> Option<Growth> {
        None
    }

    /// The pairs of times that it stamped in its last run, if it does so; asked for untimed, after [`Worker::verify`].
    fn samples(&mut self) -> Option<Joint> {
        None
    }
}
