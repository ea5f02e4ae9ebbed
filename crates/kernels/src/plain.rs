//! Kernels and stages that are values: none needs a type of its own.

use std::borrow::Cow;
use std::fmt::Display;
use std::time::Duration;

use charz_data::{Bytes, Card, Params, Work, WorkerCount};

use crate::kernel::{Axes, Error, Kernel, Stage, Worker};

/// As [`Kernel::stage`].
type BuildStage<D> = fn(&PlainKernel<D>, &Params, usize) -> Result<Box<dyn Stage>, Error>;

/// A kernel made of functions, and of the data that, beside the card, distinguishes it from its relatives.
#[derive(Clone, Copy)]
pub struct PlainKernel<D: 'static = ()> {
    pub card: &'static Card,
    pub data: D,
    check: fn(&Self) -> Result<(), Error>,
    fits: fn(&Self, &Params, usize) -> Result<(), Error>,
    axes: Axes,
    traffic: fn(&Self) -> Option<f64>,
    footprint: fn(&Self, &Params) -> Bytes,
    /// Whether the footprint is that of all workers together.
    shares_memory: bool,
    stage: BuildStage<D>,
}

impl<D: Copy> PlainKernel<D> {
    pub const fn new(
        card: &'static Card,
        data: D,
        footprint: fn(&Self, &Params) -> Bytes,
        stage: BuildStage<D>,
    ) -> Self {
        PlainKernel {
            card,
            data,
            check: |_| Ok(()),
            fits: |_, _, _| Ok(()),
            axes: Axes::NONE,
            traffic: |_| None,
            footprint,
            shares_memory: false,
            stage,
        }
    }

    /// A kernel that cannot run on every machine; no stage is built where it cannot.
    pub const fn check(self, check: fn(&Self) -> Result<(), Error>) -> Self {
        PlainKernel { check, ..self }
    }

    /// See [`Kernel::fits`].
    pub const fn fits(self, fits: fn(&Self, &Params, usize) -> Result<(), Error>) -> Self {
        PlainKernel { fits, ..self }
    }

    pub const fn axes(self, axes: Axes) -> Self {
        PlainKernel { axes, ..self }
    }

    /// One whose workers share their memory: the footprint is that of all.
    pub const fn shares_memory(self) -> Self {
        PlainKernel { shares_memory: true, ..self }
    }

    /// See [`Kernel::traffic`].
    pub const fn traffic(self, traffic: fn(&Self) -> Option<f64>) -> Self {
        PlainKernel { traffic, ..self }
    }

    pub fn name(&self) -> &'static str {
        &self.card.name
    }

    /// The refusal of a machine, or of parameters.
    pub fn unavailable(&self, reason: impl Display) -> Error {
        Error::Unavailable(format!("{} {reason}", self.card.name))
    }

    /// The number of iterations, for a kernel that takes 1 to `most`.
    pub fn iterations_up_to(&self, most: u64, params: &Params) -> Result<u64, Error> {
        match params.iterations {
            iterations if (1..=most).contains(&iterations) => Ok(iterations),
            iterations if most == u64::MAX => {
                Err(self.unavailable(format_args!("takes at least 1 iteration, not {iterations} iterations")))
            }
            iterations => Err(self.unavailable(format_args!("takes 1 to {most} iterations, not {iterations}"))),
        }
    }

    /// How long a kernel runs that runs by time.
    pub fn span(&self, params: &Params) -> Result<Duration, Error> {
        match params.span() {
            Duration::ZERO => Err(self.unavailable("runs by time and was given none: ask for a span")),
            span => Ok(span),
        }
    }

    /// The number of samples, which must not be 0.
    pub fn samples(&self, params: &Params) -> Result<u64, Error> {
        match params.samples {
            0 => Err(self.unavailable("takes at least 1 sample, not 0 samples")),
            samples => Ok(samples),
        }
    }
}

impl<D: Copy + Sync> Kernel for PlainKernel<D> {
    fn card(&self) -> &'static Card {
        self.card
    }

    fn check(&self) -> Result<(), Error> {
        (self.check)(self)
    }

    fn fits(&self, params: &Params, workers: usize) -> Result<(), Error> {
        (self.fits)(self, params, workers)
    }

    fn axes(&self) -> Axes {
        self.axes
    }

    fn traffic(&self) -> Option<f64> {
        (self.traffic)(self)
    }

    fn footprint(&self, params: &Params) -> Bytes {
        (self.footprint)(self, params)
    }

    fn footprint_together(&self, params: &Params, workers: usize) -> Bytes {
        let all = if self.shares_memory { 1 } else { workers as u64 };
        Bytes(self.footprint(params).0.saturating_mul(all))
    }

    fn stage(&self, params: &Params, workers: usize) -> Result<Box<dyn Stage>, Error> {
        (self.check)(self)?;
        (self.fits)(self, params, workers)?;
        match self.card.workers {
            count if count.allows(workers) => (self.stage)(self, params, workers),
            WorkerCount::Exactly(number) => {
                Err(self.unavailable(format_args!("takes {number} workers, not {workers}")))
            }
            count => {
                let least = count.min();
                Err(self
                    .unavailable(format_args!("takes at least {least} workers, not {workers}: give it more threads")))
            }
        }
    }
}

/// The footprint of kernels whose workers have a block each.
pub fn block_of_size<D>(_: &PlainKernel<D>, params: &Params) -> Bytes {
    params.pages.footprint(params.size_bytes)
}

/// Makes the `KERNELS` of a module: functions of a card that make a kernel, with what else they take, and the cards.
#[macro_export]
#[doc(hidden)]
macro_rules! list_kernels {
    ($($make:expr $(, $argument:expr)* => $card:expr;)*) => {
        pub(crate) static KERNELS: &[&dyn $crate::kernel::Kernel] = &[$(&$make(const { &$card } $(, $argument)*)),*];
    };
}

pub use crate::list_kernels as kernels;

/// When a run is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Each worker has done this.
    Each(Work),
    /// The workers have done this each on average: see [`Stage::shares_work`].
    Together(Work),
    /// This time has passed: see [`Stage::span`].
    Span(Duration),
}

struct PlainStage<F> {
    variant: Cow<'static, str>,
    extent: Extent,
    worker: F,
}

/// A stage whose workers are built by this function of their rank.
pub fn stage(
    variant: impl Into<Cow<'static, str>>,
    extent: Extent,
    worker: impl Fn(usize) -> Result<Box<dyn Worker>, Error> + Sync + 'static,
) -> Result<Box<dyn Stage>, Error> {
    Ok(Box::new(PlainStage { variant: variant.into(), extent, worker }))
}

impl<F: Fn(usize) -> Result<Box<dyn Worker>, Error> + Sync> Stage for PlainStage<F> {
    fn variant(&self) -> &str {
        &self.variant
    }

    fn work(&self) -> Work {
        match self.extent {
            Extent::Each(work) | Extent::Together(work) => work,
            Extent::Span(_) => Work::default(),
        }
    }

    fn span(&self) -> Option<Duration> {
        match self.extent {
            Extent::Span(span) => Some(span),
            Extent::Each(_) | Extent::Together(_) => None,
        }
    }

    fn shares_work(&self) -> bool {
        matches!(self.extent, Extent::Together(_))
    }

    fn worker(&self, rank: usize) -> Result<Box<dyn Worker>, Error> {
        (self.worker)(rank)
    }
}
