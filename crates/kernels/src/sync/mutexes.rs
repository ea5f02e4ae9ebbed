//! The mutexes and condition variables that are measured, behind one interface: those of the C library, of Rust's standard
//! library, and of parking_lot.

use std::sync::{PoisonError, TryLockError};
use std::time::Duration;

use crate::kernel::Error;
use crate::sys::pthread;

pub(super) trait Mutex: Send + Sync + Sized + 'static {
    /// That it is held, until it is dropped.
    type Guard<'a>;

    fn new() -> Result<Self, Error>;

    fn lock(&self) -> Self::Guard<'_>;

    fn try_lock(&self) -> Option<Self::Guard<'_>>;

    fn free(&self) -> bool {
        self.try_lock().is_some()
    }
}

pub(super) trait Condvar: Default + Send + Sync + 'static {
    type Mutex: Mutex;

    /// Releases the mutex, sleeps until another thread wakes it, for at most `patience`, and takes the mutex again. It may also
    /// return spuriously.
    fn wait<'a>(&self, held: Guard<'a, Self>, patience: Duration) -> Guard<'a, Self>;

    fn signal(&self);

    fn broadcast(&self);
}

pub(super) type Guard<'a, C> = <<C as Condvar>::Mutex as Mutex>::Guard<'a>;

pub struct Std(std::sync::Mutex<()>);

impl Mutex for Std {
    type Guard<'a> = std::sync::MutexGuard<'a, ()>;

    fn new() -> Result<Self, Error> {
        Ok(Std(std::sync::Mutex::new(())))
    }

    #[inline]
    fn lock(&self) -> Self::Guard<'_> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline]
    fn try_lock(&self) -> Option<Self::Guard<'_>> {
        match self.0.try_lock() {
            Ok(held) => Some(held),
            // It guards nothing that a panic could leave in disorder.
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

impl Condvar for std::sync::Condvar {
    type Mutex = Std;

    fn wait<'a>(&self, held: Guard<'a, Self>, patience: Duration) -> Guard<'a, Self> {
        self.wait_timeout(held, patience).unwrap_or_else(PoisonError::into_inner).0
    }

    #[inline]
    fn signal(&self) {
        self.notify_one();
    }

    #[inline]
    fn broadcast(&self) {
        self.notify_all();
    }
}

pub(super) struct ParkingLot(parking_lot::Mutex<()>);

impl Mutex for ParkingLot {
    type Guard<'a> = parking_lot::MutexGuard<'a, ()>;

    fn new() -> Result<Self, Error> {
        Ok(ParkingLot(parking_lot::Mutex::new(())))
    }

    #[inline]
    fn lock(&self) -> Self::Guard<'_> {
        self.0.lock()
    }

    #[inline]
    fn try_lock(&self) -> Option<Self::Guard<'_>> {
        self.0.try_lock()
    }
}

impl Condvar for parking_lot::Condvar {
    type Mutex = ParkingLot;

    fn wait<'a>(&self, mut held: Guard<'a, Self>, patience: Duration) -> Guard<'a, Self> {
        self.wait_for(&mut held, patience);
        held
    }

    #[inline]
    fn signal(&self) {
        self.notify_one();
    }

    #[inline]
    fn broadcast(&self) {
        self.notify_all();
    }
}

/// `pthread_mutex_t`: `PTHREAD_MUTEX_DEFAULT`, or `PTHREAD_MUTEX_ADAPTIVE_NP`.
pub(super) struct Pthread<const ADAPTIVE: bool>(pthread::Mutex);

impl<const ADAPTIVE: bool> Mutex for Pthread<ADAPTIVE> {
    type Guard<'a> = pthread::Guard<'a>;

    fn new() -> Result<Self, Error> {
        let kind = if ADAPTIVE { pthread::Kind::Adaptive } else { pthread::Kind::Normal };
        Ok(Pthread(pthread::Mutex::new(kind)?))
    }

    #[inline]
    fn lock(&self) -> Self::Guard<'_> {
        self.0.lock()
    }

    #[inline]
    fn try_lock(&self) -> Option<Self::Guard<'_>> {
        self.0.try_lock()
    }
}

impl Condvar for pthread::Condvar {
    type Mutex = Pthread<false>;

    fn wait<'a>(&self, mut held: Guard<'a, Self>, patience: Duration) -> Guard<'a, Self> {
        self.wait_for(&mut held, patience);
        held
    }

    #[inline]
    fn signal(&self) {
        pthread::Condvar::signal(self);
    }

    #[inline]
    fn broadcast(&self) {
        pthread::Condvar::broadcast(self);
    }
}
