//! What to do with the numbers: how many threads, where, and the line that puts them there.

use super::rows::Row;
use charz_claims::advise::advise;
use charz_data::escape::counted;
use charz_data::report::{Finding, FindingKind, Report};
use charz_data::units;
use charz_estimate::Estimates;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    pub text: String,
    /// The command that puts a program's threads there, with `PROGRAM` for it; `None` where the system places them.
    pub launch: Option<String>,
}

pub(super) fn advice(report: &Report, rows: &[Row], findings: &[Finding], cpus: u64) -> Vec<Advice> {
    let placed = advise(&Estimates::of(report)).into_iter();
    let mut all: Vec<Advice> = placed
        .map(|advice| Advice {
            text: charz_words::advise::sentence(&advice),
            launch: charz_words::advise::paste(&advice),
        })
        .collect();
    let worst = rows.iter().filter_map(|row| Some((row, row.oversubscribed?)));
    if let Some((row, (threads, share, doubt))) = worst.max_by(|one, other| one.1.1.total_cmp(&other.1.1)) {
        let text = format!(
            "{}: no more than {}; it loses {}{doubt} with {threads}.",
            row.name(),
            counted(cpus as usize, "thread"),
            units::percent(share)
        );
        all.push(Advice { text, launch: None });
    }
    let follows = findings.iter().filter(|finding| finding.kind == FindingKind::Advice);
    all.extend(follows.map(|finding| Advice { text: sentence(&finding.text), launch: None }));
    all
}

/// With a capital letter and a full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}
