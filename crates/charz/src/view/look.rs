//! Standard output: how wide it is, and whether it knows colours and more than ASCII.

use std::io::{IsTerminal, Write as _, stderr, stdout};
use std::os::fd::AsFd;
use std::sync::OnceLock;

use charz_data::escape::one_line;
use charz_render::look::{LONGEST, TerminalStyle};
use charz_render::wrapped;
use rustix::termios::tcgetwinsize;

use crate::log;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colour {
    /// Where the output is a terminal that knows them, and the environment does not say otherwise.
    #[default]
    Auto,
    Always,
    Never,
}

impl Colour {
    pub const ALL: [(&str, Colour); 3] = [("auto", Colour::Auto), ("always", Colour::Always), ("never", Colour::Never)];
}

static CHOSEN: OnceLock<(Colour, bool)> = OnceLock::new();

/// Sets when to use colours, and whether the output is a file, for the whole process: once, before anything is printed.
pub fn choose(colour: Colour, is_file: bool) {
    // Chosen before, it stays as it is.
    let _ = CHOSEN.set((colour, is_file));
}

fn chosen() -> (Colour, bool) {
    CHOSEN.get().copied().unwrap_or_default()
}

/// Whether a person looks at what is printed.
pub fn is_terminal() -> bool {
    !chosen().1 && stdout().is_terminal()
}

pub fn of_stdout() -> TerminalStyle {
    let variable = |name: &str| std::env::var(name).ok();
    TerminalStyle {
        columns: columns().unwrap_or(TerminalStyle::PLAIN.columns),
        tables: tables(),
        colour: has_colour(chosen().0, is_terminal(), variable),
        unicode: has_unicode(variable),
    }
}

/// The width of paragraphs: the terminal's, 80 where there is none.
pub fn paragraph() -> usize {
    columns().unwrap_or(USUAL).clamp(NARROWEST, LONGEST)
}

/// The width of tables and of lines that are one thing: the terminal's; no limit where there is none, and programs may read them.
pub fn tables() -> usize {
    columns().map_or(usize::MAX, |columns| columns.max(NARROWEST))
}

const USUAL: usize = 80;
/// Narrower terminals break lines themselves; an indented paragraph would have no room.
const NARROWEST: usize = 40;

/// The columns of standard output: those of the terminal, else those of the environment, as other programs take them.
fn columns() -> Option<usize> {
    if chosen().1 { None } else { known(size(stdout())) }
}

/// Lines and columns of the terminal that standard output is.
pub fn screen() -> Option<(usize, usize)> {
    let lines = tcgetwinsize(stdout()).ok().map(|size| usize::from(size.ws_row)).filter(|lines| *lines > 0)?;
    Some((lines, columns()?))
}

/// The columns of standard error, where it is a terminal; one that does not say how wide it is has 80.
pub fn of_stderr() -> Option<usize> {
    let size = size(stderr())?;
    Some(known(Some(size)).unwrap_or(USUAL).max(NARROWEST))
}

fn size(terminal: impl AsFd) -> Option<usize> {
    tcgetwinsize(terminal).ok().map(|size| usize::from(size.ws_col))
}

/// A terminal of no columns, as a container or a remote shell may get, does not say how wide it is.
fn known(size: Option<usize>) -> Option<usize> {
    let said = || std::env::var("COLUMNS").ok()?.parse().ok();
    size.filter(|columns| *columns > 0).or_else(said).filter(|columns| *columns > 0)
}

/// Writes a line to standard error, folded between words where that is a terminal. Texts out of files cannot steer the terminal, and long ones do
/// not flood it.
pub fn say(line: &str) {
    log::line("said", || line.to_owned());
    // A closed standard error is no reason to stop, and the message cannot be reported.
    let _ = wrapped::hanging(&one_line(line), 2, of_stderr().unwrap_or(usize::MAX), &mut stderr());
}

/// Whether standard error is a terminal on which a line can be drawn anew.
pub fn redraws() -> bool {
    stderr().is_terminal() && !only_prints()
}

/// Whether the terminal erases nothing.
pub fn only_prints() -> bool {
    is_dumb(|name| std::env::var(name).ok())
}

/// Writes a line at the place of the last one on a terminal's standard error; an empty one takes that away.
pub fn redraw(line: &str) {
    // ECMA-48, 8.3.41: erase to the end of the line.
    let _ = write!(stderr(), "\r{line}\x1b[K");
}

/// Whether to use colours, by <https://no-color.org> and <https://bixense.com/clicolors>.
fn has_colour(colour: Colour, is_terminal: bool, variable: impl Fn(&str) -> Option<String>) -> bool {
    let set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
    let is = |name: &str, word: &str| variable(name).is_some_and(|value| value == word);
    match colour {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto if set("NO_COLOR") => false,
        Colour::Auto if set("CLICOLOR_FORCE") && !is("CLICOLOR_FORCE", "0") => true,
        Colour::Auto => is_terminal && !is("CLICOLOR", "0") && !is_dumb(variable),
    }
}

/// Whether the terminal is one that only prints: it has no colours and erases nothing.
fn is_dumb(variable: impl Fn(&str) -> Option<String>) -> bool {
    variable("TERM").is_some_and(|name| ["", "dumb"].contains(&name.as_str()))
}

/// Whether the locale is one of UTF-8, by the first of its variables that is set (POSIX, Base Definitions, 8.2). If none is
/// set, as in most containers, nothing is known about the terminal, and today's terminals support UTF-8.
fn has_unicode(variable: impl Fn(&str) -> Option<String>) -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(variable).find(|value| !value.is_empty());
    locale.is_none_or(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_is_heard() {
        type Case<'a> = (&'a [(&'a str, &'a str)], bool, bool);
        let cases: &[Case<'_>] = &[
            (&[], true, true),
            (&[], false, false),
            (&[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")], true, false),
            (&[("NO_COLOR", "")], true, true),
            (&[("CLICOLOR_FORCE", "1")], false, true),
            (&[("CLICOLOR_FORCE", "0")], false, false),
            (&[("CLICOLOR", "0")], true, false),
            (&[("TERM", "dumb")], true, false),
            (&[("TERM", "")], true, false),
            (&[("TERM", "xterm")], true, true),
        ];
        for (variables, is_terminal, expected) in cases {
            let look =
                |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
            assert_eq!(has_colour(Colour::Auto, *is_terminal, look), *expected, "{variables:?}");
        }
        assert!(has_colour(Colour::Always, false, |_| Some("1".into())));
        assert!(!has_colour(Colour::Never, true, |_| None));
    }

    #[test]
    fn the_locale_is_heard() {
        let cases: &[(&[(&str, &str)], bool)] = &[
            (&[], true),
            (&[("LANG", "C")], false),
            (&[("LANG", "de_DE.UTF-8"), ("LC_ALL", "")], true),
            (&[("LANG", "de_DE.UTF-8"), ("LC_ALL", "POSIX")], false),
            (&[("LANG", "C"), ("LC_CTYPE", "C.utf8")], true),
            (&[("LANG", "de_DE.ISO-8859-1")], false),
        ];
        for (variables, expected) in cases {
            let look =
                |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
            assert_eq!(has_unicode(look), *expected, "{variables:?}");
        }
    }
}
