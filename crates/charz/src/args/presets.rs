//! Commands that make a sweep of their own, of which their users name only a part: `charz c2c`, `charz numa`, `charz topo --measured`.

use std::path::PathBuf;

use charz_topology::Source;
use clap::{Arg, Args, Command, FromArgMatches};

use super::convert::{choice, source, sweep};
use super::flags::{RunArgs, SourceArgs, SweepArgs};
use super::format::{FormatArgs, takes};
use super::layers::Layers;
use super::named;
use super::{help, refusal};
use crate::command::{c2c, numa, topo};
use crate::exit::Error;
use crate::view::topo as topo_page;
use charz_data::card::{Access, Chase, LineOperation};
use charz_data::{Role, cpulist};
use charz_measure::plan::AskedSizes;
use charz_render::formats::{CSV, JSON, MEASURED};
use charz_render::report::CARD;

/// A sweep of a command's own: these flags of `charz sweep`, by names and values, and its defaults.
pub(super) fn preset(flags: &[(&str, &str)]) -> Result<SweepArgs, Error> {
    let words = flags.iter().map(|(flag, value)| format!("--{flag}={value}"));
    let grammar = SweepArgs::augment_args(Command::new("sweep").no_binary_name(true));
    let matches = grammar.try_get_matches_from(words);
    matches.and_then(|matches| SweepArgs::from_arg_matches(&matches)).map_err(refusal)
}

/// The first kernel in each of these roles, as `--kernel` takes them.
fn kernels(roles: &[Role]) -> String {
    let card = |role: &Role| charz_workloads::kernels().map(|kernel| kernel.card()).find(|card| card.role == *role);
    roles.iter().filter_map(card).map(|card| &*card.name).collect::<Vec<_>>().join(",")
}

/// For `--budget` of commands whose sweep is of few cells.
pub(super) fn budget(arg: Arg, time: &'static str) -> Arg {
    arg.default_value(time).help(help::SHORT_BUDGET).long_help(help::SHORT_BUDGET)
}

