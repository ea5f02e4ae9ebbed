//! What reports say of one cell, one after the other.

use charz_kernels::Knob;
use serde::{Deserialize, Serialize};

use crate::point;
use crate::report::{Cell, MemoryHome, Plan, Point, Status, Unit};

/// One cell in the course of time.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The kernel's name.
    pub kernel: String,
    /// The mapping, as on the command line.
    pub mapping: String,
    /// How many workers.
    pub workers: u64,
    /// With what it was measured.
    pub parameters: Parameters,
    /// What the values count.
    pub unit: Unit,
    /// One for each report that has the cell, in the order of time.
    pub values: Vec<Value>,
}

/// What one report says of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// The report, by its place among the entries.
    pub entry: usize,
    /// How the cell ended.
    pub status: Status,
    /// Why, unless it is `ok`.
    pub reason: Option<String>,
    /// The median of the invocations; null where there is no number, e.g. of an invalid cell.
    pub value: Option<f64>,
    /// The interval of the median, its lower end first.
    pub interval: Option<(f64, f64)>,
}

/// The parameters that change what a number means, as the kernel obeys them, whether the sweep varied them or not. What the
/// kernel does not obey is null, and what is null is as charz has it by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Parameters {
    /// Those that a sweep can vary.
    #[serde(skip_serializing_if = "is_usual")]
    pub point: Point,
    /// How inputs lie, where not padded.
    #[serde(skip_serializing_if = "is_usual")]
    pub layout: Option<String>,
    /// Steps with a lock, where there are any.
    #[serde(skip_serializing_if = "is_usual")]
    pub critical: Option<u64>,
    /// Steps in between, where there are any.
    #[serde(skip_serializing_if = "is_usual")]
    pub parallel: Option<u64>,
    /// When samples begin, where not on a fitting schedule.
    #[serde(skip_serializing_if = "is_usual")]
    pub period: Option<String>,
    /// How long waits are told to last.
    #[serde(skip_serializing_if = "is_usual")]
    pub timeout_ns: Option<u64>,
}

fn is_usual<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Parameters {
    /// Those of a cell of a report with this plan.
    pub fn of(cell: &Cell, plan: &Plan) -> Self {
        let own = cell.point;
        let home = own.memory.filter(|home| *home != MemoryHome::Local);
        // A kernel that this program does not have may obey anything: only what the cell says of itself is known.
        let Some(kernel) = charz_kernels::find(&cell.kernel) else {
            return Parameters { point: Point { memory: home, ..own }, ..Parameters::default() };
        };
        let obeys = |knob| kernel.card().knobs.contains(&knob);
        let steps = |steps: u64| Some(steps).filter(|steps| *steps > 0 && obeys(Knob::Sections));
        let pages = || serde_json::from_value(plan.pages.as_str().into()).ok();
        let point = Point {
            size_bytes: own.size_bytes.or(obeys(Knob::Size).then_some(plan.size_bytes)),
            pages: own.pages.or_else(|| if obeys(Knob::Pages) { pages() } else { None }),
            stride_bytes: own.stride_bytes.or(obeys(Knob::Stride).then_some(plan.stride_bytes)),
            chains: own.chains.or(obeys(Knob::Chains).then_some(plan.chains)),
            delay: own.delay.or(obeys(Knob::Delay).then_some(plan.delay)),
            memory: home,
        };
        Parameters {
            point,
            layout: Some(plan.layout.clone()).filter(|layout| obeys(Knob::Layout) && layout != "padded"),
            critical: steps(plan.critical),
            parallel: steps(plan.parallel),
            period: Some(plan.period.clone()).filter(|period| obeys(Knob::Period) && period != "fitting"),
            timeout_ns: obeys(Knob::Timeout).then_some(plan.timeout_ns),
        }
    }

    /// What stands behind the name of a cell: ` 256 MiB thp`, or nothing.
    pub fn label(&self) -> String {
        let words = [
            self.layout.as_ref().map(|layout| format!(" {layout}")),
            self.critical.map(|steps| format!(" critical {steps}")),
            self.parallel.map(|steps| format!(" parallel {steps}")),
            self.period.as_ref().map(|period| format!(" period {period}")),
            self.timeout_ns.map(|nanos| format!(" timeout {}", crate::render::human::nanos(nanos as f64))),
        ];
        point::label(&self.point) + &words.into_iter().flatten().collect::<String>()
    }
}

impl Series {
    /// Kernel, mapping, number of workers and parameters in one line.
    pub fn name(&self) -> String {
        format!("{} {} x{}{}", self.kernel, self.mapping, self.workers, self.parameters.label())
    }

    /// The numbers that there are, each with its place among the values.
    pub fn numbers(&self) -> impl Iterator<Item = (usize, f64)> {
        self.values.iter().enumerate().filter_map(|(at, value)| Some((at, value.value?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::PageKind;

    fn report() -> crate::report::Report {
        crate::report::read(std::path::Path::new(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../tests/golden/reports/waits.json"
        )))
        .unwrap()
    }

    /// The parameters of a cell of this kernel with this point.
    fn of(kernel: &str, point: Point, change: impl FnOnce(&mut Plan)) -> Parameters {
        let mut report = report();
        change(&mut report.plan);
        let cell = Cell { kernel: kernel.into(), point, ..report.cells[0].clone() };
        Parameters::of(&cell, &report.plan)
    }

    #[test]
    fn a_plan_with_one_size_and_one_with_several_have_the_same_cell() {
        let own = Point { size_bytes: Some(1 << 20), ..Point::default() };
        let varied = of("mem-read", own, |plan| plan.size_bytes = 1 << 28);
        let planned = of("mem-read", Point::default(), |plan| plan.size_bytes = 1 << 20);
        assert_eq!(varied, planned);
        assert!(planned.label().starts_with(" 1 MiB"), "{}", planned.label());
        assert_ne!(planned, of("mem-read", Point::default(), |plan| plan.size_bytes = 1 << 21));
    }

    #[test]
    fn what_a_kernel_does_not_obey_makes_no_other_series() {
        let change = |plan: &mut Plan| (plan.size_bytes, plan.pages, plan.critical) = (64, "1g".into(), 9);
        assert_eq!(of("arith-int", Point::default(), change).label(), "");
        assert_eq!(of("arith-int", Point::default(), |plan| plan.layout = "contiguous".into()).label(), " contiguous");
        let known = Point { pages: Some(PageKind::Small), ..Point::default() };
        assert_eq!(of("of-tomorrow", known, change).label(), " 4k");
    }

    #[test]
    fn parameters_come_back_from_their_text() {
        let parameters = of("mem-read", Point::default(), |_| ());
        let text = serde_json::to_string(&parameters).unwrap();
        assert_eq!(serde_json::from_str::<Parameters>(&text).unwrap(), parameters);
        assert_eq!(serde_json::to_string(&Parameters::default()).unwrap(), "{}");
        assert!(serde_json::from_str::<Parameters>(r#"{"later": 1}"#).is_err());
    }
}
