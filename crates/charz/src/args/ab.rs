//! The arguments of `charz ab` and `charz selftest`, as the sweeps that they make.

use std::path::PathBuf;

use clap::{CommandFactory, FromArgMatches};

use super::convert::{choice, sweep};
use super::layers::Layers;
use super::parameters::ParamArgs;
use super::quantities::{count, percentage};
use super::refusal;
use super::spelling::{AbArgs, HowArgs, SelftestArgs, SideFlags, SweepArgs, WhatArgs};
use super::usual;
use crate::command::{ab, selftest};
use crate::exit::Error;
use crate::plan::MOST_INVOCATIONS;
use charz_data::params::SIZE;
use charz_render::compare as compare_page;

const MOST_ROUNDS: usize = 100_000;

pub(super) fn ab(args: AbArgs, notes: &mut Vec<String>) -> Result<ab::Options, Error> {
    let invocations = count("--invocations", &args.invocations, MOST_INVOCATIONS)?.to_string();
    let programs = [args.a_program, args.b_program];
    if args.a.trim() == args.b.trim() && programs[0] == programs[1] {
        return Err(Error::bad_input(
            "--a and --b: the sides do not differ; example: --a '--pages 4k' --b '--pages thp'; charz selftest --aa compares the \
             machine with itself",
        ));
    }
    let [program_a, program_b] = programs;
    let mut side = |flag: &str, text: &str, program: Option<PathBuf>| {
        let how = side_flags(text, &args.how).map_err(|error| error.read_from(flag))?;
        let args_of_side = unkept(args.what.clone(), how, &invocations, &args.budget);
        let mut added = Vec::new();
        let new = sweep(args_of_side, &Layers::default(), &mut added).map_err(|error| error.read_from(flag))?;
        added.retain(|note| !notes.contains(note));
        notes.extend(added);
        let by = program.as_ref().map(|program| format!(", measured by {program:?}")).unwrap_or_default();
        let label = format!("{flag} {:?}{by}", text.trim());
        Ok::<_, Error>((ab::Side { label, request: new.request, program }, new.clock, new.binder))
    };
    let (a, clock, binder) = side("--a", &args.a, program_a)?;
    let (b, ..) = side("--b", &args.b, program_b)?;
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
        wait: args.what.wait,
        allow_suspect: args.allow_suspect,
        strict: args.strict,
        noise: args.noise.noise,
        format: choice("--format", &args.format, compare_page::FORMATS.iter().map(|f| (f.name, f)))?,
    })
}

pub(super) fn selftest(args: SelftestArgs, notes: &mut Vec<String>) -> Result<selftest::Options, Error> {
    let invocations = count("--invocations", &args.invocations, MOST_INVOCATIONS)?.to_string();
    // A number only: one placement is compared with itself.
    count("--threads", &args.threads, usize::MAX)?;
    let kernels: Vec<&str> = args.kernel.iter().map(String::as_str).collect();
    let what = WhatArgs {
        threads: args.threads,
        repetitions: REPETITIONS.into(),
        seed: args.seed,
        wait: args.wait,
        ..usual::what(&kernels)
    };
    let how =
        HowArgs { mapping: vec!["round-robin".into()], ..usual::how(ParamArgs::default().with(&SIZE, args.size)) };
    let new = sweep(unkept(what, how, &invocations, &args.budget), &Layers::default(), notes)?;
    let planted = args.planted.as_deref().map(|text| {
        percentage(text).map_err(|what| Error::bad_input(format!("--planted: {what}; example: --planted 5%")))
    });
    let planted = planted.transpose()?;
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
        allow_suspect: args.allow_suspect,
        noise: args.noise.noise,
    })
}

/// Repetitions in each invocation of a self-test. They are short: on two strands that three other processes kept busy, 72% of
/// repetitions of 8 ms had to wait for their strand, and 9% of those of 1.3 ms.
const REPETITIONS: &str = "25";

/// A sweep whose report is not kept.
pub(super) fn unkept(what: WhatArgs, how: HowArgs, invocations: &str, budget: &str) -> SweepArgs {
    SweepArgs {
        what,
        how,
        invocations: invocations.to_owned(),
        precision: "auto".into(),
        strict: false,
        budget: budget.to_owned(),
        config: None,
        output: None,
        force: false,
        resume: None,
        dry_run: false,
        quick: false,
    }
}

/// The flags of a side; the common ones are the defaults.
fn side_flags(text: &str, common: &HowArgs) -> Result<HowArgs, Error> {
    let words = shlex::split(text).ok_or_else(|| {
        Error::bad_input(format!("{text:?} ends within a quotation or after a backslash; close it, or take it out"))
    })?;
    let params = common.params.iter().map(|(param, text)| (param.name, vec![text.to_owned()]));
    let defaults =
        params.chain([("mapping", common.mapping.clone()), ("allow_stack", vec![common.allow_stack.to_string()])]);
    let grammar = defaults
        .fold(SideFlags::command(), |grammar, (flag, values)| grammar.mut_arg(flag, |arg| arg.default_values(values)));
    let matches = grammar.try_get_matches_from(words).map_err(refusal)?;
    SideFlags::from_arg_matches(&matches).map(|flags| flags.how).map_err(refusal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use charz_data::params::{MEMORY, PAGES};

    fn common() -> HowArgs {
        let params = ParamArgs::default().with(&PAGES, "4k").with(&MEMORY, "first").with(&SIZE, "64MiB");
        HowArgs { mapping: vec!["compact".into()], allow_stack: true, ..usual::how(params) }
    }

    #[test]
    fn a_side_replaces_the_flags_that_it_has() {
        let how = side_flags("--mapping 'list:0,1' --size 2MiB", &common()).unwrap();
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

    #[test]
    fn other_flags_are_refused() {
        for (text, word) in [
            ("--mapping 'dumb", "quotation"),
            ("--kernel mem-read", "--kernel"),
            ("--threads 2", "--threads"),
            ("--help", "--help"),
            ("--\u{1b}x", "\\u{1b}"),
            ("mem-read", "mem-read"),
            ("--size", "--size"),
        ] {
            let sentence = side_flags(text, &common()).unwrap_err().to_string();
            assert!(sentence.contains(word) && !sentence.contains('\n'), "{text}: {sentence}");
        }
    }
}
