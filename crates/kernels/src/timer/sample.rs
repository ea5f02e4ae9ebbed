//! Kernels whose workers take pairs of times, each by itself, one after the other.

use std::marker::PhantomData;

use charz_data::{Bytes, Card, JointHistogram, Params, Work};

use crate::kernel::{Axes, Error, Stage, Worker};
use crate::kernel_of::{KernelOf, StageBuilder};
use crate::sync::{check_samples, pairs};
use crate::watch::Watch;

pub(super) trait Probe: Sized + 'static {
    const VARIANT: &'static str;

    /// Whether it can run on this machine.
    fn check() -> Result<(), Error>;

    /// Whether it can be asked for this.
    ///
    /// # Errors
    /// [`Error::Unavailable`] for parameters without sense for this kernel, which is called `name`.
    fn admit(_name: &str, _params: &Params) -> Result<(), Error> {
        Ok(())
    }

    /// One for the calling worker of the kernel `name`.
    fn new(name: &'static str, params: &Params) -> Result<Self, Error>;

    /// Takes a pair; `None` if this one is none, or the watch ends.
    fn sample(&mut self, watch: &Watch) -> Result<Option<(u64, u64)>, Error>;
}

pub(super) type Sampled<P> = KernelOf<Sampling<P>>;

pub(super) struct Sampling<P> {
    name: &'static str,
    params: Params,
    probe: PhantomData<fn() -> P>,
}

impl<P: Probe> StageBuilder for Sampling<P> {
    fn check() -> Result<(), Error> {
        P::check()
    }

    fn axes() -> Axes {
        Axes { alone: true, ..Axes::NONE }
    }

    fn footprint(params: &Params) -> Bytes {
        pairs(params.samples)
    }

    fn build(card: &'static Card, params: &Params, _workers: usize) -> Result<Self, Error> {
        check_samples(card, params)?;
        P::admit(&card.name, params)?;
        Ok(Sampling { name: &card.name, params: *params, probe: PhantomData })
    }
}

impl<P: Probe> Stage for Sampling<P> {
    fn variant(&self) -> &'static str {
        P::VARIANT
    }

    fn work(&self) -> Work {
        Work::ops(self.params.samples)
    }

    fn worker(&self, _rank: usize) -> Result<Box<dyn Worker>, Error> {
        let samples = self.params.samples;
        let mut pairs = Vec::new();
        let room = usize::try_from(samples).ok().and_then(|number| pairs.try_reserve_exact(number).ok());
        room.ok_or_else(|| Error::Refused(format!("there is no memory for {samples} samples: ask for fewer")))?;
        let probe = P::new(self.name, &self.params)?;
        Ok(Box::new(Sampler { probe, samples, pairs, failed: None }))
    }
}

struct Sampler<P> {
    probe: P,
    samples: u64,
    pairs: Vec<(u64, u64)>,
    /// Why the last run came to nothing.
    failed: Option<Error>,
}

impl<P: Probe> Worker for Sampler<P> {
    /// Touches the memory for the pairs, so that no sample meets a page fault.
    fn prepare(&mut self) {
        self.pairs.resize(self.pairs.capacity(), (1, 1));
        self.pairs.clear();
        self.failed = None;
    }

    fn run(&mut self, watch: &Watch) -> Work {
        while (self.pairs.len() as u64) < self.samples && !watch.should_stop() {
            match self.probe.sample(watch) {
                Ok(pair) => self.pairs.extend(pair),
                // A run that failed counts as a whole one, so that it comes to be verified: there it says why it is none.
                Err(error) => {
                    self.failed = Some(error);
                    return Work::ops(self.samples);
                }
            }
        }
        Work::ops(self.pairs.len() as u64)
    }

    fn verify(&mut self) -> Result<(), Error> {
        self.failed.take().map_or(Ok(()), Err)
    }

    fn samples(&mut self) -> Option<JointHistogram> {
        Some(self.pairs.iter().copied().collect())
    }
}
