//! Numbers as programs print them: a value, and the unit behind it.
//!
//! A number is taken whole or not at all: what is glued to it and not understood is an error, since a part of a number is a wrong one.

use std::ops::Range;
use std::sync::LazyLock;

use charz_data::program::assignment;
use charz_data::quote;
use charz_data::unit_word::{self, is_unit};

use super::pattern::Pattern;

/// A number, and the unit that the program printed behind it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Printed {
    pub(super) value: f64,
    pub(super) unit: Option<String>,
}

impl Printed {
    fn seconds(value: f64) -> Self {
        Printed { value, unit: Some("s".to_owned()) }
    }
}

/// How a program writes numbers, as far as its user said so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Locale {
    /// Whether it may write a comma for the point.
    pub(super) comma_is_point: bool,
}

impl Locale {
    /// That of a program with this command line: charz starts it with numbers as in C, unless the line says otherwise.
    pub(super) fn of(command: &str) -> Self {
        let words = shlex::split(command).unwrap_or_default();
        let assigned = words.iter().map_while(|word| assignment(word));
        let numbers =
            assigned.filter(|(name, _)| ["LC_ALL", "LC_NUMERIC"].contains(name)).map(|(_, value)| value.to_owned());
        let is_plain =
            |value: &str| value.is_empty() || ["C", "POSIX", "en"].iter().any(|name| value.starts_with(name));
        Locale { comma_is_point: numbers.last().is_some_and(|value| !is_plain(&value)) }
    }
}

/// A whole number with or without groups of three digits, a fraction, and an exponent. Groups have one kind of mark; German groups have points,
/// and a comma for the point.
static NUMBER: LazyLock<Pattern> = LazyLock::new(|| {
    let groups = r"(?P<groups>[1-9]\d{0,2}(?:(?:,\d{3})+|(?:'\d{3})+|(?:’\d{3})+|(?:_\d{3})+)(?:\.\d+)?)";
    let spaced = r"(?P<spaced>[1-9]\d{0,2}(?:[\u{a0}\u{202f}\u{2009}]\d{3})+(?:[.,]\d+)?)";
    let german = r"(?P<german>[1-9]\d{0,2}(?:\.\d{3})+,\d+)";
    let plain = r"(?P<plain>\d+(?:\.\d+)?|\.\d+|\d+\.)";
    let exponent = r"(?P<exponent>[eEdD][-+]?\d+)?";
    compile(&format!("^(?P<sign>[-+−]?)(?:{german}|{groups}|{spaced}|{plain}){exponent}(?P<rest>.*)$"))
});

/// `1m2.5s`, `2h03m`, `0m1,021s`: minutes or hours before the last part.
static PARTS: LazyLock<Pattern> =
    LazyLock::new(|| compile(r"^(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m(?:in)?)?(?:(\d+(?:[.,]\d+)?)s(?:ec)?)?$"));
/// `1:02.50` and `1:01:02.5`. Without a fraction it may be the time of a day.
static CLOCK: LazyLock<Pattern> = LazyLock::new(|| compile(r"^(?:(\d+):)?(\d{1,2}):(\d{2}[.,]\d+)$"));
static NO_NUMBER: LazyLock<Pattern> = LazyLock::new(|| compile(r"^[-+]?(?:nan|NaN|NAN|[iI]nf(?:inity)?)$"));

fn compile(text: &str) -> Pattern {
    Pattern::new(text).expect("a constant")
}

/// A word without spaces: `number` with what is glued to it, as [`number`] reads it, and the word behind it, which may be its unit.
///
/// # Errors
/// Why it is no number, or not surely one: a sentence.
pub(super) fn read(word: &str, behind: &str, locale: Locale) -> Result<Printed, String> {
    let word = word.trim();
    let printed = number(word, locale)?;
    if printed.unit.is_some() {
        return Ok(printed);
    }
    Ok(Printed { unit: unit_behind(behind), ..printed })
}

