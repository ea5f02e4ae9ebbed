//! A fleet as text: one format a line in [`FORMATS`].

pub mod check;

use std::collections::BTreeMap;
use std::io::{self, Write};

use charz_data::escape::counted;
use serde::Serialize;

use charz_render::look::TerminalStyle;
use charz_render::outline::Block;
use charz_render::report::csv::{harmless, record};
use charz_render::{html, json, markdown, term};

use crate::claim::{Blame, Class, Differs, Fleet, Node, State, Unreadable};
use crate::judge::short;
use crate::setting::Setting;
use crate::words;

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
        write: |fleet, _, out| json::write_pretty_line(&json(fleet), out),
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
/// The most nodes of a class that it names.
const MOST_NAMED: usize = 8;

/// The answer, then what is not well; what is, is counted only.
fn table(fleet: &Fleet) -> Vec<Block<'static>> {
    let mut summary = fleet.summary().into_iter();
    let mut blocks: Vec<Block<'static>> = summary.next().map(Block::Title).into_iter().collect();
    blocks.extend(summary.map(Block::Text));
    let mut shorts: BTreeMap<&str, usize> = BTreeMap::new();
    fleet.nodes.iter().for_each(|node| *shorts.entry(short(&node.host)).or_default() += 1);
    for state in State::ALL {
        let shared = fleet.shared().into_iter().filter(|(own, ..)| *own == state).map(|(_, [head, what], nodes)| {
            let (named, others) = nodes.split_at(nodes.len().min(MOST_NAMED));
            let more = if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
            vec![Block::Item(head, format!("{}: {what}: {}{more}", state.name(), named.join(", ")))]
        });
        let nodes = fleet.nodes.iter().filter(|node| node.state() == state);
        let items: Vec<_> = shared.chain(nodes.filter_map(|node| item(fleet, node, &shorts))).collect();
        blocks.extend((!items.is_empty()).then_some(Block::Gap));
        let more = items.len().saturating_sub(MOST);
        blocks.extend(items.into_iter().take(MOST).flatten());
        let rest = format!("{more} {} more: --format csv has all of them", state.name());
        blocks.extend((more > 0).then_some(Block::Text(rest)));
    }
    let unread = fleet.unreadable.iter().take(MOST);
    blocks.extend((!fleet.unreadable.is_empty()).then_some(Block::Gap));
    blocks.extend(unread.map(|file| Block::Item("not read".into(), format!("{}: {}", file.file, file.why))));
    blocks
}

/// The longest name that the first column holds.
const NAME: usize = 18;

/// `None` of a node of which there is no more to say.
fn item(fleet: &Fleet, node: &Node, shorts: &BTreeMap<&str, usize>) -> Option<Vec<Block<'static>>> {
    let told = [Fleet::slow(node), fleet.told(node)].concat();
    let visits = if node.visits > 1 { format!(" ({})", counted(node.visits, "visit")) } else { String::new() };
    let words = format!("{}{visits}: {}", node.state().name(), told.join("; "));
    let is_long = node.host.chars().count() > NAME;
    let name = if is_long && shorts[short(&node.host)] == 1 { short(&node.host) } else { &node.host };
    let words = if name.chars().count() > NAME { format!("{name}: {words}") } else { words };
    let blocks = [Block::Item(name.to_owned(), words)].into_iter().chain(words::drain(node).map(Block::Code));
    (!told.is_empty()).then(|| blocks.collect())
}

/// A fleet as JSON has it.
#[derive(Serialize)]
struct FleetWords<'a> {
    nodes: Vec<NodeWords<'a>>,
    groups: Vec<GroupWords<'a>>,
    unreadable: &'a [Unreadable],
}

#[derive(Serialize)]
struct NodeWords<'a> {
    host: &'a str,
    state: &'static str,
    why: Vec<String>,
    blame: Vec<BlameWords<'a>>,
    differs: BTreeMap<String, BTreeMap<&'static str, String>>,
    group: usize,
    visits: usize,
    effects: BTreeMap<String, f64>,
    reliable: &'a BTreeMap<String, bool>,
    delivered: Option<f64>,
    drain: Option<String>,
}

