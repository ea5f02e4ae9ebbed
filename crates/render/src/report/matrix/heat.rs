//! Pairs of strands for people: a table of numbers, coloured where the terminal can, and one of classes.

use std::io::{self, Write};

use charz_data::machine::Strand;

use super::{Matrix, Row, class_name};
use crate::look::Look;
use crate::report::value;
use crate::term::heat::COLOURS;
use crate::{grid, wrapped};
use charz_data::escape::counted;
use charz_data::report::{Cell, Report, Status};
use charz_data::units;
use charz_stats::Sample;

const LEGEND: &str = "Nanoseconds one way. A row is the strand on whose node the line is at home; strands of one node are there once. \
                      ? is a suspect number, x none, · was not measured.";

/// Writes the numbers of all pairs, if the terminal is wide enough, and what the classes come to.
///
/// # Errors
/// Those of the output.
pub(crate) fn write(matrix: &Matrix<'_>, report: &Report, look: &Look, out: &mut dyn Write) -> io::Result<()> {
    square(matrix, look, out)?;
    let heading = ["distance", "measured", "median", "least", "most"];
    let rows: Vec<_> = matrix.rows().into_iter().map(|row| line(&row, report)).collect();
    writeln!(out)?;
    grid::columns(&heading, &[0], &rows, out)
}

fn line(row: &Row, report: &Report) -> [String; 5] {
    let of = row.pairs.map_or_else(|| "?".to_owned(), |pairs| pairs.to_string());
    let doubt = if row.suspect > 0 { format!(", {} ?", row.suspect) } else { String::new() };
    let time = |time: fn(&Sample) -> f64| row.values.as_ref().map_or("-".into(), |values| units::nanos(time(values)));
    let measured = format!("{} of {of}{doubt}", row.measured);
    [class_name(&row.class, &report.machine), measured, time(Sample::median), time(Sample::min), time(Sample::max)]
}

/// The numbers, a row for each strand that is home.
pub(super) fn square(matrix: &Matrix<'_>, look: &Look, out: &mut dyn Write) -> io::Result<()> {
    let strands = &matrix.strands;
    let label = strands.iter().map(|strand| strand.os_id.to_string().len()).max().unwrap_or(0);
    let borders = strands.windows(2).filter(|pair| pair[0].package != pair[1].package).count();
    let fits = |longest: usize| label + strands.len() * (longest + 1) + borders <= look.columns;
    // Not even their ids: then there may be millions of pairs.
    let texts: Vec<Vec<String>> = match fits(label) {
        true => strands.iter().map(|home| strands.iter().map(|other| text(matrix, home, other)).collect()).collect(),
        false => Vec::new(),
    };
    let longest = texts.iter().flatten().map(|text| text.chars().count()).max().unwrap_or(0).max(label);
    if !fits(longest) {
        return writeln!(
            out,
            "{} have no room in {} columns: --format matrix-csv or matrix-json of charz render has every pair",
            counted(strands.len(), "strand"),
            look.columns
        );
    }
    let border = |at: usize| at > 0 && strands[at].package != strands[at - 1].package;
    let gap = |at: usize| if border(at) { "  " } else { " " };
    let heads: String =
        strands.iter().enumerate().map(|(at, strand)| format!("{}{:>longest$}", gap(at), strand.os_id)).collect();
    writeln!(out, "{:label$}{heads}", "")?;
    let fifths = Sample::new(matrix.cells().filter_map(value).collect());
    for (at, (home, texts)) in strands.iter().zip(texts).enumerate() {
        if border(at) {
            writeln!(out)?;
        }
        let mut line = format!("{:>label$}", home.os_id);
        for (at, (other, text)) in strands.iter().zip(texts).enumerate() {
            line += gap(at);
            let number = matrix.at(home, other).and_then(value).filter(|_| look.colour);
            match number.zip(fifths.as_ref()) {
                Some((number, all)) => line += &coloured(&format!("{text:>longest$}"), number, all),
                None => line += &format!("{text:>longest$}"),
            }
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    wrapped::labelled("", 0, LEGEND, look.columns, out)
}

/// A number, its doubt, or a mark for why there is none.
fn text(matrix: &Matrix<'_>, home: &Strand, other: &Strand) -> String {
    let doubt = |cell: &Cell| if cell.outcome.status == Status::Suspect { "?" } else { "" };
    match matrix.at(home, other) {
        Some(cell) => match value(cell) {
            Some(number) if number < 9.95 => format!("{number:.1}{}", doubt(cell)),
            Some(number) => format!("{number:.0}{}", doubt(cell)),
            None if cell.outcome.status == Status::Pending => "·".into(),
            None => "x".into(),
        },
        None if home.os_id == other.os_id => String::new(),
        None if home.numa == other.numa && matrix.at(other, home).is_some() => String::new(),
        None => "·".into(),
    }
}

/// A text on the colour of the fifth of all numbers in which its own lies.
pub(crate) fn coloured(text: &str, number: f64, all: &Sample) -> String {
    let below = all.values().partition_point(|other| *other < number);
    let colour = COLOURS[below * COLOURS.len() / all.len().max(1)];
    format!("\u{1b}[48;5;{colour}m\u{1b}[38;5;16m{text}\u{1b}[0m")
}