/// A number with what is glued to it.
fn number(word: &str, locale: Locale) -> Result<Printed, String> {
    let ambiguous = || Err(no_number(word));
    if NO_NUMBER.is_match(word) {
        let value = word.parse().map_err(|_| no_number(word))?;
        return Ok(Printed { value, unit: None });
    }
    let decimal = |text: &str| text.replace(',', ".").parse::<f64>().unwrap_or(f64::NAN);
    if let Some(parts) = PARTS.first(word) {
        let part = |at: usize, seconds: f64| parts.group(at).map(|part| decimal(&word[part]) * seconds);
        let [days, hours, minutes, seconds] = [part(1, 86_400.0), part(2, 3600.0), part(3, 60.0), part(4, 1.0)];
        // One part by itself is a number with a unit; `m` may be metres.
        if [days, hours, minutes, seconds].iter().flatten().count() > 1 {
            return Ok(Printed::seconds([days, hours, minutes, seconds].into_iter().flatten().sum()));
        }
    }
    if let Some(parts) = CLOCK.first(word) {
        let part = |at: usize| parts.group(at).map_or(0.0, |part| decimal(&word[part]));
        return Ok(Printed::seconds(part(1) * 3600.0 + part(2) * 60.0 + part(3)));
    }
    let Some(found) = NUMBER.first(word) else { return ambiguous() };
    let text = |name: &str| found.named(name).map(|part| &word[part]);
    let (mantissa, is_grouped) = match (text("german"), text("groups"), text("spaced"), text("plain")) {
        (Some(german), ..) => (german.replace('.', "").replace(',', "."), false),
        (_, Some(groups), ..) => (groups.replace([',', '\'', '’', '_'], ""), groups.contains(',')),
        (_, _, Some(spaced), _) => (spaced.replace(['\u{a0}', '\u{202f}', '\u{2009}'], "").replace(',', "."), false),
        (.., plain) => (plain.unwrap_or_default().to_owned(), false),
    };
    // `1,021` is a thousand for some and one for others.
    if is_grouped && locale.comma_is_point && mantissa.len() <= 6 && !mantissa.contains('.') {
        return ambiguous();
    }
    let sign = if matches!(text("sign"), Some("-" | "−")) { "-" } else { "" };
    let exponent = text("exponent").unwrap_or_default().replace(['d', 'D'], "e");
    let value: f64 = format!("{sign}{mantissa}{exponent}").parse().map_err(|_| no_number(word))?;
    let rest = text("rest").unwrap_or_default().trim_end_matches(|mark: char| ".,;:!)]}\"'".contains(mark));
    if rest.is_empty() {
        return Ok(Printed { value, unit: None });
    }
    if let Some(factor) = unit_word::prefix(rest) {
        return Ok(Printed { value: value * factor, unit: None });
    }
    match is_unit(rest) || is_count(rest) {
        true => Ok(Printed { value, unit: Some(rest.to_owned()).filter(|rest| is_unit(rest)) }),
        false => ambiguous(),
    }
}

/// Whether a word that is glued to a number names what is counted and leaves the number as it is: `12cycles`, `2.5x`, `40%`.
fn is_count(word: &str) -> bool {
    const ORDINALS: [&str; 4] = ["st", "nd", "rd", "th"];
    let is_word = word.chars().count() > 2 && word.chars().all(|mark| mark.is_ascii_alphabetic());
    is_word && !ORDINALS.contains(&word) || matches!(word, "x" | "X" | "%" | "V" | "W" | "J" | "A" | "Hz" | "op")
}

