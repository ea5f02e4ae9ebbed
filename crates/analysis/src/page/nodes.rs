//! What memory takes from each NUMA node to each, as squares.

use std::collections::{BTreeSet, HashMap};

use super::cells::{CellsByKernel, Shape, SourcedCell};
use super::table;
use crate::figure::{Body, Figure, Heatmap, Quantity, State, Tile, id};
use charz_claims::numa::{self, NodePair, Number};
use charz_data::escape::counted;
use charz_data::report::{Report, Unit};
use charz_data::units;
use charz_words::estimate::time;
use charz_words::interleave;

struct Square {
    name: &'static str,
    title: &'static str,
    of: fn(&NodePair) -> Option<Number>,
    quantity: Quantity,
}

const SQUARES: [Square; 2] = [
    Square {
        name: "latency",
        title: "latency of a load of one thread",
        of: |pair| pair.latency_ns,
        quantity: Quantity::Nanos,
    },
    Square {
        name: "bandwidth",
        title: "bandwidth",
        of: |pair| pair.bytes_per_second,
        quantity: Quantity::Value(Unit::BytesPerSecond),
    },
];

/// The max number of nodes in a square: more than any machine has.
const MOST_NODES: usize = 256;

/// Both squares of each report that has numbers of more than one pair of nodes, or was to have them.
pub(super) fn figures(sorted: &CellsByKernel<'_>) -> Vec<Figure> {
    let mut figures = Vec::new();
    for (source, report) in sorted.sources.iter().map(|source| source.report).enumerate() {
        let pairs = numa::node_pairs(report);
        for square in &SQUARES {
            let cells: Vec<SourcedCell<'_>> = sorted
                .shaped(Shape::Nodes)
                .filter(|kernel| numa::is_latency(kernel.role()) == (square.name == "latency"))
                .flat_map(|kernel| kernel.cells.iter().copied().filter(|own| own.source == source))
                .collect();
            let several = pairs.iter().filter(|pair| (square.of)(pair).is_some()).count() > 1;
            if several || !cells.is_empty() {
                figures.push(figure(sorted, source, square, &pairs, &cells));
            }
        }
    }
    figures
}

