//! The processor's counter of time: the time-stamp counter of x86, the virtual counter of Arm's generic timer.

/// Whether the calling thread can read the counter at all.
pub const AVAILABLE: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

/// The instruction of [`read`].
pub const PLAIN: &str = if cfg!(target_arch = "aarch64") { "mrs cntvct_el0" } else { "rdtsc" };

/// The instructions of [`read_ordered`].
pub const ORDERED: &str = if cfg!(target_arch = "aarch64") { "isb, mrs cntvct_el0" } else { "lfence, rdtsc" };

/// Whether there is [`read_waiting`].
pub fn waits() -> bool {
    #[cfg(target_arch = "x86_64")]
    let waits = crate::cpu::has_rdtscp();
    #[cfg(not(target_arch = "x86_64"))]
    let waits = false;
    waits
}

/// Reads the counter without a fence: possibly before earlier instructions are done, or after later ones.
#[inline(always)]
pub fn read() -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        let (low, high): (u64, u64);
        // SAFETY: every x86-64 processor has the instruction, and Linux leaves it to user space unless a process forbids it to itself.
        unsafe { std::arch::asm!("rdtsc", out("rax") low, out("rdx") high, options(nomem, nostack, preserves_flags)) };
        high << 32 | low
    }
    #[cfg(target_arch = "aarch64")]
    {
        let ticks: u64;
        // SAFETY: Linux leaves the virtual counter to user space, for its own shared page reads it there.
        unsafe { std::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack, preserves_flags)) };
        ticks
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        unreachable!("the counter of this architecture is not known, and AVAILABLE says so")
    }
}

/// Reads the counter once all earlier instructions are done.
#[inline(always)]
pub fn read_ordered() -> u64 {
    fence();
    read()
}

/// Reads the counter once all earlier instructions are done, by the one instruction that waits by itself.
#[inline(always)]
pub fn read_waiting() -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        let (low, high): (u64, u64);
        // SAFETY: the caller has asked `waits` before; otherwise the instruction ends the process, and spoils nothing.
        unsafe {
            std::arch::asm!(
                "rdtscp",
                out("rax") low,
                out("rdx") high,
                out("rcx") _,
                options(nomem, nostack, preserves_flags)
            );
        }
        high << 32 | low
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        read_ordered()
    }
}

/// Earlier instructions are done before later ones begin.
#[inline(always)]
fn fence() {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: every x86-64 processor has the instruction; it changes nothing.
        unsafe { std::arch::asm!("lfence", options(nostack, preserves_flags)) };
    }
    #[cfg(target_arch = "aarch64")]
    {
        // SAFETY: every processor of the architecture has the instruction; it changes nothing.
        unsafe { std::arch::asm!("isb", options(nostack, preserves_flags)) };
    }
}

/// The ticks of one call, between two readings that wait for earlier instructions and hold up later ones.
///
/// It is a function of its own, so a call of something else can fetch its code beforehand.
#[inline(never)]
pub fn time(call: extern "C" fn()) -> u64 {
    let start = read_ordered();
    fence();
    call();
    let end = read_ordered();
    fence();
    end.wrapping_sub(start)
}

#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests {
    use super::*;

    #[test]
    fn it_goes_forward() {
        let mut last = read_ordered();
        let readings: &[fn() -> u64] = if waits() { &[read_ordered, read_waiting] } else { &[read_ordered] };
        for read in readings.iter().cycle().take(1000) {
            let next = read();
            assert!(next >= last, "{next} after {last}");
            last = next;
        }
    }

    #[test]
    fn a_call_takes_time() {
        extern "C" fn sleep() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        assert!(time(sleep) > time(crate::sys::code::nothing));
    }
}
