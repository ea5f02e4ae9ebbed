//! How the system spread threads that were bound nowhere: over CPUs, cores and NUMA nodes, as each saw at the end of its iterations. Reports keep
//! up to 16 threads singly, so of more nothing is said.

use charz_estimate::ends;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::on_cell;
use charz_data::escape::counted;
use charz_data::machine::Strand;
use charz_data::report::{Cell, Finding, FindingKind, Report};
use charz_data::units;

/// Fewer iterations than this show no habit.
const LEAST_SEEN: usize = 20;

/// Of all iterations of a configuration that binds no thread.
struct Spread<'a> {
    cell: &'a Cell,
    seen: usize,
    /// In how many of them two threads were on one CPU, and on one core though each could have had its own.
    on_one_cpu: usize,
    on_one_core: usize,
    /// The threads on the NUMA node that had most, added up.
    on_busiest_node: usize,
}

/// One finding: of the configuration in which two threads were together most often.
pub(super) fn spread(report: &Report) -> Option<Finding> {
    let strands: HashMap<u32, &Strand> = report.machine.usable_strands().map(|strand| (strand.os_id, strand)).collect();
    let distinct =
        |of: fn(&Strand) -> Option<u32>| strands.values().filter_map(|strand| of(strand)).collect::<HashSet<_>>().len();
    let [cores, nodes] = [distinct(|strand| strand.core), distinct(|strand| strand.numa)];
    let floats =
        |cell: &&Cell| cell.seats.iter().all(Option::is_none) && (2..=strands.len()).contains(&cell.seats.len());
    let all = report.cells.iter().filter(floats).map(|cell| of_cell(cell, &strands, cores));
    let crowded = |spread: &Spread<'_>| spread.on_one_cpu.max(spread.on_one_core) as f64 / spread.seen as f64;
    let spread =
        all.filter(|spread| spread.seen >= LEAST_SEEN).max_by(|one, other| crowded(one).total_cmp(&crowded(other)))?;
    let Cell { kernel, mapping, workers, .. } = spread.cell;
    let of_all = |count: usize| match count {
        0 => "in none".to_owned(),
        _ => format!("in {count} ({})", units::percent(count as f64 / spread.seen as f64)),
    };
    let mut text = format!(
        "{kernel} {mapping}: of {} with {workers} threads, two threads ended on one CPU {}",
        counted(spread.seen, "iteration"),
        of_all(spread.on_one_cpu)
    );
    if cores < strands.len() && *workers <= cores as u64 {
        text += &format!(", on one core of {cores} {}", of_all(spread.on_one_core));
    }
    if nodes > 1 {
        let busiest = spread.on_busiest_node as f64 / spread.seen as f64;
        let even = workers.div_ceil(nodes as u64);
        text += &format!("; the NUMA node with most threads had {busiest:.1} in the mean ({even} where they are even)");
    }
    Some(on_cell(spread.cell, FindingKind::Spread, Some(crowded(&spread)), text))
}

fn of_cell<'a>(cell: &'a Cell, strands: &HashMap<u32, &Strand>, cores: usize) -> Spread<'a> {
    let mut spread = Spread { cell, seen: 0, on_one_cpu: 0, on_one_core: 0, on_busiest_node: 0 };
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
        spread.on_one_core += usize::from(ends.len() <= cores && places(|strand| strand.core).len() < ends.len());
        spread.on_busiest_node += places(|strand| strand.numa).into_values().max().unwrap_or(0);
    }
    spread
}

#[cfg(test)]
mod tests {
    use super::*;
    use charz_data::report::{Unit, fixtures::cell};
    use charz_estimate::fixtures::assert_words;

    /// What is said of two threads that nothing binds, by where they ended in each iteration.
    fn said(synthetic: &str, ends: &[[u32; 2]]) -> Option<Finding> {
        let mut report = charz_estimate::fixtures::report(synthetic);
        let mut cell = cell("arith-int", 2, Unit::OpsPerSecond, 1e9).under("auto");
        let invocation = cell.invocations[0].clone();
        let of = |[one, other]: &[u32; 2]| {
            let mut invocation = invocation.clone();
            let laps = &mut invocation.runs[0].laps;
            (laps[0].strand, laps[1].strand) = (Some(*one), Some(*other));
            invocation
        };
        cell.invocations = ends.iter().map(of).collect();
        report.cells = vec![cell];
        spread(&report)
    }

    #[test]
    fn shared_cpus_cores_and_nodes_are_counted() {
        // CPUs 0 and 1 are one core, 0 to 3 one node.
        let machine = "NUMA:2 Core:2 PU:2";
        let ends = [vec![[0, 4]; 10], vec![[0, 1]; 6], vec![[2, 2]; 3], vec![[0, 2]; 1]].concat();
        let found = said(machine, &ends).unwrap();
        assert_words(
            &found.text,
            &["arith-int auto", "20 iterations", "2 threads", "one CPU in 3 (15.0%)", "core of 4 in 9 (45.0%)", "1.5"],
        );
        assert_eq!((found.value, found.workers), (Some(0.45), Some(2)));
    }

    #[test]
    fn threads_that_are_apart_are_said_to_be() {
        let found = said("Core:2 PU:1", &[[0, 1]; 20]).unwrap();
        assert_words(&found.text, &["20 iterations", "one CPU in none"]);
        assert!(!found.text.contains("core") && !found.text.contains("NUMA"), "{}", found.text);
    }

    #[test]
    fn few_iterations_and_unknown_places_show_nothing() {
        assert!(said("Core:2 PU:1", &[[0, 1]; 19]).is_none());
        assert!(said("Core:2 PU:1", &[[0, 7]; 30]).is_none());
    }
}
