//! Cores and their ALU groups: who shares execution units.

use std::collections::{BTreeMap, BTreeSet};

use super::decode::{LEAST_ROUNDS, Seen, sharers};
use super::design::{Near, by_itself, connected, halves, members, ordered, rounds_for};
use super::interference::{Interference, Judgement};
use super::relation::{Evidence, Figure, Kind, Reason, Relation};
use super::{Bench, Probe};

/// Up to so many strands each pair is measured directly.
const FEW: usize = 8;
/// The loads that are bound by the units of a core, each by another.
const UNITS: [Probe; 3] = [Probe::Integer, Probe::Float, Probe::Loads];
/// The strands that are searched for siblings that are not claimed.
const SEARCHED: [Probe; 2] = [Probe::Integer, Probe::Float];
/// How often what noise hides is measured again.
const MOST_REPEATS: usize = 5;
/// No more often once that has taken so many rounds, some 16 s, and as many as all before: caches and memory need their time.
const MOST_ROUNDS: u64 = 200;
/// The most contradictions that are measured again one by one.
const MOST_BY_ITSELF: usize = 16;
/// A strand that was found to have more siblings than this is in no such core: noise links it to many.
const MOST_SIBLINGS: usize = 16;
/// The expected number of siblings that no round shows, below which a strand is said to have none.
const MOST_BY_CHANCE: f64 = 0.05;
/// Pairs that also run while all other strands are idle, and how far their ratio may then be from that with the others.
const SAMPLE: usize = 2;
const UNDISTURBED: f64 = 0.1;

/// What was found about cores.
pub(super) struct Cores {
    pub(super) relations: Vec<Relation>,
    /// The strands of each core, as claimed where that is not contradicted.
    pub(super) cores: Vec<Vec<usize>>,
    /// For each strand its ALU group: a number that strands of other groups do not have.
    pub(super) alu: Vec<usize>,
    /// Whether the groups of all cores with several strands were measured.
    pub(super) alu_known: bool,
    /// The integer loop: rates of single strands.
    pub(super) integer: Interference,
    /// Strands of contradicted relations.
    pub(super) doubtful: BTreeSet<usize>,
}

impl Cores {
    /// A strand of each core whose place is not in doubt, with the number of the core.
    pub(super) fn representatives(&self) -> Vec<usize> {
        let sure = |core: &Vec<usize>| core.iter().copied().find(|strand| !self.doubtful.contains(strand));
        self.cores.iter().filter_map(sure).collect()
    }
}

type Pair = (usize, usize);

pub(super) fn measure(bench: &mut Bench<'_>) -> Cores {
    let strands = bench.strands.len();
    let claimed: BTreeSet<Pair> = bench.claimed_cores().iter().flat_map(|core| pairs(core)).collect();
    let (suspected, searched) = match strands <= FEW {
        true => (pairs(&(0..strands).collect::<Vec<_>>()).collect(), None),
        false => {
            let search = Search::run(bench);
            (search.found.clone(), Some(search))
        }
    };
    let siblings = |strand: &usize| suspected.iter().filter(|(a, b)| [a, b].contains(&strand)).count();
    let many: BTreeSet<usize> = (0..strands).filter(|strand| siblings(strand) > MOST_SIBLINGS).collect();
    let measured = |pair: &Pair| claimed.contains(pair) || !(many.contains(&pair.0) || many.contains(&pair.1));
    let all: Vec<Pair> = claimed.union(&suspected).copied().filter(measured).collect();
    let near = near(strands, &all);
    let first = Direct::measure(bench, &all, &near);
    let crosstalk = first.crosstalk(bench, &near);
    let mut relations: Vec<(Pair, Relation)> =
        all.iter().map(|pair| (*pair, first.relation(bench, *pair, crosstalk.as_ref()))).collect();
    confirm(bench, &mut relations, &near);

    let edges = relations.iter().filter(|(pair, relation)| match relation.evidence.measured {
        Some(measured) => measured,
        None => claimed.contains(pair),
    });
    let core_of = connected(strands, edges.map(|(pair, _)| *pair));
    let mut doubtful = BTreeSet::new();
    for ((a, b), _) in relations.iter().filter(|(_, relation)| relation.is_contradicted()) {
        doubtful.extend([*a, *b]);
    }
    // What shares a core only by a claim that was not confirmed shows nothing of the parts of a core.
    let sure = |(pair, relation): &(Pair, Relation)| relation.evidence.measured.is_some().then_some(*pair);
    let sure: BTreeSet<Pair> = relations.iter().filter_map(sure).collect();
    let (alu, decided, of_alu) = first.alu_groups(bench, &sure, &all, &core_of, &near);
    // Without the whole search a strand may have siblings that were not found.
    let alu_known = decided && many.is_empty() && !bench.over && strands > 1;
    let paired: BTreeSet<usize> = all.iter().flat_map(|(a, b)| [*a, *b]).collect();
    let lone = (0..strands).filter(|strand| !paired.contains(strand));
    let lone = lone.filter_map(|strand| Some(searched.as_ref()?.lone(bench, strand)));
    let mut relations: Vec<Relation> = relations.into_iter().map(|(_, relation)| relation).collect();
    relations.extend(lone);
    relations.extend(of_alu);
    let alone: Vec<usize> = (0..strands).filter(|strand| first.of[&Probe::Integer].alone(*strand).is_none()).collect();
    let mut integer = first.of[&Probe::Integer].clone();
    integer.add_alone(bench, Probe::Integer, &alone);
    Cores { relations, cores: members(&core_of), alu, alu_known, integer, doubtful }
}

