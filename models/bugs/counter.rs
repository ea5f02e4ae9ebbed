//! The bugs of the sharded counter.

use super::Part;

pub(super) const PARTS: &[Part] = &[Part {
    name: "sharded",
    file: "../crates/kernels/src/sync/counter/sharded.rs",
    bugs: &[
        (
            "looks_and_then_takes",
            "stock.compare_exchange(seen, seen - taken, Ordering::Acquire, Ordering::Relaxed)",
            "{ stock.store(seen - taken, Ordering::Release); Ok::<u64, u64>(seen) }",
        ),
        ("takes_what_it_saw_first", "Err(found) => seen = found,", "Err(_) => return taken,"),
        ("taking_sees_nothing", "Ordering::Acquire, Ordering::Relaxed)", "Ordering::Relaxed, Ordering::Relaxed)"),
        ("giving_publishes_nothing", "fetch_add(units, Ordering::Release)", "fetch_add(units, Ordering::Relaxed)"),
        ("keeps_one_too_many", "give(&self.shards[ours], fetched - 1);", "give(&self.shards[ours], fetched);"),
        ("loses_the_rest", "give(&self.shards[ours], fetched - 1);", ""),
        ("gives_back_what_it_did_not_take", "give(&self.middle, take(ours, BATCH));", "give(&self.middle, BATCH);"),
        ("loses_a_batch", "give(&self.middle, take(ours, BATCH));", "take(ours, BATCH);"),
        ("forgets_the_others", "others.into_iter().any(|shard| take(shard, 1) == 1)", "false"),
    ],
}];
