//! Verdicts for what runs a build: JUnit's XML, and the annotations of GitHub.
//!
//! JUnit has no specification. Attributes and elements are those that its readers share (`testsuites`, `testsuite`, `testcase` with `failure`,
//! `error` or `skipped`), as <https://github.com/testmoapp/junitxml> lists them. Annotations are workflow commands:
//! <https://docs.github.com/actions/reference/workflow-commands-for-github-actions>. GitHub shows ten warnings and ten errors of a step, so
//! the most important cases come first. Neither a line of a file nor a rule is at fault, which SARIF would require.

use std::io::{self, Write};

use charz_data::escape::one_line;

/// How a case ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Passed,
    /// The verdict is that it is bad.
    Failed,
    /// There is no verdict, and there should be.
    Open,
    /// There is none, and need not be.
    Skipped,
}

/// A thing that has a verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// What it belongs to: a kernel, a host.
    pub group: String,
    pub name: String,
    pub outcome: Outcome,
    /// The word for the outcome, such as `slower`.
    pub word: &'static str,
    /// The reason, or the numbers, in a sentence.
    pub text: String,
}

/// All cases of one command.
#[derive(Clone, Debug, PartialEq)]
pub struct Suite {
    /// The command.
    pub name: &'static str,
    /// The answer in a sentence.
    pub answer: String,
    /// What matters first.
    pub cases: Vec<Case>,
}

impl Suite {
    fn count(&self, outcome: Outcome) -> usize {
        self.cases.iter().filter(|case| case.outcome == outcome).count()
    }
}

/// As JUnit's XML.
pub fn junit(suite: &Suite, out: &mut dyn Write) -> io::Result<()> {
    let counts = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"",
        suite.cases.len(),
        suite.count(Outcome::Failed),
        suite.count(Outcome::Open),
        suite.count(Outcome::Skipped)
    );
    let name = xml(suite.name);
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{name}\" {counts}>")?;
    writeln!(out, "  <testsuite name=\"{name}\" {counts}>")?;
    for case in &suite.cases {
        let (class, name, text) = (xml(&case.group), xml(&case.name), xml(&case.text));
        write!(out, "    <testcase classname=\"{class}\" name=\"{name}\"")?;
        let word = case.word;
        match case.outcome {
            Outcome::Passed if text.is_empty() => writeln!(out, "/>")?,
            Outcome::Passed => writeln!(out, "><system-out>{word}: {text}</system-out></testcase>")?,
            Outcome::Failed => writeln!(out, "><failure type=\"{word}\" message=\"{text}\"/></testcase>")?,
            Outcome::Open => writeln!(out, "><error type=\"{word}\" message=\"{text}\"/></testcase>")?,
            Outcome::Skipped => writeln!(out, "><skipped message=\"{word}: {text}\"/></testcase>")?,
        }
    }
    writeln!(out, "    <system-out>{}</system-out>\n  </testsuite>\n</testsuites>", xml(&suite.answer))
}

/// As annotations of GitHub: an error for each failed case, a warning for each open one, and the answer as a notice.
pub fn github(suite: &Suite, out: &mut dyn Write) -> io::Result<()> {
    for case in &suite.cases {
        let level = match case.outcome {
            Outcome::Failed => "error",
            Outcome::Open => "warning",
            Outcome::Passed | Outcome::Skipped => continue,
        };
        let title = property(&format!("{} {}: {}", case.group, case.name, case.word));
        writeln!(out, "::{level} title={title}::{}", message(&case.text))?;
    }
    writeln!(out, "::notice title={}::{}", property(suite.name), message(&suite.answer))
}

/// Text for an attribute or an element.
fn xml(text: &str) -> String {
    let text = one_line(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;")
}

/// What follows the last colons of a workflow command.
fn message(text: &str) -> String {
    one_line(text).replace('%', "%25")
}

/// The value of a property, which a colon or a comma would end.
fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::tests::{EVIL, assert_inert, written};

    const ALL: [Outcome; 4] = [Outcome::Passed, Outcome::Failed, Outcome::Open, Outcome::Skipped];

    fn suite(text: &str) -> Suite {
        let case = |outcome| Case { group: text.into(), name: text.into(), outcome, word: "word", text: text.into() };
        Suite { name: "charz compare", answer: text.into(), cases: ALL.map(case).to_vec() }
    }

    #[test]
    fn junit_is_xml_whose_counts_are_those_of_its_cases() {
        for text in ["a & b", EVIL, ""] {
            let text = written(|out| junit(&suite(text), out));
            assert_inert("junit", &text);
            let read = roxmltree::Document::parse(&text).unwrap();
            let named = |name: &str| read.descendants().filter(|node| node.has_tag_name(name)).count();
            let root = read.root_element();
            let elements =
                [("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")];
            for (count, element) in elements {
                assert_eq!(root.attribute(count), Some(named(element).to_string().as_str()), "{element}: {text}");
            }
        }
        let text = written(|out| junit(&suite("a & <b>"), out));
        let read = roxmltree::Document::parse(&text).unwrap();
        let failure = read.descendants().find(|node| node.has_tag_name("failure")).unwrap();
        assert_eq!(failure.attribute("message"), Some("a & <b>"));
    }

    #[test]
    fn what_passed_has_no_annotation_and_no_text_begins_another_command() {
        let text = written(|out| github(&suite("50%: a, b\n::error::planted"), out));
        let levels: Vec<&str> = text.lines().map(|line| line.split([' ', ':']).nth(2).unwrap()).collect();
        assert_eq!(levels, ["error", "warning", "notice"], "{text}");
        let (title, message) =
            text.lines().next().unwrap().strip_prefix("::error title=").unwrap().split_once("::").unwrap();
        assert!(!title.contains([',', ':']) && title.contains("50%25%3A a%2C b"), "{title}");
        assert!(message.starts_with("50%25: a, b"), "{message}");
    }
}
