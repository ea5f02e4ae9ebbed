//! Bars that are locks of files, which the system keeps: every closing and opening is a call.

use std::ffi::CString;
use std::io;
use std::marker::PhantomData;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicI32, Ordering};

use super::cascade::{Bar, By};
use crate::kernel::Error;

/// A way to lock a file.
pub trait Lock: Sync + Send + 'static {
    /// Takes the lock, for which it waits, or gives it back. Returns what the system call does.
    fn set(file: RawFd, closed: bool) -> libc::c_int;
}

/// flock(2): the lock belongs to an opening of the file.
pub struct Flock;

/// fcntl(2) on the first byte, by locks that belong to an opening of the file (`F_OFD_SETLKW`).
pub struct Fcntl;

/// lockf(3) on the first byte: the lock belongs to a process.
pub struct Lockf;

impl Lock for Flock {
    #[inline]
    fn set(file: RawFd, closed: bool) -> libc::c_int {
        // SAFETY: the call touches no memory of this process.
        unsafe { libc::flock(file, if closed { libc::LOCK_EX } else { libc::LOCK_UN }) }
    }
}

impl Lock for Fcntl {
    #[inline]
    fn set(file: RawFd, closed: bool) -> libc::c_int {
        let kind = if closed { libc::F_WRLCK } else { libc::F_UNLCK };
        // SAFETY: zeros are a value of this record of numbers; owners of openings have process number 0.
        let mut lock: libc::flock = unsafe { std::mem::zeroed() };
        (lock.l_type, lock.l_whence, lock.l_len) = (kind as _, libc::SEEK_SET as _, 1);
        // SAFETY: the call reads one such record.
        unsafe { libc::fcntl(file, libc::F_OFD_SETLKW, &raw const lock) }
    }
}

impl Lock for Lockf {
    #[inline]
    fn set(file: RawFd, closed: bool) -> libc::c_int {
        // SAFETY: the call touches no memory of this process.
        unsafe { libc::lockf(file, if closed { libc::F_LOCK } else { libc::F_ULOCK }, 1) }
    }
}

/// Lets this process open as many files as it may at most: four for each participant are more than the usual 1024 where there are 256.
fn raise_limit() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the call writes one such record.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) } == 0 {
        limit.rlim_cur = limit.rlim_max;
        // Where it is refused, so is a file in the end, which says what to do.
        // SAFETY: the call reads one such record.
        unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) };
    }
}

/// A file in memory, without a name, that is open once for each of the two participants that lock it.
pub struct File<L> {
    openings: [AtomicI32; 2],
    lock: PhantomData<L>,
}

const CLOSED: RawFd = -1;

impl<L: Lock> File<L> {
    fn set(&self, by: By, closed: bool) {
        // Relaxed: it was set before participants were made.
        let file = self.openings[by as usize].load(Ordering::Relaxed);
        // A signal interrupts the wait for a lock. Any other error would come again, so the participant goes on without the lock: it finds a
        // token that is not its own, which makes the run void.
        while L::set(file, closed) != 0 && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted {}
    }
}

// SAFETY: it has opened them, and nothing else has their numbers.
unsafe impl<L: Lock> Bar for File<L> {
    const NEW: Self = File { openings: [const { AtomicI32::new(CLOSED) }; 2], lock: PhantomData };

    unsafe fn establish(&self, _: bool) -> Result<(), Error> {
        raise_limit();
        let opened = |file: RawFd| match file {
            CLOSED => Err(Error::Refused(format!(
                "the system gives no file to lock ({}): ask for fewer threads, or for more open files (`ulimit -n`)",
                io::Error::last_os_error()
            ))),
            file => Ok(file),
        };
        // SAFETY: the name ends with a zero.
        let first = opened(unsafe { libc::memfd_create(c"charz-ring".as_ptr(), libc::MFD_CLOEXEC) })?;
        self.openings[0].store(first, Ordering::Relaxed);
        let again = CString::new(format!("/proc/self/fd/{first}")).expect("no zero in it");
        // SAFETY: the name ends with a zero.
        let second = opened(unsafe { libc::open(again.as_ptr(), libc::O_RDWR | libc::O_CLOEXEC) })?;
        self.openings[1].store(second, Ordering::Relaxed);
        // Waiting knows no error but a signal's, so the system is asked once whether it has such locks.
        match [true, false].into_iter().find(|closed| L::set(first, *closed) != 0) {
            None => Ok(()),
            Some(_) => {
                Err(Error::Unavailable(format!("files cannot be locked so here: {}", io::Error::last_os_error())))
            }
        }
    }

    fn files(&self) -> &[AtomicI32] {
        &self.openings
    }

    #[inline]
    unsafe fn close(&self, by: By) {
        self.set(by, true);
    }

    #[inline]
    unsafe fn open(&self, by: By) {
        self.set(by, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file that was not opened cannot be locked, now or later.
    #[test]
    fn a_lasting_error_ends_the_wait() {
        let bar = File::<Flock>::NEW;
        bar.set(By::Own, true);
    }
}
