//! `charz config`.

use clap::{Args, Subcommand};

use super::format::takes_one;
use super::layers::Layers;
use super::sweep::{SweepArgs, sweep};
use crate::command::Command;
use crate::exit::Error;
use crate::view::config::{FORMATS, Setting};

#[derive(Debug, Args)]
pub(super) struct ConfigArgs {
    #[command(subcommand)]
    pub(super) task: ConfigTask,
}

#[derive(Debug, Subcommand)]
pub(super) enum ConfigTask {
    /// Show the effective settings of a sweep, and where each comes from
    ///
    /// Takes the flags of charz sweep, and reads the environment and the file of `--config` as it does. A value comes from a flag, from a
    /// variable, from a line of the file, or is the default. Nothing is measured.
    #[command(after_help = "Examples:\n  charz config show\n  charz config show --config sweep.toml --format json")]
    #[command(mut_arg("format", |arg| takes_one(arg, FORMATS)))]
    Show(Box<SweepArgs>),
}

pub(super) fn config(
    args: ConfigArgs,
    layers: &Layers,
    settings: Vec<Setting>,
    notes: &mut Vec<String>,
) -> Result<Command, Error> {
    let ConfigTask::Show(args) = args.task;
    let format = args.format.of(FORMATS)?;
    // What a sweep would refuse is refused here.
    sweep(*args, layers, notes)?;
    Ok(Command::Config { settings, format })
}
