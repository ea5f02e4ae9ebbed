//! The quality of a clock: the cost of a reading, the smallest step, the largest gap between readings, and how far the
//! stamps of two strands may be apart.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use charz_data::report::Timer;
use charz_topology::Binder;

use super::Clock;
use crate::harness::exchange::exchange;

/// Readings of a batch, whose time is divided by them: where a step of the clock is longer than a reading, each gap is no step or a whole
/// one.
const BATCH: u32 = 1000;
/// However long they take: where another program has the CPU for all of the time, a single batch would have its interruption.
const FEWEST_BATCHES: usize = 4;

/// Reads a clock again and again on the calling thread for `time`, and for 4000 readings at least.
pub fn watch(clock: &dyn Clock, time: Duration) -> Timer {
    let (begun, mut costs) = (clock.now(), Vec::new());
    let (mut last, mut least_gap_ns, mut worst_gap_ns) = (begun, u64::MAX, 0);
    while Duration::from_nanos(last.saturating_sub(begun)) < time || costs.len() < FEWEST_BATCHES {
        let first = last;
        for _ in 0..BATCH {
            let now = clock.now();
            let gap = now.saturating_sub(last);
            worst_gap_ns = gap.max(worst_gap_ns);
            least_gap_ns = if gap > 0 { gap.min(least_gap_ns) } else { least_gap_ns };
            last = now;
        }
        costs.push(last.saturating_sub(first) as f64 / f64::from(BATCH));
    }
    let overhead_ns = costs.into_iter().fold(f64::INFINITY, f64::min).round() as u64;
    let resolution_ns = if least_gap_ns == u64::MAX { 0 } else { least_gap_ns };
    Timer { overhead_ns, resolution_ns, worst_gap_ns, skew_ns: None }
}

const EXCHANGES: usize = 200;
/// Only a CPU that is lost to other programs for good takes so long.
const PATIENCE: Duration = Duration::from_secs(10);
/// Strands beyond the first that are looked at: the kernel has compared all of them already when it chose its clock.
const MOST_PARTNERS: usize = 16;

/// The strands that the first is compared with: evenly spread, so those of other packages are among them, and the last one.
fn partners(others: &[u32]) -> impl Iterator<Item = u32> {
    let count = others.len().min(MOST_PARTNERS);
    (1..=count).map(move |number| others[number * others.len() / count - 1])
}

/// How far the stamps of `strands` may be apart, in nanoseconds: the largest bound over pairs of the first strand with others, at most 16
/// that are evenly spread. `None` with fewer than two strands, or where one of them, or a thread, cannot be had.
///
/// One side stamps, sends, and stamps when the answer is there; the other stamps in between. Its stamp must lie between the
/// two if the clocks agree, so the smallest of many round trips bounds how far they can disagree (F. Cristian,
/// "Probabilistic clock synchronization", Distributed Computing 3, 1989).
pub fn skew(clock: &dyn Clock, binder: &Binder, strands: &[u32]) -> Option<u64> {
    let (&first, others) = strands.split_first()?;
    partners(others)
        .map(|other| pair_skew(clock, binder, [first, other]))
        .try_fold(None, |most, skew| Some(most.max(Some(skew?))))?
}

fn pair_skew(clock: &dyn Clock, binder: &Binder, pair: [u32; 2]) -> Option<u64> {
    let stamp = AtomicU64::new(0);
    let answering = || stamp.store(clock.now(), Ordering::Relaxed);
    exchange(binder, pair, PATIENCE, answering, |ask| {
        let bounds = (0..EXCHANGES).map(|_| {
            let sent = clock.now();
            ask()?;
            let received = clock.now();
            let theirs = stamp.load(Ordering::Relaxed);
            // As late as it can have been stamped, and as early.
            Some(theirs.abs_diff(sent).max(received.abs_diff(theirs)))
        });
        bounds.collect::<Option<Vec<u64>>>()?.into_iter().min()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::clock::{FakeClock, OsClock};

    #[test]
    fn a_clock_that_steps_by_seven() {
        let timer = watch(&FakeClock::new(7), Duration::from_micros(1));
        assert_eq!(timer, Timer { overhead_ns: 7, resolution_ns: 7, worst_gap_ns: 7, skew_ns: None });
    }

    /// A reading takes 20 ns, and the clock counts in steps of 100.
    #[derive(Debug)]
    struct Coarse(FakeClock);

    impl Clock for Coarse {
        fn name(&self) -> &'static str {
            "coarse"
        }

        fn now(&self) -> u64 {
            self.0.now() / 100 * 100
        }
    }

    #[test]
    fn a_reading_that_is_shorter_than_a_step_has_its_cost() {
        let timer = watch(&Coarse(FakeClock::new(20)), Duration::from_micros(1));
        assert_eq!((timer.overhead_ns, timer.resolution_ns), (20, 100));
    }

    /// Its first step is long: the thread lost its CPU.
    #[derive(Debug)]
    struct Interrupted(FakeClock, AtomicU64);

    impl Clock for Interrupted {
        fn name(&self) -> &'static str {
            "interrupted"
        }

        fn now(&self) -> u64 {
            let late = if self.1.fetch_add(1, Ordering::Relaxed) < 2 { 0 } else { 6_000_000 };
            self.0.now() + late
        }
    }

    #[test]
    fn an_interruption_as_long_as_the_time_is_a_gap_and_not_the_cost_of_a_reading() {
        let timer = watch(&Interrupted(FakeClock::new(7), AtomicU64::new(0)), Duration::from_millis(5));
        assert_eq!((timer.overhead_ns, timer.resolution_ns), (7, 7));
        assert!(timer.worst_gap_ns >= 6_000_000, "{timer:?}");
    }

    #[test]
    fn a_strand_of_each_package_is_compared_with_the_first() {
        // Logical order: all strands of a package come before those of the next.
        let strands: Vec<u32> = (1..1024).collect();
        let chosen: Vec<u32> = partners(&strands).collect();
        assert!((0..8).all(|package| chosen.iter().any(|strand| strand / 128 == package)), "{chosen:?}");
        assert!(chosen.len() <= MOST_PARTNERS, "{chosen:?}");
        for few in 0..=MOST_PARTNERS {
            assert!(partners(&strands[..few]).eq(strands[..few].iter().copied()), "each of {few}");
        }
    }

    #[test]
    fn one_strand_has_no_skew() {
        let binder = Binder::new(charz_topology::Backend::Hwloc);
        assert_eq!(skew(&OsClock::default(), &binder, &[]), None);
        assert_eq!(skew(&OsClock::default(), &binder, &[0]), None);
        assert_eq!(skew(&OsClock::default(), &binder, &[0, 1 << 20]), None, "a strand that is not there");
    }
}
