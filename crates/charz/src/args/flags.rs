//! The spelling and the help of every argument. Values stay text here, so each is checked, and its errors are explained, by
//! the module that understands it.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use super::ab::{AbArgs, SelftestArgs, TermsArgs};
use super::advise::AdviseArgs;
use super::audit::AuditArgs;
use super::counters::CountersArgs;
use super::exec::ExecArgs;
use super::format::{FormatArgs, takes_one};
use super::help;
use super::history::{HistoryArgs, ShowingArgs};
use super::parameters::{AmountArgs, ParamArgs};
use super::presets::{C2cArgs, NumaArgs, TopoArgs};
use super::program::ProgramArgs;
use super::replicate::ReplicateArgs;
use super::resumed::set_by_the_report;
use crate::view::{doctor, explain, kernels, placement};
use charz_render::formats::{self, SWEPT};

/// Measure a multi-core machine and find where threads run best.
#[derive(Debug, Parser)]
#[command(name = "charz", version = env!("CARGO_PKG_VERSION"), override_help = help::overview(), max_term_width = 110)]
pub(super) struct Cli {
    /// When to use colours: auto, always or never; auto heeds NO_COLOR, CLICOLOR and CLICOLOR_FORCE
    // The number of values by name: a verb that is built alone, for documentation, gets this flag as it stands here.
    #[arg(
        long,
        value_name = "WHEN",
        num_args = 1,
        global = true,
        default_value = "auto",
        hide_default_value = true,
        display_order = 900
    )]
    pub(super) color: String,
    #[command(subcommand)]
    pub(super) verb: Verb,
}

