//! `charz history add`.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::command::render::read_with_text;
use crate::exit::{Error, Exit};
use crate::history::{Addition, Store};
use crate::render::history::write_added;

/// What to add.
pub struct Add {
    /// The reports' files.
    pub reports: Vec<PathBuf>,
    /// What to call them.
    pub label: Option<String>,
    /// Whether reports of hosts with other names are of the same machine.
    pub any_host: bool,
}

pub(super) fn run(file: &Path, task: &Add, out: &mut dyn Write) -> Result<Exit, Error> {
    // Before the history is touched, or begun.
    let read = |path: &PathBuf| {
        let (report, text) = read_with_text(path)?;
        Ok(Addition { file: path.clone(), text, report })
    };
    let additions: Vec<Addition> = task.reports.iter().map(read).collect::<Result<_, Error>>()?;
    let mut store = Store::open_or_begin(file)?;
    let added = store.add(&additions, task.label.as_deref(), task.any_host)?;
    let (entries, _) = store.read()?;
    write_added(&additions, &added, &entries, out)?;
    Ok(Exit::Done)
}
