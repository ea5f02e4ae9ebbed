//! A comparison as it is written: the JSON format. Within a major version fields are only added.

use serde::Serialize;

use super::{mapping, notes, reason, shown_by, unlike};
use charz_claims::compare::{self, ALPHA, Design, Quantity, Shown, Side, Totals, Verdict};
use charz_data::report::{Point, Report, Schema, Unit};

/// The JSON Schema of a comparison, as `cargo xtask docs` writes it.
pub const SCHEMA: &str = include_str!("../../schema/comparison.json");

/// The major version changes when a field changes its meaning or goes away, the minor one grows with every added field.
fn schema() -> Schema {
    Schema { name: "charz-comparison".into(), major: 1, minor: 4 }
}

/// Two reports, compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// The format.
    pub schema: Schema,
    /// Where the one side comes from.
    pub base: Origin,
    /// Where the other side comes from.
    pub new: Origin,
    /// In which order the two were measured.
    pub design: Design,
    /// What of the cells is compared.
    pub quantity: Quantity,
    /// The share of false calls to accept over all comparisons.
    pub alpha: f64,
    /// How much is still the same, as a fraction, where the noise floor of a row is not larger.
    pub margin: f64,
    /// The largest difference between two measurements of one thing, as a fraction: a configuration that is compared, under two mappings
    /// of one report that take the same CPUs; null where neither report has such.
    pub noise_floor: Option<f64>,
    /// Which configuration differs so, and in which report: a clause. Since 1.4.
    #[serde(default)]
    pub noise_shown_by: Option<String>,
    /// Whether suspect cells are compared whatever their marks.
    pub allow_suspect: bool,
    /// Differences between the reports that would have prevented the comparison without an option: one clause each.
    pub differences: Vec<String>,
    /// What else is worth knowing: a clause each.
    pub notes: Vec<String>,
    /// How many rows of each kind.
    pub totals: Totals,
    /// A row a cell: those of the base report in its order, then those that only the new one has.
    pub rows: Vec<Row>,
}

/// Where one side comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Origin {
    /// The report's random name; empty in reports of version 1.
    pub id: String,
    /// When its sweep began, UTC, RFC 3339.
    pub started: String,
    /// The host's name.
    pub host: Option<String>,
    /// The processor's model.
    pub processor: Option<String>,
    /// The version of the program that measured.
    pub version: String,
    /// The commit that it was built from, or `unknown`.
    pub commit: String,
}

/// A cell, compared or with the reason why not.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Row {
    /// The kernel's name.
    pub kernel: String,
    /// The parameters that the sweep varies for the kernel; those of the base.
    pub point: Point,
    /// The mapping, as on the command line; `A -> B` where the base has another one than the new side.
    pub mapping: String,
    /// How many workers.
    pub workers: u64,
    /// What the values count.
    pub unit: Unit,
    /// What the base report has; null where it does not have the cell.
    pub base: Option<Side>,
    /// What the new report has; null where it does not have the cell.
    pub new: Option<Side>,
    /// The word for it.
    pub verdict: Verdict,
    /// Why there is no verdict; null where there is one.
    pub reason: Option<String>,
    #[serde(flatten)]
    pub shown: Shown,
}

impl Comparison {
    /// With notes of who made it before its own.
    pub fn of(found: &compare::Comparison<'_>, asides: &[String]) -> Self {
        let [base, new] = found.reports.map(Origin::of);
        Comparison {
            schema: schema(),
            base,
            new,
            design: found.design,
            quantity: found.quantity,
            alpha: ALPHA,
            margin: found.margin,
            noise_floor: found.repeat.map(|repeat| repeat.difference),
            noise_shown_by: found.repeat.map(|repeat| shown_by(&repeat, found.design)),
            allow_suspect: found.allow_suspect,
            differences: found.differences.iter().map(unlike).collect(),
            notes: notes(found, asides),
            totals: found.totals,
            rows: found.rows.iter().map(|row| Row::of(row, found.design)).collect(),
        }
    }
}

impl Row {
    fn of(row: &compare::Row<'_>, design: Design) -> Self {
        let (cell, [base, new]) = (row.cell(), row.sides);
        Row {
            kernel: cell.kernel.clone(),
            point: cell.point,
            mapping: mapping(row),
            workers: cell.workers,
            unit: cell.unit,
            base,
            new,
            verdict: row.verdict,
            reason: row.reason.as_ref().map(|why| reason(why, design)),
            shown: row.shown.clone(),
        }
    }
}

impl Origin {
    fn of(report: &Report) -> Self {
        Origin {
            id: report.id.clone(),
            started: report.started.clone(),
            host: report.host.name.clone(),
            processor: report.host.processor.clone(),
            version: report.tool.version.clone(),
            commit: report.tool.commit.clone(),
        }
    }
}
