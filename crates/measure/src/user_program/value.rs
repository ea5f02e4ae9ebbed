//! From what a program prints to a number.

use std::borrow::Cow;
use std::sync::LazyLock;

use charz_data::{Program, ProgramValue, quote};
use regex::bytes::Regex;

/// The expressions of a program, compiled once.
pub struct Readers {
    pub(super) value: ProgramValue,
    pub(super) regex: Option<Regex>,
    pub(super) verify: Option<Regex>,
}

/// What follows what is wrong with a program whose time is not that of its work.
pub(super) const LEFT_RUNNING: &str =
    "left processes running, whose work was not timed; let it wait for them, as setsid --wait does";

impl Readers {
    /// Whether the number of a run is its time, or follows from it.
    pub(super) fn are_of_time(&self) -> bool {
        matches!(self.value, ProgramValue::Wall | ProgramValue::Work(_))
    }

    /// For runs with so many threads, which `--verify` may name.
    ///
    /// # Errors
    /// The flag whose expression is wrong, and what is wrong with it, as a sentence.
    pub fn of(program: &Program, threads: usize) -> Result<Self, String> {
        let regex = match &program.value {
            ProgramValue::Regex(text) => Some(compile("--value: regex:", text)?),
            _ => None,
        };
        let filled = program.verify.as_ref().map(|text| text.replace("{threads}", &threads.to_string()));
        let verify = filled.map(|text| compile("--verify: ", &text)).transpose()?;
        Ok(Readers { value: program.value.clone(), regex, verify })
    }
}

/// The parser draws its message beneath the expression: a caret marks the place.
fn compile(flag: &str, text: &str) -> Result<Regex, String> {
    const INDENT: usize = 4;
    Regex::new(text).map_err(|error| {
        let drawn = error.to_string();
        let place = drawn.lines().find(|line| line.trim_start().starts_with('^')).and_then(|line| line.find('^'));
        let place = place.map(|at| format!(" at character {}", (at + 1).saturating_sub(INDENT))).unwrap_or_default();
        let why = drawn.lines().last().unwrap_or_default().trim_start_matches("error: ");
        format!("{flag}{} is no regular expression: {why}{place}", quote(text))
    })
}

/// A number as programs print it, digits in groups of three among them.
///
/// # Errors
/// What is wrong with it: a sentence.
pub(super) fn number(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let value = text.parse().ok().or_else(|| grouped(text)?.parse().ok());
    value.map_or_else(|| Err(no_number(text)), measurable)
}

fn no_number(text: &str) -> String {
    let comma = if text.contains(',') {
        "; a comma is read between groups of three digits only, so print a point (LC_ALL=C)"
    } else {
        ""
    };
    format!("the value {} of the program is not a number{comma}", quote(text))
}

/// # Errors
/// What is wrong with it: a sentence.
pub(super) fn measurable(value: f64) -> Result<f64, String> {
    // The reader of reports refuses what is beyond.
    if (1e-24..=1e24).contains(&value) {
        return Ok(value);
    }
    let what = match value {
        _ if value.is_nan() => "is not a number",
        _ if value.is_infinite() => "is infinite",
        _ if value < 0.0 => "is negative",
        _ if value == 0.0 => "is zero",
        _ => "is out of range",
    };
    Err(format!("the value {value} of the program {what}; a value is above 0"))
}

/// `1,234.5` without its commas. `0,532` has none between groups.
fn grouped(text: &str) -> Option<String> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let mut groups = whole.split(',');
    let digits = |group: &str| group.bytes().all(|byte| byte.is_ascii_digit());
    let first = groups.next().filter(|first| (1..=3).contains(&first.len()) && digits(first))?;
    let first = Some(first).filter(|first| !first.starts_with('0'))?;
    let rest: Vec<&str> = groups.collect();
    let fits = !rest.is_empty() && rest.iter().all(|group| group.len() == 3 && digits(group)) && digits(fraction);
    fits.then(|| format!("{first}{}.{fraction}", rest.concat()))
}

