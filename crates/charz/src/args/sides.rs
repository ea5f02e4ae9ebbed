//! What `charz ab` and `charz selftest` are asked for, in terms of the sweeps that they make.

use std::path::PathBuf;

use clap::{CommandFactory, FromArgMatches};

use super::convert::{choice, sweep};
use super::layers::Layers;
use super::quantities::{count, percentage};
use super::refusal;
use super::spelling::{AbArgs, AxesArgs, Half, HowArgs, SelftestArgs, SweepArgs, WhatArgs};
use super::usual;
use crate::command::{ab, selftest};
use crate::exit::Error;
use crate::plan::MOST_INVOCATIONS;
use crate::render::compare as compare_page;

/// The most comparisons of a self-test.
const MOST_ROUNDS: usize = 100_000;

pub(super) fn ab(args: AbArgs, notes: &mut Vec<String>) -> Result<ab::Options, Error> {
    let invocations = count("--invocations", &args.invocations, MOST_INVOCATIONS)?.to_string();
    let programs = [args.a_program, args.b_program];
    if args.a.trim() == args.b.trim() && programs[0] == programs[1] {
        return Err(Error::bad_input(
            "--a and --b: the sides do not differ; say in what, example: --a '--pages 4k' --b '--pages thp', or compare the \
             machine with itself by charz selftest --aa",
        ));
    }
    let [program_a, program_b] = programs;
    let mut side = |flag: &str, text: &str, program: Option<PathBuf>| {
        let how = half(text, &args.how).map_err(|error| error.read_from(flag))?;
        let asked = asked(args.what.clone(), how, &invocations, &args.budget);
        let mut said = Vec::new();
        let new = sweep(asked, &Layers::default(), &mut said).map_err(|error| error.read_from(flag))?;
        said.retain(|note| !notes.contains(note));
        notes.extend(said);
        let by = program.as_ref().map(|program| format!(", measured by {program:?}")).unwrap_or_default();
        let label = format!("{flag} {:?}{by}", text.trim());
        Ok::<_, Error>((ab::Side { label, request: new.request, program }, new.clock, new.binder))
    };
    let (a, clock, binder) = side("--a", &args.a, program_a)?;
    let (b, ..) = side("--b", &args.b, program_b)?;
    let mappings = [&a, &b].map(|side| side.request.mappings.as_ref().map(Vec::len));
    if mappings[0] != mappings[1] {
        let told =
            |number: Option<usize>| number.map_or("those that fit each kernel".into(), |number| number.to_string());
        return Err(Error::bad_input(format!(
            "--a and --b: the mappings are {} on the one and {} on the other, and their cells are paired by place; name as many on \
             either side, example: --a '--mapping round-robin' --b '--mapping dumb'",
            told(mappings[0]),
            told(mappings[1])
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
    let how = HowArgs { mapping: vec!["round-robin".into()], ..usual::how(AxesArgs::with_size(args.size)) };
    let new = sweep(asked(what, how, &invocations, &args.budget), &Layers::default(), notes)?;
    let planted = args.planted.as_deref().map(|text| {
        percentage(text).map_err(|what| Error::bad_input(format!("--planted: {what}; example: --planted 5%")))
    });
    let planted = planted.transpose()?;
    if let Some(kernel) = new.request.kernels.iter().find(|kernel| planted.is_some() && kernel.card().knobs.is_empty())
    {
        return Err(Error::bad_input(format!(
            "--planted: {} does no work of which there could be more; name another kernel",
            kernel.card().name
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

/// Repetitions in each invocation of a self-test. They are short, so that there can be many: on two strands that three
/// others kept busy too, 72% of repetitions of 8 ms had to wait for their strand, and 9% of those of 1.3 ms.
const REPETITIONS: &str = "25";

/// A sweep of this, kept nowhere.
pub(super) fn asked(what: WhatArgs, how: HowArgs, invocations: &str, budget: &str) -> SweepArgs {
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

/// The flags of a side; what it does not say is taken from the common ones.
fn half(text: &str, common: &HowArgs) -> Result<HowArgs, Error> {
    let words = shlex::split(text).ok_or_else(|| {
        Error::bad_input(format!("{text:?} ends within a quotation or after a backslash; close it, or take it out"))
    })?;
    let defaults: [(&str, Vec<String>); 13] = [
        ("mapping", common.mapping.clone()),
        ("size", vec![common.axes.size.clone()]),
        ("pages", vec![common.axes.pages.clone()]),
        ("stride", vec![common.axes.stride.clone()]),
        ("chains", vec![common.axes.chains.clone()]),
        ("delay", vec![common.axes.delay.clone()]),
        ("memory", vec![common.axes.memory.clone()]),
        ("layout", vec![common.layout.clone()]),
        ("critical", vec![common.critical.clone()]),
        ("parallel", vec![common.parallel.clone()]),
        ("period", vec![common.period.clone()]),
        ("timeout", vec![common.timeout.clone()]),
        ("allow_stack", vec![common.allow_stack.to_string()]),
    ];
    let grammar = defaults
        .into_iter()
        .fold(Half::command(), |grammar, (flag, values)| grammar.mut_arg(flag, |arg| arg.default_values(values)));
    let matches = grammar.try_get_matches_from(words).map_err(refusal)?;
    Half::from_arg_matches(&matches).map(|half| half.how).map_err(refusal)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn common() -> HowArgs {
        half(
            "",
            &HowArgs {
                mapping: vec!["compact".into()],
                axes: AxesArgs { pages: "4k".into(), memory: "first".into(), ..AxesArgs::with_size("64MiB") },
                layout: "contiguous".into(),
                critical: "7".into(),
                parallel: "8".into(),
                period: "closed".into(),
                timeout: "3ms".into(),
                allow_stack: true,
            },
        )
        .unwrap()
    }

    #[test]
    fn a_side_replaces_what_it_says_and_nothing_else() {
        let how = half("--mapping 'list:0,1' --size 2MiB", &common()).unwrap();
        assert_eq!((how.mapping, how.axes.size.as_str()), (vec!["list:0,1".to_owned()], "2MiB"));
        assert_eq!((how.axes.pages.as_str(), how.axes.memory.as_str(), how.allow_stack), ("4k", "first", true));
    }

    #[track_caller]
    fn check_refused(text: &str, word: &str) {
        let sentence = half(text, &common()).unwrap_err().to_string();
        assert!(sentence.contains(word) && !sentence.contains('\n'), "{text}: {sentence}");
    }

    #[test]
    fn a_side_has_few_flags() {
        check_refused("--mapping 'dumb", "quotation");
        check_refused("--kernel mem-read", "--kernel");
        check_refused("--threads 2", "--threads");
        check_refused("--help", "--help");
        check_refused("--\u{1b}x", "\\u{1b}");
        check_refused("mem-read", "mem-read");
        check_refused("--size", "--size");
    }
}
