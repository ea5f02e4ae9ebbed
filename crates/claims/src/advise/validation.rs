//! Advice as a prediction: the placement that was advised and some others, measured again.

use super::{Advice, Load};
use charz_data::report::{Cell, Report, Status};
use charz_estimate::{AUTO, Estimate, Estimates, Relation};

/// How many other placements are measured again.
const OTHERS: usize = 3;

/// How many times as far as its interval reaches a prediction is off that failed whatever the second interval may be.
const FAR: f64 = 3.0;

/// What became of the advice on a load.
#[derive(Clone, Debug)]
pub struct Validation<'a> {
    pub load: Load,
    /// The placement that was advised, as it was measured before.
    pub advised: Estimate<'a>,
    /// As a fraction, what it loses beside the best of those that were measured again; `None` where it has no number now.
    pub regret: Option<f64>,
    pub checks: Vec<Check<'a>>,
}

impl Validation<'_> {
    /// Whether the best of the others is better now, and neither noise nor the clock explains it.
    pub fn is_beaten(&self) -> bool {
        let now = self.checks.iter().filter_map(|check| check.measured);
        let best = now.max_by(|one, other| one.performance()[0].total_cmp(&other.performance()[0]));
        best.is_some_and(|loss| loss.is_shown() && loss.share < 0.0)
    }
}

/// Another placement: what it was to lose, and what it loses.
#[derive(Clone, Copy, Debug)]
pub struct Check<'a> {
    pub predicted: Relation<'a>,
    /// `None` where one of the two has no number now.
    pub measured: Option<Relation<'a>>,
    /// How its configuration ended now; `None` where there is none.
    pub status: Option<Status>,
}

impl Check<'_> {
    /// Whether the two losses differ by no more than their intervals allow. Where the second has none, it can only show that a
    /// prediction failed by far; `None` where that is open, or the first has none.
    pub fn holds(&self) -> Option<bool> {
        let measured = self.measured?;
        self.predicted.interval?;
        let [one, other] = [&self.predicted, &measured].map(|loss| loss.performance().map(f64::ln));
        // The interval of the difference, put together as that of a ratio is.
        let difference = other[0] - one[0];
        let reach = match difference > 0.0 {
            true => (one[2] - one[0]).hypot(other[0] - other[1]),
            false => (one[0] - one[1]).hypot(other[2] - other[0]),
        };
        let fits = difference.abs() <= reach;
        match measured.interval {
            Some(_) => Some(fits),
            // The predicted interval is all of the reach.
            None => (difference.abs() > FAR * reach).then_some(false),
        }
    }
}

impl<'a> Advice<'a> {
    /// The cells to measure again: the advised one, then `auto` with as many threads, the nearest, the farthest and others in between, of
    /// those with up to a thread per CPU.
    pub fn contenders(&self) -> Vec<&'a Cell> {
        std::iter::once(self.best.cell).chain(self.rivals().into_iter().map(|loss| loss.estimate.cell)).collect()
    }

    fn rivals(&self) -> Vec<Relation<'a>> {
        let cpus = self.report.machine.usable_strands().count() as u64;
        let mut left: Vec<Relation<'a>> =
            self.regret.iter().copied().filter(|loss| loss.estimate.cell.workers <= cpus).collect();
        let is_auto = |loss: &Relation<'_>| {
            loss.estimate.cell.mapping == AUTO && loss.estimate.cell.workers == self.best.cell.workers
        };
        let auto = left.iter().position(is_auto).map(|at| left.remove(at));
        let places = [0, usize::MAX, left.len() / 2];
        let mut chosen: Vec<usize> = places.iter().map(|at| (*at).min(left.len().saturating_sub(1))).collect();
        chosen.extend(0..left.len());
        let mut taken = Vec::new();
        for at in chosen {
            if at < left.len() && !taken.contains(&at) && taken.len() + usize::from(auto.is_some()) < OTHERS {
                taken.push(at);
            }
        }
        auto.into_iter().chain(taken.into_iter().map(|at| left[at])).collect()
    }
}

/// What a report in which the contenders were measured again says of the advice.
pub fn validate<'a>(advice: &[Advice<'a>], again: &'a Report) -> Vec<Validation<'a>> {
    advice.iter().map(|advice| of(advice, again)).collect()
}

fn of<'a>(advice: &Advice<'a>, again: &'a Report) -> Validation<'a> {
    let table = Estimates::of(again);
    let numbers: Vec<Estimate<'_>> = table.series().into_iter().flat_map(|series| series.estimates).collect();
    let measured = |cell: &Cell| numbers.iter().find(|other| is_same(other.cell, cell)).copied();
    let best = measured(advice.best.cell);
    let rivals = table.peers(&advice.best.cell.kernel);
    let check = |predicted: Relation<'a>| {
        let measured = best.and_then(|best| Some(rivals.relate(measured(predicted.estimate.cell)?, &best)));
        let again = again.cells.iter().find(|other| is_same(other, predicted.estimate.cell));
        Check { predicted, measured, status: again.map(|cell| cell.status) }
    };
    let checks: Vec<Check<'a>> = advice.rivals().into_iter().map(check).collect();
    let regret = best.map(|best| {
        let others = checks.iter().filter_map(|check| Some(check.measured?.estimate.performance_beside(&best)));
        let most = others.fold(1.0, f64::max);
        1.0 - most.recip()
    });
    Validation { load: advice.load, advised: advice.best, regret, checks }
}

/// Whether they are one configuration, in two reports.
fn is_same(one: &Cell, other: &Cell) -> bool {
    let key = |cell: &Cell| (cell.point, cell.workers);
    (&one.kernel, &one.mapping, key(one)) == (&other.kernel, &other.mapping, key(other))
}
