//! Every number of one report in tables: the cells of each kernel, how their times are spread, and what sharing costs.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::cells::CellsByKernel;
use super::matrix::Matrix;
use super::points::{self, doubt};
use super::{Page, Source, draw, products, table};
use crate::figure::{Datum, Table};
use charz_data::checks::V08;
use charz_data::escape::{counted, one_line};
use charz_data::report::{Cell, Ending, Estimator, Peak, Point, Report, SCHEMA_MAJOR, SCHEMA_MINOR, Shape, Status};
use charz_data::{Card, units};
use charz_words::point;

/// A report in full. Nothing is left out, however long it is.
pub struct Whole {
    /// What follows from the numbers, and the figures that say more than rows of numbers: pairs of strands and of NUMA nodes.
    pub page: Page,
    /// What is to be known before the numbers.
    pub notes: Vec<String>,
    pub tables: Vec<Tabled>,
    /// What the sweep took, and what to do next.
    pub closing: Vec<String>,
}

pub struct Tabled {
    pub caption: String,
    pub table: Table,
    /// What to see in it, a sentence each.
    pub notes: Vec<String>,
}

impl From<(String, Table)> for Tabled {
    fn from((caption, table): (String, Table)) -> Self {
        Tabled { caption, table, notes: Vec::new() }
    }
}

/// Sections that are shown as the tables of their figures.
const TABLES: [&str; 2] = ["hardware", "growth"];

pub fn whole(report: &Report) -> Whole {
    let name = report.host.name.as_deref().unwrap_or("this host");
    let mut page = draw(&[Source { name, report }], &[], |id| ["pairs", "numa"].contains(&id) || TABLES.contains(&id));
    let mut tables: Vec<Tabled> =
        report.plan.kernels.iter().flat_map(|kernel| of_kernel(report, kernel)).map(Tabled::from).collect();
    let (tabled, squares) = page.sections.into_iter().partition::<Vec<_>, _>(|section| TABLES.contains(&section.id));
    page.sections = squares;
    let tabled = tabled.into_iter().flat_map(|section| section.figures);
    tables.extend(
        tabled.filter_map(|figure| Some(Tabled { caption: figure.title, table: figure.table?, notes: figure.about })),
    );
    let sources = [Source { name, report }];
    let products = products::tables(&CellsByKernel::of(&sources, Vec::new(), Vec::new()));
    tables.extend(products.into_iter().map(Tabled::from));
    let later = report.schema.minor > SCHEMA_MINOR && report.schema.major == SCHEMA_MAJOR;
    let notes = later.then(|| {
        format!(
            "note: the report has format version {SCHEMA_MAJOR}.{}; what was added after {SCHEMA_MAJOR}.{SCHEMA_MINOR} is left out",
            report.schema.minor
        )
    });
    Whole { page, notes: notes.into_iter().collect(), tables, closing: closing(report) }
}

/// The tables of a kernel. Of a kernel of pairs the square has the numbers.
fn of_kernel(report: &Report, kernel: &str) -> Vec<(String, Table)> {
    let cells: Vec<&Cell> = report.cells.iter().filter(|cell| cell.kernel == kernel).collect();
    let caption = caption(kernel, &cells);
    if !Matrix::all(report, kernel).is_empty() {
        return vec![(caption, Table::default())];
    }
    let mut tables = vec![(caption, by_mapping(report, &cells))];
    tables.extend(times(report.card(kernel), &cells));
    tables.extend(sharing(&cells));
    tables
}

/// `mem-write (AVX2, non-temporal stores); DRAM traffic is 2.00x (write-allocate)`.
fn caption(kernel: &str, cells: &[&Cell]) -> String {
    // More than one where a report was resumed and the kernel chose otherwise.
    let invocations = cells.iter().flat_map(|cell| &cell.invocations);
    let variants: BTreeSet<&str> = invocations.filter_map(|invocation| invocation.variant.as_deref()).collect();
    let variants: Vec<&str> = variants.into_iter().collect();
    let variant = if variants.is_empty() { String::new() } else { format!(" ({})", variants.join("; ")) };
    let moved = cells.first().and_then(|cell| cell.traffic).filter(|factor| *factor != 1.0);
    let moved = moved.map(|factor| format!("; DRAM traffic is {}x (write-allocate)", units::count_of(factor)));
    format!("{kernel}{variant}{}", moved.unwrap_or_default())
}

