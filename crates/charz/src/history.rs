//! The history of a machine: its reports in one database file, what they say of each cell in the course of time, and when
//! that changed.
//!
//! * [`place`] knows where the file is; [`Store`] what stands in it, and nothing of statistics.
//! * A [`Series`] is what reports say of one cell, one after the other; [`Timeline`] has all of them with their changes.
//! * [`Baseline`] picks the report that a new one is to be compared with.
//!
//! The file is SQLite's, hostile input like any other: what stands in it is read as a report is, and a database that is not
//! exactly of the form that this program makes is refused.

mod baseline;
mod entry;
#[cfg(test)]
pub(crate) mod invented;
mod packed;
pub mod place;
mod series;
mod store;
mod surroundings;
mod timeline;
mod words;

pub use baseline::{Baseline, Wanted};
pub use entry::{Counts, Entry};
pub use series::{Parameters, Series, Value};
pub use store::{Added, Addition, Store};
pub use surroundings::{Became, became, in_words};
pub use timeline::{ALPHA, Change, Segment, Timeline, Track};
