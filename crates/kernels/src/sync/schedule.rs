//! When samples begin, and from when their times count.
//!
//! If each sample begins when the one before is over, the samples understate stalls: one long sample replaces all those that
//! would have come meanwhile (G. Tene, "How NOT to Measure Latency", 2013: coordinated omission). So samples begin by a schedule
//! that does not depend on how long they take: number `i` is due `i` periods after the start. A sample that begins late,
//! since the one before took so long, counts from when it was due.
//!
//! A run that has fallen behind by more than [`BEHIND`] periods starts its schedule anew: the sample that was held up counts
//! in full, and those that were due meanwhile are left out, as in cyclictest (rt-tests). Otherwise a machine that gives its
//! strands to others for milliseconds would fall behind ever more, and the times would be those of a queue that does not exist.
//! So the length of long stalls is right, and their share is understated.
//!
//! [`Period::Fitting`] takes a few samples beforehand, which do not count, and makes the period [`TIMES`] times their median, so
//! a sample is rarely late; late samples are counted ([`Sampler::kept`]). [`Period::Closed`] is what the T3-4 report did: no
//! sample is due, and all count from the call.

use charz_data::{Contention, JointHistogram, Period};

use crate::kernel::Error;
use crate::pairs::Pairs;
use crate::watch::Watch;

/// A fitting period is this many times the median duration of a sample.
const TIMES: u64 = 3;

/// The shortest fitting period, in nanoseconds.
const LEAST: u64 = 10_000;

/// Periods that a run catches up.
const BEHIND: u64 = 10;

/// Samples that a fitting period is found by.
const PILOTS: usize = 15;

/// A sample that begins at most this many nanoseconds after it was due begins in time: a spin until a given time ends closer
/// to it than that.
const GRACE: u64 = 1_000;

/// What a sample was, beside what the waiters stamped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub called: u64,
    pub returned: u64,
    /// When all workers were ready for the next.
    pub ended: u64,
    /// Whether it did what is to be measured, such as waking a waiter, as far as that can be determined.
    pub real: bool,
}

/// One worker's pairs of times, taken by a schedule.
pub(super) struct Sampler {
    period: Period,
    samples: u64,
    /// Times that a sample has: its first time is paired with that of each waiter.
    waiters: usize,
    pairs: Pairs,
    /// What the waiters stamped in the last sample.
    seen: Vec<u64>,
    late: u64,
}

impl Sampler {
    /// Takes so many samples in a run, each with so many waiters.
    pub(super) fn new(period: Period, samples: u64, waiters: usize) -> Result<Self, Error> {
        let pairs = Pairs::with_room(samples.saturating_mul(waiters as u64))?;
        Ok(Sampler { period, samples, waiters, pairs, seen: Vec::with_capacity(waiters), late: 0 })
    }

    pub(super) fn reset(&mut self) {
        self.pairs.reset();
        self.late = 0;
    }

    /// Takes the samples, and returns how many there are: all, unless the watch or `sample` ended the run.
    ///
    /// `sample` takes one that is due then, or at once; adds what the waiters stamped; and returns `None` when the run is to end.
    /// A sample of which a waiter was up before the call is none: it woke up for another reason.
    pub(super) fn take(
        &mut self,
        watch: &Watch,
        mut sample: impl FnMut(Option<u64>, &mut Vec<u64>) -> Option<Call>,
    ) -> u64 {
        let Some(every) = self.period(watch, &mut sample) else { return 0 };
        let (mut last, mut taken) = (watch.now(), 0);
        while taken < self.samples && !watch.should_stop() {
            let due = every.map(|every| last.saturating_add(every));
            let Some(call) = self.real(due, &mut sample) else { break };
            if let (Some(every), Some(due)) = (every, due) {
                let (now, latest) = (watch.now(), due.saturating_add(every.saturating_mul(BEHIND)));
                last = if now > latest { now } else { due };
            }
            if let Some(call) = call {
                let from = origin(due, call.called);
                let first = call.returned.saturating_sub(call.called);
                self.pairs.0.extend(self.seen.iter().map(|seen| (first, seen.saturating_sub(from))));
                self.late += u64::from(from != call.called);
                taken += 1;
            }
        }
        taken
    }

    /// A sample; `Some(None)` for one that is none.
    fn real(
        &mut self,
        due: Option<u64>,
        sample: &mut impl FnMut(Option<u64>, &mut Vec<u64>) -> Option<Call>,
    ) -> Option<Option<Call>> {
        self.seen.clear();
        let call = sample(due, &mut self.seen)?;
        let real = call.real && self.seen.iter().all(|seen| *seen >= call.called);
        Some(real.then_some(call))
    }

    /// The nanoseconds from one sample to the next, `Some(None)` where each begins after the one before.
    fn period(
        &mut self,
        watch: &Watch,
        sample: &mut impl FnMut(Option<u64>, &mut Vec<u64>) -> Option<Call>,
    ) -> Option<Option<u64>> {
        match self.period {
            Period::Closed | Period::EveryNs(0) => Some(None),
            Period::EveryNs(period) => Some(Some(period)),
            Period::Fitting => {
                let mut pilots = Vec::with_capacity(PILOTS);
                while pilots.len() < PILOTS {
                    if watch.should_stop() {
                        return None;
                    }
                    let began = watch.now();
                    pilots.extend(self.real(None, sample)?.map(|call| call.ended.saturating_sub(began)));
                }
                Some(Some(fitting(&mut pilots)))
            }
        }
    }

    pub(super) fn samples(&self) -> u64 {
        self.samples
    }

    /// How many there were in the last run, and how many of them had to wait for the one before.
    pub(super) fn kept(&self) -> Contention {
        let attempts = (self.pairs.0.len() / self.waiters.max(1)) as u64;
        Contention { attempts, waits: self.late, ..Contention::default() }
    }

    pub(super) fn joint(&self) -> JointHistogram {
        self.pairs.joint()
    }

    /// Whether there are as many pairs as there are to be.
    pub(super) fn verify(&self, name: &str) -> Result<(), Error> {
        let (found, samples, waiters) = (self.pairs.0.len(), self.samples, self.waiters);
        Error::unless(found as u64 == samples * waiters as u64, name, || {
            format!("there are {found} pairs of times, not one of each of {waiters} waiters in {samples} samples")
        })
    }
}

/// From when a sample counts that began at `called`.
fn origin(due: Option<u64>, called: u64) -> u64 {
    due.filter(|due| called > due.saturating_add(GRACE)).unwrap_or(called)
}

/// The period for samples that took so long, of which there is at least one.
fn fitting(pilots: &mut [u64]) -> u64 {
    let middle = pilots.len() / 2;
    let (_, median, _) = pilots.select_nth_unstable(middle);
    median.saturating_mul(TIMES).max(LEAST)
}

#[cfg(test)]
mod tests;
