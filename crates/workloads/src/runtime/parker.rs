//! A place where one thread sleeps until another wakes it.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use charz_kernels::sys::futex::{self, Scope};

const EMPTY: u32 = 0;
/// The next sleep ends at once.
const NOTIFIED: u32 = 1;
const ASLEEP: u32 = 2;

#[derive(Debug, Default)]
pub(super) struct Parker(AtomicU32);

impl Parker {
    /// Sleeps until [`Parker::unpark`] is called, unless it was since the last sleep, or for at most `patience`. Returns whether the
    /// thread slept. It may also return for no reason. For one thread at a time.
    pub(super) fn park(&self, patience: Duration) -> bool {
        // Acquire, here and below: what the waking thread did before is seen.
        let slept = self.0.compare_exchange(EMPTY, ASLEEP, Ordering::Acquire, Ordering::Acquire).is_ok();
        if slept {
            futex::wait(&self.0, ASLEEP, Scope::Process, patience);
        }
        self.0.swap(EMPTY, Ordering::Acquire);
        slept
    }

    /// Ends the sleep, or the next one. Returns whether the thread was asleep, which takes a system call.
    pub(super) fn unpark(&self) -> bool {
        let slept = self.0.swap(NOTIFIED, Ordering::Release) == ASLEEP;
        if slept {
            futex::wake(&self.0, 1, Scope::Process);
        }
        slept
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn a_call_before_the_sleep_is_not_lost() {
        let parker = Parker::default();
        assert!(!parker.unpark());
        assert!(!parker.park(Duration::from_secs(3600)), "it was notified");
        assert!(parker.park(Duration::from_millis(1)), "once is once");
    }

    /// A lost call would leave both asleep for an hour.
    #[test]
    fn threads_that_take_turns_come_to_an_end() {
        let (parkers, turn) = ([Parker::default(), Parker::default()], AtomicU32::new(0));
        let play = |own: usize| {
            for round in 0..2000 {
                while turn.load(Ordering::Acquire) != 2 * round + own as u32 {
                    parkers[own].park(Duration::from_secs(3600));
                }
                turn.fetch_add(1, Ordering::Release);
                parkers[1 - own].unpark();
            }
        };
        thread::scope(|scope| [0, 1].map(|own| scope.spawn(move || play(own))).map(drop));
        assert_eq!(turn.into_inner(), 4000);
    }
}
