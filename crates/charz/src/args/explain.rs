//! `charz explain`.

use clap::Args;

use super::choice::nearest;
use super::format::{OutputArgs, takes_one};
use crate::command::Command;
use crate::exit::Error;
use crate::view::explain::FORMATS;
use charz_data::checks::{self, CHECKS, Check};
use charz_data::escape::quote;

#[derive(Debug, Args)]
#[command(mut_arg("format", |arg| takes_one(arg, FORMATS)))]
pub(super) struct ExplainArgs {
    /// The code, e.g. V03, or words of its title, such as steal
    #[arg(allow_hyphen_values = true)]
    pub(super) code: Option<String>,
    #[command(flatten)]
    pub(super) into: OutputArgs,
}

pub(super) fn explain(args: &ExplainArgs) -> Result<Command, Error> {
    Ok(Command::Explain { check: args.code.as_deref().map(check).transpose()?, format: args.into.of(FORMATS)? })
}

/// By its code, or by words that one title has, or else one description.
fn check(code: &str) -> Result<&'static Check, Error> {
    let is_code = code.chars().count() > 1 && code.chars().skip(1).all(|digit| digit.is_ascii_digit());
    let found = match checks::find(code) {
        Some(check) => vec![check],
        None if is_code => Vec::new(),
        None => described_by(code),
    };
    match found.as_slice() {
        [check] => Ok(check),
        [] => {
            let codes: Vec<&str> = CHECKS.iter().map(|check| check.code).collect();
            let near =
                nearest(&code.to_uppercase(), &codes).map(|near| format!("; did you mean {near}?")).unwrap_or_default();
            let (first, last) = (codes.first().unwrap_or(&""), codes.last().unwrap_or(&""));
            Err(Error::bad_input(format!("unknown warning {} ({first} to {last}){near}", quote(code))))
        }
        [first, ..] => {
            let named: Vec<String> = found.iter().map(|check| format!("{} {}", check.code, check.title)).collect();
            let (count, named) = (found.len(), named.join(", "));
            Err(Error::bad_input(format!(
                "{count} warnings have {}: {named}; type: charz explain {}",
                quote(code),
                first.code
            )))
        }
    }
}

/// Those with words that begin with each of these: in their titles, or if there is none, in their causes and remedies.
fn described_by(words: &str) -> Vec<&'static Check> {
    let separators = |letter: char| !letter.is_alphanumeric();
    let words = words.to_lowercase();
    let wanted: Vec<&str> = words.split(separators).filter(|word| word.len() > 1).collect();
    let has = |text: String| {
        let text = text.to_lowercase();
        let begins = |word: &&str| text.split(separators).any(|own| own.starts_with(word));
        !wanted.is_empty() && wanted.iter().all(begins)
    };
    let titled: Vec<_> = CHECKS.iter().copied().filter(|check| has(check.title.to_owned())).collect();
    let texts = |check: &Check| [check.title, check.quantity, check.cause, check.fix].join(" ");
    if titled.is_empty() { CHECKS.iter().copied().filter(|check| has(texts(check))).collect() } else { titled }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::tests::check_refused;

    #[test]
    fn a_warning_is_found_by_what_it_is_about() {
        for about in CHECKS {
            let found = described_by(about.title);
            assert!(found.iter().any(|check| check.code == about.code), "{}", about.title);
        }
        assert!(check("steal").is_ok_and(|check| check.title.contains("steal")));
        check_refused(check("V99"), "unknown");
        check_refused(check("no such thing at all"), "unknown");
        check_refused(check("\u{e9}1"), "unknown");
        check_refused(check("clock"), "type: charz explain V");
    }
}
