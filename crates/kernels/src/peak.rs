//! `peak-int` and `peak-float`: the most that a core can do, with independent operations on its widest vectors.
//!
//! Which width and which mix of operations is fastest differs from core to core, and cannot be told from feature bits
//! alone. So each worker tries all loops that its core can run, for some hundred microseconds each, unless another one has
//! done so on a core of the same kind, and takes the fastest; the variant names those that were taken. Every accumulator
//! starts at a number of its own and gets the same exact addend in every update, so its end is known from the number of
//! rounds.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

use charz_data::card::{Numbers, ROOM, Role};
use charz_data::params::STEPS;
use charz_data::{Bytes, Card, Family, Metric, Params, Work};

use crate::kernel::{Error, Stage, Worker};
use crate::plain::{PlainKernel, kernels};
use crate::sys::peak::{Accumulators, Path, paths_float, paths_int};
use crate::watch::Watch;

const CARD: Card = Card::new("", Family::Compute, "", Metric::Duration).params(&[&STEPS]);

kernels! {
    // Zen 5 adds in 4 vectors of 8 lanes a cycle (AMD, "Software Optimization Guide for the Zen5 Microarchitecture", 58455); Intel's
    // widest cores in 2.
    peak::<u64> => CARD
        .named("peak-int", "adds 64-bit integers in independent streams, with the widest vectors that pay on this core")
        .metric(Metric::ops("one addition in one 64-bit lane; a step is a round of the loop, with as many as the path \
            has"))
        .role(Role::VectorArithmetic(Numbers::Integer))
        .source("throughput of vector additions as in the vendors' optimization manuals")
        .max_per_cycle(ROOM * 4.0 * 8.0);
    // Zen 5 does 2 fused multiply-adds and 2 additions in vectors of 8 lanes a cycle (as above); Intel's widest cores 2 fused
    // multiply-adds.
    peak::<f64> => CARD
        .named("peak-float", "adds and multiplies doubles in independent streams, with the widest vectors and the mix \
            that pay on this core")
        .metric(Metric::ops("one double-precision flop in one lane, a fused multiply-add being two; a step is a round \
            of the loop, with as many as the path has"))
        .role(Role::VectorArithmetic(Numbers::Float))
        .source("throughput of fused multiply-adds and additions as in the vendors' optimization manuals")
        .max_per_cycle(ROOM * (2.0 * 2.0 + 2.0) * 8.0);
}

/// Rounds between two looks at the [`Watch`]: of 48 vector operations each, 20 to 100 µs at 4 operations a cycle and 5 GHz down to 2
/// a cycle and 2 GHz. On Zen 4 they took 54 µs with vectors of 512 bits.
const STRETCH: u64 = 8192;

/// Tries of each path, of which the fastest counts.
const TRIES: usize = 7;

/// A later path must be this much faster than an earlier one to be taken, so equal ones do not change places.
const ADVANTAGE: f64 = 1.02;

/// The most rounds of a run: the accumulators stay exact, and the operations can be counted.
const MOST: u64 = 1 << 45;

pub(crate) trait Lane: Copy + Debug + PartialEq + Send + Sync + 'static {
    /// On the core of the calling thread.
    fn fastest() -> &'static Path<Self>;
    /// A whole number below 2^53 as a value of this type.
    fn from_count(n: u64) -> Self;
    /// The sum of `self` and `n` times `step`, all exact.
    fn plus_times(self, n: u64, step: Self) -> Self;
}

impl Lane for u64 {
    fn fastest() -> &'static Path<u64> {
        static FASTEST: ByKind<u64> = ByKind::new(BTreeMap::new());
        fastest_on(kind_of_core(), &FASTEST, paths_int())
    }

    fn from_count(n: u64) -> u64 {
        n
    }

    fn plus_times(self, n: u64, step: u64) -> u64 {
        self + n * step
    }
}

impl Lane for f64 {
    fn fastest() -> &'static Path<f64> {
        static FASTEST: ByKind<f64> = ByKind::new(BTreeMap::new());
        fastest_on(kind_of_core(), &FASTEST, paths_float())
    }

    fn from_count(n: u64) -> f64 {
        n as f64
    }

    fn plus_times(self, n: u64, step: f64) -> f64 {
        self + n as f64 * step
    }
}

/// The fastest path on each kind of core that a worker was on. Only one worker tries them at a time: two on a core would be in each
/// other's way.
type ByKind<T> = Mutex<BTreeMap<u32, &'static Path<T>>>;

