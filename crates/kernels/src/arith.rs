//! `arith-int` and `arith-float`: one chain of dependent operations per worker, the same for both types. `arith-int-ilp` and
//! `arith-float-ilp`: several such chains at once.
//!
//! Each step takes one of 128 inputs, `x`, and the previous result, `r`, through 2 additions, 2 subtractions and 4
//! multiplications, each of which needs the result of the one before:
//!
//! ```text
//! r = ((((r + x) * x - x) * x + x) * x - x) * x
//! ```
//!
//! So a step takes the sum of eight latencies, however wide the strand's core is, and strands that share execution units
//! can fill each other's gaps: that is what the kernel is to show. Independent chains leave no gaps, so their time is that of
//! the execution units, and strands that share units slow each other down. The check of the answer is in the module `oracle`.

mod oracle;
mod step;

#[doc(hidden)]
pub use oracle::Affine;

use std::fmt::Debug;
use std::sync::Arc;

use charz_data::card::{Numbers, ROOM};
use charz_data::params::{LAYOUT, STEPS};
use charz_data::{Bytes, Card, Family, Layout, Metric, Params, Role, Work};
use crossbeam::utils::CachePadded;

use crate::kernel::{Error, Kernel, Worker};
use crate::plain::{Extent, PlainKernel, stage};
use crate::sys::arith::{
    charz_arith_float_ilp_loop, charz_arith_float_loop, charz_arith_int_ilp_loop, charz_arith_int_loop,
};
use crate::watch::Watch;
pub(crate) use step::{FLOAT_CHAINS, INPUTS, INT_CHAINS, step_float, step_int};

pub(crate) static KERNELS: &[&dyn Kernel] = &[ARITH_INT, ARITH_FLOAT, ARITH_INT_ILP, ARITH_FLOAT_ILP];

const OPS: u64 = 8;

const SOURCE: &str = "arXiv:1106.2992, section 3: 128 inputs, 8 dependent operations a step";

const SOURCE_ILP: &str = "arith-int and arith-float with the parallelism that compiled steps have: the X4470 of arXiv:1106.2992 did 1.1 \
                          integer operations per cycle";

/// The chain on 64-bit integers, wrapping. A step takes 16 cycles on most processors, so the worker looks at its [`Watch`]
/// every 20 to 66 µs at 6.5 to 2 GHz; on Zen 4 it was 36 µs.
static ARITH_INT: &dyn Kernel = &chain::<u64, 1>(INT, 8192, |r, inputs, steps| charz_arith_int_loop(r, inputs, steps));

/// The chain on double-precision numbers. A step takes 20 to 32 cycles, so the worker looks at its [`Watch`] every 20 to
/// 98 µs at 6 to 2 GHz; on Zen 4 it was 40 µs.
static ARITH_FLOAT: &dyn Kernel =
    &chain::<f64, 1>(FLOAT, 6144, |r, inputs, steps| charz_arith_float_loop(r, inputs, steps));

/// A step of all takes 24 cycles with one multiplication per cycle, so the worker looks at its [`Watch`] every 15 to 49 µs at
/// 6.5 to 2 GHz.
static ARITH_INT_ILP: &dyn Kernel =
    &chain::<u64, INT_CHAINS>(INT_ILP, 4096, |r, inputs, steps| charz_arith_int_ilp_loop(r, inputs, steps));

/// A step of all takes 24 to 48 cycles, so the worker looks at its [`Watch`] every 12 to 74 µs at 6 to 2 GHz.
static ARITH_FLOAT_ILP: &dyn Kernel =
    &chain::<f64, FLOAT_CHAINS>(FLOAT_ILP, 3072, |r, inputs, steps| charz_arith_float_ilp_loop(r, inputs, steps));

pub(crate) trait Number: Copy + Debug + PartialEq + Send + Sync + 'static {
    /// The most steps that can be counted and checked.
    const MOST: u64;
    fn inputs(rank: usize) -> [Self; INPUTS];
    /// The value before the first step of a repetition.
    fn start(rank: usize, repetition: u64) -> Self;
    /// What the chain must give from input 0 on, found in another way.
    fn oracle(start: Self, inputs: &[Self; INPUTS], steps: u64) -> Self;
}

