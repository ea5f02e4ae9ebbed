//! `charz sweep`, and the sweeps that other commands make.

use std::path::{Path, PathBuf};
use std::time::Duration;

use charz_kernels::Kernel;
use charz_topology::{Backend, Mapping, Source, parse_mappings};
use clap::{Args, Command, FromArgMatches, Id};

use super::choice::choice;
use super::counters::CountersArgs;
use super::flag::Flag;
use super::format::{FormatArgs, for_a_report, takes_one};
use super::groups::{FITTING, HowArgs, RunArgs, WhatArgs};
use super::help;
use super::kernels::{chosen, families, kernels};
use super::layers::Layers;
use super::map::{not_a_mapping, refuse_stacks};
use super::named;
use super::parameters::{self, amount};
use super::program::{ProgramArgs, TrustArgs, direction, program};
use super::quantities::{budget, count, percentage, time};
use super::refusal::refusal;
use crate::command::{STREAM, sweep};
use crate::exit::Error;
use crate::permit::{Consent, Permitted};
use crate::view::plan;
use charz_data::checks::INTERVAL_NEEDS;
use charz_data::params::{self, Param};
use charz_measure::plan::{
    Budget, Invocations, MOST_INVOCATIONS, MOST_OVERSUBSCRIBED, QUICK_REPETITIONS, Request, Threads,
};
use charz_measure::user_program;
use charz_render::formats::{Format, SWEPT, TABLE};

#[derive(Debug, Args)]
#[command(mut_arg("format", |arg| {
    takes_one(arg, SWEPT).long_help(help::sweep_formats())
}), mut_args(help::grouped))]
pub(super) struct SweepArgs {
    #[command(flatten)]
    pub(super) what: WhatArgs,
    #[command(flatten)]
    pub(super) program: ProgramArgs,
    #[command(flatten)]
    pub(super) how: HowArgs,
    #[command(flatten)]
    pub(super) run: RunArgs,
    #[command(flatten)]
    pub(super) counters: CountersArgs,
    /// A TOML file with values for flags that are not typed: long names for keys, such as size = "1GiB"
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// Finish the sweep of an incomplete report, with its own plan; with --budget also narrow the intervals of a complete one
    ///
    /// A program that the report names is started if this user began the report on this host, and no other user can change the file. For any
    /// other report, type --command (and --setup) as in the report, or --trust-program.
    #[arg(long, value_name = "FILE", conflicts_with_all = set_by_the_report())]
    pub(super) resume: Option<PathBuf>,
    #[command(flatten)]
    pub(super) trust: TrustArgs,
    /// Finish the sweep of the file of --output if these flags began it, else begin it: one line for a job that may be requeued
    #[arg(long = "continue", conflicts_with_all = ["resume", "force", "dry_run"])]
    pub(super) goes_on: bool,
    #[arg(long, conflicts_with_all = ["threads", "size", "budget"], help = help::quick())]
    pub(super) quick: bool,
    /// What a purpose needs: node, which compares the parts of a node, for charz fleet
    ///
    /// It takes 3 minutes, or what --budget allows. node measures arithmetic, memory and latency (a size for each cache level) on one CPU and on all of them, pairs of CPUs at each
    /// distance, and a lock, with 10 runs each.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["quick", "threads", "kernel", "family", "runs", "command", "value",
        "work", "unit", "direction", "verify", "setup", "run_timeout",
        "program_output", "ignore_failure"])]
    pub(super) preset: Option<String>,
    /// Measure only what decides the advice, and predict the rest: about a fifth of the configurations of a large machine
    ///
    /// First what the topology says decides: one thread, each part of the machine full, all of it. Then what may be the best by a model of
    /// these, until nothing that is left can change the advice. What is predicted is listed as such, and what no model predicts is measured.
    /// On 8 CPUs or fewer, or with several kinds of core, everything is measured.
    #[arg(long)]
    pub(super) adaptive: bool,
    /// Print every number in tables, with all warnings and findings; the same as --format table
    #[arg(short, long, conflicts_with_all = ["format", "json", "quiet"])]
    pub(super) verbose: bool,
    /// Plan for another machine: hwloc XML, or a synthetic description, as for charz topo
    ///
    /// Nothing is measured: times are assumed, of a processor like today's. A sweep that runs beside it is not disturbed.
    #[arg(long, value_name = "SOURCE", requires = "dry_run")]
    pub(super) topology: Option<String>,
    #[command(flatten)]
    pub(super) format: FormatArgs,
    /// Print the name of the report's file and nothing else: no tables, no progress
    #[arg(long, short, conflicts_with_all = ["format", "json", "dry_run"])]
    pub(super) quiet: bool,
}

