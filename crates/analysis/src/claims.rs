//! Every sentence that a report leads to, held against the machine that the report was drawn from.
//!
//! A sentence is taken apart by its words, as a reader does it. One whose words nothing here knows fails too, so a new one comes with what
//! it claims.

use std::collections::BTreeMap;

use fastrand::Rng;
use regex::{Captures, Regex};

use crate::answer::Answer;
use crate::compare::{Options, Verdict, compare};
use crate::findings::findings;
use crate::fixtures::valued;
use charz_data::report::{Cell, FindingKind, Report, Unit, fixtures};

/// Kernels, and the units of their numbers.
const KERNELS: [(&str, Unit); 13] = [
    ("arith-int", Unit::OpsPerSecond),
    ("mem-read", Unit::BytesPerSecond),
    ("chase-random", Unit::NanosecondsPerStep),
    ("pool-std", Unit::OpsPerSecond),
    ("pool-mcs", Unit::OpsPerSecond),
    ("pool-treiber", Unit::OpsPerSecond),
    ("atomic-fetch-add", Unit::OpsPerSecond),
    ("atomic-fetch-add-private", Unit::OpsPerSecond),
    ("c2c-cas", Unit::NanosecondsPerOp),
    ("ring-mutex", Unit::NanosecondsPerOp),
    ("barrier-std", Unit::NanosecondsSampled),
    ("barrier-spin", Unit::NanosecondsSampled),
    ("futex-wake", Unit::NanosecondsSampled),
];

/// Those that need a partner, and those for which there are two at most.
const NEED_TWO: [&str; 5] = ["c2c-cas", "ring-mutex", "barrier-std", "barrier-spin", "futex-wake"];
const TWO: [&str; 2] = ["c2c-cas", "futex-wake"];

const MAPPINGS: [&str; 3] = ["rr", "dumb", "auto"];

/// The kernel, the mapping and the threads of a cell.
type Place = (&'static str, &'static str, u64);

/// A machine of which it is known what each placement gives.
struct World {
    cpus: u64,
    /// How much the noisiest cell varies more than the quietest: nothing is equal where all do.
    noise: f64,
    /// The share of their capacity that unpinned threads deliver in kernels of the core and of memory, as they share CPUs.
    shared: f64,
    truth: BTreeMap<Place, f64>,
}

impl World {
    fn draw(random: &mut Rng) -> Self {
        let cpus = 1 << random.u64(1..4);
        let mut truth = BTreeMap::new();
        for (kernel, unit) in KERNELS {
            let (shared, crosstalk) = (0.6 * random.f64().powi(2), 0.02 * random.f64().powi(2));
            let one = (1.0 + random.f64()) * if unit.more_is_better() { 1e8 } else { 100.0 };
            let rises = (random.f64() - 0.3).max(0.0);
            // Memory may be what all threads wait for.
            let has_bound = kernel == "mem-read" && random.bool();
            let bound = if has_bound { one * (1.0 + cpus as f64 * 0.5 * random.f64()) } else { f64::INFINITY };
            for mapping in MAPPINGS {
                // Half of the mappings are alike.
                let worse = if random.bool() { 0.0 } else { 0.3 * random.f64() * random.f64() };
                for threads in counts(kernel, cpus) {
                    let n = threads.min(cpus) as f64;
                    let over = if threads > cpus { 1.0 + random.f64() * random.f64() * 3.0 } else { 1.0 };
                    let value = match unit.more_is_better() {
                        true => {
                            let own = one * n / (1.0 + shared * (n - 1.0) + crosstalk * n * (n - 1.0));
                            (1.0 - worse) * own.min(bound) / over
                        }
                        false => one * (1.0 + worse) * (1.0 + rises * (n - 1.0)) * over,
                    };
                    truth.insert((kernel, mapping, threads), value);
                }
            }
        }
        let shared = if random.bool() { 1.0 } else { 0.6 + 0.35 * random.f64() };
        World { cpus, noise: if random.bool() { 3.0 } else { 60.0 }, shared, truth }
    }

