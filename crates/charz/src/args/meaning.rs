//! What is meant by a command or an option that charz does not have: the line to type instead.

mod table;
#[cfg(test)]
mod tests;

use std::ffi::{OsStr, OsString};
use std::path::Path;

use charz_topology::parse_mappings;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, Command, CommandFactory};

use super::kernels::{families, kernels};
use super::layers::RENAMED;
use super::verbs::Cli;
use crate::exit::Error;
use charz_data::escape::{plain, quote, quoted};
use charz_render::formats::FORMATS;
use table::{FLAGS, VERBS};

/// The sentence about what the parser refused, if its meaning is known.
pub(super) fn meant(grammar: &Command, refused: &clap::Error, argv: &[OsString]) -> Option<String> {
    let text = |kind| match refused.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    };
    if !matches!(refused.kind(), ErrorKind::UnknownArgument | ErrorKind::InvalidSubcommand) {
        return None;
    }
    let typed = Typed::of(grammar, argv)?;
    if let Some(verb) = text(ContextKind::InvalidSubcommand) {
        return typed.verb(&verb);
    }
    // The parser shows it with its value, if it has one.
    let word = text(ContextKind::InvalidArg)?;
    match word.starts_with('-') {
        true => typed.flag(&word),
        false => typed.argument(&word),
    }
}

/// Refuses an option that the parser took for the program of `charz exec`, unless `--` stands before it.
pub(super) fn refuse_option_for_program(grammar: &Command, typed: &ArgMatches, argv: &[OsString]) -> Result<(), Error> {
    let program = typed.subcommand_matches("exec").and_then(|exec| exec.get_raw("program")?.next());
    let Some(word) = program.and_then(OsStr::to_str).filter(|word| word.starts_with('-')) else { return Ok(()) };
    if argv.iter().take_while(|typed| *typed != word).any(|typed| typed == "--") {
        return Ok(());
    }
    let sentence = Typed::of(grammar, argv).and_then(|typed| typed.flag(word)).unwrap_or_else(|| {
        format!("charz exec has no option {}; a program of this name follows --; see charz exec --help", plain(word))
    });
    Err(Error::bad_input(sentence))
}

/// A command line up to its command, and what follows.
struct Typed<'a> {
    verb: &'a Command,
    /// `fleet check`, or nothing.
    path: String,
    rest: Vec<String>,
}

impl<'a> Typed<'a> {
    fn of(grammar: &'a Command, argv: &[OsString]) -> Option<Self> {
        let mut words = argv.iter().skip(1).map(|word| word.to_str().map(str::to_owned)).collect::<Option<Vec<_>>>()?;
        let (mut verb, mut path) = (grammar, Vec::new());
        while let Some(below) = words.first().and_then(|word| verb.find_subcommand(word)) {
            verb = below;
            path.push(words.remove(0));
        }
        Some(Typed { verb, path: path.join(" "), rest: words })
    }

    fn verb(&self, word: &str) -> Option<String> {
        let at = self.rest.iter().position(|other| other == word)?;
        let rest = [&self.rest[..at], &self.rest[at + 1..]].concat();
        let name = format!("there is no command {}", quote(format!("{} {word}", self.path).trim()));
        let Some(row) = VERBS.iter().find(|row| row.below == self.path && row.words.contains(&word)) else {
            return self.path.is_empty().then(|| self.named(word, &rest)).flatten().map(|line| said(&name, "", &line));
        };
        let kept = || Some(measuring(row.verb, &rest)).filter(|_| !row.verb.is_empty() && !rest.is_empty());
        let line = kept().flatten().unwrap_or_else(|| row.line.to_owned());
        Some(said(&name, row.why, &line))
    }

    /// A kernel, family, report or program in the place of a command.
    fn named(&self, word: &str, rest: &[String]) -> Option<String> {
        let with = |verb: &str| {
            let words = verb.split(' ').chain([word]).map(str::to_owned);
            right(&words.chain(rest.iter().cloned()).collect::<Vec<_>>())
        };
        match Path::new(word) {
            _ if word.ends_with(".json") || word.ends_with(".json.gz") => with("render"),
            file if word.contains('/') && file.is_dir() => with("fleet show"),
            _ if word.contains('/') => with("exec"),
            _ => measuring("sweep", &[&[word.to_owned()], rest].concat()).filter(|_| is_measured(word).is_some()),
        }
    }

