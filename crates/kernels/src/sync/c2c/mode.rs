//! The ways to hand a line to another core.

use std::sync::atomic::Ordering;

use super::lines::Meeting;

/// One side of a hand-over: how it waits for its turn, and how it hands on.
///
/// Worker 0 has the first turn; from then on each has one after the other's. Every mode waits and hands on by the same single
/// operation, without a pause in between: it is what a lock that spins does at best, and the line makes one way in a turn.
pub(super) trait Mode: Copy + Send + Sync + 'static {
    /// The values of the two lines before a run.
    const START: [u64; 2];
    /// The most attempts between two looks at the watch: about 20 to 50 µs of such as find the line in the core's own cache.
    const MOST: u64;

    /// The side of a worker at the beginning of a run.
    fn new(rank: usize) -> Self;

    /// Tries once. Whether it was its turn, which then is over.
    fn attempt(&mut self, meeting: Meeting<'_>) -> bool;

    /// What it did to the lines, for [`Mode::agree`].
    fn account(&self) -> u64;

    /// Whether the values of the lines after a run agree with the two sides' accounts.
    fn agree(words: [u64; 2], accounts: [u64; 2]) -> bool;
}

/// Attempts that change the line, see [`Pace`](crate::pace::Pace).
const CHANGING: u64 = 16_384;
/// Attempts that only look, of which a core makes several in a nanosecond's time.
const LOOKING: u64 = 65_536;

/// A side waits for a number in the other's line, and writes the next to its own.
#[derive(Clone, Copy, Debug)]
pub struct ReadWrite {
    rank: usize,
    /// What the other's line says when it is this side's turn.
    awaited: u64,
    written: u64,
}

impl Mode for ReadWrite {
    const START: [u64; 2] = [0, 0];
    const MOST: u64 = LOOKING;

    fn new(rank: usize) -> Self {
        // Worker 0 finds that its number 0 was answered, and writes 1; worker 1 answers that with 1.
        ReadWrite { rank, awaited: rank as u64, written: 0 }
    }

    #[inline(always)]
    fn attempt(&mut self, meeting: Meeting<'_>) -> bool {
        let (own, other) = match self.rank {
            0 => (meeting.first, meeting.second),
            _ => (meeting.second, meeting.first),
        };
        // Acquire and release: this is how data would be handed over.
        if other.load(Ordering::Acquire) != self.awaited {
            return false;
        }
        self.awaited = self.awaited.wrapping_add(1);
        self.written = self.written.wrapping_add(1);
        own.store(self.written, Ordering::Release);
        true
    }

    fn account(&self) -> u64 {
        self.written
    }

    fn agree(words: [u64; 2], accounts: [u64; 2]) -> bool {
        words == accounts
    }
}

/// A side tries to exchange the number of its turn for the next.
#[derive(Clone, Copy, Debug)]
pub struct Cas {
    turn: u64,
}

impl Mode for Cas {
    const START: [u64; 2] = [0, 0];
    const MOST: u64 = CHANGING;

    fn new(rank: usize) -> Self {
        Cas { turn: rank as u64 }
    }

    #[inline(always)]
    fn attempt(&mut self, meeting: Meeting<'_>) -> bool {
        let next = self.turn.wrapping_add(1);
        // Relaxed, here and below: all happens to one variable.
        let came = meeting.first.compare_exchange(self.turn, next, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if came {
            self.turn = self.turn.wrapping_add(2);
        }
        came
    }

    fn account(&self) -> u64 {
        self.turn
    }

    /// Worker 1 had the last turn, and worker 0 would have the next.
    fn agree(words: [u64; 2], accounts: [u64; 2]) -> bool {
        words[0] == accounts[0] && words[0].wrapping_add(1) == accounts[1]
    }
}

/// A side adds 1 until the sum, its own part taken away, has changed: then the other has added.
///
/// Between two additions of the one side that found a change, the other's first addition finds one too, so the turns alternate
/// although both add all the time.
#[derive(Clone, Copy, Debug)]
pub struct FetchAdd {
    own: u64,
    /// The other's part at this side's last turn.
    other: u64,
}

impl Mode for FetchAdd {
    const START: [u64; 2] = [0, 0];
    const MOST: u64 = CHANGING;

    fn new(rank: usize) -> Self {
        // No sum reaches `u64::MAX`, so worker 0 has the first turn at any value that it finds.
        FetchAdd { own: 0, other: if rank == 0 { u64::MAX } else { 0 } }
    }

    #[inline(always)]
    fn attempt(&mut self, meeting: Meeting<'_>) -> bool {
        let other = meeting.first.fetch_add(1, Ordering::Relaxed).wrapping_sub(self.own);
        self.own = self.own.wrapping_add(1);
        let came = other != self.other;
        self.other = other;
        came
    }

    fn account(&self) -> u64 {
        self.own
    }

    fn agree(words: [u64; 2], accounts: [u64; 2]) -> bool {
        words[0] == accounts[0].wrapping_add(accounts[1])
    }
}

/// A side puts its mark into the line until it gets the other's out of it. The turns alternate as those of [`FetchAdd`] do.
#[derive(Clone, Copy, Debug)]
pub struct Exchange {
    mark: u64,
}

impl Mode for Exchange {
    /// The mark of worker 1.
    const START: [u64; 2] = [1, 0];
    const MOST: u64 = CHANGING;

    fn new(rank: usize) -> Self {
        Exchange { mark: rank as u64 }
    }

    #[inline(always)]
    fn attempt(&mut self, meeting: Meeting<'_>) -> bool {
        meeting.first.swap(self.mark, Ordering::Relaxed) != self.mark
    }

    fn account(&self) -> u64 {
        self.mark
    }

    /// Worker 1 had the last turn.
    fn agree(words: [u64; 2], accounts: [u64; 2]) -> bool {
        words[0] == accounts[1]
    }
}
