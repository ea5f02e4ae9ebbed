//! Activities that borrow from the thread that waits for them.
//!
//! The compiler cannot see that another thread is done with a borrow; [`each`] returns only when every activity has ended, which makes the
//! borrows good. `std::thread::scope` gives the same promise for threads that end, as these do not.

use std::cell::{Cell, UnsafeCell};
use std::marker::PhantomData;
use std::mem::{self, MaybeUninit};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{array, thread};

/// Activities that have not ended. What the waiting thread ends itself takes no exchange.
pub struct Left {
    /// Those, and the ones that have ended `here`.
    left: AtomicU32,
    /// Ended on the waiting thread, of which `left` does not know yet. Used by that thread alone.
    here: Cell<u32>,
    thread: usize,
}

impl Left {
    #[inline]
    fn is_none(&self) -> bool {
        // Acquire, here and below: what the activities wrote is seen by who finds none left.
        self.left.load(Ordering::Acquire) == self.here.get()
    }

    /// Whether there are none. If there are, the last of them finds that it is the last: to be asked before the waiting thread sleeps.
    pub fn settle(&self) -> bool {
        let here = self.here.take();
        self.left.fetch_sub(here, Ordering::AcqRel) == here
    }
}

/// A number that no other living thread has.
#[inline]
fn this_thread() -> usize {
    thread_local!(static OWN: u8 = const { 0 });
    OWN.with(|own| ptr::from_ref(own).addr())
}

/// What the activities of a fork share, whatever they do.
struct Head<H> {
    left: Left,
    /// The thread that waits.
    parent: u32,
    /// Runs the activity with this number of the fork whose head this is.
    run: unsafe fn(NonNull<Head<H>>, usize, &H),
}

/// The head comes first: a pointer to it is one to the whole.
#[repr(C)]
struct Fork<T, F, H, const N: usize> {
    head: Head<H>,
    parts: [UnsafeCell<MaybeUninit<T>>; N],
    work: F,
}

/// An activity that any thread may run, once, with its own hand. One that is dropped counts as ended.
pub struct Job<H> {
    ending: Ending<H>,
    number: usize,
}

// SAFETY: parts are `Send` and the work is `Sync`, as `each` asks for; a hand is that of the thread that runs the job.
unsafe impl<H> Send for Job<H> {}

/// That an activity has been run and its end is to be counted, by `end` or by dropping it.
pub struct Ending<H> {
    head: NonNull<Head<H>>,
    /// It is as good as a reference to the head.
    refers: PhantomData<*const Head<H>>,
}

impl<H> Job<H> {
    #[inline]
    pub fn run(self, hand: &H) -> Ending<H> {
        let Job { ending, number } = self;
        // SAFETY: the fork stays where it is until all endings are counted, of which this is one.
        let run = unsafe { ending.head.as_ref() }.run;
        // SAFETY: the function is that of the fork, and a job with this number was made once and is used up here.
        unsafe { run(ending.head, number, hand) };
        ending
    }
}

impl<H> Ending<H> {
    /// Counts it: the number of the waiting thread if this was the last activity, and the thread, another one, may have to be woken.
    #[inline]
    pub fn end(self) -> Option<u32> {
        let parent = self.count();
        mem::forget(self);
        parent
    }

    #[inline]
    fn count(&self) -> Option<u32> {
        // SAFETY: the fork stays where it is until all endings are counted, of which this is one.
        let head = unsafe { self.head.as_ref() };
        if head.left.thread == this_thread() {
            head.left.here.set(head.left.here.get() + 1);
            return None;
        }
        let parent = head.parent;
        // Release: what the activity wrote is seen by the thread that finds none left. Nothing of the fork is used after it.
        (head.left.left.fetch_sub(1, Ordering::Release) == 1).then_some(parent)
    }
}

impl<H> Drop for Ending<H> {
    fn drop(&mut self) {
        self.count();
    }
}

/// Waits for all activities, whatever happens: they refer to the stack of the caller.
struct Awaited<'a>(&'a Left);

impl Drop for Awaited<'_> {
    fn drop(&mut self) {
        while !self.0.is_none() {
            thread::yield_now();
        }
    }
}

