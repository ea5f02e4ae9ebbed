//! A document beside a machine, figure by figure: the JSON format.

use serde::Serialize;

use super::document::{Citation, Reference, Relation};
use super::statistic::Basis;
use super::why::Why;
use charz_data::CellSpec;
use charz_data::report::{Report, Schema};
use charz_model::NoModel;

/// A document's figures beside a report, or, before a sweep, what a sweep on a machine can replicate.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Replication<'a> {
    /// The format.
    pub schema: Schema,
    /// The document.
    pub document: &'a Citation,
    /// How the document measured, and where charz differs.
    pub protocol: &'a str,
    /// The document's machines; ratios are to the first that has a value.
    pub machines: &'a [Reference],
    /// Where the document contradicts itself, one sentence each.
    pub inconsistencies: &'a [String],
    /// The report; null before a sweep.
    pub report: Option<Origin<'a>>,
    /// The clock that counts cycles; null if it is not known.
    pub clock: Option<Clock>,
    /// The figures, tables, listings and quoted numbers, in the document's order.
    pub figures: Vec<ReplicatedFigure<'a>>,
}

impl Replication<'_> {
    pub(super) fn schema() -> Schema {
        Schema { name: "charz-replication".into(), major: 2, minor: 1 }
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
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Origin<'a> {
    /// The report's id.
    pub id: &'a str,
    /// When its sweep began, UTC, RFC 3339.
    pub started: &'a str,
    /// The host's name.
    pub host: Option<&'a str>,
    /// The processor's model.
    pub processor: Option<&'a str>,
    /// Usable strands.
    pub strands: u64,
    /// Whether the sweep was finished.
    pub complete: bool,
    /// All of it.
    #[serde(skip)]
    pub report: &'a Report,
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
pub struct ReplicatedFigure<'a> {
    /// Its number in the document, or its section.
    pub number: &'a str,
    /// Its title.
    pub title: &'a str,
    /// What it shows.
    pub shows: &'a str,
    /// Which of its values survive.
    pub survives: &'a str,
    /// How far it is replicated.
    pub status: Status,
    /// Why it is not, or only partly, replicated.
    pub reasons: Vec<Reason<'a>>,
    /// What throughputs of its rows are.
    pub basis: Basis,
    /// What to know when reading its numbers: one sentence each.
    pub notes: &'a [String],
    /// The document's values beside this machine's.
    pub rows: Vec<Row<'a>>,
    /// What a model that knows a few of a machine's values says of the others.
    pub models: Vec<FigureModel<'a>>,
    /// The document's conclusions, checked here; empty before a sweep.
    pub claims: Vec<CheckedClaim<'a>>,
}

/// Why a figure is not, or only partly, replicated.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reason<'a> {
    /// The reason.
    pub why: Why<'a>,
    /// How many rows or conclusions have it.
    pub count: usize,
    /// What has it.
    pub of: Of,
}

/// What has a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Of {
    /// The figure as a whole.
    Figure,
    /// Rows.
    Rows,
    /// Conclusions.
    Conclusions,
}

/// What a model makes of a machine's values in a figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FigureModel<'a> {
    /// The key of the machine.
    pub machine: &'a str,
    /// What was fitted: what an adaptive sweep would measure first.
    pub fitted: Vec<Fitted<'a>>,
    /// How many other values there are.
    pub others: usize,
    /// The model, or why there is none.
    pub outcome: Outcome,
}

/// A value that a model was fitted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fitted<'a> {
    /// Its mapping.
    pub mapping: &'a str,
    /// Its number of threads.
    pub threads: usize,
}

/// What came of fitting a model to a few values.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// A model.
    Model {
        /// Its name.
        name: &'static str,
        /// By how much the other values are missed in the mean, as a fraction.
        mean: f64,
        /// By how much the worst of them is.
        worst: f64,
        /// How many of the others lie in their intervals of 90%.
        held: usize,
    },
    /// None.
    None(NoModel),
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
    /// It was measured, and no conclusion is decided.
    Undecided,
    /// Not at all, but another sweep could.
    NotMeasured,
    /// Not at all, by no sweep on this machine; the reasons say why.
    Impossible,
    /// It has no values.
    Drawing,
}

