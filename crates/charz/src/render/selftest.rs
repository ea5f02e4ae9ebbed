//! What a self-test found, in sentences.

use std::io::{self, Write};

use super::human;
use super::text::{counted, plain};
use crate::point;
use crate::selftest::{Finding, Tally};

/// Writes a paragraph a kernel; `planted` is the slowdown that was planted, as a fraction.
pub fn write(findings: &[Finding], planted: Option<f64>, out: &mut dyn Write) -> io::Result<()> {
    for finding in findings {
        let Finding { equal, planted: tally, .. } = finding;
        let kernel = format!("{}{}", plain(&finding.kernel), point::label(&finding.point));
        writeln!(out, "{kernel}, {} against itself:", counted(finding.workers as usize, "worker"))?;
        let false_verdicts = equal.faster + equal.slower;
        writeln!(out, "  {false_verdicts} of {} false verdicts{}", equal.all(), unsettled(equal))?;
        if let Some(share) = planted {
            let found = tally.slower;
            let percent = human::percent(share);
            writeln!(out, "  a planted {percent} was found in {found} of {}{}", tally.all(), unsettled(tally))?;
        }
        if let (Some(middle), Some(floor), Some(largest)) = (equal.quantile(0.5), equal.floor(), equal.quantile(1.0)) {
            let [middle, top, largest] = [middle, floor, largest].map(fine);
            writeln!(
                out,
                "  differences between equal sides: median {middle}, 95th percentile {top}, largest {largest}"
            )?;
            writeln!(out, "  the noise floor of {kernel} here is {top}")?;
        } else {
            writeln!(out, "  nothing could be compared: no noise floor was learned")?;
        }
        for (reason, times) in most_frequent(&[equal, tally]) {
            writeln!(out, "  no verdict in {}: {}", counted(times, "comparison"), plain(&reason))?;
        }
    }
    Ok(())
}

/// Fractions of a percent matter here.
fn fine(fraction: f64) -> String {
    format!("{:.2}%", fraction * 100.0)
}

fn unsettled(tally: &Tally) -> String {
    let parts = [(tally.inconclusive, "inconclusive"), (tally.uncompared, "not compared")];
    let told: Vec<_> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
    if told.is_empty() { String::new() } else { format!(" ({})", told.join(", ")) }
}

/// The reasons that are told: the rest are rarer.
const MOST_REASONS: usize = 4;

fn most_frequent(tallies: &[&Tally]) -> Vec<(String, usize)> {
    let mut all = std::collections::BTreeMap::<String, usize>::new();
    for (reason, times) in tallies.iter().flat_map(|tally| &tally.reasons) {
        *all.entry(reason.clone()).or_default() += times;
    }
    let mut all: Vec<_> = all.into_iter().collect();
    all.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    all.truncate(MOST_REASONS);
    all
}
