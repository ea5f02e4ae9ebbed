//! What a kernel is: a card, a stage, and workers.
//!
//! A kernel lives in three steps. [`Kernel::stage`] builds what the workers share, before any thread exists.
//! [`Stage::worker`] builds one worker's own state, on its own, already seated thread: it allocates and touches there, so
//! first-touch placement follows the seat. [`Worker::run`] is the timed span and nothing else. [`Worker::prepare`]
//! and [`Worker::verify`] run before and after it, untimed, once per repetition.

use std::fmt::Display;
use std::time::Duration;

use charz_data::{Bytes, Card, Contention, Growth, JointHistogram, Param, Params, Work};

use crate::watch::Watch;

/// Where a worker's memory lies. The harness looks up the pages that it got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    pub start: usize,
    pub bytes: usize,
}

/// What a sweep varies of a kernel by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axes {
    pub sizes: Sizes,
    /// Other parameters of the card, with the values that their flags would take: `(&CHAINS, "1,2,4")`.
    pub lists: &'static [(&'static Param, &'static str)],
    /// Whether the smallest number of workers alone is enough.
    pub alone: bool,
}

impl Axes {
    /// Nothing but the number of workers and where they are.
    pub const NONE: Axes = Axes { sizes: Sizes::Block, lists: &[], alone: false };
}

/// The sizes of blocks that show what a kernel is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// A large one: the kernel is about memory.
    Block,
    /// This one, in bytes, on any machine: that of the source.
    Fixed(u64),
    /// One that exceeds a cache but not all caches of a level together, for threads that divide the block, and this one, in
    /// bytes: that of the source.
    BetweenCaches(u64),
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

impl Error {
    /// A run of the kernel `name` that counts for nothing, and why.
    pub fn void(name: &str, reason: impl Display) -> Error {
        Error::Wrong(format!("{name}: {reason}: the result of this run is void"))
    }

    /// The verdict on a run of the kernel `name`, and the reason if it is not `right`.
    pub fn unless(right: bool, name: &str, reason: impl FnOnce() -> String) -> Result<(), Error> {
        if right { Ok(()) } else { Err(Error::void(name, reason())) }
    }
}

/// A kernel: one value, in one line of its module's `KERNELS`.
pub trait Kernel: Sync {
    fn card(&self) -> &'static Card;

    /// Whether it can run on this machine.
    ///
    /// # Errors
    /// [`Error::Unavailable`] with the reason.
    fn check(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Whether so many workers can run it with these parameters, on any machine; for planning.
    ///
    /// # Errors
    /// [`Error::Unavailable`] with the reason.
    fn fits(&self, _params: &Params, _workers: usize) -> Result<(), Error> {
        Ok(())
    }

    fn axes(&self) -> Axes {
        Axes::NONE
    }

    /// How many bytes move between the caches and memory for each one that is counted, where the block is far larger than the
    /// caches and each line that ordinary stores overwrite is read first (write-allocate). `None` where that is not known here, or
    /// has no meaning.
    fn traffic(&self) -> Option<f64> {
        None
    }

    /// The memory that one worker allocates, for planning.
    fn footprint(&self, params: &Params) -> Bytes;

    /// The memory of so many workers together. Workers that share a problem take less each, the more they are.
    fn footprint_together(&self, params: &Params, workers: usize) -> Bytes {
        Bytes(self.footprint(params).0.saturating_mul(workers as u64))
    }

    /// The operations of a run of all workers together, for planning, where they follow from a parameter that is not an amount: a
    /// program does all of its problem.
    fn operations(&self, _params: &Params) -> Option<f64> {
        None
    }

    /// Builds what `workers` workers share. Nothing that one worker alone uses is allocated here.
    ///
    /// # Errors
    /// [`Error::Unavailable`] as [`Kernel::check`], or for parameters without sense for this kernel;
    /// [`Error::Refused`] if memory is refused.
    fn stage(&self, params: &Params, workers: usize) -> Result<Box<dyn Stage>, Error>;
}

pub trait Stage: Sync {
    /// The code path chosen at run time, e.g. `avx512`, `avx2+fma`, `neon`, `scalar`, `rep stosb`; asked for when the workers have been built.
    fn variant(&self) -> &str;

    /// The work of one worker in one full run. Without meaning where there is a [span](Stage::span).
    fn work(&self) -> Work;

    /// The same of worker number `rank`, once it is built, where they differ in it.
    fn work_of(&self, _rank: usize) -> Work {
        self.work()
    }

    /// How long a run lasts, for kernels that do what they can in a given time. The watch ends it.
    fn span(&self) -> Option<Duration> {
        None
    }

    /// Whether the workers take their work out of one pool, each as much as it gets to: [`Stage::work`] is then what each would
    /// do if all were alike, and [`Worker::verify`] checks that together they did all of it.
    fn shares_work(&self) -> bool {
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

    /// Untimed, after each repetition that did not end early (one that runs by time never does): checks the answer against one
    /// found another way, where there is one. Every worker of the stage has ended its run then, and none prepares another before all have
    /// verified.
    ///
    /// # Errors
    /// [`Error::Wrong`] with what was expected and found.
    fn verify(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// Its memory, if it streams through any.
    fn region(&self) -> Option<Region> {
        None
    }

    /// What it met in its last run at what it shares with other workers, if anything.
    fn contention(&self) -> Option<Contention> {
        None
    }

    /// How its last run grew from size to size, if it did; asked for untimed, after [`Worker::verify`].
    fn growth(&mut self) -> Option<Growth> {
        None
    }

    /// The pairs of times that it stamped in its last run, if any; asked for untimed, after [`Worker::verify`].
    fn samples(&mut self) -> Option<JointHistogram> {
        None
    }
}
