//! What a load takes from each level of caches and from memory: from curves over sizes, of one worker.

mod curves;
#[cfg(test)]
mod tests;

use charz_words::estimate::time;
use std::collections::BTreeMap;

use super::series::list;
use crate::curve::{self, Edge, Level, MEMORY, Plateau, Reading};
use charz_data::card::Chase;
use charz_data::report::{Finding, FindingKind, Report};
use charz_data::units;
use charz_words::point;

pub(crate) use curves::{Curve, clock, clocks};

pub(super) fn latency(report: &Report) -> Vec<Finding> {
    let random = Curve::of(report, Chase::Random);
    let mut found: Vec<Finding> = random.iter().filter_map(|curve| levels(report, curve)).collect();
    found.extend(random.iter().filter_map(|small| reach(small, &random)));
    found.extend(families(&Curve::of(report, Chase::Stride)).filter_map(|strides| ahead(&strides, &random)));
    found.extend(families(&Curve::of(report, Chase::Chains)).filter_map(|chains| at_once(&chains)));
    found
}

fn finding(curve: &Curve<'_>, value: Option<f64>, text: String) -> Finding {
    let (kernel, mapping) = (curve.kernel.to_owned(), Some(curve.mapping.to_owned()));
    Finding { kind: FindingKind::Latency, kernel, mapping, workers: Some(1), value, text, evidence: String::new() }
}

/// The plateaus of a random chase beside what the operating system claims; or that it shows none.
fn levels(report: &Report, curve: &Curve<'_>) -> Option<Finding> {
    let (name, caches) = (curve.name(), &curve.caches);
    if let Reading::Prefetched { ns, doubtful, .. } = curve::reading(&curve.points, caches, None) {
        let fastest = curve.points.iter().map(|point| point.ns).fold(f64::INFINITY, f64::min);
        let text = format!(
            "{name}: {} per load beyond the caches is {} times the fastest, where memory takes at least {MEMORY} times: the prefetcher \
             was active, or an emulator shows no caches, and the curve has no memory latency",
            time(ns, doubtful),
            units::count_of(ns / fastest),
        );
        return Some(finding(curve, Some(ns), text));
    }
    let plateaus = curve::plateaus(&curve.points, caches);
    let last = plateaus.last()?;
    let unknown: String = plateaus.iter().filter_map(|plateau| unknown(plateau, curve)).collect();
    let other = if unknown.is_empty() { "a level that is not reported" } else { "an unnamed level" };
    let parts: Vec<String> = plateaus.iter().map(|plateau| part(plateau, curve, other)).collect();
    let factor = plateaus.iter().filter_map(|plateau| plateau.edge).map(|edge| edge.factor()).fold(0.0, f64::max);
    let known = if factor > 0.0 { format!(". Sizes are known within a factor of {factor:.1}") } else { String::new() };
    let (missing, contradictions) = (missing(curve, &plateaus), contradictions(report, curve, &plateaus));
    let text = format!("{name}: {}{unknown}{missing}{contradictions}{known}", parts.join(", "));
    Some(finding(curve, Some(last.ns), text))
}

/// `L2 4.00 ns (14.5 cycles) to 724 KiB-1 MiB (the OS claims 1 MiB)`.
fn part(plateau: &Plateau, curve: &Curve<'_>, other: &str) -> String {
    let doubt = units::doubt(plateau.doubtful);
    let cycles = curve.hz.map(|hz| format!(" ({}{doubt} cycles)", units::count_of(plateau.ns * hz / 1e9)));
    let cycles = cycles.unwrap_or_default();
    let end = plateau.edge.map_or(String::new(), |edge| format!(" to {}", between(edge)));
    let claim = match (plateau.edge, plateau.level.and_then(|level| level.claim(&curve.caches))) {
        (Some(_), Some((_, bytes))) => format!(" (reported {})", units::iec(bytes)),
        _ => String::new(),
    };
    let level = plateau.level.map_or(other.to_owned(), |level| curve.level_name(level));
    format!("{level} {}{cycles}{end}{claim}", time(plateau.ns, plateau.doubtful))
}