#[derive(Debug, Args)]
#[command(mut_arg("budget", |arg| budget(arg, "5m")))]
#[command(mut_arg("format", |arg| takes(arg, MEASURED.map(|f| (f.name, "")).into())))]
pub(crate) struct C2cArgs {
    /// How the line is handed over: read-write, cas, fetch-add, exchange; several separated by commas
    #[arg(long, value_name = "M,…", value_delimiter = ',', default_value = "cas")]
    pub(crate) mode: Vec<String>,
    /// Only pairs of these strands, e.g. 0-3,8 [default: all that are usable]
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    pub(crate) strands: Option<String>,
    /// Plan every pair, however many there are; the budget still ends it
    #[arg(long)]
    pub(crate) all_pairs: bool,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

/// Repetitions in each invocation: they are short, so few of them are interrupted.
const PAIR_REPETITIONS: &str = "5";

pub(super) fn c2c(args: C2cArgs, layers: &Layers, notes: &mut Vec<String>) -> Result<c2c::Options, Error> {
    let modes = LineOperation::ALL.map(|operation| (operation.name(), Role::LineTransfer(operation)));
    let role = |mode: &String| choice("--mode", mode, modes.clone());
    let roles = args.mode.iter().map(role).collect::<Result<Vec<_>, Error>>()?;
    let strands = args.strands.as_deref().map(|text| {
        cpulist::parse(text).map_err(|what| Error::bad_input(format!("--strands: {what}; example: --strands 0-3,8")))
    });
    // As many iterations as it takes turns out when the machine is known, as the pairs do.
    let own = [("kernel", &*kernels(&roles)), ("threads", "2"), ("repetitions", PAIR_REPETITIONS)];
    Ok(c2c::Options {
        new: sweep(SweepArgs { run: args.run, ..preset(&own)? }, layers, notes)?,
        strands: strands.transpose()?,
        all_pairs: args.all_pairs,
        format: args.format.of(MEASURED)?,
    })
}

#[derive(Debug, Args)]
#[command(mut_arg("format", |arg| takes(arg, topo_formats().collect()).help(topo_help())))]
pub(crate) struct TopoArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Show what was measured beside what is claimed: by this report (- is standard input, last the newest one in this folder), or
    /// measure now
    #[arg(long, value_name = "REPORT", num_args = 0..=1)]
    pub(crate) measured: Option<Option<PathBuf>>,
    /// The longest that measuring may take, with a unit, e.g. 90s, 10m [default: 1m]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, requires = "measured")]
    pub(crate) budget: Option<String>,
    /// The file of the new report, or - for standard output [default: charz-{host}-{date}.json in this folder]
    #[arg(long, short, value_name = "FILE", requires = "measured")]
    pub(crate) output: Option<PathBuf>,
    /// Replace an existing output file
    #[arg(long, requires = "measured")]
    pub(crate) force: bool,
    /// Wait for another charz that is measuring on this machine, instead of refusing
    #[arg(long, requires = "measured")]
    pub(crate) wait: bool,
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

#[derive(Debug, Args)]
#[command(mut_arg("budget", |arg| budget(arg, "5m")))]
#[command(mut_arg("format", |arg| takes(arg, MEASURED.map(|f| (f.name, "")).into())))]
pub(crate) struct NumaArgs {
    /// Size of a worker's block, past all caches
    #[arg(long, value_name = "SIZE", default_value = "256MiB", allow_hyphen_values = true)]
    pub(crate) size: String,
    /// Pages of the blocks: 4k, thp (transparent huge pages), 2m or 1g (reserved)
    #[arg(long, value_name = "KIND", default_value = "thp")]
    pub(crate) pages: String,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

pub(super) fn numa(args: NumaArgs, layers: &Layers, notes: &mut Vec<String>) -> Result<numa::Options, Error> {
    const ROLES: [Role; 2] = [Role::Latency(Chase::Random), Role::MemoryBandwidth(Access::Read)];
    let own = [("kernel", &*kernels(&ROLES)), ("pages", &args.pages), ("size", &args.size)];
    let new = sweep(SweepArgs { run: args.run, ..preset(&own)? }, layers, notes)?;
    match &new.request.asked.sizes {
        Some(AskedSizes::List(list)) if list.len() == 1 => {}
        _ => return Err(Error::bad_input("--size: name one size; example: --size 256MiB")),
    }
    Ok(numa::Options { new, format: args.format.of(MEASURED)? })
}

/// What is measured for a card: the curve of latencies, and the bandwidths of each level.
const CARD_ROLES: [Role; 4] = [
    Role::Latency(Chase::Random),
    Role::LevelBandwidth(Access::Read),
    Role::LevelBandwidth(Access::Write),
    Role::LevelBandwidth(Access::Copy),
];

/// Invocations of each of its cells: there are many, and a minute for all.
const CARD_INVOCATIONS: &str = "2-6";

/// Repetitions in each, and how long they last: on a busy machine few of those that are short are interrupted, and the best of many
/// counts.
const CARD_REPETITIONS: &str = "10";
const CARD_SPAN: &str = "3ms";

pub(super) fn topo(args: TopoArgs, layers: &Layers, notes: &mut Vec<String>) -> Result<topo::Options, Error> {
    let source = source(&args.source.topology);
    let Some(measured) = args.measured else {
        let said = |format: &'static topo_page::Format| topo::Options::Said { source: source.clone(), format };
        let others = [
            (topo_page::XML.0, topo::Options::Xml { source: source.clone(), measured: None }),
            (topo_page::PNG.0, topo::Options::Png { source: source.clone() }),
        ];
        return args.format.choose(topo_page::FORMATS.iter().map(|format| (format.name, said(format))).chain(others));
    };
    let measured = measured.map(|report| named::report(report, notes)).transpose()?;
    let formats = [CARD, CSV, JSON, topo::XML].map(|format| (format.name, format));
    let format = args.format.choose(formats)?;
    let is_new = args.budget.is_some() || args.output.is_some() || args.force || args.wait;
    match measured {
        Some(_) if is_new => Err(Error::bad_input(
            "--budget, --output, --force and --wait are for measuring; leave them out, or name no report after --measured",
        )),
        Some(measured) if format.name == topo::XML.name => Ok(topo::Options::Xml { source, measured: Some(measured) }),
        _ if source != Source::ThisMachine => Err(Error::bad_input(
            "--topology: a card is of the machine that was measured; beside --measured REPORT it is for --format xml only",
        )),
        Some(measured) => Ok(topo::Options::Card { measured, format }),
        None => {
            let mut asked = preset(&[
                ("kernel", &kernels(&CARD_ROLES)),
                ("invocations", CARD_INVOCATIONS),
                ("repetitions", CARD_REPETITIONS),
                ("span", CARD_SPAN),
                ("budget", args.budget.as_deref().unwrap_or("1m")),
            ])?;
            (asked.run.output, asked.run.force, asked.run.bench.wait) = (args.output, args.force, args.wait);
            Ok(topo::Options::Measure { new: Box::new(sweep(asked, layers, notes)?), format })
        }
    }
}
