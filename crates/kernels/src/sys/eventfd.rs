//! Counters of events that threads sleep on: eventfd(2).

use std::fs::File;
use std::io;
use std::os::fd::FromRawFd;

/// A counter that is 0: a write of 8 bytes adds to it, and a read sleeps until it is not 0, takes it, and sets it to 0.
///
/// # Errors
/// That of the system, where the process has no descriptor left.
pub fn new() -> io::Result<File> {
    // SAFETY: the call takes two numbers, and no pointer.
    let descriptor = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC) };
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is open, as the system has just made it.
    // SAFETY: nothing else owns it.
    Ok(unsafe { File::from_raw_fd(descriptor) })
}
