//! Words that the formats share: counts, and foreign text made harmless.

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

#[cfg(test)]
mod tests {
    use super::{counted, plain};

    #[test]
    fn one_is_singular() {
        assert_eq!(counted(1, "core") + ", " + &counted(0, "core"), "1 core, 0 cores");
    }

    #[test]
    fn foreign_text_is_readable_and_harmless() {
        assert_eq!(plain("Intel(R) \"Xeon\" 3.0GHz é"), "Intel(R) \"Xeon\" 3.0GHz é");
        assert_eq!(plain("a\u{1b}[2J\tb\u{202e}"), "a\\u{1b}[2J\\tb\\u{202e}");
    }
}
