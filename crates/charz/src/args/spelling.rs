//! How every argument is spelled, with its help. Values stay text here, so that each is judged, and explained, by the
//! module that understands it.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use super::help;
use crate::render::{kernels, placement, report, topo};

const EXAMPLES: &str = "\
Examples:
  charz topo                                     where the strands of this machine are
  charz map --mapping round-robin --threads 8    where eight workers go
  charz sweep                                    measure this machine, in under two minutes
  charz sweep --family memory --mapping compact,round-robin --pages 4k --output memory.json
  charz render memory.json --format csv          look at a report again";

/// Characterises a multi-core machine: where its hardware threads are, what they can do, and where to put work.
///
/// The words: a package (socket) holds NUMA nodes, they hold cores, a core holds ALU slots, and each of those one or more
/// strands (hardware threads). A mapping is an order in which workers fill the strands; a worker's strand is its seat. A
/// kernel is what workers do. A sweep runs kernels under mappings with growing numbers of workers, and writes a report, in
/// which every number is right or carries a mark with the reason to doubt it.
#[derive(Debug, Parser)]
#[command(name = "charz", version = VERSION, after_help = EXAMPLES, after_long_help = help::after(EXAMPLES), max_term_width = 110)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) verb: Verb,
}

const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("CHARZ_COMMIT"), ", ", env!("CHARZ_TARGET"), ")");

#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    Topo(TopoArgs),
    Map(MapArgs),
    Kernels(KernelsArgs),
    Sweep(Box<SweepArgs>),
    Render(RenderArgs),
    Docs(DocsArgs),
}

/// Show where the strands of a machine are
///
/// Prints packages, NUMA nodes, caches, cores, ALU slots and strands. What the process may use (control group, affinity
/// mask, CPU quota) is shown apart from what the machine has.
#[derive(Debug, Args)]
pub(super) struct TopoArgs {
    #[command(flatten)]
    pub(super) source: SourceArgs,
    #[arg(long, default_value = "tree", help = help::formats(topo::FORMATS.iter().map(|f| f.name)),
        long_help = help::explained_formats(topo::FORMATS.iter().map(|f| (f.name, f.about))))]
    pub(super) format: String,
}

#[derive(Debug, Args)]
pub(super) struct SourceArgs {
    /// Which machine: this one, a file of hwloc XML, or a synthetic description
    ///
    /// `lstopo --of xml` writes such a file on another machine. A synthetic description names levels from the outside in,
    /// e.g. "Package:4 Core:16 Group:2 PU:4" for the SPARC T3-4; a Group below Core is an ALU slot.
    #[arg(long, value_name = "SOURCE", default_value = "this")]
    pub(super) topology: String,
}

/// Show where a mapping puts workers
///
/// Prints the seat of each worker, or the same placement in the words of the tools that people launch programs with.
/// Beyond the last strand the order starts again from its beginning.
#[derive(Debug, Args)]
pub(super) struct MapArgs {
    #[arg(long, value_name = "MAPPING", help = "The mapping; --help lists them",
        long_help = help::mappings("The mapping"))]
    pub(super) mapping: String,
    /// How many workers
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(super) threads: String,
    #[command(flatten)]
    pub(super) source: SourceArgs,
    #[arg(long, default_value = "table", help = help::formats(placement::FORMATS.iter().map(|f| f.name)),
        long_help = help::explained_formats(placement::FORMATS.iter().map(|f| (f.name, f.about))))]
    pub(super) format: String,
}

/// List the kernels: what each counts, and whether it can run here
#[derive(Debug, Args)]
pub(super) struct KernelsArgs {
    #[arg(long, default_value = "table", help = help::formats(kernels::FORMATS.iter().map(|f| f.name)))]
    pub(super) format: String,
}

