use std::error::Error as _;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write, stdin};
use std::path::{Path, PathBuf};
use std::sync::Once;

use super::STREAM;
use crate::anonymous::anonymous;
use crate::exit::{Error, Exit};
use crate::log;
use crate::view::look;
use charz_analysis::figure::Figure;
use charz_analysis::page::{self, Page, Source};
use charz_data::escape::plain;
use charz_data::report::{self, FileError, Kind, Report};
use charz_measure::journal;
use charz_measure::sweep::judge_report;
use charz_render::formats::{Draw, Format, ReportWriter};

pub struct Options {
    pub reports: Vec<PathBuf>,
    pub anonymous: bool,
    pub showing: Showing,
}

pub struct Showing {
    pub format: Format,
    /// Whether it was typed, and not taken from the ending of the file.
    pub is_typed: bool,
    /// Which figure of the page, where the view shows one.
    pub figure: Option<String>,
}

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<Exit, Error> {
    // A page is read elsewhere.
    let read = if options.showing.format.write.is_of_page() { read } else { read_named };
    let mut reports: Vec<Report> = options.reports.iter().map(|path| read(path)).collect::<Result<_, _>>()?;
    let mut names = names(&options.reports);
    if options.anonymous {
        reports = reports.into_iter().map(anonymous).collect();
        // A file is named after its host.
        names = numbered(names.len());
    }
    let sources: Vec<Source<'_>> = names.iter().zip(&reports).map(|(name, report)| Source { name, report }).collect();
    show(&sources, &options.showing, out)
}

pub(super) fn show(sources: &[Source<'_>], options: &Showing, out: &mut dyn Write) -> Result<Exit, Error> {
    let draw = options.format.write;
    if draw.is_of_page() {
        return show_page(page::page(sources), options, out);
    }
    let name = options.format.name;
    if options.figure.is_some() {
        return Err(Error::bad_input(format!("--figure is for formats that show figures; {name} shows the numbers")));
    }
    let reports: Vec<&Report> = sources.iter().map(|source| source.report).collect();
    match (draw, &reports[..]) {
        (Draw::Rows(write), reports) => write(reports, out)?,
        (Draw::Program(_), [report]) if report.plan.program.is_none() => {
            return Err(Error::bad_input(format!(
                "--format {name} shows the runs of a program, and this report has none; measure one with charz sweep --command"
            )));
        }
        (_, [report]) => options.format.write(report, &look::of_stdout(), out)?,
        _ => {
            return Err(Error::bad_input(format!(
                "--format {name} shows one report at a time; charz compare A B compares two; html, markdown, csv and runs-csv show several"
            )));
        }
    }
    Ok(Exit::Done)
}

/// Shows a page, or a figure of it.
pub(super) fn show_page(page: Page, options: &Showing, out: &mut dyn Write) -> Result<Exit, Error> {
    let (format, figure) = (options.format, options.figure.as_deref());
    match format.write {
        Draw::Page(write) => write(&only(page, figure)?, &look::of_stdout(), out)?,
        Draw::Figure(write) => write(the_figure(&page, figure, format.name)?, out)?,
        Draw::Binary(write) => {
            if look::is_terminal() {
                let name = format.name;
                return Err(Error::bad_input(format!("--format {name} is no text; name a file with --output")));
            }
            let mut picture = Vec::new();
            write(the_figure(&page, figure, format.name)?, &mut picture)
                .map_err(|error| Error::bad_input(error.to_string()))?;
            out.write_all(&picture)?;
        }
        _ => return Err(Error::bad_input(format!("--format {} shows a single report", format.name))),
    }
    Ok(Exit::Done)
}

fn only(mut page: Page, id: Option<&str>) -> Result<Page, Error> {
    let Some(id) = id else { return Ok(page) };
    find(&page, id)?;
    for section in &mut page.sections {
        section.figures.retain(|figure| figure.id == id);
    }
    page.sections.retain(|section| !section.figures.is_empty());
    // What is said of all the others would hide it.
    page.findings.clear();
    page.doubts.clear();
    Ok(page)
}

fn the_figure<'a>(page: &'a Page, id: Option<&str>, view: &str) -> Result<&'a Figure, Error> {
    let mut all = page.figures();
    match (id, all.next(), all.next()) {
        (Some(id), ..) => find(page, id),
        (None, Some(only), None) => Ok(only),
        (None, None, _) => Err(Error::bad_input("there is nothing in the report that a figure could show")),
        (None, Some(_), Some(_)) => Err(Error::bad_input(format!(
            "--format {view} shows one figure, and there are several; name one with --figure: {}",
            ids(page)
        ))),
    }
}

fn find<'a>(page: &'a Page, id: &str) -> Result<&'a Figure, Error> {
    let found = page.figures().find(|figure| figure.id == id);
    found.ok_or_else(|| Error::bad_input(format!("--figure: there is no {id:?}; choose from {}", ids(page))))
}

