use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use charz_data::Period;
use proptest::prelude::*;

use super::*;
use crate::clock::Clock;
use crate::watch::Stop;

#[derive(Debug, Default)]
struct Told(AtomicU64);

impl Clock for Told {
    fn name(&self) -> &'static str {
        "told"
    }

    fn now(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A system whose calls take no time, and whose samples take the times in `takes`, in turn. It stamps the wakeup at the end of
/// the sample.
struct System {
    clock: Arc<Told>,
    takes: Vec<u64>,
    /// When each sample was due, and when it began.
    begun: Vec<(Option<u64>, u64)>,
}

impl System {
    fn new(takes: Vec<u64>) -> Self {
        System { clock: Arc::default(), takes, begun: Vec::new() }
    }

    fn sample(&mut self, due: Option<u64>, seen: &mut Vec<u64>) -> Option<Call> {
        let called = self.clock.now().max(due.unwrap_or(0));
        let ended = called + self.takes[self.begun.len() % self.takes.len()];
        self.begun.push((due, called));
        seen.push(ended);
        self.clock.0.store(ended, Ordering::Relaxed);
        Some(Call { called, returned: called, ended, real: true })
    }

    /// The second times of so many samples, and how many samples were late.
    fn run(&mut self, period: Period, samples: u64) -> (Vec<u64>, u64) {
        let mut sampler = Sampler::new(period, samples, 1).unwrap();
        sampler.reset();
        let clock = Arc::clone(&self.clock) as Arc<dyn Clock>;
        let watch = Watch::new(&Stop::new()).with_clock(clock);
        assert_eq!(sampler.take(&watch, |due, seen| self.sample(due, seen)), samples);
        sampler.verify("test").unwrap();
        assert_eq!(sampler.kept().attempts, samples);
        (sampler.pairs.0.iter().map(|(_, second)| *second).collect(), sampler.kept().waits)
    }
}

proptest! {
    /// Times count from when a sample was due: the time of a sample includes its delay, for any cause; and a schedule that is
    /// far behind starts anew.
    #[test]
    fn what_is_slow_is_not_hidden(takes in prop::collection::vec(1..100_000_u64, 1..50), period in 1..50_000_u64) {
        let mut system = System::new(takes.clone());
        let (times, late) = system.run(Period::EveryNs(period), takes.len() as u64);
        let (mut free, mut last, mut kept_waiting) = (0, 0, 0);
        for ((took, time), (due, _)) in takes.into_iter().zip(times).zip(system.begun) {
            let due = due.unwrap();
            prop_assert_eq!(due, last + period);
            let began = due.max(free);
            free = began + took;
            last = if free > due + period * BEHIND { free } else { due };
            let waited = if began - due > GRACE { began - due } else { 0 };
            prop_assert_eq!(time, took + waited);
            kept_waiting += u64::from(waited > 0);
        }
        prop_assert_eq!(late, kept_waiting);
    }

    /// Without a schedule each begins when the one before has ended, and times are what the samples took.
    #[test]
    fn closed_samples_follow_each_other(takes in prop::collection::vec(1..100_000_u64, 1..50)) {
        for period in [Period::Closed, Period::EveryNs(0)] {
            let mut system = System::new(takes.clone());
            prop_assert_eq!(system.run(period, takes.len() as u64), (takes.clone(), 0));
            prop_assert!(system.begun.iter().all(|(due, _)| due.is_none()));
        }
    }

    /// A fitting period leaves a system that is steady more time than it needs, and so never keeps a sample waiting.
    #[test]
    fn a_fitting_period_fits(middle in 1_000..1_000_000_u64, spread in prop::collection::vec(0..500_u64, 20)) {
        let takes: Vec<u64> = spread.iter().map(|more| middle + more).collect();
        let mut system = System::new(takes);
        let (times, late) = system.run(Period::Fitting, 20);
        prop_assert_eq!(late, 0);
        prop_assert!(times.iter().all(|time| (middle..middle + 500).contains(time)), "{:?}", times);
        let due: Vec<u64> = system.begun.iter().filter_map(|(due, _)| *due).collect();
        prop_assert_eq!(due.len(), 20, "the samples by which the period is found have none");
        let gaps: Vec<u64> = due.windows(2).map(|pair| pair[1] - pair[0]).collect();
        prop_assert!(gaps.iter().all(|gap| *gap == gaps[0] && *gap >= 2 * middle), "{:?}", gaps);
    }
}

/// Samples that are none are taken again, at later times.
#[test]
fn who_was_up_before_the_call_is_no_sample() {
    let mut system = System::new(vec![100]);
    let mut sampler = Sampler::new(Period::EveryNs(10_000), 10, 1).unwrap();
    let watch = Watch::new(&Stop::new()).with_clock(Arc::clone(&system.clock) as Arc<dyn Clock>);
    let mut tries = 0;
    let taken = sampler.take(&watch, |due, seen| {
        tries += 1;
        let mut call = system.sample(due, seen)?;
        match tries % 3 {
            0 => call.real = false,
            1 => seen[0] = call.called - 1,
            _ => {}
        }
        Some(call)
    });
    assert_eq!((taken, tries, sampler.joint().count), (10, 29, 10));
    let second = sampler.joint().second;
    assert_eq!((second.min_ns, second.max_ns), (100, 100));
}

#[test]
fn a_sample_that_ends_the_run_does_not_count() {
    let mut system = System::new(vec![100]);
    let mut sampler = Sampler::new(Period::Closed, 10, 1).unwrap();
    let watch = Watch::new(&Stop::new()).with_clock(Arc::clone(&system.clock) as Arc<dyn Clock>);
    let taken = sampler.take(&watch, |due, seen| system.sample(due, seen).filter(|call| call.called < 300));
    assert_eq!((taken, sampler.joint().count), (3, 3));
    assert!(matches!(sampler.verify("test"), Err(Error::Wrong(_))));
}

#[test]
fn more_samples_than_there_is_memory_for_are_refused() {
    assert!(matches!(Sampler::new(Period::Closed, u64::MAX, 2), Err(Error::Refused(_))));
}