/// A row per point and number of workers, a column per mapping. A kernel of pairs has no cells under a mapping of more strands, and
/// the other way round.
fn by_mapping(report: &Report, cells: &[&Cell]) -> Table {
    let named: BTreeSet<&str> = cells.iter().map(|cell| cell.mapping.as_str()).collect();
    let mappings: Vec<&str> =
        report.plan.mappings.iter().map(String::as_str).filter(|mapping| named.contains(mapping)).collect();
    let varied = table::varied(cells.iter().copied());
    let mut by_row: BTreeMap<(Point, u64), BTreeMap<&str, &Cell>> = BTreeMap::new();
    for &cell in cells {
        by_row.entry((cell.point, cell.workers)).or_default().insert(&cell.mapping, cell);
    }
    let rows = by_row.into_values().filter_map(|cells| {
        let any = *cells.values().next()?;
        let mut data: Vec<Datum> = varied.iter().map(|param| table::parameter(any, param)).collect();
        data.push(Datum::count(any.workers));
        data.extend(
            mappings.iter().map(|mapping| cells.get(mapping).map_or(Datum::none(), |cell| points::datum(cell))),
        );
        let each = |mapping| cells.get(mapping).map_or(Datum::none(), |cell| points::per_thread(report, cell));
        data.extend(mappings.iter().map(each));
        Some(data)
    });
    let names = varied.iter().map(|param| param.name.to_owned());
    let own = mappings.iter().map(|mapping| (*mapping).to_owned());
    let each = mappings.iter().map(|mapping| format!("{mapping} per thread"));
    let heading: Vec<String> = names.chain(["threads".to_owned()]).chain(own).chain(each).collect();
    let heading: Vec<&str> = heading.iter().map(String::as_str).collect();
    Table::new(&heading, rows).without_empty_columns()
}

/// The parameters that a cell has for itself.
fn at(cell: &Cell) -> Datum {
    let label = point::label(&cell.point);
    if label.is_empty() { Datum::none() } else { Datum::word(label.trim_start()) }
}

/// Percentiles of both times, in how many pairs the second is the shorter one, and where times gather.
fn times(card: Option<&Card>, cells: &[&Cell]) -> Option<(String, Table)> {
    const CYCLES: &str = "cycles";
    let heading =
        ["at", "mapping", "threads", "time", "p50", CYCLES, "p99", "p99.9", "p99.99", "second < first", "modes"];
    let rows: Vec<Vec<Datum>> = cells.iter().filter_map(|cell| time_rows(cell)).flatten().collect();
    let table = Table::new(&heading, rows).without_empty_columns();
    let legend = match card.and_then(|card| card.times.as_ref()) {
        Some(times) => format!("first: {}; second: {}", times.first, times.second),
        None => "first and second: the two times that its threads stamp".to_owned(),
    };
    let clock = match table.heading.iter().any(|name| name == CYCLES) {
        true => "; cycles: p50 in cycles of the core's clock, timed by dependent multiplications around each run",
        false => "",
    };
    (!table.rows.is_empty()).then(|| (format!("{legend}{clock}"), table))
}

/// A row per time; the second goes on where the first begins.
fn time_rows(cell: &Cell) -> Option<[Vec<Datum>; 2]> {
    let distribution = cell.distribution.as_ref().filter(|_| cell.value().is_some())?;
    let (hertz, doubt) = (hertz(cell), doubt(cell));
    let row = |name: &str, shape: &Shape, shorter: Datum, place: [Datum; 3]| {
        let time = |nanos| Datum::known(nanos, |nanos| format!("{}{doubt}", units::nanos(nanos)));
        let cycles = shape.p50_ns.zip(hertz).map(|(nanos, hertz)| nanos * hertz / 1e9);
        let cycles = Datum::known(cycles, |cycles| format!("{}{doubt}", units::count_of(cycles)));
        let [p50, p99, p999, p9999] = [shape.p50_ns, shape.p99_ns, shape.p999_ns, shape.p9999_ns].map(time);
        let measured = [Datum::word(name), p50, cycles, p99, p999, p9999, shorter, gather(&shape.peaks, doubt)];
        place.into_iter().chain(measured).collect()
    };
    let place = [at(cell), Datum::word(&cell.mapping), Datum::count(cell.workers)];
    let again = [if place[0] == Datum::none() { "-" } else { "" }, "", ""].map(Datum::word);
    let share = distribution.second_shorter;
    let shorter = Datum::number(format!("{}{doubt}", units::percent(share)), share);
    Some([
        row("first", &distribution.first, Datum::word(""), place),
        row("second", &distribution.second, shorter, again),
    ])
}

