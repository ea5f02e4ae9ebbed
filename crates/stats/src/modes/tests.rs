use std::collections::BTreeMap;

use charz_data::histogram::{BITS, bin, bin_end};
use proptest::prelude::*;

use super::*;
use crate::simulate::normal;

/// A thing to draw times from.
#[derive(Clone, Copy, Debug)]
enum Law {
    /// Around this time, with this standard deviation of the natural logarithm.
    Around(f64, f64),
    /// Between these times, each as likely.
    Even(f64, f64),
    /// From this time on, ever rarer, with this exponent (Pareto).
    Tail(f64, f64),
}

fn draw(law: Law, random: &mut fastrand::Rng) -> f64 {
    match law {
        Law::Around(time, deviation) => time * (deviation * normal(random)).exp(),
        Law::Even(low, high) => low + (high - low) * random.f64(),
        Law::Tail(least, exponent) => least * (1.0 - random.f64()).powf(-1.0 / exponent),
    }
}

/// So many times of each law, in columns as reports have them, of a clock with this step.
fn histogram(parts: &[(usize, Law)], step: u64, seed: u64) -> Vec<Bin> {
    let mut random = fastrand::Rng::with_seed(seed);
    let laws = parts.iter().flat_map(|(count, law)| std::iter::repeat_n(*law, *count));
    columns(laws.map(|law| (draw(law, &mut random) as u64 / step * step, 1)))
}

/// Times with their counts in such columns.
fn columns(times: impl IntoIterator<Item = (u64, u64)>) -> Vec<Bin> {
    let mut columns = BTreeMap::<u64, u64>::new();
    for (time, count) in times {
        *columns.entry(bin(time, BITS)).or_default() += count;
    }
    let column = |(low, count)| Bin { low: low as f64, high: bin_end(low, BITS) as f64, count };
    columns.into_iter().map(column).collect()
}

/// Checks how many bands there are, that each of `expected`, a time and a share, is in one of them in this order, and that the
/// share is about that.
#[track_caller]
fn check(parts: &[(usize, Law)], step: u64, expected: &[(f64, f64)]) {
    for seed in 0..8 {
        let found = bands(&histogram(parts, step, seed), step as f64);
        assert_eq!(found.len(), expected.len(), "{parts:?}, seed {seed}: {found:?}");
        for (band, (time, share)) in found.iter().zip(expected) {
            assert!(band.low <= *time && *time <= band.high, "{parts:?}, seed {seed}: {time} in {band:?}");
            assert!((band.share - share).abs() < 0.05, "{parts:?}, seed {seed}: {share} in {band:?}");
        }
    }
}

#[test]
fn one_mode_is_one_band() {
    check(&[(10_000, Law::Around(5000.0, 0.1))], 1, &[(5000.0, 0.97)]);
    check(&[(10_000, Law::Around(5000.0, 0.5))], 1, &[(5000.0, 0.97)]);
    check(&[(1000, Law::Around(300.0, 0.01))], 1, &[(300.0, 1.0)]);
    check(&[(300, Law::Around(1e9, 0.2))], 1, &[(1e9, 0.97)]);
}

#[test]
fn several_modes_are_several_bands() {
    let (near, far) = (Law::Around(2000.0, 0.08), Law::Around(5000.0, 0.08));
    check(&[(7000, near), (3000, far)], 1, &[(2000.0, 0.7), (5000.0, 0.3)]);
    check(&[(9500, near), (500, far)], 1, &[(2000.0, 0.95), (5000.0, 0.05)]);
    // The modes of a signal in the T3-4 report, in cycles.
    let signal = [(18_000, Law::Even(42e3, 62e3)), (25_000, Law::Even(84e3, 92e3)), (49_000, Law::Even(112e3, 124e3))];
    check(&signal, 1, &[(118e3, 0.53), (88e3, 0.27), (52e3, 0.2)]);
}

#[test]
fn what_is_too_rare_or_too_near_is_no_mode() {
    let near = (10_000, Law::Around(2000.0, 0.1));
    check(&[near, (50, Law::Around(50_000.0, 0.1))], 1, &[(2000.0, 0.97)]);
    check(&[near, (10_000, Law::Around(2200.0, 0.1))], 1, &[(2100.0, 0.97)]);
}

