//! What further strands of a core add, and what memory elsewhere costs.

use std::collections::HashMap;

use charz_data::report::{Interval, Report};
use charz_estimate::{Estimate, Peers, Relation, Series, better, left_by_quota};

/// As many threads on each core, beside one on each of the same cores.
#[derive(Clone, Copy, Debug)]
pub struct Strands<'a> {
    pub cores: usize,
    pub per_core: usize,
    /// Of the several per core, beside the one.
    loss: Relation<'a>,
}

impl Strands<'_> {
    /// What they add, as a fraction of what one per core does; negative where they cost.
    pub fn gain(&self) -> f64 {
        self.loss.performance()[0] - 1.0
    }

    pub fn interval(&self) -> Option<Interval> {
        let [_, low, high] = self.loss.performance();
        self.loss.interval.map(|_| Interval { low: low - 1.0, high: high - 1.0 })
    }

    pub fn is_shown(&self) -> bool {
        self.loss.is_shown()
    }
}

/// Of the pairs of numbers on the same cores that with the most cores, and then the fewest threads on each.
pub(super) fn strands<'a>(numbers: &[Estimate<'a>], rivals: &Peers<'_>, report: &Report) -> Option<Strands<'a>> {
    let core_of: HashMap<u32, u32> =
        report.machine.strands.iter().filter_map(|strand| Some((strand.os_id, strand.core?))).collect();
    // The cores of a number's seats, ascending, where each has as many threads on as many strands.
    let on_cores = |number: &Estimate<'a>| {
        let mut seats: Vec<u32> = number.cell.seats.iter().copied().collect::<Option<_>>()?;
        seats.sort_unstable();
        let all = seats.len();
        seats.dedup();
        let mut cores: Vec<u32> = seats.iter().map(|seat| core_of.get(seat).copied()).collect::<Option<_>>()?;
        cores.sort_unstable();
        let per_core: Vec<usize> = cores.chunk_by(|one, other| one == other).map(<[u32]>::len).collect();
        cores.dedup();
        let first = *per_core.first()?;
        (all == seats.len() && per_core.iter().all(|count| *count == first)).then_some((*number, cores, first))
    };
    let placed: Vec<_> = numbers.iter().filter_map(on_cores).collect();
    // Under the mapping that is the best of those.
    let best = |cores: &Vec<u32>, wanted: usize| {
        let same = placed.iter().filter(|(_, others, per_core)| *per_core == wanted && others == cores);
        same.map(|(number, ..)| *number).reduce(better)
    };
    let is_pair = |(_, cores, per_core): &&(Estimate<'_>, Vec<u32>, usize)| *per_core > 1 && best(cores, 1).is_some();
    let (_, cores, per_core) =
        placed.iter().filter(is_pair).max_by_key(|(_, cores, per_core)| (cores.len(), std::cmp::Reverse(*per_core)))?;
    let (several, one) = (best(cores, *per_core)?, best(cores, 1)?);
    // What a quota takes of more threads is not what they cost each other.
    let left = |number: &Estimate<'_>| left_by_quota(report, &number.cell.kernel, number.cell.workers, number.quantity);
    let loss = Some(rivals.relate(several, &one)).filter(|_| left(&several) == left(&one))?;
    Some(Strands { cores: cores.len(), per_core: *per_core, loss })
}

/// The same threads under the same mapping with their memory elsewhere, where the sweep varies that.
pub(super) fn memory<'a>(best: &Estimate<'a>, rivals: &Peers<'_>, series: &[Series<'a>]) -> Vec<Relation<'a>> {
    let own = best.cell;
    let elsewhere = series.iter().filter(|series| {
        let mut point = series.point();
        point.memory = own.point.memory;
        (series.kernel(), series.cell().unit, point) == (own.kernel.as_str(), own.unit, own.point)
            && series.point() != own.point
    });
    let of_own = |number: &Estimate<'_>| (&number.cell.mapping, number.cell.workers) == (&own.mapping, own.workers);
    let numbers = elsewhere.flat_map(|series| &series.estimates).filter(|number| of_own(number));
    numbers.map(|number| rivals.relate(*number, best)).collect()
}
