//! Source documents: what each of them measured, what survives of its numbers, and how charz answers each of its figures.
//!
//! The documents stand in the project as data (`replicate/data`), one file each, facts only. From the data follow the cells of
//! a sweep ([`Document::wanted`]), and from a report of those cells what is told in the end ([`draw`]): nothing here measures,
//! prints, or knows how a sweep is run.

mod claim;
mod count;
mod data;
mod draw;
mod outcome;
mod place;
mod seen;
mod take;
#[cfg(test)]
mod tests;
mod unit;
mod wanted;

use std::sync::LazyLock;

pub use data::{Document, Figure, Golden, Protocol, Reference, Series};
pub use draw::{draw, prospect};
pub use outcome::{
    Checked, Cited, Clock, Machine, Number, Origin, Replicated, Replication, Row, Said, Standing, Totals, Verdict,
};
pub use place::Place;
pub use wanted::Wanted;

/// The files, as they were when the program was built.
const FILES: [&str; 5] = [
    include_str!("replicate/data/t3-4.toml"),
    include_str!("replicate/data/cmt.toml"),
    include_str!("replicate/data/cascade.toml"),
    include_str!("replicate/data/tacc.toml"),
    include_str!("replicate/data/solaris.toml"),
];

/// Every document, in the order in which they are listed.
pub static DOCUMENTS: LazyLock<Vec<Document>> = LazyLock::new(|| {
    // The tests read the same files: a program with a bad one is not built.
    FILES.iter().map(|text| toml::from_str(text).expect("a document of the project can be read")).collect()
});

/// The document with this name.
pub fn find(name: &str) -> Option<&'static Document> {
    DOCUMENTS.iter().find(|document| document.name == name)
}
