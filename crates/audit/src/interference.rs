//! How much two strands lose to each other: r = T(a and b) / (T(a) + T(b)), with T the throughput of what runs together.
//!
//! About 1 where they share nothing that the load needs, and about a half where they share all of it. The ratio was the first
//! experiment of the SPARC T3-4 report (arXiv 1106.2992, section 3.1).

use std::collections::BTreeMap;

use super::design::{Item, Near, pack};
use super::relation::{Figure, Name, Reason, confidence};
use super::{Bench, Probe, median};

/// Up to this ratio the two share what the load is bound by, and from the other on they do not; between them nothing is decided.
/// Strands of one core of SMT-2 have 0.5 to 0.65, and the clock of two cores is rarely more than a few percent below that of one.
const SHARED: f64 = 0.80;
const APART: f64 = 0.90;
/// How many times the noise of a ratio must fit between it and the middle of these limits.
const MARGIN: f64 = 4.0;
/// No machine is assumed to be quieter.
const LEAST_NOISE: f64 = 0.005;
/// The fewest rounds of each item, and the most where they disagree.
const LEAST: usize = 2;
const MOST: usize = 8;
/// How far rounds of one item may be apart before there are more of them.
const AGREE: f64 = 0.05;

/// Rates of strands alone and in pairs, under one load.
#[derive(Clone, Debug, Default)]
pub(super) struct Interference {
    alone: BTreeMap<usize, Vec<f64>>,
    pairs: BTreeMap<(usize, usize), Vec<[f64; 2]>>,
    /// How far numbers of a strand in the same company typically differ, as a fraction.
    noise: f64,
}

/// What the rates of a pair show.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Judgement {
    /// Whether they share; `None` where that is not decided, for this reason.
    pub(super) shared: Result<bool, Reason>,
    pub(super) ratio: Option<f64>,
    pub(super) rounds: usize,
    pub(super) confidence: Option<f64>,
}

impl Judgement {
    pub(super) fn is(&self, shared: bool) -> bool {
        self.shared == Ok(shared)
    }

    pub(super) fn figure(&self, probe: Probe) -> Option<Figure> {
        Some(Figure { name: Name::Ratio(probe), value: self.ratio?, unit: "ratio" })
    }
}

impl Interference {
    /// Runs pairs, and each of their strands alone, in rounds in which no two items are near each other; those that disagree are run
    /// again.
    pub(super) fn measure(bench: &mut Bench<'_>, probe: Probe, pairs: &[(usize, usize)], near: &Near) -> Self {
        let mut seen = Interference::default();
        for (a, b) in pairs {
            seen.pairs.entry((*a, *b)).or_default();
            seen.alone.entry(*a).or_default();
            seen.alone.entry(*b).or_default();
        }
        for _ in 0..MOST {
            let mut items = seen.wanted();
            if items.is_empty() || bench.over {
                break;
            }
            bench.random.shuffle(&mut items);
            for round in pack(&items, near) {
                seen.run(bench, probe, &round);
            }
        }
        seen.settled()
    }

    fn settled(mut self) -> Self {
        self.noise = median(self.alone.values().filter_map(|rates| deviation(rates))).unwrap_or(0.0).max(LEAST_NOISE);
        self
    }

    /// What still has to be run: everything twice, and again what disagrees.
    fn wanted(&self) -> Vec<Item> {
        let open = |values: &[f64]| values.len() < LEAST || (values.len() < MOST && relative_range(values) > AGREE);
        let alone = self.alone.iter().filter(|(_, rates)| open(rates)).map(|(strand, _)| Item::Alone(*strand));
        let pairs = self.pairs.keys().filter(|pair| {
            let ratios = self.ratios(**pair);
            // Without a number of its strands alone a pair has no ratio.
            open(&ratios) && (self.pairs[pair].len() < LEAST || !ratios.is_empty())
        });
        alone.chain(pairs.map(|(a, b)| Item::Pair(*a, *b))).collect()
    }

    fn run(&mut self, bench: &mut Bench<'_>, probe: Probe, round: &[Item]) {
        let strands: Vec<usize> = round.iter().flat_map(|item| item.strands()).collect();
        let mut rates = bench.measure(probe, &strands).into_iter();
        for item in round {
            let of_item: Vec<Option<f64>> = rates.by_ref().take(item.strands().count()).collect();
            match (*item, &of_item[..]) {
                (Item::Alone(strand), [Some(rate)]) => self.alone.entry(strand).or_default().push(*rate),
                (Item::Pair(a, b), [Some(one), Some(other)]) => {
                    self.pairs.entry((a, b)).or_default().push([*one, *other]);
                }
                _ => {}
            }
        }
    }

    /// The rate of a strand alone; `None` where it is not known.
    pub(super) fn alone(&self, strand: usize) -> Option<f64> {
        median(self.alone.get(&strand)?.iter().copied())
    }

