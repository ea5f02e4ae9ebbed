//! What was found on the machine: one format a line in [`FORMATS`].

use charz_data::Arrange;
use std::io::{self, Write};

use serde::Serialize;

use super::look;
use charz_data::escape::{counted, plain, shortened};
use charz_measure::doctor::expect::Deviation;
use charz_measure::doctor::{Finding, State};
use charz_render::grid::columns;
use charz_render::term::ascii;
use charz_render::{json, wrapped};

pub type Format = charz_render::formats::Format<fn(&Page<'_>, &mut dyn Write) -> io::Result<()>>;

#[rustfmt::skip]
pub static FORMATS: &[Format] = &[
    Format { name: "table", about: "", write: |page, out| ascii::within(&look::of_stdout(), out, |out| table(page, out)) },
    Format { name: "json", about: "", write: write_json },
];

/// What is shown.
pub struct Page<'a> {
    pub findings: &'a [Finding],
    /// Where the machine differs from what was expected, if anything was.
    pub deviations: Option<Vec<Deviation>>,
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

fn table(page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    let Page { findings, deviations, verbose } = page;
    if let Some(deviations) = deviations {
        return differences(deviations, out);
    }
    let Summary { disturb, limit, unavailable, ok } = Summary::of(findings);
    let width = look::tables();
    writeln!(out, "{disturb} to fix, {}, {unavailable} not available, {ok} ok", counted(limit, "note"))?;
    let mut sorted: Vec<&Finding> = findings.iter().collect();
    sorted.arrange_by_key(|finding| finding.state);
    if *verbose {
        return sorted.into_iter().try_for_each(|finding| at_length(finding, out));
    }
    let line = |finding: &&Finding| {
        // Details come after a semicolon.
        let read = finding.read.split("; ").next().unwrap_or_default();
        let read = shortened(&plain(read), ROOM, |_| 1.0);
        [word(finding.state).to_owned(), finding.key.to_owned(), read, plain(&finding.fix)]
    };
    let folded = |finding: &&Finding| matches!(finding.state, State::Unavailable | State::Ok);
    let (folded, shown): (Vec<&Finding>, Vec<&Finding>) = sorted.into_iter().partition(folded);
    let rows: Vec<_> = shown.iter().map(line).collect();
    columns(&["", "check", "found", "fix"], &[0, 1, 2, 3], &rows, width, out)?;
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
    if findings.iter().any(|finding| finding.command().is_some()) {
        let how = "all commands, with their undo: charz doctor --fix-script > fix.sh";
        writeln!(out)?;
        wrapped::hanging(how, 2, width, out)?;
    }
    Ok(())
}

/// Columns before the text: the longest state and two blanks.
const INDENT: usize = 6;

fn at_length(finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
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
    wrapped::labelled("", INDENT, &format!("fix: {}", plain(&finding.fix)), width, out)
}

fn differences(deviations: &[Deviation], out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "{}",
        if deviations.is_empty() { "as expected".into() } else { counted(deviations.len(), "deviation") }
    )?;
    for Deviation { key, expected, found, fix } in deviations {
        let fix = if fix.is_empty() { String::new() } else { format!("; fix: {}", plain(fix)) };
        let text = format!("{key}: {}, expected {}{fix}", plain(found), plain(expected));
        wrapped::labelled("DIFF", INDENT, &text, look::tables(), out)?;
    }
    Ok(())
}

fn write_json(page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    #[derive(Serialize)]
    struct Shown<'a> {
        summary: Summary,
        findings: &'a [Finding],
        #[serde(skip_serializing_if = "Option::is_none")]
        deviations: Option<&'a [Deviation]>,
    }
    let Page { findings, deviations, .. } = page;
    json::write_pretty_line(&Shown { summary: Summary::of(findings), findings, deviations: deviations.as_deref() }, out)
}

