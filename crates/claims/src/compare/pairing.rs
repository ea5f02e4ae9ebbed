//! Which cells of two reports are compared with each other, and what is against it.

use std::collections::{BTreeSet, HashMap};

use super::allowed::Allowed;
use super::places::{place, sized};
use super::terms::{Caveat, Design, Quantity};
use super::unlike::{Cells, Unlike, cells};
use charz_data::checks::{Check, V03, V04, V08, V12, V15, V16, V28, V33, V34};
use charz_data::report::{Cell, Estimator, Mark, PREDICTED, Report, Severity, Status};
use charz_stats::Doubt;

/// Why a row has no verdict.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason<'a> {
    /// One side, by its place, does not have the cell.
    Absent { side: usize },
    /// The number of a side, or of both, cannot be used.
    Unusable([Option<Unusable<'a>>; 2]),
    /// The two count different things.
    Units,
    /// They are not alike; whether a flag would allow it all the same.
    Unlike(Unlike<'a>, Option<Caveat>),
    /// The runs show none.
    Doubt(Doubt),
    /// The two values and their runs do not differ alike.
    Contradicted,
    /// The bins of the times and the step of the clock are too coarse.
    Coarse,
    /// Unpinned threads shared CPUs, which a capacity does not show.
    SharedCpus,
}

impl<'a> Reason<'a> {
    /// The warnings of sides that cannot be used, by their codes, and other reasons of theirs.
    pub fn warnings(&self) -> impl Iterator<Item = &'a str> {
        let sides = if let Reason::Unusable(sides) = self { *sides } else { [None; 2] };
        sides.into_iter().flatten().filter_map(|unusable| unusable.why)
    }
}

/// Why the number of a cell cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unusable<'a> {
    /// How it ended.
    pub status: Status,
    /// The code of a warning, or the reason in the report.
    pub why: Option<&'a str>,
}

/// A cell of the base, of the new report, or of both.
pub(super) type Sides<'a> = [Option<&'a Cell>; 2];

/// All cells of either report: those of the base in its order, then those that only the new one has.
pub(super) fn pairs<'a>([base, new]: [&'a Report; 2]) -> Vec<Sides<'a>> {
    let mut news: HashMap<_, &Cell> = new.cells.iter().map(|cell| (sized(cell, new), cell)).collect();
    let found: Vec<Sides<'_>> = base.cells.iter().map(|cell| [Some(cell), news.remove(&sized(cell, base))]).collect();
    // What has a size by both plans, which may differ on demand.
    let left = new.cells.iter().filter(|cell| news.contains_key(&sized(cell, new)));
    let mut news: HashMap<_, &Cell> = left.map(|cell| (place(cell), cell)).collect();
    let mut paired: Vec<Sides<'_>> =
        found.into_iter().map(|[base, new]| [base, new.or_else(|| news.remove(&place(base?)))]).collect();
    paired.extend(new.cells.iter().filter(|cell| news.contains_key(&place(cell))).map(|cell| [None, Some(cell)]));
    paired
}

/// Two cells that can be compared, and what in spite of.
pub(super) type Pairing<'a> = ([&'a Cell; 2], BTreeSet<Caveat>);

pub(super) fn comparable<'a>(sides: Sides<'a>, allowed: &Allowed<'a>) -> Result<Pairing<'a>, Reason<'a>> {
    let pair = match sides {
        [Some(base), Some(new)] => [base, new],
        [base, _] => return Err(Reason::Absent { side: usize::from(base.is_some()) }),
    };
    let mut despite: BTreeSet<Caveat> = allowed.differences.iter().filter_map(Unlike::caveat).collect();
    let usable = pair.map(|cell| usable(cell, allowed));
    if usable.iter().any(Result::is_err) {
        return Err(Reason::Unusable(usable.map(Result::err)));
    }
    despite.extend(usable.into_iter().flatten().flatten());
    if pair[0].unit != pair[1].unit {
        return Err(Reason::Units);
    }
    let on_purpose = allowed.design == Design::Interleaved;
    let of = Cells { cells: pair, reports: allowed.reports, quantity: allowed.options.quantity };
    for unlike in cells(&of, on_purpose) {
        let caveat = unlike.caveat();
        if unlike.is_refused(&allowed.options) {
            return Err(Reason::Unlike(unlike, caveat.filter(|_| !on_purpose)));
        }
        despite.extend(caveat);
    }
    Ok((pair, despite))
}

/// Whether a cell's number can be used in this comparison, and what in spite of.
pub(super) fn usable<'a>(cell: &'a Cell, allowed: &Allowed<'_>) -> Result<Option<Caveat>, Unusable<'a>> {
    let why = match cell.status {
        Status::Ok => return Ok(None),
        Status::Suspect => match objection(cell, allowed) {
            None => return Ok(None),
            Some(_) if allowed.options.allow_suspect => return Ok(Some(Caveat::Suspect)),
            objection => objection,
        },
        // What is predicted is another number for each, and the reason one for all.
        Status::Skipped if cell.is_predicted() => Some(PREDICTED.trim_end_matches(": ")),
        Status::Pending | Status::Skipped | Status::Failed => cell.reason.as_deref(),
        Status::Invalid => {
            let weightiest = cell.marks.iter().max_by_key(|mark| mark.severity).map(|mark| mark.code.as_str());
            weightiest.or(cell.reason.as_deref())
        }
    };
    Err(Unusable { status: cell.status, why })
}

/// The number has a wide interval, or few values. The test and the interval of the difference allow for both.
static WIDTH: [&Check; 2] = [&V12, &V28];

/// Something else used the machine, or changed its speed, or the system cannot report whether it did. Two sides in turns meet the
/// same, by chance more or less of it, which spreads the values of both; and what was delivered is what was left of it. Two
/// capacities that were measured one after the other are safe from none of these: the mark says that the disturbance is in the number.
static DISTURBANCES: [&Check; 7] = [&V03, &V04, &V08, &V15, &V16, &V33, &V34];

/// Why the number of a suspect cell is not safe in such a comparison, which asks for less than the number itself: whether two differ by more than
/// what the values of the invocations show. The code of a mark that is not carried, or the reason of the status. Any of the other suspicions is of
/// something that the values do not show, such as pages of another kind, a clock that is too coarse, or a build without optimisation.
fn objection<'a>(cell: &'a Cell, allowed: &Allowed<'_>) -> Option<&'a str> {
    let disturbances = allowed.design == Design::Interleaved || allowed.options.quantity == Quantity::Delivered;
    let names = |checks: &[&Check], mark: &Mark| checks.iter().any(|check| check.code == mark.code);
    // What has several speeds in its runs is compared by the usual one, unless it may have them in turn.
    let card = allowed.reports.iter().find_map(|report| report.card(&cell.kernel));
    let has_own_speeds = cell.estimator == Estimator::FastMode || card.is_none_or(|card| card.contends);
    let by_runs = |mark: &Mark| mark.code == V16.code && !has_own_speeds;
    let is_carried = |mark: &Mark| {
        mark.severity < Severity::Invalid
            && (names(&WIDTH, mark) || by_runs(mark) || (disturbances && names(&DISTURBANCES, mark)))
    };
    let mut doubts = cell.marks.iter().filter(|mark| mark.severity > Severity::Note).peekable();
    if doubts.peek().is_none() {
        return Some(cell.reason.as_deref().unwrap_or_default());
    }
    doubts.find(|mark| !is_carried(mark)).map(|mark| mark.code.as_str())
}
