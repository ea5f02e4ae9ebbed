//! The words of a row, which the formats share.

use charz_analysis::compare::{Comparison, Row, Side, Verdict};
use charz_analysis::point;
use charz_data::report::Status;
use charz_data::units;

/// What matters first. Verdicts in this order, cells of one verdict in the comparison's.
const ORDER: [Verdict; 5] =
    [Verdict::Slower, Verdict::Faster, Verdict::Inconclusive, Verdict::Uncompared, Verdict::Same];

/// The headings of [`words`].
pub(super) const HEADING: [&str; 8] =
    ["kernel", "mapping", "workers", "base", "new", "change", "could show", "verdict"];

pub(super) fn sorted(comparison: &Comparison) -> Vec<&Row> {
    let of = |verdict| comparison.rows.iter().filter(move |row| row.verdict == verdict);
    ORDER.into_iter().flat_map(of).collect()
}

/// A row in words, not escaped. A change is one of performance: less than nothing is slower, also for times.
pub(super) fn words(row: &Row, comparison: &Comparison) -> [String; HEADING.len()] {
    let side = |side: Option<Side>| match side.and_then(|side| Some((side.value?, side.status))) {
        Some((value, status)) => {
            format!("{}{}", units::value(value, row.unit), units::doubt(status == Status::Suspect))
        }
        None => "-".into(),
    };
    [
        format!("{}{}", row.kernel, point::label(&row.point)),
        row.mapping.clone(),
        row.workers.to_string(),
        side(row.base),
        side(row.new),
        change(row),
        row.smallest_effect.map_or_else(|| "-".into(), |effect| format!("±{}", units::percent(effect - 1.0))),
        verdict(row, comparison),
    ]
}

fn change(row: &Row) -> String {
    let Some(effect) = row.effect else { return "-".into() };
    match row.interval {
        Some(interval) => format!("{} ({} to {})", signed(effect), signed(interval.low), signed(interval.high)),
        None => signed(effect),
    }
}

fn signed(ratio: f64) -> String {
    format!("{:+.1}%", (ratio - 1.0) * 100.0)
}

/// The verdict with all that stands against it, so that a line that is copied alone still says it.
fn verdict(row: &Row, comparison: &Comparison) -> String {
    let word = match row.verdict {
        Verdict::Slower => "slower",
        Verdict::Faster => "faster",
        Verdict::Same => "same",
        Verdict::Inconclusive => "inconclusive",
        Verdict::Uncompared => "not compared",
    };
    let mut against: Vec<&str> = row.despite.iter().map(|caveat| caveat.name()).collect();
    if row.verdict != Verdict::Uncompared {
        against.insert(0, comparison.design.name());
    }
    let against = if against.is_empty() { String::new() } else { format!(" ({})", against.join(", ")) };
    let reason = row.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    format!("{word}{against}{reason}")
}
