//! Groups of flags that several commands share.

use std::path::PathBuf;

use clap::{Arg, Args};

use super::format::OutputArgs;
use super::help;
use super::parameters::{AmountArgs, ParamArgs};
use crate::command::render::Showing;
use charz_render::formats::Format;

/// What `--mapping` says where each kernel is to have the mappings that fit it.
pub(super) const FITTING: &str = "fitting";

#[derive(Debug, Args)]
pub(super) struct SourceArgs {
    /// Which machine: this one, a file of hwloc XML, or a synthetic description
    ///
    /// `lstopo --of xml` writes such a file on another machine, with hwloc 3 if given `--export-xml-flags v2`. A synthetic
    /// description names levels from the outside in, e.g. "Package:4 Core:16 Group:2 PU:4" for the SPARC T3-4; a Group below
    /// Core is an ALU slot.
    #[arg(long, value_name = "SOURCE", default_value = "this")]
    pub(super) topology: String,
}

// What of a cell can differ from one side of a comparison to the other. Not a documentation comment: the grammar would take it
// for the help of the subcommand.
#[derive(Clone, Debug, Args)]
pub(super) struct HowArgs {
    #[arg(long, visible_alias = "placement", value_name = "M,…", default_value = FITTING,
        help = "Orders in which threads take CPUs; see charz docs mappers",
        long_help = help::mappings("Mappings, separated by commas; the flag may be given several times. fitting is round-robin, \
            dumb and auto for compute kernels, mem-read, mem-write-data and programs, for those of exactly two threads a pair of \
            CPUs at each distance that the machine has and auto, round-robin and auto for workload kernels, and round-robin \
            for all others. Of those that take the same CPUs the \
            first is measured"))]
    pub(super) mapping: Vec<String>,
    #[command(flatten)]
    pub(super) params: ParamArgs,
    /// Let a list: name a CPU more than once, so threads share it on purpose
    #[arg(long)]
    pub(super) allow_stack: bool,
}

// What is measured, and what all cells have in common.
#[derive(Clone, Debug, Args)]
pub(super) struct WhatArgs {
    #[arg(long, value_name = "K,…", value_delimiter = ',', help = help::kernels())]
    pub(super) kernel: Vec<String>,
    /// All kernels of families: compute, memory, sync, timer, workload, floor
    #[arg(long, value_name = "F,…", value_delimiter = ',')]
    pub(super) family: Vec<String>,
    /// Thread counts: auto, or a list of numbers and ranges such as 1,2,4-8,16-64:16
    ///
    /// auto is 2ⁿ and 2ⁿ+2ⁿ⁻¹ up to the usable CPUs, and the borders of the machine: the CPUs of a core, the cores and the
    /// CPUs of a package, the cores of the fastest kind, all cores, all CPUs. If the fewest runs of so many exceed half of the budget, or
    /// the report 100 MB, it is powers of 2, 4 or 8 and the borders, or the borders alone. In memory kernels other than mem-read and
    /// mem-write-data it is one thread and as many as there are usable CPUs, in timer kernels and chase-* one thread. --oversubscribed
    /// takes it further.
    #[arg(long, value_name = "N,…", default_value = "auto", allow_hyphen_values = true)]
    pub(super) threads: String,
    #[command(flatten)]
    pub(super) amounts: AmountArgs,
    /// Iterations in each run: auto, or a number; all are kept
    ///
    /// auto takes 10 of compute kernels, 5 of most memory kernels, and 2 of sync and timer kernels.
    #[arg(long, value_name = "N", default_value = "auto", allow_hyphen_values = true)]
    pub(super) iterations: String,
    #[command(flatten)]
    pub(super) oversubscribed: OversubscribedArgs,
    /// Also run oversubscribed configurations on systems that panic on a lockup (softlockup_panic, hung_task_panic)
    #[arg(long)]
    pub(super) accept_panic: bool,
}

// A type of its own: `charz replicate` takes it too.
#[derive(Clone, Debug, Args)]
pub(super) struct OversubscribedArgs {
    /// Measure up to K times as many threads as CPUs [default without K: 2]
    ///
    /// --threads auto goes that far, and kernels whose threads fight for one line (sync) run with so many; without the flag such
    /// configurations are skipped where there are more threads than CPUs. Intervals of configurations with more threads than CPUs are
    /// narrowed last.
    #[arg(long, value_name = "K", num_args = 0..=1, require_equals = true, default_value = "1", default_missing_value = "2",
        hide_default_value = true)]
    pub(super) oversubscribed: String,
}

