//! What an undisturbed block of work takes, from the times of many blocks of which some were disturbed.
//!
//! What disturbs a block only ever lengthens it, by an amount of its own: what the hardware itself takes shows as a sharp mode at the
//! fast end, however few of the blocks are in it. The noise benchmarks FTQ and FWQ (M. Sottile and R. Minnich, "Analysis of
//! Microbenchmarks for Performance Tuning of Clusters", CLUSTER 2004) use such blocks to show what an operating system takes; J. Chen
//! and J. Revels ("Robust benchmarking in noisy environments", arXiv:1608.04295) argue for the minimum. The minimum of some thousand
//! blocks is an error of the clock, or a moment of turbo: a mode is what several have in common.
//!
//! A mode is a window of 0.4% of the time that holds more than its neighbours do. It is sharp where it holds a fifth of the blocks, or
//! three times as many as the windows up to 2% beyond it hold on average, and those up to 10%. So a plateau at a physical limit counts where only one block
//! in twenty reaches it, and the flank of a broad distribution does not.

/// The width of a mode, as a fraction of the time: the step of the clock and the cost of reading it are half of that in 20 µs.
const WIDTH: f64 = 0.004;
/// The least share of all blocks that makes a mode.
const LEAST_SHARE: f64 = 0.04;
/// And the fewest times: three may be together by chance.
const LEAST_TIMES: usize = 4;
/// A mode with this share of all is sharp.
const LARGE_SHARE: f64 = 0.2;
/// So is one that is this many times as dense as what follows.
const DENSITY: f64 = 3.0;
/// How much more time that is: next to it, where a broad distribution may have a gap by chance, and further on.
const NEAR: [f64; 2] = [0.02, 0.1];
/// Beyond so much more time another mode is another speed.
const APART: f64 = 0.02;
/// The share of the blocks that are called the fastest.
const FASTEST: f64 = 0.05;

/// The fast end of a set of times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FastMode {
    /// The middle of the fastest mode if it is sharp, else the median of all.
    pub value: f64,
    /// The share of the blocks in that mode, as a fraction; 0 where it is not sharp.
    pub share: f64,
    /// A twentieth of the blocks take no longer.
    pub fastest: f64,
    /// The time and the share of the largest mode that takes at least 2% longer; of none both are 0.
    pub slower: (f64, f64),
}

impl FastMode {
    /// Whether [`FastMode::value`] is a mode, and not the median of all.
    pub fn is_sharp(&self) -> bool {
        self.share > 0.0
    }

    /// Finds it in positive times, each with the number of blocks that it stands for; `None` without a time.
    pub fn of(mut times: Vec<(f64, f64)>) -> Option<Self> {
        times.sort_by(|one, other| one.0.total_cmp(&other.0));
        let blocks = Blocks::new(&times);
        let (&(first, _), &(last, _)) = (times.first()?, times.last()?);
        let widths: Vec<f64> = (0..times.len()).map(|at| blocks.window(at)).collect();
        let large = |at: &usize| widths[*at] >= LEAST_SHARE && blocks.ends[*at] - at >= LEAST_TIMES;
        let summit = (0..times.len()).find(large).map(|mut at| {
            // From the flank upwards.
            while let Some(higher) = highest(&widths, at..blocks.ends[at]).filter(|higher| widths[*higher] > widths[at])
            {
                at = higher;
            }
            at
        });
        let after = |at: usize| NEAR.into_iter().map(|reach| blocks.density_after(at, reach)).fold(0.0, f64::max);
        let sharp = summit.filter(|at| widths[*at] >= LARGE_SHARE.min(DENSITY * after(*at)));
        let value = sharp.map_or(blocks.quantile(0.5), |at| blocks.quantile_within(at..blocks.ends[at], 0.5));
        let beyond = times.partition_point(|(time, _)| *time <= value * (1.0 + APART));
        let slower = highest(&widths, beyond..times.len());
        debug_assert!(first <= value && value <= last);
        Some(FastMode {
            value,
            share: sharp.map_or(0.0, |at| widths[at]),
            fastest: blocks.quantile(FASTEST),
            slower: slower.map_or((0.0, 0.0), |at| (times[at].0, widths[at])),
        })
    }
}

