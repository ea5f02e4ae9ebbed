//! The command line. The only place that knows how it is spelled: what was typed becomes a [`Command`], which knows
//! nothing of flags.

mod ab;
mod advise;
mod audit;
mod c2c;
mod choice;
mod compare;
mod config;
mod counters;
mod docs;
mod doctor;
mod exec;
mod explain;
mod flag;
mod fleet;
mod format;
mod generate;
mod groups;
mod help;
mod history;
mod import;
mod kernels;
mod layers;
mod lockutil;
mod manual;
mod map;
mod meaning;
mod named;
mod numa;
mod parameters;
mod predict;
mod program;
mod quantities;
mod refusal;
mod render;
mod replicate;
mod selftest;
mod sweep;
mod topo;
mod verbs;
mod watch;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches};

use crate::command::Command;
use crate::exit::Error;
use crate::view::look::Colour;
use choice::choice;
use config::ConfigArgs;
use layers::{Layers, Variables};
use refusal::refusal;
use sweep::SweepArgs;
use verbs::Cli;

pub enum Parsed {
    Command {
        command: Box<Command>,
        /// The file that gets what the command prints; `None` is standard output.
        output: Option<PathBuf>,
        colour: Colour,
        /// Warnings about arguments that look like a mistake and are obeyed anyway.
        notes: Vec<String>,
    },
    Text(String),
}

/// Reads a command line, the program's name first; for what it leaves open, the environment and the file that it names.
pub fn parse(argv: impl IntoIterator<Item = OsString>) -> Result<Parsed, Error> {
    parse_with(argv, &std::env::vars_os().collect())
}

pub(crate) fn parse_with(argv: impl IntoIterator<Item = OsString>, variables: &Variables) -> Result<Parsed, Error> {
    let mut notes = Vec::new();
    let argv: Vec<OsString> = argv.into_iter().collect();
    let mut grammar = Cli::command();
    // hwloc takes milliseconds to say which one it is.
    if argv.iter().any(|argument| argument == "--version") {
        grammar = grammar.long_version(help::version());
    }
    let typed = match grammar.try_get_matches_from_mut(&argv) {
        Ok(typed) => typed,
        Err(refused) => return text_or_refusal(refused, &grammar, &argv),
    };
    let layers = match sweep_in(&grammar, &typed) {
        Some((sweep, typed)) => Layers::read(sweep, typed, variables, &mut notes)?,
        None => Layers::default(),
    }
    .with_typed(&argv);
    let merged = match layers.is_empty() {
        true => Ok(typed),
        false => below(&layers, Cli::command()).try_get_matches_from(&argv),
    };
    let settings = |merged: &ArgMatches| {
        sweep_in(&grammar, merged).map(|(sweep, merged)| layers.settings(sweep, merged)).unwrap_or_default()
    };
    match merged.and_then(|merged| Ok((Cli::from_arg_matches(&merged)?, settings(&merged), merged))) {
        Ok((cli, settings, merged)) => {
            meaning::refuse_option_for_program(&grammar, &merged, &argv)?;
            let colour = choice("--color", &cli.color, Colour::ALL)?;
            let output = cli.verb.output();
            notes.extend(output.as_ref().and_then(|file| format::ending_note(file, innermost(&merged))));
            let command = Box::new(verbs::command(cli.verb, &layers, settings, &mut notes)?);
            Ok(Parsed::Command { command, output, colour, notes })
        }
        Err(refused) => text_or_refusal(refused, &grammar, &argv),
    }
}

/// Whether a command line is a check of a node, whatever is wrong with it.
pub fn is_check(argv: impl IntoIterator<Item = OsString>) -> bool {
    // The one flag of all commands has a value. The grammar is not asked: where it is not made yet, there may be no room for it.
    let mut before = OsString::new();
    let mut words = argv.into_iter().skip(1).filter(|word| {
        let is_value = std::mem::replace(&mut before, word.clone()) == "--color";
        !is_value && !word.as_encoded_bytes().starts_with(b"-")
    });
    ["fleet", "check"].iter().all(|verb| words.next().is_some_and(|word| word == *verb))
}

/// What was typed of the command itself, below `fleet` for example.
fn innermost(typed: &ArgMatches) -> &ArgMatches {
    typed.subcommand().map_or(typed, |(_, below)| innermost(below))
}

/// The grammar with what is below the command line for the defaults of a sweep.
fn below(layers: &Layers, grammar: clap::Command) -> clap::Command {
    let sweep = |name: &'static str| layers.below(SweepArgs::augment_args(clap::Command::new(name)));
    // In place of those in the grammar, which have no flags yet that could be changed.
    grammar.mut_subcommand("sweep", |_| sweep("sweep")).mut_subcommand("config", |_| {
        ConfigArgs::augment_args(clap::Command::new("config")).mut_subcommand("show", |_| sweep("show"))
    })
}

