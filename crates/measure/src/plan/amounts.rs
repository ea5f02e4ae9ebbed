//! How much work the budget allows a repetition.

use std::time::Duration;

use charz_data::Role;
use charz_kernels::{Card, Params, params};

use super::{
    Budget, FEWEST_SHARE, LARGER_BUDGET, LARGER_QUICK_BUDGET, Plan, PlannedCell, QUICK_BUDGET, Request, nanos,
};
use crate::predict::Predictor;

/// The most steps that `auto` takes, a tenth of the source document's: beyond it nothing more is learnt.
const AUTO_ITERATIONS: u64 = 100_000_000;
/// The least that `auto` takes: about 1 ms of the fastest kernel, the shortest span worth measuring.
const LEAST_ITERATIONS: u64 = 1_000_000;
/// The most pairs of times that `auto` takes: two repetitions in six invocations give the 100,000 of the source document.
const AUTO_SAMPLES: u64 = 10_000;
/// The least: six invocations together still give the 99th percentile.
const LEAST_SAMPLES: u64 = 200;
/// The longest that `auto` lets a repetition last that runs by time.
pub(super) const AUTO_SPAN: Duration = Duration::from_millis(50);
/// The longest of programs that grow as far as their time allows, where they alone are fitted to the budget.
const AUTO_GROWTH: Duration = Duration::from_secs(2);
/// The shortest: a turn or two of the scheduler's.
const LEAST_SPAN: Duration = Duration::from_millis(2);
/// Divided by more than this, every amount is at its least.
const LARGEST_FACTOR: u32 = 100;
/// The share of the budget that a plan with automatic iterations may fill with its fewest invocations, by its own
/// prediction. A busy machine takes twice the time, and the rest narrows wide intervals.
const PLANNED_SHARE: f64 = 0.12;

/// How many times as long as predicted a busy machine takes, pilots included.
pub(super) const SLOWER: f64 = 1.5;

/// How long the repetitions of an invocation take together where [`LONG_SHARE`] of the budget allows it: of the fastest kernel, and of those
/// that run by time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Length {
    /// All repetitions of those that run by time.
    pub(super) all: Duration,
    /// All repetitions of those that have steps, of which the budget would allow more.
    stepped: Duration,
    /// The least of each that runs by time.
    span: Duration,
    /// The least steps of each of the others.
    iterations: u64,
}

/// Where a machine is shared, other programs have their turns of a CPU, and a quota its pauses, within that time. What is taken between shorter
/// ones would count as delivered. Longer ones would all be disturbed.
pub(super) const BESIDE_OTHERS: Length = Length {
    all: Duration::from_millis(100),
    stepped: Duration::from_millis(100),
    span: Duration::from_millis(10),
    iterations: 2_500_000,
};
/// Where it is not: the intervals of arithmetic kernels are those of 200 ms.
pub(super) const ALONE: Length = Length {
    all: Duration::from_millis(40),
    stepped: Duration::from_millis(30),
    span: Duration::from_millis(10),
    iterations: LEAST_ITERATIONS / 2,
};
const LONG_SHARE: f64 = 0.25;

impl Length {
    /// How many times as many repetitions threads take that the scheduler places: as long as beside others.
    pub(super) fn to_spread(self) -> usize {
        BESIDE_OTHERS.stepped.div_duration_f64(self.stepped).round().max(1.0) as usize
    }
}

impl Request {
    /// The parameters, with every amount that was not asked for at its most divided by `factor`, or its least.
    pub(super) fn amounts(&self, factor: u32, longest: Duration) -> Params {
        let share = |most: u64, least: u64| (most / u64::from(factor)).max(least);
        Params {
            iterations: self.iterations.unwrap_or(share(AUTO_ITERATIONS, LEAST_ITERATIONS)),
            samples: self.samples.unwrap_or(share(AUTO_SAMPLES, LEAST_SAMPLES)),
            span_ns: nanos(self.span.unwrap_or((longest / factor).max(LEAST_SPAN))),
            ..self.params
        }
    }
}