#[test]
fn what_has_no_modes_gets_none_invented() {
    check(&[(10_000, Law::Even(1000.0, 2000.0))], 1, &[(1500.0, 1.0)]);
    check(&[(300, Law::Even(1000.0, 2000.0))], 1, &[(1500.0, 1.0)]);
    check(&[(10_000, Law::Tail(1000.0, 2.0))], 1, &[(1050.0, 0.92)]);
    check(&[(10_000, Law::Tail(1000.0, 1.0))], 1, &[(1050.0, 0.9)]);
}

#[test]
fn steps_of_the_clock_are_no_modes() {
    check(&[(10_000, Law::Around(25.0, 0.3))], 10, &[(20.0, 1.0)]);
    check(&[(10_000, Law::Around(100.0, 0.2))], 40, &[(80.0, 1.0)]);
    check(&[(10_000, Law::Around(6.0, 0.2))], 1, &[(6.0, 0.97)]);
}

/// Of a clock with coarse steps the kernel is wide, and the band is not.
#[test]
fn stray_times_do_not_widen_a_band() {
    let columns = [(20.0, 3), (30.0, 700), (40.0, 290), (60.0, 2), (90.0, 2)];
    let found = bands(&columns.map(|(low, count)| Bin { low, high: low + 1.0, count }), 10.0);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].low, found[0].high), (30.0, 41.0));
}

#[test]
fn a_single_time_is_a_band_of_its_own() {
    let bins = [Bin { low: 100.0, high: 101.0, count: 1000 }];
    assert_eq!(bands(&bins, 1.0), [Band { low: 100.0, high: 101.0, mode: bands(&bins, 1.0)[0].mode, share: 1.0 }]);
}

#[test]
fn a_handful_of_times_gathers_nowhere() {
    assert_eq!(bands(&[], 1.0), []);
    assert_eq!(bands(&histogram(&[(20, Law::Around(5000.0, 0.1))], 1, 0), 1.0), []);
}

proptest! {
    #[test]
    fn bands_are_apart_and_hold_what_they_say(
        times in prop::collection::btree_map(0_u64..1 << 40, 1_u64..100_000, 0..60),
        step in 0_u64..1000,
    ) {
        let bins = columns(times);
        let all: u64 = bins.iter().map(|bin| bin.count).sum();
        let mut found = bands(&bins, step as f64);
        prop_assert!(found.len() <= MOST_BANDS);
        prop_assert!(found.windows(2).all(|pair| pair[0].share >= pair[1].share));
        for band in &found {
            let inside = bins.iter().filter(|bin| band.low <= bin.low && bin.high <= band.high);
            let share = inside.map(|bin| bin.count).sum::<u64>() as f64 / all as f64;
            prop_assert!((share - band.share).abs() < 1e-9, "{share} {band:?}");
            prop_assert!(band.low <= band.mode && band.mode <= band.high, "{band:?}");
        }
        found.sort_by(|one, other| one.low.total_cmp(&other.low));
        prop_assert!(found.windows(2).all(|pair| pair[0].high <= pair[1].low), "{found:?}");
        prop_assert!(found.iter().map(|band| band.share).sum::<f64>() <= 1.0 + 1e-9);
    }

    /// Times in another unit are the same times.
    #[test]
    fn bands_follow_the_scale(octaves in 0_i32..20, seed: u64) {
        let bins = histogram(&[(600, Law::Around(2000.0, 0.1)), (400, Law::Around(9000.0, 0.1))], 1, seed);
        let factor = 2_f64.powi(octaves);
        let scaled: Vec<Bin> =
            bins.iter().map(|bin| Bin { low: bin.low * factor, high: bin.high * factor, ..*bin }).collect();
        for (one, other) in bands(&bins, 1.0).into_iter().zip(bands(&scaled, factor)) {
            prop_assert_eq!((one.low * factor, one.high * factor, one.share), (other.low, other.high, other.share));
        }
    }
}
