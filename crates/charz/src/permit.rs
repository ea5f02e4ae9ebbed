//! Which programs may be started. What a file says is data: a program that it names is started only as [`permit`] allows, by whatever
//! command the file was read.

use std::fs::File;
use std::path::Path;

use charz_data::escape::quoted;
use charz_data::report::Report;
use charz_data::{Program, ReportedUnit, quote};
use charz_system::origin::{Invoker, exposure};
use charz_topology::Mapping;

use crate::exit::Error;
use crate::seal;

/// A program that may be started: by this type alone do commands start one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permitted(Program);

impl Permitted {
    /// The program with all that it is started with, secrets included. It is not for reports.
    pub(crate) fn program(&self) -> &Program {
        &self.0
    }

    /// The same program with its numbers in this unit.
    pub(crate) fn in_unit(self, unit: ReportedUnit) -> Self {
        Permitted(Program { unit, ..self.0 })
    }

    /// A word of a command line, with the program as reports keep it.
    pub(crate) fn recorded_in(&self, word: &str) -> String {
        let kept = self.0.recorded();
        let lines = [(Some(&self.0.command), Some(kept.command)), (self.0.setup.as_ref(), kept.setup)];
        for (line, kept) in lines.into_iter().filter_map(|(line, kept)| Some((line?, kept?))) {
            // A flag may stand before it.
            match word.strip_suffix(line.as_str()) {
                Some(flag) if flag.is_empty() || flag.ends_with('=') => return format!("{flag}{kept}"),
                _ => {}
            }
        }
        word.to_owned()
    }

    /// Puts the seal on a new report of this program.
    ///
    /// # Errors
    /// Why it has none, as a clause.
    pub(crate) fn seal(&self, report: &mut Report) -> Result<(), String> {
        report.seal = Some(seal::seal(report, &self.0)?);
        Ok(())
    }
}

/// What names a program.
pub(crate) enum Source<'a> {
    /// The words of this invocation, its environment, or a file of settings that [`settings`] permits.
    Words,
    /// A report or a journal.
    Report {
        path: &'a Path,
        /// The file that was read; `None` for standard input.
        file: Option<&'a File>,
        report: &'a Report,
        consent: &'a Consent,
    },
}

/// What the words of this invocation say of a report's program.
#[derive(Clone, Debug, Default)]
pub struct Consent {
    /// Whether it may be started, also if another user wrote the report.
    pub trusted: bool,
    /// The program, typed again.
    pub command: Option<String>,
    /// Its set-up, typed again.
    pub setup: Option<String>,
}

/// Whether a program may be started, by what names it:
///
/// * the words of this invocation: yes;
/// * a file of settings: if it is the invoker's own or root's, and lies where no other user can replace it;
/// * a report or journal: if this invocation types the same program, or says that it trusts that of the report; else under the conditions of
///   settings, and if its seal says that this user began it in this folder on this host with this plan and program.
///
/// A report whose seal does not hold fills the names in braces of its program with mappings that were typed for it, and no other text.
///
/// # Errors
/// A clause that says why not. It follows the name of the file.
pub(crate) fn permit(program: Program, source: &Source<'_>) -> Result<Permitted, String> {
    let Source::Report { path, file, report, consent } = source else { return Ok(Permitted(program)) };
    let Consent { trusted, command, setup } = consent;
    let typed =
        command.as_ref().map(|command| Program { command: command.clone(), setup: setup.clone(), ..program.clone() });
    if let Some(typed) = &typed
        && (typed.recorded() != program.recorded() || typed.is_withheld())
    {
        return Err(format!("names another program than was typed: {}", lines(&program)));
    }
    if typed.is_none() && program.is_withheld() {
        return Err(format!("keeps no values of the program's environment; type it: {}", lines(&program)));
    }
    let (is_typed, program) = (typed.is_some(), typed.unwrap_or(program));
    let sealed = seal::check(report, &program);
    // What was left out may be another value than before.
    let is_known = program.recorded() == program || report.seal.is_none() || *trusted;
    if let (true, false, Err(why)) = (is_typed, is_known, &sealed) {
        return Err(format!(
            "may have been begun with other values of the program's environment: {why}; --trust-program goes on"
        ));
    }
    if !is_typed && !trusted {
        let own = match file {
            Some(file) => settings(path, file),
            None => Err("names a program, and a stream has no owner".to_owned()),
        };
        let own = own.and_then(|()| sealed.clone().map_err(|why| format!("names a program, and {why}")));
        own.map_err(|why| {
            format!("{why}; check what it starts, then type it, or take --trust-program: {}", lines(&program))
        })?;
    }
    let mut mappings = report.floor.iter().chain(&report.cells).map(|cell| &cell.mapping);
    match mappings.find(|mapping| Mapping::of_data(mapping).is_err()).filter(|_| sealed.is_err()) {
        Some(mapping) => Err(format!("names a program, and fills it with {}, which is no mapping", quote(mapping))),
        None => Ok(Permitted(program)),
    }
}

/// Whether a program may be started that this file names, as far as its place decides that: others can neither write nor replace it.
///
/// # Errors
/// A clause that says why not. It follows the name of the file.
pub(crate) fn settings(path: &Path, file: &File) -> Result<(), String> {
    match exposure(file, path, &Invoker::current()) {
        Ok(None) => Ok(()),
        Ok(Some(exposure)) => Err(format!("names a program, and {exposure}")),
        Err(error) => Err(format!("names a program, and its place cannot be looked at ({error})")),
    }
}

/// A program as it is typed in a shell.
fn lines(program: &Program) -> String {
    let setup = program.setup.as_deref().map(|setup| format!(" --setup {}", quoted(setup))).unwrap_or_default();
    format!("--command {}{setup}", quoted(&program.command))
}

/// The program of a report, if it has one, as far as it may be started. `flag` is that for which it is.
///
/// # Errors
/// That it may not be started, or that one was typed and the report has none.
pub(crate) fn of_report(
    flag: &str,
    path: &Path,
    file: Option<&File>,
    report: &Report,
    consent: &Consent,
) -> Result<Option<Permitted>, Error> {
    let refuse = |why: String| Error::bad_input(format!("{flag}: {path:?} {why}"));
    if consent.command.is_none() && consent.setup.is_some() {
        return Err(refuse("has --setup typed without --command; type both as the report has them".into()));
    }
    match &report.plan.program {
        Some(program) => {
            permit(program.clone(), &Source::Report { path, file, report, consent }).map(Some).map_err(refuse)
        }
        None if consent.command.is_some() => Err(refuse("names no program; leave --command out".into())),
        None => Ok(None),
    }
}
