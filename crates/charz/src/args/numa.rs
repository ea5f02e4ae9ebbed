//! `charz numa`: its flags, and the sweep that it makes.

use std::path::PathBuf;

use clap::Args;

use super::format::{FormatArgs, takes};
use super::groups::{RunArgs, budget};
use super::kernels::in_roles;
use super::layers::Layers;
use super::parameters::AUTO;
use super::sweep::{SweepArgs, preset, sweep};
use crate::command::numa::Options;
use crate::exit::Error;
use charz_data::Role;
use charz_data::card::{Access, Chase};
use charz_measure::plan::AskedSizes;
use charz_render::formats::{CSV, MEASURED};

/// Options of a sweep and of its report: reads of a disk are neither.
const NOT_OF_A_DISK: [&str; 13] = [
    "seed",
    "size",
    "pages",
    "runs",
    "precision",
    "budget",
    "output",
    "force",
    "anonymous",
    "label",
    "wait_quiet",
    "dry_run",
    "strict",
];

#[derive(Debug, Args)]
#[command(mut_arg("budget", |arg| budget(arg, "5m")))]
#[command(mut_arg("format", |arg| takes(arg, MEASURED.map(|f| (f.name, "")).into())))]
pub(crate) struct NumaArgs {
    /// Size of a thread's block: auto, or a value such as 256MiB
    ///
    /// auto is past all caches, as for charz sweep.
    #[arg(long, value_name = "SIZE", default_value = "auto", allow_hyphen_values = true)]
    pub(crate) size: String,
    /// Pages of the blocks: auto, 4k (base pages), thp (transparent huge pages), 2m or 1g (reserved)
    ///
    /// auto is thp, or 4k where the system has no transparent huge pages.
    #[arg(long, value_name = "KIND", default_value = AUTO)]
    pub(crate) pages: String,
    /// Time reads of a file's disk from each node, not memory: 4 KiB each, past the page cache
    ///
    /// The file has 16 MiB or more. It is only read, for 2.3 seconds from each node.
    #[arg(long, value_name = "FILE", conflicts_with_all = NOT_OF_A_DISK)]
    pub(crate) disk: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

pub(super) fn numa(args: NumaArgs, layers: &Layers, notes: &mut Vec<String>) -> Result<Options, Error> {
    const ROLES: [Role; 2] = [Role::Latency(Chase::Random), Role::MemoryBandwidth(Access::Read)];
    let is_auto = args.pages == AUTO;
    let pages = if is_auto { "thp" } else { &args.pages };
    let own = [("kernel", &*in_roles(&ROLES)), ("pages", pages), ("size", &args.size)];
    let mut new = sweep(SweepArgs { run: args.run, format: args.format.clone(), ..preset(&own)? }, layers, notes)?;
    new.request.asked.fitting_pages = is_auto;
    match &new.request.asked.sizes {
        None => {}
        Some(AskedSizes::List(list)) if list.len() == 1 => {}
        _ => return Err(Error::bad_input("--size: name one size; example: --size 256MiB")),
    }
    let format = args.format.of_a_sweep(MEASURED)?;
    if args.disk.is_some() && format.name == CSV.name {
        return Err(Error::bad_input("--format csv: reads of a disk have none; choose from table, json"));
    }
    Ok(Options { disk: args.disk, new, format })
}
