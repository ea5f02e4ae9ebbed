//! What a load takes.

use charz_claims::curve::{Edge, MEMORY};
use charz_claims::curves::Curve;
use charz_claims::findings::{
    Ahead, AtOnce, Contexts, Hidden, Knee, Levels, Load, Misfit, Overlap, Place, Reached, Waits,
};
use charz_data::escape::counted;
use charz_data::report::{Cell, Point, Unit};
use charz_data::units;

use super::list;
use crate::curve::{lack, level_name};
use crate::estimate::time;
use crate::point;

fn name(curve: &Curve<'_>) -> String {
    format!("{} {}{}", curve.kernel, curve.mapping, point::label(&curve.place))
}

/// That of curves that differ in their strides and chains.
fn family_name(curve: &Curve<'_>) -> String {
    let (kernel, mapping, place) = curve.family();
    format!("{kernel} {mapping}{}", point::label(&place))
}

pub(super) fn none(curve: &Curve<'_>, ns: f64, times: f64, doubtful: bool) -> String {
    format!(
        "{}: {} per load beyond the caches is {} times the fastest, where memory takes at least {MEMORY} times: the prefetcher \
         was active, or an emulator shows no caches, and the curve has no memory latency",
        name(curve),
        time(ns, doubtful),
        units::count_of(times),
    )
}

pub(super) fn levels(own: &Levels<'_>) -> String {
    let Levels { curve, plateaus, missing, is_guest } = own;
    let unknown = plateaus.iter().filter_map(|place| match (place.plateau.level, &place.misfit) {
        (Some(level), Some(Misfit::Unknown(found))) => Some(format!(". {}: {}", level_name(curve, level), lack(found))),
        _ => None,
    });
    let unknown: String = unknown.collect();
    let other = if unknown.is_empty() { "a level that is not reported" } else { "an unnamed level" };
    let parts = plateaus.iter().map(|place| part(place, curve, other));
    let parts = parts.collect::<Vec<_>>().join(", ");
    let missing = missing.iter().map(|(level, bytes, lacks)| {
        let why = lacks.as_ref().map(lack).unwrap_or_else(|| {
            "too close to its neighbours, or other programs use it; --size levels measures a size inside it".to_owned()
        });
        format!(". {} (reported {}) has no plateau: {why}", level_name(curve, *level), units::iec(*bytes))
    });
    let missing: String = missing.collect();
    let elsewhere = plateaus.iter().filter_map(|Place { plateau, claimed, misfit, .. }| {
        let (edge, than, why) = match misfit.as_ref()? {
            Misfit::Unknown(_) => return None,
            Misfit::Less(edge) if *is_guest => (edge, "less", "the rest is not this guest's, or neighbours use it"),
            Misfit::Less(edge) => (edge, "less", "others use the rest, or one core cannot have all of it"),
            Misfit::More(edge) => (edge, "more", "inner caches add to it, or the report is wrong"),
        };
        let (level, place, claim) = (level_name(curve, plateau.level?), between(edge), units::iec((*claimed)?));
        Some(format!(". The edge of {level} lies at {place}, {than} than the reported {claim}: {why}"))
    });
    let elsewhere: String = elsewhere.collect();
    let factor = plateaus.iter().filter_map(|place| place.plateau.edge).map(|edge| edge.factor()).fold(0.0, f64::max);
    let known = if factor > 0.0 { format!(". Sizes are known within a factor of {factor:.1}") } else { String::new() };
    format!("{}: {parts}{unknown}{missing}{elsewhere}{known}", name(curve))
}

/// `L2 4.00 ns (14.5 cycles) to 724 KiB-1 MiB (reported 1 MiB)`.
fn part(place: &Place, curve: &Curve<'_>, other: &str) -> String {
    let Place { plateau, claimed, on_huge, .. } = place;
    let doubt = units::doubt(plateau.doubtful);
    let cycles = curve.hz.map(|hz| format!(" ({}{doubt} cycles)", units::count_of(plateau.ns * hz / 1e9)));
    let end = plateau.edge.map(|edge| format!(" to {}", between(&edge)));
    let claim = claimed.filter(|_| plateau.edge.is_some()).map(|bytes| format!(" (reported {})", units::iec(bytes)));
    let level = plateau.level.map_or(other.to_owned(), |level| level_name(curve, level));
    let translation = on_huge.map(|ns| format!(" with translation ({} on huge pages)", time(ns, plateau.doubtful)));
    let rest: String = [cycles, translation, end, claim].into_iter().flatten().collect();
    format!("{level} {}{rest}", time(plateau.ns, plateau.doubtful))
}

fn between(edge: &Edge) -> String {
    let doubt = units::doubt(edge.doubtful);
    format!("{}-{}{doubt}", units::iec(edge.inside_bytes), units::iec(edge.beyond_bytes))
}

pub(super) fn reach(own: &Reached<'_>) -> String {
    let Reached { small, huge_pages, reach, edges } = own;
    let edges = edges.iter().map(|(level, edge, beside)| {
        let (level, place) = (level_name(small, *level), between(edge));
        match beside {
            Some(beside) => format!("; {level} ends at {place}, on {huge_pages} pages at {}", between(beside)),
            None => format!("; {level} ends at {place} on both"),
        }
    });
    let edges: String = edges.collect();
    let (edge, extra, times) = (between(&reach.edge), time(reach.extra_ns, reach.doubtful), reach.times);
    let name = name(small);
    format!("{name}: TLB reach {edge}; a miss adds {extra} ({times:.2}x the time on {huge_pages} pages){edges}")
}