fn pairs(strands: &[usize]) -> impl Iterator<Item = Pair> + '_ {
    strands.iter().enumerate().flat_map(|(at, a)| strands[at + 1..].iter().map(|b| (*a.min(b), *a.max(b))))
}

/// Strands that may disturb each other: claimed or suspected siblings, and theirs.
fn near(strands: usize, pairs: &[Pair]) -> Near {
    let mut direct: Near = (0..strands).map(|strand| BTreeSet::from([strand])).collect();
    for (a, b) in pairs {
        direct[*a].insert(*b);
        direct[*b].insert(*a);
    }
    direct.iter().map(|own| own.iter().flat_map(|other| &direct[*other]).copied().collect()).collect()
}

/// The search for siblings among all strands.
struct Search {
    found: BTreeSet<Pair>,
    seen: Vec<Seen>,
}

impl Search {
    fn run(bench: &mut Bench<'_>) -> Search {
        let strands = bench.strands.len();
        let guess: Vec<BTreeSet<usize>> = (0..strands)
            .map(|a| (0..strands).filter(|b| a != *b && bench.claims_one_core(a, *b) == Some(true)).collect())
            .collect();
        let mut search = Search { found: BTreeSet::new(), seen: Vec::new() };
        for probe in SEARCHED {
            let active = halves(strands, rounds_for(strands), &mut bench.random);
            let times = active.iter().map(|round| {
                let chosen: Vec<usize> = (0..strands).filter(|strand| round[*strand]).collect();
                let rates = bench.measure(probe, &chosen);
                let mut times = vec![None; strands];
                chosen.iter().zip(rates).for_each(|(strand, rate)| times[*strand] = rate.map(f64::recip));
                times
            });
            let times = times.collect();
            let seen = Seen { active, times };
            for (a, of_a) in sharers(&seen, &guess).into_iter().enumerate() {
                search.found.extend(of_a.into_iter().map(|b| (a.min(b), a.max(b))));
            }
            search.seen.push(seen);
        }
        search
    }

    /// That a strand without siblings has none.
    fn lone(&self, bench: &Bench<'_>, strand: usize) -> Relation {
        let rounds = self.seen.iter().map(|seen| seen.rounds_of(strand)).min().unwrap_or(0);
        let linked = self.found.iter().any(|(a, b)| [*a, *b].contains(&strand));
        // A sibling was active in half of the rounds, and would have had to be so in none.
        let by_chance = |rounds: usize| bench.strands.len() as f64 * 0.5_f64.powi(rounds as i32);
        let needed = (LEAST_ROUNDS..).find(|rounds| by_chance(*rounds) < MOST_BY_CHANCE).unwrap_or(LEAST_ROUNDS);
        let enough = rounds >= needed && !linked;
        let reason = if linked { Reason::ManySiblings(MOST_SIBLINGS) } else { Reason::FewRounds(rounds, needed) };
        let evidence = Evidence {
            claimed: bench.strands[strand].core.map(|_| false),
            measured: enough.then_some(false),
            figures: vec![Figure::new("rounds_among_random_halves", rounds as f64, "1")],
            rounds: rounds as u64,
            confidence: enough.then(|| 1.0 - by_chance(rounds)),
            reason: (!enough).then_some(reason),
        };
        Relation::new(Kind::Core, bench.id(strand), None, evidence)
    }
}

