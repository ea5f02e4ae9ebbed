//! `timeout-*`: how late calls return that wait for nothing but their time.

use std::fmt::Display;
use std::io;
use std::thread;
use std::time::Duration;

use charz_data::params::{MAX_TIMEOUT_NS, SAMPLES, TIMEOUT};
use charz_data::{Card, Metric, Params};

use crate::kernel::Error;
use crate::sample::Probe;
use crate::watch::Watch;

mod calls;

pub(crate) use calls::KERNELS;

/// By which share of the timeout a call may return before its time: the system speeds a clock up or slows it down by 500 ppm
/// at most (adjtimex(2)), and the clock that stamps was set by another one for a short time only.
const ALLOWANCE: u64 = 1000;

const CARD: Card = super::CARD
    .metric(Metric::SecondTime)
    .times("from the call to its return", "from the end of the time that was asked for to the return")
    .uncounted_traffic("the way into the kernel and back, the interrupt, and waking up an idle strand. The system may let a thread wait longer \
             by its timer slack, 50 µs where no other was set (/proc/PID/timerslack_ns, PR_SET_TIMERSLACK), so several \
             timers end by one interrupt")
    .params(&[&SAMPLES, &TIMEOUT])
    .source("S. Sistare, Solaris scalability: the measured return of poll(NULL, 0, 1), and the calls that take a timeout; \
             prctl(2), PR_SET_TIMERSLACK")
    .blocks_in_kernel(true);

trait TimedWait: Sized + 'static {
    const CALL: &'static str;

    /// What it can be asked for is a multiple of this.
    const GRAIN: Duration;

    /// What the calling worker waits for.
    fn new() -> Result<Self, Error>;

    /// Waits. Whether the time is over.
    fn wait(&self, time: Duration) -> io::Result<bool>;
}

struct Timeout<W> {
    name: &'static str,
    way: W,
    time: Duration,
}

impl<W: TimedWait> Probe for Timeout<W> {
    const VARIANT: &'static str = W::CALL;

    /// The system has the call if a waiter can be made, by a thread of its own: one may leave the thread in another namespace.
    fn check() -> Result<(), Error> {
        apart(thread::Builder::new(), || W::new().map(drop).map_err(|error| error.to_string()))
    }

    fn admit(name: &str, params: &Params) -> Result<(), Error> {
        let refused = |why: &dyn Display| Err(Error::Unavailable(format!("{name} waits for {why}")));
        match params.timeout() {
            Duration::ZERO => refused(&"more than 0 s"),
            time if params.timeout_ns > MAX_TIMEOUT_NS => {
                let most = Duration::from_nanos(MAX_TIMEOUT_NS);
                refused(&format_args!("{most:?} at most, not for {time:?}"))
            }
            _ => Ok(()),
        }
    }

    fn new(name: &'static str, params: &Params) -> Result<Self, Error> {
        Ok(Timeout { name, way: W::new()?, time: whole(params.timeout(), W::GRAIN) })
    }

    fn sample(&mut self, watch: &Watch) -> Result<Option<(u64, u64)>, Error> {
        let called = watch.now();
        let over = self.way.wait(self.time);
        let took = watch.now().saturating_sub(called);
        let over = over.map_err(|error| Error::Wrong(format!("{}: {} failed: {error}", self.name, W::CALL)))?;
        if over { lateness(self.name, took, self.time).map(|late| Some((took, late))) } else { Ok(None) }
    }
}

fn apart(builder: thread::Builder, make: fn() -> Result<(), String>) -> Result<(), Error> {
    let refused = |error| Error::Unavailable(format!("a thread cannot be made: {error}; allow more threads"));
    let thread = builder.spawn(make).map_err(refused)?;
    thread.join().expect("making a waiter panics nowhere").map_err(Error::Unavailable)
}

/// What is asked of a call that takes multiples of `grain`: no less than `time`.
fn whole(time: Duration, grain: Duration) -> Duration {
    let grains = time.as_nanos().div_ceil(grain.as_nanos());
    grain * u32::try_from(grains).unwrap_or(u32::MAX)
}

/// By how many nanoseconds a call was late that took `took` of them.
fn lateness(name: &str, took: u64, time: Duration) -> Result<u64, Error> {
    let asked = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    if took < asked - asked / ALLOWANCE {
        let took = Duration::from_nanos(took);
        return Err(Error::void(name, format_args!("a wait of {time:?} was over after {took:?}")));
    }
    Ok(took.saturating_sub(asked))
}

#[cfg(test)]
mod tests;
