//! Two times against each other: a picture for the terminal, and all bins as CSV.

use std::collections::BTreeMap;
use std::io::{self, Write};

use charz_analysis::point;
use charz_data::escape::{counted, plain};
use charz_data::report::{Cell, JointHistogram, Report};
use charz_data::units;

/// The most characters across and lines down.
const MOST_COLUMNS: i64 = 64;
const MOST_LINES: i64 = 26;
/// Octaves in a character across, at least: a bin.
const FINEST: f64 = 1.0 / 8.0;
/// A character is about twice as high as it is wide, so that a line has twice the octaves.
const ASPECT: f64 = 2.0;
/// From few pairs to many, by the logarithm of their number.
const SHADES: [char; 4] = ['░', '▒', '▓', '█'];
/// The points where both times are the same.
const LINE: char = '/';

/// A picture of each cell that has pairs of times: A to the right, B upwards, both logarithmic, the darker the more pairs.
pub(super) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut any = false;
    for cell in &report.cells {
        let Some(distribution) = cell.distribution.as_ref().filter(|_| super::value(cell).is_some()) else { continue };
        if any {
            writeln!(out)?;
        }
        any = true;
        writeln!(
            out,
            "{}: {}, B is shorter than A in {}{}",
            plain(&point::name(cell)),
            counted(usize::try_from(distribution.samples.count).unwrap_or(usize::MAX), "pair"),
            units::percent(distribution.second_shorter),
            super::doubt(cell),
        )?;
        picture(&distribution.samples, out)?;
    }
    if !any {
        writeln!(out, "no cell of this report has pairs of times")?;
    }
    Ok(())
}

/// A row for each bin of pairs: the least times of the bin, and how many pairs are in it.
pub(super) fn write_csv(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut rows = csv::Writer::from_writer(out);
    let head = ["kernel", "mapping", "workers", "first_ns", "second_ns", "count"];
    rows.write_record(head.into_iter().chain(super::csv::POINT).chain(["status"]))?;
    for cell in &report.cells {
        let Some(distribution) = cell.distribution.as_ref().filter(|_| super::value(cell).is_some()) else { continue };
        let Cell { kernel, mapping, workers, .. } = cell;
        let (kernel, mapping, workers) =
            (super::csv::harmless(kernel), super::csv::harmless(mapping), workers.to_string());
        let (point, status) = (super::csv::point(&cell.point), super::csv::status(cell));
        for [first, second, count] in &distribution.samples.bins {
            let numbers = [first.to_string(), second.to_string(), count.to_string()];
            rows.write_record(
                [&kernel, &mapping, &workers].into_iter().chain(&numbers).chain(&point).chain([&status]),
            )?;
        }
    }
    rows.flush()
}

/// The place of a time on an axis with so many octaves in a character. No time is shorter than half a nanosecond.
fn place(nanos: u64, octaves: f64) -> i64 {
    ((nanos as f64).max(0.5).log2() / octaves).floor() as i64
}

/// Where the first and the last place of an axis are.
fn ends(times: impl Iterator<Item = u64> + Clone, octaves: f64) -> (i64, i64) {
    let places = times.map(|time| place(time, octaves));
    (places.clone().min().unwrap_or(0), places.max().unwrap_or(0))
}

fn picture(samples: &JointHistogram, out: &mut dyn Write) -> io::Result<()> {
    let times = |side: usize| samples.bins.iter().map(move |bins| bins[side]);
    let mut across = FINEST;
    let ((left, right), (bottom, top)) = loop {
        let axes = (ends(times(0), across), ends(times(1), across * ASPECT));
        if axes.0.1 - axes.0.0 < MOST_COLUMNS && axes.1.1 - axes.1.0 < MOST_LINES {
            break axes;
        }
        across *= 2.0;
    };
    let down = across * ASPECT;
    let mut counts: BTreeMap<(i64, i64), u64> = BTreeMap::new();
    for [first, second, count] in &samples.bins {
        let sum = counts.entry((place(*second, down), place(*first, across))).or_default();
        *sum = sum.saturating_add(*count);
    }
    let most = counts.values().copied().max().unwrap_or(1) as f64;
    let shade = |count: u64| {
        let depth = (count as f64 + 1.0).ln() / (most + 1.0).ln() * SHADES.len() as f64;
        SHADES[(depth.ceil() as usize).clamp(1, SHADES.len()) - 1]
    };
    for line in (bottom..=top).rev() {
        let label = units::nanos((line as f64 * down).exp2());
        let marks = (left..=right).map(|column| match counts.get(&(line, column)) {
            Some(count) => shade(*count),
            None if (column as f64 / ASPECT).floor() as i64 == line => LINE,
            None => ' ',
        });
        let marks: String = marks.collect();
        writeln!(out, "{}", format!("{label:>8} |{marks}").trim_end())?;
    }
    writeln!(out, "{:>8} +{}", "B", "-".repeat((right - left + 1) as usize))?;
    writeln!(out, "{:>8}  {}", "A", scale(left, right, across))
}

/// Times under the axis, as many as there is room for.
fn scale(left: i64, right: i64, across: f64) -> String {
    let mut text = String::new();
    let mut length = 0;
    for column in left..=right {
        let at = column - left;
        if at < length || at % 10 != 0 {
            continue;
        }
        let label = format!("^{}", units::nanos((column as f64 * across).exp2()));
        text += &" ".repeat((at - length) as usize);
        text += &label;
        length = at + label.chars().count() as i64;
    }
    text
}
