use std::io::{self, Write};
use std::path::PathBuf;

use charz_topology::{Access, Machine, NumaNode, Source, discover, export_xml, machine_xml};

use super::render::read;
use super::sweep::{self, New};
use super::{file_of, latencies, sizes};
use crate::exit::{Error, Exit};
use crate::view::levels;
use crate::view::look;
use crate::view::present;
use crate::view::progress::note;
use crate::view::sizes as sizes_page;
use crate::view::topo::{self, Format};
use charz_claims::card::{About, Card};
use charz_claims::curve::{Bracket, Fit};
use charz_claims::numa;
use charz_data::escape::counted;
use charz_data::report::Report;
use charz_render::formats::{self, Draw, ReportWriter};
use charz_render::json;
use charz_render::look::TerminalStyle;
use charz_render::picture::png;

pub enum Options {
    Said {
        source: Source,
        format: &'static Format,
    },
    Png {
        source: Source,
    },
    Xml {
        source: Source,
        /// The report with what was measured of its memory, if any was.
        measured: Option<PathBuf>,
    },
    /// The machine that latencies show, beside what is said of it.
    Levels {
        latencies: PathBuf,
        claim: Source,
        shown: Shown,
    },
    /// Latencies by size beside the caches that a machine claims.
    Sizes {
        table: PathBuf,
        claim: Source,
        format: &'static sizes_page::Format,
    },
    /// What was measured of a machine, beside what is said of it.
    Card {
        measured: PathBuf,
        format: &'static formats::Format,
    },
    /// The same of this machine, now.
    Measure {
        new: Box<New>,
        format: &'static formats::Format,
    },
}

/// How a machine is shown.
#[derive(Clone, Copy)]
pub enum Shown {
    Text(&'static Format),
    Xml,
    Png,
}

impl Options {
    pub(super) fn inputs(&self) -> Vec<PathBuf> {
        let (source, measured) = match self {
            Options::Card { measured, .. } => (None, Some(measured)),
            Options::Xml { source, measured } => (file_of(source), measured.as_ref()),
            Options::Said { source, .. } | Options::Png { source } => (file_of(source), None),
            Options::Levels { latencies, claim, .. } => (file_of(claim), Some(latencies)),
            Options::Sizes { table, claim, .. } => (file_of(claim), Some(table)),
            Options::Measure { .. } => (None, None),
        };
        source.into_iter().chain(measured.cloned()).collect()
    }
}

/// The report, with what its curve shows of each claimed cache.
pub const JSON: &formats::Format = &formats::Format {
    name: "json",
    about: "the report itself, with what its curve shows of each claimed cache",
    write: Draw::Record(write_json),
};

fn write_json(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let card = Card::of(report);
    let mut all = Vec::new();
    formats::JSON.write(report, &TerminalStyle::PLAIN, &mut all)?;
    let mut all: serde_json::Value = serde_json::from_slice(&all).map_err(io::Error::other)?;
    let contradicted = |level: u32| card.contradictions.iter().any(|found| found.about() == About::Cache(level));
    let levels: Vec<(u32, Bracket)> = card.brackets(report);
    let mut caches = sizes_page::caches(&levels);
    for (cache, (level, bracket)) in caches.iter_mut().zip(&levels) {
        match (contradicted(*level), bracket.fit) {
            (true, _) => cache["verdict"] = "contradicted".into(),
            (false, Fit::Excluded { .. }) => cache["verdict"] = "not reliable".into(),
            _ => {}
        }
    }
    all["caches"] = caches.into();
    json::write_pretty_line(&all, out)
}

/// This machine, as hwloc XML, with what a report of it says.
pub const XML: &formats::Format = &formats::Format {
    name: "xml",
    about: "for lstopo, with what was measured as distances and memory attributes",
    write: Draw::Record(write_xml),
};

pub(super) fn run(options: Options, out: &mut dyn Write) -> Result<Exit, Error> {
    match options {
        Options::Said { source, format } => {
            present(format, &discover(&source)?, out)?;
        }
        Options::Png { source } => picture(&discover(&source)?, out)?,
        Options::Sizes { table, claim, format } => present(format, &sizes::compare(&table, &claim)?, out)?,
        Options::Levels { latencies, claim, shown } => {
            let levels = latencies::infer(&latencies, &claim)?;
            match shown {
                Shown::Text(format) => levels::write(&levels, format, &look::of_stdout(), out)?,
                Shown::Xml => out.write_all(machine_xml(&with_memory(levels.machine))?.as_bytes())?,
                Shown::Png => picture(&levels.machine, out)?,
            }
        }
        Options::Card { measured, format } => format.write(&read(&measured)?, &look::of_stdout(), out)?,
        Options::Measure { new, format } => return sweep::start(&new, format, out),
        Options::Xml { source, measured: None } => out.write_all(export_xml(&source, &[])?.as_bytes())?,
        Options::Xml { source, measured: Some(path) } => {
            let report = read(&path)?;
            if report.machine.node_of_strands() != discover(&source)?.node_of_strands() {
                return Err(Error::bad_input(format!(
                    "--measured: {path:?} was measured on another machine than {source}: CPUs or NUMA nodes differ; name the one \
                     that it was measured on, example: --topology machine.xml"
                )));
            }
            out.write_all(export_xml(&source, &accesses(&report))?.as_bytes())?;
        }
    }
    Ok(Exit::Done)
}

/// hwloc reads no machine without memory: what names none has one node of unknown size.
fn with_memory(mut machine: Machine) -> Machine {
    if machine.numa_nodes.is_empty() {
        machine.numa_nodes.push(NumaNode::unknown(Some(0)));
        machine.strands.iter_mut().for_each(|strand| (strand.numa, strand.numa_nodes) = (Some(0), vec![0]));
        machine.count_strands();
    }
    machine
}

fn picture(machine: &Machine, out: &mut dyn Write) -> Result<(), Error> {
    if look::is_terminal() {
        return Err(Error::bad_input("--format png is no text; name a file with --output"));
    }
    let mut picture = Vec::new();
    png(&topo::figure(machine), &mut picture).map_err(|error| Error::bad_input(error.to_string()))?;
    Ok(out.write_all(&picture)?)
}

/// What the report contains about memory; what is left out is reported on standard error.
fn accesses(report: &Report) -> Vec<Access> {
    let (accesses, left_out) = numa::accesses(report);
    if left_out > 0 {
        let numbers = counted(left_out, "suspect number");
        note(&format!("{numbers} left out, since XML has no mark for them; charz render shows them"));
    }
    accesses
}

fn write_xml(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let text = export_xml(&Source::ThisMachine, &accesses(report)).map_err(io::Error::other)?;
    out.write_all(text.as_bytes())
}
