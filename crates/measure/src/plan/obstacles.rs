//! What keeps cells of a plan from running.

use charz_data::escape::counted;
use charz_topology::{Machine, memory_homes};

use super::{MOST_OVERSUBSCRIBED, Plan, PlannedCell, Request};
use crate::limits::{Limits, nodes_hold};

impl Plan {
    pub(super) fn find_obstacles(&mut self, limits: &Limits, request: &Request, machine: &Machine, strands: usize) {
        for cell in &mut self.cells {
            let params = cell.point.params(&self.params);
            let pages = params.pages;
            let unfit = cell.kernel.fits(&params, cell.seats.len()).err().map(|error| error.to_string());
            // What this machine has says nothing of another.
            let unavailable = cell.kernel.check().err().filter(|_| limits.of_this_machine);
            let homes = memory_homes(cell.point.memory.unwrap_or_default(), machine, &cell.seats);
            let of_nodes = homes.and_then(|homes| nodes_hold(machine, &homes, cell.footprint_bytes, pages));
            cell.obstacle = unavailable
                .map(|error| error.to_string())
                .or(cell.obstacle.take())
                .or(unfit)
                .or(of_nodes.err())
                .or_else(|| limits.obstacle(cell.seats.len(), cell.footprint_bytes, pages))
                .or_else(|| crowd(cell, strands))
                .or_else(|| storm(cell, limits, request, strands));
        }
    }
}

/// Why workers are too many that need a CPU each.
fn crowd(cell: &PlannedCell, strands: usize) -> Option<String> {
    let workers = cell.seats.len();
    let is_short = workers > strands && cell.kernel.card().needs_a_cpu_each();
    is_short.then(|| format!("needs {workers} CPUs, one per thread; usable: {strands}"))
}

/// Why workers that contend are not let loose: spinning for the same line, more of them than strands keep everything else
/// from running.
fn storm(cell: &PlannedCell, limits: &Limits, request: &Request, strands: usize) -> Option<String> {
    let workers = cell.seats.len();
    if !cell.kernel.card().contends || workers <= strands {
        return None;
    }
    let (times, cpus) = (workers.div_ceil(strands.max(1)), counted(strands, "CPU"));
    if times > request.oversubscribed {
        let most = MOST_OVERSUBSCRIBED;
        return Some(match times > most {
            true => format!("safety: {workers} threads that contend are more than {most} times the {cpus}"),
            false => format!("safety: {workers} threads contend on {cpus}; allow it with --oversubscribed={times}"),
        });
    }
    let setting = limits.panics_on_lockup.filter(|_| !request.accept_panic)?;
    Some(format!("safety: kernel.{setting} is 1, so starving the system would crash it; allow it with --accept-panic"))
}
