//! `charz history show`.

use std::io::Write;
use std::path::Path;

use crate::command::render::{Showing, show};
use crate::exit::{Error, Exit};
use crate::history::Store;
use crate::page::Source;
use crate::render::history::write_text;

/// Which report to show, and how.
pub struct Show {
    /// Which.
    pub which: Which,
    /// How.
    pub how: How,
}

/// Which report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// The one that was measured last.
    Newest,
    /// The one with this number.
    Number(i64),
}

/// How to show it.
pub enum How {
    /// As it was added.
    Text,
    /// As `charz render` does.
    Rendered(Showing),
}

pub(super) fn run(file: &Path, task: &Show, out: &mut dyn Write) -> Result<Exit, Error> {
    let mut store = Store::open(file)?;
    let id = match task.which {
        Which::Number(id) => id,
        Which::Newest => {
            let (entries, _) = store.read()?;
            entries.last().map(|entry| entry.id).ok_or_else(|| {
                Error::bad_input(format!("the history {file:?} has no report yet; charz history add REPORT adds one"))
            })?
        }
    };
    let (report, text) = store.report(id)?;
    match &task.how {
        How::Text => {
            write_text(&text, out)?;
            Ok(Exit::Done)
        }
        How::Rendered(showing) => {
            showing.spare(file)?;
            show(&[Source { name: &format!("report {id}"), report: &report }], showing, out)
        }
    }
}
