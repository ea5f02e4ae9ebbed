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
//! 2 % called 16 to 28 % different on a busy machine, and 0 to 0.3 % when the two took turns. So the margin is doubled.
//!
//! # One family
//!
//! All comparisons of two reports are one family for the adjustment by Benjamini and Hochberg. Families by kernel would let
//! smaller samples show a difference, and were considered: each family then keeps its own share of false calls, so of
//! two equal reports with ten kernels up to ten times as many would be called different (B. Efron, "Simultaneous inference:
//! When should hypothesis testing problems be combined?", Annals of Applied Statistics 2 (2008)). The exit code is one answer
//! for the whole report, and so is the promise behind it. The price is reported: [`Totals::needed`] is how many invocations a
//! side would show a single difference.

mod carried;
mod differences;
mod pairing;
mod repeats;
mod row;
mod sentence;
mod terms;
mod values;
mod wire;

pub(crate) use differences::guest_memory;
pub use differences::{built, is_one_host, other_machine, other_program, surroundings};
pub use row::{ClockEffect, Row, Side, Verdict};
pub use sentence::signed;
pub use terms::{Caveat, Design, Quantity};
pub use wire::{Comparison, Origin, Totals, schema};

use std::fmt;

use charz_data::report::{Cell, Report};
use charz_stats::{compare_each, runs_for_verdict};
use repeats::Repeats;
use row::Candidate;

/// The JSON Schema of a comparison, as `cargo xtask docs` writes it.
pub const SCHEMA: &str = include_str!("../schema/comparison.json");
/// The share of false calls to accept over all comparisons.
pub const ALPHA: f64 = 0.01;
/// How much is still the same where the sides took turns, as a fraction.
pub const MARGIN: f64 = charz_estimate::MARGIN;
/// How many times the margin where one side was measured after the other.
pub const SEQUENTIAL: f64 = 2.0;

/// What is compared, and what may be beyond sound cells of one machine, one build and one plan.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    pub quantity: Quantity,
    pub cross_machine: bool,
    /// Reports of different builds of the kernels.
    pub cross_build: bool,
    /// Reports of plans that change what a number means.
    pub cross_plan: bool,
    /// Suspect cells with any mark.
    pub allow_suspect: bool,
}

/// Why two reports are not compared: a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// They are of different machines: by what, as a clause.
    OtherMachine(String),
    /// They differ in something else that [`Options`] does not allow.
    Unlike(String),
    /// No cell can be compared.
    Nothing(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::OtherMachine(clause) => {
                write!(f, "{clause}; --cross-machine compares the configurations that both have")
            }
            Refusal::Unlike(sentence) | Refusal::Nothing(sentence) => f.write_str(sentence),
        }
    }
}

impl std::error::Error for Refusal {}

/// Compares `new` with `base`.
pub fn compare(base: &Report, new: &Report, options: &Options) -> Result<Comparison, Refusal> {
    if let Some((difference, flag)) = obstacle(base, new, options) {
        return Err(match flag == flag_of(Caveat::OtherMachine) {
            true => Refusal::OtherMachine(difference),
            false => Refusal::Unlike(format!(
                "the reports cannot be compared: {difference}; measure both alike, or compare them all the same with {flag}"
            )),
        });
    }
    let (caveats, differences) = differences::between(base, new).into_iter().unzip();
    let allowed = Allowed::new(options, caveats, Design::Sequential, [base, new]);
    let rows = row::matched(base, new, &allowed);
    let refused = refuse_nothing(&rows, &allowed);
    let comparison = judged(base, new, rows, Design::Sequential, options);
    if let Err(why) = refused {
        let apart = comparison.apart().map(|clause| format!("; {clause}")).unwrap_or_default();
        return Err(Refusal::Nothing(format!("{why}{apart}")));
    }
    let differ = |row: &&Row| row.apart || matches!(row.verdict, Verdict::Slower | Verdict::Faster);
    let differs = |cell: &Cell| {
        let of = |row: &Row| (&row.kernel, row.point, row.workers) == (&cell.kernel, cell.point, cell.workers);
        comparison.rows.iter().filter(differ).any(of)
    };
    let of_guests = guest_memory(&[base, new], differs);
    let notes = differences::notes(base, new).into_iter().chain(of_guests).collect();
    Ok(Comparison { differences, notes, ..comparison })
}

/// Why two reports would be refused before their cells are looked at: a clause, and the flag that would allow it.
pub fn obstacle(base: &Report, new: &Report, options: &Options) -> Option<(String, &'static str)> {
    let mut refused = differences::between(base, new).into_iter().filter(|(caveat, _)| !allows(options, *caveat));
    refused.next().map(|(caveat, difference)| (difference, flag_of(caveat)))
}

