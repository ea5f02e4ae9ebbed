//! `channel-*`: an item goes to a receiver that sleeps.

use std::sync::{Mutex, PoisonError, mpsc};

use charz_data::Card;

use super::{HandOff, PATIENCE, WAKES_ONE, WakePrimitive};
use crate::kernel::{Error, Kernel};

const CHANNEL: Card = WAKES_ONE.times("from the send to its return", "from the send to the item received");

pub static CHANNEL_STD: &dyn Kernel = &HandOff::<Channel<StdChannel>>::new(
    const {
        &CHANNEL.named("channel-std", "the first worker sends one number through std::sync::mpsc::channel while the second one waits to receive it")
    },
);

pub static CHANNEL_CROSSBEAM: &dyn Kernel = &HandOff::<Channel<CrossbeamChannel>>::new(
    const {
        &CHANNEL.named("channel-crossbeam", "the first worker sends one number through crossbeam::channel::unbounded while the second one waits to receive it")
    },
);

/// A channel without a bound, whose items are rounds.
trait Queue: Send + Sync + Sized + 'static {
    fn new() -> Self;

    fn send(&self, item: u64);

    /// Sleeps until an item comes, at most [`PATIENCE`].
    fn receive(&self) -> Option<u64>;
}

/// Of the standard library. Its receiver is one worker's, so that its mutex is always free.
#[derive(Debug)]
struct StdChannel(mpsc::Sender<u64>, Mutex<mpsc::Receiver<u64>>);

impl Queue for StdChannel {
    fn new() -> Self {
        let (sender, receiver) = mpsc::channel();
        StdChannel(sender, Mutex::new(receiver))
    }

    #[inline]
    fn send(&self, item: u64) {
        // Both ends live as long as this value, so that neither ever finds the other gone.
        let _ = self.0.send(item);
    }

    fn receive(&self) -> Option<u64> {
        self.1.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(PATIENCE).ok()
    }
}

#[derive(Debug)]
struct CrossbeamChannel(crossbeam::channel::Sender<u64>, crossbeam::channel::Receiver<u64>);

impl Queue for CrossbeamChannel {
    fn new() -> Self {
        let (sender, receiver) = crossbeam::channel::unbounded();
        CrossbeamChannel(sender, receiver)
    }

    #[inline]
    fn send(&self, item: u64) {
        // As above.
        let _ = self.0.send(item);
    }

    fn receive(&self) -> Option<u64> {
        self.1.recv_timeout(PATIENCE).ok()
    }
}

#[derive(Debug)]
struct Channel<Q>(Q);

impl<Q: Queue> WakePrimitive for Channel<Q> {
    type Held<'a> = ();
    type Got<'a> = ();

    const VARIANT: &'static str = "send";

    fn new() -> Result<Self, Error> {
        Ok(Channel(Q::new()))
    }

    fn open(&self) {}

    #[inline]
    fn call(&self, _held: (), round: u64) -> bool {
        self.0.send(round);
        true
    }

    fn wait(&self, round: u64, ready: impl FnOnce()) -> Option<()> {
        ready();
        // An item of a run that was ended stays behind, and is older.
        (self.0.receive()? == round).then_some(())
    }
}
