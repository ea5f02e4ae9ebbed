//! What the program can do: one module a subcommand. A command takes values and a place to print to; it knows nothing of
//! flags.

pub mod ab;
pub mod advise;
pub mod audit;
pub mod c2c;
pub mod compare;
mod disk;
pub mod doctor;
pub mod exec;
pub mod fleet;
pub mod history;
pub mod import;
pub(crate) mod latencies;
pub mod lockutil;
pub mod numa;
pub mod predict;
pub mod render;
pub mod replicate;
pub mod selftest;
pub(crate) mod sizes;
pub mod sweep;
pub mod topo;
pub mod watch;

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use charz_topology::{Mapping, Near, Source, discover, place};

use crate::exit::{Error, Exit};
use crate::view::config::{self, Setting};
use crate::view::progress::note;
use crate::view::{explain, kernels, placement, present};
use charz_data::checks::Check;
use charz_data::report;
use charz_measure::{atomic_file, invoke};
use charz_render::json;

/// Where a file is named: standard input for a report that is read, standard output for one that is written.
pub const STREAM: &str = "-";

pub enum Command {
    Topo(Box<topo::Options>),
    Map {
        mapping: Mapping,
        threads: usize,
        /// The device whose CPUs and memory come first.
        near: Option<String>,
        source: Source,
        /// The file of latencies that the machine is inferred from, in place of the source.
        latencies: Option<PathBuf>,
        format: &'static placement::Format,
    },
    Kernels {
        of: kernels::Of,
        format: &'static kernels::Format,
    },
    Sweep(Box<sweep::Options>),
    Exec(Box<exec::Options>),
    CoreToCore(Box<c2c::Options>),
    Numa(Box<numa::Options>),
    Ab(Box<ab::Options>),
    Audit(audit::Options),
    Selftest(Box<selftest::Options>),
    Replicate(Box<replicate::Options>),
    Render(render::Options),
    Import(import::Options),
    Compare(compare::Options),
    Advise(advise::Options),
    History(Box<history::Options>),
    Predict(predict::Options),
    Fleet(fleet::Task),
    Watch(watch::Options),
    Lockutil(lockutil::Options),
    Doctor(doctor::Options),
    Explain {
        /// `None` selects all of them.
        check: Option<&'static Check>,
        format: &'static explain::Format,
    },
    Config {
        settings: Vec<Setting>,
        format: &'static config::Format,
    },
    /// The text of a generated page.
    Docs(Vec<u8>),
    Measure,
    /// Say how this program was built, for another that would have it measure.
    About,
}

impl Command {
    pub fn run(self, out: &mut dyn Write) -> Result<Exit, Error> {
        match self {
            Command::Topo(options) => topo::run(*options, out),
            Command::Map { mapping, threads, near, source, latencies, format } => {
                let machine = match &latencies {
                    Some(file) => latencies::infer(file, &Source::ThisMachine)?.machine,
                    None => discover(&source)?,
                };
                let near = near.map(|device| Near::of(&machine, &device)).transpose()?;
                let order = mapping.order(&machine)?;
                let placement = place(&near.as_ref().map_or(Ok(order.clone()), |near| near.order(order))?, threads);
                near.iter().filter_map(|near| placement::spilled(near, &placement.seats)).for_each(|text| note(&text));
                format.write.show(&machine, &mapping, &placement, near.as_ref(), out)?;
                Ok(Exit::Done)
            }
            Command::Kernels { of, format } => present(format, &of, out).map(|()| Exit::Done),
            Command::Sweep(options) => sweep::run(*options, out),
            Command::Exec(options) => exec::run(*options),
            Command::CoreToCore(options) => c2c::run(&options, out),
            Command::Numa(options) => numa::run(&options, out),
            Command::Ab(options) => ab::run(*options, out),
            Command::Audit(options) => audit::run(&options, out),
            Command::Selftest(options) => selftest::run(&options, out),
            Command::Replicate(options) => replicate::run(*options, out),
            Command::Render(options) => render::run(&options, out),
            Command::Import(options) => import::run(&options, out),
            Command::Compare(options) => compare::run(&options, out),
            Command::Advise(options) => advise::run(&options, out),
            Command::History(options) => history::run(*options, out),
            Command::Fleet(task) => fleet::run(task, out),
            Command::Predict(options) => predict::run(&options, out),
            Command::Watch(options) => watch::run(&options, out),
            Command::Lockutil(options) => lockutil::run(&options, out),
            Command::Doctor(options) => doctor::run(&options, out),
            Command::Explain { check, format } => present(format, &check, out).map(|()| Exit::Done),
            Command::Config { settings, format } => present(format, &settings[..], out).map(|()| Exit::Done),
            Command::Docs(text) => done(out.write_all(&text)),
            Command::About => done(json::write_pretty_line(&crate::provenance::tool(), out)),
            Command::Measure => done(invoke::serve(out)),
        }
    }
}

