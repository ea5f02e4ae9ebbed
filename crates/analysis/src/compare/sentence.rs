//! The answer of a comparison, in words.

use super::{Comparison, Row, Verdict};
use crate::point;
use charz_data::report::Interval;
use charz_data::units;

/// The most configurations that are named.
const MOST: usize = 3;

impl Comparison {
    /// `new is 1.31 ±0.04 times as fast at mem-read x2; 3 are the same within ±4.0%, 1 inconclusive; 4 of the 8 skipped differ by
    /// 37 to 44%.`
    pub fn sentence(&self, new: &str) -> String {
        let of = |verdict| self.rows.iter().filter(move |row| row.verdict == verdict);
        let mut clauses = Vec::new();
        let mut apart: Vec<&Row> = of(Verdict::Slower).chain(of(Verdict::Faster)).collect();
        apart.sort_by(|one, other| distance(other).total_cmp(&distance(one)));
        if !apart.is_empty() {
            let named = apart.iter().take(MOST).map(|row| times(row)).collect::<Vec<_>>().join(", ");
            let more = apart.len().saturating_sub(MOST);
            let more = if more > 0 { format!(", and differs at {more} more") } else { String::new() };
            clauses.push(format!("{new} is {named}{more}"));
        }
        let totals = &self.totals;
        let verb = |count: usize| if count == 1 { "is" } else { "are" };
        let margin = units::percent(self.margin);
        let same = format!("{} {} the same within ±{margin}", totals.same, verb(totals.same));
        let open = format!("{} inconclusive", totals.inconclusive);
        let rest: Vec<String> = [(totals.same, same), (totals.inconclusive, open)]
            .into_iter()
            .filter(|one| one.0 > 0)
            .map(|one| one.1)
            .collect();
        clauses.extend((!rest.is_empty()).then(|| rest.join(", ")));
        if totals.compared() == 0 {
            clauses.push("nothing could be compared".to_owned());
        }
        clauses.extend(self.apart());
        format!("{}.", clauses.join("; "))
    }

    /// The differences without a verdict, by their size: `4 of the 8 skipped differ by 37 to 44%`.
    pub fn apart(&self) -> Option<String> {
        let clause = |verdict: Verdict, word: &str| {
            let all = || self.rows.iter().filter(|row| row.verdict == verdict);
            let shares: Vec<f64> =
                all().filter(|row| row.apart).filter_map(|row| Some((row.effect? - 1.0).abs() * 100.0)).collect();
            let [low, high] = [f64::min, f64::max].map(|end| shares.iter().copied().reduce(end));
            let (low, high) = (low?.round(), high?.round());
            let size = if low == high { format!("{low}%") } else { format!("{low} to {high}%") };
            let (of, verb) = (all().count(), if shares.len() == 1 { "differs" } else { "differ" });
            Some(format!("{} of the {of} {word} {verb} by {size}", shares.len()))
        };
        let clauses = [clause(Verdict::Uncompared, "skipped"), clause(Verdict::Inconclusive, "inconclusive")];
        let clauses: Vec<String> = clauses.into_iter().flatten().collect();
        (!clauses.is_empty()).then(|| clauses.join(", "))
    }
}

fn distance(row: &Row) -> f64 {
    row.effect.map_or(0.0, |effect| effect.ln().abs())
}

/// `1.31 ±0.04 times as fast at mem-read x2`.
fn times(row: &Row) -> String {
    let effect = row.effect.unwrap_or(1.0);
    let half = row.interval.map(|Interval { low, high }| format!(" ±{:.2}", (high - effect).max(effect - low)));
    let name = format!("{}{} {} x{}", row.kernel, point::label(&row.point), row.mapping, row.workers);
    format!("{effect:.2}{} times as fast at {name}", half.unwrap_or_default())
}
