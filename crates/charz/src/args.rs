//! The command line. The only place that knows how it is spelled: what was typed becomes a [`Command`], which knows
//! nothing of flags.

mod convert;
mod generate;
mod help;
mod spelling;

use std::ffi::OsString;

use clap::Parser;
use clap::error::ErrorKind;

use crate::command::Command;
use crate::exit::Error;

/// What the command line came to.
pub enum Parsed {
    /// Something to do.
    Command(Box<Command>),
    /// Help or the version: print it and be done.
    Text(String),
}

/// Reads a command line, the program's name first.
///
/// # Errors
/// One sentence for what was typed wrong.
pub fn parse(argv: impl IntoIterator<Item = OsString>) -> Result<Parsed, Error> {
    match spelling::Cli::try_parse_from(argv) {
        Ok(cli) => convert::command(cli.verb).map(|command| Parsed::Command(Box::new(command))),
        Err(error) if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            Ok(Parsed::Text(error.render().to_string()))
        }
        Err(error) if error.use_stderr() => Err(Error::bad_input(sentence(&error.render().to_string()))),
        Err(help) => Ok(Parsed::Text(help.render().to_string())),
    }
}

/// The parser's paragraphs in one line: the error itself and its tips, without the usage that `--help` repeats.
fn sentence(rendered: &str) -> String {
    let paragraphs = rendered.split("\n\n").map(str::trim).filter(|paragraph| {
        !paragraph.is_empty() && !paragraph.starts_with("Usage:") && !paragraph.starts_with("For more information")
    });
    let lines: Vec<String> = paragraphs
        .map(|paragraph| paragraph.split_whitespace().collect::<Vec<_>>().join(" "))
        .map(|line| line.trim_start_matches("error: ").to_owned())
        .collect();
    format!("{}; see --help", lines.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(line: &str) -> String {
        let argv = line.split(' ').map(OsString::from);
        match parse(argv) {
            Err(error) => error.to_string(),
            Ok(_) => panic!("{line} was accepted"),
        }
    }

    #[test]
    fn the_grammar_is_consistent() {
        <spelling::Cli as clap::CommandFactory>::command().debug_assert();
    }

    #[test]
    fn what_the_parser_refuses_is_one_line() {
        for (line, word) in [
            ("charz topol", "topo"),
            ("charz topo --fromat tree", "--format"),
            ("charz map --mapping dumb", "--threads"),
            ("charz sweep --resume a.json --kernel noop", "--resume"),
            ("charz sweep --output", "--output"),
            ("charz topo extra", "extra"),
        ] {
            let sentence = refused(line);
            assert!(sentence.contains(word), "{line}: {sentence}");
            assert!(!sentence.contains('\n') && !sentence.contains("Usage"), "{sentence}");
        }
    }
}
