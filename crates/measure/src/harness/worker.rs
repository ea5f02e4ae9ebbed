use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use charz_data::report::{Counts, Ending, Lap};
use charz_data::{Growth, JointHistogram, units};
use charz_kernels::watch::Block;
use charz_kernels::{Stage, Watch, Work, Worker};
use charz_topology::{Binder, Seating};

use super::counters;
use super::counters::hardware::SpanCounters;
use super::frequency::{self, Frequencies};
use super::gate::{Decision, Gate};
use super::pages::PlacedRegion;
use super::{Bench, Cell, Failure};

pub(super) struct WorkerContext<'a> {
    pub(super) rank: usize,
    pub(super) cell: &'a Cell<'a>,
    pub(super) stage: &'a dyn Stage,
    pub(super) bench: Bench<'a>,
    pub(super) gate: &'a Gate,
    /// Whether the repetition at hand is the last; set before all pass the gate at its end.
    pub(super) enough: &'a AtomicBool,
    /// Whether the repetition at hand is not counted; set before all pass the gate at its beginning.
    pub(super) uncounted: &'a AtomicBool,
    /// Whether a worker did less than its part; set before all pass the gate at the end of a repetition.
    pub(super) short: &'a AtomicBool,
    pub(super) plots: &'a Mutex<Vec<PlacedRegion>>,
    pub(super) frequencies: Option<&'a Frequencies>,
    /// Why a worker got no hardware counters; set before the first gate, by the first such worker.
    pub(super) no_counters: &'a OnceLock<String>,
}

/// The laps that were finished, and what went wrong, if anything did. The gate is closed on every failure.
pub(super) struct Outcome {
    pub(super) laps: Vec<Stamped>,
    pub(super) failure: Option<Failure>,
}

/// A lap, and what is added up over the workers.
pub(super) struct Stamped {
    pub(super) lap: Lap,
    /// Its blocks, to be compared with those of the others.
    pub(super) blocks: Vec<Block>,
    pub(super) samples: Option<JointHistogram>,
    pub(super) growth: Option<Growth>,
}