fn between(edge: Edge) -> String {
    let doubt = units::doubt(edge.doubtful);
    format!("{}-{}{doubt}", units::iec(edge.inside_bytes), units::iec(edge.beyond_bytes))
}

/// What the curve lacks to say that a plateau is, or ends, where no claim would put it.
fn unknown(plateau: &Plateau, curve: &Curve<'_>) -> Option<String> {
    let (level, edge) = (plateau.level?, plateau.edge);
    let (inner, bytes) = level.claim(&curve.caches)?;
    let lack = curve::lack(&curve.points, &curve.asked, inner, bytes, edge)?;
    edge.is_none_or(|edge| !edge.agrees(bytes)).then(|| format!(". {}: {lack}", curve.level_name(level)))
}

/// Caches that are reported and have no plateau, and how each could be measured.
fn missing(curve: &Curve<'_>, plateaus: &[Plateau]) -> String {
    let all = (1..).take(curve.caches.len()).map(Level::Cache);
    let missing = all.filter(|level| plateaus.iter().all(|plateau| plateau.level != Some(*level)));
    let words = missing.filter_map(|level| {
        let (inner, bytes) = level.claim(&curve.caches)?;
        let why = curve::lack(&curve.points, &curve.asked, inner, bytes, None).unwrap_or_else(|| {
            "too close to its neighbours, or other programs use it; --size levels measures a size inside it".to_owned()
        });
        Some(format!(". {} (reported {}) has no plateau: {why}", curve.level_name(level), units::iec(bytes)))
    });
    words.collect()
}

/// Edges that are not where the claims would put them, and what that is likely to be.
fn contradictions(report: &Report, curve: &Curve<'_>, plateaus: &[Plateau]) -> String {
    let words = plateaus.iter().filter(|plateau| unknown(plateau, curve).is_none()).filter_map(|plateau| {
        let (edge, level) = (plateau.edge?, plateau.level?);
        let (_, bytes) = level.claim(&curve.caches)?;
        let (level, place, claim) = (curve.level_name(level), between(edge), units::iec(bytes));
        if edge.agrees(bytes) {
            None
        } else if bytes > edge.beyond_bytes {
            let why = match report.host.virtual_machine {
                Some(true) => "the rest is not this guest's, or neighbours use it",
                _ => "others use the rest, or one core cannot have all of it",
            };
            Some(format!(". The edge of {level} lies at {place}, less than the reported {claim}: {why}"))
        } else {
            Some(format!(
                ". The edge of {level} lies at {place}, more than the reported {claim}: inner caches add \
                 to it, or the report is wrong"
            ))
        }
    });
    words.collect()
}

/// Up to where small pages are as fast as the huge ones of another curve.
fn reach(small: &Curve<'_>, all: &[Curve<'_>]) -> Option<Finding> {
    let huge = all.iter().find(|other| small.differs_in_pages(other))?;
    let reach = curve::reach(&small.points, &huge.points)?;
    let text = format!(
        "{}: TLB reach {}; a miss adds {} ({:.2}x the time on {} pages){}",
        small.name(),
        between(reach.edge),
        time(reach.extra_ns, reach.doubtful),
        reach.times,
        huge.pages,
        edges(small, huge)
    );
    Some(finding(small, Some(reach.edge.inside_bytes as f64), text))
}

