//! `read-*`: what a reading costs when one follows the other.

use std::hint::black_box;
use std::marker::PhantomData;
use std::time::Duration;

use charz_data::params::SPAN;
use charz_data::{Bytes, Card, Metric, Params, Work};

use super::source::Source;
use crate::kernel::{Axes, Error, Stage, Worker};
use crate::kernel_of::{KernelOf, StageBuilder};
use crate::pace::Pace;
use crate::watch::Watch;

pub(super) const CARD: Card = super::CARD
    .metric(Metric::op_time("one reading, which nothing is made of"))
    .uncounted_traffic(
        "nothing but the loop's counting; readings that nothing orders overlap as far as the processor likes",
    )
    .params(&[&SPAN])
    // No processor begins more than one reading of a counter in a cycle; the fewest cycles told of any are the 6 of the
    // Opteron in the same table.
    .max_per_cycle(1.0);

pub(super) type Read<C> = KernelOf<Reading<C>>;

pub(super) struct Reading<C> {
    name: &'static str,
    span: Duration,
    source: PhantomData<fn() -> C>,
}

impl<C: Source> StageBuilder for Reading<C> {
    fn check() -> Result<(), Error> {
        C::check()
    }

    fn axes() -> Axes {
        Axes { alone: true, ..Axes::NONE }
    }

    fn footprint(_: &Params) -> Bytes {
        Bytes(0)
    }

    fn build(card: &'static Card, params: &Params, _workers: usize) -> Result<Self, Error> {
        Ok(Reading { name: &card.name, span: params.span(), source: PhantomData })
    }
}

impl<C: Source> Stage for Reading<C> {
    fn variant(&self) -> &'static str {
        C::VARIANT
    }

    fn work(&self) -> Work {
        Work::default()
    }

    fn span(&self) -> Option<Duration> {
        Some(self.span)
    }

    fn worker(&self, _rank: usize) -> Result<Box<dyn Worker>, Error> {
        Ok(Box::new(Reader::<C> { name: self.name, back: None, source: PhantomData }))
    }
}

struct Reader<C: Source> {
    name: &'static str,
    /// The end of a stretch, and that of a later one which the clock says came before it.
    back: Option<(u64, u64)>,
    source: PhantomData<fn() -> C>,
}

impl<C: Source> Worker for Reader<C> {
    fn prepare(&mut self) {
        self.back = None;
    }

    fn run(&mut self, watch: &Watch) -> Work {
        let (mut done, mut pace, mut last) = (0, Pace::start(), None);
        while !watch.should_stop() {
            let next = C::place(block::<C>(pace.attempts()));
            done += pace.attempts();
            if last.is_some_and(|last| next < last) {
                self.back = last.map(|last| (last, next));
            }
            last = Some(next);
            pace.adapt();
        }
        Work::ops(done)
    }

    fn verify(&mut self) -> Result<(), Error> {
        self.back.map_or(Ok(()), |(last, next)| Err(backwards(self.name, last, next)))
    }
}

/// What is timed: at least one reading, of which the last is returned.
#[inline(never)]
fn block<C: Source>(readings: u64) -> C::Reading {
    let mut last = C::read();
    for _ in 1..readings {
        last = black_box(C::read());
    }
    last
}

/// What is wrong with a clock that showed `last` and then `next`.
pub(super) fn backwards(name: &str, last: u64, next: u64) -> Error {
    Error::Wrong(format!(
        "{name}: the clock went back by {} of its units in the middle of the run, as one does that is set, or whose \
         processors disagree: the result of this run is void",
        last.saturating_sub(next)
    ))
}
