//! From how many workers on a mapping gives nothing more.

use super::Number;

/// A mapping is saturated where it first reaches this share of its best, as a fraction.
pub const SATURATED: f64 = 0.95;

/// Where a mapping is saturated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Saturation<'a> {
    pub mapping: &'a str,
    /// The fewest workers with which it comes to [`SATURATED`] of its best; `None` where only the most that were measured do, so
    /// that nobody knows whether more would give more.
    pub workers: Option<u64>,
    /// The most workers that have a number.
    pub most: u64,
    /// Whether it may be another number of workers: suspect numbers say so, or there are no others.
    pub doubtful: bool,
}

impl<'a> Saturation<'a> {
    /// That of the numbers of a mapping; `None` for times, which have nothing to be saturated, and of one number of workers.
    pub(super) fn of(numbers: &[Number<'a>]) -> Option<Self> {
        let cell = numbers.first()?.cell;
        if !cell.unit.more_is_better() {
            return None;
        }
        let sound: Vec<Number<'_>> = numbers.iter().copied().filter(|number| !number.is_doubtful()).collect();
        let (of_sound, of_all) = (knee(&sound), knee(numbers));
        let (workers, most) = of_sound.or(of_all)?;
        let doubtful =
            of_sound.is_none_or(|(workers, _)| of_all.is_none_or(|(with_suspect, _)| with_suspect != workers));
        Some(Saturation { mapping: &cell.mapping, workers, most, doubtful })
    }
}

/// The fewest workers that are nearly as good as the best, unless these are the most, and the most. `None` for one number of workers.
fn knee(numbers: &[Number<'_>]) -> Option<(Option<u64>, u64)> {
    let workers = |number: &Number<'_>| number.cell.workers;
    let (least, most) = (numbers.iter().map(workers).min()?, numbers.iter().map(workers).max()?);
    let best = numbers.iter().map(|number| number.value).fold(0.0, f64::max);
    let first = numbers.iter().filter(|number| number.value >= SATURATED * best).map(workers).min();
    (least < most).then_some((first.filter(|first| *first < most), most))
}
