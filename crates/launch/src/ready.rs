//! What a descriptor is ready for at this moment.

use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;

/// What it is ready for of these, and whether its other end is closed; nothing where the system does not say.
///
/// A signal that arrives meanwhile, as SIGCHLD does at any time, ends even a call that does not wait.
pub fn ready(end: &impl AsFd, what: PollFlags) -> PollFlags {
    let nothing = Timespec { tv_sec: 0, tv_nsec: 0 };
    let mut ends = [PollFd::new(end, what)];
    match retry_on_intr(|| poll(&mut ends, Some(&nothing))) {
        Ok(_) => ends[0].revents(),
        Err(_) => PollFlags::empty(),
    }
}
