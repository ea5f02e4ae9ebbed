//! From data to text. Nothing is measured here, and nothing but this and `main` prints.

pub mod compare;
pub mod doctor;
pub mod exits;
pub mod explain;
mod grid;
pub mod human;
mod json;
pub mod kernels;
pub mod mappers;
pub mod pairs;
pub mod placement;
pub mod plan;
pub mod progress;
pub mod report;
pub mod selftest;
pub mod text;
pub mod topo;
mod wrapped;
