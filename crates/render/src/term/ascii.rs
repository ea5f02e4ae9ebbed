//! Signs for terminals that know ASCII only.

use std::io::{self, Write};

use crate::look::TerminalStyle;

/// Writes what another writes, in signs that the terminal has.
pub fn within(
    look: &TerminalStyle,
    out: &mut dyn Write,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    if look.unicode {
        return write(out);
    }
    let mut text = Vec::new();
    write(&mut text)?;
    out.write_all(ascii(&String::from_utf8_lossy(&text)).as_bytes())
}

/// The text with each sign in ASCII that means the same; foreign ones as escapes.
pub(crate) fn ascii(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut is_raised = false;
    for mark in text.chars() {
        let raised = RAISED.chars().zip("0123456789-".chars()).find(|(raised, _)| *raised == mark);
        match (raised, like(mark)) {
            (Some((_, digit)), _) => {
                plain.push_str(if is_raised { "" } else { "^" });
                plain.push(digit);
            }
            (None, Some(signs)) => plain.push_str(signs),
            (None, None) if mark.is_ascii() => plain.push(mark),
            (None, None) => plain.extend(mark.escape_unicode()),
        }
        is_raised = raised.is_some();
    }
    plain
}

const RAISED: &str = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻";

/// `~` is the sign of a noisy number, and `-` that of a missing one.
fn like(mark: char) -> Option<&'static str> {
    Some(match mark {
        '│' | '┊' | '┤' => "|",
        '─' | '−' => "-",
        '–' => "--",
        '┌' | '┐' | '└' | '┘' | '┬' => "+",
        '░' => ".",
        '▒' => ":",
        '▓' => "*",
        '█' => "#",
        '·' | '…' => ".",
        '×' => "x",
        'µ' => "u",
        '±' => "+-",
        '≈' => "about ",
        'α' => "alpha",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::ascii;

    #[test]
    fn signs_keep_their_meaning() {
        let text = "12.3 µs −1% é ┌─┐ ░█ 10⁹ 10⁻¹² α = 1%";
        assert_eq!(ascii(text), "12.3 us -1% \\u{e9} +-+ .# 10^9 10^-12 alpha = 1%");
        // Not as a noisy number, nor as one that is there.
        assert!(!ascii("1.82 Gop/s ±0.6%, ≈0%").contains('~'));
        assert_ne!(ascii("–"), ascii("−"));
    }
}
