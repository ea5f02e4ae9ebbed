//! Sleeping on a word of memory: the system call that every lock of the C library and of Rust rests on.

use std::ptr;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use crate::sys::clocks::timespec;

/// Whether the word is in memory that other processes map too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Only this process waits and wakes, which is cheaper.
    Process,
    /// Others do too.
    Machine,
}

impl Scope {
    fn flag(self) -> libc::c_int {
        match self {
            Scope::Process => libc::FUTEX_PRIVATE_FLAG,
            Scope::Machine => 0,
        }
    }
}

/// Sleeps until another thread wakes this word, as long as it holds `seen`, at most `patience`, but without end if that is
/// `Duration::MAX`. It may also return for no reason: the caller looks at the word again. Returns the result of the call: -1, with `errno`
/// set, if it was not woken.
pub fn wait(word: &AtomicU32, seen: u32, scope: Scope, patience: Duration) -> libc::c_long {
    // A time to wake at costs a timer, which is set and cancelled.
    let timeout = (patience < Duration::MAX).then(|| timespec(patience));
    let timeout = timeout.as_ref().map_or(ptr::null(), ptr::from_ref);
    let operation = libc::FUTEX_WAIT | scope.flag();
    // SAFETY: the word is valid for as long as the reference is, which is longer than the call; it is aligned to 4 bytes; the
    // kernel only reads it, atomically.
    // SAFETY: a timeout outlives the call, and null is none.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), operation, seen, timeout) }
}

/// Wakes at most `most` of those who sleep on the word, and returns how many they were.
pub fn wake(word: &AtomicU32, most: u32, scope: Scope) -> usize {
    let operation = libc::FUTEX_WAKE | scope.flag();
    let most = i32::try_from(most).unwrap_or(i32::MAX);
    // SAFETY: the word's address is only looked up; nothing is read or written there.
    let woken = unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), operation, most) };
    usize::try_from(woken).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_has_changed_puts_no_thread_to_sleep() {
        let word = AtomicU32::new(1);
        wait(&word, 0, Scope::Process, Duration::from_secs(3600));
        assert_eq!(wake(&word, 1, Scope::Process), 0);
    }
}