pub(super) fn ahead(own: &Ahead<'_>) -> String {
    let ahead = own.ahead.iter().map(|(stride, ns, doubtful)| format!("{stride} ({})", time(*ns, *doubtful)));
    let [waits, inside] = [&own.waits, &own.inside].map(|strides| strides.iter().map(u64::to_string).collect());
    let parts: [(Vec<String>, _, _); 3] = [
        (ahead.collect(), "prefetcher active at strides of", ", no memory latency there"),
        (waits, "memory latency at strides of", ""),
        (inside, "no block beyond the caches has a number at strides of", ""),
    ];
    let parts = parts.iter().filter(|(strides, ..)| !strides.is_empty());
    let parts: Vec<String> = parts.map(|(strides, what, so)| format!("{what} {} bytes{so}", list(strides))).collect();
    format!("{}: {}", family_name(&own.curve), parts.join("; "))
}

pub(super) fn at_once(own: &AtOnce<'_>) -> String {
    let parts = own.loads.iter().map(|(alone, best, count)| {
        let (size, doubt) = (units::iec(alone.size_bytes), units::doubt(alone.doubtful || best.doubtful));
        let ([slow, fast], times) = ([alone, best].map(|point| time(point.ns, point.doubtful)), alone.ns / best.ns);
        format!("{times:.1}{doubt} at {size} ({slow} with 1 chain, {fast} with {count})")
    });
    format!("{}: parallel loads: {}", family_name(&own.curve), parts.collect::<Vec<_>>().join(", "))
}

pub(super) fn waits(own: &Waits<'_>) -> String {
    let doubt = units::doubt(own.doubtful);
    let word = match own.contexts {
        Contexts::Chains => "chain",
        Contexts::Strands => "strand",
    };
    let several = |number: u64| counted(number as usize, word);
    let hidden = match own.hidden {
        Hidden::From(0, enough) => format!("hidden from {} on", several(enough)),
        Hidden::From(few, enough) => format!("hidden from {} on ({few} wait)", several(enough)),
        Hidden::NotBy(most) => format!("not hidden by {}", several(most)),
    };
    let cycles = |ns: f64| own.hz.map(|hz| format!(" ({} cycles)", units::count_of(ns * hz / 1e9))).unwrap_or_default();
    let time = |ns: f64| time(ns, own.doubtful) + &cycles(ns);
    let (needed, ends) = own.needed();
    let [needed, low, high] = [needed, ends.low, ends.high].map(units::count_of);
    let (most, gain) = (own.most.0, units::ratio(own.most.1));
    let [one, many] = own.faster.map(units::ratio);
    let name = point::name(own.cell);
    format!(
        "waits of {} per load are {hidden}, beside {} of computing: {name}; it takes {needed}{doubt} ({low} to {high}) where nothing else \
         limits the core; {most} do {gain}{doubt} times the loads of 1; with a clock twice as fast 1 would do {one}{doubt} times as many, \
         {most} {many}{doubt} times",
        time(own.wait.0),
        time(own.compute.0),
    )
}

pub(super) fn overlap(own: &Overlap<'_>) -> String {
    let doubt = units::doubt(own.doubtful);
    let (gain, (low, high)) = own.gain;
    let [gain, low, high] = [gain, low, high].map(units::ratio);
    let strands = counted(own.cell.workers as usize, "strand");
    let gains = format!("{strands} of one core do {gain}{doubt} times ({low} to {high}) the work of 1");
    let name = point::name(own.cell);
    match own.waits() {
        0.0 => format!("{name}: no waits that other strands hide: {gains}"),
        share => format!(
            "{name}: 1 thread waits for at least {}{doubt} of its time: {gains}; with a clock twice as fast it would do at most {}{doubt} \
             times as much",
            units::percent(share),
            units::ratio(own.faster()),
        ),
    }
}

pub(super) fn loaded(cell: &Cell, Knee { idle, knee, most }: &Knee) -> String {
    let ns = |load: &Load| time(load.ns, load.doubtful);
    let rate = |load: &Load| units::value(load.bytes_per_second, Unit::BytesPerSecond) + units::doubt(load.doubtful);
    let Cell { kernel, mapping, workers, .. } = cell;
    // The delay is the axis of the curve.
    let label = point::label(&Point { delay: None, ..cell.point });
    let head = format!("{kernel} {mapping} x{workers}{label}: {} at {}", ns(idle), rate(idle));
    let Some((free, full)) = knee else {
        let (rate, time) = (rate(most), ns(most));
        return format!("{head}; no knee up to {rate}, where a load takes {time}: less than twice as long as idle");
    };
    let (times, doubt) = (units::count_of(full.ns / idle.ns), units::doubt(full.doubtful || idle.doubtful));
    let (at, load, before, free) = (rate(full), ns(full), ns(free), rate(free));
    format!(
        "{head}; the knee is at {at}, where a load takes {load}: {times}{doubt} times as long as idle, after {before} at {free}"
    )
}
