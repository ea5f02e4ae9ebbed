//! From what was typed to what it means.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use charz_kernels::{Family, Kernel};
use charz_topology::{ALIASES, Backend, Mapping, Source, mappers, parse_mappings};

use super::flags::{CompareArgs, ConfigArgs, ConfigTask, MapArgs, RunArgs, SweepArgs, Verb};
use super::generate::{Page, completions, pages, shells};
use super::help;
use super::history;
use super::layers::Layers;
use super::named;
use super::parameters::{self, amount};
use super::presets;
use super::program::program;
use super::quantities::{budget, count, percentage, time};
use super::replicate;
use super::{ab, advise, exec};
use crate::command::{self, Command, STREAM, compare, render, sweep};
use crate::exit::Error;
use crate::view::config::{self, Setting};
use crate::view::{doctor, explain, kernels as kernel_list, placement, plan};
use charz_analysis::compare::Options as Rules;
use charz_data::checks::{self, CHECKS, Check, INTERVAL_NEEDS};
use charz_data::escape::quote;
use charz_data::params;
use charz_data::{COMMAND, KNOWN_AS, known_as};
use charz_measure::harness::MOST_REPETITIONS;
use charz_measure::plan::{
    Budget, Invocations, MOST_INVOCATIONS, MOST_OVERSUBSCRIBED, QUICK_BUDGET, QUICK_REPETITIONS, Request, Threads,
};
use charz_measure::user_program;
use charz_render::formats::{FORMATS, Format, SWEPT, TABLE};

/// The most workers that `charz map` lays out: beyond any machine, within any memory.
pub(super) const MOST_MAPPED: usize = 1 << 20;

/// What was typed, and what is below it, as something to do; `notes` gets sentences about oddities that stop nothing.
pub(super) fn command(
    verb: Verb,
    layers: &Layers,
    settings: Vec<Setting>,
    notes: &mut Vec<String>,
) -> Result<Command, Error> {
    Ok(match verb {
        Verb::Topo(args) => Command::Topo(Box::new(presets::topo(*args, layers, notes)?)),
        Verb::Map(args) => map(&args)?,
        Verb::Kernels(args) => Command::Kernels {
            of: match &args.name {
                Some(name) => kernel_list::Of::Some(kernels_or_family(name)?),
                None if args.all => kernel_list::Of::All,
                None => kernel_list::Of::Index,
            },
            format: args.format.of(kernel_list::FORMATS)?,
        },
        Verb::Sweep(args) => Command::Sweep(Box::new(match &args.resume {
            Some(file) => sweep::Options::Resume(sweep::Resume {
                file: resumed(file, notes)?,
                budget: budget_of(&args.run.budget, layers)?,
                wait: args.run.bench.wait,
                wait_quiet: wait_quiet(&args.run, layers)?,
                strict: args.run.strict,
                format: shown(&args)?,
                quiet: args.quiet,
            }),
            None => {
                // A plan has formats of its own.
                let format = if args.run.dry_run { TABLE } else { shown(&args)? };
                sweep::Options::New(Box::new(sweep(*args, layers, notes)?), format)
            }
        })),
        Verb::Render(args) => Command::Render(render::Options {
            reports: named::reports(args.reports, notes)?,
            showing: history::showing(args.format.of(FORMATS)?, args.how),
        }),
        Verb::History(args) => Command::History(Box::new(history::history(args, notes)?)),
        Verb::Compare(args) => Command::Compare(compare(args, notes)?),
        Verb::Exec(args) => Command::Exec(Box::new(exec::exec(args)?)),
        Verb::Advise(args) => Command::Advise(advise::advise(args, notes)?),
        Verb::C2c(args) => Command::CoreToCore(Box::new(presets::c2c(args, layers, notes)?)),
        Verb::Numa(args) => Command::Numa(Box::new(presets::numa(args, layers, notes)?)),
        Verb::Audit(args) => Command::Audit(super::audit::audit(args)?),
        Verb::Ab(args) => Command::Ab(Box::new(ab::ab(*args, notes)?)),
        Verb::Selftest(args) => Command::Selftest(Box::new(ab::selftest(args, notes)?)),
        Verb::Replicate(args) => Command::Replicate(Box::new(replicate::replicate(*args, layers, notes)?)),
        Verb::Measure(args) if args.about => Command::About,
        Verb::Measure(_) => Command::Measure,
        Verb::Doctor(args) => Command::Doctor(command::doctor::Options {
            format: args.format.of(doctor::FORMATS)?,
            verbose: args.verbose,
            strict: args.strict,
            expect: args.expect,
            fix_script: args.fix_script,
            watch: !args.no_wait,
        }),
        Verb::Explain(args) => Command::Explain {
            check: args.code.as_deref().map(check).transpose()?,
            format: args.format.of(explain::FORMATS)?,
        },
        Verb::Config(ConfigArgs { task: ConfigTask::Show(args) }) => {
            let format = args.format.of(config::FORMATS)?;
            // What a sweep would refuse is refused here.
            sweep(*args, layers, notes)?;
            Command::Config { settings, format }
        }
        Verb::Completions(args) => Command::Docs(completions(choice("charz completions", &args.shell, shells())?)),
        Verb::Docs(args) => Command::Docs(match args.page {
            None => pages().iter().map(Page::line).collect::<String>().into_bytes(),
            Some(name) => {
                let pages = pages().into_iter().map(|page| (page.name.clone(), page));
                choice("charz docs", &name, pages)?.text()
            }
        }),
    })
}

