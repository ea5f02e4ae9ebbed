//! A relation between two parts of a machine: what is claimed, what was measured, and the verdict.

use std::fmt;

use crate::Probe;

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

/// The measurement beside the claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
#[derive(Clone, Debug, PartialEq)]
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
#[derive(Clone, Debug, Default, PartialEq)]
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
    pub reason: Option<Reason>,
}

/// Why nothing was decided, or what a contradiction rests on.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// There is no number.
    NotMeasured,
    /// There is one number.
    MeasuredOnce,
    /// Rounds of the same strands differ.
    RoundsDisagree,
    /// The ratio is neither that of one core nor that of two.
    Between(f64),
    /// Numbers of one strand differ by this share.
    Noisy(f64),
    /// Pairs that run at once disturb each other: the ratio of one alone, and with others.
    Crosstalk([f64; 2]),
    /// A dependent chain, which needs no units, slows down too.
    ChainSlowsDown,
    /// The strand, or what seems to be its sibling, seems to have more siblings than any core.
    ManySiblings(usize),
    /// So many rounds, of so many that are needed.
    FewRounds(usize, usize),
    /// Two measurements, apart in time, agree.
    SeenTwice,
    /// A second measurement does not agree.
    NotSeenAgain,
    /// A second measurement decides nothing, for this reason.
    NotSeenAgainAs(Box<Reason>),
    /// A second measurement shows the opposite.
    Opposite,
    /// The two slow each other down, in the cache or behind it.
    SlowEachOther,
    /// A line takes as long between claimed neighbours as between others.
    AsLong,
    /// No pair is claimed to share it.
    NoneShares,
    /// The reference is missing: the time of a load from memory.
    MemoryUnknown,
    /// The time lies between those of pairs that share it and of others.
    BetweenTimes,
    /// No pair is farther, and the time is not clearly less than that of a load from memory.
    NotFaster,
    /// The memory of both nodes is about as far.
    NodesAlike,
    /// Rates of one kind of core differ as those of kinds do.
    RatesDiffer,
    /// The rate is that of another kind too.
    RateOfAnother,
    /// The rate is that of a faster kind in all rounds.
    AsAFasterKind,
    /// The rate is below that of its kind.
    BelowItsKind,
    /// No core ran a chain whose clock was seen.
    NoClock,
    /// The system claims no clock.
    NoClaimedClock,
    /// The clock is outside of the range that the system claims.
    OutsideRange,
    /// The clock is not the nominal one, in these words.
    OffNominal(&'static str),
    /// Counters agree within so many nanoseconds.
    CountersAgree(u64),
    /// No counter is read by which strands could be compared.
    NoCounters,
}

/// A number that was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// The quantity.
    pub name: Name,
    /// In `unit`.
    pub value: f64,
    /// `ratio`, `ns`, `op/s`, `Hz`, or `1` of a count.
    pub unit: &'static str,
}

/// A quantity, as in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    /// The ratio of two strands' rates together to those alone, under a load.
    Ratio(Probe),
    /// The latency of the memory of a NUMA node, by its OS id.
    Node(u32),
    /// Another one.
    Of(&'static str),
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Name::Ratio(probe) => write!(f, "r_{}", probe.name()),
            Name::Node(node) => write!(f, "node_{node}"),
            Name::Of(name) => f.write_str(name),
        }
    }
}

impl Figure {
    /// A number with its unit, one of those listed at [`Figure::unit`].
    pub fn new(name: &'static str, value: f64, unit: &'static str) -> Self {
        Figure { name: Name::Of(name), value, unit }
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
    pub(super) fn unconfirmed(mut self, reason: Reason) -> Self {
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
