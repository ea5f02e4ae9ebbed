//! A list under a lock.

use super::primitives::{AtomicU32, CachePadded, Ordering, OwnStrands};
use super::{Error, Lock, Pool, WaitStats};

/// The list, whose last item is taken first. All of it is relaxed: the lock orders what one worker does behind what the last
/// one did, or items are lost.
pub struct Guarded<L> {
    lock: L,
    list: CachePadded<List>,
    strands: OwnStrands,
}

struct List {
    length: AtomicU32,
    items: Box<[AtomicU32]>,
}

impl List {
    fn push(&self, item: u32) {
        let length = self.length.load(Ordering::Relaxed);
        self.items[length as usize].store(item, Ordering::Relaxed);
        self.length.store(length + 1, Ordering::Relaxed);
    }

    fn pop(&self) -> Option<u32> {
        let last = self.length.load(Ordering::Relaxed).checked_sub(1)?;
        self.length.store(last, Ordering::Relaxed);
        Some(self.items[last as usize].load(Ordering::Relaxed))
    }
}

impl<L: Lock> Pool for Guarded<L> {
    const MEETING: &'static str = "one lock";

    type Hand = usize;

    fn new(workers: usize, items: u32) -> Result<Self, Error> {
        let items = (0..items).map(|_| AtomicU32::new(0)).collect();
        let list = CachePadded::new(List { length: AtomicU32::new(0), items });
        Ok(Guarded { lock: L::new(workers)?, list, strands: OwnStrands::of(workers) })
    }

    fn enrol(&self) {
        self.strands.enrol();
    }

    fn hand(&self, rank: usize) -> Result<usize, Error> {
        Ok(rank)
    }

    fn fill(&self, items: impl Iterator<Item = u32>) {
        self.lock.with(0, None, &mut WaitStats::default(), || items.for_each(|item| self.list.push(item)));
    }

    #[inline]
    fn take(&self, rank: &mut usize, stats: &mut WaitStats) -> Option<u32> {
        self.lock.with(*rank, Some(&self.strands), stats, || self.list.pop())
    }

    #[inline]
    fn give(&self, rank: &mut usize, item: u32, stats: &mut WaitStats) {
        self.lock.with(*rank, Some(&self.strands), stats, || self.list.push(item));
    }
}
