//! Handlers that learn where a signal comes from.

use std::io::{self, Write};
use std::os::unix::net::UnixStream;

use libc::c_int;
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
