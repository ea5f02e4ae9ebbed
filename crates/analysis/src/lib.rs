#![doc = include_str!("../README.md")]

pub mod advise;
pub mod answer;
pub mod card;
#[cfg(test)]
mod claims;
pub mod compare;
pub mod culprits;
pub mod curve;
pub mod figure;
pub mod findings;
#[cfg(any(test, feature = "fixtures"))]
pub mod fixtures;
mod group;
pub mod history;
pub mod launch;
pub mod lock_waits;
pub mod machines;
pub mod numa;
pub mod number;
pub mod page;
pub mod pairs;
pub mod point;
pub mod predicted;
mod source;
pub mod verdict;
