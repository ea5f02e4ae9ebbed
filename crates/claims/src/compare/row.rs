//! One cell of the one report beside the same cell of the other.

use serde::{Deserialize, Serialize};

use super::allowed::Allowed;
use super::pairing::{Reason, Sides, comparable, usable};
use super::repeats::{Repeat, Repeats};
use super::terms::{Caveat, Design, Quantity};
use super::{ALPHA, MARGIN, margin};
use charz_data::Card;
use charz_data::histogram::median_error;
use charz_data::report::{Cell, Interval, Report, Status, Unit};
use charz_estimate::{Estimate, shared_cpus, waits_in_kernel};
use charz_stats::{Better, Doubt, Pair, Ranks, Rule, Sample, compare_one, follow_the_clock, superiority};

/// A cell, compared or with the reason why not.
#[derive(Clone, Debug, PartialEq)]
pub struct Row<'a> {
    /// The cell of the base, and that of the new report.
    pub cells: Sides<'a>,
    /// What of them is compared.
    pub sides: [Option<Side>; 2],
    /// What can be said of it.
    pub verdict: Verdict,
    /// Why there is no verdict; `None` where there is one.
    pub reason: Option<Reason<'a>>,
    /// What the values show.
    pub shown: Shown,
}

/// What the values of two sides show.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Shown {
    /// The performance of the new side over that of the base: above 1 is better, with times as well as with rates.
    pub effect: Option<f64>,
    /// Where the effect lies, not adjusted for being one of many.
    pub interval: Option<Interval>,
    /// The two-sided p-value of the rank test by itself; null where it was not made.
    pub p: Option<f64>,
    /// The same, adjusted for all comparisons (Benjamini and Hochberg).
    pub adjusted_p: Option<f64>,
    /// The smallest effect that these data would have shown nine times in ten, above 1; null where they could have shown
    /// none.
    pub smallest_effect: Option<f64>,
    /// How often a run of the new side is better than one of the base: the common-language effect size, U / (m n) of the rank test; null
    /// where a side has no values.
    pub superiority: Option<f64>,
    /// Where that lies (Newcombe 2006, method 5).
    pub superiority_interval: Option<Interval>,
    /// How much is still the same, as a fraction: the margin of the comparison, or what two mappings of the configuration on the same
    /// CPUs differ by, where that is larger.
    pub margin: f64,
    /// Whether the whole interval, or all runs of the two sides, lie beyond the margin, though there is no verdict: a difference that is open.
    pub apart: bool,
    /// The clock of the cores, where the values of both sides follow it; null elsewhere.
    pub clock: Option<ClockEffect>,
    /// In what the two sides are not alike, or not sound, and were compared all the same.
    pub despite: Vec<Caveat>,
}

/// What the clock of the cores has to do with a difference.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClockEffect {
    /// The middle clock of the new side over that of the base.
    pub ratio: f64,
    /// Whether the two differ, by the rank test or by more than the margin, and are in the effect; else both sides are compared at one clock.
    pub is_counted: bool,
}

/// One report's half of a row.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Side {
    /// How the cell ended.
    pub status: Status,
    /// Its capacity, or what it delivered, whichever is compared; null where the report gives none.
    pub value: Option<f64>,
    /// Invocations with a value.
    pub invocations: u64,
}

/// What can be said of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The new side performs better, by more than the margin.
    Faster,
    /// The new side performs worse, by more than the margin.
    Slower,
    /// They differ by no more than the margin.
    Same,
    /// Compared, and the data cannot say. Not a pass.
    Inconclusive,
    /// Not compared. Not a pass either.
    Uncompared,
}

charz_data::words! { Verdict {
    Slower = "slower", Faster = "faster", Same = "same", Inconclusive = "inconclusive", Uncompared = "skipped",
} }

/// What the base and the new side do in a time, one number an invocation.
type Rates = [Vec<f64>; 2];

/// A row on its way.
pub(super) struct Candidate<'a> {
    /// Of both sides where they can be compared.
    rates: Option<Rates>,
    design: Design,
    /// What two measurements of the configuration in one report differ by.
    pub(super) repeat: Option<Repeat<'a>>,
    pub(super) row: Row<'a>,
}

impl<'a> Candidate<'a> {
    pub(super) fn new(cells: Sides<'a>, allowed: &Allowed<'a>, repeats: &Repeats<'a>) -> Self {
        let quantity = allowed.options.quantity;
        let repeat = repeats.between(cells);
        let margin = margin(repeat.map(|repeat| repeat.difference));
        let mut shown = Shown {
            effect: None,
            interval: None,
            p: None,
            adjusted_p: None,
            smallest_effect: None,
            superiority: None,
            superiority_interval: None,
            margin,
            apart: false,
            clock: None,
            despite: Vec::new(),
        };
        let (rates, reason) = match comparable(cells, allowed) {
            Ok((pair, despite)) => {
                let at_one_clock = at_one_clock(pair, margin).filter(|_| quantity == Quantity::Capacity);
                shown.clock = at_one_clock.as_ref().map(|found| found.0);
                shown.despite = despite.into_iter().collect();
                (Some(at_one_clock.map_or_else(|| pair.map(|cell| quantity.rates(cell)), |found| found.1)), None)
            }
            Err(reason) => (None, Some(reason)),
        };
        let side = |cell: &Cell| {
            let invocations = quantity.values(cell).len() as u64;
            Side { status: cell.status, value: quantity.value(cell), invocations }
        };
        let sides = cells.map(|cell| cell.map(side));
        Candidate {
            rates,
            design: allowed.design,
            repeat,
            row: Row { cells, sides, verdict: Verdict::Uncompared, reason, shown },
        }
    }