// What each does is said here: only the one that is typed gets its flags, since all of them take longer to list than charz topo
// takes for this machine.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(super) enum Verb {
    /// Show sockets, cores, caches and NUMA nodes; with --measured, compared with measurements
    ///
    /// Prints the totals, a row per level, and which strands (hardware threads) lie on which core, as ranges where the machine is
    /// regular; then the CPUs that this process may use, and a CPU quota if there is one.
    ///
    /// With --measured, sizes, latencies and bandwidths of caches and memory, the reach of the TLB and the clock are shown as reported
    /// by the system and as measured; mismatches are marked and explained. Without a report the machine is measured, for about a minute.
    Topo(Box<TopoArgs>),
    /// Show where a mapping puts threads, or the options that launch a program so
    ///
    /// Prints the CPU of each thread, or the same placement for taskset, numactl, OpenMP, Slurm and others. Beyond the last CPU
    /// the order starts again.
    Map(MapArgs),
    /// List the kernels and what they measure
    ///
    /// Without a name: the families, how the names of their kernels begin, and what other tools call them.
    Kernels(KernelsArgs),
    /// Benchmark this machine for each number of threads and each mapping
    ///
    /// Without flags: both arithmetic and both memory kernels, under round-robin, dumb and auto, with 1, 2, 3, 4, 6, 8, 12, …
    /// workers up to one per strand, fewer of these numbers on a large machine. Each cell is measured by at least six invocations,
    /// which are fresh processes, in rounds and in random order. The rest of the budget narrows intervals that are too wide: first
    /// those of cells that may be the best of their kernel, then the others. Every invocation is on the disk before the next
    /// begins: a sweep that is killed loses at most the one in flight, and `--resume` finishes it.
    ///
    /// What is not typed is taken from the environment (`CHARZ_SIZE=1GiB` for `--size 1GiB`), then from the file of `--config`,
    /// then from the defaults. `--kernel` and `--family` count as one there. Only `--config`, `--resume`, `--quick`, `--force`,
    /// `--dry-run`, `--topology`, `--format`, `--json`, `--quiet` and `--color` must be typed.
    Sweep(Box<SweepArgs>),
    Exec(ExecArgs),
    /// Measure core-to-core latency, as a matrix
    ///
    /// Two workers hand a line back and forth, on every pair of strands; the number is the time of one way. Pairs of one NUMA node
    /// are measured once, others both ways: the memory behind the line is on the node of the first. Where all pairs do not fit into
    /// half of the budget, pairs of each kind (distance, NUMA nodes, kinds of core) are drawn at random, at least three of each, and
    /// the table says how many there are.
    ///
    /// The result is the report of a sweep with a mapping such as list:0,8 for each pair: charz sweep --resume finishes it, charz
    /// render shows it again, and charz compare compares it.
    C2c(C2cArgs),
    /// Measure latency and bandwidth between NUMA nodes, as a matrix
    ///
    /// Latency is that of one worker on each node that follows a random cycle through a block on each (chase-random), bandwidth that
    /// of workers on all strands of the node that read such blocks together (mem-read). The report says where the blocks were; beside
    /// the numbers stands what the firmware claims of distances.
    ///
    /// The result is the report of a sweep with a mapping such as list:0-7 for each node of workers and a place such as node:1 for
    /// each of memory: charz sweep --resume finishes it, charz render shows it again, and charz topo --measured REPORT
    /// --format xml writes it where lstopo finds it.
    Numa(NumaArgs),
    /// Measure which CPUs share cores, caches and memory, and check the system's topology
    #[command(long_about = super::audit::ABOUT)]
    Audit(AuditArgs),
    /// A/B-test two configurations, or two builds of charz, interleaved
    ///
    /// Both sides measure the same kernels with the same numbers of workers; their cells are paired by place. Each pair is measured
    /// in blocks of four invocations, ABBA or BAAB at random, blocks of all pairs in random order, so drift and noise of the machine
    /// meet both sides. The margin is 2%, or the noise floor that charz selftest learned here, if that is larger. Exits with code 1 if
    /// B is slower than A anywhere, and with code 5 if nothing could be compared. Inconclusive is not a pass.
    ///
    /// Flags beside --a and --b hold for both sides: charz ab --a '--pages 4k' --b '--pages thp' --kernel mem-read --threads 2
    /// --mapping round-robin. Environment variables are ignored.
    Ab(Box<AbArgs>),
    /// Measure this machine's noise (A/A test)
    ///
    /// With --aa: comparisons as charz ab makes them, of two equal sides. Every difference found is a false one; the 95th percentile of
    /// the differences is the noise floor, which is kept for charz ab and charz compare. With --planted, as many comparisons in which the
    /// second side does that much more work: they show which differences are found here.
    Selftest(SelftestArgs),
    /// Reproduce a published study and compare with its numbers
    ///
    /// The documents are t3-4 (the SPARC T3-4 report), cmt (chip multi-threading), cascade (rings of mutexes), tacc (multi-core systems
    /// in HPC) and solaris (its scalability). The program has their surviving values and citations. Every figure and table is listed by
    /// its number: done, partly, not measured, or not possible with the reason; and each conclusion of the document is checked on this
    /// machine. Worker counts are the document's, up to twice the strands and one more. For t3-4, kernels that stamp each operation take
    /// 10,000 pairs of times per repetition, which add up to its 100,000. A budget of auto is a few minutes, by document.
    ///
    /// The result is the report of a sweep, which charz sweep --resume finishes and charz render shows; --from reads a report that
    /// exists, also of another machine.
    Replicate(Box<ReplicateArgs>),
    /// Advise on mapping and number of threads for each kind of load, with the line to paste
    Advise(AdviseArgs),
    /// Show or convert a report: summary, tables, HTML, SVG, CSV, Markdown, …
    Render(RenderArgs),
    /// Compare two reports: slower, faster, same or inconclusive
    ///
    /// Cells are matched by kernel, mapping and number of workers. A verdict needs a difference that chance explains in less than
    /// 1% of such comparisons, all of them taken together, and that is wholly beyond a margin. The margin is 4%, twice that of
    /// measurements that take turns, since the machine may have changed between the two sweeps. Inconclusive is not a pass: the
    /// data could not say, and the reason says what would. Ends with code 1 if anything is slower, and with code 5 if nothing could be
    /// compared.
    ///
    /// With --baseline only the new report is named: the base is taken out of the history that charz history keeps.
    Compare(CompareArgs),
    /// Track reports over time and detect changes
    ///
    /// A history is a SQLite database with the reports of one machine. charz history plot finds the reports between which cells became
    /// faster or slower, and reports what else changed there: the system's kernel, the governor, charz itself. charz compare --baseline
    /// takes the report to compare with from it.
    ///
    /// The file is that of --db, else of CHARZ_DB, else charz/history.db in $XDG_DATA_HOME or ~/.local/share.
    History(HistoryArgs),
    /// Check whether this machine is set up for benchmarking
    ///
    /// Prints what to fix first: a line per check with what was found and the command that fixes it. It takes little more than a
    /// second, changes nothing, and ends with code 0 whatever it finds, unless --strict or --expect is given.
    Doctor(DoctorArgs),
    /// Explain a warning: cause, limits, evidence, fix
    ///
    /// Without a code: the list of checks with their limits.
    Explain(ExplainArgs),
    /// Show what a sweep would be made with, and where each value comes from
    Config(ConfigArgs),
    /// Print the completions of a shell: bash, elvish, fish, powershell, zsh
    ///
    /// For this session of bash: source <(charz completions bash). Packages install them.
    Completions(CompletionsArgs),
    /// Print man pages, completions, schemas and reference tables
    ///
    /// Without a page: the list of pages, each with the file that it is kept in.
    Docs(DocsArgs),
    /// Measures one order from standard input: the other half of a sweep, which starts it
    #[command(name = charz_measure::invoke::VERB, hide = true)]
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

