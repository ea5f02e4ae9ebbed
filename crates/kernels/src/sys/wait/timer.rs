//! A timer of POSIX, whose signal its thread waits for.

use std::io;
use std::mem::zeroed;
use std::ptr;
use std::time::{Duration, Instant};

use crate::kernel::Error;
use crate::sys::clocks::timespec;

/// A timer of processor time that has not signalled so long after its time never will, but on a machine as busy as no other.
const LIMIT: Duration = Duration::from_secs(10);

/// A timer that signals the thread that made it, which must be the one that waits and the one that drops it: of `CLOCK_MONOTONIC`, or of
/// the thread's processor time, which passes only while the thread computes.
pub struct SignalTimer<const PROCESSOR: bool> {
    timer: libc::timer_t,
    signal: libc::sigset_t,
    /// The signals that the thread had blocked before.
    before: libc::sigset_t,
}

not_send!(SignalTimer<false>);

impl<const PROCESSOR: bool> SignalTimer<PROCESSOR> {
    pub fn new() -> Result<Self, Error> {
        // SAFETY: a set is made of integers, for which zeros are valid.
        let [mut signal, mut before]: [libc::sigset_t; 2] = unsafe { zeroed() };
        // SAFETY: the set is this function's own.
        unsafe { libc::sigemptyset(&raw mut signal) };
        // SAFETY: the set was emptied just now.
        unsafe { libc::sigaddset(&raw mut signal, libc::SIGRTMIN()) };
        // SAFETY: its fields are integers and a pointer that nothing follows, for which zeros are valid.
        let mut event: libc::sigevent = unsafe { zeroed() };
        (event.sigev_notify, event.sigev_signo) = (libc::SIGEV_THREAD_ID, libc::SIGRTMIN());
        // SAFETY: the call takes nothing.
        event.sigev_notify_thread_id = unsafe { libc::gettid() };
        let mut timer = ptr::null_mut();
        let clock = if PROCESSOR { libc::CLOCK_THREAD_CPUTIME_ID } else { libc::CLOCK_MONOTONIC };
        // SAFETY: the event outlives the call, and there is room for a timer.
        if unsafe { libc::timer_create(clock, &raw mut event, &raw mut timer) } != 0 {
            return Err(Error::Refused(format!("timer_create failed: {}", io::Error::last_os_error())));
        }
        // SAFETY: the sets outlive the call, and the second has room for what was blocked.
        unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const signal, &raw mut before) };
        Ok(SignalTimer { timer, signal, before })
    }

    /// `timer_settime` and `sigwaitinfo`, or `sigtimedwait` again and again.
    pub fn wait(&self, time: Duration) -> io::Result<bool> {
        let once = libc::itimerspec { it_interval: timespec(Duration::ZERO), it_value: timespec(time) };
        // SAFETY: the timer is this one's own, the time outlives the call, and the one before is not asked for.
        if unsafe { libc::timer_settime(self.timer, 0, &raw const once, ptr::null_mut()) } != 0 {
            return Err(io::Error::last_os_error());
        }
        let (at_once, limit) = (timespec(Duration::ZERO), Instant::now() + time + LIMIT);
        // Without a time it waits as long as it takes, as sigwaitinfo does.
        let patience = if PROCESSOR { &raw const at_once } else { ptr::null() };
        // Whatever else comes, the timer's signal is taken before the next is asked for.
        loop {
            // SAFETY: the set and the time were written, and what the signal says is not asked for.
            match unsafe { libc::sigtimedwait(&raw const self.signal, ptr::null_mut(), patience) } {
                -1 if io::Error::last_os_error().raw_os_error() == Some(libc::EINTR) => {}
                -1 if PROCESSOR && io::Error::last_os_error().kind() == io::ErrorKind::WouldBlock => {
                    if Instant::now() > limit {
                        return Err(io::ErrorKind::TimedOut.into());
                    }
                }
                -1 => return Err(io::Error::last_os_error()),
                _ => return Ok(true),
            }
        }
    }
}

impl<const PROCESSOR: bool> Drop for SignalTimer<PROCESSOR> {
    fn drop(&mut self) {
        // SAFETY: the timer is this one's own, and is not used again.
        unsafe { libc::timer_delete(self.timer) };
        // SAFETY: the set is what the thread had.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.before, ptr::null_mut()) };
    }
}
