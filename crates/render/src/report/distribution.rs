//! What lies behind the numbers of a kernel: how its times are spread, and what its workers cost each other.

use std::io::{self, Write};

use crate::grid;
use charz_analysis::point;
use charz_data::checks::V08;
use charz_data::escape::plain;
use charz_data::report::{Cell, Ending, Peak, Shape};
use charz_data::{Card, units};

/// The heading of what the sweep varies.
const AT: &str = "at";
/// The heading of times in cycles.
const IN_CYCLES: &str = "cycles";
/// The most bands that a line tells.
const MOST_BANDS: usize = 3;

/// Percentiles, the side of the line, and bands, of the kernel's cells that have them. Gives whether there are cycles among them.
pub(super) fn write_times(card: Option<&Card>, cells: &[&Cell], out: &mut dyn Write) -> io::Result<bool> {
    let rows: Vec<[String; 11]> = cells.iter().copied().filter_map(rows).flatten().collect();
    if rows.is_empty() {
        return Ok(false);
    }
    writeln!(out, "{}", legend(card))?;
    let heading =
        [AT, "mapping", "workers", "time", "p50", IN_CYCLES, "p99", "p99.9", "p99.99", "B < A", "times gather"];
    let kept = write_kept(&heading, &[0, 1, 3, 10], &rows, out)?;
    Ok(kept.contains(&IN_CYCLES))
}

/// Writes the columns for which somebody has anything, and gives their headings; those in `words` hold no numbers.
fn write_kept<'a, const N: usize>(
    heading: &[&'a str; N],
    words: &[usize],
    rows: &[[String; N]],
    out: &mut dyn Write,
) -> io::Result<Vec<&'a str>> {
    let kept: Vec<usize> = (0..N).filter(|&at| rows.iter().any(|row| row[at] != "-")).collect();
    let words: Vec<usize> = (0..kept.len()).filter(|&at| words.contains(&kept[at])).collect();
    let heading: Vec<&str> = kept.iter().map(|&at| heading[at]).collect();
    let rows: Vec<Vec<String>> = rows.iter().map(|row| kept.iter().map(|&at| row[at].clone()).collect()).collect();
    grid::columns(&heading, &words, &rows, out)?;
    Ok(heading)
}

/// The parameters that a cell has for itself, in words; a dash where it has none.
fn at(cell: &Cell) -> String {
    let label = point::label(&cell.point);
    if label.is_empty() { "-".into() } else { label.trim_start().to_owned() }
}

/// By which clock cycles are counted.
pub(super) fn write_clock(out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "\ncycles: p50 in cycles of the cores' own clock, told by dependent multiplications before and after each invocation"
    )
}

/// What the two times are.
fn legend(card: Option<&Card>) -> String {
    match card.and_then(|card| card.times.as_ref()) {
        Some(times) => format!("A: {}; B: {}", plain(&times.first), plain(&times.second)),
        None => "A and B: the two times that its workers stamp".into(),
    }
}

/// Two rows, one for each time.
fn rows(cell: &Cell) -> Option<[[String; 11]; 2]> {
    let distribution = cell.distribution.as_ref().filter(|_| cell.value().is_some())?;
    let (hertz, doubt) = (hertz(cell), super::doubt(cell));
    let row = |name: &str, shape: &Shape, below: String, place: [String; 3]| {
        let time = |time: Option<f64>| time.map_or("-".to_owned(), |time| format!("{}{doubt}", units::nanos(time)));
        let cycles = shape.p50_ns.zip(hertz).map(|(time, hertz)| units::count_of(time * hertz / 1e9));
        let cycles = cycles.map_or("-".to_owned(), |cycles| format!("{cycles}{doubt}"));
        let [at, mapping, workers] = place;
        [
            at,
            mapping,
            workers,
            name.to_owned(),
            time(shape.p50_ns),
            cycles,
            time(shape.p99_ns),
            time(shape.p999_ns),
            time(shape.p9999_ns),
            below,
            gather(&shape.peaks, doubt),
        ]
    };
    let place = [at(cell), plain(&cell.mapping), cell.workers.to_string()];
    // The second row goes on where the first one begins.
    let again = [if place[0] == "-" { "-" } else { "" }, "", ""].map(str::to_owned);
    let below = format!("{}{doubt}", units::percent(distribution.second_shorter));
    Some([row("A", &distribution.first, String::new(), place), row("B", &distribution.second, below, again)])
}

/// `86% within 14.0 µs to 22.0 µs, 9% within 30.1 µs to 38.2 µs`.
fn gather(peaks: &[Peak], doubt: &str) -> String {
    let bands: Vec<String> = peaks
        .iter()
        .take(MOST_BANDS)
        .map(|peak| {
            let (low, high) = (units::nanos(peak.low_ns), units::nanos(peak.high_ns));
            format!("{:.0}% within {low} to {high}{doubt}", peak.share * 100.0)
        })
        .collect();
    if bands.is_empty() { "-".into() } else { bands.join(", ") }
}

/// The frequency that its cores had, where every invocation that counts saw it before and after, and it was the same.
fn hertz(cell: &Cell) -> Option<f64> {
    let done = cell.invocations.iter().filter(|invocation| invocation.ending == Ending::Done);
    let seen: Option<Vec<_>> = done.map(|invocation| invocation.evidence.as_ref()?.frequency).collect();
    let seen = seen?;
    let least = seen.iter().map(|frequency| frequency.before_hz).reduce(f64::min).filter(|hertz| *hertz > 0.0)?;
    let most = seen.iter().map(|frequency| frequency.highest_hz).reduce(f64::max)?;
    let drift = seen.iter().map(|frequency| frequency.drift).reduce(f64::max)?;
    // Neither within an invocation, nor from one to the next, nor from core to core.
    let steady = V08.severity(drift).is_none() && V08.severity(most / least - 1.0).is_none();
    steady.then_some(f64::midpoint(least, most))
}

/// Attempts, waits and fairness of the kernel's cells that have them.
pub(super) fn write_sharing(cells: &[&Cell], out: &mut dyn Write) -> io::Result<()> {
    let rows: Vec<[String; 8]> = cells.iter().filter_map(|cell| sharing(cell)).collect();
    if rows.is_empty() {
        return Ok(());
    }
    let heading = [
        AT,
        "mapping",
        "workers",
        "attempts for a success",
        "waited",
        "strands' time lost waiting",
        "fairness",
        "most / least",
    ];
    write_kept(&heading, &[0, 1], &rows, out).map(|_| ())
}

fn sharing(cell: &Cell) -> Option<[String; 8]> {
    // A worker alone shares nothing.
    let sharing = cell.sharing.filter(|_| cell.value().is_some() && cell.workers > 1)?;
    let doubt = super::doubt(cell);
    let most = sharing.most_to_least.map_or("a worker had nothing".to_owned(), |ratio| format!("{ratio:.2}"));
    Some([
        at(cell),
        plain(&cell.mapping),
        cell.workers.to_string(),
        format!("{:.2}{doubt}", sharing.attempts_per_success),
        format!("{}{doubt}", units::percent(sharing.waited)),
        sharing.wait_share.map_or("-".into(), |share| format!("{}{doubt}", units::percent(share))),
        format!("{:.3}{doubt}", sharing.fairness),
        format!("{most}{doubt}"),
    ])
}
