//! `charz numa`: the short way to what memory takes from each NUMA node to each.

use std::collections::BTreeMap;
use std::io::Write;

use charz_data::{MemoryPolicy, Params, params, units};
use charz_kernels::PageKind;
use charz_topology::{Machine, Mapping, cpulist};

use super::sweep::{self, New};
use crate::exit::{Error, Exit};
use crate::view::progress::note;
use charz_analysis::numa::is_latency;
use charz_measure::harness::LEAST_REPETITIONS;
use charz_measure::limits::Limits;
use charz_measure::plan::{AskedSizes, BlockSizes, FEWEST_SHARE, Plan, Request};
use charz_measure::predict::Predictor;
use charz_render::formats::Format;

pub struct Options {
    /// The sweep, whose mappings, numbers of workers and places of memory are still to be filled in.
    pub new: New,
    pub format: &'static Format,
}

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<Exit, Error> {
    let Options { new, format } = options;
    let kernels = |_: &Machine, _: &Limits| Ok(new.request.kernels.clone());
    sweep::measure(new, *format, out, kernels, |_, machine, limits, predictor| {
        if machine.nodes_for_memory().len() < 2 {
            note("one NUMA node has all memory: nothing is remote, and each kernel has one number");
        }
        Ok((plan(&mut new.request.clone(), machine, limits, predictor)?, None))
    })
}

/// The strands of each node with the memory of each: one strand for the latency, and all for the bandwidth.
pub(crate) fn plan(
    request: &mut Request,
    machine: &Machine,
    limits: &Limits,
    predictor: &Predictor,
) -> Result<Plan, Error> {
    let mut strands: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for strand in machine.usable_strands() {
        if let Some(node) = strand.numa {
            strands.entry(node).or_default().push(strand.os_id);
        }
    }
    if strands.is_empty() {
        return Err(Error::environment("the system does not report the NUMA nodes of the CPUs"));
    }
    let mappings = strands.values().map(|ids| Ok((format!("list:{}", cpulist::print(ids)).parse()?, ids.len())));
    let mappings: Vec<(Mapping, usize)> = mappings.collect::<Result<_, Error>>()?;
    let mut threads: Vec<usize> = mappings.iter().map(|(_, strands)| *strands).chain([1]).collect();
    threads.sort_unstable();
    threads.dedup();
    let threads: Vec<String> = threads.iter().map(usize::to_string).collect();
    request.threads = threads.join(",").parse().map_err(Error::bad_input)?;
    request.mappings = Some(mappings.iter().map(|(mapping, _)| mapping.clone()).collect());
    if request.asked.sizes.is_none() {
        request.params.size_bytes = BlockSizes::of(machine).memory(request.params.size_bytes);
    }
    fit_blocks(request, mappings.iter().map(|(_, strands)| *strands).max().unwrap_or(1), limits);
    request.asked.sizes = Some(AskedSizes::List(vec![request.params.size_bytes]));
    let on = |node| Params { memory: MemoryPolicy::Node(node), ..Params::SMALL };
    request.asked.lists.retain(|(param, _)| **param != params::MEMORY);
    request.asked.lists.push((&params::MEMORY, machine.nodes_for_memory().into_iter().map(on).collect()));
    let planned = |request: &Request| -> Result<Plan, Error> {
        let mut plan = Plan::new(request, &request.fit(machine, limits)?, limits, predictor);
        // Each number of workers is that of some node, and none of the others'.
        plan.cells.retain(|cell| {
            let all = mappings.iter().find(|(mapping, _)| *mapping == cell.mapping).map(|(_, strands)| *strands);
            let wanted = if is_latency(&cell.kernel.card().role) { Some(1) } else { all };
            wanted == Some(cell.seats.len())
        });
        Ok(plan)
    };
    let plan = planned(request)?;
    if request.repetitions.is_some() || plan.predicted() <= plan.budget.mul_f64(FEWEST_SHARE) {
        return Ok(plan);
    }
    // Of many nodes there are more pairs than time for as many repetitions of each.
    request.repetitions = Some(LEAST_REPETITIONS);
    planned(request)
}

/// Takes smaller blocks where those of all strands of a node together are more than a cell may take, and says so. Blocks that caches could
/// hold are no answer: their cells are skipped with the reason.
fn fit_blocks(request: &mut Request, workers: usize, limits: &Limits) {
    let reserved = matches!(request.params.pages, PageKind::Huge2M | PageKind::Huge1G);
    let Some(budget) = limits.memory_budget_bytes.filter(|_| !reserved) else { return };
    let size = &mut request.params.size_bytes;
    // Memory that is free now may be less at the run.
    let fitting = budget / 10 * 9 / workers as u64 / LEAST_BLOCK * LEAST_BLOCK;
    if *size > fitting && fitting >= LEAST_BLOCK {
        let (asked, taken) = (units::iec(*size), units::iec(fitting));
        note(&format!("blocks of {taken} instead of {asked}: {workers} of those are more than {}", units::iec(budget)));
        *size = fitting;
    }
}

const LEAST_BLOCK: u64 = 16 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_as_small_as_memory_asks_for() {
        let limits = |mib: u64| Limits { memory_budget_bytes: Some(mib << 20), ..Limits::unlimited() };
        let size = |limits: &Limits| {
            let mut request = charz_measure::fixtures::request(&["mem-read"], "dumb", "1");
            request.params.size_bytes = 256 << 20;
            fit_blocks(&mut request, 8, limits);
            request.params.size_bytes >> 20
        };
        assert_eq!(size(&limits(1843)), 192, "8 blocks of 256 MiB take 2 GiB");
        assert_eq!((size(&limits(4096)), size(&Limits::unlimited())), (256, 256));
        assert_eq!(size(&limits(100)), 256, "caches would hold what fits");
    }
}
