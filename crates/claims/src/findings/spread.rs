//! How the system spread threads that were bound nowhere: over CPUs, cores and NUMA nodes, as each saw at the end of its iterations. Reports keep
//! up to 16 threads singly, so of more nothing is said.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::{Claim, Facts, Finding};
use charz_data::machine::Strand;
use charz_data::report::Cell;
use charz_estimate::ends;

/// Fewer iterations than this show no habit.
const LEAST_SEEN: usize = 20;

/// Of all iterations of a configuration that binds no thread.
#[derive(Clone, Copy, Debug)]
pub struct Spread<'a> {
    pub cell: &'a Cell,
    pub seen: usize,
    /// In how many of them two threads were on one CPU.
    pub on_one_cpu: usize,
    /// And on one core though each could have had its own.
    pub on_one_core: usize,
    /// The threads on the NUMA node that had most, added up.
    pub on_busiest_node: usize,
    pub strands: usize,
    pub cores: usize,
    pub nodes: usize,
}

/// One finding: of the configuration in which two threads were together most often.
pub(super) fn spread<'a>(facts: &Facts<'_, 'a>) -> Vec<Finding<'a>> {
    let machine = &facts.report.machine;
    let strands: HashMap<u32, &Strand> = machine.usable_strands().map(|strand| (strand.os_id, strand)).collect();
    let distinct =
        |of: fn(&Strand) -> Option<u32>| strands.values().filter_map(|strand| of(strand)).collect::<HashSet<_>>().len();
    let [cores, nodes] = [distinct(|strand| strand.core), distinct(|strand| strand.numa)];
    let floats =
        |cell: &&Cell| cell.seats.iter().all(Option::is_none) && (2..=strands.len()).contains(&cell.seats.len());
    let none = |cell: &'a Cell| Spread {
        cell,
        seen: 0,
        on_one_cpu: 0,
        on_one_core: 0,
        on_busiest_node: 0,
        strands: strands.len(),
        cores,
        nodes,
    };
    let all = facts.report.cells.iter().filter(floats).map(|cell| seen(none(cell), &strands));
    let crowded = |spread: &Spread<'_>| spread.on_one_cpu.max(spread.on_one_core) as f64 / spread.seen as f64;
    let most =
        all.filter(|spread| spread.seen >= LEAST_SEEN).max_by(|one, other| crowded(one).total_cmp(&crowded(other)));
    most.map(|spread| Finding::on(spread.cell, Some(crowded(&spread)), Claim::Spread(spread))).into_iter().collect()
}

fn seen<'a>(mut spread: Spread<'a>, strands: &HashMap<u32, &Strand>) -> Spread<'a> {
    let cell = spread.cell;
    for run in cell.invocations.iter().flat_map(|invocation| &invocation.runs) {
        let ends = ends(run, cell.seats.len());
        let known = |ends: Vec<u32>| ends.iter().map(|id| strands.get(id).copied()).collect::<Option<Vec<&Strand>>>();
        let Some(ends) = ends.and_then(known) else { continue };
        let places = |of: fn(&Strand) -> Option<u32>| {
            ends.iter().fold(BTreeMap::new(), |mut places, strand| {
                *places.entry(of(strand)).or_insert(0_usize) += 1;
                places
            })
        };
        spread.seen += 1;
        spread.on_one_cpu += usize::from(places(|strand| Some(strand.os_id)).len() < ends.len());
        spread.on_one_core +=
            usize::from(ends.len() <= spread.cores && places(|strand| strand.core).len() < ends.len());
        spread.on_busiest_node += places(|strand| strand.numa).into_values().max().unwrap_or(0);
    }
    spread
}
