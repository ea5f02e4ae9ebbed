//! What a line of memory takes from each strand to each other: a table of numbers for people, all pairs for programs.

mod export;
pub(super) mod heat;
#[cfg(test)]
mod tests;

use super::value;
use charz_analysis::page::matrix::Row;

pub(super) use charz_analysis::page::matrix::Matrix;
pub use charz_analysis::page::matrix::class_name;
pub(super) use export::{csv, json};