/// One value of the document and its counterpart.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Row<'a> {
    /// What it shares with the rows around it.
    pub group: &'a str,
    /// What it is.
    pub label: &'a str,
    /// The kernels of its cells, joined by `+`; null without a counterpart.
    pub kernel: Option<&'a str>,
    /// Their mapping.
    pub mapping: Option<&'a str>,
    /// Workers here; null if there is no such number on this machine.
    pub workers: Option<u64>,
    /// The unit of all numbers of the row.
    pub unit: &'a str,
    /// The document's values.
    pub published: Vec<PublishedRange<'a>>,
    /// This machine's number; null if there is none.
    pub here: Option<Number<'a>>,
    /// Why there is none, or will be none.
    pub gap: Option<Why<'a>>,
    /// This machine's number over the document's first (1 within a range, else over its nearer end); null if it has no meaning.
    pub ratio: Option<f64>,
}

/// A value of the document.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PublishedRange<'a> {
    /// The key of the machine.
    pub machine: &'a str,
    /// The value, or the lower end of a range.
    pub low: f64,
    /// The value, or the upper end.
    pub high: f64,
    /// What the figure's model says; null without one.
    pub predicted: Option<Predicted>,
}

/// What a model says of one of a document's values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
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
pub struct Number<'a> {
    /// The number.
    pub value: f64,
    /// Its 95% interval; null if there is none.
    pub interval: Option<[f64; 2]>,
    /// Whether one of its cells is suspect.
    pub suspect: bool,
    /// The share of the capacity that was delivered, as a fraction, of several cells the least; null from 95% on, beyond the CPUs, and
    /// where it is not known.
    pub delivered_share: Option<f64>,
    /// What else is known of it.
    pub note: Option<Note<'a>>,
}

/// What is known of a number besides its interval.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Note<'a> {
    /// The times that it is the middle of.
    Samples {
        /// How many they are.
        count: u64,
        /// The bands that hold most of them.
        bands: Vec<Band>,
    },
    /// Rates give another quotient than work does.
    ByRates(f64),
    /// The depth of recursion that is the fastest.
    FastestDepth(u64),
    /// It is less than half of this number, that of the same loads in random order: a prefetcher foresees them.
    Foreseen(f64),
    /// The host of the other report.
    Against(&'a str),
}

/// A band of times.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Band {
    /// The share of the times in it.
    pub share: f64,
    /// Its ends in nanoseconds.
    pub ns: [f64; 2],
    /// Its ends in the unit of the row.
    pub ends: [f64; 2],
}

/// A conclusion of the document, checked here.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CheckedClaim<'a> {
    /// The conclusion.
    pub says: &'a str,
    /// How the first number is to relate to the second.
    pub relation: Relation,
    /// The factor of the relation.
    pub by: f64,
    /// Which numbers decide.
    pub basis: Basis,
    /// Whether it holds here.
    pub verdict: Verdict,
    /// The numbers that decide, or leave it open.
    pub compared: Vec<Compared<'a>>,
    /// Why it is not decided; null where it is.
    pub why: Option<Why<'a>>,
}

impl CheckedClaim<'_> {
    /// Whether one of the numbers is suspect.
    pub fn is_suspect(&self) -> bool {
        self.compared.iter().any(|of| of.left.number.suspect || of.right.number.suspect)
    }
}

/// Two numbers with their relation.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Compared<'a> {
    /// Whether they relate as the conclusion says; null where their intervals leave it open, or one has none.
    pub holds: Option<bool>,
    /// What the conclusion is about.
    pub left: Term<'a>,
    /// What that is compared with.
    pub right: Term<'a>,
    /// The unit of both.
    pub unit: &'a str,
}

impl Compared<'_> {
    /// The least share of its capacity that a side delivered.
    pub(super) fn delivered_share(&self) -> Option<f64> {
        let shares = [&self.left, &self.right].map(|side| side.number.delivered_share);
        shares.into_iter().flatten().reduce(f64::min)
    }
}

/// A number of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Term<'a> {
    /// Its cell; null of a limit.
    pub cell: Option<&'a CellSpec>,
    /// The size of the program that it is about; null where there is none.
    pub size: Option<u64>,
    /// Workers; null of a limit.
    pub workers: Option<u64>,
    /// The number.
    pub number: Number<'a>,
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
    /// What was measured leaves it open.
    Undecided,
    /// It was not measured.
    NotMeasured,
    /// No sweep on this machine decides it.
    Impossible,
}
