//! Which lock does most when threads want it at the same time, and how much work outside makes it no limit.

use super::on_cell;
use super::series::{Series, list};
use charz_data::escape::counted;
use charz_data::report::{Finding, FindingKind, Report, Unit};
use charz_data::units;
use charz_data::{Arrange, Role};
use charz_estimate::{Estimate, Quantity, WIDEST, better, grouped};
use charz_words::estimate::cited;
use charz_words::estimate::times;

/// From so many times the work outside below which a lock is the limit on, waiting costs 6% at most.
const HARDLY: f64 = 3.0;

/// A lock with one thread and with several, each on a CPU of its own.
struct Contest<'a> {
    one: Estimate<'a>,
    several: Estimate<'a>,
}

impl Contest<'_> {
    /// `0.45 (0.43 to 0.47) times`.
    fn shown(&self) -> String {
        format!("{} times", times(&self.several, &self.one))
    }

    fn kernel(&self) -> String {
        self.several.cell.kernel.clone()
    }

    /// The work outside of each thread, in nanoseconds, below which the lock is the limit: where so many threads, each in the time of a section
    /// and of the work outside, ask for as much as it passes. The two asymptotic bounds of a closed system meet there (P. Denning and J. Buzen,
    /// "The Operational Analysis of Queueing Network Models", ACM Computing Surveys 10 (1978)), and threads still wait: a few do a fifth less
    /// than the bounds allow.
    fn enough_outside(&self) -> Option<[f64; 3]> {
        let (one, several) = (self.one.around()?, self.several.around()?);
        let threads = self.several.cell.workers as f64;
        let outside = |several: f64, one: f64| 1e9 * (threads / several - one.recip());
        let found = [outside(several.value, one.value), outside(several.high, one.low), outside(several.low, one.high)];
        Some(found).filter(|found| found[1] > 0.0)
    }
}

/// With as many threads as there are CPUs for, of what was measured.
pub(super) fn locks(all: &[Series<'_>], report: &Report, strands: u64) -> Option<Finding> {
    let is_lock =
        |series: &&Series<'_>| matches!(series.role(), Role::LockPool { .. }) && series.counts(Unit::OpsPerSecond);
    let numbers = all.iter().filter(is_lock).flat_map(Series::numbers);
    let kernels =
        grouped(numbers, |number| (number.cell.kernel.as_str(), number.cell.mapping.as_str(), number.cell.point));
    let contests: Vec<Contest<'_>> = kernels.iter().flat_map(|numbers| contests(numbers, strands)).collect();
    let most = contests.iter().map(|contest| contest.several.cell.workers).max()?;
    let of_most = || contests.iter().map(|contest| contest.several).filter(|several| several.cell.workers == most);
    let point = of_most().next()?.cell.point;
    // Under the mapping of the number that the table of contention has.
    let first = of_most().filter(|several| several.cell.point == point).reduce(better)?.cell;
    let is_beside = |contest: &&Contest<'_>| {
        let cell = contest.several.cell;
        (cell.workers, &cell.mapping, cell.point) == (first.workers, &first.mapping, first.point)
    };
    let mut rivals: Vec<&Contest<'_>> = contests.iter().filter(is_beside).collect();
    rivals.arrange_by(|one, other| other.several.by_value(&one.several));
    let (best, others) = rivals.split_first()?;
    // One that does more, and has no number of one thread, is the one to name.
    let has_more = |number: &Estimate<'_>| {
        let cell = number.cell;
        (cell.workers, &cell.mapping, cell.point) == (first.workers, &first.mapping, first.point)
            && number.is_better(&best.several)
    };
    if kernels.iter().flatten().filter(|number| is_narrow(number)).any(has_more) {
        return None;
    }
    let is_alike = |other: &&&Contest<'_>| other.several.meets(&best.several);
    let alike: Vec<String> = others.iter().filter(is_alike).map(|other| other.kernel()).collect();
    let equal =
        if alike.is_empty() { String::new() } else { format!(" (not significantly different: {})", list(&alike)) };
    let against = match others.last() {
        Some(worst) if alike.len() < others.len() => {
            format!(", and {} times those of {}", times(&best.several, &worst.several), worst.kernel())
        }
        _ => String::new(),
    };
    let params = first.point.params(&report.plan.params);
    let inside = match params.inside_steps {
        0 => String::new(),
        steps => format!(" with {steps} steps inside"),
    };
    let outside = match best.enough_outside().filter(|_| params.outside_steps == 0) {
        Some(found) => {
            let enough = units::nanos(HARDLY * found[0]);
            let [middle, low, high] = found.map(units::nanos);
            format!(
                "{inside}; below {middle} ({low} to {high}) of work outside a section it is the limit, from about {enough} on threads hardly wait"
            )
        }
        None => format!(", with {} steps inside and {} outside", params.inside_steps, params.outside_steps),
    };
    let by = if best.several.quantity == Quantity::Delivered { ", by what was delivered" } else { "" };
    let which = match others.is_empty() {
        true => format!("the lock {} under contention", best.kernel()),
        false => format!("the lock that does most under contention is {}{equal}", best.kernel()),
    };
    let text = format!(
        "{which}: {} ({}) do {} the sections of 1{against}{by}{outside}",
        counted(most as usize, "thread"),
        first.mapping,
        best.shown()
    );
    let evidence = rivals.iter().map(|rival| format!("{}, {}", cited(&rival.one), cited(&rival.several)));
    let evidence = evidence.collect::<Vec<_>>().join("; ");
    let times = best.several.value / best.one.value;
    Some(Finding { evidence, ..on_cell(best.several.cell, FindingKind::Advice, Some(times), text) })
}

fn is_narrow(number: &Estimate<'_>) -> bool {
    number.interval.is_some() && number.slack() <= WIDEST
}

/// Each number of several threads of a lock, by ascending number, beside that of one, where both are narrow enough.
fn contests<'a>(numbers: &[Estimate<'a>], strands: u64) -> Vec<Contest<'a>> {
    let numbers = || numbers.iter().copied().filter(is_narrow).filter(|number| number.cell.has_own_cpus());
    let Some(one) = numbers().find(|number| number.cell.workers == 1) else { return Vec::new() };
    let several = numbers().filter(|number| (2..=strands).contains(&number.cell.workers));
    several.map(|several| Contest { one, several }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use charz_data::report::fixtures::cell;

    /// By mean value analysis (M. Reiser and S. Lavenberg, Journal of the ACM 27 (1980)) of a lock that loses nothing under contention.
    #[test]
    fn threads_wait_at_the_limit_and_hardly_far_beyond_it() {
        for threads in [2, 8, 64] {
            let [one, several] = [1, threads].map(|threads| cell("pool-std", threads, Unit::OpsPerSecond, 1e9));
            let [one, several] = [&one, &several].map(|cell| Estimate::of(cell).unwrap());
            let [limit, ..] = Contest { one, several }.enough_outside().unwrap();
            // A section takes a nanosecond.
            let kept = |outside: f64| {
                let (mut waiting, mut rate) = (0.0, 0.0);
                for threads in 1..=threads {
                    rate = threads as f64 / (1.0 + waiting + outside);
                    waiting = rate * (1.0 + waiting);
                }
                rate * (1.0 + outside) / threads as f64
            };
            assert!(kept(limit) < 0.92 && kept(HARDLY * limit) > 0.94, "{threads} threads");
        }
    }
}
