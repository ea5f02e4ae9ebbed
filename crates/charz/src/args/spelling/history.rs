//! How the arguments of `charz history` are spelled.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::help;
use crate::args::history;
use crate::render::history as page;

/// Keep reports of one machine, and see when it changed
///
/// A history is one file, a SQLite database, with the reports of one machine as they were added and an index of their numbers.
/// charz history plot finds the reports between which cells became faster or slower, and says what else was other there: the
/// system's kernel, the governor, charz itself. charz compare --baseline takes the report to compare with out of it.
///
/// The file is that of --db, else that of the variable CHARZ_DB, else charz/history.db in $XDG_DATA_HOME or ~/.local/share.
#[derive(Debug, Args)]
pub(in crate::args) struct HistoryArgs {
    #[command(subcommand)]
    pub(in crate::args) task: HistoryTask,
}

#[derive(Debug, Subcommand)]
pub(in crate::args) enum HistoryTask {
    Add(AddArgs),
    List(ListArgs),
    Show(ShowArgs),
    Plot(Box<PlotArgs>),
}

#[derive(Debug, Args)]
pub(in crate::args) struct DbArgs {
    /// The history's file [default: $CHARZ_DB, or charz/history.db in $XDG_DATA_HOME or ~/.local/share]
    #[arg(long, value_name = "FILE")]
    pub(in crate::args) db: Option<PathBuf>,
}

/// Add reports: all of them, or none
///
/// The first report says which machine the history is of. A report of another machine or host is refused. One that was added
/// before changes nothing; one of a sweep that was resumed meanwhile takes the earlier one's place. Reports may be added in any
/// order: what counts is when their sweeps began.
#[derive(Debug, Args)]
pub(in crate::args) struct AddArgs {
    /// Reports that `charz sweep` wrote
    #[arg(value_name = "REPORT", required = true)]
    pub(in crate::args) reports: Vec<PathBuf>,
    /// What to call them, e.g. "before the BIOS update"
    #[arg(long, value_name = "TEXT")]
    pub(in crate::args) label: Option<String>,
    /// Take hosts with other names for the same machine, if they are alike in all else; what the name became is told
    #[arg(long)]
    pub(in crate::args) any_host: bool,
    #[command(flatten)]
    pub(in crate::args) db: DbArgs,
}

/// List the reports, the oldest first, and what became other from each to the next
#[derive(Debug, Args)]
pub(in crate::args) struct ListArgs {
    #[arg(long, default_value = "table", help = help::formats(page::LISTS.iter().map(|f| f.name)))]
    pub(in crate::args) format: String,
    #[command(flatten)]
    pub(in crate::args) db: DbArgs,
}

/// Show a report that was added
#[derive(Debug, Args)]
pub(in crate::args) struct ShowArgs {
    /// Its number in the list, or newest
    #[arg(value_name = "REPORT", default_value = "newest", allow_hyphen_values = true)]
    pub(in crate::args) report: String,
    #[arg(long, default_value = "table", help = help::formats(history::shows().map(|(name, _)| name)),
        long_help = help::explained_formats(history::shows()))]
    pub(in crate::args) format: String,
    #[command(flatten)]
    pub(in crate::args) how: ShowingArgs,
    #[command(flatten)]
    pub(in crate::args) db: DbArgs,
}

/// Show what reports say in the course of time, and where that changed
///
/// A change is where E-divisive, a method for change points, divides the values of a cell, and where chance would do so in less than
/// 1% of such cases, all cells of the history taken together, also those that are not shown. It needs ten reports with a number.
/// Suspect numbers count and are marked; invalid ones are gaps.
#[derive(Debug, Args)]
pub(in crate::args) struct PlotArgs {
    /// Only these kernels, separated by commas, by name or by how names begin, e.g. mem-read or level-*
    #[arg(long, value_name = "K,…", value_delimiter = ',')]
    pub(in crate::args) kernel: Vec<String>,
    /// Only this mapping; may be given several times
    #[arg(long, value_name = "MAPPING")]
    pub(in crate::args) mapping: Vec<String>,
    /// Only these numbers of workers, separated by commas
    #[arg(long, value_name = "N,…", value_delimiter = ',', allow_hyphen_values = true, alias = "workers")]
    pub(in crate::args) threads: Vec<String>,
    /// Only cells whose parameters have these words in them, as the table has them, e.g. "256 MiB thp"
    #[arg(long, value_name = "WORDS")]
    pub(in crate::args) point: Option<String>,
    /// Only cells that changed
    #[arg(long)]
    pub(in crate::args) changed: bool,
    #[arg(long, default_value = "table", help = help::formats(history::plots().map(|(name, _)| name)),
        long_help = help::explained_formats(history::plots()))]
    pub(in crate::args) format: String,
    #[command(flatten)]
    pub(in crate::args) how: ShowingArgs,
    #[command(flatten)]
    pub(in crate::args) db: DbArgs,
}

#[derive(Debug, Args)]
pub(in crate::args) struct ShowingArgs {
    /// The one figure to show; --format figures lists them
    #[arg(long, value_name = "NAME")]
    pub(in crate::args) figure: Option<String>,
    /// The file to write, all of it or nothing; replaces what stands there
    #[arg(long, short, value_name = "FILE")]
    pub(in crate::args) output: Option<PathBuf>,
    /// When to use colours: auto, always or never; auto heeds NO_COLOR, CLICOLOR and CLICOLOR_FORCE
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(in crate::args) color: String,
}
