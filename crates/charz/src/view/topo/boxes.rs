//! Parts as boxes inside each other, then what this process may use.

use std::collections::BTreeSet;
use std::io::{self, Write};

use charz_topology::{Machine, Mapping, place};

use super::tree::{self, head, rest};
use charz_analysis::figure::{Body, Figure, Nest, Order};
use charz_analysis::page;
use charz_data::escape::plain;
use charz_render::look::Look;
use charz_render::term::nest::{UNUSABLE, boxes, has_unusable};
use charz_render::term::pen::Pen;

/// As boxes where they have room, as a tree where they do not.
pub(super) fn write(machine: &Machine, look: &Look, out: &mut dyn Write) -> io::Result<()> {
    let nest = nest(machine);
    let Some(sheet) = boxes(&nest, Pen::new(look, out).width()) else { return tree::write(machine, out) };
    head(machine, out)?;
    let mut pen = Pen::new(look, out);
    pen.sheet(&sheet)?;
    if has_unusable(&nest.parts) {
        pen.text("", UNUSABLE)?;
    }
    models(machine, &mut pen)?;
    rest(machine, out)
}

/// Whether a terminal that looks so has room for all boxes.
pub(super) fn fits(machine: &Machine, look: &Look) -> bool {
    boxes(&nest(machine), look.columns).is_some()
}

/// The machine as a picture.
pub(super) fn figure(machine: &Machine) -> Figure {
    Figure {
        id: "machine".to_owned(),
        title: plain(machine.name.as_deref().unwrap_or(&machine.source)),
        about: Vec::new(),
        body: Body::Nest(nest(machine)),
        table: None,
    }
}

/// The parts, and the orders in which the usual mappings fill them once.
fn nest(machine: &Machine) -> Nest {
    let strands = machine.usable_strands().count();
    let order = |name: &str| {
        let mapping: Mapping = name.parse().ok()?;
        let seats = place(&mapping.order(machine).ok()?, strands).seats;
        Some(Order { mapping: name.to_owned(), seats: seats.into_iter().flatten().collect() })
    };
    page::nest(machine, true, ["round-robin", "dumb"].into_iter().filter_map(order).collect())
}

/// What the boxes have no room for: each model of processors once.
fn models(machine: &Machine, pen: &mut Pen<'_>) -> io::Result<()> {
    let models: BTreeSet<&str> = machine.packages.iter().filter_map(|package| package.model.as_deref()).collect();
    models.into_iter().try_for_each(|model| pen.text("processor: ", model.trim()))
}

#[cfg(test)]
mod tests {
    use super::super::tests::synthetic;
    use super::*;

    fn shown(machine: &Machine, columns: usize) -> String {
        let mut out = Vec::new();
        write(machine, &Look { columns, ..Look::PLAIN }, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_machine_is_drawn_as_boxes() {
        let mut machine =
            synthetic("pack:2 [numa(memory=64GiB)] l3:1(size=32MiB) core:2 l1d:1(size=32KiB) group:2 pu:2");
        machine.strands[15].usable = false;
        let found = shown(&machine, 120);
        for words in ["┌package 0", "NUMA node 1", "core 3", "[8 9] [10 11]", "[12 13] [14 (15)]"] {
            assert!(found.contains(words), "{words}: {found}");
        }
        assert!(found.contains("(…) may not be used"), "{found}");
        assert!(found.ends_with("ALU groups: stated: the topology groups strands below the core\n"), "{found}");
    }

    #[test]
    fn where_boxes_have_no_room_there_is_a_tree() {
        let machine = synthetic("pack:1 die:2 l3:1 l2:2 core:2 pu:2");
        assert!(fits(&machine, &Look { columns: 100, ..Look::PLAIN }));
        assert!(!fits(&machine, &Look { columns: 9, ..Look::PLAIN }));
        assert!(fits(&synthetic("Package:4 Core:16 Group:2 PU:4"), &Look { columns: 60, ..Look::PLAIN }));
    }
}
