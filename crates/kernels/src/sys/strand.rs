//! Where the calling thread is.

/// The OS id of the strand that the calling thread is on at this moment, `None` if the system does not report it.
///
/// It costs some nanoseconds: the C library asks the kernel's shared page, or the area that the kernel keeps up to date
/// for each thread (`rseq`), and enters the kernel only where there is neither.
#[inline]
pub fn current() -> Option<u32> {
    // SAFETY: the call takes nothing and writes nothing of ours.
    u32::try_from(unsafe { libc::sched_getcpu() }).ok()
}
