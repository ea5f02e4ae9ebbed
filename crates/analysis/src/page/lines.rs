//! Lines over a quantity out of cells.

use std::collections::HashMap;

use super::cells::{CellsByKernel, SourcedCell};
use super::{points, table};
use crate::figure::{Axis, Body, DataPoint, Figure, Plot, Quantity, ReferenceLine, Role, Scale, Series, Table, id};
use charz_data::{Arrange, units};
use charz_estimate::grouped;

/// The most lines of one figure: more are a thicket. The others have figures of their own.
pub(super) const MOST_LINES: usize = 12;
/// The most points of one figure. No plan has as many; a report that was made up may.
const MOST_POINTS: usize = 3000;

pub(super) struct Lines<'a, 'b> {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) cells: &'b [SourcedCell<'a>],
    /// What a cell's line is called; those that are called the same are one.
    pub(super) name: &'b dyn Fn(SourcedCell<'a>) -> String,
    /// Where a cell is on the x axis; nowhere for one of which that is not known.
    pub(super) place: &'b dyn Fn(SourcedCell<'a>) -> Option<f64>,
    /// What a line goes along, ascending, where that is not the x axis: the line may bend back.
    pub(super) along: Option<&'b dyn Fn(SourcedCell<'a>) -> u64>,
    /// What is drawn of a cell at a place on the x axis: [`own_number`], or another of its numbers.
    pub(super) point: &'b dyn Fn(SourcedCell<'a>, f64) -> DataPoint,
    /// The most lines of one figure; the others have figures of their own.
    pub(super) most: usize,
}

/// The number of a cell.
pub(super) fn own_number(own: SourcedCell<'_>, x: f64) -> DataPoint {
    points::point(own.cell, x)
}

/// Rows out of cells, with a bar for each series.
pub(super) struct Rows<'a, 'b> {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) y: Axis,
    pub(super) cells: &'b [SourcedCell<'a>],
    /// The row of a cell.
    pub(super) row: &'b dyn Fn(SourcedCell<'a>) -> String,
    /// The series of a cell.
    pub(super) name: &'b dyn Fn(SourcedCell<'a>) -> String,
    pub(super) point: &'b dyn Fn(SourcedCell<'a>, f64) -> DataPoint,
}

impl<'a> Rows<'a, '_> {
    pub(super) fn draw(self, sorted: &CellsByKernel<'_>) -> Vec<Drawn<'a>> {
        let rows = grouped(self.cells.iter().copied(), |own| (self.row)(*own));
        let names: Vec<String> = rows.iter().map(|own| (self.row)(own[0])).collect();
        let places: HashMap<&str, usize> = names.iter().enumerate().map(|(row, name)| (name.as_str(), row)).collect();
        let lines = Lines {
            id: self.id,
            title: self.title,
            x: Axis::new("kernel", Quantity::Names(names.clone()), Scale::Linear),
            y: self.y,
            cells: self.cells,
            name: self.name,
            place: &|own| places.get((self.row)(own).as_str()).map(|row| *row as f64),
            along: None,
            point: self.point,
            most: MOST_LINES,
        };
        let mut drawn = lines.draw(sorted);
        drawn.iter_mut().for_each(|drawn| drawn.spread());
        drawn
    }
}

/// From this ratio on numbers are spread by ratios.
const WIDE: f64 = 20.0;

/// What a figure of lines is made of, with the cells of each line.
pub(super) struct Drawn<'a> {
    id: String,
    title: String,
    pub(super) about: Vec<String>,
    pub(super) plot: Plot,
    pub(super) lines: Vec<Vec<SourcedCell<'a>>>,
}

impl Drawn<'_> {
    /// Numbers that differ by much are spread by their ratios.
    pub(super) fn spread(&mut self) {
        if self.plot.y_range().is_some_and(|[low, high]| low > 0.0 && high > WIDE * low) {
            self.plot.y.scale = Scale::Log10;
        }
    }

    pub(super) fn figure(self, body: fn(Plot) -> Body, table: Option<Table>) -> Figure {
        Figure { id: id(&self.id), title: self.title, about: self.about, body: body(self.plot), table }
    }
}

/// The figures of several parts with the tables of their cells, of which the first says all these sentences too.
pub(super) fn figures(
    sorted: &CellsByKernel<'_>,
    mut drawn: Vec<Drawn<'_>>,
    about: Vec<String>,
    body: fn(Plot) -> Body,
) -> Vec<Figure> {
    drawn.iter_mut().take(1).for_each(|first| first.about.extend_from_slice(&about));
    let figure = |mut drawn: Drawn<'_>| {
        let cells = drawn.lines.concat();
        drawn.about.extend(grouped(&cells, |own| own.cell.kernel.as_str()).into_iter().filter_map(|own| how(&own)));
        drawn.figure(body, Some(table::table(sorted.sources, &cells)))
    };
    drawn.into_iter().map(figure).collect()
}

