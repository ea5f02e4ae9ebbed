//! The spelling and the help of every argument. Values stay text here, so each is checked, and its errors are explained, by
//! the module that understands it.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use super::ab::{AbArgs, SelftestArgs, TermsArgs};
use super::help;
use super::history::{HistoryArgs, ShowingArgs};
use super::parameters::{AmountArgs, ParamArgs};
use super::presets::{C2cArgs, NumaArgs, TopoArgs};
use super::replicate::ReplicateArgs;
use crate::view::{doctor, explain, kernels, placement, plan};
use charz_data::params::PARAMS;
use charz_render::formats;

const EXAMPLES: &str = "\
Examples:
  charz topo                                     where the strands of this machine are
  charz map --mapping round-robin --threads 8    where eight workers go
  charz sweep                                    measure this machine ({sweep})
  charz sweep --family memory --mapping compact,round-robin --pages 4k --output memory.json
  charz render memory.json --format csv          look at a report again
  charz c2c --mode cas,read-write                how long a line takes from each core to each other
  charz numa                                     what memory takes from each NUMA node to each
  charz ab --a '--mapping round-robin' --b '--mapping dumb' --kernel arith-int --threads 2
                                                 which of two configurations is faster here
  charz replicate t3-4                           run what the SPARC T3-4 report ran, beside its values
  charz compare base.json new.json               what became faster or slower, as far as the data can say
  charz history add nightly.json                 keep a report; charz history plot tells when the machine changed
  charz doctor                                   what will disturb measurements here, and what mends it
  charz explain V03                              why a number is marked";

/// Characterises a multi-core machine: where its hardware threads are, what they can do, and where to put work.
///
/// The words: a package (socket) holds NUMA nodes, they hold cores, a core holds ALU slots, and each of those one or more
/// strands (hardware threads). A mapping is an order in which workers fill the strands; a worker's strand is its seat. A
/// kernel is what workers do. A sweep runs kernels under mappings with growing numbers of workers, and writes a report, in
/// which every number is right or carries a mark with the reason to doubt it.
#[derive(Debug, Parser)]
#[command(name = "charz", version = VERSION, after_help = help::examples(EXAMPLES), after_long_help = help::after(EXAMPLES), max_term_width = 110)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) verb: Verb,
}

const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("CHARZ_COMMIT"), ", ", env!("CHARZ_TARGET"), ")");

#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    Topo(Box<TopoArgs>),
    Map(MapArgs),
    Kernels(KernelsArgs),
    Sweep(Box<SweepArgs>),
    C2c(C2cArgs),
    Numa(NumaArgs),
    Ab(Box<AbArgs>),
    Selftest(SelftestArgs),
    Replicate(Box<ReplicateArgs>),
    Render(RenderArgs),
    Compare(CompareArgs),
    History(HistoryArgs),
    Doctor(DoctorArgs),
    Explain(ExplainArgs),
    Docs(DocsArgs),
    /// Measures one order from standard input: the other half of a sweep, which starts it
    #[command(name = crate::invoke::VERB, hide = true)]
    Measure(MeasureArgs),
}

