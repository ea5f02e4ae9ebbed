//! The C library's mutexes and condition variables, behind guards; its barriers and threads.

use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::kernel::Error;
use crate::sys::clocks::timespec;

pub mod barrier;
pub mod thread;

/// What a mutex does with those who find it taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `PTHREAD_MUTEX_DEFAULT`: they sleep.
    Default,
    /// `PTHREAD_MUTEX_ADAPTIVE_NP`: they spin for a while, and then sleep.
    Adaptive,
}

/// Memory for an object of the C library. Its address is part of it: it stays where it was initialised.
#[repr(transparent)]
pub(super) struct Object<T>(UnsafeCell<MaybeUninit<T>>);

// SAFETY: any thread may use the objects of which there are such: mutexes, condition variables, barriers.
unsafe impl<T> Send for Object<T> {}
// SAFETY: several threads may do so at once, which is what they are for.
unsafe impl<T> Sync for Object<T> {}

impl<T> Object<T> {
    pub(super) const fn new(value: T) -> Self {
        Object(UnsafeCell::new(MaybeUninit::new(value)))
    }

    pub(super) const fn uninit() -> Self {
        Object(UnsafeCell::new(MaybeUninit::uninit()))
    }

    #[inline]
    pub(super) fn raw(&self) -> *mut T {
        self.0.get().cast()
    }
}

pub struct Mutex(Pin<Box<Object<libc::pthread_mutex_t>>>);

impl Mutex {
    pub fn new(kind: Kind) -> Result<Self, Error> {
        let mutex = Mutex(Box::pin(Object::new(libc::PTHREAD_MUTEX_INITIALIZER)));
        // SAFETY: the memory is that of a mutex that no other code has yet.
        unsafe { initialise(mutex.raw(), kind, false) }?;
        Ok(mutex)
    }

    pub(super) fn raw(&self) -> *mut libc::pthread_mutex_t {
        self.0.raw()
    }

    #[inline]
    pub fn lock(&self) -> Guard<'_> {
        // SAFETY: it was initialised, and lives as long as the reference.
        let refused = unsafe { libc::pthread_mutex_lock(self.raw()) };
        // It fails for robust and priority-inheriting mutexes, and for locks that a thread takes twice, only.
        debug_assert_eq!(refused, 0);
        Guard { mutex: self, stays: PhantomData }
    }

    #[inline]
    pub fn try_lock(&self) -> Option<Guard<'_>> {
        // SAFETY: it was initialised, and lives as long as the reference.
        let refused = unsafe { libc::pthread_mutex_trylock(self.raw()) };
        (refused == 0).then(|| Guard { mutex: self, stays: PhantomData })
    }
}

impl Drop for Mutex {
    fn drop(&mut self) {
        // SAFETY: it is not held, since every guard borrows it.
        unsafe { libc::pthread_mutex_destroy(self.raw()) };
    }
}

/// # Safety
/// The pointer is to memory for a mutex that is not in use, and that stays where it is as long as the mutex is used.
pub unsafe fn initialise(mutex: *mut libc::pthread_mutex_t, kind: Kind, shared: bool) -> Result<(), Error> {
    let mut attributes = MaybeUninit::uninit();
    let raw = attributes.as_mut_ptr();
    // SAFETY: the memory is for attributes, and this function's own.
    check("pthread_mutexattr_init", unsafe { libc::pthread_mutexattr_init(raw) })?;
    let number = match kind {
        Kind::Default => libc::PTHREAD_MUTEX_DEFAULT,
        Kind::Adaptive => ADAPTIVE,
    };
    let sharing = if shared { libc::PTHREAD_PROCESS_SHARED } else { libc::PTHREAD_PROCESS_PRIVATE };
    // SAFETY: the attributes were initialised.
    let result = check("pthread_mutexattr_settype", unsafe { libc::pthread_mutexattr_settype(raw, number) })
        .and_then(|()| {
            // SAFETY: the attributes were initialised.
            check("pthread_mutexattr_setpshared", unsafe { libc::pthread_mutexattr_setpshared(raw, sharing) })
        })
        // SAFETY: the caller vouches for the mutex, and the attributes were initialised.
        .and_then(|()| check("pthread_mutex_init", unsafe { libc::pthread_mutex_init(mutex, raw) }));
    // SAFETY: the attributes were initialised, and are not used any more.
    unsafe { libc::pthread_mutexattr_destroy(raw) };
    result
}

