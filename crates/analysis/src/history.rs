//! What the reports of one machine say over time, and when their numbers changed.
//!
//! A [`Series`] is one cell over all reports, a [`Timeline`] all series with their changes, and [`Baseline`] picks the report to
//! compare a new one with.

mod baseline;
mod entry;
mod env_diff;
#[cfg(any(test, feature = "fixtures"))]
pub mod invented;
mod series;
mod timeline;

pub use baseline::{Baseline, Wanted};
pub use entry::{Added, Addition, Entry, seconds, summary};
pub use env_diff::{EnvChange, display, env_diff};
pub use series::{Key, Series, Value};
pub use timeline::{ALPHA, Change, Segment, Timeline, Track};
