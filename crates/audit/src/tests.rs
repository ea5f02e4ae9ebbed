//! Audits of machines whose truth is known: honest claims, permuted ones, and a guest that hides siblings.
#![allow(clippy::print_stdout)] // The confusion table is to be seen.

mod model;

use std::ops::Range;
use std::time::Duration;

use charz_data::machine::{AluSource, Machine};
use charz_topology::{Mapping, Source, discover, parsers};

use super::{Audit, Kind, Lab, Relation, Round, Verdict, audit};
use model::{Core, Model, Truth, cores};

/// 4 sockets of 16 cores of 8 strands, of which 0-3 and 4-7 share an integer pipeline each, and all one floating-point unit.
fn t3_4() -> Truth {
    cores(4 * 16, |at| Core { package: at / 16, node: at / 16, l3: at / 16, l2: at / 16, kind: 0, groups: vec![4, 4] })
}

/// Two sockets of 32 cores with two strands each.
fn smt2() -> Truth {
    cores(64, |at| Core { package: at / 32, node: at / 32, l3: at / 32, l2: at, kind: 0, groups: vec![2] })
}

/// Eight fast cores of two strands, and 16 slow ones in clusters of four around an L2.
fn hybrid() -> Truth {
    cores(24, |at| match at {
        0..8 => Core { package: 0, node: 0, l3: 0, l2: at, kind: 1, groups: vec![2] },
        _ => Core { package: 0, node: 0, l3: 0, l2: 8 + (at - 8) / 4, kind: 0, groups: vec![1] },
    })
}

/// Two sockets, each with two L3 of 8 cores without SMT.
fn ccx() -> Truth {
    cores(32, |at| Core { package: at / 16, node: at / 16, l3: at / 8, l2: at, kind: 0, groups: vec![1] })
}

/// One socket with 4 cores of 2 strands: all pairs are measured.
fn small() -> Truth {
    cores(4, |at| Core { package: 0, node: 0, l3: 0, l2: at, kind: 0, groups: vec![2] })
}

/// A guest on two L3 of 8 cores, which is claimed to have one.
fn split() -> Truth {
    cores(16, |at| Core { package: 0, node: 0, l3: at / 8, l2: at, kind: 0, groups: vec![1] })
}

