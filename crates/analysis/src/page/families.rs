//! Kernels that do the same in different ways, in one figure: locks, barriers, wake-ups, and operations by the layout of their words.

use std::collections::{BTreeSet, HashMap};

use super::cells::{CellsByKernel, Kernel, LINE, Shape, SourcedCell, family};
use super::lines::{self, Lines, Rows, own_number};
use super::{points, table};
use crate::figure::{Axis, Body, Figure, Heatmap, Quantity, Scale, Tile, id};
use charz_data::escape::counted;
use charz_estimate::grouped;
use charz_words::point;

/// The fewest ways and the fewest variants of each that are a matrix.
const MATRIX: [usize; 2] = [3, 3];
/// The most lines of one figure.
const MOST_LINES: usize = 24;

/// A figure for each family and unit.
pub(super) fn figures(sorted: &CellsByKernel<'_>) -> Vec<Figure> {
    let kernels: Vec<&Kernel<'_>> = sorted.shaped(Shape::Family).collect();
    let families = grouped(kernels, |kernel| (family(kernel), kernel.cells[0].cell.unit));
    families.iter().flat_map(|kernels| of_family(sorted, kernels)).collect()
}

fn of_family(sorted: &CellsByKernel<'_>, kernels: &[&Kernel<'_>]) -> Vec<Figure> {
    let unit = kernels[0].cells[0].cell.unit;
    let cells: Vec<SourcedCell<'_>> = kernels.iter().flat_map(|kernel| kernel.cells.iter().copied()).collect();
    let counts: BTreeSet<u64> = cells.iter().map(|own| own.cell.workers).collect();
    if cells.iter().all(|own| own.cell.value().is_none()) {
        return Vec::new();
    }
    let variants = variants(kernels);
    if !variants.is_empty() && !sorted.are_several() {
        return counts.into_iter().map(|workers| matrix(sorted, kernels, &variants, &cells, workers)).collect();
    }
    let (slug, title) = family(kernels[0]);
    let (suffix, what) = points::what(sorted, &cells);
    let (id, y) = (format!("{slug}-{suffix}"), Axis::new(what.as_str(), Quantity::Value(unit), Scale::Linear));
    // A line or a row for each kernel, under the mapping that most of its points are of.
    let several = counts.len() > 1;
    let along_threads = counts.len() >= LINE && kernels.iter().all(|kernel| best_line(kernel).len() > 1);
    let shown: Vec<SourcedCell<'_>> = match several {
        true => kernels.iter().flat_map(|kernel| best_line(kernel)).take(MOST_LINES * 64).collect(),
        false => cells.clone(),
    };
    let drawn = if along_threads {
        let lines = Lines {
            id,
            title: format!("{title}: {what} vs threads"),
            x: Axis::new("threads", Quantity::Count, Scale::Log2),
            y: Axis { scale: Scale::of(unit), ..y },
            cells: &shown,
            name: &|own| own.cell.kernel.clone(),
            place: &|own| Some(own.cell.workers as f64),
            along: None,
            point: &own_number,
            most: MOST_LINES,
        };
        let mut drawn = lines.draw(sorted);
        drawn.iter_mut().for_each(|drawn| drawn.spread());
        drawn
    } else {
        let name = |own: SourcedCell<'_>| match several {
            true => counted(own.cell.workers as usize, "thread"),
            false => format!("{}{}", own.cell.mapping, point::label(&own.cell.point)),
        };
        let row = |own: SourcedCell<'_>| own.cell.kernel.clone();
        let title = format!("{title}: {what}");
        Rows { id, title, y, cells: &shown, row: &row, name: &name, point: &own_number }.draw(sorted)
    };
    let mut figures = lines::figures(sorted, drawn, Vec::new(), if along_threads { Body::Lines } else { Body::Dots });
    // The points of the other mappings too.
    if let [only] = figures.as_mut_slice() {
        only.table = Some(table::table(sorted.sources, &cells));
    }
    figures
}

