//! Every sentence that a report leads to, held against the machine that the report was drawn from.
//!
//! A sentence is taken apart by its words, as a reader does it. One whose words nothing here knows fails too, so a new one comes with what
//! it claims.

mod world;

use charz_estimate::Quantity;
use std::collections::BTreeMap;

use fastrand::Rng;
use regex::{Captures, Regex};

use crate::answer::{Answer, Costs, NONE, Row};
use charz_claims::compare::{Options, Verdict, compare};
use charz_data::report::{Cell, FindingKind, Interval, Report};
use charz_estimate::Estimates;
use charz_words::findings::findings;
use world::{MAPPINGS, World, counts};

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
    MAPPINGS.into_iter().filter(|mapping| text.split([' ', ',', '~']).any(|word| word == *mapping)).collect()
}

/// The mappings with a number.
fn measured(report: &Report, kernel: &str, threads: u64) -> Vec<&'static str> {
    let has = |mapping: &&str| {
        let mut cells = report.cells.iter().filter(|cell| cell.value().is_some());
        cells.any(|cell| (&*cell.kernel, &&*cell.mapping, cell.workers) == (kernel, mapping, threads))
    };
    MAPPINGS.into_iter().filter(has).collect()
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
    falls: Regex,
}

impl Reader {
    fn new() -> Self {
        let regex = |text: &str| Regex::new(&format!("^{text}$")).unwrap();
        let times = r"(?<times>[\d.]+)~? \((?<low>[\d.]+) to (?<high>[\d.]+)\)";
        Reader {
            placement: regex(
                r"(?<title>Your program|[A-Z][A-Za-z0-9-]+)( in L\d)?( \((?<kernel>[a-z0-9-]+)\))?: (too (few runs|noisy) to advise.*|(at (least|most) )?(?<threads>\d+) threads?~?, (?<mapping>[^;]+?)(; unpinned threads (lose|take) (?<share>[\d.]+%)( longer| more)?~?( at one clock)?( \((?<low>[\d.-]+) to (?<high>[\d.-]+)%\))?(, by what was delivered)?)?(; within 5% of the peak at (?<peak>\d+))?(; (?<fewer>\d+) may be enough(: (they|it) (?<verb>lose|take|gain|do)(s|es)? [\d.]+%( longer| more| less| (less|more) work in the same time)?~?( at one clock)?( \((?<from>[\d.-]+) to (?<to>[\d.-]+)%\))?)?)?(; more, up to [^;]+ may do better)?(; fewer have no number and may be enough)?(; [\d.]+% of its capacity was delivered)?)\.",
            ),
            beyond: regex(
                r"(?<kernel>\S+): no more than (?<cpus>\d+) threads?; it loses (?<share>[\d.]+%~?) with (?<threads>\d+)\.",
            ),
            losing: regex(
                r"(?<share>−?\d+(\.\d+)?)(\.\.(?<high>−?\d+(\.\d+)?))?%(~|(?<few>\?))?( \(clock\))?( \(\d+% shared\))?",
            ),
            spin: regex(
                r"spin at most (?<ns>\S+ \S+?)~? before parking, under (?<mapping>[a-z, ]+): .*|do not spin .*",
            ),
            backoff: regex(r"let the back-off of a failed compare-and-swap grow to at least .*"),
            shards: regex(&format!(
                "(give each thread a counter of its own where they mostly count: fetch-add is then|keep one global counter: sharding it makes fetch-add only) {times} times as fast, (?<threads>\\d+) threads?, (?<mapping>[a-z]+)"
            )),
            fastest_of: regex(
                r"fastest (barrier under [a-z]+, (?<threads>\d+) threads|wake-up under [a-z]+): (?<kernel>[a-z-]+), [^;(]+( \(not significantly different: (?<alike>.*?)\))?(; .*)?",
            ),
            fastest: regex(&format!(
                r"(?<threads>\d+) threads? (?<mapping>[a-z]+): the fastest (lock|pool without a lock) is (?<kernel>[a-z-]+), [^;,]+(, not significantly faster than (?<alike>[^;]+))?(; not significantly faster than [a-z-]+|; ({times}|[\d.]+[?~]) times (?<other>[a-z-]+))?(; .*no number)?"
            )),
            lock: regex(&format!(
                r"the lock (?<most>that does most under contention is )?(?<kernel>[a-z-]+)( under contention)?( \(not significantly different: (?<alike>[^)]+)\))?: (?<threads>\d+) threads \((?<mapping>[a-z]+)\) do {times} times the sections of 1(, and .*? times those of [a-z-]+)?;? ?.*"
            )),
            collapse: regex(r"\S+ \S+ collapsed at (?<threads>\d+) threads?: .*"),
            cliff: regex(
                r"\S+ \S+: (?<is>oversubscription cliff (at|between (?<inside>\d+)) .*|no oversubscription cliff up to .*|an oversubscription cliff is not shown .*)",
            ),
            best: regex(r"(?<kernel>\S+): (?<threads>\d+) threads?, (?<mapping>[^:]+?): .*"),
            falls: regex(&format!(
                r"(lock contention|hot spot: a cache line that all threads change): (?<kernel>\S+) (?<mapping>\S+): (?<threads>\d+) threads do {times} times as much as 1 thread; .*"
            )),
        }
    }

