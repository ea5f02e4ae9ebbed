//! Words that the formats share: counts, and foreign text made harmless.

/// Foreign text for a terminal: control characters and invisible ones are escaped, quotation marks are not.
pub fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for mark in text.chars() {
        match is_harmless(mark) {
            true => plain.push(mark),
            false => plain.extend(mark.escape_debug()),
        }
    }
    plain
}

/// Whether a terminal shows the mark as itself and does nothing else.
pub fn is_harmless(mark: char) -> bool {
    // Most marks are these. Elsewhere the standard library escapes what is not shown as itself.
    matches!(mark, ' '..='~') || mark.escape_debug().len() == 1
}

/// The longest line of [`one_line`] in characters, roughly: some lines of a terminal.
const LINE: usize = 1000;

/// Foreign text as one line of bearable length: as [`plain`], and of a long text the start and the end, where sentences say
/// what is wrong and what to do.
pub fn one_line(text: &str) -> String {
    let text = plain(text);
    let count = text.chars().count();
    if count <= LINE {
        return text;
    }
    let (start, end) = (LINE / 2, count - LINE / 2);
    let part = |from: usize, to: usize| text.chars().skip(from).take(to - from).collect::<String>();
    format!("{} … ({} characters left out) … {}", part(0, start), end - start, part(end, count))
}

/// A word that a shell reads as it is: in quotation marks unless it has no mark that means something to a shell.
pub fn quoted(word: &str) -> String {
    let is_plain = |mark: char| mark.is_ascii_alphanumeric() || "-_=+:,./@%".contains(mark);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        // Within single quotes nothing is special but their end.
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// The text, or its start and its end if it does not fit: names begin with their kind and end with what distinguishes them.
pub fn shortened(text: &str, room: f64, width: impl Fn(char) -> f64) -> String {
    if text.chars().map(&width).sum::<f64>() <= room {
        return text.to_owned();
    }
    let marks: Vec<char> = text.chars().collect();
    let (mut start, mut end, mut left) = (0, marks.len(), room - width('…'));
    while start < end {
        let is_start = start <= marks.len() - end;
        left -= width(marks[if is_start { start } else { end - 1 }]);
        if left < 0.0 {
            break;
        }
        if is_start { start += 1 } else { end -= 1 }
    }
    let [start, end] = [&marks[..start], &marks[end..]].map(|part| part.iter().collect::<String>());
    format!("{}…{}", start.trim_end(), end.trim_start())
}

/// The most characters of foreign text, escaped, that a message repeats: enough for a path or a mapping, and a megabyte of
/// garbage still fits on a line.
const QUOTED: usize = 120;

/// Foreign text in quotation marks, with control characters escaped and cut where it is too long for a line.
pub fn quote(text: &str) -> String {
    let mut length = 0;
    // An escape takes up to ten characters.
    let beyond = |(_, mark): &(usize, char)| {
        length += mark.escape_debug().count();
        length > QUOTED
    };
    match text.char_indices().find(beyond) {
        None => format!("{text:?}"),
        Some((end, _)) => format!("{:?}… ({} bytes)", &text[..end], text.len()),
    }
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
    use super::{LINE, counted, one_line, plain, quote, shortened};

    #[test]
    fn one_is_singular() {
        assert_eq!(counted(1, "core") + ", " + &counted(0, "core"), "1 core, 0 cores");
    }

    #[test]
    fn foreign_text_is_readable_and_harmless() {
        assert_eq!(plain("Intel(R) \"Xeon\" 3.0GHz é"), "Intel(R) \"Xeon\" 3.0GHz é");
        assert_eq!(plain("a\u{1b}[2J\tb\u{202e}"), "a\\u{1b}[2J\\tb\\u{202e}");
        // C0 and DEL, C1 (U+009B starts a sequence as ESC [ does), line ends of Unicode, bidirectional controls (UAX #9),
        // and what cannot be seen.
        let controls = ('\0'..' ').chain('\u{7f}'..='\u{9f}').chain('\u{2028}'..='\u{2029}');
        let bidi = "\u{61c}\u{200e}\u{200f}".chars().chain('\u{202a}'..='\u{202e}').chain('\u{2066}'..='\u{2069}');
        let unseen = "\u{ad}\u{200b}\u{200d}\u{2060}\u{feff}\u{e0041}".chars();
        for mark in controls.chain(bidi).chain(unseen) {
            let found = plain(&mark.to_string());
            assert!(found.starts_with('\\') && found.is_ascii(), "{mark:?} is printed as it is");
        }
    }

    #[test]
    fn a_shortened_text_keeps_both_ends_within_its_room() {
        for (text, room, expected) in [
            ("abc", 3.0, "abc"),
            ("abcdef", 5.0, "ab…ef"),
            ("ab  ef", 5.0, "ab…ef"),
            ("漢字漢字", 6.0, "漢…字"),
            ("abc", 0.0, "…"),
        ] {
            let width = |mark: char| if mark.is_ascii() || mark == '…' { 1.0 } else { 2.0 };
            assert_eq!(shortened(text, room, width), expected);
        }
    }

    #[test]
    fn a_long_text_keeps_its_start_and_its_end() {
        let long = format!("start{}end", "\n".repeat(1 << 20));
        let line = one_line(&long);
        assert!(line.starts_with("start") && line.ends_with("end") && line.contains("left out"), "{line}");
        assert!(line.chars().count() < LINE + 60 && !line.contains('\n'));
        assert_eq!(one_line("short\n"), "short\\n");
    }

    #[test]
    fn foreign_text_cannot_steer_the_terminal_or_flood_the_line() {
        assert_eq!(quote("\u{1b}[2J\n"), r#""\u{1b}[2J\n""#);
        assert!(quote(&"é".repeat(1 << 20)).chars().count() < 160);
        assert!(quote(&"\u{1b}".repeat(1 << 20)).chars().count() < 160);
    }
}
