//! Foreign words in Markdown: inert, and as they were.

use maud::Render;

use charz_data::escape::plain;

/// Foreign text within a line of Markdown, also within a cell of a table.
pub(super) fn inert(text: &str) -> String {
    let text = plain(text.trim());
    let mut inert = String::with_capacity(text.len());
    // What begins a list or a heading where a line begins. A number with a full stop does too.
    let begins = |mark: char| text.strip_prefix(mark).is_some_and(|rest| rest.starts_with([' ', mark]));
    if ['-', '+', '='].into_iter().any(begins) {
        inert.push('\\');
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    for (at, mark) in text.char_indices() {
        match mark {
            '&' => inert.push_str("&amp;"),
            '<' => inert.push_str("&lt;"),
            '>' => inert.push_str("&gt;"),
            // Names of people, numbers of issues and formulas are looked for in what a page says after Markdown is done with it;
            // a mark in an element of its own is not found.
            '@' | '#' | '$' => inert.extend(["<span>", mark.encode_utf8(&mut [0; 4]), "</span>"]),
            '\\' | '`' | '*' | '_' | '[' | ']' | '{' | '}' | '|' | '~' | '!' => inert.extend(['\\', mark]),
            // Addresses become links by themselves.
            ':' if text[at..].starts_with("://") => inert.push_str("\\:"),
            '.' if text[..at].to_ascii_lowercase().ends_with("www") => inert.push_str("\\."),
            '.' | ')' if digits > 0 && at == digits && !text[at + 1..].starts_with(|next: char| next != ' ') => {
                inert.extend(['\\', mark]);
            }
            _ => inert.push(mark),
        }
    }
    inert
}

/// Foreign text as a block of code, between more backticks than it has in a run.
pub(super) fn fenced(text: &str) -> String {
    let text = plain(text);
    let longest = text.split(|mark| mark != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}sh\n{text}\n{fence}\n")
}

/// Foreign text within HTML, where nothing of Markdown holds.
pub(super) fn markup(text: &str) -> String {
    let mut markup = String::with_capacity(text.len());
    plain(text).render_to(&mut markup);
    // As above: not looked for in an element of its own. A colon before a blank begins nothing.
    let mut inert = String::with_capacity(markup.len());
    let mut marks = markup.chars().peekable();
    while let Some(mark) = marks.next() {
        let begins = mark == ':' && marks.peek().is_some_and(|next| *next != ' ');
        match mark {
            '@' | '#' | '$' | ':' if mark != ':' || begins => {
                inert.extend(["<span>", mark.encode_utf8(&mut [0; 4]), "</span>"]);
            }
            _ => inert.push(mark),
        }
    }
    inert
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_words() {
        for (text, expected) in [
            ("mem-read 12.3 GB/s ±1.2% ?", "mem-read 12.3 GB/s ±1.2% ?"),
            ("<b>&", "&lt;b&gt;&amp;"),
            ("a|b_c*d`e", "a\\|b\\_c\\*d\\`e"),
            ("@all #1", "<span>@</span>all <span>#</span>1"),
            ("see http://x.y or www.x.y", "see http\\://x.y or www\\.x.y"),
            ("- x", "\\- x"),
            ("-", "-"),
            ("--- a", "\\--- a"),
            ("12. x", "12\\. x"),
            ("1.5 times", "1.5 times"),
            ("a\nb\u{1b}", "a\\\\nb\\\\u\\{1b\\}"),
        ] {
            assert_eq!(inert(text), expected);
        }
    }

    #[test]
    fn a_colon_before_a_blank_is_plain_in_html() {
        assert_eq!(markup("mem-read: rate :x: <b>"), "mem-read: rate <span>:</span>x: &lt;b&gt;");
    }

    #[test]
    fn code_ends_where_it_should() {
        assert!(fenced("a\n```\nb").starts_with("````sh\n"));
    }
}
