//! The reports of a history, the oldest first.

use std::io::{self, Write};

use serde::Serialize;

use crate::history::{Became, Counts, Entry, became, in_words};
use crate::render::report::csv::harmless;
use crate::render::text::plain;
use crate::render::{grid, json};
use crate::report::Schema;

pub(super) fn table(entries: &[Entry], out: &mut dyn Write) -> io::Result<()> {
    let Some(newest) = entries.last() else { return writeln!(out, "no report is in this history yet") };
    writeln!(
        out,
        "{}: {}, {} strands\n",
        plain(newest.head.host.name.as_deref().unwrap_or("an unnamed host")),
        plain(newest.head.host.processor.as_deref().unwrap_or("an unnamed processor").trim()),
        newest.head.machine.strands.len(),
    )?;
    let heading = ["report", "began", "label", "charz", "ok", "suspect", "invalid", "no number", "other than before"];
    let rows: Vec<_> = (0..entries.len()).map(|at| row(entries, at)).collect();
    grid::columns(&heading, &[1, 2, 3, 8], &rows, out)
}

fn row(entries: &[Entry], at: usize) -> [String; 9] {
    let entry = &entries[at];
    let Counts { ok, suspect, invalid, others } = entry.counts;
    let [ok, suspect, invalid, others] = [ok, suspect, invalid, others].map(|count| count.to_string());
    let label = plain(entry.label.as_deref().unwrap_or("-"));
    let unfinished = if entry.head.complete { "" } else { " (incomplete)" };
    [
        entry.id.to_string(),
        format!("{}{unfinished}", plain(&entry.head.started)),
        label,
        plain(&entry.head.tool.version),
        ok,
        suspect,
        invalid,
        others,
        plain(&in_words(&became_before(entries, at))),
    ]
}

/// What is other than in the report before.
pub(super) fn became_before(entries: &[Entry], at: usize) -> Vec<Became> {
    let before = at.checked_sub(1).map(|before| &entries[before].head);
    before.map(|before| became(before, &entries[at].head)).unwrap_or_default()
}

/// The list as JSON.
#[derive(Serialize)]
struct List<'a> {
    schema: Schema,
    reports: Vec<Listed<'a>>,
}

/// A report of a list.
#[derive(Serialize)]
pub(super) struct Listed<'a> {
    id: i64,
    started: &'a str,
    label: Option<&'a str>,
    digest: &'a str,
    sweep: &'a str,
    host: Option<&'a str>,
    processor: Option<&'a str>,
    version: &'a str,
    commit: &'a str,
    complete: bool,
    cells: Counts,
    other_than_before: Vec<Became>,
}

pub(super) fn listed(entries: &[Entry]) -> Vec<Listed<'_>> {
    let listed = entries.iter().enumerate().map(|(at, entry)| {
        let Entry { head, label, digest, counts, .. } = entry;
        Listed {
            id: entry.id,
            started: &head.started,
            label: label.as_deref(),
            digest,
            sweep: &head.id,
            host: head.host.name.as_deref(),
            processor: head.host.processor.as_deref(),
            version: &head.tool.version,
            commit: &head.tool.commit,
            complete: head.complete,
            cells: *counts,
            other_than_before: became_before(entries, at),
        }
    });
    listed.collect()
}

pub(super) fn json(entries: &[Entry], out: &mut dyn Write) -> io::Result<()> {
    let schema = Schema { name: "charz-history".into(), major: 1, minor: 0 };
    json::write_pretty(&List { schema, reports: listed(entries) }, out)?;
    writeln!(out)
}

pub(super) fn csv(entries: &[Entry], out: &mut dyn Write) -> io::Result<()> {
    let mut rows = csv::Writer::from_writer(out);
    rows.write_record([
        "report",
        "started",
        "label",
        "digest",
        "host",
        "version",
        "commit",
        "complete",
        "ok",
        "suspect",
        "invalid",
        "no_number",
        "other_than_before",
    ])?;
    for (at, entry) in entries.iter().enumerate() {
        let Entry { head, counts, .. } = entry;
        rows.write_record([
            entry.id.to_string(),
            harmless(&head.started),
            harmless(entry.label.as_deref().unwrap_or_default()),
            entry.digest.clone(),
            harmless(head.host.name.as_deref().unwrap_or_default()),
            harmless(&head.tool.version),
            harmless(&head.tool.commit),
            head.complete.to_string(),
            counts.ok.to_string(),
            counts.suspect.to_string(),
            counts.invalid.to_string(),
            counts.others.to_string(),
            harmless(&in_words(&became_before(entries, at))),
        ])?;
    }
    rows.flush()
}
