//! A placement in the words of launchers and run-time libraries.

use std::io::{self, Write};

use charz_topology::{Machine, Mapping, Placement, cpulist};

/// The seats of all workers in order; `None` where the workers float.
fn seats(placement: &Placement) -> Option<Vec<u32>> {
    let seats: Option<Vec<u32>> = placement.seats.iter().copied().collect();
    seats.filter(|seats| !seats.is_empty())
}

/// The seats up to where they start over.
fn round(seats: &[u32]) -> &[u32] {
    let mut seen = std::collections::HashSet::new();
    let end = seats.iter().position(|seat| !seen.insert(*seat)).unwrap_or(seats.len());
    &seats[..end]
}

/// The seats as a set: ascending, each once.
fn set(mut seats: Vec<u32>) -> Vec<u32> {
    seats.sort_unstable();
    seats.dedup();
    seats
}

fn join(seats: &[u32], separator: &str) -> String {
    seats.iter().map(u32::to_string).collect::<Vec<_>>().join(separator)
}

pub(super) fn taskset(_: &Machine, _: &Mapping, placement: &Placement, out: &mut dyn Write) -> io::Result<()> {
    match seats(placement) {
        Some(seats) => {
            writeln!(out, "# A set, not an order: the operating system moves the process's threads within it.")?;
            writeln!(out, "taskset -c {}", cpulist::print(&set(seats)))
        }
        None => writeln!(out, "# auto binds nothing: start the program without taskset."),
    }
}

/// With as many places as threads, and `close`, thread `i` gets place `i`. With fewer places OpenMP would put
/// neighbours on one place instead of starting over, so that a place that two threads share stands there twice.
pub(super) fn omp_places(_: &Machine, _: &Mapping, placement: &Placement, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "export OMP_NUM_THREADS={}", placement.seats.len())?;
    match seats(placement) {
        Some(seats) => {
            let places: Vec<String> = seats.iter().map(|seat| format!("{{{seat}}}")).collect();
            writeln!(out, "export OMP_PROC_BIND=close\nexport OMP_PLACES=\"{}\"", places.join(","))
        }
        None => writeln!(out, "export OMP_PROC_BIND=false\nunset OMP_PLACES"),
    }
}

pub(super) fn gomp(_: &Machine, _: &Mapping, placement: &Placement, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "export OMP_NUM_THREADS={}", placement.seats.len())?;
    match seats(placement) {
        Some(seats) => writeln!(out, "export GOMP_CPU_AFFINITY=\"{}\"", join(&seats, " ")),
        None => writeln!(out, "unset GOMP_CPU_AFFINITY"),
    }
}

pub(super) fn likwid(_: &Machine, _: &Mapping, placement: &Placement, out: &mut dyn Write) -> io::Result<()> {
    let Some(seats) = seats(placement) else {
        return writeln!(out, "# auto binds nothing: start the program without likwid-pin.");
    };
    let round = round(&seats);
    if round.len() < seats.len() {
        let (threads, strands) = (seats.len(), round.len());
        writeln!(out, "# likwid-pin starts the list over: {threads} threads on {strands} strands.")?;
    }
    writeln!(out, "likwid-pin -c {}", join(round, ","))
}

/// srun starts its list over by itself; it places tasks, which are processes. The ids hold on one node only.
pub(super) fn srun(_: &Machine, _: &Mapping, placement: &Placement, out: &mut dyn Write) -> io::Result<()> {
    let bind = match seats(placement) {
        Some(seats) => format!("map_cpu:{}", join(round(&seats), ",")),
        None => "none".to_owned(),
    };
    writeln!(out, "srun --nodes=1 --ntasks={} --cpu-bind={bind}", placement.seats.len())
}

/// Floating workers may use all that the process may use.
pub(super) fn cpuset(machine: &Machine, _: &Mapping, placement: &Placement, out: &mut dyn Write) -> io::Result<()> {
    let all = || machine.usable_strands().map(|strand| strand.os_id).collect();
    writeln!(out, "{}", cpulist::print(&set(seats(placement).unwrap_or_else(all))))
}
