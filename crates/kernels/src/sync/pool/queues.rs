//! The references: crossbeam's queues and its deque.

use std::sync::{Mutex, PoisonError};

use crossbeam::deque::{Injector, Steal, Stealer, Worker};
use crossbeam::queue::{ArrayQueue, SegQueue};

use super::{Pool, WaitStats};
use crate::kernel::Error;

pub(super) type Array = ArrayQueue<u32>;
pub(super) type Segments = SegQueue<u32>;

/// A queue as a pool: how it is made for so many items, and how one is put in.
macro_rules! queue {
    ($queue:ident, $meeting:literal, $new:expr, $push:expr) => {
        impl Pool for $queue {
            const MEETING: &'static str = $meeting;

            type Hand = ();

            fn new(_: usize, items: u32) -> Result<Self, Error> {
                Ok($new(items))
            }

            fn hand(&self, _: usize) -> Result<(), Error> {
                Ok(())
            }

            fn fill(&self, items: impl Iterator<Item = u32>) {
                items.for_each(|item| $push(self, item));
            }

            #[inline]
            fn take(&self, _: &mut (), stats: &mut WaitStats) -> Option<u32> {
                stats.attempts += 1;
                self.pop()
            }

            #[inline]
            fn give(&self, _: &mut (), item: u32, stats: &mut WaitStats) {
                stats.attempts += 1;
                $push(self, item);
            }
        }
    };
}

// There is room for every item, so a refused item was made up: it is lost, and the check reports that.
queue!(Array, "ArrayQueue", |items| ArrayQueue::new(items as usize), |queue: &Array, item| {
    let _ = queue.push(item);
});
queue!(Segments, "SegQueue", |_| SegQueue::new(), SegQueue::push);

/// A deque per worker, from which the others steal, and a queue for the items that no worker owns.
pub(super) struct Deque {
    injector: Injector<u32>,
    /// The workers' own ends, until they come for them.
    owners: Mutex<Vec<Option<Worker<u32>>>>,
    stealers: Box<[Stealer<u32>]>,
}

pub(super) struct Owner {
    own: Worker<u32>,
    rank: usize,
}

impl Pool for Deque {
    const MEETING: &'static str = "Injector, Stealer";

    type Hand = Owner;

    fn new(workers: usize, _: u32) -> Result<Self, Error> {
        let owners: Vec<_> = (0..workers).map(|_| Worker::new_lifo()).collect();
        let stealers = owners.iter().map(Worker::stealer).collect();
        Ok(Deque { injector: Injector::new(), owners: Mutex::new(owners.into_iter().map(Some).collect()), stealers })
    }

    fn hand(&self, rank: usize) -> Result<Owner, Error> {
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        let own = owners.get_mut(rank).and_then(Option::take);
        let twice =
            || Error::Refused(format!("worker {rank} of this pool was made before: build a stage for each cell"));
        Ok(Owner { own: own.ok_or_else(twice)?, rank })
    }

    fn fill(&self, items: impl Iterator<Item = u32>) {
        items.for_each(|item| self.injector.push(item));
    }

    #[inline]
    fn take(&self, hand: &mut Owner, stats: &mut WaitStats) -> Option<u32> {
        stats.attempts += 1;
        hand.own.pop().or_else(|| self.steal(hand.rank, stats))
    }

    #[inline]
    fn give(&self, hand: &mut Owner, item: u32, stats: &mut WaitStats) {
        stats.attempts += 1;
        hand.own.push(item);
    }
}

impl Deque {
    /// From the queue, then from the others, beginning with the next one.
    fn steal(&self, rank: usize, stats: &mut WaitStats) -> Option<u32> {
        let failures = stats.failures;
        let (before, after) = self.stealers.split_at(rank);
        let stolen = tried(stats, || self.injector.steal())
            .or_else(|| after.iter().chain(before).find_map(|other| tried(stats, || other.steal())));
        stats.waits += u64::from(stats.failures > failures);
        stolen
    }
}

/// Tries until another thread is not in the way.
fn tried(stats: &mut WaitStats, steal: impl Fn() -> Steal<u32>) -> Option<u32> {
    loop {
        match steal() {
            Steal::Success(item) => return Some(item),
            Steal::Empty => return None,
            Steal::Retry => {
                stats.attempts += 1;
                stats.failures += 1;
            }
        }
    }
}
