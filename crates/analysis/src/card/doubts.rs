//! What of a card contradicts what.

use super::{Card, Level};
use crate::curve::{Level as Place, Plateau, Point};
use crate::number::time;
use charz_data::report::Report;
use charz_data::units;

/// A measured clock that is further than this from the claimed one is another one.
const CLOCK: f64 = 0.05;

/// Remote memory that is further than this from the firmware's distances, as a factor either way: they come in steps of tenths,
/// and are seldom measured.
const DISTANCE: f64 = 1.25;

/// All contradictions, in the order of the card.
pub(super) fn all(card: &Card, points: &[Point], plateaus: &[Plateau], report: &Report) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut say = |about: &str, sentence: Option<String>| {
        found.extend(sentence.map(|sentence| (about.to_owned(), sentence)));
    };
    say("clock", clock(card));
    let guest = report.host.virtual_machine == Some(true);
    for (at, level) in card.levels.iter().enumerate() {
        let inner = at.checked_sub(1).and_then(|inner| card.levels[inner].claimed.as_ref()?.0.size_bytes);
        say(&level.name, size(level, guest).or_else(|| missing(level, inner.unwrap_or(0), points)));
    }
    // Beyond the last cache that is named there may be a stretch on the way to memory.
    let named = plateaus.iter().rposition(|plateau| matches!(plateau.level, Some(Place::Cache(_)))).unwrap_or(0);
    for plateau in plateaus[..named.min(plateaus.len())].iter().filter(|plateau| plateau.level.is_none()) {
        let (from, to) = (units::iec(plateau.from_bytes), units::iec(plateau.to_bytes));
        let time = time(plateau.ns, plateau.doubtful);
        let sentence = format!("{from} to {to} take {time} a load, and no cache of that size is claimed");
        say("unclaimed", Some(sentence));
    }
    say("numa", numa(card));
    found
}

fn clock(card: &Card) -> Option<String> {
    let (claimed, measured) = (card.clock.claimed_hz?, card.clock.measured_hz?);
    let hertz = |hz: f64| format!("{}Hz", units::count_of(hz));
    let why = match measured / claimed {
        times if times > 1.0 + CLOCK => "a boost above the nominal clock, or a guest that is told another one",
        times if times < 1.0 - CLOCK => "a limit of power or heat, or a governor that saves",
        _ => return None,
    };
    Some(format!("{} measured, {} claimed: {why}", hertz(measured), hertz(claimed)))
}

fn size(level: &Level, guest: bool) -> Option<String> {
    let claimed = level.claimed.as_ref()?.0.size_bytes?;
    let edge = level.found?.edge?;
    if edge.agrees(claimed) {
        return None;
    }
    let why = match edge.beyond_bytes < claimed {
        true if guest => {
            "a guest has the part of a cache that its neighbours leave it, or its host says what it does not have"
        }
        true => "others use it too, or its ways are limited for this process",
        false => "the next level is hidden by it, or the system was told another size",
    };
    Some(format!(
        "{} to {}{} found, {} claimed: {why}",
        units::iec(edge.inside_bytes),
        units::iec(edge.beyond_bytes),
        units::doubt(edge.doubtful),
        units::iec(claimed)
    ))
}

const PLATEAU: usize = 3;

/// A cache that is claimed, and has no plateau, although there are points for one between its size and that of the inner cache.
fn missing(level: &Level, inner: u64, points: &[Point]) -> Option<String> {
    let claimed = level.claimed.as_ref()?.0.size_bytes?;
    let inside = points.iter().filter(|point| point.size_bytes > inner && point.size_bytes <= claimed);
    if points.is_empty() || level.found.is_some() || inside.count() < PLATEAU {
        return None;
    }
    let size = units::iec(claimed);
    Some(format!(
        "{size} claimed, and no plateau found: it is too small beside its neighbours to show, or others use it"
    ))
}

fn numa(card: &Card) -> Option<String> {
    let remote = card.remote?;
    let claimed = remote.claimed_times?;
    let off = remote.times.value / claimed;
    (!(1.0 / DISTANCE..=DISTANCE).contains(&off)).then(|| {
        format!(
            "remote memory takes {:.2}{} times as long as local, and the firmware claims {claimed:.2} times: its distances are a \
             guess, and mappers that go by them may be wrong",
            remote.times.value,
            units::doubt(remote.times.suspect)
        )
    })
}