fn compare(args: CompareArgs, notes: &mut Vec<String>) -> Result<compare::Options, Error> {
    let (base, new) = history::base_and_new(&args, notes)?;
    let CompareArgs { cross_machine, cross_build, cross_plan, .. } = args;
    let mut terms = ab::terms(args.terms)?;
    terms.rules = Rules { cross_machine, cross_build, cross_plan, ..terms.rules };
    Ok(compare::Options { base, new, terms })
}

/// How a sweep shows its report.
fn shown(args: &SweepArgs) -> Result<&'static Format, Error> {
    match args.verbose {
        true => Ok(TABLE),
        false => args.format.of(SWEPT),
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

fn map(args: &MapArgs) -> Result<Command, Error> {
    let mapping = Mapping::from_str(&args.mapping).map_err(not_a_mapping)?;
    refuse_stacks(std::slice::from_ref(&mapping), args.allow_stack)?;
    Ok(Command::Map {
        mapping,
        threads: count("--threads", &args.threads, MOST_MAPPED)?,
        source: source(&args.source.topology),
        format: args.format.of(placement::FORMATS.iter())?,
    })
}

pub(super) fn sweep(args: SweepArgs, layers: &Layers, notes: &mut Vec<String>) -> Result<sweep::New, Error> {
    let run = args.run;
    let budget = if args.quick { Budget::Of(QUICK_BUDGET) } else { budget_of(&run.budget, layers)? };
    let (asked, params) = parameters::read(&args.how.params, args.quick, layers)?;
    let clocks = [("auto", sweep::ClockKind::Auto), ("os", sweep::ClockKind::Os), ("tsc", sweep::ClockKind::Tsc)];
    let binders = [Backend::Hwloc, Backend::CoreAffinity].map(|backend| (backend.to_string(), backend));
    let mut note = |flag: &str, twice: Option<String>| {
        let sentence = |twice| format!("{}: {twice} is given more than once, and is measured once", layers.label(flag));
        notes.extend(twice.map(sentence));
    };

    let fitting = args.how.mapping == [FITTING];
    let typed = if fitting { &[] } else { args.how.mapping.as_slice() };
    let mappings = typed.iter().map(|text| parse_mappings(text)).collect::<Result<Vec<_>, _>>();
    let mappings = layers.blame("--mapping", mappings.map_err(not_a_mapping))?.concat();
    layers.blame("--mapping", refuse_stacks(&mappings, args.how.allow_stack))?;
    let first = |(at, mapping): &(usize, &Mapping)| !mappings[..*at].contains(mapping);
    let distinct = mappings.iter().enumerate().filter(first).map(|(_, mapping)| mapping.clone()).collect();
    note("--mapping", repeated(&mappings).map(|mapping| format!("{:?}", mapping.to_string())));
    let by_name = layers.blame("--kernel", kernels(&args.what.kernel))?;
    note("--kernel", repeated(&args.what.kernel).cloned());
    let families = layers.blame("--family", families(&args.what.family))?;
    note("--family", repeated(&args.what.family).cloned());
    let (threads, twice) = match args.quick {
        true => (Threads::Quick, None),
        false => layers.blame("--threads", Threads::read(&args.what.threads).map_err(Error::bad_input))?,
    };
    note("--threads", twice.map(|number| number.to_string()));
    let amounts = &args.what.amounts;
    let iterations = amount(amounts, &params::ITERATIONS, |params| params.iterations, layers)?;
    let samples = amount(amounts, &params::SAMPLES, |params| params.samples, layers)?;
    let span = amount(amounts, &params::SPAN, |params| params.span(), layers)?;
    let repetitions = match args.what.repetitions.as_str() {
        "auto" => args.quick.then_some(QUICK_REPETITIONS),
        text => Some(layers.blame("--repetitions", count("--repetitions", text, MOST_REPETITIONS as usize))?),
    };
    let invocations = layers.blame("--invocations", invocations(&run.invocations))?;
    let counted = if args.counters.counters { invocations.least } else { 0 };
    let precision = match run.precision.as_str() {
        "auto" => None,
        text => Some(layers.blame("--precision", percentage("--precision", text, "2%"))?),
    };
    if precision.is_some() && invocations.most < INTERVAL_NEEDS {
        return Err(Error::bad_input(format!(
            "--precision: {} invocations give no interval, so no width of one; allow {INTERVAL_NEEDS} or more, example: \
             --invocations 6-30",
            invocations.most
        )));
    }
    let wait_quiet = wait_quiet(&run, layers)?;
    let dry_run = sweep::DryRun {
        source: args.topology.as_deref().map_or(Source::ThisMachine, source),
        format: if run.dry_run { args.format.of(plan::FORMATS)? } else { &plan::FORMATS[0] },
    };
    let seed = run.bench.seed.as_deref().map(|text| layers.blame("--seed", seed(text))).transpose()?;
    let oversubscribed = count("--oversubscribed", &args.what.oversubscribed.oversubscribed, MOST_OVERSUBSCRIBED);
    let program = program(&args.program, layers, notes)?;
    let mut kernels: Vec<&'static dyn Kernel> = program.iter().map(|_| user_program::kernel()).collect();
    if kernels.is_empty() || !by_name.is_empty() || !families.is_empty() {
        kernels.extend(chosen(&by_name, &families));
    }
    Ok(sweep::New {
        command: layers.command_line(),
        request: Request {
            kernels,
            program,
            mappings: (!fitting).then_some(distinct),
            threads,
            iterations,
            samples,
            span,
            asked,
            params,
            repetitions,
            invocations: Invocations { counted, ..invocations },
            precision,
            seed,
            oversubscribed: layers.blame("--oversubscribed", oversubscribed)?,
            accept_panic: args.what.accept_panic,
            budget,
        },
        clock: layers.blame("--clock", choice("--clock", &run.bench.clock, clocks))?,
        binder: layers.blame("--binder", choice("--binder", &run.bench.binder, binders))?,
        output: run.output,
        force: run.force,
        dry_run: run.dry_run.then_some(dry_run),
        wait: run.bench.wait,
        wait_quiet,
        strict: run.strict,
        quiet: args.quiet,
        issue_width: args.counters.issue_width(layers)?,
    })
}

fn wait_quiet(run: &RunArgs, layers: &Layers) -> Result<Option<Duration>, Error> {
    const FLAG: &str = "--wait-quiet";
    let most = run.wait_quiet.as_deref().map(|text| time(FLAG, text, "--wait-quiet=1m"));
    most.map(|most| layers.blame(FLAG, most)).transpose()
}

fn budget_of(text: &str, layers: &Layers) -> Result<Budget, Error> {
    match text {
        "auto" => Ok(Budget::Fitting),
        _ => layers.blame("--budget", budget(text)).map(Budget::Of),
    }
}

/// What `--mapping` says where each kernel is to have the mappings that fit it.
pub(super) const FITTING: &str = "fitting";

/// `6`, or `6-30`.
fn invocations(text: &str) -> Result<Invocations, Error> {
    let number = |text: &str| count("--invocations", text, MOST_INVOCATIONS);
    let (least, most) = match text.split_once('-').filter(|(least, _)| !least.is_empty()) {
        Some((least, most)) => (number(least)?, number(most)?),
        None => (number(text)?, number(text)?),
    };
    if least > most {
        return Err(Error::bad_input(format!(
            "--invocations: the range {text:?} runs backwards; example: --invocations 6-30"
        )));
    }
    Ok(Invocations { least, most, counted: 0 })
}

fn seed(text: &str) -> Result<u64, Error> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| digits).ok_or_else(|| {
        Error::bad_input(format!("--seed: {text:?} is no whole number from 0 to {}; example: --seed 1", u64::MAX))
    })
}

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
            "--mapping: {:?} names strand {strand} twice; name it once, or let workers share it with --allow-stack",
            mapping.to_string()
        ))),
        _ => Ok(()),
    }
}

