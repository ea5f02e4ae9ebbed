//! Numbers with their units, as they are typed.

use std::time::Duration;

use crate::exit::Error;
use crate::plan::MOST_BUDGET;

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
