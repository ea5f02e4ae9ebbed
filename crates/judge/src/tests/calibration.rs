//! What a status is worth: cells whose blocks are disturbed as recorded or simulated, judged and compared with the truth.
//!
//! Times are in units of what a block takes undisturbed at the highest clock, so the truth is 1 everywhere at that clock.

use std::fmt::Write as _;

use charz_data::Blocks;
use charz_stats::Sample;
use fastrand::Rng;

use super::*;
use crate::wants_more;

/// Cells of each disturbance, with one worker and two in turn.
const CELLS: usize = 5;
/// A number that is further off the truth is wrong.
const WRONG: f64 = 0.02;
const RANKS: [f64; 6] = [0.05, 0.25, 0.5, 0.75, 0.95, 0.99];

/// How disturbances leave a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leaves {
    /// Blocks that are as if nothing were there: the number is to be had.
    Blocks,
    /// Few or none: the number may be wrong, and is to be suspect then.
    Nothing,
    /// None, and what there is looks like a slower processor: no rule sees that, so it is printed only.
    NoTrace,
}

/// What is drawn once: for the cell, and for each invocation.
#[derive(Clone, Copy)]
struct Lot {
    cell: f64,
    invocation: f64,
}

/// What the blocks of a lap take.
type Times = dyn Fn(usize, Lot, &mut Rng) -> Vec<f64>;

struct Disturbance {
    name: String,
    leaves: Leaves,
    times: Box<Times>,
    /// What the canary sees of the clock in an invocation, where it is not the whole.
    clock: fn(f64) -> f64,
}

fn of(name: &str, leaves: Leaves, times: impl Fn(usize, Lot, &mut Rng) -> Vec<f64> + 'static) -> Disturbance {
    Disturbance { name: name.into(), leaves, times: Box::new(times), clock: |_| 1.0 }
}

/// Reading the clock is 0.1% of a block.
fn undisturbed(random: &mut Rng) -> f64 {
    1.0 + 0.001 * random.f64()
}

/// Blocks of 40 µs on a virtual Zen 4 of 3.694 GHz with neighbours: the rates (of the mutex the times) at [`RANKS`], and the
/// truth, which is what the core can do in a cycle.
fn recorded() -> Vec<Disturbance> {
    use Leaves::{Blocks, NoTrace, Nothing};
    let rows = [
        ("chain, CPU 0", Blocks, 3.694, [3.478, 3.686, 3.687, 3.691, 3.696, 3.697]),
        ("chain, CPU 1", Blocks, 3.694, [3.335, 3.650, 3.688, 3.693, 3.696, 3.696]),
        ("chain, hog on the same CPU", Blocks, 3.694, [3.425, 3.683, 3.695, 3.696, 3.696, 3.697]),
        ("L1, CPU 0", Blocks, 236.4, [175.3, 203.1, 224.2, 236.4, 236.5, 236.5]),
        ("L1, CPU 1", Blocks, 236.4, [162.7, 174.9, 183.4, 202.0, 236.3, 236.4]),
        ("L1, hog on the same CPU", Blocks, 236.4, [170.8, 203.7, 225.6, 236.4, 236.5, 236.5]),
        ("L2, CPU 0", Blocks, 118.3, [92.7, 101.9, 109.8, 118.1, 118.3, 118.3]),
        ("L2, CPU 1", Nothing, 118.3, [91.4, 101.2, 104.9, 109.1, 117.5, 118.3]),
        ("L2, hog on the same CPU", Blocks, 118.3, [98.0, 117.9, 118.2, 118.3, 118.3, 118.3]),
        ("L2, hog on the other CPU", NoTrace, 118.3, [87.7, 98.0, 103.6, 111.4, 111.8, 112.1]),
    ];
    let rates = rows.into_iter().map(|(name, leaves, truth, rates)| {
        of(name, leaves, move |count, _, random| ranks(count, random).map(|rank| truth / at(rates, rank)).collect())
    });
    let mutex = [
        ("mutex, CPU 0", Blocks, [5.41, 5.41, 5.95, 6.23, 7.51, 9.96]),
        ("mutex, hog on the other CPU", Nothing, [7.01, 7.47, 7.53, 7.56, 7.61, 11.5]),
    ];
    let times = mutex.into_iter().map(|(name, leaves, times)| {
        of(name, leaves, move |count, _, random| ranks(count, random).map(|rank| at(times, rank) / 5.41).collect())
    });
    rates.chain(times).collect()
}

/// What disturbs a block disturbs the next ones as much, more or less.
fn ranks(count: usize, random: &mut Rng) -> impl Iterator<Item = f64> {
    let around = in_stretches(count, random, Rng::f64, |random, rank| rank + 0.2 * (random.f64() - 0.5));
    // Beyond the ends it is reflected, so all ranks are as frequent.
    around.into_iter().map(|rank| 1.0 - (1.0 - rank.abs()).abs())
}

