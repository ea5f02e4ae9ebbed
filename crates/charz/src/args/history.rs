//! `charz history`: its flags, and what they ask for.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::format::{OutputArgs, takes};
use super::groups::{ShowingArgs, showing};
use super::named;
use super::quantities::count;
use crate::command::history::{Options, Plot, Shown, Task};
use crate::exit::Error;
use charz_data::report::is_report;
use charz_render::formats::{FORMATS, Format};
use charz_render::history as tables;
use charz_topology::Mapping;

#[derive(Debug, Args)]
pub(crate) struct HistoryArgs {
    #[command(subcommand)]
    pub(crate) task: HistoryTask,
    /// The history's file [default: $CHARZ_DB, or charz/history.db in $XDG_DATA_HOME or ~/.local/share]
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) db: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum HistoryTask {
    #[command(after_help = "Examples:\n  charz history add last\n  charz history add new.json --label 'new BIOS'")]
    Add(AddArgs),
    #[command(after_help = "Examples:\n  charz history list\n  charz history list --format csv")]
    List(ListArgs),
    #[command(after_help = "Examples:\n  charz history show\n  charz history show 3 --output page.html")]
    Show(ShowArgs),
    #[command(after_help = "Examples:\n  charz history plot\n  charz history plot --kernel mem-read --changed")]
    Plot(Box<PlotArgs>),
}

/// Add reports: all of them, or none
///
/// The first report determines the machine; a report of another machine or host is refused. Adding a report twice changes nothing. A
/// report of a resumed sweep replaces the earlier one. Reports may be added in any order: they count in the order in which their
/// sweeps began.
#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// Reports that `charz sweep` wrote; - is standard input, last the newest report in this folder
    #[arg(value_name = "REPORT", required = true)]
    pub(crate) reports: Vec<PathBuf>,
    /// A label for them, e.g. "before the BIOS update"
    #[arg(long, value_name = "TEXT")]
    pub(crate) label: Option<String>,
    /// Also take hosts with other names, if they are alike otherwise
    #[arg(long)]
    pub(crate) any_host: bool,
}

/// List the reports, the oldest first, and what changed from each to the next
#[derive(Debug, Args)]
#[command(mut_arg("format", |arg| takes(arg, tables::FORMATS.iter().map(|f| (f.name, "")).collect())))]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) into: OutputArgs,
}

/// Show a report that was added
#[derive(Debug, Args)]
#[command(mut_arg("format", |arg| takes(arg, shows().collect())))]
pub(crate) struct ShowArgs {
    /// Its number in the list, or newest (last means the same)
    #[arg(value_name = "REPORT", default_value = "newest", allow_hyphen_values = true)]
    pub(crate) report: String,
    #[command(flatten)]
    pub(crate) how: ShowingArgs,
}

/// Show the numbers over time, and where they changed
///
/// Changes are found by E-divisive, a method for change points; at most 1% of the calls are false, over all configurations of the history,
/// shown or not. A change needs ten reports with a number. Suspect numbers count and are marked; invalid ones are gaps.
#[derive(Debug, Args)]
#[command(mut_arg("format", |arg| takes(arg, plots().collect())))]
pub(crate) struct PlotArgs {
    /// Only these kernels, separated by commas, by name or by how names begin, e.g. mem-read or level-*
    #[arg(long, value_name = "K,…", value_delimiter = ',')]
    pub(crate) kernel: Vec<String>,
    /// Only this mapping; may be given several times
    #[arg(long, visible_alias = "placement", value_name = "MAPPING")]
    pub(crate) mapping: Vec<String>,
    /// Only these thread counts, separated by commas
    #[arg(long, value_name = "N,…", value_delimiter = ',', allow_hyphen_values = true, alias = "workers")]
    pub(crate) threads: Vec<String>,
    /// Only configurations with these words in their parameters, as in the table, e.g. "256 MiB thp"
    #[arg(long, value_name = "WORDS")]
    pub(crate) point: Option<String>,
    /// Only configurations that changed
    #[arg(long)]
    pub(crate) changed: bool,
    #[command(flatten)]
    pub(crate) how: ShowingArgs,
}

const AS_ADDED: (&str, &str) = ("json", "the report as it was added, to the byte, with control characters as escapes");

/// The formats of a single report, each with what it is for.
pub(super) fn shows() -> impl Iterator<Item = (&'static str, &'static str)> {
    FORMATS.iter().map(|format| if format.name == AS_ADDED.0 { AS_ADDED } else { (format.name, format.about) })
}

