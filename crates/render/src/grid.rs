//! Tables: the data once, the syntax per use.

use std::io::{self, Write};

use textwrap::core::display_width;
use textwrap::{Options, WordSplitter};

use super::look::{Style, TerminalStyle};
use super::term::ascii::ascii;

/// The narrowest that a column is made while others can be left out.
const NARROWEST: usize = 16;

/// Which columns give way where a table has no room.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Folds {
    /// Those of words, between words.
    Words,
    /// All, also at hyphens and within long words.
    All,
}

/// Writes rows under a heading, each column as wide as its widest cell. Columns whose index is in `words` are flushed left, the
/// others, which hold numbers, right.
///
/// Where all of it is wider than the terminal, cells of words are folded, the widest first; then the columns in `spare` are left out in that
/// order, numbers are folded too, and other columns are left out from the right, but for the first and the last one. A line names what was
/// left out.
pub fn columns<R: AsRef<[String]>>(
    heading: &[&str],
    words: &[usize],
    spare: &[usize],
    rows: &[R],
    look: &TerminalStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    // In its signs before the columns have a width.
    let signs = |cell: &str| if look.unicode { cell.to_owned() } else { ascii(cell) };
    let lines: Vec<Vec<String>> = std::iter::once(heading.iter().map(|cell| signs(cell)).collect())
        .chain(rows.iter().map(|row| row.as_ref().iter().map(|cell| signs(cell)).collect()))
        .collect();
    let (natural, longest) = (widest(&lines, display_width), widest(&lines, longest_word));
    let of_parts = widest(&lines, |cell| cell.split('-').map(longest_word).max().unwrap_or(0) + 1);
    let folded_to = |at: usize, folds: Folds, limit: usize| match folds {
        Folds::Words if words.contains(&at) => natural[at].min(longest[at].max(limit)),
        Folds::Words => natural[at],
        Folds::All => natural[at].min(of_parts[at].min(NARROWEST).max(limit)),
    };
    let fit = |left_out: &[usize], folds: Folds| {
        let shown: Vec<usize> = (0..heading.len()).filter(|at| !left_out.contains(at)).collect();
        let to = |limit| shown.iter().map(|at| folded_to(*at, folds, limit)).collect::<Vec<_>>();
        let least = if folds == Folds::Words { NARROWEST } else { 1 };
        let widths = (least..=look.tables).rev().map(to).find(|widths| whole(widths) <= look.tables)?;
        Some((shown, widths))
    };
    let spare: Vec<usize> = spare.iter().copied().filter(|at| *at < heading.len()).collect();
    let others = (1..heading.len().saturating_sub(1)).rev().filter(|at| !spare.contains(at));
    let order: Vec<usize> = spare.iter().copied().chain(others).collect();
    let tries = (0..=spare.len()).map(|count| (count, Folds::Words));
    let tries = tries.chain((spare.len()..=order.len()).map(|count| (count, Folds::All)));
    let found = { tries }.find_map(|(count, folds)| Some((count, folds, fit(&order[..count], folds)?)));
    let (count, folds, (shown, widths)) =
        found.unwrap_or_else(|| (0, Folds::All, ((0..heading.len()).collect(), natural.clone())));
    for line in &lines {
        let cell = |(at, width): (&usize, &usize)| {
            let cell = line.get(*at).map_or("", String::as_str);
            (*at, cell, folded(cell, *width, folds))
        };
        let cells: Vec<(usize, &str, Vec<String>)> = shown.iter().zip(&widths).map(cell).collect();
        let high = cells.iter().map(|(.., lines)| lines.len()).max().unwrap_or(0);
        for at in 0..high {
            writeln!(out, "{}", row(&cells, at, &widths, words, look))?;
        }
    }
    let mut left_out = order[..count].to_vec();
    left_out.sort_unstable();
    let names: Vec<&str> = left_out.iter().map(|at| &*lines[0][*at]).filter(|name| !name.is_empty()).collect();
    if names.is_empty() {
        return Ok(());
    }
    let names = names.join(", ");
    let text = format!("Not shown at {} columns: {names}. `| cat` shows all.", look.tables);
    let lines = textwrap::wrap(&text, Options::new(look.tables).word_splitter(WordSplitter::NoHyphenation));
    lines.iter().try_for_each(|line| writeln!(out, "{}", line.trim_end()))
}

/// How wide a table is that is not folded.
pub fn width(heading: &[String], rows: &[Vec<String>]) -> usize {
    let lines: Vec<&[String]> = std::iter::once(heading).chain(rows.iter().map(Vec::as_slice)).collect();
    whole(&widest(&lines, display_width))
}

/// The most that a cell of each column has.
fn widest<R: AsRef<[String]>>(lines: &[R], of: fn(&str) -> usize) -> Vec<usize> {
    let columns = lines.first().map_or(0, |heading| heading.as_ref().len());
    let most = |at: usize| lines.iter().filter_map(|line| line.as_ref().get(at)).map(|cell| of(cell)).max();
    (0..columns).map(|at| most(at).unwrap_or(0)).collect()
}

fn longest_word(text: &str) -> usize {
    text.split_whitespace().map(display_width).max().unwrap_or(0)
}

/// With two blanks between columns.
fn whole(widths: &[usize]) -> usize {
    widths.iter().fold(0, |sum, width| width.saturating_add(sum).saturating_add(2)).saturating_sub(2)
}

