//! Command lines and what they answer: `tests/cases` has a file for each part of the program.
//!
//! In a file `$ LINE` sets something up, `0$ LINE` is a line of the shell that has to end with code 0, `! ` begins a line that it writes to
//! standard error, and `| ` one to standard output. `[..]` stands for any part of a line, `| ...` for any number of lines. A paragraph is
//! skipped from `? LINE` on where that fails. Each file has a folder of its own, with `mine.json` of the user in it, reports (`one.json` of one kernel, `two.json`, `slower.json` and others of
//! two, `grown.json` with one and two threads), `$GOLDEN` for those that were recorded, and `$T3_4` for a machine. A line that is refused (code 2) answers with one line beside notes and changes
//! nothing in the folder, and no line writes what steers a terminal.
//!
//! `cargo xtask golden` writes answers anew, but for codes and those that fit.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use charz_data::at_once;

use crate::fixtures::{RATE, cell, report};
use crate::place::{Place, check_harmless, run};
use crate::support::{T3_4, program, root};

/// A command of the shell in the place.
fn shell(place: &Place, line: &str) -> Command {
    let mut command = program(Path::new("sh"));
    let own = Path::new(env!("CARGO_BIN_EXE_charz")).parent().unwrap().display();
    let path = format!("{own}:{}", std::env::var("PATH").unwrap_or_default());
    command.args(["-c", line]).current_dir(place.path()).env("PATH", path);
    command.env("GOLDEN", root().join("tests/golden/reports")).env("T3_4", T3_4);
    command
}

/// Whether a text is a pattern's, in which `[..]` is any text.
fn fits_line(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.split("[..]").collect::<Vec<_>>().into_iter();
    let Some(mut rest) = text.strip_prefix(pieces.next().unwrap_or_default()) else { return false };
    let Some(last) = pieces.next_back() else { return rest.is_empty() };
    for piece in pieces {
        let Some(at) = rest.find(piece) else { return false };
        rest = &rest[at + piece.len()..];
    }
    rest.ends_with(last)
}

/// The same of lines, among which `| ...` is any number of them.
fn fits(pattern: &[&str], lines: &[&str]) -> bool {
    match pattern {
        [] => lines.is_empty(),
        ["| ...", rest @ ..] => (0..=lines.len()).any(|skipped| fits(rest, &lines[skipped..])),
        [first, rest @ ..] => {
            lines.split_first().is_some_and(|(line, left)| fits_line(first, line) && fits(rest, left))
        }
    }
}

/// A file with the answers of now in place of those that do not fit, and what has to be said of it.
fn answered(name: &str, text: &str) -> (String, String) {
    let place = Place::new();
    for (file, times) in [
        ("one", &[1.0][..]),
        ("two", &[1.0, 1.0]),
        ("slower", &[1.0, 0.8]),
        ("close", &[1.0, 0.98]),
        ("faster", &[1.2, 1.0]),
    ] {
        let cells =
            ["arith-int", "arith-float"].into_iter().zip(times).map(|(kernel, times)| cell(kernel, 2, times * RATE));
        place.put(&format!("{file}.json"), report(&cells.collect::<Vec<_>>()).to_string().as_bytes());
    }
    let grown = [1, 2].map(|threads| cell("arith-int", threads, threads as f64 * RATE));
    place.put("grown.json", report(&grown).to_string().as_bytes());
    let (mut now, mut wrong, mut skips) = (String::new(), String::new(), false);
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        writeln!(now, "{line}").unwrap();
        let mut kept = Vec::new();
        while let Some(answer) = lines.next_if(|line| line.starts_with(['!', '|'])) {
            kept.push(answer);
        }
        let (code, order) = match line.split_once("$ ") {
            Some((code @ ("" | "0" | "1" | "2" | "3" | "4" | "5" | "126" | "127"), order)) if !skips => (code, order),
            _ => {
                let condition = line.strip_prefix("? ");
                let fails = |line| !shell(&place, line).output().unwrap().status.success();
                skips = !line.is_empty() && (skips || condition.is_some_and(fails));
                kept.iter().for_each(|answer| writeln!(now, "{answer}").unwrap());
                continue;
            }
        };
        let before = place.snapshot();
        let ran = run(line, shell(&place, order));
        let answer = ran.err.lines().map(|line| format!("! {line}"));
        let answer: Vec<String> = answer.chain(ran.out.lines().map(|line| format!("| {line}"))).collect();
        let lines: Vec<&str> = answer.iter().map(|line| line.trim_end()).collect();
        check_harmless(line, &(ran.out + &ran.err));
        let expected = code.parse().unwrap_or(0);
        let words = lines.iter().filter(|line| !line.starts_with("! charz: note: ")).count();
        let is_changed = expected == 2 && (place.snapshot() != before || words != 1);
        let answered_so = code.is_empty() || fits(&kept, &lines);
        if ran.code != Some(expected) || is_changed || !answered_so {
            let changed = if is_changed { ", which left something or answered in more than one line" } else { "" };
            let expected = kept.iter().fold(String::new(), |all, line| all + "\n-" + line);
            let found = lines.iter().take(40).fold(String::new(), |all, line| all + "\n+" + line);
            writeln!(wrong, "{name}: {line}{changed}{expected}{found}\n ended with {:?}", ran.code).unwrap();
        }
        let answers = if answered_so { &kept } else { &lines };
        answers.iter().for_each(|answer| writeln!(now, "{answer}").unwrap());
    }
    (now, wrong)
}

#[test]
fn lines_answer_as_they_did() {
    let folder = root().join("tests/cases");
    let files: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() > 5);
    let wrong = at_once(&files, |file| {
        let text = fs::read_to_string(file).unwrap();
        let (now, wrong) = answered(file.file_stem().unwrap().to_str().unwrap(), &text);
        if std::env::var_os("CHARZ_GOLDEN").is_some_and(|value| value == "update") && now != text {
            fs::write(file, now).unwrap();
        }
        wrong
    });
    assert!(wrong.concat().is_empty(), "{}cargo xtask golden writes answers anew", wrong.concat());
}

#[test]
fn an_answer_fits_whole_lines() {
    for (pattern, text, is_same) in [
        (&["! a"][..], &["! a"][..], true),
        (&["! a"], &["! ab"], false),
        (&["! a[..]c"], &["! abbc"], true),
        (&["! a[..]b[..]c"], &["! acc"], false),
        (&["| a", "| ...", "| c"], &["| a", "| b", "| b", "| c"], true),
        (&["| a", "| ..."], &["| b"], false),
        (&["| ..."], &["! a"], true),
        (&[], &["| a"], false),
    ] {
        assert_eq!(fits(pattern, text), is_same, "{pattern:?} {text:?}");
    }
}