    /// The same one after a change that a few of the kernels see.
    fn changed(&self, random: &mut Rng) -> Self {
        let factors =
            KERNELS.map(|(kernel, _)| (kernel, if random.u8(..4) == 0 { 0.7 + 0.6 * random.f64() } else { 1.0 }));
        let factor = |name: &str| factors.iter().find(|(kernel, _)| *kernel == name).map_or(1.0, |(_, factor)| *factor);
        let truth = self.truth.iter().map(|(place, value)| (*place, value * factor(place.0))).collect();
        World { truth, ..*self }
    }

    /// A sweep of it: each cell with a noise and a number of runs of its own, some doubtful, some without a number.
    fn swept(&self, random: &mut Rng) -> Report {
        let cells = self.truth.iter().filter_map(|(&(kernel, mapping, threads), truth)| {
            let (noise, runs) = (0.001 * self.noise.powf(random.f64()), [2, 6, 9, 15][random.usize(..4)]);
            let values = (0..runs).map(|_| truth * (noise * normal(random)).exp()).collect();
            let (_, unit) = KERNELS.into_iter().find(|(name, _)| *name == kernel)?;
            let seats: Vec<u32> = (0..threads).map(|rank| (rank % self.cpus) as u32).collect();
            let cell = fixtures::cell(kernel, threads, unit, 1.0).under(mapping);
            let mut cell = valued(if mapping == "auto" { cell } else { cell.seated(&seats) }, values);
            if mapping == "auto" && threads > 1 && ["arith-int", "mem-read"].contains(&kernel) {
                let delivered = cell.delivered;
                let able = cell.invocations.iter().filter_map(|one| Some(one.value? / self.shared)).collect();
                cell = Cell { delivered, ..valued(cell, able) };
            }
            match random.u8(..20) {
                0 => Some(cell.suspect()),
                1 => Some(cell.invalid()),
                2 => None,
                _ => Some(cell),
            }
        });
        let cells: Vec<Cell> = cells.collect();
        fixtures::report(cells).on(self.cpus as u32)
    }

    fn at(&self, kernel: &str, mapping: &str, threads: u64) -> f64 {
        let found = self.truth.iter().find(|(place, _)| **place == (kernel, mapping, threads));
        *found.unwrap_or_else(|| panic!("a sentence names {kernel} {mapping} x{threads}, which was not measured")).1
    }

    /// As [`at`](Self::at), where more is better.
    fn worth(&self, kernel: &str, mapping: &str, threads: u64) -> f64 {
        let value = self.at(kernel, mapping, threads);
        if is_rate(kernel) { value } else { 1.0 / value }
    }

    /// What a share of a loss is in truth, as charz counts it.
    fn loss(&self, kernel: &str, [mapping, best]: [&str; 2], threads: u64) -> f64 {
        let [own, best] = [mapping, best].map(|mapping| self.at(kernel, mapping, threads));
        if is_rate(kernel) { 1.0 - own / best } else { own / best - 1.0 }
    }
}

fn is_rate(name: &str) -> bool {
    KERNELS.iter().any(|(kernel, unit)| *kernel == name && unit.more_is_better())
}

fn counts(kernel: &str, cpus: u64) -> impl Iterator<Item = u64> {
    let (least, most) =
        (if NEED_TWO.contains(&kernel) { 2 } else { 1 }, if TWO.contains(&kernel) { 2 } else { 2 * cpus });
    (0..).map(|power| 1 << power).skip_while(move |count| *count < least).take_while(move |count| *count <= most)
}

fn normal(random: &mut Rng) -> f64 {
    (-2.0 * (1.0 - random.f64()).ln()).sqrt() * (std::f64::consts::TAU * random.f64()).cos()
}

/// How often each claim held.
#[derive(Default)]
struct Tally(BTreeMap<&'static str, [u32; 2]>);

impl Tally {
    fn count(&mut self, claim: &'static str, holds: bool) {
        let [held, all] = self.0.entry(claim).or_default();
        (*held, *all) = (*held + u32::from(holds), *all + 1);
    }

    /// Each has to hold in at least so many of a hundred, and to have been made.
    #[track_caller]
    fn check(&self, claims: &[(&str, u32)]) {
        let named: Vec<&str> = claims.iter().map(|(claim, _)| *claim).collect();
        assert!(self.0.keys().all(|claim| named.contains(claim)), "{:?}", self.0);
        for (claim, least) in claims {
            let [held, all] = self.0.get(claim).copied().unwrap_or_default();
            assert!(all >= 3 && 100 * held >= least * all, "{claim}: {held} of {all}, {least}% wanted; {:?}", self.0);
        }
    }
}

/// A number of a sentence, whatever multiplies it, and however noisy it is.
fn number(text: &str) -> f64 {
    text.trim_end_matches(['~', '?', '%', 'x'])
        .replace('−', "-")
        .parse()
        .unwrap_or_else(|_| panic!("{text:?} is no number"))
}

/// Whether a value lies between two numbers as they are printed, the last digit of which is rounded.
fn between(value: f64, low: &str, high: &str) -> bool {
    let digit = |text: &str| {
        let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len() as i32);
        0.51 * 10_f64.powi(-decimals)
    };
    number(low) - digit(low) <= value && value <= number(high) + digit(high)
}

