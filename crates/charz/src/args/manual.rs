//! Manual pages, in the macros of man(7).

use clap::builder::StyledStr;
use clap::{Arg, Command};

use super::help::GROUPS;
use super::layers::variable_of;
use crate::exit::{EXITS, Exit};

/// The page of a command that was built, in section 1.
pub(super) fn manual(command: &Command, name: &str) -> String {
    let mut page = format!(".TH {} 1\n", word(name));
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    section(&mut page, "NAME", &[&format!("{} \\- {}", escaped(name), escaped(&about))]);
    section(&mut page, "SYNOPSIS", &[&synopsis(command)]);
    if let Some(about) = command.get_long_about().or(command.get_about()) {
        section(&mut page, "DESCRIPTION", &[&paragraphs(about)]);
    }
    let arguments: Vec<&Arg> = command.get_arguments().filter(|arg| !arg.is_hide_set()).collect();
    let items: Vec<String> = arguments.iter().map(|arg| argument(arg)).collect();
    section(&mut page, "OPTIONS", &items.iter().map(String::as_str).collect::<Vec<_>>());
    let tasks: Vec<String> =
        tasks(command).map(|task| item(&bold(&format!("{name}-{}(1)", task.get_name())), task.get_about())).collect();
    section(&mut page, "COMMANDS", &tasks.iter().map(String::as_str).collect::<Vec<_>>());
    if name == "charz" {
        section(&mut page, "EXAMPLES", &[&verbatim(FIRST)]);
    }
    let after = command.get_after_long_help().or(command.get_after_help());
    if let Some(after) = after {
        let text = after.to_string();
        let (head, lines) = text.split_once(":\n").unwrap_or(("Notes", &text));
        section(&mut page, &head.to_uppercase(), &[&verbatim(lines)]);
    }
    let codes: Vec<String> = codes(name).iter().map(|(code, meaning)| row(code, meaning)).collect();
    section(&mut page, "EXIT STATUS", &codes.iter().map(String::as_str).collect::<Vec<_>>());
    let variables = arguments.iter().filter(|_| name == "charz-sweep").filter_map(|arg| Some((variable_of(arg)?, arg)));
    let variables = variables.map(|(variable, arg)| row(&variable, &format!("The value of {}.", arg)));
    let common = VARIABLES.iter().filter(|(_, verbs, _)| verbs.is_empty() || verbs.contains(&name));
    let variables: Vec<String> = variables.chain(common.map(|(name, _, about)| row(name, about))).collect();
    section(&mut page, "ENVIRONMENT", &variables.iter().map(String::as_str).collect::<Vec<_>>());
    let files = FILES.iter().filter(|(_, verbs, _)| verbs.contains(&name)).map(|(file, _, about)| row(file, about));
    let files: Vec<String> = files.collect();
    section(&mut page, "FILES", &files.iter().map(String::as_str).collect::<Vec<_>>());
    if let Some(version) = command.get_version() {
        section(&mut page, "VERSION", &[&escaped(version)]);
    }
    section(&mut page, "SEE ALSO", &[&see_also(name)]);
    page
}

/// What people begin with.
const FIRST: &str = "charz sweep --quick\ncharz render last --output page.html\ncharz topo\ncharz doctor";

/// The exit codes of a command: `charz fleet check` has those of Nagios, and `charz exec` those of its program.
fn codes(name: &str) -> Vec<(String, String)> {
    const NAGIOS: [(&str, &str); 4] = [("0", "OK"), ("1", "WARNING"), ("2", "CRITICAL"), ("3", "UNKNOWN")];
    if name == "charz-fleet-check" {
        return NAGIOS.iter().map(|(code, meaning)| (code.to_string(), meaning.to_string())).collect();
    }
    let is_here =
        |exit: &Exit| !matches!(exit, Exit::NotExecutable | Exit::NotFound) || ["charz", "charz-exec"].contains(&name);
    EXITS
        .iter()
        .filter(|(exit, _)| is_here(exit))
        .map(|(exit, meaning)| (exit.code().to_string(), meaning.to_string()))
        .collect()
}

/// Variables that set no option, the pages that have them (all if none is named), and what they do.
const VARIABLES: [(&str, &[&str], &str); 6] = [
    (
        "CHARZ_DB",
        &["charz", "charz-history", "charz-history-add", "charz-history-list", "charz-history-plot", "charz-compare"],
        "The file of the history, where --db names none.",
    ),
    (
        "CHARZ_LOCK_DIR",
        &[
            "charz",
            "charz-sweep",
            "charz-ab",
            "charz-c2c",
            "charz-numa",
            "charz-audit",
            "charz-selftest",
            "charz-replicate",
        ],
        "The folder of the lock that keeps two charz from measuring at once.",
    ),
    (
        "CHARZ_SEATS",
        &["charz", "charz-exec", "charz-sweep"],
        "Set for a program that charz starts: its number of threads.",
    ),
    (
        "CHARZ_LOG",
        &[],
        "A file that gets what a report of a defect needs: version, arguments, machine, files read, decisions, times, errors.",
    ),
    ("NO_COLOR, CLICOLOR, CLICOLOR_FORCE", &[], "Whether --color auto uses colours."),
    ("COLUMNS", &[], "The width of a terminal that does not report its own."),
];

