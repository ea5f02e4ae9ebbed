//! How the arguments of `charz replicate` are spelled.

use std::path::PathBuf;

use clap::Args;

use super::help;
use crate::render::replicate;

/// Run what a source document ran, and show each of its figures beside its own values
///
/// The documents are t3-4 (the SPARC T3-4 report), cmt (chip multi-threading), cascade (rings of mutexes), tacc (multi-core systems
/// in HPC) and solaris (its scalability). Their surviving values are kept in the program with their citation. Every figure and
/// table is told by its number: done, partly, or not possible with the reason; and what the document concludes, held against this
/// machine. Numbers of threads are the document's, up to twice the strands.
///
/// The result is the report of a sweep, which charz sweep --resume finishes and charz render shows; --from draws the page from a
/// report that is there, also of another machine.
#[derive(Debug, Args)]
pub(in crate::args) struct ReplicateArgs {
    /// The document: t3-4, cmt, cascade, tacc or solaris
    #[arg(value_name = "DOCUMENT")]
    pub(in crate::args) document: Option<String>,
    /// Only list the documents, or the figures of one and what could be measured here
    #[arg(long, conflicts_with_all = ["from", "output", "force", "dry_run"])]
    pub(in crate::args) list: bool,
    /// Draw the page from this report instead of measuring
    #[arg(long, value_name = "REPORT", conflicts_with_all = ["output", "force", "dry_run"])]
    pub(in crate::args) from: Option<PathBuf>,
    /// Only these figures, by their numbers: 5, figure-5, table-2, separated by commas
    #[arg(long, value_name = "FIGURE,…", allow_hyphen_values = true)]
    pub(in crate::args) only: Vec<String>,
    /// Steps of the loop per worker and repetition in compute kernels: auto, or a number
    ///
    /// auto takes as many as the budget allows, at most 100,000,000. The T3-4 report took 1,000,000,000.
    #[arg(long, value_name = "N", default_value = "auto", allow_hyphen_values = true)]
    pub(in crate::args) iterations: String,
    /// Pairs of times that a repetition takes where each is stamped: auto, or a number
    ///
    /// auto takes as many as the budget allows, at most 10,000; for t3-4 all of them, which over all invocations come to its 100,000.
    #[arg(long, value_name = "N", default_value = "auto", allow_hyphen_values = true)]
    pub(in crate::args) samples: String,
    /// How long a repetition lasts that does what it can in a given time: auto, or e.g. 20ms
    #[arg(long, value_name = "TIME", default_value = "auto", allow_hyphen_values = true)]
    pub(in crate::args) span: String,
    /// Invocations of each cell: the fewest and the most, or one number for both
    #[arg(long, value_name = "N[-M]", default_value = "6-30", allow_hyphen_values = true)]
    pub(in crate::args) invocations: String,
    /// The half width of the 95% interval that is wanted, in percent of the number; auto is as for charz sweep
    #[arg(long, value_name = "P%", default_value = "auto", allow_hyphen_values = true)]
    pub(in crate::args) precision: String,
    /// The longest that it may take, with a unit, e.g. 90s, 10m; auto is a few minutes, by the document
    #[arg(long, value_name = "TIME", default_value = "auto", allow_hyphen_values = true)]
    pub(in crate::args) budget: String,
    /// Draw the order of the cells from this number [default: another one each time]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(in crate::args) seed: Option<String>,
    /// Let up to K times as many workers as strands contend
    #[arg(long, value_name = "K", default_value = "1", allow_hyphen_values = true)]
    pub(in crate::args) oversubscribe: String,
    /// Run such cells also where the kernel is set to panic on a lockup
    #[arg(long)]
    pub(in crate::args) accept_panic: bool,
    /// The report's file [default: charz-<date>-<time>.json in this folder]
    #[arg(long, value_name = "FILE")]
    pub(in crate::args) output: Option<PathBuf>,
    /// Replace an existing output file
    #[arg(long)]
    pub(in crate::args) force: bool,
    /// Print every cell, its memory and its predicted time; measure nothing but a few milliseconds of pilot runs
    #[arg(long)]
    pub(in crate::args) dry_run: bool,
    /// Wait for another charz that is measuring on this machine, instead of refusing
    #[arg(long)]
    pub(in crate::args) wait: bool,
    /// End with code 5 unless every cell is ok
    #[arg(long)]
    pub(in crate::args) strict: bool,
    /// What stamps: os, tsc, or auto, as for charz sweep
    #[arg(long, default_value = "auto")]
    pub(in crate::args) clock: String,
    /// What binds workers to seats: hwloc, or core-affinity
    #[arg(long, default_value = "hwloc")]
    pub(in crate::args) binder: String,
    #[arg(long, default_value = "table", help = help::formats(replicate::FORMATS.iter().map(|f| f.name)))]
    pub(in crate::args) format: String,
}
