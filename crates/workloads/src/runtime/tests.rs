use std::fs;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::thread;
use std::time::Instant;

use super::maker::{Maker, Std};
use super::pooled::Pooled;
use super::rayon::Rayon;
use super::*;
use charz_kernels::sync::pool::{CasPool, MutexPool};
use charz_kernels::sys::pthread::thread::Enter;
use charz_kernels::tests::{stopped, watch};

fn setting(at_most: u32, kept: u64) -> Setting {
    let limit = ThreadLimit { at_most, because: "the test".into() };
    Setting { threads: 2, mask: Mask::own().unwrap(), seats: Vec::new(), kept, limit }
}

/// Adds up a tree of activities, each with three parts.
fn sum<H: Hand>(hand: &H, depth: u32, total: &AtomicU32) {
    total.fetch_add(1, Ordering::Relaxed);
    if depth > 0 && !hand.is_over() {
        hand.each([depth - 1; 3], |hand, depth| sum(hand, depth, total));
    }
}

fn run<R: Runtime>(runtime: &R, depth: u32, watch: &Watch) -> u32 {
    let total = AtomicU32::new(0);
    runtime.run(watch, depth, |hand, depth| sum(hand, depth, &total));
    total.into_inner()
}

/// Activities of such a tree.
fn nodes(depth: u32) -> u32 {
    (3_u32.pow(depth + 1) - 1) / 2
}

/// Gives this thread a name of its own, which those that it makes inherit: the harness names tests after their module only.
fn named(name: &str) {
    fs::write("/proc/thread-self/comm", name).unwrap();
}

/// Threads of this name. The system forgets a thread shortly after it was joined.
fn check_no_thread_is_left() {
    let own = fs::read_to_string("/proc/thread-self/comm").unwrap();
    let alike = || {
        let tasks = fs::read_dir("/proc/self/task").unwrap();
        let names = tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("comm")).ok());
        names.filter(|name| *name == own).count()
    };
    let patience = Instant::now() + Duration::from_secs(600);
    while alike() > 1 {
        assert!(Instant::now() < patience, "threads were left");
        thread::yield_now();
    }
}

/// No activity is lost or done twice, and no thread is left.
#[track_caller]
fn check<R: Runtime>(setting: &Setting, depth: u32) -> Counts {
    let runtime = R::new(setting).unwrap();
    for depth in 0..=depth {
        assert_eq!(run(&runtime, depth, &watch(None)), nodes(depth));
    }
    let counts = runtime.counts();
    // Where no thread may be made, the worker that would look at its watch does all itself.
    if counts.peak > 0 {
        assert!(run(&runtime, 14, &stopped()) < nodes(14) && runtime.is_over());
    }
    counts
}

#[test]
#[cfg_attr(miri, ignore = "too many steps for an interpreter")]
fn every_activity_is_done_once() {
    named("once");
    for _ in 0..20 {
        for counts in [
            check::<Pooled<MutexPool>>(&setting(1000, 1000), 4),
            check::<Pooled<CasPool>>(&setting(1000, 1000), 4),
            check::<Pooled<MutexPool, Std>>(&setting(1000, 1000), 4),
        ] {
            assert!(counts.created == counts.peak && counts.created > 4 && counts.inlined == 0, "{counts:?}");
        }
        check::<Rayon>(&setting(0, 0), 7);
    }
    check_no_thread_is_left();
}

#[test]
#[cfg_attr(miri, ignore = "too many steps for an interpreter")]
fn the_limit_is_kept_and_the_rest_is_done_inline() {
    for at_most in [0, 1, 2, 5] {
        for counts in [
            check::<Pooled<MutexPool>>(&setting(at_most, 1000), 5),
            check::<Pooled<CasPool>>(&setting(at_most, 1000), 5),
            check::<Pooled<MutexPool, Std>>(&setting(at_most, 1000), 5),
        ] {
            assert!(counts.peak <= at_most.into() && counts.inlined > 0, "{at_most}: {counts:?}");
        }
    }
}

/// Makes three threads and no more, as where others have taken those that the limit left.
struct Three(Std, AtomicU32);

impl Maker for Three {
    const VARIANT: Option<&'static str> = None;

    type Thread = <Std as Maker>::Thread;

    fn new(mask: Mask) -> Result<Self, Error> {
        Ok(Three(Std::new(mask)?, AtomicU32::new(0)))
    }

    fn make<T: Enter>(&self, entry: Arc<T>) -> Result<Self::Thread, Error> {
        match self.1.fetch_add(1, Ordering::Relaxed) {
            0..3 => self.0.make(entry),
            _ => Err(Error::Refused("taken".into())),
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "too many steps for an interpreter")]
fn a_refusal_names_the_limit_that_was_known_once() {
    named("refusal");
    let runtime = Pooled::<MutexPool, Three>::new(&setting(1000, 1000)).unwrap();
    for _ in 0..3 {
        assert_eq!(run(&runtime, 5, &watch(None)), nodes(5));
    }
    let ThreadLimit { at_most, because } = runtime.limit().unwrap();
    assert!(at_most <= 3 && because.starts_with("taken") && because.ends_with("1000: the test"), "{because}");
    assert_eq!(because.matches("taken").count(), 1, "{because}");
    drop(runtime);
    check_no_thread_is_left();
}

#[test]
#[cfg_attr(miri, ignore = "too many steps for an interpreter")]
fn a_full_pool_ends_threads() {
    named("full");
    let [none, all] = [0, 1000].map(|kept| check::<Pooled<CasPool>>(&setting(1000, kept), 4));
    let activities: u64 = (0..=4).map(|depth| u64::from(nodes(depth))).sum();
    assert!(none.created == activities && all.created < activities, "{none:?} {all:?}");
    check_no_thread_is_left();
}
