//! What is said of a report, a page or a replication, in parts that a terminal, Markdown and HTML draw: one walk for all.

use charz_analysis::answer::{self, Answer, NONE, Reading};
use charz_analysis::figure::{Figure, Row, Table};
use charz_analysis::page::{About, Doubt, Fact, Page, Section, VERSUS};
use charz_data::report::Finding;

use crate::grid;

/// A part of a text. Its words may be foreign: the code that writes them escapes them.
pub enum Block<'a> {
    Title(String),
    /// A part with a heading of its own.
    Section(String, Vec<Block<'a>>),
    Caption(String),
    /// The answer in a sentence, before all others.
    Lead(String),
    Text(String),
    /// How the pictures of a section are to be read: nothing where there are none.
    Legend(String),
    /// An entry of a list: its label, which may be empty, and what it says.
    Item(String, String),
    Table {
        heading: Vec<String>,
        /// The columns that hold words; numbers are flushed right.
        words: Vec<usize>,
        rows: Vec<Vec<String>>,
    },
    /// A table with evidence behind its rows, which HTML shows.
    Data(&'a Table),
    Figure(&'a Figure),
    /// What is shown where a reader can ask for it, which a terminal does not let him.
    Folded(String, Vec<Block<'a>>),
    Code(String),
    /// An entry of a list of steps: what to do, and the command that does it.
    Step(String, Option<String>),
    /// A label with entries, of which a terminal shows as many as a line holds.
    Line(String, Vec<String>),
    Gap,
}

impl Block<'_> {
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

/// The most reports whose answers a page has in full beside each other.
const MOST_ANSWERS: usize = 8;

/// A page, its tables for so many columns: the answer, what limits it, the figures, and where it all comes from.
pub fn page(page: &Page, columns: usize) -> Vec<Block<'_>> {
    let mut blocks = vec![Block::Title(page.title.clone())];
    blocks.extend(section("Summary", summary(page, columns)));
    blocks.extend(section("Findings", findings(page)));
    blocks.extend(section("Data quality", doubts(page)));
    let own = page.sections.iter().filter(|section| section.id != VERSUS);
    blocks.extend(own.flat_map(|own| section(own.title, chapter(own))));
    blocks.extend(section("Left out", page.left_out.iter().cloned().map(Block::item).collect()));
    blocks.extend(section("System & method", environment(page)));
    blocks
}

/// A section; nothing where there is nothing in it.
pub(crate) fn section<'a>(title: &str, blocks: Vec<Block<'a>>) -> Option<Block<'a>> {
    (!blocks.is_empty()).then(|| Block::Section(title.to_owned(), blocks))
}

/// Whether it is a picture without numbers behind it, of which text shows nothing.
pub(crate) fn is_picture(block: &Block<'_>) -> bool {
    matches!(block, Block::Figure(Figure { table: None, .. }))
}

/// Whether there are only pictures and how they are to be read.
pub(crate) fn are_pictures(blocks: &[Block<'_>]) -> bool {
    blocks.iter().any(is_picture) && blocks.iter().all(|block| is_picture(block) || matches!(block, Block::Legend(_)))
}

/// How the section is to be read, then what it has.
fn chapter(section: &Section) -> Vec<Block<'_>> {
    let has_pictures = !section.figures.is_empty();
    let about = section.about.iter().enumerate().map(|(at, sentence)| match at == 0 && has_pictures {
        true => Block::Legend(stopped(sentence)),
        false => Block::Text(stopped(sentence)),
    });
    let table = section.table.as_ref().map(Block::Data);
    about.chain(table).chain(section.figures.iter().map(Block::Figure)).collect()
}

/// A sentence with its full stop.
pub(crate) fn stopped(sentence: &str) -> String {
    let sentence = sentence.trim_end();
    let is_ended = sentence.is_empty() || sentence.ends_with(['.', '!', '?', ':']);
    if is_ended { sentence.to_owned() } else { format!("{sentence}.") }
}

