//! A plan of cells that are listed one by one, in place of a product of kernels, mappings and worker counts.

use std::collections::{HashMap, HashSet};

use charz_kernels::{Bytes, Kernel, Param, Sizes, params};
use charz_topology::{Machine, Mapping, Order, place};

use super::axes;
use super::{BlockSizes, Plan, PlanError, PlannedCell, Request};
use crate::limits::Limits;
use crate::predict::Predictor;
use crate::user_program;
use charz_data::CellSpec;
use charz_data::escape::counted;
use charz_data::report::{Cell, MemoryHome, Point};

impl Plan {
    /// Plans each of these cells once. One that does not fit the machine is skipped, with the reason. The kernels, mappings, worker
    /// counts and lists of parameters of the request are ignored.
    pub fn of_specs(
        request: &Request,
        specs: &[CellSpec],
        machine: &Machine,
        limits: &Limits,
        predictor: &Predictor,
    ) -> Result<Plan, PlanError> {
        let (request, ladder) = (&request.settled(limits), BlockSizes::of(machine));
        let mut orders: HashMap<&str, (Mapping, Result<Order, String>)> = HashMap::new();
        let mut seen = HashSet::new();
        let mut cells = Vec::new();
        for spec in specs {
            if !orders.contains_key(spec.mapping.as_str()) {
                let mapping: Mapping = spec.mapping.parse()?;
                let order = mapping.order(machine).map_err(|error| error.to_string());
                orders.insert(&spec.mapping, (mapping, order));
            }
            let (mapping, order) = &orders[spec.mapping.as_str()];
            let workers = usize::try_from(spec.workers).unwrap_or(usize::MAX);
            let seats = order.as_ref().map_or_else(|_| vec![None; workers], |order| place(order, workers).seats);
            let size = match &spec.level {
                Some(level) => size_inside(level, &seats, request, machine, &ladder).map(Some),
                None => Ok(spec.size),
            };
            let kernel = kernel(spec)?;
            let card = kernel.card();
            let refused = (!card.workers.allows(workers))
                .then(|| format!("{} does not run with {}", &*card.name, counted(workers, "worker")));
            let point = point(spec, kernel, size.clone().ok().flatten(), request);
            let obstacle = order.as_ref().err().cloned().or(size.err()).or(refused);
            let planned = PlannedCell::new(request, machine, kernel, point, mapping.clone(), seats, None);
            if seen.insert((&*card.name, &spec.mapping, spec.workers, planned.point)) {
                cells.push(PlannedCell {
                    // A level that the machine lacks is named too.
                    level: if obstacle.is_some() { spec.level.clone() } else { planned.level },
                    obstacle,
                    ..planned
                });
            }
        }
        Ok(Plan::of_cells(request, cells, machine, limits, predictor))
    }
}

impl Plan {
    /// Plans cells of a report again, with the parameters of the request: with as many repetitions. One that would be on
    /// other seats is skipped, and so is one whose mapping does not fit the machine.
    ///
    /// # Errors
    ///
    /// The kernel or the mapping of a cell is none of this program's.
    pub fn again(
        request: &Request,
        cells: &[&Cell],
        machine: &Machine,
        limits: &Limits,
        predictor: &Predictor,
    ) -> Result<Plan, PlanError> {
        let mut planned = Vec::new();
        for cell in cells {
            let kernel = named(&cell.kernel)?;
            let mapping = Mapping::of_data(&cell.mapping)?;
            let obstacle = match mapping.order(machine).map(|order| place(&order, cell.seats.len()).seats) {
                Ok(seats) if seats == cell.seats => None,
                Ok(_) => Some("its threads would be on other CPUs than in the report".to_owned()),
                Err(error) => Some(error.to_string()),
            };
            let seats = cell.seats.clone();
            let own = PlannedCell::new(request, machine, kernel, cell.point, mapping, seats, cell.block_bytes);
            planned.push(PlannedCell { obstacle, ..own });
        }
        let mut request = request.clone();
        // Its problem classes are those of the report.
        request.asked.lists.push((&params::CLASS, vec![request.params]));
        let mut plan = Plan::of_cells(&request, planned, machine, limits, predictor);
        for (planned, cell) in plan.cells.iter_mut().zip(cells) {
            planned.repetitions = usize::try_from(cell.repetitions).unwrap_or(planned.repetitions);
        }
        Ok(plan)
    }
}

