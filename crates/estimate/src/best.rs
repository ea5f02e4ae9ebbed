//! The best of several estimates.

use std::collections::BTreeMap;

use crate::estimate::Estimate;

/// Of two numbers the better; of equals the first.
pub fn better<'a>(best: Estimate<'a>, next: Estimate<'a>) -> Estimate<'a> {
    if next.is_better(&best) { next } else { best }
}

/// The answer to which of several cells is best.
pub struct Best<'a> {
    /// Of the numbers that meet the best value the one of the fewest workers; of those of as many the best of those whose workers are bound,
    /// if any are: what unbound workers do is known less well. Of equals the first.
    pub number: Estimate<'a>,
    /// The others that meet the best value with as many workers.
    pub alike: Vec<Estimate<'a>>,
}

impl<'a> Best<'a> {
    /// Suspect numbers compete too, for the best of those that happen to be `ok` may be far from the best.
    pub fn of(numbers: &[Estimate<'a>]) -> Option<Self> {
        let top = numbers.iter().copied().reduce(better)?;
        let reaching = || numbers.iter().copied().filter(|number| number.meets(&top));
        let fewest = reaching().map(|number| number.cell.workers).min()?;
        let with_fewest = || reaching().filter(|number| number.cell.workers == fewest);
        let bound = with_fewest().filter(Estimate::is_bound).reduce(better);
        let number = bound.or_else(|| with_fewest().reduce(better))?;
        let alike = with_fewest().filter(|other| !std::ptr::eq(other.cell, number.cell)).collect();
        Some(Best { number, alike })
    }
}

/// The best of each group of two or more numbers, in the order of the keys.
pub fn contests<'a, K: Ord>(
    numbers: impl IntoIterator<Item = Estimate<'a>>,
    key: impl Fn(&Estimate<'a>) -> K,
) -> impl Iterator<Item = Best<'a>> {
    let mut groups: BTreeMap<K, Vec<Estimate<'a>>> = BTreeMap::new();
    for number in numbers {
        groups.entry(key(&number)).or_default().push(number);
    }
    let same_unit = |numbers: &[Estimate<'_>]| numbers.windows(2).all(|pair| pair[0].cell.unit == pair[1].cell.unit);
    let contests = groups.into_values().filter(move |numbers| numbers.len() > 1 && same_unit(numbers));
    contests.filter_map(|numbers| Best::of(&numbers))
}
