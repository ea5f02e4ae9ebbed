//! One cell over all reports of a history.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::entry::Entry;
use charz_data::checks::{MOVED, V16};
use charz_data::params::{INSIDE, MEMORY, OUTSIDE, PARAMS, Param, Params};
use charz_data::report::{Cell, Estimator, Mark, Report, Severity, Unit};
use charz_data::{Arrange, COMMAND, Program};
use charz_stats::Sample;

/// The values of one cell.
#[derive(Clone, Debug)]
pub struct Series<'a> {
    /// Which cell it is.
    pub key: Key<'a>,
    /// How far the CPUs were apart, where that splits the values of a key.
    pub apart: Option<Apart>,
    /// One per report that has the cell, in the order of time.
    pub values: Vec<Value<'a>>,
}

/// How far CPUs were apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Apart {
    /// In nanoseconds.
    Nanos(f64),
    /// The reports have no distance.
    Unknown,
}

/// The cell of one report.
#[derive(Clone, Copy, Debug)]
pub struct Value<'a> {
    /// Index of the report among the entries.
    pub entry: usize,
    /// The cell.
    pub cell: &'a Cell,
    /// Whether its runs, of a contended line, have several speeds: which of them is the number is chance.
    pub has_speeds: bool,
}

impl Value<'_> {
    /// The number that counts for a change; none of several speeds.
    pub fn number(&self) -> Option<f64> {
        self.cell.value().filter(|_| !self.has_speeds)
    }
}

/// What the cells of one series have in common: everything that changes what their number means, whether the sweep varied it
/// or not.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key<'a> {
    /// The kernel's name.
    pub kernel: &'a str,
    /// The mapping, as on the command line.
    pub mapping: &'a str,
    /// How many workers.
    pub workers: u64,
    /// What the values count.
    pub unit: Unit,
    /// The parameters that the kernel obeys; all others, and the amounts of work, as they are by default.
    pub params: Params,
    /// Which of them are named, by their places in [`PARAMS`]: those that cannot be varied only where they differ from the default.
    pub named: Vec<usize>,
    /// `None` where nothing was measured.
    estimator: Option<Estimator>,
    /// How many iterations the value is the best of, where it is the best: that of more is better.
    pub best_of: Option<u64>,
    /// The size that it grew to, where it grows.
    pub last_size: Option<u64>,
    /// The user's program, where the kernel is one, and the report that does not name it: without its name it may be any.
    pub program: Option<(Program, Option<&'a str>)>,
}

impl<'a> Key<'a> {
    pub(super) fn of(cell: &'a Cell, report: &'a Report) -> Self {
        let card = report.card(&cell.kernel);
        let obeys = |param: &Param| card.is_some_and(|card| card.obeys(param)) || cell.point.has(param);
        let own = cell.params(&report.plan.params);
        let (mut params, mut named) = (Params::default(), Vec::new());
        for (place, param) in PARAMS.iter().enumerate().filter(|(_, param)| !param.is_amount() && obeys(param)) {
            (param.copy)(&mut params, &own);
            // Local memory and empty sections have no name: most kernels obey the flag, and most sweeps do not use it.
            if (param.vary && ![MEMORY, INSIDE, OUTSIDE].contains(param)) || !param.same(&own, &Params::default()) {
                named.push(place);
            }
        }
        let program = report.plan.program.as_ref().filter(|_| cell.kernel == COMMAND);
        let hidden = report.anonymous.then_some(&*report.id);
        Key {
            kernel: &cell.kernel,
            mapping: &cell.mapping,
            workers: cell.workers,
            unit: cell.unit,
            params,
            named,
            estimator: cell.summary.map(|_| cell.estimator),
            best_of: (cell.estimator == Estimator::Best).then_some(cell.repetitions),
            last_size: cell.last_size(),
            program: program.map(|program| (Program { timeout_ns: None, ..program.clone() }, hidden)),
        }
    }
}

