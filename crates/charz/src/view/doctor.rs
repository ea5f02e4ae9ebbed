//! What was found on the machine: one format a line in [`FORMATS`].

use charz_data::Arrange;
use std::io::{self, Write};

use serde::Serialize;

use super::look;
use charz_data::escape::{counted, plain, shortened};
use charz_measure::doctor::{Finding, State};
use charz_render::grid::columns;
use charz_render::look::TerminalStyle;
use charz_render::term::ascii;
use charz_render::verdicts::{self, Case, Outcome, Suite};
use charz_render::{json, wrapped};

pub type Format = charz_render::formats::Format<fn(&Page<'_>, &TerminalStyle, &mut dyn Write) -> io::Result<()>>;

#[rustfmt::skip]
pub static FORMATS: &[Format] = &[
    Format { name: "table", about: "", write: |page, look, out| ascii::within(look, out, |out| table(page, look, out)) },
    Format { name: "json", about: "", write: write_json },
    Format { name: "junit", about: "", write: |page, _, out| verdicts::junit(&suite(page), out) },
    Format { name: "github", about: "", write: |page, _, out| verdicts::github(&suite(page), out) },
];

/// What is shown.
pub struct Page<'a> {
    pub findings: &'a [Finding],
    /// Whether every check is shown, with all that is known of it.
    pub verbose: bool,
}

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

/// What to fix fails, as with --strict.
fn suite(page: &Page<'_>) -> Suite {
    let case = |finding: &&Finding| {
        let outcome = match finding.state {
            State::Disturbs => Outcome::Failed,
            State::Limits | State::Ok => Outcome::Passed,
            State::Unavailable => Outcome::Skipped,
        };
        let fix = if finding.fix.is_empty() { String::new() } else { format!("; fix: {}", finding.fix) };
        let text = format!("{}{fix}", finding.read);
        Case { group: "doctor".into(), name: finding.key.into(), outcome, word: word(finding.state), text }
    };
    let mut sorted: Vec<&Finding> = page.findings.iter().collect();
    sorted.arrange_by_key(|finding| finding.state);
    Suite { name: "charz doctor", answer: counts(page.findings), cases: sorted.iter().map(case).collect() }
}

/// The answer in a line.
fn counts(findings: &[Finding]) -> String {
    let Summary { disturb, limit, unavailable, ok } = Summary::of(findings);
    format!("{disturb} to fix, {}, {unavailable} not available, {ok} ok", counted(limit, "note"))
}

fn word(state: State) -> &'static str {
    match state {
        State::Disturbs => "FIX",
        State::Limits => "NOTE",
        State::Unavailable => "n/a",
        State::Ok => "ok",
    }
}

/// The longest that is printed of what was read where each check has one line.
const ROOM: f64 = 60.0;

fn table(page: &Page<'_>, look: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    let Page { findings, verbose } = page;
    let width = look.tables;
    writeln!(out, "{}", counts(findings))?;
    let mut sorted: Vec<&Finding> = findings.iter().collect();
    sorted.arrange_by_key(|finding| finding.state);
    let fix = |finding: &Finding| {
        let first = sorted
            .iter()
            .find(|other| other.fix == finding.fix)
            .filter(|first| first.key != finding.key && !first.fix.is_empty());
        // Of one cause the remedy is printed once.
        first.map_or_else(|| plain(&finding.fix), |first| format!("as for {}", first.key))
    };
    if *verbose {
        let mut text = Vec::new();
        sorted.iter().try_for_each(|finding| at_length(finding, &fix(finding), &mut text))?;
        return String::from_utf8_lossy(&text).lines().try_for_each(|line| writeln!(out, "{}", look.marked(line)));
    }
    let line = |finding: &&Finding| {
        // Details come after a semicolon.
        let read = finding.read.split("; ").next().unwrap_or_default();
        let read = shortened(&plain(read), ROOM, |_| 1.0);
        [word(finding.state).to_owned(), finding.key.to_owned(), read, fix(finding)]
    };
    let folded = |finding: &&Finding| matches!(finding.state, State::Unavailable | State::Ok);
    let (folded, shown): (Vec<&Finding>, Vec<&Finding>) = sorted.iter().copied().partition(folded);
    let rows: Vec<_> = shown.iter().map(line).collect();
    columns(&["", "check", "found", "fix"], &[0, 1, 2, 3], &[], &rows, look, out)?;
    for state in [State::Unavailable, State::Ok] {
        let keys: Vec<&str> =
            folded.iter().filter(|finding| finding.state == state).map(|finding| finding.key).collect();
        match (state, keys.len()) {
            (_, 0) => {}
            (State::Ok, count) => writeln!(out, "{:<4}  {} (-v lists them)", word(state), counted(count, "check"))?,
            (_, _) => {
                let text = format!("{} (-v has the reasons)", keys.join(", "));
                wrapped::labelled(word(state), INDENT, &text, width, out)?;
            }
        }
    }
    Ok(())
}

