//! What is said of a report, a page or a replication, in parts that a terminal and Markdown draw: one text for both.

use charz_analysis::figure::{Figure, Table};
use charz_analysis::page::{Doubt, Page, Section, Whole};
use charz_data::escape::counted;
use charz_data::report::Severity;

/// A part of a text. Its words may be foreign: the code that writes them escapes them.
pub enum Block<'a> {
    Title(String),
    Heading(String),
    Caption(String),
    Text(String),
    /// An entry of a list: its label, which may be empty, and what it says.
    Item(String, String),
    Table {
        heading: Vec<String>,
        /// The columns that hold words; numbers are flushed right.
        words: Vec<usize>,
        rows: Vec<Vec<String>>,
    },
    Figure(&'a Figure),
    /// Figures with what is said of them together.
    Section(&'a Section),
    /// What Markdown shows when it is asked for.
    Folded(String, Vec<Block<'a>>),
    Code(String),
}

impl Block<'_> {
    /// An entry of a list without a label.
    pub fn item(words: impl Into<String>) -> Self {
        Block::Item(String::new(), words.into())
    }

    pub fn table(table: &Table) -> Self {
        let column = |at: usize| table.rows.iter().map(move |row| &row.data[at]);
        let is_words =
            |at: &usize| column(*at).all(|datum| datum.number.is_none()) && column(*at).any(|datum| datum.text != "-");
        let texts = table.rows.iter().map(|row| row.data.iter().map(|datum| datum.text.clone()).collect());
        Block::Table {
            words: (0..table.heading.len()).filter(is_words).collect(),
            heading: table.heading.clone(),
            rows: texts.collect(),
        }
    }
}

/// The most doubts of a page that are shown one by one; [`whole`] has them all.
const MOST_DOUBTS: usize = 12;

/// A page up to its figures, for so many columns.
pub fn page(page: &Page, columns: usize) -> Vec<Block<'_>> {
    let mut blocks = head(page);
    blocks.extend(listed("In what the reports differ", page.differences_in_words().map(Block::item)));
    blocks.extend(verdicts(page, columns));
    blocks.extend(findings(page));
    blocks.extend(doubts(page, MOST_DOUBTS));
    blocks.extend(page.sections.iter().map(Block::Section));
    blocks.extend(listed("Left out", page.left_out.iter().cloned().map(Block::item)));
    blocks
}

/// Every number. Limits and findings come last, where a terminal still shows them when all is printed.
pub fn whole(whole: &Whole) -> Vec<Block<'_>> {
    let mut blocks = head(&whole.page);
    blocks.extend(whole.notes.iter().cloned().map(Block::Text));
    for (caption, table) in &whole.tables {
        blocks.push(Block::Caption(caption.clone()));
        blocks.extend((!table.heading.is_empty()).then(|| Block::table(table)));
    }
    blocks.extend(whole.page.figures().map(Block::Figure));
    blocks.extend(doubts(&whole.page, usize::MAX));
    blocks.extend(findings(&whole.page));
    blocks.extend(verdicts(&whole.page, usize::MAX));
    blocks.push(Block::Heading("How it was measured".to_owned()));
    blocks.extend(whole.closing.iter().cloned().map(Block::Text));
    blocks
}

/// The reports and their main results.
fn head(page: &Page) -> Vec<Block<'_>> {
    let mut blocks = vec![Block::Title(page.title.clone())];
    for source in &page.sources {
        blocks.push(Block::Text(source.ending.clone()));
        let incomplete = source.incomplete.iter();
        blocks.extend(incomplete.map(|why| {
            Block::Text(format!("! not complete, ended by {why}: what is missing may change what follows"))
        }));
    }
    let summary = page.summary.iter().map(|(at, words)| Block::item(format!("{words}{}", page.of(*at))));
    blocks.extend(listed("Summary", summary));
    blocks
}

/// Entries under a heading; nothing where there are none.
fn listed<'a>(heading: &str, items: impl Iterator<Item = Block<'a>>) -> Vec<Block<'a>> {
    let mut items = items.peekable();
    let heading = items.peek().is_some().then(|| Block::Heading(heading.to_owned()));
    heading.into_iter().chain(items).collect()
}

/// The best mapping of each kernel as a table or, where it has no room, as sentences.
fn verdicts(page: &Page, columns: usize) -> Vec<Block<'_>> {
    let table = &page.verdicts;
    let width = |at: usize| {
        let texts = table.rows.iter().map(|row| &row.data[at].text).chain([&table.heading[at]]);
        texts.map(|text| text.chars().count() + 2).max().unwrap_or(0)
    };
    let sentence = |row: &charz_analysis::figure::Row| {
        let named = table.heading.iter().zip(&row.data).skip(1).filter(|(_, datum)| datum.text != "-");
        let words: Vec<String> = named.map(|(name, datum)| format!("{name}: {}", datum.text)).collect();
        Block::item(format!("{}; {}", row.data[0].text, words.join("; ")))
    };
    let fits = (0..table.heading.len()).map(width).sum::<usize>() <= columns;
    match table.rows.is_empty() {
        true => Vec::new(),
        false if fits => vec![Block::Heading("Verdicts".to_owned()), Block::table(table)],
        false => listed("Verdicts", table.rows.iter().map(sentence)),
    }
}

fn findings(page: &Page) -> Vec<Block<'_>> {
    let item = |(at, finding): &(usize, charz_data::report::Finding)| {
        Block::Item(finding.kind.name().to_owned(), format!("{}{}", finding.text, page.of(*at)))
    };
    listed("Findings", page.findings.iter().map(item))
}

/// Each kind of reason with its first case.
fn doubts(page: &Page, most: usize) -> Vec<Block<'_>> {
    let item = |(at, doubt): &(usize, Doubt)| {
        let weight = if doubt.code.is_some() && doubt.severity == Severity::Suspect { "?" } else { doubt.weight() };
        let label = [Some(weight), doubt.code.as_deref()].into_iter().flatten().collect::<Vec<_>>().join(" ");
        Block::Item(label, format!("{}{}", doubt.words(), page.of(*at)))
    };
    let mut blocks = listed("What is suspect, invalid or missing", page.doubts.iter().take(most).map(item));
    let more = page.doubts.len().saturating_sub(most);
    blocks.extend((more > 0).then(|| Block::Text(format!("{} more; --format table has them", counted(more, "kind")))));
    blocks
}
