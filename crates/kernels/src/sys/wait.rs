//! Calls that return when a time is over, or before it only for no reason.
//!
//! Each takes the time from now on, and says whether it is over: `false` when a signal or nothing at all ended the call.

use std::io;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use crate::sys::clocks::timespec;
use crate::sys::futex::{self, Scope};

mod file;
mod lock;
mod set;
mod timer;

pub use file::{Epoll, Queue, TimerFd};
pub use lock::{Bell, Lock, RwLock, Semaphore};
pub use set::SemaphoreSet;

pub type WallTimer = timer::SignalTimer<false>;
pub type ProcessorTimer = timer::SignalTimer<true>;

/// `poll` of nothing. Whole milliseconds: what is asked is rounded up.
pub fn poll(time: Duration) -> io::Result<bool> {
    // SAFETY: there are no descriptors, so nothing is read or written.
    let result = unsafe { libc::poll(ptr::null_mut(), 0, millis(time)) };
    ready(result)
}

/// `ppoll` of nothing.
pub fn ppoll(time: Duration) -> io::Result<bool> {
    let time = timespec(time);
    // SAFETY: there are no descriptors and no mask, and the time outlives the call.
    let result = unsafe { libc::ppoll(ptr::null_mut(), 0, &raw const time, ptr::null()) };
    ready(result)
}

/// `select` of nothing. Whole microseconds: what is asked is rounded up.
pub fn select(time: Duration) -> io::Result<bool> {
    let micros = time.as_nanos().div_ceil(1000);
    let mut time = libc::timeval {
        tv_sec: libc::time_t::try_from(micros / 1_000_000).unwrap_or(libc::time_t::MAX),
        tv_usec: (micros % 1_000_000) as libc::suseconds_t,
    };
    let none = ptr::null_mut();
    // SAFETY: there are no descriptors, and the time outlives the call, which may write to it.
    let result = unsafe { libc::select(0, none, none, none, &raw mut time) };
    ready(result)
}

pub fn nanosleep(time: Duration) -> io::Result<bool> {
    let time = timespec(time);
    // SAFETY: the time outlives the call, and what is left of it is not asked for.
    let result = unsafe { libc::nanosleep(&raw const time, ptr::null_mut()) };
    ready(result)
}

/// `clock_nanosleep` until a time of `CLOCK_MONOTONIC`.
pub fn clock_nanosleep(time: Duration) -> io::Result<bool> {
    let until = after(libc::CLOCK_MONOTONIC, time);
    let (clock, flags) = (libc::CLOCK_MONOTONIC, libc::TIMER_ABSTIME);
    // SAFETY: the time outlives the call, and what is left of it is not asked for.
    let code = unsafe { libc::clock_nanosleep(clock, flags, &raw const until, ptr::null_mut()) };
    coded(code, 0)
}

/// `sigtimedwait` for no signal.
pub fn sigtimedwait(time: Duration) -> io::Result<bool> {
    let time = timespec(time);
    let mut none = MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: there is room for a set.
    unsafe { libc::sigemptyset(none.as_mut_ptr()) };
    // SAFETY: the set was written, the time outlives the call, and what a signal says is not asked for.
    let result = unsafe { libc::sigtimedwait(none.as_ptr(), ptr::null_mut(), &raw const time) };
    failed(result.into(), libc::EAGAIN)
}

/// `FUTEX_WAIT` on a word that does not change.
pub fn futex(time: Duration) -> io::Result<bool> {
    failed(futex::wait(&AtomicU32::new(0), 0, Scope::Process, time), libc::ETIMEDOUT)
}

/// `std::thread::park_timeout`, which may return for no reason, and does not say so.
pub fn park(time: Duration) -> io::Result<bool> {
    std::thread::park_timeout(time);
    Ok(true)
}

/// Whole milliseconds that are no shorter.
fn millis(time: Duration) -> libc::c_int {
    libc::c_int::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(libc::c_int::MAX)
}

/// The time of this clock so much from now on.
fn after(clock: libc::clockid_t, time: Duration) -> libc::timespec {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: there is room for a time.
    unsafe { libc::clock_gettime(clock, &raw mut now) };
    let since = Duration::new(u64::try_from(now.tv_sec).unwrap_or(0), u32::try_from(now.tv_nsec).unwrap_or(0));
    timespec(since.saturating_add(time))
}

/// Of calls that return how much is ready: nothing, once the time is over.
fn ready(result: libc::c_int) -> io::Result<bool> {
    match result {
        0 => Ok(true),
        -1 => failed(-1, 0),
        _ => Ok(false),
    }
}

/// Of calls that fail with `over` in `errno` once the time is over.
fn failed(result: libc::c_long, over: libc::c_int) -> io::Result<bool> {
    if result != -1 {
        return Ok(false);
    }
    let error = io::Error::last_os_error();
    coded(error.raw_os_error().unwrap_or(0), over)
}

/// Of calls that return `over` once the time is over.
fn coded(code: libc::c_int, over: libc::c_int) -> io::Result<bool> {
    match code {
        code if code == over => Ok(true),
        0 | libc::EINTR => Ok(false),
        code => Err(io::Error::from_raw_os_error(code)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_call_says() {
        assert!(coded(libc::ETIMEDOUT, libc::ETIMEDOUT).unwrap());
        assert!(coded(0, 0).unwrap());
        for nothing in [0, libc::EINTR] {
            assert!(!coded(nothing, libc::ETIMEDOUT).unwrap());
        }
        assert_eq!(coded(libc::EPERM, libc::ETIMEDOUT).unwrap_err().raw_os_error(), Some(libc::EPERM));
        assert!(!ready(1).unwrap() && ready(0).unwrap());
    }

    #[test]
    fn what_is_asked_is_rounded_up() {
        assert_eq!(millis(Duration::from_nanos(1)), 1);
        assert_eq!(millis(Duration::from_millis(7)), 7);
        assert_eq!(millis(Duration::MAX), libc::c_int::MAX);
    }
}