/// A name, and what makes the machine.
type Named = (&'static str, fn() -> Truth);

const HONEST: [Named; 5] =
    [("T3-4", t3_4), ("SMT-2 x86", smt2), ("hybrid", hybrid), ("two CCX a socket", ccx), ("4 cores", small)];

fn contradicted(audit: &Audit) -> usize {
    audit.relations.iter().filter(|relation| relation.verdict == Verdict::Contradicted).count()
}

fn share(audit: &Audit, kind: Kind, verdict: Verdict) -> f64 {
    let of_kind = || audit.relations.iter().filter(|relation| relation.kind == kind);
    of_kind().filter(|relation| relation.verdict == verdict).count() as f64 / of_kind().count().max(1) as f64
}

/// How many of so many audits of honest claims contradict something, and the least share of confirmed cores in them.
fn honest(truth: &Truth, runs: u64) -> (usize, f64, Duration) {
    let claim = truth.claim();
    let audits = (0..runs).map(|seed| {
        let mut model = Model::new(truth, seed);
        (audit(&claim, seed, &mut model), model.took)
    });
    audits.fold((0, 1.0, Duration::ZERO), |(false_ones, least, longest), (audit, took)| {
        let confirmed = share(&audit, Kind::Core, Verdict::Confirmed);
        (false_ones + usize::from(contradicted(&audit) > 0), f64::min(least, confirmed), longest.max(took))
    })
}

/// How many of so many claims with two random strands swapped are contradicted.
fn flagged(truth: &Truth, runs: u64) -> usize {
    let found = |seed: &u64| {
        let mut random = fastrand::Rng::with_seed(*seed);
        let claim = truth.swapped_claim(&mut random);
        let mut model = Model::new(truth, seed + 1000);
        contradicted(&audit(&claim, *seed, &mut model)) > 0
    };
    (0..runs).filter(found).count()
}

/// A guest's claim that each strand is a core of its own.
fn without_siblings(truth: &Truth) -> Machine {
    let lone = Truth { cores: truth.cores.iter().flat_map(Core::apart).collect() };
    let mut claim = lone.claim();
    // The same strands in the same order.
    claim.strands.iter_mut().zip(&truth.claim().strands).for_each(|(lone, own)| lone.os_id = own.os_id);
    claim
}

#[test]
fn honest_claims_are_confirmed_and_never_contradicted() {
    for (name, truth) in HONEST {
        let truth = truth();
        let (false_ones, least, longest) = honest(&truth, 2);
        assert_eq!(false_ones, 0, "{name}");
        assert!(least > 0.9, "{name}: {least} of the cores confirmed");
        assert!(longest < Duration::from_secs(300), "{name}: {longest:?}");
    }
}

#[test]
fn swapped_strands_are_contradicted() {
    for (name, truth) in HONEST {
        let truth = truth();
        assert_eq!(flagged(&truth, 2), 2, "{name}");
    }
}

#[test]
fn alu_groups_of_a_t3_are_found() {
    let truth = t3_4();
    let audit = audit(&truth.claim(), 1, &mut Model::new(&truth, 1));
    assert_eq!(audit.machine.alu, AluSource::Measured);
    let claim = truth.claim();
    for (strand, claimed) in audit.machine.strands.iter().zip(&claim.strands) {
        assert_eq!((strand.os_id, strand.core), (claimed.os_id, claimed.core));
        assert_eq!((strand.alu, strand.slot), (claimed.strand_in_core / 4, claimed.strand_in_core % 4));
    }
}

/// The ids of each core's strands.
fn ids(machine: &Machine) -> Vec<Vec<u32>> {
    let mut ids: Vec<Vec<u32>> = vec![Vec::new(); machine.cores.len()];
    machine.strands.iter().for_each(|strand| ids[strand.core.unwrap() as usize].push(strand.os_id));
    ids.iter_mut().for_each(|ids| ids.sort_unstable());
    ids.sort_unstable();
    ids
}

/// A machine as the file says that describes it.
fn read_back(machine: &Machine) -> Machine {
    let text = charz_topology::machine_xml(machine).unwrap();
    parsers::machine(&parsers::xml(text.as_bytes()).unwrap()).unwrap()
}

/// Cores are written as they were measured, with the ALU groups, whatever was claimed of two of their strands.
#[test]
fn a_contradicted_claim_is_written_as_measured() {
    let truth = t3_4();
    let claim = truth.swapped_claim(&mut fastrand::Rng::with_seed(11));
    let audit = audit(&claim, 11, &mut Model::new(&truth, 11));
    let read = read_back(&audit.machine);
    assert_ne!(ids(&claim), ids(&truth.claim()));
    assert_eq!(ids(&read), ids(&truth.claim()));
    assert_eq!(read.alu, AluSource::Measured);
    let stated = discover(&Source::Synthetic("Package:4 Core:16 Group:2 PU:4".to_owned())).unwrap();
    let order = |machine: &Machine| "round-robin".parse::<Mapping>().unwrap().order(machine).unwrap();
    assert_eq!(order(&read), order(&stated), "round-robin goes by the measured groups");
}

#[test]
fn hidden_siblings_are_found() {
    let truth = smt2();
    let audit = audit(&without_siblings(&truth), 3, &mut Model::new(&truth, 3));
    assert_eq!(contradicted(&audit), 64);
    assert_eq!(ids(&audit.machine), ids(&truth.claim()));
    assert_eq!(ids(&read_back(&audit.machine)), ids(&truth.claim()));
    assert!(audit.machine.caches.iter().all(|cache| cache.strands > 0));
}

/// A cache that is two by the latencies of all pairs is contradicted where its halves meet; nothing else is.
#[test]
fn a_cache_that_is_two_is_contradicted() {
    let truth = split();
    let mut claim = truth.claim();
    let first = claim.strands[0].caches[1];
    claim.strands.iter_mut().for_each(|strand| strand.caches[1] = first);
    let audit = audit(&claim, 5, &mut Model::new(&truth, 5));
    let wrong: Vec<_> = audit.relations.iter().filter(|relation| relation.is_contradicted()).collect();
    let pairs: Vec<_> = wrong.iter().map(|relation| (relation.kind, relation.a, relation.b)).collect();
    assert_eq!(pairs, [(Kind::Cache(3), Some(7), Some(8)), (Kind::Cache(3), Some(0), Some(15))]);
}

/// A guest whose cores are two strands each, but not the two that it claims: claimed and found pairs link all of its strands.
#[test]
fn cores_that_are_shifted_are_found() {
    let core = |at, strands| Core { package: 0, node: 0, l3: 0, l2: at, kind: 0, groups: vec![strands] };
    let truth = cores(33, |at| core(at, if [0, 32].contains(&at) { 1 } else { 2 }));
    let audit = audit(&cores(32, |at| core(at, 2)).claim(), 3, &mut Model::new(&truth, 3));
    assert_eq!(contradicted(&audit), 32 + 31);
    assert_eq!(ids(&audit.machine), ids(&truth.claim()));
}

#[test]
fn a_description_without_cores_gets_those_that_were_found() {
    for truth in [smt2(), small()] {
        let mut claim = truth.claim();
        claim.cores.clear();
        claim.strands.iter_mut().for_each(|strand| strand.core = None);
        let audit = audit(&claim, 3, &mut Model::new(&truth, 3));
        assert_eq!(contradicted(&audit), 0);
        assert_eq!(ids(&read_back(&audit.machine)), ids(&truth.claim()));
    }
}

#[test]
fn a_strand_is_nearest_to_the_node_that_it_claims_or_contradicts_it() {
    let truth = ccx();
    let mut claim = truth.claim();
    for strand in &mut claim.strands {
        strand.numa = strand.numa.map(|node| 1 - node);
        strand.numa_nodes = strand.numa.into_iter().collect();
    }
    let relations = audit(&claim, 3, &mut Model::new(&truth, 3)).relations;
    let wrong: Vec<&Relation> = relations.iter().filter(|relation| relation.is_contradicted()).collect();
    assert!(!wrong.is_empty() && wrong.iter().all(|relation| relation.kind == Kind::Numa), "{wrong:?}");
    // Nodes that are all a strand's own, as with memory of two kinds, do not show where it is.
    claim.strands.iter_mut().for_each(|strand| strand.numa_nodes = vec![0, 1]);
    let audit = audit(&claim, 3, &mut Model::new(&truth, 3));
    assert!(audit.relations.iter().all(|relation| relation.kind != Kind::Numa));
}

/// A machine that slows down whenever strand 0 runs, in so many rounds.
struct Linked<'a>(Model<'a>, u64);