/// Measure kernels under mappings with growing numbers of workers
///
/// Without flags: both arithmetic and both memory kernels, under round-robin, dumb and auto, with 1, 2, 3, 4, 6, 8, 12, …
/// workers up to twice the strands, three repetitions each, within two minutes. The report is saved after each cell, so
/// that an interrupted sweep loses at most the cell in flight; `--resume` finishes it.
#[derive(Debug, Args)]
pub(super) struct SweepArgs {
    #[arg(long, value_name = "M,…", default_value = "round-robin,dumb,auto",
        help = "Mappings, separated by commas; --help lists them",
        long_help = help::mappings("Mappings, separated by commas; the flag may be given several times"))]
    pub(super) mapping: Vec<String>,
    #[arg(long, value_name = "K,…", value_delimiter = ',', help = help::kernels())]
    pub(super) kernel: Vec<String>,
    /// All kernels of families (compute, memory, floor), separated by commas
    #[arg(long, value_name = "F,…", value_delimiter = ',')]
    pub(super) family: Vec<String>,
    /// Numbers of workers: auto, or a list of numbers and ranges such as 1,2,4-8,16-64:16
    ///
    /// auto is 2ⁿ and 2ⁿ+2ⁿ⁻¹ up to twice the usable strands, and their number itself.
    #[arg(long, value_name = "N,…", default_value = "auto", allow_hyphen_values = true)]
    pub(super) threads: String,
    /// Size of a worker's private block in memory kernels, e.g. 256MiB
    ///
    /// A cell whose blocks would take more than half of the available memory is skipped, with the reason in the report.
    #[arg(long, default_value = "256MiB", allow_hyphen_values = true)]
    pub(super) size: String,
    /// Steps of the loop per worker and repetition in compute kernels: auto, or a number
    ///
    /// auto takes as many as the budget allows, at most 100,000,000. The T3-4 report took 1,000,000,000.
    #[arg(long, value_name = "N", default_value = "auto", allow_hyphen_values = true)]
    pub(super) iterations: String,
    /// Repetitions of each cell; all are kept
    #[arg(long, value_name = "N", default_value = "3", allow_hyphen_values = true)]
    pub(super) repetitions: String,
    /// The longest that the sweep may take, with a unit, e.g. 90s, 10m; cells that do not fit stay pending
    #[arg(long, value_name = "TIME", default_value = "2m", allow_hyphen_values = true)]
    pub(super) budget: String,
    /// Pages of the blocks: 4k, thp (transparent huge pages), 2m or 1g (reserved); the report says what was obtained
    #[arg(long, value_name = "KIND", default_value = "thp")]
    pub(super) pages: String,
    /// How the inputs of arithmetic kernels lie in memory: padded, or contiguous as in the T3-4 report
    #[arg(long, default_value = "padded")]
    pub(super) layout: String,
    /// What stamps starts and ends: os (CLOCK_MONOTONIC) or tsc (time-stamp counter)
    #[arg(long, default_value = "os")]
    pub(super) clock: String,
    /// What binds workers to seats: hwloc, or core-affinity (strands below 1024 only)
    #[arg(long, default_value = "hwloc")]
    pub(super) binder: String,
    /// The report's file [default: charz-<date>-<time>.json in this folder]
    #[arg(long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Replace an existing output file
    #[arg(long)]
    pub(super) force: bool,
    /// Finish an interrupted report, with its own plan
    #[arg(long, value_name = "FILE", conflicts_with_all = [
        "mapping", "kernel", "family", "threads", "size", "iterations", "repetitions", "pages", "layout", "clock", "binder",
        "output", "force", "quick", "dry_run",
    ])]
    pub(super) resume: Option<PathBuf>,
    /// Print every cell, its memory and its predicted time; measure nothing but a few milliseconds of pilot runs
    #[arg(long)]
    pub(super) dry_run: bool,
    /// A coarse look in about 20 seconds: 1 worker and one a strand, 128 MiB blocks
    #[arg(long, conflicts_with_all = ["threads", "size", "budget"])]
    pub(super) quick: bool,
}

/// Show a report again
#[derive(Debug, Args)]
pub(super) struct RenderArgs {
    /// A report that `charz sweep` wrote
    #[arg(value_name = "REPORT")]
    pub(super) report: PathBuf,
    #[arg(long, default_value = "table", help = help::formats(report::FORMATS.iter().map(|f| f.name)))]
    pub(super) format: String,
}

/// Print generated documentation: shell completions, man pages, the report's schema, tables of kernels and mappers
///
/// Without a page: the list of pages, each with the file that it is kept in.
#[derive(Debug, Args)]
pub(super) struct DocsArgs {
    /// The page, e.g. completions-bash, man, man-sweep, schema, kernels, mappers, exit-codes
    pub(super) page: Option<String>,
}
