//! Which strands run together.

use std::collections::{BTreeMap, BTreeSet};

use fastrand::Rng;

pub(super) fn ordered(a: usize, b: usize) -> (usize, usize) {
    (a.min(b), a.max(b))
}

/// Rounds of random halves among so many strands: enough for each sibling to stand out from all other strands.
///
/// A strand is active in half of the rounds, and any other strand in a random half of those. That a stranger happens to be active in
/// exactly the slow ones has probability 2^−(rounds / 2): for all pairs of n strands at once, 2 log2 n rounds of activity are needed,
/// 4 log2 n in all. The rest is for noise and for cores of several siblings (group testing; R. Dorfman, "The detection of defective
/// members of large populations", 1943).
pub(super) fn rounds_for(strands: usize) -> usize {
    4 * strands.max(2).ilog2() as usize + 20
}

/// A random half of the strands and its complement, in turn: each strand is active in exactly every second round.
pub(super) fn halves(strands: usize, rounds: usize, random: &mut Rng) -> Vec<Vec<bool>> {
    let mut all = Vec::with_capacity(rounds + 1);
    while all.len() < rounds {
        let mut order: Vec<usize> = (0..strands).collect();
        random.shuffle(&mut order);
        let mut half = vec![false; strands];
        order.iter().take(strands.div_ceil(2)).for_each(|at| half[*at] = true);
        let other = half.iter().map(|active| !active).collect();
        all.extend([half, other]);
    }
    all
}

/// One strand, or two that run together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Item {
    Alone(usize),
    Pair(usize, usize),
}

impl Item {
    pub(super) fn strands(self) -> impl Iterator<Item = usize> {
        match self {
            Item::Alone(strand) => [Some(strand), None],
            Item::Pair(a, b) => [Some(a), Some(b)],
        }
        .into_iter()
        .flatten()
    }
}

/// For each strand those that may disturb it, itself among them; as it may disturb them.
pub(super) type Near = Vec<BTreeSet<usize>>;

/// As if all strands of these pairs could disturb each other: each item runs by itself.
pub(super) fn by_itself(strands: usize, pairs: &[(usize, usize)]) -> Near {
    vec![pairs.iter().flat_map(|(a, b)| [*a, *b]).collect(); strands]
}

/// Packs items into rounds in which no two are near each other: first fit, behind all that are near it already. Strands that are near
/// no item of a round run alone in it, so the load on the machine, and with it the clock of the cores, is the same in all rounds.
pub(super) fn pack(items: &[Item], near: &Near) -> Vec<Vec<Item>> {
    let around = |item: &Item| item.strands().flat_map(|strand| &near[strand]).copied().collect::<Vec<usize>>();
    let mut next = vec![0; near.len()];
    let mut rounds: Vec<Vec<Item>> = Vec::new();
    for item in items {
        let at = item.strands().map(|strand| next[strand]).max().unwrap_or(0);
        around(item).into_iter().for_each(|strand| next[strand] = next[strand].max(at + 1));
        if at == rounds.len() {
            rounds.push(Vec::new());
        }
        rounds[at].push(*item);
    }
    let mut spare: Vec<usize> = items.iter().flat_map(|item| item.strands()).collect();
    spare.sort_unstable();
    spare.dedup();
    for round in &mut rounds {
        let mut busy: BTreeSet<usize> = round.iter().flat_map(around).collect();
        // Not the same ones each time.
        spare.rotate_left(1);
        for strand in &spare {
            if !busy.contains(strand) {
                round.push(Item::Alone(*strand));
                busy.extend(&near[*strand]);
            }
        }
    }
    rounds
}

/// Numbers the parts that edges connect: for each of so many strands its part.
pub(super) fn connected(strands: usize, edges: impl IntoIterator<Item = (usize, usize)>) -> Vec<usize> {
    let mut root: Vec<usize> = (0..strands).collect();
    fn find(root: &mut [usize], mut at: usize) -> usize {
        while root[at] != at {
            root[at] = root[root[at]];
            at = root[at];
        }
        at
    }
    for (a, b) in edges {
        let (a, b) = (find(&mut root, a), find(&mut root, b));
        root[a.max(b)] = a.min(b);
    }
    (0..strands).map(|at| find(&mut root, at)).collect()
}

/// The members of each part, by their first one; parts of one included.
pub(super) fn members(part: &[usize]) -> Vec<Vec<usize>> {
    let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    part.iter().enumerate().for_each(|(strand, part)| members.entry(*part).or_default().push(strand));
    members.into_values().collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn each_strand_is_active_in_half_of_the_rounds(strands in 2_usize..300, seed in any::<u64>()) {
            let rounds = halves(strands, rounds_for(strands), &mut fastrand::Rng::with_seed(seed));
            prop_assert_eq!(rounds.len() % 2, 0);
            for strand in 0..strands {
                prop_assert_eq!(rounds.iter().filter(|round| round[strand]).count(), rounds.len() / 2);
            }
        }

        #[test]
        fn packed_rounds_have_every_item_and_fill_the_machine(
            pairs in prop::collection::vec((0_usize..40, 0_usize..40), 1..60), width in 1_usize..9, reach in 0_usize..9
        ) {
            // Parts, or strands in a row that are near some others.
            let is_near = |a: usize, b: usize| a / width == b / width || a.abs_diff(b) < reach;
            let near = (0..40).map(|a| (0..40).filter(|b| is_near(a, *b)).collect()).collect();
            let alone = (0..40).map(Item::Alone);
            let items: Vec<Item> =
                pairs.into_iter().filter(|(a, b)| a != b).map(|(a, b)| Item::Pair(a, b)).chain(alone).collect();
            let rounds = pack(&items, &near);
            for item in &items {
                prop_assert!(rounds.iter().any(|round| round.contains(item)));
            }
            for round in rounds {
                let disturb = |one: &Item, other: &Item| one.strands().any(|a| other.strands().any(|b| is_near(a, b)));
                for (at, item) in round.iter().enumerate() {
                    prop_assert!(!round[..at].iter().any(|other| disturb(item, other)), "{item:?} of {round:?}");
                }
                prop_assert!((0..40).all(|strand| round.iter().any(|item| disturb(item, &Item::Alone(strand)))));
            }
        }
    }

    #[test]
    fn edges_connect() {
        assert_eq!(connected(5, [(3, 1), (4, 3)]), [0, 1, 2, 1, 1]);
        assert_eq!(members(&[0, 1, 2, 1, 1]), [vec![0], vec![1, 3, 4], vec![2]]);
    }
}
