//! What follows from a report's cells together.

use std::io::{self, Write};

use charz_analysis::findings::findings;
use charz_data::escape::plain;
use charz_data::report::{FindingKind, Report};

/// Drawn from the cells again, whatever the report itself says of them.
pub(super) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let found = findings(report);
    if found.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nfindings")?;
    for finding in found {
        let word = match finding.kind {
            FindingKind::Cliff => "cliff",
            FindingKind::Collapse => "collapse",
            FindingKind::Fastest => "fastest",
            FindingKind::Advice => "advice",
            FindingKind::Latency => "latency",
            FindingKind::Efficiency => "words",
        };
        writeln!(out, "{word:<8}  {}", plain(&finding.text))?;
    }
    Ok(())
}
