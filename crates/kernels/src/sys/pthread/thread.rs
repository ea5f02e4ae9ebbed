//! Threads of the C library, made without anything around.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::ptr;
use std::sync::Arc;

use super::check;
use crate::kernel::Error;

/// What a new thread does, from its first instruction on.
pub trait Enter: Send + Sync + 'static {
    /// Runs on the new thread. A panic ends the process, since no caller can catch it.
    fn enter(&self);
}

pub struct Attributes {
    /// They stay where they were initialised.
    raw: Pin<Box<MaybeUninit<libc::pthread_attr_t>>>,
    detached: bool,
}

impl Attributes {
    /// Threads with so many bytes of stack, to be joined or detached, on the strands of `mask`, or without one on those of
    /// the thread that makes them.
    pub fn new(stack: usize, detached: bool, mask: Option<&Mask>) -> Result<Self, Error> {
        let mut raw = Box::pin(MaybeUninit::uninit());
        // SAFETY: the memory is for attributes, and this function's own.
        check("pthread_attr_init", unsafe { libc::pthread_attr_init(raw.as_mut_ptr()) })?;
        // Made only now: dropping destroys what was initialised.
        let mut attributes = Attributes { raw, detached };
        let kind = if detached { libc::PTHREAD_CREATE_DETACHED } else { libc::PTHREAD_CREATE_JOINABLE };
        // SAFETY: the attributes were initialised.
        let code = unsafe { libc::pthread_attr_setdetachstate(attributes.raw.as_mut_ptr(), kind) };
        check("pthread_attr_setdetachstate", code)?;
        // SAFETY: the attributes were initialised.
        let code = unsafe { libc::pthread_attr_setstacksize(attributes.raw.as_mut_ptr(), stack) };
        check("pthread_attr_setstacksize", code)?;
        if let Some(mask) = mask {
            let (bytes, set) = (size_of_val(&*mask.0), mask.0.as_ptr().cast());
            // SAFETY: the attributes were initialised, and the mask has as many bytes as it is said to have; they are copied.
            let code = unsafe { libc::pthread_attr_setaffinity_np(attributes.raw.as_mut_ptr(), bytes, set) };
            check("pthread_attr_setaffinity_np", code)?;
        }
        Ok(attributes)
    }
}

impl Drop for Attributes {
    fn drop(&mut self) {
        // SAFETY: they were initialised, and are not used any more.
        unsafe { libc::pthread_attr_destroy(self.raw.as_mut_ptr()) };
    }
}

/// A thread that was made. Dropping it waits for its end, unless it is detached.
#[must_use]
pub struct Thread {
    joinable: Option<libc::pthread_t>,
}

impl Drop for Thread {
    fn drop(&mut self) {
        if let Some(thread) = self.joinable {
            // SAFETY: the thread was made to be joined, and is joined once, here.
            unsafe { libc::pthread_join(thread, ptr::null_mut()) };
        }
    }
}

#[inline]
pub fn create<T: Enter>(attributes: &Attributes, here: Arc<T>) -> Result<Thread, Error> {
    let (argument, mut thread) = (Arc::into_raw(here), MaybeUninit::uninit());
    let (start, given): (extern "C" fn(*mut c_void) -> *mut c_void, _) = (start::<T>, argument.cast_mut().cast());
    // SAFETY: the attributes were initialised; the function takes over the argument, which may be used by any thread; the
    // memory is for the thread's number.
    let code = unsafe { libc::pthread_create(thread.as_mut_ptr(), attributes.raw.as_ptr(), start, given) };
    if code != 0 {
        // SAFETY: it came from `into_raw`, and no thread was made that would take it.
        drop(unsafe { Arc::from_raw(argument) });
    }
    check("pthread_create", code)?;
    // SAFETY: the call succeeded, and wrote the number.
    let thread = unsafe { thread.assume_init() };
    Ok(Thread { joinable: (!attributes.detached).then_some(thread) })
}

extern "C" fn start<T: Enter>(given: *mut c_void) -> *mut c_void {
    // SAFETY: `create` made it of an `Arc<T>`, and gave it to this thread alone.
    let here = unsafe { Arc::from_raw(given.cast_const().cast::<T>()) };
    here.enter();
    ptr::null_mut()
}

/// Words of a mask: 8192 strands.
const WORDS: usize = 128;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mask(Box<[u64; WORDS]>);

