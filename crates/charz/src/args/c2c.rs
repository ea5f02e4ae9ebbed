//! `charz c2c`: its flags, and the sweep that it makes.

use clap::Args;

use super::choice::choice;
use super::format::{FormatArgs, takes};
use super::groups::{RunArgs, budget};
use super::kernels::in_roles;
use super::layers::Layers;
use super::sweep::{SweepArgs, preset, sweep};
use crate::command::c2c::Options;
use crate::exit::Error;
use charz_data::card::LineOperation;
use charz_data::{Role, cpulist};
use charz_render::formats::MEASURED;

#[derive(Debug, Args)]
#[command(mut_arg("budget", |arg| budget(arg, "5m")))]
#[command(mut_arg("format", |arg| takes(arg, MEASURED.map(|f| (f.name, "")).into())))]
pub(crate) struct C2cArgs {
    /// How the line is handed over: read-write, cas, fetch-add, exchange; several separated by commas
    #[arg(long, value_name = "M,…", value_delimiter = ',', default_value = "cas")]
    pub(crate) mode: Vec<String>,
    /// Only pairs of these CPUs, e.g. 0-3,8 [default: all that are usable]
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    pub(crate) cpus: Option<String>,
    /// NUMA node of the line, e.g. a third one, for both ways of a pair [default: the node of its first CPU]
    #[arg(long, value_name = "NODE")]
    pub(crate) home: Option<u32>,
    /// Plan every pair, however many there are; the budget still ends it
    #[arg(long)]
    pub(crate) all_pairs: bool,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

/// Repetitions in each invocation: they are short, so few of them are interrupted.
const PAIR_ITERATIONS: &str = "5";

pub(super) fn c2c(args: C2cArgs, layers: &Layers, notes: &mut Vec<String>) -> Result<Options, Error> {
    let modes = LineOperation::ALL.map(|operation| (operation.name(), Role::LineTransfer(operation)));
    let role = |mode: &String| choice("--mode", mode, modes.clone());
    let roles = args.mode.iter().map(role).collect::<Result<Vec<_>, Error>>()?;
    let strands = args.cpus.as_deref().map(|text| {
        cpulist::parse(text).map_err(|what| Error::bad_input(format!("--cpus: {what}; example: --cpus 0-3,8")))
    });
    let home = args.home.map(|node| format!("node:{node}"));
    // As many iterations as it takes turns out when the machine is known, as the pairs do.
    let kernels = in_roles(&roles);
    let mut own = vec![("kernel", &*kernels), ("threads", "2"), ("iterations", PAIR_ITERATIONS)];
    own.extend(home.iter().map(|home| ("memory", home.as_str())));
    Ok(Options {
        new: sweep(SweepArgs { run: args.run, format: args.format.clone(), ..preset(&own)? }, layers, notes)?,
        strands: strands.transpose()?,
        all_pairs: args.all_pairs,
        format: args.format.of_a_sweep(MEASURED)?,
    })
}
