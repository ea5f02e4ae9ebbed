//! The cascade: two bars to each participant, of which its predecessor closes one while it opens the other.
//!
//! The order of libMicro's `cascade_mutex` and its sisters (B. Smaalders and P. Harman, Sun Microsystems): every participant
//! closes the first bar of the next one before anybody begins, then closes its own first one, which only the first
//! participant finds open, and from there on it opens its own, closes the next one's other, opens the next one's first,
//! and closes its own other, where it waits; then the same with the two exchanged. The last participant's two ways are
//! crossed, so the token comes back in the phase in which it is awaited. One participant at a time is not barred.

use std::cell::UnsafeCell;
use std::mem::{self, MaybeUninit};
use std::os::fd::RawFd;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{self, MutexGuard, PoisonError};

use parking_lot::lock_api::RawMutex as _;

use crate::kernel::Error;
use crate::sys::pthread::{Kind, Object, initialise};
use crate::sys::ring::{Ends, Link, Lookout};

/// Which of the two participants that use a bar.
#[derive(Clone, Copy)]
pub enum By {
    /// The one whose way it bars.
    Own,
    /// The one before it.
    Previous,
}

/// What is either closed, by one, or open.
///
/// # Safety
/// [`Bar::files`] that are not negative are open, and its own: the ring closes them.
///
/// ```compile_fail
/// # use charz_kernels::sys::ring::cascade::{Bar, Mutex};
/// // It may be held.
/// fn again(bar: &Mutex<false>) {
///     bar.establish(false);
/// }
/// ```
pub unsafe trait Bar: Sync + Send + Sized + 'static {
    /// One that is open, once it was established.
    const NEW: Self;

    /// Makes it fit for use, at the place where it stays, among threads or, with `machine`, among processes.
    ///
    /// # Safety
    /// No other thread has it, and it was not established before.
    unsafe fn establish(&self, machine: bool) -> Result<(), Error>;

    /// The files that it opened.
    fn files(&self) -> &[AtomicI32] {
        &[]
    }

    /// Waits until it is open, and closes it.
    ///
    /// # Safety
    /// It was established, and this thread has not closed it before without having opened it since.
    unsafe fn close(&self, by: By);

    /// # Safety
    /// This thread closed it.
    unsafe fn open(&self, by: By);
}

pub struct Cascade<B>([B; 2]);

impl<B: Bar> Ends<'_, Cascade<B>> {
    fn ours(&self, other: usize) -> &B {
        &self.us.link.0[self.phase ^ other]
    }

    fn theirs(&self, other: usize) -> &B {
        &self.them.link.0[self.phase ^ other ^ usize::from(self.crossed)]
    }
}

// SAFETY: its files are those of its bars.
unsafe impl<B: Bar> Link for Cascade<B> {
    fn new(_: bool) -> Self {
        Cascade([B::NEW; 2])
    }

    unsafe fn establish(&self, machine: bool) -> Result<(), Error> {
        // SAFETY: the caller vouches for the link, of which the bars are parts.
        self.0.iter().try_for_each(|bar| unsafe { bar.establish(machine) })
    }

    fn files(&self) -> Vec<RawFd> {
        let files = self.0.iter().flat_map(Bar::files).map(|file| file.load(Ordering::Relaxed));
        files.filter(|file| *file >= 0).collect()
    }

    unsafe fn bar(ends: Ends<'_, Self>, _: u64) {
        // SAFETY: no other participant closes the bar before the run, so it is open and not this thread's.
        unsafe { ends.theirs(0).close(By::Previous) };
    }

    unsafe fn abandon(ends: Ends<'_, Self>) {
        // SAFETY: this thread closed it in `bar`.
        unsafe { ends.theirs(0).open(By::Previous) };
    }

    #[inline]
    unsafe fn receive<W: Lookout>(ends: Ends<'_, Self>, _: u64, _: &AtomicBool, _: &mut W) -> bool {
        // It always succeeds: a participant that leaves opens what it has closed, so none waits for one that has left.
        // SAFETY: this thread opened its own bar of this phase in the pass before the last, if it ever closed it.
        unsafe { ends.ours(0).close(By::Own) };
        true
    }

    #[inline]
    unsafe fn pass(ends: Ends<'_, Self>, token: u64) {
        // Relaxed: the bar that is opened last carries it.
        ends.them.token.store(token, Ordering::Relaxed);
        // SAFETY: this thread closed it when it received.
        unsafe { ends.ours(0).open(By::Own) };
        // SAFETY: this thread opened it in the pass before the last, or has not closed it yet.
        unsafe { ends.theirs(1).close(By::Previous) };
        // SAFETY: this thread closed it in the pass before this one, or before the run.
        unsafe { ends.theirs(0).open(By::Previous) };
    }

    unsafe fn leave(ends: Ends<'_, Self>, token: Option<u64>) {
        if let Some(token) = token {
            ends.them.token.store(token, Ordering::Relaxed);
        }
        // SAFETY: this thread closed it in the last pass, or before the run.
        unsafe { ends.theirs(0).open(By::Previous) };
        // SAFETY: this thread closed it when it received.
        unsafe { ends.ours(0).open(By::Own) };
    }
}

/// A mutex of the C library: to close it is to lock it.
#[repr(transparent)]
pub struct Mutex<const ADAPTIVE: bool>(Object<libc::pthread_mutex_t>);

