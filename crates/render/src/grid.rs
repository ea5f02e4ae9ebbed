//! Tables: the data once, the syntax per use.

use std::io::{self, Write};

use textwrap::core::display_width;

use super::wrapped;

/// The narrowest column of words that is folded.
const NARROWEST: usize = 16;

/// Writes rows under a heading, each column as wide as its widest cell. Columns whose index is in `words` are flushed left, the
/// others, which hold numbers, right. Where all of it is wider than `width`, columns of words are folded between words, the widest
/// first; where that is no help, a row is a paragraph.
pub fn columns<R: AsRef<[String]>>(
    heading: &[&str],
    words: &[usize],
    rows: &[R],
    width: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let heading: Vec<String> = heading.iter().map(|&cell| cell.to_owned()).collect();
    let lines = || std::iter::once(heading.as_slice()).chain(rows.iter().map(AsRef::as_ref));
    let natural = widest(&heading, rows, display_width);
    if whole(&natural) <= width {
        return lines().try_for_each(|cells| line(cells, &natural, words, out));
    }
    let longest = widest(&heading, rows, |cell| cell.split_whitespace().map(display_width).max().unwrap_or(0));
    let at_most = |limit: usize| {
        let of = |at: usize| match words.contains(&at) {
            true => natural[at].min(longest[at].max(limit)),
            false => natural[at],
        };
        (0..heading.len()).map(of).collect::<Vec<usize>>()
    };
    match (NARROWEST..=width).rev().map(at_most).find(|widths| whole(widths) <= width) {
        Some(widths) => lines().try_for_each(|cells| {
            let folded: Vec<Vec<String>> =
                cells.iter().zip(&widths).map(|(cell, width)| wrapped::lines(cell, 0, *width)).collect();
            let high = folded.iter().map(Vec::len).max().unwrap_or(0);
            (0..high).try_for_each(|at| {
                let cells = folded.iter().map(|lines| lines.get(at).cloned().unwrap_or_default());
                line(&cells.collect::<Vec<_>>(), &widths, words, out)
            })
        }),
        None => rows.iter().try_for_each(|row| {
            let told =
                row.as_ref().iter().zip(&heading).enumerate().filter(|(_, (cell, _))| !["", "-"].contains(&&***cell));
            // A number and its unit stay together.
            let kept = |cell: &String| if cell.len() > NARROWEST { cell.clone() } else { cell.replace(' ', "\u{a0}") };
            let told = told.map(|(at, (cell, name))| match at == 0 || name.is_empty() {
                true => cell.clone(),
                false => format!("{name}: {}", kept(cell)),
            });
            let lines = wrapped::lines(&told.collect::<Vec<_>>().join("; "), 2, width);
            lines.iter().try_for_each(|line| writeln!(out, "{}", line.replace('\u{a0}', " ")))
        }),
    }
}

/// How wide a table is that is not folded.
pub fn width<R: AsRef<[String]>>(heading: &[String], rows: &[R]) -> usize {
    whole(&widest(heading, rows, display_width))
}

/// The most that a cell of each column has.
fn widest<R: AsRef<[String]>>(heading: &[String], rows: &[R], of: fn(&str) -> usize) -> Vec<usize> {
    let cells = |at: usize| rows.iter().filter_map(move |row| row.as_ref().get(at)).chain([&heading[at]]);
    (0..heading.len()).map(|at| cells(at).map(|cell| of(cell)).max().unwrap_or(0)).collect()
}

/// With two blanks between columns.
fn whole(widths: &[usize]) -> usize {
    widths.iter().fold(0, |sum, width| width.saturating_add(sum).saturating_add(2)).saturating_sub(2)
}

fn line(cells: &[String], widths: &[usize], words: &[usize], out: &mut dyn Write) -> io::Result<()> {
    let mut line = String::new();
    for (index, (&width, cell)) in widths.iter().zip(cells).enumerate() {
        // By hand: the width of a format has 16 bits, and a hostile report has longer words.
        let room = width.saturating_sub(display_width(cell));
        let [before, after] = if words.contains(&index) { [0, room] } else { [room, 0] };
        line.push_str(if index == 0 { "" } else { "  " });
        line.extend(std::iter::repeat_n(' ', before));
        line.push_str(cell);
        line.extend(std::iter::repeat_n(' ', after));
    }
    writeln!(out, "{}", line.trim_end())
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
    use crate::formats::tests::written;

    #[test]
    fn a_bar_in_a_cell_does_not_end_it() {
        let text = markdown(&["a", "b"], vec![vec!["4k|thp".into(), "x".into()]]);
        assert_eq!(text, "| a | b |\n| --- | --- |\n| 4k\\|thp | x |\n");
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["1", "x", "µ"], ["100", "y z", ""]].map(|row| row.map(str::to_owned));
        let text = written(|out| columns(&["os", "on", "unit"], &[1], &rows, usize::MAX, out));
        assert_eq!(text, " os  on   unit\n  1  x       µ\n100  y z\n");
    }

    #[test]
    fn columns_of_wide_characters_are_aligned() {
        let rows = [["東京", "1"], ["ab", "22"]].map(|row| row.map(str::to_owned));
        let text = written(|out| columns(&["host", "n"], &[0], &rows, usize::MAX, out));
        assert_eq!(text, "host   n\n東京   1\nab    22\n");
    }

    #[test]
    fn a_table_without_room_is_folded_between_words_and_then_told() {
        let rows = [["1", "the governor is not the one for this", "as it is"].map(str::to_owned)];
        let table = |width| written(|out| columns(&["n", "found", "fix"], &[1, 2], &rows, width, out));
        assert_eq!(table(60).lines().count(), 2);
        for width in [30, 36, 40] {
            let text = table(width);
            assert!(text.lines().count() > 2 && text.lines().all(|line| line.chars().count() <= width), "{text}");
            assert!(rows[0].iter().flat_map(|cell| cell.split(' ')).all(|word| text.contains(word)), "{text}");
        }
        assert_eq!(table(24), "1; found: the governor\n  is not the one for\n  this; fix: as it is\n");
    }
}