/// The place of the largest of these, the first of equals.
fn highest(widths: &[f64], mut range: std::ops::Range<usize>) -> Option<usize> {
    let first = range.next()?;
    Some(range.fold(first, |best, at| if widths[at] > widths[best] { at } else { best }))
}

/// Times in order.
struct Blocks<'a> {
    times: &'a [(f64, f64)],
    /// How many blocks are before each time; at the end, all.
    before: Vec<f64>,
    /// Where the window that begins at each time ends.
    ends: Vec<usize>,
}

impl<'a> Blocks<'a> {
    fn new(times: &'a [(f64, f64)]) -> Self {
        let mut sum = 0.0;
        let add = |(_, weight): &(f64, f64)| {
            sum += weight;
            sum
        };
        let before = std::iter::once(0.0).chain(times.iter().map(add)).collect();
        let mut end = 0;
        let window = |(first, _): &(f64, f64)| {
            // It ends no earlier than the one before.
            end += times[end..].iter().take_while(|(time, _)| *time <= first * (1.0 + WIDTH)).count();
            end
        };
        let ends = times.iter().map(window).collect();
        Blocks { times, before, ends }
    }

    /// The share of all blocks in that window.
    fn window(&self, at: usize) -> f64 {
        (self.before[self.ends[at]] - self.before[at]) / self.before[self.times.len()]
    }

    /// The share of all blocks in a window on average, from the end of that window to so much more time.
    fn density_after(&self, at: usize, reach: f64) -> f64 {
        let limit = self.times[at].0 * (1.0 + reach);
        let until = self.times.partition_point(|(time, _)| *time <= limit);
        (self.before[until] - self.before[self.ends[at]]) / self.before[self.times.len()] * WIDTH / (reach - WIDTH)
    }

    fn quantile(&self, share: f64) -> f64 {
        self.quantile_within(0..self.times.len(), share)
    }