pub fn kernel(spec: &CellSpec) -> Result<&'static dyn Kernel, PlanError> {
    named(&spec.kernel)
}

fn named(kernel: &str) -> Result<&'static dyn Kernel, PlanError> {
    user_program::find(kernel).ok_or_else(|| PlanError::Kernel(kernel.to_owned()))
}

/// A size of which the blocks of all these workers lie well inside a level.
fn size_inside(
    level: &str,
    seats: &[Option<u32>],
    request: &Request,
    machine: &Machine,
    ladder: &BlockSizes,
) -> Result<u64, String> {
    let sizes = ladder.sizes(Sizes::Levels, request.params.size_bytes).unwrap_or_default();
    let fits = |size: &u64| axes::level(machine, seats, Bytes(*size)).as_deref() == Some(level);
    sizes.into_iter().find(fits).ok_or_else(|| format!("no size is known to lie well inside {level} of this machine"))
}

/// Where the cell differs from the request, in parameters that its kernel obeys.
fn point(spec: &CellSpec, kernel: &dyn Kernel, size: Option<u64>, request: &Request) -> Point {
    let base = &request.params;
    let obeys = |param: &Param| kernel.card().obeys(param);
    Point {
        size_bytes: size.filter(|size| obeys(&params::SIZE) && *size != base.size_bytes),
        pages: spec.pages.filter(|pages| obeys(&params::PAGES) && *pages != base.pages),
        stride_bytes: spec.stride.filter(|stride| obeys(&params::STRIDE) && *stride != base.stride_bytes),
        chains: spec.chains.filter(|_| obeys(&params::CHAINS)),
        ops_per_load: spec.ops_per_load.filter(|_| obeys(&params::OPS)),
        order: spec.order.filter(|_| obeys(&params::ORDER)),
        depth: spec.depth.filter(|_| obeys(&params::DEPTH)),
        process: spec.process.filter(|_| obeys(&params::PROCESS)),
        stripes: spec.stripes.filter(|_| obeys(&params::STRIPES)),
        writes: spec.writes.filter(|_| obeys(&params::WRITES)),
        memory: spec.memory.filter(|home| obeys(&params::MEMORY) && *home != MemoryHome::Local),
        ..Point::default()
    }
}

#[cfg(test)]
mod tests {
    use charz_kernels::Class;
    use charz_topology::{Source, discover};

    use super::*;
    use crate::fixtures::{predictor, request};
    use charz_data::report::Unit;
    use charz_data::report::fixtures::cell;

    fn spec(kernel: &str, mapping: &str, workers: u64) -> CellSpec {
        let (kernel, mapping) = (kernel.to_owned(), mapping.to_owned());
        CellSpec {
            kernel,
            mapping,
            workers,
            size: None,
            level: None,
            pages: None,
            stride: None,
            chains: None,
            ops_per_load: None,
            memory: None,
            order: None,
            depth: None,
            process: None,
            stripes: None,
            writes: None,
        }
    }

    fn plan_of(synthetic: &str, specs: &[CellSpec]) -> Plan {
        let machine = discover(&Source::Synthetic(synthetic.into())).unwrap();
        let request = request(&["noop"], "dumb", "1");
        Plan::of_specs(&request, specs, &machine, &Limits::unlimited(), &predictor(&["arith-int"])).unwrap()
    }

    #[test]
    fn each_cell_is_planned_once_with_what_differs_from_the_request() {
        let sized = |size| CellSpec { size: Some(size), ..spec("mem-read", "dumb", 2) };
        let specs = [spec("mem-read", "dumb", 2), sized(1 << 20), sized(1 << 21), spec("arith-int", "dumb", 2)];
        let plan = plan_of("Core:2 PU:1", &specs);
        let found: Vec<_> = plan.cells.iter().map(|cell| (&*cell.kernel.card().name, cell.point.size_bytes)).collect();
        assert_eq!(found, [("mem-read", None), ("mem-read", Some(1 << 21)), ("arith-int", None)]);
        assert_eq!(plan.cells[1].footprint_bytes, 4 << 20);
        assert!(plan.cells.iter().all(|cell| cell.obstacle.is_none() && cell.seats == [Some(0), Some(1)]));
        assert_eq!(plan.threads(), [2]);
        // A parameter that the kernel ignores.
        let memory = Some(MemoryHome::Interleaved);
        let ignored = CellSpec { stride: Some(4096), memory, ..spec("arith-int", "dumb", 1) };
        assert_eq!(plan_of("Core:2 PU:1", &[ignored]).cells[0].point, Point::default());
    }

