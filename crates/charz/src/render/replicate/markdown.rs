//! The page for forges and notes.

use std::io::{self, Write};

use super::sheet::Sheet;
use super::words::{origin, reasons, standing, totals, verdict};
use crate::render::compare::escaped;
use crate::replicate::{Replicated, Replication};

/// Figure by figure, as the table has it.
pub(super) fn write(replication: &Replication, out: &mut dyn Write) -> io::Result<()> {
    heading(replication, out)?;
    writeln!(out, "\n**{}**", escaped(&totals(replication)))?;
    for figure in &replication.figures {
        write_figure(replication, figure, out)?;
    }
    Ok(())
}

/// A row for each figure.
pub(super) fn list(replication: &Replication, out: &mut dyn Write) -> io::Result<()> {
    heading(replication, out)?;
    writeln!(out, "\n| number | what it is | | why |\n| --- | --- | --- | --- |")?;
    for figure in &replication.figures {
        let cells = [&figure.number, &figure.title, standing(figure.standing), &reasons(figure)].map(escaped);
        writeln!(out, "| {} |", cells.join(" | "))?;
    }
    writeln!(out, "\n**{}**", escaped(&totals(replication)))
}

fn heading(replication: &Replication, out: &mut dyn Write) -> io::Result<()> {
    let document = &replication.document;
    writeln!(out, "# {}\n", escaped(&document.title))?;
    let cited = format!("{}, {}; {}.", document.authors, document.published, document.id);
    writeln!(out, "{}\n\n{}", escaped(&cited), long(&document.protocol))?;
    for line in origin(replication) {
        writeln!(out, "\nHere: {}", long(&line))?;
    }
    if !replication.inconsistencies.is_empty() {
        writeln!(out, "\nWhere the document contradicts itself:\n")?;
    }
    for sentence in &replication.inconsistencies {
        writeln!(out, "- {}", long(sentence))?;
    }
    Ok(())
}

fn write_figure(replication: &Replication, figure: &Replicated, out: &mut dyn Write) -> io::Result<()> {
    let title = format!("{}: {}", figure.number, figure.title);
    writeln!(out, "\n## {} ({})\n", escaped(&title), standing(figure.standing))?;
    writeln!(out, "{} Survives: {}", long(&figure.shows), long(&figure.survives))?;
    let why = reasons(figure);
    if !why.is_empty() {
        writeln!(out, "\n{}: {}", standing(figure.standing), long(&why))?;
    }
    for note in &figure.notes {
        writeln!(out, "\nNote: {}", long(note))?;
    }
    if let Some(sheet) = Sheet::of(replication, figure) {
        let line = |cells: &[String]| {
            format!("| {} |", cells.iter().map(|cell| escaped(cell)).collect::<Vec<_>>().join(" | "))
        };
        let rule = (0..sheet.heading.len()).map(|at| if sheet.words.contains(&at) { "---" } else { "---:" });
        writeln!(out, "\n{}\n| {} |", line(&sheet.heading), rule.collect::<Vec<_>>().join(" | "))?;
        for row in &sheet.rows {
            writeln!(out, "{}", line(row))?;
        }
        if !sheet.legend.is_empty() {
            writeln!(out)?;
        }
        for entry in &sheet.legend {
            writeln!(out, "- {}", long(entry))?;
        }
    }
    if !figure.claims.is_empty() {
        writeln!(out)?;
    }
    for claim in &figure.claims {
        writeln!(out, "- **{}**: {} ({})", verdict(claim), long(&claim.says), long(&claim.because))?;
    }
    Ok(())
}

/// A text as [`escaped`] has it, piece by piece, since that one ends long texts.
fn long(text: &str) -> String {
    text.split_inclusive(' ').map(escaped).collect()
}
