//! `read-*`: what a reading costs when one follows the other. `step-*`: by how much a clock moves from one value to the next that a
//! reader gets to see.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::time::Duration;

use charz_data::params::SPAN;
use charz_data::{Bytes, Card, Metric, Params, Work, units};

use super::source::Source;
use crate::kernel::{Axes, Error, Worker};
use crate::pace::Pace;
use crate::plain::{Extent, PlainKernel, stage};
use crate::sample::Probe;
use crate::sys::clocks;
use crate::watch::Watch;

pub(super) const READ: Card = super::CARD
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
        (),
        |_, _| Bytes(0),
        |kernel, params, _| {
            let name = kernel.name();
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
        while !watch.should_stop_after(done) {
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

/// What is timed: at least one reading, of which the last is returned. No compiler leaves the others out: each is a call into the C
/// library or volatile assembly, and keeping them would cost as much as a fast clock does.
#[inline(never)]
fn block<C: Source>(readings: u64) -> C::Reading {
    for _ in 1..readings {
        C::read();
    }
    C::read()
}

/// What is wrong with a clock that showed `last` and then `next`.
fn backwards(name: &str, last: u64, next: u64) -> Error {
    let units = last.saturating_sub(next);
    Error::void(
        name,
        format_args!(
            "the clock went back by {units} of its units in the middle of the run, as one does that is set, or whose \
             processors disagree"
        ),
    )
}

pub(super) const STEP: Card = super::CARD
    .metric(Metric::SecondTime)
    .times(
        "from before a value was read until another was, by the clock that stamps",
        "by how much the clock moved meanwhile, by its own account",
    )
    .uncounted_traffic("the readings themselves: a clock that moves more often than it can be read shows steps as long as a reading. A \
             includes a reading of the clock that stamps");

/// Readings of a clock that does not move between two looks at the watch: 40 µs of system calls at most.
const STRETCH: usize = 64;

/// Waits for a clock to move.
pub(super) struct Step<C> {
    name: &'static str,
    /// Nanoseconds of a unit of the clock.
    unit: f64,
    source: PhantomData<fn() -> C>,
}

impl<C: Source> Probe for Step<C> {
    const VARIANT: &'static str = C::VARIANT;

    fn variant() -> Cow<'static, str> {
        let says = |step: Duration| format!("{}, clock_getres: {}", C::VARIANT, units::nanos(step.as_nanos() as f64));
        C::CLOCK.and_then(clocks::resolution).map_or(C::VARIANT.into(), |step| says(step).into())
    }

    fn check() -> Result<(), Error> {
        C::check()
    }

    fn new(name: &'static str, _: &Params) -> Result<Self, Error> {
        Ok(Step { name, unit: C::unit(), source: PhantomData })
    }

    fn sample(&mut self, watch: &Watch) -> Result<Option<(u64, u64)>, Error> {
        let began = watch.now();
        let before = C::read();
        let Some(after) = next::<C>(before, watch) else { return Ok(None) };
        let passed = watch.now().saturating_sub(began);
        let (before, after) = (C::place(before), C::place(after));
        let moved = after.checked_sub(before).ok_or_else(|| backwards(self.name, before, after))?;
        Ok(Some((passed, (moved as f64 * self.unit).round() as u64)))
    }
}

/// The first reading that differs from `before`; `None` when the watch ends.
#[inline(always)]
fn next<C: Source>(before: C::Reading, watch: &Watch) -> Option<C::Reading> {
    loop {
        let after = (0..STRETCH).map(|_| C::read()).find(|after| *after != before);
        if after.is_some() || watch.should_stop() {
            return after;
        }
    }
}
