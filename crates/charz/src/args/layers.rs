//! Where the values of a sweep's flags come from: what was typed wins over the environment, the environment over the file of
//! `--config`, and the file over the defaults. This is the one place that merges them.
//!
//! Values of the environment and the file become defaults of the grammar, so a value is split and checked in the same way
//! wherever it comes from. The keys are the flags of the grammar: a new flag can be set in all of these places at once.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::ops::Range;
use std::path::{Path, PathBuf};

use charz_data::renamed;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::choice::nearest;
use crate::exit::Error;
use crate::log;
use crate::permit::{self, Permitted};
use crate::settings;
use crate::view::config::Setting;

/// Flags that say what is to be done this once: they must be typed.
const TYPED_ONLY: [&str; 15] = [
    "config",
    "resume",
    "trust-program",
    "continue",
    "preset",
    "force",
    "dry-run",
    "topology",
    "format",
    "json",
    "quiet",
    "color",
    "quick",
    "help",
    "version",
];

/// Flags that answer one question together: naming one of them sets what lower layers say of the other aside.
const TOGETHER: [&str; 2] = ["kernel", "family"];

/// Flags that were called otherwise before: where the old name is used it is refused with the new one. For one release.
pub(super) const RENAMED: [(&str, &str); 2] = [renamed::RUNS, renamed::ITERATIONS];

/// Variables that are no flag's.
const NO_FLAGS: [&str; 5] =
    ["CHARZ_DB", "CHARZ_LAUNCH", "CHARZ_LOCK_DIR", log::VARIABLE, charz_launch::runtimes::SEATS];

pub(super) type Variables = BTreeMap<OsString, OsString>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Takes {
    Nothing,
    One,
    Several,
}

/// A flag that can be set elsewhere than on the command line.
#[derive(Clone)]
struct Key {
    id: String,
    /// Without the dashes before it.
    long: String,
    takes: Takes,
    /// A value that is right, for messages.
    example: String,
}

/// The environment variable that sets a flag, if one can.
pub(super) fn variable_of(arg: &Arg) -> Option<String> {
    Key::of(arg).map(|key| key.variable())
}

impl Key {
    fn of(arg: &Arg) -> Option<Key> {
        let long = arg.get_long().filter(|long| !TYPED_ONLY.contains(long))?.to_owned();
        let takes = match arg.get_action() {
            ArgAction::SetTrue => Takes::Nothing,
            ArgAction::Append => Takes::Several,
            _ => Takes::One,
        };
        let default = arg.get_default_values().first().map(|value| value.to_string_lossy().into_owned());
        let example = match takes {
            Takes::Nothing => "true".to_owned(),
            _ => default.unwrap_or_else(|| "…".to_owned()),
        };
        Some(Key { id: arg.get_id().to_string(), long, takes, example })
    }

    /// The environment variable: `CHARZ_SIZE` for `--size`.
    fn variable(&self) -> String {
        variable(&self.long)
    }
}

fn variable(long: &str) -> String {
    format!("CHARZ_{}", long.to_ascii_uppercase().replace('-', "_"))
}

/// Whether a flag in a higher layer sets another aside: it is the same one, the grammar lets one exclude the other, or both answer one
/// question.
fn sets_aside(sweep: &Command, above: &str, below: &str) -> bool {
    let excludes = |one: &str, other: &str| {
        let arg = sweep.get_arguments().find(|arg| arg.get_id() == one);
        arg.is_some_and(|arg| sweep.get_arg_conflicts_with(arg).iter().any(|rival| rival.get_id() == other))
    };
    let together = [above, below].iter().all(|id| TOGETHER.contains(id));
    above == below || together || excludes(above, below) || excludes(below, above)
}

struct Given {
    key: Key,
    values: Vec<String>,
    place: String,
}

/// What holds of the environment and the file, where nothing that was typed wins over it.
#[derive(Default)]
pub(super) struct Layers {
    given: Vec<Given>,
    typed: Vec<OsString>,
}

