//! The history of a machine: its reports over time, and when their numbers changed.
//!
//! [`Store`] is the database file, and knows nothing of statistics. A [`Series`] is one cell over all reports, a [`Timeline`]
//! all series with their changes, and [`Baseline`] picks the report to compare a new one with.

mod baseline;
mod entry;
mod env_diff;
#[cfg(test)]
pub(crate) mod invented;
mod series;
mod store;
mod timeline;

pub use baseline::{Baseline, Wanted};
pub use entry::Entry;
pub use env_diff::{EnvChange, display, env_diff};
pub use series::{Key, Series, Value};
pub use store::{Added, Addition, Store};
pub use timeline::{ALPHA, Change, Segment, Timeline, Track};
