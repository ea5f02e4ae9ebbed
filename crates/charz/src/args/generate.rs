//! Documentation that follows from the grammar: shell completions and man pages; the grammar itself as JSON; and the list of all generated pages.

use std::rc::Rc;

use clap::{Arg, Command, ValueEnum};
use clap_complete::Shell;
use serde_json::{Value, json};

use super::format::Offered;
use super::manual::{manual, tasks};
use crate::exit::EXITS;
use crate::view::{self, explain, kernels};
use charz_data::checks::CHECKS;
use charz_data::{KNOWN_AS, report};
use charz_replicate::{self as replicate, DOCUMENTS};
use charz_topology::mappers;
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
        offering(verb, &name)
    })
}

/// The command with the words that its arguments know, below it too: for completions, since a parser would list them for every mistake.
fn offering(command: Command, verb: &str) -> Command {
    let offered = |arg: Arg| match words(verb, arg.get_id().as_str()) {
        Some(words) => arg.value_parser(Offered(words)).hide_possible_values(true),
        None => arg,
    };
    command.mut_args(offered).mut_subcommands(|below| {
        let name = below.get_name().to_owned();
        offering(below, &name)
    })
}

/// What an argument of a command takes, where there is a list of it.
fn words(verb: &str, argument: &str) -> Option<Vec<&'static str>> {
    let kernels = || charz_workloads::kernels().map(|kernel| &*kernel.card().name);
    let families = || charz_workloads::families().map(|family| family.name());
    Some(match (verb, argument) {
        ("kernels", "name") => families().chain(kernels()).chain(KNOWN_AS.iter().map(|known| known.name)).collect(),
        (_, "kernel") => kernels().chain(KNOWN_AS.iter().map(|known| known.name)).collect(),
        (_, "family") => families().collect(),
        (_, "mapping") => mappers().map(|mapper| mapper.name).collect(),
        ("explain", "code") => CHECKS.iter().map(|check| check.code).collect(),
        ("replicate", "document") => DOCUMENTS.iter().map(|document| document.citation.name.as_str()).collect(),
        ("completions", "shell") => vec!["bash", "elvish", "fish", "powershell", "zsh"],
        _ => return None,
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
    let text = String::from_utf8_lossy(&text).into_owned();
    let with_more = match shell {
        Shell::Bash => text + &BASH.replace("{commands}", &reading(spelled).join("|")).replace("{hosts}", HOSTS),
        Shell::Fish => text + &fish(spelled),
        // The file defines a function, and calls it at its end.
        Shell::Zsh => text
            .replacen("\n_charz() {", &format!("{}_charz() {{", ZSH.replace("{hosts}", HOSTS)), 1)
            .replace(":NAME=PRICE:_default", ":NAME=PRICE:_charz_hosts"),
        _ => text,
    };
    with_more.into_bytes()
}

/// Arguments that are reports.
const REPORTS: [&str; 5] = ["report", "reports", "base", "new", "more"];

fn reads_reports(command: &Command) -> bool {
    command.get_positionals().any(|arg| REPORTS.contains(&arg.get_id().as_str()))
}

/// The commands with reports among their arguments, as patterns of bash: the verb and what is typed behind it.
fn reading(spelled: &Command) -> Vec<String> {
    let pattern = |words: &[&str]| format!("\"{} \"*", words.join(" "));
    let of = |verb: &Command| {
        let own = reads_reports(verb).then(|| pattern(&[verb.get_name()]));
        let below = verb.get_subcommands().filter(|task| reads_reports(task));
        own.into_iter().chain(below.map(|task| pattern(&[verb.get_name(), task.get_name()]))).collect::<Vec<_>>()
    };
    spelled.get_subcommands().flat_map(of).collect()
}

/// Takes names of reports, each with a zero byte behind it, and prints the names of their hosts as `--price` takes them.
const HOSTS: &str = "xargs -0 -r charz fleet show --format csv -- 2>/dev/null | sed '1d;s/,.*/=/' | sort -u";

/// Behind what is generated: the last word of a list, hosts, and reports and folders in this folder.
const BASH: &str = r#"
_charz_known() {
    local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" typed
    if [[ "$word" == *,* && "$before" =~ ^--(kernel|family|mapping)$ ]]; then
        COMP_WORDS[COMP_CWORD]="${word##*,}"
        _charz "$1" "${word##*,}" "$before"
        COMPREPLY=("${COMPREPLY[@]/#/${word%,*},}")
        return 0
    fi
    if [[ "$before" == --price ]]; then
        compopt -o nospace
        COMPREPLY=($(compgen -W "$(for typed in "${COMP_WORDS[@]:2}"; do [[ -f "$typed" ]] && printf '%s\0' "$typed"; done | {hosts})" -- "$word"))
        return 0
    fi
    _charz "$@"
    case "${COMP_WORDS[*]:1} " in
        {commands})
            if [[ "$word" != -* && "$before" != -* ]]; then
                compopt -o filenames
                COMPREPLY=($(compgen -W "last" -- "$word") $(compgen -d -- "$word") $(compgen -f -X "!*.json" -- "$word") $(compgen -f -X "!*.json.gz" -- "$word"))
            fi
            ;;
    esac
}
complete -F _charz_known -o bashdefault -o default charz
"#;

