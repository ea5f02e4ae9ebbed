//! The parts of a machine inside each other.

use crate::group::grouped;
use charz_data::escape::counted;

#[derive(Clone, Debug, PartialEq)]
pub struct MachineDiagram {
    /// The outermost parts.
    pub parts: Vec<Part>,
    /// The orders in which mappings fill it; may be empty.
    pub orders: Vec<Order>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    pub what: What,
    /// Its name: `socket 0`, `L3 32 MiB`, `core 5`, `3` for a strand by its OS id.
    pub label: String,
    /// For a strand: the operating system's number.
    pub strand: Option<u32>,
    /// Whether this process may use it; a part with a strand that may be used may be.
    pub usable: bool,
    /// How many parts alike, next to each other, it represents; 1 unless the machine is too large to draw.
    pub times: usize,
    pub parts: Vec<Part>,
}

/// What a part is, which decides how it is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum What {
    Package,
    NumaNode,
    /// A die, a cluster, a module: what lies between two levels.
    Group,
    Cache,
    Core,
    /// Strands that share arithmetic units.
    Alu,
    Strand,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    pub mapping: String,
    /// The seat of each worker, by OS id, from the first; empty where the operating system decides.
    pub seats: Vec<u32>,
}

impl Part {
    pub fn name(&self) -> String {
        if self.times > 1 { format!("{} ×{}", self.label, self.times) } else { self.label.clone() }
    }

    /// How many strands it holds, including those of the parts that it represents.
    pub fn strands(&self) -> usize {
        let inside = if self.what == What::Strand { 1 } else { self.parts.iter().map(Part::strands).sum() };
        self.times.max(1).saturating_mul(inside)
    }
}

impl MachineDiagram {
    pub fn strands(&self) -> usize {
        self.parts.iter().map(Part::strands).sum()
    }

    pub(super) fn in_words(&self) -> String {
        let mut words = vec![said(&self.parts)];
        words.extend(self.orders.iter().map(|order| match order.seats.as_slice() {
            [] => format!("{}: the operating system decides", order.mapping),
            seats => {
                let first: Vec<String> = seats.iter().take(16).map(u32::to_string).collect();
                let more = if seats.len() > first.len() { ", …" } else { "" };
                format!("{} fills strands in the order {}{more}", order.mapping, first.join(", "))
            }
        }));
        words.join(". ") + "."
    }
}

/// Parts in words: the same things counted, from the outside in.
fn said(parts: &[Part]) -> String {
    let mut levels: Vec<(What, usize)> = Vec::new();
    let mut row: Vec<(&Part, usize)> = parts.iter().map(|part| (part, part.times.max(1))).collect();
    while !row.is_empty() {
        let mut kinds = grouped(&row, |(part, _)| part.what);
        kinds.sort_by_key(|alike| alike[0].0.what as usize);
        levels.extend(kinds.iter().map(|alike| (alike[0].0.what, alike.iter().map(|(_, times)| times).sum())));
        let next = row.iter().flat_map(|(part, times)| {
            part.parts.iter().map(move |inner| (inner, times.saturating_mul(inner.times.max(1))))
        });
        row = next.collect();
    }
    let words: Vec<String> = levels.iter().map(|(what, count)| counted(*count, noun(*what))).collect();
    words.join(", ")
}

fn noun(what: What) -> &'static str {
    match what {
        What::Package => "socket",
        What::NumaNode => "NUMA node",
        What::Group => "group",
        What::Cache => "cache",
        What::Core => "core",
        What::Alu => "ALU slot",
        What::Strand => "strand",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_in_words() {
        let part = |what, times, parts| Part { what, label: String::new(), strand: None, usable: true, times, parts };
        let core = part(What::Core, 16, vec![part(What::Strand, 1, vec![]), part(What::Strand, 1, vec![])]);
        let nest = MachineDiagram {
            parts: vec![part(What::Package, 1, vec![core.clone()]), part(What::Package, 1, vec![core])],
            orders: vec![
                Order { mapping: "dumb".into(), seats: vec![0, 1] },
                Order { mapping: "auto".into(), seats: Vec::new() },
            ],
        };
        assert_eq!(nest.strands(), 64);
        let words = nest.in_words();
        assert!(words.starts_with("2 sockets, 32 cores, 64 strands. dumb fills strands in the order 0, 1."), "{words}");
        assert!(words.ends_with("auto: the operating system decides."), "{words}");
    }
}
