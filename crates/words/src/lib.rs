#![doc = include_str!("../README.md")]

pub mod advise;
pub mod caveat;
pub mod estimate;
pub mod findings;
pub mod launch;
pub mod point;
pub mod verdict;
