//! How long a program may have waited for the reader of its output.

use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::io::ioctl_fionread;
use rustix::pipe::{fcntl_getpipe_size, fcntl_setpipe_size};

/// What the pipe of standard output holds, where the system allows it: a program waits for its reader less often.
const ROOM: usize = 1 << 18;

/// The pipes of a program.
#[derive(Debug, Default)]
pub struct Reading {
    /// What arrived.
    pub bytes: u64,
    /// How long nothing was read while a pipe may have been full.
    pub unread: Duration,
    /// So much of each pipe is full at least when no more can be written.
    full: [u64; 2],
}

impl Reading {
    pub fn of(outputs: &[Option<OwnedFd>; 2], is_wide: bool) -> Self {
        if let Some(output) = outputs[0].as_ref().filter(|_| is_wide) {
            let _ = fcntl_setpipe_size(output, ROOM);
        }
        // A page takes no more where the next write does not fit, so two pages together hold more than one.
        let full = |output: &Option<OwnedFd>| {
            output.as_ref().and_then(|output| fcntl_getpipe_size(output).ok()).map_or(u64::MAX, |size| size as u64 / 2)
        };
        Reading { full: outputs.each_ref().map(full), ..Reading::default() }
    }

    /// Nothing was read for so long, up to now.
    pub fn look(&mut self, outputs: &[Option<OwnedFd>; 2], away: Duration) {
        let is_full = |(output, full): (&Option<OwnedFd>, &u64)| {
            output.as_ref().is_some_and(|output| ioctl_fionread(output).is_ok_and(|bytes| bytes >= *full))
        };
        if outputs.iter().zip(&self.full).any(is_full) {
            self.unread += away;
        }
    }
}
