#![doc = include_str!("../README.md")]

pub mod bencher;
pub mod compare;
pub mod grid;
pub mod history;
pub mod html;
pub mod json;
pub mod look;
pub mod markdown;
pub mod openmetrics;
pub mod outline;
pub mod picture;
pub mod replicate;
pub mod report;
pub mod term;
pub mod view;
pub mod wrapped;