fn threads(found: &Captures<'_>, name: &str) -> u64 {
    found[name].parse().unwrap_or_else(|_| panic!("{:?} is no number of threads", &found[name]))
}

/// Mappings that are named as equal, `a = b`, or as not significantly different, `a or b`.
fn named(text: &str) -> Vec<&str> {
    MAPPINGS.into_iter().filter(|mapping| text.split([' ', ',']).any(|word| word == *mapping)).collect()
}

/// The largest loss among mappings beside the best of them.
fn apart(world: &World, kernel: &str, names: &[&str], threads: u64) -> f64 {
    let worths: Vec<f64> = names.iter().map(|mapping| world.worth(kernel, mapping, threads)).collect();
    let [low, high] = [f64::min, f64::max].map(|end| worths.iter().copied().reduce(end).unwrap_or(1.0));
    1.0 - low / high
}

struct Reader {
    placement: Regex,
    beyond: Regex,
    losing: Regex,
    spin: Regex,
    backoff: Regex,
    shards: Regex,
    fastest_of: Regex,
    fastest: Regex,
    lock: Regex,
    collapse: Regex,
    cliff: Regex,
    best: Regex,
}

impl Reader {
    fn new() -> Self {
        let regex = |text: &str| Regex::new(&format!("^{text}$")).unwrap();
        let times = r"(?<times>[\d.]+)~? \((?<low>[\d.]+) to (?<high>[\d.]+)\)";
        Reader {
            placement: regex(
                r"(?<title>[A-Z][A-Za-z0-9-]+)( in L\d)?( \((?<kernel>[a-z0-9-]+)\))?: (too few runs to advise.*|(?<threads>\d+) threads?~?, (?<mapping>[^;]+?)(; unpinned threads (lose|take) (?<share>[\d.]+%)( longer)?~?( at one clock)?( \((?<low>[\d.-]+) to (?<high>[\d.-]+)%\))?(, by what was delivered)?)?(; within 5% of the peak at (?<peak>\d+))?)\.",
            ),
            beyond: regex(
                r"At most (?<cpus>\d+) threads?: (?<kernel>\S+) loses (?<share>[\d.]+%) with (?<threads>\d+)\.",
            ),
            losing: regex(r"(?<share>−?\d+(\.\d+)?)(\.\.(?<high>−?\d+(\.\d+)?))?%(?<few>\?)?"),
            spin: regex(
                r"spin at most (?<ns>\S+ \S+?)~? before parking, under (?<mapping>[a-z, ]+): .*|do not spin .*",
            ),
            backoff: regex(r"let the back-off of a failed compare-and-swap grow to at least .*"),
            shards: regex(&format!(
                "(give each thread a counter of its own where they mostly count: fetch-add is then|keep one global counter: sharding it makes fetch-add only) {times} times as fast, (?<threads>\\d+) threads?, (?<mapping>[a-z]+)"
            )),
            fastest_of: regex(
                r"fastest (barrier, (?<threads>\d+) threads|wake-up under [a-z]+): (?<kernel>[a-z-]+), [^;(]+( \(not significantly different: (?<alike>.*?)\))?(; .*)?",
            ),
            fastest: regex(&format!(
                r"(?<threads>\d+) threads? (?<mapping>[a-z]+): the fastest (lock|pool without a lock) is (?<kernel>[a-z-]+), [^;,]+(, within the intervals of (?<alike>[^;]+))?(; not significantly faster than [a-z-]+|; ({times}|[\d.]+\?) times (?<other>[a-z-]+))?(; .*no number)?"
            )),
            lock: regex(&format!(
                r"the lock that loses least under contention is (?<kernel>[a-z-]+)( \(not significantly different: (?<alike>[^)]+)\))?: (?<threads>\d+) threads \((?<mapping>[a-z]+)\) do {times} times the sections of 1(, under (?<worst>[a-z-]+) .*? times)?;? ?.*"
            )),
            collapse: regex(r"\S+ \S+ collapsed at (?<threads>\d+) threads?: .*"),
            cliff: regex(
                r"\S+ \S+: (?<is>oversubscription cliff (at|between (?<inside>\d+)) .*|no oversubscription cliff up to .*|an oversubscription cliff is not shown .*)",
            ),
            best: regex(r"(?<kernel>\S+): (?<threads>\d+) threads?, (?<mapping>[^:]+?): .*"),
        }
    }

