//! A child process that waits between its birth and its program, until its parent lets it go on.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Makes the child write its process id to `gate`, 4 bytes in the machine's order, and wait for one byte before it becomes the
/// program.
pub fn hold(command: &mut Command, gate: UnixStream) {
    let wait = move || {
        (&gate).write_all(&std::process::id().to_ne_bytes())?;
        (&gate).read_exact(&mut [0])
    };
    // SAFETY: between fork and exec the closure calls getpid, write and read and nothing else, which a signal handler may; it neither
    // takes memory nor locks.
    unsafe { command.pre_exec(wait) };
}
