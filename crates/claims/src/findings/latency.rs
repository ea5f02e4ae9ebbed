//! What a load takes from each level of caches and from memory: from curves over sizes, of one worker.

use std::collections::BTreeMap;

use super::{Claim, Facts, Finding};
use crate::curve::{self, Edge, Lack, Level, Plateau, Point, Reach, Reading};
use crate::curves::Curve;
use charz_data::card::Chase;
use charz_stats::median;

/// The plateaus of a random chase beside what the operating system claims.
#[derive(Debug)]
pub struct Levels<'a> {
    pub curve: Curve<'a>,
    pub plateaus: Vec<Place>,
    /// Caches that are claimed, of so many bytes, and have no plateau, with what the curve lacks to show one.
    pub missing: Vec<(Level, u64, Option<Lack>)>,
    pub is_guest: bool,
}

/// A plateau.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub plateau: Plateau,
    /// The size that is claimed for it.
    pub claimed: Option<u64>,
    /// How its edge fits that.
    pub misfit: Option<Misfit>,
    /// Nanoseconds of a load at its sizes on huge pages, where that is less by more than noise: the rest is translation.
    pub on_huge: Option<f64>,
}

/// How an edge, or that there is none, differs from what is claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// The curve lacks something to contradict the claim.
    Unknown(Lack),
    Less(Edge),
    More(Edge),
}

/// From so many times what a load takes on huge pages on a plateau is one of translations as well.
const TRANSLATION: f64 = 1.5;

/// Up to where small pages are as fast as the huge ones of another curve.
#[derive(Debug)]
pub struct Reached<'a> {
    pub small: Curve<'a>,
    pub huge_pages: &'a str,
    pub reach: Reach,
    /// Where levels end on small pages, and on huge ones where that is elsewhere: an edge that moves with the pages is one of translations as
    /// well.
    pub edges: Vec<(Level, Edge, Option<Edge>)>,
}

/// What each stride of a chase in ascending order shows.
#[derive(Debug)]
pub struct Ahead<'a> {
    pub curve: Curve<'a>,
    /// Strides that are read ahead: the nanoseconds of a load, and whether they are doubtful.
    pub ahead: Vec<(u64, f64, bool)>,
    /// Those that wait for memory.
    pub waits: Vec<u64>,
    /// Those of which all lines are in caches.
    pub inside: Vec<u64>,
}

/// How many loads a core has under way at once, by sizes: as many as one chain takes times as long.
#[derive(Debug)]
pub struct AtOnce<'a> {
    pub curve: Curve<'a>,
    /// One chain, then the fastest with its number of chains.
    pub loads: Vec<(Point, Point, u64)>,
}

pub(super) fn latency<'a>(facts: &Facts<'_, 'a>) -> Vec<Finding<'a>> {
    let report = facts.report;
    let random = Curve::of(report, Chase::Random);
    let is_guest = report.host.virtual_machine == Some(true);
    let huge = |curve: &Curve<'_>| random.iter().find(|other| curve.differs_in_pages(other));
    let mut found: Vec<Finding<'_>> = random.iter().filter_map(|curve| levels(curve, huge(curve), is_guest)).collect();
    found.extend(random.iter().filter_map(|small| reach(small, &random)));
    found.extend(families(&Curve::of(report, Chase::Stride)).filter_map(|strides| ahead(&strides, &random)));
    found.extend(families(&Curve::of(report, Chase::Chains)).filter_map(|chains| at_once(&chains)));
    found
}

fn finding<'a>(curve: &Curve<'a>, value: Option<f64>, claim: Claim<'a>) -> Finding<'a> {
    let Curve { kernel, mapping, .. } = curve;
    Finding { kernel, mapping: Some(mapping), workers: Some(1), value, evidence: Vec::new(), claim }
}