fn ids(page: &Page) -> String {
    page.figures().map(|figure| figure.id.as_str()).collect::<Vec<_>>().join(", ")
}

/// What the reports are called beside each other: their files' names without folder and ending, numbered where they are the same.
pub(super) fn names(files: &[PathBuf]) -> Vec<String> {
    let stem = |file: &PathBuf| {
        if file.as_os_str() == STREAM {
            return "stdin".into();
        }
        let plain = if report::is_packed(file) { file.with_extension("") } else { file.clone() };
        plain.file_stem().map_or("report".into(), |stem| stem.to_string_lossy().into_owned())
    };
    let stems: Vec<String> = files.iter().map(stem).collect();
    let named = |(at, stem): (usize, &String)| match stems.iter().filter(|other| *other == stem).count() {
        1 => stem.clone(),
        _ => format!("{stem} ({})", stems[..=at].iter().filter(|other| *other == stem).count()),
    };
    stems.iter().enumerate().map(named).collect()
}

/// The same of reports whose files are not to be named.
fn numbered(count: usize) -> Vec<String> {
    match count {
        1 => vec!["report".into()],
        _ => (1..=count).map(|number| format!("report {number}")).collect(),
    }
}

/// Whether this is no regular file, or one of JSON that is no report of charz.
pub(super) fn is_something_else(path: &Path) -> bool {
    path.metadata().is_ok_and(|file| !file.is_file()) || report::kind(path) == Kind::OtherJson
}

/// Reads a report that the user named; of one that is not there yet, or is still a journal, it says how to get it.
pub(super) fn read(path: &Path) -> Result<Report, Error> {
    read_with_text(path).map(|(report, _)| report)
}

/// The same for a reader who may go on with it where it is.
pub(super) fn read_named(path: &Path) -> Result<Report, Error> {
    read_open(path).map(|(report, _)| report)
}

/// As [`read_named`], with the file that was read; `None` for standard input.
pub(super) fn read_open(path: &Path) -> Result<(Report, Option<File>), Error> {
    let (report, _, opened) = read_all(path)?;
    let file = opened.is_some().then(|| path.to_string_lossy().into_owned());
    Ok((Report { file, ..report }, opened))
}

pub(super) fn read_with_text(path: &Path) -> Result<(Report, String), Error> {
    read_all(path).map(|(report, text, _)| (report, text))
}

fn read_all(path: &Path) -> Result<(Report, String, Option<File>), Error> {
    if path.as_os_str() == STREAM {
        return read_stream("standard input", stdin().lock()).map(|(report, text)| (report, text, None));
    }
    let name = format!("{path:?}");
    let unfinished = |report: &Path| {
        Error::bad_input(format!(
            "{name} belongs to a sweep that was not finished, or still runs; charz sweep --resume {report:?} finishes it, \
             with --budget 1ms without measuring more"
        ))
    };
    if journal::is_journal(path) {
        return Err(unfinished(&path.with_extension("")));
    }
    let (report, text, file) = report::read_open(path).map_err(|error| match error.kind() {
        Some(ErrorKind::NotFound) if journal::is_journal(&journal::beside(path)) => unfinished(path),
        _ => unreadable(error),
    })?;
    log::line("read", || format!("{path:?}, {} bytes, report {}", text.len(), report.id));
    Ok((judged(report), text, Some(file)))
}

/// The system refused to read it, or it is no report.
pub(super) fn unreadable(error: FileError) -> Error {
    let refused = error.source().and_then(|source| source.downcast_ref::<io::Error>());
    Error::new(refused.map_or(Exit::BadInput, Exit::of_path), error)
}

/// As [`read_with_text`], from a stream that errors call `name`.
pub(super) fn read_stream(name: &str, stream: impl Read) -> Result<(Report, String), Error> {
    let (report, text) = report::read_stream(name, stream).map_err(unreadable)?;
    Ok((judged(report), text))
}

/// Judges a report by the rules of this version.
fn judged(mut report: Report) -> Report {
    say_rules(&report, true);
    judge_report(&mut report);
    report
}

/// Says once that another version wrote a report, and whose rules its numbers follow: those of this one if it is judged.
pub(super) fn say_rules(report: &Report, is_judged: bool) {
    static SAID: Once = Once::new();
    let (own, version) = (env!("CARGO_PKG_VERSION"), plain(&report.tool.version));
    if version != own {
        let rules = if is_judged { own } else { &*version };
        let line = format!("charz: note: written by charz {version}; numbers and warnings are by the rules of {rules}");
        SAID.call_once(|| look::say(&line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_of_one_name_are_numbered() {
        let files = ["a/x.json", "b/x.json.gz", "y.json", STREAM].map(PathBuf::from);
        assert_eq!(names(&files), ["x (1)", "x (2)", "y", "stdin"]);
    }
}
