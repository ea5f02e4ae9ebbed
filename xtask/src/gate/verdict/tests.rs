use super::*;

/// Numbers that look random and are the same each time: the generator "splitmix64" of Steele, Lea and Flood, "Fast
/// Splittable Pseudorandom Number Generators", OOPSLA 2014.
struct Random(u64);

impl Random {
    /// Even between 0 and 1.
    fn even(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) as f64 / u64::MAX as f64
    }

    /// A round's ratio around `centre`, with a spread of about `spread`, and in one round of ten a neighbour that slows
    /// one side by up to half.
    fn ratio(&mut self, centre: f64, spread: f64) -> f64 {
        let noise: f64 = (0..12).map(|_| self.even()).sum::<f64>() - 6.0;
        let spoilt = if self.even() < 0.1 { self.even() - 0.5 } else { 0.0 };
        (centre.ln() + noise * spread + spoilt).exp()
    }
}

const BENCHES: usize = 20;
const ROUNDS: usize = 16;

/// How many of `runs` whole runs, each over [`BENCHES`] benches, have a verdict that `wanted` accepts.
fn runs_with(runs: u64, centre: f64, spread: f64, wanted: impl Fn(&[Row]) -> bool) -> u64 {
    let run = |seed: u64| {
        let mut random = Random(seed << 32);
        let mut ratios = || (0..ROUNDS).map(|_| random.ratio(centre, spread)).collect::<Vec<f64>>();
        of_ratios((0..BENCHES).map(|bench| (bench.to_string(), ratios())).collect())
    };
    (0..runs).filter(|seed| wanted(&run(*seed))).count() as u64
}

fn red(rows: &[Row]) -> bool {
    rows.iter().any(|row| row.verdict == Verdict::Slower)
}

#[test]
fn unchanged_code_is_green() {
    for spread in [0.01, 0.05] {
        assert_eq!(runs_with(100, 1.0, spread, red), 0, "spread {spread}");
    }
    // Where the threshold no longer helps, the test alone keeps its promise: 0.2 %, here with room for chance.
    assert!(runs_with(250, 1.0, 0.2, red) <= 1);
}

#[test]
fn a_slowdown_of_a_fifth_is_red() {
    assert_eq!(runs_with(100, 1.2, 0.01, red), 100);
    assert_eq!(runs_with(100, 1.2, 0.05, red), 100);
}

#[test]
fn noise_is_called_noise() {
    // Most benches of a run; a few are always luckier or unluckier than the rest.
    let most =
        |verdict: Verdict| move |rows: &[Row]| rows.iter().filter(|row| row.verdict == verdict).count() > BENCHES / 2;
    assert_eq!(runs_with(50, 1.0, 0.01, most(Verdict::Same)), 50);
    assert_eq!(runs_with(50, 1.0, 0.5, most(Verdict::Inconclusive)), 50);
}

#[test]
fn a_speedup_is_told() {
    assert_eq!(runs_with(50, 0.8, 0.02, |rows| rows.iter().any(|row| row.verdict == Verdict::Faster)), 50);
    assert_eq!(runs_with(50, 0.8, 0.02, red), 0);
}

#[test]
fn a_shift_below_the_threshold_is_green_however_sure() {
    assert_eq!(runs_with(50, 1.05, 0.001, red), 0);
}

#[test]
fn the_least_rounds_can_show_a_shift_and_fewer_cannot() {
    for benches in [1, 10, 40] {
        let verdict = |rounds: usize| {
            let rows = of_ratios((0..benches).map(|bench| (bench.to_string(), vec![1.5; rounds])).collect());
            rows[0].verdict
        };
        assert_eq!(verdict(least_rounds(benches)), Verdict::Slower, "{benches} benches");
        assert_ne!(verdict(least_rounds(benches) - 2), Verdict::Slower, "{benches} benches");
    }
}

#[test]
fn counts() {
    let verdict = |base, head| of_counts(String::new(), base, head).verdict;
    assert_eq!(verdict(1_000_000, 1_000_000), Verdict::Same);
    assert_eq!(verdict(1_000_000, 1_009_000), Verdict::Same);
    assert_eq!(verdict(1_000_000, 1_011_000), Verdict::Slower);
    assert_eq!(verdict(1_000_000, 980_000), Verdict::Faster);
    // Small benches may move by a few instructions.
    assert_eq!(verdict(10_000, 11_000), Verdict::Same);
    assert_eq!(verdict(10_000, 12_500), Verdict::Slower);
    assert_eq!(verdict(0, 0), Verdict::Same);
}
