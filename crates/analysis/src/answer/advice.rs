//! What to do with the numbers: how many threads, where, and the line that puts them there.

use super::rows::{Auto, Row};
use charz_data::card::Family;
use charz_data::escape::counted;
use charz_data::report::{Finding, FindingKind};
use charz_data::{cpulist, units};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    pub text: String,
    /// The command that puts a program's threads there, with `PROGRAM` for it; `None` where the system places them.
    pub launch: Option<String>,
}

/// The loads that programs are bound by, each with the kernels that stand for it.
const LOADS: [(Family, &str); 3] =
    [(Family::Program, "Your program"), (Family::Compute, "Compute-bound"), (Family::Memory, "Memory-bound")];

pub(super) fn advice(rows: &[Row], findings: &[Finding], cpus: u64) -> Vec<Advice> {
    // The first row of a family is the one that a reader asks for first, unless the mapping matters to another.
    let leading = LOADS.iter().filter_map(|(family, words)| {
        // Of the built-in kernels, those with rates stand for a load; of a program, whatever it reports.
        let counts = |row: &&Row| *family == Family::Program || row.best.unit.more_is_better();
        let own = || rows.iter().filter(|row| row.family == Some(*family)).filter(counts);
        let loses = |row: &&Row| matches!(row.auto, Auto::Loses(share) if share > 0.0);
        own().find(loses).or_else(|| own().next()).map(|row| (*words, row))
    });
    let mut all: Vec<Advice> = leading.clone().map(|(words, row)| placed(words, row)).collect();
    let worst = rows.iter().filter_map(|row| Some((row, row.oversubscribed?)));
    if let Some((row, (threads, share))) = worst.max_by(|one, other| one.1.1.total_cmp(&other.1.1)) {
        let text = format!(
            "At most {}: {} loses {} with {threads}.",
            counted(cpus as usize, "thread"),
            row.name(),
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

/// How many threads of a load, and where.
fn placed(words: &str, row: &Row) -> Advice {
    let threads = counted(row.best.threads as usize, "thread");
    let mapping = match row.auto {
        Auto::Loses(share) if share > 0.0 => {
            format!("{}; unpinned threads lose {}", row.best_mapping(), units::percent(share))
        }
        _ if row.is_any => "the mapping makes no difference".to_owned(),
        _ if row.is_open && row.mappings > 1 => "no mapping is clearly best".to_owned(),
        _ => row.best_mapping(),
    };
    let enough = row.knee.filter(|knee| *knee < row.best.threads);
    let enough = enough.map(|knee| format!("; {knee} reach 95% of the peak")).unwrap_or_default();
    let launch = (!row.cpus.is_empty()).then(|| format!("taskset -c {} PROGRAM", cpulist::print(&row.cpus)));
    Advice { text: format!("{words}: {threads}, {mapping}{enough}."), launch }
}