impl WorkerContext<'_> {
    pub(super) fn serve(self) -> Outcome {
        // All of it runs inside the guard: a thread that ends without closing the gate leaves the others waiting.
        let served = guarded(|| {
            self.sit()?;
            // Threads that the worker starts are counted too if they are started later.
            let counters = self.open_counters();
            let mut worker = self.build()?;
            self.repeat(worker.as_mut(), counters)
        });
        match served {
            Ok(laps) => Outcome { laps, failure: None },
            Err(failure) => {
                self.gate.close();
                Outcome { laps: Vec::new(), failure: Some(failure) }
            }
        }
    }

    /// The failure of a worker whose CPU or NUMA nodes are not there any more.
    fn away(&self, cpus: &[u32], nodes: &[u32]) -> Option<Failure> {
        self.bench.binder.gone(cpus, nodes).map(|gone| Failure::new(Ending::Away, gone))
    }

    fn sit(&self) -> Result<(), Failure> {
        if let Some(seat) = self.cell.seats[self.rank] {
            let refused = |error| Failure::new(Ending::Refused, format!("worker {} has no seat: {error}", self.rank));
            self.bench.binder.seat(seat).map_err(|error| self.away(&[seat], &[]).unwrap_or_else(|| refused(error)))?;
        }
        let homes = self.homes();
        if !homes.is_empty() {
            // The policy is the thread's, and ends with it: kernels that touch memory in their span get it from there too.
            let placed = self.bench.binder.place_memory(homes);
            let refused = |error| Failure::new(Ending::Unavailable, format!("worker {}: {error}", self.rank));
            placed.map_err(|error| self.away(&[], homes).unwrap_or_else(|| refused(error)))?;
        }
        Ok(())
    }

    /// The NUMA nodes of its memory.
    fn homes(&self) -> &[u32] {
        self.cell.homes.get(self.rank).or(self.cell.homes.first()).map_or(&[], Vec::as_slice)
    }

    fn open_counters(&self) -> Option<SpanCounters> {
        match self.bench.counters?.open() {
            Ok(counters) => Some(SpanCounters::new(counters)),
            Err(reason) => {
                self.no_counters.get_or_init(|| reason);
                None
            }
        }
    }

    fn build(&self) -> Result<Box<dyn Worker>, Failure> {
        let worker = self.stage.worker(self.rank)?;
        if let Some(region) = worker.region() {
            let node = self.cell.nodes.get(self.rank).copied().flatten();
            let plot = PlacedRegion { region, node, homes: self.homes().to_vec() };
            self.plots.lock().unwrap_or_else(PoisonError::into_inner).push(plot);
        }
        Ok(worker)
    }

    /// Returns without a failure when the gate is closed: the thread that closed it reports why.
    fn repeat(&self, worker: &mut dyn Worker, mut counters: Option<SpanCounters>) -> Result<Vec<Stamped>, Failure> {
        let mut laps = Vec::new();
        let seat = self.cell.seats[self.rank];
        let mut clocks = vec![self.frequencies.and_then(|_| frequency::measure())];
        // Every worker has built its block; the calling thread looks at the pages now.
        if self.gate.arrive() == Decision::NoGo {
            return Ok(laps);
        }
        // All workers are counted, or none is.
        counters = counters.filter(|_| self.no_counters.get().is_none());
        // Some kernels give their blocks back before a repetition: not while they are looked at.
        if self.gate.arrive() == Decision::NoGo {
            return Ok(laps);
        }
        // The calling thread says which is the last.
        for round in 1.. {
            // The memory for its blocks is touched here: within the counts it would be forty page faults of the run.
            let watch = Watch::new(self.bench.stop).with_seat(seat).with_clock(Arc::clone(self.bench.clock));
            worker.prepare();
            // Where workers spin, the reading follows the sleep at the gate: waking up is no part of the run.
            // Without one it would only set the starts apart, and waiting is what is to be expected then.
            let early = (!self.gate.spins()).then(|| Reading::before(self.bench.binder));
            if self.gate.arrive() == Decision::NoGo {
                return Ok(laps);
            }
            let mut before = early.unwrap_or_else(|| Reading::before(self.bench.binder));
            let deadline = Instant::now().checked_add(self.bench.time_box);
            let watch = watch.with_deadline(deadline);
            self.gate.spin_release(round);
            // What it spent on waiting for the others is no time of the lap.
            before.counts.cpu_ns = counters::cpu_ns();
            if let Some(counters) = &mut counters {
                counters.enable(true);
            }
            watch.begin(self.stage.span());
            let (start_ns, end_ns, work) = self.timed(worker, &watch);
            if let Some(counters) = &mut counters {
                counters.enable(false);
            }
            let after = Reading::after(self.bench.binder);
            let by_itself = self.stage.span().is_none() && !self.stage.shares_work();
            let whole = match by_itself {
                true => work == self.stage.work_of(self.rank),
                false => !watch.deadline_passed() && !self.bench.stop.raised(),
            };
            if !whole {
                self.short.store(true, Ordering::Relaxed);
            }
            // No worker verifies while another still runs.
            if self.gate.arrive() == Decision::NoGo {
                return Ok(laps);
            }
            if !whole && self.uncounted.load(Ordering::Relaxed) {
                self.gate.close();
                return Ok(laps);
            }
            if !whole {
                return self.fell_short(work, &watch, laps);
            }
            // What it shares with one that fell short, and says so, need not be right.
            if self.short.load(Ordering::Relaxed) {
                return Ok(laps);
            }
            worker.verify()?;
            let on_seat = seat.and_then(|seat| on_seat(seat, &before, &after));
            // The system moves a thread whose CPU goes away, and does not put it back.
            if let Some(failure) = seat.filter(|_| on_seat == Some(false)).and_then(|seat| self.away(&[seat], &[])) {
                return Err(failure);
            }
            let lap = Lap {
                rank: self.rank as u64,
                seat,
                strand: after.seating.as_ref().and_then(|seating| seating.on),
                start_ns,
                end_ns,
                ops: work.ops.0,
                bytes: work.bytes.0,
                on_seat,
                checks: watch.polls(),
                strays: watch.off_seat(),
                counts: after.counts.since(before.counts),
                contention: worker.contention(),
                blocks: None,
                hardware: counters.as_mut().map(|counters| Box::new(counters.lap())),
                group: None,
            };
            let (samples, growth, blocks) = (worker.samples(), worker.growth(), watch.blocks());
            laps.push(Stamped { lap, blocks, samples, growth });
            clocks.push(self.frequencies.and_then(|_| frequency::measure()));
            // No worker prepares while another still verifies data that they share.
            if self.gate.arrive() == Decision::NoGo {
                return Ok(laps);
            }
            if self.enough.load(Ordering::Relaxed) {
                break;
            }
        }
        if let Some(frequencies) = self.frequencies {
            frequencies.note(&clocks);
        }
        Ok(laps)
    }

    /// Less work than agreed is right after a stop, out of time at the end of the time box, and a broken kernel otherwise.
    fn fell_short(&self, work: Work, watch: &Watch, laps: Vec<Stamped>) -> Result<Vec<Stamped>, Failure> {
        if self.bench.stop.raised() {
            // The others are not to wait for this one.
            self.gate.close();
            return Ok(laps);
        }
        if watch.deadline_passed() {
            let time_box = units::duration(self.bench.time_box);
            let reason = format!("worker {} did not end a repetition in its time box of {time_box}", self.rank);
            return Err(Failure::new(Ending::TimedOut, reason));
        }
        let told = |work: Work| format!("{} operations and {} bytes", work.ops.0, work.bytes.0);
        let (done, agreed) = (told(work), told(self.stage.work_of(self.rank)));
        Err(Failure::new(Ending::Wrong, format!("worker {} did {done} instead of {agreed}", self.rank)))
    }

    #[inline(never)]
    fn timed(&self, worker: &mut dyn Worker, watch: &Watch) -> (u64, u64, Work) {
        let start = self.bench.clock.now();
        let work = worker.run(watch);
        let end = self.bench.clock.now();
        (start, end, work)
    }
}

