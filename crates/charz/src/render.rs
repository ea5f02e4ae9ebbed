//! From data to text. Nothing is measured here, and nothing but this and `main` prints.

pub mod exits;
mod grid;
pub mod human;
pub mod kernels;
pub mod mappers;
pub mod placement;
pub mod plan;
pub mod progress;
pub mod report;
pub mod text;
pub mod topo;
