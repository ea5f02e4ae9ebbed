//! The NUMA node of strands, by the latency of its memory and of another node's, and their kind of core, by rates.

use charz_data::Arrange;
use std::collections::BTreeMap;

use super::caches::{cache_of, last_level};
use super::cores::Cores;
use super::interference::Interference;
use super::relation::{Evidence, Figure, Kind, Name, Reason, Relation, confidence};
use super::{Bench, Probe, median};

/// Latencies whose ratio is beyond these are those of different distances.
const NEARER: f64 = 0.87;
const FARTHER: f64 = 1.15;
/// The noise of a ratio of two latencies that were measured once each.
const NOISE: f64 = 0.03;
/// How far the rates of two kinds of core must be apart to tell strands of one from those of the other.
const KINDS_APART: f64 = 1.15;

/// For a strand of each last cache and node: whether the memory of its claimed node is nearer than that of the next node.
pub(super) fn nodes(bench: &mut Bench<'_>, cores: &Cores) -> Vec<Relation> {
    let claim = bench.claim;
    let nodes: Vec<(u32, u32)> = (0..)
        .zip(&claim.numa_nodes)
        .filter(|(_, node)| node.usable && node.strands > 0 && node.memory_bytes != Some(0))
        .filter_map(|(index, node)| Some((index, node.os_id?)))
        .collect();
    if nodes.len() < 2 {
        return Vec::new();
    }
    let level = last_level(bench);
    let mut firsts: BTreeMap<(u32, Option<u32>), usize> = BTreeMap::new();
    for strand in cores.representatives() {
        if let Some(node) = bench.strands[strand].numa {
            let cache = cache_of(bench, strand, level).map(|(index, _)| index);
            firsts.entry((node, cache)).or_insert(strand);
        }
    }
    let mut of_node: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    firsts.into_iter().for_each(|((node, _), strand)| of_node.entry(node).or_default().push(strand));
    let most = of_node.values().map(Vec::len).max().unwrap_or(0);
    let mut relations = Vec::new();
    for rank in 0..most {
        // One strand of each node at once: together they load no memory.
        let at_once: Vec<usize> = of_node.values().filter_map(|strands| strands.get(rank)).copied().collect();
        let place = |strand: &usize| {
            let strand = bench.strands[*strand];
            let own = nodes.iter().position(|(index, _)| Some(*index) == strand.numa)?;
            // A strand may have several nodes of its own, of memory of different kinds.
            let next = (1..nodes.len()).map(|after| nodes[(own + after) % nodes.len()]);
            let (_, next) = next.into_iter().find(|(index, _)| !strand.numa_nodes.contains(index))?;
            Some((nodes[own].1, next))
        };
        let placed: Vec<(usize, u32, u32)> =
            at_once.iter().filter_map(|strand| place(strand).map(|(own, next)| (*strand, own, next))).collect();
        let first = ratios(bench, &placed);
        let again: Vec<(usize, u32, u32)> = placed
            .iter()
            .zip(&first)
            .filter(|(_, ratio)| ratio.is_some_and(|ratio| ratio[2] >= FARTHER))
            .map(|(place, _)| *place)
            .collect();
        let second = if again.is_empty() { Vec::new() } else { ratios(bench, &again) };
        for (place, seen) in placed.iter().zip(&first) {
            let repeated = again.iter().position(|other| other == place).map(|at| second[at]);
            relations.push(of_node_claim(bench, *place, *seen, repeated));
        }
    }
    relations
}

/// The latency of each strand's own node, that of the other, and their ratio.
fn ratios(bench: &mut Bench<'_>, placed: &[(usize, u32, u32)]) -> Vec<Option<[f64; 3]>> {
    let strands: Vec<usize> = placed.iter().map(|(strand, ..)| *strand).collect();
    let own = bench.measure_on(Probe::Memory, &strands, placed.iter().map(|(_, own, _)| *own).collect());
    let next = bench.measure_on(Probe::Memory, &strands, placed.iter().map(|(_, _, next)| *next).collect());
    own.into_iter().zip(next).map(|(own, next)| Some([own?, next?, own? / next?])).collect()
}

fn of_node_claim(
    bench: &Bench<'_>,
    (strand, own, next): (usize, u32, u32),
    seen: Option<[f64; 3]>,
    repeated: Option<Option<[f64; 3]>>,
) -> Relation {
    let (measured, reason) = match (seen, repeated) {
        (None, _) => (None, Some(Reason::NotMeasured)),
        (Some([.., ratio]), _) if ratio <= NEARER => (Some(true), None),
        (Some([.., ratio]), Some(Some([.., again]))) if ratio >= FARTHER && again >= FARTHER => {
            (Some(false), Some(Reason::SeenTwice))
        }
        (Some([.., ratio]), _) if ratio >= FARTHER => (None, Some(Reason::NotSeenAgain)),
        (Some(_), _) => (None, Some(Reason::NodesAlike)),
    };
    let figures = seen.map(|[near, far, _]| {
        vec![Figure::new("own_node", near, "ns"), Figure { name: Name::Node(next), value: far, unit: "ns" }]
    });
    let evidence = Evidence {
        claimed: Some(true),
        measured,
        figures: figures.unwrap_or_default(),
        rounds: u64::from(seen.is_some()) + u64::from(repeated.flatten().is_some()),
        confidence: measured.and(seen).map(|[.., ratio]| confidence(ratio - 1.0, NOISE)),
        reason,
    };
    Relation::new(Kind::Numa, bench.id(strand), Some(own), evidence)
}

