//! Is the new one faster? The verdict on two sets of invocations, and on many such pairs at once.
//!
//! # What it takes
//!
//! Everything happens on logarithms of performance, so "twice as fast" and "half as fast" are the same distance, and
//! exchanging the sides exchanges the verdicts. The margin m reaches from 1 / (1 + m) to 1 + m for the same reason.
//!
//! * **Faster, slower**: the rank test has p < α after [adjusting](super::benjamini_hochberg) for all comparisons of the batch,
//!   *and* the whole interval lies beyond the margin.
//! * **Same**: the whole interval lies inside the margin. That needs no test: it is the interval that shows it.
//! * **Inconclusive**: everything else, with the [reason](Doubt). It is no verdict, and not a pass.
//!
//! # One side after the other
//!
//! Sides that take turns meet the same noise. Of two that do not, [a rule in sequence](Rule::in_sequence) takes the runs for what they are: a
//! series each. Noise that outlasts a run widens the interval (`serial.rs`); of runs of several [speeds](super::Sample::speeds) the usual one is
//! compared; and where a run of one side has the speed of the other, the two were seen to be of one machine, so there is no verdict.
//!
//! # The smallest effect that could have been shown
//!
//! For "faster" the estimate, on the logarithm, must be above ln(1 + m) by the distance h from estimate to interval end, and
//! above h', that distance at the level at which the test has to succeed among the others. (Where r of the other k − 1
//! comparisons are called differences, this one is called one as well if p < α (r + 1) / k.) The estimate itself varies, with a
//! standard error s of about h / z for z = Φ⁻¹(1 − α' / 2), α' being what the interval's critical U spends. So an effect of
//!
//! > exp(max(ln(1 + m) + h, h') + Φ⁻¹(0.9) s)
//!
//! is shown nine times in ten. Simulated at α = 0.01 and m = 2 %: the median of this over 1,000 pairs without a difference,
//! and in brackets in how many percent of 2,000 pairs that really differ by as much the verdict is "faster":
//!
//! | a side | normal, 1.4 % | lognormal, 5 % | bimodal, 70 % at 1, 30 % at 1.1 |
//! | ---: | ---: | ---: | ---: |
//! | 6 | 1.061 (88) | 1.174 (89) | 1.175 (100) |
//! | 10 | 1.048 (89) | 1.126 (91) | 1.111 (58) |
//! | 20 | 1.039 (90) | 1.089 (89) | 1.058 (77) |
//!
//! With two modes it is only a rough guide, since the width depends on how many values happened to fall into which mode;
//! [`Sample::m_value`](super::Sample::m_value) shows whether there are two.
//! And it comes from the very data that are judged: half of all samples happen to vary less than their population.

use std::fmt;

use super::Sample;
use super::discoveries::benjamini_hochberg;
use super::interval::Interval;
use super::ranks::{Ranks, Shift, min_invocations};
use super::robust::DEVIATIONS_BETWEEN_QUARTILES;
use super::serial::widening;
use super::tails::normal_quantile;
use super::trend::trend;

#[cfg(test)]
mod tests;

/// The share of false calls to accept over all comparisons of two reports.
pub const ALPHA: f64 = 0.01;

/// The fewest values a side of which a verdict is given: with 4 against 4 the smallest p is 0.029.
pub const LEAST_FOR_VERDICT: usize = 5;

/// How many values a side it takes to show one difference among so many comparisons at `alpha`: the only number for it, which messages, plans
/// and totals take.
pub fn runs_for_verdict(comparisons: usize, alpha: f64) -> usize {
    min_invocations(comparisons, alpha).max(LEAST_FOR_VERDICT)
}

/// The share of cases in which the smallest effect would have been shown.
const POWER: f64 = 0.9;

/// Which values are good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Rates.
    Higher,
    /// Times.
    Lower,
}

/// Two sides to compare.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    /// One value an invocation, in any unit; in any order, unless the [rule](Rule::in_sequence) asks for that of time.
    pub base: &'a [f64],
    /// The same for the new side, in the same unit.
    pub new: &'a [f64],
    /// Which values perform better.
    pub better: Better,
}

/// What a difference has to be to count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    alpha: f64,
    margin: f64,
    in_sequence: bool,
}

impl Rule {
    /// `alpha` is the share of false calls to accept, above 0 and below 1, usually 0.01; the intervals have the confidence
    /// 1 − α. `margin` is how much is still the same, as a fraction, usually 0.02: finite and not negative. `None` where
    /// either is something else.
    pub fn new(alpha: f64, margin: f64) -> Option<Rule> {
        let usable = 0.0 < alpha && alpha < 1.0 && margin.is_finite() && margin >= 0.0;
        usable.then_some(Rule { alpha, margin, in_sequence: false })
    }

