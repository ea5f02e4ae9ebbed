//! From what a program prints to a number.

use std::borrow::Cow;
use std::sync::LazyLock;

use charz_data::{Program, ProgramValue, ReportedUnit, Symbol, quote, unit_word};
use serde_json::Value;

use super::pattern::Pattern;
use super::printed::{self, Locale, Printed};

/// The expressions of a program, compiled once.
pub struct Readers {
    pub(super) value: ProgramValue,
    pub(super) regex: Option<Expression>,
    pub(super) verify: Option<Expression>,
    pub(super) unit: Symbol,
    pub(super) locale: Locale,
}

/// A regular expression for lines.
pub(super) struct Expression {
    /// For one line.
    pub(super) line: Pattern,
    /// The same for many lines at once, where it finds something in them if it does in one; it may find what is of two.
    all: Option<Pattern>,
}

/// What follows what is wrong with a program whose time is not that of its work.
pub(super) const LEFT_RUNNING: &str =
    "left processes running, whose work was not timed; let it wait for them, as setsid --wait does";

impl Readers {
    /// Whether the number of a run is its time, or follows from it.
    pub(super) fn are_of_time(&self) -> bool {
        matches!(self.value, ProgramValue::Wall | ProgramValue::Work(_))
    }

    /// Whether nothing that the program prints decides a number.
    pub(super) fn need_no_line(&self) -> bool {
        self.are_of_time() && self.verify.is_none()
    }

    /// Whether one of these lines may match; `false` without an expression.
    pub(super) fn may_match(expression: Option<&Expression>, lines: &[u8]) -> bool {
        expression.is_some_and(|expression| expression.all.as_ref().is_none_or(|all| all.is_match(lines)))
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
        let locale = Locale::of(&program.command);
        Ok(Readers { value: program.value.clone(), regex, verify, unit: program.unit.symbol, locale })
    }
}

/// The parser draws its message beneath the expression: a caret marks the place.
fn compile(flag: &str, text: &str) -> Result<Expression, String> {
    const INDENT: usize = 4;
    // The ends of a text, or a flag that is taken away, would be those of all lines.
    let is_of_lines = !(text.contains("\\A") || text.contains("\\z") || text.contains("(?") && text.contains('-'));
    let all = || Pattern::of_lines(text).ok().filter(|_| is_of_lines);
    Pattern::new(text).map(|line| Expression { line, all: all() }).map_err(|drawn| {
        let place = drawn.lines().find(|line| line.trim_start().starts_with('^')).and_then(|line| line.find('^'));
        let place = place.map(|at| format!(" at character {}", (at + 1).saturating_sub(INDENT))).unwrap_or_default();
        let why = drawn.lines().last().unwrap_or_default().trim_start_matches("error: ");
        format!("{flag}{} is no regular expression: {why}{place}", quote(text))
    })
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

/// A printed number in the unit of the program's; one whose unit is not named is in the smallest of what is printed.
///
/// # Errors
/// That the program printed a unit of something else: a sentence.
pub(super) fn in_unit(printed: &Printed, unit: Symbol) -> Result<f64, String> {
    let Some(word) = &printed.unit else { return Ok(printed.value) };
    if unit == ReportedUnit::UNNAMED {
        return Ok(printed.value * unit_word::smallest(word).map_or(1.0, |(factor, _)| factor));
    }
    let unit = unit.as_str();
    match unit_word::factor(word, unit) {
        Some(factor) => Ok(printed.value * factor),
        None if unit_word::contradict(word, unit) => Err(format!(
            "the program printed {} {}, and its numbers are in {}; name the unit by --unit, or take another number",
            printed.value,
            quote(word),
            quote(unit)
        )),
        // What only people know to be the same.
        None => Ok(printed.value),
    }
}

/// Whether lines end as lines do, and have no escape sequences.
pub(super) fn is_plain(lines: &[u8]) -> bool {
    static MARK: LazyLock<Pattern> = LazyLock::new(|| Pattern::new(r"(?-u)[\r\x1b]").expect("a constant"));
    !MARK.is_match(lines)
}

/// A line without the escape sequences of terminals (ECMA-48: colours and cursor, titles), whose numbers are none of the program's.
pub(super) fn without_escapes(line: &[u8]) -> Cow<'_, [u8]> {
    static ESCAPE: LazyLock<Pattern> = LazyLock::new(|| {
        let sequence = r"(?-u)\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])";
        Pattern::new(sequence).expect("a constant")
    });
    // Most programs print none, and the search for one byte is fast.
    match line.contains(&0x1b) {
        true => ESCAPE.taken_from(line).into(),
        false => line.into(),
    }
}

/// The number at a path of names and indexes in a document, or in the last line of several documents.
///
/// # Errors
/// What is missing: a sentence.
pub(super) fn json_at(output: &[u8], path: &str, locale: Locale) -> Result<Printed, String> {
    let parsed = document(output).map_err(|error| format!("the output of the program is not JSON: {error}"))?;
    let mut place = &parsed;
    for name in path.split('.') {
        let below = match place {
            Value::Array(list) => name.parse().ok().and_then(|index: usize| list.get(index)),
            other => other.get(name),
        };
        place = below.ok_or_else(|| format!("the JSON of the program has no {} in {}", quote(name), quote(path)))?;
    }
    let none = || format!("{} in the JSON of the program is not a number", quote(path));
    let printed = match place {
        Value::String(text) => printed::last(text, locale).ok_or_else(none)??,
        other => Printed { value: other.as_f64().ok_or_else(none)?, unit: None },
    };
    Ok(printed)
}

