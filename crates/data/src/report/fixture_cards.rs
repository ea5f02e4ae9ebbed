//! Cards of kernels that tests name, as the catalog has them in all that readers look at.

use std::borrow::Cow;

use crate::card::{Access, Chase, CounterKind, LineOperation, Multiplier, Numbers, Waiter, WordOwner, Words};
use crate::params::{
    CHAINS, DELAY, DEPTH, INSIDE, LAYOUT, MEMORY, OPS, ORDER, OUTSIDE, PAGES, PERIOD, Param, SAMPLES, SIZE, SPAN,
    STEPS, STRIDE, TIMEOUT,
};
use crate::{Card, Family, Metric, Role, Times};

/// Every card of the table, and one for each other name, which says nothing.
pub(super) fn cards<'a>(names: impl Iterator<Item = &'a str>) -> Vec<Card> {
    let mut cards = known();
    for name in names {
        if cards.iter().all(|card| card.name != name) {
            let nothing = Card::new("", Family::Compute, "", Metric::ops("an operation")).by_default();
            cards.push(Card { name: name.to_owned().into(), ..nothing });
        }
    }
    cards
}

const WORK: &[&Param] = &[&STEPS];
const MEM: &[&Param] = &[&SIZE, &MEMORY, &PAGES];
const LEVEL: &[&Param] = &[&SIZE, &MEMORY, &PAGES, &SPAN];
const LOAD: &[&Param] = &[&SPAN, &SIZE, &MEMORY, &PAGES, &DELAY];
const WORD: &[&Param] = &[&SPAN, &SIZE, &MEMORY, &PAGES];
const LOADS: &[&Param] = &[&SPAN, &SIZE, &MEMORY, &PAGES, &STRIDE];
const POOL: &[&Param] = &[&SPAN, &INSIDE, &OUTSIDE];
const WAKE: &[&Param] = &[&SAMPLES, &PERIOD];

