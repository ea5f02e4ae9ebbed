//! A stack without a lock: its top is exchanged (R. K. Treiber, Systems programming: coping with parallelism, IBM RJ 5118
//! (1986)).
//!
//! One word holds the top, a number of 32 bits, and a tag that counts the takes. Without the tag a worker could see a top and
//! what lies below, be held up while others take both and give the first one back, and then exchange what it saw: the top is
//! the same, but the item that becomes the new top is held by another worker. A tag of 32 bits comes around after 2³² takes:
//! at 10 ns for a take and a return, 43 s of others' work between two instructions of one worker, and then on the very take
//! and with the very item.

use std::fmt::Debug;
use std::marker::PhantomData;

use super::primitives::{AtomicU32, AtomicU64, CachePadded, Ordering, pause, strands};
use super::{Error, Pool, WaitStats};

const NOTHING: u32 = u32::MAX;

/// What a worker does between an exchange that failed and the next attempt.
pub trait Retry: Debug + Send + Sync + 'static {
    const MEETING: &'static str;

    /// Before the first attempt of a take or a return, on a machine with so many strands.
    fn start(strands: u32) -> Self;

    fn failed(&mut self);
}

#[derive(Debug)]
pub struct AtOnce;

impl Retry for AtOnce {
    const MEETING: &'static str = "exchange, at once again";

    fn start(_: u32) -> Self {
        AtOnce
    }

    fn failed(&mut self) {}
}

/// It stays away for a time that doubles with each failure, up to a cap in proportion to the strands: so many may be trying
/// at the same time.
#[derive(Debug)]
pub struct Backoff {
    pauses: u32,
    cap: u32,
}

/// Pauses after the first failure. Of 4, 16, 64 and 128 it is the least that kept two cores of Zen 4 from fighting for the line.
const FIRST: u32 = 64;

/// The cap: so many pauses for each strand.
const EACH: u32 = 64;

impl Retry for Backoff {
    const MEETING: &'static str = "exchange, backs off";

    fn start(strands: u32) -> Self {
        Backoff { pauses: FIRST, cap: strands.saturating_mul(EACH).max(FIRST) }
    }

    fn failed(&mut self) {
        pause(self.pauses);
        self.pauses = self.pauses.saturating_mul(2).min(self.cap);
    }
}

/// The stack, with a tag of so many bits, at most 32.
#[derive(Debug)]
pub struct Treiber<R, const TAG: u32 = 32> {
    /// The top in the lower half, the tag in the upper one.
    head: CachePadded<AtomicU64>,
    below: Box<[CachePadded<AtomicU32>]>,
    strands: u32,
    retry: PhantomData<R>,
}

/// What a worker saw when it looked at the top.
#[derive(Debug)]
pub(super) struct Seen {
    head: u64,
    below: u32,
}

impl<R, const TAG: u32> Treiber<R, TAG> {
    const fn top(head: u64) -> u32 {
        head as u32
    }

    /// A head with this top and the tag of another one, which was raised by so much.
    const fn with_top(head: u64, top: u32, raise: u64) -> u64 {
        let tag = ((head >> 32) + raise) & ((1 << TAG) - 1);
        (tag << 32) | top as u64
    }

    /// The top and what lies below it, unless the stack is empty.
    #[inline]
    pub(super) fn look(&self) -> Option<Seen> {
        // Acquire, with the release of a push: what lies below the item, and what its last holder did with it, is seen.
        // Every head after that push is an exchange of it or of one behind it, so seeing any of them is enough.
        let head = self.head.load(Ordering::Acquire);
        let below = self.below.get(Self::top(head) as usize)?.load(Ordering::Relaxed);
        Some(Seen { head, below })
    }

    /// Takes the top that was seen, unless it has changed.
    #[inline]
    pub(super) fn pop(&self, seen: &Seen) -> Option<u32> {
        let new = Self::with_top(seen.head, seen.below, 1);
        // Relaxed: the look has seen what it needs, and a pop publishes nothing.
        let popped = self.head.compare_exchange(seen.head, new, Ordering::Relaxed, Ordering::Relaxed);
        popped.is_ok().then(|| Self::top(seen.head))
    }

    /// Puts an item on top, unless the top changes meanwhile.
    #[inline]
    pub(super) fn push(&self, item: u32) -> bool {
        let head = self.head.load(Ordering::Relaxed);
        self.below[item as usize].store(Self::top(head), Ordering::Relaxed);
        let new = Self::with_top(head, item, 0);
        // Release: who takes the item sees what lies below it, and what was done with it.
        self.head.compare_exchange(head, new, Ordering::Release, Ordering::Relaxed).is_ok()
    }
}

impl<R: Retry, const TAG: u32> Pool for Treiber<R, TAG> {
    const MEETING: &'static str = R::MEETING;

    type Hand = ();

    fn new(_: usize, items: u32) -> Result<Self, Error> {
        Ok(Treiber {
            head: CachePadded::new(AtomicU64::new(NOTHING.into())),
            below: (0..items).map(|_| CachePadded::new(AtomicU32::new(NOTHING))).collect(),
            strands: strands(),
            retry: PhantomData,
        })
    }

    fn hand(&self, _: usize) -> Result<(), Error> {
        Ok(())
    }

    fn fill(&self, items: impl Iterator<Item = u32>) {
        items.for_each(|item| self.give(&mut (), item, &mut WaitStats::default()));
    }

    #[inline]
    fn take(&self, _: &mut (), stats: &mut WaitStats) -> Option<u32> {
        let (mut retry, mut failures) = (R::start(self.strands), 0);
        let taken = loop {
            let Some(seen) = self.look() else { break None };
            if let Some(item) = self.pop(&seen) {
                break Some(item);
            }
            failures += 1;
            retry.failed();
        };
        count(stats, failures);
        taken
    }

    #[inline]
    fn give(&self, _: &mut (), item: u32, stats: &mut WaitStats) {
        let (mut retry, mut failures) = (R::start(self.strands), 0);
        while !self.push(item) {
            failures += 1;
            retry.failed();
        }
        count(stats, failures);
    }
}

/// One more attempt than there were failures.
fn count(stats: &mut WaitStats, failures: u64) {
    stats.attempts += failures + 1;
    stats.failures += failures;
    stats.waits += u64::from(failures > 0);
}

#[cfg(test)]
mod tests;
