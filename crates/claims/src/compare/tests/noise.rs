//! How often two reports of one thing differ, by the noise that their runs met: `cargo test --release -p charz-claims --lib noise -- --ignored
//! --nocapture` prints the table of docs/methodology/noise.md.

use fastrand::Rng;

use super::*;

/// What values around 1 do in the time of a sweep, which is 1; the new sweep begins where the base ends.
#[derive(Clone, Copy, Debug)]
enum Noise {
    /// Independent, with this standard deviation.
    Normal(f64),
    /// The same of logarithms.
    Lognormal(f64),
    /// This share of the runs is so much slower, with 1% of noise.
    Slower(f64, f64),
    /// Autocorrelated with this standard deviation, by a factor of e in such a time.
    Lasting(f64, f64),
    /// It rises by so much a sweep, with this noise.
    Drift(f64, f64),
    /// Two states 23% apart, each of which ends by chance after this time in the mean, with 1% of noise.
    States(f64),
}

use Noise::{Drift, Lasting, Lognormal, Normal, Slower, States};

/// The rows, and the largest share of false verdicts of each.
const ROWS: [(&str, Noise, f64); 19] = [
    ("normal, 1%", Normal(0.01), FALSE),
    ("normal, 3%", Normal(0.03), FALSE),
    ("lognormal, 3%", Lognormal(0.03), FALSE),
    ("lognormal, 10%", Lognormal(0.1), FALSE),
    ("30% of runs 5% slower", Slower(0.3, 0.05), FALSE),
    ("45% of runs 20% slower", Slower(0.45, 0.2), FALSE),
    ("8% of runs at half", Slower(0.08, 0.5), FALSE),
    ("lasting a tenth of a sweep, 2%", Lasting(0.02, 0.1), FALSE),
    ("lasting a third, 2%", Lasting(0.02, 0.3), FALSE),
    ("lasting a sweep, 2%", Lasting(0.02, 1.0), FALSE),
    ("lasting three, 2%", Lasting(0.02, 3.0), FALSE),
    ("lasting ten, 2%", Lasting(0.02, 10.0), FALSE),
    ("lasting a sweep, 5%", Lasting(0.05, 1.0), FALSE),
    ("drift of 2% a sweep, 0.3% of noise", Drift(0.02, 0.003), FALSE),
    ("drift of 2% a sweep, 1%", Drift(0.02, 0.01), FALSE),
    ("drift of 5% a sweep, 0.3%", Drift(0.05, 0.003), FALSE),
    ("drift of 5% a sweep, 1%", Drift(0.05, 0.01), FALSE),
    // One state from beginning to end of the base and the other one in the new report is a change by all that they have.
    ("two states of a sweep", States(1.0), UNSEEN),
    ("two states of a tenth", States(0.1), FALSE),
];

/// What [`ALPHA`] promises.
const FALSE: f64 = ALPHA;
/// How often two states of a sweep change between six runs and six others only: e^(−10/6) (1 − e^(−2/6)) / 2 + what six runs show by chance.
const UNSEEN: f64 = 0.03;

const RUNS: [usize; 3] = [6, 10, 20];
const PLANTED: [f64; 2] = [1.05, 1.1];

