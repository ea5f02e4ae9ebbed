//! What one thread does in a cell.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use charz_kernels::{Region, Stage, Work, Worker};
use charz_topology::{Binder, Seating};

use super::counters::ThreadCounts;
use super::gate::{Decision, Gate};
use super::{Bench, Failure, Lap};

/// What a thread needs to know.
pub(super) struct Post<'a> {
    pub(super) rank: usize,
    pub(super) seat: Option<u32>,
    pub(super) repetitions: usize,
    pub(super) stage: &'a dyn Stage,
    pub(super) bench: Bench<'a>,
    pub(super) gate: &'a Gate,
    pub(super) regions: &'a Mutex<Vec<Region>>,
}

/// The laps that were finished, and what went wrong, if anything did. The gate is closed on every failure.
pub(super) struct Outcome {
    pub(super) laps: Vec<Lap>,
    pub(super) failure: Option<Failure>,
}

impl Post<'_> {
    pub(super) fn serve(self) -> Outcome {
        // Nothing stands outside of the guard: a thread that ends without closing the gate leaves the others waiting.
        let served = guarded(|| {
            let mut worker = self.build()?;
            self.repeat(worker.as_mut())
        });
        match served {
            Ok(laps) => Outcome { laps, failure: None },
            Err(failure) => {
                self.gate.close();
                Outcome { laps: Vec::new(), failure: Some(failure) }
            }
        }
    }

    fn build(&self) -> Result<Box<dyn Worker>, Failure> {
        if let Some(seat) = self.seat {
            self.bench
                .binder
                .seat(seat)
                .map_err(|error| Failure::Refused(format!("worker {} has no seat: {error}", self.rank)))?;
        }
        let worker = self.stage.worker(self.rank)?;
        if let Some(region) = worker.region() {
            self.regions.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(region);
        }
        Ok(worker)
    }

    /// Leaves quietly when the gate is closed: whoever closed it tells why.
    fn repeat(&self, worker: &mut dyn Worker) -> Result<Vec<Lap>, Failure> {
        let mut laps = Vec::new();
        // Everybody has built its block; the calling thread looks at the pages now.
        if self.gate.arrive() == Decision::NoGo {
            return Ok(laps);
        }
        for round in 1..=self.repetitions {
            worker.prepare();
            // With a rush the reading stands behind the sleep at the gate, since waking up from it is no part of the run.
            // Without one it would only set the starts apart, and waiting is what is to be expected then.
            let early = (!self.gate.rushes()).then(|| Reading::take(self.bench.binder));
            if self.gate.arrive() == Decision::NoGo {
                return Ok(laps);
            }
            let before = early.unwrap_or_else(|| Reading::take(self.bench.binder));
            self.gate.rush(round);
            let (start, end, work) = self.timed(worker);
            let after = Reading::take(self.bench.binder);
            // Nobody verifies while another still runs.
            if self.gate.arrive() == Decision::NoGo {
                return Ok(laps);
            }
            if work != self.stage.work() {
                return self.fell_short(work, laps);
            }
            worker.verify()?;
            laps.push(Lap {
                rank: self.rank,
                seat: self.seat,
                start,
                end,
                work,
                on_seat: self.seat.and_then(|seat| on_seat(seat, &before, &after)),
                strand: after.strand(),
                counts: after.counts.since(before.counts),
            });
        }
        Ok(laps)
    }

    /// Less work than agreed is right after a stop, and a broken kernel otherwise.
    fn fell_short(&self, work: Work, laps: Vec<Lap>) -> Result<Vec<Lap>, Failure> {
        if self.bench.stop.raised() {
            return Ok(laps);
        }
        Err(Failure::Wrong(format!("worker {} did {work:?} instead of {:?}", self.rank, self.stage.work())))
    }

    #[inline(never)]
    fn timed(&self, worker: &mut dyn Worker) -> (u64, u64, Work) {
        let start = self.bench.clock.now();
        let work = worker.run(self.bench.stop);
        let end = self.bench.clock.now();
        (start, end, work)
    }
}

/// What the system says of the calling thread at one moment.
struct Reading {
    seating: Option<Seating>,
    counts: ThreadCounts,
}

impl Reading {
    fn take(binder: &Binder) -> Self {
        Reading { seating: binder.read_back().ok(), counts: ThreadCounts::read() }
    }

    fn strand(&self) -> Option<u32> {
        self.seating.as_ref()?.on
    }
}

/// `None` when neither reading tells; a single contradiction is enough for `false`.
fn on_seat(seat: u32, before: &Reading, after: &Reading) -> Option<bool> {
    let verdicts = [before, after].map(|reading| {
        let seating = reading.seating.as_ref()?;
        Some(seating.is_only(seat))
    });
    match verdicts {
        [Some(false), _] | [_, Some(false)] => Some(false),
        [Some(true), Some(true)] => Some(true),
        _ => None,
    }
}

/// Turns a panic of a kernel into a failure of its cell.
fn guarded<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    // Unwind safety: after a panic the worker is dropped and nothing else of its state is looked at.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "without a message".to_owned());
        Err(Failure::Wrong(format!("a worker panicked: {text}")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(allowed: &[u32], on: Option<u32>) -> Reading {
        Reading { seating: Some(Seating { allowed: allowed.to_vec(), on }), counts: ThreadCounts::default() }
    }

    #[test]
    fn a_seat_counts_only_when_bound_there_and_there() {
        let unknown = || Reading { seating: None, counts: ThreadCounts::default() };
        let there = || reading(&[7], Some(7));
        assert_eq!(on_seat(7, &there(), &there()), Some(true));
        assert_eq!(on_seat(7, &there(), &reading(&[7], None)), Some(true));
        assert_eq!(on_seat(7, &there(), &reading(&[7], Some(3))), Some(false));
        assert_eq!(on_seat(7, &reading(&[6, 7], Some(7)), &there()), Some(false));
        assert_eq!(on_seat(7, &there(), &unknown()), None);
        assert_eq!(on_seat(7, &unknown(), &reading(&[3], Some(3))), Some(false));
    }
}