    /// What the first screen says of placements.
    fn screen(&self, world: &World, report: &Report, tally: &mut Tally) {
        let answer = Answer::of(report);
        answer.costs.iter().for_each(|costs| cheapest(world, costs, tally));
        for row in &answer.rows {
            numbers(world, report, row, tally);
            let (kernel, best, threads) = (&*row.kernel, &*row.best.mapping, row.best.threads);
            if row.best_mapping == "any" {
                tally.count("any mapping", apart(world, kernel, &measured(report, kernel, threads), threads) <= 0.025);
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
                _ if found.name("kernel").is_some() => &found["kernel"],
                "Compute-bound" => "arith-int",
                "Memory-bound" => "mem-read",
                "Latency-bound" => "chase-random",
                "Your program" => "command",
                _ => "",
            };
            let (threads, names) = (threads(&found, "threads"), named(&found["mapping"]));
            if found["mapping"].contains("makes no difference") {
                let all = measured(report, kernel, threads);
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
                let most = world.mappings().map(|mapping| world.does(kernel, mapping, peak)).fold(0.0, f64::max);
                tally.count("within 5% of the peak", world.does(kernel, best, threads) >= 0.93 * most);
            }
            if let (Some(fewer), Some(from), Some(to)) = (found.name("fewer"), found.name("from"), found.name("to")) {
                let most = |threads: u64| {
                    world.mappings().map(|mapping| world.does(kernel, mapping, threads)).fold(0.0, f64::max)
                };
                let peak = counts(kernel, world.cpus).map(most).fold(0.0, f64::max);
                let lost = 100.0 * (1.0 - most(fewer.as_str().parse().unwrap()) / peak);
                if ["lose", "do"].contains(&&found["verb"]) {
                    tally.count("fewer may be enough", between(lost, from.as_str(), to.as_str()));
                }
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
            if found.name("most").is_some() {
                tally.count(
                    "the lock that does most",
                    rivals(&found, mapping, threads, &|name| world.at(name, mapping, threads)),
                );
            }
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
        } else if let Some(found) = self.falls.captures(text) {
            let at = |threads| world.at(&found["kernel"], &found["mapping"], threads);
            tally.count("do so many times as much", shown(&found, at(threads(&found, "threads")) / at(1)));
        } else if self.spin.is_match(text) || self.backoff.is_match(text) {
            // A number as it was measured.
        } else if let Some(found) = self.best.captures(text) {
            let (kernel, count, names) = (&found["kernel"], threads(&found, "threads"), named(&found["mapping"]));
            if found["mapping"].contains(" = ") {
                tally.count("a = b", apart(world, kernel, &names, count) <= 0.025);
            } else {
                let left: Vec<&str> = world.mappings().filter(|mapping| !names.contains(mapping)).collect();
                let worth = |mapping: &&str| world.worth(kernel, mapping, count);
                let own = names.iter().map(worth).fold(0.0, f64::max);
                tally.count("the best mapping", left.iter().map(worth).all(|other| other <= own * 1.01));
            }
        } else {
            panic!("nothing here knows what this claims: {text}");
        }
    }
}

/// What a row says besides placements.
fn numbers(world: &World, report: &Report, row: &Row, tally: &mut Tally) {
    let kernel = &*row.kernel;
    for reading in [&row.one, &row.all].into_iter().flatten().chain([&row.best]) {
        let own =
            |cell: &&Cell| (&*cell.kernel, &cell.mapping, cell.workers) == (kernel, &reading.mapping, reading.threads);
        let is_of = |cell: &Cell| match reading.origin {
            Quantity::Capacity => cell.value() == Some(reading.value),
            Quantity::Delivered => cell.delivered.is_some_and(|delivered| delivered.value == reading.value),
            Quantity::Estimated => true,
        };
        tally.count("a number of a cell", report.cells.iter().filter(own).any(is_of));
    }
    if let (Some(one), Some(all), "", Some(times)) = (&row.one, &row.all, row.scaling_doubt(), row.scaling()) {
        let [one, all] = [one, all].map(|of| world.does(kernel, &of.mapping, of.threads));
        tally.count("scaling", (times / (all / one) - 1.0).abs() < 0.03);
    }
    if let Some(knee) = row.knee.filter(|_| !row.is_knee_open) {
        let measured = || report.cells.iter().filter(|cell| cell.kernel == kernel && cell.value().is_some());
        let most = |is_of: &dyn Fn(u64) -> bool| {
            let own = measured().filter(|cell| is_of(cell.workers));
            own.map(|cell| world.does(kernel, &cell.mapping, cell.workers)).fold(0.0, f64::max)
        };
        let (all, own, fewer) = (most(&|_| true), most(&|count| count == knee), most(&|count| count < knee));
        tally.count("95% at", own >= 0.93 * all && fewer <= 0.97 * all);
    }
    let is_winner = !["no clear winner", NONE].contains(&&*row.best_mapping);
    tally.count("one mapping is the best of none", world.mappings().count() > 1 || !is_winner);
    let costs = row.auto_costs();
    let low = costs.split_once("..").map_or(0.0, |(low, _)| number(low));
    tally.count("no clear winner, and auto does not surely lose", is_winner || low < 0.1);
}

/// The kernels that are named as the cheapest and the dearest of a kind.
fn cheapest(world: &World, costs: &Costs, tally: &mut Tally) {
    let of = |names: Option<&[String]>| -> Vec<f64> {
        let named = costs.kernels.iter().filter(|(name, _)| names.is_none_or(|names| names.contains(name)));
        let own = |name: &str| name.split(" (").next().unwrap_or_default().to_owned();
        named.map(|(name, reading)| world.at(&own(name), &reading.mapping, reading.threads)).collect()
    };
    let [least, most] = [f64::min, f64::max].map(|end| move |all: Vec<f64>| all.into_iter().reduce(end).unwrap_or(1.0));
    tally.count("the fastest of a kind", least(of(Some(&costs.fastest))) <= 1.01 * least(of(None)));
    let least_of_all = costs.kernels.first().map_or(0.0, |(_, reading)| reading.value);
    for (name, reading) in &costs.kernels {
        let low = reading.value * reading.ends.map_or(1.0, |[low, _]| low);
        tally.count("what is not the fastest is apart from it", costs.fastest.contains(name) || low > least_of_all);
    }
    if !costs.slowest.is_empty() {
        tally.count("the slowest of a kind", most(of(Some(&costs.slowest))) >= 0.99 * most(of(None)));
    }
}

#[test]
fn what_is_said_is_true_of_the_machine() {
    let (reader, mut random, mut tally) = (Reader::new(), Rng::with_seed(11), Tally::default());
    for _ in 0..160 {
        let world = World::draw(&mut random);
        let report = world.swept(&mut random);
        reader.screen(&world, &report, &mut tally);
        for finding in findings(&Estimates::of(&report)).iter().filter(|finding| finding.kind != FindingKind::Latency) {
            let place = (&*finding.kernel, finding.mapping.as_deref(), finding.workers);
            reader.finding(&world, Some(place), &finding.text, &mut tally);
        }
    }
    tally.check(&[
        ("a number of a cell", 100),
        ("scaling", 92),
        ("fewer may be enough", 90),
        ("95% at", 92),
        ("one mapping is the best of none", 100),
        ("no clear winner, and auto does not surely lose", 100),
        ("the fastest of a kind", 90),
        ("the slowest of a kind", 90),
        ("what is not the fastest is apart from it", 99),
        ("do so many times as much", 90),
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
        ("the lock that does most", 90),
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
    let (mut random, mut tally) = (Rng::with_seed(12), Tally::default());
    for _ in 0..40 {
        let one = World::draw(&mut random);
        let other = one.changed(&mut random);
        let sides = [one.swept(&mut random), other.swept(&mut random)];
        for row in &compare([&sides[0], &sides[1]], &Options::default()).unwrap().rows {
            let cell = row.cell();
            let worth = |world: &World| world.worth(&cell.kernel, &cell.mapping, cell.workers);
            let truth = worth(&other) / worth(&one);
            match (row.verdict, row.shown.interval) {
                (Verdict::Slower | Verdict::Faster, Some(Interval { low, high })) => {
                    tally.count("so many times as fast", low - 0.006 <= truth && truth <= high + 0.006);
                    tally.count("another speed", (truth - 1.0).abs() > 1e-9);
                }
                (Verdict::Same, _) => tally.count("the same", (truth - 1.0).abs() <= row.shown.margin + 0.005),
                _ => {}
            }
        }
    }
    tally.check(&[("so many times as fast", 85), ("another speed", 98), ("the same", 98)]);
}
