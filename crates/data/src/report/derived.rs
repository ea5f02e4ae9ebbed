//! What follows from a report: written beside it for other programs, which do not judge. charz reads it in
//! the [excerpts](with_derived) of its own databases only.

use serde::{Deserialize, Serialize};

use super::cell::{Cell, Energy, Estimator, Invocation, Status, Summary};
use super::evidence::Mark;
use super::finding::Finding;
use super::number::{Interval, Measured};
use super::point::Point;
use super::read::{any_version, check_concluded};
use super::{Report, Schema};
use crate::{Hardware, Shape, Sharing, WakeUps};

/// What follows from the runs, by the rules of the charz that wrote the file; charz reads none of it.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Derived<'a> {
    /// What each of `cells` says, in their order.
    cells: Vec<Row<'a>>,
    /// What follows from several cells: conclusions, each with the cells that it is drawn from; absent where none was drawn.
    #[serde(default, skip_serializing_if = "<[Finding]>::is_empty")]
    findings: &'a [Finding],
}

/// One cell, as a row of a table: columns have the names and the units that they have in CSV.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Row<'a> {
    /// The kernel's name.
    kernel: &'a str,
    /// The mapping, as on the command line.
    mapping: &'a str,
    /// How many workers.
    workers: u64,
    #[serde(flatten)]
    point: Point,
    /// What the numbers count: `op/s`, `B/s`, `ns`, `ms/GiB`, or the word of a user's program.
    unit: &'a str,
    #[serde(flatten)]
    concluded: Concluded,
}

/// What is concluded from the runs of a cell.
#[derive(Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Concluded {
    /// How it ended.
    status: Status,
    /// Why, in words, unless it is `ok` or `pending`.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// What the hardware does when nothing else takes the CPUs; absent unless the status is `ok` or `suspect`.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<f64>,
    /// The lower end of its confidence interval of 95%; absent after too few runs to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    low: Option<f64>,
    /// The upper end.
    #[serde(skip_serializing_if = "Option::is_none")]
    high: Option<f64>,
    /// What the machine gave with everything that ran on it meanwhile: all work over all time.
    #[serde(skip_serializing_if = "Option::is_none")]
    delivered: Option<f64>,
    /// The lower end of its interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    delivered_low: Option<f64>,
    /// The upper end.
    #[serde(skip_serializing_if = "Option::is_none")]
    delivered_high: Option<f64>,
    /// The relative half width of the interval that was wanted, as a fraction.
    precision: f64,
    /// How a run becomes its value.
    estimator: Estimator,
    /// The value of each run, in their order; null where it has none.
    values: Vec<Option<f64>>,
    /// The iterations that do not count; absent where all do.
    #[serde(default, skip_deserializing, skip_serializing_if = "Vec::is_empty")]
    excluded: Vec<Excluded>,
    /// Everything that is wrong with the number; absent where nothing is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    marks: Vec<Mark>,
    /// What the values say; absent where nothing was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<Summary>,
    /// The two times that workers stamped; absent where they stamp none.
    #[serde(skip_serializing_if = "Option::is_none")]
    times: Option<Stamped>,
    /// What the workers cost each other; absent where they share nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    contention: Option<Sharing>,
    /// How late a thread that slept woke up beside the workers; absent where none was looked at.
    #[serde(default, skip_deserializing, skip_serializing_if = "Option::is_none")]
    wake_ups: Option<WakeUps>,
    /// What the hardware counters say; absent where nothing was counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    hardware: Option<Hardware>,
    /// What the iterations that count took of energy; absent where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    energy: Option<Energy>,
}

/// An iteration that does not count.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Excluded {
    /// The place of its run, from 0.
    run: usize,
    /// Its place in the run, from 0.
    iteration: usize,
    /// Codes of the checks that exclude it.
    by: Vec<String>,
}

/// The pairs of times that workers stamped, over all iterations that count.
#[derive(Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Stamped {
    /// The first times.
    first: Shape,
    /// The second times.
    second: Shape,
    /// The share of pairs in which the second time is the shorter one, as a fraction.
    second_shorter: f64,
}

impl<'a> Derived<'a> {
    pub(super) fn of(report: &'a Report, findings: &'a [Finding]) -> Self {
        let row = |cell: &'a Cell| Row {
            kernel: &cell.kernel,
            mapping: &cell.mapping,
            workers: cell.workers,
            point: cell.point,
            unit: cell.unit.symbol(),
            concluded: Concluded::of(cell),
        };
        Derived { cells: report.cells.iter().map(row).collect(), findings }
    }
}