    pub(super) fn pair(&self) -> Option<(Pair<'_>, Rule)> {
        let [base, new] = self.rates.as_ref()?;
        Some((Pair { base, new, better: Better::Higher }, self.rule()))
    }

    fn rule(&self) -> Rule {
        let rule = Rule::new(ALPHA, self.row.shown.margin).expect("shares and a finite margin");
        if self.design == Design::Sequential { rule.in_sequence() } else { rule }
    }

    pub(super) fn is_compared(&self) -> bool {
        self.rates.is_some()
    }

    /// Whether the number of a side, by its place, can be used.
    pub(super) fn is_usable(&self, side: usize, allowed: &Allowed<'_>) -> bool {
        self.row.cells[side].is_some_and(|cell| usable(cell, allowed).is_ok())
    }

    pub(super) fn conclude(&mut self, judged: &charz_stats::Comparison) {
        let row = &mut self.row;
        (row.verdict, row.reason) = match judged.verdict {
            charz_stats::Verdict::Faster => (Verdict::Faster, None),
            charz_stats::Verdict::Slower => (Verdict::Slower, None),
            charz_stats::Verdict::Same => (Verdict::Same, None),
            charz_stats::Verdict::Inconclusive(doubt) => (Verdict::Inconclusive, Some(Reason::Doubt(doubt))),
        };
        row.shown.adjusted_p = judged.adjusted_p;
        row.shown.take(judged);
    }

    /// What the values show by themselves, of skipped configurations too: no difference is passed over in silence.
    pub(super) fn look(&mut self, quantity: Quantity, reports: [&Report; 2]) {
        let [Some(base), Some(new)] = self.row.cells else { return };
        let rule = self.rule();
        let has_values = self.row.sides.iter().flatten().all(|side| side.value.is_some());
        if base.unit != new.unit || !has_values {
            return;
        }
        let is_compared = self.is_compared();
        let may_hide = quantity == Quantity::Capacity && !waits_in_kernel(reports[1], new);
        let hides = may_hide && hides_sharing(base, new, self.row.verdict);
        let [base, new] = self.rates.take().unwrap_or_else(|| [base, new].map(|cell| quantity.rates(cell)));
        let row = &mut self.row;
        if !is_compared {
            row.shown.take(&compare_one(Pair { base: &base, new: &new, better: Better::Higher }, &rule));
        }
        let margin = 1.0 + rule.margin();
        // A reader divides the two values.
        if let Some(effect) = row.shown.effect.and_then(|_| row.quotient()) {
            let [least, most] = row.ends(reports).map(|factor| factor * effect);
            let wide = |found: Interval| Interval { low: found.low.min(least), high: found.high.max(most) };
            row.shown.effect = Some(effect);
            row.shown.interval = row.shown.interval.map(wide);
            let contradict = |low: f64, high: f64| match row.verdict {
                Verdict::Faster => low <= margin,
                Verdict::Slower => high >= margin.recip(),
                Verdict::Same => high > margin || low < margin.recip(),
                Verdict::Inconclusive | Verdict::Uncompared => false,
            };
            let values = contradict(effect, effect).then_some(Reason::Contradicted);
            if let Some(reason) = values.or_else(|| contradict(least, most).then_some(Reason::Coarse)) {
                (row.verdict, row.reason) = (Verdict::Inconclusive, Some(reason));
            }
        }
        if hides {
            (row.verdict, row.reason) = (Verdict::Inconclusive, Some(Reason::SharedCpus));
        }
        if let Some((found, ends)) = superiority(&base, &new, 1.0 - rule.alpha()) {
            row.shown.superiority = Some(found);
            row.shown.superiority_interval = Some(Interval { low: ends.low, high: ends.high });
        }
        // Of too few values for an interval, none of one side may come near one of the other.
        let end = |values: &[f64], end: fn(f64, f64) -> f64| values.iter().copied().reduce(end);
        let low = end(&new, f64::min).zip(end(&base, f64::max));
        let all = low.zip(end(&new, f64::max).zip(end(&base, f64::min)));
        let all = all.map(|((low, most), (high, least))| Interval { low: low / most, high: high / least });
        let is_beyond = |found: Interval| found.low > margin || found.high < margin.recip();
        let is_seen = row.reason == Some(Reason::Doubt(Doubt::Seen));
        row.shown.apart = !row.has_verdict() && !is_seen && row.shown.interval.or(all).is_some_and(is_beyond);
    }
}

