//! How the arguments of `charz topo` and `charz numa` are spelled.

use std::path::PathBuf;

use clap::Args;

use super::{SourceArgs, SquareArgs, help};
use crate::view::topo;
use charz_render::formats;

/// Show where the strands of a machine are, or what was measured of it
///
/// Prints packages, NUMA nodes, caches, cores, ALU slots and strands. What the process may use (control group, affinity
/// mask, CPU quota) is shown apart from what the machine has.
///
/// With --measured, what a report says of caches and memory stands beside what the system claims: sizes, latencies, bandwidths,
/// what the TLB reaches, the clock; whatever contradicts is marked and explained. Without a report the machine is measured, for
/// about a minute.
#[derive(Debug, Args)]
pub(crate) struct TopoArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Show what was measured beside what is claimed: by this report, or measure now
    #[arg(long, value_name = "REPORT", num_args = 0..=1)]
    pub(crate) measured: Option<Option<PathBuf>>,
    /// The longest that measuring may take, with a unit, e.g. 90s, 10m
    #[arg(long, value_name = "TIME", default_value = "1m", allow_hyphen_values = true, requires = "measured")]
    pub(crate) budget: String,
    /// The file of the new report [default: charz-<date>-<time>.json in this folder]
    #[arg(long, value_name = "FILE", requires = "measured")]
    pub(crate) output: Option<PathBuf>,
    /// Replace an existing output file
    #[arg(long, requires = "measured")]
    pub(crate) force: bool,
    /// Wait for another charz that is measuring on this machine, instead of refusing
    #[arg(long, requires = "measured")]
    pub(crate) wait: bool,
    #[arg(long, value_name = "FORMAT", help = topo_formats(),
        long_help = help::explained_formats(topo::FORMATS.iter().map(|f| (f.name, f.about)).chain(topo::OTHERS)))]
    pub(crate) format: Option<String>,
}

fn topo_formats() -> String {
    let plain = topo::FORMATS.iter().map(|format| format.name).chain(topo::OTHERS.iter().map(|(name, _)| *name));
    format!(
        "{} [default: boxes on a terminal with room for them, else tree]; with --measured: table, csv, json, xml [default: table]",
        help::formats(plain)
    )
}

/// Measure what memory takes from each NUMA node to each
///
/// Latency is that of one worker on each node that follows a random cycle through a block on each (chase-random), bandwidth that
/// of workers on all strands of the node that read such blocks together (mem-read). The report says where the blocks were; beside
/// the numbers stands what the firmware claims of distances.
///
/// The result is the report of a sweep with a mapping such as list:0-7 for each node of workers and a place such as node:1 for
/// each of memory: charz sweep --resume finishes it, charz render shows it again, and charz topo --measured REPORT
/// --format xml writes it where lstopo finds it.
#[derive(Debug, Args)]
pub(crate) struct NumaArgs {
    /// Size of a worker's block, past all caches
    #[arg(long, value_name = "SIZE", default_value = "256MiB", allow_hyphen_values = true)]
    pub(crate) size: String,
    /// Pages of the blocks: 4k, thp (transparent huge pages), 2m or 1g (reserved)
    #[arg(long, value_name = "KIND", default_value = "thp")]
    pub(crate) pages: String,
    #[command(flatten)]
    pub(crate) square: SquareArgs,
    #[arg(long, default_value = "table", help = help::formats(formats::MEASURED.iter().map(|f| f.name)))]
    pub(crate) format: String,
}
