//! What the atomic kernels do to a word, again and again.

use std::sync::atomic::{AtomicU64, Ordering, fence};

use crate::sys::wide::{self, Wide};

/// Operations of a round. The loop around them takes a cycle or more, which a load of a third of a cycle would not show beside.
pub const ROUND: u64 = 8;

/// One worker's state for its operations on a word.
#[derive(Debug, Default)]
pub struct Hand {
    /// What it put there last; each worker has values of its own, one after the other from above `floor`.
    pub next: u64,
    floor: u64,
    /// What it has added to the word less what it has taken out, over all runs, but for the loads and the values above `floor`.
    balance: u64,
    /// The sums of the values that it has loaded. Four, so no addition waits for the last one longer than a load takes.
    loaded: [u64; 4],
    /// The last value that it has put there, over all runs.
    pub last: u64,
    /// What the word held when it was last looked at.
    seen: u64,
    retries: bool,
    /// Attempts of this run that failed.
    pub failures: u64,
    /// Operations of this run of which the first attempt failed.
    pub waits: u64,
}

impl Hand {
    /// One that has not touched its word yet, and is to put values from above `floor` there.
    pub fn new(floor: u64) -> Self {
        Hand { next: floor, floor, last: FIRST, seen: FIRST, ..Hand::default() }
    }

    /// What it has put into the word less what it has taken out, over all runs.
    pub fn balance(&self) -> u64 {
        // Added up in the loop, they would take registers, and the loop would reload the word's address behind each operation.
        let values = u128::from(self.next - self.floor) * (u128::from(self.floor) + u128::from(self.next) + 1) / 2;
        self.loaded.iter().copied().fold(self.balance, u64::wrapping_add).wrapping_add(values as u64)
    }

    #[inline]
    fn put(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Adds the value that one load found, less the first value of the word: a word that no worker writes still holds that.
    #[inline]
    fn load(&mut self, turn: u64, found: u64) {
        let sum = &mut self.loaded[turn as usize % self.loaded.len()];
        *sum = sum.wrapping_add(found).wrapping_sub(FIRST);
    }

    #[inline]
    fn tried(&mut self, failed: bool) {
        self.failures += u64::from(failed);
        self.waits += u64::from(failed && !self.retries);
        self.retries = failed;
    }
}

/// How the final value of the word shows whether each operation took place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// It holds what it held at first, and what the workers' hands say that they have put in less what they have taken out.
    Balance,
    /// It holds the last value of one of the workers.
    Last,
}

pub trait Operation: Send + Sync + 'static {
    type Word: Word;
    const CHECK: Check;
    /// Whether an attempt can fail since another worker came first.
    const CAN_FAIL: bool = false;
    const VARIANT: &'static str;

    /// Does [`ROUND`] operations, or tries to. The count is a constant, so the compiler unrolls the loop; it neither merges nor
    /// drops atomic operations.
    fn round(word: &Self::Word, hand: &mut Hand);
}

pub trait Word: Send + Sync + Sized + 'static {
    fn available() -> bool {
        true
    }

    /// One that holds 1.
    fn new() -> Self;

    fn value(&self) -> u64;
}

pub const FIRST: u64 = 1;

impl Word for AtomicU64 {
    fn new() -> Self {
        AtomicU64::new(FIRST)
    }

    fn value(&self) -> u64 {
        self.load(Ordering::Relaxed)
    }
}

/// The number in the lower half, and its complement in the upper one: a half that was exchanged alone shows.
fn both(number: u64) -> u128 {
    u128::from(!number) << 64 | u128::from(number)
}

impl Word for Wide {
    fn available() -> bool {
        wide::available()
    }

    fn new() -> Self {
        Wide::new(both(FIRST)).expect("a kernel for which there are no such words refuses its stage")
    }

    fn value(&self) -> u64 {
        let whole = self.compare_exchange(0, 0);
        let number = whole as u64;
        // Halves that do not belong together: no hand says that.
        if whole == both(number) { number } else { !number }
    }
}

/// The variants that the tables of instructions call so, by architecture.
macro_rules! instruction {
    ($x86:literal, $arm:literal) => {
        if cfg!(target_arch = "x86_64") {
            $x86
        } else if cfg!(target_arch = "aarch64") {
            $arm
        } else {
            "as compiled"
        }
    };
}

