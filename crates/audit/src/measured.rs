//! The machine as measured: the claim, with the cores and ALU groups that were found.

use charz_data::Arrange;
use std::collections::{BTreeMap, HashMap};

use charz_data::machine::{AluSource, Core, Machine, Strand};

use super::Bench;
use super::cores::Cores;

/// The claim where nothing contradicts it. A strand whose core was found to be another takes the place of most of its new siblings:
/// package, node, caches.
pub(super) fn machine(bench: &Bench<'_>, cores: &Cores) -> Machine {
    let mut machine = bench.claim.clone();
    // What this process may not use was not measured.
    if !cores.alu_known || bench.strands.len() < machine.strands.len() {
        return machine;
    }
    let moved = !cores.doubtful.is_empty() || bench.strands.iter().any(|strand| strand.core.is_none());
    let mut order: Vec<Strand> = Vec::with_capacity(machine.strands.len());
    let mut taken: HashMap<u32, ()> = HashMap::new();
    for core in &cores.cores {
        let mut place = home(bench, core);
        // Another found core may have this one's place already, and a description without cores has none.
        if place.core.is_none_or(|claimed| taken.insert(claimed, ()).is_some()) {
            place.core = Some(push(&mut machine.cores));
        }
        let mut groups: BTreeMap<usize, u32> = BTreeMap::new();
        let mut slots: HashMap<u32, u32> = HashMap::new();
        for (rank, at) in (0..).zip(core) {
            let next = u32::try_from(groups.len()).unwrap_or(u32::MAX);
            let alu = *groups.entry(cores.alu[*at]).or_insert(next);
            let slot = slots.entry(alu).or_insert(0);
            let own = bench.strands[*at];
            let around = if moved { &place } else { own };
            order.push(Strand {
                os_id: own.os_id,
                alu,
                slot: *slot,
                strand_in_core: rank,
                usable: true,
                ..around.clone()
            });
            *slot += 1;
        }
    }
    if moved {
        // By the places, so strands of a part follow each other.
        order.arrange_by_key(|strand| (strand.package, strand.numa, strand.caches.last().copied(), strand.core));
    } else {
        let logical: HashMap<u32, usize> = machine.strands.iter().map(|s| s.os_id).zip(0..).collect();
        order.arrange_by_key(|strand| logical[&strand.os_id]);
    }
    machine.strands = order;
    machine.alu = AluSource::Measured;
    if moved {
        drop_empty(&mut machine);
    }
    machine
}

fn push(cores: &mut Vec<Core>) -> u32 {
    cores.push(Core { os_id: None, strands: 0 });
    u32::try_from(cores.len() - 1).unwrap_or(u32::MAX)
}

/// The claimed place that most strands of a core have; the first of several.
fn home(bench: &Bench<'_>, core: &[usize]) -> Strand {
    let same = |at: &usize| core.iter().filter(|other| bench.strands[**other].core == bench.strands[*at].core).count();
    let most = core.iter().map(same).max().unwrap_or(0);
    let first = core.iter().find(|at| same(at) == most).or(core.first());
    bench.strands[*first.expect("a core has a strand")].clone()
}

/// Counts the strands of each part anew, and leaves out cores and caches that have none.
fn drop_empty(machine: &mut Machine) {
    let strands = &mut machine.strands;
    machine.cores = renumber(&machine.cores, strands, |strand| strand.core.as_mut().into_iter().collect());
    machine.caches = renumber(&machine.caches, strands, |strand| strand.caches.iter_mut().collect());
    machine.count_strands();
}

/// The parts that some strand is in, in their order; the strands' indices follow.
fn renumber<T: Clone>(parts: &[T], strands: &mut [Strand], of: fn(&mut Strand) -> Vec<&mut u32>) -> Vec<T> {
    let mut used = vec![false; parts.len()];
    strands.iter_mut().flat_map(of).for_each(|index| used[*index as usize] = true);
    let mut next = 0;
    let new: Vec<u32> = used
        .iter()
        .map(|used| {
            next += u32::from(*used);
            next.saturating_sub(1)
        })
        .collect();
    strands.iter_mut().flat_map(of).for_each(|index| *index = new[*index as usize]);
    parts.iter().zip(used).filter(|(_, used)| *used).map(|(part, _)| part.clone()).collect()
}