/// Compares two reports that took turns on one machine, and whose cells are pairs by their place: what the sides differ in is
/// the question, and [`Options`] need not allow it.
pub fn interleaved(base: &Report, new: &Report, options: &Options) -> Comparison {
    let allowed = Allowed::new(options, Vec::new(), Design::Interleaved, [base, new]);
    let rows = row::paired(base, new, &allowed);
    judged(base, new, rows, Design::Interleaved, options)
}

fn judged(base: &Report, new: &Report, mut rows: Vec<Candidate<'_>>, design: Design, options: &Options) -> Comparison {
    let pairs: Vec<_> = rows.iter().filter_map(Candidate::pair).collect();
    let needed = runs_for_verdict(pairs.len(), ALPHA);
    let fewest = pairs.iter().map(|(pair, _)| pair.base.len().min(pair.new.len())).min();
    let mut judged = compare_each(&pairs).into_iter();
    for row in rows.iter_mut().filter(|row| row.is_compared()) {
        row.conclude(&judged.next().expect("each pair has its comparison"));
    }
    let repeats = rows.iter().filter(|row| row.is_compared()).filter_map(|row| row.repeat.as_ref());
    let repeat = repeats.max_by(|one, other| one.difference.total_cmp(&other.difference)).cloned();
    rows.iter_mut().for_each(|row| row.look(options.quantity, [base, new]));
    let rows: Vec<Row> = rows.into_iter().map(|candidate| candidate.row).collect();
    Comparison {
        schema: schema(),
        base: Origin::of(base),
        new: Origin::of(new),
        design,
        quantity: options.quantity,
        alpha: ALPHA,
        margin: margin(design, None),
        noise_floor: repeat.as_ref().map(|repeat| repeat.difference),
        noise_shown_by: repeat.map(|repeat| repeat.shown_by),
        allow_suspect: options.allow_suspect,
        differences: Vec::new(),
        notes: Vec::new(),
        totals: Totals::of(&rows, needed, fewest.unwrap_or(0)),
        rows,
    }
}

struct Allowed<'a> {
    options: &'a Options,
    caveats: Vec<Caveat>,
    /// Interleaved sides were made to differ.
    design: Design,
    reports: [&'a Report; 2],
    repeats: Repeats<'a>,
}

impl<'a> Allowed<'a> {
    fn new(options: &'a Options, caveats: Vec<Caveat>, design: Design, reports: [&'a Report; 2]) -> Self {
        let allowed = Allowed { options, caveats, design, reports, repeats: Repeats::default() };
        Allowed { repeats: Repeats::of(&allowed), ..allowed }
    }
}

/// How much is still the same, as a fraction: more where two measurements of one thing differ by more.
fn margin(design: Design, difference: Option<f64>) -> f64 {
    let margin = MARGIN * if design == Design::Sequential { SEQUENTIAL } else { 1.0 };
    margin.max(difference.unwrap_or(0.0))
}

fn allows(options: &Options, caveat: Caveat) -> bool {
    match caveat {
        Caveat::OtherMachine => options.cross_machine,
        Caveat::OtherBuild => options.cross_build,
        Caveat::OtherPlan => options.cross_plan,
        Caveat::Suspect => options.allow_suspect,
    }
}

fn flag_of(caveat: Caveat) -> &'static str {
    match caveat {
        Caveat::OtherMachine => "--cross-machine",
        Caveat::OtherBuild => "--cross-build",
        Caveat::OtherPlan => "--cross-plan",
        Caveat::Suspect => "--allow-suspect",
    }
}

/// Two reports of which nothing can be compared are no comparison without a regression.
fn refuse_nothing(rows: &[Candidate<'_>], allowed: &Allowed<'_>) -> Result<(), String> {
    if rows.iter().any(Candidate::is_compared) {
        return Ok(());
    }
    if !rows.iter().any(Candidate::is_common) {
        return Err(
            "nothing could be compared: the reports have no configuration in common; measure both with the same --kernel, \
                    --mapping and --threads"
                .into(),
        );
    }
    let usable = |side| rows.iter().any(|row| row.is_common() && row.is_usable(side, allowed));
    if let Some(side) = ["base", "new"].into_iter().find(|side| !usable(side)) {
        let instead =
            if allowed.options.allow_suspect { "" } else { ", or compare noisy numbers with --allow-suspect" };
        return Err(format!(
            "nothing could be compared: no number of the {side} report is usable; fix what charz doctor finds and measure \
             again{instead}"
        ));
    }
    let first = rows.iter().find(|row| row.is_common()).and_then(|row| row.row.reason.as_deref()).unwrap_or_default();
    Err(format!("nothing could be compared; {first}"))
}

#[cfg(test)]
mod tests;