impl Layers {
    /// Reads the layers below what was typed. `notes` get what is ignored of the environment.
    pub(super) fn read(
        sweep: &Command,
        typed: &ArgMatches,
        variables: &Variables,
        notes: &mut Vec<String>,
    ) -> Result<Self, Error> {
        let keys: Vec<Key> = sweep.get_arguments().filter_map(Key::of).collect();
        if let Some((was, is)) = RENAMED.iter().find(|(was, _)| variables.contains_key(OsStr::new(&variable(was)))) {
            let [was, is] = [was, is].map(|long| variable(long));
            return Err(Error::bad_input(format!("{was}: this variable is {is} now; unset it, and set {is}")));
        }
        notes.extend(ignored(&keys, variables));
        let file = match typed.get_one::<PathBuf>("config") {
            Some(path) => file(path, &keys)?,
            None => Vec::new(),
        };
        let was_typed = |id: &&str| typed.value_source(id) == Some(ValueSource::CommandLine);
        let mut decided: Vec<String> =
            sweep.get_arguments().map(|arg| arg.get_id().as_str()).filter(was_typed).map(str::to_owned).collect();
        let mut given = Vec::new();
        for mut layer in [environment(&keys, variables)?, file] {
            layer.retain(|given| !decided.iter().any(|above| sets_aside(sweep, above, &given.key.id)));
            decided.extend(layer.iter().map(|given| given.key.id.clone()));
            given.extend(layer);
        }
        Ok(Layers { given, typed: Vec::new() })
    }

    pub(super) fn with_typed(self, argv: &[OsString]) -> Self {
        Layers { typed: argv.to_vec(), ..self }
    }

    /// The command line as reports keep it: what was not typed is in it too, and secrets of the program are not.
    pub(super) fn command_line(&self, program: Option<&Permitted>) -> String {
        let mut words: Vec<String> = vec!["charz".into()];
        words.extend(self.typed.iter().skip(1).map(|word| word.to_string_lossy().into_owned()));
        for given in &self.given {
            for value in &given.values {
                match given.key.takes {
                    Takes::Nothing if value == "true" => words.push(format!("--{}", given.key.long)),
                    Takes::Nothing => {}
                    Takes::One | Takes::Several => words.push(format!("--{}={value}", given.key.long)),
                }
            }
        }
        if let Some(program) = program {
            words.iter_mut().for_each(|word| *word = program.recorded_in(word));
        }
        // An argument of a process has no NUL byte.
        shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default()
    }

    /// Whether the defaults of the grammar hold for all that was not typed.
    pub(super) fn is_empty(&self) -> bool {
        self.given.is_empty()
    }

    /// The flags of a sweep with these values for defaults.
    pub(super) fn below(&self, sweep: Command) -> Command {
        self.given.iter().fold(sweep, |sweep, given| {
            sweep.mut_arg(&given.key.id, |arg| arg.default_values(given.values.iter().cloned()))
        })
    }

    /// Every flag that can be set elsewhere, with the value that it has in `merged`.
    pub(super) fn settings(&self, sweep: &Command, merged: &ArgMatches) -> Vec<Setting> {
        let setting = |key: Key| {
            let from = match (merged.value_source(&key.id), self.place(&format!("--{}", key.long))) {
                (Some(ValueSource::CommandLine), _) => "flag",
                (_, Some(place)) => place,
                (_, None) => "default",
            };
            let values = merged.get_raw(&key.id).into_iter().flatten();
            Setting {
                values: values.map(|value| value.to_string_lossy().into_owned()).collect(),
                from: from.to_owned(),
                flag: key.long,
            }
        };
        sweep.get_arguments().filter_map(Key::of).map(setting).collect()
    }

    /// Names the place in the error about a value that was not typed. `flag` starts with its dashes.
    pub(super) fn blame<T>(&self, flag: &str, judged: Result<T, impl Into<Error>>) -> Result<T, Error> {
        judged.map_err(|error| match self.place(flag) {
            Some(place) => error.into().read_from(place),
            None => error.into(),
        })
    }

