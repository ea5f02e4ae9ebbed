//! Text for a terminal: headings, paragraphs, legends, and sheets between them.

use std::io::{self, Write};

use textwrap::core::display_width;
use textwrap::{Options, WordSplitter};

use super::ascii::ascii;
use super::sheet::Sheet;
use crate::grid;
use crate::look::{LONGEST, Style, TerminalStyle, act};
use charz_data::escape::{one_line, plain, shortened};

/// Narrower terminals break lines themselves.
const NARROWEST: usize = 40;
/// Wider pictures are not easier to read.
const WIDEST: usize = 300;
/// A longer label is cut, so its words have room on a narrow terminal.
const LONGEST_LABEL: usize = 22;
/// What stands between the entries of a list.
const BETWEEN: &str = " · ";

pub struct Pen<'a> {
    look: TerminalStyle,
    out: &'a mut dyn Write,
}

impl<'a> Pen<'a> {
    pub fn new(look: &TerminalStyle, out: &'a mut dyn Write) -> Self {
        Pen { look: TerminalStyle { columns: look.columns.clamp(NARROWEST, WIDEST), ..*look }, out }
    }

    pub fn width(&self) -> usize {
        self.look.columns
    }

    /// How wide words are.
    pub fn paragraph(&self) -> usize {
        self.look.columns.min(LONGEST)
    }

    pub fn gap(&mut self) -> io::Result<()> {
        writeln!(self.out)
    }

    pub fn heading(&mut self, text: &str) -> io::Result<()> {
        self.line("", &one_line(text), Style::Bold)
    }

    /// Foreign text as a paragraph, its lines behind the first one indented as far as the first begins behind its label.
    pub fn text(&mut self, label: &str, text: &str) -> io::Result<()> {
        self.line(label, &one_line(text), Style::Plain)
    }

    /// Foreign text to be copied: however long, it stays one line.
    pub fn code(&mut self, text: &str) -> io::Result<()> {
        text.lines().try_for_each(|line| writeln!(self.out, "    {}", plain(line)))
    }

    /// The same, standing back.
    pub fn aside(&mut self, text: &str) -> io::Result<()> {
        self.line("", &one_line(text), Style::Faint)
    }

    fn line(&mut self, label: &str, text: &str, style: Style) -> io::Result<()> {
        // First of all: in ASCII a sign may be longer.
        let [label, text] = [label, text].map(|text| self.signs(text));
        let indent = display_width(&label).min(LONGEST_LABEL + 2);
        // A list is read by its entries, however long its lines are.
        let width = if text.contains(BETWEEN) { self.width() } else { self.paragraph() };
        let options = Options::new(width - indent).word_splitter(WordSplitter::NoHyphenation);
        let lines = textwrap::wrap(&text, options);
        let mut sheet = Sheet::new(self.look.columns, lines.len().max(1));
        sheet.put(0, 0, &label, Style::Plain);
        for (at, line) in lines.iter().enumerate() {
            sheet.put(indent, at, line, style);
        }
        if !label.is_empty() {
            sheet.put(0, 0, act(label.trim_end()), Style::Act);
            sheet.put(indent, 0, act(&text), Style::Act);
        }
        self.sheet(&sheet)
    }

    fn signs(&self, text: &str) -> String {
        if self.look.unicode { text.to_owned() } else { ascii(text) }
    }

    /// A label with as many of the entries as a line holds, and how many more there are.
    pub fn line_of(&mut self, label: &str, entries: &[String]) -> io::Result<()> {
        let label = format!("{:<9}  ", short(label, LONGEST_LABEL));
        let room = self.width() - display_width(&label).min(LONGEST_LABEL + 2);
        let with = |count: usize| {
            let more = entries.len() - count;
            let rest = (more > 0).then(|| format!("{more} more"));
            entries[..count].iter().map(|entry| one_line(entry)).chain(rest).collect::<Vec<_>>().join(BETWEEN)
        };
        let fits = (0..=entries.len()).rev().map(with).find(|text| display_width(text) <= room);
        self.text(&label, &fits.unwrap_or_else(|| with(0)))
    }

    pub fn sheet(&mut self, sheet: &Sheet) -> io::Result<()> {
        sheet.write(&self.look, self.out)
    }

    /// Foreign text in columns under a heading.
    pub fn table(
        &mut self,
        heading: &[String],
        words: &[usize],
        spare: &[usize],
        rows: &[Vec<String>],
    ) -> io::Result<()> {
        let harmless = |cells: &[String]| cells.iter().map(|cell| one_line(cell)).collect::<Vec<_>>();
        let rows: Vec<Vec<String>> = rows.iter().map(|row| harmless(row)).collect();
        let heading = harmless(heading);
        let heading: Vec<&str> = heading.iter().map(String::as_str).collect();
        let look = TerminalStyle { tables: self.look.tables.max(NARROWEST), ..self.look };
        grid::columns(&heading, words, spare, &rows, &look, self.out)
    }
}

/// Foreign text in so many columns.
pub fn short(text: &str, columns: usize) -> String {
    shortened(&one_line(text), columns as f64, |mark| display_width(mark.encode_utf8(&mut [0; 4])) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::tests::written;

    #[test]
    fn columns_stand_below_each_other_in_ascii_too() {
        let look = TerminalStyle { unicode: false, ..TerminalStyle::PLAIN };
        let rows =
            [["1.82 Gop/s ±0.6%", "a"], ["35.8 GB/s~", "b"], ["–", "c"]].map(|row| row.map(str::to_owned).to_vec());
        let heading = ["number", "name"].map(str::to_owned);
        let text = written(|out| Pen::new(&look, out).table(&heading, &[1], &[], &rows));
        let places: Vec<Option<usize>> =
            text.lines().skip(1).zip(["a", "b", "c"]).map(|(line, name)| line.rfind(name)).collect();
        assert!(text.is_ascii() && places[0].is_some() && places.iter().all(|place| *place == places[0]), "{text}");
        assert_eq!(text.matches('~').count(), 1, "{text}");
    }
}
