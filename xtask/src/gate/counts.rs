//! Comparing by instructions: the bench `pure`, one case a process, under callgrind.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::build::{self, Side};
use super::verdict::{self, Row, Verdict};
use crate::failure::{Failure, Outcome};
use crate::process;

/// The bench target whose cases are counted.
const TARGET: &str = "pure";

/// The function of that target inside which instructions are counted.
const COUNTED: &str = "*pure::counted*";

/// The variable that tells a bench to plant a slowdown, in percent.
pub const PLANT: &str = "CHARZ_BENCH_PLANT";

/// Counts every case of both sides.
///
/// # Errors
/// When a case does not run.
pub fn compare(base: &Side, head: &Side, plant: u32) -> Outcome<Vec<Row>> {
    let (old, new) = (cases(base)?, cases(head)?);
    let mut rows = Vec::new();
    for case in old.union(&new) {
        let bench = format!("{TARGET}/{case}");
        rows.push(match (old.contains(case), new.contains(case)) {
            (true, true) => verdict::of_counts(bench, count(base, case, 0)?, count(head, case, plant)?),
            (true, false) => Row::unmatched(bench, Verdict::Gone),
            _ => Row::unmatched(bench, Verdict::New),
        });
    }
    Ok(rows)
}

/// The names of the cases.
fn cases(side: &Side) -> Outcome<BTreeSet<String>> {
    let Some(program) = side.programs.get(TARGET) else { return Ok(BTreeSet::new()) };
    Ok(process::read(Command::new(program).arg("--list"))?.lines().map(str::to_owned).collect())
}

/// The instructions of one case.
fn count(side: &Side, case: &str, plant: u32) -> Outcome<u64> {
    let file = build::folder().join("callgrind.out");
    let program = &side.programs[TARGET];
    let mut command = Command::new("valgrind");
    command.args(["--quiet", "--tool=callgrind"]).arg(format!("--toggle-collect={COUNTED}"));
    command.arg(format!("--callgrind-out-file={}", file.display())).arg(program).args(["--case", case]);
    // What the program prints is of no interest here, and an inherited variable would be counted as a difference.
    command.env(PLANT, plant.to_string()).stdin(Stdio::null()).stdout(Stdio::null());
    process::run(&mut command)?;
    let counted = read(&file)?;
    counted.ok_or_else(|| Failure::found(format!("callgrind counted nothing in {TARGET}/{case} of the {}", side.name)))
}

fn read(file: &Path) -> Outcome<Option<u64>> {
    let text = fs::read_to_string(file).map_err(|error| Failure::io(format!("read {file:?}"), &error))?;
    let _ = fs::remove_file(file);
    Ok(total(&text))
}

/// The total of the first event, which is instructions; `None` when nothing was counted.
fn total(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("totals:").or_else(|| line.strip_prefix("summary:")))?;
    line.split_whitespace().next()?.parse().ok().filter(|count| *count > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_read() {
        let text =
            "# callgrind format\nversion: 1\nevents: Ir\nsummary: 12345\n\nfn=(1) f\n10 12345\n\ntotals: 12345\n";
        assert_eq!(total(text), Some(12345));
        assert_eq!(total(&text.replace("12345", "0")), None);
        assert_eq!(total("events: Ir\n"), None);
    }
}
