//! A document of others beside this machine.

mod csv;
mod docs;
mod markdown;
mod sheet;
mod table;
#[cfg(test)]
mod tests;
mod words;

use std::io::{self, Write};

use super::{grid, json};
use crate::replicate::{DOCUMENTS, Replication};

pub use docs::page;

/// A way to show a replication.
pub struct Format {
    /// Its name.
    pub name: &'static str,
    /// Whether people read it, so that a line may stand behind it.
    pub for_people: bool,
    /// Writes what was measured.
    pub write: fn(&Replication, &mut dyn Write) -> io::Result<()>,
    /// Writes what could be measured.
    pub list: fn(&Replication, &mut dyn Write) -> io::Result<()>,
}

/// Every way.
pub const FORMATS: &[Format] = &[
    Format { name: "table", for_people: true, write: table::write, list: table::list },
    Format { name: "json", for_people: false, write: json, list: json },
    Format { name: "markdown", for_people: true, write: markdown::write, list: markdown::list },
    Format { name: "csv", for_people: false, write: csv::write, list: csv::write },
];

fn json(replication: &Replication, out: &mut dyn Write) -> io::Result<()> {
    json::write_pretty(replication, out)?;
    writeln!(out)
}

/// The JSON Schema of a replication, generated from the types.
pub fn schema() -> String {
    let schema = schemars::schema_for!(Replication);
    let text = serde_json::to_string_pretty(&schema).expect("a schema is a tree of strings and numbers");
    text + "\n"
}

/// The documents that there are.
///
/// # Errors
/// Those of the output.
pub fn documents(out: &mut dyn Write) -> io::Result<()> {
    let rows: Vec<[String; 3]> = DOCUMENTS
        .iter()
        .map(|document| [document.name.clone(), document.figures.len().to_string(), document.title.clone()])
        .collect();
    grid::columns(&["document", "figures", "title"], &[0, 2], &rows, out)?;
    writeln!(out, "\ncharz replicate DOCUMENT --list tells the figures of one, and what can be measured here")
}
