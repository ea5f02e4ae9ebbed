//! One cell of the one report beside the same cell of the other.

use charz_estimate::{Estimate, shared_cpus, waits_in_kernel};
use serde::{Deserialize, Serialize};

use super::pairing::{Sides, comparable, pairs, usable};
use super::repeats::Repeat;
use super::terms::{Caveat, Quantity, ends};
use super::values::{rates, value, values};
use super::{ALPHA, Allowed, MARGIN, margin};
use charz_data::report::{Cell, Interval, Point, Report, Status, Unit};
use charz_stats::{Better, Pair, Ranks, Rule, Sample, compare_one, follow_the_clock, superiority};

/// A cell, compared or with the reason why not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Row {
    /// The kernel's name.
    pub kernel: String,
    /// The parameters that the sweep varies for the kernel; those of the base.
    pub point: Point,
    /// The mapping, as on the command line; `A -> B` where the base has another one than the new side.
    pub mapping: String,
    /// How many workers.
    pub workers: u64,
    /// What the values count.
    pub unit: Unit,
    /// What the base report has; null where it does not have the cell.
    pub base: Option<Side>,
    /// What the new report has; null where it does not have the cell.
    pub new: Option<Side>,
    /// The word for it.
    pub verdict: Verdict,
    /// Why there is no verdict; null where there is one.
    pub reason: Option<String>,
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
type Rates = (Vec<f64>, Vec<f64>);

/// A row on its way.
pub(super) struct Candidate<'a> {
    cells: Sides<'a>,
    /// Of both sides where they can be compared.
    rates: Option<Rates>,
    /// What two measurements of the configuration in one report differ by.
    pub(super) repeat: Option<Repeat>,
    pub(super) row: Row,
}

/// All cells of either report: those of the base in its order, then those that only the new one has.
pub(super) fn matched<'a>(base: &'a Report, new: &'a Report, allowed: &Allowed<'_>) -> Vec<Candidate<'a>> {
    pairs(base, new).into_iter().map(|cells| Candidate::new(cells, allowed)).collect()
}

/// The cells at the same places.
pub(super) fn paired<'a>(base: &'a Report, new: &'a Report, allowed: &Allowed<'_>) -> Vec<Candidate<'a>> {
    let pairs = base.cells.iter().zip(&new.cells);
    pairs.map(|(base, new)| Candidate::new((Some(base), Some(new)), allowed)).collect()
}

impl<'a> Candidate<'a> {
    fn new(cells: Sides<'a>, allowed: &Allowed<'_>) -> Self {
        let cell = cells.0.or(cells.1).expect("a row has a side");
        let quantity = allowed.options.quantity;
        let repeat = allowed.repeats.between([cells.0, cells.1]).cloned();
        let margin = margin(allowed.design, repeat.as_ref().map(|repeat| repeat.difference));
        let mut candidate = Candidate {
            cells,
            rates: None,
            repeat,
            row: Row {
                kernel: cell.kernel.clone(),
                point: cell.point,
                mapping: mapping(cells).unwrap_or_default(),
                workers: cell.workers,
                unit: cell.unit,
                base: cells.0.map(|cell| Side::of(cell, quantity)),
                new: cells.1.map(|cell| Side::of(cell, quantity)),
                verdict: Verdict::Uncompared,
                reason: None,
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
            },
        };
        match comparable(cells, allowed) {
            Ok((base, new, despite)) => {
                let at_one_clock = at_one_clock(base, new, margin).filter(|_| quantity == Quantity::Capacity);
                candidate.row.clock = at_one_clock.as_ref().map(|found| found.0);
                candidate.rates = match at_one_clock {
                    Some((_, rates)) => Some(rates),
                    None => Some((rates(base, quantity), rates(new, quantity))),
                };
                candidate.row.despite = despite.into_iter().collect();
            }
            Err(reason) => candidate.row.reason = Some(reason),
        }
        candidate
    }

