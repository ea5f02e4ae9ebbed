//! Two reports, compared cell by cell. Pure: what is read, printed, and returned to the shell is up to others.
//!
//! Cells are matched by kernel, mapping and number of workers. What is compared are the capacities of their invocations, or what they
//! [delivered](Quantity), by [`charz_stats::compare`]: the rank test at [`ALPHA`] after adjusting for all comparisons, and an interval
//! against a margin. Suspect cells are compared where none of their marks makes this comparison unsafe, else where that was asked
//! for; others that are not `ok` are listed with the reason.
//!
//! # Sequential
//!
//! Two saved reports were measured one after the other: any change on the machine in between looks like a change of the
//! measured program. Of twice ten invocations of one and the same program, ten and then ten, a test at 0.01 with a margin of
//! 2 % called 16 to 28 % different on a busy machine, and 0 to 0.3 % when the two took turns. So the runs of saved reports are
//! compared [in sequence](charz_stats::Rule::in_sequence): slow noise, which shows in the runs of each side, widens the interval, and a speed
//! that both sides had is no difference. `tests/noise.rs` counts what is left.
//!
//! # One family
//!
//! All comparisons of two reports are one family for the adjustment by Benjamini and Hochberg. Families by kernel would let
//! smaller samples show a difference, and were considered: each family then keeps its own share of false calls, so of
//! two equal reports with ten kernels up to ten times as many would be called different (B. Efron, "Simultaneous inference:
//! When should hypothesis testing problems be combined?", Annals of Applied Statistics 2 (2008)). The exit code is one answer
//! for the whole report, and so is the promise behind it. The price is reported: [`Totals::needed`] is how many invocations a
//! side would show a single difference.

mod allowed;
mod facts;
mod pairing;
mod places;
mod repeats;
mod row;
mod terms;
mod unlike;

pub use charz_stats::ALPHA;
pub(crate) use facts::environment;
pub use facts::{BUILD, Both, Fact, SURROUNDINGS, Said, other_program};
pub use pairing::{Reason, Unusable};
pub use repeats::Repeat;
pub use row::{ClockEffect, Row, Shown, Side, Verdict};
pub use terms::{Caveat, Design, Options, Quantity};
pub use unlike::{Described, Note, UNKNOWN, Unlike, guest_memory, is_one_host, other_machine};

use allowed::Allowed;
use charz_data::report::{Cell, Report};
use charz_stats::{compare_each, runs_for_verdict};
use pairing::{Sides, pairs};
use repeats::Repeats;
use row::Candidate;
use serde::{Deserialize, Serialize};

/// How much is still the same, as a fraction.
pub const MARGIN: f64 = charz_estimate::MARGIN;

/// Two reports, compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison<'a> {
    /// The base and the new report.
    pub reports: [&'a Report; 2],
    /// In which order the two were measured.
    pub design: Design,
    /// What of the cells is compared.
    pub quantity: Quantity,
    /// How much is still the same, as a fraction, where the noise floor of a row is not larger.
    pub margin: f64,
    /// The largest difference between two measurements of one thing: a configuration that is compared, under two mappings of one report that
    /// take the same CPUs; `None` where neither report has such.
    pub repeat: Option<Repeat<'a>>,
    /// Whether suspect cells are compared whatever their marks.
    pub allow_suspect: bool,
    /// Differences between the reports that would have prevented the comparison without an option.
    pub differences: Vec<Unlike<'a>>,
    /// What else is worth knowing.
    pub notes: Vec<Note<'a>>,
    /// How many rows of each kind.
    pub totals: Totals,
    /// A row a cell: those of the base report in its order, then those that only the new one has.
    pub rows: Vec<Row<'a>>,
}

/// How many rows of each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Totals {
    /// Verdicts that the new side is faster.
    pub faster: usize,
    /// Verdicts that it is slower.
    pub slower: usize,
    /// Verdicts that there is no difference beyond the margin.
    pub same: usize,
    /// Rows that were compared without a verdict.
    pub inconclusive: usize,
    /// Rows that were not compared.
    pub uncompared: usize,
    /// Of the rows without a verdict, skipped and inconclusive ones, those whose sides surely differ: the whole
    /// interval, or all runs, lie beyond the margin.
    pub open: usize,
    /// The fewest invocations with a value that a side of a compared row has.
    pub fewest: usize,
    /// How many invocations a side it takes to show a single difference among so many comparisons.
    pub needed: usize,
}

impl Totals {
    /// Whether nothing was found to be slower, faster or the same.
    pub fn has_no_verdict(&self) -> bool {
        self.slower + self.faster + self.same == 0
    }

    /// How many rows were compared.
    pub fn compared(&self) -> usize {
        self.faster + self.slower + self.same + self.inconclusive
    }
}

/// Why two reports are not compared.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal<'a> {
    /// They differ in what [`Options`] do not allow.
    Unlike(Unlike<'a>),
    /// No cell can be compared; a comparison without verdicts.
    Nothing(Nothing, Box<Comparison<'a>>),
}

/// Why no cell of two reports can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nothing {
    /// They have none in common.
    InCommon,
    /// No number of a side, by its place, can be used.
    Usable { side: usize },
    /// For the reason of the first one in common.
    Alike,
}

