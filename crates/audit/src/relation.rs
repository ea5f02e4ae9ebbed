//! A relation between two parts of a machine: what is claimed, what was measured, and the verdict.

use std::fmt;

use serde::{Serialize, Serializer};

/// What is claimed to be shared, or of one strand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Two strands of one core.
    Core,
    /// Two strands that share execution units.
    Alu,
    /// A cache of this level.
    Cache(u32),
    /// Two strands of one socket.
    Package,
    /// Strand a is local to NUMA node b.
    Numa,
    /// The kind of core of strand a on a hybrid machine.
    CoreKind,
    /// The clock of the cores against the nominal one.
    Clock,
    /// Package of strands by the offsets of their time-stamp counters.
    Tsc,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Core => f.write_str("core"),
            Kind::Alu => f.write_str("alu"),
            Kind::Cache(level) => write!(f, "l{level}"),
            Kind::Package => f.write_str("package"),
            Kind::Numa => f.write_str("numa"),
            Kind::CoreKind => f.write_str("core_kind"),
            Kind::Clock => f.write_str("clock"),
            Kind::Tsc => f.write_str("tsc"),
        }
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The measurement beside the claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Two independent measurements disagree with the claim.
    Contradicted,
    /// Noise, or no time left: nothing was decided.
    Inconclusive,
    /// The measurement agrees, or found what the system does not report.
    Confirmed,
}

// The most urgent first; the words of JSON too.
charz_data::words! {
    Verdict { Contradicted = "contradicted", Inconclusive = "inconclusive", Confirmed = "confirmed" }
}

/// One claim about one or two strands, with its verdict.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Relation {
    /// The thing shared.
    pub kind: Kind,
    /// OS id of a strand; null for the whole machine.
    pub a: Option<u32>,
    /// OS id of the other strand, or of the node of `numa`; null where the relation is of one strand.
    pub b: Option<u32>,
    /// The conclusion from `evidence`.
    pub verdict: Verdict,
    /// The numbers behind the verdict.
    pub evidence: Evidence,
}

/// What a verdict rests on.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Evidence {
    /// Whether the system claims that the two share it; null where it claims nothing.
    pub claimed: Option<bool>,
    /// Whether they do by measurement; null where that is inconclusive.
    pub measured: Option<bool>,
    /// Numbers measured for this relation, the decisive one first.
    pub figures: Vec<Figure>,
    /// Independent rounds behind the figure that decides.
    pub rounds: u64,
    /// A lower bound of the probability that noise did not cause the verdict, by Chebyshev's inequality: 1 − (noise / distance from the
    /// limit)². Null where nothing was decided.
    pub confidence: Option<f64>,
    /// Why it is inconclusive, or what contradicts the claim.
    pub reason: Option<String>,
}

/// A number that was measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// The quantity, as in JSON.
    pub name: String,
    /// In `unit`.
    pub value: f64,
    /// `ratio`, `ns`, `op/s`, `Hz`, or `1` of a count.
    pub unit: &'static str,
}

impl Figure {
    /// A number with its unit, one of those listed at [`Figure::unit`].
    pub fn new(name: impl Into<String>, value: f64, unit: &'static str) -> Self {
        Figure { name: name.into(), value, unit }
    }
}

impl Relation {
    /// The verdict on a claim: what was measured agrees with it, does not, or is not known.
    pub(super) fn new(kind: Kind, a: u32, b: Option<u32>, evidence: Evidence) -> Self {
        let verdict = match (evidence.claimed, evidence.measured) {
            (_, None) => Verdict::Inconclusive,
            (None, Some(_)) => Verdict::Confirmed,
            (Some(claimed), Some(measured)) if claimed == measured => Verdict::Confirmed,
            (Some(_), Some(_)) => Verdict::Contradicted,
        };
        Relation { kind, a: Some(a), b, verdict, evidence }
    }

    /// Takes back a contradiction that was not seen a second time.
    pub(super) fn unconfirmed(mut self, reason: String) -> Self {
        self.verdict = Verdict::Inconclusive;
        self.evidence.measured = None;
        self.evidence.confidence = None;
        self.evidence.reason = Some(reason);
        self
    }

    pub(super) fn is_contradicted(&self) -> bool {
        self.verdict == Verdict::Contradicted
    }
}

/// See [`Evidence::confidence`]: of a figure at this distance from the limit, with this noise.
pub(super) fn confidence(distance: f64, noise: f64) -> f64 {
    (1.0 - (noise / distance).powi(2)).clamp(0.0, 1.0)
}
