//! What wakes: mutexes, condition variables, bare sleep, channels, and a flag.

use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{PoisonError, mpsc};
use std::thread::{self, Thread};

use charz_data::card::Waiter;
use charz_data::params::{PERIOD, SAMPLES};
use charz_data::{Card, Family, Metric, Role, WorkerCount};
use crossbeam::utils::CachePadded;

use super::{PATIENCE, WakePrimitive, hand_off};
use crate::kernel::Error;
use crate::plain::kernels;
use crate::sync::mutexes::{Condvar, Guard, Mutex, ParkingLot, Pthread, Std};
use crate::sync::spin::for_a_stretch;
use crate::sys::eventfd;
use crate::sys::futex::{self, Scope};
use crate::sys::pthread;

/// What the cards of meetings of two have in common where the waiter sleeps.
const WAKES_ONE: Card = Card::new("", Family::Sync, "", Metric::SecondTime)
    .times("from the call to its return", "from the call to the waiter running")
    .uncounted_traffic("the waiter gets 10 µs to fall asleep after it has said that it is about to; it sleeps 50 ms at most at a time, then \
             looks around and sleeps again: the second time includes cancelling that timer. A sample that begins more than \
             1 µs after it was due counts, for the waiter, from when it was due (coordinated omission)")
    .params(&[&SAMPLES, &PERIOD])
    .role(Role::HandOff(Waiter::Asleep))
    .source(T3_4)
    .workers(WorkerCount::Exactly(2))
    .blocks_in_kernel(true);

const T3_4: &str = "T3-4 report (arXiv:1106.2992), section 6: the same call, two intervals, 10^5 samples; G. Tene, How NOT to \
                    Measure Latency (2013): the schedule";

const UNLOCK: Card = WAKES_ONE
    .role(Role::Other)
    .times("from the unlock to its return", "from the unlock to the waiter's lock returning")
    .uncounted_traffic("the waiter says that it is about to lock, and gets 10 µs to spin and fall asleep. A sample that begins more than \
             1 µs after it was due counts, for the waiter, from when it was due (coordinated omission)");

const BROADCAST: Card = WAKES_ONE
    .role(Role::Other)
    .times("from the call to its return", "from the call to a waiter running, of each waiter")
    .workers(WorkerCount::AtLeast(2));

const CHANNEL: Card = WAKES_ONE.times("from the send to its return", "from the send to the item received");

kernels! {
    hand_off::<Unlock<Pthread<false>>> => UNLOCK
        .named("unlock-pthread", "the first worker unlocks a PTHREAD_MUTEX_DEFAULT that the second one waits for");
    hand_off::<Unlock<Std>> => UNLOCK
        .named("unlock-std", "the first worker unlocks a std::sync::Mutex that the second one waits for");
    hand_off::<Unlock<ParkingLot>> => UNLOCK
        .named("unlock-parking-lot", "the first worker unlocks a parking_lot::Mutex that the second one waits for");
    hand_off::<Signal<pthread::Condvar, false>> => WAKES_ONE
        .named("signal-pthread", "the first worker calls pthread_cond_signal while the second one waits");
    hand_off::<Signal<std::sync::Condvar, false>> => WAKES_ONE
        .named("signal-std", "the first worker calls std::sync::Condvar::notify_one while the second one waits");
    hand_off::<Signal<parking_lot::Condvar, false>> => WAKES_ONE
        .named("signal-parking-lot", "the first worker calls parking_lot::Condvar::notify_one while the second one \
            waits");
    hand_off::<Signal<pthread::Condvar, true>> => BROADCAST
        .named("broadcast-pthread", "the first worker calls pthread_cond_broadcast while all others wait");
    hand_off::<Signal<std::sync::Condvar, true>> => BROADCAST
        .named("broadcast-std", "the first worker calls std::sync::Condvar::notify_all while all others wait");
    hand_off::<Signal<parking_lot::Condvar, true>> => BROADCAST
        .named("broadcast-parking-lot", "the first worker calls parking_lot::Condvar::notify_all while all others \
            wait");
    hand_off::<FutexWake> => WAKES_ONE
        .named("futex-wake", "the first worker wakes the second one, which sleeps on a word of memory (FUTEX_WAKE, \
            private)")
        .role(Role::HandOff(Waiter::AsleepBare))
        .source("futex(2); U. Drepper, Futexes Are Tricky (2011). The intervals are those of the T3-4 report \
            (arXiv:1106.2992), section 6; G. Tene, How NOT to Measure Latency (2013): the schedule. A call that finds \
            no thread asleep is no sample");
    hand_off::<Unpark> => WAKES_ONE
        .named("unpark-std", "the first worker calls Thread::unpark of the Rust standard library while the second one \
            is parked")
        .role(Role::HandOff(Waiter::AsleepBare));
    hand_off::<Channel<StdChannel>> => CHANNEL
        .named("channel-std", "the first worker sends one number through std::sync::mpsc::channel while the second one \
            waits to receive it");
    hand_off::<Channel<CrossbeamChannel>> => CHANNEL
        .named("channel-crossbeam", "the first worker sends one number through crossbeam::channel::unbounded while the \
            second one waits to receive it");
    hand_off::<Channel<Pipe>> => CHANNEL
        .named("channel-pipe", "the first worker writes one number into a pipe while the second one waits to read it")
        .uncounted_traffic("the waiter gets 10 µs to fall asleep after it has said that it is about to. A sample that begins more than \
            1 µs after it was due counts, for the waiter, from when it was due (coordinated omission)")
        .source("L. McVoy, C. Staelin, lmbench (1996): lat_pipe; here one way, and between threads. The intervals are those of the \
            T3-4 report (arXiv:1106.2992), section 6; G. Tene, How NOT to Measure Latency (2013): the schedule");
    hand_off::<Channel<EventCounter>> => CHANNEL
        .named("channel-eventfd", "the first worker adds one number to an eventfd while the second one waits to read it")
        .uncounted_traffic("the waiter gets 10 µs to fall asleep after it has said that it is about to. A sample that begins more than \
            1 µs after it was due counts, for the waiter, from when it was due (coordinated omission)")
        .source("eventfd(2). The intervals are those of the T3-4 report (arXiv:1106.2992), section 6; G. Tene, How NOT to Measure \
            Latency (2013): the schedule");
    hand_off::<Flag> => WAKES_ONE
        .named("flag", "the first worker stores to a line of memory that the second one reads until it sees the change")
        .role(Role::HandOff(Waiter::Spinning))
        .times("from the store to its return", "from the store to the reader having seen it")
        .uncounted_traffic("the reader pauses between two looks. The least that can be told is two stamps: one on \
            either side of the store, or of the hand-off")
        .source("K. Milfeld et al., multi-core measurements at TACC: two spin loops on a volatile flag")
        .contends(true)
        .blocks_in_kernel(false);
}

