//! What is said of a report, a page or a replication, in parts that a terminal and Markdown draw: one text for both.

use charz_analysis::answer::{self, Answer, NONE, Reading};
use charz_analysis::figure::{Figure, Row, Table};
use charz_analysis::page::{Doubt, Page, Tabled, Whole};
use charz_data::escape::counted;

use crate::grid;

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
    /// What Markdown shows when it is asked for.
    Folded(String, Vec<Block<'a>>),
    Code(String),
    /// An entry of a list of steps: what to do, and the command that does it.
    Step(String, Option<String>),
    /// A label with entries, of which a terminal shows as many as a line holds.
    Line(String, Vec<String>),
    Gap,
}

impl Block<'static> {
    /// An entry of a list without a label.
    pub fn item(words: impl Into<String>) -> Self {
        Block::Item(String::new(), words.into())
    }

    pub fn table(table: &Table) -> Self {
        let column = |at: usize| table.rows.iter().map(move |row| &row.data[at]);
        let is_words = |at: &usize| {
            column(*at).all(|datum| datum.number.is_none())
                && column(*at).any(|datum| !["-", NONE].contains(&&*datum.text))
        };
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

/// A page up to its figures.
pub fn page(page: &Page) -> Vec<Block<'_>> {
    let mut blocks = head(page, usize::MAX);
    blocks.extend(listed("Differences between the reports", page.differences_in_words().map(Block::item)));
    blocks.extend(verdicts(page, usize::MAX));
    blocks.extend(findings(page));
    blocks.extend(doubts(page, MOST_DOUBTS));
    blocks
}

/// What a page leaves out.
pub fn left_out(page: &Page) -> Vec<Block<'_>> {
    listed("Left out", page.left_out.iter().cloned().map(Block::item))
}

/// Every number. Limits and findings come last, where a terminal still shows them when all is printed.
pub fn whole(whole: &Whole, columns: usize) -> Vec<Block<'_>> {
    let mut blocks = head(&whole.page, columns);
    blocks.extend(whole.notes.iter().cloned().map(Block::Text));
    for Tabled { caption, table, notes } in &whole.tables {
        blocks.push(Block::Caption(caption.clone()));
        blocks.extend((!table.heading.is_empty()).then(|| Block::table(table)));
        blocks.extend(notes.iter().map(|note| Block::Item(String::new(), note.clone())));
    }
    blocks.extend(whole.page.figures().map(Block::Figure));
    blocks.extend(doubts(&whole.page, usize::MAX));
    blocks.extend(findings(&whole.page));
    blocks.extend(verdicts(&whole.page, columns));
    blocks.push(Block::Heading("Method".to_owned()));
    blocks.extend(whole.closing.iter().cloned().map(Block::Text));
    blocks
}

/// The report and what its first screen says; of several how they compare, and a line each.
fn head(page: &Page, columns: usize) -> Vec<Block<'_>> {
    if let ([answer], []) = (&page.answers[..], &page.summary[..]) {
        return self::answer(answer, FULL, columns);
    }
    let mut blocks = vec![Block::Title(page.title.clone())];
    blocks.extend(page.summary.iter().cloned().map(Block::Text));
    blocks.extend(page.sources.iter().zip(&page.answers).map(|(source, answer)| {
        let quality = &answer.quality;
        let told = format!(
            "{} · {}{}; {}: {}",
            answer.machine,
            answer.when,
            incomplete(answer),
            quality.level.name(),
            quality.text()
        );
        Block::Item(source.name.clone(), told)
    }));
    blocks
}

/// How many rows of each table and entries of each list a page shows of an [`Answer`].
const FULL: usize = 24;
/// How many steps a reader takes in at once.
const MOST_STEPS: usize = 4;

/// The answer of a report, for so many columns: at most so many rows of each table, entries of each list.
pub fn answer(answer: &Answer, most: usize, columns: usize) -> Vec<Block<'static>> {
    let quality = &answer.quality;
    let mut blocks = vec![
        Block::Title(answer.machine.clone()),
        Block::Text(format!("{}{}", answer.when, incomplete(answer))),
        Block::Gap,
        Block::Item("Quality".to_owned(), format!("{}: {}", quality.level.name(), quality.text())),
    ];
    blocks.extend(quality.fix.iter().map(|fix| Block::Item("Fix".to_owned(), fix.clone())));
    let failed = answer.failed.iter().take(most);
    blocks.extend(failed.map(|what| Block::Item("Failed".to_owned(), what.clone())));
    blocks.extend(answer.counters.iter().map(|what| Block::Item("Counters".to_owned(), what.clone())));
    blocks.extend(answer.energy.iter().map(|what| Block::Item("Energy".to_owned(), what.clone())));
    let (rows, notes) = answer::table(&answer.rows, answer.cpus, most);
    blocks.extend(listed_rows(rows, answer.rows.len(), columns));
    blocks.extend(notes.into_iter().map(Block::Text));
    for table in [&answer.lines, &answer.nodes, &answer.levels, &answer.contended] {
        let shown = Table { rows: table.rows.iter().take(most).cloned().collect(), ..table.clone() };
        blocks.extend(listed_rows(shown, table.rows.len(), columns));
    }
    blocks.extend(answer.found.iter().take(most).cloned().map(Block::item));
    if !answer.costs.is_empty() {
        blocks.push(Block::Gap);
    }
    for costs in answer.costs.iter().take(most) {
        let entry = |(name, reading): &(String, Reading)| format!("{} {}", costs.short(name), reading.text());
        let mut entries: Vec<String> = costs.kernels.iter().map(entry).collect();
        if let Some((place, first)) = costs.place.as_ref().zip(entries.first_mut()) {
            *first = format!("{place}: {first}");
        }
        blocks.push(Block::Line(costs.title(), entries));
    }
    let (all, shown) = (answer.advice.len(), answer.advice.len().min(most).min(MOST_STEPS));
    let of = if shown < all { format!(" ({shown} of {all}; --format table has the findings)") } else { String::new() };
    blocks.extend((all > 0).then(|| Block::Caption(format!("What to do{of}"))));
    let steps = answer.advice.iter().take(shown);
    blocks.extend(steps.map(|advice| Block::Step(advice.text.clone(), advice.launch.clone())));
    blocks
}