// SAFETY: it has no files.
unsafe impl<const ADAPTIVE: bool> Bar for Mutex<ADAPTIVE> {
    const NEW: Self = Mutex(Object::uninit());

    unsafe fn establish(&self, machine: bool) -> Result<(), Error> {
        let kind = if ADAPTIVE { Kind::Adaptive } else { Kind::Normal };
        // SAFETY: the caller vouches that it is not in use, and stays where it is.
        unsafe { initialise(self.0.raw(), kind, machine) }
    }

    #[inline]
    unsafe fn close(&self, _: By) {
        // SAFETY: it was initialised, and this thread does not hold it.
        let refused = unsafe { libc::pthread_mutex_lock(self.0.raw()) };
        debug_assert_eq!(refused, 0);
    }

    #[inline]
    unsafe fn open(&self, _: By) {
        // SAFETY: this thread holds it.
        let refused = unsafe { libc::pthread_mutex_unlock(self.0.raw()) };
        debug_assert_eq!(refused, 0);
    }
}

/// A condition variable of the C library, with its mutex and what it is about: whether the bar is closed.
pub struct Condition {
    mutex: Mutex<false>,
    bell: Object<libc::pthread_cond_t>,
    closed: UnsafeCell<bool>,
}

// SAFETY: only the holder of the mutex uses the flag.
unsafe impl Sync for Condition {}

// SAFETY: it has no files.
unsafe impl Bar for Condition {
    const NEW: Self = Condition { mutex: Mutex::NEW, bell: Object::uninit(), closed: UnsafeCell::new(false) };

    unsafe fn establish(&self, machine: bool) -> Result<(), Error> {
        // SAFETY: the caller vouches for the whole.
        unsafe { self.mutex.establish(machine) }?;
        // SAFETY: the caller vouches that it is not in use, and stays where it is.
        unsafe { crate::sys::pthread::initialise_condvar(self.bell.raw(), machine) }
    }

    #[inline]
    unsafe fn close(&self, _: By) {
        // SAFETY: the mutex was initialised, and no thread keeps it beyond these two functions.
        unsafe { self.mutex.close(By::Own) };
        // SAFETY: this thread holds the mutex, which the flag belongs to.
        while unsafe { ptr::read(self.closed.get()) } {
            // SAFETY: both were initialised, and this thread holds the mutex.
            unsafe { libc::pthread_cond_wait(self.bell.raw(), self.mutex.0.raw()) };
        }
        // SAFETY: this thread holds the mutex, which the flag belongs to.
        unsafe { ptr::write(self.closed.get(), true) };
        // SAFETY: this thread holds it.
        unsafe { self.mutex.open(By::Own) };
    }

    #[inline]
    unsafe fn open(&self, _: By) {
        // SAFETY: the mutex was initialised, and no thread keeps it beyond these two functions.
        unsafe { self.mutex.close(By::Own) };
        // SAFETY: this thread holds the mutex, which the flag belongs to.
        unsafe { ptr::write(self.closed.get(), false) };
        // Signalled while the mutex is held, as libMicro does it by default.
        // SAFETY: it was initialised.
        unsafe { libc::pthread_cond_signal(self.bell.raw()) };
        // SAFETY: this thread holds it.
        unsafe { self.mutex.open(By::Own) };
    }
}

/// A mutex of parking_lot.
pub struct ParkingLot(parking_lot::RawMutex);

// SAFETY: it has no files.
unsafe impl Bar for ParkingLot {
    const NEW: Self = ParkingLot(parking_lot::RawMutex::INIT);

    unsafe fn establish(&self, _: bool) -> Result<(), Error> {
        Ok(())
    }

    #[inline]
    unsafe fn close(&self, _: By) {
        self.0.lock();
    }

    #[inline]
    unsafe fn open(&self, _: By) {
        // SAFETY: this thread holds it.
        unsafe { self.0.unlock() };
    }
}

/// A mutex of Rust's standard library, with the guard of the one that holds it.
pub struct Standard {
    mutex: sync::Mutex<()>,
    guard: UnsafeCell<MaybeUninit<MutexGuard<'static, ()>>>,
}

// SAFETY: only the holder of the mutex uses the guard.
unsafe impl Sync for Standard {}
// SAFETY: the guard is used by the thread that took the mutex alone, and is none before a run and after it.
unsafe impl Send for Standard {}

// SAFETY: it has no files.
unsafe impl Bar for Standard {
    const NEW: Self = Standard { mutex: sync::Mutex::new(()), guard: UnsafeCell::new(MaybeUninit::uninit()) };

    unsafe fn establish(&self, _: bool) -> Result<(), Error> {
        Ok(())
    }

    #[inline]
    unsafe fn close(&self, _: By) {
        let guard = self.mutex.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the guard is given back before the mutex goes, since the thread that closes it opens it.
        let guard = unsafe { mem::transmute::<MutexGuard<'_, ()>, MutexGuard<'static, ()>>(guard) };
        // SAFETY: this thread holds the mutex, which the place belongs to.
        unsafe { ptr::write(self.guard.get(), MaybeUninit::new(guard)) };
    }

    #[inline]
    unsafe fn open(&self, _: By) {
        // SAFETY: this thread holds the mutex, which the place belongs to.
        let guard = unsafe { ptr::read(self.guard.get()) };
        // SAFETY: this thread wrote it when it closed the bar.
        drop(unsafe { guard.assume_init() });
    }
}
