//! What a report says of a document's cells.

use super::data::CellSpec;
use super::outcome::{Clock, Number};
use super::take::{Take, Taken};
use super::unit::factor;
use super::wanted::Wanted;
use crate::card::Card;
use crate::point;
use crate::render::human;
use crate::report::{Cell, Report, Shape, Status};

/// A report, and what cycles are counted by in it.
pub(super) struct Seen<'a> {
    pub(super) report: &'a Report,
    pub(super) clock: Option<Clock>,
}

/// Why there is no number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Gap {
    /// As a clause.
    pub(super) why: String,
    /// Whether a further sweep could fill it.
    pub(super) open: bool,
}

impl<T: Into<String>> From<T> for Gap {
    fn from(why: T) -> Self {
        Gap { why: why.into(), open: false }
    }
}

/// Bytes of a word.
const WORD: f64 = 8.0;
/// The most bands that stand beside a number.
const MOST_BANDS: usize = 3;
/// The least share of times that makes a band worth telling.
const LEAST_SHARE: f64 = 0.05;

impl<'a> Seen<'a> {
    pub(super) fn new(report: &'a Report) -> Self {
        let clock = Card::of(report).clock;
        let sound = |hz: &f64| hz.is_finite() && *hz > 0.0;
        let claimed = clock.claimed_hz.filter(sound).map(|hz| Clock { hz, claimed: true });
        let measured = || clock.measured_hz.filter(sound).map(|hz| Clock { hz, claimed: false });
        Seen { report, clock: claimed.or_else(measured) }
    }

    fn hz(&self) -> Option<f64> {
        self.clock.map(|clock| clock.hz)
    }

    /// A number of the report in the document's unit.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) fn number(&self, spec: &CellSpec, take: &Take, workers: u64, unit: &str) -> Result<Number, Gap> {
        let mut sum: Option<Number> = None;
        for kernel in spec.kernels() {
            let one = self.of_kernel(&Wanted::new(spec, kernel, workers), take, unit)?;
            sum = Some(match sum {
                None => one,
                Some(sum) => added(&sum, &one),
            });
        }
        let sum = sum.ok_or("no kernel answers it")?;
        match take {
            Take::Speedup => self.speedup(spec, unit, sum),
            _ => Ok(sum),
        }
    }

    fn of_kernel(&self, wanted: &Wanted, take: &Take, unit: &str) -> Result<Number, Gap> {
        let cell = self.cell(wanted)?;
        if cell.summary.and_then(|summary| summary.value).is_none() {
            return Err(why_none(cell));
        }
        let words = cell.point.size_bytes.unwrap_or(self.report.plan.size_bytes) as f64 / WORD;
        let Taken { kind, value, interval } = take.of(cell, words, self.hz())?;
        // A speedup is one of whatever the cell counts, until the other cell is known.
        let factor = if *take == Take::Speedup { 1.0 } else { factor(unit, kind, self.hz())? };
        Ok(Number {
            value: value * factor,
            low: interval.map(|[low, _]| low * factor),
            high: interval.map(|[_, high]| high * factor),
            suspect: cell.outcome.status == Status::Suspect,
            note: note(cell, take, factor, unit),
        })
    }

    /// How many times as fast as one worker.
    fn speedup(&self, spec: &CellSpec, unit: &str, several: Number) -> Result<Number, Gap> {
        let one = spec.kernels().map(|kernel| self.of_kernel(&Wanted::new(spec, kernel, 1), &Take::Speedup, unit));
        let one = one
            .collect::<Result<Vec<_>, _>>()
            .map_err(|gap| Gap { why: format!("one worker, which it is against: {}", gap.why), ..gap })?;
        let one = one.iter().skip(1).fold(one[0].clone(), |sum, one| added(&sum, one));
        let kernel = Wanted::new(spec, &spec.kernel, 1);
        let rate = self.cell(&kernel)?.unit.more_is_better();
        let (over, under) = if rate { (&several, &one) } else { (&one, &several) };
        let quotient = |over: Option<f64>, under: Option<f64>| Some(over? / under?).filter(|times| times.is_finite());
        let value = quotient(Some(over.value), Some(under.value)).ok_or("one of the two times is nothing")?;
        Ok(Number {
            value,
            low: quotient(over.low, under.high),
            high: quotient(over.high, under.low),
            suspect: one.suspect || several.suspect,
            note: None,
        })
    }

    /// The first cell that has everything that is wanted, by itself or by the plan.
    fn cell(&self, wanted: &Wanted) -> Result<&'a Cell, Gap> {
        let plan = &self.report.plan;
        let fits = |cell: &&Cell| {
            let pages = cell.point.pages.map_or(plan.pages.as_str(), |pages| pages.name());
            cell.kernel == wanted.kernel
                && cell.mapping == wanted.mapping
                && cell.workers == wanted.workers
                && wanted.size.is_none_or(|size| size == cell.point.size_bytes.unwrap_or(plan.size_bytes))
                && wanted.level.as_ref().is_none_or(|level| cell.level.as_ref() == Some(level))
                && wanted.pages.is_none_or(|wanted| wanted.name() == pages)
                && wanted.stride.is_none_or(|stride| stride == cell.point.stride_bytes.unwrap_or(plan.stride_bytes))
                && wanted.memory.as_ref().is_none_or(|home| *home == point::memory(&cell.point).to_string())
        };
        self.report
            .cells
            .iter()
            .find(fits)
            .ok_or_else(|| Gap { why: format!("the report has no cell {}", named(wanted)), open: true })
    }
}

