//! The page of a fleet: what is wrong first, then all nodes as one picture.

use std::collections::BTreeSet;

use charz_analysis::figure::{
    Axis, Body, DataPoint, Datum, Figure, Heatmap, Plot, Quantity, Role, Row, Scale, Series, State as Look, Table, Tile,
};
use charz_analysis::page::{Page, Section};
use charz_data::escape::counted;

use crate::claim::{Blame, Cause, Claim, Doubt, Fleet, Node, Quantity as Measured, State};
use crate::words;

/// About so many dots of nodes that are well are drawn at most.
const MOST_DOTS: usize = 10_000;
/// The most nodes of a picture; all are in the table.
const MOST_DRAWN: usize = 2000;

impl Fleet {
    /// How many nodes are what, and what to know before trusting it: the answer first.
    pub(crate) fn summary(&self) -> Vec<String> {
        let groups = self.groups.iter().filter(|_| self.groups.len() > 1);
        let groups = groups.map(|group| {
            format!("{}: {}", words::group(&group.kind, group.structure), counted(group.nodes.len(), "node"))
        });
        [words::headline(self)].into_iter().chain(groups).collect()
    }

    /// A line for several nodes: their number, state, cause and names.
    pub(crate) fn shared(&self) -> Vec<(State, [String; 2], &[String])> {
        let state = |host: &String| self.nodes.iter().find(|node| node.host == *host).map_or(State::Ok, Node::state);
        let classes = self.groups.iter().flat_map(|group| &group.classes);
        classes.map(|(class, nodes)| (state(&nodes[0]), words::class(class.counts, class), &nodes[..])).collect()
    }

