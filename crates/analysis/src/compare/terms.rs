//! In which order two sides were measured, and what of them is compared.

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
