//! `arith-int` and `arith-float`: one chain of dependent operations per worker, the same for both types.
//!
//! Each step takes one of 128 inputs, `x`, and the previous result, `r`, through 2 additions, 2 subtractions and 4
//! multiplications, each of which needs the result of the one before:
//!
//! ```text
//! r = ((((r + x) * x - x) * x + x) * x - x) * x
//! ```
//!
//! So a step takes the sum of eight latencies, however wide the strand's core is, and strands that share execution units
//! can fill each other's gaps: that is what the kernel is to show. The check of the answer is in the module `oracle`.

mod oracle;

use std::fmt::Debug;
use std::sync::Arc;

use charz_data::card::{Numbers, ROOM};
use charz_data::params::{ITERATIONS, LAYOUT};
use charz_data::{Bytes, Card, Family, Layout, Metric, Params, Role, Work};
use crossbeam::utils::CachePadded;

use crate::kernel::{Error, Kernel, Worker};
use crate::plain::{Extent, PlainKernel, stage};
use crate::sys::arith::{charz_arith_float_loop, charz_arith_int_loop};
use crate::watch::Watch;

pub(crate) static KERNELS: &[&dyn Kernel] = &[ARITH_INT, ARITH_FLOAT];

/// Inputs of each worker, as in the T3-4 report.
pub(crate) const INPUTS: usize = 128;

const OPS: u64 = 8;

const SOURCE: &str = "arXiv:1106.2992, section 3: 128 inputs, 8 dependent operations a step";

/// The chain on 64-bit integers, wrapping. A step takes 16 cycles on most processors, so the worker looks at its [`Watch`]
/// every 20 to 66 µs at 6.5 to 2 GHz; on Zen 4 it was 36 µs.
pub static ARITH_INT: &dyn Kernel = &chain::<u64>(8192);

/// The same chain with looks a hundred times rarer: what the looks cost is measured by it.
pub static RARELY_LOOKING: &dyn Kernel = &chain::<u64>(100 * 8192);

/// The chain on double-precision numbers. A step takes 20 to 32 cycles, so the worker looks at its [`Watch`] every 20 to
/// 98 µs at 6 to 2 GHz; on Zen 4 it was 40 µs.
static ARITH_FLOAT: &dyn Kernel = &chain::<f64>(6144);

pub(crate) trait Number: Copy + Debug + PartialEq + Send + Sync + 'static {
    const CARD: &'static Card;
    /// The most steps that can be counted and checked.
    const MOST: u64;
    fn inputs(rank: usize) -> [Self; INPUTS];
    /// The value before the first step of a repetition.
    fn start(rank: usize, repetition: u64) -> Self;
    /// Runs the measured loop, from input 0 on.
    fn chain(r: Self, inputs: &[Self; INPUTS], steps: u64) -> Self;
    /// What the chain must give from input 0 on, found in another way.
    fn oracle(start: Self, inputs: &[Self; INPUTS], steps: u64) -> Self;
}

impl Number for u64 {
    const CARD: &'static Card = &Card::new(
        "arith-int",
        Family::Compute,
        "runs a chain of dependent 64-bit integer operations: 2 additions, 2 subtractions, 4 multiplications a step",
        Metric::ops("one 64-bit integer addition, subtraction or multiplication; 8 a step"),
    )
    .uncounted_traffic("an input read from the first-level cache and the loop's own counting, off the chain")
    .role(Role::Arithmetic(Numbers::Integer))
    .params(&[&ITERATIONS, &LAYOUT])
    .source(SOURCE)
    .by_default()
    // The shortest chain known: 1 cycle for an addition, 3 for a multiplication (Agner Fog, "Instruction tables").
    .max_per_cycle(ROOM * 8.0 / (4.0 * 1.0 + 4.0 * 3.0));
    const MOST: u64 = u64::MAX / OPS;

    fn inputs(rank: usize) -> [u64; INPUTS] {
        // Odd factors can be inverted: no product loses what the chain has gathered.
        std::array::from_fn(|i| oracle::scatter(rank, i as u64) | 1)
    }

    fn start(rank: usize, repetition: u64) -> u64 {
        oracle::scatter(rank, !repetition)
    }

    fn chain(r: u64, inputs: &[u64; INPUTS], steps: u64) -> u64 {
        charz_arith_int_loop(r, inputs, steps)
    }

    fn oracle(start: u64, inputs: &[u64; INPUTS], steps: u64) -> u64 {
        oracle::int(start, inputs, steps)
    }
}

