//! Handlers that learn where a signal comes from, and signals that are sent or blocked.

use std::io::{self, Write};
use std::os::unix::net::UnixStream;

use libc::c_int;
use rustix::process::{Pid, Signal, kill_process};
use signal_hook_registry::SigId;

/// What a handler writes for each signal.
pub const BYTES: usize = 2;
/// The second of these bytes, if the system sent it: the terminal, to the whole process group.
pub const BY_SYSTEM: u8 = 1;

/// From now on the signal does nothing but write its number, and whether the system sent it, into the stream.
pub fn report(signal: c_int, into: UnixStream) -> io::Result<SigId> {
    let handler = move |info: &libc::siginfo_t| {
        let by_system = u8::from(info.si_code == libc::SI_KERNEL);
        // Full only if hundreds of signals have not been read.
        let _ = (&into).write(&[signal as u8, by_system]);
    };
    // SAFETY: the handler calls write(2) on a stream that does not block and nothing else; it takes neither memory nor locks, and does
    // not panic.
    unsafe { signal_hook_registry::register_sigaction(signal, handler) }
}

/// To a process, or to that of a thread; one that has gone needs none.
pub fn send(pid: i32, signal: Signal) {
    let _ = Pid::from_raw(pid).map(|pid| kill_process(pid, signal));
}

/// Blocks a signal in the calling thread and in what it starts, or no longer does; whether it was blocked.
pub fn block(signal: c_int, blocked: bool) -> bool {
    let how = if blocked { libc::SIG_BLOCK } else { libc::SIG_UNBLOCK };
    let (set, mut before) = (1_u64 << (signal - 1), 0_u64);
    // SAFETY: the pointers are those of two sets as the kernel has them, of this size, which outlive the call.
    unsafe { libc::syscall(libc::SYS_rt_sigprocmask, how, &raw const set, &raw mut before, size_of_val(&set)) };
    before & set != 0
}
