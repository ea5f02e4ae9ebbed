//! The lines that launch a program as it is advised.

use charz_claims::advise::{Advice, Load, is_usual};
use charz_data::escape::quoted;
use charz_data::report::MemoryHome;

use crate::launch::{Launch, PROGRAM, Placed, TOOLS};

fn placed<'a>(advice: &'a Advice<'_>) -> Placed<'a> {
    Placed { machine: &advice.report.machine, seats: &advice.best.cell.seats, memory: home(advice) }
}

/// Where the memory is to be: where it was, unless it is asked for elsewhere.
fn home(advice: &Advice<'_>) -> MemoryHome {
    advice.asked_home.unwrap_or_else(|| advice.home())
}

/// How each tool launches a program so, by the tool's name.
pub fn launches<'a>(advice: &'a Advice<'_>) -> impl Iterator<Item = (&'static str, Launch)> + use<'a> {
    let placed = placed(advice);
    TOOLS.iter().map(move |tool| (tool.name, placed.launch(tool)))
}

/// The line that most can paste: charz exec's where unpinned threads lose or memory was remote, else taskset's, for each of several
/// copies, or numactl's where memory is not left to the threads' own touch. `None` where the operating system places both, where
/// the line would name all CPUs and nothing else, where no line places the memory, and where the placement is not [settled](Advice::is_settled).
pub fn paste(advice: &Advice<'_>) -> Option<String> {
    if !advice.is_settled() {
        return None;
    }
    let own =
        advice.report.plan.program.as_ref().filter(|_| advice.load == Load::Program && is_usual(Some(home(advice))));
    let seats: Option<Vec<u32>> = advice.best.cell.seats.iter().copied().collect();
    let copies = own.zip(seats).and_then(|(own, seats)| own.copies(&seats, &advice.best.cell.mapping));
    if copies.is_some() {
        return copies;
    }
    // A set of CPUs keeps threads off others, and none of its threads off another.
    let must_pin = advice.must_pin() && is_usual(Some(home(advice)));
    let (mapping, threads) = (&advice.best.cell.mapping, advice.best.cell.workers);
    // A list may have a CPU twice.
    if must_pin && !mapping.starts_with("list:") {
        let mapping = quoted(mapping);
        return Some(format!("charz exec --mapping {mapping} --threads {threads} -- {}", program(advice)));
    }
    let tool = match home(advice) {
        // As map --near has it: each thread on its seat.
        _ if advice.asked_home.is_some() => "exec",
        // The system keeps threads on these without a line.
        MemoryHome::Local if !must_pin && takes_all_cpus(advice) => return None,
        MemoryHome::Local if !must_pin => "taskset",
        MemoryHome::Local => "exec",
        MemoryHome::Remote if placed(advice).has_several_remotes() => return None,
        // numactl has no word for it.
        MemoryHome::Remote => "exec",
        _ => "numactl",
    };
    launches(advice).find(|(name, _)| *name == tool)?.1.line(&program(advice))
}

/// Whether it names every usable CPU, and no more about the program than that.
fn takes_all_cpus(advice: &Advice<'_>) -> bool {
    let seats = &advice.best.cell.seats;
    advice.load != Load::Program && advice.report.machine.usable_strands().all(|one| seats.contains(&Some(one.os_id)))
}

/// What is launched: the user's program as it was measured so, and [`PROGRAM`] for others and for copies.
pub fn program(advice: &Advice<'_>) -> String {
    let cell = advice.best.cell;
    let usable = || advice.report.machine.usable_strands().map(|strand| strand.os_id).collect();
    let seats: Vec<u32> = cell.seats.iter().copied().collect::<Option<_>>().unwrap_or_else(usable);
    let own = advice.report.plan.program.as_ref().filter(|_| advice.load == Load::Program);
    let own = own.and_then(|program| program.line(cell.seats.len(), &seats, &cell.mapping));
    own.unwrap_or_else(|| PROGRAM.to_owned())
}
