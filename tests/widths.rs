//! What people read in a narrow terminal: lines are folded between words, never within one.

use std::collections::HashSet;

use crate::fixtures::{RATE, cell, report};
use crate::place::{Place, run};

/// The width of a terminal beside an editor.
const NARROW: usize = 60;

/// What a line prints in so many columns.
fn printed(place: &Place, line: &str, columns: usize) -> String {
    let mut command = place.charz();
    command.args(line.split(' ').map(|word| word.replace('\u{a0}', " "))).env("COLUMNS", columns.to_string());
    run(line, command).out
}

/// Without what follows a word where a row becomes a paragraph.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace().map(|word| word.trim_end_matches([';', ':']))
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
            let (narrow, wide) = (printed(&place, line, NARROW), printed(&place, line, 500));
            let known: HashSet<&str> = words(&wide).collect();
            // Numbers of a machine at work differ from run to run, and with them a task is one of several tasks; and the narrow answer
            // leaves columns out.
            let is_plural =
                |word: &str| known.contains(word.trim_end_matches('s')) || known.contains(&*format!("{word}s"));
            let is_steady = |word: &&str| {
                !of_this_machine || !(word.contains(|mark: char| mark.is_ascii_digit()) || is_plural(word))
            };
            let broken = words(&narrow).filter(|word| word.len() > 1 && !known.contains(word)).filter(is_steady);
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