/// The quantile of a rank, linear between those that were recorded.
fn at(quantiles: [f64; 6], rank: f64) -> f64 {
    let next = RANKS.partition_point(|known| *known < rank);
    if next == 0 || next == RANKS.len() {
        return quantiles[next.min(RANKS.len() - 1)];
    }
    let share = (rank - RANKS[next - 1]) / (RANKS[next] - RANKS[next - 1]);
    quantiles[next - 1] + share * (quantiles[next] - quantiles[next - 1])
}

fn simulated() -> Vec<Disturbance> {
    use Leaves::{Blocks, Nothing};
    // From 1 to 20% of the blocks are interrupted for 1 to 10 ms; the next one finds other data in the caches.
    let hog = |count, lot: Lot, random: &mut Rng| interrupted(count, 0.01 + 0.19 * lot.cell, [25.0, 250.0], random);
    let forks = |count, lot: Lot, random: &mut Rng| interrupted(count, 0.1 + 0.4 * lot.cell, [0.3, 8.0], random);
    let sibling = |count, lot: Lot, random: &mut Rng| slowed(count, 0.2 + 0.7 * lot.cell, random);
    // In up to half of the invocations no block is left alone.
    let whole = |count, lot: Lot, random: &mut Rng| {
        slowed(count, if lot.invocation < 0.5 * lot.cell { 1.0 } else { 0.2 }, random)
    };
    let always = |count, _: Lot, random: &mut Rng| slowed(count, 1.0, random);
    let steps = |count, lot: Lot, random: &mut Rng| {
        let fast = 0.4 + 0.5 * lot.cell;
        let speed =
            move |random: &mut Rng| if random.f64() < fast { 1.0 } else { [1.04, 1.09, 1.15][random.usize(..3)] };
        in_stretches(count, random, speed, |random, level| level * undisturbed(random))
    };
    let clock = |count, lot: Lot, random: &mut Rng| level(count, 1.0 / speed(lot.invocation), random);
    // A standard deviation of 2%.
    let pages = |count, lot: Lot, random: &mut Rng| level(count, 0.965 + 0.07 * lot.invocation, random);
    let broad =
        |count, _: Lot, random: &mut Rng| (0..count).map(|_| 1.0 + 0.3 * (random.f64() + random.f64())).collect();
    vec![
        of("quiet", Blocks, |count, _, random| level(count, 1.0, random)),
        of("hog", Blocks, hog),
        of("fork loop", Blocks, forks),
        of("hidden sibling, in stretches", Blocks, sibling),
        of("hidden sibling, whole invocations", Blocks, whole),
        of("hidden sibling, always", Nothing, always),
        of("clock, steps within invocations", Blocks, steps),
        Disturbance { clock: speed, ..of("clock, steps between invocations", Blocks, clock) },
        of("4 KiB pages", Nothing, pages),
        of("broad, no plateau", Nothing, broad),
    ]
}

/// The clock of an invocation, as a fraction of the fastest.
fn speed(lot: f64) -> f64 {
    match lot {
        ..0.4 => 1.0,
        0.4..0.7 => 0.97,
        _ => 0.94,
    }
}

fn level(count: usize, level: f64, random: &mut Rng) -> Vec<f64> {
    (0..count).map(|_| level * undisturbed(random)).collect()
}

fn interrupted(count: usize, share: f64, [least, most]: [f64; 2], random: &mut Rng) -> Vec<f64> {
    let mut hit = false;
    let times = (0..count).map(|_| {
        let cold = if hit { 0.1 * random.f64() } else { 0.0 };
        hit = random.f64() < share;
        undisturbed(random) + cold + if hit { least + (most - least) * random.f64() } else { 0.0 }
    });
    times.collect()
}

/// Stretches in which a neighbour takes a part of the core that changes all the time.
fn slowed(count: usize, share: f64, random: &mut Rng) -> Vec<f64> {
    let level = |random: &mut Rng| if random.f64() < share { 1.02 + 0.22 * random.f64() } else { 1.0 };
    in_stretches(count, random, level, |random, level| match level {
        1.0 => undisturbed(random),
        _ => level * (1.0 + 0.02 * random.f64()),
    })
}

/// Stretches of 5 to 40 blocks, each with a level of its own.
fn in_stretches(
    count: usize,
    random: &mut Rng,
    level: impl Fn(&mut Rng) -> f64,
    block: impl Fn(&mut Rng, f64) -> f64,
) -> Vec<f64> {
    let mut times = Vec::new();
    while times.len() < count {
        let (level, length) = (level(random), 5 + random.usize(..36));
        times.extend((0..length.min(count - times.len())).map(|_| block(random, level)));
    }
    times
}

