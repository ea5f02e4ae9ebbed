//! `matmul-*`: the product of two matrices by recursion, on three runtimes, and by a library.
//!
//! A product of order N has eight products of order N/2 for parts, and then four sums of two of them, all of them activities; the parts
//! are divided likewise, k times. So there are 8ᵏ products of order N/2ᵏ, few large activities or many small ones of the same work. It is
//! the second experiment of the T3-4 report, section 7. The quadrants of a matrix follow each other in memory, down to those that are
//! multiplied; beside each quadrant of a result there is room for its second summand.

mod residual;

use std::array;
use std::mem;
use std::sync::Arc;

use charz_data::card::Multiplier as By;
use charz_data::params::{DEPTH, ORDER, POOL};
use charz_data::{Bytes, Card, Family, Growth, Metric, Param, Params, Role, Work};

use super::lead::{Lead, nothing_yet, step};
use super::runtime::pooled::Pooled;
use super::runtime::rayon::Rayon;
use super::runtime::{Hand, Runtime};
use super::seats::{Lender, Seats};
use crate::sys::multiply::{self, Multiply, STEP};
use charz_kernels::kernel::{Axes, Error, Sizes, Worker};
use charz_kernels::plain::{Extent, PlainKernel, kernels, stage};
use charz_kernels::sync::pool::{CasPool, MutexPool};
use charz_kernels::watch::Watch;

/// Rows that the library multiplies at a time, at most: it cannot be stopped meanwhile.
const BAND: usize = 256;

const CARD: Card = Card::new("", Family::Workload, "", Metric::ops("a multiplication or an addition, of 2N³ for matrices of order N"))
    .role(Role::Product(By::Recursion))
    .params(&[&ORDER, &DEPTH, &POOL])
    .source("T3-4 report (arXiv:1106.2992), section 7.2: recursive multiplication of matrices of order 1024 to 8192, 1 to 5 levels")
    .blocks_in_kernel(true);

const POOLED: &str = "threads that are made, sleep, wake and end within the time; the sums of products, N² additions for each level. Each \
                      worker reports an equal share; threads may run on the seats of all workers, which sleep meanwhile";
const FIXED: &str = "the sums of products, N² additions for each level. Each worker reports an equal share; there is one thread for each, \
                     made before the time begins, on that worker's seat; workers sleep meanwhile";

/// What a worker does, with threads from there.
macro_rules! multiplies {
    ($threads:literal) => {
        concat!("multiplies matrices by recursion, each product and each sum of quadrants an activity ", $threads)
    };
}

kernels! {
    multiplying::<Pooled<MutexPool>>, By::Recursion, ALL => CARD
        .named("matmul-mutex", multiplies!("of a thread from a pool under a mutex, or of a new one"))
        .uncounted_traffic(POOLED);
    multiplying::<Pooled<CasPool>>, By::Recursion, SOME => CARD
        .named("matmul-cas", multiplies!("of a thread from a pool by compare-and-swap, or of a new one"))
        .uncounted_traffic(POOLED);
    multiplying::<Rayon>, By::Recursion, SOME => CARD
        .named("matmul-rayon", multiplies!("by rayon::join"))
        .params(&[&ORDER, &DEPTH])
        .uncounted_traffic(FIXED);
    multiplying::<Rayon>, By::Library, WHOLE => CARD
        .named("matmul-library", "multiplies matrices by the crate matrixmultiply, in bands of rows that rayon's threads take")
        .role(Role::Product(By::Library))
        .params(&[&ORDER])
        .source("The crate matrixmultiply, dgemm")
        .uncounted_traffic("what the library allocates, and copies in each band. Each worker reports an equal share; there is one thread \
                            for each, made before the time begins, on that worker's seat; workers sleep meanwhile");
}

/// What a sweep measures by default: with the source's pool the levels of its table, and none; with others some, to compare them by.
type Lists = &'static [(&'static Param, &'static str)];
const ALL: Lists = &[(&ORDER, "1024"), (&DEPTH, "0,1,2,3,4,5")];
const SOME: Lists = &[(&ORDER, "1024"), (&DEPTH, "1,3,5")];
const WHOLE: Lists = &[(&ORDER, "1024")];

