//! Throughput, or time, against workers: a line for each mapping.

use charz_claims::verdict::{Auto, Verdict};
use charz_estimate::{AUTO, MARGIN};
use charz_words::verdict::joined;
use std::collections::{HashMap, HashSet};

use charz_data::machine::Machine;

use super::cells::{CellsByKernel, Kernel, Shape, SourcedCell};
use super::lines::{self, Drawn, Lines, MOST_LINES, own_number};
use super::{Source, points, verdicts};
use crate::figure::{
    Axis, Body, DataPoint, Figure, Label, Plot, Quantity, ReferenceLine, Role, Scale, Series, State, range,
};
use crate::predicted;
use charz_data::report::{Cell, Point};
use charz_model::Prediction;
use charz_stats::{Around, ratio_of_estimates};
use charz_words::point;

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
    // Side by side, so a place means the same in each.
    let plots =
        || figures.iter().filter_map(|figure| if let Body::Lines(plot) = &figure.body { Some(plot) } else { None });
    let shared = range(plots().filter_map(Plot::x_range).flatten());
    for figure in &mut figures {
        if let Body::Lines(plot) = &mut figure.body {
            plot.shared_x = shared;
        }
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
    let what = points::quantity(unit);
    let size = cells[0].cell.last_size().map(|size| format!(" size {size}")).unwrap_or_default();
    let label = point::label(&point) + &size;
    let lines = Lines {
        id: format!("{what}-{kernel}{label}"),
        title: format!("{kernel}{label}: {what} vs threads"),
        x: Axis::new("threads", Quantity::Count, Scale::Log2),
        y: Axis::new(what, Quantity::Value(unit), Scale::of(unit)),
        cells,
        name: &|own| own.cell.mapping.clone(),
        place: &|own| Some(own.cell.workers as f64),
        along: None,
        point: &own_number,
        most: MOST_LINES,
    };
    let mut drawn = lines.draw(sorted);
    for part in &mut drawn {
        mark_saturation(part, known, kernel, point);
        // What auto loses by what was delivered does not show in its capacities.
        let is_apart = |line: &Vec<SourcedCell<'_>>| {
            let verdict = known.get(&(line[0].source, kernel, point)).filter(|_| line[0].cell.mapping == AUTO);
            verdict.is_some_and(|verdict| matches!(verdict.auto, Auto::Other(loss) if loss.is_shown()))
        };
        let apart: Vec<bool> = part.lines.iter().map(is_apart).collect();
        merge(&mut part.plot, &apart);
        let (plot, mut found) = (&mut part.plot, Vec::new());
        for (at, source) in sorted.sources.iter().enumerate() {
            let own: Vec<&Series> = plot.series.iter().filter(|series| series.source == at).collect();
            let faint = if unit.more_is_better() { limits(sorted, at, source, &own) } else { Vec::new() };
            found.extend(shared(&source.report.machine, &own).map(|rule| (at, rule)));
            plot.series.extend(faint);
            plot.series.extend(predicted(sorted, at, source, kernel, point));
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
        // At its first point a line has not risen, and noise is no result.
        let is_first = drawn.plot.series[series].points.first().is_none_or(|point| point.x >= workers as f64);
        if !is_first && !found.doubtful {
            drawn.plot.flags.push(Label { series, x: workers as f64, label: "saturates".into() });
        }
    }
}

/// Lines of one report that cannot be told from the first of them, at each of their points, are drawn once: `dumb = auto`, or `dumb or auto`
/// where they may differ by more than [`MARGIN`]; but for those that are `apart`.
fn merge(plot: &mut Plot, apart: &[bool]) {
    let overlap = |one: &DataPoint, other: &DataPoint| {
        let ends = |point: &DataPoint| point.spread.or(point.y.map(|y| [y; 2]));
        let meet = match (ends(one), ends(other)) {
            (Some(one), Some(other)) => one[0] <= other[1] && other[0] <= one[1],
            (None, None) => true,
            _ => false,
        };
        one.x == other.x && meet
    };
    let same = |one: &Series, other: &Series| {
        one.source == other.source
            && one.points.len() == other.points.len()
            && one.numbers().next().is_some()
            && one.points.iter().zip(&other.points).all(|(one, other)| overlap(one, other))
    };
    let is_equal = |one: &DataPoint, other: &DataPoint| {
        let around = |point: &DataPoint| {
            let (value, [low, high]) = (point.y?, point.spread.filter(|_| point.state == State::Ok)?);
            Some(Around { value, low, high })
        };
        let ends = around(one).zip(around(other)).and_then(|(one, other)| ratio_of_estimates(one, other));
        one.y.is_none() || ends.is_some_and(|(low, high)| 1.0 - MARGIN <= low && high <= 1.0 + MARGIN)
    };
    let mut kept: Vec<(Series, Vec<String>, bool, bool)> = Vec::new();
    let mut places = Vec::new();
    for (series, is_apart) in plot.series.drain(..).zip(apart) {
        let first = kept.iter().position(|(first, .., alone)| !is_apart && !alone && same(first, &series));
        match first {
            Some(first) => {
                let (first, alike, are_equal, _) = &mut kept[first];
                *are_equal &= first.points.iter().zip(&series.points).all(|(one, other)| is_equal(one, other));
                alike.push(series.name);
            }
            None => kept.push((series, Vec::new(), true, *is_apart)),
        }
        places.push(first.is_none().then(|| kept.len() - 1));
    }
    let named = |(series, alike, are_equal, _): (Series, Vec<String>, bool, bool)| {
        let alike: Vec<&str> = alike.iter().map(String::as_str).collect();
        Series { name: joined(&series.name, &alike, are_equal, false), ..series }
    };
    plot.series = kept.into_iter().map(named).collect();
    plot.flags.retain_mut(|flag| {
        let place = places.get(flag.series).copied().flatten();
        flag.series = place.unwrap_or(0);
        place.is_some()
    });
}