impl<'a> Series<'a> {
    /// All series of these reports, in the order of the newest report that has them.
    pub(super) fn all(entries: &'a [Entry]) -> Vec<Self> {
        let mut series: HashMap<Key<'a>, (Vec<Value<'a>>, usize)> = HashMap::new();
        for (entry, Entry { report, .. }) in entries.iter().enumerate() {
            for (place, cell) in report.cells.iter().enumerate() {
                let (values, last) = series.entry(Key::of(cell, report)).or_default();
                // A cell with local memory by request and one with it by default are the same.
                if values.last().is_none_or(|value| value.entry != entry) {
                    let of_speeds = |mark: &Mark| mark.code == V16.code && mark.severity > Severity::Note;
                    let contends = report.card(&cell.kernel).is_some_and(|card| card.contends);
                    let has_speeds = contends && cell.marks.iter().any(of_speeds);
                    values.push(Value { entry, cell, has_speeds });
                    *last = place;
                }
            }
        }
        let newest = |values: &[Value<'_>]| values.last().map(|value| value.entry);
        let (gaps, mut series): (Vec<_>, Vec<_>) = series.into_iter().partition(|(key, _)| key.estimator.is_none());
        for (gap, (values, place)) in gaps {
            let is_of = |key: &Key<'_>| Key { estimator: None, ..key.clone() } == gap;
            match series.iter_mut().filter(|(key, _)| is_of(key)).max_by_key(|(_, (own, _))| newest(own)) {
                None => series.push((gap, (values, place))),
                Some((_, (own, last))) => {
                    if newest(&values) > newest(own) {
                        *last = place;
                    }
                    own.extend(values);
                    own.arrange_by_key(|value| value.entry);
                }
            }
        }
        series.arrange_by_key(|(_, (values, place))| (Reverse(newest(values)), *place));
        series.into_iter().flat_map(|(key, (values, _))| Series::by_placement(key, values)).collect()
    }

    /// What the host put elsewhere in between is no change: a series for each distance between the CPUs, and one for values and gaps
    /// without any.
    fn by_placement(key: Key<'a>, values: Vec<Value<'a>>) -> Vec<Self> {
        let apart = |value: &Value<'_>| value.cell.summary.as_ref()?.apart_ns;
        let placements = Sample::new(values.iter().filter_map(apart).collect()).map(|all| all.groups(1.0 + MOVED));
        let placements = placements.filter(|placements| placements.len() > 1).unwrap_or_default();
        if placements.is_empty() {
            return vec![Series { key, apart: None, values }];
        }
        let of = |at: Apart, is_in: &dyn Fn(Option<f64>) -> bool| {
            let values = values.iter().filter(|value| is_in(apart(value))).copied().collect();
            Series { key: key.clone(), apart: Some(at), values }
        };
        let known = placements.iter().map(|placement| {
            let is_in = |ns: Option<f64>| ns.is_some_and(|ns| (placement.min()..=placement.max()).contains(&ns));
            of(Apart::Nanos(placement.median()), &is_in)
        });
        let all = known.chain([of(Apart::Unknown, &|ns| ns.is_none())]);
        all.filter(|series| !series.values.is_empty()).collect()
    }

