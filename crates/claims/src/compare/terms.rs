//! In which order two sides were measured, what of them is compared, by which rules, and in spite of which reasons.

use charz_data::report::{Cell, Ending};
use charz_stats::median;
use serde::{Deserialize, Serialize};

/// In which order two sides were measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Design {
    /// One after the other: any other change in between looks like a difference too, so runs count as a series.
    Sequential,
    /// In random blocks of turns on one machine.
    Interleaved,
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

impl Quantity {
    /// The number of a cell that is compared.
    pub(super) fn value(self, cell: &Cell) -> Option<f64> {
        match self {
            Quantity::Capacity => cell.capacity.map(|capacity| capacity.value),
            // Of the runs that are compared: all work over all time may lie on the other side of the base's.
            // What is invalid delivered nothing that counts.
            Quantity::Delivered => cell.delivered.and_then(|_| median(self.values(cell))),
        }
    }

    /// One of each invocation that has one.
    pub(super) fn values(self, cell: &Cell) -> Vec<f64> {
        let done = cell.invocations.iter().filter(|one| self == Quantity::Capacity || one.ending == Ending::Done);
        done.filter_map(|one| if self == Quantity::Capacity { one.value } else { one.delivered(cell.unit) }).collect()
    }

    /// The same, as what is done in a time.
    pub(super) fn rates(self, cell: &Cell) -> Vec<f64> {
        let values = self.values(cell).into_iter();
        if cell.unit.more_is_better() { values.collect() } else { values.map(f64::recip).collect() }
    }
}

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

/// What is compared, and what may be beyond sound cells of one machine, one build and one plan.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// What of the cells.
    pub quantity: Quantity,
    /// Reports of different machines.
    pub cross_machine: bool,
    /// Reports of different builds of the kernels.
    pub cross_build: bool,
    /// Reports of plans that change what a number means.
    pub cross_plan: bool,
    /// Suspect cells with any mark.
    pub allow_suspect: bool,
}

impl Options {
    /// Whether they allow a comparison in spite of this.
    pub(super) fn allow(&self, caveat: Caveat) -> bool {
        match caveat {
            Caveat::OtherMachine => self.cross_machine,
            Caveat::OtherBuild => self.cross_build,
            Caveat::OtherPlan => self.cross_plan,
            Caveat::Suspect => self.allow_suspect,
        }
    }
}
