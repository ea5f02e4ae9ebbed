//! The sharded counter: its limit, that nothing is lost, and that a unit is handed over whole, as models; and the bugs that they
//! catch.

use std::sync::Arc;

use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use crate::{explore, primitives};

/// The interface of the counter, so the models take any copy of it.
trait Counter: Send + Sync + 'static {
    fn take(&self, rank: usize, waits: &mut u64) -> bool;
    fn give(&self, rank: usize);
    fn free(&self) -> u64;
}

/// How a copy is made.
trait Shards: Counter {
    fn shards(units: u64, shards: usize) -> Self;
}

/// Takes copies of the counter in, each as a module of its own.
macro_rules! copies {
    ($($name:ident)*) => { $(
        mod $name {
            use super::{Counter, primitives};

            #[allow(dead_code, unused, clippy::all, reason = "a copy is used as far as the models need it")]
            mod copy {
                include!(concat!(env!("OUT_DIR"), "/sharded/", stringify!($name), ".rs"));
            }

            pub(super) use copy::Sharded;

            impl super::Shards for Sharded {
                fn shards(units: u64, shards: usize) -> Self {
                    Sharded::with_shards(units, shards)
                }
            }
        }
    )* };
}

copies! {
    faithful
    looks_and_then_takes takes_what_it_saw_first taking_sees_nothing giving_publishes_nothing keeps_one_too_many
    loses_the_rest gives_back_what_it_did_not_take loses_a_batch forgets_the_others
}

/// Two workers with a shard each and one unit: its holder is alone with what it stands for, and finds that as the last one
/// left it. In the end the unit is there, for either of them.
fn one_unit<C: Shards>() {
    let (counter, thing) = (Arc::new(C::shards(1, 2)), Arc::new(AtomicUsize::new(0)));
    let turns = both(&counter, {
        let thing = Arc::clone(&thing);
        move |counter, rank| {
            let had = counter.take(rank, &mut 0);
            if had {
                // Two relaxed steps, which anybody in between would spoil.
                let seen = thing.load(Ordering::Relaxed);
                thing.store(seen + 1, Ordering::Relaxed);
                counter.give(rank);
            }
            usize::from(had)
        }
    });
    assert_eq!(thing.load(Ordering::Relaxed), turns[0] + turns[1], "two had the unit");
    assert_eq!(counter.free(), 1, "there is one unit");
    for rank in 0..2 {
        assert!(counter.take(rank, &mut 0), "worker {rank} is refused a unit that is free");
        assert!(!counter.take(1 - rank, &mut 0), "there is one unit");
        counter.give(rank);
    }
}

/// Runs both workers, one of them on this thread.
fn both<C: Counter, R: Send + 'static>(
    counter: &Arc<C>,
    worker: impl Fn(&C, usize) -> R + Clone + Send + 'static,
) -> [R; 2] {
    let other = thread::spawn({
        let (counter, worker) = (Arc::clone(counter), worker.clone());
        move || worker(&counter, 1)
    });
    let mine = worker(counter, 0);
    [mine, other.join().expect("the other worker")]
}

/// Two workers give to one shard, which is full and hands a batch to the middle: nothing is lost, and nothing invented.
fn a_full_shard<C: Shards>() {
    // Two batches: one worker has taken all, and has given back all but two. Each of the two makes the shard full.
    const UNITS: u64 = 33;
    let counter = Arc::new(C::shards(UNITS, 1));
    (0..UNITS).for_each(|_| assert!(counter.take(0, &mut 0), "a unit is refused of many"));
    (0..UNITS - 2).for_each(|_| counter.give(0));
    let had = both(&counter, |counter, rank| {
        counter.give(rank);
        counter.take(rank, &mut 0)
    });
    assert_eq!(had, [true; 2], "a unit is refused of many");
    assert_eq!(counter.free(), UNITS - 2, "as many were given back");
}

/// Both models.
fn models<C: Shards>() {
    explore(one_unit::<C>);
    explore(a_full_shard::<C>);
}

#[test]
fn the_limit_is_kept() {
    models::<faithful::Sharded>();
}

/// Tests that the same models catch a bug, and catch it as what it is.
macro_rules! caught {
    ($($name:ident $what:literal;)*) => { $(
        #[test]
        #[should_panic(expected = $what)]
        fn $name() {
            models::<super::$name::Sharded>();
        }
    )* };
}

mod caught {
    use super::models;

    caught! {
        looks_and_then_takes "two had the unit";
        takes_what_it_saw_first "two had the unit";
        taking_sees_nothing "two had the unit";
        giving_publishes_nothing "two had the unit";
        keeps_one_too_many "there is one unit";
        loses_the_rest "a unit is refused of many";
        gives_back_what_it_did_not_take "as many were given back";
        loses_a_batch "as many were given back";
        forgets_the_others "is refused a unit that is free";
    }
}