impl Shown {
    fn take(&mut self, found: &charz_stats::Comparison) {
        (self.effect, self.p, self.smallest_effect) = (found.effect, found.p, found.smallest_effect);
        self.interval = found.interval.map(|found| Interval { low: found.low, high: found.high });
    }
}

impl<'a> Row<'a> {
    /// The cell of the base, or the only one.
    pub fn cell(&self) -> &'a Cell {
        self.cells[0].or(self.cells[1]).expect("a row has a side")
    }

    /// Whether the cell was found to be slower, faster or the same.
    pub fn has_verdict(&self) -> bool {
        !matches!(self.verdict, Verdict::Inconclusive | Verdict::Uncompared)
    }

    /// Whether a difference was found, or may be there.
    pub fn differs(&self) -> bool {
        self.shown.apart || matches!(self.verdict, Verdict::Slower | Verdict::Faster)
    }

    /// How many times the effect may be as low, and as high, by what the medians of both sides are known to.
    fn ends(&self, reports: [&Report; 2]) -> [f64; 2] {
        let [base, new] = [0, 1].map(|side| {
            let value = self.sides[side].and_then(|side| side.value);
            value.map_or([1.0, 1.0], |value| ends(reports[side], self.cell(), value))
        });
        [new[0] / base[1], new[1] / base[0]]
    }

    /// The performance that the values of the two sides show, at one clock where they are compared at one.
    fn quotient(&self) -> Option<f64> {
        let [base, new] = [self.sides[0]?.value?, self.sides[1]?.value?];
        let ratio = if self.cell().unit.more_is_better() { new / base } else { base / new };
        let clock = self.shown.clock.filter(|clock| !clock.is_counted).map_or(1.0, |clock| clock.ratio);
        Some(ratio / clock).filter(|effect| effect.is_finite() && *effect > 0.0)
    }
}

/// How many times the performance of a number may be as low, and as high: medians of stamped times may be off. Both ends are finite and
/// positive, as `nanos` is.
fn ends(report: &Report, cell: &Cell, nanos: f64) -> [f64; 2] {
    const MOST: f64 = 0.9;
    if cell.unit != Unit::NanosecondsSampled {
        return [1.0, 1.0];
    }
    let is_stamped = report.card(&cell.kernel).is_none_or(Card::is_stamped);
    let step_ns = report.timer.as_ref().filter(|_| is_stamped).map_or(0, |timer| timer.resolution_ns);
    let error = (median_error(nanos, step_ns) / nanos).min(MOST);
    [(1.0 + error).recip(), (1.0 - error).recip()]
}

/// Whether threads that are bound nowhere had less of their capacity as they shared CPUs, and are said to be as good as those of the other
/// side, which did not, or better.
fn hides_sharing(base: &Cell, new: &Cell, verdict: Verdict) -> bool {
    let Some((base, new)) = Estimate::of(base).zip(Estimate::of(new)).filter(|_| base.workers > 1) else {
        return false;
    };
    let shares = |number: &Estimate<'_>| shared_cpus(number.cell).map(|share| share >= MARGIN);
    let lacks = |own: &Cell, other: &Cell| {
        own.delivered_share().zip(other.delivered_share()).is_some_and(|(own, other)| own < (1.0 - MARGIN) * other)
    };
    let hides = |own: &Estimate<'_>, other: &Estimate<'_>| match (own.is_bound(), other.is_bound()) {
        (true, _) => false,
        (false, true) => own.delivered_beside(other).is_some(),
        (false, false) => (shares(own), shares(other)) == (Some(true), Some(false)) && lacks(own.cell, other.cell),
    };
    verdict != Verdict::Uncompared
        && (verdict != Verdict::Slower && hides(&new, &base) || verdict != Verdict::Faster && hides(&base, &new))
}

/// What both sides do in a time, where it follows the clock: at the clock that they share, unless their clocks differ. A few runs that met a
/// lower clock show nothing in the rank test, and yet may move the middle one, and with it the number, by more than the margin.
fn at_one_clock(cells: [&Cell; 2], margin: f64) -> Option<(ClockEffect, Rates)> {
    let sides = cells.map(Cell::clocked_rates);
    if !follow_the_clock(&sides.each_ref().map(Vec::as_slice)) {
        return None;
    }
    let clocks = sides.each_ref().map(|side| Sample::new(side.iter().map(|pair| pair.1).collect()));
    let [Some(of_base), Some(of_new)] = clocks else { return None };
    let ratio = of_new.median() / of_base.median();
    let is_counted = Ranks::default().p(&of_base, &of_new) < ALPHA || ratio.ln().abs() > margin.ln_1p();
    let rate = |(rate, clock): (f64, f64)| if is_counted { rate } else { rate / clock };
    Some((ClockEffect { ratio, is_counted }, sides.map(|side| side.into_iter().map(rate).collect())))
}