    /// What the first screen says of placements.
    fn screen(&self, world: &World, report: &Report, tally: &mut Tally) {
        let answer = Answer::of(report);
        for row in &answer.rows {
            let (kernel, best, threads) = (&*row.kernel, &*row.best.mapping, row.best.threads);
            if row.best_mapping() == "any" {
                let all: Vec<&str> = [best].into_iter().chain(row.equal.iter().map(String::as_str)).collect();
                tally.count("any mapping", apart(world, kernel, &all, threads) <= 0.025);
            }
            if let Some(found) = self.losing.captures(&row.auto_costs()) {
                if row.best.mapping == "auto" {
                    continue;
                }
                let lost = 100.0 * world.loss(kernel, ["auto", best], threads);
                match found.name("high") {
                    Some(high) => tally.count("auto costs a..b%", between(lost, &found["share"], high.as_str())),
                    None if found.name("few").is_some() => {}
                    None => tally.count("auto costs a%", lost > 0.0 && (lost - number(&found["share"])).abs() < 12.0),
                }
            } else if row.auto_costs().starts_with('≈') {
                let lost = world.loss(kernel, ["auto", best], threads);
                tally.count("auto costs ≈0%", lost.abs() <= 0.025);
            }
        }
        for advice in &answer.advice {
            self.advice(world, report, &advice.text, tally);
        }
    }

    fn advice(&self, world: &World, report: &Report, text: &str, tally: &mut Tally) {
        if let Some(found) = self.placement.captures(text) {
            let Some(_) = found.name("threads") else { return };
            let kernel = match &found["title"] {
                "Compute-bound" => "arith-int",
                "Memory-bound" => "mem-read",
                "Latency-bound" => "chase-random",
                _ => found.name("kernel").map_or("", |kernel| kernel.as_str()),
            };
            let (threads, names) = (threads(&found, "threads"), named(&found["mapping"]));
            if found["mapping"].contains("makes no difference") {
                let is_measured = |mapping: &&str| {
                    let mut cells = report.cells.iter().filter(|cell| cell.value().is_some());
                    cells.any(|cell| (&*cell.kernel, &&*cell.mapping, cell.workers) == (kernel, mapping, threads))
                };
                let all: Vec<&str> = MAPPINGS.into_iter().filter(is_measured).collect();
                tally.count("the mapping makes no difference", apart(world, kernel, &all, threads) <= 0.025);
            } else if found["mapping"].contains(" = ") {
                tally.count("a = b", apart(world, kernel, &names, threads) <= 0.025);
            }
            if let (Some(low), Some(high), Some(best)) = (found.name("low"), found.name("high"), names.first()) {
                let lost = 100.0 * world.loss(kernel, ["auto", best], threads);
                tally.count("unpinned threads lose", between(lost, low.as_str(), high.as_str()));
            }
            if let (Some(peak), Some(best)) = (found.name("peak"), names.first()) {
                let peak: u64 = peak.as_str().parse().unwrap();
                let most = MAPPINGS.map(|mapping| world.worth(kernel, mapping, peak)).into_iter().fold(0.0, f64::max);
                tally.count("within 5% of the peak", world.worth(kernel, best, threads) >= 0.93 * most);
            }
        } else if let Some(found) = self.beyond.captures(text) {
            let (kernel, over) = (&found["kernel"], threads(&found, "threads"));
            let best = |range: std::ops::RangeInclusive<u64>| {
                let own = world.truth.keys().filter(|(name, _, count)| *name == kernel && range.contains(count));
                own.map(|(_, mapping, count)| world.worth(kernel, mapping, *count)).fold(0.0, f64::max)
            };
            tally.count("at most", best(over..=over) < best(1..=world.cpus) * 1.3 && best(1..=world.cpus) > 0.0);
        } else {
            // One of the findings, as a sentence.
            let text = text.trim_end_matches('.');
            let mut letters = text.chars();
            let first = letters.next().map_or(String::new(), |first| first.to_lowercase().to_string());
            self.finding(world, None, &format!("{first}{}", letters.as_str()), &mut Tally::default());
        }
    }