#[derive(Debug, Args)]
#[command(mut_arg("format", |arg| takes_one(arg, placement::FORMATS.iter())))]
pub(super) struct MapArgs {
    #[arg(long, visible_alias = "placement", value_name = "MAPPING", help = "The mapping; --help lists them",
        long_help = help::mappings("The mapping"))]
    pub(super) mapping: String,
    /// How many workers
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(super) threads: String,
    /// Let a list: name a strand more than once, so workers share it on purpose
    #[arg(long)]
    pub(super) allow_stack: bool,
    #[command(flatten)]
    pub(super) source: SourceArgs,
    #[command(flatten)]
    pub(super) format: FormatArgs,
}

#[derive(Debug, Args)]
#[command(mut_arg("format", |arg| takes_one(arg, kernels::FORMATS)))]
pub(super) struct KernelsArgs {
    /// A kernel, a family, how names begin (mem-*), or what another tool calls it (stream)
    pub(super) name: Option<String>,
    /// Everything about every kernel
    #[arg(long, conflicts_with = "name")]
    pub(super) all: bool,
    #[command(flatten)]
    pub(super) format: FormatArgs,
}

#[derive(Debug, Args)]
#[command(mut_arg("format", |arg| {
    takes_one(arg, SWEPT).long_help(help::sweep_formats())
}), mut_args(help::grouped))]
pub(super) struct SweepArgs {
    #[command(flatten)]
    pub(super) what: WhatArgs,
    #[command(flatten)]
    pub(super) program: ProgramArgs,
    #[command(flatten)]
    pub(super) how: HowArgs,
    #[command(flatten)]
    pub(super) run: RunArgs,
    #[command(flatten)]
    pub(super) counters: CountersArgs,
    /// A TOML file with values for flags that are not typed: long names for keys, such as size = "1GiB"
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// Finish the sweep of an incomplete report, with its own plan
    #[arg(long, value_name = "FILE", conflicts_with_all = set_by_the_report())]
    pub(super) resume: Option<PathBuf>,
    #[arg(long, conflicts_with_all = ["threads", "size", "budget"], help = help::quick())]
    pub(super) quick: bool,
    /// Print every number in tables, with all warnings and findings; the same as --format table
    #[arg(short, long, conflicts_with_all = ["format", "json", "quiet"])]
    pub(super) verbose: bool,
    /// Plan for another machine: hwloc XML, or a synthetic description, as for charz topo
    ///
    /// Nothing is measured: times are assumed, of a processor like today's. A sweep that runs beside it is not disturbed.
    #[arg(long, value_name = "SOURCE", requires = "dry_run")]
    pub(super) topology: Option<String>,
    #[command(flatten)]
    pub(super) format: FormatArgs,
    /// Print the name of the report's file and nothing else: no tables, no progress
    #[arg(long, short, conflicts_with_all = ["format", "json", "dry_run"])]
    pub(super) quiet: bool,
}