/// The last number in a line, with its unit. A name may stand before it, as in `time=3`; of a list such as `1,2.5,30` it is the last. What
/// follows `±` is not the number, but how sure it is.
///
/// # Errors
/// Of what has digits and is not understood: a sentence.
pub(super) fn last(line: &str, locale: Locale) -> Option<Result<Printed, String>> {
    let (mut found, mut before): (Option<(&str, &str, bool)>, &str) = (None, "");
    let mut rest = line;
    while let Some((word, behind)) = next_word(rest) {
        let is_spread = ["±", "+-", "+/-"].iter().any(|mark| before.ends_with(mark) || word.starts_with(mark));
        if !is_spread && (word.contains(|mark: char| mark.is_ascii_digit()) || NO_NUMBER.is_match(trimmed(word))) {
            // One space between them, as between groups of digits.
            let is_near = rest.len() - rest.trim_start_matches(' ').len() <= 1 && !before.is_empty();
            found = Some((word, behind, is_near && may_go_on(before, word)));
        }
        (before, rest) = (word, behind);
    }
    let (word, behind, may_go_on) = found?;
    let word = trimmed(word);
    if may_go_on {
        return Some(Err(no_number(&format!("… {word}"))));
    }
    let name = word.rfind(['=', ':']).filter(|at| !word[..*at].ends_with(|mark: char| mark.is_ascii_digit()));
    let value = name.map_or(word, |at| &word[at + 1..]);
    // `run-5`, but no name that ends with a digit, such as `node7`.
    let value = match value.rsplit_once('-') {
        Some((name, number)) if !name.is_empty() && name.chars().all(|mark| mark.is_alphabetic() || mark == '_') => {
            number
        }
        _ => value,
    };
    let of_list = |word: &str| {
        let is_list = word.contains('.') || word.matches(',').count() > 1;
        word.rsplit_once(',').filter(|_| is_list).map(|(_, last)| last.to_owned())
    };
    Some(read(value, behind, locale).or_else(|why| match of_list(value) {
        Some(last) => read(&last, behind, locale),
        None => Err(why),
    }))
}

/// Whether a word of digits may be the next group of three of the one before it: `1 234 567`.
fn may_go_on(before: &str, word: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let word = trimmed(word);
    let whole = word.split(['.', ',']).next().unwrap_or_default();
    digits(before) && before.len() <= 3 && !before.starts_with('0') && digits(whole) && whole.len() == 3
}

/// The next word, and the rest of the line from its end on. Brackets and other marks that belong to no number divide words too.
fn next_word(line: &str) -> Option<(&str, &str)> {
    let divides = |mark: char| mark.is_ascii_whitespace() || "()[]{}\"|;<>&?~≈".contains(mark);
    let start = line.find(|mark| !divides(mark))?;
    let word = &line[start..];
    let end = word.find(divides).unwrap_or(word.len());
    Some((&word[..end], &word[end..]))
}

fn trimmed(word: &str) -> &str {
    word.trim_matches(|mark: char| ",;:!'".contains(mark)).trim_end_matches('.').trim_start_matches('=')
}

/// A number that an expression has taken out of a line: `at` is its place, and `whole` that of all that was matched. What was matched around
/// it is left out on purpose; what is glued to that belongs to the number.
///
/// # Errors
/// As [`read`], and of a part of a number.
pub(super) fn taken(line: &str, at: Range<usize>, whole: Range<usize>, locale: Locale) -> Result<Printed, String> {
    let (word, before, behind) = (&line[at.clone()], &line[..at.start], &line[at.end..]);
    let ends = |mark: char| mark.is_ascii_whitespace() || "()[]{}\"|;<>".contains(mark);
    let glued = if whole.end == at.end { behind.split(ends).next().unwrap_or_default() } else { "" };
    let digits = before.trim_end_matches(['.', ',', ':', '\'', '_']);
    let continues = whole.start == at.start
        && before.len() - digits.len() <= 1
        && digits.ends_with(|mark: char| mark.is_ascii_digit());
    let part = |start: usize| {
        let of = &line[start..at.end + glued.len()];
        format!("the expression takes {word:?} of {of:?}; its group may be ([-+0-9.,eE]+)")
    };
    if continues && word.starts_with(|mark: char| mark.is_ascii_digit() || mark == '.') {
        return Err(part(before.rfind(ends).map_or(0, |space| space + 1)));
    }
    let together = format!("{word}{}", glued.trim_end_matches(|mark: char| ",.;:!'".contains(mark)));
    let (number, own) = together.trim().split_once(char::is_whitespace).unwrap_or((together.trim(), ""));
    let printed = read(number, &format!(" {own}"), locale).map_err(|why| {
        match glued.is_empty() || read(word, "", locale).is_err() {
            true => why,
            false => part(at.start),
        }
    })?;
    // What was matched may name the unit: `([0-9.]+)ms`, `([0-9]+) MB/s`.
    let unit = if own.is_empty() { unit_behind(&behind[glued.len()..]) } else { None };
    Ok(Printed { unit: printed.unit.or(unit), ..printed })
}

