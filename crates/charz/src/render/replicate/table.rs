//! A page for a terminal.

use std::io::{self, Write};

use super::sheet::Sheet;
use super::words::{origin, reasons, standing, totals, verdict};
use crate::render::text::one_line;
use crate::render::{grid, wrapped};
use crate::replicate::{Replicated, Replication};

/// Figure by figure: what it is, how far it is replicated, its values, and what holds of its conclusions.
pub(super) fn write(replication: &Replication, out: &mut dyn Write) -> io::Result<()> {
    let width = wrapped::width();
    heading(replication, width, out)?;
    for figure in &replication.figures {
        write_figure(replication, figure, width, out)?;
    }
    writeln!(out, "\n{}: {}", replication.document.name, totals(replication))
}

/// One line for each figure, and below it why it is not done, or not wholly.
pub(super) fn list(replication: &Replication, out: &mut dyn Write) -> io::Result<()> {
    let width = wrapped::width();
    heading(replication, width, out)?;
    writeln!(out)?;
    for figure in &replication.figures {
        writeln!(out, "{}: {} [{}]", figure.number, figure.title, standing(figure.standing))?;
        let why = reasons(figure);
        if !why.is_empty() {
            wrapped::labelled("", INDENT, &why, width, out)?;
        }
    }
    writeln!(out, "\n{}, if everything is measured: {}", replication.document.name, totals(replication))
}

/// Columns that stand before what belongs to a figure.
const INDENT: usize = 2;

fn heading(replication: &Replication, width: usize, out: &mut dyn Write) -> io::Result<()> {
    let document = &replication.document;
    writeln!(out, "{}", document.title)?;
    let mut text = |text: &str| wrapped::labelled("", INDENT, text, width, out);
    text(&format!("{}, {}; {}", document.authors, document.published, document.id))?;
    for line in origin(replication) {
        text(&format!("here: {line}"))?;
    }
    text(&format!("protocol: {}", document.protocol))?;
    if !replication.inconsistencies.is_empty() {
        writeln!(out, "\nWhere the document contradicts itself:")?;
        for sentence in &replication.inconsistencies {
            wrapped::labelled("-", INDENT, sentence, width, out)?;
        }
    }
    Ok(())
}

fn write_figure(replication: &Replication, figure: &Replicated, width: usize, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n{}: {} [{}]", figure.number, figure.title, standing(figure.standing))?;
    let mut text = |text: &str| wrapped::labelled("", INDENT, text, width, out);
    text(&format!("{} Survives: {}", figure.shows, figure.survives))?;
    let why = reasons(figure);
    if !why.is_empty() {
        text(&format!("{}: {why}", standing(figure.standing)))?;
    }
    for note in &figure.notes {
        text(&format!("note: {}", one_line(note)))?;
    }
    if let Some(sheet) = Sheet::of(replication, figure) {
        write_sheet(&sheet, width, out)?;
    }
    for claim in &figure.claims {
        wrapped::labelled("=>", 3, &format!("{}: {}", verdict(claim), claim.says), width, out)?;
        wrapped::labelled("", 5, &one_line(&claim.because), width, out)?;
    }
    Ok(())
}

fn write_sheet(sheet: &Sheet, width: usize, out: &mut dyn Write) -> io::Result<()> {
    let heading: Vec<&str> = sheet.heading.iter().map(String::as_str).collect();
    let mut lines = Vec::new();
    grid::columns(&heading, &sheet.words, &sheet.rows, &mut lines)?;
    for line in String::from_utf8_lossy(&lines).lines() {
        writeln!(out, "{}", format!("{:INDENT$}{line}", "").trim_end())?;
    }
    for line in &sheet.legend {
        wrapped::labelled("", INDENT, line, width, out)?;
    }
    Ok(())
}
