//! What people read on a terminal of any width: lines are folded between words, and tables leave columns out.

use std::collections::HashSet;
use std::fs;

use charz_data::at_once;

use crate::fixtures::{RATE, cell, report};
use crate::place::{Place, run};
use crate::support::root;

/// The width of a terminal beside an editor.
const NARROW: usize = 60;

/// What a line prints in so many columns.
fn printed(place: &Place, line: &str, columns: usize) -> String {
    let mut command = place.charz();
    command.args(line.split(' ').map(|word| word.replace('\u{a0}', " "))).env("COLUMNS", columns.to_string());
    run(line, command).out
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace().map(|word| word.trim_end_matches([';', ':']))
}

/// What begins and ends the line about columns that are left out.
const LEFT_OUT: [&str; 2] = ["Not shown at", "all."];

/// Without the lines about columns that are left out.
fn kept(text: &str) -> String {
    let mut kept = String::new();
    for (at, part) in text.split(LEFT_OUT[0]).enumerate() {
        kept += if at == 0 { part } else { part.split_once(LEFT_OUT[1]).unwrap().1 };
    }
    kept
}

/// Whether it is a part of a long word, or of one with hyphens: cells of tables are folded there too.
fn is_part(word: &str, known: &HashSet<&str>) -> bool {
    known.iter().any(|whole| whole.contains(word) && (whole.contains('-') || whole.chars().count() > 15))
}

#[test]
fn a_narrow_terminal_breaks_lines_between_words() {
    let place = Place::new();
    let of = |rate| report(&[cell("arith-int", 1, rate), cell("mem-read", 2, RATE)]).to_string();
    place.put("a.json", of(RATE).as_bytes());
    place.put("b.json", of(0.8 * RATE).as_bytes());
    for line in [
        "--help",
        "sweep --help",
        "compare --help",
        "topo",
        "topo --topology Package:4\u{a0}Core:16\u{a0}Group:2\u{a0}PU:4",
        "topo --format table",
        "sweep --dry-run --topology Package:2\u{a0}Core:2\u{a0}PU:1",
        "kernels --all",
        "doctor --no-wait",
        "doctor --no-wait -v",
        "kernels",
        "kernels timer",
        "kernels mem-triad",
        "compare a.json b.json",
        "render a.json",
        "advise a.json",
        "explain V03",
        "map --mapping dumb --threads 2",
        "config show",
    ] {
        let of_this_machine = line.starts_with("doctor");
        let asked = || {
            let (narrow, wide) = (kept(&printed(&place, line, NARROW)), printed(&place, line, 500));
            let known: HashSet<&str> = words(&wide).collect();
            // Numbers of a machine at work differ from run to run, and with them a task is one of several tasks; and the narrow answer
            // leaves columns out.
            let is_plural =
                |word: &str| known.contains(word.trim_end_matches('s')) || known.contains(&*format!("{word}s"));
            let is_steady = |word: &&str| {
                !of_this_machine || !(word.contains(|mark: char| mark.is_ascii_digit()) || is_plural(word))
            };
            let is_broken = |word: &&str| word.len() > 1 && !known.contains(word) && !is_part(word, &known);
            let broken = words(&narrow).filter(is_broken).filter(is_steady);
            let broken: Vec<String> = broken.map(str::to_owned).collect();
            (narrow, broken)
        };
        // What is to say of it changes as well: a word that is broken is so every time.
        let mut tries = if of_this_machine { 5 } else { 1 };
        let narrow = loop {
            let (narrow, broken) = asked();
            tries -= 1;
            match broken.is_empty() {
                true => break narrow,
                false => assert!(tries > 0, "{line}: {broken:?}\n{narrow}"),
            }
        };
        assert!(!narrow.is_empty(), "{line}");
        for long in narrow.lines().filter(|line| line.chars().count() > NARROW) {
            // A command, a path or a name that has no room is one word behind its indent and its label.
            let longest = words(long).map(|word| word.chars().count()).max().unwrap_or(0);
            assert!(longest > NARROW / 2, "{line}: {long:?}");
        }
    }
}

/// Of reports that other days and machines recorded.
#[test]
fn no_table_of_a_recorded_report_is_wider_than_its_terminal_or_becomes_prose() {
    let place = Place::new();
    let recorded = root().join("tests/golden/reports-1");
    let mut names: Vec<String> =
        fs::read_dir(&recorded).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    let file = |name: &str| recorded.join(name).to_str().unwrap().to_owned();
    let of_kind =
        |kind: &str| names.iter().filter(|name| name.contains(kind)).map(|name| file(name)).collect::<Vec<_>>();
    let mut lines: Vec<String> = Vec::new();
    for name in of_kind(".json.gz") {
        lines.extend(["render", "render --format table", "advise"].map(|verb| format!("{verb} {name}")));
    }
    lines.extend(of_kind("sweep").windows(2).map(|two| format!("compare {} {}", two[0], two[1])));
    lines.extend(
        of_kind("history").iter().flat_map(|db| ["list", "plot"].map(|verb| format!("history {verb} --db {db}"))),
    );
    lines.extend(of_kind("fleet").iter().map(|db| format!("fleet show {db}")));
    let shown = |(at, line): (usize, &String)| {
        // Each line at three widths, and all lines at many.
        [60 + at * 7 % 41, 101 + at * 11 % 41, 142 + at * 13 % 59]
            .map(|columns| (columns, line.clone(), printed(&place, line, columns)))
    };
    for (columns, line, text) in at_once(lines.iter().enumerate(), shown).into_iter().flatten() {
        for long in text.lines().filter(|line| line.chars().count() > columns) {
            // What is pasted stays on one line, and a name is not broken.
            let longest = words(long).map(|word| word.chars().count()).max().unwrap_or(0);
            assert!(long.starts_with("    ") || longest > columns / 2, "{columns}: {line}: {long}");
        }
        for name in ["threads", "mapping", "verdict", "best mapping", "value", "change", "median", "why"] {
            assert!(!text.contains(&format!("; {name}: ")), "{columns}: {line}: {text}");
        }
    }
}
