//! What a worker looks at while it runs: whether it is to end, and whether it still sits where it was put.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::clock::{Clock, OsClock};
use crate::sys::strand;

/// Asks all workers of a run to stop early. Each sees it through its own [`Watch`].
///
/// Clones share one flag, so a signal handler can raise it without a thread in between.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    pub fn new() -> Self {
        Stop::default()
    }

    /// The flag itself, for a signal handler to set.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }

    /// Raises the flag; it stays raised.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    #[inline]
    pub fn raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The work between two looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    pub begin: Instant,
    pub end: Instant,
    /// Operations or bytes, whichever the card counts.
    pub work: u64,
}

/// The blocks of a run. Of a longer run than [`Blocks::MOST`] every second is kept, then every fourth, and so on.
#[derive(Debug)]
struct Blocks {
    kept: Vec<Block>,
    /// One in so many is kept.
    each: u64,
    seen: u64,
    /// The last look, and the work that was done by then.
    last: Option<(Instant, u64)>,
}

impl Blocks {
    /// The most that are kept: 0.15 s of them, in 160 KiB.
    const MOST: usize = 4096;

    /// Touches the memory: a page fault within a run would be in a block.
    fn new() -> Self {
        let now = Instant::now();
        let mut kept = vec![Block { begin: now, end: now, work: 1 }; Blocks::MOST];
        kept.clear();
        Blocks { kept, each: 1, seen: 0, last: None }
    }

    #[inline]
    fn note(&mut self, now: Instant, done: u64) {
        let Some((begin, before)) = self.last.replace((now, done)) else { return };
        // Less work than before is that of another run.
        let Some(work) = done.checked_sub(before) else { return };
        self.seen += 1;
        if !self.seen.is_multiple_of(self.each) {
            return;
        }
        if self.kept.len() == Blocks::MOST {
            let mut at = 0;
            self.kept.retain(|_| {
                at += 1;
                at % 2 == 0
            });
            self.each *= 2;
        }
        self.kept.push(Block { begin, end: now, work });
    }
}

/// One worker's watch over one run: a kernel looks at it between stretches of 20 to 100 µs, and never inside of one, where
/// a look would be measured too.
///
/// A run ends by the flag that all share, or by the worker's own deadline, which needs no other thread to be scheduled: a
/// thread that is to raise a flag can wait for many seconds where spinning workers outnumber strands. Each look also asks
/// on which strand the worker is, since a worker that was elsewhere for a while, and came back, is seen by no check before
/// or after its run.
///
/// It belongs to one thread (`!Sync`), and is made anew for each run.
#[derive(Debug)]
pub struct Watch {
    stop: Stop,
    deadline: Option<Instant>,
    /// When a run that lasts a given time is over; `None` for one that does a given work.
    until: Cell<Option<Instant>>,
    /// The look that ends the run; the largest number for none.
    last_look: u64,
    seat: Option<u32>,
    clock: Arc<dyn Clock>,
    passed: Cell<bool>,
    polls: Cell<u64>,
    unknown: Cell<u64>,
    off_seat: Cell<u64>,
    blocks: RefCell<Blocks>,
}

impl Watch {
    /// A watch that ends a run by the flag alone, over a worker without a seat.
    pub fn new(stop: &Stop) -> Self {
        let (passed, until, stop) = (Cell::new(false), Cell::new(None), stop.clone());
        let [polls, unknown, off_seat] = [const { Cell::new(0) }; 3];
        let clock = Arc::new(OsClock::default());
        let blocks = RefCell::new(Blocks::new());
        Watch {
            stop,
            deadline: None,
            until,
            last_look: u64::MAX,
            seat: None,
            clock,
            passed,
            polls,
            unknown,
            off_seat,
            blocks,
        }
    }

    /// The same, which also ends the run at this time of the monotonic clock, `None` for never.
    #[must_use]
    pub fn with_deadline(self, deadline: Option<Instant>) -> Self {
        Watch { deadline, ..self }
    }

    /// The same, which also ends the run at its so-manieth look: a kernel that does what it can in a given time then does the same work each
    /// time, for counting its instructions.
    #[must_use]
    pub fn with_looks(self, looks: u64) -> Self {
        Watch { last_look: looks, ..self }
    }

    /// The same over a worker bound to the strand with this OS id, `None` for one that may float.
    #[must_use]
    pub fn with_seat(self, seat: Option<u32>) -> Self {
        Watch { seat, ..self }
    }

    /// The same with a clock for what the worker stamps itself.
    #[must_use]
    pub fn with_clock(self, clock: Arc<dyn Clock>) -> Self {
        Watch { clock, ..self }
    }

    /// The run begins: one that lasts a given time ends so much later.
    pub fn begin(&self, span: Option<Duration>) {
        self.until.set(span.and_then(|span| Instant::now().checked_add(span)));
    }

    /// Looks once. Whether the run is to end now; once it is, it stays so.
    #[inline]
    pub fn should_stop(&self) -> bool {
        self.polls.set(self.polls.get() + 1);
        if self.seat.is_some() {
            self.sighted(strand::current());
        }
        let timed = !self.passed.get() && (self.until.get().is_some() || self.deadline.is_some());
        self.is_over(timed.then(Instant::now))
    }

