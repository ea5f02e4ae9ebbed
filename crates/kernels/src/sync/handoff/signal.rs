//! `signal-*` and `broadcast-*`: condition variables.
//!
//! The waker makes true what is waited for under the mutex, gives the mutex back, and then signals, so that nobody who was woken
//! finds the mutex taken by the waker. A waiter runs when its wait has returned, with the mutex taken again.

use std::sync::atomic::{AtomicU64, Ordering};

use charz_data::{Card, Role, WorkerCount};

use super::{HandOff, PATIENCE, WAKES_ONE, WakePrimitive};
use crate::kernel::{Error, Kernel};
use crate::sync::mutexes::{Condvar, Guard, Mutex};
use crate::sys::pthread;

const BROADCAST: Card = WAKES_ONE
    .role(Role::Other)
    .times("from the call to its return", "from the call to a waiter running, of each waiter")
    .workers(WorkerCount::AtLeast(2));

pub static SIGNAL_PTHREAD: &dyn Kernel = &HandOff::<Signal<pthread::Condvar, false>>::new(
    const { &WAKES_ONE.named("signal-pthread", "the first worker calls pthread_cond_signal while the second one waits") },
);

pub static SIGNAL_STD: &dyn Kernel = &HandOff::<Signal<std::sync::Condvar, false>>::new(
    const {
        &WAKES_ONE
            .named("signal-std", "the first worker calls std::sync::Condvar::notify_one while the second one waits")
    },
);

pub static SIGNAL_PARKING_LOT: &dyn Kernel = &HandOff::<Signal<parking_lot::Condvar, false>>::new(
    const {
        &WAKES_ONE.named(
            "signal-parking-lot",
            "the first worker calls parking_lot::Condvar::notify_one while the second one waits",
        )
    },
);

pub static BROADCAST_PTHREAD: &dyn Kernel = &HandOff::<Signal<pthread::Condvar, true>>::new(
    const { &BROADCAST.named("broadcast-pthread", "the first worker calls pthread_cond_broadcast while all others wait") },
);

pub static BROADCAST_STD: &dyn Kernel = &HandOff::<Signal<std::sync::Condvar, true>>::new(
    const {
        &BROADCAST.named("broadcast-std", "the first worker calls std::sync::Condvar::notify_all while all others wait")
    },
);

pub static BROADCAST_PARKING_LOT: &dyn Kernel = &HandOff::<Signal<parking_lot::Condvar, true>>::new(
    const {
        &BROADCAST.named(
            "broadcast-parking-lot",
            "the first worker calls parking_lot::Condvar::notify_all while all others wait",
        )
    },
);

/// A condition variable with its mutex; all who wait are woken, or one.
struct Signal<C: Condvar, const ALL: bool> {
    mutex: C::Mutex,
    bell: C,
    /// The round that was called. Written under the mutex.
    posted: AtomicU64,
}

impl<C: Condvar, const ALL: bool> WakePrimitive for Signal<C, ALL> {
    type Held<'a> = ();
    type Got<'a> = Guard<'a, C>;

    const VARIANT: &'static str = if ALL { "broadcast" } else { "signal" };

    fn new() -> Result<Self, Error> {
        Ok(Signal { mutex: C::Mutex::new()?, bell: C::default(), posted: AtomicU64::new(0) })
    }

    fn open(&self) {}

    fn post(&self, round: u64) {
        let _held = self.mutex.lock();
        self.posted.store(round, Ordering::Relaxed);
    }

    #[inline]
    fn call(&self, _held: (), _round: u64) -> bool {
        if ALL {
            self.bell.broadcast();
        } else {
            self.bell.signal();
        }
        true
    }

    fn wait(&self, round: u64, ready: impl FnOnce()) -> Option<Guard<'_, C>> {
        let posted = || self.posted.load(Ordering::Relaxed) >= round;
        let mut held = self.mutex.lock();
        // The waker posts under the mutex, which this worker gives back only by waiting.
        ready();
        if !posted() {
            held = self.bell.wait(held, PATIENCE);
        }
        posted().then_some(held)
    }
}
