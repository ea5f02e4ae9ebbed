//! ptrace(2), as far as following threads needs it.

use std::io;

use libc::{c_int, c_long, c_void, pid_t};

/// The request's type differs between C libraries.
#[cfg(target_env = "musl")]
type Request = c_int;
#[cfg(not(target_env = "musl"))]
type Request = libc::c_uint;

/// Stop when a thread or process is created, and when a program is replaced; kill all when the tracer ends, however it does.
const BIRTHS: c_int = libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACEEXEC
    | libc::PTRACE_O_EXITKILL;

/// Follows a child that has not become its program yet, without stopping it. Its end causes no stop until [`follow_ends`].
pub fn seize(tid: pid_t) -> io::Result<()> {
    call(libc::PTRACE_SEIZE, tid, BIRTHS as usize).map(drop)
}

/// Stops a child where its program begins, until [`let_go`].
pub fn hold(tid: pid_t) -> io::Result<()> {
    call(libc::PTRACE_SEIZE, tid, (libc::PTRACE_O_TRACEEXEC | libc::PTRACE_O_EXITKILL) as usize).map(drop)
}

/// Lets a stopped one run on, and follows it no longer.
pub fn let_go(tid: pid_t) -> io::Result<()> {
    call(libc::PTRACE_DETACH, tid, 0).map(drop)
}

/// Stops this one, and all that it creates from now on, also at its end, when its counts can still be read.
pub fn follow_ends(tid: pid_t) -> io::Result<()> {
    call(libc::PTRACE_SETOPTIONS, tid, (BIRTHS | libc::PTRACE_O_TRACEEXIT) as usize).map(drop)
}

/// Lets a stopped thread run on, and delivers the signal to it unless that is 0.
pub fn resume(tid: pid_t, signal: c_int) -> io::Result<()> {
    call(libc::PTRACE_CONT, tid, signal as usize).map(drop)
}

/// Leaves a thread stopped that a stop signal has stopped, until SIGCONT.
pub fn listen(tid: pid_t) -> io::Result<()> {
    call(libc::PTRACE_LISTEN, tid, 0).map(drop)
}

/// What the event that stopped the thread is about: the id of a new thread, or that from before exec.
pub fn message(tid: pid_t) -> io::Result<pid_t> {
    let mut message: libc::c_ulong = 0;
    call(libc::PTRACE_GETEVENTMSG, tid, (&raw mut message) as usize)?;
    pid_t::try_from(message).map_err(io::Error::other)
}

fn call(request: Request, tid: pid_t, data: usize) -> io::Result<c_long> {
    let nowhere: *mut c_void = std::ptr::null_mut();
    // SAFETY: of the requests above only GETEVENTMSG writes to this process, one `unsigned long` where `data` points, and there its
    // caller has put one. The others take `data` for a number.
    match unsafe { libc::ptrace(request, tid, nowhere, data as *mut c_void) } {
        -1 => Err(io::Error::last_os_error()),
        done => Ok(done),
    }
}
