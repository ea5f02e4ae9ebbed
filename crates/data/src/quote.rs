//! Foreign text in messages.

/// The most characters of foreign text, escaped, that a message repeats: enough for a path or a mapping, and a megabyte of
/// garbage still fits on a line.
const LONGEST: usize = 120;

/// Foreign text in quotation marks, with control characters escaped and cut where it is too long for a line.
#[must_use]
pub fn quote(text: &str) -> String {
    let mut length = 0;
    // An escape takes up to ten characters.
    let beyond = |(_, mark): &(usize, char)| {
        length += mark.escape_debug().count();
        length > LONGEST
    };
    match text.char_indices().find(beyond) {
        None => format!("{text:?}"),
        Some((end, _)) => format!("{:?}… ({} bytes)", &text[..end], text.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn foreign_text_cannot_steer_the_terminal_or_flood_the_line() {
        assert_eq!(quote("\u{1b}[2J\n"), r#""\u{1b}[2J\n""#);
        assert!(quote(&"é".repeat(1 << 20)).chars().count() < 160);
        assert!(quote(&"\u{1b}".repeat(1 << 20)).chars().count() < 160);
    }
}