#[derive(Serialize)]
struct BlameWords<'a> {
    component: String,
    ids: &'a [u32],
    quantity: String,
    effect: f64,
    interval: [f64; 2],
    #[serde(skip_serializing_if = "Option::is_none")]
    clock_hz: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usual_clock_hz: Option<f64>,
}

#[derive(Serialize)]
struct GroupWords<'a> {
    name: String,
    nodes: &'a [String],
    visits: usize,
    /// What is said of several nodes at once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    shared: Vec<SharedWords<'a>>,
}

#[derive(Serialize)]
struct SharedWords<'a> {
    why: String,
    effect: f64,
    nodes: &'a [String],
}

impl<'a> BlameWords<'a> {
    fn of(blame: &'a Blame) -> Self {
        BlameWords {
            component: words::component(blame.part),
            ids: &blame.cpus,
            quantity: words::by(&blame.by),
            effect: blame.effect,
            interval: blame.interval,
            clock_hz: blame.clock.map(|clock| clock.hz),
            usual_clock_hz: blame.clock.map(|clock| clock.usual_hz),
        }
    }
}

impl<'a> SharedWords<'a> {
    fn of((class, nodes): &'a (Class, Vec<String>)) -> Self {
        SharedWords { why: words::class(class.counts, class).join(" "), effect: class.effect, nodes }
    }
}

fn json(fleet: &Fleet) -> FleetWords<'_> {
    let differs = |(name, own): (&Setting, &Differs)| {
        (words::setting(name), [("here", words::value(&own.here)), ("others", words::value(&own.others))].into())
    };
    let nodes = fleet.nodes.iter().map(|node| NodeWords {
        host: &node.host,
        state: node.state().name(),
        why: node.claims.iter().filter_map(words::why).collect(),
        blame: node.blame().into_iter().map(BlameWords::of).collect(),
        differs: node.differs.iter().map(differs).collect(),
        group: node.group,
        visits: node.visits,
        effects: node.effects.iter().map(|(kernel, effect)| (words::quantity(kernel), *effect)).collect(),
        reliable: &node.reliable,
        delivered: node.delivered,
        drain: words::drain(node),
    });
    let groups = fleet.groups.iter().map(|group| GroupWords {
        name: words::group(&group.kind, group.structure),
        nodes: &group.nodes,
        visits: group.visits,
        shared: group.classes.iter().map(SharedWords::of).collect(),
    });
    FleetWords { nodes: nodes.collect(), groups: groups.collect(), unreadable: &fleet.unreadable }
}

fn csv(fleet: &Fleet, out: &mut dyn Write) -> io::Result<()> {
    let names = "host,state,component,cpus,quantity,effect,low,high,why,differs,visits,delivered,group,blame,drain";
    record(out, names.split(','))?;
    for (node, own) in fleet.nodes.iter().zip(json(fleet).nodes) {
        let blame = own.blame.first();
        let of = |number: fn(&BlameWords<'_>) -> f64| blame.map(|own| number(own).to_string()).unwrap_or_default();
        let group = &fleet.groups[node.group];
        let told: Vec<String> = node.blame().into_iter().map(words::told).collect();
        let fields = [
            harmless(own.host),
            own.state.to_owned(),
            harmless(blame.map_or("", |blame| &blame.component)),
            blame.map(|blame| charz_data::cpulist::print(blame.ids)).unwrap_or_default(),
            harmless(blame.map_or("", |blame| &blame.quantity)),
            of(|blame| blame.effect),
            of(|blame| blame.interval[0]),
            of(|blame| blame.interval[1]),
            harmless(&own.why.join("; ")),
            harmless(&words::differs(node).join("; ")),
            own.visits.to_string(),
            own.delivered.map(|share| share.to_string()).unwrap_or_default(),
            harmless(&words::group(&group.kind, group.structure)),
            harmless(&told.join("; ")),
            harmless(own.drain.as_deref().unwrap_or_default()),
        ];
        record(out, fields)?;
    }
    Ok(())
}