fn fastest_on<T: Lane>(
    kind: u32,
    known: &ByKind<T>,
    paths: impl Iterator<Item = &'static Path<T>>,
) -> &'static Path<T> {
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(kind).or_insert_with(|| choose(paths))
}

/// A number that differs between kinds of core of a machine.
fn kind_of_core() -> u32 {
    #[cfg(target_arch = "x86_64")]
    return crate::cpu::kind_of_core();
    // Cores of other machines that differ in kind have vectors of one width.
    #[cfg(not(target_arch = "x86_64"))]
    0
}

fn choose<T: Lane>(paths: impl Iterator<Item = &'static Path<T>>) -> &'static Path<T> {
    let rated = paths.map(|path| (path, rate(path)));
    let best = rated.reduce(|best, next| if next.1 > best.1 * ADVANTAGE { next } else { best });
    best.expect("a path without vectors runs everywhere").0
}

/// Operations a second on the calling thread, in the best of some tries.
fn rate<T: Lane>(path: &Path<T>) -> f64 {
    let mut accumulators = start();
    let tries = (0..TRIES).map(|_| {
        let from = Instant::now();
        path.run(&mut accumulators, STRETCH);
        (path.ops() * STRETCH) as f64 / from.elapsed().as_secs_f64()
    });
    tries.fold(0.0, f64::max)
}

/// The accumulators before the first round: all different, so no two can be mistaken for each other.
fn start<T: Lane>() -> Accumulators<T> {
    std::array::from_fn(|i| T::from_count(i as u64))
}

const fn peak<T: Lane>(card: &'static Card) -> PlainKernel {
    let footprint = |_: &PlainKernel, _: &Params| Bytes(size_of::<Accumulators<T>>() as u64);
    PlainKernel::new(card, (), footprint, |kernel, params, workers| {
        let (name, rounds) = (kernel.name(), kernel.iterations_up_to(MOST, params)?);
        let paths = (0..workers).map(|_| OnceLock::new()).collect();
        Ok(Box::new(Paths::<T> { name, rounds, paths, names: OnceLock::new() }))
    })
}

/// A stage whose workers have each the path that is fastest on the core where it was built.
struct Paths<T: 'static> {
    name: &'static str,
    rounds: u64,
    paths: Box<[OnceLock<&'static Path<T>>]>,
    names: OnceLock<String>,
}

impl<T: Lane> Paths<T> {
    fn path(&self, rank: usize) -> &'static Path<T> {
        self.paths[rank].get_or_init(T::fastest)
    }
}

impl<T: Lane> Stage for Paths<T> {
    fn variant(&self) -> &str {
        let names = || (0..self.paths.len()).map(|rank| self.path(rank).name).collect::<BTreeSet<_>>();
        self.names.get_or_init(|| names().into_iter().collect::<Vec<_>>().join("; "))
    }

    fn work(&self) -> Work {
        self.work_of(0)
    }

    fn work_of(&self, rank: usize) -> Work {
        Work::ops(self.rounds * self.path(rank).ops())
    }

    fn worker(&self, rank: usize) -> Result<Box<dyn Worker>, Error> {
        Ok(Box::new(Adder::new(self.name, self.path(rank), self.rounds)))
    }
}

struct Adder<T: 'static> {
    name: &'static str,
    path: &'static Path<T>,
    /// Rounds of a full run.
    rounds: u64,
    done: u64,
    accumulators: Accumulators<T>,
}

impl<T: Lane> Adder<T> {
    fn new(name: &'static str, path: &'static Path<T>, rounds: u64) -> Self {
        Adder { name, path, rounds, done: 0, accumulators: start() }
    }
}

impl<T: Lane> Worker for Adder<T> {
    fn prepare(&mut self) {
        self.done = 0;
        self.accumulators = start();
    }

    fn run(&mut self, watch: &Watch) -> Work {
        let mut done = 0;
        while !watch.should_stop_after(done * self.path.ops()) && done < self.rounds {
            let rounds = STRETCH.min(self.rounds - done);
            self.path.run(&mut self.accumulators, rounds);
            done += rounds;
        }
        self.done = done;
        Work::ops(done * self.path.ops())
    }

    fn verify(&mut self) -> Result<(), Error> {
        let expected = start::<T>().into_iter().zip(self.path.updates());
        let expected = expected.map(|(start, (updates, step))| start.plus_times(updates * self.done, step));
        for (i, (expected, found)) in expected.zip(self.accumulators).enumerate() {
            Error::unless(expected == found, self.name, || {
                format!("{} rounds left {found:?} instead of {expected:?} in accumulator {i}", self.done)
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
