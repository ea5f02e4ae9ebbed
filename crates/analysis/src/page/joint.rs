//! How often two times occur together: a figure for each cell that has them, up to a limit.

mod bins;

use std::cmp::Reverse;
use std::collections::HashMap;

use super::cells::{CellsByKernel, SourcedCell};
use super::points;
use super::table::MOST;
use crate::figure::{Axis, Body, Datum, Figure, JointPlot, Quantity, Row, Scale, State, Table, id};
use charz_data::checks::V08;
use charz_data::report::{Cell, Ending, Histogram, Peak, Shape};
use charz_data::{Arrange, Card, units};
use charz_estimate::grouped;
use charz_words::point;

/// The most figures of a page: each is a large picture of its own.
const MOST_FIGURES: usize = 8;
const MOST_PAIRS: usize = 2500;
/// The most bins of pairs of all figures together.
const MOST_PAIRS_IN_ALL: usize = 8_000;
const MOST_BARS: usize = 160;

/// The largest and the smallest number of workers of each kernel under each mapping; where that is too many, the first mapping of each
/// kernel before the others.
pub(super) fn figures(sorted: &CellsByKernel<'_>) -> Vec<Figure> {
    let all: Vec<SourcedCell<'_>> = sorted.cells().filter(has_times).collect();
    let shown = chosen(&all);
    let most = (MOST_PAIRS_IN_ALL / shown.len().max(1)).min(MOST_PAIRS);
    let mut figures: Vec<Figure> = shown.iter().filter_map(|own| figure(sorted, *own, most)).collect();
    if let Some(first) = figures.first_mut().filter(|_| shown.len() < all.len()) {
        first.about.push(format!(
            "{} of {} are drawn: of each kernel under each mapping those of the fewest and the most threads, as far as there is room; \
             the table has all",
            shown.len(),
            all.len()
        ));
    }
    figures
}

fn has_times(own: &SourcedCell<'_>) -> bool {
    let count = own.cell.distribution.as_ref().map_or(0, |found| found.samples.first.count());
    count > 0 && own.cell.value().is_some()
}

/// Which are drawn, in the order of all.
fn chosen<'a>(all: &[SourcedCell<'a>]) -> Vec<SourcedCell<'a>> {
    let lines = grouped(all.iter().copied(), |own| {
        (own.source, own.cell.kernel.as_str(), own.cell.mapping.as_str(), own.cell.point)
    });
    // Ranked by how many cells of the same kernel come before, so each kernel has one figure before any has two.
    let mut before: HashMap<(usize, &str), usize> = HashMap::new();
    let mut wanted: Vec<(usize, usize, SourcedCell<'_>)> = Vec::new();
    for mut line in lines {
        line.arrange_by_key(|own| Reverse(own.cell.workers));
        let mut both = vec![line[0], line[line.len() - 1]];
        both.dedup_by_key(|own| own.cell.workers);
        for own in both {
            let rank = before.entry((own.source, own.cell.kernel.as_str())).or_insert(0);
            wanted.push((*rank, wanted.len(), own));
            *rank += 1;
        }
    }
    wanted.arrange_by_key(|(rank, at, _)| (*rank, *at));
    wanted.truncate(MOST_FIGURES);
    wanted.arrange_by_key(|(_, at, _)| *at);
    wanted.into_iter().map(|(.., own)| own).collect()
}

fn figure(sorted: &CellsByKernel<'_>, own: SourcedCell<'_>, most: usize) -> Option<Figure> {
    let (cell, found) = (own.cell, own.cell.distribution.as_ref()?);
    let state = points::state(cell);
    let name = sorted.named(&point::name(cell), own.source);
    let [first, second] = labels(sorted.sources[own.source].report.card(&cell.kernel));
    let axis = |label: String| Axis { label, quantity: Quantity::Nanos, scale: Scale::Log10 };
    let is_pair = found.samples.second.count() > 0;
    let (pairs, finer) = bins::pairs(&found.samples, most);
    let mut about = Vec::new();
    if finer {
        about
            .push("neighbouring bins are drawn as one, so the page stays small; --format json has them all".to_owned());
    }
    let reasons = points::against(cell);
    if state == State::Suspect && !reasons.is_empty() {
        about.push(format!("suspect{reasons}"));
    }
    let joint = JointPlot {
        x: axis(first),
        y: is_pair.then(|| axis(second)),
        pairs: if is_pair { pairs } else { Vec::new() },
        first: bins::bars(&found.samples.first, MOST_BARS),
        second: if is_pair { bins::bars(&found.samples.second, MOST_BARS) } else { Vec::new() },
        below: is_pair.then_some(found.second_shorter).filter(|share| share.is_finite()),
        first_bands: bands(&found.first),
        second_bands: if is_pair { bands(&found.second) } else { Vec::new() },
        count: found.samples.first.count().max(found.samples.count),
        is_doubtful: state == State::Suspect,
    };
    about.extend(joint.bands_in_words());
    Some(Figure {
        id: id(&format!("times-{name}")),
        title: format!("{name}: how its times are spread"),
        about,
        body: Body::Joint(joint),
        table: None,
    })
}

