//! Series and their changes as JSON.

use std::io::{self, Write};

use serde::Serialize;

use super::View;
use super::list::{Listed, listed};
use crate::history::{ALPHA, Became, Change, Entry, Parameters, Segment, Track};
use crate::render::json;
use crate::report::{Schema, Status, Unit};

#[derive(Serialize)]
struct Told<'a> {
    schema: Schema,
    /// The share of false calls that was accepted.
    alpha: f64,
    reports: Vec<Listed<'a>>,
    series: Vec<ToldSeries<'a>>,
}

#[derive(Serialize)]
struct ToldSeries<'a> {
    kernel: &'a str,
    mapping: &'a str,
    workers: u64,
    parameters: &'a Parameters,
    unit: Unit,
    values: Vec<ToldValue<'a>>,
    changes: Vec<ToldChange<'a>>,
}

#[derive(Serialize)]
struct ToldValue<'a> {
    report: i64,
    status: Status,
    reason: Option<&'a str>,
    value: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
}

#[derive(Serialize)]
struct ToldChange<'a> {
    before: ToldSegment,
    after: ToldSegment,
    effect: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    p: f64,
    adjusted_p: f64,
    became: &'a [Became],
}

#[derive(Serialize)]
struct ToldSegment {
    first_report: i64,
    last_report: i64,
    values: usize,
    suspect: usize,
    median: f64,
    low: Option<f64>,
    high: Option<f64>,
}

pub(super) fn write(view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    let entries = &view.timeline.entries;
    let told = Told {
        schema: Schema { name: "charz-timeline".into(), major: 1, minor: 0 },
        alpha: ALPHA,
        reports: listed(entries),
        series: view.tracks.iter().map(|track| series(entries, track)).collect(),
    };
    json::write_pretty(&told, out)?;
    writeln!(out)
}

fn series<'a>(entries: &[Entry], track: &'a Track) -> ToldSeries<'a> {
    let series = &track.series;
    let values = series.values.iter().map(|value| ToldValue {
        report: entries[value.entry].id,
        status: value.status,
        reason: value.reason.as_deref(),
        value: value.value,
        low: value.interval.map(|interval| interval.0),
        high: value.interval.map(|interval| interval.1),
    });
    ToldSeries {
        kernel: &series.kernel,
        mapping: &series.mapping,
        workers: series.workers,
        parameters: &series.parameters,
        unit: series.unit,
        values: values.collect(),
        changes: track.changes.iter().map(|found| change(entries, found)).collect(),
    }
}

fn change<'a>(entries: &[Entry], change: &'a Change) -> ToldChange<'a> {
    ToldChange {
        before: segment(entries, &change.before),
        after: segment(entries, &change.after),
        effect: change.effect,
        low: change.interval.map(|interval| interval.0),
        high: change.interval.map(|interval| interval.1),
        p: change.p,
        adjusted_p: change.adjusted_p,
        became: &change.became,
    }
}

fn segment(entries: &[Entry], segment: &Segment) -> ToldSegment {
    ToldSegment {
        first_report: entries[segment.first].id,
        last_report: entries[segment.last].id,
        values: segment.count,
        suspect: segment.suspect,
        median: segment.median,
        low: segment.interval.map(|interval| interval.0),
        high: segment.interval.map(|interval| interval.1),
    }
}
