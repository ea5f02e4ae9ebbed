//! The numbers as OpenMetrics text, for the text file collector of a node exporter
//! (<https://github.com/prometheus/node_exporter#textfile-collector>).
//!
//! That collector reads the older text format of Prometheus, and refuses a file with a type or a timestamp that this format does
//! not have (<https://github.com/prometheus/node_exporter/issues/1988>). What is written here is both: gauges only, and no
//! timestamps beside samples; `# UNIT` and `# EOF`, which OpenMetrics demands, are comments to the older format
//! (<https://prometheus.io/docs/instrumenting/exposition_formats/>).
//!
//! Names end in base units. A cell whose number may not be shown has no sample; `charz_cells` counts it.

use std::collections::BTreeSet;
use std::io::{self, Write};

use charz_data::escape::plain;
use charz_data::report::{Cell, Report, Status, Unit};

const PREFIX: &str = "charz";

pub fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    for gauge in gauges(report).iter().filter(|gauge| !gauge.samples.is_empty()) {
        gauge.write(out)?;
    }
    writeln!(out, "# EOF")
}

/// Samples of one name.
#[derive(Debug)]
struct Gauge {
    /// Without [`PREFIX`] and unit.
    name: String,
    unit: Option<&'static str>,
    /// A sentence without its full stop.
    help: String,
    samples: Vec<(Labels, f64)>,
}

/// Names and values of labels.
type Labels = Vec<(&'static str, String)>;

impl Gauge {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let unit = self.unit.map(|unit| format!("_{unit}")).unwrap_or_default();
        let name = format!("{PREFIX}_{}{unit}", self.name);
        writeln!(out, "# HELP {name} {}.\n# TYPE {name} gauge", self.help)?;
        if let Some(unit) = self.unit {
            writeln!(out, "# UNIT {name} {unit}")?;
        }
        for (labels, value) in &self.samples {
            let labels: Vec<String> =
                labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
            let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
            writeln!(out, "{name}{labels} {value:?}")?;
        }
        Ok(())
    }
}

/// The value of a label between quotes.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// Which units of cells a gauge is of, and by what it multiplies them to come to its own.
struct Family {
    name: &'static str,
    unit: &'static str,
    help: &'static str,
    /// What the interval is of.
    of: &'static str,
    factor: fn(Unit) -> Option<f64>,
}

const FAMILIES: &[Family] = &[
    Family {
        name: "throughput",
        unit: "operations_per_second",
        help: "Operations of all workers together",
        of: "operations",
        factor: |unit| (unit == Unit::OpsPerSecond).then_some(1.0),
    },
    Family {
        name: "throughput",
        unit: "bytes_per_second",
        help: "Bytes that all workers move together",
        of: "bytes",
        factor: |unit| (unit == Unit::BytesPerSecond).then_some(1.0),
    },
    Family {
        name: "latency",
        unit: "seconds",
        help: "Time of an operation",
        of: "time",
        factor: |unit| (!unit.more_is_better() && unit != Unit::MillisecondsPerGib).then_some(1e-9),
    },
    Family {
        name: "cost",
        unit: "seconds_per_byte",
        help: "Time that a byte takes",
        of: "cost",
        factor: |unit| (unit == Unit::MillisecondsPerGib).then_some(1e-3 / (1_u64 << 30) as f64),
    },
];

fn gauges(report: &Report) -> Vec<Gauge> {
    let mut gauges = about(report);
    for family in FAMILIES {
        let mut samples: [Vec<(Labels, f64)>; 3] = Default::default();
        // Two samples with the same labels would make a reader refuse the file.
        let mut seen = BTreeSet::new();
        for (cell, factor) in report.cells.iter().filter_map(|cell| Some((cell, (family.factor)(cell.unit)?))) {
            let Some(value) = cell.value().filter(|_| seen.insert(labels(cell))) else { continue };
            samples[0].push((labels(cell), value * factor));
            if let Some(interval) = cell.summary.and_then(|summary| summary.interval) {
                samples[1].push((labels(cell), interval.low * factor));
                samples[2].push((labels(cell), interval.high * factor));
            }
        }
        let end = |word: &str| format!("Where the interval of the {} {word} in which the median lies", family.of);
        let names = [
            (family.name.to_owned(), format!("{}, the median of several processes", family.help)),
            (format!("{}_low", family.name), end("begins")),
            (format!("{}_high", family.name), end("ends")),
        ];
        let unit = Some(family.unit);
        gauges.extend(names.into_iter().zip(samples).map(|((name, help), samples)| Gauge {
            name,
            unit,
            help,
            samples,
        }));
    }
    gauges
}

/// What is said of the report itself.
fn about(report: &Report) -> Vec<Gauge> {
    let one = |name: &str, unit, help: &str, value: Option<f64>| Gauge {
        name: name.to_owned(),
        unit,
        help: help.to_owned(),
        samples: value.into_iter().map(|value| (Vec::new(), value)).collect(),
    };
    let counted = Status::ALL.map(|status| {
        let count = report.cells.iter().filter(|cell| cell.outcome.status == status).count();
        (vec![("status", status.name().to_owned())], count as f64)
    });
    let told = |text: &Option<String>| plain(text.as_deref().unwrap_or_default());
    let labels = vec![
        ("report", plain(&report.id)),
        ("host", told(&report.host.name)),
        ("processor", told(&report.host.processor)),
        ("version", plain(&report.tool.version)),
        ("commit", plain(&report.tool.commit)),
        ("kernels", plain(&report.tool.kernels)),
    ];
    let began = humantime::parse_rfc3339(&report.started).ok();
    let began = began.and_then(|moment| moment.duration_since(std::time::UNIX_EPOCH).ok());
    vec![
        Gauge {
            name: "report_info".to_owned(),
            unit: None,
            help: "What the report is of and which program measured, as labels".to_owned(),
            samples: vec![(labels, 1.0)],
        },
        one(
            "report_started_timestamp",
            Some("seconds"),
            "When the sweep began, since 1970-01-01 UTC",
            began.map(|began| began.as_secs_f64()),
        ),
        one("report_wall", Some("seconds"), "How long the sweep took", Some(report.wall_ns as f64 / 1e9)),
        one(
            "report_complete",
            None,
            "Whether every cell was given its due, 1 or 0",
            Some(f64::from(u8::from(report.complete))),
        ),
        Gauge {
            name: "cells".to_owned(),
            unit: None,
            help: "How many cells ended how".to_owned(),
            samples: counted.to_vec(),
        },
    ]
}

/// Which cell it is. What the sweep does not vary has no label.
fn labels(cell: &Cell) -> Labels {
    let status = if cell.outcome.status == Status::Suspect { "suspect" } else { "ok" };
    let fixed = [
        ("kernel", plain(&cell.kernel)),
        ("mapping", plain(&cell.mapping)),
        ("workers", cell.workers.to_string()),
        ("status", status.to_owned()),
    ];
    let point = &cell.point;
    let varied = point.varied().filter_map(|param| Some((param.key, point.tell(param, param.raw)?)));
    fixed.into_iter().chain(varied).collect()
}

#[cfg(test)]
mod tests;
