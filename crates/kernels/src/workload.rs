//! Whole programs: workers share one problem, go through its phases together, and check its answer.

pub mod npb;
mod team;