/// # Safety
/// The pointer is to memory for a condition variable that is not in use, and that stays where it is as long as it is used.
pub unsafe fn initialise_condvar(bell: *mut libc::pthread_cond_t, shared: bool) -> Result<(), Error> {
    let mut attributes = MaybeUninit::uninit();
    let raw = attributes.as_mut_ptr();
    // SAFETY: the memory is for attributes, and this function's own.
    check("pthread_condattr_init", unsafe { libc::pthread_condattr_init(raw) })?;
    let sharing = if shared { libc::PTHREAD_PROCESS_SHARED } else { libc::PTHREAD_PROCESS_PRIVATE };
    // SAFETY: the attributes were initialised.
    let result = check("pthread_condattr_setpshared", unsafe { libc::pthread_condattr_setpshared(raw, sharing) })
        // SAFETY: the caller vouches for the memory, and the attributes were initialised.
        .and_then(|()| check("pthread_cond_init", unsafe { libc::pthread_cond_init(bell, raw) }));
    // SAFETY: the attributes were initialised, and are not used any more.
    unsafe { libc::pthread_condattr_destroy(raw) };
    result
}

/// `PTHREAD_MUTEX_ADAPTIVE_NP` of the GNU C library's `pthread.h`, which the `libc` crate does not have on every target.
const ADAPTIVE: libc::c_int = 3;

pub(super) fn check(call: &str, code: libc::c_int) -> Result<(), Error> {
    match code {
        0 => Ok(()),
        code => Err(Error::Refused(format!("{call} failed: {}", std::io::Error::from_raw_os_error(code)))),
    }
}

#[must_use]
pub struct Guard<'a> {
    mutex: &'a Mutex,
    /// It is given back by the thread that took it (`!Send`).
    stays: PhantomData<*const ()>,
}

impl Drop for Guard<'_> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: this thread took it, and gives it back once.
        unsafe { libc::pthread_mutex_unlock(self.mutex.raw()) };
    }
}

pub struct Condvar(Pin<Box<Object<libc::pthread_cond_t>>>);

impl Default for Condvar {
    fn default() -> Self {
        Condvar(Box::pin(Object::new(libc::PTHREAD_COND_INITIALIZER)))
    }
}

impl Condvar {
    fn raw(&self) -> *mut libc::pthread_cond_t {
        self.0.raw()
    }

    /// Releases the mutex, sleeps until the condition is signalled, at most for `patience`, and takes the mutex again. It
    /// may also return for no reason. Returns the C library's result: `ETIMEDOUT` when the time is over.
    pub fn wait_for(&self, held: &mut Guard<'_>, patience: Duration) -> libc::c_int {
        // The default clock of a condition variable is the real-time clock.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let until = timespec(now.saturating_add(patience));
        // SAFETY: both were initialised and outlive the call, as the time does, and this thread holds the mutex.
        unsafe { libc::pthread_cond_timedwait(self.raw(), held.mutex.raw(), &raw const until) }
    }

    #[inline]
    pub fn signal(&self) {
        // SAFETY: it was initialised, and outlives the call.
        unsafe { libc::pthread_cond_signal(self.raw()) };
    }

    #[inline]
    pub fn broadcast(&self) {
        // SAFETY: it was initialised, and outlives the call.
        unsafe { libc::pthread_cond_broadcast(self.raw()) };
    }
}

impl Drop for Condvar {
    fn drop(&mut self) {
        // SAFETY: no thread waits on it, since a thread that waits borrows it.
        unsafe { libc::pthread_cond_destroy(self.raw()) };
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn what_is_held_is_not_taken_again() {
        let mutex = Mutex::new(Kind::Default).unwrap();
        let held = mutex.try_lock().expect("it is free");
        thread::scope(|scope| scope.spawn(|| assert!(mutex.try_lock().is_none())).join().unwrap());
        drop(held);
        assert!(mutex.try_lock().is_some());
    }
}