struct Reading {
    seating: Option<Seating>,
    counts: Counts,
}

impl Reading {
    fn before(binder: &Binder) -> Self {
        let seating = binder.read_back().ok();
        Reading { seating, counts: counters::before() }
    }

    fn after(binder: &Binder) -> Self {
        let counts = counters::after();
        Reading { seating: binder.read_back().ok(), counts }
    }
}

/// `None` if neither reading has a seating; a single contradiction is enough for `false`.
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

fn guarded<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    // Unwind safety: after a panic the worker is dropped and nothing else of its state is looked at.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().copied().or(panic.downcast_ref::<String>().map(String::as_str));
        Err(Failure::new(Ending::Died, format!("a worker panicked: {}", text.unwrap_or("without a message"))))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(allowed: &[u32], on: Option<u32>) -> Reading {
        Reading { seating: Some(Seating { allowed: allowed.to_vec(), on }), counts: Counts::default() }
    }

    #[test]
    fn a_seat_counts_only_when_bound_there_and_there() {
        let unknown = || Reading { seating: None, counts: Counts::default() };
        let there = || reading(&[7], Some(7));
        assert_eq!(on_seat(7, &there(), &there()), Some(true));
        assert_eq!(on_seat(7, &there(), &reading(&[7], None)), Some(true));
        assert_eq!(on_seat(7, &there(), &reading(&[7], Some(3))), Some(false));
        assert_eq!(on_seat(7, &reading(&[6, 7], Some(7)), &there()), Some(false));
        assert_eq!(on_seat(7, &there(), &unknown()), None);
        assert_eq!(on_seat(7, &unknown(), &reading(&[3], Some(3))), Some(false));
    }
}
