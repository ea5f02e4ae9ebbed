//! Waits for what the calling thread keeps from itself.

use std::io;
use std::marker::PhantomData;
use std::pin::Pin;
use std::time::Duration;

use super::{after, coded, failed};
use crate::kernel::Error;
use crate::sys::pthread::{Condvar, Kind, Mutex, Object, check};

// The `libc` crate has them on other systems only.
unsafe extern "C" {
    fn pthread_mutex_timedlock(lock: *mut libc::pthread_mutex_t, until: *const libc::timespec) -> libc::c_int;
    fn pthread_rwlock_timedwrlock(lock: *mut libc::pthread_rwlock_t, until: *const libc::timespec) -> libc::c_int;
}

/// A `PTHREAD_MUTEX_NORMAL` that is held, and stays so.
pub struct Lock(Mutex);

impl Lock {
    pub fn new() -> Result<Self, Error> {
        Ok(Lock(Mutex::new(Kind::Normal)?))
    }

    /// `pthread_mutex_timedlock`. A thread that holds such a mutex and asks for it again waits like any other thread.
    pub fn wait(&self, time: Duration) -> io::Result<bool> {
        let _held = self.0.lock();
        let until = after(libc::CLOCK_REALTIME, time);
        // SAFETY: the mutex was initialised, and outlives the call, as the time does.
        let code = unsafe { pthread_mutex_timedlock(self.0.raw(), &raw const until) };
        coded(code, libc::ETIMEDOUT)
    }
}

/// A condition variable that no thread signals, and its mutex.
pub struct Bell {
    mutex: Mutex,
    bell: Condvar,
}

impl Bell {
    pub fn new() -> Result<Self, Error> {
        Ok(Bell { mutex: Mutex::new(Kind::Normal)?, bell: Condvar::default() })
    }

    /// `pthread_cond_timedwait`, by the real-time clock.
    pub fn wait(&self, time: Duration) -> io::Result<bool> {
        let code = self.bell.wait_for(&mut self.mutex.lock(), time);
        coded(code, libc::ETIMEDOUT)
    }
}

/// A lock of the C library for readers and writers, which the thread that made it holds as a reader.
pub struct RwLock {
    lock: Pin<Box<Object<libc::pthread_rwlock_t>>>,
    /// It is given back by the thread that took it (`!Send`).
    stays: PhantomData<*const ()>,
}

not_send!(RwLock);

impl RwLock {
    pub fn new() -> Result<Self, Error> {
        let lock = Box::pin(Object::new(libc::PTHREAD_RWLOCK_INITIALIZER));
        // SAFETY: it was initialised, and no other code has it.
        check("pthread_rwlock_rdlock", unsafe { libc::pthread_rwlock_rdlock(lock.raw()) })?;
        // Made only now: dropping one that was refused would give back what was not taken.
        Ok(RwLock { lock, stays: PhantomData })
    }

    /// `pthread_rwlock_timedwrlock`: a writer waits for the reader.
    pub fn wait(&self, time: Duration) -> io::Result<bool> {
        let until = after(libc::CLOCK_REALTIME, time);
        // SAFETY: the lock was initialised, and outlives the call, as the time does.
        let code = unsafe { pthread_rwlock_timedwrlock(self.lock.raw(), &raw const until) };
        coded(code, libc::ETIMEDOUT)
    }
}

impl Drop for RwLock {
    fn drop(&mut self) {
        // SAFETY: this thread holds it: it made the lock, which has not left it.
        unsafe { libc::pthread_rwlock_unlock(self.lock.raw()) };
        // SAFETY: it is not held any more, and no thread waits, since one that waits borrows it.
        unsafe { libc::pthread_rwlock_destroy(self.lock.raw()) };
    }
}

pub struct Semaphore(Pin<Box<Object<libc::sem_t>>>);

impl Semaphore {
    pub fn new() -> Result<Self, Error> {
        let memory = Box::pin(Object::uninit());
        // SAFETY: the memory is for a semaphore that no other code has yet, and stays where it is.
        if unsafe { libc::sem_init(memory.raw(), 0, 0) } != 0 {
            return Err(Error::Refused(format!("sem_init failed: {}", io::Error::last_os_error())));
        }
        // Made only now: dropping one that was refused would destroy what never was.
        Ok(Semaphore(memory))
    }

    /// `sem_timedwait`.
    pub fn wait(&self, time: Duration) -> io::Result<bool> {
        let until = after(libc::CLOCK_REALTIME, time);
        // SAFETY: the semaphore was initialised, and outlives the call, as the time does.
        let result = unsafe { libc::sem_timedwait(self.0.raw(), &raw const until) };
        failed(result.into(), libc::ETIMEDOUT)
    }
}

impl Drop for Semaphore {
    fn drop(&mut self) {
        // SAFETY: it was initialised, and no thread waits for it, since a thread that waits borrows it.
        unsafe { libc::sem_destroy(self.0.raw()) };
    }
}
