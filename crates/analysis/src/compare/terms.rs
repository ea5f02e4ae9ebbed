//! In which order two sides were measured, what of them is compared, and in spite of which reasons.

use charz_data::Card;
use charz_data::histogram::median_error;
use charz_data::report::{Report, Unit};
use serde::{Deserialize, Serialize};

/// In which order two sides were measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Design {
    /// One after the other: any other change in between looks like a difference too, so the margin is doubled.
    Sequential,
    /// In random blocks of turns on one machine.
    Interleaved,
}

impl Design {
    /// What the two sides are called.
    pub fn sides(self) -> [&'static str; 2] {
        match self {
            Design::Sequential => ["base", "new"],
            Design::Interleaved => ["A", "B"],
        }
    }
}

charz_data::words! { Design { Sequential = "sequential", Interleaved = "interleaved" } }

/// What of a cell is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// What the hardware does when nothing else takes the strands.
    #[default]
    Capacity,
    /// What the machine gave with everything that ran on it meanwhile: all work over all time.
    Delivered,
}

charz_data::words! { Quantity { Capacity = "capacity", Delivered = "delivered" } }

/// A reason against a comparison that was made nevertheless.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Caveat {
    /// The machines, or the strands that the workers sat on, differ.
    OtherMachine,
    /// The builds of the kernels, or the code paths that they chose, differ.
    OtherBuild,
    /// The plans, or the ways from repetitions to values, differ.
    OtherPlan,
    /// A side is suspect for a reason that makes the comparison unsafe.
    Suspect,
}

charz_data::words! { Caveat {
    OtherMachine = "other machine", OtherBuild = "other build", OtherPlan = "other plan", Suspect = "noisy",
} }

/// How many times the performance of a number may be as low, and as high: medians of stamped times may be off. Both ends are finite and
/// positive, as `nanos` is.
pub(super) fn ends(report: &Report, kernel: &str, unit: Unit, nanos: f64) -> [f64; 2] {
    const MOST: f64 = 0.9;
    if unit != Unit::NanosecondsSampled {
        return [1.0, 1.0];
    }
    let is_stamped = report.card(kernel).is_none_or(Card::is_stamped);
    let step_ns = report.timer.as_ref().filter(|_| is_stamped).map_or(0, |timer| timer.resolution_ns);
    let error = (median_error(nanos, step_ns) / nanos).min(MOST);
    [(1.0 + error).recip(), (1.0 - error).recip()]
}
