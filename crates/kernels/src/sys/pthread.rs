//! The C library's mutexes and condition variables, behind guards; its barriers and threads.

use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::kernel::Error;
use crate::sys::clocks::timespec;

pub mod barrier;
pub mod thread;

/// What a mutex does with those who find it taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `PTHREAD_MUTEX_NORMAL`: they sleep, the one that has it already for ever.
    Normal,
    /// `PTHREAD_MUTEX_ADAPTIVE_NP`: they spin for a while, and then sleep.
    Adaptive,
}

/// Memory for an object of the C library. Its address is part of it: it stays where it was initialised.
#[repr(transparent)]
pub(super) struct Object<T>(UnsafeCell<MaybeUninit<T>>);

/// What any thread may use, and several at once.
///
/// # Safety
/// The C library says so of its functions of such an object.
pub(super) unsafe trait Synchronised {}

// SAFETY: it is what threads share, as they do the ones below (pthread.h, semaphore.h).
unsafe impl Synchronised for libc::pthread_mutex_t {}
// SAFETY: as above.
unsafe impl Synchronised for libc::pthread_cond_t {}
// SAFETY: as above.
unsafe impl Synchronised for libc::pthread_barrier_t {}
// SAFETY: as above. What holds one for a thread stays on that thread.
unsafe impl Synchronised for libc::pthread_rwlock_t {}
// SAFETY: as above.
unsafe impl Synchronised for libc::sem_t {}

// SAFETY: any thread may use it.
unsafe impl<T: Synchronised> Send for Object<T> {}
// SAFETY: several threads may do so at once.
unsafe impl<T: Synchronised> Sync for Object<T> {}

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
        let memory = Box::pin(Object::uninit());
        // SAFETY: the memory is for a mutex that no other code has yet, and stays where it is.
        unsafe { initialise(memory.raw(), kind, false) }?;
        // Made only now: dropping one that was refused would destroy what never was.
        Ok(Mutex(memory))
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
        // One whose guard was forgotten is held for ever, and may not be destroyed. No thread waits for it, since one that waits borrows it.
        if let Some(guard) = self.try_lock() {
            drop(guard);
            // SAFETY: it is not held.
            unsafe { libc::pthread_mutex_destroy(self.raw()) };
        }
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
        // What a default one does to its holder is undefined. The two are one in the C libraries of Linux.
        Kind::Normal => {
            const {
                assert!(libc::PTHREAD_MUTEX_NORMAL == libc::PTHREAD_MUTEX_DEFAULT);
                libc::PTHREAD_MUTEX_NORMAL
            }
        }
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

not_send!(Guard<'static>);

impl Drop for Guard<'_> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: this thread took it, and gives it back once.
        unsafe { libc::pthread_mutex_unlock(self.mutex.raw()) };
    }
}

pub struct Condvar {
    bell: Pin<Box<Object<libc::pthread_cond_t>>>,
    /// The mutex with which it was waited for first; no other will do while a thread waits (pthread_cond_wait(3)).
    mutex: AtomicPtr<libc::pthread_mutex_t>,
}

impl Default for Condvar {
    fn default() -> Self {
        let bell = Box::pin(Object::new(libc::PTHREAD_COND_INITIALIZER));
        Condvar { bell, mutex: AtomicPtr::new(ptr::null_mut()) }
    }
}

impl Condvar {
    fn raw(&self) -> *mut libc::pthread_cond_t {
        self.bell.raw()
    }

    /// Releases the mutex, sleeps until the condition is signalled, at most for `patience`, and takes the mutex again. It
    /// may also return for no reason. Returns the C library's result: `ETIMEDOUT` when the time is over.
    ///
    /// # Panics
    /// If it was waited for with another mutex before.
    pub fn wait_for(&self, held: &mut Guard<'_>, patience: Duration) -> libc::c_int {
        // Relaxed: nothing else depends on it.
        let (none, own) = (ptr::null_mut(), held.mutex.raw());
        let first = self.mutex.compare_exchange(none, own, Ordering::Relaxed, Ordering::Relaxed);
        assert!(first.is_ok() || first == Err(own), "a condition variable has one mutex");
        // The default clock of a condition variable is the real-time clock.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let until = timespec(now.saturating_add(patience));
        // SAFETY: both were initialised and outlive the call, as the time does, this thread holds the mutex, and all others that wait had
        // it too.
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
        let mutex = Mutex::new(Kind::Normal).unwrap();
        let held = mutex.try_lock().expect("it is free");
        thread::scope(|scope| scope.spawn(|| assert!(mutex.try_lock().is_none())).join().unwrap());
        drop(held);
        assert!(mutex.try_lock().is_some());
    }

    #[test]
    #[should_panic(expected = "one mutex")]
    fn a_condition_variable_takes_no_second_mutex() {
        let [one, other] = [(); 2].map(|()| Mutex::new(Kind::Normal).unwrap());
        let bell = Condvar::default();
        bell.wait_for(&mut one.lock(), Duration::ZERO);
        bell.wait_for(&mut other.lock(), Duration::ZERO);
    }
}
