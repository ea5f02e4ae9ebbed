//! The flags of `charz history`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::help;
use crate::args::history;
use charz_render::history::Format;

/// Keep reports of one machine, and see when it changed
///
/// A history is a SQLite database with the reports of one machine. charz history plot finds the reports between which cells became
/// faster or slower, and reports what else changed there: the system's kernel, the governor, charz itself. charz compare --baseline
/// takes the report to compare with from it.
///
/// The file is that of --db, else of CHARZ_DB, else charz/history.db in $XDG_DATA_HOME or ~/.local/share.
#[derive(Debug, Args)]
pub(crate) struct HistoryArgs {
    #[command(subcommand)]
    pub(crate) task: HistoryTask,
}

#[derive(Debug, Subcommand)]
pub(crate) enum HistoryTask {
    Add(AddArgs),
    List(ListArgs),
    Show(ShowArgs),
    Plot(Box<PlotArgs>),
}

#[derive(Debug, Args)]
pub(crate) struct DbArgs {
    /// The history's file [default: $CHARZ_DB, or charz/history.db in $XDG_DATA_HOME or ~/.local/share]
    #[arg(long, value_name = "FILE")]
    pub(crate) db: Option<PathBuf>,
}

/// Add reports: all of them, or none
///
/// The first report determines the machine; a report of another machine or host is refused. Adding a report twice changes nothing. A
/// report of a resumed sweep replaces the earlier one. Reports may be added in any order: they count in the order in which their
/// sweeps began.
#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// Reports that `charz sweep` wrote
    #[arg(value_name = "REPORT", required = true)]
    pub(crate) reports: Vec<PathBuf>,
    /// A label for them, e.g. "before the BIOS update"
    #[arg(long, value_name = "TEXT")]
    pub(crate) label: Option<String>,
    /// Also take hosts with other names, if they are alike otherwise
    #[arg(long)]
    pub(crate) any_host: bool,
    #[command(flatten)]
    pub(crate) db: DbArgs,
}

/// List the reports, the oldest first, and what changed from each to the next
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[arg(long, default_value = "table", help = help::formats(Format::ALL.into_iter().map(|(name, _)| name)))]
    pub(crate) format: String,
    #[command(flatten)]
    pub(crate) db: DbArgs,
}

/// Show a report that was added
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Its number in the list, or newest
    #[arg(value_name = "REPORT", default_value = "newest", allow_hyphen_values = true)]
    pub(crate) report: String,
    #[arg(long, default_value = "table", help = help::formats(history::shows().map(|(name, _)| name)),
        long_help = help::explained_formats(history::shows()))]
    pub(crate) format: String,
    #[command(flatten)]
    pub(crate) how: ShowingArgs,
    #[command(flatten)]
    pub(crate) db: DbArgs,
}

/// Show the numbers over time, and where they changed
///
/// Changes are found by E-divisive, a method for change points; at most 1% of the calls are false, over all cells of the history,
/// shown or not. A change needs ten reports with a number. Suspect numbers count and are marked; invalid ones are gaps.
#[derive(Debug, Args)]
pub(crate) struct PlotArgs {
    /// Only these kernels, separated by commas, by name or by how names begin, e.g. mem-read or level-*
    #[arg(long, value_name = "K,…", value_delimiter = ',')]
    pub(crate) kernel: Vec<String>,
    /// Only this mapping; may be given several times
    #[arg(long, value_name = "MAPPING")]
    pub(crate) mapping: Vec<String>,
    /// Only these numbers of workers, separated by commas
    #[arg(long, value_name = "N,…", value_delimiter = ',', allow_hyphen_values = true, alias = "workers")]
    pub(crate) threads: Vec<String>,
    /// Only cells with these words in their parameters, as in the table, e.g. "256 MiB thp"
    #[arg(long, value_name = "WORDS")]
    pub(crate) point: Option<String>,
    /// Only cells that changed
    #[arg(long)]
    pub(crate) changed: bool,
    #[arg(long, default_value = "table", help = help::formats(history::plots().map(|(name, _)| name)),
        long_help = help::explained_formats(history::plots()))]
    pub(crate) format: String,
    #[command(flatten)]
    pub(crate) how: ShowingArgs,
    #[command(flatten)]
    pub(crate) db: DbArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ShowingArgs {
    /// The one figure to show, by its name; without a name the error lists them
    #[arg(long, value_name = "NAME")]
    pub(crate) figure: Option<String>,
    /// The file to write or replace, all of it or nothing
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// When to use colours: auto, always or never; auto heeds NO_COLOR, CLICOLOR and CLICOLOR_FORCE
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: String,
}
