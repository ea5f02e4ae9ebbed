//! `charz map`, and how mappings and machines are named.

use std::path::PathBuf;
use std::str::FromStr;

use charz_topology::{ALIASES, Mapping, Source, mappers};
use clap::Args;

use super::choice::nearest;
use super::format::{OutputArgs, takes_one};
use super::groups::SourceArgs;
use super::help;
use super::quantities::count;
use crate::command::Command;
use crate::exit::Error;
use crate::view::placement;

#[derive(Debug, Args)]
#[command(mut_arg("format", |arg| takes_one(arg, placement::FORMATS.iter())))]
pub(super) struct MapArgs {
    #[arg(long, visible_alias = "placement", value_name = "MAPPING", help = "The mapping; --help lists them",
        long_help = help::mappings("The mapping"))]
    pub(super) mapping: String,
    /// How many threads
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(super) threads: String,
    /// Take the CPUs nearest to this device first, and put memory there: eth0, mlx5_0, nvme0n1, gpu0 or a PCI address; charz topo lists them
    #[arg(long, value_name = "DEVICE")]
    pub(super) near: Option<String>,
    /// Let a list: name a CPU more than once, so threads share it on purpose
    #[arg(long)]
    pub(super) allow_stack: bool,
    #[command(flatten)]
    pub(super) source: SourceArgs,
    /// Place threads by the levels that core-to-core latencies show; a file as in charz topo --latencies
    #[arg(long, value_name = "FILE", conflicts_with = "topology")]
    pub(super) latencies: Option<PathBuf>,
    #[command(flatten)]
    pub(super) into: OutputArgs,
}

pub(super) fn map(args: &MapArgs) -> Result<Command, Error> {
    let mapping = Mapping::from_str(&args.mapping).map_err(not_a_mapping)?;
    refuse_stacks(std::slice::from_ref(&mapping), args.allow_stack)?;
    Ok(Command::Map {
        mapping,
        threads: count("--threads", &args.threads, MOST_MAPPED)?,
        near: args.near.clone(),
        source: Source::of(&args.source.topology),
        latencies: args.latencies.clone(),
        format: args.into.of(placement::FORMATS.iter())?,
    })
}

/// The most workers that `charz map` lays out: beyond any machine, within any memory.
pub(super) const MOST_MAPPED: usize = 1 << 20;

/// A name that resembles one of a mapper, or one of another tool's.
pub(super) fn not_a_mapping(error: charz_topology::Error) -> Error {
    let charz_topology::Error::UnknownMapping { mapping, name, .. } = &error else { return error.into() };
    let names: Vec<&str> = mappers().map(|card| card.name).chain(ALIASES.iter().map(|(alias, _)| *alias)).collect();
    let Some(near) = nearest(name, &names) else { return error.into() };
    let meant = ALIASES.iter().find(|(alias, _)| *alias == near).map(|(_, name)| format!(" ({name})"));
    Error::bad_input(format!("unknown mapping {mapping}; did you mean {near}{}?", meant.unwrap_or_default()))
}

/// That workers share a strand while others are free can be an experiment or a slip of the finger.
pub(super) fn refuse_stacks(mappings: &[Mapping], allowed: bool) -> Result<(), Error> {
    let stack = mappings.iter().find_map(|mapping| Some((mapping, mapping.repeated()?)));
    match stack {
        Some((mapping, strand)) if !allowed => Err(Error::bad_input(format!(
            "--mapping: {:?} names CPU {strand} twice; name it once, or let threads share it with --allow-stack",
            mapping.to_string()
        ))),
        _ => Ok(()),
    }
}