impl Command {
    /// Runs with a file in place of the output: it gets all of it, or stays as it was where the command is refused.
    pub fn run_into(self, file: PathBuf) -> Result<Exit, Error> {
        // It may be the only copy of a measurement.
        if self.inputs().iter().any(|input| atomic_file::same_file(&file, input)) {
            return Err(Error::bad_input(format!("--output: {file:?} is also an input; name another file")));
        }
        let file = sweep::name::output(file, true)?;
        if !self.writes_a_report() && report::is_report(&file) {
            return Err(Error::bad_input(format!(
                "--output: {file:?} is a report; name another file, or replace it with a report by --format json"
            )));
        }
        let cannot_write = |error: io::Error| {
            let sentence = format!("--output: cannot write {file:?}; name a file elsewhere");
            Error::ended(Exit::of_path(&error), sentence).caused_by(error)
        };
        // What cannot be written in the end is refused before minutes are spent.
        atomic_file::temporary(&file, 0o600).map_err(cannot_write)?;
        let mut result = Vec::new();
        let ended = self.run(&mut result);
        // What was measured is kept, however the command ends.
        if ended.is_ok() || !result.is_empty() {
            atomic_file::replace(&file, |out| out.write_all(&result)).map_err(cannot_write)?;
        }
        ended
    }

    fn writes_a_report(&self) -> bool {
        match self {
            Command::Render(render::Options { showing, .. }) | Command::Import(import::Options { showing, .. }) => {
                // A slip of a name is no wish to replace another report.
                showing.format.name == "json" && showing.is_typed
            }
            Command::History(options) => matches!(options.task, history::Task::Show(_, None)),
            _ => false,
        }
    }

    fn inputs(&self) -> Vec<PathBuf> {
        match self {
            Command::Render(options) => options.reports.clone(),
            Command::Import(options) => vec![options.table.clone()],
            Command::Compare(options) => options.inputs(),
            Command::Advise(options) => vec![options.report.clone()],
            Command::Lockutil(options) => vec![options.file.clone()],
            Command::Replicate(options) => options.inputs(),
            Command::Predict(options) => options.inputs(),
            Command::History(options) => history::file(options.file.clone()).into_iter().collect(),
            Command::Topo(options) => options.inputs(),
            Command::Map { source, latencies, .. } => file_of(source).into_iter().chain(latencies.clone()).collect(),
            Command::Fleet(task) => task.inputs(),
            _ => Vec::new(),
        }
    }
}

fn file_of(source: &Source) -> Option<PathBuf> {
    match source {
        Source::File(file) => Some(file.clone()),
        Source::ThisMachine | Source::Synthetic(_) => None,
    }
}

/// A text that is read from its begin to its end: standard input, a file, or a pipe, as `<(perf lock report)` is one. `name` is what errors
/// call it.
fn stream(path: &Path, name: &str) -> Result<Box<dyn Read>, Error> {
    if path.as_os_str() == STREAM {
        return Ok(Box::new(io::stdin()));
    }
    let unreadable =
        |error: io::Error| Error::ended(Exit::of_path(&error), format!("cannot read {name}")).caused_by(error);
    let kind = path.metadata().map_err(unreadable)?.file_type();
    if !kind.is_file() && !kind.is_fifo() {
        return Err(Error::bad_input(format!("{name} is neither a regular file nor a pipe; name a file")));
    }
    Ok(Box::new(File::open(path).map_err(unreadable)?))
}

fn done(written: io::Result<()>) -> Result<Exit, Error> {
    written.map(|()| Exit::Done).map_err(Error::from)
}
