//! Texts with headings, lists and tables, for a terminal and as Markdown.

use std::io::{self, Write};

use super::compare::escaped;
use super::{grid, wrapped};
use charz_data::escape::{one_line, plain};

/// A part of a text.
pub enum Block {
    Title(String),
    Heading(String),
    Text(String),
    /// An entry of a list, and what belongs to it.
    Item(String, String),
    Table {
        heading: Vec<String>,
        /// The columns that hold words; numbers are flushed right.
        words: Vec<usize>,
        /// A row with a first cell only heads the rows below it.
        rows: Vec<Vec<String>>,
    },
}

const INDENT: usize = 2;

pub fn terminal(blocks: &[Block], out: &mut dyn Write) -> io::Result<()> {
    let width = wrapped::width();
    let text = |label: &str, text: &str, out: &mut dyn Write| {
        let text = one_line(text);
        if text.is_empty() { Ok(()) } else { wrapped::labelled(label, INDENT, &text, width, out) }
    };
    for block in blocks {
        match block {
            Block::Title(title) => writeln!(out, "{}", one_line(title))?,
            Block::Heading(heading) => writeln!(out, "\n{}", one_line(heading))?,
            Block::Text(words) => text("", words, out)?,
            Block::Item(head, words) => {
                text("-", head, out)?;
                text("", words, out)?;
            }
            Block::Table { heading, words, rows } => {
                let heading: Vec<&str> = heading.iter().map(String::as_str).collect();
                let rows: Vec<Vec<String>> =
                    rows.iter().map(|row| row.iter().map(|cell| one_line(cell)).collect()).collect();
                let mut lines = Vec::new();
                grid::columns(&heading, words, &rows, &mut lines)?;
                for line in String::from_utf8_lossy(&lines).lines() {
                    writeln!(out, "{}", format!("{:INDENT$}{line}", "").trim_end())?;
                }
            }
        }
    }
    Ok(())
}

pub fn markdown(blocks: &[Block], out: &mut dyn Write) -> io::Result<()> {
    let mut in_list = false;
    for block in blocks {
        let is_item = matches!(block, Block::Item(..));
        if !(is_item && in_list || matches!(block, Block::Title(_))) {
            writeln!(out)?;
        }
        in_list = is_item;
        match block {
            Block::Title(title) => writeln!(out, "# {}", inert(title))?,
            Block::Heading(heading) => writeln!(out, "## {}", inert(heading))?,
            Block::Text(words) => writeln!(out, "{}", inert(words))?,
            Block::Item(head, words) if words.is_empty() => writeln!(out, "- {}", inert(head))?,
            Block::Item(head, words) => writeln!(out, "- **{}** {}", inert(head), inert(words))?,
            Block::Table { heading, words, rows } => {
                let line = |cells: &[String]| cells.iter().map(|cell| inert(cell)).collect::<Vec<_>>().join(" | ");
                let rule = (0..heading.len()).map(|at| if words.contains(&at) { "---" } else { "---:" });
                writeln!(out, "| {} |\n| {} |", line(heading), rule.collect::<Vec<_>>().join(" | "))?;
                for row in rows {
                    writeln!(out, "| {} |", line(row))?;
                }
            }
        }
    }
    Ok(())
}

/// Foreign text of any length without markup, word by word, since [`escaped`] cuts long texts.
fn inert(text: &str) -> String {
    plain(text).split_inclusive(' ').map(escaped).collect()
}
