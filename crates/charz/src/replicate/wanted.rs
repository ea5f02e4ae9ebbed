//! The cells that answer a document.

use super::data::{CellSpec, Claim, Document, Figure, Series};
use super::place::Place;
use super::take::Take;
use crate::render::text::counted;
use crate::report::PageKind;

/// A cell that answers something of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// The kernel's name.
    pub kernel: String,
    /// The mapping.
    pub mapping: String,
    /// The number of workers.
    pub workers: u64,
    /// The size of a worker's block in bytes, where the document has one.
    pub size: Option<u64>,
    /// The level of caches that is to hold the blocks, in place of a size.
    pub level: Option<String>,
    /// The kind of pages.
    pub pages: Option<PageKind>,
    /// Bytes from one place of a block that a load may read to the next.
    pub stride: Option<u64>,
    /// Where the blocks are put.
    pub memory: Option<String>,
}

impl Wanted {
    /// A cell of a specification, with one of its kernels.
    pub(super) fn new(spec: &CellSpec, kernel: &str, workers: u64) -> Wanted {
        Wanted {
            kernel: kernel.to_owned(),
            mapping: spec.mapping.clone(),
            workers,
            size: spec.size,
            level: spec.level.clone(),
            pages: spec.pages,
            stride: spec.stride,
            memory: spec.memory.clone(),
        }
    }
}

impl CellSpec {
    /// Its kernels: the one, and those that are added to it.
    pub(super) fn kernels(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.kernel).chain(&self.plus)
    }

    /// Whether its kernels take so many workers; why not, as a clause.
    pub(super) fn takes(&self, workers: u64) -> Result<(), String> {
        let crews = self.kernels().filter_map(|name| Some((name, charz_kernels::find(name)?.card().crew)));
        let workers = usize::try_from(workers).unwrap_or(usize::MAX);
        let refusing = crews.into_iter().find(|(_, crew)| !crew.admits(workers));
        refusing.map_or(Ok(()), |(name, crew)| {
            let more = if crew.admits(crew.least() + 1) { " or more" } else { "" };
            Err(format!("{name} takes {}{more}, not {workers}", counted(crew.least(), "worker")))
        })
    }
}

impl Document {
    /// The cells that answer these figures on a machine, each once.
    pub fn wanted(&self, place: &Place, figures: &[&Figure]) -> Vec<Wanted> {
        let mut wanted = Vec::new();
        for figure in figures.iter().filter(|figure| figure.cannot.is_none()) {
            for series in &figure.series {
                wanted.extend(of_series(series, place));
            }
            for claim in &figure.claims {
                wanted.extend(of_claim(claim, place));
            }
        }
        let mut distinct: Vec<Wanted> = Vec::new();
        for cell in wanted {
            if !distinct.contains(&cell) {
                distinct.push(cell);
            }
        }
        distinct
    }
}

fn of_series(series: &Series, place: &Place) -> Vec<Wanted> {
    let counts = if series.here.is_empty() { &series.workers } else { &series.here };
    let numbers: Vec<u64> = counts.iter().filter_map(|count| count.one_on(place).ok()).collect();
    series.cell.iter().flat_map(|spec| cells(spec, &series.take, &numbers)).collect()
}

fn of_claim(claim: &Claim, place: &Place) -> Vec<Wanted> {
    if claim.needs.iter().any(|need| place.lacks(*need).is_some()) {
        return Vec::new();
    }
    let numbers: Vec<u64> = claim.workers.iter().filter_map(|count| count.on(place).ok()).flatten().collect();
    let terms = [Some(&claim.left), claim.right.as_ref()].into_iter().flatten();
    let of_term = |term: &super::data::Term| match &term.workers {
        None => cells(&term.cell, &term.take, &numbers),
        Some(count) => cells(&term.cell, &term.take, count.one_on(place).ok().as_slice()),
    };
    terms.flat_map(of_term).collect()
}

fn cells(spec: &CellSpec, take: &Take, numbers: &[u64]) -> Vec<Wanted> {
    // What is against one worker needs that one too.
    let one = (*take == Take::Speedup && !numbers.is_empty() && !numbers.contains(&1)).then_some(1);
    let numbers = one.into_iter().chain(numbers.iter().copied());
    let numbers = numbers.filter(|&workers| spec.takes(workers).is_ok());
    numbers.flat_map(|workers| spec.kernels().map(move |kernel| Wanted::new(spec, kernel, workers))).collect()
}
