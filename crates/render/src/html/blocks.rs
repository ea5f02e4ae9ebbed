//! The parts of a text as markup.

use maud::{Markup, html};

use super::figures;
use super::foreign::{Account, Foreign};
use super::table::{data, grid};
use crate::outline::Block;
use charz_analysis::figure::{self, Body, Datum, Figure, Table};

/// The most entries of a list that are not folded.
const MOST_ITEMS: usize = 12;

/// The name of a section within the page.
pub(super) fn id(title: &str) -> String {
    format!("s-{}", figure::id(title))
}

/// Blocks in their order; those beside each other that belong together are one list, one row of panels.
pub(super) fn all(blocks: &[Block<'_>]) -> Markup {
    html! { @for run in blocks.chunk_by(|one, other| kind(one).is_some() && kind(one) == kind(other)) { (part(run)) } }
}

/// What blocks share that are drawn together.
fn kind(block: &Block<'_>) -> Option<&'static str> {
    match block {
        Block::Item(..) => Some("items"),
        Block::Step(..) => Some("steps"),
        Block::Figure(Figure { body: Body::Lines(_), .. }) => Some("panels"),
        _ => None,
    }
}

fn part(run: &[Block<'_>]) -> Markup {
    html! {
        @match &run[0] {
            // The header has it.
            Block::Title(_) | Block::Gap => {}
            Block::Section(title, blocks) => {
                @let heading = format!("{}-heading", id(title));
                section id=(id(title)) aria-labelledby=(heading) {
                    h2 id=(heading) { (Foreign(title)) }
                    (all(blocks))
                }
            }
            Block::Caption(caption) => h3 { (Foreign(caption)) },
            Block::Lead(answer) => p.answer { strong { (Foreign(answer)) } },
            Block::Text(words) => p { (Foreign(words)) },
            Block::Legend(words) => p.about { (Foreign(words)) },
            Block::Line(label, entries) => {
                p { strong { (Foreign(label)) } @for (at, entry) in entries.iter().enumerate() { (if at > 0 { " · " } else { " " }) (Foreign(entry)) } }
            }
            Block::Item(..) => (list(run)),
            Block::Step(..) => ul.steps { @for step in run { (self::step(step)) } },
            Block::Code(words) => pre tabindex="0" { code { (Account(words)) } },
            Block::Folded(summary, blocks) | Block::Long(summary, blocks) => details { summary { (Foreign(summary)) } (all(blocks)) },
            Block::Table { heading, words, rows, .. } => {
                @let rows = rows.iter().map(|row| row.iter().map(Datum::word).collect::<Vec<_>>());
                @let heading: Vec<&str> = heading.iter().map(String::as_str).collect();
                (grid(&Table::new(&heading, rows), &|at| !words.contains(&at), &heading.join(", ")))
            }
            Block::Data(table) => (data(table, &table.heading.join(", "))),
            Block::Figure(_) => {
                @let shown: Vec<&Figure> = run.iter().filter_map(|block| if let Block::Figure(figure) = block { Some(*figure) } else { None }).collect();
                (figures::all(&shown))
            }
        }
    }
}

/// A list of which the end is folded.
fn list(items: &[Block<'_>]) -> Markup {
    let (shown, rest) = items.split_at(items.len().min(MOST_ITEMS));
    let item = |item: &Block<'_>| match item {
        Block::Item(label, words) => {
            html! { li { @if !label.is_empty() { strong { (Foreign(label)) } " " } (Foreign(words)) } }
        }
        _ => Markup::default(),
    };
    html! {
        ul.items { @for one in shown { (item(one)) } }
        @if !rest.is_empty() { details { summary { (rest.len()) " more" } ul.items { @for one in rest { (item(one)) } } } }
    }
}

/// What to do, with the line that does it.
fn step(step: &Block<'_>) -> Markup {
    let Block::Step(what, launch) = step else { return Markup::default() };
    html! {
        li {
            (Foreign(what))
            @if let Some(line) = launch {
                div.launch {
                    pre tabindex="0" { code { (Account(line)) } }
                    button.copy type="button" data-scripted hidden { "Copy" }
                }
            }
        }
    }
}
