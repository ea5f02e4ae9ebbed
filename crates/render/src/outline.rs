//! What is said of a report, a page or a replication, in parts that a terminal and Markdown draw: one text for both.

use std::cmp::Ordering;

use charz_analysis::answer::{self, Answer, NONE, Quality, Reading};
use charz_analysis::figure::{Datum, Figure, Row, Table};
use charz_analysis::page::{Doubt, Page, Tabled, Whole};
use charz_data::card::Family;
use charz_data::escape::counted;
use charz_data::report::Unit;

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
        return self::answer(answer, Extent::Whole, columns, columns);
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

/// How much of an [`Answer`] is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// On a terminal: long tables by family, and as many steps as a reader takes in at once.
    Folded,
    /// Every row, where the output is scrolled through, or is a file.
    Rows,
    /// With the names of other programs.
    Whole,
}

/// The most rows of a table that a terminal shows one by one, and of a family in a longer one.
const MOST_ROWS: usize = 24;
const MOST_OF_FAMILY: usize = 3;
/// How many steps a reader takes in at once.
const MOST_STEPS: usize = 4;
/// How wide the label of an item is, with the blanks behind it.
const LABEL: usize = 11;

/// The answer of a report, in lines of words and tables of so many columns.
pub fn answer(answer: &Answer, extent: Extent, columns: usize, tables: usize) -> Vec<Block<'static>> {
    let (quality, is_folded) = (&answer.quality, extent == Extent::Folded);
    let mut blocks = vec![
        Block::Title(answer.machine.clone()),
        Block::Text(format!("{}{}", answer.when, incomplete(answer))),
        Block::Gap,
        self::quality(quality, extent == Extent::Whole, columns),
    ];
    let item = |label: &'static str| move |what: &String| Block::Item(label.to_owned(), what.clone());
    blocks.extend(quality.fix.iter().map(item("Fix")));
    blocks.extend(answer.failed.iter().map(item("Failed")));
    blocks.extend(answer.counters.iter().map(item("Counters")));
    blocks.extend(answer.energy.iter().map(item("Energy")));
    let (rows, notes) = answer::table(&answer.rows, answer.cpus);
    let family = |row: &answer::Row| (row.family.map_or("other", Family::name).to_owned(), Some(row.best.unit));
    blocks.extend(listed_rows(&rows, answer.rows.iter().map(family).collect(), is_folded, tables));
    blocks.extend(notes.into_iter().map(Block::Text));
    for table in [&answer.lines, &answer.nodes, &answer.levels, &answer.contended, &answer.without] {
        // What names begin with is what `charz kernels` lists them by.
        let begin = |row: &Row| (row.data[0].text.split(['-', ' ']).next().unwrap_or_default().to_owned(), None);
        blocks.extend(listed_rows(table, table.rows.iter().map(begin).collect(), is_folded, tables));
    }
    blocks.extend(answer.found.iter().cloned().map(Block::item));
    blocks.extend((!answer.costs.is_empty()).then_some(Block::Gap));
    let is_long = is_folded && answer.costs.iter().map(|costs| costs.kernels.len()).sum::<usize>() > MOST_ROWS;
    for costs in &answer.costs {
        let entry = |(name, reading): &(String, Reading)| format!("{} {}", costs.short(name), reading.text());
        let mut entries: Vec<String> = costs.kernels.iter().map(entry).collect();
        let place = costs.place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default();
        if is_long && entries.len() > MOST_OF_FAMILY {
            // From the cheapest to the dearest.
            let between = format!("{} more", entries.len() - 2);
            entries.splice(1..entries.len() - 1, [between]);
        }
        blocks.push(Block::Item(costs.title(), place + &entries.join(" · ")));
    }
    let all = answer.advice.len();
    let shown = if is_folded { all.min(MOST_STEPS) } else { all };
    let of = if shown < all { format!(" ({shown} of {all}; charz advise has the others)") } else { String::new() };
    blocks.extend((all > 0).then(|| Block::Caption(format!("What to do{of}"))));
    let steps = answer.advice.iter().take(shown);
    blocks.extend(steps.map(|advice| Block::Step(advice.text.clone(), advice.launch.clone())));
    blocks
}