    /// A sentence of a finding; `place` is the configuration that it is of.
    fn finding(&self, world: &World, place: Option<(&str, Option<&str>, Option<u64>)>, text: &str, tally: &mut Tally) {
        let shown = |found: &Captures<'_>, truth: f64| between(truth, &found["low"], &found["high"]);
        let rivals = |found: &Captures<'_>, mapping: &str, threads: u64, worth: &dyn Fn(&str) -> f64| {
            let alike = found.name("alike").map_or("", |alike| alike.as_str());
            let prefix = if found["kernel"].starts_with("barrier") { "barrier-" } else { "pool-" };
            let group = world.truth.keys().filter(|(name, place, count)| {
                name.starts_with(prefix) && (*place, *count) == (mapping, threads) && !alike.contains(name)
            });
            let own = worth(&found["kernel"]);
            // What has no number, or the wrong kind, is no rival.
            group
                .filter(|(name, ..)| text.contains("pool without") == (*name == "pool-treiber"))
                .all(|(name, ..)| worth(name) <= own * 1.01)
        };
        if let Some(found) = self.shards.captures(text) {
            let (mapping, threads) = (&found["mapping"], threads(&found, "threads"));
            let [own, shared] =
                ["atomic-fetch-add-private", "atomic-fetch-add"].map(|name| world.at(name, mapping, threads));
            tally.count("a counter of its own", shown(&found, own / shared));
        } else if let Some(found) = self.lock.captures(text) {
            let (kernel, mapping, threads) = (&found["kernel"], &found["mapping"], threads(&found, "threads"));
            tally.count(
                "sections of 1",
                shown(&found, world.at(kernel, mapping, threads) / world.at(kernel, mapping, 1)),
            );
            let kept = |name: &str| world.at(name, mapping, threads) / world.at(name, mapping, 1);
            let is_measured = |name: &str| name != "pool-treiber";
            tally.count(
                "the lock that loses least",
                rivals(&found, mapping, threads, &|name| if is_measured(name) { kept(name) } else { 0.0 }),
            );
        } else if let Some(found) = self.fastest.captures(text) {
            let (mapping, threads) = (&found["mapping"], threads(&found, "threads"));
            tally.count("the fastest lock", rivals(&found, mapping, threads, &|name| world.at(name, mapping, threads)));
        } else if let Some(found) = self.fastest_of.captures(text) {
            if let (Some(count), Some((_, Some(mapping), _))) = (found.name("threads"), place) {
                let count = count.as_str().parse().unwrap();
                tally.count(
                    "the fastest barrier",
                    rivals(&found, mapping, count, &|name| world.worth(name, mapping, count)),
                );
            }
        } else if let Some(found) = self.collapse.captures(text) {
            if let Some((kernel, Some(mapping), _)) = place {
                let now = threads(&found, "threads");
                let fewer = counts(kernel, world.cpus).filter(|count| *count < now);
                let best = fewer.map(|count| world.at(kernel, mapping, count)).fold(0.0, f64::max);
                tally.count("collapsed", world.at(kernel, mapping, now) < 0.55 * best);
            }
        } else if let Some(found) = self.cliff.captures(text) {
            if let Some((kernel, Some(mapping), at)) = place {
                let of = |range: std::ops::RangeInclusive<u64>| {
                    let own = counts(kernel, world.cpus).filter(move |count| range.contains(count));
                    own.map(|count| world.at(kernel, mapping, count))
                };
                let inside = found.name("inside").map(|inside| inside.as_str().parse().unwrap());
                let inside = inside.or(at.map(|at| at - 1)).unwrap_or(world.cpus);
                let before = of(1..=inside).fold(0.0, f64::max);
                let after = of(at.unwrap_or(inside + 1)..=u64::MAX).fold(f64::MAX, f64::min);
                match &found["is"] {
                    is if is.starts_with("no ") => tally.count("no cliff", after < 2.1 * before),
                    is if is.starts_with("an ") => {}
                    _ => tally.count("a cliff", after > 1.8 * before),
                }
            }
        } else if self.spin.is_match(text) || self.backoff.is_match(text) {
            // A number as it was measured.
        } else if let Some(found) = self.best.captures(text) {
            let (kernel, count, names) = (&found["kernel"], threads(&found, "threads"), named(&found["mapping"]));
            if found["mapping"].contains(" = ") && !found["mapping"].contains("no clear winner") {
                tally.count("a = b", apart(world, kernel, &names, count) <= 0.025);
            } else if !found["mapping"].contains("no clear winner") {
                let left: Vec<&str> = MAPPINGS.into_iter().filter(|mapping| !names.contains(mapping)).collect();
                let worth = |mapping: &&str| world.worth(kernel, mapping, count);
                let own = names.iter().map(worth).fold(0.0, f64::max);
                tally.count("the best mapping", left.iter().map(worth).all(|other| other <= own * 1.01));
            }
        } else {
            panic!("nothing here knows what this claims: {text}");
        }
    }
}

