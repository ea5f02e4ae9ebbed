//! A report beside others: its name, and what of its numbers counts there.

use crate::answer::{Reading, Row};
use charz_data::report::Report;
use charz_estimate::left_by_quota;

/// A report with the name that it goes by among others.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// E.g. the file's name without its folder.
    pub name: &'a str,
    pub report: &'a Report,
}

pub(crate) fn quota_note(source: &Source<'_>) -> Option<String> {
    let cpus = source.report.machine.quota()?;
    Some(format!("{} has a CPU quota of {cpus:.2}: its numbers are what that has time for", source.name))
}

/// What the threads do in the time that a quota leaves them; the capacity is without its pauses.
pub(crate) fn in_quota(reading: Reading, report: &Report, kernel: &str) -> Reading {
    let share = left_by_quota(report, kernel, reading.threads, reading.origin);
    let share = if reading.unit.more_is_better() { share } else { share.recip() };
    Reading { value: reading.value * share, ..reading }
}

/// Not the best number of an incomplete report, nor that of too few threads to show what all CPUs do.
pub(crate) fn whole(row: &Row, report: &Report) -> Option<Reading> {
    let cpus = report.machine.worth();
    let takes_all = report.card(&row.kernel).is_none_or(|card| card.workers.allows(cpus));
    let is_known = !takes_all || row.knee.is_some() || most_threads(row) >= cpus as u64;
    (row.cut.is_none() && is_known).then(|| row.peak.clone())
}

/// The most threads, up to one per CPU, that have a number.
pub(crate) fn most_threads(row: &Row) -> u64 {
    row.all.as_ref().or(row.one.as_ref()).unwrap_or(&row.peak).threads
}
