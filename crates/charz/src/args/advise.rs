//! `charz advise`.

use std::path::PathBuf;

use charz_topology::Source;
use clap::{ArgGroup, Args};

use super::format::{OutputArgs, takes_one};
use super::layers::Layers;
use super::named;
use super::program::TrustArgs;
use super::sweep::{preset, sweep};
use crate::command::advise::{Asked, Load, Options};
use crate::exit::Error;
use crate::permit::Consent;
use charz_render::advise::{FORMATS, TABLE};

#[derive(Debug, Args)]
#[command(
    group(ArgGroup::new("again").args(["validate", "beside"])),
    mut_arg("format", |arg| takes_one(arg, FORMATS)),
    mut_arg("trust_program", |arg| arg.requires("again"))
)]
pub(crate) struct AdviseArgs {
    /// The report of a sweep, as for charz render (-, last)
    #[arg(value_name = "REPORT")]
    pub(crate) report: PathBuf,
    /// Measure the advised and three other placements of each load again, in turns, and check the prediction
    ///
    /// The program of the report is started if this user began the report on this host, and no other user can change the file. For any other
    /// report, type --command (and --setup) as in the report, or --trust-program.
    #[arg(long)]
    pub(crate) validate: bool,
    /// Measure the same placements while another load runs, and advise by what each delivers there: hog[:THREADS], stream[:nodeN][:THREADS], or a
    /// command
    ///
    /// hog computes; stream reads memory, that of a NUMA node if one is named; a command is started again whenever it ends. No thread of the load
    /// is bound. The table has the share of its own work that the load keeps while each placement runs.
    #[arg(long, value_name = "LOAD")]
    pub(crate) beside: Option<String>,
    /// Advise on the CPUs nearest to this device, with its memory: eth0, mlx5_0, nvme0n1, gpu0 or a PCI address
    ///
    /// Placements that were measured on CPUs local to the device count; if there are none, as many threads as were measured elsewhere are
    /// put there. Reports since this version have the devices of their machine, unless they are anonymous; for others this machine is
    /// read if the report is of it.
    #[arg(long, value_name = "DEVICE", conflicts_with = "again")]
    pub(crate) near: Option<String>,
    /// The machine of the report, with its devices, as a file of hwloc XML
    #[arg(long, value_name = "SOURCE", requires = "near")]
    pub(crate) topology: Option<String>,
    /// The longest that --validate or --beside may take, with a unit [default: 60s]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, requires = "again")]
    pub(crate) budget: Option<String>,
    /// The program of the report, typed again: it is then started, also if another user wrote the report
    #[arg(long, value_name = "COMMAND", requires = "again")]
    pub(crate) command: Option<String>,
    /// The set-up of that program, typed again
    #[arg(long, value_name = "COMMAND", requires = "command")]
    pub(crate) setup: Option<String>,
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
    /// Wait for another charz that is measuring on this machine, instead of refusing
    #[arg(long, requires = "again")]
    pub(crate) wait: bool,
    /// Print what every other placement loses, and the line of every tool; the same as --format table
    #[arg(short, long, conflicts_with_all = ["format", "json"])]
    pub(crate) verbose: bool,
    #[command(flatten)]
    pub(crate) into: OutputArgs,
}

const USUAL_BUDGET: &str = "60s";

pub(super) fn advise(args: AdviseArgs, notes: &mut Vec<String>) -> Result<Options, Error> {
    let again = (args.validate || args.beside.is_some()).then(|| {
        let mut asked = preset(&[("budget", args.budget.as_deref().unwrap_or(USUAL_BUDGET))])?;
        asked.run.bench.wait = args.wait;
        sweep(asked, &Layers::default(), notes)
    });
    Ok(Options {
        consent: Consent { trusted: args.trust.trust_program, command: args.command, setup: args.setup },
        again: again.transpose()?.map(Box::new),
        near: args.near.map(|device| Asked { device, topology: args.topology.as_deref().map(Source::of) }),
        beside: args.beside.map(|load| Load::read(&load)).transpose()?,
        report: named::report(args.report, notes)?,
        format: match args.verbose {
            true => TABLE,
            false => args.into.of(FORMATS)?,
        },
    })
}
