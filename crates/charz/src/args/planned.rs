//! That command lines plan the cells that they did when the lists under `tests/golden/cells` were written. With `CHARZ_GOLDEN_CELLS`
//! set, each sweep's cells are also written to that folder, one line per cell.

mod cells;
mod list;

use std::path::Path;

use charz_topology::{Machine, Source, discover};

use cells::cells;
use list::list;

const SWEEPS: &[&str] = &[
    "sweep",
    "sweep --quick",
    "sweep --family compute",
    "sweep --family memory",
    "sweep --family sync",
    "sweep --family timer",
    "sweep --family floor",
    "sweep --kernel mem-read,chase-random --threads 1,2,16 --size levels --memory local,remote,interleaved --pages 4k,thp",
    "sweep --kernel pool-std,arith-int --threads 1,2,4-8 --mapping round-robin,dumb,compact --layout contiguous --inside-steps 10",
    "c2c",
    "c2c --all-pairs --mode cas,exchange --strands 0-1",
    "numa",
    "topo --measured",
    "replicate t3-4",
    "replicate cmt",
    "replicate cascade",
    "replicate solaris",
    "replicate tacc",
];

/// Checks all sweeps on a machine.
#[track_caller]
fn check(name: &str, description: &str) {
    let machine: Machine = discover(&Source::Synthetic(description.into())).unwrap();
    let mut text = format!("machine\t{description}\n");
    let mut varying = Vec::new();
    for sweep in SWEEPS {
        let cells = cells(sweep, &machine);
        if let Some(folder) = std::env::var_os("CHARZ_GOLDEN_CELLS") {
            let file = Path::new(&folder).join(format!("{name} {sweep}.tsv").replace(' ', "_"));
            let lines: Vec<String> = cells.iter().map(cells::Cell::line).collect();
            std::fs::write(file, lines.join("\n") + "\n").unwrap();
        }
        text += &list(sweep, &cells);
        varying.extend(cells.into_iter().filter(|cell| cell.varies).map(|cell| (*sweep, cell.kernel)));
    }
    // Whether a cell can run here decides how much of the others fits.
    let varies = |line: &str| {
        let mut columns = line.split('\t');
        let (kind, sweep, kernel) = (columns.next(), columns.next(), columns.next());
        match kind {
            Some("amounts") => varying.iter().any(|(one, _)| Some(*one) == sweep),
            Some("skipped") => varying.iter().any(|(one, name)| (Some(*one), Some(*name)) == (sweep, kernel)),
            _ => false,
        }
    };
    crate::golden::check(&format!("cells/{name}.tsv"), &text, varies);
}

#[test]
fn one_core_with_two_strands() {
    check("small", "Package:1 [NUMA(memory=8GB)] L3:1(size=4MiB) L2:1(size=1MiB) L1:1(size=32KiB) Core:1 PU:2");
}

#[test]
fn two_packages_of_two_nodes() {
    check("server", "Package:2 NUMA:2(memory=32GB) L3:1(size=32MiB) L2:8(size=1MiB) L1:1(size=32KiB) Core:1 PU:2");
}

#[test]
fn the_sparc_t3_4() {
    check("t3-4", "Package:4 [NUMA(memory=128GB)] L2:1(size=6MiB) L1:16(size=8KiB) Core:1 Group:2 PU:4");
}
