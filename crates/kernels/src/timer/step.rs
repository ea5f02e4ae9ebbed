//! `step-*`: by how much a clock moves from one value to the next that a reader gets to see.

use std::marker::PhantomData;

use charz_data::{Card, Metric, Params};

use super::read::backwards;
use super::sample::Probe;
use super::source::Source;
use crate::kernel::Error;
use crate::watch::Watch;

pub(super) const CARD: Card = super::CARD
    .metric(Metric::SecondTime)
    .times(
        "from before a value was read until another was, by the clock that stamps",
        "by how much the clock moved meanwhile, by its own account",
    )
    .uncounted_traffic("the readings themselves: a clock that moves more often than it can be read shows steps as long as a reading. A \
             includes a reading of the clock that stamps");

/// Readings of a clock that stands still between two looks at the watch: 40 µs of system calls at most.
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
