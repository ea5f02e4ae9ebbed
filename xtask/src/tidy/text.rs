//! Rules about any text.

use super::Finding;
use super::source::has_word;

/// A longer file is two things.
const LONGEST: usize = 500;

/// Words that mark unfinished work, in two halves so this file does not contain them.
const UNFINISHED: [&str; 3] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];

pub fn check(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (at, line) in text.split('\n').enumerate() {
        if line.ends_with([' ', '\t', '\r']) {
            findings.push(Finding::new(path, at, "white space at the end of the line; remove it"));
        }
        if let Some(word) = UNFINISHED.iter().find(|word| has_word(line, word)) {
            findings.push(Finding::new(path, at, format!("{word} marks unfinished work; finish it, or take it out")));
        }
    }
    if !text.is_empty() && !text.ends_with('\n') {
        findings.push(Finding::new(path, text.lines().count() - 1, "the last line has no end; add one"));
    }
    let lines = text.lines().count();
    if path.ends_with(".rs") && lines > LONGEST {
        let sentence = format!("the file has {lines} lines, more than {LONGEST}; divide it by idea");
        findings.push(Finding::new(path, LONGEST, sentence));
    }
    findings
}

/// The changelog must have a section for unreleased changes or one for the version that the manifests name.
pub fn changelog(text: &str) -> Option<Finding> {
    let version = env!("CARGO_PKG_VERSION");
    let told = text.lines().filter(|line| line.starts_with("## ")).any(|line| {
        line.to_ascii_lowercase().contains("unreleased") || line.split([' ', '[', ']']).any(|word| word == version)
    });
    (!told).then(|| Finding::new("CHANGELOG.md", 0, format!("no section `## Unreleased` or `## {version}`; add one")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn lines(text: &str, expected: &[usize]) {
        let found: Vec<usize> = check("a.rs", text).iter().map(|finding| finding.line).collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn ends_of_lines() {
        lines("a\nb\n", &[]);
        lines("a \nb\t\nc\r\n", &[1, 2, 3]);
        lines("a\nb", &[2]);
        lines("", &[]);
    }

    #[test]
    fn unfinished_work() {
        lines(&format!("// {}: later\n", UNFINISHED[0]), &[1]);
        lines(&format!("# {}S\n", UNFINISHED[0]), &[]);
    }

    #[test]
    fn long_files() {
        lines(&"a\n".repeat(LONGEST), &[]);
        lines(&"a\n".repeat(LONGEST + 1), &[LONGEST + 1]);
    }

    #[test]
    fn the_changelog_tells_of_now() {
        assert_eq!(changelog("# Changes\n\n## Unreleased\n"), None);
        assert_eq!(changelog(&format!("## [{}] - today\n", env!("CARGO_PKG_VERSION"))), None);
        assert!(changelog("## 0.0.1\n").is_some());
        assert!(changelog("").is_some());
    }
}
