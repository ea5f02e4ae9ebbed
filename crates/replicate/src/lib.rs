#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod basis;
mod cell;
mod claim;
mod count;
mod document;
mod evaluate;
mod model;
mod replication;
mod statistic;
mod table;
#[cfg(test)]
mod tests;
mod why;

use std::sync::LazyLock;

pub use cell::{Kernels, MANY, Target};
pub use document::{Citation, Document, Figure, Protocol, Reference, Relation};
pub use evaluate::{evaluate, feasibility};
pub use model::Placing;
pub use replication::{
    Band, CheckedClaim, Clock, Compared, FigureModel, Fitted, Note, Number, Of, Origin, Outcome, Predicted,
    PublishedRange, Reason, ReplicatedFigure, Replication, Row, Status, Term, Verdict,
};
pub use statistic::Basis;
pub use why::{GapKind, Refusal, Requirement, Why};

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
