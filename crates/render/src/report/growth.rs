//! How the recursions of a kernel grew from size to size, as a table with a picture.

use std::io::{self, Write};

use crate::grid;
use charz_analysis::point;
use charz_data::escape::plain;
use charz_data::report::{Cell, Growth, GrowthStep, Halt};
use charz_data::units;

/// Signs in a bar for each factor of ten.
const DECADE: f64 = 5.0;

/// The longest bar: twelve decades, more than a day beside a nanosecond would need on paper.
const LONGEST: usize = 60;

/// A table for each of the kernel's cells that has a number and grew: of the repetition that came furthest.
pub(super) fn write(cells: &[&Cell], out: &mut dyn Write) -> io::Result<()> {
    for cell in cells.iter().filter(|cell| super::value(cell).is_some()) {
        let runs = cell.invocations.iter().flat_map(|invocation| &invocation.runs);
        let grown = runs
            .filter_map(|run| run.growth.as_deref())
            .reduce(|furthest, growth| if growth.steps.len() > furthest.steps.len() { growth } else { furthest });
        if let Some(growth) = grown {
            table(cell, growth, out)?;
        }
    }
    Ok(())
}

fn table(cell: &Cell, growth: &Growth, out: &mut dyn Write) -> io::Result<()> {
    let why = match growth.stopped_by {
        Halt::Time => "the next size would have taken more than the rest of its time",
        Halt::Threads => "more than a million threads would have been made",
        Halt::Sizes => "there is no larger size",
    };
    writeln!(
        out,
        "growth of {}{}, in the repetition that came furthest; stopped since {why}",
        plain(&point::name(cell)),
        super::doubt(cell),
    )?;
    let least = growth.steps.iter().map(|step| step.time_ns).min().unwrap_or(0);
    let rows: Vec<[String; 7]> = growth.steps.iter().map(|step| row(step, least, super::doubt(cell))).collect();
    let heading = [
        "size",
        "activities",
        "threads",
        "would spawn",
        "attempts per success",
        "time",
        "of the least, as powers of ten",
    ];
    grid::columns(&heading, &[6], &rows, out)
}

fn row(step: &GrowthStep, min_ns: u64, doubt: &str) -> [String; 7] {
    let per_success = match step.attempts.saturating_sub(step.failures) {
        0 => "-".to_owned(),
        successes => format!("{}{doubt}", units::count_of(step.attempts as f64 / successes as f64)),
    };
    [
        step.size.to_string(),
        units::count(step.activities),
        units::count(step.threads),
        units::count(step.would_spawn),
        per_success,
        format!("{}{doubt}", units::nanos(step.time_ns as f64)),
        bar(step.time_ns, min_ns),
    ]
}

/// As long as the logarithm of a time over the least one, and never empty.
fn bar(time_ns: u64, min_ns: u64) -> String {
    let decades = (time_ns.max(1) as f64 / min_ns.max(1) as f64).log10();
    "#".repeat(((decades * DECADE).round() as usize + 1).min(LONGEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_grows_by_the_same_for_each_factor() {
        let lengths: Vec<_> = [10, 100, 1000, 10_000].map(|time| bar(time, 10).len()).into();
        assert!(lengths.windows(2).all(|pair| pair[1] - pair[0] == lengths[1] - lengths[0]), "{lengths:?}");
        assert_eq!(lengths[0], 1, "the least time has a bar too");
        assert_eq!(bar(u64::MAX, 0).len(), LONGEST);
        assert_eq!(bar(0, 0).len(), 1);
    }

    #[test]
    fn attempts_without_a_success_have_no_ratio() {
        let step = GrowthStep {
            size: 3,
            time_ns: 1000,
            activities: 15,
            threads: 2,
            would_spawn: 13,
            attempts: 14,
            failures: 14,
        };
        assert_eq!(row(&step, 1000, "")[4], "-");
        let half = row(&GrowthStep { failures: 7, ..step }, 1000, " ?");
        assert_eq!((half[4].as_str(), half[5].as_str()), ("2.00 ?", "1.00 µs ?"));
        assert_eq!(row(&GrowthStep { failures: 99, ..step }, 1000, "")[4], "-", "a report may say anything");
    }
}
