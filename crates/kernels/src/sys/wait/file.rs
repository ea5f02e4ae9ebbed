//! Waits for something to be read, where nothing will be but a time.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::process;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::{after, failed, millis, ready};
use crate::kernel::Error;
use crate::sys::clocks::timespec;

pub struct TimerFd(OwnedFd);

impl TimerFd {
    pub fn new() -> Result<Self, Error> {
        // SAFETY: the call takes numbers only.
        owned("timerfd_create", unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_CLOEXEC) }).map(TimerFd)
    }

    /// `timerfd_settime` and `read`.
    pub fn wait(&self, time: Duration) -> io::Result<bool> {
        let once = libc::itimerspec { it_interval: timespec(Duration::ZERO), it_value: timespec(time) };
        // SAFETY: the descriptor is open, the time outlives the call, and the one before is not asked for.
        if unsafe { libc::timerfd_settime(self.0.as_raw_fd(), 0, &raw const once, ptr::null_mut()) } != 0 {
            return Err(io::Error::last_os_error());
        }
        let mut times = [0_u8; 8];
        // SAFETY: the descriptor is open, and there is room for as many bytes as are asked for.
        let read = unsafe { libc::read(self.0.as_raw_fd(), times.as_mut_ptr().cast(), times.len()) };
        if read < 0 { failed(-1, 0) } else { Ok(u64::from_ne_bytes(times) > 0) }
    }
}

pub struct Epoll(OwnedFd);

impl Epoll {
    pub fn new() -> Result<Self, Error> {
        // SAFETY: the call takes a number only.
        owned("epoll_create1", unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) }).map(Epoll)
    }

    /// `epoll_wait`. Whole milliseconds: what is asked is rounded up.
    pub fn wait(&self, time: Duration) -> io::Result<bool> {
        let mut event = libc::epoll_event { events: 0, u64: 0 };
        // SAFETY: the descriptor is open, and there is room for one event.
        let result = unsafe { libc::epoll_wait(self.0.as_raw_fd(), &raw mut event, 1, millis(time)) };
        ready(result)
    }
}

/// A queue of messages of POSIX without any message, whose name is gone.
pub struct Queue(OwnedFd);

impl Queue {
    /// An error where the system was built without such queues, or the user has too many.
    pub fn new() -> Result<Self, Error> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let name = format!("/charz-{}-{}\0", process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let flags = libc::O_CREAT | libc::O_EXCL | libc::O_RDONLY | libc::O_CLOEXEC;
        // SAFETY: its fields are integers, for which zeros are valid.
        let mut room: libc::mq_attr = unsafe { std::mem::zeroed() };
        (room.mq_maxmsg, room.mq_msgsize) = (1, 1);
        // SAFETY: the name ends with a zero, and it and the room outlive the call; mode and room follow a flag that asks for them.
        let queue = unsafe { libc::mq_open(name.as_ptr().cast(), flags, 0o600, &raw const room) };
        let queue = owned("mq_open", queue)?;
        // SAFETY: the name ends with a zero, and outlives the call.
        unsafe { libc::mq_unlink(name.as_ptr().cast()) };
        Ok(Queue(queue))
    }

    /// `mq_timedreceive`.
    pub fn wait(&self, time: Duration) -> io::Result<bool> {
        let (mut message, until) = ([0_u8; 1], after(libc::CLOCK_REALTIME, time));
        let (room, none) = (message.as_mut_ptr().cast(), ptr::null_mut());
        // SAFETY: the queue is open, there is room for its longest message, and the time outlives the call.
        let result = unsafe { libc::mq_timedreceive(self.0.as_raw_fd(), room, message.len(), none, &raw const until) };
        failed(result as libc::c_long, libc::ETIMEDOUT)
    }
}

/// What a call made, which says -1 where it refuses.
fn owned(call: &str, descriptor: libc::c_int) -> Result<OwnedFd, Error> {
    if descriptor < 0 {
        return Err(Error::Refused(format!("{call} failed: {}", io::Error::last_os_error())));
    }
    // SAFETY: the call made it just now, and no other code has it; on Linux a queue of messages is a descriptor too.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}