    /// The flag in a message: with its place before it where it was not typed.
    pub(super) fn label(&self, flag: &str) -> String {
        self.place(flag).map_or_else(|| flag.to_owned(), |place| format!("{place}: {flag}"))
    }

    /// Where its value is from, if neither typed nor the default.
    pub(super) fn place(&self, flag: &str) -> Option<&str> {
        let given = self.given.iter().find(|given| flag.strip_prefix("--") == Some(&given.key.long))?;
        Some(&given.place)
    }
}

/// What looks like a flag's variable and is none: a slip would change what is measured, silently.
fn ignored(keys: &[Key], variables: &Variables) -> impl Iterator<Item = String> {
    let names = variables.keys().filter_map(|name| name.to_str()).filter(|name| !NO_FLAGS.contains(name));
    names.filter_map(|name| {
        let long = name.strip_prefix("CHARZ_")?.to_ascii_lowercase().replace('_', "-");
        if keys.iter().any(|key| key.variable() == name) {
            return None;
        }
        let longs: Vec<&str> = keys.iter().map(|key| key.long.as_str()).collect();
        let near = nearest(&long, &longs).and_then(|near| keys.iter().find(|key| key.long == near));
        let near = near.map(|key| format!(" (did you mean {}?)", key.variable())).unwrap_or_default();
        Some(format!("{name}: no flag takes its value from this variable{near}; it is ignored"))
    })
}

fn environment(keys: &[Key], variables: &Variables) -> Result<Vec<Given>, Error> {
    let mut layer = Vec::new();
    for key in keys {
        let place = key.variable();
        let Some(value) = variables.get(OsStr::new(&place)) else { continue };
        let refuse = |why: &str| {
            let example = &key.example;
            Err(Error::bad_input(format!("{place}: {value:?} {why}; unset it, or write such as {place}={example}")))
        };
        match (value.to_str(), key.takes) {
            (None, _) => return refuse("is not UTF-8 text"),
            (Some(""), _) => return refuse("is no value"),
            (Some("true" | "false"), Takes::Nothing) | (Some(_), Takes::One | Takes::Several) => {}
            (Some(_), Takes::Nothing) => return refuse("is neither true nor false"),
        }
        let values = vec![value.to_string_lossy().into_owned()];
        layer.push(Given { key: key.clone(), values, place });
    }
    Ok(layer)
}

/// The file of `--config`: TOML, with the long names of the flags for keys.
fn file(path: &Path, keys: &[Key]) -> Result<Vec<Given>, Error> {
    let (text, opened) = settings::open("--config", path)?;
    let place = |span: Range<usize>| format!("{path:?}:{}", position(&text, span.start));
    let table = DeTable::parse(&text).map_err(|error| {
        let span = error.span().unwrap_or_default();
        let reason = error.message().lines().collect::<Vec<_>>().join(", ");
        let token = text.get(span.clone()).filter(|token| !token.is_empty()).map(|token| format!(" at {token:?}"));
        let token = token.unwrap_or_default();
        Error::bad_input(format!("{}: this is not TOML: {reason}{token}; write such as size = \"1GiB\"", place(span)))
    })?;
    let said = table.get_ref().iter().map(|(name, value)| {
        let key = keys.iter().find(|key| key.long == name.get_ref().as_ref());
        let key = key.ok_or_else(|| unknown(name.get_ref(), keys).read_from(&place(name.span())))?;
        let values = values(key, value.get_ref()).map_err(|error| error.read_from(&place(value.span())))?;
        if values.iter().any(|value| names_program(&key.long, value)) {
            permit::settings(path, &opened).map_err(|why| {
                Error::bad_input(format!(
                    "--config: {path:?} {why}; type --{}, or copy the file to a folder of your own",
                    key.long
                ))
            })?;
        }
        Ok(Given { key: key.clone(), values, place: place(value.span()) })
    });
    said.collect()
}

