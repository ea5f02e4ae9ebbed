//! A document beside a machine, figure by figure: the JSON format.

use serde::Serialize;

use super::document::{Citation, Reference};
use charz_data::report::Schema;

/// A document's figures beside a report, or, before a sweep, what a sweep on a machine can replicate.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Replication {
    /// The format.
    pub schema: Schema,
    /// The document.
    pub document: Citation,
    /// How the document measured, and where charz differs.
    pub protocol: String,
    /// The document's machines; ratios are to the first that has a value.
    pub machines: Vec<Reference>,
    /// Where the document contradicts itself, one sentence each.
    pub inconsistencies: Vec<String>,
    /// The report; null before a sweep.
    pub report: Option<Origin>,
    /// The clock that counts cycles; null if it is not known.
    pub clock: Option<Clock>,
    /// The figures, tables, listings and quoted numbers, in the document's order.
    pub figures: Vec<ReplicatedFigure>,
}

impl Replication {
    pub(super) fn schema() -> Schema {
        Schema { name: "charz-replication".into(), major: 1, minor: 0 }
    }

    /// How many figures have this status.
    pub fn figures_with(&self, status: Status) -> usize {
        self.figures.iter().filter(|figure| figure.status == status).count()
    }

    /// How many conclusions have this verdict.
    pub fn claims_with(&self, verdict: Verdict) -> usize {
        self.figures.iter().flat_map(|figure| &figure.claims).filter(|claim| claim.verdict == verdict).count()
    }
}

/// The report that the numbers come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Origin {
    /// The report's id.
    pub id: String,
    /// When its sweep began, UTC, RFC 3339.
    pub started: String,
    /// The host's name.
    pub host: Option<String>,
    /// The processor's model.
    pub processor: Option<String>,
    /// Usable strands.
    pub strands: u64,
    /// Whether the sweep was finished.
    pub complete: bool,
    /// The command that finishes it, if one can.
    #[serde(skip)]
    pub resume: Option<String>,
}

/// A clock that turns times into cycles.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Clock {
    /// Hertz.
    pub hz: f64,
    /// Whether it is the nominal clock, which the documents used; else it was measured by chains of multiplications, and is another one or
    /// the only one.
    pub claimed: bool,
}

/// A figure, table, listing, or set of quoted numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplicatedFigure {
    /// Its number in the document, or its section.
    pub number: String,
    /// Its title.
    pub title: String,
    /// What it shows.
    pub shows: String,
    /// Which of its values survive.
    pub survives: String,
    /// How far it is replicated.
    pub status: Status,
    /// Why it is not, or only partly, replicated: one clause each.
    pub reasons: Vec<String>,
    /// What to know when reading its numbers: one sentence each.
    pub notes: Vec<String>,
    /// The document's values beside this machine's.
    pub rows: Vec<Row>,
    /// What a model that knows a few of a machine's values says of the others.
    pub models: Vec<FigureModel>,
    /// The document's conclusions, checked here; empty before a sweep.
    pub claims: Vec<CheckedClaim>,
}

/// What a model makes of a machine's values in a figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FigureModel {
    /// The key of the machine.
    pub machine: String,
    /// The model's name; null if there is none.
    pub name: Option<String>,
    /// What was fitted, such as `dumb 8`: what an adaptive sweep would measure first.
    pub fitted: Vec<String>,
    /// How many other values there are.
    pub others: usize,
    /// By how much the others are missed in the mean, as a fraction; null without a model.
    pub mean: Option<f64>,
    /// By how much the worst of them is.
    pub worst: Option<f64>,
    /// How many of the others lie in their intervals of 90%; null without a model.
    pub held: Option<usize>,
    /// Why there is no model: a clause.
    pub why: Option<String>,
}

/// How far a figure is replicated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Wholly: every row has a number and every conclusion is decided; before a sweep, this machine can do so.
    Done,
    /// Partly; the reasons name the rest.
    Partly,
    /// Not at all, but another sweep could.
    NotMeasured,
    /// Not at all; the reasons say why.
    NotPossible,
    /// It has no values.
    Drawing,
}

// Those of tables and of CSV.
charz_data::words! { Status {
    Done = "done", Partly = "partly", NotMeasured = "not measured", NotPossible = "not possible", Drawing = "drawing",
} }

/// One value of the document and its counterpart.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Row {
    /// What it shares with the rows around it.
    pub group: String,
    /// What it is.
    pub label: String,
    /// The kernels of its cells, joined by `+`; null without a counterpart.
    pub kernel: Option<String>,
    /// Their mapping.
    pub mapping: Option<String>,
    /// Workers here; null if there is no such number on this machine.
    pub workers: Option<u64>,
    /// The unit of all numbers of the row.
    pub unit: String,
    /// The document's values.
    pub published: Vec<PublishedRange>,
    /// This machine's number; null if there is none.
    pub here: Option<Number>,
    /// Why there is none, or will be none.
    pub gap: Option<Gap>,
    /// This machine's number over the document's first (1 within a range, else over its nearer end); null if it has no meaning.
    pub ratio: Option<f64>,
}

/// Why there is no number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Gap {
    /// A clause.
    pub reason: String,
    /// What could change it.
    pub kind: GapKind,
}

/// What could fill a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum GapKind {
    /// Another sweep.
    Open,
    /// A machine of another size.
    Machine,
    /// Nothing that charz does.
    Final,
}

impl<T: Into<String>> From<T> for Gap {
    fn from(reason: T) -> Self {
        Gap { reason: reason.into(), kind: GapKind::Final }
    }
}

/// A value of the document.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PublishedRange {
    /// The key of the machine.
    pub machine: String,
    /// The value, or the lower end of a range.
    pub low: f64,
    /// The value, or the upper end.
    pub high: f64,
    /// What the figure's model says; null without one.
    pub predicted: Option<Predicted>,
}

/// What a model says of one of a document's values.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Predicted {
    /// In the unit of the row.
    pub value: f64,
    /// Where the value lies, with 90% confidence.
    pub interval: [f64; 2],
    /// Whether the model was fitted to the document's value, so nothing was predicted.
    pub is_fitted: bool,
}

/// A number of this machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Number {
    /// The number.
    pub value: f64,
    /// The lower end of its 95% interval; null if there is none.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// Whether one of its cells is suspect.
    pub suspect: bool,
    /// The number of samples, and the bands that hold most of them.
    pub note: Option<String>,
}

/// A conclusion of the document, checked here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CheckedClaim {
    /// The conclusion.
    pub says: String,
    /// Whether it holds here.
    pub verdict: Verdict,
    /// The numbers, or why it is undecided.
    pub evidence: String,
    /// Whether one of the numbers is suspect.
    pub suspect: bool,
    /// Whether another sweep could decide it.
    pub open: bool,
}

/// Whether a conclusion holds here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It does.
    Holds,
    /// It does not.
    Fails,
    /// This report cannot decide it.
    Undecided,
}

impl Verdict {
    /// So many conclusions have it: `1 holds here`, `3 hold here`.
    pub fn counted(self, count: usize) -> String {
        let words = match (self, count) {
            (Verdict::Holds, 0 | 2..) => "hold here",
            (Verdict::Fails, 0 | 2..) => "fail here",
            _ => self.name(),
        };
        format!("{count} {words}")
    }
}

charz_data::words! { Verdict { Holds = "holds here", Fails = "fails here", Undecided = "undecided here" } }
