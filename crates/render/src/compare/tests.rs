//! What every format keeps to.

use super::*;
use crate::formats::tests::{EVIL, assert_inert, golden, written};
use charz_analysis::compare::{Caveat, ClockEffect, Design, Origin, Quantity, Row, Side, Totals, Verdict};
use charz_data::report::{Status, Unit};

fn row(verdict: Verdict, kernel: &str) -> Row {
    let side = Side { status: Status::Ok, value: Some(1e9), invocations: 6 };
    Row {
        point: charz_data::report::Point::default(),
        kernel: kernel.into(),
        mapping: "round-robin".into(),
        workers: 2,
        unit: Unit::OpsPerSecond,
        base: Some(side),
        new: Some(side),
        verdict,
        reason: (verdict == Verdict::Inconclusive).then(|| "too noisy".into()),
        effect: Some(0.9),
        interval: None,
        p: None,
        adjusted_p: None,
        smallest_effect: Some(1.07),
        superiority: Some(0.125),
        superiority_interval: None,
        margin: 0.04,
        apart: false,
        clock: None,
        despite: vec![Caveat::OtherMachine],
    }
}

fn comparison() -> Comparison {
    let origin = Origin {
        id: "0".into(),
        started: "2026-01-31T12:00:00Z".into(),
        host: Some(EVIL.into()),
        processor: None,
        version: "1".into(),
        commit: "c".into(),
    };
    let rows = vec![row(Verdict::Same, "same"), row(Verdict::Inconclusive, EVIL), row(Verdict::Slower, "slow")];
    Comparison {
        schema: charz_analysis::compare::schema(),
        base: origin.clone(),
        new: origin,
        design: Design::Sequential,
        quantity: Quantity::Capacity,
        alpha: 0.01,
        margin: 0.04,
        noise_floor: None,
        noise_shown_by: None,
        allow_suspect: false,
        differences: vec![format!("other processors {EVIL}")],
        notes: vec!["both are the same report".into()],
        totals: Totals { faster: 0, slower: 1, same: 1, inconclusive: 1, uncompared: 0, open: 0, fewest: 6, needed: 9 },
        rows,
    }
}

fn shown(name: &str, comparison: &Comparison) -> String {
    let format = FORMATS.iter().find(|format| format.name == name).unwrap();
    within(format, comparison, usize::MAX)
}

fn within(format: &Format, comparison: &Comparison, columns: usize) -> String {
    let report = golden();
    let reports = [EVIL, "b"].map(|name| Source { name, report: &report });
    let look = TerminalStyle { columns: columns.min(100), tables: columns, ..TerminalStyle::PLAIN };
    written(|out| (format.write)(&Compared { reports, comparison }, &look, out))
}

#[test]
fn how_often_the_new_side_is_better_is_said_where_it_has_room() {
    let mut comparison = comparison();
    (comparison.rows, comparison.differences) = (vec![row(Verdict::Slower, "slow")], Vec::new());
    (comparison.base.host, comparison.new.host) = (None, None);
    for (columns, is_said) in [(usize::MAX, true), (160, true), (100, false), (60, false)] {
        let text = within(&FORMATS[0], &comparison, columns);
        assert_eq!(text.contains("0.12"), is_said, "{columns}: {text}");
        assert!(text.lines().all(|line| line.chars().count() <= columns), "{columns}: {text}");
    }
}

#[test]
fn no_format_hides_what_is_no_pass() {
    for name in ["table", "markdown"] {
        let text = shown(name, &comparison());
        for words in ["1 inconclusive", "9 needed", "the same report", "−10.0%", "±7.0%"] {
            assert!(text.contains(words), "{name}: {words:?} is missing: {text}");
        }
        let caveats = text.lines().filter(|line| line.contains("(other machine)")).count();
        assert_eq!(caveats, 3, "{name}: every line says so: {text}");
        assert!(text.find("\nslow ") < text.find("\nsame ") || name == "markdown", "{text}");
    }
}

