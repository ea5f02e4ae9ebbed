//! `charz lockutil`.

use std::path::PathBuf;

use clap::Args;

use super::format::{OutputArgs, takes_one};
use super::quantities::{count, time};
use crate::command::lockutil::Options;
use crate::exit::Error;
use crate::view::lockutil::FORMATS;

/// The most CPUs of a machine.
const MOST_CPUS: usize = 1 << 20;

#[derive(Debug, Args)]
#[command(mut_arg("format", |arg| takes_one(arg, FORMATS)))]
pub(super) struct LockutilArgs {
    /// What lockstat or perf lock contention printed, /proc/lock_stat, or a report of charz; - is standard input
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
    /// The CPUs of the machine that it is from; of a report they are known
    #[arg(long, short = 'n', value_name = "N", visible_alias = "ncpu")]
    pub(super) cpus: Option<String>,
    /// How long it watched, for perf and /proc/lock_stat, which do not tell; example: 30s
    #[arg(long, value_name = "TIME")]
    pub(super) elapsed: Option<String>,
    #[command(flatten)]
    pub(super) into: OutputArgs,
}

pub(super) fn lockutil(args: LockutilArgs) -> Result<Options, Error> {
    let elapsed = args.elapsed.map(|text| time("--elapsed", &text, "--elapsed 30s")).transpose()?;
    if elapsed.is_some_and(|elapsed| elapsed.is_zero()) {
        return Err(Error::bad_input("--elapsed: no time has passed; example: --elapsed 30s"));
    }
    Ok(Options {
        file: args.file,
        cpus: args.cpus.map(|text| count("--cpus", &text, MOST_CPUS)).transpose()?,
        elapsed_s: elapsed.map(|elapsed| elapsed.as_secs_f64()),
        format: args.into.of(FORMATS)?,
    })
}