impl Concluded {
    fn of(cell: &Cell) -> Self {
        let ends = |estimate: Option<Measured>| {
            let interval = estimate.and_then(|estimate| estimate.interval);
            (estimate.map(|estimate| estimate.value), interval.map(|ends| ends.low), interval.map(|ends| ends.high))
        };
        let (value, low, high) = ends(cell.capacity);
        let (delivered, delivered_low, delivered_high) = ends(cell.delivered);
        Concluded {
            status: cell.status,
            reason: cell.reason.clone(),
            value,
            low,
            high,
            delivered,
            delivered_low,
            delivered_high,
            precision: cell.precision,
            estimator: cell.estimator,
            values: cell.invocations.iter().map(|run| run.value).collect(),
            excluded: excluded(cell),
            marks: cell.marks.clone(),
            summary: cell.summary,
            times: cell.distribution.as_ref().map(|found| Stamped {
                first: found.first.clone(),
                second: found.second.clone(),
                second_shorter: found.second_shorter,
            }),
            contention: cell.contention,
            wake_ups: cell.wake_ups(),
            hardware: cell.hardware,
            energy: cell.energy.clone(),
        }
    }

    /// Gives a cell what was concluded of it, but for the distribution of times, of which an excerpt has no pairs.
    fn give(self, cell: &mut Cell) {
        let estimate = |value: Option<f64>, low: Option<f64>, high: Option<f64>| {
            let interval = low.zip(high).map(|(low, high)| Interval { low, high });
            value.map(|value| Measured { value, interval })
        };
        (cell.status, cell.reason, cell.marks) = (self.status, self.reason, self.marks);
        cell.capacity = estimate(self.value, self.low, self.high);
        cell.delivered = estimate(self.delivered, self.delivered_low, self.delivered_high);
        (cell.precision, cell.estimator, cell.summary) = (self.precision, self.estimator, self.summary);
        (cell.contention, cell.hardware, cell.energy) = (self.contention, self.hardware, self.energy);
        cell.invocations.iter_mut().zip(self.values).for_each(|(run, value)| run.value = value);
    }
}

fn excluded(cell: &Cell) -> Vec<Excluded> {
    let of_run = |(run, one): (usize, &Invocation)| {
        let dirty = one.runs.iter().enumerate().filter(|(_, each)| !each.dirty.is_empty());
        dirty.map(|(iteration, each)| Excluded { run, iteration, by: each.dirty.clone() }).collect::<Vec<_>>()
    };
    cell.invocations.iter().enumerate().flat_map(of_run).collect()
}

/// Only what is concluded.
#[derive(Deserialize)]
struct Rest {
    derived: Conclusions,
}

#[derive(Deserialize)]
struct Conclusions {
    cells: Vec<Concluded>,
}

/// Reads a report with what its file says is derived: for programs that do not judge, and for the excerpts in charz's own databases, from which
/// runs were left out that their conclusions follow from. What else is in it is not [checked](super::check): an excerpt may lack seats.
///
/// # Errors
/// That it is not JSON of this form, or concludes what cannot be, as the end of a sentence.
pub fn with_derived(text: &[u8]) -> Result<Report, String> {
    let text = str::from_utf8(text).map_err(|error| error.to_string())?;
    let mut report = any_version(text)?;
    // Schema 1 has conclusions in its cells.
    if report.schema.major >= 2 {
        let Rest { derived } = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if derived.cells.len() != report.cells.len() {
            return Err(format!("it has {} cells, and conclusions of {}", report.cells.len(), derived.cells.len()));
        }
        report.cells.iter_mut().zip(derived.cells).for_each(|(cell, concluded)| concluded.give(cell));
    }
    report.schema = Schema::of_reports();
    for (index, cell) in report.cells.iter().enumerate() {
        let named = |what| format!("cell {index} ({:?}, {} workers) {what}", cell.kernel, cell.workers);
        check_concluded(cell).map_err(named)?;
    }
    Ok(report)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::report::fixtures::ARITHMETIC;

    #[track_caller]
    fn check_refused(word: &str, edit: impl FnOnce(&mut Value)) {
        let mut report: Value = serde_json::from_str(ARITHMETIC).unwrap();
        edit(&mut report["derived"]["cells"]);
        let why = with_derived(report.to_string().as_bytes()).unwrap_err();
        assert!(why.contains(word), "{word}: {why}");
    }

    #[test]
    fn conclusions_that_cannot_be_are_refused() {
        assert!(with_derived(ARITHMETIC.as_bytes()).unwrap().cells.iter().any(|cell| cell.capacity.is_some()));
        check_refused("conclusions of", |cells| drop(cells.as_array_mut().unwrap().pop()));
        check_refused("cannot have been measured", |cells| cells[0]["value"] = json!(-1.0));
        check_refused("cannot have been measured", |cells| cells[0]["values"][2] = json!(1e300));
        check_refused("cannot have been measured", |cells| cells[0]["summary"]["worst"] = json!(0.0));
        check_refused("without its number", |cells| cells[0]["high"] = json!(1.0));
    }
}
