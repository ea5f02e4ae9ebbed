//! What was found on the machine: one format a line in [`FORMATS`].

use std::io::{self, Write};

use serde::Serialize;

use super::look;
use crate::doctor::{Finding, State};
use charz_data::escape::{counted, plain};
use charz_render::{json, wrapped};

pub type Format = super::Format<fn(&[Finding], &mut dyn Write) -> io::Result<()>>;

pub static FORMATS: &[Format] =
    &[Format { name: "table", about: "", write: table }, Format { name: "json", about: "", write: write_json }];

#[derive(Serialize)]
struct Summary {
    disturb: usize,
    limit: usize,
    unavailable: usize,
    ok: usize,
}

impl Summary {
    fn of(findings: &[Finding]) -> Self {
        let count = |state| findings.iter().filter(|finding| finding.state == state).count();
        Summary {
            disturb: count(State::Disturbs),
            limit: count(State::Limits),
            unavailable: count(State::Unavailable),
            ok: count(State::Ok),
        }
    }
}

/// Columns before the text: the longest state and two blanks.
const INDENT: usize = 13;

/// What matters first, and most of it; what is as it should be in a line each.
fn table(findings: &[Finding], out: &mut dyn Write) -> io::Result<()> {
    let width = look::paragraph();
    for (state, word) in [
        (State::Disturbs, "disturbs"),
        (State::Limits, "limits"),
        (State::Unavailable, "unavailable"),
        (State::Ok, "ok"),
    ] {
        for finding in findings.iter().filter(|finding| finding.state == state) {
            // What was read may be anything.
            let read = format!("{}: {}", finding.name, plain(&finding.read));
            wrapped::labelled(word, INDENT, &read, width, out)?;
            if state == State::Ok {
                continue;
            }
            let codes =
                if finding.checks.is_empty() { String::new() } else { format!(" ({})", finding.checks.join(", ")) };
            wrapped::labelled("", INDENT, &format!("{}{codes}", finding.effect), width, out)?;
            if !finding.mend.is_empty() {
                // A command that is to be copied stays in one line.
                let command = finding.mend.starts_with('`') && finding.mend.ends_with('`');
                let width = if command { usize::MAX } else { width };
                wrapped::labelled("", INDENT, &format!("mend: {}", finding.mend), width, out)?;
            }
        }
    }
    let summary = Summary::of(findings);
    let (disturb, limit) = (counted(summary.disturb, "thing"), summary.limit);
    writeln!(out, "{disturb} will disturb, {limit} limit, {} unknown, {} ok", summary.unavailable, summary.ok)
}

fn write_json(findings: &[Finding], out: &mut dyn Write) -> io::Result<()> {
    #[derive(Serialize)]
    struct Page<'a> {
        summary: Summary,
        findings: &'a [Finding],
    }
    json::write_pretty_line(&Page { summary: Summary::of(findings), findings }, out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_matters_comes_first_and_is_harmless() {
        let finding = |name, state, read: &str| Finding {
            name,
            state,
            read: read.to_owned(),
            effect: "It hurts.",
            checks: &["V03"],
            mend: "`mend it`".to_owned(),
        };
        let findings = [
            finding("swap", State::Ok, "none"),
            finding("turbo", State::Unavailable, "no such file"),
            finding("quota", State::Limits, "1.50 processors"),
            finding("load", State::Disturbs, "evil \u{1b}[2J"),
        ];
        let mut out = Vec::new();
        table(&findings, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let places = ["load", "quota", "turbo", "swap", "1 thing will disturb, 1 limit, 1 unknown, 1 ok"]
            .map(|word| text.find(word).unwrap_or_else(|| panic!("{word} is missing: {text}")));
        assert!(places.is_sorted(), "{text}");
        assert!(!text.contains('\u{1b}') && text.contains("It hurts. (V03)"), "{text}");
    }
}