    /// The same after so much work of the run, in operations or bytes, whichever the card counts: the time since the last such
    /// look is that of a [block](Watch::blocks). For kernels whose workers share nothing but the machine.
    #[inline]
    pub fn should_stop_after(&self, done: u64) -> bool {
        self.polls.set(self.polls.get() + 1);
        if self.seat.is_some() {
            self.sighted(strand::current());
        }
        let now = Instant::now();
        self.blocks.borrow_mut().note(now, done);
        self.is_over(Some(now))
    }

    /// How long until the run is to end; `None` without such a time.
    pub fn left(&self) -> Option<Duration> {
        let end = [self.until.get(), self.deadline].into_iter().flatten().min()?;
        Some(end.saturating_duration_since(Instant::now()))
    }

    #[inline]
    fn is_over(&self, now: Option<Instant>) -> bool {
        let is_past = |end: Option<Instant>| now.zip(end).is_some_and(|(now, end)| now >= end);
        let over = is_past(self.until.get());
        // A run that has had its time is over, however late anybody looks.
        if !over && is_past(self.deadline) {
            self.passed.set(true);
        }
        over || self.passed.get() || self.polls.get() >= self.last_look || self.stop.raised()
    }

    /// The blocks of the run, in order; none of kernels that do not tell their work at looks.
    pub fn blocks(self) -> Vec<Block> {
        let mut kept = self.blocks.into_inner().kept;
        kept.shrink_to_fit();
        kept
    }

    /// A stamp in nanoseconds of the clock that all workers share.
    #[inline]
    pub fn now(&self) -> u64 {
        self.clock.now()
    }

    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// Notes on which strand a seated worker was found, `None` if the system does not report it.
    fn sighted(&self, strand: Option<u32>) {
        let count = match strand {
            None => &self.unknown,
            Some(_) if strand == self.seat => return,
            Some(_) => &self.off_seat,
        };
        count.set(count.get() + 1);
    }

    pub fn polls(&self) -> u64 {
        self.polls.get()
    }

    /// How many of the looks found the worker on another strand than its seat. `None` if no look could find out: without a
    /// look, without a seat, or on a system that does not report on which strand a thread is.
    pub fn off_seat(&self) -> Option<u64> {
        let told = self.seat.is_some() && self.unknown.get() < self.polls.get();
        told.then(|| self.off_seat.get())
    }

    pub fn deadline_passed(&self) -> bool {
        self.passed.get()
    }

    pub fn stop(&self) -> &Stop {
        &self.stop
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn watch(seat: Option<u32>) -> Watch {
        Watch::new(&Stop::new()).with_seat(seat)
    }

    #[test]
    fn the_flag_ends_a_run() {
        let stop = Stop::new();
        let watch = Watch::new(&stop);
        assert!(!watch.should_stop());
        stop.raise();
        assert!(watch.should_stop() && watch.should_stop());
        assert!(!watch.deadline_passed());
        assert_eq!(watch.polls(), 3);
    }

    #[test]
    fn looks_end_a_run_that_is_to_do_the_same_work_each_time() {
        let watch = watch(None).with_looks(3);
        assert_eq!([(); 4].map(|()| watch.should_stop()), [false, false, true, true]);
        assert!(!watch.deadline_passed());
    }

    #[test]
    fn the_deadline_ends_a_run_and_no_other() {
        let stop = Stop::new();
        let now = Instant::now();
        let [mine, later, never] = [Some(now), Some(now + Duration::from_secs(3600)), None]
            .map(|deadline| Watch::new(&stop).with_deadline(deadline));
        assert!(!mine.deadline_passed(), "the worker has not looked yet");
        assert!(mine.should_stop() && mine.should_stop() && mine.deadline_passed());
        for other in [later, never] {
            assert!(!other.should_stop() && !other.deadline_passed());
        }
        assert!(!stop.raised());
    }

    #[test]
    fn a_run_that_has_had_its_time_is_over_and_not_late() {
        let past = Instant::now();
        let watch = watch(None).with_deadline(Some(past));
        watch.begin(Some(Duration::ZERO));
        assert!(watch.should_stop() && watch.should_stop() && !watch.deadline_passed());
        watch.begin(Some(Duration::from_secs(3600)));
        assert!(watch.should_stop() && watch.deadline_passed(), "its time is not over, its deadline is");
    }

    /// The count of a worker on seat 7 after it was found on these strands, one per look.
    #[track_caller]
    fn check(sighted: &[Option<u32>], off_seat: Option<u64>) {
        let watch = watch(Some(7));
        for &strand in sighted {
            watch.polls.set(watch.polls.get() + 1);
            watch.sighted(strand);
        }
        assert_eq!(watch.off_seat(), off_seat, "{sighted:?}");
    }

    #[test]
    fn looks_off_the_seat_are_counted_where_the_system_reports_strands() {
        check(&[], None);
        check(&[None, None], None);
        check(&[Some(7), Some(7)], Some(0));
        check(&[Some(7), Some(3), Some(7), Some(1024), Some(7)], Some(2));
        check(&[None, Some(7), None, Some(8)], Some(1));
    }

    #[test]
    fn a_floating_worker_has_no_seat_to_miss() {
        let watch = watch(None);
        assert!(!watch.should_stop());
        assert_eq!((watch.polls(), watch.off_seat()), (1, None));
    }

    #[test]
    fn a_strand_that_does_not_exist_is_always_missed() {
        let watch = watch(Some(u32::MAX));
        (0..5).for_each(|_| assert!(!watch.should_stop()));
        assert_eq!(watch.off_seat(), Some(5));
    }
}