    pub(super) fn pair(&self) -> Option<(Pair<'_>, Rule)> {
        let (base, new) = self.rates.as_ref()?;
        Some((Pair { base, new, better: Better::Higher }, self.rule()))
    }

    fn rule(&self) -> Rule {
        Rule::new(ALPHA, self.row.margin).expect("shares and a finite margin")
    }

    pub(super) fn is_compared(&self) -> bool {
        self.rates.is_some()
    }

    pub(super) fn is_common(&self) -> bool {
        self.cells.0.is_some() && self.cells.1.is_some()
    }

    /// Whether the number of a side, `base` or `new`, can be used.
    pub(super) fn is_usable(&self, side: &str, allowed: &Allowed<'_>) -> bool {
        let cell = if side == "new" { self.cells.1 } else { self.cells.0 };
        cell.is_some_and(|cell| usable(cell, allowed).is_ok())
    }

    pub(super) fn conclude(&mut self, judged: &charz_stats::Comparison) {
        let row = &mut self.row;
        (row.verdict, row.reason) = match judged.verdict {
            charz_stats::Verdict::Faster => (Verdict::Faster, None),
            charz_stats::Verdict::Slower => (Verdict::Slower, None),
            charz_stats::Verdict::Same => (Verdict::Same, None),
            charz_stats::Verdict::Inconclusive(doubt) => (Verdict::Inconclusive, Some(doubt.to_string())),
        };
        row.interval = judged.interval.map(|found| Interval { low: found.low, high: found.high });
        (row.p, row.adjusted_p) = (judged.p, judged.adjusted_p);
        (row.effect, row.smallest_effect) = (judged.effect, judged.smallest_effect);
    }
}

impl Candidate<'_> {
    /// What the values show by themselves, also of what was skipped: no difference is passed over in silence.
    pub(super) fn look(&mut self, quantity: Quantity, reports: [&Report; 2]) {
        let (Some(base), Some(new)) = self.cells else { return };
        let rule = self.rule();
        let has_values = [self.row.base, self.row.new].into_iter().flatten().all(|side| side.value.is_some());
        if base.unit != new.unit || !has_values {
            return;
        }
        let is_compared = self.is_compared();
        let may_hide = quantity == Quantity::Capacity && !waits_in_kernel(reports[1], new);
        let hides = may_hide && hides_sharing(base, new, self.row.verdict);
        let (base, new) = self.rates.take().unwrap_or_else(|| (rates(base, quantity), rates(new, quantity)));
        let row = &mut self.row;
        if !is_compared {
            let shown = compare_one(Pair { base: &base, new: &new, better: Better::Higher }, &rule);
            (row.effect, row.p, row.smallest_effect) = (shown.effect, shown.p, shown.smallest_effect);
            row.interval = shown.interval.map(|found| Interval { low: found.low, high: found.high });
        }
        // A reader divides the two values.
        if let Some(effect) = row.effect.and_then(|_| row.quotient()) {
            row.effect = Some(effect);
            let [least, most] = row.ends(reports).map(|factor| factor * effect);
            row.interval = row.interval.map(|found| Interval { low: found.low.min(least), high: found.high.max(most) });
            let margin = 1.0 + rule.margin();
            let verdict = row.verdict;
            let contradict = |low: f64, high: f64| match verdict {
                Verdict::Faster => low <= margin,
                Verdict::Slower => high >= margin.recip(),
                Verdict::Same => high > margin || low < margin.recip(),
                Verdict::Inconclusive | Verdict::Uncompared => false,
            };
            if contradict(effect, effect) {
                row.verdict = Verdict::Inconclusive;
                row.reason = Some("the two values and their runs do not differ alike".to_owned());
            } else if contradict(least, most) {
                row.verdict = Verdict::Inconclusive;
                row.reason = Some("the bins of the times and the step of the clock are too coarse".to_owned());
            }
        }
        if hides {
            let why =
                "unpinned threads shared CPUs, which a capacity does not show; --delivered compares what was done";
            (row.verdict, row.reason) = (Verdict::Inconclusive, Some(why.to_owned()));
        }
        if let Some((found, ends)) = superiority(&base, &new, 1.0 - rule.alpha()) {
            row.superiority = Some(found);
            row.superiority_interval = Some(Interval { low: ends.low, high: ends.high });
        }
        let has_verdict = !matches!(row.verdict, Verdict::Inconclusive | Verdict::Uncompared);
        // Of too few values for an interval, none of one side may come near one of the other.
        let least = |values: &[f64]| values.iter().copied().reduce(f64::min);
        let most = |values: &[f64]| values.iter().copied().reduce(f64::max);
        let all = least(&new).zip(most(&base)).zip(most(&new).zip(least(&base)));
        let all = all.map(|((low, most), (high, least))| Interval { low: low / most, high: high / least });
        let margin = 1.0 + rule.margin();
        let is_beyond = |found: Interval| found.low > margin || found.high < margin.recip();
        row.apart = !has_verdict && row.interval.or(all).is_some_and(is_beyond);
    }
}

