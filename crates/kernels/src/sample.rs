//! Kernels whose workers take pairs of times, each by itself, one after the other.

use std::borrow::Cow;

use charz_data::{Card, JointHistogram, Params, Work};

use crate::kernel::{Axes, Error, Worker};
use crate::pairs::Pairs;
use crate::plain::{Extent, PlainKernel, stage};
use crate::watch::Watch;

pub(crate) trait Probe: Sized + 'static {
    const VARIANT: &'static str;

    fn variant() -> Cow<'static, str> {
        Self::VARIANT.into()
    }

    fn check() -> Result<(), Error>;

    /// Whether it can be asked for this.
    fn admit(_name: &str, _params: &Params) -> Result<(), Error> {
        Ok(())
    }

    fn new(name: &'static str, params: &Params) -> Result<Self, Error>;

    /// Takes a pair; `None` if this one is none, or the watch ends.
    fn sample(&mut self, watch: &Watch) -> Result<Option<(u64, u64)>, Error>;

    /// At the end of a run.
    fn rest(&mut self) {}
}

pub(crate) const fn sampled<P: Probe>(card: &'static Card) -> PlainKernel {
    let kernel = PlainKernel::new(card, (), Pairs::of_samples, |kernel, params, _| {
        let (name, params, samples) = (kernel.name(), *params, kernel.samples(params)?);
        P::admit(name, &params)?;
        stage(P::variant(), Extent::Each(Work::ops(samples)), move |_| {
            let pairs = Pairs::with_room(samples)?;
            Ok(Box::new(Sampler { probe: P::new(name, &params)?, samples, pairs, failed: None }))
        })
    });
    kernel.check(|_| P::check()).axes(Axes { alone: true, ..Axes::NONE })
}

struct Sampler<P> {
    probe: P,
    samples: u64,
    pairs: Pairs,
    failed: Option<Error>,
}

impl<P: Probe> Worker for Sampler<P> {
    fn prepare(&mut self) {
        self.pairs.reset();
        self.failed = None;
    }

    fn run(&mut self, watch: &Watch) -> Work {
        while (self.pairs.0.len() as u64) < self.samples && self.failed.is_none() && !watch.should_stop() {
            match self.probe.sample(watch) {
                Ok(pair) => self.pairs.0.extend(pair),
                Err(error) => self.failed = Some(error),
            }
        }
        self.probe.rest();
        // A run that failed counts as a whole one, so it is verified: `verify` returns the error.
        if self.failed.is_some() {
            return Work::ops(self.samples);
        }
        Work::ops(self.pairs.0.len() as u64)
    }

    fn verify(&mut self) -> Result<(), Error> {
        self.failed.take().map_or(Ok(()), Err)
    }

    fn samples(&mut self) -> Option<JointHistogram> {
        Some(self.pairs.joint())
    }
}
