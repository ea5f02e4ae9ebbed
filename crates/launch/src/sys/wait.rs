//! waitpid(2) for threads too, and for children of the calling thread only.

use std::io;

use libc::{c_int, pid_t};
use rustix::io::retry_on_intr;
use rustix::process::{Pid, WaitId, WaitIdOptions, WaitIdStatus, waitid};

/// The next change of a thread or process that the calling thread created or traces: its id and status; `None` if nothing changed.
pub fn any() -> io::Result<Option<(pid_t, c_int)>> {
    one(-1, libc::__WALL | libc::__WNOTHREAD)
}

/// The next change of this child: its end, or that a signal has stopped it.
pub fn child(pid: pid_t) -> io::Result<Option<c_int>> {
    Ok(one(pid, libc::WUNTRACED)?.map(|(_, status)| status))
}

/// Whether this child has ended, which it stays until [`child`] reports it. An error where the system refuses the call, or another part of
/// this process has waited for the child.
pub fn has_ended(pid: pid_t) -> io::Result<bool> {
    Ok(status(pid, WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)?.is_some())
}

/// The signal that has stopped this child since it was last asked for.
pub fn stop(pid: pid_t) -> Option<c_int> {
    status(pid, WaitIdOptions::STOPPED).ok()??.stopping_signal()
}

/// Waits until this child is stopped by ptrace(2), and leaves it so: the event, 0 for a signal that it is about to get, and the signal.
/// `None` at its end.
pub fn next_stop(pid: pid_t) -> Option<(c_int, c_int)> {
    let (id, options) = (Pid::from_raw(pid)?, WaitIdOptions::EXITED | WaitIdOptions::STOPPED | WaitIdOptions::NOWAIT);
    let stop = retry_on_intr(|| waitid(WaitId::Pid(id), options)).ok()??.trapping_signal()?;
    Some((stop >> 8, stop & 0xff))
}

fn status(pid: pid_t, options: WaitIdOptions) -> io::Result<Option<WaitIdStatus>> {
    let Some(pid) = Pid::from_raw(pid) else { return Ok(None) };
    Ok(waitid(WaitId::Pid(pid), options | WaitIdOptions::NOHANG)?)
}

fn one(pid: pid_t, options: c_int) -> io::Result<Option<(pid_t, c_int)>> {
    let mut status = 0;
    // SAFETY: `status` is an int that outlives the call.
    match unsafe { libc::waitpid(pid, &raw mut status, options | libc::WNOHANG) } {
        0 => Ok(None),
        -1 => match io::Error::last_os_error() {
            error if error.raw_os_error() == Some(libc::ECHILD) => Ok(None),
            error => Err(error),
        },
        pid => Ok(Some((pid, status))),
    }
}