/// The flags that `--resume` excludes: everything that a report's plan or its file determines.
fn set_by_the_report() -> impl Iterator<Item = Id> {
    const TAKEN: [&str; 6] = ["budget", "wait", "wait_quiet", "strict", "command", "setup"];
    const OWN: [&str; 6] = ["config", "quick", "adaptive", "preset", "goes_on", "topology"];
    let plan = HowArgs::augment_args(ProgramArgs::augment_args(WhatArgs::augment_args(Command::new(""))));
    let groups = CountersArgs::augment_args(RunArgs::augment_args(plan));
    let ids: Vec<Id> = groups.get_arguments().map(|arg| arg.get_id().clone()).collect();
    ids.into_iter().filter(|id| !TAKEN.contains(&id.as_str())).chain(OWN.map(Id::from))
}

/// A sweep of a command's own: these flags of `charz sweep`, by names and values, and its defaults.
pub(super) fn preset(flags: &[(&str, &str)]) -> Result<SweepArgs, Error> {
    let words = flags.iter().map(|(flag, value)| format!("--{flag}={value}"));
    let grammar = SweepArgs::augment_args(Command::new("sweep").no_binary_name(true));
    let matches = grammar.try_get_matches_from(words);
    matches.and_then(|matches| SweepArgs::from_arg_matches(&matches)).map_err(refusal)
}

/// The kernels of `--preset node`: two of each kind that parts differ in, since one alone blames nothing.
const NODE: [&str; 7] =
    ["arith-int", "arith-float", "mem-read", "mem-write-data", "chase-random", "c2c-cas", "lock-std"];
const NODE_BUDGET: Duration = Duration::from_secs(180);
const NODE_INVOCATIONS: Invocations = Invocations { least: 10, most: 30, counted: 0 };

pub(super) fn options(mut args: SweepArgs, layers: &Layers, notes: &mut Vec<String>) -> Result<sweep::Options, Error> {
    if args.goes_on {
        // Not a rule of the grammar, which sees what was typed only.
        let output = args.run.output.as_ref().ok_or_else(|| {
            Error::bad_input("--continue: which file? name it with --output, example: --continue --output r.json")
        })?;
        if output.as_os_str() == STREAM {
            return Err(Error::bad_input("--continue: a report on standard output cannot be continued; name a file"));
        }
        let file = sweep::begun(output)?;
        args.resume = file.is_begun.then(|| file.file.clone());
        args.run.output = Some(file.file);
    }
    if args.trust.trust_program && args.resume.is_none() && !args.goes_on {
        return Err(Error::bad_input("--trust-program is about a report: it needs --resume or --continue"));
    }
    let Some(file) = args.resume.take() else {
        // A plan has formats of its own.
        let format = if args.run.dry_run { TABLE } else { shown(&args)? };
        let given: Vec<&Param> = args.how.params.given().chain(args.what.amounts.given()).collect();
        let new = sweep(args, layers, notes)?;
        let is_taken = |param: &Param| new.request.kernels.iter().any(|kernel| kernel.card().obeys(param));
        // What is set elsewhere is for all sweeps.
        let is_typed = |param: &Param| layers.place(&format!("--{}", param.name)).is_none();
        let idle = given.iter().filter(|param| is_typed(param) && !is_taken(param)).map(|param| param.name);
        let idle: Vec<&str> = idle.collect();
        if !idle.is_empty() {
            notes.push(format!("no kernel of this sweep takes --{}", idle.join(", --")));
        }
        return Ok(sweep::Options::New(Box::new(new), format));
    };
    // What is set elsewhere is for all sweeps.
    let typed = |flag, value: &Option<String>| value.clone().filter(|_| layers.place(flag).is_none());
    let consent = Consent {
        trusted: args.trust.trust_program,
        command: typed("--command", &args.program.command),
        setup: typed("--setup", &args.program.setup),
    };
    let mut resume = sweep::Resume {
        file: resumed(&file, notes)?,
        asked: None,
        consent,
        budget: BUDGET.of(&args.run.budget, layers)?,
        wait: args.run.bench.wait,
        wait_quiet: WAIT_QUIET.given(args.run.wait_quiet.as_deref(), layers)?,
        strict: args.run.strict,
        anonymous: args.run.anonymous,
        format: shown(&args)?,
        quiet: args.quiet,
    };
    if args.goes_on {
        let new = sweep(args, layers, notes)?;
        let program = new.program.as_ref().map(Permitted::program);
        resume.consent.command = program.map(|program| program.command.clone());
        resume.consent.setup = program.and_then(|program| program.setup.clone());
        resume.asked = Some(Box::new(new));
    }
    Ok(sweep::Options::Resume(resume))
}

