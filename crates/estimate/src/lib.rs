#![doc = include_str!("../README.md")]

mod best;
mod caveat;
mod delivered;
mod estimate;
#[cfg(any(test, feature = "fixtures"))]
pub mod fixtures;
mod group;
mod quantity;
mod relation;
mod saturation;
mod table;

pub use best::{Best, better, contests};
pub use caveat::{CAVEATS, Caveat, CaveatRow, Caveats, Effect, host_distance};
pub use charz_data::report::NEARLY_ALL;
pub use delivered::{delivered_share, ends, shared_cpus};
pub use estimate::{Estimate, MARGIN, WIDEST};
pub use group::grouped;
pub use quantity::{Quantity, Question, left_by_quota};
pub use relation::{Peers, Relation, Strength};
pub use saturation::{SATURATED, Saturation};
pub use table::{AUTO, Estimates, Series, is_of_copies, kind, waits_in_kernel};