impl Lab for Linked<'_> {
    fn measure(&mut self, round: &Round) -> Option<Vec<Option<f64>>> {
        self.1 = self.1.saturating_sub(1);
        let slower = if self.1 > 0 && round.strands.contains(&0) { 1.5 } else { 1.0 };
        Some(self.0.measure(round)?.into_iter().map(|rate| Some(rate? / slower)).collect())
    }
}

#[test]
fn noise_that_links_one_strand_to_all_hides_no_other_siblings() {
    let truth = smt2();
    let claim = without_siblings(&truth);
    let audit = audit(&claim, 3, &mut Linked(Model::new(&truth, 3), 100));
    assert_eq!(contradicted(&audit), 63);
    let lone = audit.relations.iter().filter(|relation| relation.kind == Kind::Core && relation.b.is_none());
    let lone: Vec<_> = lone.map(|relation| (relation.a, relation.verdict)).collect();
    assert_eq!(lone, [0, 1].map(|strand| (Some(strand), Verdict::Inconclusive)));
    assert_eq!(audit.machine.alu, claim.alu);
}

/// A machine that nothing disturbs but in some of its rounds.
struct Disturbed<'a> {
    model: Model<'a>,
    rounds: u64,
    disturbed: Range<u64>,
}

impl Lab for Disturbed<'_> {
    fn measure(&mut self, round: &Round) -> Option<Vec<Option<f64>>> {
        let is_disturbed = self.disturbed.contains(&self.rounds);
        self.rounds += 1;
        (self.model.noise, self.model.outliers) = if is_disturbed { (0.08, 0.5) } else { (0.003, 0.0) };
        self.model.measure(round)
    }
}