impl Row {
    /// How many times the effect may be as low, and as high, by what the medians of both sides are known to.
    fn ends(&self, reports: [&Report; 2]) -> [f64; 2] {
        let side = |side: Option<Side>, report| {
            side.and_then(|side| side.value).map_or([1.0, 1.0], |value| ends(report, &self.kernel, self.unit, value))
        };
        let [base, new] = [side(self.base, reports[0]), side(self.new, reports[1])];
        [new[0] / base[1], new[1] / base[0]]
    }

    /// The performance that the values of the two sides show, at one clock where they are compared at one.
    fn quotient(&self) -> Option<f64> {
        let [base, new] = [self.base?.value?, self.new?.value?];
        let ratio = if self.unit.more_is_better() { new / base } else { base / new };
        let clock = self.clock.filter(|clock| !clock.is_counted).map_or(1.0, |clock| clock.ratio);
        Some(ratio / clock).filter(|effect| effect.is_finite() && *effect > 0.0)
    }
}

impl Side {
    fn of(cell: &Cell, quantity: Quantity) -> Self {
        let invocations = values(cell, quantity).len() as u64;
        Side { status: cell.status, value: value(cell, quantity), invocations }
    }
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

/// The mapping of either side, or both where they differ.
fn mapping(cells: Sides<'_>) -> Option<String> {
    match cells {
        (Some(base), Some(new)) if base.mapping != new.mapping => Some(format!("{} -> {}", base.mapping, new.mapping)),
        (one, other) => one.or(other).map(|cell| cell.mapping.clone()),
    }
}

/// What both sides do in a time, where it follows the clock: at the clock that they share, unless their clocks differ. A few runs that met a
/// lower clock show nothing in the rank test, and yet may move the middle one, and with it the number, by more than the margin.
fn at_one_clock(base: &Cell, new: &Cell, margin: f64) -> Option<(ClockEffect, Rates)> {
    let sides = [base, new].map(Cell::clocked_rates);
    if !follow_the_clock(&sides.each_ref().map(Vec::as_slice)) {
        return None;
    }
    let clocks = sides.each_ref().map(|side| Sample::new(side.iter().map(|pair| pair.1).collect()));
    let [Some(of_base), Some(of_new)] = clocks else { return None };
    let ratio = of_new.median() / of_base.median();
    let is_counted = Ranks::default().p(&of_base, &of_new) < ALPHA || ratio.ln().abs() > margin.ln_1p();
    let [base, new] = sides.map(|side| {
        let rate = |(rate, clock): (f64, f64)| if is_counted { rate } else { rate / clock };
        side.into_iter().map(rate).collect()
    });
    Some((ClockEffect { ratio, is_counted }, (base, new)))
}