/// Whether each strand that ran alone has the rate of its kind of core; on a machine of one kind, whether the rates are those of one.
pub(super) fn kinds(bench: &Bench<'_>, integer: &Interference) -> Vec<Relation> {
    let mut of_kind: BTreeMap<Option<u32>, Vec<Rates>> = BTreeMap::new();
    for (strand, rates) in integer.rates().filter(|(_, rates)| !rates.is_empty()) {
        of_kind.entry(bench.strands[strand].kind).or_default().push((strand, rates.to_vec()));
    }
    let typical = |strands: &[Rates]| {
        median(strands.iter().filter_map(|(_, rates)| median(rates.iter().copied()))).unwrap_or(0.0)
    };
    let mut kinds: Vec<OfKind> =
        of_kind.into_values().map(|strands| OfKind { typical: typical(&strands), strands }).collect();
    kinds.arrange_by(|a, b| a.typical.total_cmp(&b.typical));
    match &kinds[..] {
        [] => Vec::new(),
        [OfKind { strands, .. }] => one_kind(bench, strands).into_iter().collect(),
        kinds => (0..kinds.len()).flat_map(|at| of_several(bench, kinds, at)).collect(),
    }
}

/// A strand with its rates.
type Rates = (usize, Vec<f64>);

/// The strands of a kind of core.
struct OfKind {
    typical: f64,
    strands: Vec<Rates>,
}

fn one_kind(bench: &Bench<'_>, strands: &[Rates]) -> Option<Relation> {
    let rate = |(strand, rates): &Rates| Some((*strand, median(rates.iter().copied())?));
    let rates: Vec<(usize, f64)> = strands.iter().filter_map(rate).collect();
    let slowest = rates.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let fastest = rates.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    if slowest.0 == fastest.0 {
        return None;
    }
    let alike = fastest.1 < KINDS_APART * slowest.1;
    let evidence = Evidence {
        claimed: Some(true),
        measured: alike.then_some(true),
        figures: vec![Figure::new("fastest", fastest.1, "op/s"), Figure::new("slowest", slowest.1, "op/s")],
        rounds: strands.iter().map(|(_, rates)| rates.len()).min().unwrap_or(0) as u64,
        confidence: None,
        reason: (!alike).then_some(Reason::RatesDiffer),
    };
    Some(Relation::new(Kind::CoreKind, bench.id(fastest.0), Some(bench.id(slowest.0)), evidence))
}

fn of_several(bench: &Bench<'_>, kinds: &[OfKind], at: usize) -> Vec<Relation> {
    let OfKind { typical, strands } = &kinds[at];
    // A limit half way, by ratio, to the next slower and the next faster kind, where that is apart.
    let between = |other: Option<&OfKind>| {
        let other = other?.typical;
        (other.max(*typical) > KINDS_APART * other.min(*typical)).then(|| (other * typical).sqrt())
    };
    let slower = at.checked_sub(1).and_then(|at| between(kinds.get(at)));
    let faster = between(kinds.get(at + 1));
    let relation = |(strand, rates): &Rates| {
        let rate = median(rates.iter().copied())?;
        let (measured, reason) = match (slower, faster) {
            (None, None) => (None, Some(Reason::RateOfAnother)),
            (_, Some(limit)) if rates.len() > 1 && rates.iter().all(|rate| *rate > limit) => {
                (Some(false), Some(Reason::AsAFasterKind))
            }
            (Some(limit), _) if rate < limit => (None, Some(Reason::BelowItsKind)),
            (_, Some(limit)) if rate > limit => (None, Some(Reason::RoundsDisagree)),
            _ => (Some(true), None),
        };
        let limit = [slower, faster].into_iter().flatten().map(|limit| (rate / limit - 1.0).abs()).reduce(f64::min);
        let evidence = Evidence {
            claimed: Some(true),
            measured,
            figures: vec![Figure::new("rate", rate, "op/s"), Figure::new("its_kind", *typical, "op/s")],
            rounds: rates.len() as u64,
            confidence: measured.and(limit).map(|limit| confidence(limit, NOISE)),
            reason,
        };
        Some(Relation::new(Kind::CoreKind, bench.id(*strand), None, evidence))
    };
    strands.iter().filter_map(relation).collect()
}
