//! Every command: its name, its help, and what does it.

use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand};

use super::ab::{self, AbArgs};
use super::advise::{self, AdviseArgs};
use super::audit::{self, AuditArgs};
use super::c2c::{self, C2cArgs};
use super::compare::{self, CompareArgs};
use super::config::{self, ConfigArgs};
use super::docs::{self, CompletionsArgs, DocsArgs};
use super::doctor::{self, DoctorArgs};
use super::exec::{self, ExecArgs};
use super::explain::{self, ExplainArgs};
use super::fleet::{self, FleetArgs};
use super::help;
use super::history::{self, HistoryArgs};
use super::import::{self, ImportArgs};
use super::kernels::{self, KernelsArgs};
use super::layers::Layers;
use super::lockutil::{self, LockutilArgs};
use super::map::{self, MapArgs};
use super::numa::{self, NumaArgs};
use super::predict::{self, PredictArgs};
use super::render::{self, RenderArgs};
use super::replicate::{self, ReplicateArgs};
use super::selftest::{self, SelftestArgs};
use super::sweep::{self, SweepArgs};
use super::topo::{self, TopoArgs};
use super::watch::{self, WatchArgs};
use crate::command::{Command, STREAM};
use crate::exit::Error;
use crate::view::config::Setting;

/// Measure a multi-core machine and find where threads run best.
#[derive(Debug, Parser)]
#[command(name = "charz", version = env!("CARGO_PKG_VERSION"), override_help = help::overview(), max_term_width = help::MOST_COLUMNS)]
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
    /// Show sockets, cores, caches, NUMA nodes and devices; with --measured, compared with measurements
    ///
    /// Prints the totals, a row per level, and which CPUs (hardware threads) lie on which core, as ranges where the machine is
    /// regular; the GPUs, network ports, disks and accelerators with the NUMA node that each is near; then the CPUs that this process
    /// may use, and a CPU quota if there is one. The place of a device is what the firmware states.
    ///
    /// With --measured, sizes, latencies and bandwidths of caches and memory, the reach of the TLB and the clock are shown as reported
    /// by the system and as measured; mismatches are marked and explained. Without a report the machine is measured, for about a minute.
    ///
    /// With --latencies, the machine is inferred from core-to-core latencies that any program measured; with --latency-by-size, claimed
    /// caches are compared with a table of latencies by size.
    #[command(
        after_help = "Examples:\n  charz topo --measured\n  charz topo --topology 'Package:2 Core:4 PU:2'\n  charz topo --latencies matrix.csv"
    )]
    Topo(Box<TopoArgs>),
    /// Show where a mapping puts threads, or the options that launch a program so
    ///
    /// Prints the CPU of each thread, or the same placement for taskset, numactl, OpenMP, Slurm and others. Beyond the last CPU
    /// the order starts again.
    #[command(
        after_help = "Examples:\n  charz map --mapping round-robin --threads 4\n  charz map --mapping compact --threads 8 --format numactl\n  charz map --mapping compact --threads 8 --near eth0 --format docker"
    )]
    Map(MapArgs),
    /// List the kernels and what they measure
    ///
    /// Without a name: the families, how the names of their kernels begin, and what other tools call them.
    #[command(after_help = "Examples:\n  charz kernels\n  charz kernels memory\n  charz kernels stream")]
    Kernels(KernelsArgs),
    /// Benchmark this machine for each number of threads and each mapping
    ///
    /// Without flags: both arithmetic and both memory kernels, under round-robin, dumb and auto, with 1, 2, 3, 4, 6, 8, 12, …
    /// threads up to one per CPU, fewer of these numbers on a large machine. Each configuration is measured by at least six runs,
    /// which are fresh processes, in rounds and in random order. The rest of the budget narrows intervals that are too wide: first
    /// those of configurations that may be the best of their kernel, then the others. Every run is on the disk before the next
    /// begins: a sweep that is killed loses at most the one in flight, and `--resume` finishes it.
    ///
    /// Options not given on the command line come from the environment (`CHARZ_SIZE=1GiB` for `--size 1GiB`), then from the file of `--config`,
    /// then from the defaults. A flag also overrides those that it excludes; `--kernel` and `--family` count as one. Only `--config`, `--resume`, `--continue`, `--preset`, `--quick`, `--force`,
    /// `--dry-run`, `--topology`, `--format`, `--json`, `--quiet` and `--color` can only be given on the command line.
    #[command(
        after_help = "Examples:\n  charz sweep --quick\n  charz sweep --kernel mem-read --threads 1,2,4\n  charz sweep --command './bench --threads {threads}' --budget 5m"
    )]
    Sweep(Box<SweepArgs>),
    #[command(
        after_help = "Examples:\n  charz exec ./bench\n  charz exec --mapping compact --threads 4 -- ./bench --fast\n  charz exec --near nvme0n1 -- ./bench"
    )]
    Exec(ExecArgs),
    /// Measure core-to-core latency, as a matrix
    ///
    /// Two threads hand a line back and forth, on every pair of CPUs; the number is the time of one way. Pairs of one NUMA node
    /// are measured once, others both ways: the memory behind the line is on the node of the first. Where all pairs do not fit into
    /// half of the budget, pairs of each kind (distance, NUMA nodes, kinds of core) are drawn at random, at least three of each, and
    /// the table says how many there are.
    ///
    /// The result is the report of a sweep with a mapping such as list:0,8 for each pair: charz sweep --resume finishes it, charz
    /// render shows it again, and charz compare compares it.
    #[command(after_help = "Examples:\n  charz c2c\n  charz c2c --cpus 0-1 --mode cas,exchange")]
    C2c(C2cArgs),
    /// Measure latency and bandwidth between NUMA nodes, as a matrix
    ///
    /// Latency is that of one thread on each node that follows a random cycle through a block on each (chase-random), bandwidth that
    /// of threads on all CPUs of the node that read such blocks together (mem-read). The report says where the blocks were; beside
    /// the numbers stands what the firmware claims of distances.
    ///
    /// The result is the report of a sweep with a mapping such as list:0-7 for each node of threads and a place such as node:1 for
    /// each of memory: charz sweep --resume finishes it, charz render shows it again, and charz topo --measured REPORT
    /// --format xml writes it where lstopo finds it.
    ///
    /// --disk FILE times reads of the file's disk from each node, and compares the nearest one with the node that the kernel states.
    #[command(
        after_help = "Examples:\n  charz numa\n  charz numa --size 1GiB --pages thp\n  charz numa --disk big.bin"
    )]
    Numa(NumaArgs),
    /// Measure which CPUs share cores, caches and memory, and check the system's topology
    #[command(after_help = "Examples:\n  charz audit\n  charz audit --budget 30s --write measured.xml")]
    #[command(long_about = audit::ABOUT)]
    Audit(AuditArgs),
    /// A/B-test two configurations, or two builds of charz, interleaved
    ///
    /// Both sides measure the same kernels with the same thread counts; their configurations are paired by place. Each pair is measured
    /// in blocks of four runs, ABBA or BAAB at random, blocks of all pairs in random order, so drift and noise of the machine
    /// meet both sides. The margin is 2%, or what one of them differs by under two mappings on the same CPUs, if larger. Exits with code 1 if
    /// B is slower than A anywhere, and with code 5 if nothing could be compared or a difference is left open. Inconclusive is not
    /// a pass.
    ///
    /// Flags beside --a and --b hold for both sides: charz ab --a '--pages 4k' --b '--pages thp' --kernel mem-read --threads 2
    /// --mapping round-robin. Environment variables are ignored.
    #[command(
        after_help = "Examples:\n  charz ab --a '--pages 4k' --b '--pages thp' --kernel mem-read --threads 2 --mapping round-robin\n  charz ab --a-program ./old --b-program ./new --kernel arith-int"
    )]
    Ab(Box<AbArgs>),
    /// Measure this machine's noise (A/A test)
    ///
    /// With --aa: comparisons as charz ab makes them, of two equal sides. Every difference found is a false one; the 95th percentile of
    /// the differences is the noise floor.
    #[command(after_help = "Examples:\n  charz selftest --aa\n  charz selftest --aa --kernel mem-read --threads 2")]
    Selftest(SelftestArgs),
    /// Reproduce a published study and compare with its numbers
    ///
    /// The documents are t3-4 (the SPARC T3-4 report), cmt (chip multi-threading), cascade (rings of mutexes), tacc (multi-core systems
    /// in HPC) and solaris (its scalability). The program has their surviving values and citations. Every figure and table is listed by
    /// its number: done, partly, undecided, not measured, or cannot be here, with the reason; and each conclusion of the document is checked on this
    /// machine. Thread counts are the document's, up to twice the CPUs and one more. For t3-4, kernels that stamp each operation take
    /// 10,000 pairs of times per iteration, which add up to its 100,000. A budget of auto is a few minutes, by document.
    ///
    /// The result is the report of a sweep, which charz sweep --resume finishes and charz render shows; --from reads a report that
    /// exists, also of another machine, and --output then gets what is printed.
    ///
    /// Their terms: CMP is several cores on a chip; VMT, strands of a core that take turns at its units; HMT, strands that use them at
    /// once (SMT); ILP, instructions of one strand that run at once; LWP, a thread as the kernel schedules it.
    #[command(after_help = "Examples:\n  charz replicate --list\n  charz replicate t3-4 --only 5")]
    Replicate(Box<ReplicateArgs>),
    /// Advise on mapping and number of threads for each kind of load, with the line to paste
    #[command(
        after_help = "Examples:\n  charz advise last\n  charz advise last --beside stream:node0\n  charz advise last --near mlx5_0"
    )]
    Advise(AdviseArgs),
    /// Predict placements that were not measured, or say that no model does
    ///
    /// From the caps of a thread, a core, a cache, a NUMA node, a socket and the machine, as far as the measured points tell of them: one
    /// thread, a core full, a socket full and all CPUs are the four that decide; those that are missing are named. A model is refused where it
    /// misses points that were left out, and is called unchecked where none was. Intervals hold 90% of published points (89 to 94% by kind of
    /// machine, 91 to 98% unchecked). Under a mapping that was never measured they reach from half to twice the value.
    #[command(
        after_help = "Examples:\n  charz predict last --mapping compact --threads 2\n  charz predict last --mapping compact --threads 2 --output page.html\n  charz predict --table points.tsv --topology 'Package:2 Core:10 PU:1'"
    )]
    Predict(PredictArgs),
    /// Show or convert a report: summary, tables, HTML, SVG, CSV, Markdown, …
    #[command(after_help = "Examples:\n  charz render last\n  charz render last --output page.html")]
    Render(RenderArgs),
    /// Show a table of values that another program measured as a report, or make one of it
    ///
    /// A row is a configuration. Its columns are kernel (or program), mapping (or cpus, a list), threads, value (several, or repeated rows),
    /// low and high or half width (95%), unit, and parameters such as size. Six values, or an interval, make a number that can be
    /// compared. With --format json it is a report, which every command takes: advise, compare, predict, render.
    #[command(
        after_help = "Examples:\n  charz import table.tsv --topology machine.xml\n  charz import table.csv --topology 'Package:2 Core:8 PU:2' --output report.json"
    )]
    Import(ImportArgs),
    /// Compare two reports: slower, faster, same or inconclusive
    ///
    /// Configurations are matched by kernel, mapping and number of threads. A verdict needs p < 1% (corrected for all configurations)
    /// and an interval wholly beyond the margin of 2%, or what one of the reports differs by under two mappings on the same CPUs, if
    /// larger. Slow noise and drift, which show in the runs of each report, widen the interval; charz ab is not subject to them.
    /// Inconclusive is not a pass: there is not enough data, and the reason says what is missing. Ends with code 1 if anything is
    /// slower, and with code 5 if nothing could be compared or a difference is left open.
    ///
    /// With --baseline only the new report is named: the base is taken out of the history that charz history keeps.
    #[command(after_help = "Examples:\n  charz compare old.json new.json\n  charz compare last --baseline newest")]
    Compare(CompareArgs),
    /// Track reports over time and detect changes
    ///
    /// A history is a SQLite database with the reports of one machine. charz history plot finds the reports between which configurations became
    /// faster or slower, and reports what else changed there: the system's kernel, the governor, charz itself. charz compare --baseline
    /// takes the report to compare with from it.
    ///
    /// The file is that of --db, else of CHARZ_DB, else charz/history.db in $XDG_DATA_HOME or ~/.local/share.
    #[command(after_help = "Examples:\n  charz history add *.json\n  charz history plot --changed")]
    History(HistoryArgs),
    /// Name the slow nodes of a cluster and their slow parts, and check a node
    #[command(after_help = "Examples:\n  charz fleet show reports/\n  charz fleet check --baseline site.toml")]
    Fleet(FleetArgs),
    /// Check whether this machine is set up for benchmarking
    ///
    /// Prints what to fix first: a line per check with what was found and what fixes it. It takes little more than a
    /// second, changes nothing, and ends with code 0 whatever it finds, unless --strict is given.
    #[command(after_help = "Examples:\n  charz doctor\n  charz doctor --strict")]
    Doctor(DoctorArgs),
    /// Watch what every CPU does: a row per CPU, socket, NUMA node, cache or core
    ///
    /// Percentages of the interval: usr (user and nice), sys, irq, soft (softirqs), wt (idle, waiting for a disk), st (stolen by the
    /// hypervisor), idl, and rundelay (tasks that could run and waited). Numbers a second: intr (interrupts), xcal (calls from other
    /// CPUs: res and cal, which has tlb in it), csw (turns of tasks). What this kernel does not count is named. Without COUNT a terminal
    /// shows one screen that is drawn in place until q is pressed.
    #[command(
        after_help = "Examples:\n  charz watch 1\n  charz watch --key intr --top 10 5\n  charz watch --format json 1 3"
    )]
    Watch(WatchArgs),
    /// Add up what waiting for locks costs: the share of all CPUs, by lock and caller
    ///
    /// Reads what lockstat or perf lock contention printed, /proc/lock_stat, or a report with lock kernels. The share is waits × mean time /
    /// (elapsed time × CPUs).
    #[command(
        after_help = "Examples:\n  charz lockutil -n 512 lockstat.out\n  perf lock contention -ab sleep 10 2>&1 | charz lockutil -n 64 --elapsed 10s -"
    )]
    Lockutil(LockutilArgs),
    /// Explain a warning: cause, limits, evidence, fix
    ///
    /// Without a code: the list of checks with their limits.
    #[command(after_help = "Examples:\n  charz explain\n  charz explain V03")]
    Explain(ExplainArgs),
    /// Show the settings of a sweep, and where each comes from
    #[command(after_help = "Examples:\n  charz config show\n  CHARZ_SIZE=1GiB charz config show")]
    Config(ConfigArgs),
    /// Print the completions of a shell: bash, elvish, fish, powershell, zsh
    ///
    /// For this session of bash: source <(charz completions bash). Packages install them.
    #[command(after_help = "Examples:\n  source <(charz completions bash)\n  charz completions fish")]
    Completions(CompletionsArgs),
    /// Print man pages, completions, schemas and reference tables
    ///
    /// Without a page: the list of pages, each with the file that it is kept in.
    #[command(after_help = "Examples:\n  charz docs\n  charz docs exit-codes")]
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

