//! What the reports of one machine say over time, and when their numbers changed.
//!
//! A [`Series`] is one cell over all reports, a [`Timeline`] all series with their changes, and [`Baseline`] picks the report to
//! compare a new one with.

mod baseline;
mod entry;
#[cfg(any(test, feature = "fixtures"))]
pub mod fixtures;
mod series;
mod timeline;

pub use baseline::{Baseline, LastChange, NoBase, Wanted, Why};
pub use entry::{Added, Entry, EnvChange, env_diff, seconds, summary};
pub use series::{Apart, Key, Series, Value};
pub use timeline::{ALPHA, Change, Segment, Timeline, Track};