/// The first item that is listed twice. Quadratic: the list is as short as a command line.
fn repeated<T: PartialEq>(list: &[T]) -> Option<&T> {
    list.iter().enumerate().find_map(|(at, item)| list[..at].contains(item).then_some(item))
}

fn check(code: &str) -> Result<&'static Check, Error> {
    checks::find(code).ok_or_else(|| {
        let codes: Vec<&str> = CHECKS.iter().map(|check| check.code).collect();
        let near =
            nearest(&code.to_uppercase(), &codes).map(|near| format!("; did you mean {near}?")).unwrap_or_default();
        let (first, last) = (codes.first().unwrap_or(&""), codes.last().unwrap_or(&""));
        Error::bad_input(format!("unknown warning {} ({first} to {last}){near}", quote(code)))
    })
}

pub(super) fn source(text: &str) -> Source {
    // Any text names some source; whether it can be used turns out when it is read.
    Source::of(text)
}

/// Kernels by name, by how their names begin before a `*`, or by the name that another tool has for them.
fn kernels(names: &[String]) -> Result<Vec<&'static str>, Error> {
    let all = || charz_workloads::kernels().map(|kernel| &*kernel.card().name);
    let mut chosen = Vec::new();
    for name in names {
        if name == COMMAND {
            return Err(Error::bad_input(format!(
                "--kernel: {name} is a program of yours: name it with {}",
                help::COMMAND
            )));
        }
        let begins = name.strip_suffix('*');
        let before = chosen.len();
        chosen.extend(all().filter(|all| all == name || begins.is_some_and(|part| all.starts_with(part))));
        if chosen.len() == before {
            let known =
                known_as(name).ok_or_else(|| unknown_kernel(name, all().chain(KNOWN_AS.iter().map(|k| k.name))))?;
            chosen.extend(known);
        }
    }
    Ok(chosen)
}