/// Files, the pages that have them, and what they are.
const FILES: [(&str, &[&str], &str); 4] = [
    (
        "charz-{host}-{date}.json",
        &["charz", "charz-sweep", "charz-c2c", "charz-numa", "charz-replicate"],
        "The report, in the folder where the command was typed.",
    ),
    (
        "NAME.json.journal",
        &["charz", "charz-sweep", "charz-c2c", "charz-numa", "charz-replicate"],
        "The runs of a sweep that has not ended, from which --resume goes on.",
    ),
    (
        "$XDG_DATA_HOME/charz/history.db",
        &["charz", "charz-history", "charz-history-add", "charz-history-list", "charz-history-plot", "charz-compare"],
        "The history; without the variable in ~/.local/share.",
    ),
    (
        "$XDG_STATE_HOME/charz/key",
        &["charz", "charz-sweep"],
        "The key with which this user's reports are sealed, so --resume starts their programs; without the variable in ~/.local/state.",
    ),
];

/// The pages above a page, and those of the same purpose.
fn see_also(name: &str) -> String {
    let own = name.strip_prefix("charz-").unwrap_or_default();
    let verb = own.split('-').next().unwrap_or_default();
    let group = GROUPS.iter().find(|(_, verbs)| verbs.contains(&verb)).map_or(&[][..], |(_, verbs)| verbs);
    let group = if own.is_empty() { &["sweep", "topo", "doctor", "render", "compare"][..] } else { group };
    let above = Some("charz".to_owned()).filter(|_| !own.is_empty());
    let verb_above = Some(format!("charz-{verb}")).filter(|_| own != verb);
    let others = group.iter().filter(|other| **other != verb).map(|other| format!("charz-{other}"));
    let pages = above.into_iter().chain(verb_above).chain(others);
    pages.map(|page| bold(&format!("{page}(1)"))).collect::<Vec<_>>().join(", ")
}

fn row(head: &str, about: &str) -> String {
    format!(".TP\n{}\n{}", bold(head), escaped(about))
}

/// The commands below one that have pages.
pub(super) fn tasks(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|task| !task.is_hide_set() && task.get_name() != "help")
}

/// A section, if there is something in it.
fn section(page: &mut String, name: &str, parts: &[&str]) {
    if !parts.is_empty() {
        *page += &format!(".SH {}\n{}\n", word(name), parts.join("\n"));
    }
}

/// Without the values of each option, which the list has.
fn synopsis(command: &Command) -> String {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim().trim_start_matches("Usage:");
    usage.lines().map(|line| bold(line.trim())).collect::<Vec<_>>().join("\n.br\n")
}

/// An option or argument with what it takes, its meaning, its default and the values that it offers.
fn argument(arg: &Arg) -> String {
    let takes_value = arg.get_num_args().is_some_and(|count| count.takes_values());
    let spelled = arg.to_string();
    let head = match arg.get_short() {
        Some(short) => format!("-{short}, {spelled}"),
        None => spelled,
    };
    let mut text = item(&bold(&head), arg.get_long_help().or(arg.get_help()));
    let defaults = arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect::<Vec<_>>().join(",");
    if takes_value && !defaults.is_empty() && !arg.is_hide_default_value_set() {
        text += &format!("\n.IP\n{}", escaped(&format!("Default: {defaults}")));
    }
    let values = arg.get_possible_values().into_iter().filter(|value| takes_value && !value.is_hide_set());
    let values: Vec<String> = values
        .map(|value| match value.get_help() {
            Some(help) => format!("{}: {help}", value.get_name()),
            None => value.get_name().to_owned(),
        })
        .collect();
    if !values.is_empty() && !arg.is_hide_possible_values_set() {
        text += &format!("\n.IP\n{}", values.iter().map(|value| escaped(value)).collect::<Vec<_>>().join("\n.br\n"));
    }
    text
}

fn item(head: &str, about: Option<&StyledStr>) -> String {
    format!(".TP\n{head}\n{}", about.map(|about| paragraphs(about).replace("\n.PP\n", "\n.IP\n")).unwrap_or_default())
}

/// Lines that are indented stay lines; the others are filled.
fn paragraphs(text: &StyledStr) -> String {
    let lines = text.to_string();
    let lines = lines.lines().map(|line| match line {
        line if line.trim().is_empty() => ".PP".to_owned(),
        line if line.starts_with(' ') => format!(".br\n{}", escaped(line.trim())),
        line => escaped(line),
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn verbatim(lines: &str) -> String {
    let lines = lines.lines().map(|line| escaped(line.trim()));
    format!(".nf\n{}\n.fi", lines.collect::<Vec<_>>().join("\n"))
}

fn bold(text: &str) -> String {
    format!("\\fB{}\\fR", escaped(text))
}

/// One argument of a macro.
fn word(text: &str) -> String {
    format!("\"{}\"", escaped(text).replace('"', "\\(dq"))
}

/// Text that begins no macro, and has its own hyphens, which a shell takes.
fn escaped(text: &str) -> String {
    let escaped = text.replace('\\', "\\e").replace('-', "\\-");
    if escaped.starts_with(['.', '\'']) { format!("\\&{escaped}") } else { escaped }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_becomes_a_macro() {
        let command = Command::new("a")
            .about("x \\- y")
            .long_about("One.\n\n.SH\n'br \"q\"")
            .arg(Arg::new("flag").short('f').long("flag").default_value("1-2").value_parser(["1-2", ".x"]).help("It."));
        let mut built = command.after_help("Examples:\n  .a -f 1");
        built.build();
        let page = manual(&built, "a-b");
        for line in [
            ".TH \"a\\-b\" 1",
            "a\\-b \\- x \\e\\- y",
            "\\&.SH",
            "\\&'br \"q\"",
            "\\fB\\-f, \\-\\-flag <flag>\\fR",
            "Default: 1\\-2",
            "\\&.x",
            ".SH \"EXAMPLES\"",
            "\\&.a \\-f 1",
        ] {
            assert!(page.lines().any(|found| found == line), "{line}: {page}");
        }
        assert!(page.lines().all(|line| !line.starts_with('\'')), "{page}");
    }
}