const fn multiplying<R: Runtime>(card: &'static Card, by: By, lists: Lists) -> PlainKernel<By> {
    let footprint = |kernel: &PlainKernel<By>, params: &Params| {
        let rooms = (1 << levels(kernel.data, params)) - 1;
        Bytes(params.order.saturating_mul(params.order).saturating_mul(8 * (3 + rooms)))
    };
    let kernel = PlainKernel::new(card, by, footprint, |kernel, params, workers| {
        let (by, name, kept) = (kernel.data, kernel.name(), params.pool_threads);
        let (order, levels) = (params.order as usize, levels(by, params));
        let least = STEP << levels;
        if order == 0 || !order.is_multiple_of(least) {
            return Err(
                kernel.unavailable(format_args!("takes an order that is a multiple of {least} here, not {order}"))
            );
        }
        let (seats, work) = (Arc::<Seats>::default(), Work::ops(2 * params.order.pow(3) / workers as u64));
        let (variant, multiply) = multiply::fastest();
        let variant = if by == By::Library { "matrixmultiply" } else { variant };
        stage(variant, Extent::Each(work), move |rank| {
            seats.lend()?;
            if rank > 0 {
                return Ok(Box::new(Lender(Arc::clone(&seats))));
            }
            let lead = Lead::<R>::new(Arc::clone(&seats), workers as u32, kept);
            let band = (order / workers).clamp(STEP, BAND);
            Ok(Box::new(Multiplier::new(name, lead, Task { by, order, levels, band, multiply }, work)?))
        })
    });
    kernel.axes(Axes { sizes: Sizes::Block, lists, alone: false }).shares_memory()
}

/// Levels of the recursion.
const fn levels(by: By, params: &Params) -> u32 {
    match by {
        By::Library => 0,
        _ => params.depth as u32,
    }
}

/// What is to be done, and how.
#[derive(Clone, Copy)]
struct Task {
    by: By,
    order: usize,
    levels: u32,
    /// Rows that the library gets at a time.
    band: usize,
    multiply: Multiply,
}

/// A product of matrices of this order, whose quadrants follow each other in memory down to so many levels.
struct Product<'a> {
    out: &'a mut [f64],
    left: &'a [f64],
    right: &'a [f64],
    /// Numbers for second summands: those of this level, then those of each part.
    room: &'a mut [f64],
    order: usize,
    levels: u32,
}

/// Numbers of room for a product of this order with so many levels: order² (2ˡ - 1), since each level has 8 parts of a quarter.
fn room(order: usize, levels: u32) -> usize {
    order * order * ((1 << levels) - 1)
}

/// Equal stretches of a slice.
fn split<const N: usize>(mut all: &mut [f64]) -> [&mut [f64]; N] {
    let each = all.len() / N;
    array::from_fn(|_| {
        let (first, rest) = mem::take(&mut all).split_at_mut(each);
        all = rest;
        first
    })
}

/// An activity: a product, by the parts that it has.
fn product<H: Hand>(hand: &H, whole: Product<'_>, multiply: Multiply) {
    if hand.is_over() {
        return;
    }
    let Product { out, left, right, room, order, levels } = whole;
    if levels == 0 {
        return multiply(out, left, right, order);
    }
    let quarter = out.len() / 4;
    let of = |all, quadrant: usize| -> &[f64] {
        let all: &[f64] = all;
        &all[quadrant * quarter..][..quarter]
    };
    let (second, rooms) = room.split_at_mut(out.len());
    {
        let results = split::<4>(out).into_iter().chain(split::<4>(second));
        let mut places = results.zip(split::<8>(rooms)).enumerate();
        // Quadrants are numbered by rows: 0 and 1 above 2 and 3. Result q is left (row, 0) times right (0, column), and its second
        // summand left (row, 1) times right (1, column).
        let parts: [Product<'_>; 8] = array::from_fn(|_| {
            let (number, (out, room)) = places.next().expect("there are eight results");
            let (quadrant, inner) = (number % 4, number / 4);
            let (row, column) = (quadrant / 2, quadrant % 2);
            let (left, right) = (of(left, 2 * row + inner), of(right, 2 * inner + column));
            Product { out, left, right, room, order: order / 2, levels: levels - 1 }
        });
        hand.each(parts, |hand, part| product(hand, part, multiply));
    }
    let mut sums = split::<4>(out).into_iter().zip(split::<4>(second));
    let sums: [_; 4] = array::from_fn(|_| sums.next().expect("there are four sums"));
    hand.each(sums, |hand, (out, second)| {
        if !hand.is_over() {
            out.iter_mut().zip(second).for_each(|(out, second)| *out += *second);
        }
    });
}