/// How a sweep shows its report.
fn shown(args: &SweepArgs) -> Result<&'static Format, Error> {
    match args.verbose {
        true => Ok(TABLE),
        false => args.format.of_a_sweep(SWEPT),
    }
}

fn resumed(file: &Path, notes: &mut Vec<String>) -> Result<PathBuf, Error> {
    match named::report(file.to_owned(), notes)? {
        file if file.as_os_str() == STREAM => Err(Error::bad_input(
            "--resume: a report on standard input has no journal and no file to finish; name its file",
        )),
        file => Ok(file),
    }
}

const BUDGET: Flag<Budget> = Flag {
    name: "--budget",
    read: |_, text| if text == "auto" { Ok(Budget::Fitting) } else { budget(text).map(Budget::Of) },
};
const WAIT_QUIET: Flag<Duration> =
    Flag { name: "--wait-quiet", read: |name, text| time(name, text, "--wait-quiet=1m") };
const MAPPING: Flag<Vec<Mapping>> =
    Flag { name: "--mapping", read: |_, text| parse_mappings(text).map_err(not_a_mapping) };
const THREADS: Flag<(Threads, Option<usize>)> =
    Flag { name: "--threads", read: |_, text| Threads::read(text).map_err(Error::bad_input) };
const ITERATIONS: Flag<usize> = Flag { name: "--iterations", read: iterations };
pub(super) const RUNS: Flag<Invocations> = Flag { name: "--runs", read: runs };
const PRECISION: Flag<f64> = Flag { name: "--precision", read: |name, text| percentage(name, text, "2%") };
const SEED: Flag<u64> = Flag { name: "--seed", read: seed };
const OVERSUBSCRIBED: Flag<usize> =
    Flag { name: "--oversubscribed", read: |name, text| count(name, text, MOST_OVERSUBSCRIBED) };
const CLOCK: Flag<sweep::ClockKind> = Flag {
    name: "--clock",
    read: |name, text| {
        use sweep::ClockKind::{Auto, Os, Realtime, Tsc};
        choice(name, text, [("auto", Auto), ("os", Os), ("realtime", Realtime), ("tsc", Tsc)])
    },
};
const BINDER: Flag<Backend> = Flag {
    name: "--binder",
    read: |name, text| choice(name, text, Backend::ALL.map(|backend| (backend.name(), backend))),
};