/// How good the numbers are: on a line of so many columns, or with all that is known of it.
pub fn quality(quality: &Quality, is_whole: bool, columns: usize) -> Block<'static> {
    let level = format!("{}: ", quality.level.name());
    let text = if is_whole { quality.text() } else { quality.line(columns.saturating_sub(LABEL + level.len())) };
    Block::Item("Quality".to_owned(), level + &text)
}

fn incomplete(answer: &Answer) -> String {
    answer.incomplete.as_ref().map(|why| format!(" · incomplete: {why}")).unwrap_or_default()
}

/// A table after a gap; nothing without rows. A long one has a row for each family where that is asked for. In narrow terminals it is without
/// what follows from other columns.
fn listed_rows(table: &Table, kin: Vec<Kin>, is_folded: bool, columns: usize) -> Vec<Block<'static>> {
    if table.rows.is_empty() {
        return Vec::new();
    }
    let is_folded = is_folded && table.rows.len() > MOST_ROWS;
    let mut table = if is_folded { folded(table, &kin) } else { table.clone() };
    for name in ["scaling", "95% at"] {
        let at = table.heading.iter().position(|heading| heading == name).filter(|_| width(&table) > columns);
        if let Some(at) = at {
            table.heading.remove(at);
            table.rows.iter_mut().for_each(|row| drop(row.data.remove(at)));
        }
    }
    let note = "A family has one row, from min to max; --format table has all rows.";
    let note = is_folded.then(|| Block::Text(note.to_owned()));
    [Block::Gap].into_iter().chain(fitting(&table, columns)).chain(note).collect()
}

/// What rows are folded by: a family, and a unit where it has several.
type Kin = (String, Option<Unit>);

/// A row for each family of many rows: how many they are, and of each column the least and the most; words that differ are left out.
fn folded(table: &Table, kin: &[Kin]) -> Table {
    let mut families: Vec<(&Kin, Vec<&Row>)> = Vec::new();
    for (row, kin) in table.rows.iter().zip(kin) {
        match families.iter_mut().find(|(known, _)| *known == kin) {
            Some((_, rows)) => rows.push(row),
            None => families.push((kin, vec![row])),
        }
    }
    let column = |rows: &[&Row], at: usize| {
        let data = || rows.iter().map(|row| &row.data[at]);
        let numbers = || data().filter_map(|datum| Some((datum.number?, &datum.text)));
        let [least, most] = [Ordering::Less, Ordering::Greater]
            .map(|wanted| numbers().reduce(|one, other| if other.0.total_cmp(&one.0) == wanted { other } else { one }));
        match least.zip(most) {
            _ if data().all(|datum| datum.text == rows[0].data[at].text) => rows[0].data[at].clone(),
            Some(((_, least), (number, most))) => Datum::number(format!("{least}..{most}"), number),
            None => Datum::word(NONE),
        }
    };
    let fold = |((family, _), rows): (&Kin, Vec<&Row>)| {
        if rows.len() <= MOST_OF_FAMILY {
            return rows.into_iter().cloned().collect();
        }
        let name = Datum::word(format!("{family} ({} rows)", rows.len()));
        let others = (1..table.heading.len()).map(|at| column(&rows, at));
        vec![Row::from([name].into_iter().chain(others).collect::<Vec<_>>())]
    };
    Table { rows: families.into_iter().flat_map(fold).collect(), ..table.clone() }
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
    use super::*;

    #[test]
    fn a_table_is_one_where_it_just_has_room() {
        let table = Table::new(&["kernel", "threads"], [vec![Datum::word("arith-int"), Datum::word("2")]]);
        // Nine and seven columns, with two between them.
        let is_table = |columns| matches!(fitting(&table, columns)[..], [Block::Table { .. }]);
        assert!(is_table(18) && !is_table(17));
    }
}