/// Before what is generated.
const ZSH: &str = r#"
_charz_hosts() {
    local -a hosts
    hosts=(${(f)"$(print -rN -- ${^${(Q)words[3,-1]}}(N-.) | {hosts})"})
    compadd -S '' -a hosts
}

"#;

/// Behind what is generated, which has no values of arguments that are no options.
fn fish(spelled: &Command) -> String {
    let line = |verb: &str, words: &str| {
        format!("complete -c charz -n \"__fish_charz_using_subcommand {verb}\" -f -a \"{words}\"\n")
    };
    let known = spelled.get_subcommands().flat_map(|verb| {
        let words = verb.get_positionals().filter_map(|arg| words(verb.get_name(), arg.get_id().as_str()));
        words.map(|words| line(verb.get_name(), &words.join(" ")))
    });
    let reading = spelled.get_subcommands().filter(|verb| reads_reports(verb));
    let reports = reading.map(|verb| line(verb.get_name(), "last (__fish_complete_suffix .json)"));
    let hosts = format!(
        "complete -c charz -n \"__fish_charz_using_subcommand compare\" -l price -x -a \"(path filter -Z -f -- (commandline -opc) | {HOSTS})\"\n"
    );
    known.chain(reports).chain([hosts]).collect()
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
    fn completions_know_what_has_a_list() {
        let grammar = spelled(Cli::command());
        for (shell, name) in shells().map(|(name, shell)| (shell, name)) {
            let text = String::from_utf8(completions(shell, &grammar)).unwrap();
            let known = ["chase-random", "round-robin", "workload"];
            // Elvish and PowerShell complete options only.
            let known = known.iter().filter(|_| matches!(shell, Shell::Bash | Shell::Fish | Shell::Zsh));
            let missing = known.chain(&["--runs"]).find(|word| !text.contains(word.trim_start_matches('-')));
            assert_eq!(missing, None, "{name}");
        }
        // A list without its argument is of a name that was changed.
        for (verb, id) in [
            ("explain", "code"),
            ("replicate", "document"),
            ("kernels", "name"),
            ("completions", "shell"),
            ("sweep", "mapping"),
        ] {
            let verb = grammar.find_subcommand(verb).unwrap();
            let arg = verb.get_arguments().find(|arg| arg.get_id() == id).unwrap();
            assert!(arg.get_possible_values().len() > 3, "{id}");
        }
        let reading = reading(&grammar);
        for command in ["render", "compare", "fleet show", "history add"] {
            assert!(reading.contains(&format!("\"{command} \"*")), "{command}: {reading:?}");
        }
    }

    #[test]
    fn what_completes_help_has_the_tasks_of_verbs() {
        let mut grammar = spelled(Cli::command());
        grammar.build();
        let history = grammar.find_subcommand("help").and_then(|help| help.find_subcommand("history")).unwrap();
        assert!(history.find_subcommand("plot").is_some());
    }
}
