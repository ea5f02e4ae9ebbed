//! Signals that this process gets on behalf of a program.

use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};

use charz_system::Status;
use signal_hook::flag::register_conditional_default;
use signal_hook_registry::{SigId, unregister};

use crate::sys::signals::{BY_SYSTEM, BYTES, report};

/// What ends programs or speaks to them, and SIGTSTP, on which a program may have to restore the terminal before it stops. The
/// others that stop keep their effect: they stop this process together with the program.
const RELAYED: [i32; 10] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGTERM,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGALRM,
    libc::SIGWINCH,
    libc::SIGTSTP,
    libc::SIGCONT,
];

/// No relay keeps signals any more: they do what they do by default. A handler that was there once stays (signal-hook-registry).
static OVER: AtomicBool = AtomicBool::new(false);

/// Keeps signals from ending or stopping this process, until it is dropped; a process has one at a time. Those that its parent left ignored
/// stay so, for the program too.
pub struct Relay {
    arrived: UnixStream,
    handlers: Vec<SigId>,
}

/// A signal that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrived {
    /// Its number, such as `SIGINT`.
    pub signal: i32,
    /// The system sent it to the whole process group, as a terminal does on `^C`: the program has it too, if it is in the group.
    pub to_group: bool,
}

impl Relay {
    /// Catches signals until it is dropped. An error if the system has no socket for it.
    pub fn catch() -> io::Result<Self> {
        let (arrived, sender) = UnixStream::pair()?;
        arrived.set_nonblocking(true)?;
        sender.set_nonblocking(true)?;
        OVER.store(false, Ordering::SeqCst);
        let status = Status::of_process();
        let mut relay = Relay { arrived, handlers: Vec::new() };
        for signal in RELAYED.into_iter().filter(|signal| !status.ignores(*signal)) {
            relay.handlers.push(report(signal, sender.try_clone()?)?);
            register_conditional_default(signal, &OVER)?;
        }
        Ok(relay)
    }

    /// Readable when a signal has arrived.
    #[must_use]
    pub fn wake(&self) -> BorrowedFd<'_> {
        self.arrived.as_fd()
    }

    /// The signals that have arrived since the last call.
    #[must_use]
    pub fn take(&self) -> Vec<Arrived> {
        let mut bytes = [0; 64 * BYTES];
        let count = (&self.arrived).read(&mut bytes).unwrap_or(0);
        let arrived = |pair: &[u8]| Arrived { signal: i32::from(pair[0]), to_group: pair[1] == BY_SYSTEM };
        bytes[..count].chunks_exact(BYTES).map(arrived).collect()
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        OVER.store(true, Ordering::SeqCst);
        self.handlers.drain(..).for_each(|handler| {
            unregister(handler);
        });
    }
}
