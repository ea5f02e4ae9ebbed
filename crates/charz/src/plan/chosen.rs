//! A plan of cells that were chosen one by one, where no product of kernels, mappings and numbers of workers is wanted.

use std::collections::{HashMap, HashSet};

use charz_kernels::{Kernel, Knob, PagePolicy, Sizes};
use charz_topology::{Machine, Mapping, MemoryPolicy, Order, place};

use super::axes;
use super::{Ladder, Obstacle, Plan, PlannedCell, Request};
use crate::limits::Limits;
use crate::point;
use crate::predict::Predictor;
use crate::render::text::counted;
use crate::report::Point;

/// A cell that is to be measured.
#[derive(Clone)]
pub struct Chosen {
    /// The kernel.
    pub kernel: &'static dyn Kernel,
    /// The mapping.
    pub mapping: Mapping,
    /// The number of workers.
    pub workers: usize,
    /// The size of a worker's block in bytes; `None` takes the request's.
    pub size: Option<u64>,
    /// The level of caches to find a size for, by name, such as `L2` or `memory`; it goes before a size.
    pub level: Option<String>,
    /// The kind of pages; `None` takes the request's.
    pub pages: Option<PagePolicy>,
    /// Bytes from one place of a block that a load may read to the next; `None` takes the request's.
    pub stride: Option<u64>,
    /// Where the blocks are put; `None` leaves them to their workers' own touch.
    pub memory: Option<MemoryPolicy>,
}

impl Plan {
    /// Lays these cells out, each once. What does not fit the machine is no error but a cell that is skipped, with the reason. Of
    /// the request its kernels, mappings, numbers of workers and lists of what is varied are not looked at.
    pub fn of_chosen(
        request: &Request,
        chosen: &[Chosen],
        machine: &Machine,
        limits: &Limits,
        predictor: &Predictor,
    ) -> Plan {
        let ladder = Ladder::of(machine);
        let mut orders: HashMap<String, Result<Order, String>> = HashMap::new();
        let mut seen = HashSet::new();
        let mut cells = Vec::new();
        for one in chosen {
            let order = orders
                .entry(one.mapping.to_string())
                .or_insert_with(|| one.mapping.order(machine).map_err(|error| error.to_string()));
            let cell = cell(one, order.as_ref(), request, machine, &ladder);
            if seen.insert((cell.kernel.card().name, cell.mapping.to_string(), cell.seats.len(), cell.point)) {
                cells.push(cell);
            }
        }
        Plan::of_cells(request, cells, machine.usable_strands().count(), limits, predictor)
    }
}

fn cell(
    chosen: &Chosen,
    order: Result<&Order, &String>,
    request: &Request,
    machine: &Machine,
    ladder: &Ladder,
) -> PlannedCell {
    let seats = order.map_or_else(|_| vec![None; chosen.workers], |order| place(order, chosen.workers).seats);
    let size = match &chosen.level {
        None => Ok(chosen.size),
        Some(level) => inside(level, &seats, request, machine, ladder).map(Some),
    };
    let point = point(chosen, size.as_ref().copied().unwrap_or_default(), request);
    let card = chosen.kernel.card();
    let crowd = (!card.crew.admits(chosen.workers))
        .then(|| format!("{} does not run with {}", card.name, counted(seats.len(), "worker")));
    let obstacle = order.err().cloned().or(size.err()).or(crowd);
    let planned = PlannedCell::new(request, machine, chosen.kernel, point, chosen.mapping.clone(), seats);
    PlannedCell {
        // Of a level that is not there the cell keeps the name.
        level: if obstacle.is_some() { chosen.level.clone() } else { planned.level },
        obstacle: obstacle.map(Obstacle::Skipped).or(planned.obstacle),
        ..planned
    }
}

/// A size of which blocks for all of these workers lie well inside a level.
fn inside(
    level: &str,
    seats: &[Option<u32>],
    request: &Request,
    machine: &Machine,
    ladder: &Ladder,
) -> Result<u64, String> {
    let sizes = ladder.sizes(Sizes::Levels, request.params.size.0).unwrap_or_default();
    let fits = |size: &u64| axes::level(machine, seats, charz_kernels::Bytes(*size)).as_deref() == Some(level);
    sizes.into_iter().find(fits).ok_or_else(|| format!("no size is known to lie well inside {level} of this machine"))
}

/// What the cell has for itself: all in which it differs from the request.
fn point(chosen: &Chosen, size: Option<u64>, request: &Request) -> Point {
    let (base, knobs) = (&request.params, chosen.kernel.card().knobs);
    let obeys = |knob: Knob| knobs.contains(&knob);
    Point {
        size_bytes: size.filter(|size| obeys(Knob::Size) && *size != base.size.0),
        pages: chosen.pages.filter(|pages| obeys(Knob::Pages) && *pages != base.pages).map(point::kind),
        stride_bytes: chosen.stride.filter(|stride| obeys(Knob::Stride) && *stride != base.stride.0),
        memory: chosen.memory.filter(|home| obeys(Knob::Size) && *home != MemoryPolicy::Local).map(point::home),
        ..Point::default()
    }
}
