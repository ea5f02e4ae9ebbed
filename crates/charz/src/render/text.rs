//! What the formats share: aligned columns, counts, and foreign text made harmless.

use std::io::{self, Write};

/// Foreign text for a terminal: control characters and invisible ones are escaped, quotation marks are not.
pub fn plain(text: &str) -> String {
    let harmless = |mark: char| -> Box<dyn Iterator<Item = char>> {
        match mark {
            '"' | '\'' | '\\' => Box::new(std::iter::once(mark)),
            _ => Box::new(mark.escape_debug()),
        }
    };
    text.chars().flat_map(harmless).collect()
}

/// A count with its noun: `1 core`, `2 cores`.
pub fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// A number, or a dash where there is none.
pub fn or_dash(number: Option<u32>) -> String {
    number.map_or_else(|| "-".to_owned(), |number| number.to_string())
}

/// Writes rows under a heading, each column as wide as its widest cell; all but the last column flush right.
pub fn columns<const N: usize>(heading: [&str; N], rows: &[[String; N]], out: &mut dyn Write) -> io::Result<()> {
    let mut widths = heading.map(|cell| cell.chars().count());
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let heading = heading.map(str::to_owned);
    for row in std::iter::once(&heading).chain(rows) {
        for (at, (width, cell)) in widths.iter().zip(row).enumerate() {
            let blank = if at == 0 { "" } else { "  " };
            if at == N - 1 {
                writeln!(out, "{blank}{cell}")?;
            } else {
                write!(out, "{blank}{cell:>width$}")?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{columns, counted, plain};

    #[test]
    fn one_is_singular() {
        assert_eq!(counted(1, "core") + ", " + &counted(0, "core"), "1 core, 0 cores");
    }

    #[test]
    fn foreign_text_is_readable_and_harmless() {
        assert_eq!(plain("Intel(R) \"Xeon\" 3.0GHz é"), "Intel(R) \"Xeon\" 3.0GHz é");
        assert_eq!(plain("a\u{1b}[2J\tb\u{202e}"), "a\\u{1b}[2J\\tb\\u{202e}");
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut out = Vec::new();
        let rows = [["1".to_owned(), "x".to_owned()], ["100".to_owned(), "y z".to_owned()]];
        columns(["os", "on"], &rows, &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), " os  on\n  1  x\n100  y z\n");
    }
}