/// The answer of the only report; of several how they compare, a line each, and the answer of each behind it.
fn summary(page: &Page, columns: usize) -> Vec<Block<'_>> {
    let sentences = page.summary.iter().map(|sentence| stopped(sentence)).enumerate();
    let mut blocks: Vec<Block<'_>> =
        sentences.map(|(at, sentence)| if at == 0 { Block::Lead(sentence) } else { Block::Text(sentence) }).collect();
    let versus = page.sections.iter().filter(|section| section.id == VERSUS);
    blocks.extend(versus.flat_map(|section| &section.figures).map(Block::Figure));
    if let [answer] = &page.answers[..] {
        blocks.push(Block::Text(answer.machine.clone()));
        blocks.extend(body(answer, usize::MAX, columns));
        return blocks;
    }
    let each = || page.sources.iter().zip(&page.answers);
    blocks.extend(each().map(|(source, answer)| {
        let quality = &answer.quality;
        let (level, why) = (quality.level.name(), quality.text());
        Block::Item(source.name.clone(), format!("{} · {}; {level}: {why}", answer.machine, when(answer)))
    }));
    let differences = page.differences.iter();
    let rows = differences.map(|found| [vec![found.label.to_owned()], found.words.clone()].concat()).collect();
    if !page.differences.is_empty() {
        blocks.extend([Block::Caption("Differences between the reports".to_owned()), facts(page, rows)]);
    }
    if page.answers.len() <= MOST_ANSWERS {
        let folded = |(source, answer): (&About, &Answer)| {
            Block::Folded(format!("{}: each kernel", source.name), body(answer, usize::MAX, columns))
        };
        blocks.extend(each().map(folded));
    }
    blocks
}

/// A table with a column for each report.
fn facts<'a>(page: &Page, rows: Vec<Vec<String>>) -> Block<'a> {
    let several = page.sources.len() > 1;
    let names = page.sources.iter().map(|source| if several { source.name.clone() } else { String::new() });
    let heading: Vec<String> = [String::new()].into_iter().chain(names).collect();
    Block::Table { words: (0..heading.len()).collect(), heading, rows }
}

/// The machine, the system and the plan of each report, and what to type for another like it.
fn environment(page: &Page) -> Vec<Block<'_>> {
    let facts_of = |source: &About| source.environment.iter().chain(&source.plan).cloned().collect::<Vec<_>>();
    let all: Vec<_> = page.sources.iter().map(facts_of).collect();
    let mut labels: Vec<&str> = Vec::new();
    for fact in all.iter().flatten().filter(|fact| !fact.words.is_empty()) {
        if !labels.contains(&fact.label) {
            labels.push(fact.label);
        }
    }
    let row = |label: &&str| {
        let of = |facts: &Vec<Fact>| {
            facts.iter().find(|fact| fact.label == *label).map_or("-".to_owned(), |fact| fact.words.clone())
        };
        [(*label).to_owned()].into_iter().chain(all.iter().map(of)).collect()
    };
    let rows: Vec<Vec<String>> = labels.iter().map(row).collect();
    let mut blocks = Vec::new();
    if !rows.is_empty() {
        blocks.push(Block::Folded("Machine, system and plan".to_owned(), vec![facts(page, rows)]));
    }
    for (at, source) in page.sources.iter().enumerate() {
        let disturbances = source.disturbances.iter();
        blocks.extend(disturbances.map(|what| Block::Item("disturbance".to_owned(), format!("{what}{}", page.of(at)))));
    }
    for (at, source) in page.sources.iter().enumerate() {
        blocks.extend(source.outcome.iter().map(|sentence| Block::Text(format!("{sentence}{}", page.of(at)))));
        blocks.extend([
            Block::Text(format!("Another report like it{}:", page.of(at))),
            Block::Code(source.command.clone()),
        ]);
    }
    blocks
}

/// How many steps a reader takes in at once.
const MOST_STEPS: usize = 4;

/// The answer of a report, for so many columns: at most so many rows of each table, entries of each list.
pub fn answer(answer: &Answer, most: usize, columns: usize) -> Vec<Block<'static>> {
    [Block::Title(answer.machine.clone())].into_iter().chain(body(answer, most, columns)).collect()
}

/// The same without its title.
fn body(answer: &Answer, most: usize, columns: usize) -> Vec<Block<'static>> {
    let quality = &answer.quality;
    let mut blocks = vec![
        Block::Text(when(answer)),
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

/// When it was measured, and why it ended early where it did.
fn when(answer: &Answer) -> String {
    let incomplete = answer.incomplete.as_ref().map(|why| format!(" · incomplete: {why}"));
    format!("{}{}", answer.when, incomplete.unwrap_or_default())
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

fn findings(page: &Page) -> Vec<Block<'_>> {
    let item = |(at, finding): &(usize, Finding)| {
        let evidence = if finding.evidence.is_empty() { String::new() } else { format!(" [{}]", finding.evidence) };
        Block::Item(finding.kind.name().to_owned(), format!("{}{evidence}{}", finding.text, page.of(*at)))
    };
    page.findings.iter().map(item).collect()
}

/// Each kind of reason with its first case.
fn doubts(page: &Page) -> Vec<Block<'_>> {
    let item = |(at, doubt): &(usize, Doubt)| {
        let label = [Some(doubt.weight()), doubt.code.as_deref()].into_iter().flatten().collect::<Vec<_>>().join(" ");
        Block::Item(label, format!("{}{}", doubt.words(), page.of(*at)))
    };
    page.doubts.iter().map(item).collect()
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
