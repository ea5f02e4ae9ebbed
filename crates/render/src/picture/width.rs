//! How long text is, without asking a typeface.

use charz_data::escape;
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

pub(super) fn shortened(text: &str, size: f64, room: f64) -> String {
    escape::shortened(text, room / size, advance)
}