/// A line without the escape sequences of terminals (ECMA-48: colours and cursor, titles), whose numbers are none of the program's.
pub(super) fn without_escapes(line: &[u8]) -> Cow<'_, [u8]> {
    static ESCAPE: LazyLock<Regex> = LazyLock::new(|| {
        let sequence = r"(?-u)\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])";
        Regex::new(sequence).expect("a constant")
    });
    ESCAPE.replace_all(line, b"".as_slice())
}

/// What a number in a line has behind the part of it that was taken: of `1` in `1,234.5`, `,234.5`.
pub(super) fn left_out<'a>(taken: &[u8], rest: &'a [u8]) -> &'a [u8] {
    static REST: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^(?:\d|\.\d|,\d{3}(?:\D|$)|[eE][-+]?\d)[\d.,]*(?:[eE][-+]?\d+)?").expect("a constant")
    });
    let is_number = taken.last().is_some_and(|last| last.is_ascii_digit() || *last == b'.');
    REST.find(rest).filter(|_| is_number).map_or(b"", |found| found.as_bytes().trim_ascii_end())
}

/// The last number in a line, which may be glued to its unit or its name: `12.5ms`, `time=3`; of a list such as `1,2.5,30` the last.
///
/// # Errors
/// Of `12,5`, which may be a number with a comma for a point or a list of two: a sentence.
pub(super) fn last_number(line: &[u8]) -> Option<Result<f64, String>> {
    static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r"-?0[xX][[:xdigit:]]+|-?(?:\d+(?:,\d+)+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?|-?\b(?:nan|NaN|NAN|[iI]nf(?:inity)?)\b",
        )
        .expect("a constant")
    });
    let last = NUMBER.find_iter(line).last()?;
    // What follows a letter or a digit is no sign: `run-5`.
    let after_word = line[..last.start()].last().is_some_and(u8::is_ascii_alphanumeric);
    let text = String::from_utf8_lossy(last.as_bytes());
    let text = if after_word { text.trim_start_matches('-') } else { &*text };
    if let Some(value) = text.parse().ok().or_else(|| grouped(text)?.parse().ok()) {
        return Some(Ok(value));
    }
    let is_list = text.contains('.') || text.matches(',').count() > 1;
    let last = text.rsplit(',').next().filter(|_| is_list).and_then(|last| last.parse().ok());
    Some(last.ok_or_else(|| no_number(text)))
}