impl Verb {
    /// The file that gets what the command prints; `--output` of commands that measure is their report.
    pub(super) fn output(&self) -> Option<PathBuf> {
        let file = match self {
            // It measures nothing where no report is made.
            Verb::Topo(args) if args.measured != Some(None) => &args.output,
            Verb::Map(args) => &args.into.output,
            Verb::Kernels(args) => &args.into.output,
            Verb::Audit(args) => &args.into.output,
            Verb::Selftest(args) => &args.into.output,
            Verb::Advise(args) => &args.into.output,
            Verb::Render(args) => &args.how.into.output,
            Verb::Import(args) => &args.how.into.output,
            Verb::Compare(args) => &args.into.output,
            Verb::History(args) => args.output(),
            Verb::Fleet(args) => args.output(),
            Verb::Predict(args) => &args.into.output,
            Verb::Replicate(args) if args.list || args.from.is_some() => &args.run.output,
            Verb::Lockutil(args) => &args.into.output,
            Verb::Doctor(args) => &args.into.output,
            Verb::Explain(args) => &args.into.output,
            _ => &None,
        };
        file.clone().filter(|file| file.as_os_str() != STREAM)
    }
}

/// What was typed, and what is below it, as something to do; `notes` gets sentences about oddities that stop nothing.
pub(super) fn command(
    verb: Verb,
    layers: &Layers,
    settings: Vec<Setting>,
    notes: &mut Vec<String>,
) -> Result<Command, Error> {
    Ok(match verb {
        Verb::Topo(args) => Command::Topo(Box::new(topo::topo(*args, layers, notes)?)),
        Verb::Map(args) => map::map(&args)?,
        Verb::Kernels(args) => kernels::list(&args)?,
        Verb::Sweep(args) => Command::Sweep(Box::new(sweep::options(*args, layers, notes)?)),
        Verb::Render(args) => Command::Render(render::render(args, notes)?),
        Verb::Import(args) => Command::Import(import::import(args)?),
        Verb::History(args) => Command::History(Box::new(history::history(args, notes)?)),
        Verb::Watch(args) => Command::Watch(watch::watch(args)?),
        Verb::Lockutil(args) => Command::Lockutil(lockutil::lockutil(args)?),
        Verb::Predict(args) => Command::Predict(predict::predict(args, notes)?),
        Verb::Fleet(args) => Command::Fleet(fleet::fleet(args)?),
        Verb::Compare(args) => Command::Compare(compare::compare(args, notes)?),
        Verb::Exec(args) => Command::Exec(Box::new(exec::exec(args)?)),
        Verb::Advise(args) => Command::Advise(advise::advise(args, notes)?),
        Verb::C2c(args) => Command::CoreToCore(Box::new(c2c::c2c(args, layers, notes)?)),
        Verb::Numa(args) => Command::Numa(Box::new(numa::numa(args, layers, notes)?)),
        Verb::Audit(args) => Command::Audit(audit::audit(args)?),
        Verb::Ab(args) => Command::Ab(Box::new(ab::ab(*args, notes)?)),
        Verb::Selftest(args) => Command::Selftest(Box::new(selftest::selftest(args, notes)?)),
        Verb::Replicate(args) => Command::Replicate(Box::new(replicate::replicate(*args, layers, notes)?)),
        Verb::Measure(args) if args.about => Command::About,
        Verb::Measure(_) => Command::Measure,
        Verb::Doctor(args) => Command::Doctor(doctor::doctor(args)?),
        Verb::Explain(args) => explain::explain(&args)?,
        Verb::Config(args) => config::config(args, layers, settings, notes)?,
        Verb::Completions(args) => Command::Docs(docs::completion(&args, Cli::command())?),
        Verb::Docs(args) => Command::Docs(docs::docs(args, Cli::command())?),
    })
}