    /// The claims of a node, but for what is said once of all or several.
    fn own<'n>(&self, node: &'n Node) -> impl Iterator<Item = &'n Claim> {
        let by_parts = words::is_by_parts(self);
        node.claims.iter().filter(move |claim| match claim {
            Claim::Uncompared { .. } | Claim::Doubt(_, Doubt::Class(_)) => false,
            Claim::Slow(Blame { cause, .. }) => !matches!(cause, Some(Cause::Class(_))),
            Claim::Alone { build: None, .. } => !by_parts,
            _ => true,
        })
    }

    /// What is said of a node, but for what is said once of all or several.
    pub(crate) fn told(&self, node: &Node) -> Vec<String> {
        self.own(node).filter_map(words::why).chain(words::differs(node)).collect()
    }

    /// What is slow, each of them.
    pub(crate) fn slow(node: &Node) -> Vec<String> {
        let blame = node.blame().into_iter().filter(|_| node.state() == State::Slow);
        blame.map(words::told).collect()
    }

    /// The nodes of which there is something to say, a row each, after what is said of several: what it is, why, and what to do.
    pub(crate) fn findings(&self) -> Table {
        let shared = self.shared().into_iter().map(|(state, [head, what], nodes)| {
            row(state, [head, format!("{what}: {}", nodes.join(", ")), String::new(), String::new()])
        });
        let own = self.nodes.iter().filter_map(|node| {
            let (mut what, mut why, mut to_do) = (Fleet::slow(node), Vec::new(), Vec::new());
            let is_slow = !what.is_empty();
            for claim in self.own(node) {
                let Some((fact, way)) = words::fact(claim) else { continue };
                let is_reason = is_slow || matches!(claim, Claim::Disturbed(_));
                let said = if is_reason { &mut why } else { &mut what };
                said.push(fact);
                to_do.extend(way.filter(|way| !to_do.contains(way)));
            }
            why.extend(words::differs(node));
            to_do.extend(words::drain(node));
            if what.is_empty() {
                std::mem::swap(&mut what, &mut why);
            }
            let words = [node.host.clone(), what.join("; "), why.join("; "), to_do.join("; ")];
            (!what.is_empty()).then(|| row(node.state(), words))
        });
        let rows = shared.chain(own).collect::<Vec<_>>();
        Table::new(&["node", "state", "what", "why", "to do"], rows).without_empty_columns()
    }

    /// How many nodes of which names, and the day of the newest report.
    fn title(&self) -> String {
        let mut hosts: Vec<&str> = self.nodes.iter().map(|node| node.host.as_str()).collect();
        hosts.sort_unstable();
        let names = match &hosts[..] {
            [first, .., last] => format!(", {first} to {last}"),
            [only] => format!(", {only}"),
            [] => String::new(),
        };
        let day = self.newest.as_deref().and_then(|newest| newest.get(..10)).unwrap_or_default();
        let day = if day.is_empty() { String::new() } else { format!(", newest report of {day}") };
        format!("Fleet of {}{names}{day}", counted(self.nodes.len(), "node"))
    }

    /// All of it, for a browser or any other format of pages.
    pub fn page(&self) -> Page {
        let findings = self.findings();
        let unread = self.unreadable.iter().map(|file| vec![Datum::word(&file.file), Datum::word(&file.why)]);
        let unread = Table::new(&["file", "why it was not read"], unread);
        let section = |id, title, about: &str, table: Table, figures| Section {
            id,
            title,
            about: vec![about.to_owned()],
            table: (!table.rows.is_empty()).then_some(table),
            figures,
        };
        let sections = [
            section(
                "nodes",
                "What is wrong",
                "Slow nodes first; a line for Slurm is printed, never run",
                findings,
                vec![],
            ),
            section(
                "speed",
                "All nodes",
                "Each node against the median of its group, by kernel: below 0% it is slower",
                Table::default(),
                self.picture().into_iter().chain(self.distributions()).collect(),
            ),
            section(
                "every",
                "Every node",
                "A row per node and its group; behind it, what is known of the node",
                self.every(),
                vec![],
            ),
            section("unread", "Not read", "Files that are no report", unread, vec![]),
        ];
        let is_empty = |section: &Section| section.table.is_none() && section.figures.is_empty();
        Page {
            title: self.title(),
            summary: self.summary(),
            sections: sections.into_iter().filter(|section| !is_empty(section)).collect(),
            ..Page::default()
        }
    }

    /// Every node with its group, its visits and what it delivered.
    pub(crate) fn every(&self) -> Table {
        let rows = self.nodes.iter().enumerate().map(|(at, node)| {
            let group = &self.groups[node.group];
            let group = words::group(&group.kind, group.structure);
            let delivered = Datum::known(node.delivered, |share| format!("{:.0}%", share * 100.0));
            let data = [
                Datum::word(&node.host),
                Datum::word(node.state().name()),
                Datum::count(node.visits as u64),
                delivered,
            ];
            let data = data.into_iter().chain([Datum::word(&group)]).collect();
            Row { data, state: look(node.state()), passport: if at < MOST_DRAWN { own(node) } else { Vec::new() } }
        });
        Table::new(&["node", "state", "visits", "delivered", "group"], rows)
    }

    fn kernels(&self) -> Vec<&Measured> {
        let all: BTreeSet<&Measured> = self.nodes.iter().flat_map(|node| node.effects.keys()).collect();
        all.into_iter().collect()
    }

    /// How the nodes lie around the median, a row of dots for each kernel.
    fn distributions(&self) -> Option<Figure> {
        let kernels = self.kernels();
        let point = |node: &Node, kernel: &Measured| {
            let (effect, row) = (*node.effects.get(kernel)?, kernels.iter().position(|known| *known == kernel)?);
            let note = format!("{} {}: {:+.1}%", node.host, words::quantity(kernel), effect * 100.0);
            Some(DataPoint::new(row as f64, Some(effect), Look::Ok, note))
        };
        let (mut well, mut others): (Vec<&Node>, Vec<&Node>) =
            self.nodes.iter().partition(|node| node.state() == State::Ok);
        // Of those that are well every so many-th, so the spread is theirs.
        let every = (well.len() * kernels.len()).div_ceil(MOST_DOTS).max(1);
        well = well.into_iter().step_by(every).collect();
        others.truncate(MOST_DRAWN);
        let points = |nodes: &[&Node]| {
            let of = |kernel: &Measured| nodes.iter().filter_map(|node| point(node, kernel)).collect::<Vec<_>>();
            kernels.iter().flat_map(|kernel| of(kernel)).collect::<Vec<_>>()
        };
        let series = |name: &str, points| Series { name: name.into(), role: Role::Measured, source: 0, points };
        let mut series = vec![series("ok", points(&well)), series("slow or unclear", points(&others))];
        series.retain(|series| !series.points.is_empty());
        let is_empty = series.is_empty();
        let median = DataPoint::new(0.0, Some(0.0), Look::Ok, String::new());
        series.push(Series { name: "the median".into(), role: Role::Bound, source: 0, points: vec![median] });
        let names = kernels.iter().map(|name| words::quantity(name)).collect();
        let x = Axis::new("kernel", Quantity::Names(names), Scale::Linear);
        let y = Axis::new("against the median", Quantity::Share, Scale::Linear);
        (self.nodes.len() > 2 && !is_empty).then(|| Figure {
            id: "distributions".into(),
            title: "How the nodes are spread".into(),
            about: vec![match every {
                1 => "Each dot is a node; 0% is the median of its group".into(),
                _ => {
                    format!("Each dot is a node, of those that are well one in {every}; 0% is the median of its group")
                }
            }],
            body: Body::Dots(Plot::new(x, y, series)),
            table: None,
        })
    }

    fn picture(&self) -> Option<Figure> {
        let kernels = self.kernels();
        let nodes: Vec<&Node> = self.nodes.iter().take(MOST_DRAWN).collect();
        let tile = |node: &Node, kernel: &Measured| match node.effects.get(kernel) {
            Some(effect) => Tile { value: Some(*effect), state: look(node.state()), reason: None },
            None => Tile::NOTHING,
        };
        let tiles = nodes.iter().flat_map(|node| kernels.iter().map(|kernel| tile(node, kernel))).collect();
        let heat = Heatmap {
            row_label: "node".into(),
            column_label: "kernel".into(),
            rows: nodes.iter().map(|node| node.host.clone()).collect(),
            columns: kernels.iter().map(|kernel| words::quantity(kernel)).collect(),
            borders: Vec::new(),
            tiles,
            quantity: Quantity::Share,
            reasons: Vec::new(),
            folded: 1,
        };
        (!nodes.is_empty() && !kernels.is_empty()).then(|| Figure {
            id: "nodes".into(),
            title: "Nodes and kernels".into(),
            about: vec!["Each tile is a node's speed against the median of its group".into()],
            body: Body::Heatmap(heat),
            table: None,
        })
    }
}

