//! Interrupting the other CPUs on which threads of this process run, by making them pass a barrier of memory.

use crate::kernel::Error;

/// Asks the system to do so for this process. An older one refuses it.
pub fn register() -> Result<(), Error> {
    call(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED)
}

/// Interrupts each, and returns when all have passed the barrier.
pub fn interrupt() -> Result<(), Error> {
    call(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED)
}

fn call(command: libc::c_int) -> Result<(), Error> {
    // SAFETY: the call takes two numbers and no memory.
    match unsafe { libc::syscall(libc::SYS_membarrier, command, 0) } {
        0 => Ok(()),
        _ => Err(Error::Unavailable(format!("membarrier: {}", std::io::Error::last_os_error()))),
    }
}