fn labels(card: Option<&Card>) -> [String; 2] {
    match card.and_then(|card| card.times.as_ref()) {
        Some(times) => [times.first.to_string(), times.second.to_string()],
        None => ["the first time".into(), "the second time".into()],
    }
}

/// The bands of one of the times; those that a file made up are left out.
fn bands(shape: &Shape) -> Vec<Peak> {
    const MOST: usize = 5;
    let is_finite =
        |peak: &&Peak| [peak.low_ns, peak.high_ns, peak.mode_ns, peak.share].iter().all(|number| number.is_finite());
    shape.peaks.iter().filter(is_finite).take(MOST).copied().collect()
}

/// A row for each of both times of each cell: percentiles, the least and the most, in how many pairs the second is the shorter one, and
/// where times gather.
pub(super) fn table(sorted: &CellsByKernel<'_>) -> Option<Table> {
    const HEADING: [&str; 12] =
        ["line", "time", "least", "p50", "cycles", "p90", "p99", "p99.9", "p99.99", "most", "second < first", "modes"];
    let rows: Vec<Row> = sorted.cells().filter(has_times).flat_map(|own| rows(sorted, own)).collect();
    (!rows.is_empty()).then(|| Table::new(&HEADING, rows).without_empty_columns().at_most(MOST))
}

fn rows(sorted: &CellsByKernel<'_>, own: SourcedCell<'_>) -> Vec<Row> {
    let Some(found) = &own.cell.distribution else { return Vec::new() };
    let (doubt, hertz) = (points::doubt(own.cell), hertz(own.cell));
    let time = |nanos: Option<f64>| {
        Datum::known(nanos.filter(|nanos| nanos.is_finite()), |nanos| format!("{}{doubt}", units::nanos(nanos)))
    };
    let row = |label: &str, marginal: &Histogram, shape: &Shape, shorter: Option<f64>| {
        let mut inner = shape.percentiles().map(|(_, nanos)| time(nanos)).into_iter();
        let cycles = shape.p50_ns.zip(hertz).map(|(nanos, hertz)| nanos * hertz / 1e9);
        let mut data = vec![
            Datum::word(sorted.named(&point::name(own.cell), own.source)),
            Datum::word(label),
            time(Some(marginal.min_ns as f64)),
        ];
        data.extend(inner.next());
        data.push(Datum::known(cycles, |cycles| format!("{}{doubt}", units::count_of(cycles))));
        data.extend(inner);
        data.push(time(Some(marginal.max_ns as f64)));
        data.push(Datum::known(shorter, |share| format!("{}{doubt}", units::percent(share))));
        let modes: Vec<String> = bands(shape).iter().map(Peak::in_words).collect();
        data.push(if modes.is_empty() { Datum::none() } else { Datum::word(modes.join(", ") + doubt) });
        Row::new(data, points::state(own.cell))
    };
    let [first, second] = labels(sorted.sources[own.source].report.card(&own.cell.kernel));
    let shorter = Some(found.second_shorter).filter(|share| share.is_finite());
    let is_pair = found.samples.second.count() > 0;
    let second = is_pair.then(|| row(&second, &found.samples.second, &found.second, shorter));
    [row(&first, &found.samples.first, &found.first, None)].into_iter().chain(second).collect()
}

/// The frequency that its cores had, where every invocation that counts saw it before and after, and it was the same.
fn hertz(cell: &Cell) -> Option<f64> {
    let done = cell.invocations.iter().filter(|invocation| invocation.ending == Ending::Done);
    let seen: Option<Vec<_>> = done.map(|invocation| invocation.evidence.as_ref()?.frequency).collect();
    let seen = seen?;
    let min = seen.iter().map(|frequency| frequency.before_hz).reduce(f64::min).filter(|hertz| *hertz > 0.0)?;
    let max = seen.iter().map(|frequency| frequency.highest_hz).reduce(f64::max)?;
    let drift = seen.iter().map(|frequency| frequency.drift).reduce(f64::max)?;
    // Neither within an invocation, nor from one to the next, nor from core to core.
    let steady = V08.severity(drift).is_none() && V08.severity(max / min - 1.0).is_none();
    steady.then_some(f64::midpoint(min, max))
}