/// As [`taken`], of a line that may be no UTF-8.
///
/// # Errors
/// As [`taken`].
pub(super) fn taken_of_bytes(
    line: &[u8],
    at: Range<usize>,
    whole: Range<usize>,
    locale: Locale,
) -> Result<Printed, String> {
    let mut text = String::new();
    let ends = [whole.start, at.start, at.end, whole.end, line.len()];
    let mut begin = 0;
    let places = ends.map(|end| {
        text.push_str(&String::from_utf8_lossy(&line[begin..end]));
        begin = end;
        text.len()
    });
    let [whole_start, start, end, whole_end, _] = places;
    taken(&text, start..end, whole_start..whole_end, locale)
}

/// Whether [`last`] may find a number in a line: nearly every line without one is passed over by this.
pub(super) fn may_have_a_number(line: &[u8]) -> bool {
    let has_digit = line.iter().any(u8::is_ascii_digit);
    let has_letters = || line.windows(2).any(|pair| matches!(pair, b"nf" | b"aN" | b"AN" | b"an"));
    has_digit || has_letters() && last(&String::from_utf8_lossy(line), Locale::default()).is_some()
}

/// The first word of a text, where it is a unit: of `12 MB/s)` and `12 (MB/s)` it is the same.
fn unit_behind(text: &str) -> Option<String> {
    let word = text.split_whitespace().next()?;
    let word = word.trim_matches(|mark: char| "()[]{},;:.\"'!".contains(mark));
    is_unit(word).then(|| word.to_owned())
}

