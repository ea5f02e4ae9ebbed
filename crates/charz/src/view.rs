//! How commands show what is no report: plans, machines, placements, findings of the doctor.

pub mod doctor;
pub mod exits;
pub mod explain;
pub mod kernels;
pub mod look;
pub mod mappers;
pub mod pairs;
pub mod placement;
pub mod plan;
pub mod progress;
pub mod topo;
