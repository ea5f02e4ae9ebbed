//! The texts of which a part stays. Each decision leaves its own result as it is.

use std::borrow::Cow;

use crate::report::{Ending, Evidence, FAILURE, PREDICTED, Report};
use crate::{Card, Family, NO_MATCH, Role};

/// What a program is called whose name is left out.
pub(super) const PROGRAM: &str = "PROGRAM";
/// In place of a path.
const PATH: &str = "PATH";
/// In place of the values of flags.
const VALUE: &str = "…";
/// How a mapping begins whose order a program gives.
const MAPPER: &str = "command:";
/// In place of what ended a sweep.
const UNNAMED: &str = "what an anonymous report does not name";
/// In place of a reason.
pub(super) const NO_REASON: &str = "an anonymous report does not say why";

/// `Linux 6.8.0` of `Linux 6.8.0-45-generic`: what follows the version is whose kernel it is.
pub(super) fn release(kernel: Option<String>) -> Option<String> {
    let kernel = kernel?;
    let mut words = kernel.split_whitespace();
    let (name, release) =
        (words.next().filter(|name| name.bytes().all(|byte| byte.is_ascii_alphabetic()))?, words.next());
    let is_of_version = |mark: char| mark.is_ascii_digit() || mark == '.';
    let version = release.map(|release| release.split(|mark| !is_of_version(mark)).next().unwrap_or_default());
    Some([name, version.unwrap_or_default()].join(" ").trim_end_matches(['.', ' ']).to_owned())
}

/// The reason for which something is not known may name a file.
pub(super) fn told(text: Option<String>) -> Option<String> {
    const UNKNOWN: &str = "unavailable";
    text.map(|text| if text.starts_with(UNKNOWN) { UNKNOWN.to_owned() } else { text })
}

/// `other load: 2.0 tasks`, in which the first words are ours.
pub(super) fn unsaid(sentences: Vec<String>) -> Vec<String> {
    let name = |sentence: String| match sentence.split_once(": ") {
        Some((name, _)) => format!("{name}: left out"),
        None => "a disturbance: left out".to_owned(),
    };
    sentences.into_iter().map(name).collect()
}

/// The verb and the names of the flags. What they say of the measurement is in the plan too.
pub(super) fn flags(line: String) -> String {
    let words = shlex::split(&line).unwrap_or_default();
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte == b'-' || byte.is_ascii_lowercase());
    let is_flag = |word: &str| word.starts_with('-') && is_word(word);
    let mut told: Vec<Cow<'_, str>> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        match word.split_once('=') {
            None if at < 2 && is_word(word) && (at == 1 || word == "charz") => told.push(word.into()),
            None if is_flag(word) => told.push(word.into()),
            Some((flag, _)) if is_flag(flag) => told.push(format!("{flag}={VALUE}").into()),
            _ if told.last().is_some_and(|last| last == VALUE) => {}
            _ => told.push(VALUE.into()),
        }
    }
    told.join(" ")
}

/// What ended a sweep early.
pub(super) fn stopper(by: Option<String>) -> Option<String> {
    const KNOWN: [&str; 5] = [FAILURE, "budget", "a full disk", "a missing resource", "a failed write to the journal"];
    let is_signal = |by: &str| by.starts_with("SIG") && by.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let by = by?;
    let known = KNOWN.into_iter().find(|known| by.starts_with(known));
    Some(if is_signal(&by) { by } else { known.unwrap_or(UNNAMED).to_owned() })
}

/// The flags of a compiler, which may name folders of the machine that built the program.
pub(super) fn without_paths(flags: String) -> String {
    let flag = |word: &str| match word.find('/') {
        None => word.to_owned(),
        Some(slash) => word[..slash].rfind('=').map_or_else(String::new, |sign| word[..=sign].to_owned()) + PATH,
    };
    flags.split_whitespace().map(flag).collect::<Vec<_>>().join(" ")
}

