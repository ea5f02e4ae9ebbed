//! What further strands of a core add, and what memory elsewhere costs.

use std::collections::HashMap;

use super::{Basis, Load, Number, Rivals, better, of_performance};
use crate::number::left_by_quota;
use crate::verdict::Loss;
use charz_data::report::{Interval, Report};

/// As many threads on each core, beside one on each of the same cores.
#[derive(Clone, Copy, Debug)]
pub struct Strands<'a> {
    pub cores: usize,
    pub per_core: usize,
    /// Of the several per core, beside the one.
    loss: Loss<'a>,
}

impl Strands<'_> {
    /// What they add, as a fraction of what one per core does; negative where they cost.
    pub fn gain(&self) -> f64 {
        of_performance(&self.loss)[0] - 1.0
    }

    pub fn interval(&self) -> Option<Interval> {
        let [_, low, high] = of_performance(&self.loss);
        self.loss.interval.map(|_| Interval { low: low - 1.0, high: high - 1.0 })
    }

    pub fn is_sure(&self) -> bool {
        self.loss.is_sure()
    }
}

/// Of the pairs of numbers on the same cores that with the most cores, and then the fewest threads on each.
pub(super) fn strands<'a>(numbers: &[Number<'a>], rivals: &Rivals<'_>, report: &Report) -> Option<Strands<'a>> {
    let core_of: HashMap<u32, u32> =
        report.machine.strands.iter().filter_map(|strand| Some((strand.os_id, strand.core?))).collect();
    // The cores of a number's seats, ascending, where each has as many threads on as many strands.
    let on_cores = |number: &Number<'a>| {
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
    let is_pair = |(_, cores, per_core): &&(Number<'_>, Vec<u32>, usize)| *per_core > 1 && best(cores, 1).is_some();
    let (_, cores, per_core) =
        placed.iter().filter(is_pair).max_by_key(|(_, cores, per_core)| (cores.len(), std::cmp::Reverse(*per_core)))?;
    let (several, one) = (best(cores, *per_core)?, best(cores, 1)?);
    // What a quota takes of more threads is not what they cost each other.
    let left = |number: &Number<'_>| left_by_quota(report, &number.cell.kernel, number.cell.workers, number.origin);
    let loss = Some(rivals.loss(several, &one)).filter(|_| left(&several) == left(&one))?;
    Some(Strands { cores: cores.len(), per_core: *per_core, loss })
}

/// The same threads under the same mapping with their memory elsewhere, where the sweep varies that.
pub(super) fn memory<'a>(load: Load, best: &Number<'_>, rivals: &Rivals<'_>, report: &'a Report) -> Vec<Loss<'a>> {
    let own = best.cell;
    let elsewhere = report.cells.iter().filter(|cell| {
        let mut point = cell.point;
        point.memory = own.point.memory;
        (&cell.kernel, &cell.mapping, cell.workers, cell.unit) == (&own.kernel, &own.mapping, own.workers, own.unit)
            && point == own.point
            && cell.point != own.point
    });
    let numbers = Basis::of(report).numbers(elsewhere).into_iter();
    numbers.map(|number| rivals.loss(load.shared(number.in_quota(report)), best)).collect()
}
