//! A semaphore of System V.

use std::io;
use std::marker::PhantomData;
use std::ptr;
use std::time::Duration;

use crate::kernel::Error;
use crate::sys::clocks::timespec;
use crate::sys::wait::failed;

/// A set of one semaphore that is 0, in an IPC namespace of the calling thread's own: where the process is killed, the system removes
/// the set with the namespace.
pub struct SemaphoreSet {
    set: libc::c_int,
    /// On a thread of another namespace the number is that of another set (`!Send`).
    stays: PhantomData<*const ()>,
}

not_send!(SemaphoreSet);

impl SemaphoreSet {
    /// The calling thread stays in its new namespace.
    pub fn new() -> Result<Self, Error> {
        // SAFETY: the call touches no memory of this process.
        if unsafe { libc::unshare(libc::CLONE_NEWIPC) } != 0 {
            return Err(Error::Unavailable(format!(
                "semaphores of System V outlive a killed process, and an IPC namespace of its own was refused ({}): it takes CAP_SYS_ADMIN",
                io::Error::last_os_error()
            )));
        }
        // SAFETY: as before.
        match unsafe { libc::semget(libc::IPC_PRIVATE, 1, 0o600) } {
            -1 => Err(Error::Refused(format!("semget failed: {}", io::Error::last_os_error()))),
            set => Ok(SemaphoreSet { set, stays: PhantomData }),
        }
    }

    /// `semtimedop` that takes one from the semaphore.
    pub fn wait(&self, time: Duration) -> io::Result<bool> {
        let (mut take, time) = (libc::sembuf { sem_num: 0, sem_op: -1, sem_flg: 0 }, timespec(time));
        // SAFETY: the operation and the time outlive the call.
        let result = unsafe { semtimedop(self.set, &raw mut take, 1, &raw const time) };
        failed(result.into(), libc::EAGAIN)
    }
}

impl Drop for SemaphoreSet {
    fn drop(&mut self) {
        // SAFETY: the set is this one's own, in the namespace of this thread, which made it.
        unsafe { libc::semctl(self.set, 0, libc::IPC_RMID, ptr::null_mut::<libc::c_void>()) };
    }
}

// The `libc` crate has it on other systems only.
unsafe extern "C" {
    fn semtimedop(
        set: libc::c_int,
        operations: *mut libc::sembuf,
        count: libc::size_t,
        time: *const libc::timespec,
    ) -> libc::c_int;
}