/// A cell's name, as far as the document names it, but for the number of workers: rows that lack the same have the same reason.
fn named(wanted: &Wanted) -> String {
    let Wanted { kernel, mapping, workers: _, size, level, pages, stride, memory } = wanted;
    let size = size.map(human::iec).or_else(|| level.as_ref().map(|level| format!("inside {level}")));
    let pages = pages.map(|pages| pages.name().to_owned());
    let stride = stride.map(|stride| format!("stride {stride}"));
    let memory = memory.as_ref().map(|home| format!("memory {home}"));
    let point: String = [size, pages, stride, memory].into_iter().flatten().map(|word| format!(" {word}")).collect();
    format!("{kernel} {mapping}{point} with so many workers")
}

fn why_none(cell: &Cell) -> Gap {
    let reason = || cell.outcome.reason.clone().filter(|reason| !reason.is_empty());
    let because = |word: &str| format!("{word}: {}", reason().unwrap_or_else(|| "no reason was kept".into()));
    match cell.outcome.status {
        Status::Pending => Gap { why: "not measured before the sweep ended".into(), open: true },
        Status::Aborted => Gap { why: because("given up"), open: true },
        Status::Skipped => because("skipped").into(),
        Status::Invalid => {
            let marks = || cell.marks.iter().map(|mark| mark.reason.as_str()).collect::<Vec<_>>().join("; ");
            Gap { why: format!("invalid: {}", reason().unwrap_or_else(marks)), open: true }
        }
        Status::Ok | Status::Suspect => "nothing was measured that counts".into(),
    }
}

fn added(one: &Number, other: &Number) -> Number {
    Number {
        value: one.value + other.value,
        low: one.low.zip(other.low).map(|(one, other)| one + other),
        high: one.high.zip(other.high).map(|(one, other)| one + other),
        suspect: one.suspect || other.suspect,
        note: None,
    }
}

/// How many samples, and where they gather.
fn note(cell: &Cell, take: &Take, factor: f64, unit: &str) -> Option<String> {
    let distribution = cell.distribution.as_ref()?;
    let shape: &Shape = match take {
        Take::First => &distribution.first,
        Take::Second => &distribution.second,
        _ => return None,
    };
    let ends = |nanos: f64| human::count_of(nanos * factor);
    let bands = shape.peaks.iter().filter(|peak| peak.share >= LEAST_SHARE).take(MOST_BANDS);
    let bands = bands.map(|peak| {
        format!("{} within {} to {} {unit}", human::percent(peak.share), ends(peak.low_ns), ends(peak.high_ns))
    });
    let samples = format!("{} samples", human::count(distribution.samples.count));
    Some(std::iter::once(samples).chain(bands).collect::<Vec<_>>().join(", "))
}