/// `86% within 14.0 µs to 22.0 µs, 9% within 30.1 µs to 38.2 µs`.
fn gather(peaks: &[Peak], doubt: &str) -> Datum {
    const MOST: usize = 3;
    let band = |peak: &Peak| {
        let (low, high) = (units::nanos(peak.low_ns), units::nanos(peak.high_ns));
        format!("{:.0}% within {low} to {high}{doubt}", peak.share * 100.0)
    };
    let bands: Vec<String> = peaks.iter().take(MOST).map(band).collect();
    if bands.is_empty() { Datum::none() } else { Datum::word(bands.join(", ")) }
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

/// Attempts, waits and fairness. A worker alone shares nothing.
fn sharing(cells: &[&Cell]) -> Option<(String, Table)> {
    let heading = [
        "at",
        "mapping",
        "threads",
        "attempts per success",
        "waited",
        "CPU time lost waiting",
        "fairness",
        "max / min share",
    ];
    let row = |cell: &&Cell| {
        let sharing = cell.contention.filter(|_| cell.value().is_some() && cell.workers > 1)?;
        let number = |text: String, number: f64| Datum::number(format!("{text}{}", doubt(cell)), number);
        let share = |share: f64| number(units::percent(share), share);
        let unequal = match sharing.most_to_least {
            Some(ratio) => number(format!("{ratio:.2}"), ratio),
            None => Datum::word(format!("one starved{}", doubt(cell))),
        };
        Some(vec![
            at(cell),
            Datum::word(&cell.mapping),
            Datum::count(cell.workers),
            number(format!("{:.2}", sharing.attempts_per_success), sharing.attempts_per_success),
            share(sharing.waited),
            sharing.wait_share.map_or(Datum::none(), share),
            number(format!("{:.3}", sharing.fairness), sharing.fairness),
            unequal,
        ])
    };
    let rows: Vec<Vec<Datum>> = cells.iter().filter_map(row).collect();
    let table = Table::new(&heading, rows).without_empty_columns();
    (!table.rows.is_empty()).then(|| ("contention".to_owned(), table))
}

/// How a run becomes a number.
const ESTIMATES: [(Estimator, &str); 3] = [
    (Estimator::FastMode, "speed of its undisturbed blocks"),
    (Estimator::Best, "best of its iterations"),
    (Estimator::Median, "median of its iterations"),
];
/// The most kernels that a sentence names.
const MOST_NAMED: usize = 8;

/// What the sweep took and how its cells ended, and what to do next.
fn closing(report: &Report) -> Vec<String> {
    let mut sentences = Vec::new();
    let floor = |cell: &Cell| {
        let time = cell.value().map_or("unknown".to_owned(), units::nanos);
        format!("{time}{} ({})", doubt(cell), counted(cell.seats.len(), "thread"))
    };
    let floors: Vec<String> = report.floor.iter().map(floor).collect();
    if !floors.is_empty() {
        sentences.push(format!("timing overhead, an empty iteration: {}", floors.join(", ")));
    }
    let count = |status: Status| format!("{} {status}", report.count(status));
    let invocations = || report.cells.iter().flat_map(|cell| &cell.invocations);
    let runs = invocations().flat_map(|invocation| &invocation.runs);
    // A sum of nothing is a negative zero.
    let timed: f64 = 0.0 + runs.map(|run| run.interval_ns as f64).sum::<f64>();
    sentences.push(format!(
        "{}: {}; {} in {}, {} of it timed",
        counted(report.cells.len(), "configuration"),
        Status::ALL.map(count).join(", "),
        counted(invocations().count(), "run"),
        units::duration(Duration::from_nanos(report.wall_ns)),
        units::percent(timed / report.wall_ns.max(1) as f64),
    ));
    for (estimator, what) in ESTIMATES {
        let by = report.cells.iter().filter(|cell| cell.estimator == estimator).map(|cell| cell.kernel.as_str());
        let kernels: BTreeSet<&str> = by.collect();
        let names: Vec<&str> = kernels.iter().copied().take(MOST_NAMED).collect();
        let more = kernels.len() - names.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        if !names.is_empty() {
            sentences.push(format!("median of the runs, each the {what}: {}{more}", names.join(", ")));
        }
    }
    if let Some(least) = report.cells.iter().filter_map(|cell| cell.block_bytes).min() {
        let least = units::iec(least);
        sentences
            .push(format!("threads that share a last cache divide the block that passes it, down to {least} each"));
    }
    if let Some(mark) = report.cells.iter().flat_map(|cell| &cell.marks).next() {
        sentences.push(format!("details of a warning: charz explain {}", one_line(&mark.code)));
    }
    if let Some(resume) = report.resume().filter(|_| report.incomplete().is_some()) {
        sentences.push(format!("continue with {resume}"));
    }
    sentences
}

impl Table {
    pub(super) fn without_empty_columns(mut self) -> Self {
        for at in (0..self.heading.len()).rev() {
            if self.rows.iter().all(|row| row.data[at] == Datum::none()) {
                self.heading.remove(at);
                self.rows.iter_mut().for_each(|row| drop(row.data.remove(at)));
            }
        }
        self
    }
}
