//! `charz ab`: its flags, and the sweeps that it makes.

use std::path::PathBuf;

use clap::{Args, CommandFactory, FromArgMatches, Parser};

use super::compare::{TermsArgs, terms};
use super::format::{FormatArgs, takes_one};
use super::groups::{BenchArgs, HowArgs, WhatArgs};
use super::help;
use super::layers::Layers;
use super::program::ProgramArgs;
use super::refusal::refusal;
use super::sweep::{RUNS, SweepArgs, preset, sweep};
use crate::command::ab;
use crate::exit::Error;
use crate::permit::Permitted;
use charz_data::checks::INTERVAL_NEEDS;
use charz_measure::plan::Request;
use charz_render::compare::FORMATS;

/// A quarter of what counts as a difference.
const PRECISION: &str = "0.5%";

#[derive(Debug, Args)]
#[command(mut_arg("format", |arg| takes_one(arg, FORMATS)), mut_args(help::grouped))]
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
    /// Runs of each side of a pair: min and max, or one number for both
    ///
    /// Below five there is no verdict. Those beyond the minimum are made where the interval of a side is wider than ±0.5%, as long as
    /// the budget lasts.
    #[arg(long, value_name = "N[-M]", default_value = "10-100", allow_hyphen_values = true)]
    pub(crate) runs: String,
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

pub(super) fn ab(args: AbArgs, notes: &mut Vec<String>) -> Result<ab::Options, Error> {
    let most = RUNS.of(&args.runs, &Layers::default())?.most;
    let mut side = |flag: &str, text: &str, program: Option<PathBuf>| {
        let SideFlags { how, program: measured } =
            side_flags(text, &args.how).map_err(|error| error.read_from(flag))?;
        let measured = measured.or(&args.program);
        let mut asked =
            SweepArgs { what: args.what.clone(), program: measured, how, ..preset(&[("budget", &args.budget)])? };
        (asked.run.runs, asked.run.bench) = (args.runs.clone(), args.bench.clone());
        if most >= INTERVAL_NEEDS {
            PRECISION.clone_into(&mut asked.run.precision);
        }
        let mut added = Vec::new();
        let new = sweep(asked, &Layers::default(), &mut added).map_err(|error| error.read_from(flag))?;
        added.retain(|note| !notes.contains(note));
        notes.extend(added);
        let by = program.as_ref().map(|program| format!(", measured by {program:?}")).unwrap_or_default();
        // Of secrets in it reports keep none either.
        let kept = |program: &Permitted| {
            let words = shlex::split(text)?.into_iter().map(|word| program.recorded_in(&word)).collect::<Vec<_>>();
            shlex::try_join(words.iter().map(String::as_str))
                .ok()
                .filter(|_| program.program().recorded() != *program.program())
        };
        let kept = new.program.as_ref().and_then(kept).unwrap_or_else(|| text.trim().to_owned());
        let label = format!("{flag} {kept:?}{by}");
        let side = ab::Side { label, request: new.request, measured: new.program, direction: new.direction, program };
        Ok::<_, Error>((side, new.clock, new.binder))
    };
    let (a, clock, binder) = side("--a", &args.a, args.a_program)?;
    let (b, ..) = side("--b", &args.b, args.b_program)?;
    let [of_a, of_b] =
        [&a, &b].map(|ab::Side { request: Request { mappings, asked, params, .. }, measured, program, .. }| {
            (program, mappings, asked, params, measured)
        });
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
            "--a and --b: configurations are paired by place, so both need as many mappings, not {a} and {b}; example: --a '--mapping \
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
        terms: terms(args.terms, args.format.of(FORMATS)?),
    })
}

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
