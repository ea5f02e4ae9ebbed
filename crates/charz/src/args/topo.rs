//! `charz topo`: its flags, and the sweep of `--measured`.

use std::path::PathBuf;

use charz_topology::Source;
use clap::Args;

use super::format::{FormatArgs, takes};
use super::groups::SourceArgs;
use super::kernels::in_roles;
use super::layers::Layers;
use super::named;
use super::sweep::{preset, sweep};
use crate::command::topo;
use crate::exit::Error;
use crate::view::{sizes as sizes_page, topo as topo_page};
use charz_data::Role;
use charz_data::card::{Access, Chase};
use charz_render::formats::CSV;
use charz_render::report::CARD;

#[derive(Debug, Args)]
#[command(mut_arg("format", |arg| takes(arg, topo_formats().collect()).help(topo_help())))]
pub(crate) struct TopoArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Show what was measured beside what is claimed: by this report (- is standard input, last the newest one in this folder), or
    /// measure now
    #[arg(long, value_name = "REPORT", num_args = 0..=1)]
    pub(crate) measured: Option<Option<PathBuf>>,
    /// Infer the levels from core-to-core latencies: a square or a triangle of numbers, or a report or table of charz c2c
    ///
    /// Rows and columns are CPUs, with or without their ids; separators are commas, tabs, semicolons, bars or blanks, and what is empty, NaN
    /// or - is not known. Levels are from the innermost, with their groups of CPUs and a confidence; what the numbers do not decide is
    /// listed as undecided. No topology is needed. If --topology names one, or the file is a report, the levels have its names, and
    /// contradictions are listed. --format xml writes a machine that --topology reads.
    #[arg(long, value_name = "FILE", conflicts_with = "measured")]
    pub(crate) latencies: Option<PathBuf>,
    /// Compare the caches of --topology with latencies by size: a table of sizes and nanoseconds per load
    ///
    /// Columns are size (bytes, or with a unit), size_kib or size_mib, and latency_ns; without a heading the first two. Each cache gets the two
    /// sizes between which it ends, and its claimed size is contradicted if a block of at most three quarters of it takes longer
    /// than halfway, by the ratio, from the cache's latency to that of memory.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["measured", "latencies"])]
    pub(crate) latency_by_size: Option<PathBuf>,
    /// The longest that measuring may take, with a unit, e.g. 90s, 10m [default: 1m]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, requires = "measured")]
    pub(crate) budget: Option<String>,
    /// Write to FILE, whose ending sets the format; of --measured that measures, the new report's [default: charz-{host}-{date}.json in this folder]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace an existing report, where --measured measures; what is no report is replaced anyway
    #[arg(long, requires = "measured")]
    pub(crate) force: bool,
    /// Wait for another charz that is measuring on this machine, instead of refusing
    #[arg(long, requires = "measured")]
    pub(crate) wait: bool,
    /// Add a line per mode of the machine: sub-NUMA nodes, chiplets, confidential guest, core scheduling, cpuset partition, isolated CPUs
    #[arg(short, long, conflicts_with_all = ["format", "json", "measured", "output"])]
    pub(crate) verbose: bool,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

fn topo_formats() -> impl Iterator<Item = (&'static str, &'static str)> {
    topo_page::FORMATS.iter().map(|format| (format.name, format.about)).chain([topo_page::XML, topo_page::PNG])
}

fn topo_help() -> String {
    format!(
        "Output format: {} [default: {}]; with --measured: table, csv, json, xml [default: table]",
        topo_formats().map(|(name, _)| name).collect::<Vec<_>>().join(", "),
        topo_page::FORMATS[0].name
    )
}

/// What is measured for a card: the curve of latencies, and the bandwidths of each level.
const CARD_ROLES: [Role; 4] = [
    Role::Latency(Chase::Random),
    Role::LevelBandwidth(Access::Read),
    Role::LevelBandwidth(Access::Write),
    Role::LevelBandwidth(Access::Copy),
];

/// Invocations of each of its cells: there are many, and a minute for all.
const CARD_RUNS: &str = "2-6";

/// Repetitions in each, and how long they last: on a busy machine few of those that are short are interrupted, and the best of many
/// counts.
const CARD_ITERATIONS: &str = "10";
const CARD_SPAN: &str = "3ms";

pub(super) fn topo(args: TopoArgs, layers: &Layers, notes: &mut Vec<String>) -> Result<topo::Options, Error> {
    let source = Source::of(&args.source.topology);
    if let Some(latencies) = args.latencies {
        let levels = |shown| topo::Options::Levels { latencies: latencies.clone(), claim: source.clone(), shown };
        let texts = topo_page::FORMATS.iter().map(|format| (format.name, levels(topo::Shown::Text(format))));
        let others = [(topo_page::XML.0, levels(topo::Shown::Xml)), (topo_page::PNG.0, levels(topo::Shown::Png))];
        return args.format.choose(args.output.as_deref(), texts.chain(others));
    }
    if let Some(table) = args.latency_by_size {
        let sizes = |format| topo::Options::Sizes { table: table.clone(), claim: source.clone(), format };
        let formats = sizes_page::FORMATS.iter().map(|format| (format.name, sizes(format)));
        return args.format.choose(args.output.as_deref(), formats);
    }
    let Some(measured) = args.measured else {
        if args.verbose {
            return Ok(topo::Options::Said { source, format: &topo_page::VERBOSE });
        }
        let said = |format: &'static topo_page::Format| topo::Options::Said { source: source.clone(), format };
        let others = [
            (topo_page::XML.0, topo::Options::Xml { source: source.clone(), measured: None }),
            (topo_page::PNG.0, topo::Options::Png { source: source.clone() }),
        ];
        return args.format.choose(
            args.output.as_deref(),
            topo_page::FORMATS.iter().map(|format| (format.name, said(format))).chain(others),
        );
    };
    let measured = measured.map(|report| named::report(report, notes)).transpose()?;
    let formats = [CARD, CSV, topo::JSON, topo::XML].map(|format| (format.name, format));
    let format = args.format.choose(args.output.as_deref().filter(|_| measured.is_some()), formats)?;
    let is_new = args.budget.is_some() || args.force || args.wait;
    match measured {
        Some(_) if is_new => Err(Error::bad_input(
            "--budget, --force and --wait are for measuring; leave them out, or name no report after --measured",
        )),
        Some(measured) if format.name == topo::XML.name => Ok(topo::Options::Xml { source, measured: Some(measured) }),
        _ if source != Source::ThisMachine => Err(Error::bad_input(
            "--topology: a card is of the machine that was measured; beside --measured REPORT it is for --format xml only",
        )),
        Some(measured) => Ok(topo::Options::Card { measured, format }),
        None => {
            let mut asked = preset(&[
                ("kernel", &in_roles(&CARD_ROLES)),
                ("runs", CARD_RUNS),
                ("iterations", CARD_ITERATIONS),
                ("span", CARD_SPAN),
                ("budget", args.budget.as_deref().unwrap_or("1m")),
            ])?;
            (asked.run.output, asked.run.force, asked.run.bench.wait) = (args.output, args.force, args.wait);
            Ok(topo::Options::Measure { new: Box::new(sweep(asked, layers, notes)?), format })
        }
    }
}
