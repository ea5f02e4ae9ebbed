//! The numbers as OpenMetrics text, for the text file collector of a node exporter
//! (<https://github.com/prometheus/node_exporter#textfile-collector>).
//!
//! That collector reads the older text format of Prometheus, and refuses a file with a type or a timestamp that this format does
//! not have (<https://github.com/prometheus/node_exporter/issues/1988>). What is written here is both: gauges only, and no
//! timestamps beside samples; `# UNIT` and `# EOF`, which OpenMetrics demands, are comments to the older format
//! (<https://prometheus.io/docs/instrumenting/exposition_formats/>).
//!
//! A series goes on from sweep to sweep: no label changes with the report, but for those of `charz_report_info`. So a folder holds one file
//! of a host, which the next sweep replaces.
//!
//! Names end in base units. A cell whose number may not be shown has no sample of it; `charz_cell_status` says why.

use std::collections::BTreeSet;
use std::io::{self, Write};

use charz_data::escape::plain;
use charz_data::report::{Cell, Report, Status, Unit};

/// Names and values of labels.
type Labels = Vec<(&'static str, String)>;

pub fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut out = Samples { own: own(report), out };
    about(report, &mut out)?;
    FAMILIES.iter().try_for_each(|family| family.write(report, &mut out))?;
    states(report, &mut out)?;
    writeln!(out.out, "# EOF")
}

/// The samples of a report. Each has the labels `own`.
struct Samples<'a> {
    own: Labels,
    out: &'a mut dyn Write,
}

fn own(report: &Report) -> Labels {
    let host = report.host.name.as_deref().unwrap_or_default();
    vec![("host", plain(host))]
}

/// Writes the samples of one name, which begins with `charz` and ends in its unit; nothing where there are none. `help` is a sentence
/// without its full stop.
fn gauge(
    name: &str,
    unit: Option<&str>,
    help: &str,
    samples: &[(Labels, f64)],
    to: &mut Samples<'_>,
) -> io::Result<()> {
    let Samples { own, out } = to;
    if samples.is_empty() {
        return Ok(());
    }
    let name = format!("charz_{name}{}", unit.map(|unit| format!("_{unit}")).unwrap_or_default());
    writeln!(out, "# HELP {name} {help}.\n# TYPE {name} gauge")?;
    if let Some(unit) = unit {
        writeln!(out, "# UNIT {name} {unit}")?;
    }
    for (labels, value) in samples {
        let labels = labels.iter().chain(own.iter().filter(|(own, _)| !labels.iter().any(|(name, _)| name == own)));
        // The names of parameters have hyphens, which labels may not.
        let label = |(name, value): &(&str, String)| format!("{}=\"{}\"", name.replace('-', "_"), escaped(value));
        let labels: Vec<String> = labels.map(label).collect();
        writeln!(out, "{name}{{{}}} {value:?}", labels.join(","))?;
    }
    Ok(())
}

/// The value of a label between quotes.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// The units of cells that a gauge takes, and the factors that convert them to its own unit.
struct Family {
    name: &'static str,
    /// The base unit that the name ends in; the user's own is a label.
    unit: Option<&'static str>,
    help: &'static str,
    /// What the interval is of.
    of: &'static str,
    factor: fn(Unit) -> Option<f64>,
}

const FAMILIES: &[Family] = &[
    Family {
        name: "throughput",
        unit: Some("operations_per_second"),
        help: "Operations of all threads together",
        of: "operations",
        factor: |unit| (unit == Unit::OpsPerSecond).then_some(1.0),
    },
    Family {
        name: "throughput",
        unit: Some("bytes_per_second"),
        help: "Bytes that all threads move together",
        of: "bytes",
        factor: |unit| (unit == Unit::BytesPerSecond).then_some(1.0),
    },
    Family {
        name: "latency",
        unit: Some("seconds"),
        help: "Time of an operation",
        of: "time",
        factor: |unit| match unit {
            Unit::MillisecondsPerGib | Unit::Reported(_) => None,
            unit => (!unit.more_is_better()).then_some(1e-9),
        },
    },
    Family {
        name: "cost",
        unit: Some("seconds_per_byte"),
        help: "Time that a byte takes",
        of: "cost",
        factor: |unit| (unit == Unit::MillisecondsPerGib).then_some(1e-3 / (1_u64 << 30) as f64),
    },
    Family {
        name: "reported",
        unit: None,
        help: "Number of a program",
        of: "number",
        factor: |unit| matches!(unit, Unit::Reported(_)).then_some(1.0),
    },
];

