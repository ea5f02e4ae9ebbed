//! What of a card contradicts what.

use super::{Card, Level};
use charz_claims::curve::{Level as Place, Plateau, lack};
use charz_claims::curves::Curve;
use charz_data::report::Report;
use charz_data::units;
use charz_words::estimate::time;

/// Remote memory that is further than this from the firmware's distances, as a factor either way: they come in steps of tenths,
/// and are seldom measured.
const DISTANCE: f64 = 1.25;

/// What something is about, and what is to be said of it.
type Said = Vec<(String, String)>;

/// All contradictions, in the order of the card, and what was not measured well enough for one.
pub(super) fn all(card: &Card, curve: Option<&Curve<'_>>, plateaus: &[Plateau], report: &Report) -> (Said, Said) {
    let (mut found, mut unknown) = (Said::new(), Said::new());
    let mut say = |about: &str, sentence: Option<String>| {
        found.extend(sentence.map(|sentence| (about.to_owned(), sentence)));
    };
    let guest = report.host.virtual_machine == Some(true);
    for (at, level) in card.levels.iter().enumerate() {
        let inner = at.checked_sub(1).and_then(|inner| card.levels[inner].claimed.as_ref()?.0.size_bytes);
        let Some((curve, bytes)) = curve.zip(level.claimed.as_ref().and_then(|claimed| claimed.0.size_bytes)) else {
            continue;
        };
        let edge = level.found.and_then(|found| found.edge);
        match lack(&curve.points, &curve.asked, inner.unwrap_or(0), bytes, edge) {
            Some(lack) => unknown.push((level.name.clone(), charz_words::findings::lack(&lack))),
            None => say(&level.name, size(level, bytes, guest).or_else(|| missing(level, bytes))),
        }
    }
    // Beyond the last cache that is named there may be a stretch on the way to memory.
    let named = plateaus.iter().rposition(|plateau| matches!(plateau.level, Some(Place::Cache(_)))).unwrap_or(0);
    let unclaimed = plateaus[..named.min(plateaus.len())].iter().filter(|plateau| plateau.level.is_none());
    // As long as a level is not known, any plateau may be its.
    for plateau in unclaimed.filter(|plateau| unknown.is_empty() && !plateau.doubtful) {
        let (from, to) = (units::iec(plateau.from_bytes), units::iec(plateau.to_bytes));
        let time = time(plateau.ns, plateau.doubtful);
        let sentence = format!("{from} to {to} take {time} per load, but no cache of that size is reported");
        say("unclaimed", Some(sentence));
    }
    match card.remote.filter(|remote| remote.times.suspect && remote.claimed_times.is_some()) {
        Some(_) => unknown.push((
            "numa".into(),
            "too few reliable latencies to compare with the distances that the firmware reports".into(),
        )),
        None => say("numa", numa(card)),
    }
    (found, unknown)
}

fn size(level: &Level, claimed: u64, guest: bool) -> Option<String> {
    let edge = level.found?.edge?;
    if edge.agrees(claimed) {
        return None;
    }
    let why = match edge.beyond_bytes < claimed {
        true if guest => "neighbours of the guest use the rest, or the host reports another size",
        true => "other programs use the rest, or its ways are limited for this process",
        false => "it hides the next level, or the system reports another size",
    };
    Some(format!(
        "{} to {}{} measured, {} reported: {why}",
        units::iec(edge.inside_bytes),
        units::iec(edge.beyond_bytes),
        units::doubt(edge.doubtful),
        units::iec(claimed)
    ))
}

/// A cache that is claimed, and has no plateau.
fn missing(level: &Level, claimed: u64) -> Option<String> {
    let size = units::iec(claimed);
    level.found.is_none().then(|| {
        format!(
            "{size} reported, no plateau measured: too small beside its neighbours to show, or other programs use it"
        )
    })
}

fn numa(card: &Card) -> Option<String> {
    let remote = card.remote?;
    let claimed = remote.claimed_times?;
    let off = remote.times.value / claimed;
    (!(1.0 / DISTANCE..=DISTANCE).contains(&off)).then(|| {
        format!(
            "remote memory takes {:.2}{} times as long as local, {claimed:.2} times reported: the firmware's distances are a guess, \
             and mappers that use them may be wrong",
            remote.times.value,
            units::doubt(remote.times.suspect)
        )
    })
}
