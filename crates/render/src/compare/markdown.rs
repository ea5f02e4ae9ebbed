//! For a comment on a pull request: the counts first, then what is slower, and everything else folded.

use std::io::{self, Write};

use super::{line, remarks, rule, totals};
use charz_analysis::compare::{Comparison, Row, Verdict};
use charz_data::escape::plain;

/// The most rows that are written: forges refuse comments of more than 65,536 characters, and a row has about 150.
const MOST_ROWS: usize = 300;

pub(super) fn write(comparison: &Comparison, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "**{}**\n", totals(&comparison.totals))?;
    writeln!(out, "{}\n", escaped(&rule(comparison)))?;
    for remark in remarks(comparison) {
        writeln!(out, "- {}", escaped(&remark))?;
    }
    let rows = line::sorted(comparison);
    let (slower, others) = rows.split_at(rows.partition_point(|row| row.verdict == Verdict::Slower));
    let (first, room) = (slower.len().min(MOST_ROWS), MOST_ROWS.saturating_sub(slower.len()));
    if !slower.is_empty() {
        writeln!(out, "\n### Slower\n")?;
        write_rows(&slower[..first], comparison, out)?;
        write_rest(slower.len() - first, out)?;
    }
    if !others.is_empty() {
        let shown = others.len().min(room);
        writeln!(out, "\n<details><summary>The other {} rows</summary>\n", others.len())?;
        write_rows(&others[..shown], comparison, out)?;
        write_rest(others.len() - shown, out)?;
        writeln!(out, "\n</details>")?;
    }
    Ok(())
}

fn write_rows(rows: &[&Row], comparison: &Comparison, out: &mut dyn Write) -> io::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out, "| {} |", line::HEADING.join(" | "))?;
    writeln!(out, "| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |")?;
    for row in rows {
        writeln!(out, "| {} |", line::words(row, comparison).map(|word| escaped(&word)).join(" | "))?;
    }
    Ok(())
}

fn write_rest(rows: usize, out: &mut dyn Write) -> io::Result<()> {
    if rows == 0 { Ok(()) } else { writeln!(out, "\n{rows} more rows are left out; --format json has all.") }
}

/// The longest text of a cell: a name out of a hostile report may have megabytes.
const LONGEST: usize = 300;

/// Foreign text as one line of text and nothing else: no markup, no HTML, no mention of people, no link.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let text = plain(text);
    for mark in text.chars().take(LONGEST) {
        match mark {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            // A reference stays a mention or a link for some forges after a backslash.
            '@' => escaped.push_str("&#64;"),
            ':' if text.contains("://") => escaped.push_str("&#58;"),
            '\\' | '|' | '`' | '*' | '_' | '[' | ']' | '#' | '~' | '!' => escaped.extend(['\\', mark]),
            mark => escaped.push(mark),
        }
    }
    if text.chars().nth(LONGEST).is_some() {
        escaped.push('…');
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_is_no_markup() {
        for (text, expected) in [
            ("mem-read", "mem-read"),
            ("a|b`c", "a\\|b\\`c"),
            ("<script>&", "&lt;script&gt;&amp;"),
            ("a\nb\u{1b}", "a\\\\nb\\\\u{1b}"),
            ("[x](y) @all #1", "\\[x\\](y) &#64;all \\#1"),
            ("https://x", "https&#58;//x"),
        ] {
            assert_eq!(escaped(text), expected, "{text:?}");
        }
        assert!(escaped(&"é".repeat(1 << 20)).chars().count() <= LONGEST + 1);
    }
}