    /// The same for sides that were measured one after the other, with their values in the order of time.
    #[must_use]
    pub fn in_sequence(self) -> Rule {
        Rule { in_sequence: true, ..self }
    }

    /// The share of false calls to accept.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// How much is still the same, as a fraction.
    pub fn margin(&self) -> f64 {
        self.margin
    }
}

/// What a comparison says of the new side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The new side performs better, by more than the margin.
    Faster,
    /// The new side performs worse, by more than the margin.
    Slower,
    /// They differ by no more than the margin.
    Same,
    /// The data cannot say, for this reason. Not a pass.
    Inconclusive(Doubt),
}

/// Why a comparison is inconclusive. Its text is a clause that follows "inconclusive: ".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// A value is zero, negative or not finite, and has no ratio.
    NotPositive,
    /// A side has too few values for any verdict.
    TooFew {
        /// How many a side there must be.
        needed: usize,
    },
    /// By itself the pair differs, but no p-value of so few values is small enough among so many comparisons.
    TooFewForSoMany {
        /// How many a side would be enough if this were the only difference.
        needed: usize,
        /// How many comparisons the batch has.
        comparisons: usize,
    },
    /// By itself the pair differs, but among so many comparisons this may be chance.
    PerhapsChance,
    /// They differ, and it is not clear whether by more than the margin.
    AtMargin,
    /// The values vary so much that both no difference and one beyond the margin are possible.
    TooNoisy,
    /// The values of a side rise or fall as it goes on, and may have gone on to do so from one side to the other.
    Drift,
    /// Neighbouring values are alike, so few of them are independent: what lasts so long may be all the difference.
    Correlated,
    /// A run of one side was as fast as the other side is.
    Seen,
}

/// A pair compared as one of many.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Whether and how they differ, with the p-value adjusted for the number of pairs.
    pub verdict: Verdict,
    /// The performance of the new side over that of the base: above 1 is better, with times as well as with rates. The
    /// median of all ratios, one value of each side. `None` where a side has no values, or one that has no ratio.
    pub effect: Option<f64>,
    /// The interval of the effect, with a confidence of at least 1 − α. It is not adjusted for being one of many. `None`
    /// where the sides are too small for one, or have fewer than [`LEAST_FOR_VERDICT`] values.
    pub interval: Option<Interval>,
    /// The two-sided p-value of the rank test by itself. `None` where no verdict could be given; such pairs do not count
    /// among the many.
    pub p: Option<f64>,
    /// The p-value after adjusting for the whole batch.
    pub adjusted_p: Option<f64>,
    /// The smallest effect that these data would have shown nine times in ten, above 1: "faster" at this ratio, "slower" at
    /// one over it. `None` where they could not have shown any, because no p-value of so few values is small enough.
    pub smallest_effect: Option<f64>,
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Doubt::NotPositive => write!(f, "a value is not a positive number, so there is no ratio"),
            Doubt::TooFew { needed } => write!(f, "too few runs; {needed} per side needed"),
            Doubt::TooFewForSoMany { needed, comparisons } => {
                write!(f, "too few runs for {comparisons} comparisons; {needed} per side needed")
            }
            Doubt::PerhapsChance => write!(f, "among so many comparisons it may be chance; measure this one again"),
            Doubt::AtMargin => write!(f, "a difference, but perhaps within the margin; measure more runs"),
            Doubt::TooNoisy => write!(f, "too noisy; measure more runs, or on a quieter machine"),
            Doubt::Drift => {
                write!(f, "results drift from run to run, perhaps from one report to the other; use charz ab")
            }
            Doubt::Correlated => {
                write!(f, "successive runs are alike, so slow noise may be the difference; use charz ab")
            }
            Doubt::Seen => write!(f, "runs of one side have the speed of the other; use charz ab"),
        }
    }
}

/// Judges one pair by itself.
pub fn compare_one(pair: Pair<'_>, rule: &Rule) -> Comparison {
    compare_each(&[(pair, *rule)]).pop().expect("each pair has its comparison")
}

