//! What the parser of the command line refuses, in one line.

use clap::error::{ContextKind, ContextValue};

use crate::exit::Error;
use charz_data::escape::plain;

pub(super) fn refusal(mut refused: clap::Error) -> Error {
    // Escaped here, since rendering takes out what could steer a terminal, and the user would look for it in vain.
    for kind in [ContextKind::InvalidArg, ContextKind::InvalidValue, ContextKind::InvalidSubcommand] {
        if let Some(ContextValue::String(foreign)) = refused.get(kind) {
            let escaped = ContextValue::String(plain(foreign));
            refused.insert(kind, escaped);
        }
    }
    Error::bad_input(sentence(&refused.render().to_string()))
}

/// The parser's paragraphs in one line: the error itself and its tips, without the usage that `--help` repeats.
fn sentence(rendered: &str) -> String {
    let paragraphs = rendered.split("\n\n").map(str::trim).filter(|paragraph| {
        !paragraph.is_empty() && !paragraph.starts_with("Usage:") && !paragraph.starts_with("For more information")
    });
    let lines: Vec<String> = paragraphs
        .map(|paragraph| paragraph.split_whitespace().collect::<Vec<_>>().join(" "))
        .map(|line| line.trim_start_matches("error: ").to_owned())
        // Who types an option that there is not means no value by it.
        .filter(|line| !line.starts_with("tip: to pass "))
        .collect();
    format!("{}; see --help", lines.join("; "))
}
