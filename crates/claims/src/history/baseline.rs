//! Which report of a history a new one is compared with.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::entry::{Entry, seconds};
use super::series::{Key, Series};
use super::timeline::Timeline;
use crate::compare::{Options, Unlike, obstacle};
use charz_data::Arrange;
use charz_data::report::{Cell, Report};

#[cfg(test)]
mod tests;

/// Which report of a history is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The newest one that fits.
    Newest,
    /// The newest one that fits and is older than the last change of the history.
    BeforeChange,
    /// The one with this number.
    Report(i64),
}

/// A report of a history, and why it was chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Baseline<'a> {
    /// Its number.
    pub id: i64,
    /// What chose it.
    pub why: Why<'a>,
}

/// Why a report was chosen.
#[derive(Clone, Debug, PartialEq)]
pub enum Why<'a> {
    /// It was asked for.
    Asked,
    /// It has the most cells of those that may be compared.
    MostCells {
        /// When it began, and its label.
        named: (&'a str, Option<&'a str>),
        /// How many of the new report's cells it has, and how many these are.
        cells: [usize; 2],
        /// Whether it had to be older than the last change.
        is_before_change: bool,
        /// The last change of these cells.
        last: Option<LastChange>,
    },
}

/// The last change in a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastChange {
    /// The numbers of the last report before it and of the first one after it.
    pub between: [i64; 2],
    /// How many series change there.
    pub series: usize,
    /// Whether the base is older.
    pub is_after_base: bool,
}

/// Why no report of a history can be the base.
#[derive(Clone, Debug, PartialEq)]
pub enum NoBase<'a> {
    /// The history shows no change, with so many series that could show one, and so many that are too short.
    NoChange { long: usize, short: usize },
    /// None of so many is older.
    NoneOlder { reports: usize },
    /// The newest that an option would allow.
    Refused { id: i64, unlike: Unlike<'a> },
    /// None has a cell of the new one.
    NoCell,
}

impl<'a> Baseline<'a> {
    /// Chooses one of the entries, the oldest of which comes first, or explains why none fits. Of the reports before `new` that
    /// may be compared with it, the one with most of its cells is chosen, and of several the newest.
    pub fn choose(
        entries: &'a [Entry],
        new: &'a Report,
        wanted: Wanted,
        options: &Options,
    ) -> Result<Self, NoBase<'a>> {
        if let Wanted::Report(id) = wanted {
            return Ok(Baseline { id, why: Why::Asked });
        }
        let timeline = Timeline::new(entries);
        let cells: HashMap<Key<'_>, &Cell> = new.cells.iter().map(|cell| (Key::of(cell, new), cell)).collect();
        // What was measured with the CPUs elsewhere is compared with nothing.
        let counts = |series: &Series<'_>| {
            let moved = |cell: &&Cell| series.values.last().is_some_and(|value| value.cell.moved(cell).is_some());
            cells.get(&series.key).is_some_and(|cell| !moved(cell))
        };
        let last = timeline.newest_change(counts);
        let is_before_change = wanted == Wanted::BeforeChange;
        let end = match last {
            Some((before, ..)) if is_before_change => before + 1,
            None if is_before_change => {
                let (short, long) = timeline.short();
                return Err(NoBase::NoChange { long, short });
            }
            _ => entries.len(),
        };
        // Neither the report itself, nor an earlier state of its sweep, nor measured later.
        let is_earlier =
            |entry: &Entry| entry.report.id != new.id && seconds(&new.started).is_none_or(|at| entry.at < at);
        let earlier: Vec<usize> = (0..end).rev().filter(|&at| is_earlier(&entries[at])).collect();
        let obstacle = |at: usize| obstacle([&entries[at].report, new], options);
        // How many of these series each entry has.
        let mut covered = vec![0; entries.len()];
        for series in timeline.tracks.iter().map(|track| &track.series).filter(|series| counts(series)) {
            series.values.iter().for_each(|value| covered[value.entry] += 1);
        }
        let mut fitting: Vec<usize> =
            earlier.iter().copied().filter(|&at| covered[at] > 0 && obstacle(at).is_none()).collect();
        // Sorting is stable, so of those with as many cells the newest stays first.
        fitting.arrange_by_key(|&at| Reverse(covered[at]));
        let Some(&at) = fitting.first() else {
            let refused = |at: usize| Some(NoBase::Refused { id: entries[at].id, unlike: obstacle(at)? });
            return Err(match earlier.is_empty() {
                true => NoBase::NoneOlder { reports: entries.len() },
                false => earlier.into_iter().find_map(refused).unwrap_or(NoBase::NoCell),
            });
        };
        let Entry { id, report, label, .. } = &entries[at];
        let last = last.map(|(before, after, series)| LastChange {
            between: [before, after].map(|at| entries[at].id),
            series,
            is_after_base: at < after,
        });
        let (named, cells) = ((&*report.started, label.as_deref()), [covered[at], cells.len()]);
        Ok(Baseline { id: *id, why: Why::MostCells { named, cells, is_before_change, last } })
    }
}
