//! A check as text: one format per entry of [`FORMATS`].

use std::io::Write;

use serde::Serialize;

use charz_data::escape::one_line;
use charz_render::json;
use charz_render::verdicts::{self, Case, Outcome, Suite};

use crate::baseline::{Checked, Level};
use crate::words;

/// What came of a check, or why nothing could be checked.
pub type Found = Result<Checked, String>;

/// A format of checks.
pub type Format = charz_render::formats::Format<fn(&Found, &mut dyn Write) -> std::io::Result<()>>;

/// All formats; the first is the default.
pub const FORMATS: &[Format] = &[
    Format {
        name: "nagios",
        about: "one line with performance data, as plugins of Nagios print it",
        write: |found, out| match found {
            Ok(checked) => writeln!(out, "{}", words::check_line(checked)),
            Err(why) => writeln!(out, "{}", words::check_failed(why)),
        },
    },
    Format {
        name: "json",
        about: "level, host, reason, and each quantity with its value and the baseline's",
        write: |found, out| json::write_pretty_line(&Document::of(found), out),
    },
    Format {
        name: "junit",
        about: "one test case, for a build server: WARNING and CRITICAL fail, UNKNOWN is an error",
        write: |found, out| verdicts::junit(&suite(found), out),
    },
    Format {
        name: "github",
        about: "annotations of a GitHub workflow",
        write: |found, out| verdicts::github(&suite(found), out),
    },
];

/// What a check says.
pub fn level(found: &Found) -> Level {
    found.as_ref().map_or(Level::Unknown, |checked| checked.level)
}

fn why(found: &Found) -> String {
    one_line(&found.as_ref().map_or_else(Clone::clone, words::checked_words))
}

#[derive(Serialize)]
struct Document<'a> {
    level: &'static str,
    host: Option<&'a str>,
    why: String,
    quantities: Vec<Compared<'a>>,
}

#[derive(Serialize)]
struct Compared<'a> {
    kernel: &'a str,
    configuration: String,
    unit: &'a str,
    value: f64,
    baseline: f64,
    /// The fractions of the baseline by which a node may be slower.
    warning: f64,
    critical: f64,
}

impl<'a> Document<'a> {
    fn of(found: &'a Found) -> Self {
        let checked = found.as_ref().ok();
        let compared = checked.iter().flat_map(|checked| &checked.data).map(|(quantity, speed)| Compared {
            kernel: &quantity.kernel,
            configuration: quantity.configuration.to_string(),
            unit: &quantity.unit,
            value: speed.value,
            baseline: quantity.value,
            warning: quantity.warning,
            critical: quantity.critical,
        });
        let host = checked.map(|checked| checked.host.as_str());
        Document { level: level(found).name(), host, why: why(found), quantities: compared.collect() }
    }
}

fn suite(found: &Found) -> Suite {
    let level = level(found);
    let outcome = match level {
        Level::Ok => Outcome::Passed,
        Level::Warning | Level::Critical => Outcome::Failed,
        Level::Unknown => Outcome::Open,
    };
    let host = found.as_ref().map_or("this node", |checked| checked.host.as_str());
    let why = why(found);
    let answer = format!("{} - {host}: {why}", level.name());
    let case = Case { group: "fleet check".into(), name: host.to_owned(), outcome, word: level.name(), text: why };
    Suite { name: "charz fleet check", answer, cases: vec![case] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baseline::Verdict;

    fn shown(name: &str, found: &Found) -> String {
        let mut out = Vec::new();
        (FORMATS.iter().find(|format| format.name == name).unwrap().write)(found, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn only_a_node_within_its_tolerances_passes() {
        let of = |level| {
            let verdict = Verdict::OtherBuild("compiler".into());
            Ok(Checked { level, host: "n<1>".into(), verdict, data: Vec::new() })
        };
        let all =
            [of(Level::Ok), of(Level::Warning), of(Level::Critical), of(Level::Unknown), Err("no \u{1b}file".into())];
        let elements = ["<system-out>OK", "<failure", "<failure", "<error", "<error"];
        for (found, element) in all.iter().zip(elements) {
            let text = shown("junit", found);
            assert!(text.contains(element) && !text.contains("n<1>") && !text.contains('\u{1b}'), "{text}");
            assert!(shown("json", found).contains(&format!("\"level\": \"{}\"", level(found).name())));
            assert_eq!(shown("github", found).contains("::error "), element == "<failure");
        }
    }
}
