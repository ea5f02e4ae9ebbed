//! The stack without a lock: that nothing is in two hands, nothing is lost, and what one holder did the next one sees, as
//! models; and the bugs that they catch.

use std::sync::Arc;

use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use crate::explore;
use crate::primitives::{self, WaitStats};

/// What refuses a pool; none of these does.
type Error = &'static str;

/// The interface of the pools, so the models take any copy.
#[allow(dead_code, reason = "it is that of the kernels, of which the models need a part")]
trait Pool: Sized + Send + Sync + 'static {
    const MEETING: &'static str;
    type Hand;
    fn new(workers: usize, items: u32) -> Result<Self, Error>;
    fn hand(&self, rank: usize) -> Result<Self::Hand, Error>;
    fn fill(&self, items: impl Iterator<Item = u32>);
    fn take(&self, hand: &mut Self::Hand, stats: &mut WaitStats) -> Option<u32>;
    fn give(&self, hand: &mut Self::Hand, item: u32, stats: &mut WaitStats);
}

/// Takes copies of the stack in, each as a module of its own.
macro_rules! copies {
    ($($name:ident)*) => { $(
        mod $name {
            use super::{Error, WaitStats, Pool, primitives};

            #[allow(dead_code, unused, clippy::all, reason = "a copy is used as far as the models need it")]
            mod copy {
                include!(concat!(env!("OUT_DIR"), "/treiber/", stringify!($name), ".rs"));
            }

            pub(super) type AtOnce = copy::Treiber<copy::AtOnce>;
            pub(super) type Backoff = copy::Treiber<copy::Backoff>;
        }
    )* };
}

copies! {
    faithful has_no_tag looking_sees_nothing pushing_publishes_nothing forgets_what_lies_below takes_in_two_steps
    gives_up_after_a_failure
}

/// A pool and its items: whether each is taken, and how often it was, counted in two steps without an order, so
/// only the pool's order keeps a count from being lost.
struct Stock<P> {
    pool: P,
    held: Vec<AtomicUsize>,
    uses: Vec<AtomicUsize>,
}

impl<P: Pool<Hand = ()>> Stock<P> {
    fn new(items: u32) -> Arc<Self> {
        let pool = P::new(3, items).expect("none is refused");
        pool.fill(0..items);
        let zeros = || (0..items).map(|_| AtomicUsize::new(0)).collect();
        Arc::new(Stock { pool, held: zeros(), uses: zeros() })
    }

    fn take(&self) -> Option<u32> {
        let item = self.pool.take(&mut (), &mut WaitStats::default())?;
        let before = self.held[item as usize].fetch_add(1, Ordering::Relaxed);
        assert_eq!(before, 0, "an item is in two hands");
        let uses = &self.uses[item as usize];
        uses.store(uses.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        Some(item)
    }

    fn give(&self, item: u32) {
        self.held[item as usize].fetch_sub(1, Ordering::Relaxed);
        self.pool.give(&mut (), item, &mut WaitStats::default());
    }

    /// What comes out at the end is each item once, and was used so many times.
    fn check(&self, takes: usize) {
        let mut found: Vec<_> = std::iter::from_fn(|| self.take()).collect();
        found.sort_unstable();
        let all: Vec<_> = (0..self.held.len() as u32).collect();
        assert_eq!(found, all, "items were lost");
        let uses: usize = self.uses.iter().map(|uses| uses.load(Ordering::Relaxed)).sum();
        assert_eq!(uses, takes + all.len(), "a use was lost between two hands");
    }
}

/// One worker takes an item and gives it back. Another takes two, gives them back in the order in which it took them: the
/// first is back on top with something else below, and counts those that it found.
fn conserves<P: Pool<Hand = ()>>() {
    explore(|| {
        let stock = Stock::<P>::new(2);
        let other = thread::spawn({
            let stock = Arc::clone(&stock);
            move || {
                let (first, second) = (stock.take(), stock.take());
                first.into_iter().for_each(|item| stock.give(item));
                let again = stock.take();
                [second, again].into_iter().flatten().for_each(|item| stock.give(item));
                [first, second, again].into_iter().flatten().count()
            }
        });
        let mine = stock.take();
        mine.into_iter().for_each(|item| stock.give(item));
        let theirs = other.join().expect("a worker panicked");
        stock.check(theirs + usize::from(mine.is_some()));
    });
}

/// Three workers, one item each: each finds one.
fn has_enough<P: Pool<Hand = ()>>() {
    explore(|| {
        let stock = Stock::<P>::new(3);
        let serve = |stock: &Stock<P>| {
            let item = stock.take().expect("there is an item for each");
            stock.give(item);
        };
        let others: Vec<_> = (0..2)
            .map(|_| {
                let stock = Arc::clone(&stock);
                thread::spawn(move || serve(&stock))
            })
            .collect();
        serve(&stock);
        for other in others {
            other.join().expect("a worker panicked");
        }
        stock.check(3);
    });
}

fn keeps_its_promises<P: Pool<Hand = ()>>() {
    conserves::<P>();
    has_enough::<P>();
}

#[test]
fn the_stack_keeps_its_promises() {
    keeps_its_promises::<faithful::AtOnce>();
}

#[test]
fn the_stack_that_backs_off_keeps_its_promises() {
    keeps_its_promises::<faithful::Backoff>();
}

/// Tests that the same models catch a bug, and catch it as what it is.
macro_rules! caught {
    ($($bug:ident: $what:literal)*) => {
        mod bugs { $(
            mod $bug {
                use super::super::{$bug, keeps_its_promises};

                #[test]
                #[should_panic(expected = $what)]
                fn at_once() {
                    keeps_its_promises::<$bug::AtOnce>();
                }

                #[test]
                #[should_panic(expected = $what)]
                fn backing_off() {
                    keeps_its_promises::<$bug::Backoff>();
                }
            }
        )* }
    };
}

caught! {
    has_no_tag: "two hands"
    looking_sees_nothing: "two hands"
    pushing_publishes_nothing: "two hands"
    forgets_what_lies_below: "items were lost"
    takes_in_two_steps: "an item is in two hands"
    gives_up_after_a_failure: "items were lost"
}