    /// Those of its values that count.
    pub fn numbers(&self) -> impl Iterator<Item = f64> {
        self.values.iter().filter_map(Value::number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::fixtures::of_cells;
    use crate::history::summary;
    use charz_data::params::Layout;
    use charz_data::report::{Growth, GrowthStep, Halt, PageKind, Plan, Point, Status, anonymous, fixtures};
    use charz_data::{ProgramValue, ReportedUnit};

    fn of(cell: Cell, change: impl FnOnce(&mut Report)) -> Report {
        let mut report = fixtures::report(vec![cell]);
        change(&mut report);
        report
    }

    fn to_size(size: u64) -> Report {
        let steps = (1..=size).map(|size| GrowthStep { size, ..GrowthStep::default() }).collect();
        let growth = Growth::new(steps, Halt::Time);
        let mut cell = fixtures::cell("fft-mutex", 1, Unit::OpsPerSecond, 1e9);
        let runs = cell.invocations.iter_mut().flat_map(|one| &mut one.runs);
        runs.for_each(|run| run.growth = Some(Box::new(growth.clone())));
        summary(fixtures::report(vec![cell]))
    }

    fn by(estimator: Estimator, repetitions: u64, block_bytes: Option<u64>) -> Report {
        let cell = fixtures::cell("mem-read", 2, Unit::BytesPerSecond, 1e9).sized(128 << 20);
        of(Cell { estimator, repetitions, block_bytes, ..cell }, |_| ())
    }

    fn program(id: &str, is_anonymous: bool) -> Report {
        let report = of(fixtures::cell(COMMAND, 1, Unit::OpsPerSecond, 1e9), |report| {
            report.plan.program = Some(Program::new("./a", ProgramValue::Last, ReportedUnit::RATE));
            report.id = id.into();
        });
        if is_anonymous { anonymous(report) } else { report }
    }

    fn planned(kernel: &str, point: Point, change: impl FnOnce(&mut Plan)) -> Report {
        of(fixtures::cell(kernel, 1, Unit::BytesPerSecond, 1e9).at(point), |report| change(&mut report.plan))
    }

    /// Two reports, and whether their cells are of one series.
    #[test]
    fn what_changes_the_meaning_of_a_number_makes_another_series() {
        let (best, median) = (Estimator::Best, Estimator::Median);
        let size = |bytes| Point { size_bytes: Some(bytes), ..Point::default() };
        let none = Point::default();
        let of_size = |bytes| move |plan: &mut Plan| plan.params.size_bytes = bytes;
        let ignored = |plan: &mut Plan| {
            plan.params = Params { size_bytes: 64, pages: PageKind::Huge1G, inside_steps: 9, ..plan.params }
        };
        let small = Point { pages: Some(PageKind::Small), ..none };
        let contiguous = |plan: &mut Plan| plan.params.layout = Layout::Contiguous;
        for (one, other, is_same) in [
            (to_size(5), to_size(5), true),
            (to_size(5), to_size(6), false),
            (by(best, 5, None), by(best, 20, None), false),
            (by(median, 5, None), by(median, 20, None), true),
            (by(best, 5, None), by(median, 5, None), false),
            (by(median, 5, None), by(median, 5, Some(32 << 20)), false),
            (program("1", false), program("2", false), true),
            (program("1", true), program("1", true), true),
            (program("1", true), program("2", true), false),
            // A plan with one size, and one with several.
            (planned("mem-read", size(1 << 20), of_size(1 << 28)), planned("mem-read", none, of_size(1 << 20)), true),
            (planned("mem-read", none, of_size(1 << 20)), planned("mem-read", none, of_size((1 << 20) + 64)), false),
            // What a kernel ignores is no other series.
            (planned("arith-int", none, ignored), planned("arith-int", none, |_| ()), true),
            (planned("arith-int", none, contiguous), planned("arith-int", none, |_| ()), false),
            (planned("of-tomorrow", small, ignored), planned("of-tomorrow", small, |_| ()), true),
        ] {
            let [key, of_other] = [&one, &other].map(|report| Key::of(&report.cells[0], report));
            assert_eq!(key == of_other, is_same, "{key:?} {of_other:?}");
        }
    }

    #[test]
    fn what_was_not_measured_is_a_gap_of_what_was() {
        let of = |estimator| Cell { estimator, ..fixtures::cell("arith-int", 1, Unit::OpsPerSecond, 1e9) };
        let skipped = || of(Estimator::Median).unmeasured(Status::Skipped, "no room");
        let cells = [skipped(), of(Estimator::FastMode), skipped(), of(Estimator::Median), skipped()];
        let history = of_cells(cells.map(|cell| vec![cell]));
        let entries = |series: &Series<'_>| series.values.iter().map(|value| value.entry).collect::<Vec<_>>();
        assert_eq!(Series::all(&history).iter().map(entries).collect::<Vec<_>>(), [vec![0, 2, 3, 4], vec![1]]);
    }
}
