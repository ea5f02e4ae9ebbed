//! What a line of memory takes from each strand to each other, as squares.

use charz_estimate::grouped;
use std::collections::{BTreeMap, HashMap};

use charz_data::machine::Strand;

use super::cells::{CellsByKernel, Shape, SourcedCell};
use super::matrix::{Matrix, Row, class_name, line_operation, places};
use super::{points, table};
use crate::figure::{Axis, Body, Figure, Heatmap, Plot, Quantity, Role, Scale, Series, State, Tile, id};
use charz_data::report::{Cell, Status};
use charz_data::units;
use charz_stats::median;

/// The most rows of a square; where there are more strands, neighbours share one.
const MOST_ROWS: usize = 256;
/// The most reasons of a square, and the most classes of pairs in its text.
const MOST_REASONS: usize = 200;
const MOST_CLASSES: usize = 12;

pub(super) fn figures(sorted: &CellsByKernel<'_>) -> Vec<Figure> {
    let known: Vec<HashMap<u32, usize>> = sorted.sources.iter().map(|source| places(&source.report.machine)).collect();
    let mut figures = Vec::new();
    for kernel in sorted.shaped(Shape::Pairs) {
        for cells in grouped(kernel.cells.iter().copied(), |own| (own.source, own.cell.unit, own.cell.point.memory)) {
            let source = cells[0].source;
            let machine = &sorted.sources[source].report.machine;
            let Some(operation) = line_operation(kernel.role()) else { continue };
            let (named, cells_of) = ((kernel.name, operation), cells.iter().map(|own| own.cell).collect());
            let matrix = Matrix::of_cells(machine, &known[source], named, cells_of);
            figures.extend(matrix.map(|matrix| figure(sorted, source, &matrix, &cells)));
        }
    }
    figures
}

