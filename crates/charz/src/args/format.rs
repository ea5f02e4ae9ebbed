//! `--format`, `--json` and `--output`, of every command that prints.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Args, Command};

use super::choice::choice;
use crate::exit::Error;
use charz_render::formats::Format;

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct FormatArgs {
    // Each command says which formats it has.
    #[arg(long, value_name = "FORMAT")]
    format: Option<String>,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

// Of commands that print a result and write no report.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct OutputArgs {
    /// The file to write or replace, all of it or nothing, unless it is a report; - is standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

impl FormatArgs {
    /// What was asked for, if anything.
    pub(super) fn name(&self) -> Option<&str> {
        if self.json { Some("json") } else { self.format.as_deref() }
    }

    /// The format that was asked for, else the first.
    pub(super) fn of<W>(
        &self,
        formats: impl IntoIterator<Item = &'static Format<W>>,
    ) -> Result<&'static Format<W>, Error> {
        self.choose(formats.into_iter().map(|format| (format.name, format)))
    }

    /// The same, of formats with other meanings.
    pub(super) fn choose<N: AsRef<str>, T>(&self, formats: impl IntoIterator<Item = (N, T)>) -> Result<T, Error> {
        let mut formats = formats.into_iter().peekable();
        let first = formats.peek().map(|(name, _)| name.as_ref().to_owned()).unwrap_or_default();
        choice("--format", self.name().unwrap_or(&first), formats)
    }
}

/// The help of a `--format` that takes one of these. The first is the default.
pub(super) fn takes_one<W: 'static>(arg: Arg, formats: impl IntoIterator<Item = &'static Format<W>>) -> Arg {
    takes(arg, formats.into_iter().map(|format| (format.name, format.about)).collect())
}

/// The same of names, each with what it is for, if that needs words.
pub(super) fn takes(arg: Arg, formats: Vec<(&'static str, &'static str)>) -> Arg {
    let names: Vec<&'static str> = formats.iter().map(|(name, _)| *name).collect();
    let arg = arg.value_parser(Offered(names.clone())).hide_possible_values(true);
    let default = names.first().map(|name| format!(" [default: {name}]")).unwrap_or_default();
    let arg = arg.help(format!("Output format: {}{default}", names.join(", ")));
    if formats.iter().all(|(_, about)| about.is_empty()) {
        // It may have one of another command's formats.
        return arg.long_help(None::<&'static str>);
    }
    let lines: Vec<String> = formats.iter().map(|(name, about)| format!("  {name}: {about}")).collect();
    arg.long_help(format!("Output format{default}\n\n{}", lines.join("\n")))
}

/// Any text. Completions and the list of flags offer these; what is none of them is refused where it is read, with the nearest.
#[derive(Clone)]
struct Offered(Vec<&'static str>);

impl TypedValueParser for Offered {
    type Value = String;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.0.iter().map(|name| PossibleValue::new(*name))))
    }
}
