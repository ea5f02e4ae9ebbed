//! Documentation that follows from the grammar: shell completions and man pages; the grammar itself as JSON; and the list of all generated pages.

use std::rc::Rc;

use clap::{Arg, Command, ValueEnum};
use clap_complete::Shell;
use serde_json::{Value, json};

use super::manual::{manual, tasks};
use crate::exit::EXITS;
use crate::view::{self, explain, kernels};
use charz_data::report;
use charz_replicate as replicate;
use charz_words::compare::wire;

pub struct Page {
    pub name: String,
    /// The file below the project's root in which it is kept, if it is.
    pub file: Option<&'static str>,
    make: Box<dyn Fn() -> Vec<u8>>,
}

/// Every generated page. Those for people who read the project are kept in it; packages make the others.
pub fn pages(grammar: Command) -> Vec<Page> {
    type Make = Box<dyn Fn() -> Vec<u8>>;
    fn text(make: fn() -> String) -> Make {
        Box::new(move || make().into_bytes())
    }
    let spelled = Rc::new(spelled(grammar));
    let mut built = Command::clone(&spelled);
    built.build();
    let built = Rc::new(built);
    let grammar = built.clone();
    let texts: [(&str, Option<&'static str>, Make); 8] = [
        ("kernels", Some("docs/kernels.md"), text(kernels::markdown)),
        ("mappers", Some("docs/mappers.md"), text(view::mapper_page)),
        ("checks", Some("docs/checks.md"), text(explain::index_page)),
        ("exit-codes", Some("docs/exit-codes.md"), text(view::exit_page)),
        ("grammar", None, Box::new(move || grammar_json(&grammar).into_bytes())),
        ("schema", None, text(|| report::SCHEMA.to_owned())),
        ("comparison-schema", None, text(|| wire::SCHEMA.to_owned())),
        ("replication-schema", None, text(|| replicate::SCHEMA.to_owned())),
    ];
    let texts = texts.into_iter().map(|(name, file, make)| Page { name: name.to_owned(), file, make });
    let completions = shells().map(|(name, shell)| {
        let spelled = spelled.clone();
        let make: Make = Box::new(move || completions(shell, &spelled));
        Page { name: format!("completions-{name}"), file: None, make }
    });
    let mut manuals = Vec::new();
    man_pages(&built, "man", &mut manuals);
    texts.chain(completions).chain(manuals).collect()
}

impl Page {
    pub fn line(&self) -> String {
        let file = self.file.map(|file| format!("\t{file}")).unwrap_or_default();
        format!("{}{file}\n", self.name)
    }

    pub fn text(&self) -> Vec<u8> {
        (self.make)()
    }
}

/// Each verb with its flags and tasks before the whole is built: `help` lists those that are there then.
pub fn spelled(grammar: Command) -> Command {
    grammar.long_version(env!("CARGO_PKG_VERSION")).mut_subcommands(|verb| {
        let name = verb.get_name().to_owned();
        let mut verb = verb.bin_name(format!("charz {name}")).display_name(format!("charz-{name}"));
        verb.build();
        verb
    })
}

/// The page `grammar`: every command with its flags and arguments, and every exit code, for programs.
fn grammar_json(grammar: &Command) -> String {
    let mut commands = Vec::new();
    list_commands(grammar, &[], &mut commands);
    let codes = EXITS.iter().map(|(exit, meaning)| json!({ "code": exit.code(), "meaning": meaning }));
    let page = json!({ "commands": commands, "exit_codes": codes.collect::<Vec<_>>() });
    format!("{page:#}\n")
}

fn list_commands(command: &Command, words: &[&str], list: &mut Vec<Value>) {
    let (flags, arguments): (Vec<_>, Vec<_>) =
        command.get_arguments().filter(|arg| !arg.is_hide_set()).partition(|arg| arg.get_long().is_some());
    let flags: Vec<Value> = flags.into_iter().map(flag).collect();
    let arguments: Vec<Value> =
        arguments.into_iter().map(|arg| json!({ "name": arg.get_id().as_str(), "values": values(arg) })).collect();
    list.push(json!({ "words": words, "flags": flags, "arguments": arguments }));
    for verb in tasks(command) {
        list_commands(verb, &[words, &[verb.get_name()]].concat(), list);
    }
}

fn flag(arg: &Arg) -> Value {
    let name = format!("--{}", arg.get_long().unwrap_or_default());
    let short = arg.get_short().map(|short| format!("-{short}"));
    json!({ "name": name, "short": short, "takes_value": arg.get_action().takes_values(), "values": values(arg) })
}

/// The values that an argument offers; empty where it takes any.
fn values(arg: &Arg) -> Vec<String> {
    let takes_value = arg.get_action().takes_values();
    let values = arg.get_possible_values().into_iter().filter(|_| takes_value);
    values.map(|value| value.get_name().to_owned()).collect()
}

/// The shells that completions are made for.
pub fn shells() -> impl Iterator<Item = (String, Shell)> {
    Shell::value_variants().iter().map(|shell| (shell.to_string(), *shell))
}

pub fn completions(shell: Shell, spelled: &Command) -> Vec<u8> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut spelled.clone(), "charz", &mut text);
    text
}

/// `man` is the page of the program, `man-NAME` that of a subcommand, `man-NAME-TASK` that of one below it.
fn man_pages(command: &Command, name: &str, pages: &mut Vec<Page>) {
    let (own, title) = (command.clone(), command.get_display_name().unwrap_or("charz").to_owned());
    let make = move || manual(&own, &title).into_bytes();
    pages.push(Page { name: name.to_owned(), file: None, make: Box::new(make) });
    for verb in tasks(command) {
        man_pages(verb, &format!("{name}-{}", verb.get_name()), pages);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::verbs::Cli;
    use clap::CommandFactory;

    #[test]
    fn no_two_pages_share_a_name_or_a_file() {
        let pages = pages(Cli::command());
        for page in &pages {
            let same = |other: &&Page| other.name == page.name || (page.file.is_some() && other.file == page.file);
            assert_eq!(pages.iter().filter(same).count(), 1, "{}", page.name);
        }
        assert!(pages.iter().any(|page| page.name == "man-history-plot"), "subcommands have pages, and theirs too");
    }

    #[test]
    fn what_completes_help_has_the_tasks_of_verbs() {
        let mut grammar = spelled(Cli::command());
        grammar.build();
        let history = grammar.find_subcommand("help").and_then(|help| help.find_subcommand("history")).unwrap();
        assert!(history.find_subcommand("plot").is_some());
    }
}
