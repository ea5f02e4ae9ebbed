#![doc = include_str!("../README.md")]

pub mod answer;
pub mod card;
#[cfg(test)]
mod claims;
pub mod culprits;
pub mod curve;
pub mod figure;
pub mod findings;
pub mod lock_waits;
pub mod machines;
pub mod numa;
pub mod page;
pub mod pairs;
pub mod predicted;
mod source;
