//! Numbers with their units, as they are typed.

use std::str::FromStr;
use std::time::Duration;

use charz_kernels::Period;
use charz_kernels::params::MAX_TIMEOUT_NS;

use crate::exit::Error;
use crate::plan::{MOST_BUDGET, MOST_BYTES, MOST_SECTION, MOST_SPAN};
use charz_data::units;

pub(super) fn count(flag: &str, text: &str, most: usize) -> Result<usize, Error> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse::<usize>() {
        Ok(number) if digits && (1..=most).contains(&number) => Ok(number),
        _ => {
            Err(Error::bad_input(format!("{flag}: {text:?} is not a whole number from 1 to {most}; example: {flag} 8")))
        }
    }
}

/// A percentage above 0 and up to 100, as a fraction. Digits and one point only: no sign, no exponent.
pub(super) fn percentage(text: &str) -> Result<f64, String> {
    let digits = text.strip_suffix('%').ok_or_else(|| format!("{text:?} is no percentage: it does not end in %"))?;
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let number: f64 = digits.parse().ok().filter(|_| plain).ok_or_else(|| format!("{text:?} is no percentage"))?;
    if number > 0.0 && number <= 100.0 {
        Ok(number / 100.0)
    } else {
        Err(format!("{text:?} is not above 0% and up to 100%"))
    }
}

/// The cache line of every processor that this program runs on, or a part of it. Kernels stream whole lines.
const LINE_BYTES: u64 = 64;

/// A size with a unit, at most a petabyte, in whole cache lines.
pub(super) fn size(text: &str) -> Result<u64, Error> {
    const EXAMPLE: &str = "example: --size 256MiB";
    let refuse = |why: &str| Error::bad_input(format!("--size: {text:?} {why}; {EXAMPLE}"));
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(refuse("is not a size"));
    }
    if text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return Err(refuse("has no unit (KiB, MiB, GiB, KB, MB, GB)"));
    }
    let size = bytesize::ByteSize::from_str(text).map_err(|_| refuse("is not a size"))?.as_u64();
    match size {
        0 => Err(refuse(&format!("is nothing to stream through; the least is {LINE_BYTES}B"))),
        1..=MOST_BYTES if size.is_multiple_of(LINE_BYTES) => Ok(size),
        1..=MOST_BYTES => Err(refuse(&format!(
            "is not a multiple of {LINE_BYTES} bytes, a cache line; the next one is {}B",
            size.next_multiple_of(LINE_BYTES)
        ))),
        _ => Err(refuse(&format!("is more than any machine has; the most is {}", units::iec(MOST_BYTES)))),
    }
}

/// How long a repetition lasts, or a part of it.
pub(super) fn span(flag: &str, text: &str) -> Result<Duration, Error> {
    let refuse = |why: &str| Error::bad_input(format!("{flag}: {text:?} {why}; example: {flag} 20ms"));
    match humantime::parse_duration(text) {
        Ok(Duration::ZERO) => Err(refuse("leaves no time to measure")),
        Ok(span) if span > MOST_SPAN => Err(refuse(&format!("is more than {}", units::duration(MOST_SPAN)))),
        Ok(span) => Ok(span),
        Err(_) => Err(refuse("is not a time with a unit (us, ms, s)")),
    }
}

/// `fitting`, `closed`, or a time.
pub(super) fn period(text: &str) -> Result<Period, Error> {
    match text {
        "fitting" => Ok(Period::Fitting),
        "closed" => Ok(Period::Closed),
        _ => span("--period", text).map(|span| Period::EveryNs(span.as_nanos() as u64)),
    }
}

/// How long a wait is told to last.
pub(super) fn timeout(text: &str) -> Result<Duration, Error> {
    let most = units::duration(Duration::from_nanos(MAX_TIMEOUT_NS));
    match span("--timeout", text)? {
        time if time > Duration::from_nanos(MAX_TIMEOUT_NS) => Err(Error::bad_input(format!(
            "--timeout: {text:?} is more than {most}, for which a worker would look at nothing else; example: --timeout 1ms"
        ))),
        time => Ok(time),
    }
}

/// The length of a section; none is one too.
pub(super) fn steps(flag: &str, text: &str) -> Result<u64, Error> {
    if text == "0" { Ok(0) } else { count(flag, text, MOST_SECTION as usize).map(|steps| steps as u64) }
}

pub(super) fn budget(text: &str) -> Result<Duration, Error> {
    const EXAMPLE: &str = "example: --budget 10m";
    match humantime::parse_duration(text) {
        Ok(Duration::ZERO) => Err(Error::bad_input(format!("--budget: {text:?} leaves no time to measure; {EXAMPLE}"))),
        Ok(duration) if duration > MOST_BUDGET => {
            let days = MOST_BUDGET.as_secs() / (24 * 60 * 60);
            Err(Error::bad_input(format!("--budget: {text:?} is more than {days} days; {EXAMPLE}")))
        }
        Ok(duration) => Ok(duration),
        Err(_) => {
            Err(Error::bad_input(format!("--budget: {text:?} is not a time with a unit (ms, s, m, h); {EXAMPLE}")))
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// What was typed is refused by a line that has this word.
    #[track_caller]
    pub(crate) fn check_refused<T>(result: Result<T, Error>, word: &str) {
        let Err(error) = result else { panic!("accepted") };
        let sentence = error.to_string();
        assert!(sentence.contains(word) && !sentence.contains('\n'), "{sentence}");
    }

    #[test]
    fn timeouts() {
        assert_eq!(timeout("100ms").unwrap(), Duration::from_nanos(MAX_TIMEOUT_NS));
        for (text, word) in [("101ms", "more than 100"), ("0s", "no time"), ("1", "unit")] {
            check_refused(timeout(text), word);
        }
    }

    #[test]
    fn sizes() {
        assert_eq!(size("256MiB").unwrap(), 256 << 20);
        assert_eq!(size("1GB").unwrap(), 1_000_000_000);
        assert_eq!(size("1.5 GiB").unwrap(), 3 << 29);
        for (text, word) in [
            ("0MiB", "nothing"),
            ("100B", "next one is 128B"),
            ("1KB", "multiple of 64"),
            ("256", "unit"),
            ("10XB", "not a size"),
            ("-1MiB", "not a size"),
            ("", "not a size"),
            ("inf", "not a size"),
            ("1e3MiB", "not a size"),
            ("16EiB", "more than"),
            ("99999999999999999999GiB", "more than"),
        ] {
            check_refused(size(text), word);
        }
    }

    #[test]
    fn budgets() {
        assert_eq!(budget("10m").unwrap(), Duration::from_secs(600));
        for text in ["5", "-1s", "", "0s", "1e400s", "soon", "31d", "99999999999y"] {
            check_refused(budget(text), "example: --budget 10m");
        }
    }

    #[test]
    fn counts() {
        assert_eq!(count("--threads", "8", 10).unwrap(), 8);
        for text in ["0", "-1", "+4", "11", "1.5", "", "99999999999999999999", "0x1"] {
            check_refused(count("--threads", text, 10), "from 1 to 10");
        }
    }
}
