//! How long text is, without asking a typeface.

use textwrap::core::display_width;

/// How wide a text is, in the units of its size: a little more than the common sans-serif typefaces need.
pub(super) fn of(text: &str, size: f64) -> f64 {
    text.chars().map(advance).sum::<f64>() * size
}

/// Parts of the size that a mark takes.
fn advance(mark: char) -> f64 {
    match mark {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' => 0.27,
        't' | 'f' | 'r' | ' ' | '(' | ')' | '[' | ']' | '/' | '-' | '"' => 0.37,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.88,
        'A'..='Z' => 0.68,
        '\0'..='\u{24f}' => 0.57,
        _ => 0.65 * display_width(mark.encode_utf8(&mut [0; 4])).max(1) as f64,
    }
}

/// The text, or what fits of its start and its end with an ellipsis between.
pub(super) fn shortened(text: &str, size: f64, room: f64) -> String {
    if of(text, size) <= room {
        return text.to_owned();
    }
    let marks: Vec<char> = text.chars().collect();
    let mut left = (room - of("…", size)).max(0.0) / size;
    let (mut from_start, mut from_end) = (0, 0);
    // Two of the start for one of the end: names begin with what they are, and end with what tells them apart.
    while from_start + from_end < marks.len() {
        let is_start = from_start < 2 * (from_end + 1);
        let mark = if is_start { marks[from_start] } else { marks[marks.len() - 1 - from_end] };
        left -= advance(mark);
        if left < 0.0 {
            break;
        }
        if is_start { from_start += 1 } else { from_end += 1 }
    }
    let start: String = marks[..from_start].iter().collect();
    let end: String = marks[marks.len() - from_end..].iter().collect();
    format!("{}…{}", start.trim_end(), end.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_keeps_both_ends_within_its_room() {
        assert_eq!(shortened("dumb", 10.0, 100.0), "dumb");
        let long = format!("start{}end", "x".repeat(10_000));
        let short = shortened(&long, 10.0, 100.0);
        assert!(short.starts_with("start") && short.ends_with("end") && short.contains('…'), "{short}");
        assert!(of(&short, 10.0) <= 100.0);
        assert_eq!(shortened("anything", 10.0, 0.0), "…");
    }
}
