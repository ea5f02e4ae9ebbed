//! Large synthetic machines from small twins.
//!
//! hwloc compares each new part's set of strands with those of its siblings: 65,536 strands cost it ten seconds and a
//! gigabyte, and minutes if all are on one level. But a synthetic machine is regular, so a twin with two of
//! everything that has several says all that there is to say. hwloc loads the twin, and the reader visits the first child
//! of each object as often as the large machine has one.

use super::synthetic::Description;

/// Up to here hwloc loads the machine itself, within milliseconds.
const SMALL: u64 = 1024;

/// A twin, and how to get back from it.
pub(super) struct Scale {
    /// The twin's description.
    pub(super) twin: String,
    /// For each level boundary, from the strands outwards: the strands inside in the twin, and in the large machine.
    widths: Vec<(u64, u64)>,
}

impl Scale {
    /// `None` where hwloc shall load the machine itself: it is small, or its parts are not alike.
    pub(super) fn of(text: &str, description: &Description) -> Option<Self> {
        (description.strands() > SMALL && description.regular).then(|| Self::new(text, description))
    }

    fn new(text: &str, description: &Description) -> Self {
        // A level of one may be left out by hwloc, one of two is kept as one of many is.
        let small = |count: u64| count.min(2);
        let mut twin = text.to_owned();
        let mut widths = vec![(1, 1)];
        for (count, place) in description.counts.iter().rev() {
            twin.replace_range(place.clone(), &small(*count).to_string());
            let (inside, inside_large) = widths[widths.len() - 1];
            widths.push((inside * small(*count), inside_large * count));
        }
        Self { twin, widths }
    }

    /// How many children an object has in the large machine, from the strands in it and in its first child in the twin.
    pub(super) fn children(&self, object: u64, child: u64) -> u64 {
        // Levels that share a width in the twin lie a count of one apart and share it in the large machine too.
        let large = |width| self.widths.iter().find(|(small, _)| *small == width).map_or(1, |(_, large)| *large);
        large(object) / large(child)
    }
}

#[cfg(test)]
mod tests {
    use super::Scale;
    use crate::discover::{hwloc, load_synthetic, synthetic};
    use proptest::prelude::*;

    /// hwloc's own reading of the description is the oracle.
    #[track_caller]
    fn check(text: &str) {
        let description = synthetic::check(text).unwrap();
        let read = |text: &str, scale: Option<&Scale>| {
            let topology = load_synthetic(text).unwrap();
            hwloc::machine(&topology, String::new(), description.alu_width, scale, &[])
        };
        let scale = Scale::new(text, &description);
        // Without printing the machines: they are long.
        assert!(read(&scale.twin, Some(&scale)) == read(text, None), "{text} by {}", scale.twin);
    }

    #[test]
    fn a_twin_gives_the_same_machine() {
        for text in [
            "Package:4 Core:16 Group:2 PU:4",
            "pu:100",
            "package:3 core:5 pu:1",
            "package:1 die:3 l3:2 l2:3 l1d:1 l1i:1 core:1 pu:2",
            "node:3 core:4 pu:2",
            "package:2 node:3 core:4 pu:2",
            "group:3 package:2 group:3 core:3 group:3 pu:1",
            "(memory=3GB) package:3 [NUMA(memory=1GB)] core:3 pu:3",
            "[numa] package:3 core:4 pu:1",
            "package:3 die:2 l3:2 [numa] core:2 pu:2",
            "package:3 l3:1(size=7MiB) core:3 pu:1",
        ] {
            check(text);
        }
    }

    proptest! {
        #[test]
        fn a_twin_of_any_machine_gives_the_same_machine(
            counts in prop::collection::vec(1_u32..5, 8),
            kept in prop::collection::vec(any::<bool>(), 8),
            memory in 0_usize..12,
        ) {
            let names = ["Group", "Package", "Die", "L3", "L2", "Core", "Group", "PU"];
            let levels = names.iter().zip(&counts).zip(kept).enumerate().filter(|(_, ((name, _), kept))| *kept || **name == "PU");
            let words = levels.map(|(at, ((name, count), _))| {
                format!("{name}:{count}{}", if at == memory && *name != "PU" { " [NUMA]" } else { "" })
            });
            check(&words.collect::<Vec<_>>().join(" "));
        }
    }
}
