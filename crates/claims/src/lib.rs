#![doc = include_str!("../README.md")]

pub mod advise;
pub mod compare;
pub mod history;
pub mod verdict;
