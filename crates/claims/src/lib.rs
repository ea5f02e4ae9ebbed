#![doc = include_str!("../README.md")]

pub mod advise;
pub mod verdict;
