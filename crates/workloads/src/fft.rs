//! `fft-*`: the fast Fourier transform as a recursion of activities, in sizes that double, on three runtimes.
//!
//! A transform of 2ˢ numbers has two parts, those of the numbers with even and with odd places (J. W. Cooley and J. W. Tukey, An algorithm
//! for the machine calculation of complex Fourier series, Mathematics of Computation 19 (1965)). Each part is an activity, down to single
//! numbers: 2ˢ⁺¹ - 1 activities that do next to nothing, so the time is that of the runtime. It is the first experiment of the T3-4 report,
//! section 7, which had to be broken off.

mod complex;

use std::f64::consts::TAU;
use std::sync::Arc;
use std::time::{Duration, Instant};

use charz_data::params::{POOL, SPAN};
use charz_data::{Bytes, Card, Family, Growth, GrowthStep, Halt, Metric, Params, Role, Work};

use super::lead::{Lead, nothing_yet, step};
use super::runtime::alone::Alone;
use super::runtime::maker::Std;
use super::runtime::pooled::Pooled;
use super::runtime::rayon::Rayon;
use super::runtime::{Hand, Runtime};
use super::seats::{Lender, Seats};
use charz_kernels::kernel::{Error, Worker};
use charz_kernels::plain::{Extent, PlainKernel, kernels, stage};
use charz_kernels::sync::pool::{CasPool, MutexPool};
use charz_kernels::watch::Watch;

use complex::Complex;

/// The sizes of the T3-4 report: 2 to 65,536 numbers.
const SIZES: usize = 16;
const MOST: usize = 1 << SIZES;

/// A size takes at least so many times as long as the one before: it has twice the activities.
const LEAST_GROWTH: f64 = 2.0;

/// Repetitions of the plain transform, of which the fastest is reported.
const PLAIN_RUNS: u32 = 3;

const CARD: Card =
    Card::new("", Family::Workload, "", Metric::serial_time("an activity of the transforms, all sizes together"))
        .role(Role::Growing)
        .params(&[&SPAN, &POOL])
        .source("T3-4 report (arXiv:1106.2992), section 7.1: FFT on a runtime with a pool of threads, sizes 1 to 16")
        .blocks_in_kernel(true);

const POOLED: &str = "threads that are made, sleep, wake and end within the time; they may run on the seats of all workers, which sleep \
                      meanwhile";
const FIXED: &str =
    "one thread for each worker, made before the time begins, on that worker's seat; workers sleep meanwhile";

/// What a worker does, with threads from there.
macro_rules! transforms {
    ($threads:literal) => {
        concat!(
            "transforms 2, 4, 8, ... up to 65,536 numbers, each half of each recursion an activity ",
            $threads,
            ", until the next size would take too long"
        )
    };
}

kernels! {
    transforming::<Pooled<MutexPool>> => CARD
        .named("fft-mutex", transforms!("of a thread from a pool under a mutex, or of a new one"))
        .uncounted_traffic(POOLED);
    transforming::<Pooled<CasPool>> => CARD
        .named("fft-cas", transforms!("of a thread from a pool by compare-and-swap, or of a new one"))
        .uncounted_traffic(POOLED);
    transforming::<Pooled<MutexPool, Std>> => CARD
        .named("fft-mutex-std", transforms!("of a thread from a pool under a mutex, or of a new one of Rust's standard library"))
        .uncounted_traffic(POOLED);
    transforming::<Rayon> => CARD
        .named("fft-rayon", transforms!("by rayon::join"))
        .params(&[&SPAN])
        .uncounted_traffic(FIXED);
}

const fn transforming<R: Runtime>(card: &'static Card) -> PlainKernel {
    let footprint = |_: &PlainKernel, _: &Params| Bytes((6 * MOST * size_of::<Complex>()) as u64);
    let kernel = PlainKernel::new(card, (), footprint, |kernel, params, workers| {
        let (name, span, kept) = (kernel.name(), kernel.span(params)?, params.pool_threads);
        let (seats, threads) = (Arc::<Seats>::default(), workers as u32);
        stage(R::VARIANT, Extent::Span(span), move |rank| {
            seats.lend()?;
            if rank > 0 {
                return Ok(Box::new(Lender(Arc::clone(&seats))));
            }
            Ok(Box::new(Transformer::<R>::new(name, Lead::new(Arc::clone(&seats), threads, kept), span)))
        })
    });
    kernel.shares_memory()
}

/// A transform of every `stride`-th number from `first` on.
struct Part<'a> {
    numbers: &'a [Complex],
    first: usize,
    stride: usize,
    out: &'a mut [Complex],
}