fn figure(
    sorted: &CellsByKernel<'_>,
    source: usize,
    square: &Square,
    pairs: &[NodePair],
    cells: &[SourcedCell<'_>],
) -> Figure {
    let found: HashMap<(u32, u32), Number> =
        pairs.iter().filter_map(|pair| Some(((pair.from, pair.to), (square.of)(pair)?))).collect();
    let (rows, columns) = (ids(pairs, |pair| pair.from), ids(pairs, |pair| pair.to));
    let tile = |number: &Number| Tile {
        value: Some(number.value),
        state: if number.suspect { State::Suspect } else { State::Ok },
        reason: number.suspect.then_some(0),
    };
    let places = rows.iter().flat_map(|from| columns.iter().map(|to| (*from, *to)));
    let tiles = places.map(|place| found.get(&place).map_or(Tile::NOTHING, tile)).collect();
    let suspect = found.values().any(|number| number.suspect);
    let counts: BTreeSet<u64> = pairs.iter().filter_map(|pair| pair.workers).collect();
    let with = match (counts.first(), counts.last()) {
        (Some(low), Some(high)) if square.name == "bandwidth" => {
            let low = if low < high { format!("{low} to ") } else { String::new() };
            format!(" with {low}{} of a node", counted(*high as usize, "thread"))
        }
        _ => String::new(),
    };
    let names = |ids: &[u32]| ids.iter().map(u32::to_string).collect();
    let body = Heatmap {
        row_label: "from node".into(),
        column_label: "memory of node".into(),
        rows: names(&rows),
        columns: names(&columns),
        borders: Vec::new(),
        tiles,
        quantity: square.quantity.clone(),
        reasons: suspect.then(|| "noisy".into()).into_iter().collect(),
        folded: 1,
    };
    Figure {
        id: id(&sorted.named(&format!("numa-{}", square.name), source)),
        title: sorted.named(&format!("NUMA nodes: {}{with}", square.title), source),
        about: about(square, pairs).into_iter().chain(together(square, pairs, sorted.sources[source].report)).collect(),
        body: Body::Heatmap(body),
        table: (!cells.is_empty()).then(|| table::table(sorted.sources, cells)),
    }
}

/// How to read a square, and what lies between near and far.
fn about(square: &Square, pairs: &[NodePair]) -> Vec<String> {
    let mut about = vec!["a row is the node of the threads, a column the node of the memory".to_owned()];
    let times = |of: fn(&NodePair) -> Option<Number>| {
        let times = numa::remote(pairs, of)?;
        Some(format!("{:.2}{} times", times.value, units::doubt(times.suspect)))
    };
    if pairs.len() > 1 && pairs.iter().all(NodePair::is_local) {
        about.push("each node was measured with its own memory only; charz numa measures all".to_owned());
    }
    match (times(square.of), &square.quantity) {
        (Some(longer), Quantity::Nanos) => {
            let found = [false, true].map(|local| numa::median(pairs, local, square.of));
            let against: Vec<String> = found.iter().flatten().map(|found| time(found.value, found.suspect)).collect();
            about.push(format!("remote memory takes {longer} as long as local: {}", against.join(" against ")));
            about.extend(times(NodePair::claim).map(|times| format!("the firmware claims {times} the distance")));
        }
        (Some(times), _) => about.push(format!("remote memory gives {times} the bandwidth of local")),
        (None, _) => {}
    }
    about
}

/// Of bandwidth: what all nodes give together, and in which ratio to spread pages over them.
fn together(square: &Square, pairs: &[NodePair], report: &Report) -> Vec<String> {
    if square.quantity == Quantity::Nanos {
        return Vec::new();
    }
    let all = numa::together(report).map(|all| {
        let value = units::value(all.value, Unit::BytesPerSecond);
        format!("memory spread evenly over all nodes gives the threads of one {value}{}", units::doubt(all.suspect))
    });
    let weights = interleave::weights(&report.machine, &numa::bandwidths(pairs));
    all.into_iter().chain(weights.map(|[sentence, line]| format!("{sentence}: {line}"))).collect()
}

fn ids(pairs: &[NodePair], of: fn(&NodePair) -> u32) -> Vec<u32> {
    pairs.iter().map(of).collect::<BTreeSet<u32>>().into_iter().take(MOST_NODES).collect()
}

#[cfg(test)]
mod tests {
    use crate::page::{Section, Source, page};
    use charz_data::report::Report;
    use charz_estimate::fixtures::{assert_words, report, two};

    fn section(report: &Report) -> Option<Section> {
        page(&[Source { name: "one", report }]).sections.into_iter().find(|section| section.id == "numa")
    }

    #[test]
    fn squares_say_how_far_remote_memory_is() {
        let found = section(&two()).unwrap();
        let about: Vec<String> = found.figures.iter().flat_map(|figure| figure.about.clone()).collect();
        let about = about.join(". ");
        let times = "1.60 times as long as local: 160 ns against 100 ns";
        assert_words(&about, &[times, "0.62~ times the bandwidth", "claims 2.10 times"]);
        let title = |report| section(&report).unwrap().figures.pop().unwrap().title;
        assert_words(&title(two()), &["bandwidth with 2 threads of a node"]);
        let mut alone = two();
        alone.cells.iter_mut().for_each(|cell| (cell.workers, cell.seats) = (1, cell.seats[..1].to_vec()));
        assert_words(&title(alone), &["bandwidth with 1 thread of a node"]);
    }

    #[test]
    fn one_node_has_no_ratio() {
        let mut one = two();
        one.machine = report("Package:1 Core:2 PU:1").machine;
        one.cells.truncate(2);
        let about = section(&one).into_iter().flat_map(|section| section.figures).flat_map(|figure| figure.about);
        assert!(about.into_iter().all(|sentence| !sentence.contains("times as long")));
        assert!(section(&report("NUMA:2 PU:1")).is_none(), "nothing was measured");
    }
}
