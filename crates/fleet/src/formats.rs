//! A fleet as text: one format a line in [`FORMATS`].

use std::collections::BTreeMap;
use std::io::{self, Write};

use charz_data::escape::counted;
use charz_render::look::TerminalStyle;
use charz_render::outline::Block;
use charz_render::report::csv::{harmless, record};
use charz_render::{html, json, markdown, term};

use crate::{Fleet, Node, State, words};

/// A format of fleets.
pub type Format = charz_render::formats::Format<fn(&Fleet, &TerminalStyle, &mut dyn Write) -> io::Result<()>>;

/// All formats; the first is the default.
pub const FORMATS: &[Format] = &[
    Format {
        name: "table",
        about: "how many nodes are slow, then each of them with its part, the reason, and what to do",
        write: |fleet, look, out| term::text(&table(fleet), look, out),
    },
    Format {
        name: "json",
        about: "every node with its state, its blame and in what it differs",
        write: |fleet, _, out| json::write_pretty_line(fleet, out),
    },
    Format { name: "csv", about: "a row per node", write: |fleet, _, out| csv(fleet, out) },
    Format {
        name: "html",
        about: "one file for a browser: what is wrong, all nodes as one picture, a row per node",
        write: |fleet, look, out| html::write(&fleet.page(), look, out),
    },
    Format {
        name: "markdown",
        about: "the page for a wiki or a ticket",
        write: |fleet, look, out| markdown::write(&fleet.page(), look, out),
    },
];

/// The most nodes of a state that the table has one by one.
const MOST: usize = 24;

/// The answer, then what is not well; what is, is counted only.
fn table(fleet: &Fleet) -> Vec<Block<'static>> {
    let mut summary = fleet.summary().into_iter();
    let mut blocks: Vec<Block<'static>> = summary.next().map(Block::Title).into_iter().collect();
    blocks.extend(summary.map(Block::Text));
    let mut shorts: BTreeMap<&str, usize> = BTreeMap::new();
    fleet.nodes.iter().for_each(|node| *shorts.entry(words::short(&node.host)).or_default() += 1);
    for state in State::ALL {
        let nodes: Vec<&Node> = fleet.nodes.iter().filter(|node| node.state == state && node.is_told()).collect();
        blocks.extend((!nodes.is_empty()).then_some(Block::Gap));
        blocks.extend(nodes.iter().take(MOST).flat_map(|node| told(node, &shorts)));
        blocks.extend((nodes.len() > MOST).then(|| {
            Block::Text(format!("{} {} more: --format csv has all of them", nodes.len() - MOST, state.name()))
        }));
    }
    let unread = fleet.unreadable.iter().take(MOST);
    blocks.extend((!fleet.unreadable.is_empty()).then_some(Block::Gap));
    blocks.extend(unread.map(|file| Block::Item("not read".into(), format!("{}: {}", file.file, file.why))));
    blocks
}

/// The longest name that the first column holds.
const NAME: usize = 18;

fn told(node: &Node, shorts: &BTreeMap<&str, usize>) -> Vec<Block<'static>> {
    let slow = (node.state == State::Slow).then(|| node.blame.iter().map(words::told).collect::<Vec<_>>());
    let sentences = slow.unwrap_or_default().into_iter().chain(node.why.iter().cloned()).chain(words::differs(node));
    let visits = if node.visits > 1 { format!(" ({})", counted(node.visits, "visit")) } else { String::new() };
    let words = format!("{}{visits}: {}", node.state.name(), sentences.collect::<Vec<_>>().join("; "));
    let is_long = node.host.chars().count() > NAME;
    let name = if is_long && shorts[words::short(&node.host)] == 1 { words::short(&node.host) } else { &node.host };
    let words = if name.chars().count() > NAME { format!("{name}: {words}") } else { words };
    let mut blocks = vec![Block::Item(name.to_owned(), words)];
    blocks.extend(node.drain.clone().map(Block::Code));
    blocks
}

fn csv(fleet: &Fleet, out: &mut dyn Write) -> io::Result<()> {
    let names = "host,state,component,cpus,quantity,effect,low,high,why,differs,visits,delivered,group,blame,drain";
    record(out, names.split(','))?;
    for node in &fleet.nodes {
        let blame = node.blame.first();
        let of = |number: fn(&crate::Blame) -> f64| blame.map(|blame| number(blame).to_string()).unwrap_or_default();
        let cpus = blame.map(|blame| charz_data::cpulist::print(&blame.ids)).unwrap_or_default();
        let fields = [
            harmless(&node.host),
            node.state.name().to_owned(),
            harmless(blame.map_or("", |blame| &blame.component)),
            cpus,
            harmless(blame.map_or("", |blame| &blame.quantity)),
            of(|blame| blame.effect),
            of(|blame| blame.interval[0]),
            of(|blame| blame.interval[1]),
            harmless(&node.why.join("; ")),
            harmless(&words::differs(node).join("; ")),
            node.visits.to_string(),
            node.delivered.map(|share| share.to_string()).unwrap_or_default(),
            harmless(fleet.groups.get(node.group).map_or("", |group| &group.name)),
            harmless(&node.blame.iter().map(words::told).collect::<Vec<_>>().join("; ")),
            harmless(node.drain.as_deref().unwrap_or_default()),
        ];
        record(out, fields)?;
    }
    Ok(())
}