/// The flags of a sweep, in the grammar and as they were typed: those of the commands that take them from other places too.
fn sweep_in<'a>(grammar: &'a clap::Command, typed: &'a ArgMatches) -> Option<(&'a clap::Command, &'a ArgMatches)> {
    [&["sweep"][..], &["config", "show"]].into_iter().find_map(|path| {
        path.iter().try_fold((grammar, typed), |(grammar, typed), name| {
            Some((grammar.find_subcommand(name)?, typed.subcommand_matches(name)?))
        })
    })
}

/// Help and the version come as refusals too.
fn text_or_refusal(refused: clap::Error, grammar: &clap::Command, argv: &[OsString]) -> Result<Parsed, Error> {
    let is_text = !refused.use_stderr() || refused.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if is_text {
        // The long one; -h has its own.
        let is_long = argv.iter().any(|word| word == "--help") || argv.get(1).is_some_and(|word| word == "help");
        let words = argv.iter().skip(1).filter(|word| *word != "help");
        let verb = words.filter_map(|word| grammar.find_subcommand(word)).next().filter(|_| is_long);
        let is_sweep = |verb: &clap::Command| verb.get_name() == "sweep";
        let variable = |verb, arg: &_| layers::variable_of(arg).filter(|_| is_sweep(verb));
        if let Some(text) = verb.and_then(|verb| help::all_options(verb, |arg| variable(verb, arg))) {
            return Ok(Parsed::Text(text));
        }
        return Ok(Parsed::Text(refused.render().to_string()));
    }
    if refused.kind() == ErrorKind::InvalidUtf8
        && let Some(odd) = argv.iter().find(|argument| argument.to_str().is_none())
    {
        return Err(Error::bad_input(format!("the argument {odd:?} is not UTF-8 text; see --help")));
    }
    match meaning::meant(grammar, &refused, argv) {
        Some(sentence) => Err(Error::bad_input(sentence)),
        None => Err(refusal(refused)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{replicate, sweep};
    use charz_data::ProgramValue;
    use charz_data::params::PARAMS;

    /// What was typed is refused by a line that has this word.
    #[track_caller]
    pub(super) fn check_refused<T>(result: Result<T, Error>, word: &str) {
        let Err(error) = result else { panic!("accepted") };
        let sentence = error.to_string();
        assert!(sentence.contains(word) && !sentence.contains('\n'), "{sentence}");
    }

    fn refused(line: &str) -> String {
        refused_with(line, "", "")
    }

    fn refused_with(line: &str, name: &str, value: &str) -> String {
        let argv = line.split(' ').map(OsString::from);
        match parse_with(argv, &[(name.into(), value.into())].into()) {
            Err(error) => error.to_string(),
            Ok(_) => panic!("{line} was accepted"),
        }
    }

    fn parsed(line: &str, variables: &[(&str, &str)]) -> Command {
        let argv = line.split(' ').map(OsString::from);
        match parse_with(argv, &variables.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()) {
            Ok(Parsed::Command { command, .. }) => *command,
            Ok(Parsed::Text(text)) => panic!("{line}: {text}"),
            Err(error) => panic!("{line}: {error}"),
        }
    }

    /// The sweep that a command makes, and the format of its report.
    fn swept(line: &str, variables: &[(&str, &str)]) -> (sweep::New, &'static str) {
        match parsed(line, variables) {
            Command::Sweep(options) => match *options {
                sweep::Options::New(new, format) => (*new, format.name),
                sweep::Options::Resume(_) => panic!("{line} resumes"),
            },
            Command::CoreToCore(options) => (options.new, options.format.name),
            Command::Numa(options) => (options.new, options.format.name),
            Command::Replicate(options) => match *options {
                replicate::Options::Measure { selection, new } => (*new, selection.format.name),
                _ => panic!("{line} measures nothing"),
            },
            _ => panic!("{line} is no sweep"),
        }
    }

    #[test]
    fn a_flag_that_is_typed_overrides_what_it_excludes() {
        for line in ["charz sweep --json", "charz sweep --format json"] {
            assert_eq!(swept(line, &[("CHARZ_VERBOSE", "true")]).1, "json", "{line}");
        }
        let (new, _) = swept("charz sweep --command ./x --value last", &[("CHARZ_WORK", "1000")]);
        assert_eq!(new.request.program.unwrap().value, ProgramValue::Last);
        // What the sweep does not use is not of its command line either.
        let variables = [("CHARZ_THREADS", "0"), ("CHARZ_SIZE", "junk"), ("CHARZ_BUDGET", "10s")];
        assert_eq!(swept("charz sweep --quick", &variables).0.command, "charz sweep --quick");
        let Command::Config { settings, .. } = parsed("charz config show --quick", &variables) else { panic!() };
        assert!(settings.iter().any(|setting| setting.flag == "budget" && setting.from == "default"));
        let variables = [("CHARZ_COMMAND", "./x"), ("CHARZ_VALUE", "last"), ("CHARZ_FAMILY", "timer")];
        let (new, _) = swept("charz sweep --preset node", &variables);
        assert_eq!((new.command.as_str(), new.request.program.is_none()), ("charz sweep --preset node", true));
    }

    #[test]
    fn what_a_flag_needs_may_be_set_elsewhere() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("r.json");
        parsed("charz config show --issue-width 4", &[("CHARZ_COUNTERS", "true")]);
        let (new, _) = swept("charz sweep --continue", &[("CHARZ_OUTPUT", file.to_str().unwrap())]);
        assert_eq!(new.output.as_deref(), Some(&*file));
        for (line, needed) in [("--issue-width 4", "--counters"), ("--continue", "--output")] {
            assert!(refused(&format!("charz sweep {line}")).contains(needed), "{line}");
        }
    }

    #[test]
    fn the_plan_of_any_sweep_has_the_format_that_is_asked_for() {
        for verb in ["sweep", "c2c", "numa", "replicate t3-4"] {
            let format = |flags: &str| {
                let (new, _) = swept(&format!("charz {verb} --dry-run{flags}"), &[]);
                new.dry_run.unwrap().format.name
            };
            assert_eq!([format(""), format(" --json")], ["table", "json"], "{verb}");
            assert!(refused(&format!("charz {verb} --dry-run --format csv")).contains("\"csv\""), "{verb}");
        }
    }

    #[test]
    fn the_ending_of_a_file_sets_the_format_unless_one_is_typed() {
        let notes = |line: &str| match parse_with(line.split(' ').map(OsString::from), &Variables::default()) {
            Ok(Parsed::Command { command, notes, .. }) => (*command, notes.len()),
            _ => panic!("{line}"),
        };
        for (line, expected, noted) in [
            ("render r.json -o a.html", "html", 0),
            ("render r.json -o a.MD", "markdown", 0),
            ("render r.json -o a.csv --format runs-csv", "runs-csv", 0),
            ("render r.json -o a.html --format csv", "csv", 1),
            ("render r.json -o a.prom", "openmetrics", 0),
            ("render r.json -o a.json --format bmf", "bmf", 0),
            ("render r.json -o node7.cluster", "summary", 1),
            ("render r.json -o a.txt", "summary", 0),
            ("render r.json -o -", "summary", 0),
            ("doctor -o a.json", "json", 0),
            ("advise r.json -o a.md", "markdown", 0),
        ] {
            let found = match notes(&format!("charz {line}")) {
                (Command::Render(options), notes) => (options.showing.format.name, notes),
                (Command::Doctor(options), notes) => (options.format.name, notes),
                (Command::Advise(options), notes) => (options.format.name, notes),
                _ => panic!("{line}"),
            };
            assert_eq!(found, (expected, noted), "{line}");
        }
        for (line, word) in [
            ("doctor -o a.html", "table, json"),
            ("fleet show . -o a.svg", "svg"),
            ("replicate --list -o a.png", "png"),
            ("sweep -o a.html", "charz render"),
            ("c2c -o a.csv", "charz render"),
        ] {
            assert!(refused(&format!("charz {line}")).contains(word), "{line}");
        }
        assert_eq!(swept("charz sweep -o a.json.gz", &[]).1, "summary");
    }

    #[test]
    fn the_settings_offer_their_own_formats() {
        let mut grammar = Cli::command();
        grammar.build();
        let show = grammar.find_subcommand("config").unwrap().find_subcommand("show").unwrap();
        let format = show.get_arguments().find(|arg| arg.get_id() == "format").unwrap();
        let offered: Vec<String> =
            format.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
        assert_eq!(offered, crate::view::config::FORMATS.iter().map(|format| format.name).collect::<Vec<_>>());
        assert!(format.get_long_help().is_none(), "that of a sweep's formats");
    }

    #[test]
    fn every_flag_of_a_sweep_that_lasts_can_be_a_variable() {
        let others = ["mapping", "kernel", "family", "threads", "iterations", "budget"];
        for flag in PARAMS.iter().map(|param| param.name).chain(others) {
            let name = format!("CHARZ_{}", flag.to_uppercase().replace('-', "_"));
            let sentence = refused_with("charz sweep", &name, "\u{1b}x");
            assert!(sentence.starts_with(&format!("{name}: ")) && sentence.contains("\\u{1b}x"), "{sentence}");
        }
        for name in ["CHARZ_LAYOUT", "CHARZ_CLOCK", "CHARZ_BINDER", "CHARZ_ALLOW_STACK", "CHARZ_OUTPUT"] {
            assert!(refused_with("charz sweep", name, "").starts_with(&format!("{name}: ")));
        }
    }

    #[test]
    fn the_grammar_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_has_examples_and_each_parses() {
        fn walk(command: &clap::Command) {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let lines: Vec<&str> = help.lines().filter_map(|line| line.strip_prefix("  ")).collect();
            assert!((2..=3).contains(&lines.len()), "{}: {help}", command.get_name());
            for line in lines {
                let begin = line.find("charz ").unwrap();
                let words = shlex::split(line[begin..].trim_end_matches(')')).unwrap();
                assert!(Cli::command().try_get_matches_from(words).is_ok(), "{line}");
            }
            command.get_subcommands().filter(|verb| !verb.is_hide_set() && verb.get_name() != "help").for_each(walk);
        }
        let mut grammar = Cli::command();
        grammar.build();
        grammar.get_subcommands().filter(|verb| !verb.is_hide_set() && verb.get_name() != "help").for_each(walk);
    }

    #[test]
    fn the_overview_has_every_command_once_and_fits_a_screen() {
        let grammar = Cli::command();
        let verbs = grammar.get_subcommands().filter(|verb| !verb.is_hide_set()).map(clap::Command::get_name);
        let mut verbs: Vec<&str> = verbs.collect();
        let mut named: Vec<&str> = help::GROUPS.iter().flat_map(|(_, verbs)| *verbs).copied().collect();
        verbs.sort_unstable();
        named.sort_unstable();
        assert_eq!(named, verbs);
        for line in ["charz --help", "charz -h", "charz"] {
            let Ok(Parsed::Text(text)) = parse(line.split(' ').map(OsString::from)) else { panic!("{line}") };
            assert!(text.lines().count() <= 24 && named.iter().all(|verb| text.contains(verb)), "{line}: {text}");
        }
    }

    #[test]
    fn the_short_help_of_a_sweep_has_its_daily_flags_only() {
        let flags = |help: &str| {
            let Ok(Parsed::Text(text)) = parse(["charz", "sweep", help].map(OsString::from)) else { panic!("{help}") };
            text.lines().filter(|line| line.trim_start().starts_with('-')).count()
        };
        let (short, long) = (flags("-h"), flags("--help"));
        assert!((10..=15).contains(&short) && long > 2 * short, "{short} of {long}");
    }

    #[test]
    fn a_verb_gets_its_flags_when_it_is_typed() {
        let mut grammar = Cli::command();
        grammar.try_get_matches_from_mut(["charz", "topo"]).unwrap();
        let has_flags = |verb: &&clap::Command| verb.get_arguments().any(|arg| !arg.is_global_set());
        let with_flags = grammar.get_subcommands().filter(has_flags);
        // help has one of its own: the verb.
        let verbs = with_flags.map(clap::Command::get_name).filter(|verb| *verb != "help");
        assert_eq!(verbs.collect::<Vec<_>>(), ["topo"]);
    }

    #[test]
    fn a_resumed_sweep_takes_no_parameter_of_its_own() {
        for param in PARAMS {
            let flag = format!("--{}", param.name);
            let sentence = refused(&format!("charz sweep --resume r.json {flag} {}", param.example));
            assert!(sentence.contains("--resume") && sentence.contains(&flag), "{sentence}");
        }
        const TAKEN: [&str; 13] = [
            "resume",
            "budget",
            "wait",
            "wait_quiet",
            "strict",
            "format",
            "json",
            "quiet",
            "verbose",
            "color",
            "command",
            "setup",
            "trust_program",
        ];
        let mut grammar = Cli::command();
        grammar.build();
        let sweep = grammar.find_subcommand("sweep").unwrap();
        let resume = sweep.get_arguments().find(|arg| arg.get_id() == "resume").unwrap();
        let refused: Vec<_> = sweep.get_arg_conflicts_with(resume).iter().map(|arg| arg.get_id()).collect();
        for arg in sweep.get_arguments().filter(|arg| arg.get_id() != "help") {
            assert_ne!(refused.contains(&arg.get_id()), TAKEN.contains(&arg.get_id().as_str()), "{arg}");
        }
    }
}
