//! Which strands run together.

use std::collections::BTreeMap;

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

/// Packs items into rounds in which no two touch the same part, such as a core: first fit, behind all that touch it already. A part
/// with nothing to do runs one of its strands alone, so the load on the machine, and with it the clock of the cores, is the same in
/// all rounds.
pub(super) fn pack(items: &[Item], part: &[usize]) -> Vec<Vec<Item>> {
    let mut next: BTreeMap<usize, usize> = BTreeMap::new();
    let mut idle: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut rounds: Vec<Vec<Item>> = Vec::new();
    for item in items {
        let at = item.strands().map(|strand| next.get(&part[strand]).copied().unwrap_or(0)).max().unwrap_or(0);
        item.strands().for_each(|strand| {
            next.insert(part[strand], at + 1);
            let of_part = idle.entry(part[strand]).or_default();
            if !of_part.contains(&strand) {
                of_part.push(strand);
            }
        });
        if at == rounds.len() {
            rounds.push(Vec::new());
        }
        rounds[at].push(*item);
    }
    for (number, round) in rounds.iter_mut().enumerate() {
        let mut busy: Vec<usize> = round.iter().flat_map(|item| item.strands()).map(|strand| part[strand]).collect();
        busy.sort_unstable();
        let spare = idle.iter().filter(|(part, _)| busy.binary_search(part).is_err());
        let fill: Vec<Item> = spare.map(|(_, strands)| Item::Alone(strands[number % strands.len()])).collect();
        round.extend(fill);
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
        fn packed_rounds_have_every_item_and_no_part_twice(
            pairs in prop::collection::vec((0_usize..40, 0_usize..40), 1..60), width in 1_usize..9
        ) {
            let part: Vec<usize> = (0..40).map(|strand| strand / width).collect();
            let alone = (0..40).map(Item::Alone);
            let items: Vec<Item> =
                pairs.into_iter().filter(|(a, b)| a != b).map(|(a, b)| Item::Pair(a, b)).chain(alone).collect();
            let rounds = pack(&items, &part);
            for item in &items {
                prop_assert!(rounds.iter().any(|round| round.contains(item)));
            }
            let all: std::collections::BTreeSet<usize> = part.iter().copied().collect();
            for round in rounds {
                let mut parts: Vec<usize> = round.iter().flat_map(|item| {
                    let mut parts: Vec<usize> = item.strands().map(|strand| part[strand]).collect();
                    parts.dedup();
                    parts
                }).collect();
                parts.sort_unstable();
                prop_assert_eq!(parts, all.iter().copied().collect::<Vec<_>>(), "each part once");
            }
        }
    }

    #[test]
    fn edges_connect() {
        assert_eq!(connected(5, [(3, 1), (4, 3)]), [0, 1, 2, 1, 1]);
        assert_eq!(members(&[0, 1, 2, 1, 1]), [vec![0], vec![1, 3, 4], vec![2]]);
    }
}