// How a sweep is made, by any command, and where its report goes.
#[derive(Clone, Debug, Args)]
pub(super) struct RunArgs {
    /// Runs (fresh processes) of each configuration: min and max, or one number for both
    ///
    /// Fewer than six give no interval, and nothing to compare. As long as the budget lasts, each gets eight, or the nine to ten which
    /// reports of more than 64 configurations need to be compared; more where the interval is wider than --precision, and two more where a disturbance left
    /// the number suspect. A maximum below eight is kept.
    #[arg(long, value_name = "N[-M]", default_value = "6-30", allow_hyphen_values = true)]
    pub(super) runs: String,
    /// Target half width of the 95% interval, in percent of the number: auto, or e.g. 2%
    ///
    /// auto is 1% for compute, 2% for memory and 5% for sync kernels.
    #[arg(long, value_name = "P%", default_value = "auto", allow_hyphen_values = true)]
    pub(super) precision: String,
    #[arg(long, value_name = "TIME", default_value = "auto", allow_hyphen_values = true, help = help::BUDGET, long_help = help::budget())]
    pub(super) budget: String,
    /// File of the report, compressed if it ends in .gz; - is standard output [default: charz-{host}-{date}.json]
    ///
    /// The default is in this folder, and ends in .json.gz if it is large. In a name, {host}, {node}, {date}, {cpu} and {job} are replaced by the name of the host, that of the batch system's node
    /// (SLURMD_NODENAME, else the host), the date and time (UTC), the model of the CPU and the job of the batch system (SLURM_JOB_ID,
    /// PBS_JOBID or LSB_JOBID, else nojob).
    ///
    /// On standard output the report is JSON, in place of what the command prints. There is no journal then: an interrupted sweep prints
    /// what it has, and cannot be resumed.
    #[arg(long, short, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Replace an existing output file
    #[arg(long)]
    pub(super) force: bool,
    /// Leave out of the report, and of what is printed, whose it is: names of the host, of programs and of files, products, labels
    ///
    /// What stays is what was measured: the processor, the topology, the numbers, what other programs used. The journal has all of it until
    /// the report is written, and --resume goes on with a journal, not with an anonymous report: that does not say on which machine, and of
    /// which program. `charz render --anonymous` makes such a report of another one.
    #[arg(long)]
    pub(super) anonymous: bool,
    /// A word for the report, to group nodes by; may be given several times
    #[arg(long, value_name = "KEY=VALUE")]
    pub(super) label: Vec<String>,
    /// Wait until other programs use less than 0.1 CPU, at most TIME [default without TIME: 1m]
    ///
    /// The sweep begins when TIME is over, quiet or not, and prints which. The wait is not part of the budget.
    #[arg(long, value_name = "TIME", num_args = 0..=1, require_equals = true, default_missing_value = "1m")]
    pub(super) wait_quiet: Option<String>,
    /// Print the plan and its predicted time, and measure nothing but short pilot runs, in which --command runs once or twice
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Exit with code 5 unless every result is reliable
    #[arg(long)]
    pub(super) strict: bool,
    #[command(flatten)]
    pub(super) bench: BenchArgs,
}

// What cells are measured with, and in which order.
#[derive(Clone, Debug, Args)]
pub(super) struct BenchArgs {
    /// Random seed of the order of runs, and of pairs that do not all fit [default: random]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(super) seed: Option<String>,
    /// Wait for another charz that is measuring on this machine, instead of refusing
    #[arg(long)]
    pub(super) wait: bool,
    /// Time source: os, realtime, tsc, or auto, which takes tsc where it is reliable
    ///
    /// os is CLOCK_MONOTONIC, tsc the time-stamp counter, and realtime CLOCK_REALTIME with a plain barrier before each run, as the T3-4 report
    /// has it.
    #[arg(long, default_value = "auto")]
    pub(super) clock: String,
    /// Pinning backend: hwloc, or core-affinity (CPUs below 1024 only)
    #[arg(long, default_value = "hwloc")]
    pub(super) binder: String,
}

#[derive(Debug, Args)]
pub(crate) struct ShowingArgs {
    /// The one figure to show, by its name; without a name the error lists them
    #[arg(long, value_name = "NAME")]
    pub(crate) figure: Option<String>,
    #[command(flatten)]
    pub(crate) into: OutputArgs,
}

pub(super) fn showing(format: &Format, args: ShowingArgs) -> Showing {
    Showing { format: *format, is_typed: args.into.format.name().is_some(), figure: args.figure }
}

/// For `--budget` of commands whose sweep is of few cells.
pub(super) fn budget(arg: Arg, time: &'static str) -> Arg {
    arg.default_value(time).help(help::SHORT_BUDGET).long_help(help::SHORT_BUDGET)
}