/// How a kernel did it, and how much it moved for what it counts: `mem-write: by AVX2, non-temporal stores; DRAM traffic is 2.00x
/// (write-allocate)`.
fn how(cells: &[&SourcedCell<'_>]) -> Option<String> {
    // More than one where a report was resumed and the kernel chose otherwise.
    let invocations = cells.iter().flat_map(|own| &own.cell.invocations);
    let mut variants: Vec<&str> = invocations.filter_map(|invocation| invocation.variant.as_deref()).collect();
    variants.sort_unstable();
    variants.dedup();
    let moved = cells.first().and_then(|own| own.cell.traffic).filter(|factor| *factor != 1.0);
    let moved = moved.map(|factor| format!("DRAM traffic is {}x (write-allocate)", units::count_of(factor)));
    let by = (!variants.is_empty()).then(|| format!("by {}", points::short(&variants.join("; "))));
    let how = by.into_iter().chain(moved).collect::<Vec<_>>().join("; ");
    (!how.is_empty()).then(|| format!("{}: {how}", points::short(&cells[0].cell.kernel)))
}

/// The first `most` reference lines, each with its report. What several reports say needs no name of a report, and is said once.
pub(super) fn merged(sorted: &CellsByKernel<'_>, found: &[(usize, ReferenceLine)], most: usize) -> Vec<ReferenceLine> {
    let mut merged: Vec<ReferenceLine> = Vec::new();
    for (source, line) in found.iter().take(most) {
        let same = found.iter().filter(|(_, other)| other == line).count();
        let label = if same > 1 { line.label.clone() } else { sorted.named(&line.label, *source) };
        let line = ReferenceLine { label, ..line.clone() };
        if !merged.contains(&line) {
            merged.push(line);
        }
    }
    merged
}

impl<'a> Lines<'a, '_> {
    /// What a figure is made of, or several where there are too many lines for one.
    pub(super) fn draw(&self, sorted: &CellsByKernel<'_>) -> Vec<Drawn<'a>> {
        let lines = grouped(self.cells.iter().copied(), |own| (own.source, (self.name)(*own)));
        let count = lines.len().div_ceil(self.most);
        let part = |(at, lines): (usize, &[Vec<SourcedCell<'a>>])| {
            let title = &self.title;
            let title = if count > 1 { format!("{title} ({} of {count})", at + 1) } else { title.clone() };
            self.part(sorted, title, lines)
        };
        lines.chunks(self.most).enumerate().map(part).collect()
    }

    fn part(&self, sorted: &CellsByKernel<'_>, title: String, lines: &[Vec<SourcedCell<'a>>]) -> Drawn<'a> {
        let most = (MOST_POINTS / lines.len().max(1)).max(2);
        let mut thinned = 0;
        let series = lines.iter().map(|cells| {
            let placed = cells.iter().filter_map(|own| Some((*own, (self.place)(*own).filter(|x| x.is_finite())?)));
            let mut placed: Vec<(SourcedCell<'a>, f64)> = placed.collect();
            match self.along {
                None => placed.arrange_by(|(_, one), (_, other)| one.total_cmp(other)),
                Some(along) => placed.arrange_by_key(|(own, _)| along(*own)),
            }
            let all = placed.len();
            let points = thin(placed.into_iter().map(|(own, x)| (self.point)(own, x)).collect(), most);
            thinned += all - points.len();
            let first = cells[0];
            Series {
                name: sorted.named(&(self.name)(first), first.source),
                role: Role::Measured,
                source: first.source,
                points,
            }
        });
        let plot = Plot::new(self.x.clone(), self.y.clone(), series.collect());
        let cells: usize = lines.iter().map(Vec::len).sum();
        let about =
            (thinned > 0).then(|| format!("{thinned} of {cells} points are not drawn, so the others can be seen"));
        Drawn { id: self.id.clone(), title, about: about.into_iter().collect(), plot, lines: lines.to_vec() }
    }
}

/// Evenly chosen points, the first and the last among them.
fn thin(points: Vec<DataPoint>, most: usize) -> Vec<DataPoint> {
    let all = points.len();
    if all <= most {
        return points;
    }
    let step = (all - 1).div_ceil(most - 1);
    points.into_iter().enumerate().filter(|(at, _)| at % step == 0 || at + 1 == all).map(|(_, point)| point).collect()
}