/// Compares a new report with its base, in this order.
pub fn compare<'a>(reports: [&'a Report; 2], options: &Options) -> Result<Comparison<'a>, Refusal<'a>> {
    if let Some(unlike) = obstacle(reports, options) {
        return Err(Refusal::Unlike(unlike));
    }
    let (mut found, nothing) = judged(reports, Design::Sequential, options);
    if let Some(nothing) = nothing {
        return Err(Refusal::Nothing(nothing, Box::new(found)));
    }
    let differs = |cell: &Cell| {
        let is_of = |row: &&Row<'_>| {
            let own = row.cell();
            (&own.kernel, own.point, own.workers) == (&cell.kernel, cell.point, cell.workers)
        };
        found.rows.iter().filter(is_of).any(Row::differs)
    };
    let of_guests = guest_memory(&reports, differs);
    found.notes = unlike::notes(reports).into_iter().chain(of_guests).collect();
    Ok(found)
}

/// Why two reports would be refused before their cells are looked at.
pub fn obstacle<'a>(reports: [&'a Report; 2], options: &Options) -> Option<Unlike<'a>> {
    unlike::between(reports).into_iter().find(|unlike| unlike.is_refused(options))
}

/// Compares two reports that took turns on one machine, and whose cells are pairs by their place: what the sides differ in is
/// the question, and [`Options`] need not allow it.
pub fn interleaved<'a>(reports: [&'a Report; 2], options: &Options) -> Comparison<'a> {
    judged(reports, Design::Interleaved, options).0
}

fn judged<'a>(reports: [&'a Report; 2], design: Design, options: &Options) -> (Comparison<'a>, Option<Nothing>) {
    let (differences, pairs): (_, Vec<Sides<'a>>) = match design {
        Design::Sequential => (unlike::between(reports), pairs(reports)),
        Design::Interleaved => {
            let pairs = reports[0].cells.iter().zip(&reports[1].cells);
            (Vec::new(), pairs.map(|(base, new)| [Some(base), Some(new)]).collect())
        }
    };
    let allowed = Allowed { options: *options, differences, design, reports };
    let repeats = Repeats::of(&allowed);
    let mut rows: Vec<Candidate<'a>> =
        pairs.into_iter().map(|cells| Candidate::new(cells, &allowed, &repeats)).collect();
    let nothing = nothing(&rows, &allowed);
    let compared: Vec<_> = rows.iter().filter_map(Candidate::pair).collect();
    let needed = runs_for_verdict(compared.len(), ALPHA);
    let fewest = compared.iter().map(|(pair, _)| pair.base.len().min(pair.new.len())).min().unwrap_or(0);
    let mut judged = compare_each(&compared).into_iter();
    let is_compared = |row: &&mut Candidate<'_>| row.is_compared();
    rows.iter_mut().filter(is_compared).zip(&mut judged).for_each(|(row, judged)| row.conclude(&judged));
    let repeats = rows.iter().filter(|row| row.is_compared()).filter_map(|row| row.repeat);
    let repeat = repeats.max_by(|one, other| one.difference.total_cmp(&other.difference));
    rows.iter_mut().for_each(|row| row.look(options.quantity, reports));
    let rows: Vec<Row<'a>> = rows.into_iter().map(|candidate| candidate.row).collect();
    let count = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
    let totals = Totals {
        faster: count(Verdict::Faster),
        slower: count(Verdict::Slower),
        same: count(Verdict::Same),
        inconclusive: count(Verdict::Inconclusive),
        uncompared: count(Verdict::Uncompared),
        open: rows.iter().filter(|row| row.shown.apart).count(),
        fewest,
        needed,
    };
    let Allowed { differences, .. } = allowed;
    let comparison = Comparison {
        reports,
        design,
        quantity: options.quantity,
        margin: margin(None),
        repeat,
        allow_suspect: options.allow_suspect,
        differences,
        notes: Vec::new(),
        totals,
        rows,
    };
    (comparison, nothing)
}

/// How much is still the same, as a fraction: more where two measurements of one thing differ by more.
fn margin(difference: Option<f64>) -> f64 {
    MARGIN.max(difference.unwrap_or(0.0))
}

/// Two reports of which nothing can be compared are no comparison without a regression.
fn nothing(rows: &[Candidate<'_>], allowed: &Allowed<'_>) -> Option<Nothing> {
    if rows.iter().any(Candidate::is_compared) {
        return None;
    }
    let common = || rows.iter().filter(|row| row.row.cells.iter().all(Option::is_some));
    let unusable = |side: &usize| !common().any(|row| row.is_usable(*side, allowed));
    Some(match common().next() {
        None => Nothing::InCommon,
        Some(_) => [0, 1].into_iter().find(unusable).map_or(Nothing::Alike, |side| Nothing::Usable { side }),
    })
}

#[cfg(test)]
mod tests;
