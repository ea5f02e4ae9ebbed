//! The two libraries, threads to be joined and detached ones.

use std::sync::Arc;
use std::thread;

use charz_data::params::{PERIOD, SAMPLES};
use charz_data::{Card, Family, Metric, WorkerCount};

use super::{Child, Method, STACK, making};
use crate::kernel::Error;
use crate::plain::kernels;
use crate::sys::pthread::thread::{self as pthread, Attributes, Enter, Mask};

const PTHREAD: Card = Card::new("", Family::Sync, "", Metric::SecondTime)
    .times("from the call to its return", "from the call to the new thread's first instruction")
    .uncounted_traffic("a stack of 64 KiB (128 KiB on aarch64). The second worker lends its seat, and sleeps: the new thread gets its strands as an attribute, \
             and the C library holds it back until they are set, which both times include. Where the two workers may run on the \
             same strands, as two that float, no attribute is given, and the thread inherits them. A sample that begins more than \
             1 µs after it was due counts, for the new thread, from when it was due (coordinated omission)")
    .params(&[&SAMPLES, &PERIOD])
    .source("T3-4 report (arXiv:1106.2992), section 6: thread creation, 10^5 samples; G. Tene, How NOT to Measure Latency \
             (2013): the schedule")
    .workers(WorkerCount::Exactly(2))
    .blocks_in_kernel(true);

const STD: Card = PTHREAD
    .uncounted_traffic("a stack of 64 KiB (128 KiB on aarch64). The new thread inherits the strands of its maker: on a seat it runs only once its maker sleeps, and \
             only a floating worker's threads run beside it; create-pthread has a seat for the new thread. Before its closure \
             the library sets up the thread and its stack for signals. A sample that begins more than 1 µs after it was due \
             counts, for the new thread, from when it was due (coordinated omission)")
    .workers(WorkerCount::Exactly(1));

kernels! {
    making::<Pthread<false>> => PTHREAD
        .named("create-pthread", "makes threads with pthread_create, one after the other, and joins each");
    making::<Pthread<true>> => PTHREAD
        .named("create-pthread-detached", "makes detached threads with pthread_create, one after the other");
    making::<Std<false>> => STD
        .named("create-std", "makes threads with std::thread, one after the other, and joins each");
    making::<Std<true>> => STD
        .named("create-std-detached", "makes threads with std::thread, one after the other, and drops the handle of \
            each");
}

struct Pthread<const DETACHED: bool>(Attributes);

impl Enter for Child {
    fn enter(&self) {
        self.run();
    }
}

impl<const DETACHED: bool> Method for Pthread<DETACHED> {
    type Thread = pthread::Thread;

    const VARIANT: &'static str = "pthread_create";

    fn new(lent: Option<&Mask>) -> Result<Self, Error> {
        Ok(Pthread(Attributes::new(STACK, DETACHED, lent)?))
    }

    #[inline]
    fn make(&self, child: Arc<Child>) -> Result<pthread::Thread, Error> {
        pthread::create(&self.0, child)
    }
}

/// The standard library, whose threads run where their maker does.
struct Std<const DETACHED: bool>;

impl<const DETACHED: bool> Method for Std<DETACHED> {
    type Thread = Spawned<DETACHED>;

    const VARIANT: &'static str = "std::thread";

    fn new(_lent: Option<&Mask>) -> Result<Self, Error> {
        Ok(Std)
    }

    #[inline]
    fn make(&self, child: Arc<Child>) -> Result<Spawned<DETACHED>, Error> {
        let handle = thread::Builder::new().stack_size(STACK).spawn(move || child.run());
        let refused = |error| Error::Refused(format!("a thread cannot be made: {error}"));
        handle.map(|handle| Spawned(Some(handle))).map_err(refused)
    }
}

/// A thread of the standard library. Dropping it waits for its end, unless it is detached.
struct Spawned<const DETACHED: bool>(Option<thread::JoinHandle<()>>);

impl<const DETACHED: bool> Drop for Spawned<DETACHED> {
    fn drop(&mut self) {
        if let Some(handle) = self.0.take().filter(|_| !DETACHED) {
            // It does nothing that panics.
            let _ = handle.join();
        }
    }
}