macro_rules! operation {
    ($(#[$doc:meta])* $name:ident, $check:ident, $x86:literal, $arm:literal, |$word:ident, $hand:ident, $turn:ident| $body:expr) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name;

        impl Operation for $name {
            type Word = AtomicU64;
            const CHECK: Check = Check::$check;
            const VARIANT: &'static str = instruction!($x86, $arm);

            #[inline]
            fn round($word: &AtomicU64, $hand: &mut Hand) {
                for $turn in 0..ROUND {
                    $body
                }
            }
        }
    };
}

// Relaxed wherever the name says nothing else: the words guard no other memory.
operation!(
    /// A relaxed load; on x86-64 the same instruction as one of any other ordering.
    Load, Balance, "mov", "ldr",
    |word, hand, turn| hand.load(turn, word.load(Ordering::Relaxed))
);
#[cfg(target_arch = "aarch64")]
operation!(LoadSeqCst, Balance, "mov", "ldar", |word, hand, turn| hand.load(turn, word.load(Ordering::SeqCst)));
operation!(
    /// A relaxed store; on x86-64 the same instruction as one that releases.
    Store, Last, "mov", "str",
    |word, hand, _turn| word.store(hand.put(), Ordering::Relaxed)
);
operation!(
    /// A sequentially consistent store; on aarch64 the same instruction as one that releases.
    StoreSeqCst, Last, "xchg", "stlr",
    |word, hand, _turn| word.store(hand.put(), Ordering::SeqCst)
);
operation!(
    /// A relaxed store and a full fence.
    Fence, Last, "mov, mfence or lock or", "str, dmb ish",
    |word, hand, _turn| {
        word.store(hand.put(), Ordering::Relaxed);
        fence(Ordering::SeqCst);
    }
);
operation!(
    /// Adds 1, and learns what was there.
    FetchAdd, Balance, "lock xadd", "ldadd or ldxr, stxr",
    |word, hand, _turn| {
        // Without the use, an addition without a result would do.
        hand.seen ^= word.fetch_add(1, Ordering::Relaxed);
        hand.balance = hand.balance.wrapping_add(1);
    }
);
#[cfg(target_arch = "aarch64")]
operation!(
    /// Adds 1, and learns what was there, in an order that all agree on.
    FetchAddSeqCst, Balance, "lock xadd", "ldaddal or ldaxr, stlxr",
    |word, hand, _turn| {
        // Without the use, an addition without a result would do.
        hand.seen ^= word.fetch_add(1, Ordering::SeqCst);
        hand.balance = hand.balance.wrapping_add(1);
    }
);
operation!(
    /// Puts a value there, and learns what was there.
    Swap, Balance, "xchg", "swp or ldxr, stxr",
    |word, hand, _turn| hand.balance = hand.balance.wrapping_sub(word.swap(hand.put(), Ordering::Relaxed))
);

/// Adds 1 by compare-and-swap, to what the last attempt found there.
pub struct Cas;

impl Operation for Cas {
    type Word = AtomicU64;
    const CHECK: Check = Check::Balance;
    const CAN_FAIL: bool = true;
    const VARIANT: &'static str = instruction!("lock cmpxchg", "cas or ldxr, stxr");

    #[inline]
    fn round(word: &AtomicU64, hand: &mut Hand) {
        for _ in 0..ROUND {
            let new = hand.seen.wrapping_add(1);
            // Strong, so it fails only if another worker came first.
            let swapped = word.compare_exchange(hand.seen, new, Ordering::Relaxed, Ordering::Relaxed);
            hand.seen = swapped.map_or_else(|found| found, |_| new);
            hand.balance = hand.balance.wrapping_add(u64::from(swapped.is_ok()));
            hand.tried(swapped.is_err());
        }
    }
}

pub struct Cas128;

impl Operation for Cas128 {
    type Word = Wide;
    const CHECK: Check = Check::Balance;
    const CAN_FAIL: bool = true;
    const VARIANT: &'static str = "lock cmpxchg16b";

    #[inline]
    fn round(word: &Wide, hand: &mut Hand) {
        for _ in 0..ROUND {
            let (old, new) = (both(hand.seen), hand.seen.wrapping_add(1));
            let found = word.compare_exchange(old, both(new));
            hand.seen = if found == old { new } else { found as u64 };
            hand.balance = hand.balance.wrapping_add(u64::from(found == old));
            hand.tried(found != old);
        }
    }
}
