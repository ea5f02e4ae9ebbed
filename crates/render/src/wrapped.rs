//! Paragraphs under labels.

use std::io::{self, Write};

use textwrap::{Options, WordSplitter};

/// Writes a text under a label: the label at the left, the text beside it, indented by `indent` columns. Words, commands
/// among them, are never broken.
pub fn labelled(label: &str, indent: usize, text: &str, width: usize, out: &mut dyn Write) -> io::Result<()> {
    let label = format!("{label:<indent$}");
    fold(text, &label, indent, width).iter().try_for_each(|line| writeln!(out, "{line}"))
}

/// Writes a paragraph whose lines behind the first one are indented.
pub fn hanging(text: &str, indent: usize, width: usize, out: &mut dyn Write) -> io::Result<()> {
    lines(text, indent, width).iter().try_for_each(|line| writeln!(out, "{line}"))
}

/// Writes what another writes, each line folded under its own indent.
pub fn folded(
    width: usize,
    out: &mut dyn Write,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut text = Vec::new();
    write(&mut text)?;
    let text = String::from_utf8_lossy(&text);
    text.lines().try_for_each(|line| match line.trim_start() {
        "" => writeln!(out),
        words => hanging(line, line.len() - words.len() + 2, width, out),
    })
}

/// The lines of such a paragraph.
pub fn lines(text: &str, indent: usize, width: usize) -> Vec<String> {
    fold(text, "", indent, width)
}

fn fold(text: &str, label: &str, indent: usize, width: usize) -> Vec<String> {
    let blank = " ".repeat(indent);
    let options = Options::new(width)
        .initial_indent(label)
        .subsequent_indent(&blank)
        .break_words(false)
        .word_splitter(WordSplitter::NoHyphenation);
    textwrap::wrap(text, options).iter().map(|line| line.trim_end().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::tests::written;

    #[track_caller]
    fn check(label: &str, text: &str, expected: &str) {
        assert_eq!(written(|out| labelled(label, 6, text, 16, out)), expected);
    }

    #[test]
    fn text_stands_beside_its_label() {
        check("fix", "one two three", "fix   one two\n      three\n");
        check("", "one-two-three-four-five x", "      one-two-three-four-five\n      x\n");
    }
}