/// The last JSON document in an output. Lines that are none may stand before and behind it.
fn document(output: &[u8]) -> Result<Value, serde_json::Error> {
    let whole = match serde_json::from_slice(output) {
        Ok(whole) => return Ok(whole),
        Err(error) => error,
    };
    let (mut found, mut rest) = (None, output);
    while !rest.is_empty() {
        let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let mut taken = line.len() + 1;
        if line.trim_ascii_start().starts_with(b"{") || line.trim_ascii_start().starts_with(b"[") {
            let mut documents = serde_json::Deserializer::from_slice(rest).into_iter::<Value>();
            if let Some(Ok(document)) = documents.next() {
                taken = taken.max(documents.byte_offset());
                found = Some(document);
            }
        }
        rest = rest.get(taken..).unwrap_or_default();
    }
    found.ok_or(whole)
}

#[cfg(test)]
mod tests {
    use charz_data::Better;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_place_of_a_mistake_in_an_expression_is_named() {
        for (text, place) in [("ab(c", "character 3"), ("[z-a]", "character 2"), ("a{2,1}", "character 2")] {
            let why = compile("--value: regex:", text).err().unwrap();
            assert!(why.starts_with("--value: ") && why.contains(place) && !why.contains('\n'), "{why}");
        }
    }

    #[test]
    fn what_no_report_takes_is_named() {
        for (value, word) in [
            (f64::NAN, "not a number"),
            (f64::INFINITY, "infinite"),
            (-3.0, "negative"),
            (0.0, "zero"),
            (1e300, "out of range"),
        ] {
            assert!(measurable(value).unwrap_err().contains(word), "{value}");
        }
    }

    #[test]
    fn a_number_is_in_the_unit_of_the_program() {
        let of = |value: f64, printed: &str, unit: &str| {
            let unit = ReportedUnit::new(unit, Better::Higher).unwrap().symbol;
            in_unit(&Printed { value, unit: Some(printed.to_owned()).filter(|unit| !unit.is_empty()) }, unit)
        };
        for (value, printed, unit, expected) in [
            (1.6, "GB/s", "MB/s", 1600.0),
            (1.1, "s", "ms", 1100.0),
            (5.0, "", "MB/s", 5.0),
            (5.0, "tokens/s", "tok/s", 5.0),
            (1.6, "GB/s", "units", 1.6e9),
            (100.0, "ms", "units", 0.1),
            (7.0, "op/s", "units", 7.0),
        ] {
            let found = of(value, printed, unit).unwrap();
            assert!((found / expected - 1.0).abs() < 1e-12, "{value} {printed} in {unit}: {found}");
        }
        let why = of(3.0, "s", "MB/s").unwrap_err();
        assert!(why.contains("\"s\"") && why.contains("\"MB/s\""), "{why}");
    }

    #[test]
    fn colours_and_titles_have_no_numbers() {
        for line in [
            "\x1b[32m3.5\x1b[39m GB/s",
            "3.5\x1b[0;39m",
            "\x1b]0;title 7\x073.5 \x1b]8;;http://x/9\x1b\\",
            "3.5 \x1b(0",
        ] {
            let line = without_escapes(line.as_bytes());
            let last = printed::last(&String::from_utf8_lossy(&line), Locale::default());
            assert_eq!(last.unwrap().unwrap().value, 3.5, "{line:?}");
        }
        let plain = b"no escape: [32m 4";
        assert_eq!(*without_escapes(plain), *plain);
    }

    #[test]
    fn a_path_leads_through_objects_and_lists() {
        let at = |text: &[u8], path: &str| json_at(text, path, Locale::default()).map(|printed| printed.value);
        let text = br#"{"a": {"b": [1, {"c": 2.5}], "d": "x"}, "e": "12.5 ms"}"#;
        assert_eq!(at(text, "a.b.1.c"), Ok(2.5));
        assert_eq!(json_at(text, "e", Locale::default()).unwrap().unit.as_deref(), Some("ms"));
        for around in [
            "{\"a\": 1}\n{\"a\": 2}\n\n",
            "note: 3 jobs\n{\n  \"a\": 2\n}\n",
            "{\"a\": 2}\ndone {x}\n",
            "[1] started\n{\"a\":\n2}\n[ok]\n",
        ] {
            let found = at(around.as_bytes(), "a");
            assert_eq!(found, Ok(2.0), "{around}");
        }
        for (path, word) in [("a.e", "\"e\""), ("a.b.2", "\"2\""), ("a.d", "not a number"), ("a.b.x", "\"x\"")] {
            let why = at(text, path).unwrap_err();
            assert!(why.contains(word), "{path}: {why}");
        }
        assert!(at(b"hello", "a").unwrap_err().contains("not JSON"));
    }

    proptest! {
        #[test]
        fn the_last_number_is_found_behind_any_words(words in "[a-z :=]{0,20}", value in 0.0..1e9_f64) {
            let found = printed::last(&format!("7 {words} {value}"), Locale::default()).unwrap().unwrap();
            prop_assert_eq!(found.value, value);
        }
    }
}
