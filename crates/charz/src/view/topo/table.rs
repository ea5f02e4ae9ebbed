//! A row a strand.

use std::io::{self, Write};

use charz_topology::{Machine, Strand};

use charz_data::escape::or_dash;
use charz_render::grid::columns;

pub(super) fn write(machine: &Machine, out: &mut dyn Write) -> io::Result<()> {
    let heading = ["strand", "package", "numa", "core", "alu", "slot", "in-core", "kind", "usable", "caches"];
    let rows: Vec<_> = machine.strands.iter().map(|strand| row(machine, strand)).collect();
    columns(&heading, &[heading.len() - 1], &rows, out)
}

fn row(machine: &Machine, strand: &Strand) -> [String; 10] {
    let caches = strand.caches.iter().filter_map(|cache| machine.caches.get(*cache as usize));
    let caches: Vec<String> = caches.map(ToString::to_string).collect();
    [
        strand.os_id.to_string(),
        or_dash(strand.package),
        or_dash(strand.numa),
        or_dash(strand.core),
        strand.alu.to_string(),
        strand.slot.to_string(),
        strand.strand_in_core.to_string(),
        or_dash(strand.kind),
        if strand.usable { "yes" } else { "no" }.to_owned(),
        if caches.is_empty() { "-".to_owned() } else { caches.join(" ") },
    ]
}

#[cfg(test)]
mod tests {
    use super::super::tests::{show, synthetic};

    #[test]
    fn a_row_says_where_a_strand_is_and_what_it_shares() {
        let mut machine = synthetic("pack:2 l2:1 core:2 l1d:1 group:2 pu:2");
        machine.strands[15].usable = false;
        let table = show("table", &machine);
        let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(rows.len(), 17);
        assert_eq!(rows[0].join(" "), "strand package numa core alu slot in-core kind usable caches");
        assert_eq!(rows[7].join(" "), "6 0 0 1 1 0 2 - yes L1d:1 L2:0");
        assert_eq!(rows[16].join(" "), "15 1 0 3 1 1 3 - no L1d:3 L2:1");
        assert_eq!(show("table", &synthetic("pu:1")).lines().last().unwrap().split_whitespace().nth(1), Some("-"));
    }
}
