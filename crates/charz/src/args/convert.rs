//! From what was typed to what it means.

use std::str::FromStr;
use std::time::Duration;

use charz_kernels::{Bytes, Family, KERNELS, Kernel, Layout, PagePolicy, Params};
use charz_topology::{Backend, Mapping, Source, parse_mappings};

use super::generate::PAGES;
use super::spelling::{MapArgs, SweepArgs, Verb};
use crate::command::{Command, docs, kernels, map, render, sweep, topo};
use crate::exit::Error;
use crate::plan::{MOST_BYTES, MOST_ITERATIONS, MOST_REPETITIONS, Request, Threads};
use crate::render::{kernels as kernel_list, placement as placement_page, report as report_page, topo as topo_page};

/// The most workers that `charz map` lays out: beyond any machine, within any memory.
const MOST_MAPPED: usize = 1 << 20;

pub(super) fn command(verb: Verb) -> Result<Command, Error> {
    Ok(match verb {
        Verb::Topo(args) => Command::Topo(topo::Options {
            source: source(&args.source.topology),
            format: choice("--format", &args.format, topo_page::FORMATS.iter().map(|f| (f.name, f)))?,
        }),
        Verb::Map(args) => Command::Map(map(args)?),
        Verb::Kernels(args) => Command::Kernels(kernels::Options {
            format: choice("--format", &args.format, kernel_list::FORMATS.iter().map(|f| (f.name, f)))?,
        }),
        Verb::Sweep(args) => Command::Sweep(Box::new(match &args.resume {
            Some(file) => sweep::Options::Resume { file: file.clone(), budget: budget(&args.budget)? },
            None => sweep::Options::New(sweep(*args)?),
        })),
        Verb::Render(args) => Command::Render(render::Options {
            report: args.report,
            format: choice("--format", &args.format, report_page::FORMATS.iter().map(|f| (f.name, f)))?,
        }),
        Verb::Docs(args) => Command::Docs(match args.page {
            None => docs::Options::List(PAGES.iter().map(|page| (page.name, page.file)).collect()),
            Some(name) => docs::Options::Page(choice("charz docs", &name, PAGES.iter().map(|p| (p.name, p)))?.text()),
        }),
    })
}

fn map(args: MapArgs) -> Result<map::Options, Error> {
    Ok(map::Options {
        mapping: Mapping::from_str(&args.mapping)?,
        threads: count("--threads", &args.threads, MOST_MAPPED)?,
        source: source(&args.source.topology),
        format: choice("--format", &args.format, placement_page::FORMATS.iter().map(|f| (f.name, f)))?,
    })
}

fn sweep(args: SweepArgs) -> Result<sweep::New, Error> {
    let mappings = args.mapping.iter().map(|text| parse_mappings(text)).collect::<Result<Vec<_>, _>>()?;
    let size = if args.quick { "128MiB" } else { &args.size };
    let budget_text = if args.quick { "20s" } else { &args.budget };
    let layouts = [("padded", Layout::Padded), ("contiguous", Layout::Contiguous)];
    Ok(sweep::New {
        request: Request {
            kernels: kernels(&args.kernel, &args.family)?,
            mappings: distinct(mappings.into_iter().flatten().collect()),
            threads: if args.quick { Threads::Quick } else { args.threads.parse().map_err(Error::bad_input)? },
            iterations: match args.iterations.as_str() {
                "auto" => None,
                text => Some(count("--iterations", text, MOST_ITERATIONS as usize)? as u64),
            },
            params: Params {
                iterations: 1,
                size: self::size(size)?,
                pages: choice("--pages", &args.pages, PagePolicy::ALL.map(|policy| (policy.name(), policy)))?,
                layout: choice("--layout", &args.layout, layouts)?,
            },
            repetitions: count("--repetitions", &args.repetitions, MOST_REPETITIONS as usize)?,
            budget: budget(budget_text)?,
        },
        clock: choice("--clock", &args.clock, [("os", sweep::ClockKind::Os), ("tsc", sweep::ClockKind::Tsc)])?,
        binder: choice("--binder", &args.binder, [Backend::Hwloc, Backend::CoreAffinity].map(|b| (b.to_string(), b)))?,
        output: args.output,
        force: args.force,
        dry_run: args.dry_run,
    })
}

fn source(text: &str) -> Source {
    // Any text names some source; whether it can be used turns out when it is read.
    let Ok(source) = Source::from_str(text);
    source
}

/// The kernels of a family or by name, in the order of the catalog, each once.
fn kernels(names: &[String], families: &[String]) -> Result<Vec<&'static dyn Kernel>, Error> {
    let named = names
        .iter()
        .map(|name| choice("--kernel", name, KERNELS.iter().map(|kernel| (kernel.card().name, kernel.card().name))))
        .collect::<Result<Vec<_>, _>>()?;
    let families = families
        .iter()
        .map(|name| choice("--family", name, Family::ALL.map(|family| (family.name(), family))))
        .collect::<Result<Vec<_>, _>>()?;
    let by_default = named.is_empty() && families.is_empty();
    Ok(KERNELS
        .iter()
        .copied()
        .filter(|kernel| {
            let card = kernel.card();
            named.contains(&card.name) || families.contains(&card.family) || (by_default && card.by_default)
        })
        .collect())
}