fn incomplete(answer: &Answer) -> String {
    answer.incomplete.as_ref().map(|why| format!(" · incomplete: {why}")).unwrap_or_default()
}

/// A table after a gap, its heading with how many rows there are where some are left out; nothing without rows. In narrow terminals
/// without what follows from other columns.
fn listed_rows(mut table: Table, all: usize, columns: usize) -> Vec<Block<'static>> {
    if table.rows.is_empty() {
        return Vec::new();
    }
    if table.rows.len() < all {
        table.heading[0] += &format!(" ({} of {all})", table.rows.len());
    }
    for name in ["scaling", "95% at"] {
        let at = table.heading.iter().position(|heading| heading == name).filter(|_| width(&table) > columns);
        if let Some(at) = at {
            table.heading.remove(at);
            table.rows.iter_mut().for_each(|row| drop(row.data.remove(at)));
        }
    }
    [Block::Gap].into_iter().chain(fitting(&table, columns)).collect()
}

/// The columns that a table takes.
fn width(table: &Table) -> usize {
    let texts = |row: &Row| row.data.iter().map(|datum| datum.text.clone()).collect::<Vec<_>>();
    grid::width(&table.heading, &table.rows.iter().map(texts).collect::<Vec<_>>())
}

/// A table or, where it has no room, its rows as sentences.
pub(crate) fn fitting(table: &Table, columns: usize) -> Vec<Block<'static>> {
    let sentence = |row: &Row| {
        let named =
            table.heading.iter().zip(&row.data).skip(1).filter(|(_, datum)| !["-", NONE].contains(&&*datum.text));
        let words: Vec<String> = named.map(|(name, datum)| format!("{name}: {}", datum.text)).collect();
        Block::item(format!("{}; {}", row.data[0].text, words.join("; ")))
    };
    if width(table) <= columns { vec![Block::table(table)] } else { table.rows.iter().map(sentence).collect() }
}

/// Entries under a heading; nothing where there are none.
fn listed<'a>(heading: &str, items: impl Iterator<Item = Block<'a>>) -> Vec<Block<'a>> {
    let mut items = items.peekable();
    let heading = items.peek().is_some().then(|| Block::Heading(heading.to_owned()));
    heading.into_iter().chain(items).collect()
}

/// The best mapping of each kernel.
fn verdicts(page: &Page, columns: usize) -> Vec<Block<'_>> {
    if page.verdicts.rows.is_empty() {
        return Vec::new();
    }
    [Block::Heading("Best placement".to_owned())].into_iter().chain(fitting(&page.verdicts, columns)).collect()
}

fn findings(page: &Page) -> Vec<Block<'_>> {
    let item = |(at, finding): &(usize, charz_data::report::Finding)| {
        let evidence = if finding.evidence.is_empty() { String::new() } else { format!(" [{}]", finding.evidence) };
        Block::Item(finding.kind.name().to_owned(), format!("{}{evidence}{}", finding.text, page.of(*at)))
    };
    listed("Findings", page.findings.iter().map(item))
}

/// Each kind of reason with its first case.
fn doubts(page: &Page, most: usize) -> Vec<Block<'_>> {
    let item = |(at, doubt): &(usize, Doubt)| {
        let label = [Some(doubt.weight()), doubt.code.as_deref()].into_iter().flatten().collect::<Vec<_>>().join(" ");
        Block::Item(label, format!("{}{}", doubt.words(), page.of(*at)))
    };
    let mut blocks = listed("Data quality", page.doubts.iter().take(most).map(item));
    let more = page.doubts.len().saturating_sub(most);
    blocks.extend((more > 0).then(|| Block::Text(format!("{} more; --format table has them", counted(more, "kind")))));
    blocks
}

#[cfg(test)]
mod tests {
    use charz_analysis::figure::Datum;

    use super::*;

    #[test]
    fn a_table_is_one_where_it_just_has_room() {
        let table = Table::new(&["kernel", "threads"], [vec![Datum::word("arith-int"), Datum::word("2")]]);
        // Nine and seven columns, with two between them.
        let is_table = |columns| matches!(fitting(&table, columns)[..], [Block::Table { .. }]);
        assert!(is_table(18) && !is_table(17));
    }
}
