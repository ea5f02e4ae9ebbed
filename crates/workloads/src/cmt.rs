//! `cmt-*`: units of work in a given time, after N. Nagarajayya, "Improving application efficiency through chip multi-threading"
//! (Sun Microsystems, 2005), section 3.
//!
//! Each worker does unit after unit of one kind, and looks at its watch between them. It counts its units for itself, in a register; the
//! source adds them to a common count at the end, here they are in the worker's lap. So the rate of one thread, the rate of all and
//! the real duration follow from the same report.
//!
//! In a mix ([`Mix`]) the workers of a kernel do units of several kinds, and it counts those of its own: units of different kinds
//! have no sum.

use std::sync::Arc;

use charz_data::card::ROOM;
use charz_data::params::{MEMORY, MIX, PAGES, PROCESS, SIZE, SPAN};
use charz_data::{Bytes, Card, Family, Metric, Mix, Params, UnitKind, Work};

use crate::folder::Folder;
use charz_kernels::block::Region;
use charz_kernels::kernel::{Axes, Error, Kernel, Sizes, Stage, Worker};
use charz_kernels::pace::Pace;
use charz_kernels::plain::{Extent, kernels, stage};
use charz_kernels::watch::Watch;

mod compute;
mod files;
pub(crate) mod quota;
mod working_set;

use compute::Compute;
use files::Files;
use working_set::WorkingSet;

/// Units that are alike between two looks at the watch, at most: the shortest takes some microseconds.
const MOST_UNITS: u64 = 64;

const SOURCE: &str = "N. Nagarajayya, Improving Application Efficiency Through Chip Multi-Threading (Sun Microsystems, 2005), \
                      section 3.1";

const CARD: Card = Card::new("", Family::Workload, "", Metric::ops("one unit, of the kernel's own kind in a mix"))
    .params(&[&SPAN, &MIX, &PROCESS])
    .source(SOURCE);

const FILES: Card = CARD
    .uncounted_traffic(
        "the file system does the work, its type is in brackets; the folder is TMPDIR, or /var/tmp without it. Files have no name \
         (O_TMPFILE) or lose it when they are made, so none is left behind",
    )
    .blocks_in_kernel(true);

kernels! {
    Cmt::new, UnitKind::Compute, Files::PerUnit => CARD
        .named("cmt-compute", "does units of arithmetic, four chains of 4096 multiplications and additions, until the time is over")
        .max_per_cycle(ROOM / compute::LEAST_CYCLES);
    Cmt::new, UnitKind::WorkingSet, Files::PerUnit => CARD
        .named("cmt-working-set", "does units of 1024 updates of lines of its part of a working set, each found by the one before, \
            until the time is over; the set is divided among the workers that do so")
        .uncounted_traffic("all workers together have a set of the size, in equal parts: one that exceeds a cache and not the caches of \
            all workers shows more than twice the rate with twice the workers")
        .params(&[&SIZE, &MEMORY, &PAGES, &SPAN, &MIX, &PROCESS]);
    Cmt::new, UnitKind::Io, Files::PerUnit => FILES
        .named("cmt-io-open", "does units of opening a new file, writing 8 KiB, reading them and closing the file, until the time is \
            over");
    Cmt::new, UnitKind::Io, Files::Once => FILES
        .named("cmt-io", "does units of writing 8 KiB to its open file and reading them, until the time is over");
    Cmt::new, UnitKind::Io, Files::Synced => FILES
        .named("cmt-io-sync", "does units of writing 8 KiB to its open file, waiting for the disk (fdatasync), and reading them, until \
            the time is over");
}

/// A kernel that counts units of one kind, and the files of its workers that do I/O.
struct Cmt {
    card: &'static Card,
    counted: UnitKind,
    files: Files,
}

impl Cmt {
    const fn new(card: &'static Card, counted: UnitKind, files: Files) -> Cmt {
        Cmt { card, counted, files }
    }

    /// The kind that each worker does.
    fn kinds(&self, mix: Mix, workers: usize) -> Result<Vec<UnitKind>, Error> {
        let unavailable = |reason: String| Err(Error::Unavailable(format!("{} {reason}", self.card.name)));
        let (threads, least) = (mix.threads(), self.card.workers.min());
        match workers as u64 {
            0 => return unavailable(format!("takes at least {least} workers, not 0: give it more threads")),
            _ if threads == 0 => return Ok(vec![self.counted; workers]),
            workers if workers.is_multiple_of(threads) => {}
            workers => {
                return unavailable(format!("takes multiples of {threads} workers in a mix of {mix}, not {workers}"));
            }
        }
        let kinds: Vec<_> = (0..workers as u64).map(|rank| mix.kind(rank)).collect();
        if !kinds.contains(&self.counted) {
            let own = self.counted;
            return unavailable(format!("counts {own} units, and a mix of {mix} has no thread for them"));
        }
        Ok(kinds)
    }