/// Rows of a product by the library, in bands of at most so many.
fn bands<H: Hand>(hand: &H, (out, left): (&mut [f64], &[f64]), right: &[f64], order: usize, band: usize) {
    if hand.is_over() {
        return;
    }
    let rows = out.len() / order;
    if rows <= band {
        return multiply::by_library(out, left, right, order);
    }
    let middle = rows / 2 * order;
    let ((above, below), (left_above, left_below)) = (out.split_at_mut(middle), left.split_at(middle));
    hand.each([(above, left_above), (below, left_below)], |hand, part| bands(hand, part, right, order, band));
}

struct Multiplier<R: Runtime> {
    name: &'static str,
    lead: Lead<R>,
    task: Task,
    /// What each worker reports.
    work: Work,
    left: Vec<f64>,
    right: Vec<f64>,
    out: Vec<f64>,
    room: Vec<f64>,
    growth: Option<Growth>,
}

impl<R: Runtime> Multiplier<R> {
    fn new(name: &'static str, lead: Lead<R>, task: Task, work: Work) -> Result<Self, Error> {
        let numbers = task.order * task.order;
        let mut random = fastrand::Rng::with_seed(1);
        let mut number = || 2.0 * random.f64() - 1.0;
        Ok(Multiplier {
            name,
            lead,
            task,
            work,
            left: filled(numbers, &mut number)?,
            right: filled(numbers, &mut number)?,
            out: filled(numbers, || f64::NAN)?,
            room: filled(room(task.order, task.levels), || f64::NAN)?,
            growth: None,
        })
    }

    /// Products and sums of the recursion, or bands.
    fn activities(&self) -> u64 {
        let Task { by, order, levels, band, .. } = self.task;
        match by {
            By::Library => order.div_ceil(band) as u64,
            _ => (0..levels).map(|level| 12 << (3 * level)).sum::<u64>() + 1,
        }
    }

    /// Whether it was done, and not broken off.
    fn multiply(&mut self, watch: &Watch) -> bool {
        let activities = self.activities();
        // A run whose runtime was refused counts as a whole one, so it is verified: `verify` returns the error.
        let Some(runtime) = self.lead.runtime() else { return true };
        if watch.should_stop() {
            return false;
        }
        let Task { by, order, levels, band, multiply } = self.task;
        let (left, right, out) = (&self.left[..], &self.right[..], &mut self.out[..]);
        let (before, start) = (runtime.counts(), watch.now());
        match by {
            By::Library => runtime.run(watch, (out, left), |hand, all| bands(hand, all, right, order, band)),
            _ => {
                let whole = Product { out, left, right, room: &mut self.room, order, levels };
                runtime.run(watch, whole, |hand, whole| product(hand, whole, multiply));
            }
        }
        let time_ns = watch.now().saturating_sub(start);
        let mut growth = nothing_yet();
        growth.steps.push(step(levels as usize, activities, time_ns, before, runtime.counts()));
        self.growth = Some(growth);
        !runtime.is_over()
    }
}

/// Touches all of it.
fn filled(numbers: usize, number: impl FnMut() -> f64) -> Result<Vec<f64>, Error> {
    let mut all = Vec::new();
    let room = all.try_reserve_exact(numbers);
    room.map_err(|_| Error::Refused(format!("there is no memory for {numbers} numbers: ask for a smaller order")))?;
    all.resize_with(numbers, number);
    Ok(all)
}

impl<R: Runtime> Worker for Multiplier<R> {
    fn prepare(&mut self) {
        self.out.fill(f64::NAN);
        self.growth = None;
        self.lead.prepare();
    }

    fn run(&mut self, watch: &Watch) -> Work {
        let work = if self.multiply(watch) { self.work } else { Work::default() };
        self.lead.end(work.ops.0);
        work
    }

    fn verify(&mut self) -> Result<(), Error> {
        let mut growth = self.growth.take().unwrap_or_else(nothing_yet);
        self.lead.close(&mut growth)?;
        self.growth = Some(growth);
        let Task { order, levels, .. } = self.task;
        residual::check([&self.left, &self.right, &self.out], order, levels)
            .map_err(|what| Error::void(self.name, what))
    }

    fn growth(&mut self) -> Option<Growth> {
        self.growth.take()
    }
}

#[cfg(test)]
mod tests;