/// Judges a batch, in the order given. The pairs that can have a verdict count as one family: each makes it harder for the
/// others, see [`min_invocations`].
pub fn compare(pairs: &[Pair<'_>], rule: &Rule) -> Vec<Comparison> {
    compare_each(&pairs.iter().map(|pair| (*pair, *rule)).collect::<Vec<_>>())
}

/// As [`compare`], with a margin for each pair: all rules have the α of the first.
pub fn compare_each(pairs: &[(Pair<'_>, Rule)]) -> Vec<Comparison> {
    let Some((_, Rule { alpha, .. })) = pairs.first() else { return Vec::new() };
    let mut ranks = Ranks::default();
    let needed = runs_for_verdict(pairs.len(), *alpha);
    let sides: Vec<Result<Sides, Comparison>> =
        pairs.iter().map(|(pair, rule)| Sides::new(pair, rule, needed, &mut ranks)).collect();
    let p: Vec<f64> = sides.iter().flatten().map(|sides| ranks.p_of_sorted(&sides.base, &sides.new)).collect();
    let adjusted = benjamini_hochberg(&p);
    let many =
        Many { batch: pairs.len(), comparisons: p.len(), called: adjusted.iter().filter(|p| **p < *alpha).count() };
    let mut tested = p.iter().zip(&adjusted);
    let judged = sides.into_iter().zip(pairs).map(|(sides, (_, rule))| match sides {
        Ok(sides) => {
            let (p, adjusted_p) = tested.next().expect("each pair with two sides was tested");
            judge(&sides, (*p, *adjusted_p), &many, rule, &mut ranks)
        }
        Err(refused) => refused,
    });
    judged.collect()
}

/// The other comparisons of the batch, as far as one of them has to know.
struct Many {
    /// How many pairs there are, those included that are too small for a verdict.
    batch: usize,
    /// How many are tested, this one included.
    comparisons: usize,
    /// How many of them have an adjusted p-value below α.
    called: usize,
}

impl Many {
    /// Below which p-value a comparison would be called a difference, the others being as they are.
    fn level(&self, adjusted_p: f64, rule: &Rule) -> f64 {
        let others = self.called - usize::from(adjusted_p < rule.alpha);
        rule.alpha * (others + 1) as f64 / self.comparisons as f64
    }
}

/// The logarithms of performance, sorted; enough of them for a verdict.
struct Sides {
    base: Vec<f64>,
    new: Vec<f64>,
    in_sequence: Option<InSequence>,
}

/// What runs in the order of time show of two sides that were measured one after the other.
struct InSequence {
    /// How many times wider the interval is.
    widening: f64,
    /// Whether a side has a trend.
    drifts: bool,
    /// Whether a run of one side has the speed of the other.
    is_seen: bool,
}

/// How often at most a series without a trend may be said to have one.
const FALSE_TRENDS: f64 = 0.01;

/// So many standard deviations from the middle of its side a run has another speed.
const ELSEWHERE: f64 = 3.5;

impl InSequence {
    /// Of logarithms in the order of time, of all runs and of those that have the usual speed of their side.
    fn of(all: [&[f64]; 2], usual: [&[f64]; 2]) -> Self {
        let drifts = usual.into_iter().any(|side| trend(side).is_some_and(|p| p < FALSE_TRENDS));
        let deviation = |side: &Sample| side.deviation().max(side.quartile_range() / DEVIATIONS_BETWEEN_QUARTILES);
        let [base, new] = usual.map(|side| Sample::new(side.to_vec()).map(|side| (side.median(), deviation(&side))));
        let is_seen = |side: &[f64], own: (f64, f64), other: (f64, f64)| {
            side.iter().any(|run| {
                let away = (run - own.0).abs();
                away > ELSEWHERE * own.1 && (run - other.0).abs() < away / 2.0
            })
        };
        let is_seen = base.zip(new).is_some_and(|(base, new)| is_seen(all[0], base, new) || is_seen(all[1], new, base));
        InSequence { widening: widening(usual), drifts, is_seen }
    }
}

impl Sides {
    /// A comparison without them for a pair that cannot have a verdict.
    fn new(pair: &Pair<'_>, rule: &Rule, needed: usize, ranks: &mut Ranks) -> Result<Sides, Comparison> {
        let refused = |doubt: Doubt, effect: Option<f64>| Comparison {
            verdict: Verdict::Inconclusive(doubt),
            effect,
            interval: None,
            p: None,
            adjusted_p: None,
            smallest_effect: None,
        };
        let (Some(mut base), Some(mut new)) = (performance(pair.base, pair.better), performance(pair.new, pair.better))
        else {
            return Err(refused(Doubt::NotPositive, None));
        };
        let all = [base.clone(), new.clone()];
        if rule.in_sequence {
            keep_usual(&mut base);
            keep_usual(&mut new);
        }
        let enough = base.len().min(new.len()) >= LEAST_FOR_VERDICT;
        let is_enough = enough && ranks.untied(base.len(), new.len()).two_sided(0) < rule.alpha;
        let in_sequence = (rule.in_sequence && is_enough).then(|| InSequence::of([&all[0], &all[1]], [&base, &new]));
        [&mut base, &mut new].into_iter().for_each(|side| side.sort_unstable_by(f64::total_cmp));
        if is_enough {
            return Ok(Sides { base, new, in_sequence });
        }
        let some = !base.is_empty() && !new.is_empty();
        let doubt = Doubt::TooFew { needed };
        Err(refused(doubt, some.then(|| Shift::new(&base, &new).estimate().exp())))
    }
}

/// Leaves the logarithms of the speed that two thirds of the runs have, where they fall apart into several: two runs of ten at half speed
/// hide a difference from the rank test.
fn keep_usual(side: &mut Vec<f64>) {
    let values = side.iter().map(|logarithm| logarithm.exp()).collect();
    let Some(usual) = Sample::new(values).map(|all| all.usual()).filter(|usual| usual.len() < side.len()) else {
        return;
    };
    // Half of the least gap from either end: rounding may move a value.
    let (low, high) = (usual.min().ln() - 0.01, usual.max().ln() + 0.01);
    side.retain(|logarithm| (low..=high).contains(logarithm));
}

/// The logarithms, larger for better. `None` where a value has no logarithm or is not finite.
fn performance(values: &[f64], better: Better) -> Option<Vec<f64>> {
    let mut logarithms: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    if better == Better::Lower {
        logarithms.iter_mut().for_each(|logarithm| *logarithm = -*logarithm);
    }
    logarithms.iter().all(|logarithm| logarithm.is_finite()).then_some(logarithms)
}

fn judge(sides: &Sides, (p, adjusted_p): (f64, f64), many: &Many, rule: &Rule, ranks: &mut Ranks) -> Comparison {
    let null = ranks.untied(sides.base.len(), sides.new.len());
    let shift = Shift::new(&sides.base, &sides.new);
    let level = many.level(adjusted_p, rule);
    let independent = shift.interval(null, rule.alpha).expect("sides too small for it were refused");
    let widening = sides.in_sequence.as_ref().map_or(1.0, |found| found.widening);
    let wide = |end: f64| shift.estimate() + (end - shift.estimate()) * widening;
    let (low, high, confidence) = (wide(independent.0), wide(independent.1), independent.2);
    let margin = rule.margin.ln_1p();
    let half = (high - low) / 2.0;
    let smallest_effect = shift.interval(null, level).map(|(low, high, _)| {
        let error = half / normal_quantile((1.0 + confidence) / 2.0);
        ((margin + half).max(widening * (high - low) / 2.0) + normal_quantile(POWER) * error).exp()
    });
    let called = adjusted_p < rule.alpha;
    let is_beyond = |low: f64, high: f64| low > margin || high < -margin;
    let in_sequence = sides.in_sequence.as_ref().and_then(|found| match is_beyond(low, high) {
        true => found.is_seen.then_some(Doubt::Seen),
        false if !is_beyond(independent.0, independent.1) => None,
        false => Some(if found.drifts { Doubt::Drift } else { Doubt::Correlated }),
    });
    let verdict = if let Some(doubt) = in_sequence {
        Verdict::Inconclusive(doubt)
    } else if low > margin && called {
        Verdict::Faster
    } else if high < -margin && called {
        Verdict::Slower
    } else if -margin <= low && high <= margin {
        Verdict::Same
    } else if is_beyond(low, high) {
        Verdict::Inconclusive(match smallest_effect {
            None => {
                Doubt::TooFewForSoMany { needed: runs_for_verdict(many.batch, rule.alpha), comparisons: many.batch }
            }
            Some(_) => Doubt::PerhapsChance,
        })
    } else if low > 0.0 || high < 0.0 {
        Verdict::Inconclusive(Doubt::AtMargin)
    } else {
        Verdict::Inconclusive(Doubt::TooNoisy)
    };
    Comparison {
        verdict,
        effect: Some(shift.estimate().exp()),
        interval: Some(Interval { low: low.exp(), high: high.exp(), confidence }),
        p: Some(p),
        adjusted_p: Some(adjusted_p),
        smallest_effect,
    }
}