/// The cells of a kernel under the mapping and at the point that most numbers of threads were measured with, of each report.
fn best_line<'a>(kernel: &Kernel<'a>) -> Vec<SourcedCell<'a>> {
    let reports = grouped(kernel.cells.iter().copied(), |own| own.source);
    let best = |own: Vec<SourcedCell<'a>>| {
        let lines = grouped(own, |own| (own.cell.mapping.as_str(), own.cell.point));
        // Of equals the first.
        lines
            .into_iter()
            .rev()
            .max_by_key(|line| line.iter().map(|own| own.cell.workers).collect::<BTreeSet<_>>().len())
    };
    reports.into_iter().filter_map(best).flatten().collect()
}

/// The endings that many of these names have in common behind the same beginnings, none first: `-padded`, `-private`.
fn variants(kernels: &[&Kernel<'_>]) -> Vec<String> {
    let names: BTreeSet<&str> = kernels.iter().map(|kernel| kernel.name).collect();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for (stem, other) in names.iter().flat_map(|stem| names.iter().map(move |other| (stem, other))) {
        if let Some(ending) = other.strip_prefix(stem).filter(|ending| ending.starts_with('-')) {
            *counts.entry(ending).or_insert(0) += 1;
        }
    }
    let most = counts.values().copied().max().unwrap_or(0);
    let mut common: Vec<String> = counts
        .into_iter()
        .filter(|(_, count)| *count == most && most >= MATRIX[0])
        .map(|(ending, _)| ending.to_owned())
        .collect();
    common.sort();
    common.insert(0, String::new());
    if common.len() < MATRIX[1] { Vec::new() } else { common }
}

/// Operations beneath each other, and beside each other the layouts of what they work on.
fn matrix(
    sorted: &CellsByKernel<'_>,
    kernels: &[&Kernel<'_>],
    variants: &[String],
    cells: &[SourcedCell<'_>],
    workers: u64,
) -> Figure {
    let is_variant = |name: &str| variants[1..].iter().any(|ending| name.ends_with(ending));
    let stems: Vec<&str> = kernels.iter().map(|kernel| kernel.name).filter(|name| !is_variant(name)).collect();
    let own: Vec<SourcedCell<'_>> = cells.iter().copied().filter(|own| own.cell.workers == workers).collect();
    let mut reasons: Vec<String> = Vec::new();
    let mut tile = |name: String| {
        let Some(found) = own.iter().find(|own| own.cell.kernel == name) else { return Tile::NOTHING };
        let against = points::against(found.cell);
        let reason = (!against.is_empty()).then(|| {
            let reason = against.trim_start_matches("; ").to_owned();
            let place = reasons.iter().position(|known| *known == reason).unwrap_or(reasons.len());
            if place == reasons.len() {
                reasons.push(reason);
            }
            u32::try_from(place).unwrap_or(u32::MAX)
        });
        Tile { value: found.cell.value(), state: points::state(found.cell), reason }
    };
    let places = stems.iter().flat_map(|stem| variants.iter().map(move |ending| format!("{stem}{ending}")));
    let tiles = places.map(&mut tile).collect();
    let (slug, title) = family(kernels[0]);
    let unit = kernels[0].cells[0].cell.unit;
    let prefix = format!("{slug}-");
    let body = Heatmap {
        row_label: "operation".into(),
        column_label: "layout".into(),
        rows: stems.iter().map(|stem| stem.strip_prefix(prefix.as_str()).unwrap_or(stem).to_owned()).collect(),
        columns: variants
            .iter()
            .map(|ending| if ending.is_empty() { "shared".into() } else { ending[1..].to_owned() })
            .collect(),
        borders: Vec::new(),
        tiles,
        quantity: Quantity::Value(unit),
        reasons,
        folded: 1,
    };
    let threads = counted(workers as usize, "thread");
    Figure {
        id: id(&format!("{slug}-matrix-x{workers}")),
        title: format!("{title}, {threads}: operation by layout"),
        about: Vec::new(),
        body: Body::Heatmap(body),
        table: (!own.is_empty()).then(|| table::table(sorted.sources, &own)),
    }
}