impl Plan {
    /// Takes as much of each amount that was not asked for as fits well into the budget, or adds a quarter to what takes its time
    /// anyway, as far as the largest budget holds that: its largest, or less by the same factor of 1, 2 or 5 times a power of ten for all.
    pub(super) fn fit_amounts(&mut self, request: &Request, predictor: &Predictor) {
        (self.budget, self.length) = (request.budget.least(), None);
        let longest = longest_span(self.cells.iter().map(|cell| cell.kernel.card()));
        let factors = (0..).flat_map(|power| [1, 2, 5].map(|step| step * 10_u32.pow(power)));
        let least = if predictor.is_hurried() { LARGEST_FACTOR } else { 1 };
        for factor in factors.skip_while(|&factor| factor < least).take_while(|&factor| factor <= LARGEST_FACTOR) {
            self.params = request.amounts(factor, longest);
            self.predict(predictor);
            let anyway = self.sum(self.runnable().filter(|cell| !is_fitted(cell.kernel.card())));
            let added = anyway.mul_f64(1.25).min(request.budget.most());
            if self.predicted() <= self.budget.mul_f64(PLANNED_SHARE).max(added) {
                break;
            }
        }
        let short = self.params;
        let long = if predictor.is_shared() || !self.spreads { BESIDE_OTHERS } else { ALONE };
        self.params.iterations = request.iterations.unwrap_or_else(|| {
            let needed = self.iterations(long.stepped, predictor).unwrap_or(short.iterations);
            short.iterations.min(needed).max(long.iterations)
        });
        self.params.span_ns = nanos(request.span.unwrap_or(short.span().max(long.span)));
        self.length = request.span.is_none().then_some(long);
        self.predict(predictor);
        if predictor.is_hurried() || self.predicted() > self.budget.mul_f64(LONG_SHARE) {
            (self.params, self.length) = (short, None);
            self.predict(predictor);
        }
        let predicted = self.predicted();
        self.budget = match request.budget {
            Budget::Fitting if predicted > self.budget.mul_f64(FEWEST_SHARE) => LARGER_BUDGET,
            Budget::Planned(time) => predicted.mul_f64(SLOWER).max(time),
            // A busy machine takes longer than predicted, and a pilot's block may lie in a large cache.
            Budget::Quick => predicted.mul_f64(2.0).clamp(QUICK_BUDGET, LARGER_QUICK_BUDGET),
            _ => self.budget,
        };
    }

    /// The steps with which the repetitions of an invocation take so long of each kernel, in quarters of the least: pilots that differ a little
    /// plan the same. `None` where no rate is known.
    fn iterations(&self, all: Duration, predictor: &Predictor) -> Option<u64> {
        let needed = |cell: &PlannedCell| {
            let each = all / u32::try_from(cell.repetitions).unwrap_or(u32::MAX).max(1);
            predictor.steps(cell.kernel.card(), each)
        };
        let quarter = LEAST_ITERATIONS / 4;
        Some(self.runnable().filter_map(needed).max()?.div_ceil(quarter).saturating_mul(quarter))
    }
}

/// Whether how much a kernel does follows from the budget.
fn is_fitted(card: &Card) -> bool {
    [&params::STEPS, &params::SAMPLES, &params::SPAN].iter().any(|amount| card.obeys(amount))
}

/// The longest repetition of kernels that run by time. What is longer for one is less of all others that are fitted to the budget.
pub(super) fn longest_span<'a>(cards: impl Iterator<Item = &'a Card>) -> Duration {
    let mut fitted = cards.filter(|card| is_fitted(card)).peekable();
    let grow = fitted.peek().is_some() && fitted.all(|card| card.role == Role::Growing);
    if grow { AUTO_GROWTH } else { AUTO_SPAN }
}