/// A shell script that makes all the fixes that are one command, or takes them back.
pub fn script(findings: &[Finding], out: &mut dyn Write) -> io::Result<()> {
    let to_fix = || findings.iter().filter(|finding| matches!(finding.state, State::Disturbs | State::Limits));
    writeln!(
        out,
        "#!/bin/sh\n# Generated by charz doctor --fix-script, which ran none of it. Read it, then run it as root:"
    )?;
    writeln!(out, "# sh fix.sh apply, and later sh fix.sh undo.\n\napply() {{\n    :")?;
    for finding in to_fix() {
        if let Some(command) = finding.command() {
            writeln!(out, "    # {} ({}): {}", finding.key, word(finding.state), plain(&finding.read))?;
            writeln!(out, "    {}", plain(command))?;
        }
    }
    let without: Vec<&str> =
        to_fix().filter(|finding| finding.command().is_none()).map(|finding| finding.key).collect();
    if !without.is_empty() {
        writeln!(out, "    # without a command, see charz doctor: {}", without.join(", "))?;
    }
    writeln!(out, "}}\n\nundo() {{\n    :")?;
    for finding in to_fix().filter(|finding| finding.command().is_some()) {
        match &finding.undo {
            Some(undo) => writeln!(out, "    {}", plain(undo))?,
            None => writeln!(out, "    # {}: the value before cannot be restored", finding.key)?,
        }
    }
    writeln!(out, "}}\n\ncase \"${{1-}}\" in")?;
    writeln!(
        out,
        "apply) apply ;;\nundo) undo ;;\n*)\n    echo \"usage: sh $0 apply|undo\" >&2\n    exit 2\n    ;;\nesac"
    )
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
            undo: (state == State::Disturbs).then(|| "echo 1 > \"$0.knob\"".to_owned()),
        }
    }

    fn findings() -> [Finding; 5] {
        [
            finding("swap", State::Ok, "none", ""),
            finding("turbo", State::Unavailable, "no such file", ""),
            finding("quota", State::Limits, "1.50 CPUs", "Lift it"),
            finding("load", State::Disturbs, "evil \u{1b}[2J", "`echo 0 > \"$0.knob\"`"),
            finding("user", State::Limits, &"x".repeat(500), "Nothing"),
        ]
    }

    fn shown(verbose: bool, deviations: Option<Vec<Deviation>>) -> String {
        let mut out = Vec::new();
        table(&Page { findings: &findings(), deviations, verbose }, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_to_fix_comes_first_and_each_check_has_one_line() {
        let text = shown(false, None);
        let places = ["1 to fix", "load", "quota", "turbo", "1 check", "--fix-script"]
            .map(|word| text.find(word).unwrap_or_else(|| panic!("{word} is missing: {text}")));
        assert!(places.is_sorted() && !text.contains('\u{1b}'), "{text}");
        let line = text.lines().find(|line| line.contains("load")).unwrap();
        assert!(line.starts_with("FIX") && line.ends_with("`echo 0 > \"$0.knob\"`"), "{text}");
        assert!(!text.contains("swap") && !text.contains("no such file") && !text.contains(&"x".repeat(70)), "{text}");
        let all = shown(true, None);
        for word in ["swap: none", "no such file", "It hurts. (V03)", &"x".repeat(500)] {
            assert!(all.contains(word), "{word}: {all}");
        }
    }

    #[test]
    fn a_deviation_has_one_line() {
        let deviation =
            Deviation { key: "smt", expected: "off".into(), found: "on\n\u{1b}".into(), fix: "`fix it`".into() };
        let text = shown(false, Some(vec![deviation]));
        assert_eq!(text.lines().count(), 2, "{text}");
        for word in ["smt", "off", "on\\n", "`fix it`"] {
            assert!(text.contains(word), "{word}: {text}");
        }
    }

    #[test]
    fn the_script_is_the_shells_and_takes_back_what_it_did() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fix.sh");
        let mut text = Vec::new();
        script(&findings(), &mut text).unwrap();
        std::fs::write(&path, &text).unwrap();
        let sh = |args: &[&str]| std::process::Command::new("sh").args(args).output().unwrap().status.code();
        let file = path.to_str().unwrap();
        assert_eq!(sh(&["-n", file]), Some(0), "{}", String::from_utf8_lossy(&text));
        let knob = || std::fs::read_to_string(folder.path().join("fix.sh.knob")).unwrap_or_default();
        for (word, code, held) in [("", 2, ""), ("apply", 0, "0\n"), ("undo", 0, "1\n")] {
            assert_eq!((sh(&[file, word]), knob().as_str()), (Some(code), held), "{word}");
        }
    }
}
