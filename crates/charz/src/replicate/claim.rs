//! A document's conclusions, held against a report.

use super::count::Count;
use super::data::{Claim, Relation, Term};
use super::outcome::{Checked, Number, Verdict};
use super::place::Place;
use super::seen::{Gap, Seen};
use crate::render::human;
use crate::report::Cell;

impl Claim {
    /// Whether it holds in a report.
    pub(super) fn check(&self, seen: &Seen<'_>, place: &Place) -> Checked {
        let numbers = match self.prospect(place) {
            Ok(numbers) => numbers,
            Err(why) => return self.checked(Verdict::Unseen, why),
        };
        let found: Vec<Result<Compared, Gap>> =
            numbers.into_iter().map(|workers| self.compare(seen, place, workers)).collect();
        let told = |wanted: Option<bool>| -> Vec<&Compared> {
            found.iter().flatten().filter(|compared| compared.holds == wanted).collect()
        };
        let words = |told: &[&Compared]| told.iter().map(|one| one.words.as_str()).collect::<Vec<_>>().join("; ");
        let suspect = |told: &[&Compared]| told.iter().any(|one| one.suspect);
        let (holding, failing, undecided) = (told(Some(true)), told(Some(false)), told(None));
        if !failing.is_empty() {
            return Checked { suspect: suspect(&failing), ..self.checked(Verdict::Fails, words(&failing)) };
        }
        if !undecided.is_empty() {
            let because = format!("the intervals leave it open: {}", words(&undecided));
            return Checked { suspect: suspect(&undecided), open: true, ..self.checked(Verdict::Unseen, because) };
        }
        match found.iter().find_map(|compared| compared.as_ref().err()) {
            Some(gap) => Checked { open: gap.open, ..self.checked(Verdict::Unseen, gap.why.clone()) },
            None => Checked { suspect: suspect(&holding), ..self.checked(Verdict::Holds, words(&holding)) },
        }
    }

    /// Whether it could hold or fail on a machine; why not, as a clause.
    pub(super) fn prospect(&self, place: &Place) -> Result<Vec<u64>, String> {
        if let Some(why) = self.needs.iter().find_map(|need| place.lacks(*need)) {
            return Err(why.to_owned());
        }
        let mut reason = None;
        let mut numbers = Vec::new();
        for count in &self.workers {
            match count.on(place) {
                Ok(found) => numbers.extend(found),
                Err(why) => reason = Some(why),
            }
        }
        match reason {
            Some(why) if numbers.is_empty() => Err(why),
            _ => Ok(numbers),
        }
    }

    fn checked(&self, verdict: Verdict, because: String) -> Checked {
        Checked { says: self.says.clone(), verdict, because, suspect: false, open: false }
    }

    fn compare(&self, seen: &Seen<'_>, place: &Place, workers: u64) -> Result<Compared, Gap> {
        let unit = self.unit.as_deref().unwrap_or("ns");
        let side = |term: &Term| -> Result<(Number, u64), Gap> {
            let workers = term.workers.as_ref().map_or(Ok(workers), |count: &Count| count.one_on(place))?;
            term.cell.takes(workers)?;
            seen.number(&term.cell, &term.take, workers, unit).map(|number| (number, workers))
        };
        let (left, at) = side(&self.left)?;
        let (right, against) = match (&self.right, self.limit) {
            (Some(term), _) => {
                let (right, other) = side(term)?;
                if self.relation != Relation::Alike && alike_seats(seen, self, at, other) {
                    return Err("both mappings put the workers on the same strands here".into());
                }
                let name =
                    if term.cell == self.left.cell && term.take == self.left.take { String::new() } else { name(term) };
                (right, format!("{name} x{other}"))
            }
            (None, Some(limit)) => {
                let limit = limit * if self.per_strand { place.strands as f64 } else { 1.0 };
                let exact = Number { value: limit, low: None, high: None, suspect: false, note: None };
                (exact, "the limit".to_owned())
            }
            (None, None) => return Err("it has no other side".into()),
        };
        let holds = stands(self.relation, &left, &right, self.by);
        let bare = if left.low.is_none() { ", without an interval" } else { "" };
        let digits = |number: &Number| format!("{}{}", human::count_of(number.value), human::doubt(number.suspect));
        Ok(Compared {
            holds,
            suspect: left.suspect || right.suspect,
            words: format!(
                "{} x{at} {} against {} {} {unit}{bare}",
                name(&self.left),
                digits(&left),
                against.trim_start(),
                digits(&right),
            ),
        })
    }
}

/// What a comparison came to.
struct Compared {
    /// `None` where the intervals leave it open.
    holds: Option<bool>,
    suspect: bool,
    words: String,
}

fn name(term: &Term) -> String {
    let stride = term.cell.stride.map(|stride| format!(" stride {stride}")).unwrap_or_default();
    let pages = term.cell.pages.map(|pages| format!(" {}", pages.name())).unwrap_or_default();
    let memory = term.cell.memory.as_ref().map(|home| format!(" memory {home}")).unwrap_or_default();
    format!("{} {}{pages}{stride}{memory}", term.cell.kernel, term.cell.mapping)
}

/// Whether the one side stands to the other as it is said; an interval that reaches over the bound leaves it open.
fn stands(relation: Relation, left: &Number, right: &Number, by: f64) -> Option<bool> {
    let low = |number: &Number| number.low.unwrap_or(number.value);
    let high = |number: &Number| number.high.unwrap_or(number.value);
    let above = |one: &Number, other: &Number, by: f64| {
        if low(one) > high(other) * by {
            Some(true)
        } else if high(one) <= low(other) * by {
            Some(false)
        } else {
            None
        }
    };
    match relation {
        Relation::More => above(left, right, by),
        Relation::Less => above(right, left, by),
        Relation::Alike => {
            let apart = [above(left, right, by), above(right, left, by)];
            if apart.contains(&Some(true)) {
                Some(false)
            } else if apart.contains(&None) {
                None
            } else {
                Some(true)
            }
        }
    }
}

/// Whether the two sides seat their workers on the same strands, under mappings of different names.
fn alike_seats(seen: &Seen<'_>, claim: &Claim, left: u64, right: u64) -> bool {
    let Some(other) = &claim.right else { return false };
    let (one, other) = (&claim.left.cell, &other.cell);
    if one.mapping == other.mapping || left != right || one.kernel != other.kernel {
        return false;
    }
    let seats = |mapping: &str| {
        let of = |cell: &&Cell| cell.kernel == one.kernel && cell.mapping == mapping && cell.workers == left;
        let cell = seen.report.cells.iter().find(of)?;
        let mut seats = cell.seats.iter().copied().collect::<Option<Vec<u32>>>()?;
        seats.sort_unstable();
        Some(seats)
    };
    seats(&one.mapping).is_some_and(|one| seats(&other.mapping) == Some(one))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(low: f64, high: f64) -> Number {
        Number { value: f64::midpoint(low, high), low: Some(low), high: Some(high), suspect: false, note: None }
    }

    #[track_caller]
    fn check(relation: Relation, left: [f64; 2], right: [f64; 2], by: f64, expected: Option<bool>) {
        let [left, right] = [left, right].map(|[low, high]| number(low, high));
        assert_eq!(stands(relation, &left, &right, by), expected, "{left:?} {right:?}");
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
    }
}