/// The waker holds the mutex from the beginning of the round, so a waiter that has it was given it.
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

/// A condition variable with its mutex; all who wait are woken, or one.
///
/// The waker makes the condition true under the mutex, releases the mutex, and then signals, so no waiter that was woken finds
/// the mutex taken by the waker. A waiter runs when its wait has returned, with the mutex taken again.
struct Signal<C: Condvar, const ALL: bool> {
    mutex: C::Mutex,
    bell: C,
    /// The round that was called. Written under the mutex.
    posted: AtomicU64,
}

impl<C: Condvar, const ALL: bool> WakePrimitive for Signal<C, ALL> {
    type Held<'a> = ();
    type Got<'a> = Guard<'a, C>;

    const VARIANT: &'static str = if ALL { "broadcast" } else { "signal" };

    fn new() -> Result<Self, Error> {
        Ok(Signal { mutex: C::Mutex::new()?, bell: C::default(), posted: AtomicU64::new(0) })
    }

    fn open(&self) {}

    fn post(&self, round: u64) {
        let _held = self.mutex.lock();
        self.posted.store(round, Ordering::Relaxed);
    }

    #[inline]
    fn call(&self, _held: (), _round: u64) -> bool {
        if ALL {
            self.bell.broadcast();
        } else {
            self.bell.signal();
        }
        true
    }

    fn wait(&self, round: u64, ready: impl FnOnce()) -> Option<Guard<'_, C>> {
        let posted = || self.posted.load(Ordering::Relaxed) >= round;
        let mut held = self.mutex.lock();
        // The waker posts under the mutex, which this worker gives back only by waiting.
        ready();
        if !posted() {
            held = self.bell.wait(held, PATIENCE);
        }
        posted().then_some(held)
    }
}

/// A word that is slept on. It holds the round that was called, as far as it has room.
struct FutexWake(AtomicU32);

impl WakePrimitive for FutexWake {
    type Held<'a> = ();
    type Got<'a> = ();

    const VARIANT: &'static str = "futex";

    fn new() -> Result<Self, Error> {
        Ok(FutexWake(AtomicU32::new(0)))
    }

    fn open(&self) {}

    fn post(&self, round: u64) {
        self.0.store(round as u32, Ordering::Release);
    }

    #[inline]
    fn call(&self, _held: (), _round: u64) -> bool {
        futex::wake(&self.0, 1, Scope::Process) > 0
    }

    fn wait(&self, round: u64, ready: impl FnOnce()) -> Option<()> {
        let seen = self.0.load(Ordering::Acquire);
        ready();
        if seen != round as u32 {
            futex::wait(&self.0, seen, Scope::Process, PATIENCE);
        }
        (self.0.load(Ordering::Acquire) == round as u32).then_some(())
    }
}

