//! How long a synthetic machine takes to load, to map round-robin and to print as JSON, with hwloc's share apart:
//! `load DESCRIPTION` prints hwloc's seconds, then ours.
#![allow(clippy::print_stdout, reason = "the figures are this program's output")]

use std::time::Instant;

use charz_topology::{Mapping, Source, discover_timed, place};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let description =
        std::env::args().nth(1).ok_or("give a synthetic description, such as \"Package:64 Core:128 PU:8\"")?;
    let start = Instant::now();
    let (machine, hwloc) = discover_timed(&Source::Synthetic(description))?;
    let order = "round-robin".parse::<Mapping>()?.order(&machine)?;
    let seats = place(&order, machine.strands.len()).seats;
    let json = serde_json::to_string(&(&machine, seats))?;
    let ours = start.elapsed().saturating_sub(hwloc);
    std::hint::black_box(json);
    println!("{:.6}\t{:.6}", hwloc.as_secs_f64(), ours.as_secs_f64());
    Ok(())
}
