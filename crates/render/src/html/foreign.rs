//! Text that came out of a report.

use maud::Render;

use charz_data::escape::{one_line, plain};

/// Foreign text in markup: marks that could steer a reader's machine are spelled out, the middle of long text is left out, and
/// markup is escaped.
#[derive(Clone, Copy)]
pub(super) struct Foreign<'a>(pub &'a str);

impl Render for Foreign<'_> {
    fn render_to(&self, out: &mut String) {
        /// Plain text up to this length is written as it is; most names and sentences are shorter.
        const SHORT: usize = 200;
        let is_plain = |byte: u8| byte == b' ' || byte.is_ascii_graphic();
        match self.0.len() <= SHORT && self.0.bytes().all(is_plain) {
            true => self.0.render_to(out),
            false => one_line(self.0).render_to(out),
        }
    }
}

/// A line to copy; only a malicious text is long enough to be cut.
pub(super) struct Account<'a>(pub &'a str);

impl Render for Account<'_> {
    fn render_to(&self, out: &mut String) {
        const MOST: usize = 20_000;
        let end = self.0.char_indices().nth(MOST).map_or(self.0.len(), |(at, _)| at);
        plain(&self.0[..end]).render_to(out);
        if end < self.0.len() {
            out.push_str(" …");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(Foreign(text).render().0, expected);
    }

    #[test]
    fn nothing_foreign_is_markup() {
        check("mem-read", "mem-read");
        check("</script><b a=\"1\">&amp;", "&lt;/script&gt;&lt;b a=&quot;1&quot;&gt;&amp;amp;");
        check("\u{1b}[2J\u{202e}x\n", "\\u{1b}[2J\\u{202e}x\\n");
        check("é ≥ µs", "é ≥ µs");
        assert!(Foreign(&"<".repeat(1_000_000)).render().0.len() < 10_000);
    }
}
