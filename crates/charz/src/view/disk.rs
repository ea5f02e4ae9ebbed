//! How fast a disk answers each NUMA node, beside the node that the kernel states.

use std::io::{self, Write};

use charz_data::escape::plain;
use charz_data::{Arrange, units};
use charz_measure::disk::{BLOCK, Reads};
use charz_render::grid::columns;
use charz_render::look::TerminalStyle;
use charz_render::{json, wrapped};
use charz_stats::{Interval, median_interval, ratio_interval};
use serde_json::{Value, json as object};

use super::look;

/// A node gets answers first where it reads faster than each other with this confidence.
const CONFIDENCE: f64 = 0.99;

/// What was read, and what the kernel states.
pub struct Disk {
    /// As named.
    pub file: String,
    /// The disks that hold it; none where the kernel names none.
    pub names: Vec<String>,
    /// The OS id of the node that all of them hang on by the kernel.
    pub stated: Option<u32>,
    /// From the fastest.
    pub reads: Vec<Reads>,
}

impl Disk {
    /// How many times as long a read from a node takes as one from the fastest; `None` of that one.
    fn times(&self, at: usize) -> Option<Interval> {
        ratio_interval(&self.reads[0].rounds, &self.reads[at].rounds, CONFIDENCE).filter(|_| at > 0)
    }

    /// The node that these reads show to be the fastest.
    fn fastest(&self) -> Option<u32> {
        let is_farther = |at: usize| self.times(at).is_some_and(|times| times.low > 1.0);
        (self.reads.len() > 1 && (1..self.reads.len()).all(is_farther)).then(|| self.reads[0].node)
    }

    fn verdict(&self) -> String {
        let stated = match self.stated {
            Some(node) => format!("the kernel states node {node}"),
            None => "the kernel states no node".to_owned(),
        };
        match (self.reads.len(), self.fastest()) {
            (1, _) => "One node has CPUs, so there is nothing to compare.".to_owned(),
            (_, Some(node)) if self.stated == Some(node) => {
                format!("Node {node} gets answers first, and is the one that the kernel states.")
            }
            (_, Some(node)) => format!("Node {node} gets answers first, while {stated}."),
            (_, None) => format!("No node is shown to get answers first; {stated}."),
        }
    }
}

pub fn write(disk: &Disk, look: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    let on = match disk.names.is_empty() {
        true => ", which is on no disk that the kernel names,".to_owned(),
        false => format!(" on {}", plain(&disk.names.join(", "))),
    };
    let head = format!(
        "Reads of {} from {}{on}, one at a time, past the page cache: {}",
        units::iec(BLOCK),
        plain(&disk.file),
        disk.verdict()
    );
    wrapped::hanging(&head, 0, look::paragraph(), out)?;
    writeln!(out)?;
    let row = |(at, reads): (usize, &Reads)| {
        let times = disk.times(at).map(|times| format!("{:.2} to {:.2} times as long", times.low, times.high));
        [
            reads.node.to_string(),
            reads.cpu.to_string(),
            units::nanos(reads.rounds.median()),
            reads.count.to_string(),
            times.unwrap_or_default(),
        ]
    };
    let rows: Vec<[String; 5]> = disk.reads.iter().enumerate().map(row).collect();
    columns(&["node", "CPU", "a read takes", "reads", "beside the fastest"], &[4], &[4, 3], &rows, look, out)
}

pub fn write_json(disk: &Disk, out: &mut dyn Write) -> io::Result<()> {
    let interval = |found: Option<Interval>| found.map(|found| [found.low, found.high]);
    let node = |(at, reads): (usize, &Reads)| -> Value {
        object!({
            "node": reads.node, "cpu": reads.cpu, "reads": reads.count, "median_ns": reads.rounds.median(),
            "interval_ns": interval(median_interval(&reads.rounds, CONFIDENCE)),
            "times_as_long": interval(disk.times(at)),
        })
    };
    let mut nodes: Vec<Value> = disk.reads.iter().enumerate().map(node).collect();
    nodes.arrange_by_key(|node| node["node"].as_u64());
    let all = object!({
        "file": disk.file, "disks": disk.names, "stated_node": disk.stated, "fastest_node": disk.fastest(),
        "block_bytes": BLOCK, "confidence": CONFIDENCE, "nodes": nodes,
    });
    json::write_compact(&all, out)?;
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use charz_stats::Sample;

    use super::*;

    /// A disk read from nodes by their medians in microseconds, with 1% of noise.
    #[track_caller]
    fn check(medians: &[(u32, f64)], stated: Option<u32>, fastest: Option<u32>) {
        let rounds = |median: f64| (0..15).map(move |round| 1000.0 * median * (1.0 + 0.001 * f64::from(round - 7)));
        let reads = medians.iter().map(|(node, median)| Reads {
            node: *node,
            cpu: 4 * node,
            rounds: Sample::new(rounds(*median).collect()).unwrap(),
            count: 15,
        });
        let disk = Disk { file: "f".into(), names: vec!["nvme0n1".into()], stated, reads: reads.collect() };
        assert_eq!(disk.fastest(), fastest);
        let mut text = Vec::new();
        write_json(&disk, &mut text).unwrap();
        let all: Value = serde_json::from_slice(&text).unwrap();
        assert_eq!(
            (all["fastest_node"].as_u64(), all["nodes"].as_array().unwrap().len()),
            (fastest.map(u64::from), medians.len())
        );
    }

    #[test]
    fn a_node_is_the_fastest_where_each_other_takes_longer() {
        check(&[(1, 80.0), (0, 84.0)], Some(1), Some(1));
        check(&[(1, 80.0), (0, 80.1)], Some(1), None);
        check(&[(1, 80.0), (2, 80.1), (0, 90.0)], None, None);
        check(&[(0, 80.0)], None, None);
    }
}