/// An activity: the transform into `out`, whose length is a power of two. `roots` are the first half of the `MOST`-th roots of one.
fn transform<H: Hand>(hand: &H, part: Part<'_>, roots: &[Complex]) {
    if hand.is_over() {
        return;
    }
    let Part { numbers, first, stride, out } = part;
    let half = out.len() / 2;
    if half == 0 {
        out[0] = numbers[first];
        return;
    }
    let (even, odd) = out.split_at_mut(half);
    let parts = [
        Part { numbers, first, stride: 2 * stride, out: &mut *even },
        Part { numbers, first: first + stride, stride: 2 * stride, out: &mut *odd },
    ];
    hand.each(parts, |hand, part| transform(hand, part, roots));
    let step = MOST / (2 * half);
    for ((even, odd), root) in even.iter_mut().zip(odd).zip(roots.iter().step_by(step)) {
        let turned = *odd * *root;
        (*even, *odd) = (*even + turned, *even - turned);
    }
}

/// Activities of a transform of this size.
fn activities(size: usize) -> u64 {
    (2 << size) - 1
}

struct Transformer<R: Runtime> {
    name: &'static str,
    lead: Lead<R>,
    span: Duration,
    numbers: Vec<Complex>,
    roots: Vec<Complex>,
    /// The transforms of all sizes, of the numbers that come first.
    outs: Vec<Vec<Complex>>,
    plain: [Option<u64>; SIZES],
    growth: Option<Growth>,
}

impl<R: Runtime> Transformer<R> {
    fn new(name: &'static str, lead: Lead<R>, span: Duration) -> Self {
        let mut random = fastrand::Rng::with_seed(1);
        let mut number = || 2.0 * random.f64() - 1.0;
        let roots = (0..MOST / 2).map(|place| Complex::on_circle(-TAU * place as f64 / MOST as f64));
        Transformer {
            name,
            lead,
            span,
            numbers: (0..MOST).map(|_| Complex(number(), number())).collect(),
            roots: roots.collect(),
            outs: (1..=SIZES).map(|size| vec![Complex::NONE; 1 << size]).collect(),
            plain: [None; SIZES],
            growth: None,
        }
    }

    /// One size after the other, until there is a reason to stop.
    fn grow(&mut self, watch: &Watch) -> Growth {
        let begun = Instant::now();
        let mut growth = nothing_yet();
        // Without one, `verify` reports that.
        let Some(runtime) = self.lead.runtime() else { return growth };
        for (out, size) in self.outs.iter_mut().zip(1..) {
            if watch.should_stop() || begun.elapsed() + next(&growth.steps) > self.span {
                growth.stopped_by = Halt::Time;
                break;
            }
            let before = runtime.counts();
            let start = watch.now();
            let part = Part { numbers: &self.numbers[..1 << size], first: 0, stride: 1, out };
            runtime.run(watch, part, |hand, part| transform(hand, part, &self.roots));
            let time_ns = watch.now().saturating_sub(start);
            let step = step(size, activities(size), time_ns, before, runtime.counts());
            if runtime.is_over() {
                (growth.unfinished, growth.stopped_by) = (Some(step), Halt::Time);
                break;
            }
            growth.steps.push(step);
        }
        growth
    }

    /// The plain transform of a size: its time is the fastest of some, once measured.
    fn plain_ns(&mut self, size: usize) -> u64 {
        *self.plain[size - 1].get_or_insert_with(|| {
            let mut out = vec![Complex::NONE; 1 << size];
            let numbers = &self.numbers[..1 << size];
            let mut once = || {
                let start = Instant::now();
                transform(&Alone, Part { numbers, first: 0, stride: 1, out: &mut out }, &self.roots);
                start.elapsed().as_nanos() as u64
            };
            (0..PLAIN_RUNS).map(|_| once()).min().unwrap_or_default()
        })
    }
}

/// How long the next size will take at least, by the growth from the last but one to the last.
fn next(steps: &[GrowthStep]) -> Duration {
    let growth = match steps {
        [.., before, last] => last.time_ns as f64 / before.time_ns.max(1) as f64,
        _ => LEAST_GROWTH,
    };
    let last = steps.last().map_or(0, |last| last.time_ns);
    Duration::from_nanos((last as f64 * growth.max(LEAST_GROWTH)) as u64)
}

impl<R: Runtime> Worker for Transformer<R> {
    fn prepare(&mut self) {
        self.outs.iter_mut().for_each(|out| out.fill(Complex::NONE));
        self.growth = None;
        self.lead.prepare();
    }

    fn run(&mut self, watch: &Watch) -> Work {
        let growth = self.grow(watch);
        let done = growth.steps.iter().map(|step| step.activities).sum();
        self.growth = Some(growth);
        // The others report nothing: they may have left before the last size was done.
        self.lead.end(0);
        Work::ops(done)
    }

    fn verify(&mut self) -> Result<(), Error> {
        let mut growth = self.growth.take().unwrap_or_else(nothing_yet);
        self.lead.close(&mut growth)?;
        for step in &mut growth.steps {
            let size = step.size as usize;
            step.sequential_ns = Some(self.plain_ns(size));
            let (numbers, out) = (&self.numbers[..1 << size], &self.outs[size - 1]);
            complex::check(numbers, out).map_err(|what| Error::void(self.name, format!("size {size}: {what}")))?;
        }
        self.growth = Some(growth);
        Ok(())
    }

    fn growth(&mut self) -> Option<Growth> {
        self.growth.take()
    }
}

#[cfg(test)]
mod tests;
