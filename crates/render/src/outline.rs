//! What is said of a report, a page or a replication, in parts that a terminal, Markdown and HTML draw: one walk for all.

use std::cmp::Ordering;

use charz_analysis::answer::{self, Answer, NONE, Quality, Reading};
use charz_analysis::figure::{Datum, Figure, Row, Table};
use charz_analysis::page::{About, Doubt, Fact, Page, Section, VERSUS};
use charz_data::card::Family;
use charz_data::report::{Finding, Unit};

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
        /// The columns that a narrow terminal leaves out, the first of them first.
        spare: Vec<usize>,
        rows: Vec<Vec<String>>,
    },
    /// A table with evidence behind its rows, which HTML shows.
    Data(&'a Table),
    Figure(&'a Figure),
    /// What is shown where a reader can ask for it, which a terminal does not let him.
    Folded(String, Vec<Block<'a>>),
    /// What is long, and folded where a reader can ask for it.
    Long(String, Vec<Block<'a>>),
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
            spare: table.spare.clone(),
            rows: texts.collect(),
        }
    }
}

/// The most reports whose answers a page has in full beside each other.
const MOST_ANSWERS: usize = 8;

/// A page: the answer, what limits it, the figures, and where it all comes from.
pub fn page(page: &Page) -> Vec<Block<'_>> {
    let mut blocks = vec![Block::Title(page.title.clone())];
    blocks.extend(section("Summary", summary(page)));
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
fn summary(page: &Page) -> Vec<Block<'_>> {
    let sentences = page.summary.iter().map(|sentence| stopped(sentence)).enumerate();
    let mut blocks: Vec<Block<'_>> =
        sentences.map(|(at, sentence)| if at == 0 { Block::Lead(sentence) } else { Block::Text(sentence) }).collect();
    let versus = page.sections.iter().filter(|section| section.id == VERSUS);
    blocks.extend(versus.flat_map(|section| &section.figures).map(Block::Figure));
    if let [answer] = &page.answers[..] {
        blocks.push(Block::Text(answer.machine.clone()));
        blocks.extend(body(answer, Extent::Page, usize::MAX));
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
            Block::Folded(format!("{}: each kernel", source.name), body(answer, Extent::Whole, usize::MAX))
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
    // Of many reports the last ones.
    let spare = (1..heading.len()).rev().collect();
    Block::Table { words: (0..heading.len()).collect(), heading, spare, rows }
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

/// How much of an [`Answer`] is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// On a terminal: long tables by family, and as many steps as a reader takes in at once.
    Folded,
    /// Every row, where the output is scrolled through, or is a file.
    Rows,
    /// With the names of other programs.
    Whole,
    /// The same, but for what the page has as bars.
    Page,
}

/// The most rows of a table that a terminal shows one by one, and of a family in a longer one.
const MOST_ROWS: usize = 24;
const MOST_OF_FAMILY: usize = 3;
/// How many steps a reader takes in at once.
const MOST_STEPS: usize = 4;
/// How wide the label of an item is, with the blanks behind it.
const LABEL: usize = 11;

/// The answer of a report, in lines of so many columns.
pub fn answer(answer: &Answer, extent: Extent, columns: usize) -> Vec<Block<'static>> {
    [Block::Title(answer.machine.clone())].into_iter().chain(body(answer, extent, columns)).collect()
}

/// The same without its title.
fn body(answer: &Answer, extent: Extent, columns: usize) -> Vec<Block<'static>> {
    let (quality, is_folded) = (&answer.quality, extent == Extent::Folded);
    let is_whole = matches!(extent, Extent::Whole | Extent::Page);
    let mut blocks = vec![Block::Text(when(answer)), Block::Gap, self::quality(quality, is_whole, columns)];
    let item = |label: &'static str| move |what: &String| Block::Item(label.to_owned(), what.clone());
    blocks.extend(quality.fix.iter().map(item("Fix")));
    blocks.extend(answer.failed.iter().map(item("Failed")));
    blocks.extend(answer.counters.iter().map(item("Counters")));
    blocks.extend(answer.energy.iter().map(item("Energy")));
    let (rows, notes) = answer::table(&answer.rows, answer.cpus);
    let family = |row: &answer::Row| (row.family.map_or("other", Family::name).to_owned(), Some(row.best.unit));
    blocks.extend(listed_rows(&rows, answer.rows.iter().map(family).collect(), is_folded));
    blocks.extend(notes.into_iter().map(Block::Text));
    // What names begin with is what `charz kernels` lists them by.
    let begin = |row: &Row| (row.data[0].text.split(['-', ' ']).next().unwrap_or_default().to_owned(), None);
    let listed = |table: &Table| listed_rows(table, table.rows.iter().map(begin).collect(), is_folded);
    for table in [&answer.delivered, &answer.lines, &answer.nodes, &answer.levels, &answer.contended] {
        blocks.extend(listed(table));
    }
    let without = answer.without.rows.len();
    match extent == Extent::Page && without > MOST_ROWS / 2 {
        true => blocks.push(Block::Long(format!("{without} kernels without a number"), listed(&answer.without))),
        false => blocks.extend(listed(&answer.without)),
    }
    blocks.extend(answer.found.iter().cloned().map(Block::item));
    blocks.extend((!answer.costs.is_empty()).then_some(Block::Gap));
    let is_long = extent == Extent::Page
        || is_folded && answer.costs.iter().map(|costs| costs.kernels.len()).sum::<usize>() > MOST_ROWS;
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

/// When it was measured, and why it ended early where it did.
fn when(answer: &Answer) -> String {
    let incomplete = answer.incomplete.as_ref().map(|why| format!(" · incomplete: {why}"));
    format!("{}{}", answer.when, incomplete.unwrap_or_default())
}

/// How good the numbers are: on a line of so many columns, or with all that is known of it.
pub fn quality(quality: &Quality, is_whole: bool, columns: usize) -> Block<'static> {
    let level = format!("{}: ", quality.level.name());
    let text = if is_whole { quality.text() } else { quality.line(columns.saturating_sub(LABEL + level.len())) };
    Block::Item("Quality".to_owned(), level + &text)
}

/// A table after a gap; nothing without rows. A long one has a row for each family where that is asked for.
fn listed_rows(table: &Table, kin: Vec<Kin>, is_folded: bool) -> Vec<Block<'static>> {
    if table.rows.is_empty() {
        return Vec::new();
    }
    let is_folded = is_folded && table.rows.len() > MOST_ROWS;
    let block = if is_folded { Block::table(&folded(table, &kin)) } else { Block::table(table) };
    let note = "A family has one row, from min to max; --format table has all rows.";
    let note = is_folded.then(|| Block::Text(note.to_owned()));
    [Block::Gap, block].into_iter().chain(note).collect()
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
