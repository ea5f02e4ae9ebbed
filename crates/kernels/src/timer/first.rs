//! `first-*`: the cost of a reading whose code has left the first-level cache of instructions.
//!
//! An empty call comes before each reading that is timed, so the code which times it is in the cache both times, and the
//! processor predicts the call's target equally badly.
//!
//! The counter that times it moves by 10 ns at once on some processors (AMD's Zen 4 at least), which is more than some of
//! the costs: so a time is the mean of [`ROUNDS`], taken in turns, over which the counter's steps even out.

use std::hint::black_box;
use std::marker::PhantomData;

use charz_data::{Card, Metric, Params};

use super::scale;
use super::source::Source;
use crate::kernel::Error;
use crate::sample::Probe;
use crate::sys::{code, counter};
use crate::watch::Watch;

/// Readings of either kind that a pair of times is the mean of.
const ROUNDS: u64 = 16;

pub(super) const CARD: Card = super::CARD
    .metric(Metric::SecondTime)
    .times(
        "a reading right after another, the mean of 16",
        "a reading after 128 KiB of other code with 16,384 jumps were run, the mean of 16",
    )
    .uncounted_traffic("both times hold a call and a reading of the processor's counter behind a fence, by which they are identified: the \
             difference is what the lost code costs. The second-level cache still has the code, and the first the data; what the \
             processor learnt of jumps is gone too. A first-level cache of more than 64 KiB for instructions keeps the code");

/// Reads a clock with code that is near, and with code that is not.
pub(super) struct First<C>(PhantomData<fn() -> C>);

impl<C: Source> Probe for First<C> {
    const VARIANT: &'static str = C::VARIANT;

    fn check() -> Result<(), Error> {
        if counter::AVAILABLE {
            return C::check();
        }
        Err(Error::Unavailable(
            "a single reading is timed by the processor's counter, on x86_64 and aarch64 only".into(),
        ))
    }

    fn new(_: &'static str, _: &Params) -> Result<Self, Error> {
        // Found out now rather than within a run.
        scale::nanos_per_tick();
        Ok(First(PhantomData))
    }

    fn sample(&mut self, watch: &Watch) -> Result<Option<(u64, u64)>, Error> {
        let (mut near, mut far) = (0, 0);
        for _ in 0..ROUNDS {
            // A round takes some 50 µs.
            if watch.should_stop() {
                return Ok(None);
            }
            call::<C>();
            near += timed::<C>();
            code::wander();
            far += timed::<C>();
        }
        let mean = |ticks| (scale::nanos(ticks) + ROUNDS / 2) / ROUNDS;
        Ok(Some((mean(near), mean(far))))
    }
}

fn timed<C: Source>() -> u64 {
    counter::time(code::nothing);
    counter::time(call::<C>)
}

#[inline(never)]
extern "C" fn call<C: Source>() {
    black_box(C::read());
}
