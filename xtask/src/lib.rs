//! What the tasks share: programs that are driven, native packages, the places of the checkout, and how a task fails.

pub mod arguments;
pub mod failure;
pub mod json;
pub mod packages;
pub mod process;
pub mod setup;
pub mod target;
pub mod workspace;

pub use failure::{Failure, Outcome};
