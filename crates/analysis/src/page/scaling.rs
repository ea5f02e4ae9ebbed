//! Throughput, or time, against workers: a line for each mapping.

use std::collections::HashMap;

use charz_data::machine::Machine;

use super::cells::{CellsByKernel, Kernel, Shape, SourcedCell};
use super::lines::{self, Drawn, Lines};
use super::{Source, verdicts};
use crate::figure::{Axis, Body, DataPoint, Figure, Label, Quantity, ReferenceLine, Role, Scale, Series, State};
use crate::point;
use crate::verdict::Verdict;
use charz_data::report::{Cell, Point};

/// A figure for each kernel and point: of rates, or of times.
pub(super) fn figures(sorted: &CellsByKernel<'_>, are_rates: bool) -> Vec<Figure> {
    let each = sorted.verdicts.iter().enumerate();
    let keyed = each.flat_map(|(source, all)| all.iter().map(move |one| ((source, one.kernel, one.point), one)));
    let known: Known<'_, '_> = keyed.collect();
    let mut figures = Vec::new();
    for kernel in sorted.shaped(Shape::Workers) {
        let points = kernel.by_point().into_iter().filter(|cells| cells[0].cell.unit.more_is_better() == are_rates);
        figures.extend(points.flat_map(|cells| of_point(sorted, &known, kernel, &cells)));
    }
    figures
}

/// The verdicts by source, kernel and point.
type Known<'a, 'b> = HashMap<(usize, &'a str, Point), &'b Verdict<'a>>;

fn of_point<'a>(
    sorted: &CellsByKernel<'a>,
    known: &Known<'a, '_>,
    Kernel { name: kernel, .. }: &Kernel<'a>,
    cells: &[SourcedCell<'a>],
) -> Vec<Figure> {
    let Cell { point, unit, .. } = *cells[0].cell;
    let what = if unit.more_is_better() { "throughput" } else { "time" };
    let label = point::label(&point);
    let lines = Lines {
        id: format!("{what}-{kernel}{label}"),
        title: format!("{kernel}{label}: {what} against workers"),
        x: Axis::new("workers", Quantity::Count, Scale::Log2),
        y: Axis::new(what, Quantity::Value(unit), Scale::of(unit)),
        cells,
        name: &|own| own.cell.mapping.clone(),
        place: &|own| Some(own.cell.workers as f64),
        along: None,
    };
    let mut drawn = lines.draw(sorted);
    for part in &mut drawn {
        mark_saturation(part, known, kernel, point);
        let (plot, mut found) = (&mut part.plot, Vec::new());
        for (at, source) in sorted.sources.iter().enumerate() {
            let own: Vec<&Series> = plot.series.iter().filter(|series| series.source == at).collect();
            let faint = if unit.more_is_better() { limits(sorted, at, source, &own) } else { Vec::new() };
            found.extend(shared(&source.report.machine, &own).map(|rule| (at, rule)));
            plot.series.extend(faint);
        }
        plot.reference_lines = lines::merged(sorted, &found, found.len());
    }
    let own = (0..sorted.sources.len()).filter_map(|source| Some((source, known.get(&(source, kernel, point))?)));
    let about = own.flat_map(|(source, verdict)| {
        verdicts::sentences(verdict).into_iter().map(move |sentence| sorted.prefixed(&sentence, source))
    });
    lines::figures(sorted, drawn, about.collect(), Body::Lines)
}

/// Where each line first comes near its best.
fn mark_saturation<'a>(drawn: &mut Drawn<'a>, known: &Known<'a, '_>, kernel: &'a str, point: Point) {
    for (series, line) in drawn.lines.iter().enumerate() {
        let SourcedCell { source, cell } = line[0];
        let verdict = known.get(&(source, kernel, point)).filter(|verdict| verdict.best.cell.unit == cell.unit);
        let found = verdict.and_then(|verdict| verdict.saturation.iter().find(|found| found.mapping == cell.mapping));
        let Some((workers, found)) = found.and_then(|found| Some((found.workers?, found))) else { continue };
        let label = if found.doubtful { "saturates~" } else { "saturates" };
        drawn.plot.flags.push(Label { series, x: workers as f64, label: label.into() });
    }
}

/// From where on workers share what they had for themselves, if there are as many.
fn shared(machine: &Machine, own: &[&Series]) -> impl Iterator<Item = ReferenceLine> + use<> {
    let strands = machine.usable_strands().count() as f64;
    let cores = machine.cores.len() as f64;
    let most = own.iter().flat_map(|series| &series.points).map(|point| point.x).fold(0.0, f64::max);
    let places = [(cores, "as many as cores"), (strands, "as many as strands")];
    let places = places.into_iter().filter(move |(count, _)| *count > 0.0 && *count < most);
    // A core of one strand each: one of the two says it all.
    let places = places.filter(move |(count, label)| !(label.contains("cores") && *count >= strands));
    places.map(|(x, label)| ReferenceLine { from: x, to: x, label: label.to_owned() })
}

/// As many workers at the pace of one, and all strands at that pace.
fn limits(sorted: &CellsByKernel<'_>, at: usize, source: &Source<'_>, own: &[&Series]) -> Vec<Series> {
    // The pace of the fewest workers that have a sound number; of the fastest mapping.
    let pace = own
        .iter()
        .flat_map(|series| series.numbers())
        .filter(|(point, _)| point.state == State::Ok && point.x > 0.0)
        .map(|(point, y)| (point.x, y / point.x))
        .min_by(|one, other| one.0.total_cmp(&other.0).then(other.1.total_cmp(&one.1)));
    let strands = source.report.machine.usable_strands().count() as f64;
    let most = own.iter().flat_map(|series| &series.points).map(|point| point.x).fold(0.0, f64::max);
    let Some((fewest, pace)) = pace.filter(|_| strands > 0.0 && most > 1.0) else { return Vec::new() };
    let line = |role, what: &str, ends: [f64; 2], y: fn(f64, f64) -> f64, by: f64| Series {
        name: sorted.named(what, at),
        role,
        source: at,
        points: ends
            .map(|x| DataPoint { x, y: Some(y(x, by)), spread: None, state: State::Ok, note: String::new() })
            .to_vec(),
    };
    // More workers than strands gain nothing, so the ideal line ends at the number of strands.
    vec![
        line(Role::Ideal, "as many at the pace of one", [fewest, most.min(strands)], |x, pace| x * pace, pace),
        line(Role::Bound, "all strands at the pace of one", [fewest, most], |_, all| all, pace * strands),
    ]
}
