//! A placement in words, and in the words of the tools with which people launch programs: one format a line in
//! [`FORMATS`].
//!
//! What a tool cannot express is in a shell comment above its line. Text meant for a shell is quoted, so `eval` and a
//! copied line work.

use std::io::{self, Write};

use charz_topology::{Machine, Mapping, Placement, cpulist};
use serde::Serialize;

use charz_data::escape::{counted, or_dash, plain};
use charz_render::grid::columns;
use charz_render::json;

pub type Format = super::Format<fn(&Machine, &Mapping, &Placement, &mut dyn Write) -> io::Result<()>>;

#[rustfmt::skip]
pub static FORMATS: &[Format] = &[
    Format { name: "table", about: "A row a worker: its strand, and where that is.", write: table },
    Format { name: "json", about: "The mapping, the number of threads, and their seats: ids, or null for a floating worker.", write: json },
    Format { name: "taskset", about: "util-linux' taskset, for a whole process.", write: taskset },
    Format { name: "omp-places", about: "The variables of OpenMP, one place a thread.", write: omp_places },
    Format { name: "gomp", about: "The variable of GNU's OpenMP library.", write: gomp },
    Format { name: "likwid", about: "likwid-pin, one entry a thread.", write: likwid },
    Format { name: "srun", about: "Slurm's srun, one entry a task.", write: srun },
    Format { name: "cpuset", about: "The strands as a list, for a control group's cpuset.cpus.", write: cpuset },
];

fn table(machine: &Machine, mapping: &Mapping, placement: &Placement, out: &mut dyn Write) -> io::Result<()> {
    let workers = counted(placement.seats.len(), "worker");
    let stacked = match placement.most_on_one_strand {
        0 => "the operating system places and moves them".to_owned(),
        1 => "a strand each".to_owned(),
        most => format!("up to {most} on one strand"),
    };
    writeln!(out, "{}: {workers}, {stacked}", plain(&mapping.to_string()))?;
    if machine.alu.is_known() {
        writeln!(out, "ALU groups: {}", machine.alu)?;
    }
    let strands: std::collections::HashMap<u32, _> =
        machine.strands.iter().map(|strand| (strand.os_id, strand)).collect();
    let rows: Vec<[String; 8]> = placement
        .seats
        .iter()
        .enumerate()
        .map(|(worker, seat)| {
            let strand = seat.and_then(|seat| strands.get(&seat));
            let place =
                |index: fn(&charz_topology::Strand) -> Option<u32>| or_dash(strand.and_then(|strand| index(strand)));
            [
                worker.to_string(),
                or_dash(*seat),
                place(|strand| strand.package),
                place(|strand| strand.numa),
                place(|strand| strand.core),
                place(|strand| Some(strand.alu)),
                place(|strand| Some(strand.slot)),
                place(|strand| strand.kind),
            ]
        })
        .collect();
    columns(&["worker", "strand", "package", "numa", "core", "alu", "slot", "kind"], &[7], &rows, out)
}

#[derive(Serialize)]
struct Json<'a> {
    mapping: String,
    threads: usize,
    seats: &'a [Option<u32>],
}

fn json(_: &Machine, mapping: &Mapping, placement: &Placement, out: &mut dyn Write) -> io::Result<()> {
    let seats = &placement.seats;
    json::write_compact(&Json { mapping: mapping.to_string(), threads: seats.len(), seats }, out)?;
    writeln!(out)
}

/// The seats of all workers in order; `None` where the workers float.
fn seats(placement: &Placement) -> Option<Vec<u32>> {
    let seats: Option<Vec<u32>> = placement.seats.iter().copied().collect();
    seats.filter(|seats| !seats.is_empty())
}

fn round(seats: &[u32]) -> &[u32] {
    let mut seen = std::collections::HashSet::new();
    let end = seats.iter().position(|seat| !seen.insert(*seat)).unwrap_or(seats.len());
    &seats[..end]
}

fn set(mut seats: Vec<u32>) -> Vec<u32> {
    seats.sort_unstable();
    seats.dedup();
    seats
}

fn join(seats: &[u32], separator: &str) -> String {
    seats.iter().map(u32::to_string).collect::<Vec<_>>().join(separator)
}

fn taskset(_: &Machine, _: &Mapping, placement: &Placement, out: &mut dyn Write) -> io::Result<()> {
    match seats(placement) {
        Some(seats) => {
            writeln!(out, "# A set, not an order: the operating system moves the process's threads within it.")?;
            writeln!(out, "taskset -c {}", cpulist::print(&set(seats)))
        }
        None => writeln!(out, "# auto binds nothing: start the program without taskset."),
    }
}

/// With as many places as threads, and `close`, thread `i` gets place `i`. With fewer places OpenMP would put
/// neighbours on one place instead of starting over, so a place that two threads share is listed twice.
fn omp_places(_: &Machine, _: &Mapping, placement: &Placement, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "export OMP_NUM_THREADS={}", placement.seats.len())?;
    match seats(placement) {
        Some(seats) => {
            let places: Vec<String> = seats.iter().map(|seat| format!("{{{seat}}}")).collect();
            writeln!(out, "export OMP_PROC_BIND=close\nexport OMP_PLACES=\"{}\"", places.join(","))
        }
        None => writeln!(out, "export OMP_PROC_BIND=false\nunset OMP_PLACES"),
    }
}

fn gomp(_: &Machine, _: &Mapping, placement: &Placement, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "export OMP_NUM_THREADS={}", placement.seats.len())?;
    match seats(placement) {
        Some(seats) => writeln!(out, "export GOMP_CPU_AFFINITY=\"{}\"", join(&seats, " ")),
        None => writeln!(out, "unset GOMP_CPU_AFFINITY"),
    }
}

fn likwid(_: &Machine, _: &Mapping, placement: &Placement, out: &mut dyn Write) -> io::Result<()> {
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
fn srun(_: &Machine, _: &Mapping, placement: &Placement, out: &mut dyn Write) -> io::Result<()> {
    let bind = match seats(placement) {
        Some(seats) => format!("map_cpu:{}", join(round(&seats), ",")),
        None => "none".to_owned(),
    };
    writeln!(out, "srun --nodes=1 --ntasks={} --cpu-bind={bind}", placement.seats.len())
}

/// Floating workers may use all that the process may use.
fn cpuset(machine: &Machine, _: &Mapping, placement: &Placement, out: &mut dyn Write) -> io::Result<()> {
    let all = || machine.usable_strands().map(|strand| strand.os_id).collect();
    writeln!(out, "{}", cpulist::print(&set(seats(placement).unwrap_or_else(all))))
}
