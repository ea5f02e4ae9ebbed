//! A document's conclusions, checked against a report.

use super::cell::{self, Target};
use super::document::{Claim, Relation, Side};
use super::replication::{CheckedClaim, Gap, GapKind, Number, Verdict};
use super::results::Results;
use charz_data::units;

/// One number of workers of a claim.
struct Comparison {
    /// `None` if the intervals leave it open, or a side has none.
    holds: Option<bool>,
    suspect: bool,
    /// Whether a side has no interval.
    bare: bool,
    words: String,
}

impl Claim {
    pub(super) fn check(&self, results: &Results<'_>, target: &Target) -> CheckedClaim {
        let claim = |verdict: Verdict, evidence: String| CheckedClaim {
            says: self.says.clone() + &self.relation.bound(self.by),
            verdict,
            evidence,
            suspect: false,
            open: false,
        };
        let counts = match self.counts(target) {
            Ok(counts) => counts,
            Err(reason) => return claim(Verdict::Undecided, reason),
        };
        let compared: Vec<Result<Comparison, Gap>> =
            counts.into_iter().map(|workers| self.compare(results, target, workers)).collect();
        let all = |holds: Option<bool>| {
            let all = || compared.iter().flatten().filter(move |comparison| comparison.holds == holds);
            let words: Vec<&str> = all().map(|comparison| comparison.words.as_str()).collect();
            (!words.is_empty()).then(|| (words.join("; "), all().any(|comparison| comparison.suspect)))
        };
        if let Some((evidence, suspect)) = all(Some(false)) {
            return CheckedClaim { suspect, ..claim(Verdict::Fails, evidence) };
        }
        if let Some((words, suspect)) = all(None) {
            let why = if compared.iter().flatten().any(|comparison| comparison.bare) {
                "too few runs for an interval, give a longer --budget"
            } else {
                "the intervals leave it open"
            };
            let evidence = format!("{why}: {words}");
            return CheckedClaim { suspect, open: true, ..claim(Verdict::Undecided, evidence) };
        }
        match compared.iter().find_map(|comparison| comparison.as_ref().err()) {
            Some(gap) => {
                CheckedClaim { open: gap.kind == GapKind::Open, ..claim(Verdict::Undecided, gap.reason.clone()) }
            }
            None => {
                let (evidence, suspect) = all(Some(true)).unwrap_or_default();
                CheckedClaim { suspect, ..claim(Verdict::Holds, evidence) }
            }
        }
    }

    /// The numbers of workers it can be checked with on a machine; why there are none, as a clause.
    pub(super) fn counts(&self, target: &Target) -> Result<Vec<u64>, String> {
        target.check(self.requires)?;
        let checked = |count: u64| {
            self.sides()
                .try_for_each(|side| target.measures(&side.cell, &side.statistic, side.workers(count, target)?))?;
            let left = &self.left;
            let is_left = |right: &Side| {
                (&right.cell, &right.statistic) == (&left.cell, &left.statistic)
                    && right.workers(count, target) == left.workers(count, target)
            };
            match &self.right {
                Some(right) if is_left(right) => {
                    Err(format!("with {} CPUs both sides have the same thread count", target.strands))
                }
                _ => Ok(count),
            }
        };
        let counts: Vec<Result<u64, String>> = self
            .workers
            .iter()
            .flat_map(|count| match count.numbers(target) {
                Ok(numbers) => numbers.into_iter().map(checked).collect(),
                Err(reason) => vec![Err(reason)],
            })
            .collect();
        match counts.iter().any(Result::is_ok) {
            true => Ok(counts.into_iter().flatten().collect()),
            false => counts.into_iter().collect(),
        }
    }

    fn compare(&self, results: &Results<'_>, target: &Target, workers: u64) -> Result<Comparison, Gap> {
        let number = |side: &Side| -> Result<(Number, u64), Gap> {
            let workers = side.workers(workers, target)?;
            target.runs(&side.cell, workers)?;
            Ok((results.number(&side.cell, &side.statistic, workers, &self.unit)?, workers))
        };
        let named = |side: &Side| cell::label(&side.cell) + &side.statistic.size();
        let (left, left_workers) = number(&self.left)?;
        if self.beyond_caches {
            results.beyond_caches(&self.left.cell, left_workers, target)?;
        }
        let (right, against) = match (&self.right, self.limit) {
            (Some(side), _) => {
                let (right, workers) = number(side)?;
                let seated = |side: &Side, workers: u64| side.cell.cells(workers).next();
                let same_seats = seated(&self.left, left_workers)
                    .zip(seated(side, workers))
                    .is_some_and(|(one, other)| results.share_seats(&one, &other));
                if self.relation != Relation::Alike && same_seats {
                    return Err("both mappings put the threads on the same CPUs here".into());
                }
                let is_same = side.cell == self.left.cell && side.statistic == self.left.statistic;
                let label = if is_same { String::new() } else { named(side) + " " };
                (right, format!("{label}x{workers}"))
            }
            (None, Some(limit)) => {
                let limit = limit * if self.per_core { target.cores as f64 } else { 1.0 };
                (
                    Number { value: limit, low: Some(limit), high: Some(limit), suspect: false, note: None },
                    "the limit".to_owned(),
                )
            }
            (None, None) => return Err("the claim has one side".into()),
        };
        let digits = |number: &Number| format!("{}{}", units::count_of(number.value), units::doubt(number.suspect));
        let (label, unit) = (named(&self.left), &self.unit);
        Ok(Comparison {
            holds: self.relation.holds(&left, &right, self.by),
            suspect: left.suspect || right.suspect,
            bare: left.low.is_none() || right.low.is_none(),
            words: format!("{label} x{left_workers} {} against {against} {} {unit}", digits(&left), digits(&right)),
        })
    }
}

