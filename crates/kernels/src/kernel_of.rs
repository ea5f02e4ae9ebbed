//! Kernels that differ from each other in a type: each is a card, and what its stage is.

use std::fmt;
use std::marker::PhantomData;

use charz_data::{Bytes, Card, Params};

use crate::kernel::{Axes, Error, Kernel, Stage};

/// A stage that knows all of its kernel but the card.
pub(crate) trait StageBuilder: Stage + Sized + 'static {
    /// As [`Kernel::check`].
    fn check() -> Result<(), Error> {
        Ok(())
    }

    fn axes() -> Axes {
        Axes::NONE
    }

    fn footprint(params: &Params) -> Bytes;

    /// As [`Kernel::stage`], where [`StageBuilder::check`] has nothing against it.
    fn build(card: &'static Card, params: &Params, workers: usize) -> Result<Self, Error>;
}

pub(crate) struct KernelOf<S> {
    card: &'static Card,
    stage: PhantomData<fn() -> S>,
}

impl<S> KernelOf<S> {
    pub(crate) const fn new(card: &'static Card) -> Self {
        KernelOf { card, stage: PhantomData }
    }
}

impl<S> fmt::Debug for KernelOf<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("KernelOf").field(&self.card.name).finish()
    }
}

impl<S: StageBuilder> Kernel for KernelOf<S> {
    fn card(&self) -> &'static Card {
        self.card
    }

    fn check(&self) -> Result<(), Error> {
        S::check()
    }

    fn axes(&self) -> Axes {
        S::axes()
    }

    fn footprint(&self, params: &Params) -> Bytes {
        S::footprint(params)
    }

    fn stage(&self, params: &Params, workers: usize) -> Result<Box<dyn Stage>, Error> {
        S::check()?;
        Ok(Box::new(S::build(self.card, params, workers)?))
    }
}
