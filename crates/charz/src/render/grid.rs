//! Tables: the data once, the syntax per use.

use comfy_table::{CellAlignment, Table, presets};

/// A table for people: columns under their headers, nothing drawn. The last column of `header` may be long text; `numbers`
/// are the indices of columns to be flushed right.
pub(super) fn plain(header: &[&str], numbers: &[usize], rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header).add_rows(rows);
    for &index in numbers {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let lines: Vec<_> = table.lines().map(|line| line.trim_end().to_owned() + "\n").collect();
    lines.concat()
}

/// A table in Markdown.
pub(super) fn markdown(header: &[&str], rows: Vec<Vec<String>>) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let escaped = |cells: Vec<String>| line(cells.iter().map(|cell| cell.replace('|', "\\|")).collect());
    let mut text = line(header.iter().map(|&name| name.to_owned()).collect());
    text += &line(vec!["---".to_owned(); header.len()]);
    text + &rows.into_iter().map(escaped).collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_in_a_cell_does_not_end_it() {
        let text = markdown(&["a", "b"], vec![vec!["4k|thp".into(), "x".into()]]);
        assert_eq!(text, "| a | b |\n| --- | --- |\n| 4k\\|thp | x |\n");
    }

    #[test]
    fn numbers_are_flushed_right_and_lines_trimmed() {
        let text = plain(&["n", "name"], &[0], vec![vec!["1".into(), "x".into()], vec!["100".into(), String::new()]]);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        assert!(lines[1].starts_with("   1") && lines[2].ends_with("100"), "{text}");
    }
}