/// Makes an activity of each part, in order, which `give` has to have run by some thread, and calls `wait` until all have ended. It
/// passes what is left; `wait` may return at any time. Thread `parent` is to be woken after the last.
#[inline]
pub fn each<T: Send, H, F: Fn(&H, T) + Sync, const N: usize>(
    parent: u32,
    parts: [T; N],
    work: F,
    give: impl FnMut(Job<H>),
    mut wait: impl FnMut(&Left),
) {
    let left = Left { left: AtomicU32::new(N as u32), here: Cell::new(0), thread: this_thread() };
    let head = Head { left, parent, run: run::<T, F, H, N> };
    let fork = Fork { head, parts: parts.map(|part| UnsafeCell::new(MaybeUninit::new(part))), work };
    let head = NonNull::from(&fork).cast::<Head<H>>();
    let awaited = Awaited(&fork.head.left);
    let jobs: [Job<H>; N] = array::from_fn(|number| Job { ending: Ending { head, refers: PhantomData }, number });
    jobs.into_iter().for_each(give);
    while !awaited.0.is_none() {
        wait(awaited.0);
    }
}

/// # Safety
/// The pointer is to the head of a fork of these types, with all of its memory, which stays until the call returns; the number is below
/// `N`, and passed once.
unsafe fn run<T, F: Fn(&H, T), H, const N: usize>(head: NonNull<Head<H>>, number: usize, hand: &H) {
    // SAFETY: the caller vouches for the fork; other threads change its parts alone, and only their own.
    let fork = unsafe { head.cast::<Fork<T, F, H, N>>().as_ref() };
    let part = fork.parts[number].get().cast::<T>();
    // SAFETY: the part was written, no other call has this number, and so it is moved out once.
    let part = unsafe { part.read() };
    (fork.work)(hand, part);
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn borrows_of_the_caller_are_good_until_all_have_ended() {
        let mut numbers = [1, 2, 3, 4];
        let factor = 10;
        thread::scope(|scope| {
            let [a, b, c, d] = &mut numbers;
            let give = |job: Job<u32>| {
                scope.spawn(move || assert!(job.run(&7).end().is_none_or(|parent| parent == 5)));
            };
            each(5, [a, b, c, d], |hand, number| *number = *number * factor + hand, give, |_| thread::yield_now());
        });
        assert_eq!(numbers, [17, 27, 37, 47]);
    }

    /// The waiting thread ends every other activity itself.
    #[test]
    fn the_last_of_the_others_wakes_a_thread_that_has_settled() {
        for settles in [false, true] {
            let jobs = RefCell::new(Vec::new());
            let wait = |left: &Left| {
                let job: Job<()> = jobs.borrow_mut().pop().expect("there are as many as are waited for");
                match jobs.borrow().len() {
                    3 | 1 => assert_eq!(job.run(&()).end(), None),
                    rest => {
                        assert!(!settles || !left.settle());
                        let last = thread::scope(|scope| scope.spawn(|| job.run(&()).end()).join().unwrap());
                        assert_eq!(last, (settles && rest == 0).then_some(5));
                    }
                }
            };
            each(5, [0; 4], |(), _| (), |job| jobs.borrow_mut().push(job), wait);
            assert!(jobs.borrow().is_empty());
        }
    }

    #[test]
    fn a_job_that_is_dropped_counts_as_ended() {
        let mut done = 0;
        let give = |job: Job<()>| drop(job);
        each(0, [&mut done], |(), done| *done += 1, give, |_| panic!("nothing is left"));
        assert_eq!(done, 0);
    }

    #[test]
    fn a_panic_waits_for_the_others() {
        let mut numbers = [0; 3];
        let [a, b, c] = &mut numbers;
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let mut given = 0;
            let give = |job: Job<()>| {
                given += 1;
                assert!(given < 2, "the first is done, and the others are dropped");
                drop(job.run(&()));
            };
            each(0, [a, b, c], |(), number| *number = 1, give, |_| ());
        }));
        assert!(panicked.is_err());
        assert_eq!(numbers, [1, 0, 0]);
    }
}