impl Family {
    fn write(&self, report: &Report, out: &mut Samples<'_>) -> io::Result<()> {
        let mut samples: [Vec<(Labels, f64)>; 3] = Default::default();
        // Two samples with the same labels would make a reader refuse the file.
        let mut seen = BTreeSet::new();
        for (cell, factor) in report.cells.iter().filter_map(|cell| Some((cell, (self.factor)(cell.unit)?))) {
            let Some(value) = cell.value().filter(|_| seen.insert(labels(cell, report))) else { continue };
            samples[0].push((labels(cell, report), value * factor));
            if let Some(interval) = cell.capacity.and_then(|capacity| capacity.interval) {
                samples[1].push((labels(cell, report), interval.low * factor));
                samples[2].push((labels(cell, report), interval.high * factor));
            }
        }
        let end = |word: &str| format!("Where the interval of the {} {word} in which the median lies", self.of);
        let helps = [format!("{}, the median of several processes", self.help), end("begins"), end("ends")];
        for ((end, help), samples) in ["", "_low", "_high"].iter().zip(helps).zip(samples) {
            gauge(&format!("{}{end}", self.name), self.unit, &help, &samples, out)?;
        }
        Ok(())
    }
}

/// What is said of the report itself.
fn about(report: &Report, out: &mut Samples<'_>) -> io::Result<()> {
    let told = |text: &Option<String>| plain(text.as_deref().unwrap_or_default());
    let labels = vec![
        ("report", plain(&report.id)),
        ("host", told(&report.host.name)),
        ("processor", told(&report.host.processor)),
        ("version", plain(&report.tool.version)),
        ("commit", plain(&report.tool.commit)),
        ("kernels", plain(&report.tool.kernels)),
        ("product", told(&report.host.product)),
        ("microcode", told(&report.host.microcode)),
        ("governor", told(&report.host.frequency_governor)),
        ("system", told(&report.host.kernel)),
        ("transparent_huge_pages", told(&report.host.transparent_huge_pages)),
        ("cpu_quota", told(&report.host.cpu_quota)),
        ("memory_modules", told(&report.host.memory.modules)),
        (
            "labels",
            plain(
                &report.host.labels.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" "),
            ),
        ),
    ];
    gauge("report_info", None, "What the report is of and which program measured, as labels", &[(labels, 1.0)], out)?;
    let one = |value: f64| [(Vec::new(), value)];
    let began = humantime::parse_rfc3339(&report.started).ok();
    if let Some(began) = began.and_then(|moment| moment.duration_since(std::time::UNIX_EPOCH).ok()) {
        let help = "When the sweep began, since 1970-01-01 UTC";
        gauge("report_started_timestamp", Some("seconds"), help, &one(began.as_secs_f64()), out)?;
    }
    gauge("report_wall", Some("seconds"), "How long the sweep took", &one(report.wall_ns as f64 / 1e9), out)?;
    let complete = one(f64::from(u8::from(report.complete)));
    gauge("report_complete", None, "1 if the sweep completed, else 0", &complete, out)?;
    let counted = Status::ALL.map(|status| {
        let count = report.cells.iter().filter(|cell| cell.status == status).count();
        (vec![("status", status.name().to_owned())], count as f64)
    });
    gauge("cells", None, "Configurations by status", &counted, out)
}

/// The status of each cell as a set of states, of which one is 1: no label of a number, whose series would change with it.
fn states(report: &Report, out: &mut Samples<'_>) -> io::Result<()> {
    let mut seen = BTreeSet::new();
    let cells = report.cells.iter().filter(|cell| seen.insert(labels(cell, report)));
    let of_cell = |cell: &Cell| {
        let cell_labels = labels(cell, report);
        let status = cell.status;
        Status::ALL.map(|state| {
            let own = ("status", state.name().to_owned());
            (cell_labels.iter().cloned().chain([own]).collect(), f64::from(u8::from(state == status)))
        })
    };
    let samples: Vec<(Labels, f64)> = cells.flat_map(of_cell).collect();
    gauge("cell_status", None, "Status of a configuration, 1 for the one that it has, else 0", &samples, out)
}

/// Which cell it is, sizes and times with their units. What the sweep does not vary has no label.
fn labels(cell: &Cell, report: &Report) -> Labels {
    let fixed =
        [("kernel", plain(&cell.kernel)), ("mapping", plain(&cell.mapping)), ("workers", cell.workers.to_string())];
    let point = &cell.point;
    let varied = point.varied().filter_map(|param| Some((param.name, point.tell(param, param.show)?)));
    let unit = matches!(cell.unit, Unit::Reported(_)).then(|| ("unit", plain(cell.unit.symbol())));
    // Another program has other numbers.
    let program = report.program_of(cell);
    let program = program
        .map(|program| [("command", plain(&program.command)), ("command_value", plain(&program.value.to_string()))]);
    fixed.into_iter().chain(varied).chain(unit).chain(program.into_iter().flatten()).collect()
}

#[cfg(test)]
mod tests;
