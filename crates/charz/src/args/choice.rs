//! A word that is one of several, and the one that a slip of it resembles.

use crate::exit::Error;

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
    Error::bad_input(format!("{flag}: there is no {text:?}{near}; choose from {}", names.join(", ")))
}

/// Similarity from which on the command-line parser too takes a word for a slip of another.
pub(super) const ALIKE: f64 = 0.7;

/// The name that the typed word most resembles, if it does so at all.
pub(super) fn nearest<'a>(text: &str, names: &[&'a str]) -> Option<&'a str> {
    let scored = names.iter().map(|name| (strsim::jaro_winkler(text, name), *name));
    scored.filter(|(score, _)| *score > ALIKE).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, name)| name)
}