pub(super) fn sweep(args: SweepArgs, layers: &Layers, notes: &mut Vec<String>) -> Result<sweep::New, Error> {
    let SweepArgs { what, how, run, quick, .. } = args;
    let is_node = match args.preset.as_deref() {
        Some(name) => choice("--preset", name, [("node", true)])?,
        None => false,
    };
    let (mut asked, params) = parameters::read(&how.params, [quick, is_node], layers)?;
    let mut note = |flag: &str, twice: Option<String>| {
        let sentence = |twice| format!("{}: {twice} is given more than once, and is measured once", layers.label(flag));
        notes.extend(twice.map(sentence));
    };

    let fitting = how.mapping == [FITTING];
    let typed = if fitting { &[] } else { how.mapping.as_slice() };
    let mappings = typed.iter().map(|text| MAPPING.of(text, layers)).collect::<Result<Vec<_>, _>>()?.concat();
    layers.blame(MAPPING.name, refuse_stacks(&mappings, how.allow_stack))?;
    let first = |(at, mapping): &(usize, &Mapping)| !mappings[..*at].contains(mapping);
    let distinct = mappings.iter().enumerate().filter(first).map(|(_, mapping)| mapping.clone()).collect();
    note(MAPPING.name, repeated(&mappings).map(|mapping| format!("{:?}", mapping.to_string())));
    let by_name = match is_node {
        true => kernels(&NODE.map(str::to_owned))?,
        false => layers.blame("--kernel", kernels(&what.kernel))?,
    };
    asked.no_curves = is_node;
    note("--kernel", repeated(&what.kernel).cloned());
    let families = layers.blame("--family", families(&what.family))?;
    note("--family", repeated(&what.family).cloned());
    let (threads, twice) = if quick || is_node { (Threads::Quick, None) } else { THREADS.of(&what.threads, layers)? };
    note(THREADS.name, twice.map(|number| number.to_string()));
    let invocations = if is_node { NODE_INVOCATIONS } else { RUNS.of(&run.runs, layers)? };
    let counted = if args.counters.counters { invocations.least } else { 0 };
    let precision = PRECISION.unless_auto(&run.precision, layers)?;
    if precision.is_some() && invocations.most < INTERVAL_NEEDS {
        return Err(Error::bad_input(format!(
            "--precision: {} runs give no interval, so no width of one; allow {INTERVAL_NEEDS} or more, example: \
             --runs 6-30",
            invocations.most
        )));
    }
    let dry_run = sweep::DryRun {
        source: args.topology.as_deref().map_or(Source::ThisMachine, Source::of),
        format: if run.dry_run { args.format.of(plan::FORMATS)? } else { &plan::FORMATS[0] },
    };
    let program = program(&args.program, layers, notes)?;
    let direction = direction(&args.program, layers)?;
    let command = layers.command_line(program.as_ref());
    let mut kernels: Vec<&'static dyn Kernel> = program.iter().map(|_| user_program::kernel()).collect();
    if kernels.is_empty() || !by_name.is_empty() || !families.is_empty() {
        kernels.extend(chosen(&by_name, &families));
    }
    Ok(sweep::New {
        command,
        request: Request {
            kernels,
            program: program.as_ref().map(|program| program.program().recorded()),
            mappings: (!fitting).then_some(distinct),
            threads,
            iterations: amount(&what.amounts, &params::STEPS, |params| params.iterations, layers)?,
            samples: amount(&what.amounts, &params::SAMPLES, |params| params.samples, layers)?,
            span: amount(&what.amounts, &params::SPAN, |params| params.span(), layers)?,
            asked,
            params,
            repetitions: ITERATIONS.unless_auto(&what.iterations, layers)?.or(quick.then_some(QUICK_REPETITIONS)),
            invocations: Invocations { counted, ..invocations },
            precision,
            seed: SEED.given(run.bench.seed.as_deref(), layers)?,
            oversubscribed: OVERSUBSCRIBED.of(&what.oversubscribed.oversubscribed, layers)?,
            accept_panic: what.accept_panic,
            budget: match (quick, is_node) {
                (true, _) => Budget::Quick,
                (_, true) => match BUDGET.of(&run.budget, layers)? {
                    Budget::Fitting => Budget::Of(NODE_BUDGET),
                    given => given,
                },
                _ => BUDGET.of(&run.budget, layers)?,
            },
            adaptive: args.adaptive,
        },
        program,
        direction,
        anonymous: run.anonymous,
        labels: run.label.iter().map(|label| self::label(label)).collect::<Result<_, _>>()?,
        clock: CLOCK.of(&run.bench.clock, layers)?,
        binder: BINDER.of(&run.bench.binder, layers)?,
        output: for_a_report(run.output)?,
        force: run.force,
        dry_run: run.dry_run.then_some(dry_run),
        wait: run.bench.wait,
        wait_quiet: WAIT_QUIET.given(run.wait_quiet.as_deref(), layers)?,
        strict: run.strict,
        quiet: args.quiet,
        issue_width: args.counters.issue_width(layers)?,
    })
}

