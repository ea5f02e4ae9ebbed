//! The flags of `charz audit`.

use std::path::PathBuf;

use clap::Args;

use super::format::{OutputArgs, takes_one};
use super::quantities::budget;
use crate::command::audit;
use crate::exit::Error;
use crate::view::audit::FORMATS;

/// What `charz audit --help` begins with.
pub(super) const ABOUT: &str = "Measure which CPUs share cores, caches and memory, and check the system's topology

Each relation is confirmed, contradicted or inconclusive, with its figures. Loops that are bound by a core's units run on random halves of \
all CPUs and on pairs; lines are handed from core to core, and memory of each node is read. A contradiction has to be seen twice; noise makes a \
relation inconclusive. ^C prints what is known so far. Ends with code 1 if anything is contradicted.

--write FILE.xml keeps the machine as measured, with its ALU groups: charz map --topology FILE.xml places threads by it, and lstopo draws it.";

#[derive(Debug, Args)]
#[command(mut_arg("format", |arg| takes_one(arg, FORMATS)))]
pub(super) struct AuditArgs {
    /// Longest duration, e.g. 90s, 10m [default: 1m, with more than 64 CPUs 5m]; relations not measured in time are inconclusive
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    budget: Option<String>,
    /// Write the machine as measured to a file of hwloc XML
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
    /// Replace an existing file of --write
    #[arg(long, requires = "write")]
    force: bool,
    /// Random seed of the rounds [default: random]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    seed: Option<String>,
    /// Wait for another charz that is measuring on this machine, instead of refusing
    #[arg(long)]
    wait: bool,
    /// Print every relation, not only those that are contradicted or inconclusive
    #[arg(short, long)]
    verbose: bool,
    #[command(flatten)]
    pub(super) into: OutputArgs,
}

pub(super) fn audit(args: AuditArgs) -> Result<audit::Options, Error> {
    let seed = args.seed.as_deref().map(|text| super::sweep::seed("--seed", text));
    Ok(audit::Options {
        budget: args.budget.as_deref().map(budget).transpose()?,
        write: args.write,
        force: args.force,
        seed: seed.transpose()?,
        wait: args.wait,
        verbose: args.verbose,
        format: args.into.of(FORMATS)?,
    })
}
