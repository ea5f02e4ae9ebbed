//! How often times came: alone as a histogram, or two of them against each other, the darker the more often.

use std::collections::BTreeMap;
use std::io;

use textwrap::core::display_width;

use super::pen::{Pen, short};
use super::sheet::{Sheet, Style, faint, ink};
use super::ticks;
use charz_analysis::figure::{Axis, Bar, JointPlot, Span, range};

/// From few to many, by the logarithm of their number.
const SHADES: [(char, u8); 4] = [('░', 74), ('▒', 32), ('▓', 166), ('█', 208)];
/// Eighths of a cell upwards and to the right.
const UP: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const RIGHT: [char; 9] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];
/// Where both times are the same.
const DIAGONAL: &str = "/";
/// Lines of the histogram above a picture, and columns of the one to the right of it.
const ABOVE: usize = 3;
const BESIDE: usize = 10;

pub(super) fn draw(joint: &JointPlot, pen: &mut Pen<'_>) -> io::Result<()> {
    let drawn = match &joint.y {
        Some(y) => pairs(joint, y, pen)?,
        None => alone(joint, pen)?,
    };
    if !drawn {
        pen.text("", "no time to draw")?;
    }
    pen.text("", &joint.summary())?;
    for bands in joint.bands_in_words() {
        pen.text("", &bands)?;
    }
    Ok(())
}

/// The ends of bins, all of which a logarithm has.
fn ends(bins: impl Iterator<Item = [f64; 2]>) -> Option<[f64; 2]> {
    let bins = bins.filter(|[low, high]| *low >= 0.0 && high > low && high.is_finite());
    // The first bin begins at 0, for which a logarithm has no place.
    range(bins.flat_map(|[low, high]| [if low > 0.0 { low } else { high / 2.0 }, high]))
}

/// The cells of an axis that a bin lies in, at least one; nothing beyond the ends.
fn cells(span: &Span, [low, high]: [f64; 2], count: usize) -> Option<std::ops::RangeInclusive<usize>> {
    let low = if low > 0.0 { low } else { high / 2.0 };
    let (from, to) = (span.inside(low)? * count as f64, span.inside(high)? * count as f64);
    let first = (from.floor() as usize).min(count - 1);
    // A bin that ends where the next cell begins is not in it.
    let last = (to.ceil() as usize).saturating_sub(1).clamp(first, count - 1);
    Some(first..=last)
}

/// Counts of bins by cell; a bin over several cells is shared out among them.
fn counted(bars: &[Bar], span: &Span, count: usize) -> Vec<f64> {
    let mut counts = vec![0.0; count];
    for bar in bars {
        let Some(inside) = cells(span, bar.x, count) else { continue };
        let share = bar.count as f64 / inside.clone().count() as f64;
        inside.for_each(|cell| counts[cell] += share);
    }
    counts
}

/// One time: bars upwards. Gives whether there was anything to draw.
fn alone(joint: &JointPlot, pen: &mut Pen<'_>) -> io::Result<bool> {
    const HEIGHT: usize = 8;
    let width = pen.width().saturating_sub(8).min(120);
    let span = ends(joint.first.iter().map(|bar| bar.x)).map(|ends| joint.x.span(Some(ends)));
    let Some(span) = span else { return Ok(false) };
    let counts = counted(&joint.first, &span, width);
    let mut sheet = Sheet::new(pen.width(), HEIGHT + 3);
    upwards(&mut sheet, &counts, (0, 0), HEIGHT);
    ticks::draw(&joint.x, &span, (0, HEIGHT), width, &mut sheet);
    pen.sheet(&sheet)?;
    Ok(true)
}

/// Two times: one to the right, one upwards.
fn pairs(joint: &JointPlot, y_axis: &Axis, pen: &mut Pen<'_>) -> io::Result<bool> {
    let left = 11;
    let width = pen.width().saturating_sub(left + BESIDE + 2).min(80);
    let height = (width * 2 / 5).clamp(6, 28);
    let x = ends(joint.pairs.iter().map(|pair| pair.x)).map(|ends| joint.x.span(Some(ends)));
    let y = ends(joint.pairs.iter().map(|pair| pair.y)).map(|ends| y_axis.span(Some(ends)));
    let Some((x, y)) = x.zip(y) else { return Ok(false) };
    let mut counts: BTreeMap<(usize, usize), f64> = BTreeMap::new();
    for pair in &joint.pairs {
        let Some((columns, lines)) = cells(&x, pair.x, width).zip(cells(&y, pair.y, height)) else { continue };
        let share = pair.count as f64 / (columns.clone().count() * lines.clone().count()) as f64;
        for line in lines {
            columns.clone().for_each(|column| *counts.entry((column, line)).or_default() += share);
        }
    }
    let most = counts.values().copied().fold(0.0, f64::max);
    let mut sheet = Sheet::new(pen.width(), ABOVE + height + 3);
    upwards(&mut sheet, &counted(&joint.first, &x, width), (left, 0), ABOVE);
    for line in 0..height {
        let row = ABOVE + height - 1 - line;
        sheet.put(left - 1, row, "│", faint());
        // What the first time is where the second is the one of this line.
        let middle = y.number((line as f64 + 0.5) / height as f64);
        if let Some(column) = x.inside(middle).map(|place| ((place * width as f64) as usize).min(width - 1)) {
            sheet.put(left + column, row, DIAGONAL, faint());
        }
        for column in 0..width {
            if let Some(count) = counts.get(&(column, line)) {
                let (mark, colour) = shade(*count, most);
                sheet.fill(left + column..left + column + 1, row, mark, ink(colour));
            }
        }
    }
    let second = counted(&joint.second, &y, height);
    let longest = second.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    for (line, count) in second.iter().enumerate() {
        let eighths = (count / longest * (BESIDE * 8) as f64).ceil() as usize;
        for cell in 0..BESIDE {
            let mark = RIGHT[eighths.saturating_sub(8 * cell).min(8)];
            let column = left + width + 1 + cell;
            sheet.fill(column..column + usize::from(mark != ' '), ABOVE + height - 1 - line, mark, faint());
        }
    }
    for tick in ticks::above(y_axis, &y, height) {
        let Some(place) = y.inside(tick.number) else { continue };
        let row = ABOVE + height - 1 - ((place * height as f64) as usize).min(height - 1);
        let text = short(&tick.text, left - 2);
        sheet.put(left - 2 - display_width(&text), row, &text, Style::default());
        sheet.put(left - 1, row, "┤", faint());
    }
    ticks::draw(&joint.x, &x, (left, ABOVE + height), width, &mut sheet);
    pen.text("", &format!("{} upwards, against {}; / where both are the same", y_axis.label, joint.x.label))?;
    pen.sheet(&sheet)?;
    Ok(true)
}

fn shade(count: f64, most: f64) -> (char, u8) {
    let depth = count.ln_1p() / most.ln_1p() * SHADES.len() as f64;
    SHADES[(depth.ceil() as usize).clamp(1, SHADES.len()) - 1]
}

/// A bar in each column, the highest as high as there is room; a bar is visible for every count above 0.
fn upwards(sheet: &mut Sheet, counts: &[f64], (left, top): (usize, usize), height: usize) {
    let most = counts.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    for (column, count) in counts.iter().enumerate() {
        let eighths = (count / most * (height * 8) as f64).ceil() as usize;
        for line in 0..height {
            let mark = UP[eighths.saturating_sub(8 * line).min(8)];
            let (column, row) = (left + column, top + height - 1 - line);
            sheet.fill(column..column + usize::from(mark != ' '), row, mark, ink(74));
        }
    }
}
