//! The flags of `charz replicate`.

use std::path::PathBuf;

use clap::Args;

use super::{SquareArgs, help};
use charz_render::replicate;

/// Run what a source document ran, and show each of its figures beside its own values
///
/// The documents are t3-4 (the SPARC T3-4 report), cmt (chip multi-threading), cascade (rings of mutexes), tacc (multi-core systems
/// in HPC) and solaris (its scalability). The program has their surviving values and citations. Every figure and table is listed by
/// its number: done, partly, not measured, or not possible with the reason; and each conclusion of the document is checked on this
/// machine. Worker counts are the document's, up to twice the strands.
///
/// The result is the report of a sweep, which charz sweep --resume finishes and charz render shows; --from reads a report that
/// exists, also of another machine.
#[derive(Debug, Args)]
#[command(mut_arg("budget", |budget| {
    budget.default_value("auto").help("The longest that it may take, with a unit, e.g. 90s, 10m; auto is a few minutes, by document")
}))]
pub(crate) struct ReplicateArgs {
    /// The document: t3-4, cmt, cascade, tacc or solaris
    #[arg(value_name = "DOCUMENT")]
    pub(crate) document: Option<String>,
    /// Only list the documents, or the figures of one and how far each can be replicated here
    #[arg(long, conflicts_with_all = ["from", "output", "force", "dry_run"])]
    pub(crate) list: bool,
    /// Read this report instead of measuring
    #[arg(long, value_name = "REPORT", conflicts_with_all = ["output", "force", "dry_run"])]
    pub(crate) from: Option<PathBuf>,
    /// Only these figures, by number: 5, figure-5, table-2, separated by commas
    #[arg(long, value_name = "FIGURE,…", allow_hyphen_values = true)]
    pub(crate) only: Vec<String>,
    /// Steps of the loop per worker and repetition in compute kernels: auto, or a number
    ///
    /// auto takes as many as the budget allows, at most 100,000,000. The T3-4 report took 1,000,000,000.
    #[arg(long, value_name = "N", default_value = "auto", allow_hyphen_values = true)]
    pub(crate) iterations: String,
    /// Pairs of times per repetition where each is stamped: auto, or a number
    ///
    /// auto takes as many as the budget allows, at most 10,000; for t3-4 always 10,000, which add up to its 100,000.
    #[arg(long, value_name = "N", default_value = "auto", allow_hyphen_values = true)]
    pub(crate) samples: String,
    /// Length of a repetition that runs for a given time: auto, or e.g. 20ms
    #[arg(long, value_name = "TIME", default_value = "auto", allow_hyphen_values = true)]
    pub(crate) span: String,
    /// Let up to K times as many workers as strands contend
    #[arg(long, value_name = "K", default_value = "1", allow_hyphen_values = true)]
    pub(crate) oversubscribe: String,
    /// Run such cells also where the kernel is set to panic on a lockup
    #[arg(long)]
    pub(crate) accept_panic: bool,
    #[command(flatten)]
    pub(crate) sweep: SquareArgs,
    /// The clock: os, tsc, or auto, as for charz sweep
    #[arg(long, default_value = "auto")]
    pub(crate) clock: String,
    /// What binds workers to seats: hwloc, or core-affinity
    #[arg(long, default_value = "hwloc")]
    pub(crate) binder: String,
    #[arg(long, default_value = "table", help = help::formats(replicate::FORMATS.iter().map(|f| f.name)))]
    pub(crate) format: String,
}