#[derive(Debug, Args)]
pub(super) struct MeasureArgs {
    /// Only say how this program was built
    #[arg(long)]
    pub(super) about: bool,
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
    /// Let a list: name a strand more than once, so that workers share it on purpose
    #[arg(long)]
    pub(super) allow_stack: bool,
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
/// workers up to one per strand, fewer of these numbers on a large machine. Each cell is measured by at least six invocations,
/// which are fresh processes, in rounds and in random order. The rest of the budget narrows intervals that are too wide: first
/// those of cells that may be the best of their kernel, then the others. Every invocation is on the disk before the next begins: a sweep that is killed loses at most the one
/// in flight, and `--resume` finishes it.
///
/// What is not typed is taken from the environment (`CHARZ_SIZE=1GiB` for `--size 1GiB`), then from the file of `--config`,
/// then from the defaults. `--kernel` and `--family` count as one there. Only `--config`, `--resume`, `--quick`, `--force`,
/// `--dry-run` and its `--topology` and `--format` must be typed.
#[derive(Debug, Args)]
pub(super) struct SweepArgs {
    #[command(flatten)]
    pub(super) what: WhatArgs,
    #[command(flatten)]
    pub(super) how: HowArgs,
    #[command(flatten)]
    pub(super) run: RunArgs,
    /// A TOML file with values for flags that are not typed: long names for keys, such as size = "1GiB"
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// Finish an interrupted report, with its own plan
    #[arg(long, value_name = "FILE", conflicts_with_all = set_by_the_report())]
    pub(super) resume: Option<PathBuf>,
    #[arg(long, conflicts_with_all = ["threads", "size", "budget"], help = help::quick())]
    pub(super) quick: bool,
    /// Plan for another machine: hwloc XML, or a synthetic description, as for charz topo
    ///
    /// Kernels are timed on this machine; caches, nodes and numbers of strands are those of the other one.
    #[arg(long, value_name = "SOURCE", requires = "dry_run")]
    pub(super) topology: Option<String>,
    #[arg(long, value_name = "FORMAT", requires = "dry_run",
        help = help::formats(plan::FORMATS.iter().map(|format| format.name)),
        long_help = help::explained_formats(plan::FORMATS.iter().map(|format| (format.name, format.about))))]
    pub(super) format: Option<String>,
}

/// The flags that `--resume` excludes: every parameter, and everything else that a report's plan or its file determines.
fn set_by_the_report() -> impl Iterator<Item = &'static str> {
    const OTHERS: [&str; 20] = [
        "mapping",
        "allow_stack",
        "kernel",
        "family",
        "threads",
        "repetitions",
        "invocations",
        "precision",
        "seed",
        "oversubscribed",
        "accept_panic",
        "clock",
        "binder",
        "config",
        "output",
        "force",
        "quick",
        "dry_run",
        "topology",
        "format",
    ];
    PARAMS.iter().map(|param| param.name).chain(OTHERS)
}

// What of a cell can differ from one side of a comparison to the other. Not a documentation comment: the grammar would take it
// for the help of the subcommand.
#[derive(Clone, Debug, Args)]
pub(super) struct HowArgs {
    #[arg(long, value_name = "M,…", default_value = super::convert::FITTING,
        help = "Mappings, separated by commas; --help lists them",
        long_help = help::mappings("Mappings, separated by commas; the flag may be given several times. fitting is round-robin, \
            dumb and auto for compute kernels, mem-read and mem-write-data, for those of exactly two workers a pair of strands at \
            each distance that the machine has and auto, and round-robin for all others. Of those that take the same strands the \
            first is measured"))]
    pub(super) mapping: Vec<String>,
    #[command(flatten)]
    pub(super) params: ParamArgs,
    /// Let a list: name a strand more than once, so that workers share it on purpose
    #[arg(long)]
    pub(super) allow_stack: bool,
}

// What is measured, and what all cells have in common.
#[derive(Clone, Debug, Args)]
pub(super) struct WhatArgs {
    #[arg(long, value_name = "K,…", value_delimiter = ',', help = help::kernels())]
    pub(super) kernel: Vec<String>,
    /// All kernels of families (compute, memory, sync, timer, floor), separated by commas
    #[arg(long, value_name = "F,…", value_delimiter = ',')]
    pub(super) family: Vec<String>,
    /// Numbers of workers: auto, or a list of numbers and ranges such as 1,2,4-8,16-64:16
    ///
    /// auto is 2ⁿ and 2ⁿ+2ⁿ⁻¹ up to the usable strands, and the borders of the machine: the strands of a core, the cores and the
    /// strands of a package, all cores, all strands. If the fewest invocations of so many cells take more than half of the budget, it
    /// is powers of 2, 4 or 8 and the borders, or the borders alone. In memory kernels other than mem-read and mem-write-data, and in
    /// timer kernels, it is one worker and as many as there are usable strands. --oversubscribed takes it further.
    #[arg(long, value_name = "N,…", default_value = "auto", allow_hyphen_values = true)]
    pub(super) threads: String,
    #[command(flatten)]
    pub(super) amounts: AmountArgs,
    /// Repetitions in each invocation: auto, or a number; all are kept
    ///
    /// auto takes 10 of compute kernels, 5 of most memory kernels, and 2 of sync and timer kernels.
    #[arg(long, value_name = "N", default_value = "auto", allow_hyphen_values = true)]
    pub(super) repetitions: String,
    #[command(flatten)]
    pub(super) oversubscribed: OversubscribedArgs,
    /// Run such cells also where the kernel is set to panic on a lockup (softlockup_panic, hung_task_panic)
    #[arg(long)]
    pub(super) accept_panic: bool,
}

