//! Pairs of strands for programs.

use std::io::{self, Write};

use serde::Serialize;

use super::{Matrix, value};
use crate::json::write_compact;
use crate::report::csv::{harmless, number, status};
use charz_analysis::pairs::Side;
use charz_data::report::{Report, Status};

const HEADER: [&str; 9] = ["from", "to", "home", "mode", "ns", "low", "high", "status", "marks"];

/// A row a pair, by the OS ids of its strands; home is a NUMA node by logical index.
///
/// # Errors
/// Those of the output.
pub(crate) fn csv(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut rows = csv::Writer::from_writer(out);
    rows.write_record(HEADER)?;
    for matrix in Matrix::all(report) {
        for ([home, other], cell) in &matrix.cells {
            let node = matrix.strands.iter().find(|strand| strand.os_id == *home).and_then(|strand| strand.numa);
            let interval = cell.summary.filter(|_| value(cell).is_some()).and_then(|summary| summary.interval);
            let marks: Vec<&str> = cell.marks.iter().map(|mark| mark.code.as_str()).collect();
            rows.write_record([
                home.to_string(),
                other.to_string(),
                number(node),
                harmless(matrix.mode()),
                number(value(cell)),
                number(interval.map(|interval| interval.low)),
                number(interval.map(|interval| interval.high)),
                status(cell),
                harmless(&marks.join(" ")),
            ])?;
        }
    }
    rows.flush()
}

/// All matrices of a report.
#[derive(Serialize)]
struct Matrices<'a> {
    /// The random name of the report.
    report: &'a str,
    matrices: Vec<Square<'a>>,
}

/// A matrix.
#[derive(Serialize)]
struct Square<'a> {
    mode: &'a str,
    kernel: &'a str,
    /// Always `ns`, one way.
    unit: &'static str,
    /// OS ids, in the order of rows and columns.
    strands: Vec<u32>,
    /// A row for each strand that is home; null where there is no number: not measured, invalid, or the same as the other way.
    values: Vec<Vec<Option<f64>>>,
    /// The pairs, home first, whose numbers are suspect.
    suspect: Vec<[u32; 2]>,
    classes: Vec<ClassOf>,
}

/// What a class of pairs comes to.
#[derive(Serialize)]
struct ClassOf {
    distance: &'static str,
    from: SideOf,
    to: SideOf,
    /// How many the machine has; null where there are too many to count.
    pairs: Option<u64>,
    /// Those that have a number.
    measured: usize,
    /// How many of these numbers are suspect.
    suspect: usize,
    median: Option<f64>,
    min: Option<f64>,
    max: Option<f64>,
}

/// Logical indices of where a side is.
#[derive(Serialize)]
struct SideOf {
    package: Option<u32>,
    numa: Option<u32>,
    kind: Option<u32>,
}

impl From<Side> for SideOf {
    fn from(side: Side) -> Self {
        SideOf { package: side.package, numa: side.numa, kind: side.kind }
    }
}

/// The matrices on one line.
///
/// # Errors
/// Those of the output.
pub(crate) fn json(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let matrices = Matrix::all(report).iter().map(Square::of).collect();
    write_compact(&Matrices { report: &report.id, matrices }, out)?;
    writeln!(out)
}

impl<'a> Square<'a> {
    fn of(matrix: &Matrix<'a>) -> Self {
        let values = matrix.strands.iter().map(|home| {
            let row = matrix.strands.iter().map(|other| matrix.at(home, other).and_then(value));
            row.collect()
        });
        let doubtful = matrix.cells.iter().filter(|(_, cell)| cell.outcome.status == Status::Suspect);
        let classes = matrix.rows().into_iter().map(|row| {
            let values = row.values.as_ref();
            ClassOf {
                distance: row.class.distance.name(),
                from: row.class.from.into(),
                to: row.class.to.into(),
                pairs: row.pairs,
                measured: row.measured,
                suspect: row.suspect,
                median: values.map(|values| values.median()),
                min: values.map(|values| values.min()),
                max: values.map(|values| values.max()),
            }
        });
        Square {
            mode: matrix.mode(),
            kernel: matrix.kernel,
            unit: "ns",
            strands: matrix.strands.iter().map(|strand| strand.os_id).collect(),
            values: values.collect(),
            suspect: doubtful.map(|(pair, _)| *pair).collect(),
            classes: classes.collect(),
        }
    }
}