/// The lines of a cell: one, with the blanks that it has, where it fits.
fn folded(cell: &str, width: usize, folds: Folds) -> Vec<String> {
    if display_width(cell) <= width {
        return vec![cell.to_owned()];
    }
    let splitter = if folds == Folds::All { WordSplitter::HyphenSplitter } else { WordSplitter::NoHyphenation };
    let options = Options::new(width).break_words(folds == Folds::All).word_splitter(splitter);
    textwrap::wrap(cell, options).iter().map(|line| line.trim_end().to_owned()).collect()
}

/// A line of a row whose cells are folded: noisy numbers stand back, and verdicts that ask for an act stand out.
fn row(
    cells: &[(usize, &str, Vec<String>)],
    line: usize,
    widths: &[usize],
    words: &[usize],
    look: &TerminalStyle,
) -> String {
    let (mut text, mut blanks) = (String::new(), 0);
    for ((column, whole, lines), &width) in cells.iter().zip(widths) {
        let part = lines.get(line).map_or("", String::as_str);
        // By hand: the width of a format has 16 bits, and a hostile report has longer words.
        let room = width.saturating_sub(display_width(part));
        let [before, after] = if words.contains(column) { [0, room] } else { [room, 0] };
        if !part.is_empty() {
            text.extend(std::iter::repeat_n(' ', blanks + before));
            text += &match whole.ends_with('~') {
                true => look.styled(part, Style::Faint),
                false if line == 0 => look.marked(part),
                false => part.to_owned(),
            };
            blanks = 0;
        } else {
            blanks += before;
        }
        blanks += after + 2;
    }
    text
}

pub fn markdown(heading: &[&str], rows: Vec<Vec<String>>) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let escaped = |cells: Vec<String>| line(cells.iter().map(|cell| cell.replace('|', "\\|")).collect());
    let mut text = line(heading.iter().map(|&name| name.to_owned()).collect());
    text += &line(vec!["---".to_owned(); heading.len()]);
    text + &rows.into_iter().map(escaped).collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::tests::{without_colours, written};
    use proptest::prelude::*;

    #[test]
    fn a_bar_in_a_cell_does_not_end_it() {
        let text = markdown(&["a", "b"], vec![vec!["4k|thp".into(), "x".into()]]);
        assert_eq!(text, "| a | b |\n| --- | --- |\n| 4k\\|thp | x |\n");
    }

    const PLAIN: TerminalStyle = TerminalStyle::PLAIN;

    fn table(words: &[usize], spare: &[usize], rows: &[Vec<String>], look: &TerminalStyle) -> String {
        let (heading, rows) = rows.split_first().unwrap();
        let heading: Vec<&str> = heading.iter().map(String::as_str).collect();
        written(|out| columns(&heading, words, spare, rows, look, out))
    }

    fn cells(rows: &[&[&str]]) -> Vec<Vec<String>> {
        rows.iter().map(|row| row.iter().map(|cell| (*cell).to_owned()).collect()).collect()
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = cells(&[&["os", "on", "unit"], &["1", "x", "µ"], &["100", "y z", ""]]);
        assert_eq!(table(&[1], &[], &rows, &PLAIN), " os  on   unit\n  1  x       µ\n100  y z\n");
    }

    #[test]
    fn columns_of_wide_characters_are_aligned() {
        let rows = cells(&[&["host", "n"], &["東京", "1"], &["ab", "22"]]);
        assert_eq!(table(&[0], &[], &rows, &PLAIN), "host   n\n東京   1\nab    22\n");
    }

    #[test]
    fn what_has_no_room_is_folded_in_its_column_and_what_is_spare_left_out_by_name() {
        let rows = cells(&[
            &["kernel", "mapping", "new", "spread", "verdict"],
            &["mem-write-data", "round-robin", "26.6 GB/s", "±0.6%", "slower than all others by more than is noise"],
        ]);
        let of = |tables| table(&[0, 1, 4], &[3], &rows, &TerminalStyle { tables, ..PLAIN });
        assert_eq!(of(100).lines().count(), 2, "{}", of(100));
        let folded = of(80);
        assert!(folded.contains("±0.6%") && !folded.contains("Not shown") && folded.lines().count() > 2, "{folded}");
        let spare = of(62);
        assert!(!spare.contains("±0.6%") && spare.contains("26.6 GB/s"), "{spare}");
        assert!(spare.contains("\nNot shown at 62 columns: spread."), "{spare}");
        let narrow = of(40);
        assert!(narrow.contains("mem-") && narrow.contains("slower"), "the first and the last column stay: {narrow}");
    }

    #[test]
    fn colours_are_those_of_whole_cells_on_each_of_their_lines() {
        let rows = cells(&[&["kernel", "verdict"], &["mem-read 26.6 GB/s~", "slower by more than all others"]]);
        let look = TerminalStyle { tables: 40, colour: true, ..PLAIN };
        let text = table(&[0, 1], &[], &rows, &look);
        assert_eq!(without_colours(&text), table(&[0, 1], &[], &rows, &TerminalStyle { colour: false, ..look }));
        let [act, faint] = [Style::Act, Style::Faint].map(|style| text.matches(style.code()).count());
        assert!(act == 1 && faint > 0, "{text}");
    }

    proptest! {
        /// Whatever is in it, and however narrow the terminal.
        #[test]
        fn no_line_is_wider_than_the_terminal(
            rows in prop::collection::vec(prop::collection::vec("[a-z0-9 .%東±-]{0,40}", 7), 1..5),
            tables in 40_usize..220,
            words in prop::collection::vec(0_usize..7, 0..4),
            unicode: bool,
        ) {
            let look = TerminalStyle { tables, unicode, ..PLAIN };
            let text = table(&words, &[5, 3], &rows, &look);
            let long = text.lines().find(|line| display_width(line) > tables);
            prop_assert_eq!(long, None, "{}", text);
        }
    }
}