/// Where the levels of a chase end on either kind of pages: an edge that moves with the pages is one of translations as well.
fn edges(small: &Curve<'_>, huge: &Curve<'_>) -> String {
    let of = |curve: &Curve<'_>| {
        let plateaus = curve::plateaus(&curve.points, &curve.caches);
        plateaus.into_iter().filter_map(|plateau| Some((plateau.level?, plateau.edge?))).collect::<Vec<_>>()
    };
    let other = of(huge);
    let both = of(small).into_iter().filter_map(|(level, edge)| {
        let (_, beside) = other.iter().find(|(other, _)| *other == level)?;
        let apart = edge.beyond_bytes < beside.inside_bytes || beside.beyond_bytes < edge.inside_bytes;
        let (level, place) = (small.level_name(level), between(edge));
        Some(match apart {
            true => format!("; {level} ends at {place}, on {} pages at {}", huge.pages, between(*beside)),
            false => format!("; {level} ends at {place} on both"),
        })
    });
    both.collect()
}

/// Curves that differ in their strides and chains only.
fn families<'a, 'b>(curves: &'b [Curve<'a>]) -> impl Iterator<Item = Vec<&'b Curve<'a>>> {
    let mut families: BTreeMap<_, Vec<&Curve<'_>>> = BTreeMap::new();
    curves.iter().for_each(|curve| families.entry(curve.family()).or_default().push(curve));
    families.into_values()
}

fn name_of(curve: &Curve<'_>) -> String {
    let (_, mapping, place) = curve.family();
    format!("{} {mapping}{}", curve.kernel, point::label(&place))
}

/// What each stride of a chase in ascending order shows, beside the random ones.
fn ahead(strides: &[&Curve<'_>], random: &[Curve<'_>]) -> Option<Finding> {
    let first = strides.first()?;
    let place = |curve: &Curve<'_>| (curve.family().1.to_owned(), curve.family().2);
    let beside = random.iter().find(|other| place(other) == place(first)).map(Curve::lines);
    let (mut ahead, mut waits, mut inside) = (Vec::new(), Vec::new(), Vec::new());
    let mut fastest: Option<f64> = None;
    for curve in strides {
        let stride = curve.stride;
        match curve::reading(&curve.lines(), &curve.caches, beside.as_deref()) {
            Reading::Prefetched { ns, doubtful, .. } => {
                fastest = Some(fastest.map_or(ns, |fastest| fastest.min(ns)));
                ahead.push(format!("{stride} ({})", time(ns, doubtful)));
            }
            Reading::Latency => waits.push(stride.to_string()),
            Reading::Unreached => inside.push(stride.to_string()),
        }
    }
    let parts = [
        (&ahead, "prefetcher active at strides of", ", no memory latency there"),
        (&waits, "memory latency at strides of", ""),
        (&inside, "all lines fit in cache at strides of", ""),
    ];
    let parts = parts.into_iter().filter(|(strides, ..)| !strides.is_empty());
    let parts: Vec<String> = parts.map(|(strides, what, so)| format!("{what} {} bytes{so}", list(strides))).collect();
    Some(finding(first, fastest, format!("{}: {}", name_of(first), parts.join("; "))))
}

/// How many loads a core has under way at once, by sizes: as many as one chain takes times as long.
fn at_once(chains: &[&Curve<'_>]) -> Option<Finding> {
    let first = chains.iter().find(|curve| curve.chains == 1)?;
    let mut last = None;
    let mut parts = Vec::new();
    for alone in &first.points {
        let same = |curve: &&Curve<'_>| {
            let point = curve.points.iter().find(|point| point.size_bytes == alone.size_bytes)?;
            Some((curve.chains, *point))
        };
        let best = chains.iter().filter_map(same).min_by(|(_, one), (_, other)| one.ns.total_cmp(&other.ns));
        let Some((count, best)) = best.filter(|(count, _)| *count > 1) else { continue };
        let times = alone.ns / best.ns;
        let (size, doubt) = (units::iec(alone.size_bytes), units::doubt(alone.doubtful || best.doubtful));
        let [slow, fast] = [alone, &best].map(|point| time(point.ns, point.doubtful));
        parts.push(format!("{times:.1}{doubt} at {size} ({slow} with 1 chain, {fast} with {count})"));
        last = Some(times);
    }
    let text = format!("{}: parallel loads: {}", name_of(first), parts.join(", "));
    last.map(|times| finding(first, Some(times), text))
}
