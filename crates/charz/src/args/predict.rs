//! `charz predict`.

use std::path::PathBuf;
use std::str::FromStr;

use charz_topology::{Mapping, Source};
use clap::Args;

use super::format::{OutputArgs, takes_one};
use super::map::{MOST_MAPPED, not_a_mapping};
use super::named;
use super::quantities::count;
use crate::command::predict::{From, Options};
use crate::exit::Error;
use crate::view::predict::FORMATS;

#[derive(Debug, Args)]
#[command(mut_arg("format", |arg| takes_one(arg, FORMATS)))]
pub(super) struct PredictArgs {
    /// A report, as for charz render (-, last)
    #[arg(value_name = "REPORT", required_unless_present = "table", conflicts_with = "table", requires_all = ["mapping", "threads"])]
    pub(super) report: Option<PathBuf>,
    /// Where the threads are to be
    #[arg(long, visible_alias = "placement", value_name = "MAPPING", conflicts_with = "table")]
    pub(super) mapping: Option<String>,
    /// How many they are
    #[arg(long, value_name = "N", conflicts_with = "table")]
    pub(super) threads: Option<String>,
    /// Anybody's measurements, a line each: mapping, threads, value, and 1 if it may be fitted or 0 if it is to be predicted, between tabs
    ///
    /// Values are rates: more is better. The model takes each thread to have the same work, unless points with more threads on
    /// some cores, nodes or sockets than on others show that faster threads take more of it. A value of - is not known. Lines that
    /// begin with # are skipped, and so is a heading.
    #[arg(long, value_name = "FILE", requires = "topology")]
    pub(super) table: Option<PathBuf>,
    /// The machine of the table, or another machine to predict for: hwloc XML, or a description as for charz topo
    #[arg(long, value_name = "SOURCE")]
    pub(super) topology: Option<String>,
    #[command(flatten)]
    pub(super) into: OutputArgs,
}

pub(super) fn predict(args: PredictArgs, notes: &mut Vec<String>) -> Result<Options, Error> {
    let source = args.topology.as_deref().map(Source::of);
    let from = match (args.table, args.report, args.mapping, args.threads) {
        (Some(table), ..) => From::Table(table, source.unwrap_or(Source::ThisMachine)),
        (None, Some(report), Some(mapping), Some(threads)) => From::Report {
            report: named::report(report, notes)?,
            mapping: Mapping::from_str(&mapping).map_err(not_a_mapping)?,
            threads: count("--threads", &threads, MOST_MAPPED)?,
            other: source,
        },
        _ => {
            return Err(Error::bad_input(
                "name a report with --mapping and --threads, or a --table with its --topology",
            ));
        }
    };
    Ok(Options { from, format: args.into.of(FORMATS)? })
}