fn no_number(text: &str) -> String {
    let how = match text {
        _ if text.contains(',') => "; a comma is read between groups of three digits only, so print a point (LC_ALL=C)",
        _ if text.starts_with('…') => "; it may be a group of the digits before it, so take it by --value regex:RE",
        _ if text.contains(|mark: char| mark.is_ascii_digit()) => "; take the number by --value regex:RE",
        _ => "",
    };
    format!("the value {} of the program is not a number{how}", quote(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    const C: Locale = Locale { comma_is_point: false };

    /// What programs print, and what it says: a number with its unit, or nothing that is sure.
    const PRINTED: [(&str, Option<(f64, &str)>); 92] = [
        // Plain numbers, and names before them.
        ("12", Some((12.0, ""))),
        ("12.5", Some((12.5, ""))),
        (".5", Some((0.5, ""))),
        ("-4.5", Some((-4.5, ""))),
        ("+7", Some((7.0, ""))),
        ("time=0.25 s.", Some((0.25, "s"))),
        ("time: 3", Some((3.0, ""))),
        ("score:17", Some((17.0, ""))),
        ("run-5", Some((5.0, ""))),
        ("done (42)", Some((42.0, ""))),
        ("{\"value\": 3.5}", Some((3.5, ""))),
        ("| 7 | 12.25 |", Some((12.25, ""))),
        ("3 of 10 passed in 2.5 seconds", Some((2.5, "seconds"))),
        ("1,234 ops, 5 errors", Some((5.0, ""))),
        ("1,2.5,30", Some((30.0, ""))),
        ("8,12.5", Some((12.5, ""))),
        ("7.", Some((7.0, ""))),
        // Units, glued and behind a space.
        ("read 3 files in 12.5ms", Some((12.5, "ms"))),
        ("12.5 ms", Some((12.5, "ms"))),
        ("1.1 s", Some((1.1, "s"))),
        ("1.1s", Some((1.1, "s"))),
        ("300us", Some((300.0, "us"))),
        ("300 µs", Some((300.0, "µs"))),
        ("2 minutes", Some((2.0, "minutes"))),
        ("800 MB/s", Some((800.0, "MB/s"))),
        ("1.6 GB/s", Some((1.6, "GB/s"))),
        ("1.6GB/s", Some((1.6, "GB/s"))),
        ("94.1 Mbits/sec", Some((94.1, "Mbits/sec"))),
        ("9.41 Gbps", Some((9.41, "Gbps"))),
        ("1.23GB", Some((1.23, "GB"))),
        ("512 KiB", Some((512.0, "KiB"))),
        ("(123 MB/s)", Some((123.0, "MB/s"))),
        ("123 (MB/s)", Some((123.0, "MB/s"))),
        ("15.3 ns/op", Some((15.3, "ns/op"))),
        ("4 B/op", Some((4.0, "B/op"))),
        ("41.2 tok/s", Some((41.2, "tok/s"))),
        ("18230.55 requests/sec", Some((18_230.55, "requests/sec"))),
        ("40%", Some((40.0, ""))),
        ("2.5x", Some((2.5, ""))),
        ("12cycles", Some((12.0, ""))),
        ("Time (mean ± σ): 3.5 ms ± 0.2 ms", Some((3.5, "ms"))),
        ("3.5 ms +- 0.2 ms", Some((3.5, "ms"))),
        // Prefixes by themselves.
        ("12.34k", Some((12_340.0, ""))),
        ("1.5M ops", Some((1.5e6, ""))),
        ("2G", Some((2e9, ""))),
        ("1.5M op/s", Some((1.5e6, "op/s"))),
        ("64Ki", Some((65_536.0, ""))),
        // Groups of digits.
        ("done: 1,234", Some((1234.0, ""))),
        ("1,234,567.5", Some((1_234_567.5, ""))),
        ("8,123.5", Some((8123.5, ""))),
        ("1'234'567", Some((1_234_567.0, ""))),
        ("1’234’567", Some((1_234_567.0, ""))),
        ("1_234_567", Some((1_234_567.0, ""))),
        ("1\u{202f}234\u{202f}567", Some((1_234_567.0, ""))),
        ("1\u{a0}234,5", Some((1234.5, ""))),
        ("1.234.567,89", Some((1_234_567.89, ""))),
        ("1,234,567 bytes", Some((1_234_567.0, "bytes"))),
        // Exponents.
        ("1e-3s", Some((1e-3, "s"))),
        ("1.5E+06", Some((1.5e6, ""))),
        ("1.234D+02", Some((123.4, ""))),
        ("1.234d-3", Some((1.234e-3, ""))),
        // Minutes and hours.
        ("real 1m2.500s", Some((62.5, "s"))),
        ("real 0m1,021s", Some((1.021, "s"))),
        ("1h02m03s", Some((3723.0, "s"))),
        ("2m30s", Some((150.0, "s"))),
        ("Elapsed (m:ss): 1:02.50", Some((62.5, "s"))),
        ("1:01:02.5", Some((3662.5, "s"))),
        // What is not surely one number.
        ("time 0,532 s", None),
        ("12,5 s", None),
        ("1,2345", None),
        ("1,5e3", None),
        ("1 234 567", None),
        ("12 345", None),
        ("1.234.567", None),
        ("at 640x480", None),
        ("10^6", None),
        ("1.5×10^6", None),
        ("2026-11-29", None),
        ("10:33", None),
        ("10:33:21", None),
        ("127.0.0.1:8080", None),
        ("version 1.2.3", None),
        ("on node7", None),
        ("in 0x1F s", None),
        ("-0x1F", None),
        ("the 3rd", None),
        ("5m", None),
        ("3#Compressor", None),
        ("1.0f", None),
        ("5/10", None),
        ("12٫5", None),
        ("1e5e5", None),
    ];

    #[test]
    fn numbers_as_programs_print_them_are_read_whole_or_refused() {
        for (line, expected) in PRINTED {
            let found = last(line, C).unwrap_or_else(|| panic!("{line}: no number"));
            match expected {
                None => assert!(found.is_err(), "{line}: {found:?}"),
                Some((value, unit)) => {
                    let found = found.unwrap_or_else(|why| panic!("{line}: {why}"));
                    assert!((found.value - value).abs() <= value.abs() * 1e-12, "{line}: {found:?}");
                    assert_eq!(found.unit.as_deref().unwrap_or_default(), unit, "{line}");
                }
            }
        }
        let read = PRINTED.iter().filter(|(_, expected)| expected.is_some()).count();
        assert!(read >= 60 && PRINTED.len() >= 80);
        for line in ["nothing", "", "--", "a b"] {
            assert!(last(line, C).is_none(), "{line}");
        }
        for line in ["rate nan", "-inf", "Infinity"] {
            assert!(last(line, C).is_some_and(|found| !found.unwrap().value.is_normal()), "{line}");
        }
    }

    #[test]
    fn a_comma_is_a_point_where_the_user_says_so() {
        let german = Locale { comma_is_point: true };
        assert!(last("1,021 s", german).unwrap().is_err() && last("1,021 s", C).unwrap().is_ok());
        for (line, value) in [("1,234,567", 1_234_567.0), ("1,234.5", 1234.5), ("1.234,5", 1234.5)] {
            assert_eq!(last(line, german).unwrap().unwrap().value, value, "{line}");
        }
    }

    #[test]
    fn what_an_expression_takes_is_a_whole_number() {
        let taken = |line: &str, expression: &str| {
            let found = Pattern::new(expression).unwrap().first(line).unwrap();
            let whole = found.group(0).unwrap();
            taken(line, found.first_group().unwrap_or(whole.clone()), whole, C)
                .map(|printed| (printed.value, printed.unit.unwrap_or_default()))
        };
        for (line, expression, value, unit) in [
            ("rate: 12.5 MB/s", r"rate: (\S+)", 12.5, "MB/s"),
            ("rate: 12.5 MB/s", r"rate: (\S+ \S+)", 12.5, "MB/s"),
            ("rate: 12.5MB/s", r"rate: ([0-9.]+)", 12.5, "MB/s"),
            ("rate: 12.5MB/s", r"rate: ([0-9.]+)MB/s", 12.5, "MB/s"),
            ("real 0m1.021s", r"real\s+0m([0-9.,]+)s", 1.021, "s"),
            ("real 1m2.500s", r"real\s+(\S+)", 62.5, "s"),
            ("a 17 b", "[0-9]+", 17.0, ""),
            ("1,234.5", r"(\d+),\d+", 1.0, ""),
            ("12, 5", r"(\d+)", 12.0, ""),
            ("v=3, w", r"v=(\d)", 3.0, ""),
            ("12.34k reads", r"([0-9.]+)", 12_340.0, ""),
            // A part of a number stands for all of it.
            ("1,234.5 MB/s", r"(\d+)", 1234.5, "MB/s"),
            ("1.5e9", r"(\d\.\d)", 1.5e9, ""),
            ("12.5", r"(\d+)", 12.5, ""),
            ("1m2.5s", r"^(\d+)", 62.5, "s"),
        ] {
            assert_eq!(taken(line, expression), Ok((value, unit.to_owned())), "{line} {expression}");
        }
        for (line, expression) in
            [("12.5", r"(\d+)$"), ("1:02.50", r"([0-9.]+)$"), ("3extra7", r"(\d)"), ("ok", "(ok)")]
        {
            assert!(taken(line, expression).is_err(), "{line} {expression}: {:?}", taken(line, expression));
        }
    }
}
