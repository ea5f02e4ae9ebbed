#![doc = include_str!("../README.md")]

pub mod advise;
pub mod card;
pub mod caveat;
pub mod compare;
pub mod curve;
pub mod estimate;
pub mod findings;
pub mod history;
pub mod interleave;
pub mod launch;
pub mod machines;
pub mod point;
pub mod replicate;
pub mod verdict;
