#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod baseline;
mod blame;
pub mod claim;
mod classes;
pub mod formats;
mod judge;
mod loads;
mod norms;
mod page;
mod parts;
mod setting;
#[cfg(test)]
mod tests;
mod visit;
mod whole;
pub mod words;

pub use claim::{Fleet, Unreadable};
pub use judge::judge;
pub use setting::{Setting, Value};
pub use visit::{Visit, compact};
