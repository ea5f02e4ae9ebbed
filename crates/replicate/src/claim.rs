//! A document's conclusions, checked against a report.

use super::cell::Target;
use super::document::{Claim, Relation, Side};
use super::replication::{CheckedClaim, Compared, Number, Term, Verdict};
use super::statistic::Basis;
use super::table::Table;
use super::why::{GapKind, Why};

impl Claim {
    pub(super) fn check<'a>(&'a self, table: &Table<'a>, target: &Target) -> CheckedClaim<'a> {
        let basis = self.basis(target);
        let table = &table.by(basis);
        let open = |verdict: Verdict, why: Why<'a>| CheckedClaim {
            why: Some(why),
            basis,
            verdict,
            says: &self.says,
            relation: self.relation,
            by: self.by,
            compared: Vec::new(),
        };
        let unknown = |why: Why<'a>| match why.kind() {
            GapKind::Open => open(Verdict::NotMeasured, why),
            GapKind::Machine | GapKind::Final => open(Verdict::Impossible, why),
        };
        let counts = match self.counts(target) {
            Ok(counts) => counts,
            Err(why) => return unknown(why),
        };
        let (mut compared, mut gap) = (Vec::new(), None);
        for workers in counts {
            match self.compare(table, target, workers) {
                Ok(own) => compared.push(own),
                Err(why) => gap = gap.or(Some(why)),
            }
        }
        let is_bare = |of: &Compared<'_>| of.left.number.interval.is_none() || of.right.number.interval.is_none();
        let shared = compared.iter().filter(|of| self.is_disturbed(of, basis)).filter_map(Compared::delivered_share);
        let left_open = match shared.reduce(f64::min) {
            Some(delivered) => Why::SharedCpus { delivered },
            None if compared.iter().any(is_bare) => Why::TooFewRuns,
            None => Why::LeftOpen,
        };
        for of in &mut compared {
            of.holds = of.holds.filter(|_| !self.is_disturbed(of, basis));
        }
        let mut with = |holds| compared.extract_if(.., |of| of.holds == holds).collect::<Vec<_>>();
        let [fail, are_open, hold] = [Some(false), None, Some(true)].map(&mut with);
        if !fail.is_empty() {
            return CheckedClaim { compared: fail, why: None, ..open(Verdict::Fails, left_open) };
        }
        if !are_open.is_empty() {
            return CheckedClaim { compared: are_open, ..open(Verdict::Undecided, left_open) };
        }
        match gap {
            Some(why) => unknown(why),
            None => CheckedClaim { compared: hold, why: None, ..open(Verdict::Holds, left_open) },
        }
    }

    /// The numbers of workers it can be checked with on a machine.
    pub(super) fn counts(&self, target: &Target) -> Result<Vec<u64>, Why<'_>> {
        target.check(self.requires)?;
        let checked = |count: u64| {
            for side in self.sides() {
                target.measures(&side.cell, &side.statistic, side.workers(count, target)?)?;
            }
            let left = &self.left;
            let is_left =
                |right: &Side| right.is_of_same(left) && right.workers(count, target) == left.workers(count, target);
            let is_of_mappings = |right: &Side| {
                (&right.cell.kernel, right.workers(count, target)) == (&left.cell.kernel, left.workers(count, target))
                    && right.cell.mapping != left.cell.mapping
            };
            match &self.right {
                Some(right) if count == 1 && is_of_mappings(right) => Err(Why::OneIsNotSpread { cpus: target.strands }),
                Some(right) if is_left(right) => Err(Why::SameThreads { cpus: target.strands }),
                _ => Ok(count),
            }
        };
        let counts: Vec<Result<u64, Why<'_>>> = self
            .workers
            .iter()
            .flat_map(|count| match count.numbers(target) {
                Ok(numbers) => numbers.into_iter().map(checked).collect(),
                Err(why) => vec![Err(why)],
            })
            .collect();
        match counts.iter().any(Result::is_ok) {
            true => Ok(counts.into_iter().flatten().collect()),
            false => counts.into_iter().collect(),
        }
    }

    /// Whether threads shared CPUs beside a number that holds what that took, and the conclusion is not about it.
    fn is_disturbed(&self, of: &Compared<'_>, basis: Basis) -> bool {
        basis == Basis::Delivered && !self.floats_beside_bound() && of.delivered_share().is_some()
    }

    fn compare<'a>(&'a self, table: &Table<'a>, target: &Target, workers: u64) -> Result<Compared<'a>, Why<'a>> {
        let term = |side: &'a Side| -> Result<(Term<'a>, u64), Why<'a>> {
            let workers = side.workers(workers, target)?;
            target.runs(&side.cell, workers)?;
            let number = table.number(&side.cell, &side.statistic, workers, &self.unit)?;
            let size = side.statistic.size();
            Ok((Term { cell: Some(&side.cell), size, workers: Some(workers), number }, workers))
        };
        let (left, left_workers) = term(&self.left)?;
        if self.beyond_caches {
            table.beyond_caches(&self.left.cell, left_workers, target)?;
        }
        let right = match &self.right {
            Some(side) => {
                let (right, workers) = term(side)?;
                let seated = |side: &Side, workers: u64| side.cell.cells(workers).next();
                let same_seats = seated(&self.left, left_workers)
                    .zip(seated(side, workers))
                    .is_some_and(|(one, other)| table.share_seats(&one, &other));
                if self.relation != Relation::Alike && same_seats {
                    return Err(Why::SameSeats);
                }
                right
            }
            None => {
                let limit = self.limit.ok_or(Why::Unanswered)?;
                let value = limit * if self.per_core { target.cores as f64 } else { 1.0 };
                let number =
                    Number { value, interval: Some([value; 2]), suspect: false, delivered_share: None, note: None };
                Term { cell: None, size: None, workers: None, number }
            }
        };
        Ok(Compared { holds: self.relation.holds(&left.number, &right.number, self.by), left, right, unit: &self.unit })
    }
}

impl Side {
    /// Its number of workers where the claim is checked with `count`.
    pub(super) fn workers(&self, count: u64, target: &Target) -> Result<u64, Why<'static>> {
        self.workers.as_ref().map_or(Ok(count), |own| own.number(target))
    }

    fn is_of_same(&self, other: &Side) -> bool {
        (&self.cell, &self.statistic) == (&other.cell, &other.statistic)
    }
}

impl Relation {
    /// An interval that reaches over the bound leaves it open, and so does a number without one.
    fn holds(self, left: &Number<'_>, right: &Number<'_>, by: f64) -> Option<bool> {
        let exceeds = |one: &Number<'_>, other: &Number<'_>| {
            let ([low, high], [other_low, other_high]) = (one.interval?, other.interval?);
            let is_above = low > other_high * by;
            (is_above || high <= other_low * by).then_some(is_above)
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

    fn number(interval: [f64; 2]) -> Number<'static> {
        let value = f64::midpoint(interval[0], interval[1]);
        Number { value, interval: Some(interval), suspect: false, delivered_share: None, note: None }
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
        let bare = Number { interval: None, ..number([1.0, 1.0]) };
        for relation in [Relation::More, Relation::Less, Relation::Alike] {
            let other = number([100.0, 101.0]);
            assert_eq!([relation.holds(&bare, &other, 2.0), relation.holds(&other, &bare, 2.0)], [None; 2]);
        }
    }
}
