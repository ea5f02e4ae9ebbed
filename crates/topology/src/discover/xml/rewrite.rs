//! Writes what was checked anew, in hwloc's own style.
//!
//! hwloc's built-in parser knows the XML that hwloc writes: an attribute that it cannot read, for a blank behind the equals
//! sign or a capital letter in its name, ends the attributes of that element without a word, and an object without its sets
//! then ends the program. So hwloc never sees the file: what we have understood is what it gets.

use std::fmt::Write as _;

pub(super) struct Rewrite {
    text: String,
    /// Whether the last thing in it is the start of an element.
    begun: bool,
}

impl Default for Rewrite {
    fn default() -> Self {
        let head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n";
        Self { text: head.to_owned(), begun: false }
    }
}

impl Rewrite {
    /// Begins an element. Attributes that hwloc cannot know are left out.
    pub(super) fn begin(&mut self, name: &str, attributes: &[(String, String)]) {
        self.text.push('<');
        self.text.push_str(name);
        let known = |name: &str| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        for (name, value) in attributes.iter().filter(|(name, _)| known(name)) {
            // Writing to a string cannot fail.
            let _ = write!(self.text, " {name}=\"{}\"", escaped(value));
        }
        self.text.push('>');
        self.begun = true;
    }

    /// Text inside of an element, unchanged: lists of numbers and encoded data, whose length is in an attribute and
    /// which have nothing to escape.
    pub(super) fn text(&mut self, text: &str) {
        self.text.push_str(text);
        self.begun = false;
    }

    /// Ends an element. One without content is written as a single tag, and some hwloc reads no other way.
    pub(super) fn end(&mut self, name: &str) {
        if self.begun {
            self.text.pop();
            self.text.push_str("/>");
        } else {
            let _ = write!(self.text, "</{name}>");
        }
        self.begun = false;
    }

    pub(super) fn finish(mut self) -> String {
        self.text.push('\n');
        self.text
    }
}

/// Text as the value of an attribute, with the escapes that hwloc undoes.
pub(in crate::discover) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for mark in text.chars() {
        match mark {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' => escaped.push_str("&#10;"),
            '\r' => escaped.push_str("&#13;"),
            '\t' => escaped.push_str("&#9;"),
            // XML has no other control characters, not even as references; no figure of a machine needs them.
            other if other.is_control() => escaped.push(' '),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Whether hwloc's parser can read an element of this name.
pub(super) fn is_readable(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// hwloc 2's number of a kind of device, from hwloc 3's set of them: storage, memory, GPU, coprocessor, network, OpenFabrics, DMA.
pub(super) fn second_device(kinds: &str) -> String {
    const SECOND: [(u32, &str); 7] = [(4, "1"), (8, "5"), (32, "3"), (16, "2"), (64, "4"), (1, "0"), (2, "0")];
    let kinds: u32 = kinds.parse().unwrap_or(0);
    SECOND.iter().find(|(kind, _)| kinds & kind != 0).map_or("0", |(_, second)| second).to_owned()
}

#[cfg(test)]
mod tests {
    use super::Rewrite;

    #[test]
    fn text_is_escaped_and_unknown_names_are_left_out() {
        let mut text = Rewrite::default();
        let attribute = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        text.begin("info", &[attribute("a_b", "<\"&\n\u{1b}"), attribute("xml:lang", "x")]);
        text.text("1 2");
        text.end("info");
        text.begin("b", &[]);
        text.end("b");
        assert!(text.finish().ends_with("\n<info a_b=\"&lt;&quot;&amp;&#10; \">1 2</info><b/>\n"));
    }
}