/// `rack=b7`.
fn label(text: &str) -> Result<(String, String), Error> {
    let parts = text.split_once('=').filter(|(key, value)| !key.is_empty() && !value.is_empty());
    let parts = parts.filter(|_| text.chars().count() <= MOST_LABEL && !text.chars().any(char::is_control));
    let (key, value) = parts.ok_or_else(|| {
        Error::bad_input(format!(
            "--label: {text:?} is no label of at most {MOST_LABEL} characters; example: --label rack=b7"
        ))
    })?;
    Ok((key.to_owned(), value.to_owned()))
}

/// The most iterations of a run. More could be kept, but `--iterations` had the steps of the loop once: those were thousands and more.
const MOST_ITERATIONS: usize = 1000;

/// `5`; what only the old meaning explains is refused with the flag that has it now.
fn iterations(name: &str, text: &str) -> Result<usize, Error> {
    let factors = [("k", 1e3), ("m", 1e6), ("g", 1e9), ("", 1.0)];
    let lower = text.to_ascii_lowercase();
    let number = factors.iter().find_map(|(suffix, factor)| Some((lower.strip_suffix(suffix)?, factor)));
    let steps = number.and_then(|(number, factor)| Some(number.parse::<f64>().ok()? * factor));
    match steps.filter(|steps| (MOST_ITERATIONS as f64 + 1.0..=1e12).contains(steps) && steps.fract() == 0.0) {
        Some(steps) => Err(Error::bad_input(format!(
            "{name}: {text:?} is more than {MOST_ITERATIONS} timed passes of a run; steps of the loop are --steps; type: --steps {steps}"
        ))),
        None => count(name, text, MOST_ITERATIONS),
    }
}

/// The longest label in characters.
const MOST_LABEL: usize = 200;

/// `6`, or `6-30`.
fn runs(name: &str, text: &str) -> Result<Invocations, Error> {
    let number = |text: &str| count(name, text, MOST_INVOCATIONS);
    let (least, most) = match text.split_once('-').filter(|(least, _)| !least.is_empty()) {
        Some((least, most)) => (number(least)?, number(most)?),
        None => (number(text)?, number(text)?),
    };
    if least > most {
        return Err(Error::bad_input(format!("{name}: the range {text:?} runs backwards; example: --runs 6-30")));
    }
    Ok(Invocations { least, most, counted: 0 })
}

pub(super) fn seed(name: &str, text: &str) -> Result<u64, Error> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| digits).ok_or_else(|| {
        Error::bad_input(format!("{name}: {text:?} is no whole number from 0 to {}; example: {name} 1", u64::MAX))
    })
}

/// The first item that is listed twice. Quadratic: the list is as short as a command line.
fn repeated<T: PartialEq>(list: &[T]) -> Option<&T> {
    list.iter().enumerate().find_map(|(at, item)| list[..at].contains(item).then_some(item))
}

#[cfg(test)]
mod tests {
    use charz_data::params::PARAMS;
    use charz_measure::limits::Limits;
    use charz_measure::plan::Plan;
    use charz_measure::predict::Predictor;
    use charz_measure::sweep::{Context, new_report};
    use charz_topology::discover;

    use super::*;
    use crate::provenance::tool;

    /// How the plan of a report that the first line began differs from that of the second.
    fn differs(begun: &str, now: &str) -> Option<[Vec<String>; 2]> {
        let machine = discover(&Source::of("Package:2 Core:8 PU:1")).unwrap();
        let limits = Limits::of(&machine);
        let request = |line: &str| {
            let grammar = SweepArgs::augment_args(Command::new("sweep").no_binary_name(true));
            let matches = grammar.try_get_matches_from(line.split(' ')).unwrap();
            let args = SweepArgs::from_arg_matches(&matches).unwrap();
            sweep(args, &Layers::default(), &mut Vec::new()).unwrap().request
        };
        let (begun, now) = (request(begun), request(now));
        let predictor = Predictor::assumed(&begun.kernels).on(&machine, machine.worth());
        let plan = Plan::new(&begun, &begun.fit(&machine, &limits).unwrap(), &limits, &predictor);
        let report = new_report(&plan, &Context::elsewhere(&tool(), "charz sweep", &machine, &limits));
        now.differs(&now.fit(&machine, &limits).unwrap(), &limits, &report)
    }