impl Number for f64 {
    const CARD: &'static Card = &Card::new(
        "arith-float",
        Family::Compute,
        "runs a chain of dependent double-precision operations: 2 additions, 2 subtractions, 4 multiplications a step",
        Metric::ops("one double-precision addition, subtraction or multiplication, none fused; 8 a step"),
    )
    .uncounted_traffic("an input read from the first-level cache and the loop's own counting, off the chain")
    .role(Role::Arithmetic(Numbers::Float))
    .params(&[&ITERATIONS, &LAYOUT])
    .source(SOURCE)
    .by_default()
    // The shortest chain known: 2 cycles for an addition, 3 for a multiplication (Arm, "Cortex-X2 Core
    // Software Optimization Guide", PJDOC-466751330-14955); no x86 core known to us has both so short.
    .max_per_cycle(ROOM * 8.0 / (4.0 * 2.0 + 4.0 * 3.0));
    const MOST: u64 = oracle::EXACT_STEPS;

    fn inputs(rank: usize) -> [f64; INPUTS] {
        oracle::exact_inputs(rank)
    }

    fn start(rank: usize, repetition: u64) -> f64 {
        // Any whole number does; small ones leave the most room for exact sums.
        (oracle::scatter(rank, !repetition) % 1024) as f64
    }

    fn chain(r: f64, inputs: &[f64; INPUTS], steps: u64) -> f64 {
        charz_arith_float_loop(r, inputs, steps)
    }

    fn oracle(start: f64, inputs: &[f64; INPUTS], steps: u64) -> f64 {
        oracle::float(start, inputs, steps)
    }
}

/// One step on integers, as the language defines it.
pub(crate) fn step_int(r: u64, x: u64) -> u64 {
    let r = r.wrapping_add(x).wrapping_mul(x).wrapping_sub(x).wrapping_mul(x);
    r.wrapping_add(x).wrapping_mul(x).wrapping_sub(x).wrapping_mul(x)
}

/// One step on doubles, as the language defines it: each operation is rounded by itself.
pub(crate) fn step_float(r: f64, x: f64) -> f64 {
    ((((r + x) * x - x) * x + x) * x - x) * x
}

/// The kernel with so many steps between two looks. Each stretch begins at the first input.
const fn chain<T: Number>(stretch: u64) -> PlainKernel<u64> {
    assert!(stretch > 0 && stretch.is_multiple_of(INPUTS as u64), "a stretch is whole passes over the inputs");
    let footprint = |_: &PlainKernel<u64>, _: &Params| Bytes(size_of::<[T; INPUTS]>() as u64);
    PlainKernel::new(T::CARD, stretch, footprint, |kernel, params, workers| {
        let (steps, stretch) = (kernel.iterations_up_to(T::MOST, params)?, kernel.data);
        // The inputs of all workers in one array, if they are to lie so.
        let shared = match params.layout {
            Layout::Padded => None,
            Layout::Contiguous => Some(Arc::from_iter((0..workers).map(T::inputs))),
        };
        let path = if cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) { "assembly" } else { "rust" };
        stage(path, Extent::Each(Work::ops(steps * OPS)), move |rank| {
            Ok(Box::new(Chain::<T>::new(rank, steps, stretch, shared.clone())))
        })
    })
}

enum Inputs<T> {
    Own(Box<CachePadded<[T; INPUTS]>>),
    Shared(Arc<[[T; INPUTS]]>),
}

struct Chain<T> {
    rank: usize,
    inputs: Inputs<T>,
    /// Steps of a full run.
    steps: u64,
    stretch: u64,
    /// Runs prepared so far: each starts from another value, so an answer left over from before is wrong.
    repetition: u64,
    done: u64,
    r: T,
}

impl<T: Number> Chain<T> {
    fn new(rank: usize, steps: u64, stretch: u64, shared: Option<Arc<[[T; INPUTS]]>>) -> Self {
        let inputs = match shared {
            Some(all) => Inputs::Shared(all),
            None => Inputs::Own(Box::new(CachePadded::new(T::inputs(rank)))),
        };
        Chain { rank, inputs, steps, stretch, repetition: 0, done: 0, r: T::start(rank, 0) }
    }

    fn inputs(&self) -> &[T; INPUTS] {
        match &self.inputs {
            Inputs::Own(own) => own,
            Inputs::Shared(all) => &all[self.rank],
        }
    }
}

impl<T: Number> Worker for Chain<T> {
    fn prepare(&mut self) {
        self.repetition += 1;
        self.done = 0;
        self.r = T::start(self.rank, self.repetition);
    }

    fn run(&mut self, watch: &Watch) -> Work {
        let (mut r, mut done) = (self.r, 0);
        while !watch.should_stop_after(done * OPS) && done < self.steps {
            let steps = self.stretch.min(self.steps - done);
            r = T::chain(r, self.inputs(), steps);
            done += steps;
        }
        (self.r, self.done) = (r, done);
        Work::ops(done * OPS)
    }

    fn verify(&mut self) -> Result<(), Error> {
        let expected = T::oracle(T::start(self.rank, self.repetition), self.inputs(), self.done);
        let (done, found) = (self.done, self.r);
        Error::unless(found == expected, &T::CARD.name, || {
            format!("{done} steps gave {found:?} instead of {expected:?}")
        })
    }
}

#[cfg(test)]
mod tests;
