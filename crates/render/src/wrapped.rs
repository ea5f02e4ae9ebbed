//! Paragraphs under labels.

use std::io::{self, Write};

use textwrap::{Options, WordSplitter};

/// Writes a text under a label: the label at the left, the text beside it, indented by `indent` columns. Words, commands
/// among them, are never broken.
pub fn labelled(label: &str, indent: usize, text: &str, width: usize, out: &mut dyn Write) -> io::Result<()> {
    let (first, blank) = (format!("{label:<indent$}"), " ".repeat(indent));
    let options = Options::new(width)
        .initial_indent(&first)
        .subsequent_indent(&blank)
        .break_words(false)
        .word_splitter(WordSplitter::NoHyphenation);
    for line in textwrap::wrap(text, options) {
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
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
