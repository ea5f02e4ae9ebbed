//! `unlock-*`: a mutex is given back that another worker waits for.
//!
//! The waker holds the mutex from the beginning of the round, so that a waiter who has it was given it.

use charz_data::{Card, Role};

use super::{HandOff, WAKES_ONE, WakePrimitive};
use crate::kernel::{Error, Kernel};
use crate::sync::mutexes::{Mutex, ParkingLot, Pthread, Std};

const UNLOCK: Card = WAKES_ONE
    .role(Role::Other)
    .times("from the unlock to its return", "from the unlock to the waiter's lock returning")
    .uncounted_traffic("the waiter says that it is about to lock, and gets 10 µs to spin and fall asleep. A sample that begins more than \
             1 µs after it was due counts, for the waiter, from when it was due (coordinated omission)");

pub static UNLOCK_PTHREAD: &dyn Kernel = &HandOff::<Unlock<Pthread<false>>>::new(
    const {
        &UNLOCK
            .named("unlock-pthread", "the first worker unlocks a PTHREAD_MUTEX_DEFAULT that the second one waits for")
    },
);

pub static UNLOCK_STD: &dyn Kernel = &HandOff::<Unlock<Std>>::new(
    const { &UNLOCK.named("unlock-std", "the first worker unlocks a std::sync::Mutex that the second one waits for") },
);

pub static UNLOCK_PARKING_LOT: &dyn Kernel = &HandOff::<Unlock<ParkingLot>>::new(
    const {
        &UNLOCK
            .named("unlock-parking-lot", "the first worker unlocks a parking_lot::Mutex that the second one waits for")
    },
);

struct Unlock<M>(M);

impl<M: Mutex> WakePrimitive for Unlock<M> {
    type Held<'a> = M::Guard<'a>;
    type Got<'a> = M::Guard<'a>;

    const VARIANT: &'static str = "unlock";

    fn new() -> Result<Self, Error> {
        Ok(Unlock(M::new()?))
    }

    fn open(&self) -> M::Guard<'_> {
        self.0.lock()
    }

    #[inline]
    fn call(&self, held: M::Guard<'_>, _round: u64) -> bool {
        drop(held);
        true
    }

    fn wait(&self, _round: u64, ready: impl FnOnce()) -> Option<M::Guard<'_>> {
        ready();
        Some(self.0.lock())
    }
}