    #[test]
    fn another_plan_is_seen_in_any_flag_that_determines_one() {
        let line = "--kernel arith-int --threads 1,4 --budget 9s";
        for same in ["--budget 20s", "--wait", "--label rack=b7", "-q", "--strict", "--mapping=fitting"] {
            assert_eq!(differs(line, &format!("{line} {same}").replace("--budget 9s ", "")), None, "{same}");
        }
        for automatic in ["--budget 2s", "--budget 3m", "--quick", "--preset node", "--family workload", "--adaptive"] {
            assert_eq!(differs(automatic, automatic), None, "{automatic}");
        }
        let by_default = |param: &Param| {
            let mut example = params::Params::default();
            (param.read)(param.example, &mut example).unwrap();
            example == params::Params::default()
        };
        for param in PARAMS.iter().filter(|param| !by_default(param)) {
            let obeys = charz_workloads::kernels().find(|kernel| kernel.card().obeys(param));
            let Some(kernel) = obeys.map(|kernel| &kernel.card().name) else { continue };
            let (plain, flag) =
                (format!("--kernel {kernel} --threads 1,2"), format!("--{} {}", param.name, param.example));
            let with_flag = format!("{plain} {flag}");
            // Where no amount is asked for, any is right that a budget may have given.
            let back = Some([&with_flag, &plain]).filter(|_| !param.is_amount());
            for lines in [[&plain, &with_flag]].into_iter().chain(back) {
                let [was, is] = differs(lines[0], lines[1]).unwrap_or_else(|| panic!("{flag} of {kernel}"));
                let said = [was, is].concat().join(" ");
                assert!(said.contains(&format!("--{}", param.name)), "{flag} of {kernel}: {said}");
            }
        }
        for (flags, was, is) in [
            ("--kernel mem-read --threads 1,4", "--kernel arith-int", "--kernel mem-read"),
            ("--kernel arith-int --threads 1,8", "--threads 1,4", "--threads 1,8"),
            ("--kernel arith-int --threads 1,4 --mapping dumb", "--mapping auto,dumb,round-robin", "--mapping dumb"),
            ("--kernel arith-int --threads 1,4 --runs 7", "--runs 6-30", "--runs 7"),
            ("--kernel arith-int --threads 1,4 --adaptive", "no --adaptive", "--adaptive"),
            ("--kernel arith-int --threads 1,4 --iterations 3", "no --iterations", "--iterations 3"),
            ("--kernel arith-int --threads 1,4 --precision 1%", "no --precision", "--precision 1%"),
            ("--command true --threads 1,4", "no --command", "--command true"),
        ] {
            let [begun, now] = differs(line, flags).unwrap_or_else(|| panic!("{flags}"));
            assert!(begun.iter().any(|flag| flag == was) && now.iter().any(|flag| flag == is), "{begun:?} {now:?}");
        }
        let seeded = format!("{line} --seed 1");
        assert_eq!(differs(&seeded, line), None, "any seed does");
        assert!(differs(line, &seeded).is_some() && differs(&seeded, &seeded).is_none());
    }

    #[test]
    fn a_quick_check_has_the_parameters_of_a_baseline_by_the_preset() {
        let read = |flags: &[(&str, &str)], quick| {
            let args = SweepArgs { quick, ..preset(flags).unwrap() };
            let request = sweep(args, &Layers::default(), &mut Vec::new()).unwrap().request;
            (request.params, request.asked.sizes)
        };
        assert_eq!(read(&[], true), read(&[("preset", "node")], false));
        assert_ne!(read(&[], true), read(&[("preset", "node"), ("size", "1GiB")], false));
    }
}
