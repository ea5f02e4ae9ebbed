//! Times and rates against the size of a worker's block.

use charz_estimate::grouped;
use std::collections::{BTreeMap, BTreeSet};

use super::cells::{CellsByKernel, Kernel, Shape, SourcedCell};
use super::lines::{self, Lines, MOST_LINES, own_number};
use crate::figure::{Axis, Body, Figure, Quantity, ReferenceLine, Scale};
use charz_claims::curve;
use charz_claims::curves::Curve;
use charz_claims::numa;
use charz_data::report::{Cell, Point, Report, Unit};
use charz_data::{Role, units};
use charz_words::curve::level_name;
use charz_words::point;

/// Up to so many sizes are one in each level of caches, and not a curve.
const FEW: usize = 8;

/// A figure for each kernel whose numbers are of a kind: [`LATENCY`], [`BANDWIDTH`], or neither.
pub(super) fn figures(sorted: &CellsByKernel<'_>, kind: Option<&str>) -> Vec<Figure> {
    let mut figures = Vec::new();
    for kernel in sorted.shaped(Shape::Sizes) {
        let own = |cells: &Vec<SourcedCell<'_>>| Some(what(kernel.role(), cells[0].cell.unit));
        let is_of_kind = |cells: &Vec<SourcedCell<'_>>| match kind {
            Some(_) => own(cells) == kind,
            None => ![Some(LATENCY), Some(BANDWIDTH)].contains(&own(cells)),
        };
        let units = kernel.by_unit().into_iter().filter(is_of_kind);
        figures.extend(units.flat_map(|cells| of_kernel(sorted, kernel, &cells)));
    }
    figures
}

/// What a dependent load takes.
pub(super) const LATENCY: &str = "latency";
/// Bytes that are moved in a time.
pub(super) const BANDWIDTH: &str = "bandwidth";

fn of_kernel<'a>(sorted: &CellsByKernel<'a>, of: &Kernel<'a>, cells: &[SourcedCell<'a>]) -> Vec<Figure> {
    let (kernel, role) = (of.name, of.role());
    let unit = cells[0].cell.unit;
    let what = what(role, unit);
    let name = namer(cells);
    let size = |own: SourcedCell<'_>| own_size(sorted, own);
    let names: BTreeSet<String> = cells.iter().map(|own| name(own.cell)).collect();
    // Too many lines are split by what they are of, not by their number.
    let parts = match names.len() > MOST_LINES {
        true => grouped(cells.iter().copied(), |own| own.cell.point.pages),
        false => vec![cells.to_vec()],
    };
    let part = |part: &Vec<SourcedCell<'a>>| {
        let pages =
            part[0].cell.point.pages.filter(|_| parts.len() > 1).map_or_else(String::new, |pages| format!(" {pages}"));
        let lines = Lines {
            id: format!("{what}-{kernel}{pages}"),
            title: format!("{kernel}{pages}: {what} vs working set"),
            x: Axis::new("working set of a thread", Quantity::Bytes, Scale::Log2),
            y: Axis::new(what, Quantity::Value(unit), Scale::of(unit)),
            cells: part,
            name: &|own| name(own.cell),
            place: &size,
            along: None,
            point: &own_number,
            most: MOST_LINES,
        };
        lines.draw(sorted)
    };
    let mut drawn: Vec<_> = parts.iter().flat_map(part).collect();
    let rules = levels(cells).unwrap_or_else(|| edges(sorted, of, cells));
    drawn.iter_mut().for_each(|part| part.plot.reference_lines.clone_from(&rules));
    lines::figures(sorted, drawn, sorted.latencies(kernel), Body::Lines)
}

fn what(role: &Role, unit: Unit) -> &'static str {
    match unit {
        Unit::BytesPerSecond => BANDWIDTH,
        Unit::OpsPerSecond => "throughput",
        _ if is_chase(role) => LATENCY,
        _ => "time",
    }
}

fn is_chase(role: &Role) -> bool {
    matches!(role, Role::Latency(_))
}

/// The size of a cell's block: that of a worker where they divide it, its own, or that of its plan.
fn own_size(sorted: &CellsByKernel<'_>, own: SourcedCell<'_>) -> Option<f64> {
    let bytes = own.cell.params(&sorted.sources.get(own.source)?.report.plan.params).size_bytes;
    (bytes > 0).then_some(bytes as f64)
}