    /// The working set of all workers. That of a mix in which it is not what is counted is the source's.
    fn set_bytes(&self, params: &Params) -> u64 {
        match self.counted {
            UnitKind::WorkingSet => params.size_bytes,
            UnitKind::Compute | UnitKind::Io => working_set::SOURCE_BYTES,
        }
    }
}

impl Kernel for Cmt {
    fn card(&self) -> &'static Card {
        self.card
    }

    fn axes(&self) -> Axes {
        let sizes = if self.card.obeys(&SIZE) { Sizes::BetweenCaches(working_set::SOURCE_BYTES) } else { Sizes::Block };
        Axes { sizes, ..Axes::NONE }
    }

    fn footprint(&self, params: &Params) -> Bytes {
        self.footprint_together(params, 1)
    }

    fn footprint_together(&self, params: &Params, workers: usize) -> Bytes {
        let sets = match params.mix.threads() {
            0 if self.counted == UnitKind::WorkingSet => workers as u64,
            0 => 0,
            threads => params.mix.working_set * (workers as u64).div_ceil(threads),
        };
        let part = working_set::part_lines(self.set_bytes(params), sets) * 64;
        Bytes(
            params
                .pages
                .footprint(part)
                .0
                .saturating_mul(sets)
                .saturating_add(files::BLOCK as u64 * 2 * workers as u64),
        )
    }

    fn fits(&self, params: &Params, workers: usize) -> Result<(), Error> {
        self.kinds(params.mix, workers).map(drop)
    }

    fn stage(&self, params: &Params, workers: usize) -> Result<Box<dyn Stage>, Error> {
        let (name, counted, files, params) = (&*self.card.name, self.counted, self.files, *params);
        let kinds = self.kinds(params.mix, workers)?;
        let has = |kind| kinds.contains(&kind);
        let folder = if has(UnitKind::Io) { Some(Arc::new(Folder::find(name)?)) } else { None };
        let variant = match (&folder, counted) {
            (Some(folder), UnitKind::Io) => folder.file_system(),
            (_, UnitKind::Compute) => "u64 multiply-add",
            _ => "read-modify-write",
        };
        let sets = kinds.iter().filter(|kind| **kind == UnitKind::WorkingSet).count() as u64;
        let lines = working_set::part_lines(self.set_bytes(&params), sets);
        stage(variant, Extent::Span(params.span()), move |rank| {
            let of = Of { name, counts: kinds[rank] == counted };
            Ok(match (kinds[rank], &folder) {
                (UnitKind::Io, Some(folder)) => of.worker(files.open(name, Arc::clone(folder), rank)?),
                (UnitKind::WorkingSet, _) => of.worker(WorkingSet::new(lines, params.pages, rank)?),
                _ => of.worker(Compute::new(rank)),
            })
        })
    }
}

/// What workers do, unit by unit.
trait Unit: 'static {
    /// Whether the worker alone takes part in a unit, so some of them foretell the time of the next.
    const ALIKE: bool;

    /// Untimed, before each run.
    fn prepare(&mut self);

    fn unit(&mut self) -> Result<(), Error>;

    /// What is wrong after so many units since it was prepared, if anything.
    fn fault(&mut self, units: u64) -> Option<String>;

    fn region(&self) -> Option<Region> {
        None
    }
}

/// A worker of a kernel.
struct Of {
    name: &'static str,
    counts: bool,
}

impl Of {
    fn worker<U: Unit>(self, unit: U) -> Box<dyn Worker> {
        Box::new(Doer {
            of: self,
            unit,
            pace: Pace::up_to(if U::ALIKE { MOST_UNITS } else { 1 }),
            done: 0,
            refused: None,
        })
    }
}

struct Doer<U> {
    of: Of,
    unit: U,
    pace: Pace,
    /// Units of the last run.
    done: u64,
    refused: Option<Error>,
}

impl<U: Unit> Doer<U> {
    fn do_units(&mut self, watch: &Watch) -> Result<(), Error> {
        let blocks = U::ALIKE && self.of.counts;
        self.pace.resume();
        while !(if blocks { watch.should_stop_after(self.done) } else { watch.should_stop() }) {
            for _ in 0..self.pace.attempts() {
                self.unit.unit()?;
                self.done += 1;
            }
            self.pace.adapt();
        }
        Ok(())
    }
}

impl<U: Unit> Worker for Doer<U> {
    fn prepare(&mut self) {
        self.unit.prepare();
        (self.done, self.refused) = (0, None);
    }

    fn run(&mut self, watch: &Watch) -> Work {
        self.refused = self.do_units(watch).err();
        Work::ops(if self.of.counts { self.done } else { 0 })
    }

    fn verify(&mut self) -> Result<(), Error> {
        self.refused.take().map_or(Ok(()), Err)?;
        self.unit.fault(self.done).map_or(Ok(()), |fault| Err(Error::void(self.of.name, fault)))
    }

    fn region(&self) -> Option<Region> {
        self.unit.region()
    }
}

#[cfg(test)]
mod tests;