    fn flag(&self, word: &str) -> Option<String> {
        let (name, joined) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (word, None),
        };
        let name = name.split(' ').next().unwrap_or(name);
        // A short one may have its value behind it.
        let is_joined =
            |name: &str| !name.starts_with("--") && name.chars().nth(2).is_some_and(|mark| mark.is_ascii_digit());
        let name = if is_joined(name) { &name[..2] } else { name };
        let of = if self.path.is_empty() { "charz".to_owned() } else { format!("charz {}", self.path) };
        let what = format!("{of} has no option {}", plain(name));
        let renamed = RENAMED.iter().find(|(was, _)| name.strip_prefix("--") == Some(was));
        if let Some((_, is)) = renamed {
            let line = self.replaced(name, joined.as_deref(), &format!("--{is} {{}}"));
            let why = format!("it is --{is} now");
            return Some(said(&what, &why, &line.unwrap_or_else(|| format!("{of} --help"))));
        }
        FLAGS.iter().filter(|row| row.words.contains(&name)).find_map(|row| {
            let is_here = row.verbs.is_empty() || row.verbs.contains(&&*self.path);
            let line = match row.here {
                _ if !is_here => None,
                line if line.contains("render last --format {}") => {
                    let format = joined.clone().or_else(|| self.value_of(name));
                    let format = format.filter(|format| FORMATS.iter().any(|known| known.name == format));
                    format.map(|format| line.replace("{}", &format))
                }
                line if line.starts_with("charz ") => Some(line.to_owned()),
                here => self.replaced(name, joined.as_deref(), here),
            };
            line.map(|line| said(&what, row.why, &line))
        })
    }

    /// The word behind the option.
    fn value_of(&self, name: &str) -> Option<String> {
        let at = self.rest.iter().position(|word| word == name)?;
        self.rest.get(at + 1).cloned()
    }

    /// What was typed with another option in the place of this one, if the command has that and its value can be right.
    fn replaced(&self, name: &str, joined: Option<&str>, here: &str) -> Option<String> {
        let is_it = |word: &String| word == name || word.strip_prefix(name).is_some_and(|rest| rest.starts_with('='));
        let combined = |word: &String| name.len() == 2 && !name.starts_with("--") && word.starts_with(name);
        let at = self.rest.iter().position(is_it).or_else(|| self.rest.iter().position(combined))?;
        let tail = self.rest[at].strip_prefix(name).filter(|tail| !tail.is_empty());
        let own = joined.or(tail.map(|tail| tail.trim_start_matches('=')));
        let next = self.rest.get(at + 1).filter(|next| !next.starts_with('-')).map(String::as_str);
        let (value, taken) = match own {
            Some(own) => (Some(own), 1),
            None if here.contains("{}") => (Some(next?), 2),
            None => (None, 1),
        };
        let new: Vec<String> =
            here.split_whitespace().map(|word| word.replace("{}", value.unwrap_or_default())).collect();
        if let Some(flag) = new.first() {
            let value = new.get(1).map_or("", String::as_str);
            self.verb.get_arguments().find(|arg| arg.get_long() == flag.strip_prefix("--"))?;
            if !self.takes(flag, value) {
                return None;
            }
        }
        let new = new.into_iter().map(|word| match here {
            // A plain number of seconds has no unit.
            "--budget {}" if !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit()) => format!("{word}s"),
            _ => word,
        });
        let path = self.path.split_whitespace().map(str::to_owned);
        let before: Vec<String> = path.chain(self.rest[..at].iter().cloned()).chain(new).collect();
        let with_rest = |taken: usize| right(&[&before, self.rest.get(at + taken..)?].concat());
        // An option without a value may replace one that had a value.
        with_rest(taken).or_else(|| with_rest(2).filter(|_| own.is_none() && taken == 1 && next.is_some()))
    }

    /// Whether the value can be one of the option, as far as a list of them is known.
    fn takes(&self, flag: &str, value: &str) -> bool {
        match flag {
            "--mapping" => parse_mappings(value).is_ok(),
            "--kernel" => kernels(&[value.to_owned()]).is_ok(),
            "--family" => families(&[value.to_owned()]).is_ok(),
            "--threads" => value.bytes().all(|byte| byte.is_ascii_digit() || b",-:".contains(&byte)),
            "--runs" | "--iterations" | "--steps" => {
                value == "auto" || value.starts_with(|digit: char| digit.is_ascii_digit())
            }
            "--format" => {
                let formats = self.verb.get_arguments().find(|arg| arg.get_id() == "format");
                formats.is_some_and(|arg| arg.get_possible_values().iter().any(|known| known.get_name() == value))
            }
            _ => true,
        }
    }

    /// A word that no option takes: a kernel or a family of a sweep, or its program.
    fn argument(&self, word: &str) -> Option<String> {
        let at = self.rest.iter().position(|other| other == word)?;
        let what = format!("charz {} takes no {} by itself", self.path, quote(word));
        let flag = match is_measured(word) {
            Some(flag) => flag,
            None if word.contains('/') && self.path == "sweep" => "--command",
            None => return None,
        };
        let with_flag = [&self.rest[..at], &[flag.to_owned()], &self.rest[at..]].concat();
        let path = self.path.split_whitespace().map(str::to_owned);
        right(&path.chain(with_flag).collect::<Vec<_>>()).map(|line| said(&what, "", &line))
    }
}

/// The option that takes such a word.
fn is_measured(word: &str) -> Option<&'static str> {
    let word = [word.to_owned()];
    match (families(&word), kernels(&word)) {
        (Ok(_), _) => Some("--family"),
        (_, Ok(_)) => Some("--kernel"),
        _ => None,
    }
}

/// The line of a command with what was typed after another word for it; of a sweep, what it is to measure may be a kernel or a program.
fn measuring(verb: &str, rest: &[String]) -> Option<String> {
    let mut words: Vec<String> = verb.split(' ').map(str::to_owned).collect();
    let first = rest.first().filter(|first| verb == "sweep" && !first.starts_with('-'));
    match first.map(|first| is_measured(first)) {
        Some(Some(flag)) => words.push(flag.to_owned()),
        Some(None) => words = vec!["exec".to_owned()],
        None => {}
    }
    right(&[words, rest.to_vec()].concat())
}

/// The line, if the parser takes it.
fn right(words: &[String]) -> Option<String> {
    let line: Vec<&str> = std::iter::once("charz").chain(words.iter().map(String::as_str)).collect();
    let typed = Cli::command().try_get_matches_from(&line).ok()?;
    let is_program = |exec: &ArgMatches| {
        let first = exec.get_raw("program").into_iter().flatten().next();
        first.is_some_and(|first| !first.as_encoded_bytes().starts_with(b"-"))
    };
    typed
        .subcommand_matches("exec")
        .is_none_or(is_program)
        .then(|| line.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "))
}

fn said(what: &str, why: &str, line: &str) -> String {
    let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
    format!("{what}{why}; type: {}", plain(line))
}
