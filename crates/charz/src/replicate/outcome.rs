//! A replication as it is told: the JSON format, of which [`SCHEMA_MAJOR`] and [`SCHEMA_MINOR`] are the version. Within a major
//! version fields are only added.

use schemars::JsonSchema;
use serde::Serialize;

use crate::report::Schema;

/// The name in [`Schema::name`].
pub const SCHEMA_NAME: &str = "charz-replication";
/// Changes when a field changes its meaning or goes away.
pub const SCHEMA_MAJOR: u32 = 1;
/// Grows with every added field.
pub const SCHEMA_MINOR: u32 = 0;

/// A document, figure by figure, beside a machine.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Replication {
    /// The format.
    pub schema: Schema,
    /// The document.
    pub document: Cited,
    /// The machines that it measured; ratios are against the first that has a value.
    pub machines: Vec<Machine>,
    /// Where the document contradicts itself, a sentence each.
    pub inconsistencies: Vec<String>,
    /// The report that stands beside it; null where nothing was measured.
    pub report: Option<Origin>,
    /// What cycles are counted by; null where the clock is not known.
    pub clock: Option<Clock>,
    /// Its figures, tables, listings and quoted numbers, in its order.
    pub figures: Vec<Replicated>,
    /// How many figures of each standing.
    pub totals: Totals,
}

impl Replication {
    /// The version of the format that this program writes.
    pub(super) fn schema() -> Schema {
        Schema { name: SCHEMA_NAME.into(), major: SCHEMA_MAJOR, minor: SCHEMA_MINOR }
    }
}

/// A document's citation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Cited {
    /// The name on the command line.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Who wrote it.
    pub authors: String,
    /// Where and when it was published.
    pub published: String,
    /// What it is found by.
    pub id: String,
    /// How it measured, and what of that is otherwise here.
    pub protocol: String,
}

/// A machine of the document.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Machine {
    /// Its name in values.
    pub key: String,
    /// Its name for people.
    pub name: String,
    /// Its clock in hertz, as the document says it; null where it does not.
    pub clock_hz: Option<f64>,
    /// Its hardware threads; null where the document does not say.
    pub strands: Option<u64>,
    /// What else the document says of it.
    pub about: String,
}

/// Where the numbers of this machine come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Origin {
    /// The report's random name; empty in reports of version 1.
    pub id: String,
    /// When its sweep began, UTC, RFC 3339.
    pub started: String,
    /// The host's name.
    pub host: Option<String>,
    /// The processor's model.
    pub processor: Option<String>,
    /// Its usable strands.
    pub strands: u64,
    /// Whether every cell of the sweep was given its due.
    pub complete: bool,
}

/// A clock that turns times into cycles.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Clock {
    /// Hertz.
    pub hz: f64,
    /// Whether it is what the system claims, the nominal clock as the documents took it, or, where nothing is claimed, what
    /// chains of multiplications took.
    pub claimed: bool,
}

/// One figure, table, listing, or set of quoted numbers.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Replicated {
    /// Its number in the document, or the section that it stands in.
    pub number: String,
    /// What it is.
    pub title: String,
    /// What it shows.
    pub shows: String,
    /// What of its values survives.
    pub survives: String,
    /// How far it is replicated.
    pub standing: Standing,
    /// Why it is not replicated, or not wholly: a clause each.
    pub reasons: Vec<String>,
    /// What else to know when its numbers are read: a sentence each.
    pub notes: Vec<String>,
    /// Its values beside this machine's.
    pub rows: Vec<Row>,
    /// What the document concludes, held against this machine.
    pub claims: Vec<Checked>,
}

/// How far a figure is replicated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Everything that it shows has its like here, within the size of this machine.
    Done,
    /// Some of it has; the reasons say what has not.
    Partly,
    /// Nothing of it has, and a further sweep could change that.
    NotMeasured,
    /// Nothing of it has; the reasons say why.
    NotPossible,
    /// It holds no values.
    Drawing,
}

/// How many figures of each standing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Totals {
    /// Those that are done.
    pub done: u64,
    /// Those that are partly done.
    pub partly: u64,
    /// Those of which nothing was measured that could be.
    pub not_measured: u64,
    /// Those that are not possible.
    pub not_possible: u64,
    /// Those that hold no values.
    pub drawings: u64,
}

/// A value of the document beside its like here.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Row {
    /// What it has in common with the rows around it.
    pub group: String,
    /// What it is.
    pub label: String,
    /// The kernels whose cells answer it, joined by `+`; null where none does.
    pub kernel: Option<String>,
    /// Their mapping.
    pub mapping: Option<String>,
    /// Workers here; null where there is no such number on this machine.
    pub workers: Option<u64>,
    /// The unit of all numbers of the row.
    pub unit: String,
    /// The document's values.
    pub document: Vec<Said>,
    /// This machine's; null where there is none.
    pub here: Option<Number>,
    /// Why there is none, as a clause.
    pub gap: Option<String>,
    /// Whether the gap follows from the size of this machine alone.
    pub beyond: bool,
    /// Whether a further sweep could fill it.
    pub open: bool,
    /// This machine's number over the document's first, over the nearer end where that is a range, and 1 within it; null where
    /// it would say nothing.
    pub ratio: Option<f64>,
}

/// A value of the document.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Said {
    /// The key of the machine.
    pub machine: String,
    /// The value, or the lower end of the range.
    pub low: f64,
    /// The same, or the upper end.
    pub high: f64,
}

/// A number of this machine.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Number {
    /// The number.
    pub value: f64,
    /// The lower end of its 95% interval; null where there is none.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// Whether something speaks against it.
    pub suspect: bool,
    /// What stands beside it: samples, and where they gather.
    pub note: Option<String>,
}

/// A conclusion of the document, held against this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Checked {
    /// What the document says.
    pub says: String,
    /// Whether it holds here.
    pub verdict: Verdict,
    /// By which numbers, or why it cannot be told.
    pub because: String,
    /// Whether something speaks against one of the numbers.
    pub suspect: bool,
    /// Whether a further sweep could tell what this one does not.
    pub open: bool,
}

/// Whether a conclusion holds here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It does.
    Holds,
    /// It does not.
    Fails,
    /// It cannot be seen here.
    Unseen,
}
