//! Tables: the data once, the syntax per use.

use std::io::{self, Write};

/// Writes rows under a heading, each column as wide as its widest cell. Columns whose index is in `words` are flushed left,
/// the others, which hold numbers, right.
pub fn columns<R: AsRef<[String]>>(
    heading: &[&str],
    words: &[usize],
    rows: &[R],
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut widths: Vec<usize> = heading.iter().map(|cell| cell.chars().count()).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row.as_ref()) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let heading: Vec<String> = heading.iter().map(|&cell| cell.to_owned()).collect();
    let mut line = String::new();
    for row in std::iter::once(heading.as_slice()).chain(rows.iter().map(AsRef::as_ref)) {
        line.clear();
        for (index, (&width, cell)) in widths.iter().zip(row).enumerate() {
            let blank = if index == 0 { "" } else { "  " };
            // By hand: the width of a format has 16 bits, and a hostile report has longer words.
            let room = width.saturating_sub(cell.chars().count());
            let [before, after] = if words.contains(&index) { [0, room] } else { [room, 0] };
            line.push_str(blank);
            line.extend(std::iter::repeat_n(' ', before));
            line.push_str(cell);
            line.extend(std::iter::repeat_n(' ', after));
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
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
        let text = written(|out| columns(&["os", "on", "unit"], &[1], &rows, out));
        assert_eq!(text, " os  on   unit\n  1  x       µ\n100  y z\n");
    }
}
