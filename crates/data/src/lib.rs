//! The vocabulary of charz: plain data that its crates hand to each other and write into reports.
//!
//! Nothing here measures, reads a system or knows how data is shown.
#![forbid(unsafe_code)]
// A field whose name and type say all has no comment.
#![allow(missing_docs)]

pub mod checks;
pub mod cpulist;
pub mod distance;
pub mod escape;
pub mod machine;
mod nodes;
mod quote;
pub mod report;
pub mod units;

pub use quote::quote;