/// Whether a setting starts a program.
fn names_program(long: &str, value: &str) -> bool {
    matches!(long, "command" | "setup") || (long == "mapping" && value.contains("command:"))
}

fn unknown(name: &str, keys: &[Key]) -> Error {
    if let Some((was, is)) = RENAMED.iter().find(|(was, _)| *was == name) {
        return Error::bad_input(format!("the key {was} is {is} now; write {is} in its place"));
    }
    let names: Vec<&str> = keys.iter().map(|key| key.long.as_str()).collect();
    let near = nearest(name, &names).map(|name| format!(" (did you mean {name}?)")).unwrap_or_default();
    Error::bad_input(format!("there is no key {name:?}{near}; the keys are {}", names.join(", ")))
}

fn values(key: &Key, value: &DeValue<'_>) -> Result<Vec<String>, Error> {
    let (takes, example) = match key.takes {
        Takes::Nothing => ("true or false", key.example.clone()),
        Takes::One => ("a text in quotation marks or a whole number", format!("{:?}", key.example)),
        Takes::Several => ("a text in quotation marks or a list of such", format!("[{:?}]", key.example)),
    };
    let right = format!("{} = {example}", key.long);
    let refuse = |found: &DeValue<'_>| {
        let article = if found.type_str().starts_with(['a', 'i']) { "an" } else { "a" };
        Error::bad_input(format!("{} takes {takes}, not {article} {}; write {right}", key.long, found.type_str()))
    };
    let one = |value: &DeValue<'_>| match (value, key.takes) {
        (DeValue::String(text), _) if text.is_empty() => {
            Err(Error::bad_input(format!("{} is empty; leave it out, or write {right}", key.long)))
        }
        (DeValue::String(text), Takes::One | Takes::Several) => Ok(text.to_string()),
        (DeValue::Integer(number), Takes::One) => Ok(decimal(number.as_str(), number.radix())),
        (DeValue::Boolean(switch), Takes::Nothing) => Ok(switch.to_string()),
        (other, _) => Err(refuse(other)),
    };
    match (value, key.takes) {
        (DeValue::Array(list), Takes::Several) if !list.is_empty() => {
            list.iter().map(Spanned::get_ref).map(one).collect()
        }
        (value, _) => Ok(vec![one(value)?]),
    }
}

/// A number as it would be typed. One that is too large for the machine stays as it is: the flag refuses it by its looks.
fn decimal(digits: &str, radix: u32) -> String {
    i128::from_str_radix(digits, radix).map_or_else(|_| digits.to_owned(), |number| number.to_string())
}

/// `line:column` of a place in the text, both from 1; columns count characters.
fn position(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or(text);
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    format!("{}:{}", 1 + before.matches('\n').count(), 1 + before[start..].chars().count())
}

#[cfg(test)]
mod tests {
    use super::{Given, Key, Layers, Takes, position};

    #[test]
    fn a_value_that_is_called_like_a_switch_is_kept_in_the_command_line() {
        let given = |long: &str, takes, value: &str| {
            let key = Key { id: long.into(), long: long.into(), takes, example: String::new() };
            Given { key, values: vec![value.into()], place: String::new() }
        };
        let given = [given("command", Takes::One, "true"), given("wait", Takes::Nothing, "false")];
        let layers = Layers { given: given.into(), typed: Vec::new() };
        assert_eq!(layers.command_line(None).replace('\'', ""), "charz --command=true");
    }

    #[test]
    fn places_count_lines_and_characters_from_one() {
        let text = "a = 1\n# é\nsize = 5";
        for (at, expected) in [(0, "1:1"), (4, "1:5"), (6, "2:1"), (10, "2:4"), (11, "3:1"), (18, "3:8"), (99, "3:9")] {
            assert_eq!(position(text, at), expected, "{at}");
        }
    }
}
