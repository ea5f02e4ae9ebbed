//! Kernels and stages that are values, for those that need no type of their own.

use std::time::Duration;

use charz_data::{Bytes, Card, Params, Work};

use crate::kernel::{Axes, Error, Kernel, Stage, Worker};

/// As [`Kernel::stage`], for the kernel with this card.
type BuildStage = fn(&'static Card, &Params, usize) -> Result<Box<dyn Stage>, Error>;

/// A kernel made of functions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlainKernel {
    pub(crate) card: &'static Card,
    check: fn(&Card) -> Result<(), Error>,
    axes: Axes,
    footprint: fn(&Params) -> Bytes,
    stage: BuildStage,
}

impl PlainKernel {
    pub(crate) const fn new(card: &'static Card, footprint: fn(&Params) -> Bytes, stage: BuildStage) -> Self {
        PlainKernel { card, check: |_| Ok(()), axes: Axes::NONE, footprint, stage }
    }

    /// A kernel that cannot run on every machine; no stage is built where it cannot.
    pub(crate) const fn check(self, check: fn(&Card) -> Result<(), Error>) -> Self {
        PlainKernel { check, ..self }
    }

    pub(crate) const fn axes(self, axes: Axes) -> Self {
        PlainKernel { axes, ..self }
    }
}

impl Kernel for PlainKernel {
    fn card(&self) -> &'static Card {
        self.card
    }

    fn check(&self) -> Result<(), Error> {
        (self.check)(self.card)
    }

    fn axes(&self) -> Axes {
        self.axes
    }

    fn footprint(&self, params: &Params) -> Bytes {
        (self.footprint)(params)
    }

    fn stage(&self, params: &Params, workers: usize) -> Result<Box<dyn Stage>, Error> {
        Kernel::check(self)?;
        (self.stage)(self.card, params, workers)
    }
}

/// Makes the `KERNELS` of a module: functions of a card that make a kernel, with what else they take, and the cards.
macro_rules! kernels {
    ($($make:expr $(, $argument:expr)* => $card:expr;)*) => {
        pub(crate) static KERNELS: &[&dyn $crate::kernel::Kernel] = &[$(&$make(const { &$card } $(, $argument)*)),*];
    };
}

pub(crate) use kernels;

/// When a run is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Each worker has done this.
    Each(Work),
    /// The workers have done this each on average: see [`Stage::shares_work`].
    Together(Work),
    /// This time has passed: see [`Stage::span`].
    Span(Duration),
}

struct PlainStage<F> {
    variant: &'static str,
    extent: Extent,
    worker: F,
}

/// A stage whose workers are built by this function of their rank.
pub(crate) fn stage(
    variant: &'static str,
    extent: Extent,
    worker: impl Fn(usize) -> Result<Box<dyn Worker>, Error> + Sync + 'static,
) -> Result<Box<dyn Stage>, Error> {
    Ok(Box::new(PlainStage { variant, extent, worker }))
}

impl<F: Fn(usize) -> Result<Box<dyn Worker>, Error> + Sync> Stage for PlainStage<F> {
    fn variant(&self) -> &'static str {
        self.variant
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

/// The number of iterations, for a kernel that takes 1 to `most`.
pub(crate) fn iterations_up_to(most: u64, card: &Card, params: &Params) -> Result<u64, Error> {
    match params.iterations {
        iterations if (1..=most).contains(&iterations) => Ok(iterations),
        iterations if most == u64::MAX => {
            let name = &card.name;
            Err(Error::Unavailable(format!("{name} takes at least 1 iteration, not {iterations} iterations")))
        }
        iterations => {
            let name = &card.name;
            Err(Error::Unavailable(format!("{name} takes 1 to {most} iterations, not {iterations}")))
        }
    }
}

/// The number of samples, which must not be 0.
pub(crate) fn samples(card: &Card, params: &Params) -> Result<u64, Error> {
    match params.samples {
        0 => Err(Error::Unavailable(format!("{} takes at least 1 sample, not 0 samples", card.name))),
        samples => Ok(samples),
    }
}
