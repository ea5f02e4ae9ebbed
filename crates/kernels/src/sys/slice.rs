//! Asking not to lose the CPU inside a section: the time-slice extension of Linux 7.0 and later (`Documentation/userspace-api/rseq.rst`).
//!
//! A thread sets a byte of the area that it shares with the kernel (`rseq`). A kernel that would take the CPU away meanwhile sets the next
//! byte and waits some microseconds; who was given that time leaves the CPU by a call as soon as the section is over.

use std::ffi::CStr;
use std::io;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU8, Ordering, compiler_fence};

use super::heap::LINKED_STATICALLY;
use crate::kernel::Error;

/// `prctl`'s option, its two commands, and the bit of the second (`linux/prctl.h`).
const OPTION: libc::c_int = 79;
const GET: libc::c_ulong = 1;
const SET: libc::c_ulong = 2;
const ENABLE: libc::c_ulong = 1;
/// The system call `rseq_slice_yield`, which has this number on every architecture.
const YIELD: libc::c_long = 471;
/// Where [`Control`] begins in `struct rseq` (`linux/rseq.h`), and the length that an area with it has at least.
const CONTROL: isize = 28;
const AREA: libc::c_uint = 32;

/// What a thread asks of the kernel, and what the kernel gave.
#[derive(Debug, Default)]
#[repr(C)]
struct Control {
    request: AtomicU8,
    granted: AtomicU8,
}

/// The calling thread's way to ask for time. It stays on its thread.
#[derive(Debug)]
pub(crate) struct Slice<'a> {
    control: &'a Control,
    give_back: fn(),
    of_thread: PhantomData<*const ()>,
}

not_send!(Slice<'static>);

/// Whether the kernel knows of it, and the program can look the C library's area up by name.
pub(crate) fn check() -> Result<(), Error> {
    command(GET, 0)?;
    if cfg!(target_feature = "crt-static") {
        return Err(missing(format_args!("{LINKED_STATICALLY}; use a charz that was built from its source")));
    }
    Ok(())
}

impl Slice<'static> {
    /// Turns it on for the calling thread.
    pub(crate) fn here() -> Result<Self, Error> {
        command(SET, ENABLE)?;
        let control = own().ok_or_else(|| missing("the C library has no area for it (rseq), or none of 32 bytes"))?;
        Ok(Slice { control, give_back: yield_slice, of_thread: PhantomData })
    }
}

impl Slice<'_> {
    /// From now on, the CPU is asked for.
    #[inline]
    pub(crate) fn ask(&self) {
        self.control.request.store(1, Ordering::Relaxed);
        // The kernel looks at it on this thread's CPU, so only the compiler could move it.
        compiler_fence(Ordering::SeqCst);
    }

    /// It is no longer needed, and is given back if time was granted: to be called when others no longer wait for this thread.
    #[inline]
    pub(crate) fn end(&self) {
        compiler_fence(Ordering::SeqCst);
        self.control.request.store(0, Ordering::Relaxed);
        if self.control.granted.load(Ordering::Relaxed) != 0 {
            (self.give_back)();
        }
    }
}

fn command(command: libc::c_ulong, bits: libc::c_ulong) -> Result<(), Error> {
    const NOTHING: libc::c_ulong = 0;
    // SAFETY: the option takes numbers and no memory.
    match unsafe { libc::prctl(OPTION, command, bits, NOTHING, NOTHING) } {
        -1 => Err(missing(match io::Error::last_os_error() {
            error if error.raw_os_error() == Some(libc::EINVAL) => {
                "this kernel has none; Linux 7.0 and later can have it".into()
            }
            error if error.raw_os_error() == Some(libc::ENXIO) => {
                "the C library has registered no area for it (rseq)".into()
            }
            error => format!("it is turned off: {error}"),
        })),
        _ => Ok(()),
    }
}

fn missing(why: impl std::fmt::Display) -> Error {
    Error::Unavailable(format!("needs the time-slice extension: {why}"))
}

fn yield_slice() {
    // SAFETY: the call takes nothing and writes nothing of ours.
    unsafe { libc::syscall(YIELD) };
}

