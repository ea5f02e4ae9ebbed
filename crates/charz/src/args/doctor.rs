//! `charz doctor`.

use clap::Args;

use super::format::{OutputArgs, takes_one};
use crate::command::doctor::Options;
use crate::exit::Error;
use crate::view::doctor::FORMATS;

#[derive(Debug, Args)]
#[command(mut_arg("format", |arg| takes_one(arg, FORMATS)))]
pub(super) struct DoctorArgs {
    /// List every check, with what it does to which numbers
    #[arg(short, long)]
    pub(super) verbose: bool,
    /// End with code 1 if there is anything to FIX
    #[arg(long)]
    pub(super) strict: bool,
    /// Do not watch the machine for a second: load and pressure are those of the system's averages, the timer is not checked
    #[arg(long)]
    pub(super) no_wait: bool,
    #[command(flatten)]
    pub(super) into: OutputArgs,
}

pub(super) fn doctor(args: DoctorArgs) -> Result<Options, Error> {
    Ok(Options { format: args.into.of(FORMATS)?, verbose: args.verbose, strict: args.strict, watch: !args.no_wait })
}