    #[test]
    fn cells_of_a_report_are_planned_as_they_were() {
        let of = |seats: &[u32]| {
            let cell = cell("mem-read", 2, Unit::BytesPerSecond, 1e9).under("dumb").seated(seats).sized(1 << 21);
            Cell { repetitions: 7, ..cell }
        };
        let classed = |class| {
            let cell = cell("npb-is", 1, Unit::OpsPerSecond, 1e9).under("dumb").seated(&[0]);
            Cell { repetitions: 7, point: Point { class, ..Point::default() }, ..cell }
        };
        let machine = discover(&Source::Synthetic("Core:2 PU:1".into())).unwrap();
        let (request, limits) = (request(&["mem-read"], "dumb", "1"), Limits::unlimited());
        let cells = [of(&[0, 1]), of(&[1, 0]), of(&[0, 1]).under("list:9"), classed(None), classed(Some(Class::A))];
        let again = |cells: &[&Cell]| Plan::again(&request, cells, &machine, &limits, &predictor(&["mem-read"]));
        let plan = again(&cells.each_ref()).unwrap();
        for (planned, cell) in plan.cells.iter().zip(&cells) {
            assert_eq!((planned.point, planned.repetitions), (cell.point, 7));
        }
        assert_eq!((&plan.cells[0].seats, &plan.cells[0].obstacle), (&cells[0].seats, &None));
        assert!(plan.cells[1].obstacle.as_ref().is_some_and(|why| why.contains("other CPUs")));
        assert!(plan.cells[2].obstacle.as_ref().is_some_and(|why| why.contains("list:9")));
        let refused = again(&[&cells[0].clone().under("command:true")]).err().unwrap();
        assert!(refused.to_string().contains("is not run"), "{refused}");
    }

    #[test]
    fn cells_that_do_not_fit_are_skipped_with_the_reason() {
        for (mapping, workers, kernel, word) in [
            ("pair:machine", 2, "mem-read", "pair:machine"),
            ("list:7", 1, "mem-read", "7"),
            ("dumb", 1, "ring-mutex", "does not run with 1 worker"),
        ] {
            let plan = plan_of("Core:2 PU:1", &[spec(kernel, mapping, workers)]);
            let Some(why) = &plan.cells[0].obstacle else { panic!("{mapping}: {kernel} runs") };
            assert!(why.contains(word) && plan.cells[0].seats.len() as u64 == workers, "{why}");
        }
    }

    #[test]
    fn a_level_has_its_size_or_its_reason() {
        let of = |level: &str| {
            let cell = CellSpec { level: Some(level.into()), ..spec("chase-stride", "round-robin", 1) };
            let plan = plan_of("L3:1(size=32MiB) Core:2 L2:1(size=1MiB) L1d:1(size=32KiB) PU:1", &[cell]);
            let cell = plan.cells.into_iter().next().unwrap();
            (cell.point.size_bytes, cell.level, cell.obstacle)
        };
        for (level, low, high) in [("L1", 0, 32 << 10), ("L2", 32 << 10, 1 << 20), ("memory", 32 << 20, 1 << 30)] {
            let (size, named, obstacle) = of(level);
            assert!(size.is_some_and(|size| (low + 1..high).contains(&size)), "{level}: {size:?}");
            assert_eq!((named.as_deref(), obstacle), (Some(level), None));
        }
        let (size, named, obstacle) = of("L4");
        assert_eq!((size, named.as_deref()), (None, Some("L4")));
        assert!(obstacle.is_some_and(|why| why.contains("inside L4")));
    }
}