#[test]
fn cores_that_noise_leaves_open_have_no_groups_and_are_measured_again() {
    let lone = |at| Core { package: 0, node: 0, l3: 0, l2: at, kind: 0, groups: vec![1] };
    let truth = cores(2, lone);
    let claim = cores(1, |at| Core { groups: vec![2], ..lone(at) }).claim();
    let audited = |disturbed| {
        let mut lab = Disturbed { model: Model::new(&truth, 7), rounds: 0, disturbed };
        audit(&claim, 7, &mut lab)
    };
    // Four loads of each strand alone and of both, twice.
    let first = 4 * 3 * 2;
    // Noise that ends is waited for, and noise that stays decides nothing.
    assert_eq!([0..0, first..first + 20].map(|disturbed| contradicted(&audited(disturbed))), [1, 1]);
    let noisy = audited(first..u64::MAX);
    let core = noisy.relations.iter().find(|relation| relation.kind == Kind::Core).unwrap();
    assert_eq!(core.verdict, Verdict::Inconclusive);
    assert_eq!(noisy.machine.alu, claim.alu);
    assert!(noisy.relations.iter().all(|relation| relation.kind != Kind::Alu));
}

#[test]
fn a_lab_that_ends_early_leaves_the_rest_inconclusive() {
    let truth = smt2();
    for rounds in [0, 1, 40, 120] {
        let mut model = Model::new(&truth, 5);
        model.rounds_left = rounds;
        let audit = audit(&truth.claim(), 5, &mut model);
        assert!(audit.cut_short && contradicted(&audit) == 0, "{rounds}");
        assert_eq!(audit.machine.alu, truth.claim().alu);
    }
}

/// A machine of which only a part may be used keeps its claim.
#[test]
fn what_may_not_be_used_is_not_measured() {
    let truth = small();
    for used in [0, 1, 4] {
        let mut claim = truth.claim();
        claim.strands.iter_mut().skip(used).for_each(|strand| strand.usable = false);
        let audit = audit(&claim, 2, &mut Model::new(&truth, 2));
        assert_eq!(audit.machine, claim, "{used}");
        let ids = audit.relations.iter().flat_map(|relation| [relation.a, relation.b]).flatten();
        assert!(ids.max().is_none_or(|most| (most as usize) < used), "{used}");
    }
}

#[test]
fn a_disturbed_machine_is_inconclusive() {
    for (name, truth) in HONEST {
        let truth = truth();
        let mut model = Model::new(&truth, 9);
        (model.noise, model.outliers) = (0.15, 0.5);
        let audit = audit(&truth.claim(), 9, &mut model);
        assert_eq!(contradicted(&audit), 0, "{name}");
        let decided = audit.relations.iter().filter(|relation| relation.evidence.confidence.is_some()).count();
        assert!(decided < audit.relations.len(), "{name}");
    }
}

/// The figures in docs/methodology/audit.md: cargo test --release -p charz-audit --lib -- --ignored --nocapture confusion
#[test]
#[ignore = "takes minutes"]
fn confusion() {
    println!(
        "| machine | strands | false contradictions, honest | swaps flagged | cores confirmed, at least | time, model |"
    );
    for (name, truth) in HONEST {
        let truth = truth();
        let (runs, swaps) = (20, 20);
        let (false_ones, least, longest) = honest(&truth, runs);
        let found = flagged(&truth, swaps);
        println!(
            "| {name} | {} | {false_ones} of {runs} | {found} of {swaps} | {:.1}% | {:.0} s |",
            truth.strands(),
            least * 100.0,
            longest.as_secs_f64()
        );
    }
}