const INT: &Card = &Card::new(
    "arith-int",
    Family::Compute,
    "runs a dependency chain of 64-bit integer operations (4 mul, 2 add, 2 sub per step)",
    Metric::ops("one 64-bit integer addition, subtraction or multiplication; 8 per step"),
)
.uncounted_traffic("an input read from the first-level cache and the loop's own counting, off the chain")
.role(Role::Arithmetic(Numbers::Integer))
.params(&[&STEPS, &LAYOUT])
.source(SOURCE)
.by_default()
// The shortest chain known: 1 cycle for an addition, 3 for a multiplication (Agner Fog, "Instruction tables").
// No core whose clock is known by its multiplications, of 3 cycles or more, runs it faster, so there is no room.
.max_per_cycle(8.0 / (4.0 * 1.0 + 4.0 * 3.0));

const FLOAT: &Card = &Card::new(
    "arith-float",
    Family::Compute,
    "runs a dependency chain of double-precision operations (4 mul, 2 add, 2 sub per step)",
    Metric::ops("one double-precision addition, subtraction or multiplication, none fused; 8 per step"),
)
.uncounted_traffic("an input read from the first-level cache and the loop's own counting, off the chain")
.role(Role::Arithmetic(Numbers::Float))
.params(&[&STEPS, &LAYOUT])
.source(SOURCE)
.by_default()
// The shortest chain known: 2 cycles for an addition, 3 for a multiplication (Arm, "Cortex-X2 Core
// Software Optimization Guide", PJDOC-466751330-14955); no x86 core known to us has both so short.
.max_per_cycle(ROOM * 8.0 / (4.0 * 2.0 + 4.0 * 3.0));

const INT_ILP: &Card = &Card::new(
    "arith-int-ilp",
    Family::Compute,
    "runs 6 independent chains of arith-int at once, an operation of each in turn: bound by throughput, so strands that share \
     execution units slow each other down",
    Metric::ops("one 64-bit integer addition, subtraction or multiplication; 48 a step, 8 of each chain"),
)
.uncounted_traffic("an input read from the first-level cache and the loop's own counting")
.params(&[&STEPS, &LAYOUT])
.source(SOURCE_ILP)
.max_per_cycle(MOST_AT_ONCE);

const FLOAT_ILP: &Card = &Card::new(
    "arith-float-ilp",
    Family::Compute,
    "runs 12 independent chains of arith-float at once, an operation of each in turn: bound by throughput, so strands that share \
     execution units slow each other down",
    Metric::ops("one double-precision addition, subtraction or multiplication, none fused; 96 a step, 8 of each chain"),
)
.uncounted_traffic("an input read from the first-level cache and the loop's own counting")
.params(&[&STEPS, &LAYOUT])
.source(SOURCE_ILP)
.max_per_cycle(MOST_AT_ONCE);

/// No core known to us begins more than 8 scalar operations a cycle of which half are multiplications.
const MOST_AT_ONCE: f64 = 8.0;

impl Number for u64 {
    const MOST: u64 = u64::MAX / OPS;

    fn inputs(rank: usize) -> [u64; INPUTS] {
        // Odd factors can be inverted: no product loses what the chain has gathered.
        std::array::from_fn(|i| oracle::scatter(rank, i as u64) | 1)
    }

    fn start(rank: usize, repetition: u64) -> u64 {
        oracle::scatter(rank, !repetition)
    }

    fn oracle(start: u64, inputs: &[u64; INPUTS], steps: u64) -> u64 {
        oracle::int(start, inputs, steps)
    }
}

impl Number for f64 {
    const MOST: u64 = oracle::EXACT_STEPS;

    fn inputs(rank: usize) -> [f64; INPUTS] {
        oracle::exact_inputs(rank)
    }

    fn start(rank: usize, repetition: u64) -> f64 {
        // Any whole number does; small ones leave the most room for exact sums.
        (oracle::scatter(rank, !repetition) % 1024) as f64
    }

