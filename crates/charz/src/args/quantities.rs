//! Numbers with their units, as they are typed.

use std::time::Duration;

use crate::exit::Error;
use charz_measure::plan::MOST_BUDGET;

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
pub(super) fn percentage(flag: &str, text: &str, example: &str) -> Result<f64, Error> {
    let refuse = |what: &str| Error::bad_input(format!("{flag}: {text:?} {what}; example: {flag} {example}"));
    let digits = text.strip_suffix('%').ok_or_else(|| refuse("is no percentage: it does not end in %"))?;
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let number: f64 = digits.parse().ok().filter(|_| plain).ok_or_else(|| refuse("is no percentage"))?;
    if number > 0.0 && number <= 100.0 { Ok(number / 100.0) } else { Err(refuse("is not above 0% and up to 100%")) }
}

pub(super) fn budget(text: &str) -> Result<Duration, Error> {
    match time("--budget", text, "--budget 10m")? {
        Duration::ZERO => {
            Err(Error::bad_input(format!("--budget: {text:?} leaves no time to measure; example: --budget 10m")))
        }
        duration => Ok(duration),
    }
}

pub(super) fn time(flag: &str, text: &str, example: &str) -> Result<Duration, Error> {
    let refuse = |what: String| Err(Error::bad_input(format!("{flag}: {text:?} is {what}; example: {example}")));
    match humantime::parse_duration(text) {
        Ok(duration) if duration > MOST_BUDGET => {
            refuse(format!("more than {} days", MOST_BUDGET.as_secs() / (24 * 60 * 60)))
        }
        Ok(duration) => Ok(duration),
        Err(_) => refuse("not a time with a unit (ms, s, m, h)".into()),
    }
}
