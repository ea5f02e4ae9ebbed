//! What a line of memory takes from each strand to each other: a table of numbers for people, all pairs for programs.

mod export;
pub(super) mod heat;
#[cfg(test)]
mod tests;

use super::value;
use crate::page::matrix::Row;

pub(super) use crate::page::matrix::Matrix;
pub(in crate::render) use crate::page::matrix::class_name;
pub(super) use export::{csv, json};
