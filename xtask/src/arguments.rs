//! The words behind a task's name.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use crate::failure::{Failure, Outcome};

/// Refuses arguments where a task takes none.
pub fn none(task: &str, arguments: &[String]) -> Outcome {
    match arguments.first() {
        None => Ok(()),
        Some(first) => Err(Failure::usage(format!("`{task}` takes no arguments, but got {first:?}"))),
    }
}

/// Whether the only flag of a task is given, where it takes nothing else.
pub fn flag(task: &str, flag: &str, arguments: &[String]) -> Outcome<bool> {
    match arguments {
        [] => Ok(false),
        [only] if only == flag => Ok(true),
        _ => Err(Failure::usage(format!("`{task}` takes {flag} or nothing"))),
    }
}

/// Names, and the number of the only option of a task where it is given.
pub fn names_and_number<N: FromStr + PartialOrd + Display>(
    task: &str,
    option: &str,
    range: RangeInclusive<N>,
    arguments: &[String],
) -> Outcome<(Vec<String>, Option<N>)> {
    let (mut names, mut found) = (Vec::new(), None);
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if word == option {
            found = Some(number(option, words.next().map_or("", String::as_str), &range)?);
        } else if word.starts_with('-') {
            return Err(Failure::usage(format!("`{task}` does not know {word:?}")));
        } else {
            names.push(word.clone());
        }
    }
    Ok((names, found))
}

pub fn number<N: FromStr + PartialOrd + Display>(option: &str, text: &str, range: &RangeInclusive<N>) -> Outcome<N> {
    let (min, max) = (range.start(), range.end());
    let refused = || Failure::usage(format!("{option} takes a number from {min} to {max}, not {text:?}"));
    text.parse().ok().filter(|number| range.contains(number)).ok_or_else(refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_a_number() {
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<String>>();
        let read = |line: &str| names_and_number("fuzz", "--seconds", 1..=100, &words(line));
        assert_eq!(read("").unwrap(), (vec![], None));
        assert_eq!(read("xml --seconds 5 report").unwrap(), (words("xml report"), Some(5)));
        for line in ["--seconds", "--seconds 0", "--seconds x", "--quick"] {
            assert!(read(line).is_err(), "{line}");
        }
    }
}