/// Pairs, measured directly under each load.
struct Direct {
    of: BTreeMap<Probe, Interference>,
}

impl Direct {
    fn measure(bench: &mut Bench<'_>, pairs: &[Pair], near: &Near) -> Direct {
        let probes = UNITS.into_iter().chain([Probe::Chain]);
        Direct { of: probes.map(|probe| (probe, Interference::measure(bench, probe, pairs, near))).collect() }
    }

    fn judge(&self, probe: Probe, pair: Pair) -> Judgement {
        self.of[&probe].judge(pair)
    }

    /// Whether pairs that ran at once disturbed each other, by a sample that runs alone.
    fn crosstalk(&self, bench: &mut Bench<'_>, near: &Near) -> Option<Reason> {
        let (first, _) = self.of[&Probe::Integer].pairs().next()?;
        if self.of[&Probe::Integer].pairs().all(|(a, _)| near[first].contains(&a)) {
            return None;
        }
        let known = self.of[&Probe::Integer].pairs().filter(|pair| self.judge(Probe::Integer, *pair).shared.is_ok());
        let mut known: Vec<Pair> = known.collect();
        bench.random.shuffle(&mut known);
        let differ = known.into_iter().take(SAMPLE).filter_map(|pair| {
            let alone = Interference::measure(bench, Probe::Integer, &[pair], near);
            let (with_others, alone) = (self.judge(Probe::Integer, pair).ratio?, alone.judge(pair).ratio?);
            ((with_others - alone).abs() > UNDISTURBED).then_some(Reason::Crosstalk([alone, with_others]))
        });
        let differ: Vec<Reason> = differ.collect();
        // One pair may have been disturbed by something else.
        (differ.len() == SAMPLE).then(|| differ.into_iter().next()).flatten()
    }

    /// Whether two strands share a core, against the claim.
    fn relation(&self, bench: &Bench<'_>, pair: Pair, crosstalk: Option<&Reason>) -> Relation {
        let (a, b) = pair;
        let units = UNITS.map(|probe| (probe, self.judge(probe, pair)));
        let chain = self.judge(Probe::Chain, pair);
        let claimed = bench.claims_one_core(a, b);
        let [integer, float, loads] = units.each_ref().map(|(_, judged)| judged);
        let shared = units.iter().map(|(_, judged)| judged).find(|judged| judged.is(true));
        let apart = integer.is(false) && float.is(false) && !loads.is(true);
        let (measured, decided, reason) = match (shared, apart, crosstalk) {
            (_, _, Some(why)) => (None, None, Some(why.clone())),
            // Siblings slow down what needs units, not what waits for results.
            (Some(_), _, _) if claimed != Some(true) && chain.is(true) => (None, None, Some(Reason::ChainSlowsDown)),
            (Some(judged), _, _) => (Some(true), Some(judged), None),
            (None, true, _) => (Some(false), Some(integer), None),
            (None, false, _) => {
                let why = [integer, float, loads].iter().find_map(|judged| judged.shared.clone().err());
                (None, None, why)
            }
        };
        let figures = units.iter().map(|(probe, judged)| judged.figure(*probe)).chain([chain.figure(Probe::Chain)]);
        let evidence = Evidence {
            claimed,
            measured,
            figures: figures.flatten().collect(),
            rounds: decided.map_or(0, |judged| judged.rounds as u64),
            confidence: decided.and_then(|judged| judged.confidence),
            reason,
        };
        Relation::new(Kind::Core, bench.id(a), Some(bench.id(b)), evidence)
    }