/// In order of first appearance. The list is as short as a command line.
fn distinct(mappings: Vec<Mapping>) -> Vec<Mapping> {
    let mut seen = Vec::with_capacity(mappings.len());
    for mapping in mappings {
        if !seen.contains(&mapping) {
            seen.push(mapping);
        }
    }
    seen
}

fn choice<T, N: AsRef<str>>(flag: &str, text: &str, choices: impl IntoIterator<Item = (N, T)>) -> Result<T, Error> {
    let mut names = Vec::new();
    for (name, value) in choices {
        if name.as_ref() == text {
            return Ok(value);
        }
        names.push(name);
    }
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    let near = nearest(text, &names).map(|name| format!(" (did you mean {name}?)")).unwrap_or_default();
    Err(Error::bad_input(format!("{flag}: there is no {text:?}{near}; choose from {}", names.join(", "))))
}

/// The name that the typed word most resembles, if it does so at all.
fn nearest<'a>(text: &str, names: &[&'a str]) -> Option<&'a str> {
    // Similarity from which on the command-line parser too takes a word for a slip of another.
    const ALIKE: f64 = 0.7;
    let scored = names.iter().map(|name| (strsim::jaro_winkler(text, name), *name));
    scored.filter(|(score, _)| *score > ALIKE).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, name)| name)
}

fn count(flag: &str, text: &str, most: usize) -> Result<usize, Error> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse::<usize>() {
        Ok(number) if digits && (1..=most).contains(&number) => Ok(number),
        _ => {
            Err(Error::bad_input(format!("{flag}: {text:?} is not a whole number from 1 to {most}; example: {flag} 8")))
        }
    }
}

/// A size with a unit, at most a petabyte, without a fraction of a byte.
fn size(text: &str) -> Result<Bytes, Error> {
    const EXAMPLE: &str = "example: --size 256MiB";
    let refuse = |why: &str| Error::bad_input(format!("--size: {text:?} {why}; {EXAMPLE}"));
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(refuse("is not a size"));
    }
    if text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return Err(refuse("has no unit (KiB, MiB, GiB, KB, MB, GB)"));
    }
    let size = bytesize::ByteSize::from_str(text).map_err(|_| refuse("is not a size"))?.as_u64();
    match size {
        0 => Err(refuse("is nothing to stream through")),
        1..=MOST_BYTES => Ok(Bytes(size)),
        _ => Err(refuse("is more than any machine has")),
    }
}

fn budget(text: &str) -> Result<Duration, Error> {
    const EXAMPLE: &str = "example: --budget 10m";
    match humantime::parse_duration(text) {
        Ok(Duration::ZERO) => Err(Error::bad_input(format!("--budget: {text:?} leaves no time to measure; {EXAMPLE}"))),
        Ok(duration) => Ok(duration),
        Err(_) => {
            Err(Error::bad_input(format!("--budget: {text:?} is not a time with a unit (ms, s, m, h); {EXAMPLE}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_refused<T>(result: Result<T, Error>, word: &str) {
        let Err(error) = result else { panic!("accepted") };
        let sentence = error.to_string();
        assert!(sentence.contains(word) && !sentence.contains('\n'), "{sentence}");
    }

    #[test]
    fn sizes() {
        assert_eq!(size("256MiB").unwrap(), Bytes(256 << 20));
        assert_eq!(size("1GB").unwrap(), Bytes(1_000_000_000));
        assert_eq!(size("1.5 GiB").unwrap(), Bytes(3 << 29));
        for (text, word) in [
            ("0MiB", "nothing"),
            ("256", "unit"),
            ("10XB", "not a size"),
            ("-1MiB", "not a size"),
            ("", "not a size"),
            ("inf", "not a size"),
            ("1e3MiB", "not a size"),
            ("16EiB", "more than"),
            ("99999999999999999999GiB", "more than"),
        ] {
            check_refused(size(text), word);
        }
    }

    #[test]
    fn budgets() {
        assert_eq!(budget("10m").unwrap(), Duration::from_secs(600));
        for text in ["5", "-1s", "", "0s", "1e400s", "soon"] {
            check_refused(budget(text), "example: --budget 10m");
        }
    }

    #[test]
    fn counts() {
        assert_eq!(count("--threads", "8", 10).unwrap(), 8);
        for text in ["0", "-1", "+4", "11", "1.5", "", "99999999999999999999", "0x1"] {
            check_refused(count("--threads", text, 10), "from 1 to 10");
        }
    }

    #[test]
    fn kernels_by_name_family_and_default() {
        let names = |kernels: Vec<&'static dyn Kernel>| kernels.iter().map(|k| k.card().name).collect::<Vec<_>>();
        let text = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert_eq!(names(kernels(&[], &[]).unwrap()), ["arith-int", "arith-float", "mem-read", "mem-write"]);
        assert_eq!(names(kernels(&text(&["mem-read", "noop", "mem-read"]), &[]).unwrap()), ["mem-read", "noop"]);
        let compute = kernels(&[], &text(&["compute"])).unwrap();
        assert!(compute.iter().all(|kernel| kernel.card().family == Family::Compute) && compute.len() >= 4);
        check_refused(kernels(&text(&["mem-raed"]), &[]), "did you mean mem-read?");
        check_refused(kernels(&[], &text(&["sync"])), "compute, memory, floor");
    }
}