fn unknown_kernel(name: &str, names: impl Iterator<Item = &'static str>) -> Error {
    const MOST_SIMILAR: usize = 3;
    let mut similar: Vec<(f64, &str)> = names.map(|known| (strsim::jaro_winkler(name, known), known)).collect();
    similar.retain(|(score, _)| *score > ALIKE);
    similar.sort_by(|a, b| b.0.total_cmp(&a.0));
    let similar: Vec<&str> = similar.into_iter().take(MOST_SIMILAR).map(|(_, name)| name).collect();
    let similar = if similar.is_empty() { String::new() } else { format!(" (similar: {})", similar.join(", ")) };
    Error::bad_input(format!("unknown kernel {}{similar}; list: charz kernels", quote(name)))
}

fn kernels_or_family(name: &str) -> Result<Vec<&'static dyn Kernel>, Error> {
    let family = charz_workloads::families().find(|family| family.name() == name);
    let named = if family.is_some() { Vec::new() } else { kernels(&[name.to_owned()])? };
    Ok(chosen(&named, family.as_slice()))
}

fn families(names: &[String]) -> Result<Vec<Family>, Error> {
    let names = names.iter();
    let all = || charz_workloads::families().map(|family| (family.name(), family));
    names.map(|name| choice("--family", name, all())).collect()
}