#[test]
fn what_is_said_is_true_of_the_machine() {
    let (reader, mut random, mut tally) = (Reader::new(), Rng::with_seed(11), Tally::default());
    for _ in 0..160 {
        let world = World::draw(&mut random);
        let report = world.swept(&mut random);
        reader.screen(&world, &report, &mut tally);
        for finding in findings(&report).iter().filter(|finding| finding.kind != FindingKind::Latency) {
            let place = (&*finding.kernel, finding.mapping.as_deref(), finding.workers);
            reader.finding(&world, Some(place), &finding.text, &mut tally);
        }
    }
    tally.check(&[
        ("any mapping", 90),
        ("auto costs a%", 95),
        ("auto costs a..b%", 92),
        ("auto costs ≈0%", 95),
        ("the mapping makes no difference", 90),
        ("a = b", 90),
        ("unpinned threads lose", 92),
        ("within 5% of the peak", 92),
        ("at most", 95),
        ("a counter of its own", 92),
        ("sections of 1", 92),
        ("the lock that loses least", 90),
        ("the fastest lock", 90),
        ("the fastest barrier", 90),
        ("collapsed", 95),
        ("no cliff", 95),
        ("a cliff", 95),
        ("the best mapping", 90),
    ]);
}

#[test]
fn what_a_comparison_says_is_true_of_both_machines() {
    let named = Regex::new(
        r"((?<low>[\d.]+) to )?(?<effect>[\d.]+)( ±(?<half>[\d.]+))? times as fast at (?<kernel>\S+) (?<mapping>\S+) x(?<threads>\d+)",
    )
    .unwrap();
    let (mut random, mut tally) = (Rng::with_seed(12), Tally::default());
    for _ in 0..40 {
        let one = World::draw(&mut random);
        let other = one.changed(&mut random);
        let sides = [one.swept(&mut random), other.swept(&mut random)];
        let found = compare(&sides[0], &sides[1], &Options::default()).unwrap();
        let effect = |kernel: &str, mapping: &str, threads: u64| {
            other.worth(kernel, mapping, threads) / one.worth(kernel, mapping, threads)
        };
        for claim in named.captures_iter(&found.sentence("new")) {
            let truth = effect(&claim["kernel"], &claim["mapping"], threads(&claim, "threads"));
            let (effect, group) = (number(&claim["effect"]), |name| claim.name(name).map(|one| number(one.as_str())));
            let half = group("half").unwrap_or(0.3);
            let (low, high) = group("low").map_or((effect - half, effect + half), |low| (low, effect));
            tally.count("so many times as fast", low - 0.006 <= truth && truth <= high + 0.006);
            tally.count("another speed", (truth - 1.0).abs() > 1e-9);
        }
        for row in &found.rows {
            if row.verdict == Verdict::Same {
                let truth = effect(&row.kernel, &row.mapping, row.workers);
                tally.count("the same", (truth - 1.0).abs() <= found.margin + 0.005);
            }
        }
    }
    tally.check(&[("so many times as fast", 85), ("another speed", 98), ("the same", 98)]);
}
