//! The parts of a machine inside each other.

use charz_data::Arrange;
use charz_data::escape::counted;
use charz_estimate::grouped;

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
    /// Its name: `socket 0`, `L3 32 MiB`, `core 5`, `P-core 5`, `3` for a strand by its OS id.
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
        self.count(What::Strand)
    }

    /// How many of these there are in it, itself included, and in the parts that it represents.
    pub fn count(&self, what: What) -> usize {
        let inside: usize = self.parts.iter().map(|part| part.count(what)).sum();
        self.times.max(1).saturating_mul(inside + usize::from(self.what == what))
    }

    /// Whether two parts differ by their numbers only.
    pub fn is_like(&self, other: &Part) -> bool {
        let same = |one: &Part, other: &Part| {
            (one.what, one.usable, one.times, one.parts.len())
                == (other.what, other.usable, other.times, other.parts.len())
                && unnumbered(&one.label).eq(unnumbered(&other.label))
        };
        same(self, other) && self.parts.iter().zip(&other.parts).all(|(one, other)| one.is_like(other))
    }

    /// What its cores are called without their numbers, `P-core`; `None` where they differ, or there are none.
    pub fn kind(&self) -> Option<String> {
        match self.what {
            What::Core => Some(unnumbered(&self.label).collect::<String>().trim().to_owned()),
            _ => {
                let mut kinds = self.parts.iter().map(Part::kind);
                let first = kinds.next()??;
                kinds.all(|kind| kind.as_ref() == Some(&first)).then_some(first)
            }
        }
    }
}

/// A name without its first number: `socket 0` and `socket 1` are alike, `L2 (1 MiB)` and `L2 (2 MiB)` are not.
fn unnumbered(label: &str) -> impl Iterator<Item = char> + '_ {
    // The number behind the last blank, or before a bracket: that of the part itself.
    let name = label.split(" (").next().unwrap_or(label);
    let name = name.trim_end_matches(|mark: char| mark.is_ascii_digit());
    let rest = label.find(" (").map_or("", |at| &label[at..]);
    name.chars().chain(rest.chars())
}

/// The caches of one size, or the cores of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Level {
    pub what: What,
    /// `L3 32 MiB`, `P-core`.
    pub name: String,
    pub count: usize,
    /// The fewest and the most cores, or strands of a core, that one of them holds.
    pub holds: [usize; 2],
}

impl Level {
    /// `L3 32 MiB: 16, one per 8 cores`; `8 E-cores of 1 CPU`.
    pub fn in_words(&self) -> String {
        let inner = if self.what == What::Core { "CPU" } else { "core" };
        let holds = match self.holds {
            [one, other] if one == other => counted(one, inner),
            [one, other] => format!("{one} to {}", counted(other, inner)),
        };
        match self.what {
            What::Core => format!("{} of {holds}", counted(self.count, &self.name)),
            _ if self.holds == [0, 0] => format!("{}: {}", self.name, self.count),
            _ if self.holds == [1, 1] => format!("{}: {}, one per core", self.name, self.count),
            _ => format!("{}: {}, one per {holds}", self.name, self.count),
        }
    }
}

impl MachineDiagram {
    /// The kinds of core and the caches, each size once, from the outside in; cores come first.
    pub fn levels(&self) -> Vec<Level> {
        fn enter(part: &Part, times: usize, levels: &mut Vec<Level>) {
            let times = times.saturating_mul(part.times.max(1));
            let one = part.times.max(1);
            let found = match part.what {
                What::Core => part.kind().map(|name| (name, part.strands() / one)),
                What::Cache => Some((part.label.clone(), part.count(What::Core) / one)),
                _ => None,
            };
            if let Some((name, holds)) = found {
                match levels.iter_mut().find(|level| level.what == part.what && level.name == name) {
                    Some(level) => {
                        level.count = level.count.saturating_add(times);
                        level.holds = [level.holds[0].min(holds), level.holds[1].max(holds)];
                    }
                    None => levels.push(Level { what: part.what, name, count: times, holds: [holds; 2] }),
                }
            }
            part.parts.iter().for_each(|inner| enter(inner, times, levels));
        }
        let mut levels = Vec::new();
        self.parts.iter().for_each(|part| enter(part, 1, &mut levels));
        // Labels of caches begin with their level.
        let level = |level: &Level| {
            if level.what == What::Cache { level.name.chars().take(2).collect() } else { String::new() }
        };
        levels.arrange_by(|one, other| {
            (other.what == What::Core).cmp(&(one.what == What::Core)).then_with(|| level(other).cmp(&level(one)))
        });
        levels
    }

    pub fn strands(&self) -> usize {
        self.parts.iter().map(Part::strands).sum()
    }