impl Side {
    /// Its number of workers where the claim is checked with `count`.
    pub(super) fn workers(&self, count: u64, target: &Target) -> Result<u64, String> {
        self.workers.as_ref().map_or(Ok(count), |own| own.number(target))
    }
}

impl Relation {
    /// What is asked for beyond the plain relation, behind the conclusion.
    fn bound(self, by: f64) -> String {
        let asked = match self {
            _ if by == 1.0 => return String::new(),
            Relation::Alike => format!("within a factor of {by}"),
            Relation::More if by > 1.0 => format!("more than {by} times as much"),
            Relation::More => format!("at least {by} times as much"),
            Relation::Less if by > 1.0 => format!("less than {} times as much", units::count_of(by.recip())),
            Relation::Less => format!("at most {} times as much", units::count_of(by.recip())),
        };
        format!(" (asked for here: {asked})")
    }

    /// An interval that reaches over the bound leaves it open, and so does a number without one.
    fn holds(self, left: &Number, right: &Number, by: f64) -> Option<bool> {
        let exceeds = |one: &Number, other: &Number| {
            let is_above = one.low? > other.high? * by;
            (is_above || one.high? <= other.low? * by).then_some(is_above)
        };
        match self {
            Relation::More => exceeds(left, right),
            Relation::Less => exceeds(right, left),
            Relation::Alike => match [exceeds(left, right), exceeds(right, left)] {
                [Some(false), Some(false)] => Some(true),
                apart if apart.contains(&Some(true)) => Some(false),
                _ => None,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number([low, high]: [f64; 2]) -> Number {
        Number { value: f64::midpoint(low, high), low: Some(low), high: Some(high), suspect: false, note: None }
    }

    #[track_caller]
    fn check(relation: Relation, left: [f64; 2], right: [f64; 2], by: f64, expected: Option<bool>) {
        let [left, right] = [left, right].map(number);
        assert_eq!(relation.holds(&left, &right, by), expected, "{left:?} {right:?}");
    }

    #[test]
    fn intervals_decide_or_leave_it_open() {
        check(Relation::More, [11.0, 12.0], [9.0, 10.0], 1.0, Some(true));
        check(Relation::More, [9.5, 12.0], [9.0, 10.0], 1.0, None);
        check(Relation::More, [8.0, 9.0], [9.0, 10.0], 1.0, Some(false));
        check(Relation::More, [11.0, 12.0], [9.0, 10.0], 2.0, Some(false));
        check(Relation::Less, [1.0, 2.0], [9.0, 10.0], 4.0, Some(true));
        check(Relation::Alike, [9.0, 10.0], [9.5, 10.5], 1.2, Some(true));
        check(Relation::Alike, [9.0, 10.0], [19.5, 20.5], 1.2, Some(false));
        check(Relation::Alike, [9.0, 10.0], [10.0, 11.5], 1.2, None);
        // No worse: more is as good as alike.
        check(Relation::More, [9.5, 9.8], [10.0, 10.1], 0.9, Some(true));
        check(Relation::More, [19.0, 20.0], [10.0, 10.1], 0.9, Some(true));
        check(Relation::More, [8.0, 8.5], [10.0, 10.1], 0.9, Some(false));
    }

    #[test]
    fn numbers_without_an_interval_decide_nothing() {
        let bare = Number { low: None, high: None, ..number([1.0, 1.0]) };
        for relation in [Relation::More, Relation::Less, Relation::Alike] {
            assert_eq!(relation.holds(&bare, &number([100.0, 101.0]), 2.0), None, "{relation:?}");
            assert_eq!(relation.holds(&number([100.0, 101.0]), &bare, 2.0), None, "{relation:?}");
        }
    }
}
