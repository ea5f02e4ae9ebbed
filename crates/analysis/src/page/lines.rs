//! Lines over a quantity out of cells.

use super::cells::{CellsByKernel, SourcedCell};
use super::{points, table};
use crate::figure::{Axis, Body, DataPoint, Figure, Plot, Role, Series, id};
use crate::group::grouped;

/// The most lines of one figure: more are a thicket. The others have figures of their own.
const MOST_LINES: usize = 12;
/// The most points of one figure. No plan has as many; a report that was made up may.
const MOST_SPOTS: usize = 3000;

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
    pub(super) along: Along<'a, 'b>,
}

pub(super) enum Along<'a, 'b> {
    X,
    /// Something else, ascending: the line may bend back.
    Other(&'b dyn Fn(SourcedCell<'a>) -> u64),
}

/// A figure with the first cell of each of its lines.
pub(super) struct Drawn<'a> {
    pub(super) figure: Figure,
    pub(super) firsts: Vec<SourcedCell<'a>>,
}

impl Drawn<'_> {
    pub(super) fn plot(&mut self) -> Option<&mut Plot> {
        match &mut self.figure.body {
            Body::Lines(plot) | Body::Dots(plot) => Some(plot),
            _ => None,
        }
    }
}

impl<'a> Lines<'a, '_> {
    /// A figure, or several where there are too many lines for one.
    pub(super) fn draw(&self, sorted: &CellsByKernel<'_>) -> Vec<Drawn<'a>> {
        self.draw_by(sorted, &|own, x| points::point(own.cell, x))
    }

    /// The same, of another number than the cells' own.
    pub(super) fn draw_by(
        &self,
        sorted: &CellsByKernel<'_>,
        point: &dyn Fn(SourcedCell<'a>, f64) -> DataPoint,
    ) -> Vec<Drawn<'a>> {
        let lines = grouped(self.cells.iter().copied(), |own| (own.source, (self.name)(*own)));
        let parts: Vec<&[Vec<SourcedCell<'a>>]> = lines.chunks(MOST_LINES).collect();
        let part = |(at, lines): (usize, &&[Vec<SourcedCell<'a>>])| {
            let mut drawn = self.part(sorted, lines, point);
            if parts.len() > 1 {
                drawn.figure.title = format!("{} ({} of {})", self.title, at + 1, parts.len());
            }
            drawn
        };
        parts.iter().enumerate().map(part).collect()
    }

    fn part(
        &self,
        sorted: &CellsByKernel<'_>,
        lines: &[Vec<SourcedCell<'a>>],
        point: &dyn Fn(SourcedCell<'a>, f64) -> DataPoint,
    ) -> Drawn<'a> {
        let most = (MOST_SPOTS / lines.len().max(1)).max(2);
        let mut thinned = 0;
        let series = lines.iter().map(|cells| {
            let mut points: Vec<(u64, DataPoint)> = cells.iter().filter_map(|own| self.point(*own, point)).collect();
            match self.along {
                Along::X => points.sort_by(|(_, one), (_, other)| one.x.total_cmp(&other.x)),
                Along::Other(_) => points.sort_by_key(|(along, _)| *along),
            }
            let all = points.len();
            let points = thin(points.into_iter().map(|(_, point)| point).collect(), most);
            thinned += all - points.len();
            let first = cells[0];
            Series {
                name: sorted.named(&(self.name)(first), first.source),
                role: Role::Measured,
                source: first.source,
                points,
            }
        });
        let series = series.collect();
        let cells: Vec<SourcedCell<'a>> = lines.iter().flatten().copied().collect();
        let mut about = Vec::new();
        if thinned > 0 {
            about.push(format!("{thinned} of {} points are not drawn, so that the others can be seen", cells.len()));
        }
        let plot = Plot::new(self.x.clone(), self.y.clone(), series);
        let figure = Figure {
            id: id(&self.id),
            title: self.title.clone(),
            about,
            body: Body::Lines(plot),
            table: Some(table::table(sorted.sources, &cells)),
        };
        Drawn { figure, firsts: lines.iter().map(|cells| cells[0]).collect() }
    }

    fn point(
        &self,
        own: SourcedCell<'a>,
        point: &dyn Fn(SourcedCell<'a>, f64) -> DataPoint,
    ) -> Option<(u64, DataPoint)> {
        let along = match self.along {
            Along::X => 0,
            Along::Other(of) => of(own),
        };
        let x = (self.place)(own).filter(|x| x.is_finite())?;
        Some((along, point(own, x)))
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