struct Outcome {
    status: Status,
    /// Of the number, where there is one.
    error: Option<f64>,
    holds: bool,
}

/// A cell that is measured as a sweep would.
fn outcome(disturbance: &Disturbance, number: usize, random: &mut Rng) -> Outcome {
    let mut trial = clean();
    (trial.facts.card, trial.cell.unit, trial.cell.precision) = (card("arith-int"), Unit::OpsPerSecond, 0.01);
    let workers = 1 + number % 2;
    trial.cell.workers = workers as u64;
    trial.cell.seats.truncate(workers);
    trial.cell.invocations.clear();
    let cell = random.f64();
    while trial.cell.invocations.len() < 6 || wants_more(&trial.cell, 6, 15) {
        let lot = Lot { cell, invocation: random.f64() };
        let mut next = invocation(trial.cell.invocations.len());
        let hz = 3e9 * (disturbance.clock)(lot.invocation);
        next.evidence.as_mut().unwrap().frequency =
            Some(Frequency { before_hz: hz, after_hz: hz, highest_hz: hz, drift: 0.0 });
        for run in &mut next.runs {
            run.laps.truncate(workers);
            for lap in &mut run.laps {
                let times = (disturbance.times)(65 + random.usize(..71), lot, random);
                (lap.ops, lap.bytes, lap.blocks) = (100_000_000, 0, Some(Blocks::of(times)));
            }
        }
        trial.cell.invocations.push(next);
        if trial.cell.invocations.len() >= 6 {
            trial.judge();
        }
    }
    // What is done in a cycle, at the clock of the invocation in the middle.
    let clocks = trial.cell.clocked_rates().iter().map(|pair| pair.1 / 3e9).collect();
    let clock = Sample::new(clocks).map_or(1.0, |clocks| clocks.median());
    let (truth, found) = (workers as f64 * 1e9 * clock, trial.cell.capacity);
    Outcome {
        status: trial.cell.status,
        error: found.map(|found| (found.value / truth - 1.0).abs()),
        holds: found.and_then(|found| found.interval).is_some_and(|it| it.low <= truth && truth <= it.high),
    }
}

/// Cells by what became of them.
#[derive(Default)]
struct Tally {
    all: usize,
    ok: usize,
    wrong_ok: usize,
    holding_ok: usize,
    suspect: usize,
    wrong_suspect: usize,
    worst_ok: f64,
}

impl Tally {
    fn add(&mut self, outcome: &Outcome) {
        let wrong = usize::from(outcome.error.is_some_and(|error| error > WRONG));
        self.all += 1;
        match outcome.status {
            Status::Ok => {
                self.ok += 1;
                self.wrong_ok += wrong;
                self.holding_ok += usize::from(outcome.holds);
                self.worst_ok = self.worst_ok.max(outcome.error.unwrap_or(0.0));
            }
            Status::Suspect => {
                self.suspect += 1;
                self.wrong_suspect += wrong;
            }
            _ => {}
        }
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "the figures of docs/methodology/blocks.md")]
fn a_status_tells_right_numbers_from_wrong_ones() {
    let mut random = Rng::with_seed(36);
    let [mut all, mut left] = [Tally::default(), Tally::default()];
    let mut table =
        "\ndisturbance: cells, ok, of these wrong, interval holds the truth, worst; suspect, of these wrong\n"
            .to_owned();
    for disturbance in recorded().into_iter().chain(simulated()) {
        let mut of_this = Tally::default();
        for number in 0..CELLS {
            let outcome = outcome(&disturbance, number, &mut random);
            of_this.add(&outcome);
            if disturbance.leaves != Leaves::NoTrace {
                all.add(&outcome);
            }
            if disturbance.leaves == Leaves::Blocks {
                left.add(&outcome);
            }
        }
        let Tally { all, ok, wrong_ok, holding_ok, suspect, wrong_suspect, worst_ok } = of_this;
        let worst = worst_ok * 100.0;
        let line = format!(
            "{:36} {all:3} {ok:3} {wrong_ok:3} {holding_ok:3} {worst:5.2}%  {suspect:3} {wrong_suspect:3}",
            disturbance.name
        );
        writeln!(table, "{line}").unwrap();
    }
    let share = |part: usize, whole: usize| part as f64 / whole.max(1) as f64;
    let [wrong_ok, wrong_suspect] = [share(all.wrong_ok, all.ok), share(all.wrong_suspect, all.suspect)];
    assert!(wrong_suspect >= 5.0 * wrong_ok && wrong_suspect > 0.0, "{wrong_suspect} {wrong_ok}{table}");
    assert!(wrong_ok <= 0.02, "{wrong_ok}{table}");
    assert!(share(all.holding_ok, all.ok) >= 0.95, "{table}");
    assert!(share(left.ok, left.all) >= 0.85, "{} of {}{table}", left.ok, left.all);
    println!("{table}");
}
