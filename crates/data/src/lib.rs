#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod at_once;
mod blocks;
mod bounds;
pub mod card;
mod cell_spec;
pub mod checks;
mod contention;
pub mod cpulist;
mod device;
pub mod distance;
mod distribution;
pub mod escape;
mod growth;
mod hardware;
pub mod histogram;
mod known_as;
pub mod machine;
mod memory;
mod mix;
mod nodes;
mod order;
pub mod params;
pub mod program;
pub mod quantity;
pub mod renamed;
pub mod report;
mod reported;
mod role;
pub mod unit_word;
pub mod units;
#[doc(hidden)]
pub mod words;
mod work;

pub use at_once::at_once;
pub use blocks::Blocks;
pub use card::{Card, Family, Metric, Role, Text, Times, WorkerCount};
pub use cell_spec::CellSpec;
pub use contention::{Contention, Sharing};
pub use distribution::{Distribution, Peak, Shape, WakeUps};
pub use escape::quote;
pub use growth::{Growth, GrowthStep, Halt};
pub use hardware::{HARDWARE_EVENTS, Hardware, HardwareCount, HardwareCounts, peak_mips};
pub use histogram::{Histogram, JointHistogram};
pub use known_as::{KNOWN_AS, KnownAs, known_as};
pub use memory::{MemoryPolicy, PageKind};
pub use mix::{Mix, UnitKind};
pub use nodes::interleave_weights;
pub use order::Arrange;
pub use params::{Class, Layout, PARAMS, Param, Params, Period};
pub use program::{COMMAND, Follow, NO_MATCH, Program, ProgramValue};
pub use reported::{Better, ReportedUnit, Symbol};
pub use work::{Bytes, Ops, Work};

/// The JSON Schema of a type.
#[cfg(feature = "schema")]
pub fn schema_of<T: schemars::JsonSchema>() -> String {
    let text =
        serde_json::to_string_pretty(&schemars::schema_for!(T)).expect("a schema is a tree of strings and numbers");
    text + "\n"
}
