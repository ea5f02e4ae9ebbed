//! waitpid(2) for threads too, and for children of the calling thread only.

use std::io;
use std::mem;

use charz_data::report::Counts;
use libc::{c_int, pid_t};
use rustix::io::retry_on_intr;
use rustix::process::{Pid, WaitId, WaitIdOptions, WaitIdStatus, waitid};

/// What a process, with those that it has waited for, has used in the end.
#[derive(Clone, Copy, Debug)]
pub struct Used(libc::rusage);

impl Used {
    /// As counts of a thread: what they do not have is `None`.
    pub fn counts(&self) -> Counts {
        let ns =
            |time: libc::timeval| time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_usec.cast_unsigned() * 1000;
        let Used(used) = self;
        Counts {
            cpu_ns: Some(ns(used.ru_utime).saturating_add(ns(used.ru_stime))),
            involuntary_switches: u64::try_from(used.ru_nivcsw).ok(),
            minor_faults: u64::try_from(used.ru_minflt).ok(),
            major_faults: u64::try_from(used.ru_majflt).ok(),
            ..Counts::default()
        }
    }
}

/// The next change of a thread or process that the calling thread created or traces: its id, status and use; `None` if nothing changed.
pub fn any() -> io::Result<Option<(pid_t, c_int, Used)>> {
    one(-1, libc::__WALL | libc::__WNOTHREAD)
}

/// The next change of this child: its end, or that a signal has stopped it.
pub fn child(pid: pid_t) -> io::Result<Option<(c_int, Used)>> {
    Ok(one(pid, libc::WUNTRACED)?.map(|(_, status, used)| (status, used)))
}

/// What one child of this process group has used that has ended, which is then reaped.
pub fn one_of_group(group: pid_t) -> Option<Used> {
    let ended = |(_, status, used): (pid_t, c_int, Used)| (!libc::WIFSTOPPED(status)).then_some(used);
    one(-group, 0).ok().flatten().and_then(ended)
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

fn one(pid: pid_t, options: c_int) -> io::Result<Option<(pid_t, c_int, Used)>> {
    let mut status = 0;
    // SAFETY: all zeros is a value of this type, which has numbers only.
    let mut used: libc::rusage = unsafe { mem::zeroed() };
    // SAFETY: `status` is an int and `used` a usage; both outlive the call.
    match unsafe { libc::wait4(pid, &raw mut status, options | libc::WNOHANG, &raw mut used) } {
        0 => Ok(None),
        -1 => match io::Error::last_os_error() {
            error if error.raw_os_error() == Some(libc::ECHILD) => Ok(None),
            error => Err(error),
        },
        pid => Ok(Some((pid, status, Used(used)))),
    }
}