fn known() -> Vec<Card> {
    use Family::{Compute, Memory, Sync, Timer, Workload};
    let lock = |is_reference, backs_off| Role::LockPool { is_reference, backs_off };
    let alone = |is_reference, backs_off| Role::Lock { is_reference, backs_off };
    let free = |backs_off| Role::LockFreePool { backs_off };
    let arithmetic: &[&Param] = &[&STEPS, &LAYOUT];
    let rows: Vec<(&str, Family, Role, &'static [&'static Param])> = vec![
        ("noop", Family::Floor, Role::Floor, &[]),
        ("arith-int", Compute, Role::Arithmetic(Numbers::Integer), arithmetic),
        ("arith-float", Compute, Role::Arithmetic(Numbers::Float), arithmetic),
        ("mem-read", Memory, Role::MemoryBandwidth(Access::Read), MEM),
        ("mem-write-data", Memory, Role::MemoryBandwidth(Access::Write), MEM),
        ("mem-write", Memory, Role::Other, MEM),
        ("mem-copy", Memory, Role::Other, MEM),
        ("level-read", Memory, Role::LevelBandwidth(Access::Read), LEVEL),
        ("level-copy", Memory, Role::LevelBandwidth(Access::Copy), LEVEL),
        ("loaded-read", Memory, Role::LoadedLatency, LOAD),
        ("cache-read", Memory, Role::CacheWords(Words::Steady), WORD),
        ("chase-random", Memory, Role::Latency(Chase::Random), LOADS),
        ("chase-stride", Memory, Role::Latency(Chase::Stride), LOADS),
        ("chase-chains", Memory, Role::Latency(Chase::Chains), &[&SPAN, &SIZE, &MEMORY, &PAGES, &STRIDE, &CHAINS]),
        ("chase-compute", Memory, Role::Latency(Chase::Computing), &[&SPAN, &SIZE, &PAGES, &CHAINS, &OPS]),
        ("cas-counter", Sync, Role::Other, &[&SPAN]),
        ("pool-std", Sync, lock(false, None), POOL),
        ("pool-parking-lot", Sync, lock(true, None), POOL),
        ("pool-tas", Sync, lock(false, None), POOL),
        ("pool-tas-backoff", Sync, lock(false, Role::backoff_of("pool-tas")), POOL),
        ("pool-mcs", Sync, lock(false, None), POOL),
        ("acquire-parking-lot", Sync, alone(true, None), POOL),
        ("acquire-tas", Sync, alone(false, None), POOL),
        ("acquire-mcs", Sync, alone(false, None), POOL),
        ("pool-treiber", Sync, free(None), POOL),
        ("pool-treiber-backoff", Sync, free(Role::backoff_of("pool-treiber")), POOL),
        ("pool-deque", Sync, free(None), POOL),
        ("c2c-read-write", Sync, Role::LineTransfer(LineOperation::ReadWrite), WORK),
        ("c2c-cas", Sync, Role::LineTransfer(LineOperation::Cas), WORK),
        ("c2c-fetch-add", Sync, Role::LineTransfer(LineOperation::FetchAdd), WORK),
        ("c2c-exchange", Sync, Role::LineTransfer(LineOperation::Exchange), WORK),
        ("counter-atomic", Sync, Role::Counter(CounterKind::Atomic), POOL),
        ("counter-sharded", Sync, Role::Counter(CounterKind::Sharded), POOL),
        ("atomic-fetch-add", Sync, Role::Adding(WordOwner::All), &[&SPAN]),
        ("atomic-fetch-add-private", Sync, Role::Adding(WordOwner::Worker), &[&SPAN]),
        ("ring-mutex", Sync, Role::Ring, &[&SPAN]),
        ("signal-std", Sync, Role::HandOff(Waiter::Asleep), WAKE),
        ("futex-wake", Sync, Role::HandOff(Waiter::AsleepBare), WAKE),
        ("channel-std", Sync, Role::HandOff(Waiter::Asleep), WAKE),
        ("flag", Sync, Role::HandOff(Waiter::Spinning), WAKE),
        ("barrier-std", Sync, Role::Barrier, &[&SAMPLES]),
        ("barrier-spin", Sync, Role::Barrier, &[&SAMPLES]),
        ("barrier-sense", Sync, Role::Barrier, &[&SAMPLES]),
        ("timeout-futex", Timer, Role::Other, &[&SAMPLES, &TIMEOUT]),
        ("cmt-quota", Workload, Role::Quota, &[&SPAN]),
        ("fft-mutex", Workload, Role::Growing, &[&SPAN]),
        ("matmul-mutex", Workload, Role::Product(Multiplier::Recursion), &[&ORDER, &DEPTH]),
        ("matmul-library", Workload, Role::Product(Multiplier::Library), &[&ORDER]),
    ];
    let default = ["arith-int", "arith-float", "mem-read", "mem-write-data"];
    let card = |(name, family, role, params): (&str, Family, Role, &'static [&'static Param])| Card {
        name: name.to_owned().into(),
        role,
        params: Cow::Borrowed(params),
        by_default: default.contains(&name),
        times: times(name).map(|(first, second)| Times {
            first: first.into(),
            second: second.into(),
            on_one_strand: false,
        }),
        ..Card::new("", family, "", Metric::ops("an operation"))
    };
    rows.into_iter().map(card).collect()
}

/// What the two times of some kernels are.
fn times(name: &str) -> Option<(&'static str, &'static str)> {
    Some(match name {
        "ring-mutex" => ("a hop", "a lap"),
        "signal-std" | "futex-wake" => ("from the call to its return", "from the call to the waiter running"),
        "channel-std" => ("from the send to its return", "from the send to the item received"),
        "flag" => ("from the store to its return", "from the store to the reader having seen it"),
        "timeout-futex" => ("from the call to its return", "from the end of the time to the return"),
        _ if name.starts_with("barrier-") => ("from an arrival to its leaving", "from the last arrival to a leaving"),
        _ if name.starts_with("pool-") => ("to take an item", "to give it back"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As JSON, since the catalog's types are those of another build of this crate.
    #[test]
    fn test_cards_are_as_the_catalog_has_them() {
        for card in known() {
            let kernel = charz_workloads::find(&card.name).unwrap_or_else(|| panic!("{}", card.name));
            let (found, expected) =
                (serde_json::to_value(&card).unwrap(), serde_json::to_value(kernel.card()).unwrap());
            for field in ["family", "role", "by_default"] {
                assert_eq!(found[field], expected[field], "{}: {field}", card.name);
            }
            // A kernel may obey more than readers are tested with.
            let obeyed = expected["params"].as_array().unwrap();
            assert!(found["params"].as_array().unwrap().iter().all(|param| obeyed.contains(param)), "{}", card.name);
            assert_eq!(found["times"].is_null(), expected["times"].is_null(), "{}: times", card.name);
        }
    }
}
