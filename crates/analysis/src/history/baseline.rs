//! Which report of a history a new one is compared with.

use charz_data::Arrange;
use std::cmp::Reverse;
use std::collections::HashMap;

use super::entry::{Entry, seconds};
use super::series::{Key, Series};
use super::timeline::Timeline;
use crate::compare::{self, Options};
use charz_data::escape::counted;
use charz_data::report::{Cell, Report};

#[cfg(test)]
mod tests;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    Newest,
    /// The newest one that fits and is older than the last change of the history.
    BeforeChange,
    Report(i64),
}

#[derive(Debug)]
pub struct Baseline {
    pub id: i64,
    /// Which one it is and why, for the reader of the comparison.
    pub notes: Vec<String>,
}

impl Baseline {
    /// Chooses one of the entries, the oldest of which comes first, or explains why none fits. Of the reports before `new` that
    /// may be compared with it, the one with most of its cells is chosen, and of several the newest.
    pub fn choose(entries: Vec<Entry>, new: &Report, wanted: Wanted, options: &Options) -> Result<Self, String> {
        if let Wanted::Report(id) = wanted {
            return Ok(Baseline { id, notes: vec![format!("the base is report {id} of the history, as requested")] });
        }
        let timeline = Timeline::new(entries);
        let cells: HashMap<Key, &Cell> = new.cells.iter().map(|cell| (Key::of(cell, new), cell)).collect();
        // What was measured with the CPUs elsewhere is compared with nothing.
        let counts = |series: &Series| {
            let moved = |cell: &&Cell| series.values.last().is_some_and(|value| value.cell.moved(cell).is_some());
            cells.get(&series.key).is_some_and(|cell| !moved(cell))
        };
        let last = timeline.newest_change(counts);
        let end = match (wanted, last) {
            (Wanted::BeforeChange, None) => return Err(no_change(&timeline)),
            (Wanted::BeforeChange, Some((before, ..))) => before + 1,
            _ => timeline.entries.len(),
        };
        let earlier: Vec<usize> = (0..end).rev().filter(|&at| is_earlier(&timeline.entries[at], new)).collect();
        let obstacle = |at: usize| compare::obstacle(&timeline.entries[at].report, new, options);
        let covered = covered(&timeline, counts);
        let mut fitting: Vec<usize> =
            earlier.iter().copied().filter(|&at| covered[at] > 0 && obstacle(at).is_none()).collect();
        // Sorting is stable, so of those with as many cells the newest stays first.
        fitting.arrange_by_key(|&at| Reverse(covered[at]));
        if let Some(&at) = fitting.first() {
            let Entry { id, report, label, .. } = &timeline.entries[at];
            let label = label.as_ref().map(|label| format!(", {label:?}")).unwrap_or_default();
            let which = if wanted == Wanted::Newest { "new report" } else { "last change" };
            let mut notes = vec![format!(
                "the base is report {id} of the history ({}{label}): it has {} of {}, the most of those before the {which} that \
                 may be compared",
                report.started,
                covered[at],
                counted(cells.len(), "cell")
            )];
            notes.extend(last.map(|last| where_changed(&timeline, last, at)));
            return Ok(Baseline { id: *id, notes });
        }
        let why = match (earlier.first(), earlier.iter().find_map(|&at| Some((at, obstacle(at)?)))) {
            (None, _) => {
                format!("none of its {} is older than {}", counted(timeline.entries.len(), "report"), new.started)
            }
            (_, Some((at, (what, flag)))) => {
                format!("report {}: {what}; {flag} allows the comparison", timeline.entries[at].id)
            }
            _ => "none of its earlier reports has a cell of the new one".to_owned(),
        };
        Err(format!("no report of the history can be the base: {why}"))
    }
}

/// How many of these series each entry has.
fn covered(timeline: &Timeline, counts: impl Fn(&Series) -> bool) -> Vec<usize> {
    let mut covered = vec![0; timeline.entries.len()];
    for series in timeline.tracks.iter().map(|track| &track.series).filter(|series| counts(series)) {
        series.values.iter().for_each(|value| covered[value.entry] += 1);
    }
    covered
}

/// Neither the report itself, nor an earlier state of its sweep, nor measured later.
fn is_earlier(entry: &Entry, new: &Report) -> bool {
    entry.report.id != new.id && seconds(&new.started).is_none_or(|at| entry.at < at)
}

fn where_changed(timeline: &Timeline, (before, after, count): (usize, usize, usize), base: usize) -> String {
    let [before, first] = [before, after].map(|at| timeline.entries[at].id);
    format!(
        "the last change in the history, in {count} of these cells, is {} the base, between reports {before} and {first}; see charz \
         history plot",
        if base < after { "after" } else { "before" },
    )
}

fn no_change(timeline: &Timeline) -> String {
    let (short, enough) = timeline.short();
    format!(
        "the history shows no change in the cells of the new report ({enough} series have enough values to show one, {short} have \
         fewer than {}); use --baseline newest",
        charz_stats::LEAST_FOR_CHANGE
    )
}
