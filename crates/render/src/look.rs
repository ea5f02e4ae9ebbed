//! What the reader has in front: how text for people may look.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalStyle {
    /// Columns of a line.
    pub columns: usize,
    /// Columns of a table; no limit where programs may read it line by line.
    pub tables: usize,
    /// Whether colours may be used.
    pub colour: bool,
    /// Whether pictures may be drawn with more than ASCII.
    pub unicode: bool,
}

/// How text is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    #[default]
    Plain,
    /// Less important than the rest.
    Faint,
    Bold,
    /// A verdict that asks for an act.
    Act,
}

/// Words at the beginning of a cell or line that ask for an act. They say so without a colour.
const ACTS: [&str; 4] = ["FIX", "Fix", "slower", "slow"];

/// Longer lines of words are hard to read, however wide the terminal.
pub const LONGEST: usize = 110;

/// What ends every colour (ECMA-48, SGR 0).
pub(crate) const RESET: &str = "\u{1b}[0m";

impl Style {
    /// As an escape of ECMA-48 (SGR), grey among the 256 colours of xterm.
    pub(crate) fn code(self) -> &'static str {
        match self {
            Style::Plain => "",
            Style::Faint => "\u{1b}[38;5;244m",
            Style::Bold => "\u{1b}[1m",
            Style::Act => "\u{1b}[1;31m",
        }
    }
}

impl TerminalStyle {
    /// Without colours, for an output of which nothing is known.
    pub const PLAIN: TerminalStyle = TerminalStyle { columns: 100, tables: usize::MAX, colour: false, unicode: true };

    /// Columns of sentences, as wide as a table or as can be read.
    pub fn sentences(&self) -> usize {
        if self.tables == usize::MAX { usize::MAX } else { self.tables.min(LONGEST) }
    }

    /// Harmless text in a style, where there are colours.
    pub(crate) fn styled(&self, text: &str, style: Style) -> String {
        match self.colour && style != Style::Plain && !text.is_empty() {
            true => format!("{}{text}{RESET}", style.code()),
            false => text.to_owned(),
        }
    }

    /// A harmless line: its first word in colour if that asks for an act.
    pub fn marked(&self, line: &str) -> String {
        let act = act(line);
        self.styled(act, Style::Act) + &line[act.len()..]
    }
}

/// The word at the beginning of a text that asks for an act; empty where there is none.
pub(crate) fn act(text: &str) -> &'static str {
    let begins =
        |word: &&str| text.strip_prefix(*word).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', ':']));
    ACTS.into_iter().find(begins).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_asks_for_an_act_is_in_colour_where_there_are_colours() {
        let coloured = TerminalStyle { colour: true, ..TerminalStyle::PLAIN };
        for (line, marked) in [("FIX   load", true), ("slower (other plan)", true), ("slow: a core", true)] {
            assert_eq!(coloured.marked(line).contains('\u{1b}'), marked, "{line}");
            assert_eq!(TerminalStyle::PLAIN.marked(line), line);
        }
        for line in ["", "slowest", "same", "slow-node-7"] {
            assert_eq!(coloured.marked(line), line);
        }
    }
}