struct Unpark {
    parked: std::sync::Mutex<Option<Thread>>,
    /// The round that was called.
    posted: AtomicU64,
}

impl WakePrimitive for Unpark {
    type Held<'a> = Option<Thread>;
    type Got<'a> = ();

    const VARIANT: &'static str = "unpark";

    fn new() -> Result<Self, Error> {
        Ok(Unpark { parked: std::sync::Mutex::new(None), posted: AtomicU64::new(0) })
    }

    fn enrol(&self) {
        *self.parked.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread::current());
    }

    fn open(&self) -> Option<Thread> {
        self.parked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn post(&self, round: u64) {
        self.posted.store(round, Ordering::Release);
    }

    #[inline]
    fn call(&self, held: Option<Thread>, _round: u64) -> bool {
        held.is_some_and(|thread| {
            thread.unpark();
            true
        })
    }

    fn wait(&self, round: u64, ready: impl FnOnce()) -> Option<()> {
        let posted = || self.posted.load(Ordering::Acquire) >= round;
        ready();
        if !posted() {
            thread::park_timeout(PATIENCE);
        }
        posted().then_some(())
    }
}

/// A channel whose items are rounds, with room for more than there ever are.
trait Queue: Send + Sync + Sized + 'static {
    fn new() -> Result<Self, Error>;

    fn send(&self, item: u64);

    /// Sleeps until an item comes, at most [`PATIENCE`], or without a limit, since the waker is certain to call.
    fn receive(&self) -> Option<u64>;
}

/// Of the standard library. Its receiver belongs to one worker, so its mutex is always free.
struct StdChannel(mpsc::Sender<u64>, std::sync::Mutex<mpsc::Receiver<u64>>);

impl Queue for StdChannel {
    fn new() -> Result<Self, Error> {
        let (sender, receiver) = mpsc::channel();
        Ok(StdChannel(sender, std::sync::Mutex::new(receiver)))
    }

    #[inline]
    fn send(&self, item: u64) {
        // Both ends live as long as this value, so neither ever finds the other gone.
        let _ = self.0.send(item);
    }

    fn receive(&self) -> Option<u64> {
        self.1.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(PATIENCE).ok()
    }
}

struct CrossbeamChannel(crossbeam::channel::Sender<u64>, crossbeam::channel::Receiver<u64>);

impl Queue for CrossbeamChannel {
    fn new() -> Result<Self, Error> {
        let (sender, receiver) = crossbeam::channel::unbounded();
        Ok(CrossbeamChannel(sender, receiver))
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

struct Pipe(PipeReader, PipeWriter);

impl Queue for Pipe {
    fn new() -> Result<Self, Error> {
        let refused = |error| Error::Refused(format!("the system makes no pipe ({error}): end what else runs"));
        io::pipe().map(|(reader, writer)| Pipe(reader, writer)).map_err(refused)
    }

    #[inline]
    fn send(&self, item: u64) {
        // As above.
        let _ = (&self.1).write_all(&item.to_ne_bytes());
    }

    fn receive(&self) -> Option<u64> {
        let mut item = [0; 8];
        (&self.0).read_exact(&mut item).ok()?;
        Some(u64::from_ne_bytes(item))
    }
}

/// An eventfd: the item is what was added, and one more, since adding 0 wakes no thread.
struct EventCounter(File);

impl Queue for EventCounter {
    fn new() -> Result<Self, Error> {
        let refused = |error| Error::Refused(format!("the system makes no eventfd ({error}): end what else runs"));
        eventfd::new().map(EventCounter).map_err(refused)
    }

    #[inline]
    fn send(&self, item: u64) {
        // As above.
        let _ = (&self.0).write_all(&(item + 1).to_ne_bytes());
    }

    fn receive(&self) -> Option<u64> {
        let mut item = [0; 8];
        (&self.0).read_exact(&mut item).ok()?;
        u64::from_ne_bytes(item).checked_sub(1)
    }
}

struct Channel<Q>(Q);

impl<Q: Queue> WakePrimitive for Channel<Q> {
    type Held<'a> = ();
    type Got<'a> = ();

    const VARIANT: &'static str = "send";

    fn new() -> Result<Self, Error> {
        Ok(Channel(Q::new()?))
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

/// The line. It holds the round that was called.
struct Flag(CachePadded<AtomicU64>);

impl WakePrimitive for Flag {
    type Held<'a> = ();
    type Got<'a> = ();

    const VARIANT: &'static str = "store";

    fn new() -> Result<Self, Error> {
        Ok(Flag(CachePadded::default()))
    }

    fn open(&self) {}

    #[inline]
    fn call(&self, _held: (), round: u64) -> bool {
        self.0.store(round, Ordering::Release);
        true
    }

    fn wait(&self, round: u64, ready: impl FnOnce()) -> Option<()> {
        ready();
        for_a_stretch(|| self.0.load(Ordering::Acquire) >= round).then_some(())
    }
}