/// The levels of a random chase; or that it shows none.
fn levels<'a>(curve: &Curve<'a>, huge: Option<&Curve<'a>>, is_guest: bool) -> Option<Finding<'a>> {
    if let Reading::Prefetched { ns, doubtful } = curve::reading(&curve.points, &curve.caches, None) {
        let fastest = curve.points.iter().map(|point| point.ns).fold(f64::INFINITY, f64::min);
        let claim = Claim::NoLatency { curve: curve.clone(), ns, times: ns / fastest, doubtful };
        return Some(finding(curve, Some(ns), claim));
    }
    let plateaus = curve::plateaus(&curve.points, &curve.caches);
    let last = plateaus.last()?.ns;
    let lack = |inner, bytes, edge| curve::lack(&curve.points, &curve.asked, inner, bytes, edge);
    let all = (1..).take(curve.caches.len()).map(Level::Cache);
    let missing = all.filter(|level| plateaus.iter().all(|plateau| plateau.level != Some(*level)));
    let missing = missing.filter_map(|level| {
        let (inner, bytes) = level.claim(&curve.caches)?;
        Some((level, bytes, lack(inner, bytes, None)))
    });
    let misfit = |plateau: &Plateau| {
        let (inner, bytes) = plateau.level?.claim(&curve.caches)?;
        if plateau.edge.is_some_and(|edge| edge.agrees(bytes)) {
            return None;
        }
        let is_less = |edge: Edge| if bytes > edge.beyond_bytes { Misfit::Less(edge) } else { Misfit::More(edge) };
        lack(inner, bytes, plateau.edge).map(Misfit::Unknown).or_else(|| plateau.edge.map(is_less))
    };
    let on_huge = |plateau: &Plateau| {
        let inside = |point: &&Point| (plateau.from_bytes..=plateau.to_bytes).contains(&point.size_bytes);
        let beside = median(huge?.points.iter().filter(inside).map(|point| point.ns));
        beside.filter(|ns| plateau.ns > TRANSLATION * ns)
    };
    let claimed = |plateau: &Plateau| plateau.level?.claim(&curve.caches).map(|(_, bytes)| bytes);
    let place = |plateau: &Plateau| {
        let (claimed, misfit, on_huge) = (claimed(plateau), misfit(plateau), on_huge(plateau));
        Place { plateau: *plateau, claimed, misfit, on_huge }
    };
    let levels = Levels {
        missing: missing.collect(),
        plateaus: plateaus.iter().map(place).collect(),
        curve: curve.clone(),
        is_guest,
    };
    Some(finding(curve, Some(last), Claim::Levels(levels)))
}

fn reach<'a>(small: &Curve<'a>, all: &[Curve<'a>]) -> Option<Finding<'a>> {
    let huge = all.iter().find(|other| small.differs_in_pages(other))?;
    let reach = curve::reach(&small.points, &huge.points)?;
    let of = |curve: &Curve<'_>| {
        let plateaus = curve::plateaus(&curve.points, &curve.caches);
        plateaus.into_iter().filter_map(|plateau| Some((plateau.level?, plateau.edge?))).collect::<Vec<_>>()
    };
    let other = of(huge);
    let both = of(small).into_iter().filter_map(|(level, edge)| {
        let (_, beside) = other.iter().find(|(other, _)| *other == level)?;
        let apart = edge.beyond_bytes < beside.inside_bytes || beside.beyond_bytes < edge.inside_bytes;
        Some((level, edge, apart.then_some(*beside)))
    });
    let reached = Reached { small: small.clone(), huge_pages: huge.pages, reach, edges: both.collect() };
    Some(finding(small, Some(reach.edge.inside_bytes as f64), Claim::Reach(reached)))
}

/// Curves that differ in their strides and chains only.
fn families<'a, 'b>(curves: &'b [Curve<'a>]) -> impl Iterator<Item = Vec<&'b Curve<'a>>> {
    let mut families: BTreeMap<_, Vec<&Curve<'_>>> = BTreeMap::new();
    curves.iter().for_each(|curve| families.entry(curve.family()).or_default().push(curve));
    families.into_values()
}

/// Beside the random chases.
fn ahead<'a>(strides: &[&Curve<'a>], random: &[Curve<'a>]) -> Option<Finding<'a>> {
    let first = *strides.first()?;
    let place = |curve: &Curve<'a>| (curve.family().1, curve.family().2);
    let beside = random.iter().find(|other| place(other) == place(first)).map(Curve::lines);
    let mut found = Ahead { curve: first.clone(), ahead: Vec::new(), waits: Vec::new(), inside: Vec::new() };
    for curve in strides {
        match curve::reading(&curve.lines(), &curve.caches, beside.as_deref()) {
            Reading::Prefetched { ns, doubtful } => found.ahead.push((curve.stride, ns, doubtful)),
            Reading::Latency => found.waits.push(curve.stride),
            Reading::Unreached => found.inside.push(curve.stride),
        }
    }
    let fastest = found.ahead.iter().map(|(_, ns, _)| *ns).min_by(f64::total_cmp);
    Some(finding(first, fastest, Claim::Ahead(found)))
}

fn at_once<'a>(chains: &[&Curve<'a>]) -> Option<Finding<'a>> {
    let first = *chains.iter().find(|curve| curve.chains == 1)?;
    let fastest = |alone: &Point| {
        let same = |curve: &&Curve<'_>| {
            let point = curve.points.iter().find(|point| point.size_bytes == alone.size_bytes)?;
            Some((*alone, *point, curve.chains))
        };
        let best = chains.iter().filter_map(same).min_by(|(_, one, _), (_, other, _)| one.ns.total_cmp(&other.ns));
        best.filter(|(.., count)| *count > 1)
    };
    let loads: Vec<(Point, Point, u64)> = first.points.iter().filter_map(fastest).collect();
    let last = loads.last().map(|(alone, best, _)| alone.ns / best.ns)?;
    Some(finding(first, Some(last), Claim::AtOnce(AtOnce { curve: first.clone(), loads })))
}
