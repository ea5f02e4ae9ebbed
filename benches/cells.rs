//! Cells of the harness on this machine, small ones.

use std::sync::Arc;
use std::time::Duration;

use charz_data::report::{Invocation, Lap, Run};
use charz_kernels::{Kernel, Params, Stop};
use charz_measure::harness::clock::{Clock, OsClock};
use charz_measure::harness::{Bench, Cell, measure};
use charz_topology::{Backend, Binder, Machine, Mapping, Source, discover, place};

/// The repetitions of a cell.
const REPETITIONS: usize = 3;

pub struct Cells {
    machine: Machine,
    binder: Binder,
    clock: Arc<dyn Clock>,
    stop: Stop,
}

impl Cells {
    pub fn here() -> Self {
        let machine = discover(&Source::ThisMachine).expect("this machine can be described");
        let (binder, clock, stop) = (Binder::new(Backend::Hwloc), Arc::new(OsClock::default()), Stop::new());
        Cells { machine, binder, clock, stop }
    }

    /// The most workers of which each has a strand.
    fn most(&self) -> usize {
        self.machine.usable_strands().count()
    }

    /// As few workers as a kernel takes; `None` where it takes more than have strands.
    pub fn fewest(&self, kernel: &dyn Kernel, params: &Params) -> Option<usize> {
        let takes = |workers: &usize| kernel.card().workers.allows(*workers) && kernel.fits(params, *workers).is_ok();
        (1..=self.most()).find(takes)
    }

    /// A whole cell of a kernel, from its threads' creation to their end. `spins` as [`Bench::spins`].
    pub fn whole(&self, kernel: &'static dyn Kernel, params: Params, workers: usize, spins: bool) -> Invocation {
        let mapping: Mapping = "round-robin".parse().expect("it is in the table");
        let order = mapping.order(&self.machine).expect("there are strands");
        let seats = place(&order, workers).seats;
        let cell = Cell {
            kernel,
            params,
            seats: &seats,
            nodes: &[],
            homes: &[],
            repetitions: REPETITIONS,
            separate_laps: false,
        };
        let bench = Bench {
            binder: &self.binder,
            clock: &self.clock,
            stop: &self.stop,
            strands: self.most(),
            spins,
            time_box: Duration::from_secs(60),
            enough: Duration::MAX,
            counters: None,
        };
        measure(&cell, bench).unwrap_or_else(|failure| panic!("{}: {}", kernel.card().name, failure.reason))
    }

    /// The shortest time of a million units of the workers' work, operations or bytes, of a cell's repetitions.
    pub fn measured(&self, kernel: &'static dyn Kernel, params: Params, workers: usize) -> Duration {
        let unit = |run: &Run| {
            let work = |of: fn(&Lap) -> u64| run.laps.iter().map(of).sum::<u64>();
            run.interval_ns as f64 / work(|lap| lap.ops).max(work(|lap| lap.bytes)).max(1) as f64
        };
        let runs = self.whole(kernel, params, workers, true).runs;
        Duration::from_secs_f64(runs.iter().map(unit).fold(f64::INFINITY, f64::min) * 1e-9 * 1e6)
    }
}