fn figure(sorted: &CellsByKernel<'_>, source: usize, matrix: &Matrix<'_>, cells: &[SourcedCell<'_>]) -> Figure {
    let heat = heat(matrix, cells[0].cell);
    let home = matrix.home.map_or_else(
        || "a row is the CPU on whose NUMA node the line is at home".to_owned(),
        |home| format!("a row is the first CPU of a pair, and all lines are on {home}"),
    );
    let mut about = vec![format!("The time of one way; {home}")];
    if heat.folded > 1 {
        about.push(format!(
            "each row stands for {} CPUs that are next to each other, and each value for the median of their pairs",
            heat.folded
        ));
    }
    about.extend(sorted.latencies(matrix.kernel));
    let classes = matrix.rows();
    about.extend(classes.iter().take(MOST_CLASSES).map(|row| sentence(row, matrix)));
    if classes.len() > MOST_CLASSES {
        about.push(format!("{} more kinds of pairs are in the table", classes.len() - MOST_CLASSES));
    }
    Figure {
        id: id(&sorted.named(
            &format!("pairs-{}{}", matrix.operation, matrix.home.map(|home| format!("-{home}")).unwrap_or_default()),
            source,
        )),
        title: sorted.named(&format!("{}: from CPU to CPU", matrix.title()), source),
        about,
        body: if heat.rows.len() > 2 { Body::Heatmap(heat) } else { bars(cells) },
        table: Some(table::table(sorted.sources, cells)),
    }
}

/// The only pair: a bar for each way that was measured, since a square would have one colour.
fn bars(cells: &[SourcedCell<'_>]) -> Body {
    let name =
        |own: &SourcedCell<'_>| own.cell.seats.iter().flatten().map(u32::to_string).collect::<Vec<_>>().join(" to ");
    let names = cells.iter().map(|own| format!("CPU {}", name(own))).collect();
    let points = (0_u32..).zip(cells).map(|(row, own)| points::point(own.cell, f64::from(row))).collect();
    let series = Series { name: "time of one way".to_owned(), role: Role::Measured, source: cells[0].source, points };
    let x = Axis::new("pair", Quantity::Names(names), Scale::Linear);
    let y = Axis::new("time of one way", Quantity::Value(cells[0].cell.unit), Scale::Linear);
    Body::Dots(Plot::new(x, y, vec![series]))
}

/// `cache, package 0: 12.0 ns (median of 4 of 6 pairs, 11.0 ns to 13.5 ns)`.
fn sentence(row: &Row, matrix: &Matrix<'_>) -> String {
    let name = class_name(&row.class, matrix.machine);
    let all = row.pairs.map_or_else(|| "an unknown number of".to_owned(), |pairs| pairs.to_string());
    let Some(values) = &row.values else { return format!("{name}: 0 of {all} pairs measured") };
    let doubt = match row.suspect {
        0 => String::new(),
        _ if row.measured == 1 => ", noisy".to_owned(),
        noisy => format!(", {noisy} of them noisy"),
    };
    let [median, least, most] = [values.median(), values.min(), values.max()].map(units::nanos);
    let mark = units::doubt(2 * row.suspect >= row.measured && row.suspect > 0);
    match row.measured {
        1 if all == "1" => format!("{name}: {median}{mark} (1 pair{doubt})"),
        count => format!("{name}: {median}{mark} (median of {count} of {all} pairs{doubt}, {least} to {most})"),
    }
}

/// What is said of the pairs that share a tile.
#[derive(Default)]
struct Pairs {
    values: Vec<f64>,
    doubt: Option<u32>,
    missing: Option<u32>,
}

fn heat(matrix: &Matrix<'_>, first: &Cell) -> Heatmap {
    let folded = matrix.strands.len().div_ceil(MOST_ROWS).max(1);
    let blocks: Vec<&[&Strand]> = matrix.strands.chunks(folded).collect();
    let row: HashMap<u32, usize> =
        matrix.strands.iter().enumerate().map(|(place, strand)| (strand.os_id, place / folded)).collect();
    let numa: HashMap<u32, Option<u32>> = matrix.strands.iter().map(|strand| (strand.os_id, strand.numa)).collect();
    let mut reasons = Reasons::default();
    let mut tiles: BTreeMap<(usize, usize), Pairs> = BTreeMap::new();
    for ([home, other], cell) in &matrix.cells {
        let mut add = |row: usize, column: usize| tiles.entry((row, column)).or_default().add(cell, &mut reasons);
        let (here, there) = (row[home], row[other]);
        add(here, there);
        // Of one node both ways are one measurement.
        let both = numa[home] == numa[other] || numa[home].is_none() || numa[other].is_none();
        if both && here != there && !matrix.cells.contains_key(&[*other, *home]) {
            add(there, here);
        }
    }
    let all = (0..blocks.len()).flat_map(|row| (0..blocks.len()).map(move |column| (row, column)));
    let tiles = all.map(|place| tiles.remove(&place).map_or(Tile::NOTHING, Pairs::tile)).collect();
    let names: Vec<String> = blocks.iter().map(|block| block_name(block)).collect();
    Heatmap {
        row_label: if matrix.home.is_some() { "first" } else { "home" }.into(),
        column_label: "other".into(),
        rows: names.clone(),
        columns: names,
        borders: borders(matrix, folded),
        tiles,
        quantity: Quantity::Value(first.unit),
        reasons: reasons.words,
        folded,
    }
}

fn block_name(block: &[&Strand]) -> String {
    match block {
        [first, .., last] => format!("{} to {}", first.os_id, last.os_id),
        _ => block.iter().map(|strand| strand.os_id.to_string()).collect(),
    }
}

/// Where packages end, and NUMA nodes that are none.
fn borders(matrix: &Matrix<'_>, folded: usize) -> Vec<(usize, String)> {
    let strands = &matrix.strands;
    let mut borders: Vec<(usize, String)> = Vec::new();
    let several = |of: fn(&Strand) -> Option<u32>| strands.windows(2).any(|two| of(two[0]) != of(two[1]));
    let (packages, nodes) = (several(|strand| strand.package), several(|strand| strand.numa));
    for (at, two) in strands.windows(2).enumerate().filter(|_| packages || nodes) {
        let [package, numa] = [two[0].package != two[1].package, two[0].numa != two[1].numa];
        let name = match (package, numa, two[0].package, two[0].numa) {
            (true, _, Some(number), _) => format!("socket {number}"),
            (_, true, _, Some(number)) => format!("NUMA node {}", matrix.machine.node_id(number)),
            (false, false, ..) => continue,
            _ => String::new(),
        };
        let after = (at + 1).div_ceil(folded);
        if borders.last().is_none_or(|(last, _)| *last < after) {
            borders.push((after, name));
        }
    }
    borders
}

impl Pairs {
    fn add(&mut self, cell: &Cell, reasons: &mut Reasons) {
        let reason = || reasons.place(&why(cell));
        match cell.value() {
            Some(value) => {
                self.values.push(value);
                if points::state(cell) == State::Suspect {
                    self.doubt.get_or_insert_with(reason);
                }
            }
            None => drop(self.missing.get_or_insert_with(reason)),
        }
    }

    /// The median of a tile is doubtful as soon as one of its numbers is.
    fn tile(self) -> Tile {
        match median(self.values) {
            None => Tile { value: None, state: State::Missing, reason: self.missing },
            value => {
                Tile { value, state: if self.doubt.is_some() { State::Suspect } else { State::Ok }, reason: self.doubt }
            }
        }
    }
}

fn why(cell: &Cell) -> String {
    let reason = points::against(cell);
    let word = match cell.status {
        Status::Ok => "no number",
        status => status.name(),
    };
    format!("{word}{reason}")
}

#[derive(Default)]
struct Reasons {
    words: Vec<String>,
    places: HashMap<String, u32>,
}

impl Reasons {
    fn place(&mut self, reason: &str) -> u32 {
        let reason = if self.words.len() >= MOST_REASONS { OTHERS } else { reason };
        let next = u32::try_from(self.words.len()).unwrap_or(u32::MAX);
        *self.places.entry(reason.to_owned()).or_insert_with(|| {
            self.words.push(reason.to_owned());
            next
        })
    }
}

const OTHERS: &str = "the report says why";
