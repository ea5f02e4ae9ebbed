//! A line a cell, for a terminal.

use std::io::{self, Write};

use super::{line, remarks, rule, totals};
use crate::grid;
use charz_analysis::compare::{Comparison, Origin};
use charz_data::escape::plain;

pub(super) fn write(comparison: &Comparison, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "base: {}", origin(&comparison.base))?;
    writeln!(out, "new:  {}", origin(&comparison.new))?;
    writeln!(out, "{}\n", rule(comparison))?;
    let escaped = |row| line::words(row, comparison).map(|word| plain(&word));
    let rows: Vec<_> = line::sorted(comparison).into_iter().map(escaped).collect();
    grid::columns(&line::HEADING, &[0, 1, 7], &rows, out)?;
    writeln!(out)?;
    for remark in remarks(comparison) {
        writeln!(out, "{}", plain(&remark))?;
    }
    writeln!(out, "{}", totals(&comparison.totals))
}

fn origin(origin: &Origin) -> String {
    format!(
        "{}, {}; started {}",
        plain(origin.host.as_deref().unwrap_or("an unnamed host")),
        plain(origin.processor.as_deref().unwrap_or("an unnamed processor").trim()),
        plain(&origin.started),
    )
}