// A type of its own: `charz replicate` takes it too.
#[derive(Clone, Debug, Args)]
pub(super) struct OversubscribedArgs {
    /// Measure up to K times as many workers as strands [default without K: 2]
    ///
    /// --threads auto goes that far, and kernels whose workers fight for one line (sync) run with so many; without the flag such
    /// cells are skipped where there are more workers than strands. Intervals of cells with more workers than strands are
    /// narrowed last.
    #[arg(long, value_name = "K", num_args = 0..=1, require_equals = true, default_value = "1", default_missing_value = "2",
        hide_default_value = true)]
    pub(super) oversubscribed: String,
}

// How a sweep is made, by any command, and where its report goes.
#[derive(Clone, Debug, Args)]
pub(super) struct RunArgs {
    /// Invocations of each cell: the fewest and the most, or one number for both
    ///
    /// Below six there is no interval, and nothing to compare. Those beyond the fewest are made where the interval is wider
    /// than --precision, as long as the budget lasts.
    #[arg(long, value_name = "N[-M]", default_value = "6-30", allow_hyphen_values = true)]
    pub(super) invocations: String,
    /// The half width of the 95% interval that is wanted, in percent of the number: auto, or e.g. 2%
    ///
    /// auto is 1% for compute, 2% for memory and 5% for sync kernels.
    #[arg(long, value_name = "P%", default_value = "auto", allow_hyphen_values = true)]
    pub(super) precision: String,
    #[arg(long, value_name = "TIME", default_value = "auto", allow_hyphen_values = true, help = help::BUDGET, long_help = help::budget())]
    pub(super) budget: String,
    /// The report's file, compressed if its name ends in .gz [default: charz-<date>-<time>.json, or .json.gz if large, in this folder]
    #[arg(long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Replace an existing output file
    #[arg(long)]
    pub(super) force: bool,
    /// Wait first until other programs use less than a tenth of a CPU, for TIME at most [default without TIME: 1m]
    ///
    /// The sweep begins when TIME is over, quiet or not, and prints which. The wait is not part of the budget.
    #[arg(long, value_name = "TIME", num_args = 0..=1, require_equals = true, default_missing_value = "1m")]
    pub(super) wait_quiet: Option<String>,
    /// Print the plan and its predicted time; measure nothing but a few milliseconds of pilot runs
    #[arg(long)]
    pub(super) dry_run: bool,
    /// End with code 5 unless every cell is ok
    #[arg(long)]
    pub(super) strict: bool,
    #[command(flatten)]
    pub(super) bench: BenchArgs,
}

// What cells are measured with, and in which order.
#[derive(Clone, Debug, Args)]
pub(super) struct BenchArgs {
    /// Draw the order of the cells, and pairs that do not all fit, from this number [default: another one each time]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(super) seed: Option<String>,
    /// Wait for another charz that is measuring on this machine, instead of refusing
    #[arg(long)]
    pub(super) wait: bool,
    /// What stamps: os (CLOCK_MONOTONIC), tsc (time-stamp counter), or auto, which takes tsc where it can serve as a clock
    #[arg(long, default_value = "auto")]
    pub(super) clock: String,
    /// What binds workers to seats: hwloc, or core-affinity (strands below 1024 only)
    #[arg(long, default_value = "hwloc")]
    pub(super) binder: String,
}

