//! The comparison as it is written: the JSON format. Within a major version fields are only added.

use serde::{Deserialize, Serialize};

use super::row::{Row, Verdict};
use super::terms::{Design, Quantity};
use charz_data::report::{Report, Schema};

/// The major version changes when a field changes its meaning or goes away, the minor one grows with every added field.
pub fn schema() -> Schema {
    Schema { name: "charz-comparison".into(), major: 1, minor: 4 }
}

/// Two reports, compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

impl Origin {
    pub(super) fn of(report: &Report) -> Self {
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

/// How many rows of each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Totals {
    /// Verdicts that the new side is faster.
    pub faster: usize,
    /// Verdicts that it is slower.
    pub slower: usize,
    /// Verdicts that there is no difference beyond the margin.
    pub same: usize,
    /// Rows that were compared without a verdict.
    pub inconclusive: usize,
    /// Rows that were not compared.
    pub uncompared: usize,
    /// Of the rows without a verdict, skipped and inconclusive ones, those whose sides surely differ: the whole
    /// interval, or all runs, lie beyond the margin.
    pub open: usize,
    /// The fewest invocations with a value that a side of a compared row has.
    pub fewest: usize,
    /// How many invocations a side it takes to show a single difference among so many comparisons.
    pub needed: usize,
}

impl Totals {
    /// Whether nothing was found to be slower, faster or the same.
    pub fn has_no_verdict(&self) -> bool {
        self.slower + self.faster + self.same == 0
    }

    pub(super) fn of(rows: &[Row], needed: usize, fewest: usize) -> Self {
        let count = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
        Totals {
            faster: count(Verdict::Faster),
            slower: count(Verdict::Slower),
            same: count(Verdict::Same),
            inconclusive: count(Verdict::Inconclusive),
            uncompared: count(Verdict::Uncompared),
            open: rows.iter().filter(|row| row.apart).count(),
            fewest,
            needed,
        }
    }

    pub fn compared(&self) -> usize {
        self.faster + self.slower + self.same + self.inconclusive
    }
}
