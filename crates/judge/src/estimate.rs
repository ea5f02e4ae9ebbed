//! What an invocation's value is: from the times of blocks where the workers share nothing but the machine, else from repetitions.
//!
//! Blocks fit between disturbances, so what was taken from a worker is no part of the value (see [`FastMode`]). Where a fast mode shows
//! in some invocations of a worker, a slower one without it was disturbed from its beginning to its end, and shows nothing of what the hardware
//! does: its worker is taken to do what it does in the others, and where that is most workers, the invocation has no value.

use charz_data::Blocks;
use charz_data::report::{Cell, Ending, Estimator, Invocation, Lap, Run, Unit};
use charz_stats::{FastMode, Sample, median};

/// The share of a worker's invocations in which its fast mode must show for the others to be called disturbed.
const SHOWN: f64 = 1.0 / 3.0;
/// And the fewest: in two it may be chance.
const LEAST_SHOWN: usize = 3;

/// The fast ends of the blocks of each worker, or group of workers, for each invocation: none of those without a block.
#[derive(Clone, Debug, Default)]
pub(super) struct FastModes {
    invocations: Vec<Vec<FastMode>>,
    workers: usize,
}

impl FastModes {
    /// Of the repetitions that count.
    pub(super) fn of(cell: &Cell) -> Self {
        let workers = cell.seats.len();
        let size = Lap::group_size(workers);
        // Of several workers, latencies have a mean of times.
        let by_rate = cell.unit != Unit::NanosecondsPerStep;
        let of_all = |invocation: &Invocation| {
            let mut blocks = vec![Vec::new(); workers.div_ceil(size)];
            for run in invocation.clean_runs() {
                for (group, of_group) in blocks.iter_mut().enumerate() {
                    let laps = run.laps.iter().filter(|lap| lap.rank as usize / size == group);
                    let parts: Option<Vec<_>> = laps.map(|lap| Some((lap.blocks.as_ref()?, lap.workers()))).collect();
                    match parts.as_deref() {
                        Some([(blocks, _)]) => of_group.extend(blocks.weighted()),
                        Some(parts) => of_group.extend(Blocks::mean(parts, by_rate).weighted()),
                        None => {}
                    }
                }
            }
            let modes: Option<Vec<FastMode>> = blocks.into_iter().map(FastMode::of).collect();
            modes.filter(|_| invocation.ending == Ending::Done).unwrap_or_default()
        };
        FastModes { invocations: cell.invocations.iter().map(of_all).collect(), workers }
    }

    /// How many workers each group has.
    fn sizes(&self) -> impl Iterator<Item = u64> + Clone {
        let size = Lap::group_size(self.workers);
        (0..self.workers).step_by(size).map(move |first| size.min(self.workers - first) as u64)
    }

    /// The value of each invocation.
    pub(super) fn values(&self, unit: Unit) -> Vec<Option<f64>> {
        let usual: Vec<Option<f64>> = (0..self.sizes().count()).map(|group| self.usual(group)).collect();
        let value = |modes: &Vec<FastMode>| {
            // Half of its blocks are faster than the mode of the others: that is not what the hardware can do, and the number gets a wide
            // interval.
            let disturbed = |(mode, usual): (&FastMode, &Option<f64>)| {
                usual.filter(|usual| !mode.is_sharp() && mode.value >= *usual)
            };
            let count = modes.iter().zip(&usual).filter_map(disturbed).count();
            let times = modes.iter().zip(&usual).map(|pair| disturbed(pair).unwrap_or(pair.0.value));
            (!modes.is_empty() && count * 2 <= modes.len()).then(|| combined(times.zip(self.sizes()), unit))
        };
        self.invocations.iter().map(value).collect()
    }

    /// The middle of a group's fast modes, where enough of its invocations show one.
    fn usual(&self, group: usize) -> Option<f64> {
        let modes = || self.invocations.iter().filter_map(|modes| modes.get(group));
        let shown = Sample::new(modes().filter(|mode| mode.is_sharp()).map(|mode| mode.value).collect())?;
        let enough = shown.len() >= LEAST_SHOWN && shown.len() as f64 >= SHOWN * modes().count() as f64;
        enough.then(|| shown.median())
    }