/// The number at a path of names and indexes in a document, or in the last line of several documents.
///
/// # Errors
/// What is missing: a sentence.
pub(super) fn json_at(document: &[u8], path: &str) -> Result<f64, String> {
    let last_line = || document.split(|byte| *byte == b'\n').rfind(|line| !line.trim_ascii().is_empty());
    let parsed: serde_json::Value = serde_json::from_slice(document)
        .or_else(|error| last_line().map_or(Err(error), serde_json::from_slice))
        .map_err(|error| format!("the output of the program is not JSON: {error}"))?;
    let mut place = &parsed;
    for name in path.split('.') {
        let below = match place {
            serde_json::Value::Array(list) => name.parse().ok().and_then(|index: usize| list.get(index)),
            other => other.get(name),
        };
        place = below.ok_or_else(|| format!("the JSON of the program has no {} in {}", quote(name), quote(path)))?;
    }
    let value = place.as_f64().ok_or_else(|| format!("{} in the JSON of the program is not a number", quote(path)))?;
    measurable(value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_place_of_a_mistake_in_an_expression_is_named() {
        for (text, place) in [("ab(c", "character 3"), ("[z-a]", "character 2"), ("a{2,1}", "character 2")] {
            let why = compile("--value: regex:", text).unwrap_err();
            assert!(why.starts_with("--value: ") && why.contains(place) && !why.contains('\n'), "{why}");
        }
    }

    #[test]
    fn numbers_as_programs_print_them() {
        for (text, value) in [("12", 12.0), (" 1.5e3 ", 1500.0), ("1,234,567.5", 1_234_567.5), ("+7", 7.0)] {
            assert_eq!(number(text), Ok(value));
        }
        for (text, word) in [
            ("nan", "not a number"),
            ("inf", "infinite"),
            ("-3", "negative"),
            ("0", "zero"),
            ("x", "not a number"),
            ("1,23", "not a number"),
            ("0,532", "point"),
            ("1e300", "out of range"),
            ("", "not a number"),
        ] {
            let why = number(text).unwrap_err();
            assert!(why.contains(word), "{text}: {why}");
        }
    }

    #[test]
    fn colours_and_titles_have_no_numbers() {
        for line in [
            "\x1b[32m3.5\x1b[39m GB/s",
            "3.5\x1b[0;39m",
            "\x1b]0;title 7\x073.5 \x1b]8;;http://x/9\x1b\\",
            "3.5 \x1b(0",
        ] {
            assert_eq!(last_number(&without_escapes(line.as_bytes())), Some(Ok(3.5)), "{line:?}");
        }
        let plain = b"no escape: [32m 4";
        assert_eq!(*without_escapes(plain), *plain);
    }

    #[test]
    fn the_last_number_of_a_line_with_or_without_its_unit() {
        for (line, value) in [
            ("read 3 files in 12.5ms", Some(12.5)),
            ("time=0.25 s.", Some(0.25)),
            ("1,234 ops, 5 errors", Some(5.0)),
            ("done: 1,234", Some(1234.0)),
            ("-4.5", Some(-4.5)),
            ("nothing", None),
            ("x3 = 1e-3s", Some(1e-3)),
            ("run-5", Some(5.0)),
            ("1,2.5,30", Some(30.0)),
            ("8,123.5", Some(8123.5)),
            ("8,12.5", Some(12.5)),
            ("at 640x480", Some(480.0)),
        ] {
            assert_eq!(last_number(line.as_bytes()), value.map(Ok), "{line}");
        }
        for line in ["time 0,532 s", "12,5 s", "1,2345", "1,5e3", "in 0x1F s", "-0x1F"] {
            assert!(last_number(line.as_bytes()).is_some_and(|number| number.is_err()), "{line}");
        }
    }

    #[test]
    fn a_part_of_a_number_is_not_taken_for_it() {
        for (taken, rest, expected) in [
            ("1", ",234.5 MB/s", ",234.5"),
            ("1.5", "e9", "e9"),
            ("12", ".5 s", ".5"),
            ("1", "2", "2"),
            ("5", ",6,7", ""),
            ("5", ", 6", ""),
            ("5", ".", ""),
            ("3", "extra", ""),
            ("ok", "1", ""),
        ] {
            assert_eq!(left_out(taken.as_bytes(), rest.as_bytes()), expected.as_bytes(), "{taken} {rest}");
        }
    }

    #[test]
    fn a_path_leads_through_objects_and_lists() {
        let text = br#"{"a": {"b": [1, {"c": 2.5}], "d": "x"}}"#;
        assert_eq!(json_at(text, "a.b.1.c"), Ok(2.5));
        assert_eq!(json_at(b"{\"a\": 1}\n{\"a\": 2}\n\n", "a"), Ok(2.0), "the last of several documents");
        for (path, word) in [("a.e", "\"e\""), ("a.b.2", "\"2\""), ("a.d", "not a number"), ("a.b.x", "\"x\"")] {
            let why = json_at(text, path).unwrap_err();
            assert!(why.contains(word), "{path}: {why}");
        }
        assert!(json_at(b"hello", "a").unwrap_err().contains("not JSON"));
    }

    proptest! {
        #[test]
        fn the_last_number_is_found_behind_any_words(words in "[a-z :=]{0,20}", value in 0.0..1e9_f64) {
            prop_assert_eq!(last_number(format!("7 {words} {value}").as_bytes()), Some(Ok(value)));
        }
    }
}