/// A mapping by its name; of a program's order that it is one.
pub(super) fn without_program(text: String) -> String {
    let is_hidden =
        |order: &str| order.strip_prefix(PROGRAM).is_some_and(|number| number.trim().parse::<usize>().is_ok());
    match text.strip_prefix(MAPPER) {
        Some(order) if !is_hidden(order) => format!("{MAPPER}{PROGRAM}"),
        _ => text,
    }
}

/// Numbers the programs that give orders: cells of two of them stay apart.
pub(super) fn hide_mappers(report: &mut Report) {
    let Report { plan, floor, cells, .. } = report;
    let own = || floor.iter().chain(&*cells).map(|cell| &cell.mapping);
    let mut programs: Vec<String> = Vec::new();
    for mapping in plan.mappings.iter().chain(own()).filter(|mapping| mapping.starts_with(MAPPER)) {
        if !programs.contains(mapping) {
            programs.push(mapping.clone());
        }
    }
    let hide = |mapping: &mut String| {
        if let Some(at) = programs.iter().position(|program| program == mapping) {
            *mapping = format!("{MAPPER}{PROGRAM} {}", at + 1);
        }
    };
    plan.mappings.iter_mut().for_each(hide);
    floor.iter_mut().chain(cells).for_each(|cell| hide(&mut cell.mapping));
}

/// Numbers the programs of a table, which are named after what they are about.
pub(super) fn hide_programs(report: &mut Report) {
    let is_foreign = |card: &Card| card.family == Family::Workload && card.role == Role::Other;
    let foreign = report.cards.iter().filter(|card| report.measured_by.is_some() && is_foreign(card));
    let names: Vec<String> = foreign.map(|card| card.name.to_string()).collect();
    let hidden = |name: &str| Some(format!("{PROGRAM} {}", names.iter().position(|own| own == name)? + 1));
    let hide = |name: &mut String| *name = hidden(name).unwrap_or_else(|| std::mem::take(name));
    report.plan.kernels.iter_mut().chain(report.cells.iter_mut().map(|cell| &mut cell.kernel)).for_each(hide);
    for card in &mut report.cards {
        card.name = hidden(&card.name).map_or_else(|| std::mem::take(&mut card.name), Into::into);
    }
}

/// The program without its path and arguments, but for what charz fills in: it decides whether copies run.
pub(super) fn bare_program(line: String) -> String {
    let places = ["{threads}", "{n}", "{cpus}", "{mapping}", "{rank}"].into_iter().filter(|place| line.contains(place));
    std::iter::once(PROGRAM).chain(places).collect::<Vec<_>>().join(" ")
}

/// A setting by its name, and how it changed, in words of the kernel. Any other name is not one of ours.
pub(super) fn change(text: String) -> String {
    let is_known = text.split_once(':').is_some_and(|(name, _)| Evidence::SETTINGS.contains(&name));
    if is_known { text } else { "a setting: it changed".into() }
}

/// Of a cell that was not measured. What is predicted of one is numbers.
pub(super) fn without_runs(reason: String) -> String {
    if reason.starts_with(PREDICTED) { reason } else { NO_REASON.into() }
}

/// How a run ended, without what a program or the system said.
pub(super) fn ended(ending: Ending, reason: &str) -> String {
    let how = match ending {
        _ if reason.contains(NO_MATCH) => NO_MATCH,
        Ending::Done => "it was measured",
        Ending::Stopped => "it was stopped",
        Ending::Unavailable => "the kernel cannot run here",
        Ending::Skipped => "it was left out",
        Ending::Refused => "the system refused memory, a thread or a CPU",
        Ending::Away => "a CPU, a NUMA node, memory or threads went away",
        Ending::Wrong => "a wrong answer",
        Ending::Died => "the process or the program failed",
        Ending::TimedOut => "it did not end in its time",
    };
    format!("{how}; {NO_REASON}")
}

#[cfg(test)]
mod tests;