/// From where on workers share what they had for themselves, and where there are more of them than CPUs.
fn shared(machine: &Machine, own: &[&Series]) -> impl Iterator<Item = ReferenceLine> + use<> {
    let strands = machine.usable_strands().count() as f64;
    let cores = machine.usable_strands().filter_map(|strand| strand.core).collect::<HashSet<_>>().len() as f64;
    let most = own.iter().flat_map(|series| &series.points).map(|point| point.x).fold(0.0, f64::max);
    let cores = (cores < strands).then(|| ReferenceLine { from: cores, to: cores, label: format!("{cores} cores") });
    let more = ReferenceLine { from: strands, to: most, label: "oversubscribed".to_owned() };
    cores.into_iter().chain([more]).filter(move |line| line.from > 0.0 && line.from < most)
}

/// What the model says of mappings of which not all was measured: a line, and where it lies.
fn predicted(sorted: &CellsByKernel<'_>, at: usize, source: &Source<'_>, kernel: &str, point: Point) -> Vec<Series> {
    let point_of =
        |(x, one): &(u64, Prediction)| DataPoint { spread: Some(one.interval), ..faint(*x as f64, one.value) };
    let of_mapping = |(mapping, found): (&str, Vec<(u64, Prediction)>)| Series {
        name: sorted.named(&format!("{mapping}, predicted"), at),
        role: Role::Ideal,
        source: at,
        points: found.iter().map(point_of).collect(),
    };
    predicted::lines(source.report, kernel, point).into_iter().map(of_mapping).collect()
}

/// A corner of a line that was not measured.
fn faint(x: f64, y: f64) -> DataPoint {
    DataPoint::new(x, Some(y), State::Ok, String::new())
}

/// As many workers at the pace of the fewest, and all strands at the pace of one.
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
    let ceiling = format!("{strands}× one thread");
    let line = |role, what: &str, ends: [f64; 2], y: fn(f64, f64) -> f64, by: f64| Series {
        name: sorted.named(what, at),
        role,
        source: at,
        points: ends.map(|x| faint(x, y(x, by))).to_vec(),
    };
    // More workers than strands gain nothing, so the ideal line ends at the number of strands.
    let linear = line(Role::Ideal, "linear scaling", [fewest, most.min(strands)], |x, pace| x * pace, pace);
    let bound = line(Role::Bound, &ceiling, [fewest, most], |_, all| all, pace * strands);
    // Several workers may slow each other, and are no measure of one.
    if fewest > 1.0 { vec![linear] } else { vec![linear, bound] }
}

#[cfg(test)]
mod tests {
    use crate::figure::{Body, Plot};
    use crate::page::{Source, page};
    use charz_data::report::Unit;
    use charz_data::report::fixtures::{cell, report};

    /// The figure of as many GB/s as there are threads, of which auto delivered this share.
    fn plot(counts: [u64; 3], of_auto: f64) -> Plot {
        let cells = counts.into_iter().flat_map(|threads| {
            let of = |by| cell("mem-read", threads, Unit::BytesPerSecond, 1e9 * threads as f64).under(by);
            [of("rr").in_order().delivering(1.0), of("auto").delivering(of_auto)]
        });
        let report = report(cells.collect());
        let page = page(&[Source { name: "r", report: &report }]);
        let mut bodies = page.figures().map(|figure| &figure.body);
        bodies.find_map(|body| if let Body::Lines(plot) = body { Some(plot.clone()) } else { None }).unwrap()
    }

    #[test]
    fn auto_is_a_line_of_its_own_where_it_loses_by_what_was_delivered() {
        let names =
            |of_auto| plot([1, 2, 4], of_auto).measured().map(|(_, series)| series.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(1.0), ["rr or auto"]);
        assert_eq!(names(0.88), ["rr", "auto"]);
    }

    #[test]
    fn the_pace_of_one_thread_is_drawn_where_one_was_measured() {
        let is_drawn = |counts| plot(counts, 1.0).series.iter().any(|series| series.name.contains("one thread"));
        assert!(is_drawn([1, 2, 4]) && !is_drawn([2, 4, 8]));
    }
}