    pub(super) fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.pairs.keys().copied()
    }

    /// Adds the rates of strands that run at once, none of which shares a core with another.
    pub(super) fn add_alone(&mut self, bench: &mut Bench<'_>, probe: Probe, strands: &[usize]) {
        let round: Vec<Item> = strands.iter().map(|strand| Item::Alone(*strand)).collect();
        for _ in 0..LEAST * usize::from(!round.is_empty()) {
            self.run(bench, probe, &round);
        }
    }

    pub(super) fn rates(&self) -> impl Iterator<Item = (usize, &[f64])> {
        self.alone.iter().map(|(strand, rates)| (*strand, &rates[..]))
    }

    fn ratios(&self, (a, b): (usize, usize)) -> Vec<f64> {
        let (Some(one), Some(other)) = (self.alone(a), self.alone(b)) else { return Vec::new() };
        let rates = self.pairs.get(&(a, b)).into_iter().flatten();
        rates.map(|[of_a, of_b]| (of_a + of_b) / (one + other)).collect()
    }

    /// How far numbers of a strand in the same company differ, as a fraction: of these two, or of all strands, if that is more.
    fn noise(&self, (a, b): (usize, usize)) -> f64 {
        let own = [a, b].into_iter().filter_map(|strand| deviation(self.alone.get(&strand)?));
        own.fold(self.noise, f64::max)
    }

    pub(super) fn judge(&self, pair: (usize, usize)) -> Judgement {
        let ratios = self.ratios(pair);
        let ratio = median(ratios.iter().copied());
        let noise = self.noise(pair) / (ratios.len().max(1) as f64).sqrt();
        let middle = f64::midpoint(SHARED, APART);
        let within = |low: f64, high: f64| ratios.iter().filter(|ratio| (low..=high).contains(*ratio)).count();
        let drowned = |ratio: f64| MARGIN * noise > (ratio - middle).abs();
        let shared = match ratio {
            None => Err(Reason::NotMeasured),
            Some(_) if ratios.len() < LEAST => Err(Reason::MeasuredOnce),
            Some(ratio) if ratio <= SHARED && !drowned(ratio) && 4 * within(0.0, SHARED) >= 3 * ratios.len() => {
                Ok(true)
            }
            // What disturbs a round makes its ratio smaller: a large one needs no more than a majority.
            Some(ratio)
                if ratio >= APART && !drowned(ratio) && 5 * within(APART, f64::INFINITY) >= 3 * ratios.len() =>
            {
                Ok(false)
            }
            Some(_) if relative_range(&ratios) > AGREE => Err(Reason::RoundsDisagree),
            Some(ratio) if (SHARED..APART).contains(&ratio) => Err(Reason::Between(ratio)),
            Some(_) => Err(Reason::Noisy(self.noise(pair))),
        };
        let confidence =
            shared.is_ok().then_some(ratio).flatten().map(|ratio| confidence((ratio - middle).abs(), noise));
        Judgement { shared, ratio, rounds: ratios.len(), confidence }
    }
}

/// The difference between the largest and the smallest as a fraction of the middle one.
fn relative_range(values: &[f64]) -> f64 {
    let (low, high) = values.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), v| (low.min(*v), high.max(*v)));
    median(values.iter().copied()).map_or(0.0, |middle| (high - low) / middle)
}

/// The median absolute deviation as a fraction, scaled to a standard deviation; of two numbers their distance over √2. `None` of fewer.
fn deviation(values: &[f64]) -> Option<f64> {
    let middle = median(values.iter().copied())?;
    match values {
        [_] => None,
        [one, other] => Some((one - other).abs() / middle / std::f64::consts::SQRT_2),
        _ => Some(1.4826 * median(values.iter().map(|value| (value / middle - 1.0).abs()))?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(alone: &[f64], together: &[f64], expected: Result<bool, fn(&Reason) -> bool>) {
        let mut seen = Interference::default();
        seen.alone.extend([(0, alone.to_vec()), (1, alone.to_vec())]);
        seen.pairs.insert((0, 1), together.iter().map(|rate| [*rate, *rate]).collect());
        let judged = seen.settled().judge((0, 1));
        match expected {
            Ok(shared) => assert_eq!(judged.shared, Ok(shared)),
            Err(is_it) => assert!(judged.shared.as_ref().is_err_and(is_it), "{judged:?}"),
        }
        assert_eq!(judged.confidence.is_some(), judged.shared.is_ok());
    }

    #[test]
    fn a_ratio_decides_beyond_its_limits_only() {
        check(&[1.0, 1.0], &[0.5, 0.52], Ok(true));
        check(&[1.0, 1.01], &[0.99, 1.0], Ok(false));
        check(&[1.0, 1.0], &[0.85, 0.85], Err(|why| matches!(why, Reason::Between(_))));
        check(&[1.0, 1.0], &[0.99], Err(|why| *why == Reason::MeasuredOnce));
        check(&[1.0, 1.0], &[], Err(|why| *why == Reason::NotMeasured));
    }

    #[test]
    fn disturbance_decides_nothing_unless_it_is_rare() {
        check(&[1.0, 1.0], &[0.99, 0.6], Err(|why| *why == Reason::RoundsDisagree));
        check(&[1.0, 1.0], &[0.99, 0.6, 1.0, 1.0, 1.0], Ok(false));
        check(&[1.0, 0.8], &[0.75, 0.75], Err(|why| matches!(why, Reason::Noisy(_))));
    }
}
