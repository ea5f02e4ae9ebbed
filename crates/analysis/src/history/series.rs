//! One cell over all reports of a history.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::entry::Entry;
use charz_data::checks::MOVED;
use charz_data::params::{INSIDE, MEMORY, OUTSIDE, PARAMS, Param, Params};
use charz_data::report::{Cell, Estimator, Report, Unit};
use charz_data::{Arrange, COMMAND, Program, units};
use charz_stats::Sample;

#[derive(Clone, Debug)]
pub struct Series {
    pub key: Key,
    /// How far the CPUs were apart, where that splits the values of a key: ` 25 ns apart`, ` distance unknown`, or nothing.
    placement: String,
    /// One per report that has the cell, in the order of time.
    pub values: Vec<Value>,
}

#[derive(Clone, Debug)]
pub struct Value {
    /// Index of the report among the entries.
    pub entry: usize,
    pub cell: Cell,
}

/// What the cells of one series have in common: everything that changes what their number means, whether the sweep varied it
/// or not.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    pub kernel: String,
    pub mapping: String,
    pub workers: u64,
    pub unit: Unit,
    /// The parameters that the kernel obeys; all others, and the amounts of work, as they are by default.
    params: Params,
    /// `None` where nothing was measured.
    estimator: Option<Estimator>,
    /// How many iterations the value is the best of, where it is the best: that of more is better.
    best_of: Option<u64>,
    /// The size that it grew to, where it grows.
    last_size: Option<u64>,
    /// The user's program, where the kernel is one.
    program: Option<Program>,
    /// The same as text, with those that cannot be varied only where they differ from the default.
    parameters: String,
}

impl Key {
    pub(super) fn of(cell: &Cell, report: &Report) -> Self {
        let card = report.card(&cell.kernel);
        let obeys = |param: &Param| card.is_some_and(|card| card.obeys(param)) || cell.point.has(param);
        let own = cell.params(&report.plan.params);
        let (mut params, mut parameters) = (Params::default(), String::new());
        for param in PARAMS.iter().filter(|param| !param.is_amount() && obeys(param)) {
            (param.copy)(&mut params, &own);
            // Local memory and empty sections have no name: most kernels obey the flag, and most sweeps do not use it.
            if (param.vary && ![MEMORY, INSIDE, OUTSIDE].contains(param)) || !param.same(&own, &Params::default()) {
                parameters += " ";
                parameters += &param.label(&own);
            }
        }
        let best_of = (cell.estimator == Estimator::Best).then_some(cell.repetitions);
        if let Some(count) = best_of {
            parameters += &format!(" best of {count}");
        }
        let last_size = cell.last_size();
        if let Some(size) = last_size {
            parameters += &format!(" to size {size}");
        }
        let program = report.plan.program.as_ref().filter(|_| cell.kernel == COMMAND);
        // One without its name may be any.
        let whose = if report.anonymous { format!(" of {}", report.id) } else { String::new() };
        let program = program.map(|program| {
            let command = format!("{}{whose}", program.command);
            Program { timeout_ns: None, command, ..program.clone() }
        });
        if let Some(program) = &program {
            parameters += &format!(" {:?}", program.command);
        }
        Key {
            kernel: cell.kernel.clone(),
            mapping: cell.mapping.clone(),
            workers: cell.workers,
            unit: cell.unit,
            params,
            estimator: cell.summary.map(|_| cell.estimator),
            best_of,
            last_size,
            program,
            parameters,
        }
    }

    /// The parameters as text: ` 256 MiB thp`, or nothing.
    pub fn parameters(&self) -> &str {
        &self.parameters
    }

    /// Kernel, mapping, number of workers and parameters in one line.
    pub fn name(&self) -> String {
        format!("{} {} x{}{}", self.kernel, self.mapping, self.workers, self.parameters())
    }
}

