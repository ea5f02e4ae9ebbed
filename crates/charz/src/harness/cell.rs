//! Measuring one cell.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::thread;

use charz_kernels::{Kernel, Params, Stage};

use super::counters::MachineCounts;
use super::fingerprint::Fingerprint;
use super::frequency::{Frequencies, Frequency};
use super::gate::{Decision, Gate};
use super::pages::{Nodes, PagesObtained, Plot};
use super::worker::{Outcome, Post};
use super::{Bench, Failure, Measurement, Run};

/// What is to be measured.
#[derive(Clone, Copy)]
pub struct Cell<'a> {
    /// The kernel.
    pub kernel: &'static dyn Kernel,
    /// Its parameters.
    pub params: Params,
    /// One seat a worker: an OS id, or `None` for a floating worker. Not empty.
    pub seats: &'a [Option<u32>],
    /// The NUMA node of each seat, as far as it is known; empty where nobody asks.
    pub nodes: &'a [Option<u32>],
    /// The NUMA nodes that each worker's memory is to come from, by OS ids: an element a worker, or one that stands for all;
    /// none where each worker's own touch decides.
    pub homes: &'a [Vec<u32>],
    /// How often, at least once.
    pub repetitions: usize,
}

/// The stack of a worker: kernels keep their data in blocks, so that half of the standard library's default is plenty, and
/// thousands of workers stay within small limits of address space (`ulimit -v`).
const STACK_BYTES: usize = 1024 * 1024;

/// Runs a cell on its own threads and joins them all, whatever happens.
///
/// # Errors
/// The first failure, by rank, of any worker; nothing that was measured before it is trusted.
pub fn measure(cell: &Cell<'_>, bench: Bench<'_>) -> Result<Measurement, Failure> {
    if bench.stop.raised() {
        return Err(Failure::Stopped);
    }
    cell.kernel.check()?;
    let workers = cell.seats.len();
    let stage = cell.kernel.stage(&cell.params, workers)?;
    let spinners = if workers <= bench.strands { workers } else { 0 };
    let gate = Gate::new(workers + 1, spinners);
    let plots = Mutex::new(Vec::new());
    // Sharing a strand, a canary would tell the scheduler's doing, and an empty kernel has no use for it.
    let frequencies = (spinners > 0 && !cell.kernel.card().params.is_empty()).then(Frequencies::default);
    let before = Fingerprint::read();
    let mut watched = Watched::default();
    let outcomes = thread::scope(|scope| {
        let mut handles = Vec::with_capacity(workers);
        for (rank, &seat) in cell.seats.iter().enumerate() {
            let post = Post {
                rank,
                seat,
                repetitions: cell.repetitions,
                stage: stage.as_ref(),
                bench,
                gate: &gate,
                plots: &plots,
                node: cell.nodes.get(rank).copied().flatten(),
                homes: cell.homes.get(rank).or(cell.homes.first()).map_or(&[], Vec::as_slice),
                frequencies: frequencies.as_ref(),
            };
            let builder = thread::Builder::new().name(format!("worker-{rank}")).stack_size(STACK_BYTES);
            match builder.spawn_scoped(scope, move || post.serve()) {
                Ok(handle) => handles.push(handle),
                Err(error) => {
                    gate.close();
                    watched.failure = Some(Failure::Refused(format!(
                        "the system gave {rank} of {workers} threads and refused the next: {error}"
                    )));
                    break;
                }
            }
        }
        if watched.failure.is_none() {
            watched.watch(cell, bench, &gate, &plots);
        }
        handles
            .into_iter()
            .map(|handle| {
                handle.join().unwrap_or_else(|_| Outcome {
                    laps: Vec::new(),
                    failure: Some(Failure::Panicked("a worker panicked outside of its kernel".into())),
                })
            })
            .collect()
    });
    watched.changes = before.changes(&Fingerprint::read());
    watched.frequency = frequencies.and_then(|frequencies| frequencies.summary(workers));
    conclude(stage.as_ref(), cell, bench, watched, outcomes)
}

/// What the calling thread saw between the gates.
#[derive(Default)]
struct Watched {
    pages: Option<PagesObtained>,
    nodes: Option<Nodes>,
    frequency: Option<Frequency>,
    changes: Vec<String>,
    machine: Vec<MachineCounts>,
    failure: Option<Failure>,
}

impl Watched {
    fn watch(&mut self, cell: &Cell<'_>, bench: Bench<'_>, gate: &Gate, plots: &Mutex<Vec<Plot>>) {
        if gate.arrive() == Decision::NoGo {
            return;
        }
        let plots = plots.lock().unwrap_or_else(PoisonError::into_inner);
        (self.pages, self.nodes) = (PagesObtained::look_up(&plots), Nodes::look_up(&plots));
        drop(plots);
        if gate.arrive() == Decision::NoGo {
            return;
        }
        // A floating worker may be anywhere.
        let seats: Option<BTreeSet<u32>> = cell.seats.iter().copied().collect();
        let seats: Vec<u32> = seats.into_iter().flatten().collect();
        for _ in 0..cell.repetitions {
            if bench.stop.raised() {
                gate.close();
                return;
            }
            let before = MachineCounts::read(&seats);
            if gate.arrive() == Decision::NoGo || gate.arrive() == Decision::NoGo {
                return;
            }
            self.machine.push(MachineCounts::read(&seats).since(before));
            if gate.arrive() == Decision::NoGo {
                return;
            }
        }
    }
}

fn conclude(
    stage: &dyn Stage,
    cell: &Cell<'_>,
    bench: Bench<'_>,
    watched: Watched,
    outcomes: Vec<Outcome>,
) -> Result<Measurement, Failure> {
    let failures = outcomes.iter().filter_map(|outcome| outcome.failure.clone());
    if let Some(failure) = watched.failure.into_iter().chain(failures).next() {
        return Err(failure);
    }
    // A stop in the middle of a run leaves some workers with a lap more than others: only whole runs count.
    let whole = outcomes.iter().map(|outcome| outcome.laps.len()).min().unwrap_or(0);
    if whole == 0 && bench.stop.raised() {
        return Err(Failure::Stopped);
    }
    let mut laps: Vec<_> = outcomes.into_iter().map(|outcome| outcome.laps.into_iter()).collect();
    let runs = watched
        .machine
        .into_iter()
        .take(whole)
        .map(|machine| Run { laps: laps.iter_mut().filter_map(Iterator::next).collect(), machine })
        .collect();
    Ok(Measurement {
        variant: stage.variant(),
        runs,
        pages: watched.pages,
        nodes: watched.nodes,
        frequency: watched.frequency,
        changes: watched.changes,
        stopped: whole < cell.repetitions,
    })
}