/// The kernels of a family or by name, in the order of the catalog, each once.
fn chosen(named: &[&str], families: &[Family]) -> Vec<&'static dyn Kernel> {
    let by_default = named.is_empty() && families.is_empty();
    let wanted = |kernel: &&'static dyn Kernel| {
        let card = kernel.card();
        named.contains(&&*card.name) || families.contains(&card.family) || (by_default && card.by_default)
    };
    charz_workloads::kernels().filter(wanted).collect()
}

pub(super) fn choice<T, N: AsRef<str>>(
    flag: &str,
    text: &str,
    choices: impl IntoIterator<Item = (N, T)>,
) -> Result<T, Error> {
    let mut names = Vec::new();
    for (name, value) in choices {
        if name.as_ref() == text {
            return Ok(value);
        }
        names.push(name);
    }
    Err(no_such(flag, text, &names.iter().map(AsRef::as_ref).collect::<Vec<_>>()))
}

fn no_such(flag: &str, text: &str, names: &[&str]) -> Error {
    let near = nearest(text, names).map(|name| format!(" (did you mean {name}?)")).unwrap_or_default();
    Error::bad_input(format!("{flag}: there is no {text:?}{near}; choose from {}", names.join(", ")))
}

/// Similarity from which on the command-line parser too takes a word for a slip of another.
const ALIKE: f64 = 0.7;

/// The name that the typed word most resembles, if it does so at all.
pub(super) fn nearest<'a>(text: &str, names: &[&'a str]) -> Option<&'a str> {
    let scored = names.iter().map(|name| (strsim::jaro_winkler(text, name), *name));
    scored.filter(|(score, _)| *score > ALIKE).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::tests::check_refused;

    #[test]
    fn kernels_by_name_family_and_default() {
        let names = |kernels: Vec<&'static dyn Kernel>| kernels.iter().map(|k| &*k.card().name).collect::<Vec<_>>();
        let text = |word: &str| [word.to_owned()];
        assert_eq!(names(chosen(&[], &[])), ["arith-int", "arith-float", "mem-read", "mem-write-data"]);
        assert_eq!(names(chosen(&["noop", "mem-read", "noop"], &[])), ["mem-read", "noop"]);
        let compute = chosen(&[], &families(&text("compute")).unwrap());
        assert!(compute.iter().all(|kernel| kernel.card().family == Family::Compute) && compute.len() >= 4);
        assert_eq!(
            kernels(&text("arith-*")).unwrap(),
            ["arith-int", "arith-float", "arith-int-ilp", "arith-float-ilp"]
        );
        check_refused(kernels(&text("nothing-*")), "nothing-*");
        assert_eq!(kernels(&text("STREAM")).unwrap(), ["mem-copy", "mem-scale", "mem-add", "mem-triad"]);
        check_refused(kernels(&text("stram")), "stream");
        assert_eq!(kernels_or_family("peakflops").map(names).unwrap(), ["peak-float"]);
        assert_eq!(kernels_or_family("floor").map(names).unwrap(), ["noop"]);
    }

    #[test]
    fn names_from_elsewhere_are_of_kernels_and_hide_none() {
        for known in KNOWN_AS {
            let missing = known.kernels.iter().find(|name| charz_workloads::find(name).is_none());
            assert!(missing.is_none() && !known.kernels.is_empty(), "{known:?}: {missing:?}");
            assert!(charz_workloads::find(known.name).is_none(), "{known:?} is a kernel's own name");
            assert_eq!(KNOWN_AS.iter().filter(|other| other.name == known.name).count(), 1, "{known:?}");
        }
    }
}