/// All that is known of a node: what is slow, why, in what it differs, and each kernel against its group.
fn own(node: &Node) -> Vec<(String, String)> {
    let label = if node.state() == State::Slow { "slow" } else { "may be slow" };
    let of = |label: &str, words: Vec<String>| words.into_iter().map(|words| (label.to_owned(), words)).collect();
    let effect = |(kernel, effect): (&Measured, &f64)| {
        (words::quantity(kernel), format!("{:+.1}% against the median", effect * 100.0))
    };
    let all: [Vec<(String, String)>; 5] = [
        of(label, node.blame().into_iter().map(words::told).collect()),
        of("note", node.claims.iter().filter_map(words::why).collect()),
        of("differs", words::differs(node)),
        node.effects.iter().map(effect).collect(),
        of("to do", words::drain(node).into_iter().collect()),
    ];
    all.concat()
}

fn look(state: State) -> Look {
    match state {
        State::Ok => Look::Ok,
        State::Slow | State::Unclear => Look::Suspect,
        State::Unmeasured => Look::Missing,
    }
}

fn row(state: State, [node, what, why, to_do]: [String; 4]) -> Row {
    let or_dash = |text: String| Datum::word(if text.is_empty() { "-".to_owned() } else { text });
    let words = [what, why, to_do].map(or_dash);
    Row::new([Datum::word(&node), Datum::word(state.name())].into_iter().chain(words).collect(), look(state))
}
