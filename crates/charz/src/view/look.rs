//! Standard output: how wide it is, and whether it knows colours and more than ASCII.

use std::io::{IsTerminal, stdout};
use std::sync::OnceLock;

use charz_render::look::TerminalStyle;
use rustix::termios::tcgetwinsize;

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

static CHOSEN: OnceLock<Colour> = OnceLock::new();

/// Sets when to use colours, for the whole process: once, before anything is printed.
pub fn choose(colour: Colour) {
    // Chosen before, it stays as it is.
    let _ = CHOSEN.set(colour);
}

pub fn chosen() -> Colour {
    CHOSEN.get().copied().unwrap_or_default()
}

pub fn of_stdout() -> TerminalStyle {
    let is_terminal = stdout().is_terminal();
    let columns = columns().unwrap_or(TerminalStyle::PLAIN.columns);
    let variable = |name: &str| std::env::var(name).ok();
    TerminalStyle { columns, colour: has_colour(chosen(), is_terminal, variable), unicode: has_unicode(variable) }
}

/// The width of paragraphs: the terminal's, 80 where there is none.
pub fn paragraph() -> usize {
    /// Longer lines are hard to read, however wide the terminal; the help has the same limit.
    const WIDEST: usize = 110;
    /// Narrower terminals break lines themselves; an indented paragraph would have no room.
    const NARROWEST: usize = 40;
    columns().unwrap_or(80).clamp(NARROWEST, WIDEST)
}

/// The columns of standard output, if it is a terminal that has any.
fn columns() -> Option<usize> {
    let size = tcgetwinsize(stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
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
        Colour::Auto => is_terminal && !is("CLICOLOR", "0") && !is("TERM", "dumb"),
    }
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
