//! `charz import`.

use std::path::PathBuf;

use charz_topology::Source;
use clap::Args;

use super::choice::choice;
use super::format::takes_one;
use super::groups::{ShowingArgs, showing};
use crate::command::import::Options;
use crate::exit::Error;
use charz_data::Better;
use charz_render::formats::FORMATS;

#[derive(Debug, Args)]
#[command(mut_arg("format", |arg| takes_one(arg, FORMATS)))]
pub(super) struct ImportArgs {
    /// A table of values between tabs, commas, semicolons or spaces; - is standard input
    #[arg(value_name = "TABLE")]
    pub(super) table: PathBuf,
    /// The machine that was measured: hwloc XML, or a description as for charz topo [default: the line # topology: of the table]
    #[arg(long, value_name = "SOURCE")]
    pub(super) topology: Option<String>,
    /// The kernel or program that was measured, where no column names it [default: the name of the file]
    #[arg(long, value_name = "NAME")]
    pub(super) kernel: Option<String>,
    /// The unit of the values, e.g. GB/s [default: that of the table, else units]
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(super) unit: Option<String>,
    /// Whether a higher or a lower number is better [default: lower for time, cycles, joules and the like, also per operation, else higher]
    #[arg(long, value_name = "WHICH")]
    pub(super) direction: Option<String>,
    #[command(flatten)]
    pub(super) how: ShowingArgs,
}

pub(super) fn import(args: ImportArgs) -> Result<Options, Error> {
    let better = Better::ALL.map(|better| (better.name(), better));
    Ok(Options {
        table: args.table,
        topology: args.topology.as_deref().map(Source::of),
        kernel: args.kernel,
        unit: args.unit,
        better: args.direction.map(|text| choice("--direction", &text, better)).transpose()?,
        showing: showing(args.how.into.of(FORMATS)?, args.how),
    })
}
