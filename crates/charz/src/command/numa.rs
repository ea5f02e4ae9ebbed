//! `charz numa`: the short way to what memory takes from each NUMA node to each.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::PathBuf;

use charz_data::report::MemoryHome;
use charz_data::{MemoryPolicy, Params, params};
use charz_topology::{Machine, Mapping, cpulist};

use super::sweep::{self, New};
use crate::exit::{Error, Exit};
use crate::view::progress::note;
use charz_claims::numa::is_latency;
use charz_measure::harness::LEAST_REPETITIONS;
use charz_measure::limits::Limits;
use charz_measure::plan::{AskedSizes, FEWEST_SHARE, Plan, Request};
use charz_measure::predict::Predictor;
use charz_render::formats::Format;

pub struct Options {
    /// The sweep, whose mappings, numbers of workers and places of memory are still to be filled in.
    pub new: New,
    /// A file whose disk is read from each node, in place of the sweep.
    pub disk: Option<PathBuf>,
    pub format: &'static Format,
}

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<Exit, Error> {
    let Options { new, disk, format } = options;
    if let Some(file) = disk {
        return super::disk::run(file, new, format.name == charz_render::formats::JSON.name, out);
    }
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
    let threads: BTreeSet<usize> = mappings.iter().map(|(_, strands)| *strands).chain([1]).collect();
    let threads: Vec<String> = threads.iter().map(usize::to_string).collect();
    request.threads = threads.join(",").parse().map_err(Error::bad_input)?;
    request.mappings = Some(mappings.iter().map(|(mapping, _)| mapping.clone()).collect());
    request.asked.sizes.get_or_insert(AskedSizes::Memory);
    let on = |node| Params { memory: MemoryPolicy::Node(node), ..Params::SMALL };
    request.asked.lists.retain(|(param, _)| **param != params::MEMORY);
    let nodes = machine.nodes_for_memory();
    let all = (nodes.len() > 1).then_some(Params { memory: MemoryPolicy::Interleaved, ..Params::SMALL });
    request.asked.lists.push((&params::MEMORY, nodes.into_iter().map(on).chain(all).collect()));
    let planned = |request: &Request| -> Result<Plan, Error> {
        let mut plan = Plan::new(request, &request.fit(machine, limits)?, limits, predictor);
        // Each number of workers is that of some node, and none of the others'.
        plan.cells.retain(|cell| {
            let all = mappings.iter().find(|(mapping, _)| *mapping == cell.mapping).map(|(_, strands)| *strands);
            let is_latency = is_latency(&cell.kernel.card().role);
            let wanted = if is_latency { Some(1) } else { all };
            // Of all nodes together the bandwidth alone is asked.
            let is_asked = !(is_latency && cell.point.memory == Some(MemoryHome::Interleaved));
            is_asked && wanted == Some(cell.seats.len())
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