fn normal(random: &mut Rng) -> f64 {
    let radius = (-2.0 * (1.0 - random.f64()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.f64()).cos()
}

impl Noise {
    /// The runs of two sweeps of so many runs each.
    fn draw(self, count: usize, random: &mut Rng) -> [Vec<f64>; 2] {
        let step = (count as f64).recip();
        let (mut level, mut is_slow) = (normal(random), random.bool());
        let value = |at: usize| match self {
            Normal(deviation) => 1.0 + deviation * normal(random),
            Lognormal(deviation) => (deviation * normal(random)).exp(),
            Slower(share, by) => {
                let usual = if random.f64() < share { 1.0 - by } else { 1.0 };
                usual * (1.0 + 0.01 * normal(random))
            }
            Lasting(deviation, time) => {
                let kept = (-step / time).exp();
                level = level * kept + (1.0 - kept * kept).sqrt() * normal(random);
                1.0 + deviation * level
            }
            Drift(slope, deviation) => (1.0 + slope * step * at as f64) * (1.0 + deviation * normal(random)),
            States(time) => {
                // An odd number of ends in a step.
                is_slow ^= random.f64() < (1.0 - (-2.0 * step / time).exp()) / 2.0;
                (if is_slow { 0.77 } else { 1.0 }) * (1.0 + 0.01 * normal(random))
            }
        };
        let mut base: Vec<f64> = (0..2 * count).map(value).collect();
        let new = base.split_off(count);
        [base, new]
    }
}

/// What becomes of so many pairs.
#[derive(Default)]
struct Counts {
    pairs: usize,
    faster: usize,
    slower: usize,
    same: usize,
    /// Of [`PLANTED`], how often it is found.
    found: [usize; 2],
}

impl Counts {
    fn of(noise: Noise, runs: usize, pairs: usize) -> Self {
        let mut random = Rng::with_seed(7);
        let mut counts = Counts { pairs, ..Counts::default() };
        let verdict = |base: &[f64], new: &[f64]| {
            let [base, new] = [base, new].map(|values| report(&[("a", values)]));
            compare([&base, &new], &Options::default()).map_or(Verdict::Uncompared, |found| found.rows[0].verdict)
        };
        for _ in 0..pairs {
            let [base, new] = noise.draw(runs, &mut random);
            match verdict(&base, &new) {
                Verdict::Faster => counts.faster += 1,
                Verdict::Slower => counts.slower += 1,
                Verdict::Same => counts.same += 1,
                Verdict::Inconclusive | Verdict::Uncompared => {}
            }
            for (planted, found) in PLANTED.iter().zip(&mut counts.found) {
                let new: Vec<f64> = new.iter().map(|value| value * planted).collect();
                *found += usize::from(verdict(&base, &new) == Verdict::Faster);
            }
        }
        counts
    }

    fn is_rare(&self, most: f64) -> bool {
        let most = most * self.pairs as f64;
        (self.faster + self.slower) as f64 <= most + 3.0 * most.sqrt()
    }
}

/// How often an effect is found at least: the row, the runs, and of each planted one the share.
const POWER: [(&str, usize, [f64; 2]); 3] =
    [("normal, 1%", 10, [0.6, 0.95]), ("8% of runs at half", 10, [0.6, 0.95]), ("normal, 3%", 20, [0.0, 0.9])];

#[expect(clippy::print_stdout, reason = "the table is what it is run for")]
fn check(pairs: usize, rows: impl Fn(&str) -> bool) {
    let mut wrong = Vec::new();
    for (name, noise, most) in ROWS.into_iter().filter(|row| rows(row.0)) {
        let mut line = format!("| {name} |");
        for runs in RUNS {
            let counts = Counts::of(noise, runs, pairs);
            let Counts { faster, slower, same, found, .. } = counts;
            line += &format!(" F{faster} S{slower} ={same}, {}, {} |", found[0], found[1]);
            if !counts.is_rare(most) {
                wrong.push(format!("{name}, {runs} runs: {faster} faster and {slower} slower of {pairs}"));
            }
            for (_, _, least) in POWER.into_iter().filter(|power| (power.0, power.1) == (name, runs)) {
                let is_found = |(found, least): (&usize, f64)| {
                    let least = least * pairs as f64;
                    *found as f64 >= least - 3.0 * (least * (1.0 - least / pairs as f64)).sqrt()
                };
                if !found.iter().zip(least).all(is_found) {
                    wrong.push(format!("{name}, {runs} runs: found {found:?} of {pairs}"));
                }
            }
        }
        println!("{line}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Those rows by which two sweeps differ most easily, and those that have to be found.
#[test]
fn slow_noise_is_no_difference_and_a_difference_is_found() {
    let of = ["lasting a sweep", "drift of 5%", "two states of a sweep", "normal", "8% of runs"];
    check(150, |name| of.iter().any(|own| name.starts_with(own)));
}

#[test]
#[ignore = "minutes: cargo test --release -p charz-claims --lib noise -- --ignored --nocapture"]
fn the_table_of_noise() {
    check(2000, |_| true);
}