    /// The groups of strands that share integer units, whether all are known, and the relations of the pairs that are sure to share a core
    /// or none.
    fn alu_groups(
        &self,
        bench: &mut Bench<'_>,
        sure: &BTreeSet<Pair>,
        all: &[Pair],
        core: &[usize],
        near: &Near,
    ) -> (Vec<usize>, bool, Vec<Relation>) {
        let within = all.iter().filter(|pair| core[pair.0] == core[pair.1] && sure.contains(pair));
        let within: Vec<Pair> = within.copied().collect();
        let judged: Vec<(Pair, Judgement)> =
            within.iter().map(|pair| (*pair, self.judge(Probe::Integer, *pair))).collect();
        let shared = judged.iter().filter(|(_, judged)| judged.is(true)).map(|(pair, _)| *pair);
        let groups = connected(core.len(), shared);
        // Groups of a core are known to be two where some pair of them is apart, and to be one where no pair within is.
        let apart: BTreeSet<Pair> = judged
            .iter()
            .filter(|(_, judged)| judged.is(false))
            .map(|((a, b), _)| ordered(groups[*a], groups[*b]))
            .collect();
        // And strands of two cores are in two groups where they are apart.
        let known = all.iter().all(|pair| {
            let (one, other) = (groups[pair.0], groups[pair.1]);
            match core[pair.0] == core[pair.1] {
                true => sure.contains(pair) && (one == other) != apart.contains(&ordered(one, other)),
                false => self.judge(Probe::Integer, *pair).is(false),
            }
        });
        let relations: Vec<(Pair, Relation)> =
            judged.iter().map(|(pair, judged)| (*pair, self.alu_relation(bench, *pair, judged))).collect();
        let again: Vec<Pair> = relations.iter().filter(|(_, r)| r.is_contradicted()).map(|(pair, _)| *pair).collect();
        let second = Interference::measure(bench, Probe::Integer, &again, near);
        let confirmed = relations.into_iter().map(|(pair, relation)| {
            match relation.is_contradicted() && second.judge(pair).shared.ok() != relation.evidence.measured {
                true => relation.unconfirmed(Reason::NotSeenAgain),
                false => relation,
            }
        });
        (groups, known, confirmed.collect())
    }

    /// Whether two strands of a core share integer units; only some topologies claim anything about that.
    fn alu_relation(&self, bench: &Bench<'_>, (a, b): Pair, judged: &Judgement) -> Relation {
        let (one, other) = (bench.strands[a], bench.strands[b]);
        let claims = bench.claim.alu.is_known() && bench.claims_one_core(a, b) == Some(true);
        let figures = [Probe::Integer, Probe::Float].map(|probe| self.judge(probe, (a, b)).figure(probe));
        let evidence = Evidence {
            claimed: claims.then_some(one.alu == other.alu),
            measured: judged.shared.clone().ok(),
            figures: figures.into_iter().flatten().collect(),
            rounds: judged.rounds as u64,
            confidence: judged.confidence,
            reason: judged.shared.clone().err(),
        };
        Relation::new(Kind::Alu, one.os_id, Some(other.os_id), evidence)
    }
}

/// Measures contradictions once more, those that noise hides then again, and takes back what is not seen a second time.
fn confirm(bench: &mut Bench<'_>, relations: &mut [(Pair, Relation)], near: &Near) {
    let contradicted = relations.iter_mut().filter(|(_, relation)| relation.is_contradicted());
    let mut open: Vec<&mut (Pair, Relation)> = contradicted.collect();
    let before = bench.rounds;
    for repeat in 1..=MOST_REPEATS {
        if open.is_empty() {
            return;
        }
        let again: Vec<Pair> = open.iter().map(|(pair, _)| *pair).collect();
        // One pair after the other, if they are few: then nothing else of the audit runs on the machine.
        let few = (again.len() <= MOST_BY_ITSELF).then(|| by_itself(near.len(), &again));
        let repeated = Direct::measure(bench, &again, few.as_ref().unwrap_or(near));
        let is_spent = bench.rounds - before >= before.max(MOST_ROUNDS);
        let is_last = repeat == MOST_REPEATS || is_spent || bench.over;
        open.retain_mut(|(pair, relation)| {
            let other = repeated.relation(bench, *pair, None);
            match other.evidence.measured {
                None if !is_last => return true,
                measured if measured == relation.evidence.measured => {
                    relation.evidence.rounds += other.evidence.rounds;
                    relation.evidence.reason = Some(Reason::SeenTwice);
                }
                _ => {
                    let why = other.evidence.reason.unwrap_or(Reason::Opposite);
                    *relation = relation.clone().unconfirmed(Reason::NotSeenAgainAs(Box::new(why)));
                }
            }
            false
        });
    }
}
