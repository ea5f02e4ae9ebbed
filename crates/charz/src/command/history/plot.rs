//! `charz history plot`.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

use crate::command::render::{Showing, show_page};
use crate::exit::{Error, Exit};
use crate::history::{Series, Store, Timeline, Track};
use crate::page;
use crate::render::history::{PlotFormat, View};

/// Which series to show, and how.
pub struct Plot {
    /// Kernels; none is all.
    pub kernels: Vec<String>,
    /// Mappings; none is all.
    pub mappings: Vec<String>,
    /// Numbers of workers; none is all.
    pub workers: Vec<u64>,
    /// Words that parameters must hold.
    pub parameters: Option<String>,
    /// Whether series without a change are left out.
    pub changed: bool,
    /// How.
    pub shown: Shown,
}

/// How to show series.
pub enum Shown {
    /// In a format of their own.
    Own(&'static PlotFormat),
    /// As a page, or a figure of it.
    Page(Showing),
}

pub(super) fn run(file: &Path, task: &Plot, out: &mut dyn Write) -> Result<Exit, Error> {
    if let Shown::Page(showing) = &task.shown {
        showing.spare(file)?;
    }
    let (entries, series) = Store::open(file)?.read()?;
    let timeline = Timeline::new(entries, series);
    let wanted: Vec<&Track> = timeline.tracks.iter().filter(|track| task.wants(&track.series)).collect();
    if wanted.is_empty() {
        return Err(nothing(file, &timeline));
    }
    let tracks = wanted.into_iter().filter(|track| !(task.changed && track.changes.is_empty())).collect();
    let view = View { timeline: &timeline, tracks };
    match &task.shown {
        Shown::Own(format) => (format.write)(&view, out)?,
        Shown::Page(showing) => return show_page(page::history(&timeline, &view.tracks), showing, out),
    }
    Ok(Exit::Done)
}

impl Plot {
    fn wants(&self, series: &Series) -> bool {
        let among = |list: &[String], name: &str| {
            let fits = |wanted: &String| match wanted.strip_suffix('*') {
                Some(start) => name.starts_with(start),
                None => wanted == name,
            };
            list.is_empty() || list.iter().any(fits)
        };
        among(&self.kernels, &series.kernel)
            && among(&self.mappings, &series.mapping)
            && (self.workers.is_empty() || self.workers.contains(&series.workers))
            && self.parameters.as_ref().is_none_or(|words| series.parameters.label().contains(words))
    }
}

/// What there is, where nothing of it was asked for.
fn nothing(file: &Path, timeline: &Timeline) -> Error {
    let kernels: BTreeSet<&str> = timeline.tracks.iter().map(|track| track.series.kernel.as_str()).collect();
    let mappings: BTreeSet<&str> = timeline.tracks.iter().map(|track| track.series.mapping.as_str()).collect();
    let workers: BTreeSet<u64> = timeline.tracks.iter().map(|track| track.series.workers).collect();
    if kernels.is_empty() {
        return Error::bad_input(format!("the history {file:?} has no cells yet; charz history add REPORT adds them"));
    }
    let words = |names: BTreeSet<&str>| names.into_iter().collect::<Vec<_>>().join(", ");
    let numbers: Vec<String> = workers.iter().map(u64::to_string).collect();
    Error::bad_input(format!(
        "no series of the history is asked for by this: its kernels are {}, its mappings {}, its numbers of workers {}",
        words(kernels),
        words(mappings),
        numbers.join(", ")
    ))
}
