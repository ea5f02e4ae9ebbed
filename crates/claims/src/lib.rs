#![doc = include_str!("../README.md")]

pub mod advise;
pub mod card;
pub mod compare;
pub mod curve;
pub mod curves;
pub mod findings;
pub mod history;
pub mod machines;
pub mod numa;
pub mod pairs;
pub mod verdict;
