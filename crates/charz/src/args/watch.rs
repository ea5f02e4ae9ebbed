//! `charz watch`.

use std::time::Duration;

use clap::Args;

use super::choice::choice;
use super::format::{FormatArgs, takes_one};
use super::quantities::{count, time};
use crate::command::watch::{Groups, Options};
use crate::exit::Error;
use crate::view::watch::{COLUMNS, FORMATS};
use charz_measure::plan::MOST_BUDGET;

/// The most samples, and CPUs of a table.
const MOST: usize = 1 << 30;
/// The shortest interval: ten ticks of the system's account of time, so a share is known to a tenth.
const SHORTEST: Duration = Duration::from_millis(100);
const EXAMPLE: &str = "charz watch 1 10";

#[derive(Debug, Args)]
#[command(mut_arg("format", |arg| takes_one(arg, FORMATS)))]
pub(super) struct WatchArgs {
    /// Time between samples in seconds, or with a unit such as 500ms [default: 1]
    #[arg(value_name = "INTERVAL")]
    pub(super) interval: Option<String>,
    /// How many samples [default: until q or ^C, drawn in place on a terminal; one if there is no INTERVAL]
    #[arg(value_name = "COUNT")]
    pub(super) count: Option<String>,
    /// The column to sort by, the highest first [default: the machine's own order]
    #[arg(long, short, value_name = "COLUMN")]
    pub(super) key: Option<String>,
    /// Means of groups: N of equal size in the order of --key, or those of a level: socket, numa, l3, core
    #[arg(long, short, value_name = "N|LEVEL")]
    pub(super) groups: Option<String>,
    /// Only the first M rows
    #[arg(long, short, value_name = "M")]
    pub(super) top: Option<String>,
    /// The threads of a process in place of CPUs: where each runs, where it may, how busy it is
    #[arg(long, value_name = "PID", conflicts_with_all = ["key", "groups"])]
    pub(super) of: Option<String>,
    #[command(flatten)]
    pub(super) format: FormatArgs,
}

pub(super) fn watch(args: WatchArgs) -> Result<Options, Error> {
    let typed = args.interval.as_deref().unwrap_or("1");
    let seconds = typed.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let interval = match seconds.filter(|interval| *interval <= MOST_BUDGET) {
        Some(interval) => interval,
        None => time("INTERVAL", typed, EXAMPLE)?,
    };
    if interval < SHORTEST {
        return Err(Error::bad_input(format!(
            "INTERVAL: {typed:?} is shorter than 100 ms, which is ten ticks of the system's account; example: {EXAMPLE}"
        )));
    }
    let samples = args.count.map(|text| {
        let refuse =
            |_| Error::bad_input(format!("COUNT: {text:?} is not a whole number from 1 to {MOST}; example: {EXAMPLE}"));
        count("COUNT", &text, MOST).map_err(refuse)
    });
    let number = |flag: &str, text: Option<String>| text.map(|text| count(flag, &text, MOST)).transpose();
    let groups = args.groups.map(|text| {
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            return count("--groups", &text, MOST).map(Groups::Equal);
        }
        let levels =
            [("socket", Groups::Socket), ("numa", Groups::NumaNode), ("l3", Groups::Cache), ("core", Groups::Core)];
        choice("--groups", &text, levels)
    });
    Ok(Options {
        interval,
        count: samples.transpose()?.or(args.interval.is_none().then_some(1)),
        key: args.key.map(|key| choice("--key", &key, COLUMNS.iter().map(|column| (*column, *column)))).transpose()?,
        groups: groups.transpose()?,
        top: number("--top", args.top)?,
        of: number("--of", args.of)?.map(|pid| pid as u32),
        format: args.format.of(FORMATS)?,
    })
}