/// The name of a line: everything but the size in which the cells of a kernel differ.
fn namer(cells: &[SourcedCell<'_>]) -> impl Fn(&Cell) -> String {
    let several =
        |of: fn(&Cell) -> String| cells.iter().map(|own| of(own.cell)).collect::<BTreeSet<String>>().len() > 1;
    let mappings = several(|cell| cell.mapping.clone());
    let workers = several(|cell| cell.workers.to_string());
    let rest = |cell: &Cell| point::label(&Point { size_bytes: None, ..cell.point });
    move |cell| {
        let rest = rest(cell);
        // Something has to be its name.
        let mapping = (mappings || (rest.is_empty() && !workers)).then(|| cell.mapping.clone());
        let workers = workers.then(|| format!("x{}", cell.workers));
        let words = [mapping, workers, (!rest.is_empty()).then(|| rest.trim_start().to_owned())];
        words.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}

/// The level that holds each size, where there is one size in each.
fn levels(cells: &[SourcedCell<'_>]) -> Option<Vec<ReferenceLine>> {
    let mut names: BTreeMap<u64, BTreeSet<&str>> = BTreeMap::new();
    for own in cells {
        names.entry(own.cell.point.size_bytes?).or_default().insert(own.cell.level.as_deref()?);
    }
    let mut seen = BTreeSet::new();
    let is_ladder = names.len() <= FEW && names.values().all(|names| names.len() == 1 && seen.insert(names.clone()));
    let rule = |(size, names): (u64, BTreeSet<&str>)| {
        // Workers that share a cache may divide the block.
        let own = cells.iter().map(|own| own.cell).filter(|cell| cell.point.size_bytes == Some(size));
        let least = own.filter_map(|cell| cell.block_bytes).fold(size, u64::min);
        ReferenceLine { from: least as f64, to: size as f64, label: names.into_iter().collect() }
    };
    is_ladder.then(|| names.into_iter().map(rule).collect())
}

/// Where caches end, by what is claimed and by what the curve shows.
fn edges(sorted: &CellsByKernel<'_>, kernel: &Kernel<'_>, cells: &[SourcedCell<'_>]) -> Vec<ReferenceLine> {
    let mut found: Vec<(usize, ReferenceLine)> = Vec::new();
    let shown: BTreeSet<usize> = cells.iter().map(|own| own.source).collect();
    for source in shown {
        let report = sorted.sources[source].report;
        let curves = if is_chase(kernel.role()) { Curve::of_kernel(report, kernel.name) } else { Vec::new() };
        let of_curve = |curve: &Curve<'_>| (curve.levels.clone(), curve.caches.clone());
        let (levels, sizes) = curves.first().map_or_else(|| claims(report), of_curve);
        let claimed = levels.into_iter().zip(sizes).map(|(level, bytes)| {
            let place = bytes as f64;
            ReferenceLine { from: place, to: place, label: format!("L{level}, claimed") }
        });
        found.extend(claimed.chain(measured(kernel.role(), &curves)).map(|rule| (source, rule)));
    }
    lines::merged(sorted, &found, MOST_RULES)
}

const MOST_RULES: usize = 16;

/// The levels and the sizes that the system claims of the caches of the first strand.
fn claims(report: &Report) -> (Vec<u32>, Vec<u64>) {
    let machine = &report.machine;
    let of = |strand| (machine.cache_levels(strand), machine.cache_sizes(strand));
    machine.usable_strands().next().map(of).unwrap_or_default()
}

/// The edges of the curve that is least disturbed by the translation of addresses: the last kind of pages of those that are plain.
fn measured(role: &Role, curves: &[Curve<'_>]) -> Vec<ReferenceLine> {
    let plain = curves.iter().filter(|curve| curve.is_plain() && curve.chains == 1 && numa::is_latency(role));
    let Some(curve) = plain.max_by_key(|curve| curve.pages != SMALL_PAGES) else { return Vec::new() };
    if matches!(curve::reading(&curve.points, &curve.caches, None), curve::Reading::Prefetched { .. }) {
        return Vec::new();
    }
    let plateaus = curve::plateaus(&curve.points, &curve.caches);
    let rule = |plateau: &curve::Plateau| {
        let (edge, level) = (plateau.edge?, plateau.level.filter(|level| *level != curve::Level::Memory)?);
        let doubt = units::doubt(edge.doubtful);
        let label = format!("{} ends, measured{doubt}", level_name(curve, level));
        Some(ReferenceLine { from: edge.inside_bytes as f64, to: edge.beyond_bytes as f64, label })
    };
    plateaus.iter().filter_map(rule).collect()
}

/// Pages on which the translation of addresses costs most.
const SMALL_PAGES: &str = "4k";

#[cfg(test)]
mod tests {
    use crate::figure::Body;
    use crate::page::{Source, page};
    use charz_data::report::{Cell, Unit, fixtures};

    #[test]
    fn blocks_that_workers_divide_are_drawn_at_their_own_size() {
        let of = |workers, bytes: u64, level: &str, block_bytes| {
            let cell = fixtures::cell("level-read", workers, Unit::BytesPerSecond, 1e10).sized(bytes).inside(level);
            Cell { block_bytes, ..cell }
        };
        let (l1, memory) = (16 << 10, 128 << 20);
        let one = [of(1, l1, "L1", None), of(1, memory, "memory", None)];
        let eight = [of(8, l1, "L1", None), of(8, memory, "memory", Some(memory / 4))];
        let report = fixtures::report([one, eight].concat()).on(8);
        let page = page(&[Source { name: "r", report: &report }]);
        let figure = page.figures().find(|figure| figure.id == "bandwidth-level-read").unwrap();
        let Body::Lines(plot) = &figure.body else { panic!("{:?}", figure.body) };
        let ends = plot.series.iter().map(|series| series.points.last().unwrap().x);
        assert_eq!(ends.collect::<Vec<_>>(), [memory as f64, memory as f64 / 4.0]);
        let rules: Vec<[f64; 2]> = plot.reference_lines.iter().map(|line| [line.from, line.to]).collect();
        assert_eq!(rules, [[l1 as f64; 2], [memory as f64 / 4.0, memory as f64]]);
    }
}
