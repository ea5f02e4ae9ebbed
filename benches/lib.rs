//! What the benches share: cases that can be timed and counted, and cells of the harness.

pub mod cases;
pub mod cells;
