#[cfg(test)]
mod tests;

use std::io::{self, Write};
use std::path::PathBuf;

use charz_topology::{Machine, Mapping, Source, discover};

use super::predict::placed;
use super::render::read_named;
use super::sweep::{self, New};
use crate::exit::{Error, Exit};
use crate::view::look;
use charz_data::report::Report;
use charz_data::{Arrange, CellSpec, Params};
use charz_measure::harness::counters;
use charz_measure::limits::Limits;
use charz_measure::plan::{self, Plan, PlanError};
use charz_model::{Placed, Topology};
use charz_render::formats::ReportWriter;
use charz_render::look::TerminalStyle;
use charz_render::replicate::{Format, ListWriter};
use charz_replicate::{Document, Figure, Kernels, Refusal, Target, evaluate, feasibility};

pub enum Options {
    Documents(&'static ListWriter),
    List(Selection),
    From { selection: Selection, report: PathBuf, against: Option<PathBuf> },
    Measure { selection: Selection, new: Box<New> },
}

impl Options {
    /// The files that are read.
    pub(super) fn inputs(&self) -> Vec<PathBuf> {
        match self {
            Options::From { report, against, .. } => std::iter::once(report).chain(against).cloned().collect(),
            _ => Vec::new(),
        }
    }
}

pub struct Selection {
    pub document: &'static Document,
    pub figures: Vec<&'static Figure>,
    pub format: &'static Format,
}

pub(super) fn run(options: Options, out: &mut dyn Write) -> Result<Exit, Error> {
    let look = look::of_stdout();
    match options {
        Options::Documents(format) => (format.write)(&look, out)?,
        Options::List(selection) => {
            let target = Target::new(&discover(&Source::ThisMachine)?, HERE);
            let replication = feasibility(selection.document, &selection.figures, &target).with_models(placing);
            (selection.format.write)(&replication, &look, out)?;
        }
        Options::From { selection, report, against } => {
            let against = against.as_deref().map(read_named).transpose()?;
            selection.write_beside(&read_named(&report)?, against.as_ref(), KERNELS, &look, out)?;
        }
        Options::Measure { selection, new } => return measure(&selection, &new, out),
    }
    Ok(Exit::Done)
}

impl ReportWriter for Selection {
    fn for_people(&self) -> bool {
        ["table", "markdown"].contains(&self.format.name)
    }

    fn write(&self, report: &Report, look: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
        self.write_beside(report, None, HERE, look, out)
    }
}

/// What is known of kernels on any machine.
const KERNELS: Kernels = Kernels { admits, counters: || Ok(()), footprint };

/// What is known of them on this one: what a list refuses, a run does not ask for again.
const HERE: Kernels = Kernels { admits: runs, counters: counters::of_processor, footprint };

fn footprint(kernel: &str, params: &Params, workers: u64) -> Option<u64> {
    let workers = usize::try_from(workers).ok()?;
    charz_workloads::find(kernel).map(|kernel| kernel.footprint_together(params, workers).0)
}

/// Where threads are on a document's machine.
fn placing(machine: &str, placements: &[(&str, usize)]) -> Option<(Topology, Vec<Placed>)> {
    let machine = discover(&Source::Synthetic(machine.to_owned())).ok()?;
    let topology = Topology::of(&machine);
    let places = placements
        .iter()
        .map(|(mapping, threads)| placed(&topology, &machine, &Mapping::of_data(mapping).ok()?, *threads).ok());
    let places = places.collect::<Option<Vec<_>>>()?;
    Some((topology, places))
}

/// A kernel that does not exist refuses nothing: a report may be of another charz.
fn admits(kernel: &str, workers: u64) -> Result<(), Refusal> {
    let Some(kernel) = charz_workloads::find(kernel) else { return Ok(()) };
    let count = kernel.card().workers;
    match count.allows(usize::try_from(workers).unwrap_or(usize::MAX)) {
        true => Ok(()),
        false => Err(Refusal::Threads { least: count.min(), or_more: count.allows(count.min() + 1) }),
    }
}

/// Whether this machine has what the kernel needs, too.
fn runs(kernel: &str, workers: u64) -> Result<(), Refusal> {
    admits(kernel, workers)?;
    let refusal = |error: charz_kernels::Error| Refusal::Needs(error.to_string().into());
    charz_workloads::find(kernel).map_or(Ok(()), |kernel| kernel.check().map_err(refusal))
}

impl Selection {
    fn write_beside(
        &self,
        report: &Report,
        against: Option<&Report>,
        kernels: Kernels,
        look: &TerminalStyle,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let replication = evaluate(self.document, &self.figures, report, against, kernels).with_models(placing);
        (self.format.write)(&replication, look, out)
    }

    pub(crate) fn cells(&self, machine: &Machine) -> Vec<CellSpec> {
        self.document.cells(&self.figures, &Target::new(machine, KERNELS))
    }
}

fn measure(selection: &Selection, new: &New, out: &mut dyn Write) -> Result<Exit, Error> {
    let kernels = |machine: &Machine, _: &Limits| {
        let specs = selection.cells(machine);
        if specs.is_empty() {
            return Err(Error::bad_input(format!(
                "a sweep on this machine replicates none of these figures; charz replicate {} --list has the reasons",
                selection.document.citation.name
            )));
        }
        let mut kernels = specs.iter().map(plan::kernel).collect::<Result<Vec<_>, PlanError>>()?;
        kernels.arrange_by_key(|kernel| &*kernel.card().name);
        kernels.dedup_by_key(|kernel| &*kernel.card().name);
        Ok(kernels)
    };
    sweep::measure(new, selection, out, kernels, |_, machine, limits, predictor| {
        let specs = selection.cells(machine);
        Ok((Plan::of_specs(&new.request, &specs, machine, limits, predictor)?, None))
    })
}
