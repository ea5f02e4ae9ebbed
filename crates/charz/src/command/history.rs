use std::collections::BTreeSet;
use std::env;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::render::{Showing, read_with_text, show, show_page};
use crate::exit::{Error, Exit};
use crate::history::{Addition, Store};
use crate::settings::user_file;
use crate::view::look;
use charz_analysis::page::{self, Source};
use charz_claims::history::{Baseline, Series, Timeline, Track, Wanted};
use charz_data::report::Report;
use charz_render::history::{Tables, write_added, write_list, write_plot};
use charz_render::json::write_escaped;
use charz_words::history as words;

pub struct Options {
    /// `None` takes the user's.
    pub file: Option<PathBuf>,
    pub task: Task,
}

pub enum Task {
    Add {
        reports: Vec<PathBuf>,
        label: Option<String>,
        any_host: bool,
    },
    List(Tables),
    /// The report with this number, else the newest; as it was added, or rendered.
    Show(Option<i64>, Option<Showing>),
    Plot(Plot),
}

pub struct Plot {
    pub kernels: Vec<String>,
    pub mappings: Vec<String>,
    pub workers: Vec<u64>,
    pub parameters: Option<String>,
    pub changed: bool,
    pub shown: Shown,
}

pub enum Shown {
    Tables(Tables),
    Page(Showing),
}

pub(super) fn run(options: Options, out: &mut dyn Write) -> Result<Exit, Error> {
    let file = file(options.file)?;
    match options.task {
        Task::Add { reports, label, any_host } => {
            // Before the history is touched, or created.
            let read = |path: &PathBuf| {
                let (report, text) = read_with_text(path)?;
                Ok(Addition::new(path.clone(), &text, report))
            };
            let additions: Vec<Addition> = reports.iter().map(read).collect::<Result<_, Error>>()?;
            let mut store = Store::create(&file)?;
            let added = store.add(&additions, label.as_deref(), any_host)?;
            write_added(&reports, &added, &store.heads()?, out)?;
        }
        Task::List(format) => write_list(&Store::open(&file)?.list()?, format, &look::of_stdout(), out)?,
        Task::Show(id, how) => return show_report(&file, id, how.as_ref(), out),
        Task::Plot(plot) => return show_series(&file, &plot, out),
    }
    Ok(Exit::Done)
}

/// The report of a history that `new` is compared with, and notes for the reader.
pub(super) fn baseline(
    named: Option<PathBuf>,
    new: &Report,
    wanted: Wanted,
    rules: &charz_claims::compare::Options,
) -> Result<(Report, Vec<String>), Error> {
    let mut store = Store::open(&file(named)?)?;
    let entries = store.list()?;
    let chosen = Baseline::choose(&entries, new, wanted, rules);
    let chosen = chosen.map_err(|why| Error::bad_input(words::no_base(&why, &new.started)))?;
    Ok((store.read(chosen.id)?.0, words::baseline(&chosen)))
}

/// The file that was named, else that of `CHARZ_DB`, else the user's.
pub(super) fn file(named: Option<PathBuf>) -> Result<PathBuf, Error> {
    let file = named
        .or_else(|| env::var_os("CHARZ_DB").map(PathBuf::from))
        .or_else(|| user_file("XDG_DATA_HOME", ".local/share", "charz/history.db", |name| env::var_os(name)));
    file.filter(|file| !file.as_os_str().is_empty()).ok_or_else(|| {
        Error::bad_input(
            "the history has no file: --db or CHARZ_DB is empty, or neither XDG_DATA_HOME nor HOME is an absolute path; name one by \
             --db FILE",
        )
    })
}

fn show_report(file: &Path, id: Option<i64>, how: Option<&Showing>, out: &mut dyn Write) -> Result<Exit, Error> {
    let mut store = Store::open(file)?;
    let id = match id {
        Some(id) => id,
        None => store.list()?.last().map(|entry| entry.id).ok_or_else(|| empty(file))?,
    };
    let (report, text) = store.read(id)?;
    match how {
        Some(showing) => show(&[Source { name: &format!("report {id}"), report: &report }], showing, out),
        None => {
            write_escaped(&text, out)?;
            Ok(Exit::Done)
        }
    }
}

fn show_series(file: &Path, plot: &Plot, out: &mut dyn Write) -> Result<Exit, Error> {
    let entries = Store::open(file)?.list()?;
    let timeline = Timeline::new(&entries);
    let wanted: Vec<&Track<'_>> = timeline.tracks.iter().filter(|track| plot.wants(&track.series)).collect();
    if timeline.tracks.is_empty() {
        return Err(empty(file));
    }
    if wanted.is_empty() {
        return Err(no_series(&timeline));
    }
    let is_shown = |track: &&Track<'_>| !plot.changed || !track.changes.is_empty();
    let tracks: Vec<&Track<'_>> = wanted.iter().copied().filter(is_shown).collect();
    match &plot.shown {
        Shown::Page(showing) => show_page(page::history::history(&timeline, &wanted, &tracks), showing, out),
        Shown::Tables(format) => {
            write_plot(&timeline, &wanted, &tracks, *format, &look::of_stdout(), out)?;
            Ok(Exit::Done)
        }
    }
}

impl Plot {
    fn wants(&self, series: &Series<'_>) -> bool {
        let key = &series.key;
        let among = |list: &[String], name: &str| {
            let fits = |wanted: &String| match wanted.strip_suffix('*') {
                Some(start) => name.starts_with(start),
                None => wanted == name,
            };
            list.is_empty() || list.iter().any(fits)
        };
        among(&self.kernels, key.kernel)
            && among(&self.mappings, key.mapping)
            && (self.workers.is_empty() || self.workers.contains(&key.workers))
            && self.parameters.as_ref().is_none_or(|wanted| words::parameters(series).contains(wanted))
    }
}

fn empty(file: &Path) -> Error {
    Error::bad_input(format!("the history {file:?} is empty; charz history add REPORT adds a report"))
}

/// What there is, if none of it was asked for.
fn no_series(timeline: &Timeline<'_>) -> Error {
    let keys = || timeline.tracks.iter().map(|track| &track.series.key);
    let listed = |names: BTreeSet<&str>| names.into_iter().collect::<Vec<_>>().join(", ");
    let workers: BTreeSet<u64> = keys().map(|key| key.workers).collect();
    Error::bad_input(format!(
        "no series of the history fits; its kernels are {}, its mappings {}, its numbers of threads {}",
        listed(keys().map(|key| key.kernel).collect()),
        listed(keys().map(|key| key.mapping).collect()),
        workers.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
    ))
}
