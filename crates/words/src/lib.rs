#![doc = include_str!("../README.md")]

pub mod advise;
pub mod caveat;
pub mod estimate;
pub mod launch;
pub mod point;
pub mod replicate;
pub mod verdict;
