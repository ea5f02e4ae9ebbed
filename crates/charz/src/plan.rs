//! What a sweep is going to do: every cell, validated, before anything runs.

mod threads;

use std::time::Duration;

use charz_kernels::{Kernel, Params};
use charz_topology::{Machine, Mapping, place};

pub use threads::Threads;

use crate::exit::Error;
use crate::limits::Limits;
use crate::predict::Predictor;

/// What the user asked for.
#[derive(Clone)]
pub struct Request {
    /// At least one.
    pub kernels: Vec<&'static dyn Kernel>,
    /// At least one.
    pub mappings: Vec<Mapping>,
    /// Numbers of workers.
    pub threads: Threads,
    /// Steps of a loop per worker and repetition; `None` takes as many as the budget allows.
    pub iterations: Option<u64>,
    /// The other parameters; its own `iterations` is not looked at.
    pub params: Params,
    /// At least 1.
    pub repetitions: usize,
    /// The longest that the sweep may take.
    pub budget: Duration,
}

/// A validated sweep.
pub struct Plan {
    /// The parameters of every cell.
    pub params: Params,
    /// Numbers of workers, ascending.
    pub threads: Vec<usize>,
    /// Repetitions of each cell.
    pub repetitions: usize,
    /// The longest that the sweep may take.
    pub budget: Duration,
    /// The cells, in the order in which they run: by kernel, then workers, then mapping, so that mappings that will be
    /// compared are measured close together in time.
    pub cells: Vec<PlannedCell>,
}

/// One cell to come.
pub struct PlannedCell {
    /// The kernel.
    pub kernel: &'static dyn Kernel,
    /// The mapping.
    pub mapping: Mapping,
    /// One seat a worker; `None` floats.
    pub seats: Vec<Option<u32>>,
    /// What the workers' blocks take in all.
    pub footprint_bytes: u64,
    /// How long it will take, roughly.
    pub predicted: Duration,
    /// Why it will not run.
    pub obstacle: Option<Obstacle>,
}

/// Why a cell will not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// The kernel cannot run on this machine.
    Unavailable(String),
    /// It could, but must not: the reason.
    Skipped(String),
}

/// The most repetitions that can be asked for: every lap is kept.
pub const MOST_REPETITIONS: u64 = 10_000;
/// The largest block that can be asked for: a petabyte is a slip of the finger.
pub const MOST_BYTES: u64 = 1 << 50;
/// The most steps that can be asked for: at 1 ns each, a quarter of an hour a lap.
pub const MOST_ITERATIONS: u64 = 1_000_000_000_000;

/// The most steps that `auto` takes, a tenth of the source document's: beyond it nothing more is learnt.
const AUTO_ITERATIONS: u64 = 100_000_000;
/// The least that `auto` takes: about 1 ms of the fastest kernel, the shortest span worth measuring.
const LEAST_ITERATIONS: u64 = 1_000_000;
/// The share of the budget that a plan with automatic iterations may fill by its own prediction.
const PLANNED_SHARE: f64 = 0.75;

impl Plan {
    /// Lays the cells out.
    ///
    /// # Errors
    /// A mapping that does not fit the machine, or more workers than the machine can hold.
    pub fn new(request: &Request, machine: &Machine, limits: &Limits, predictor: &Predictor) -> Result<Self, Error> {
        let strands = machine.usable_strands().count();
        let threads = request.threads.resolve(strands, limits)?;
        let orders = request
            .mappings
            .iter()
            .map(|mapping| Ok((mapping, mapping.order(machine)?)))
            .collect::<Result<Vec<_>, Error>>()?;
        let mut params = request.params;
        params.iterations = request.iterations.unwrap_or(AUTO_ITERATIONS);
        let mut cells = Vec::with_capacity(request.kernels.len() * threads.len() * orders.len());
        for &kernel in &request.kernels {
            for (turn, &workers) in threads.iter().enumerate() {
                // Each mapping takes its turn in going first, so that a drift of the machine favours none.
                let (later, first) = orders.split_at(turn % orders.len());
                for (mapping, order) in first.iter().chain(later) {
                    cells.push(PlannedCell {
                        kernel,
                        mapping: (*mapping).clone(),
                        seats: place(order, workers).seats,
                        footprint_bytes: kernel.footprint(&params).0.saturating_mul(workers as u64),
                        predicted: Duration::ZERO,
                        obstacle: None,
                    });
                }
            }
        }
        let mut plan = Plan { params, threads, repetitions: request.repetitions, budget: request.budget, cells };
        plan.find_obstacles(limits);
        plan.predict(predictor);
        if request.iterations.is_none() {
            plan.fit_iterations(predictor);
        }
        Ok(plan)
    }

    /// What the cells will take together.
    pub fn predicted(&self) -> Duration {
        self.cells.iter().filter(|cell| cell.obstacle.is_none()).map(|cell| cell.predicted).sum()
    }

