//! Machines of any size, built fast.

use charz_topology::{Machine, Source, Strand, discover};

/// The T3-4: 4 packages, 512 strands.
pub fn t3_4() -> Machine {
    discover(&Source::Synthetic("Package:4 Core:16 Group:2 PU:4".to_owned())).expect("the description is right")
}

/// A machine of so many strands, a multiple of 512: one T3-4 beside the other. hwloc itself takes ten
/// seconds for the largest.
pub fn machine(strands: u32) -> Machine {
    let mut machine = t3_4();
    let tile = machine.clone();
    for number in 1..strands / 512 {
        let moved = |index: Option<u32>, count: usize| index.map(|index| index + number * count as u32);
        machine.strands.extend(tile.strands.iter().map(|strand| Strand {
            os_id: strand.os_id + number * 512,
            package: moved(strand.package, tile.packages.len()),
            numa: moved(strand.numa, tile.numa_nodes.len()),
            core: moved(strand.core, tile.cores.len()),
            ..strand.clone()
        }));
        machine.packages.extend(tile.packages.iter().cloned());
        machine.numa_nodes.extend(tile.numa_nodes.iter().cloned());
        machine.cores.extend(tile.cores.iter().cloned());
    }
    machine
}
