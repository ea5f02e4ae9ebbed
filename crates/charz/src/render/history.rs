//! A history, rendered: its list, and its series with their changes.

mod list;
mod series;
mod table;
#[cfg(test)]
mod tests;
mod wire;

use std::io::{self, Write};

use super::text::plain;
use crate::history::{Added, Addition, Entry, Timeline, Track, in_words};

/// A way to list the reports of a history.
pub struct ListFormat {
    /// The word on the command line.
    pub name: &'static str,
    /// Writes the list.
    pub write: fn(&[Entry], &mut dyn Write) -> io::Result<()>,
}

/// All ways; the first is the default.
pub const LISTS: &[ListFormat] = &[
    ListFormat { name: "table", write: list::table },
    ListFormat { name: "json", write: list::json },
    ListFormat { name: "csv", write: list::csv },
];

/// What of a history is shown.
pub struct View<'a> {
    /// All of it.
    pub timeline: &'a Timeline,
    /// The series that were asked for.
    pub tracks: Vec<&'a Track>,
}

/// A way to show series and their changes.
pub struct PlotFormat {
    /// The word on the command line.
    pub name: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// Writes the series.
    pub write: fn(&View<'_>, &mut dyn Write) -> io::Result<()>,
}

/// All ways; the first is the default.
pub const PLOTS: &[PlotFormat] = &[
    PlotFormat { name: "table", about: "the changes, and where each series stands", write: table::write },
    PlotFormat { name: "json", about: "all numbers", write: wire::write },
    PlotFormat { name: "csv", about: "a row a value, with the number of its segment", write: series::csv },
];

/// What became of reports that were to be added.
///
/// # Errors
/// Those of the output.
pub fn write_added(additions: &[Addition], added: &[Added], entries: &[Entry], out: &mut dyn Write) -> io::Result<()> {
    for (addition, added) in additions.iter().zip(added) {
        let (Added::New(id) | Added::Later(id) | Added::Same(id) | Added::Earlier(id)) = *added;
        let how = match added {
            Added::New(_) => "added",
            Added::Later(_) => "a later state of its sweep, in place of the one that was there",
            Added::Same(_) => "was there already; nothing changed",
            Added::Earlier(_) => "an earlier state of its sweep than the one that is there; nothing changed",
        };
        write!(out, "report {id}: {}, {how}", plain(&addition.file.display().to_string()))?;
        let place = entries.iter().position(|entry| entry.id == id);
        let became = place.map(|at| list::became_before(entries, at)).unwrap_or_default();
        if matches!(added, Added::New(_) | Added::Later(_)) && !became.is_empty() {
            write!(out, "; other than before it: {}", plain(&in_words(&became)))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// The text of a report as it was added, with escapes for what could steer a terminal, which JSON takes for the same.
///
/// # Errors
/// Those of the output.
pub fn write_text(text: &str, out: &mut dyn Write) -> io::Result<()> {
    super::json::write_escaped(text, out)
}