impl Mask {
    /// The mask of the calling thread.
    pub fn own() -> Result<Self, Error> {
        let mut mask = Box::new([0; WORDS]);
        // SAFETY: the memory has as many bytes as is claimed; any bytes are valid.
        let code = unsafe { libc::sched_getaffinity(0, size_of_val(&*mask), mask.as_mut_ptr().cast()) };
        if code != 0 {
            return Err(Error::Refused(format!("sched_getaffinity failed: {}", std::io::Error::last_os_error())));
        }
        Ok(Mask(mask))
    }

    /// Adds the strands of the other.
    pub fn add(&mut self, other: &Mask) {
        self.0.iter_mut().zip(&*other.0).for_each(|(own, other)| *own |= other);
    }

    /// One strand, by its OS id. One beyond any mask is a mask of none, which no thread can have.
    pub fn of(strand: u32) -> Self {
        let mut mask = Box::new([0; WORDS]);
        if let Some(word) = mask.get_mut(strand as usize / 64) {
            *word = 1 << (strand % 64);
        }
        Mask(mask)
    }

    /// The strands, ascending.
    pub fn strands(&self) -> impl DoubleEndedIterator<Item = u32> {
        (0..WORDS as u32 * 64).filter(|strand| self.0[*strand as usize / 64] >> (strand % 64) & 1 == 1)
    }

    /// Makes it that of the calling thread, which is on one of its strands when this returns.
    pub fn bind(&self) -> Result<(), Error> {
        self.bind_thread(0)
    }

    /// Makes it that of the thread with this number, be it of another process, which is on one of its strands once it runs again; 0 is the
    /// calling thread.
    pub fn bind_thread(&self, thread: i32) -> Result<(), Error> {
        // SAFETY: the memory has as many bytes as is claimed, and is only read.
        let code = unsafe { libc::sched_setaffinity(thread, size_of_val(&*self.0), self.0.as_ptr().cast()) };
        match code {
            0 => Ok(()),
            _ => Err(Error::Refused(format!("sched_setaffinity failed: {}", std::io::Error::last_os_error()))),
        }
    }

    #[cfg(test)]
    pub fn none() -> Self {
        Mask(Box::new([0; WORDS]))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Sender, channel};

    use super::*;

    const STACK: usize = 256 << 10;

    struct Sends(Sender<Mask>);

    impl Enter for Sends {
        fn enter(&self) {
            self.0.send(Mask::own().unwrap()).unwrap();
        }
    }

    #[test]
    fn a_thread_starts_on_the_strands_of_its_attributes() {
        for (detached, mask) in [(false, None), (true, None), (false, Some(Mask::own().unwrap()))] {
            let attributes = Attributes::new(STACK, detached, mask.as_ref()).unwrap();
            let (tell, told) = channel();
            let thread = create(&attributes, Arc::new(Sends(tell))).unwrap();
            assert_eq!(told.recv(), Ok(Mask::own().unwrap()), "detached: {detached}");
            drop(thread);
        }
    }

    /// The system cuts a wider mask to the strands that there are only when the thread is made.
    #[test]
    fn strands_beyond_the_first_word_of_a_mask_are_kept() {
        let mut mask = Mask::none();
        (mask.0[0], mask.0[1], mask.0[WORDS - 1]) = (1, 1, 1 << 63);
        let attributes = Attributes::new(STACK, false, Some(&mask)).unwrap();
        let mut kept = Mask::none();
        let (bytes, set) = (size_of_val(&*kept.0), kept.0.as_mut_ptr().cast());
        // SAFETY: the attributes were initialised, and the mask has as many bytes as it is said to have.
        let code = unsafe { libc::pthread_attr_getaffinity_np(attributes.raw.as_ptr(), bytes, set) };
        assert_eq!((code, kept), (0, mask));
    }

    #[test]
    fn a_thread_is_bound_to_each_of_its_strands() {
        let own = Mask::own().unwrap();
        std::thread::spawn(move || {
            for strand in own.strands() {
                Mask::of(strand).bind().unwrap();
                assert_eq!(Mask::own(), Ok(Mask::of(strand)));
                assert_eq!(crate::sys::strand::current(), Some(strand));
            }
            assert!(matches!(Mask::of(u32::MAX).bind(), Err(Error::Refused(_))));
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_stack_without_room_is_refused() {
        assert!(matches!(Attributes::new(1, false, None), Err(Error::Refused(reason)) if reason.contains("stacksize")));
    }
}
