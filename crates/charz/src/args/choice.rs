//! A word that is one of several, and the one that a slip of it resembles.

use crate::exit::Error;
use charz_data::Arrange;

pub(super) fn choice<T, N: AsRef<str>>(
    flag: &str,
    text: &str,
    choices: impl IntoIterator<Item = (N, T)>,
) -> Result<T, Error> {
    let mut names = Vec::new();
    for (name, value) in choices {
        if name.as_ref() == text {
            return Ok(value);
        }
        names.push(name);
    }
    Err(no_such(flag, text, &names.iter().map(AsRef::as_ref).collect::<Vec<_>>()))
}

fn no_such(flag: &str, text: &str, names: &[&str]) -> Error {
    let near = nearest(text, names).map(|name| format!(" (did you mean {name}?)")).unwrap_or_default();
    let between = if names.iter().any(|name| name.contains(',')) { "; " } else { ", " };
    Error::bad_input(format!("{flag}: there is no {text:?}{near}; choose from {}", names.join(between)))
}

/// Similarity from which on the command-line parser too takes a word for a slip of another.
const ALIKE: f64 = 0.7;

/// Bytes of the longest word that may be a slip of a name.
const LONGEST: usize = 64;

/// The name that the typed word most resembles, if it does so at all.
pub(super) fn nearest<'a>(text: &str, names: &[&'a str]) -> Option<&'a str> {
    most_alike(text, names.iter().copied()).into_iter().next()
}

/// Those that the typed word resembles, the most alike first.
pub(super) fn most_alike<'a>(text: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    // What is longer is no slip, and takes a time that grows with its square.
    let text = if text.len() <= LONGEST { text } else { "" };
    let scored = names.map(|name| (strsim::jaro_winkler(text, name), name));
    let mut alike: Vec<(f64, &str)> = scored.filter(|(score, _)| *score > ALIKE).collect();
    alike.arrange_by(|a, b| b.0.total_cmp(&a.0));
    alike.into_iter().map(|(_, name)| name).collect()
}
