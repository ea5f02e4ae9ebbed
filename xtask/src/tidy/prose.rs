//! How the project speaks: turns that are foreign to a manual, each with what to write instead.
//!
//! In prose, comments and texts of the source alike, and in recorded outputs.

use super::Finding;

/// A turn in lower case, and what to write. A turn of letters matches whole words.
const TURNS: [(&str, &str); 23] = [
    ("whoever", "name the program, the thread or the user"),
    ("nobody", "no thread, no program, no user"),
    ("somebody", "another program, another user"),
    ("is told", "reads, receives, gets"),
    ("are told", "read, receive, get"),
    ("tells", "reports, prints, shows"),
    ("became other", "changed"),
    ("become other", "change"),
    ("speaks against", "name the problem"),
    ("speak against", "name the problem"),
    ("mend", "fix"),
    ("mends", "fixes"),
    ("comes to", "reaches, is"),
    ("so that", "so"),
    ("question mark", "~ marks a noisy number"),
    ("stands beside", "is beside"),
    ("stands why", "says why"),
    ("stands there", "is given"),
    ("in short", "summary"),
    ("what to doubt", "data quality"),
    ("any number workers", "any number of threads"),
    ("1 workers", "1 worker"),
    ("1 threads", "1 thread"),
];

/// Whether people read a file, or what it prints. This one names the turns in order to forbid them.
fn is_read(path: &str) -> bool {
    let is_program = ["crates/", "xtask/"].iter().any(|folder| path.starts_with(folder));
    (is_program || !path.ends_with(".rs")) && path != "xtask/src/tidy/prose.rs"
}

pub fn check(path: &str, text: &str) -> Vec<Finding> {
    if !is_read(path) {
        return Vec::new();
    }
    let lines = text.lines().enumerate();
    lines
        .filter_map(|(at, line)| turn(line).map(|(turn, better)| (at, turn, better)))
        .map(|(at, turn, better)| {
            Finding::new(path, at, format!("{turn:?} is not how a manual speaks; write: {better}"))
        })
        .collect()
}

/// The first turn in a line.
fn turn(line: &str) -> Option<(&'static str, &'static str)> {
    let line = line.to_ascii_lowercase();
    let is_letter = |mark: Option<char>| mark.is_some_and(|mark| mark.is_alphanumeric() || mark == '_');
    let has = |turn: &str| {
        line.match_indices(turn).any(|(at, _)| {
            !is_letter(line[..at].chars().next_back()) && !is_letter(line[at + turn.len()..].chars().next())
        })
    };
    TURNS.into_iter().find(|(turn, _)| has(turn))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_found_as_whole_words_in_any_case() {
        for (line, expected) in [
            ("/// So that it ends.", Some("so that")),
            ("takes 1 workers", Some("1 workers")),
            ("takes 11 workers", None),
            ("a recommended value", None),
            ("let tells = 1; // it mends", Some("tells")),
            ("fn nobody_knows()", None),
            ("plain", None),
        ] {
            assert_eq!(turn(line).map(|(turn, _)| turn), expected, "{line}");
        }
    }

    #[test]
    fn findings_name_the_line() {
        let lines: Vec<usize> = check("README.md", "a\nnobody\nb\nTELLS\n").iter().map(|found| found.line).collect();
        assert_eq!(lines, [2, 4]);
    }
}
