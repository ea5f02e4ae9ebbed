//! `charz fleet`: its flags, and what they ask for.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::format::{FormatArgs, OutputArgs, takes_one};
use super::layers::Layers;
use super::sweep::{SweepArgs, preset, sweep};
use crate::command::fleet::Task;
use crate::exit::Error;
use charz_fleet::formats::{FORMATS, check};

#[derive(Debug, Args)]
pub(crate) struct FleetArgs {
    #[command(subcommand)]
    pub(crate) task: FleetTask,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FleetTask {
    #[command(after_help = "Examples:\n  charz fleet show reports/\n  charz fleet show reports/ --output fleet.html")]
    Show(ShowArgs),
    #[command(after_help = "Examples:\n  charz fleet add --db fleet.db reports/\n  charz fleet show fleet.db")]
    Add(AddArgs),
    #[command(
        after_help = "Examples:\n  charz fleet baseline reports/ --output site.toml\n  charz fleet baseline good-*.json"
    )]
    Baseline(BaselineArgs),
    #[command(
        after_help = "Examples:\n  charz fleet check --baseline site.toml report.json\n  charz fleet check --baseline site.toml --format junit"
    )]
    Check(CheckArgs),
}

/// Name the slow nodes of many, and the part of each that is slow
///
/// Parts (core, cache, NUMA node, socket, pair of CPUs) are compared with their like in the same node, whole nodes with nodes of the same
/// kind. Reports an hour apart count as visits: three tell a slow node from a slow hour. The lines for Slurm are printed, never run.
#[derive(Debug, Args)]
#[command(mut_arg("format", |arg| takes_one(arg, FORMATS)))]
pub(crate) struct ShowArgs {
    /// Reports that `charz sweep` wrote, folders of them (*.json, *.json.gz), and databases of charz fleet add
    #[arg(value_name = "REPORT", required = true)]
    pub(crate) reports: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) into: OutputArgs,
}

/// Keep what reports of many nodes say in one database, for the other commands of charz fleet
///
/// Files that cannot be read are named, the others are added, and the exit code is 2. Several programs may add at the same time. A report that comes twice counts once, and one of a resumed sweep replaces the earlier one. The
/// database has a hundredth of a report, so keep the reports where others may want to see them.
#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// Reports that `charz sweep` wrote, and folders of them
    #[arg(value_name = "REPORT", required = true)]
    pub(crate) reports: Vec<PathBuf>,
    /// The database, which is created if need be
    #[arg(long, value_name = "FILE")]
    pub(crate) db: PathBuf,
}

/// Learn what nodes of each kind do when they are well: a TOML file for charz fleet check
///
/// Slow nodes are left out, and files that cannot be read, which are named. A tolerance is five standard deviations between the nodes (of fewer than 5, 1.2% is assumed), 3% to 45%; the file may be edited.
#[derive(Debug, Args)]
pub(crate) struct BaselineArgs {
    /// Reports that `charz sweep` wrote, folders of them, and databases of charz fleet add
    #[arg(value_name = "REPORT", required = true)]
    pub(crate) reports: Vec<PathBuf>,
    /// Write to FILE, which is replaced at once, and never if it is a report; - is standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Check one node against a baseline, in the convention of Nagios: one line, and an exit code
///
/// The code is 0 (OK), 1 (WARNING), 2 (CRITICAL) or 3 (UNKNOWN), for NHC, Nagios and ReFrame. Slurm drains a node by any code but 0 of its
/// Epilog, so end that line with `; [ $? -ne 2 ]`. Without a report this machine is measured, by a sweep as --quick makes it.
#[derive(Debug, Args)]
#[command(mut_arg("format", |arg| takes_one(arg, check::FORMATS)))]
pub(crate) struct CheckArgs {
    /// The report of the node; left out, this machine is measured (20 s, 60 s past very large caches)
    #[arg(value_name = "REPORT")]
    pub(crate) report: Option<PathBuf>,
    /// The file of charz fleet baseline
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: PathBuf,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

impl FleetArgs {
    pub(super) fn output(&self) -> &Option<PathBuf> {
        match &self.task {
            FleetTask::Show(args) => &args.into.output,
            FleetTask::Baseline(args) => &args.output,
            FleetTask::Add(_) | FleetTask::Check(_) => &None,
        }
    }
}

pub(super) fn fleet(args: FleetArgs) -> Result<Task, Error> {
    Ok(match args.task {
        FleetTask::Show(args) => Task::Show(args.reports, args.into.of(FORMATS)?),
        FleetTask::Add(args) => Task::Add { reports: args.reports, db: args.db },
        FleetTask::Baseline(args) => Task::Baseline(args.reports),
        FleetTask::Check(args) => {
            // Without the flags of the caller's environment, which would change what is compared with the baseline.
            let quick = SweepArgs { quick: true, quiet: true, ..preset(&[])? };
            let quick = Box::new(sweep(quick, &Layers::default(), &mut Vec::new())?);
            let format = args.format.of(check::FORMATS)?;
            Task::Check { report: args.report, quick, baseline: args.baseline, format }
        }
    })
}
