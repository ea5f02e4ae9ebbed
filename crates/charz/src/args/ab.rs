//! `charz ab` and `charz selftest`: their flags, and the sweeps that they make.

use std::path::PathBuf;

use clap::{Args, CommandFactory, FromArgMatches, Parser};

use super::convert::sweep;
use super::flags::{BenchArgs, HowArgs, SweepArgs, WhatArgs};
use super::format::{FormatArgs, takes_one};
use super::layers::Layers;
use super::presets::preset;
use super::program::ProgramArgs;
use super::quantities::{count, percentage};
use super::{help, refusal};
use crate::command::compare::Terms;
use crate::command::{ab, selftest};
use crate::exit::Error;
use charz_analysis::compare::{Options as Rules, Quantity};
use charz_measure::plan::{MOST_INVOCATIONS, Request};
use charz_render::compare::FORMATS;

#[derive(Debug, Args)]
pub(crate) struct AbArgs {
    /// Flags of side A: --mapping, --size, --pages, --layout, --allow-stack, --command and those beside it
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true, default_value = "", hide_default_value = true)]
    pub(crate) a: String,
    /// Flags of side B
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true, default_value = "", hide_default_value = true)]
    pub(crate) b: String,
    /// The build of charz that measures side A [default: this one]
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) a_program: Option<PathBuf>,
    /// The build of charz that measures side B [default: this one]
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) b_program: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) what: WhatArgs,
    #[command(flatten)]
    pub(crate) program: ProgramArgs,
    #[command(flatten)]
    pub(crate) how: HowArgs,
    #[command(flatten)]
    pub(crate) bench: BenchArgs,
    /// Invocations of each side of a pair; below five there is no verdict
    #[arg(long, value_name = "N", default_value = "10", allow_hyphen_values = true)]
    pub(crate) invocations: String,
    /// The longest that it may take, with a unit, e.g. 90s, 10m
    #[arg(long, value_name = "TIME", default_value = "2m", allow_hyphen_values = true)]
    pub(crate) budget: String,
    /// Keep the two reports as NAME.a.json and NAME.b.json [default: keep nothing]
    #[arg(long, short, value_name = "NAME")]
    pub(crate) output: Option<PathBuf>,
    /// Replace existing output files
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) terms: TermsArgs,
}

