//! `charz replicate`: what a source document ran, run here and told beside it.

use std::io::{self, Write};
use std::path::PathBuf;

use charz_topology::{Machine, Source, discover};

use super::render::read;
use super::sweep::{New, NewSweep, Stage};
use crate::exit::{Error, Exit};
use crate::limits::Limits;
use crate::plan::{Chosen, Plan};
use crate::point;
use crate::render::look::Look;
use crate::render::plan as plan_table;
use crate::render::replicate::{self as page, Format};
use crate::render::report::Show;
use crate::replicate::{Document, Figure, Place, Wanted, draw, prospect};
use crate::report::Report;

/// What to tell, and of what.
pub enum Options {
    /// The documents that there are.
    Documents,
    /// The figures of one, and what a sweep here could come to.
    List(Asked),
    /// They beside a report that is there.
    From {
        /// Which.
        asked: Asked,
        /// The report's file.
        report: PathBuf,
    },
    /// They beside a sweep that is made now.
    Measure {
        /// Which.
        asked: Asked,
        /// The sweep, whose cells are still to be filled in.
        new: Box<New>,
    },
}

/// Figures of a document, and how they are shown.
pub struct Asked {
    /// The document.
    pub document: &'static Document,
    /// Its figures; at least one.
    pub figures: Vec<&'static Figure>,
    /// How.
    pub format: &'static Format,
}

pub(super) fn run(options: Options, out: &mut dyn Write) -> Result<Exit, Error> {
    match options {
        Options::Documents => page::documents(out)?,
        Options::List(asked) => {
            let machine = discover(&Source::ThisMachine)?;
            let replication = prospect(asked.document, &asked.figures, &Place::of(&machine));
            (asked.format.list)(&replication, out)?;
        }
        Options::From { asked, report } => asked.write(&read(&report)?, &Look::PLAIN, out)?,
        Options::Measure { asked, new } => return measure(&asked, &new, out),
    }
    Ok(Exit::Done)
}

impl Show for Asked {
    fn for_people(&self) -> bool {
        self.format.for_people
    }

    fn write(&self, report: &Report, _: &Look, out: &mut dyn Write) -> io::Result<()> {
        (self.format.write)(&draw(self.document, &self.figures, report), out)
    }
}

fn measure(asked: &Asked, new: &New, out: &mut dyn Write) -> Result<Exit, Error> {
    let file = new.file()?;
    let name = &asked.document.name;
    let stage = Stage::set(new.clock, new.binder, new.wait)?;
    let limits = Limits::read();
    let chosen = asked.cells(&stage.machine)?;
    if chosen.is_empty() {
        return Err(Error::bad_input(format!(
            "nothing of what was asked for is measured by a sweep here; charz replicate {name} --list says why"
        )));
    }
    let mut kernels: Vec<_> = chosen.iter().map(|one| one.kernel).collect();
    // Each once: the cells of a kernel need not be neighbours.
    kernels.sort_by_key(|kernel| kernel.card().name);
    kernels.dedup_by_key(|kernel| kernel.card().name);
    let predictor = stage.predictor(&kernels, &new.request.params);
    if let Some((exit, _)) = stage.signals.received() {
        return Ok(exit);
    }
    let plan = Plan::of_chosen(&new.request, &chosen, &stage.machine, &limits, &predictor);
    let Some(file) = file else {
        plan_table::write(&plan, &limits, out)?;
        return Ok(Exit::Done);
    };
    NewSweep { options: new, stage: &stage, limits: &limits, predictor: &predictor, format: asked }
        .run(&plan, file, out)
}

impl Asked {
    /// The cells that answer the figures on a machine.
    pub(crate) fn cells(&self, machine: &Machine) -> Result<Vec<Chosen>, Error> {
        let wanted = self.document.wanted(&Place::of(machine), &self.figures);
        wanted.iter().map(chosen).collect()
    }
}

/// A cell as the plan takes it.
fn chosen(wanted: &Wanted) -> Result<Chosen, Error> {
    let kernel = charz_kernels::find(&wanted.kernel);
    Ok(Chosen {
        kernel: kernel.ok_or_else(|| Error::environment(format!("there is no kernel {:?}", wanted.kernel)))?,
        mapping: wanted.mapping.parse()?,
        workers: usize::try_from(wanted.workers).unwrap_or(usize::MAX),
        size: wanted.size,
        level: wanted.level.clone(),
        pages: wanted.pages.map(point::policy),
        stride: wanted.stride,
        memory: wanted.memory.as_deref().map(str::parse).transpose().map_err(Error::bad_input)?,
    })
}
