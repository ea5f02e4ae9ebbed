//! From data to text. Nothing is measured here, and nothing but this and `main` prints.

pub mod bencher;
pub mod compare;
pub mod doctor;
pub mod exits;
pub mod explain;
mod grid;
pub mod history;
pub mod html;
pub mod human;
mod json;
pub mod kernels;
pub mod look;
pub mod mappers;
pub mod markdown;
pub mod openmetrics;
pub mod pairs;
pub mod picture;
pub mod placement;
pub mod plan;
pub mod progress;
pub mod replicate;
pub mod report;
pub mod term;
pub mod text;
pub mod topo;
pub mod view;
mod wrapped;
