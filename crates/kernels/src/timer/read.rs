//! `read-*`: what a reading costs when one follows the other.

use std::hint::black_box;
use std::marker::PhantomData;

use charz_data::params::SPAN;
use charz_data::{Bytes, Card, Metric, Work};

use super::source::Source;
use crate::kernel::{Axes, Error, Worker};
use crate::pace::Pace;
use crate::plain::{Extent, PlainKernel, stage};
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

pub(super) const fn read<C: Source>(card: &'static Card) -> PlainKernel {
    let kernel = PlainKernel::new(
        card,
        |_| Bytes(0),
        |card, params, _| {
            let name = &*card.name;
            stage(C::VARIANT, Extent::Span(params.span()), move |_| {
                Ok(Box::new(Reader::<C> { name, back: None, source: PhantomData }))
            })
        },
    );
    kernel.check(|_| C::check()).axes(Axes { alone: true, ..Axes::NONE })
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
    let units = last.saturating_sub(next);
    Error::void(
        name,
        format_args!(
            "the clock went back by {units} of its units in the middle of the run, as one does that is set, or whose \
             processors disagree"
        ),
    )
}
