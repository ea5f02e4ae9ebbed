#![doc = include_str!("../README.md")]

pub mod answer;
#[cfg(test)]
mod claims;
pub mod culprits;
pub mod figure;
pub mod lock_waits;
pub mod machines;
pub mod page;
pub mod predicted;
mod source;