/// Columns before the text: the longest state and two blanks.
const INDENT: usize = 6;

fn at_length(finding: &Finding, fix: &str, out: &mut dyn Write) -> io::Result<()> {
    let width = look::paragraph();
    // What was read may be anything.
    let read = format!("{}: {}", finding.key, plain(&finding.read));
    wrapped::labelled(word(finding.state), INDENT, &read, width, out)?;
    if finding.state == State::Ok {
        return Ok(());
    }
    let codes = if finding.checks.is_empty() { String::new() } else { format!(" ({})", finding.checks.join(", ")) };
    wrapped::labelled("", INDENT, &format!("{}{codes}", finding.effect), width, out)?;
    if finding.fix.is_empty() {
        return Ok(());
    }
    // A command that is to be copied stays in one line.
    let width = if finding.command().is_some() { usize::MAX } else { width };
    wrapped::labelled("", INDENT, &format!("fix: {fix}"), width, out)
}

fn write_json(page: &Page<'_>, _: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    #[derive(Serialize)]
    struct Shown<'a> {
        summary: Summary,
        findings: &'a [Finding],
    }
    let Page { findings, .. } = page;
    json::write_pretty_line(&Shown { summary: Summary::of(findings), findings }, out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(key: &'static str, state: State, read: &str, fix: &str) -> Finding {
        Finding {
            name: key,
            key,
            state,
            value: String::new(),
            read: read.to_owned(),
            effect: "It hurts.",
            checks: &["V03"],
            fix: fix.to_owned(),
        }
    }

    fn findings() -> [Finding; 5] {
        [
            finding("swap", State::Ok, "none", ""),
            finding("turbo", State::Unavailable, "no such file", ""),
            finding("quota", State::Limits, "1.50 CPUs", "Lift it"),
            finding("load", State::Disturbs, "evil \u{1b}[2J", "`echo 0 > \"knob\"`"),
            finding("user", State::Limits, &"x".repeat(500), "Nothing"),
        ]
    }

    fn written(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn shown(verbose: bool) -> String {
        written(|out| table(&Page { findings: &findings(), verbose }, &TerminalStyle::PLAIN, out))
    }

    #[test]
    fn a_build_fails_by_what_is_to_fix() {
        let suite = suite(&Page { findings: &findings(), verbose: false });
        let failed: Vec<&Case> = suite.cases.iter().filter(|case| case.outcome == Outcome::Failed).collect();
        let [load] = *failed else { panic!("{failed:?}") };
        assert!(load.name == "load" && load.text.contains("knob") && suite.cases[0] == *load, "{suite:?}");
        let skipped = suite.cases.iter().find(|case| case.outcome == Outcome::Skipped).unwrap();
        assert_eq!(skipped.name, "turbo", "what cannot be seen is no defect");
    }

    #[test]
    fn the_remedy_of_one_cause_is_printed_once_and_whole_for_programs() {
        let fix = "Stop other programs (a, b), or measure with `--wait-quiet`";
        let findings = [("load", "2 tasks"), ("pressure", "50%"), ("swap", "used")]
            .map(|(key, read)| finding(key, State::Disturbs, read, if key == "swap" { "`swapoff`" } else { fix }));
        for verbose in [false, true] {
            let page = Page { findings: &findings, verbose };
            let text = written(|out| table(&page, &TerminalStyle { colour: true, ..TerminalStyle::PLAIN }, out));
            assert_eq!(text.matches("Stop other programs").count(), 1, "{text}");
            assert!(text.contains("as for load") && text.contains("`swapoff`"), "{text}");
            assert_eq!(text.matches("\u{1b}[1;31mFIX\u{1b}").count(), 3, "{text}");
        }
        let whole = suite(&Page { findings: &findings, verbose: false });
        assert!(whole.cases.iter().take(2).all(|case| case.text.contains("Stop other programs")), "{whole:?}");
    }

    #[test]
    fn what_to_fix_comes_first_and_each_check_has_one_line() {
        let text = shown(false);
        let places = ["1 to fix", "load", "quota", "turbo", "1 check"]
            .map(|word| text.find(word).unwrap_or_else(|| panic!("{word} is missing: {text}")));
        assert!(places.is_sorted() && !text.contains('\u{1b}'), "{text}");
        let line = text.lines().find(|line| line.contains("load")).unwrap();
        assert!(line.starts_with("FIX") && line.ends_with("`echo 0 > \"knob\"`"), "{text}");
        assert!(!text.contains("swap") && !text.contains("no such file") && !text.contains(&"x".repeat(70)), "{text}");
        let all = shown(true);
        for word in ["swap: none", "no such file", "It hurts. (V03)", &"x".repeat(500)] {
            assert!(all.contains(word), "{word}: {all}");
        }
    }
}
