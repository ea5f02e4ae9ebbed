//! Machines held against each other: one format a line in [`FORMATS`].

use std::io::{self, Write};

use super::look::TerminalStyle;
use super::outline::Block;
use super::{html, json, markdown, term};
use charz_analysis::machines::{Against, Machines};
use charz_analysis::page::Source;
use charz_words::machines::Written;
use serde::Serialize;

/// A format of machines.
pub type Format = super::formats::Format<fn(&Shown<'_>, &TerminalStyle, &mut dyn Write) -> io::Result<()>>;

/// The reports, and what came of holding their machines against each other.
pub struct Shown<'a> {
    /// In the order of the machines.
    pub sources: &'a [Source<'a>],
    /// The ratios.
    pub machines: &'a Machines,
}

/// All formats, by the names that those of two reports have; the first is the default.
pub const FORMATS: &[Format] = &[
    Format { name: "table", about: "", write: |shown, look, out| term::text(&table(shown.machines), look, out) },
    Format { name: "json", about: "", write: |shown, _, out| json::write_pretty_line(&json_of(shown.machines), out) },
    Format {
        name: "markdown",
        about: "",
        write: |shown, _, out| markdown::text(&table(shown.machines), markdown::COMMENT, out),
    },
    Format {
        name: "html",
        about: "",
        write: |shown, look, out| html::write(&shown.machines.page(shown.sources), look, out),
    },
];

/// The machines, and what each but the first differs in.
#[derive(Serialize)]
struct Json<'a> {
    #[serde(flatten)]
    machines: &'a Machines,
    against_first: Vec<JsonAgainst<'a>>,
}

#[derive(Serialize)]
struct JsonAgainst<'a> {
    machine: &'a str,
    as_a_whole: Option<Written>,
    with_one_thread: Option<Written>,
    for_its_price: Option<Written>,
}

fn json_of<'a>(machines: &'a Machines) -> Json<'a> {
    let against = |one: Against<'a>| {
        let machine = one.machine.name.as_str();
        let [as_a_whole, with_one_thread, for_its_price] = one.found.map(|found| found.as_ref().map(Written::from));
        JsonAgainst { machine, as_a_whole, with_one_thread, for_its_price }
    };
    Json { machines, against_first: machines.against().into_iter().map(against).collect() }
}

/// The answer, the table, then what the machines are.
fn table(machines: &Machines) -> Vec<Block<'static>> {
    let mut sentences = machines.sentences().into_iter();
    let mut blocks: Vec<Block<'static>> = sentences.next().map(Block::Title).into_iter().collect();
    blocks.extend(sentences.map(Block::Text));
    let found = machines.table();
    blocks.extend([Block::Gap, Block::table(&found), Block::Gap]);
    blocks.extend(machines.machines.iter().map(|machine| {
        let host = machine.host.as_deref().unwrap_or("an unnamed host");
        let processor = machine.processor.as_deref().unwrap_or("an unnamed processor").trim();
        let price = machine.price.map(|price| format!("; price {price} an hour")).unwrap_or_default();
        let cpus = charz_data::escape::counted(machine.cpus as usize, "CPU");
        Block::Item(machine.name.clone(), format!("{host}, {processor}, {cpus}{price}"))
    }));
    blocks.extend(machines.notes.iter().map(|note| Block::Text(format!("note: {note}"))));
    blocks
}
