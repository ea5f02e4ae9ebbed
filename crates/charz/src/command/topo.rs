use std::io::{self, Write};
use std::path::PathBuf;

use charz_topology::{Access, Source, discover, export_xml};

use super::file_of;
use super::render::read;
use super::sweep::{self, New};
use crate::exit::{Error, Exit};
use crate::view::look;
use crate::view::present;
use crate::view::progress::note;
use crate::view::topo::{self, Format};
use charz_claims::numa;
use charz_data::escape::counted;
use charz_data::report::Report;
use charz_render::formats::{self, Draw, ReportWriter};
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

impl Options {
    pub(super) fn inputs(&self) -> Vec<PathBuf> {
        let (source, measured) = match self {
            Options::Card { measured, .. } => (None, Some(measured)),
            Options::Xml { source, measured } => (file_of(source), measured.as_ref()),
            Options::Said { source, .. } | Options::Png { source } => (file_of(source), None),
            Options::Measure { .. } => (None, None),
        };
        source.into_iter().chain(measured.cloned()).collect()
    }
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
        Options::Png { .. } if look::is_terminal() => {
            return Err(Error::bad_input("--format png is no text; name a file with --output"));
        }
        Options::Png { source } => {
            let mut picture = Vec::new();
            png(&topo::figure(&discover(&source)?), &mut picture)
                .map_err(|error| Error::bad_input(error.to_string()))?;
            out.write_all(&picture)?;
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