/// Show a report again
#[derive(Debug, Args)]
pub(super) struct RenderArgs {
    /// Reports that `charz sweep` wrote; several are shown side by side
    #[arg(value_name = "REPORT", required = true)]
    pub(super) reports: Vec<PathBuf>,
    #[arg(long, default_value = "table", help = help::formats(formats::FORMATS.iter().map(|format| format.name)),
        long_help = help::explained_formats(formats::FORMATS.iter().map(|format| (format.name, format.about))))]
    pub(super) format: String,
    #[command(flatten)]
    pub(super) how: ShowingArgs,
}

/// Compare two reports: faster, slower, the same, or inconclusive, for every cell
///
/// Cells are matched by kernel, mapping and number of workers. A verdict needs a difference that chance explains in less than
/// 1% of such comparisons, all of them taken together, and that is wholly beyond a margin. The margin is 4%, twice that of
/// measurements that take turns, since the machine may have changed between the two sweeps. Inconclusive is not a pass: the
/// data could not say, and the reason says what would. Ends with code 1 if anything is slower, and with code 6 if nothing could be
/// compared.
///
/// With --baseline only the new report is named: the base is taken out of the history that charz history keeps.
#[derive(Debug, Args)]
pub(super) struct CompareArgs {
    /// The report to compare with; left out with --baseline
    #[arg(value_name = "BASE")]
    pub(super) base: PathBuf,
    /// The report that is compared
    #[arg(value_name = "NEW", required_unless_present = "baseline")]
    pub(super) new: Option<PathBuf>,
    /// Take the base out of the history: newest, before-change, or the number of a report
    ///
    /// newest is the newest report that was measured before the new one and may be compared with it; before-change the newest such
    /// one that is older than the last change of any of its cells. The output says which one it is.
    #[arg(long, value_name = "WHICH", allow_hyphen_values = true)]
    pub(super) baseline: Option<String>,
    /// The history's file, as for charz history
    #[arg(long, value_name = "FILE", requires = "baseline")]
    pub(super) db: Option<PathBuf>,
    /// Compare reports of different machines; every line says so
    #[arg(long)]
    pub(super) cross_machine: bool,
    /// Compare reports of different builds of the kernels; every line says so
    #[arg(long)]
    pub(super) cross_build: bool,
    /// Compare reports whose plans differ in what changes numbers (pages, sizes, iterations); every line says so
    #[arg(long)]
    pub(super) cross_plan: bool,
    #[command(flatten)]
    pub(super) terms: TermsArgs,
}

/// Look for what will disturb or limit measurements on this machine
///
/// Prints what was read, what it does to which numbers, and the command that mends it; what disturbs comes first. It takes
/// little more than a second, changes nothing, and ends with code 0 whatever it finds.
#[derive(Debug, Args)]
pub(super) struct DoctorArgs {
    #[arg(long, default_value = "table", help = help::formats(doctor::FORMATS.iter().map(|f| f.name)))]
    pub(super) format: String,
}

/// Explain a check that a number is marked by: cause, limits, evidence, and what to do
///
/// Without a code: the list of checks with their limits.
#[derive(Debug, Args)]
pub(super) struct ExplainArgs {
    /// The code, e.g. V03
    #[arg(allow_hyphen_values = true)]
    pub(super) code: Option<String>,
    #[arg(long, default_value = "text", help = help::formats(explain::FORMATS.iter().map(|f| f.name)))]
    pub(super) format: String,
}

/// Print generated documentation: shell completions, man pages, the schemas of reports and comparisons, tables of kernels, mappers and checks
///
/// Without a page: the list of pages, each with the file that it is kept in.
#[derive(Debug, Args)]
pub(super) struct DocsArgs {
    /// The page, e.g. completions-bash, man, man-sweep, schema, kernels, mappers, checks, exit-codes
    pub(super) page: Option<String>,
}