    fn find_obstacles(&mut self, limits: &Limits) {
        for cell in &mut self.cells {
            cell.obstacle = match cell.kernel.check() {
                Err(error) => Some(Obstacle::Unavailable(error.to_string())),
                Ok(()) => {
                    limits.obstacle(cell.seats.len(), cell.footprint_bytes, self.params.pages).map(Obstacle::Skipped)
                }
            };
        }
    }

    fn predict(&mut self, predictor: &Predictor) {
        for cell in &mut self.cells {
            cell.predicted = predictor.cell(cell.kernel, &self.params, cell.seats.len(), self.repetitions);
        }
    }

    /// Takes the largest of 1, 2 and 5 times a power of ten whose plan fits well into the budget.
    fn fit_iterations(&mut self, predictor: &Predictor) {
        let target = self.budget.mul_f64(PLANNED_SHARE);
        for factor in [5, 2, 1].into_iter().cycle() {
            if self.predicted() <= target || self.params.iterations <= LEAST_ITERATIONS {
                return;
            }
            let power = 10_u64.pow((self.params.iterations - 1).ilog10());
            self.params.iterations = (factor * power).max(LEAST_ITERATIONS);
            self.predict(predictor);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use charz_kernels::{Bytes, Layout, PagePolicy};
    use charz_topology::{Source, discover};

    fn request(kernels: &[&str], mappings: &str, threads: &str) -> Request {
        Request {
            kernels: kernels.iter().map(|name| charz_kernels::find(name).unwrap()).collect(),
            mappings: charz_topology::parse_mappings(mappings).unwrap(),
            threads: threads.parse().unwrap(),
            iterations: None,
            params: Params { iterations: 1, size: Bytes(1 << 20), pages: PagePolicy::Small, layout: Layout::Padded },
            repetitions: 3,
            budget: Duration::from_secs(100),
        }
    }

    fn t3_4() -> Machine {
        discover(&Source::Synthetic("Package:4 Core:16 Group:2 PU:4".into())).unwrap()
    }

    /// Every iteration takes 10 ns and every byte nothing.
    fn predictor(kernels: &[&'static str]) -> Predictor {
        Predictor::with_rates(512, kernels.iter().map(|name| (*name, 10.0, 0.0)))
    }

    #[test]
    fn every_combination_has_one_cell_and_mappings_are_neighbours() {
        let request = request(&["arith-int", "mem-read"], "dumb,auto", "1,2,512");
        let plan = Plan::new(&request, &t3_4(), &Limits::unlimited(), &predictor(&["arith-int"])).unwrap();
        let names: Vec<_> = plan
            .cells
            .iter()
            .map(|cell| (cell.kernel.card().name, cell.seats.len(), cell.mapping.to_string()))
            .collect();
        assert_eq!(names.len(), 12);
        assert_eq!(names[0], ("arith-int", 1, "dumb".into()));
        assert_eq!(names[1], ("arith-int", 1, "auto".into()));
        assert_eq!(names[2], ("arith-int", 2, "auto".into()), "the mappings take turns in going first");
        assert_eq!(names[11], ("mem-read", 512, "auto".into()));
    }

    #[test]
    fn what_does_not_fit_is_skipped_with_its_figures() {
        let mut limits = Limits::unlimited();
        limits.memory_budget_bytes = Some(3 << 20);
        let request = request(&["mem-read"], "dumb", "1,2,4");
        let plan = Plan::new(&request, &t3_4(), &limits, &predictor(&[])).unwrap();
        let obstacles: Vec<_> = plan.cells.iter().map(|cell| cell.obstacle.clone()).collect();
        assert_eq!(obstacles[..2], [None, None]);
        let Some(Obstacle::Skipped(reason)) = &obstacles[2] else { panic!("{obstacles:?}") };
        assert!(reason.contains("4 MiB") && reason.contains("3 MiB"), "{reason}");
    }

    #[test]
    fn automatic_iterations_fill_the_budget_but_not_more() {
        for (budget, expected) in [(1000, 100_000_000), (2, 20_000_000), (1, 20_000_000), (0, 1_000_000)] {
            let mut request = request(&["arith-int"], "dumb", "1");
            // 3 repetitions of 10 ns a step: 20,000,000 steps take 0.6 s, and 50,000,000 take 1.5 s.
            request.budget = Duration::from_secs(budget);
            let plan = Plan::new(&request, &t3_4(), &Limits::unlimited(), &predictor(&["arith-int"])).unwrap();
            assert_eq!(plan.params.iterations, expected, "budget {budget} s");
        }
        let mut request = request(&["arith-int"], "dumb", "1");
        request.budget = Duration::ZERO;
        request.iterations = Some(7_000_000);
        let plan = Plan::new(&request, &t3_4(), &Limits::unlimited(), &predictor(&["arith-int"])).unwrap();
        assert_eq!(plan.params.iterations, 7_000_000, "asked for explicitly");
    }

    #[test]
    fn a_mapping_for_another_machine_is_refused() {
        let request = request(&["arith-int"], "occupancy:22", "1");
        let error = Plan::new(&request, &t3_4(), &Limits::unlimited(), &predictor(&[])).err().unwrap();
        assert!(error.to_string().contains('4'), "{error}");
    }
}
