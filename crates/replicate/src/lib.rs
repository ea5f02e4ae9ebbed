#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod cell;
mod claim;
mod count;
mod document;
mod evaluate;
mod model;
mod replication;
mod results;
mod statistic;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

pub use cell::{Kernels, Target};
pub use document::{Citation, Document, Figure, Protocol, Reference};
pub use evaluate::{evaluate, feasibility};
pub use model::Placing;
pub use replication::{
    CheckedClaim, Clock, FigureModel, Gap, GapKind, Number, Origin, Predicted, PublishedRange, ReplicatedFigure,
    Replication, Row, Status, Verdict,
};

/// The JSON Schema of a replication, as `cargo xtask docs` writes it.
pub const SCHEMA: &str = include_str!("../schema/replication.json");

const FILES: [&str; 5] = [
    include_str!("../documents/t3-4.toml"),
    include_str!("../documents/cmt.toml"),
    include_str!("../documents/cascade.toml"),
    include_str!("../documents/tacc.toml"),
    include_str!("../documents/solaris.toml"),
];

/// Every document, in the order in which they are listed.
pub static DOCUMENTS: LazyLock<Vec<Document>> = LazyLock::new(|| {
    // The tests read the same text, which is part of the program.
    FILES.iter().map(|text| Document::read(text).expect("a document of the project can be read")).collect()
});

/// The document of this name.
pub fn find(name: &str) -> Option<&'static Document> {
    DOCUMENTS.iter().find(|document| document.citation.name == name)
}