// What makes a difference of two reports a verdict, and how it is shown.
#[derive(Debug, Args)]
#[command(mut_arg("format", |arg| takes_one(arg, FORMATS)))]
pub(crate) struct TermsArgs {
    /// End with code 5 unless every cell has a verdict
    #[arg(long)]
    pub(crate) strict: bool,
    #[command(flatten)]
    pub(crate) floor: FloorArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

#[derive(Debug, Args)]
pub(crate) struct FloorArgs {
    /// Compare what the machine delivered, all work over all time, instead of capacity, which leaves out what others took
    #[arg(long)]
    pub(crate) delivered: bool,
    /// Also compare cells that are suspect for a reason that makes the comparison unsafe; every such line says so
    #[arg(long)]
    pub(crate) allow_suspect: bool,
    /// The file of noise floors [default: charz/noise.json in $XDG_STATE_HOME or ~/.local/state]
    #[arg(long, value_name = "FILE")]
    pub(crate) noise: Option<PathBuf>,
}

impl FloorArgs {
    fn rules(&self) -> Rules {
        let quantity = if self.delivered { Quantity::Delivered } else { Quantity::Capacity };
        Rules { quantity, allow_suspect: self.allow_suspect, ..Rules::default() }
    }
}

#[derive(Debug, Args)]
#[command(mut_arg("format", |arg| takes_one(arg, selftest::FORMATS)))]
pub(crate) struct SelftestArgs {
    /// Measure equal sides against each other
    #[arg(long, required = true)]
    pub(crate) aa: bool,
    /// How many comparisons of equal sides; the noise floor needs 20
    #[arg(long, value_name = "N", default_value = "20", allow_hyphen_values = true)]
    pub(crate) rounds: String,
    /// The slowdown to inject, in percent, in as many further comparisons
    #[arg(long, value_name = "P%", allow_hyphen_values = true)]
    pub(crate) planted: Option<String>,
    #[arg(long, value_name = "K,…", value_delimiter = ',', default_value = "arith-int", help = help::kernels())]
    pub(crate) kernel: Vec<String>,
    /// How many workers, on seats by round-robin
    #[arg(long, value_name = "N", default_value = "1", allow_hyphen_values = true)]
    pub(crate) threads: String,
    /// Size of a worker's private block in memory kernels, a multiple of 64 bytes
    #[arg(long, default_value = "256MiB", allow_hyphen_values = true)]
    pub(crate) size: String,
    /// Invocations of each side of a comparison
    #[arg(long, value_name = "N", default_value = "10", allow_hyphen_values = true)]
    pub(crate) invocations: String,
    /// The longest that it may take, with a unit
    #[arg(long, value_name = "TIME", default_value = "10m", allow_hyphen_values = true)]
    pub(crate) budget: String,
    /// Draw all orders from this number [default: another one each time]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) seed: Option<String>,
    /// Wait for another charz that is measuring on this machine, instead of refusing
    #[arg(long)]
    pub(crate) wait: bool,
    #[command(flatten)]
    pub(crate) floor: FloorArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

// In `--a` and `--b`. No doc comment: clap would take it for a description.
#[derive(Debug, Parser)]
#[command(name = "side", no_binary_name = true, disable_help_flag = true)]
pub(crate) struct SideFlags {
    #[command(flatten)]
    pub(crate) how: HowArgs,
    #[command(flatten)]
    pub(crate) program: ProgramArgs,
}

const MOST_ROUNDS: usize = 100_000;

pub(super) fn ab(args: AbArgs, notes: &mut Vec<String>) -> Result<ab::Options, Error> {
    let invocations = count("--invocations", &args.invocations, MOST_INVOCATIONS)?.to_string();
    let mut side = |flag: &str, text: &str, program: Option<PathBuf>| {
        let SideFlags { how, program: measured } =
            side_flags(text, &args.how).map_err(|error| error.read_from(flag))?;
        let measured = measured.or(&args.program);
        let mut asked =
            SweepArgs { what: args.what.clone(), program: measured, how, ..preset(&[("budget", &args.budget)])? };
        (asked.run.invocations, asked.run.bench) = (invocations.clone(), args.bench.clone());
        let mut added = Vec::new();
        let new = sweep(asked, &Layers::default(), &mut added).map_err(|error| error.read_from(flag))?;
        added.retain(|note| !notes.contains(note));
        notes.extend(added);
        let by = program.as_ref().map(|program| format!(", measured by {program:?}")).unwrap_or_default();
        let label = format!("{flag} {:?}{by}", text.trim());
        Ok::<_, Error>((ab::Side { label, request: new.request, program }, new.clock, new.binder))
    };
    let (a, clock, binder) = side("--a", &args.a, args.a_program)?;
    let (b, ..) = side("--b", &args.b, args.b_program)?;
    let [of_a, of_b] = [&a, &b].map(
        |ab::Side { request: Request { mappings, asked, params, program: measured, .. }, program, .. }| {
            (program, mappings, asked, params, measured)
        },
    );
    if of_a == of_b {
        return Err(Error::bad_input(
            "--a and --b: the sides do not differ; example: --a '--pages 4k' --b '--pages thp'; charz selftest --aa compares the \
             machine with itself",
        ));
    }
    let mappings = [&a, &b].map(|side| side.request.mappings.as_ref().map(Vec::len));
    if mappings[0] != mappings[1] {
        let [a, b] = mappings.map(|count| count.map_or("the default".into(), |count| count.to_string()));
        return Err(Error::bad_input(format!(
            "--a and --b: cells are paired by place, so both need as many mappings, not {a} and {b}; example: --a '--mapping \
             round-robin' --b '--mapping dumb'"
        )));
    }
    Ok(ab::Options {
        a,
        b,
        clock,
        binder,
        output: args.output,
        force: args.force,
        wait: args.bench.wait,
        terms: terms(args.terms)?,
    })
}

pub(super) fn terms(args: TermsArgs) -> Result<Terms, Error> {
    Ok(Terms {
        rules: args.floor.rules(),
        noise: args.floor.noise,
        strict: args.strict,
        format: args.format.of(FORMATS)?,
    })
}

pub(super) fn selftest(args: SelftestArgs, notes: &mut Vec<String>) -> Result<selftest::Options, Error> {
    let invocations = count("--invocations", &args.invocations, MOST_INVOCATIONS)?.to_string();
    // A number only: one placement is compared with itself.
    count("--threads", &args.threads, usize::MAX)?;
    let mut asked = preset(&[
        ("kernel", &args.kernel.join(",")),
        ("threads", &args.threads),
        ("mapping", "round-robin"),
        ("size", &args.size),
        ("repetitions", REPETITIONS),
        ("invocations", &invocations),
        ("budget", &args.budget),
    ])?;
    (asked.run.bench.seed, asked.run.bench.wait) = (args.seed, args.wait);
    let new = sweep(asked, &Layers::default(), notes)?;
    let planted = args.planted.as_deref().map(|text| percentage("--planted", text, "5%")).transpose()?;
    if let Some(kernel) = new.request.kernels.iter().find(|kernel| planted.is_some() && kernel.card().params.is_empty())
    {
        return Err(Error::bad_input(format!(
            "--planted: {} does no work, so a slowdown cannot be injected; choose another kernel",
            &*kernel.card().name
        )));
    }
    Ok(selftest::Options {
        request: new.request,
        rounds: count("--rounds", &args.rounds, MOST_ROUNDS)?,
        planted,
        wait: new.wait,
        rules: args.floor.rules(),
        noise: args.floor.noise,
        format: args.format.of(selftest::FORMATS)?,
    })
}

/// Repetitions in each invocation of a self-test. They are short: on two strands that three other processes kept busy, 72% of
/// repetitions of 8 ms had to wait for their strand, and 9% of those of 1.3 ms.
const REPETITIONS: &str = "25";

/// The flags of a side; the common ones are the defaults.
fn side_flags(text: &str, common: &HowArgs) -> Result<SideFlags, Error> {
    let words = shlex::split(text).ok_or_else(|| {
        Error::bad_input(format!("{text:?} ends within a quotation or after a backslash; close it, or take it out"))
    })?;
    let params = common.params.iter().map(|(param, text)| (param.name, vec![text.to_owned()]));
    let defaults =
        params.chain([("mapping", common.mapping.clone()), ("allow_stack", vec![common.allow_stack.to_string()])]);
    let grammar = defaults
        .fold(SideFlags::command(), |grammar, (flag, values)| grammar.mut_arg(flag, |arg| arg.default_values(values)));
    let matches = grammar.try_get_matches_from(words).map_err(refusal)?;
    SideFlags::from_arg_matches(&matches).map_err(refusal)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn common() -> HowArgs {
        let flags = [("pages", "4k"), ("memory", "first"), ("size", "64MiB"), ("mapping", "compact")];
        HowArgs { allow_stack: true, ..preset(&flags).unwrap().how }
    }

    #[test]
    fn a_side_replaces_the_flags_that_it_has() {
        let how = side_flags("--mapping 'list:0,1' --size 2MiB", &common()).unwrap().how;
        assert_eq!((how.mapping, how.allow_stack), (vec!["list:0,1".to_owned()], true));
        for (param, text) in how.params.iter() {
            let expected = match param.name {
                "size" => "2MiB",
                "pages" => "4k",
                "memory" => "first",
                _ => continue,
            };
            assert_eq!(text, expected);
        }
    }
}