/// The formats of series: the tables, or the page.
pub(super) fn plots() -> impl Iterator<Item = (&'static str, &'static str)> {
    let tables = tables::FORMATS.iter().map(|format| (format.name, format.about));
    tables.chain(pages().map(|format| (format.name, format.about)))
}

fn pages() -> impl Iterator<Item = &'static Format> {
    FORMATS.iter().filter(|format| format.write.is_of_page())
}

impl HistoryArgs {
    pub(super) fn output(&self) -> &Option<PathBuf> {
        match &self.task {
            HistoryTask::Add(_) => &None,
            HistoryTask::List(args) => &args.into.output,
            HistoryTask::Show(args) => &args.how.into.output,
            HistoryTask::Plot(args) => &args.how.into.output,
        }
    }
}

pub(super) fn history(args: HistoryArgs, notes: &mut Vec<String>) -> Result<Options, Error> {
    let task = match args.task {
        HistoryTask::Add(AddArgs { reports, label, any_host }) => {
            Task::Add { reports: named::reports(reports, notes)?, label: label.map(self::label).transpose()?, any_host }
        }
        HistoryTask::List(args) => Task::List(args.into.of(tables::FORMATS)?.write),
        HistoryTask::Show(args) => {
            let id = number("charz history show", "", &args.report)?;
            let format = args.how.into.of(FORMATS)?;
            let as_added = format.name == AS_ADDED.0 && args.how.figure.is_none();
            let into = &args.how.into;
            if let Some(file) = into.output.as_ref().filter(|file| into.format.name().is_none() && is_report(file)) {
                return Err(Error::bad_input(format!(
                    "--output: {file:?} is a report; name another file, or replace it with --format json"
                )));
            }
            Task::Show(id, (!as_added).then(|| showing(format, args.how)))
        }
        HistoryTask::Plot(args) => Task::Plot(plot(*args)?),
    };
    Ok(Options { file: args.db, task })
}

/// The longest label, in characters: it is a column of the list.
const LONGEST_LABEL: usize = 200;

fn label(label: String) -> Result<String, Error> {
    if label.trim().is_empty() || label.chars().count() > LONGEST_LABEL {
        return Err(Error::bad_input(format!(
            "--label: 1 to {LONGEST_LABEL} characters are required, example: --label \"new BIOS\""
        )));
    }
    Ok(label)
}

fn plot(args: PlotArgs) -> Result<Plot, Error> {
    let workers = |text: &String| Ok(count("--threads", text, usize::MAX)? as u64);
    let tables = tables::FORMATS.iter().map(|format| (format.name, Err(format.write)));
    let pages = pages().map(|format| (format.name, Ok(format)));
    let shown = match args.how.into.format.choose(args.how.into.output.as_deref(), tables.chain(pages))? {
        Ok(format) => Shown::Page(showing(format, args.how)),
        Err(_) if args.how.figure.is_some() => {
            let name = args.how.into.format.name().unwrap_or("the table");
            return Err(Error::bad_input(format!("--figure is for formats that show figures; {name} has none")));
        }
        Err(format) => Shown::Tables(format),
    };
    Ok(Plot {
        kernels: args.kernel,
        mappings: args.mapping.into_iter().map(canonical).collect(),
        workers: args.threads.iter().map(workers).collect::<Result<_, Error>>()?,
        parameters: args.point,
        changed: args.changed,
        shown,
    })
}

/// The name by which reports know a mapping. One that this program does not have may be in a report all the same.
fn canonical(mapping: String) -> String {
    mapping.parse::<Mapping>().map_or(mapping, |mapping| mapping.to_string())
}

/// The words for the newest report of a history; `last` is what other commands call that of a folder.
const NEWEST: [&str; 2] = ["newest", "last"];

/// The number of a report of the history; `None` is the newest. `more` is what else is taken there.
pub(super) fn number(flag: &str, more: &str, text: &str) -> Result<Option<i64>, Error> {
    if NEWEST.contains(&text) {
        return Ok(None);
    }
    let number = text.parse().ok().filter(|number| *number > 0 && text.bytes().all(|byte| byte.is_ascii_digit()));
    number.map(Some).ok_or_else(|| {
        Error::bad_input(format!(
            "{flag}: {text:?} is neither newest{more} nor the number of a report; see charz history list"
        ))
    })
}