impl Series {
    /// All series of these reports, in the order of the newest report that has them.
    pub(super) fn all(entries: &[Entry]) -> Vec<Self> {
        let mut series: HashMap<Key, (Vec<Value>, usize)> = HashMap::new();
        for (entry, Entry { report, .. }) in entries.iter().enumerate() {
            for (place, cell) in report.cells.iter().enumerate() {
                let (values, last) = series.entry(Key::of(cell, report)).or_default();
                // A cell with local memory by request and one with it by default are the same.
                if values.last().is_none_or(|value: &Value| value.entry != entry) {
                    values.push(Value { entry, cell: cell.clone() });
                    *last = place;
                }
            }
        }
        let (gaps, mut series): (Vec<_>, Vec<_>) = series.into_iter().partition(|(key, _)| key.estimator.is_none());
        for (gap, (values, place)) in gaps {
            let is_of = |key: &Key| Key { estimator: None, ..key.clone() } == gap;
            let newest = |values: &[Value]| values.last().map(|value| value.entry);
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
        series.arrange_by_key(|(_, (values, place))| (Reverse(values.last().map(|value| value.entry)), *place));
        series.into_iter().flat_map(|(key, (values, _))| Series::by_placement(key, values)).collect()
    }

    /// What the host put elsewhere in between is no change: a series for each distance between the CPUs, and one for values and gaps
    /// without any.
    fn by_placement(key: Key, values: Vec<Value>) -> Vec<Self> {
        let apart = |value: &Value| value.cell.summary.as_ref()?.apart_ns;
        let placements = Sample::new(values.iter().filter_map(apart).collect()).map(|all| all.groups(1.0 + MOVED));
        let placements = placements.filter(|placements| placements.len() > 1).unwrap_or_default();
        if placements.is_empty() {
            return vec![Series { key, placement: String::new(), values }];
        }
        let of = |placement: &Sample| {
            let is_in =
                |value: &&Value| apart(value).is_some_and(|ns| (placement.min()..=placement.max()).contains(&ns));
            let values = values.iter().filter(is_in).cloned().collect();
            Series { key: key.clone(), placement: format!(" {} apart", units::nanos(placement.median())), values }
        };
        let unknown: Vec<Value> = values.iter().filter(|value| apart(value).is_none()).cloned().collect();
        let of_unknown = Series { key: key.clone(), placement: " distance unknown".into(), values: unknown };
        placements.iter().map(of).chain(Some(of_unknown).filter(|series| !series.values.is_empty())).collect()
    }

    /// That of its key, and where its CPUs were.
    pub fn name(&self) -> String {
        self.key.name() + &self.placement
    }

    /// The parameters of its key, and where its CPUs were.
    pub fn parameters(&self) -> String {
        format!("{}{}", self.key.parameters(), self.placement)
    }

    pub fn numbers(&self) -> impl Iterator<Item = f64> {
        self.values.iter().filter_map(|value| value.cell.value())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::fixtures::of_cells;
    use crate::history::summary;
    use charz_data::params::Layout;
    use charz_data::report::{Growth, GrowthStep, Halt, PageKind, Plan, Point, Status, Unit, anonymous, fixtures};
    use charz_data::{ProgramValue, ReportedUnit};

    #[test]
    fn what_grew_to_another_size_is_another_series() {
        let to = |size: u64| {
            let mut cell = fixtures::cell("fft-mutex", 1, Unit::OpsPerSecond, 1e9);
            let steps = (1..=size).map(|size| GrowthStep { size, ..GrowthStep::default() }).collect();
            let growth = Growth::new(steps, Halt::Time);
            let runs = cell.invocations.iter_mut().flat_map(|one| &mut one.runs);
            runs.for_each(|run| run.growth = Some(Box::new(growth.clone())));
            let report = summary(fixtures::report(vec![cell]));
            Key::of(&report.cells[0], &report)
        };
        assert_eq!(to(5), to(5));
        assert_ne!(to(5), to(6));
    }

    #[test]
    fn what_becomes_a_value_in_another_way_is_another_series() {
        let of = |estimator, repetitions, block_bytes| {
            let cell = fixtures::cell("mem-read", 2, Unit::BytesPerSecond, 1e9).sized(128 << 20);
            let cell = Cell { estimator, repetitions, block_bytes, ..cell };
            Key::of(&cell, &fixtures::report(vec![cell.clone()]))
        };
        let five = of(Estimator::Best, 5, None);
        assert_ne!(five, of(Estimator::Best, 20, None));
        assert!(five.parameters().ends_with(" best of 5"), "{}", five.parameters());
        assert_eq!(of(Estimator::Median, 5, None), of(Estimator::Median, 20, None));
        assert_ne!(five, of(Estimator::Median, 5, None));
        assert_ne!(five, of(Estimator::Best, 5, Some(32 << 20)));
    }

    #[test]
    fn programs_without_names_are_of_series_of_their_own() {
        let of = |id: &str, is_anonymous| {
            let mut report = fixtures::report(vec![fixtures::cell(COMMAND, 1, Unit::OpsPerSecond, 1e9)]);
            report.plan.program = Some(Program::new("./a", ProgramValue::Last, ReportedUnit::RATE));
            report.id = id.into();
            if is_anonymous {
                report = anonymous(report);
            }
            Key::of(&report.cells[0], &report)
        };
        assert_eq!(of("1", false), of("2", false));
        assert_eq!(of("1", true), of("1", true));
        assert_ne!(of("1", true), of("2", true));
    }

    #[test]
    fn what_was_not_measured_is_a_gap_of_what_was() {
        let of = |estimator| Cell { estimator, ..fixtures::cell("arith-int", 1, Unit::OpsPerSecond, 1e9) };
        let skipped = || of(Estimator::Median).unmeasured(Status::Skipped, "no room");
        let cells = [skipped(), of(Estimator::FastMode), skipped(), of(Estimator::Median), skipped()];
        let series = Series::all(&of_cells(cells.map(|cell| vec![cell])));
        let entries = |series: &Series| series.values.iter().map(|value| value.entry).collect::<Vec<_>>();
        assert_eq!(series.iter().map(entries).collect::<Vec<_>>(), [vec![0, 2, 3, 4], vec![1]]);
    }

    fn key(kernel: &str, point: Point, change: impl FnOnce(&mut Plan)) -> Key {
        let cell = fixtures::cell(kernel, 1, Unit::BytesPerSecond, 1e9).at(point);
        let mut report = fixtures::report(vec![cell.clone()]);
        change(&mut report.plan);
        Key::of(&cell, &report)
    }

    #[test]
    fn a_plan_with_one_size_and_one_with_several_have_the_same_cell() {
        let own = Point { size_bytes: Some(1 << 20), ..Point::default() };
        let varied = key("mem-read", own, |plan| plan.params.size_bytes = 1 << 28);
        let planned = key("mem-read", Point::default(), |plan| plan.params.size_bytes = 1 << 20);
        assert_eq!(varied, planned);
        assert!(planned.parameters().starts_with(" 1 MiB"), "{}", planned.parameters());
        assert_ne!(planned, key("mem-read", Point::default(), |plan| plan.params.size_bytes = (1 << 20) + 64));
    }

    #[test]
    fn parameters_that_a_kernel_ignores_make_no_other_series() {
        let change = |plan: &mut Plan| {
            plan.params = Params { size_bytes: 64, pages: PageKind::Huge1G, inside_steps: 9, ..plan.params }
        };
        assert_eq!(key("arith-int", Point::default(), change).parameters(), "");
        let contiguous = key("arith-int", Point::default(), |plan| plan.params.layout = Layout::Contiguous);
        assert_eq!(contiguous.parameters(), " contiguous");
        let known = Point { pages: Some(PageKind::Small), ..Point::default() };
        assert_eq!(key("of-tomorrow", known, change).parameters(), " 4k");
    }
}