/// The control of the calling thread, in the area that the C library (glibc from 2.35) has registered for it.
fn own() -> Option<&'static Control> {
    let [offset, size] = [c"__rseq_offset", c"__rseq_size"].map(symbol);
    if offset.is_null() || size.is_null() {
        return None;
    }
    // SAFETY: glibc exports `__rseq_size` as an unsigned number that it has written before `main`; 0 where nothing is registered.
    let registered = unsafe { size.cast::<libc::c_uint>().read() } > 0;
    // SAFETY: glibc exports `__rseq_offset` as a distance that it has written before `main`.
    let offset = unsafe { offset.cast::<isize>().read() };
    const { assert!(CONTROL as usize + size_of::<Control>() <= AREA as usize) };
    if !registered {
        return None;
    }
    // SAFETY: the registered area lies at this distance from the thread's pointer, and has 32 bytes at least, as the kernel asks for.
    let control = unsafe { thread_pointer().offset(offset + CONTROL) }.cast::<Control>();
    // SAFETY: its bytes are written by the kernel and through atomics only, and it lives as long as the thread, which `Slice` does not leave.
    Some(unsafe { &*control })
}

fn symbol(name: &CStr) -> *mut libc::c_void {
    // SAFETY: the name ends in 0, as the call asks.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }
}

#[cfg(target_arch = "x86_64")]
fn thread_pointer() -> *const u8 {
    let pointer;
    // SAFETY: the first word of the thread's block is its own address (System V ABI, thread-local storage).
    unsafe { std::arch::asm!("mov {}, fs:0", out(reg) pointer, options(nostack, preserves_flags, readonly)) };
    pointer
}

#[cfg(target_arch = "aarch64")]
fn thread_pointer() -> *const u8 {
    let pointer;
    // SAFETY: reading the register of the thread's pointer changes nothing.
    unsafe { std::arch::asm!("mrs {}, tpidr_el0", out(reg) pointer, options(nomem, nostack, preserves_flags)) };
    pointer
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, AtomicUsize};

    use super::*;

    /// A kernel that grants one of two requests.
    #[test]
    fn the_time_is_asked_for_inside_only_and_given_back_where_it_was_granted() {
        static GIVEN_BACK: AtomicUsize = AtomicUsize::new(0);
        let control = Control::default();
        let give_back = || {
            GIVEN_BACK.fetch_add(1, Ordering::Relaxed);
        };
        let slice = Slice { control: &control, give_back, of_thread: PhantomData };
        for grants in [false, true] {
            slice.ask();
            assert_eq!(control.request.load(Ordering::Relaxed), 1);
            control.granted.store(u8::from(grants), Ordering::Relaxed);
            slice.end();
            assert_eq!(control.request.load(Ordering::Relaxed), 0);
            assert_eq!(GIVEN_BACK.load(Ordering::Relaxed), usize::from(grants));
        }
    }

    #[test]
    fn the_area_of_a_thread_is_its_own_and_has_its_cpu_before_the_control() {
        let here = || {
            let control = std::ptr::from_ref(own()?);
            // SAFETY: the number of the CPU stands 24 bytes before the control (`linux/rseq.h`), in the same area.
            let cpu = unsafe { control.cast::<u8>().sub(24) }.cast::<AtomicU32>();
            // SAFETY: as for the control, the kernel writes it and nothing of ours does otherwise.
            let cpu = unsafe { &*cpu };
            Some((control as usize, cpu.load(Ordering::Relaxed)))
        };
        let theirs = std::thread::scope(|scope| scope.spawn(here).join().unwrap());
        match here().zip(theirs) {
            Some(((ours, cpu), (theirs, _))) => {
                assert_ne!(ours, theirs);
                assert!(cpu < 1 << 20, "{cpu}");
            }
            None => assert!(here().is_none() && theirs.is_none(), "one thread has an area and another has none"),
        }
    }

    #[test]
    fn what_a_kernel_without_it_lacks_is_said() {
        match (check(), Slice::here()) {
            (Err(Error::Unavailable(why)), Err(_)) => assert!(why.contains("time-slice extension"), "{why}"),
            (checked, made) => assert_eq!(checked.is_ok(), made.is_ok()),
        }
    }
}