    fn oracle(start: f64, inputs: &[f64; INPUTS], steps: u64) -> f64 {
        oracle::float(start, inputs, steps)
    }
}

/// Runs the measured loop with so many chains, from input 0 on.
type Loop<T, const N: usize> = fn(&mut [T; N], &[T; INPUTS], u64);

/// The kernel with so many steps between two looks. Each stretch begins at the first input.
const fn chain<T: Number, const N: usize>(
    card: &'static Card,
    stretch: u64,
    run: Loop<T, N>,
) -> PlainKernel<(u64, Loop<T, N>)> {
    assert!(stretch > 0 && stretch.is_multiple_of(INPUTS as u64), "a stretch is whole passes over the inputs");
    let footprint = |_: &PlainKernel<(u64, Loop<T, N>)>, _: &Params| Bytes(size_of::<[T; INPUTS]>() as u64);
    PlainKernel::new(card, (stretch, run), footprint, |kernel, params, workers| {
        let (name, (stretch, run)) = (kernel.name(), kernel.data);
        let steps = kernel.iterations_up_to(T::MOST / N as u64, params)?;
        // The inputs of all workers in one array, if they are to lie so.
        let shared = match params.layout {
            Layout::Padded => None,
            Layout::Contiguous => Some(Arc::from_iter((0..workers).map(T::inputs))),
        };
        let path = if cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) { "assembly" } else { "rust" };
        stage(path, Extent::Each(Work::ops(steps * Chains::<T, N>::OPS)), move |rank| {
            let inputs = match shared.clone() {
                Some(all) => Inputs::Shared(all),
                None => Inputs::Own(Box::new(CachePadded::new(T::inputs(rank)))),
            };
            Ok(Box::new(Chains { name, rank, inputs, steps, stretch, run, repetition: 0, done: 0, r: starts(rank, 0) }))
        })
    })
}

enum Inputs<T> {
    Own(Box<CachePadded<[T; INPUTS]>>),
    Shared(Arc<[[T; INPUTS]]>),
}

/// So many chains of a worker, all with its inputs.
struct Chains<T, const N: usize> {
    name: &'static str,
    rank: usize,
    inputs: Inputs<T>,
    /// Steps of a full run, of each chain.
    steps: u64,
    stretch: u64,
    run: Loop<T, N>,
    /// Runs prepared so far: each starts from another value, so an answer left over from before is wrong.
    repetition: u64,
    done: u64,
    r: [T; N],
}

/// The values of a worker's chains before the first step of a repetition.
fn starts<T: Number, const N: usize>(rank: usize, repetition: u64) -> [T; N] {
    std::array::from_fn(|chain| T::start(rank, repetition * N as u64 + chain as u64))
}

impl<T: Number, const N: usize> Chains<T, N> {
    /// A step of all.
    const OPS: u64 = OPS * N as u64;

    fn inputs(&self) -> &[T; INPUTS] {
        match &self.inputs {
            Inputs::Own(own) => own,
            Inputs::Shared(all) => &all[self.rank],
        }
    }
}

impl<T: Number, const N: usize> Worker for Chains<T, N> {
    fn prepare(&mut self) {
        self.repetition += 1;
        self.done = 0;
        self.r = starts(self.rank, self.repetition);
    }

    fn run(&mut self, watch: &Watch) -> Work {
        let (mut r, mut done) = (self.r, 0);
        while !watch.should_stop_after(done * Self::OPS) && done < self.steps {
            let steps = self.stretch.min(self.steps - done);
            (self.run)(&mut r, self.inputs(), steps);
            done += steps;
        }
        (self.r, self.done) = (r, done);
        Work::ops(done * Self::OPS)
    }

    fn verify(&mut self) -> Result<(), Error> {
        let (done, found) = (self.done, self.r);
        let expected = starts::<T, N>(self.rank, self.repetition).map(|start| T::oracle(start, self.inputs(), done));
        Error::unless(found == expected, self.name, || format!("{done} steps gave {found:?} instead of {expected:?}"))
    }
}

#[cfg(test)]
mod tests;
