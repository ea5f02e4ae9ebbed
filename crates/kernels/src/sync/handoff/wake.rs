//! `futex-wake` and `unpark-std`: what sleeping rests on, without a mutex around.

use std::sync::PoisonError;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread::{self, Thread};

use charz_data::Role;
use charz_data::card::Waiter;

use super::{HandOff, PATIENCE, WAKES_ONE, WakePrimitive};
use crate::kernel::{Error, Kernel};
use crate::sys::futex::{self, Scope};

pub static FUTEX_WAKE: &dyn Kernel = &HandOff::<FutexWake>::new(
    const {
        &WAKES_ONE.named("futex-wake", "the first worker wakes the second one, which sleeps on a word of memory (FUTEX_WAKE, private)")
            .role(Role::HandOff(Waiter::AsleepBare))
    .source("futex(2); U. Drepper, Futexes Are Tricky (2011). The intervals are those of the T3-4 report (arXiv:1106.2992), \
             section 6; G. Tene, How NOT to Measure Latency (2013): the schedule. A call that finds nobody asleep is no sample")
    },
);

/// A word that is slept on. It holds the round that was called, as far as it has room.
#[derive(Debug)]
struct FutexWake(AtomicU32);

impl WakePrimitive for FutexWake {
    type Held<'a> = ();
    type Got<'a> = ();

    const VARIANT: &'static str = "futex";

    fn new() -> Result<Self, Error> {
        Ok(FutexWake(AtomicU32::new(0)))
    }

    fn open(&self) {}

    fn post(&self, round: u64) {
        self.0.store(round as u32, Ordering::Release);
    }

    #[inline]
    fn call(&self, _held: (), _round: u64) -> bool {
        futex::wake(&self.0, 1, Scope::Process) > 0
    }

    fn wait(&self, round: u64, ready: impl FnOnce()) -> Option<()> {
        let seen = self.0.load(Ordering::Acquire);
        ready();
        if seen != round as u32 {
            futex::wait(&self.0, seen, Scope::Process, PATIENCE);
        }
        (self.0.load(Ordering::Acquire) == round as u32).then_some(())
    }
}

pub static UNPARK_STD: &dyn Kernel = &HandOff::<Unpark>::new(
    const {
        &WAKES_ONE
            .named(
                "unpark-std",
                "the first worker calls Thread::unpark of the Rust standard library while the second one is parked",
            )
            .role(Role::HandOff(Waiter::AsleepBare))
    },
);

#[derive(Debug)]
struct Unpark {
    parked: std::sync::Mutex<Option<Thread>>,
    /// The round that was called.
    posted: AtomicU64,
}

impl WakePrimitive for Unpark {
    type Held<'a> = Option<Thread>;
    type Got<'a> = ();

    const VARIANT: &'static str = "unpark";

    fn new() -> Result<Self, Error> {
        Ok(Unpark { parked: std::sync::Mutex::new(None), posted: AtomicU64::new(0) })
    }

    fn enrol(&self) {
        *self.parked.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread::current());
    }

    fn open(&self) -> Option<Thread> {
        self.parked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn post(&self, round: u64) {
        self.posted.store(round, Ordering::Release);
    }

    #[inline]
    fn call(&self, held: Option<Thread>, _round: u64) -> bool {
        held.is_some_and(|thread| {
            thread.unpark();
            true
        })
    }

    fn wait(&self, round: u64, ready: impl FnOnce()) -> Option<()> {
        let posted = || self.posted.load(Ordering::Acquire) >= round;
        ready();
        if !posted() {
            thread::park_timeout(PATIENCE);
        }
        posted().then_some(())
    }
}
