use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use charz_data::{Bytes, PageKind, Params};
use proptest::prelude::*;

use super::worker::{Chaser, Chasing};
use super::*;
use crate::block::{Block, Line};
use crate::kernel::Worker;
use crate::laws::check_refused;
use crate::sys::chase::{LONG_TURN, Rings, TURN};
use crate::tests::{stopped, watch};

const LINE: u64 = Line::BYTES as u64;

fn params(places: u64, stride: u64, chains: u64) -> Params {
    Params { size_bytes: places * stride, stride_bytes: stride, chains, ..Params::SMALL }
}

fn stage(order: Order, params: &Params) -> Chasing {
    Chasing::new("test", order, params).unwrap()
}

/// The line after this one, by the address in it.
fn after(block: &Block, line: usize) -> usize {
    (block.lines()[line].0[0] as usize - block.region().start) / Line::BYTES
}

/// The lines of the ring that begins with this line.
fn ring(block: &Block, first: usize) -> Vec<usize> {
    let mut ring = vec![first];
    loop {
        match after(block, ring[ring.len() - 1]) {
            next if next == first => return ring,
            next => ring.push(next),
        }
        assert!(ring.len() <= block.lines().len(), "a path that leads back to none of its beginning");
    }
}

/// What is linked is what was found to be free: a place that is asked for again may be another one, outside the block.
#[test]
fn each_place_is_asked_for_once() {
    let asked = Cell::new(0);
    let place = |rank| {
        asked.set(asked.get() + 1);
        if asked.get() > 12 { usize::MAX } else { rank }
    };
    let mut rings = Rings::link(Block::zeroed(12, PageKind::Small).unwrap(), 3, 4, place).unwrap();
    rings.follow(1);
    assert_eq!((rings.ranks().collect::<Vec<_>>(), asked.get()), (vec![0, 4, 8], 12));
}

fn head(rings: &Rings, number: usize) -> usize {
    let block = rings.block();
    let rank = rings.ranks().nth(number).unwrap();
    block.lines().iter().position(|line| line.0[1] == rank + 1).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Every place of the block, but for those that are left over, is in one ring; and heads go where links lead.
    #[test]
    fn rings_have_their_full_length(length in 1..200_u64, step in 1..5_u64, chains in 1..=16_u64, more in 0..16_u64, turns in 0..20_u64) {
        for (order, chains) in [(Order::Random, chains), (Order::Ascending, 1)] {
            let stage = stage(order, &params(length * chains + more % chains, step * LINE, chains));
            let mut rings = Chaser::new(stage, 0).unwrap().rings;
            let heads: Vec<usize> = (0..chains as usize).map(|number| head(&rings, number)).collect();
            let walked: Vec<Vec<usize>> = heads.iter().map(|head| ring(rings.block(), *head)).collect();
            prop_assert!(walked.iter().all(|ring| ring.len() as u64 == length));
            let all: HashSet<usize> = walked.iter().flatten().copied().collect();
            prop_assert_eq!(all.len() as u64, length * chains, "a place is in two rings");
            prop_assert!(all.iter().all(|line| line % step as usize == 0));
            rings.follow(turns);
            for (number, ring) in walked.iter().enumerate() {
                prop_assert_eq!(head(&rings, number), ring[(turns * TURN % length) as usize]);
            }
        }
    }
}

/// The 6 cycles over 4 places come up alike: of 6000 each 1000 times, with a standard deviation of 29.
#[test]
fn all_cycles_have_the_same_chance() {
    let mut counts: HashMap<Vec<usize>, u32> = HashMap::new();
    for seed in 0..6000 {
        let rings = Order::Random.link(Block::zeroed(4, PageKind::Small).unwrap(), 1, 4, 1, seed).unwrap();
        *counts.entry(ring(rings.block(), 0)).or_default() += 1;
    }
    assert_eq!(counts.len(), 6, "{counts:?}");
    assert!(counts.values().all(|count| (850..1150).contains(count)), "{counts:?}");
}

#[test]
fn ascending_places_follow_each_other() {
    let stage = stage(Order::Ascending, &params(5, 128, 1));
    let rings = Chaser::new(stage, 3).unwrap().rings;
    assert_eq!(ring(rings.block(), 0), [0, 2, 4, 6, 8]);
}

#[test]
fn workers_have_orders_of_their_own() {
    let stage = stage(Order::Random, &params(100, 64, 1));
    let [one, same, other] = [0, 0, 1].map(|rank| ring(Chaser::new(stage, rank).unwrap().rings.block(), 0));
    assert_eq!(one, same);
    assert_ne!(one, other);
}

/// Whether an order of the places of two rings of three gives rings.
#[track_caller]
fn check_linked(order: [usize; 6], linked: bool) {
    let block = Block::zeroed(6, PageKind::Small).unwrap();
    assert_eq!(Rings::link(block, 2, 3, |rank| order[rank]).is_some(), linked, "{order:?}");
}