    /// By how much the fastest twentieth of the blocks is faster than the value, in the invocation in the middle; as a fraction.
    pub(super) fn headroom(&self, values: &[Option<f64>], unit: Unit) -> Option<f64> {
        let of = |(modes, value): (&Vec<FastMode>, &Option<f64>)| {
            let fastest = combined(modes.iter().map(|mode| mode.fastest).zip(self.sizes()), unit);
            value.map(|value| if unit.more_is_better() { fastest / value - 1.0 } else { value / fastest - 1.0 })
        };
        median(self.invocations.iter().zip(values).filter_map(of))
    }

    /// The share of the blocks that have the speed of the number, of the worker and the invocation in the middle; `None` where none shows
    /// a fast mode.
    pub(super) fn share(&self) -> Option<f64> {
        median(self.invocations.iter().flatten().filter(|mode| mode.is_sharp()).map(|mode| mode.share))
    }

    /// Another speed that at least a fourth of the blocks have, and no fewer than the fast one: both speeds as times of a unit of work,
    /// each with its share, of the worker and the invocation in the middle by the share of the slower one.
    pub(super) fn other_speed(&self) -> Option<[(f64, f64); 2]> {
        const LEAST: f64 = 0.25;
        let mut modes: Vec<&FastMode> = self.invocations.iter().flatten().filter(|mode| mode.is_sharp()).collect();
        modes.sort_by(|one, other| one.slower.1.total_cmp(&other.slower.1));
        let middle = modes.get(modes.len() / 2)?;
        let larger = middle.slower.1 >= LEAST && middle.slower.1 >= middle.share;
        larger.then_some([(middle.value, middle.share), middle.slower])
    }
}

/// What workers do together that take so many nanoseconds each for a unit of work: a time, and how many have it.
fn combined(times: impl Iterator<Item = (f64, u64)> + Clone, unit: Unit) -> f64 {
    let rate: f64 = times.clone().map(|(time, workers)| workers as f64 / time).sum();
    match unit {
        Unit::OpsPerSecond | Unit::BytesPerSecond => rate * 1e9,
        Unit::NanosecondsPerOp => rate.recip(),
        Unit::MillisecondsPerGib => (1_u64 << 30) as f64 / 1e6 / rate,
        Unit::NanosecondsPerStep => {
            let workers: u64 = times.clone().map(|(_, workers)| workers).sum();
            times.map(|(time, workers)| time * workers as f64).sum::<f64>() / workers as f64
        }
        // No work is counted.
        Unit::Nanoseconds | Unit::NanosecondsSampled | Unit::Reported(_) => f64::NAN,
    }
}

/// The least share of a lap's blocks during which all workers must have been at work: what they take then is that of the lap.
const ENOUGH: f64 = 0.25;

/// Whether what disturbed a repetition is known block by block: each worker has enough blocks during which all were at work.
pub(super) fn is_told_by_blocks(run: &Run) -> bool {
    let enough = |lap: &Lap| {
        let looks = (lap.checks / lap.workers()).saturating_sub(1).clamp(1, Blocks::MOST_OF_A_LAP) as f64;
        let enough = (ENOUGH * looks).max(1.0) * lap.workers() as f64;
        lap.blocks.as_ref().is_some_and(|blocks| blocks.count as f64 >= enough)
    };
    !run.laps.is_empty() && run.laps.iter().all(enough)
}

/// What a repetition gave while all workers were at work: its work over its time, without the blocks in which one was away.
fn of_repetition(run: &Run, unit: Unit) -> f64 {
    let mean = |lap: &Lap| {
        let times = &lap.blocks.as_ref()?.times;
        Some((times.iter().sum::<f64>() / times.len() as f64, lap.workers()))
    };
    let means: Option<Vec<(f64, u64)>> = run.laps.iter().map(mean).collect();
    match means.filter(|_| is_told_by_blocks(run)) {
        Some(means) => combined(means.into_iter(), unit),
        None => run.value(unit),
    }
}

/// The value that the clean repetitions of an invocation have by themselves.
pub(super) fn by_repetitions(invocation: &Invocation, unit: Unit, estimator: Estimator) -> Option<f64> {
    let values = Sample::new(invocation.clean_runs().map(|run| of_repetition(run, unit)).collect())?;
    let value = match estimator {
        Estimator::Best if unit.more_is_better() => values.max(),
        Estimator::Best => values.min(),
        Estimator::Median | Estimator::FastMode => values.median(),
    };
    Some(value).filter(|value| invocation.ending == Ending::Done && is_number(*value, unit))
}

/// Whether something was measured: no rate of work that never ended, and none without bounds.
pub(super) fn is_number(value: f64, unit: Unit) -> bool {
    value.is_finite() && (value > 0.0 || !unit.more_is_better())
}