    pub(super) fn in_words(&self) -> String {
        let mut words = vec![said(&self.parts)];
        words.extend(self.parts.iter().filter(|part| part.strands() == 0).map(|part| match part.what {
            What::NumaNode => format!("{} has no CPUs", part.label),
            // Devices have none anyway.
            _ => part.label.clone(),
        }));
        words.extend(self.levels().iter().filter(|level| level.what == What::Cache).map(Level::in_words));
        words.extend(self.orders.iter().map(|order| match order.seats.as_slice() {
            [] => format!("{}: the operating system decides", order.mapping),
            seats => {
                let first: Vec<String> = seats.iter().take(16).map(u32::to_string).collect();
                let more = if seats.len() > first.len() { ", …" } else { "" };
                format!("{} fills CPUs in the order {}{more}", order.mapping, first.join(", "))
            }
        }));
        words.join(". ") + "."
    }
}

/// Parts in words: the same things counted, from the outside in.
fn said(parts: &[Part]) -> String {
    let mut levels: Vec<(What, usize)> = Vec::new();
    let with_cpus = parts.iter().filter(|part| part.strands() > 0);
    let mut row: Vec<(&Part, usize)> = with_cpus.map(|part| (part, part.times.max(1))).collect();
    while !row.is_empty() {
        let mut kinds = grouped(&row, |(part, _)| part.what);
        kinds.arrange_by_key(|alike| alike[0].0.what as usize);
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

    fn part(what: What, label: &str, times: usize, parts: Vec<Part>) -> Part {
        Part { what, label: label.into(), strand: None, usable: true, times, parts }
    }

    #[test]
    fn each_size_of_a_cache_is_a_level() {
        let core = |label, strands| part(What::Core, label, 1, vec![part(What::Strand, "", strands, vec![])]);
        let own = |core| part(What::Cache, "L2 2 MiB", 1, vec![core]);
        let cluster = part(What::Cache, "L2 4 MiB", 1, vec![core("E-core 2", 1), core("E-core 3", 1)]);
        let l3 = part(What::Cache, "L3 30 MiB", 3, vec![own(core("P-core 0", 2)), own(core("P-core 1", 2)), cluster]);
        let nest = MachineDiagram { parts: vec![l3.clone()], orders: Vec::new() };
        let found: Vec<(String, usize, [usize; 2])> =
            nest.levels().into_iter().map(|level| (level.name, level.count, level.holds)).collect();
        let expected =
            [("P-core", 6, [2, 2]), ("E-core", 6, [1, 1]), ("L3 30 MiB", 3, [4, 4]), ("L2 2 MiB", 6, [1, 1])];
        let expected = expected.into_iter().chain([("L2 4 MiB", 3, [2, 2])]);
        assert_eq!(found, expected.map(|(name, count, holds)| (name.to_owned(), count, holds)).collect::<Vec<_>>());
        let mixed = Level { holds: [1, 4], ..nest.levels().remove(4) };
        assert_eq!(mixed.in_words(), "L2 4 MiB: 3, one per 1 to 4 cores");
        assert_eq!((l3.kind(), l3.parts[0].kind().as_deref()), (None, Some("P-core")));
    }

    #[test]
    fn what_differs_is_not_alike() {
        let cache = |label: &str| part(What::Cache, label, 1, Vec::new());
        assert!(cache("L2:0 (1 MiB)").is_like(&cache("L2:1 (1 MiB)")));
        assert!(!cache("L2 (1 MiB)").is_like(&cache("L2 (2 MiB)")));
        let core = part(What::Core, "core 0", 1, Vec::new());
        assert!(core.is_like(&core) && !core.is_like(&Part { usable: false, ..core.clone() }));
    }

    #[test]
    fn a_machine_in_words() {
        let part = |what, times, parts| part(what, "", times, parts);
        let core = part(What::Core, 16, vec![part(What::Strand, 1, vec![]), part(What::Strand, 1, vec![])]);
        let socket = part(What::Package, 1, vec![core]);
        let node = Part { label: "NUMA node 2".into(), ..part(What::NumaNode, 1, vec![]) };
        let nest = MachineDiagram {
            parts: vec![socket.clone(), socket, node],
            orders: vec![
                Order { mapping: "dumb".into(), seats: vec![0, 1] },
                Order { mapping: "auto".into(), seats: Vec::new() },
            ],
        };
        assert_eq!(nest.strands(), 64);
        let words = nest.in_words();
        let start = "2 sockets, 32 cores, 64 strands. NUMA node 2 has no CPUs. dumb fills CPUs in the order 0, 1.";
        assert!(words.starts_with(start), "{words}");
        assert!(words.ends_with("auto: the operating system decides."), "{words}");
    }
}