#[test]
fn what_is_no_order_gives_no_rings() {
    check_linked([0, 1, 2, 3, 4, 5], true);
    check_linked([5, 3, 1, 0, 2, 4], true);
    check_linked([0, 1, 2, 3, 4, 4], false);
    check_linked([0, 1, 0, 3, 4, 5], false);
    check_linked([0, 1, 2, 3, 4, 6], false);
    check_linked([0, 1, 2, 3, 4, usize::MAX], false);
    for (rings, length) in [(0, 3), (1, 0), (17, 1)] {
        assert!(Rings::link(Block::zeroed(32, PageKind::Small).unwrap(), rings, length, |rank| rank).is_none());
    }
}

#[test]
fn runs_go_on_where_the_last_one_ended() {
    for (order, chains, turn) in [(Order::Random, 1, TURN), (Order::Random, 3, TURN), (Order::Unrolled, 1, LONG_TURN)] {
        let params = params(1000, 64, chains);
        let stage = stage(order, &params);
        let mut chaser = Chaser::new(stage, 0).unwrap();
        let mut ops = 0;
        for _ in 0..3 {
            let work = chaser.run(&watch(Some(params.span())));
            assert_eq!(work.ops.0 % (chains * turn), 0);
            ops += work.ops.0;
            assert_eq!(chaser.verify(), Ok(()));
        }
        assert!(ops > 0 && chaser.loads == ops / chains);
        assert_eq!(chaser.rings.ranks().next(), Some(chaser.loads % (1000 / chains)));
    }
}

/// No head gets to its place unless all operations were done: what a place holds is no address.
#[test]
fn what_is_loaded_is_computed_before_the_next_load() {
    for (chains, ops) in [(1, 0), (1, 2), (3, 100), (16, 4096)] {
        let params = Params { ops_per_load: ops, ..params(1000, 64, chains) };
        let mut chaser = Chaser::new(stage(Order::Computing, &params), 0).unwrap();
        let block = chaser.rings.block();
        let region = block.region();
        let is_address = |line: &Line| (region.start..region.start + region.bytes).contains(&(line.0[0] as usize));
        assert_eq!(block.lines().iter().any(is_address), ops == 0, "{ops} operations");
        assert_eq!(block.lines().iter().all(is_address), ops == 0 && chains == 1, "{ops} operations");
        let work = chaser.run(&watch(Some(params.span())));
        assert!(work.ops.0 > 0 && work.ops.0.is_multiple_of(chains) && chaser.loads == work.ops.0 / chains);
        assert_eq!(chaser.verify(), Ok(()));
    }
}

#[test]
fn a_round_before_a_run_counts_as_no_work() {
    let mut chaser = Chaser::new(stage(Order::Random, &params(1000, 64, 1)), 0).unwrap();
    chaser.prepare();
    assert!(chaser.loads >= 1000, "{} loads are no round", chaser.loads);
    assert_eq!(chaser.run(&stopped()).ops.0, 0);
    assert_eq!(chaser.verify(), Ok(()));
}

#[test]
fn a_load_that_was_left_out_is_seen() {
    let mut chaser = Chaser::new(stage(Order::Random, &params(64, 64, 2)), 0).unwrap();
    chaser.loads += 1;
    let error = chaser.verify().unwrap_err().to_string();
    assert!(error.contains("led to place 0 instead of 1") && error.contains("cycle 0"), "{error}");
}

#[test]
fn parameters_without_sense_are_refused() {
    for stride in [0, 1, 63, 65, u64::MAX] {
        check_refused(KERNELS[0], 1, Params { stride_bytes: stride, ..params(100, 64, 1) }, "a multiple of 64");
    }
    check_refused(KERNELS[0], 1, Params { size_bytes: 63, ..params(1, 64, 1) }, "at least 64 bytes a worker, not 63");
    check_refused(KERNELS[3], 1, params(15, 128, 16), "at least 2048 bytes a worker, not 1920");
    for chains in [0, 17, u64::MAX] {
        check_refused(KERNELS[3], 1, params(100, 64, chains), "1 to 16 chains");
    }
    let odd = Params { ops_per_load: 3, ..params(100, 64, 1) };
    check_refused(KERNELS[4], 1, odd, "an even number");
    check_refused(KERNELS[0], 1, params((1 << 32) + 1, 64, 1), "a longer stride or a smaller size");
    let huge = Params { size_bytes: u64::MAX, stride_bytes: u64::MAX - 63, ..Params::SMALL };
    assert!(matches!(KERNELS[1].stage(&huge, 1).unwrap().worker(0).err(), Some(Error::Refused(_))));
}

/// What a kernel has no knob for changes nothing.
#[test]
fn chains_are_for_those_that_have_several() {
    assert!(KERNELS[0].stage(&params(100, 64, 99), 1).is_ok());
}

#[test]
fn drawing_an_order_takes_memory_too() {
    let params = params(1 << 20, 64, 1);
    assert_eq!(KERNELS[1].footprint(&params), Bytes(64 << 20));
    assert_eq!(KERNELS[0].footprint(&params), Bytes(68 << 20));
}