    fn quantile_within(&self, range: std::ops::Range<usize>, share: f64) -> f64 {
        let (low, high) = (self.before[range.start], self.before[range.end]);
        let wanted = low + share * (high - low);
        let at = self.before.partition_point(|sum| *sum < wanted);
        self.times[at.saturating_sub(1).clamp(range.start, range.end - 1)].0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::median_interval;
    use crate::simulate::{normal, sample};

    /// The fast mode of blocks of which so many shares take 1 and a disturbance, which `disturb` draws.
    fn mode(count: usize, seed: u64, disturb: impl Fn(&mut fastrand::Rng) -> f64) -> FastMode {
        let mut random = fastrand::Rng::with_seed(seed);
        // Reading the clock: 0.1%.
        let times = (0..count).map(|_| (1.0 + 0.001 * random.f64() + disturb(&mut random), 1.0));
        FastMode::of(times.collect()).unwrap()
    }

    /// A hog takes the strand for whole blocks; a neighbour on the core slows all but a few down, each by its own amount.
    #[test]
    fn what_the_hardware_takes_is_found_below_any_disturbance() {
        let mut random = fastrand::Rng::with_seed(36);
        for _ in 0..300 {
            let (undisturbed, most) = (0.15 + 0.85 * random.f64(), 0.2 + 9.8 * random.f64());
            let slowed = |random: &mut fastrand::Rng| most * (0.02 + random.f64());
            let disturb = |random: &mut fastrand::Rng| if random.f64() < undisturbed { 0.0 } else { slowed(random) };
            let found = mode(260, random.u64(..), disturb);
            assert!((found.value - 1.0).abs() < 0.01, "{undisturbed} {most} {found:?}");
            assert!(found.is_sharp() && found.share > undisturbed / 2.0, "{undisturbed} {found:?}");
        }
    }

    /// Bandwidth of a memory that others use too: nothing of the hardware shows, but by chance, once in a hundred times.
    #[test]
    fn a_broad_distribution_has_its_median() {
        let mut random = fastrand::Rng::with_seed(7);
        let mut drawn = || mode(400, random.u64(..), |random| 0.3 * (random.f64() + random.f64()));
        let is_seen = |found: &FastMode| (found.value - 1.3).abs() < 0.1 && found.value / found.fastest > 1.05;
        let seen = (0..1000).map(|_| drawn()).filter(is_seen).count();
        assert!(seen >= 990, "{seen} of 1000");
    }

    proptest! {
        #[test]
        fn windows_end_where_their_times_do(mut times in prop::collection::vec(0.0..1.02_f64, 1..60)) {
            times.sort_by(f64::total_cmp);
            let times: Vec<(f64, f64)> = times.iter().map(|time| ((time * 1000.0).round(), 1.0)).collect();
            let ends = Blocks::new(&times).ends;
            for (at, end) in ends.into_iter().enumerate() {
                let within = |(time, _): &(f64, f64)| *time <= times[at].0 * (1.0 + WIDTH);
                prop_assert!(times[at..end].iter().all(within) && !times[end..].iter().any(within));
            }
        }

        #[test]
        fn any_times_have_one_within(times in prop::collection::vec((1e-3..1e3_f64, 0.1..9.0_f64), 1..99)) {
            let found = FastMode::of(times.clone()).unwrap();
            let range = |value: f64| times.iter().any(|(time, _)| *time == value);
            prop_assert!(range(found.value) && range(found.fastest) && (0.0..=1.0).contains(&found.share));
        }
    }

    #[test]
    fn two_speeds_are_seen_with_their_shares() {
        let found = mode(400, 1, |random| if random.f64() < 0.2 { 0.0 } else { 0.05 });
        assert!((found.value - 1.0).abs() < 0.002 && (found.share - 0.2).abs() < 0.08, "{found:?}");
        assert!((found.slower.0 - 1.05).abs() < 0.002 && (found.slower.1 - 0.8).abs() < 0.08, "{found:?}");
    }

    #[test]
    fn nothing_has_no_mode() {
        assert_eq!(FastMode::of(vec![]), None);
        let one = FastMode::of(vec![(2.0, 5.0)]).unwrap();
        assert_eq!((one.value, one.share, one.fastest, one.slower), (2.0, 0.0, 2.0, (0.0, 0.0)));
    }

    /// The share of cells whose interval holds the capacity, if the layout of each process moves it by 0.3 to 3%, and up to 70% of the
    /// blocks are disturbed.
    fn coverage(invocations: std::ops::Range<usize>, random: &mut fastrand::Rng) -> f64 {
        const CELLS: usize = 1000;
        let holds = |_: &usize| {
            let (deviation, disturbed) = (0.003 * 10_f64.powf(random.f64()), 0.7 * random.f64());
            let values = (0..random.usize(invocations.clone())).map(|_| {
                let level = (deviation * normal(random)).exp();
                let times = (0..40).map(|_| {
                    let reading = 0.001 * (random.f64() - 0.5);
                    let taken = if random.f64() < disturbed { 0.02 + random.f64() } else { 0.0 };
                    (level * (1.0 + reading + taken), 1.0)
                });
                FastMode::of(times.collect()).unwrap().value
            });
            let interval = median_interval(&sample(&values.collect::<Vec<_>>()), 0.95).unwrap();
            interval.low <= 1.0 && 1.0 <= interval.high
        };
        (0..CELLS).filter(holds).count() as f64 / CELLS as f64
    }

    #[test]
    fn intervals_hold_the_capacity_as_often_as_they_say() {
        let mut random = fastrand::Rng::with_seed(95);
        let interpolated = coverage(10..31, &mut random);
        assert!((0.93..=0.97).contains(&interpolated), "{interpolated}");
        // No pair of so few values holds it with 95% sharp.
        let few = coverage(6..10, &mut random);
        assert!(few > 0.96, "{few}");
    }
}
