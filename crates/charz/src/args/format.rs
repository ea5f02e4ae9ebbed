//! `--format`, `--json` and `--output`, of every command that prints.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, ArgMatches, Args, Command};

use super::choice::choice;
use crate::exit::Error;
use charz_render::formats::{FORMATS, Format};

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
    #[command(flatten)]
    pub(super) format: FormatArgs,
    /// Write to FILE, whose ending sets the format: .html, .csv, .json, .md, .svg, …; - is standard output
    ///
    /// The file is replaced at once, and never if it is a report. --format overrides the ending.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// The endings of files that mean a format. A command has one of its names at most, but for the first, which is then meant.
const ENDINGS: [(&str, &[&str]); 10] = [
    ("html", &["html"]),
    ("htm", &["html"]),
    ("csv", &["csv", "runs-csv"]),
    ("svg", &["svg"]),
    ("png", &["png"]),
    ("json", &["json", "bmf", "bigger-is-better", "smaller-is-better", "hyperfine"]),
    ("md", &["markdown"]),
    ("markdown", &["markdown"]),
    ("xml", &["xml", "junit"]),
    ("prom", &["openmetrics"]),
];

/// What formats were called, and are.
const RENAMED: [(&str, &str); 1] = [("benchmark", "bmf")];

/// The formats that a file's ending means; `None` where it means none.
fn meant(file: &Path) -> Option<&'static [&'static str]> {
    let ending = file.extension()?.to_str()?.to_ascii_lowercase();
    ENDINGS.iter().find(|(known, _)| *known == ending).map(|(_, names)| *names)
}

/// Endings of plain text, which any format may have.
const TEXT: [&str; 4] = ["txt", "text", "log", "out"];

/// A note where the ending of `--output` and `--format` disagree, and where neither sets the format.
pub(super) fn ending_note(file: &Path, typed: &ArgMatches) -> Option<String> {
    // Not every command has formats.
    let is_json = *typed.try_get_one::<bool>("json").ok()??;
    let format = typed.try_get_one::<String>("format").ok()?.map(String::as_str);
    match (meant(file), format.or(is_json.then_some("json"))) {
        (Some(names), Some(format)) if !names.contains(&format) => {
            Some(format!("--output {file:?} gets the format {format}, as --format has it, and not that of its ending"))
        }
        (None, None) => {
            let ending = file.extension()?.to_str()?;
            let known = ENDINGS.map(|(ending, _)| format!(".{ending}")).join(", ");
            (!TEXT.contains(&ending)).then(|| {
                format!(
                    "--output {file:?} gets the default format: its ending is none of {known}; --format sets another"
                )
            })
        }
        _ => None,
    }
}

/// The file of a report, unless its name means another format.
pub(super) fn for_a_report(file: Option<PathBuf>) -> Result<Option<PathBuf>, Error> {
    match file.as_deref().and_then(meant) {
        Some(names) if !names.contains(&"json") => Err(Error::bad_input(format!(
            "--output: the file of a report ends in .json or .json.gz; charz render REPORT --output {:?} makes the {} of it",
            file.unwrap_or_default(),
            names[0]
        ))),
        _ => Ok(file),
    }
}

impl OutputArgs {
    /// The format that was asked for, by its name or by the ending of the file, else the first.
    pub(super) fn of<W>(
        &self,
        formats: impl IntoIterator<Item = &'static Format<W>>,
    ) -> Result<&'static Format<W>, Error> {
        self.format.for_file(self.output.as_deref(), formats)
    }
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
        self.for_file(None, formats)
    }

    /// The same of a command that measures: what shows a report only is named with the command that has it.
    pub(super) fn of_a_sweep<W>(
        &self,
        formats: impl IntoIterator<Item = &'static Format<W>>,
    ) -> Result<&'static Format<W>, Error> {
        let formats: Vec<_> = formats.into_iter().collect();
        let own = |name: &str| formats.iter().any(|format| format.name == name);
        match self.name().filter(|name| !own(name) && FORMATS.iter().any(|format| format.name == *name)) {
            Some(name) => {
                // A picture is of one figure, which has to be named; the page has all.
                let name = if ["svg", "png"].contains(&name) { "html" } else { name };
                let own = formats.iter().map(|format| format.name).collect::<Vec<_>>().join(", ");
                Err(Error::bad_input(format!(
                    "--format: a sweep prints {own}; when it has ended, type: charz render last --format {name}"
                )))
            }
            None => self.of(formats),
        }
    }

    /// The format that was asked for, else that which the ending of the file means, else the first.
    pub(super) fn for_file<W>(
        &self,
        file: Option<&Path>,
        formats: impl IntoIterator<Item = &'static Format<W>>,
    ) -> Result<&'static Format<W>, Error> {
        self.choose(file, formats.into_iter().map(|format| (format.name, format)))
    }

    /// The same, of formats with other meanings.
    pub(super) fn choose<N: AsRef<str>, T>(
        &self,
        file: Option<&Path>,
        formats: impl IntoIterator<Item = (N, T)>,
    ) -> Result<T, Error> {
        let mut formats: Vec<(N, T)> = formats.into_iter().collect();
        let first = |formats: &[(N, T)]| formats.first().map(|(name, _)| name.as_ref().to_owned()).unwrap_or_default();
        let Some(names) = file.filter(|_| self.name().is_none()).and_then(meant) else {
            let name = self.name().map_or_else(|| first(&formats), str::to_owned);
            let now = RENAMED
                .iter()
                .find(|(old, now)| *old == name && formats.iter().any(|(known, _)| known.as_ref() == *now));
            if let Some((_, now)) = now {
                return Err(Error::bad_input(format!("--format: {name:?} is called {now} now; type --format {now}")));
            }
            return choice("--format", &name, formats);
        };
        match formats.iter().position(|(name, _)| names.contains(&name.as_ref())) {
            Some(at) => Ok(formats.swap_remove(at).1),
            None => {
                let known = formats.iter().map(|(name, _)| name.as_ref()).collect::<Vec<_>>().join(", ");
                Err(Error::bad_input(format!(
                    "--output: this command has no format {}; choose another ending, or --format from {known}",
                    names[0]
                )))
            }
        }
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
pub(super) struct Offered(pub(super) Vec<&'static str>);

impl TypedValueParser for Offered {
    type Value = String;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.0.iter().map(|name| PossibleValue::new(*name))))
    }
}
