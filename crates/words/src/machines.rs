//! Machines against each other, in English.

use charz_claims::machines::{Differing, Part, Ratio, Subject};
use charz_data::card::{Access, Chase, Numbers};
use charz_data::units;
use serde::Serialize;

/// The most parts that are named, and of one part the most subjects.
const MOST: usize = 3;

/// What a kernel is about.
fn subject<'a>(subject: &Subject<'a>) -> &'a str {
    match subject {
        Subject::Arithmetic(Numbers::Integer) => "integer arithmetic",
        Subject::Arithmetic(_) => "floating-point arithmetic",
        Subject::Vectors(Numbers::Integer) => "vectors of integers",
        Subject::Vectors(_) => "vectors of floating-point numbers",
        Subject::Memory(Access::Read) => "memory reads",
        Subject::Memory(Access::Write) => "memory writes",
        Subject::Memory(_) => "memory copies",
        Subject::Level(Access::Read) => "repeated reads",
        Subject::Level(Access::Write) => "repeated writes",
        Subject::Level(_) => "repeated copies",
        Subject::Loads(Chase::Random) => "random loads",
        Subject::Loads(Chase::Stride) => "strided loads",
        Subject::Loads(Chase::Computing) => "loads with computing between them",
        Subject::Loads(_) => "chains of loads",
        Subject::Kernel(name) => name,
    }
}

/// `memory reads and memory writes`.
fn subjects(part: &Part<'_>) -> String {
    let named: Vec<&str> = part.subjects.iter().take(MOST).map(subject).collect();
    let more = part.subjects.len().saturating_sub(MOST);
    named.join(" and ") + &(if more > 0 { format!(" and {more} more") } else { String::new() })
}

/// `memory reads 0.57 (0.55 to 0.59) times as fast, integer arithmetic 1.10 (1.08 to 1.12), the rest within 1%`.
pub fn differing(found: &Differing<'_>, fast: &str) -> String {
    let part = |(at, part): (usize, &Part<'_>)| {
        let times = if at == 0 { format!(" times as {fast}") } else { String::new() };
        format!("{} {}{times}", subjects(part), ratio(&part.ratio))
    };
    let mut clauses: Vec<String> = found.parts.iter().enumerate().take(MOST).map(part).collect();
    let more = found.parts.get(MOST..).unwrap_or_default();
    let end = |end: fn(f64, f64) -> f64| more.iter().map(|part| part.ratio.times).reduce(end);
    clauses.extend(
        end(f64::min)
            .zip(end(f64::max))
            .map(|(low, high)| format!("{} more from {} to {}", more.len(), units::ratio(low), units::ratio(high))),
    );
    clauses.extend(found.rest.map(|(_, reach)| {
        let which = if found.parts.is_empty() { "all" } else { "the rest" };
        format!("{which} within {}%", (reach * 100.0).ceil().max(1.0))
    }));
    clauses.join(", ")
}

/// `1.31~`, with the marker of a noisy number.
pub fn times(ratio: &Ratio) -> String {
    units::ratio(ratio.times) + units::doubt(ratio.noisy)
}

/// `1.31 (1.27 to 1.35)`.
pub fn ratio(ratio: &Ratio) -> String {
    let ends = ratio.interval.map(|ends| ends.map(units::ratio));
    times(ratio) + &ends.map(|[low, high]| format!(" ({low} to {high})")).unwrap_or_default()
}

/// What a machine differs in, as JSON has it.
#[derive(Clone, Debug, Serialize)]
pub struct Written {
    /// What differs, the most first.
    pub differing: Vec<WrittenPart>,
    /// How many kernels are not shown to differ.
    pub rest: usize,
    /// How far their intervals reach from 1, as a fraction; null without any.
    pub rest_within: Option<f64>,
}

/// A part of it.
#[derive(Clone, Debug, Serialize)]
pub struct WrittenPart {
    /// E.g. `memory reads`.
    pub what: Vec<String>,
    /// How many times as fast.
    #[serde(flatten)]
    pub ratio: Ratio,
}

impl From<&Differing<'_>> for Written {
    fn from(found: &Differing<'_>) -> Self {
        let part = |part: &Part<'_>| WrittenPart {
            what: part.subjects.iter().map(|of| subject(of).to_owned()).collect(),
            ratio: part.ratio,
        };
        Written {
            differing: found.parts.iter().map(part).collect(),
            rest: found.rest.map_or(0, |rest| rest.0),
            rest_within: found.rest.map(|rest| rest.1),
        }
    }
}
