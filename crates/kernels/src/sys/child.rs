//! Processes that one thread forks, drives, and ends.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::RawFd;
use std::ptr;

/// A forked process. It ends at the latest when this is dropped, or with the thread that forked it.
pub struct Child {
    id: libc::pid_t,
    /// Whether its end was seen. The id may be another process's by then.
    gone: bool,
}

impl Child {
    /// Forks a process that does `body` and ends. It sits on the strands of the calling thread, takes no signal but the one
    /// that kills it, and keeps no file open but these, in ascending order, so a process that waits for a file to be closed does not wait for it.
    ///
    /// # Safety
    /// The other threads of this process do not run in the new one, and stay wherever they were: `body` waits for none of
    /// them. It takes no lock that one of them may hold, save those of the C library's allocator and of its
    /// `pthread_create`, which a fork leaves free.
    pub unsafe fn fork<F: FnOnce()>(files: &[RawFd], body: F) -> io::Result<Child> {
        let parent = std::process::id();
        let before = block_signals();
        // SAFETY: the caller vouches for what the new process does.
        let id = unsafe { libc::fork() };
        if id == 0 {
            let ends = Ends;
            lone(parent, files);
            body();
            drop(ends);
        }
        let error = io::Error::last_os_error();
        // SAFETY: the set was filled by the call that blocked the signals, and outlives this one.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, ptr::null_mut()) };
        match id {
            -1 => Err(error),
            id => Ok(Child { id, gone: false }),
        }
    }

    pub fn runs(&mut self) -> bool {
        if !self.gone {
            // SAFETY: the id is that of a child of ours that was not reaped yet; no status is asked for.
            let ended = unsafe { libc::waitpid(self.id, ptr::null_mut(), libc::WNOHANG) };
            self.gone = ended != 0;
        }
        !self.gone
    }

    /// Kills it and waits until it has ended.
    pub fn kill(&mut self) {
        if !self.runs() {
            return;
        }
        // SAFETY: the number is that of a child of ours: it is not free for others before its end is taken note of.
        unsafe { libc::kill(self.id, libc::SIGKILL) };
        self.wait();
    }

    /// Waits until it has ended, which was not seen before. Whether it did so by itself, and well.
    fn wait(&mut self) -> bool {
        let mut status = 0;
        // SAFETY: the id is that of a child of ours that was not reaped yet; there is room for a status.
        while unsafe { libc::waitpid(self.id, &raw mut status, 0) } == -1
            && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
        {}
        self.gone = true;
        libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0
    }
}

/// Forks a process that ends at once, and waits for its end. Whether it ended by itself, and well.
pub fn fork_and_wait() -> io::Result<bool> {
    // SAFETY: the process does nothing.
    Ok(unsafe { Child::fork(&[], || ()) }?.wait())
}

/// The number of this process, asked of the system by each call.
#[inline]
pub fn asked_id() -> u32 {
    // SAFETY: it takes nothing, and touches no memory.
    unsafe { libc::syscall(libc::SYS_getpid) as u32 }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Ends the process it is dropped in, be it by a panic, which must not unwind into what the parent's thread was doing.
struct Ends;

impl Drop for Ends {
    fn drop(&mut self) {
        // SAFETY: it ends the process at once, without anything that was registered for its exit.
        unsafe { libc::_exit(0) };
    }
}

/// Blocks every signal for this thread, and returns which ones were blocked before.
fn block_signals() -> libc::sigset_t {
    let (mut all, mut before) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    // SAFETY: the memory is for a set.
    unsafe { libc::sigfillset(all.as_mut_ptr()) };
    // SAFETY: the first set was filled, and the second is memory for one.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr()) };
    // SAFETY: the call fails for a first argument that does not exist only, and else has filled it.
    unsafe { before.assume_init() }
}

/// In the new process: ties its life to the thread that forked it, and lets go of all files but these.
fn lone(parent: u32, files: &[RawFd]) {
    // SAFETY: it takes two numbers, and touches no memory.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    // SAFETY: it takes nothing, and touches no memory.
    if u32::try_from(unsafe { libc::getppid() }) != Ok(parent) {
        drop(Ends); // The parent had died before the call above.
    }
    let close = |first: libc::c_uint, last: libc::c_uint| {
        // SAFETY: it takes three numbers; nothing that this process still does uses one of these files. Linux before 5.9 refuses it.
        unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
    };
    let mut first = 0;
    for &file in files {
        let file = file.unsigned_abs();
        if first < file {
            close(first, file - 1);
        }
        first = file + 1;
    }
    close(first, libc::c_uint::MAX);
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::Duration;

    use super::*;
    use crate::sys::futex::{self, Scope};
    use crate::sys::shared::Shared;

    #[test]
    fn a_child_writes_what_its_parent_reads_and_ends() {
        let word = Shared::new(1, || AtomicU32::new(0)).unwrap();
        // SAFETY: the child stores a word, and wakes who sleeps on it.
        let mut child = unsafe {
            Child::fork(&[], || {
                word[0].store(7, Ordering::Release);
                futex::wake(&word[0], 1, Scope::Machine);
            })
        }
        .unwrap();
        while word[0].load(Ordering::Acquire) == 0 {
            futex::wait(&word[0], 0, Scope::Machine, Duration::from_millis(50));
        }
        assert_eq!(word[0].load(Ordering::Relaxed), 7);
        while child.runs() {
            std::thread::yield_now();
        }
        child.kill();
    }

    #[test]
    fn a_child_that_never_ends_is_ended() {
        let never = AtomicU32::new(0);
        // SAFETY: the child sleeps.
        let child = unsafe {
            Child::fork(&[], || {
                loop {
                    futex::wait(&never, 0, Scope::Process, Duration::MAX);
                }
            })
        }
        .unwrap();
        let id = child.id;
        drop(child);
        // SAFETY: no signal is sent; it is only asked whether there is such a process.
        assert_eq!(unsafe { libc::kill(id, 0) }, -1);
    }
}