// What of a cell can differ from one side of a comparison to the other. Not a documentation comment: the grammar would take it
// for the help of the subcommand.
#[derive(Clone, Debug, Args)]
pub(super) struct HowArgs {
    #[arg(long, visible_alias = "placement", value_name = "M,…", default_value = super::convert::FITTING,
        help = "Orders in which threads take CPUs; --help lists them",
        long_help = help::mappings("Mappings, separated by commas; the flag may be given several times. fitting is round-robin, \
            dumb and auto for compute kernels, mem-read and mem-write-data, for those of exactly two workers a pair of strands at \
            each distance that the machine has and auto, and round-robin for all others. Of those that take the same strands the \
            first is measured"))]
    pub(super) mapping: Vec<String>,
    #[command(flatten)]
    pub(super) params: ParamArgs,
    /// Let a list: name a strand more than once, so workers share it on purpose
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
    /// Numbers of threads: auto, or a list of numbers and ranges such as 1,2,4-8,16-64:16
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
    /// Measure up to K times as many threads as CPUs [default without K: 2]
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
    /// Runs (fresh processes) of each configuration: min and max, or one number for both
    ///
    /// Fewer than six give no interval, and nothing to compare. Those beyond the minimum are made where the interval is wider
    /// than --precision, as long as the budget lasts.
    #[arg(long, value_name = "N[-M]", default_value = "6-30", allow_hyphen_values = true)]
    pub(super) invocations: String,
    /// Target half width of the 95% interval, in percent of the number: auto, or e.g. 2%
    ///
    /// auto is 1% for compute, 2% for memory and 5% for sync kernels.
    #[arg(long, value_name = "P%", default_value = "auto", allow_hyphen_values = true)]
    pub(super) precision: String,
    #[arg(long, value_name = "TIME", default_value = "auto", allow_hyphen_values = true, help = help::BUDGET, long_help = help::budget())]
    pub(super) budget: String,
    /// File of the report, compressed if it ends in .gz; - is standard output [default: charz-{host}-{date}.json in this folder, .json.gz if large]
    ///
    /// In the name, {host}, {date}, {cpu} and {job} are replaced by the name of the host, the date and time (UTC), the model of the CPU and
    /// the job of the batch system (SLURM_JOB_ID, PBS_JOBID or LSB_JOBID, else nojob).
    ///
    /// On standard output the report is JSON, in place of what the command prints. There is no journal then: an interrupted sweep prints
    /// what it has, and cannot be resumed.
    #[arg(long, short, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Replace an existing output file
    #[arg(long)]
    pub(super) force: bool,
    /// Wait until other programs use less than 0.1 CPU, at most TIME [default without TIME: 1m]
    ///
    /// The sweep begins when TIME is over, quiet or not, and prints which. The wait is not part of the budget.
    #[arg(long, value_name = "TIME", num_args = 0..=1, require_equals = true, default_missing_value = "1m")]
    pub(super) wait_quiet: Option<String>,
    /// Print the plan and its predicted time, and measure nothing but short pilot runs
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
    /// Time source: os (CLOCK_MONOTONIC), tsc (time-stamp counter), or auto, which takes tsc where it is reliable
    #[arg(long, default_value = "auto")]
    pub(super) clock: String,
    /// Pinning backend: hwloc, or core-affinity (CPUs below 1024 only)
    #[arg(long, default_value = "hwloc")]
    pub(super) binder: String,
}

#[derive(Debug, Args)]
#[command(mut_arg("format", |arg| takes_one(arg, formats::FORMATS)))]
pub(super) struct RenderArgs {
    /// Reports that `charz sweep` wrote, several side by side; - is standard input, last the newest report in this folder
    ///
    /// Of the files in this folder that end in .json or .json.gz and hold a report, last is the one that was written last. A file called
    /// last comes first.
    #[arg(value_name = "REPORT", required = true)]
    pub(super) reports: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) format: FormatArgs,
    #[command(flatten)]
    pub(super) how: ShowingArgs,
}

#[derive(Debug, Args)]
pub(super) struct CompareArgs {
    /// The report to compare with, as for charz render (-, last); left out with --baseline
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

#[derive(Debug, Args)]
#[command(mut_arg("format", |arg| takes_one(arg, doctor::FORMATS)))]
pub(super) struct DoctorArgs {
    /// List every check, with what it does to which numbers
    #[arg(short, long)]
    pub(super) verbose: bool,
    /// End with code 1 if there is anything to FIX
    #[arg(long)]
    pub(super) strict: bool,
    /// Print what differs from the values in a TOML file, and end with code 1 if anything does; example: governor = "performance"
    ///
    /// Names and values are those of `key` and `value` in --format json. "ok" is what any check may be expected to be.
    #[arg(long, value_name = "FILE")]
    pub(super) expect: Option<PathBuf>,
    /// Print a shell script that makes the fixes and can undo them; nothing is run
    #[arg(long, conflicts_with_all = ["format", "expect", "verbose"])]
    pub(super) fix_script: bool,
    /// Do not watch the machine for a second: load and pressure are those of the system's averages, the timer is not checked
    #[arg(long)]
    pub(super) no_wait: bool,
    #[command(flatten)]
    pub(super) format: FormatArgs,
}

#[derive(Debug, Args)]
#[command(mut_arg("format", |arg| takes_one(arg, explain::FORMATS)))]
pub(super) struct ExplainArgs {
    /// The code, e.g. V03
    #[arg(allow_hyphen_values = true)]
    pub(super) code: Option<String>,
    #[command(flatten)]
    pub(super) format: FormatArgs,
}

#[derive(Debug, Args)]
pub(super) struct ConfigArgs {
    #[command(subcommand)]
    pub(super) task: ConfigTask,
}

#[derive(Debug, Subcommand)]
pub(super) enum ConfigTask {
    /// List the flags of charz sweep with the values that hold
    ///
    /// Takes the flags of charz sweep, and reads the environment and the file of `--config` as it does. A value comes from a flag, from a
    /// variable, from a line of the file, or is the default. Nothing is measured.
    Show(Box<SweepArgs>),
}

#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// The shell
    pub(super) shell: String,
}

#[derive(Debug, Args)]
pub(super) struct DocsArgs {
    /// The page, e.g. completions-bash, man, man-sweep, grammar, schema, kernels, mappers, checks, exit-codes
    pub(super) page: Option<String>,
}