#[test]
fn a_row_says_what_its_change_is_of_and_no_size_that_is_none() {
    let mut same = row(Verdict::Same, "same");
    same.clock = Some(ClockEffect { ratio: 1.067, is_counted: false });
    same.smallest_effect = Some(26.9);
    let words = words(&same, true);
    assert!(words[5].ends_with(" at one clock") && words[8].contains("the second side's was +6.7%"), "{words:?}");
    assert_eq!(words[6], "over ±100%");
    // A reason is a sentence: beside the table, once for all that have it.
    let mut comparison = comparison();
    comparison.rows = vec![row(Verdict::Inconclusive, "one"), row(Verdict::Inconclusive, "two")];
    let text = shown("table", &comparison);
    let reasons: Vec<&str> = text.lines().filter(|line| line.contains("too noisy")).collect();
    assert!(reasons.len() == 1 && reasons[0].contains("one round-robin x2, two round-robin x2"), "{text}");
}

#[test]
fn every_format_names_what_was_compared() {
    for quantity in [Quantity::Capacity, Quantity::Delivered] {
        let comparison = Comparison { quantity, ..comparison() };
        for format in FORMATS {
            assert!(shown(format.name, &comparison).contains(quantity.name()), "{}", format.name);
        }
    }
}

#[test]
fn hostile_names_steer_nothing() {
    // Markup is the page's own test.
    let texts = FORMATS.iter().filter(|format| format.name != "html");
    texts.for_each(|format| assert_inert(format.name, &shown(format.name, &comparison())));
    let text = shown("markdown", &comparison());
    let rows: Vec<_> = text.lines().filter(|line| line.contains("script")).collect();
    assert!(rows.len() == 2 && !text.contains("<script"), "{text}");
    // A bar that is not escaped starts another column.
    let bars = |line: &str| line.replace("\\|", "").matches('|').count();
    assert_eq!(bars(rows[1]), COLUMNS + 1, "{}", rows[1]);
}

#[test]
fn markdown_says_first_how_it_went_and_folds_the_rest() {
    let text = shown("markdown", &comparison());
    let places = ["### new is 0.90 times as fast", "### Slower", "| slow |", "<details>", "| same |", "</details>"]
        .map(|word| text.find(word).unwrap_or_else(|| panic!("{word} is missing: {text}")));
    assert!(places.is_sorted() && places[0] == 0, "{text}");
    assert!(text.contains("P(new better)") && text.contains("| 0.12 |"), "{text}");
}

#[test]
fn sides_are_called_as_they_were_typed() {
    for (design, sides) in [(Design::Sequential, ["base", "new"]), (Design::Interleaved, ["A", "B"])] {
        let text = shown("markdown", &Comparison { design, ..comparison() });
        let [base, new] = sides;
        assert!(text.starts_with(&format!("### {new} is 0.90 times as fast")), "{text}");
        assert!(text.contains(&format!("| {base} | {new} |")) && text.contains(&format!("P({new} better)")), "{text}");
    }
}

#[test]
fn many_rows_fit_a_comment() {
    let mut comparison = comparison();
    comparison.rows = vec![row(Verdict::Slower, "mem-write-data"); 5000];
    let text = shown("markdown", &comparison);
    assert!(text.len() < 65_536, "{}", text.len());
    assert!(text.contains("4700 more rows"), "{text}");
}

#[test]
fn a_suspect_side_carries_its_mark() {
    let mut comparison = comparison();
    comparison.rows.truncate(1);
    let told = |comparison: &Comparison| shown("table", comparison);
    assert!(!told(&comparison).contains("Gop/s~"), "{}", told(&comparison));
    comparison.rows[0].new = comparison.rows[0].new.map(|side| Side { status: Status::Suspect, ..side });
    assert!(told(&comparison).contains("1.00 Gop/s  1.00 Gop/s~"), "{}", told(&comparison));
}
