//! One cell over all reports of a history.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::time::Duration;

use humantime::format_duration;

use super::entry::Entry;
use crate::point;
use charz_data::params;
use charz_data::report::{Cell, MemoryHome, Point, Report, Unit};

/// One cell over time.
#[derive(Clone, Debug)]
pub struct Series {
    pub key: Key,
    /// One per report that has the cell, in the order of time.
    pub values: Vec<Value>,
}

/// What one report says of a cell.
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
    /// The parameters that a sweep can vary, if the kernel obeys them.
    point: Point,
    /// The others, if they are not as charz has them by default: ` inside-steps 9`.
    others: String,
}

impl Key {
    pub(super) fn of(cell: &Cell, report: &Report) -> Self {
        let plan = &report.plan;
        let own = Point { memory: cell.point.memory.filter(|home| *home != MemoryHome::Local), ..cell.point };
        let card = report.card(&cell.kernel);
        let obeys = |param| card.is_some_and(|card| card.obeys(param));
        let pages = || serde_json::from_value(plan.pages.as_str().into()).ok();
        let point = Point {
            size_bytes: own.size_bytes.or(obeys(&params::SIZE).then_some(plan.size_bytes)),
            pages: own.pages.or_else(|| if obeys(&params::PAGES) { pages() } else { None }),
            stride_bytes: own.stride_bytes.or(obeys(&params::STRIDE).then_some(plan.stride_bytes)),
            chains: own.chains.or(obeys(&params::CHAINS).then_some(plan.chains)),
            delay: own.delay.or(obeys(&params::DELAY).then_some(plan.delay)),
            memory: own.memory,
        };
        let others = [
            (obeys(&params::LAYOUT) && plan.layout != "padded").then(|| format!(" {}", plan.layout)),
            (obeys(&params::INSIDE) && plan.critical > 0).then(|| format!(" inside-steps {}", plan.critical)),
            (obeys(&params::OUTSIDE) && plan.parallel > 0).then(|| format!(" outside-steps {}", plan.parallel)),
            (obeys(&params::PERIOD) && plan.period != "fitting").then(|| format!(" period {}", plan.period)),
            obeys(&params::TIMEOUT)
                .then(|| format!(" timeout {}", format_duration(Duration::from_nanos(plan.timeout_ns)))),
        ];
        Key {
            kernel: cell.kernel.clone(),
            mapping: cell.mapping.clone(),
            workers: cell.workers,
            unit: cell.unit,
            point,
            others: others.into_iter().flatten().collect(),
        }
    }

    /// The parameters as text: ` 256 MiB thp`, or nothing.
    pub fn parameters(&self) -> String {
        point::label(&self.point) + &self.others
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
        let mut series: Vec<_> = series.into_iter().collect();
        series.sort_by_key(|(_, (values, place))| (Reverse(values.last().map(|value| value.entry)), *place));
        series.into_iter().map(|(key, (values, _))| Series { key, values }).collect()
    }

    pub fn numbers(&self) -> impl Iterator<Item = f64> {
        self.values.iter().filter_map(|value| value.cell.value())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use charz_data::report::{PageKind, Plan, invented};

    fn key(kernel: &str, point: Point, change: impl FnOnce(&mut Plan)) -> Key {
        let cell = invented::cell(kernel, 1, Unit::BytesPerSecond, 1e9).at(point);
        let mut report = invented::report(vec![cell.clone()]);
        change(&mut report.plan);
        Key::of(&cell, &report)
    }

    #[test]
    fn a_plan_with_one_size_and_one_with_several_have_the_same_cell() {
        let own = Point { size_bytes: Some(1 << 20), ..Point::default() };
        let varied = key("mem-read", own, |plan| plan.size_bytes = 1 << 28);
        let planned = key("mem-read", Point::default(), |plan| plan.size_bytes = 1 << 20);
        assert_eq!(varied, planned);
        assert!(planned.parameters().starts_with(" 1 MiB"), "{}", planned.parameters());
        assert_ne!(planned, key("mem-read", Point::default(), |plan| plan.size_bytes = (1 << 20) + 64));
    }

    #[test]
    fn parameters_that_a_kernel_ignores_make_no_other_series() {
        let change = |plan: &mut Plan| (plan.size_bytes, plan.pages, plan.critical) = (64, "1g".into(), 9);
        assert_eq!(key("arith-int", Point::default(), change).parameters(), "");
        let contiguous = key("arith-int", Point::default(), |plan| plan.layout = "contiguous".into());
        assert_eq!(contiguous.parameters(), " contiguous");
        let known = Point { pages: Some(PageKind::Small), ..Point::default() };
        assert_eq!(key("of-tomorrow", known, change).parameters(), " 4k");
    }
}
