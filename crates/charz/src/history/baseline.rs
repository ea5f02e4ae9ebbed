//! Which report of a history a new one is to be compared with.

use std::collections::HashSet;

use super::entry::{Entry, seconds};
use super::series::{Parameters, Series};
use super::store::Store;
use super::timeline::Timeline;
use crate::compare::{self, Options};
use crate::exit::Error;
use crate::render::text::counted;
use crate::report::Report;

#[cfg(test)]
mod tests;

/// How it is to be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The newest one that fits.
    Newest,
    /// The newest one that fits and is older than the last change that the history shows.
    BeforeChange,
    /// The one with this number.
    Report(i64),
}

/// The report that was chosen.
#[derive(Debug)]
pub struct Baseline {
    /// The report.
    pub report: Report,
    /// Which one it is and why: clauses for whoever reads the comparison.
    pub notes: Vec<String>,
}

/// How many candidates are tried; each of them is read in full.
const MOST_TRIED: usize = 8;

impl Baseline {
    /// Chooses for `new` out of what was measured before it.
    ///
    /// # Errors
    /// None fits, with the reason; or the history cannot be read.
    pub fn choose(store: &mut Store, new: &Report, wanted: Wanted, options: &Options) -> Result<Baseline, Error> {
        if let Wanted::Report(id) = wanted {
            let (report, _) = store.report(id)?;
            let note =
                format!("the base is report {id} of the history, as was asked for, which began at {}", report.started);
            return Ok(Baseline { report, notes: vec![note] });
        }
        let (entries, series) = store.read()?;
        let timeline = Timeline::new(entries, series);
        let cells = Cells::of(new);
        let last = timeline.newest_change(|series| cells.have(series));
        let before = match (wanted, last) {
            (Wanted::BeforeChange, None) => return Err(no_change(&timeline)),
            (Wanted::BeforeChange, Some((before, ..))) => before + 1,
            _ => timeline.entries.len(),
        };
        let earlier: Vec<usize> = (0..before).rev().filter(|&at| is_earlier(&timeline.entries[at], new)).collect();
        let (fitting, obstacles): (Vec<usize>, Vec<usize>) =
            earlier.iter().partition(|&&at| compare::obstacle(&timeline.entries[at].head, new, options).is_none());
        let covered = cells.covered(&timeline);
        let mut candidates: Vec<usize> = fitting.iter().copied().filter(|at| covered[*at] > 0).collect();
        // Of those with as many of its cells the newest: they are sorted so, and sorting keeps it.
        candidates.sort_by_key(|at| std::cmp::Reverse(covered[*at]));
        let mut refusal = None;
        for at in candidates.into_iter().take(MOST_TRIED) {
            let entry = &timeline.entries[at];
            let (report, _) = store.report(entry.id)?;
            match compare::compare(&report, new, options) {
                Ok(_) => {
                    let mut notes = vec![why(entry, wanted, covered[at], cells.0.len())];
                    notes.extend(last.map(|last| where_changed(&timeline, last, at)));
                    return Ok(Baseline { report, notes });
                }
                Err(why) => refusal = refusal.or_else(|| Some(format!("report {}: {why}", entry.id))),
            }
        }
        Err(none_fits(&timeline, new, (&earlier, &obstacles), refusal, options))
    }
}

/// What a new report has: which series its cells belong to.
struct Cells<'a>(HashSet<(&'a str, &'a str, u64, Parameters)>);

impl<'a> Cells<'a> {
    fn of(report: &'a Report) -> Self {
        let cells = report.cells.iter();
        let key = |cell: &'a crate::report::Cell| {
            (cell.kernel.as_str(), cell.mapping.as_str(), cell.workers, Parameters::of(cell, &report.plan))
        };
        Cells(cells.map(key).collect())
    }

    fn have(&self, series: &Series) -> bool {
        self.0.contains(&(&series.kernel, &series.mapping, series.workers, series.parameters.clone()))
    }

    /// How many of the cells each entry has.
    fn covered(&self, timeline: &Timeline) -> Vec<usize> {
        let mut covered = vec![0; timeline.entries.len()];
        for series in timeline.tracks.iter().map(|track| &track.series).filter(|series| self.have(series)) {
            for value in &series.values {
                covered[value.entry] += 1;
            }
        }
        covered
    }
}

/// Not the report itself, nor an earlier state of its sweep, nor what was measured later.
fn is_earlier(entry: &Entry, new: &Report) -> bool {
    let same = !new.id.is_empty() && entry.head.id == new.id;
    !same && seconds(&new.started).is_none_or(|at| entry.at < at)
}

fn why(entry: &Entry, wanted: Wanted, covered: usize, all: usize) -> String {
    let label = entry.label.as_ref().map(|label| format!(", {label:?}")).unwrap_or_default();
    let which = match wanted {
        Wanted::BeforeChange => "the newest one before the last change",
        _ => "the newest one before the new report",
    };
    let cells = if covered >= all {
        format!("all of its {}", counted(all, "cell"))
    } else {
        format!("{covered} of its {all} cells")
    };
    format!(
        "the base is report {} of the history (began at {}{label}): {which} that may be compared and has {cells}",
        entry.id, entry.head.started
    )
}

fn where_changed(timeline: &Timeline, (before, after, number): (usize, usize, usize), base: usize) -> String {
    let id = |at: usize| timeline.entries[at].id;
    let place = if base < after { "after the base" } else { "before the base" };
    format!(
        "the last change that the history shows in {} of these cells lies {place}, between reports {} and {}; charz history plot \
         tells more",
        number,
        id(before),
        id(after)
    )
}

fn no_change(timeline: &Timeline) -> Error {
    let (short, enough) = timeline.short();
    Error::bad_input(format!(
        "the history shows no change in the cells of the new report ({enough} series have values enough to show one, {short} \
         have fewer than {}); compare with the newest report by --baseline newest",
        crate::stats::LEAST_FOR_CHANGE
    ))
}

fn none_fits(
    timeline: &Timeline,
    new: &Report,
    (earlier, obstacles): (&[usize], &[usize]),
    refusal: Option<String>,
    options: &Options,
) -> Error {
    let all = timeline.entries.len();
    let why = if let Some(refusal) = refusal {
        refusal
    } else if earlier.is_empty() {
        format!("of its {} none was measured before {}", counted(all, "report"), new.started)
    } else if let Some(&at) = obstacles.first().filter(|_| obstacles.len() == earlier.len()) {
        let entry = &timeline.entries[at];
        let (what, flag) = compare::obstacle(&entry.head, new, options).unwrap_or_default();
        format!(
            "of report {}, the newest of {} that stand in the way: {what}; {flag} compares it all the same",
            entry.id,
            obstacles.len()
        )
    } else {
        "none of its reports that may be compared has a cell of the new one".to_owned()
    };
    Error::bad_input(format!("no report of the history can be the base: {why}"))
}
