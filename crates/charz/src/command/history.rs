//! `charz history`.

mod add;
mod plot;
mod show;

use std::io::Write;
use std::path::PathBuf;

use crate::exit::{Error, Exit};
use crate::history::{Store, place};
use crate::render::history::ListFormat;

pub use add::Add;
pub use plot::{Plot, Shown};
pub use show::{How, Show, Which};

/// What to do with a history.
pub struct Options {
    /// The file; `None` takes the user's.
    pub file: Option<PathBuf>,
    /// What.
    pub task: Task,
}

/// What to do.
pub enum Task {
    /// Add reports.
    Add(Add),
    /// List them.
    List(&'static ListFormat),
    /// Show one.
    Show(Show),
    /// Show what they say in the course of time.
    Plot(Plot),
}

pub(super) fn run(options: Options, out: &mut dyn Write) -> Result<Exit, Error> {
    let file = place::file(options.file, |name| std::env::var_os(name))?;
    match options.task {
        Task::Add(task) => add::run(&file, &task, out),
        Task::List(format) => {
            let (entries, _) = Store::open(&file)?.read()?;
            (format.write)(&entries, out)?;
            Ok(Exit::Done)
        }
        Task::Show(task) => show::run(&file, &task, out),
        Task::Plot(task) => plot::run(&file, &task, out),
    }
}

/// The history that a command may look at: the one that was named, or the user's.
pub(super) fn open(file: Option<PathBuf>) -> Result<Store, Error> {
    Store::open(&place::file(file, |name| std::env::var_os(name))?)
}
