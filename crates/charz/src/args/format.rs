//! `--format` and `--json`, of every command that prints.

use clap::{Arg, Args};

use super::convert::choice;
use crate::exit::Error;

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct FormatArgs {
    // Each command says which formats it has.
    #[arg(long, value_name = "FORMAT")]
    format: Option<String>,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

impl FormatArgs {
    /// What was asked for, if anything.
    pub(super) fn name(&self) -> Option<&str> {
        if self.json { Some("json") } else { self.format.as_deref() }
    }

    /// The format that was asked for, else the first.
    pub(super) fn choose<N: AsRef<str>, T>(&self, formats: impl IntoIterator<Item = (N, T)>) -> Result<T, Error> {
        let mut formats = formats.into_iter().peekable();
        let first = formats.peek().map(|(name, _)| name.as_ref().to_owned()).unwrap_or_default();
        choice("--format", self.name().unwrap_or(&first), formats)
    }
}

/// The help of a `--format` that takes one of these, each with what it is for, if that needs words. The first is the default.
pub(super) fn takes<'a>(arg: Arg, formats: impl Iterator<Item = (&'a str, &'a str)>) -> Arg {
    let formats: Vec<_> = formats.collect();
    let names: Vec<&str> = formats.iter().map(|(name, _)| *name).collect();
    let default = names.first().map(|name| format!(" [default: {name}]")).unwrap_or_default();
    let arg = arg.help(format!("Output format: {}{default}", names.join(", ")));
    if formats.iter().all(|(_, about)| about.is_empty()) {
        return arg;
    }
    let lines: Vec<String> = formats.iter().map(|(name, about)| format!("  {name}: {about}")).collect();
    arg.long_help(format!("Output format{default}\n\n{}", lines.join("\n")))
}
