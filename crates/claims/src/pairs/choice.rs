//! Which pairs are measured where there are too many for all.

use charz_data::Arrange;
use std::cmp::Reverse;

use charz_data::machine::{Machine, Strand};

use super::{Class, Classes, each_way};

/// The fewest pairs of a class that say something of it, if it has as many.
pub const LEAST: u64 = 3;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// OS ids, home first; by the order of the strands.
    pub pairs: Vec<[u32; 2]>,
    /// Every class that there is, the nearest first.
    pub classes: Vec<Chosen>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chosen {
    pub class: Class,
    pub pairs: u64,
    pub chosen: u64,
}

/// Chooses about `most` pairs of these strands: as many of each class, at least [`LEAST`], or all of those that have fewer. Which
/// they are is drawn from the seed, each pair of a class as likely as another.
pub fn choose(machine: &Machine, strands: &[&Strand], most: u64, seed: u64) -> Choice {
    let classes = Classes::of(machine, strands);
    let counts: Vec<u64> = classes.list.iter().map(|(_, count)| *count).collect();
    let shares = shares(&counts, most);
    let mut random = fastrand::Rng::with_seed(seed);
    // J. S. Vitter, "Random sampling with a reservoir", TOMS 11 (1985), algorithm R, for each class.
    let mut drawn: Vec<Vec<(usize, usize)>> = vec![Vec::new(); shares.len()];
    let mut seen = vec![0_u64; shares.len()];
    each_way(machine, strands, |from, to, distance| {
        let number = classes.number(from, to, distance);
        let (share, drawn, seen) = (shares[number], &mut drawn[number], &mut seen[number]);
        *seen += 1;
        if *seen <= share {
            drawn.push((from, to));
        } else {
            let place = random.u64(..*seen);
            if place < share {
                drawn[place as usize] = (from, to);
            }
        }
    });
    let mut pairs: Vec<(usize, usize)> = drawn.into_iter().flatten().collect();
    pairs.sort_unstable();
    let sized = classes.list.iter().zip(&shares);
    let mut classes: Vec<Chosen> = sized.map(|(&(class, pairs), &chosen)| Chosen { class, pairs, chosen }).collect();
    classes.arrange_by_key(|chosen| chosen.class);
    Choice { pairs: pairs.into_iter().map(|(from, to)| [strands[from].os_id, strands[to].os_id]).collect(), classes }
}

/// How many of each class are measured where `most` are altogether: what the small ones leave goes to the large ones.
fn shares(counts: &[u64], most: u64) -> Vec<u64> {
    let mut shares = vec![0; counts.len()];
    let mut left = most;
    let mut order: Vec<usize> = (0..counts.len()).collect();
    order.arrange_by_key(|&number| Reverse(counts[number]));
    while let Some(number) = order.pop() {
        let share = counts[number].min(left / (order.len() as u64 + 1));
        left -= share;
        shares[number] = share.max(LEAST).min(counts[number]);
    }
    shares
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn shares_are_fair(counts in prop::collection::vec(1_u64..100, 1..20), most in 0_u64..1500) {
            let shares = shares(&counts, most);
            let total: u64 = counts.iter().sum();
            for (one, count) in shares.iter().zip(&counts) {
                prop_assert!(*one <= *count && *one >= LEAST.min(*count));
                // A smaller share is a whole class, or one less than the others.
                prop_assert!(shares.iter().all(|other| other <= one || one == count || other - one <= 1), "{:?}", shares);
            }
            if most >= total {
                prop_assert_eq!(&shares, &counts);
            }
            if most >= LEAST * counts.len() as u64 {
                prop_assert!(shares.iter().sum::<u64>() <= most, "{:?}", shares);
                prop_assert!(shares.iter().sum::<u64>() + counts.len() as u64 > most.min(total), "{:?}", shares);
            }
        }
    }
}
