//! LU: the compressible Navier-Stokes equations in a cube, whose steady state is known, by pseudo time steps of symmetric successive
//! over-relaxation (RNR-94-007, section 4.3). A worker has some rows of every plane. Its sweeps through the planes follow those of its
//! neighbour, one plane behind, by a flag for each worker; what the other needs of the last row is copied plane by plane.

mod field;
mod flow;
mod sweep;

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use charz_data::Class;
use crossbeam::utils::CachePadded;

use super::{Benchmark, Member, Over, Solver, agree};
use crate::sys::wide_vectors::{self, with_wide_vectors};
use crate::workload::team::part;
use field::{Field, PARTS};
use flow::{Grid, Point};
use sweep::{Direction, Sweep};

/// What norms and integral may differ by, as in NPB.
const BOUND: f64 = 1e-8;
/// Rows on either side that the fourth differences take in.
const HALO: usize = 2;
/// Rows of a plane between two looks at the watch: some 20 to 60 µs of the largest class.
const GROUP: usize = 8;

struct Size {
    points: usize,
    steps: usize,
    dt: f64,
    /// The norms of the residual and of the error, and the integral over a surface.
    residual: [f64; PARTS],
    error: [f64; PARTS],
    integral: f64,
}

fn size(class: Class) -> Size {
    let (points, steps, dt, residual, error, integral) = match class {
        Class::S => (
            12,
            50,
            0.5,
            [
                1.6196343210976702e-2,
                2.1976745164821318e-3,
                1.5179927653399185e-3,
                1.5029584435994323e-3,
                3.4264073155896461e-2,
            ],
            [
                6.4223319957960924e-4,
                8.4144342047347926e-5,
                5.8588269616485186e-5,
                5.8474222595157350e-5,
                1.3103347914111294e-3,
            ],
            7.8418928865937083,
        ),
        Class::W => (
            33,
            300,
            1.5e-3,
            [12.36511638192, 1.317228477799, 2.550120713095, 2.326187750252, 28.26799444189],
            [0.4867877144216, 0.05064652880982, 0.09281818101960, 0.08570126542733, 1.084277417792],
            11.61399311023,
        ),
        Class::A => (
            64,
            250,
            2.0,
            [
                7.7902107606689367e2,
                6.3402765259692870e1,
                1.9499249727292479e2,
                1.7845301160418537e2,
                1.8384760349464247e3,
            ],
            [2.9964085685471943e1, 2.8194576365003349, 7.3473412698774742, 6.7139225687777051, 7.0715315688392578e1],
            2.6030925604886277e1,
        ),
        Class::B => (
            102,
            250,
            2.0,
            [
                3.5532672969982736e3,
                2.6214750795310692e2,
                8.8333721850952190e2,
                7.7812774739425265e2,
                7.3087969592545314e3,
            ],
            [
                1.1401176380212709e2,
                8.1098963655421574,
                2.8480597317698308e1,
                2.5905394567832939e1,
                2.6054907504857413e2,
            ],
            4.7887162703308227e1,
        ),
        Class::C => (
            162,
            250,
            2.0,
            [
                1.03766980323537846e4,
                8.92212458801008552e2,
                2.56238814582660871e3,
                2.19194343857831427e3,
                1.78078057261061185e4,
            ],
            [
                2.15986399716949279e2,
                1.55789559239863600e1,
                5.41318863077207766e1,
                4.82262643154045421e1,
                4.55902910043250358e2,
            ],
            6.66404553572181300e1,
        ),
    };
    Size { points, steps, dt, residual, error, integral }
}

pub(super) struct Lu {
    size: Size,
    grid: Grid,
    workers: usize,
    /// The rows that other workers need of the state, each over all planes.
    rows: Box<[RwLock<Vec<f64>>]>,
    /// Of each worker the planes that it has passed since the run began, in both sweeps of each step.
    passed: Box<[CachePadded<AtomicUsize>]>,
    /// Of each worker, in each plane, the row of corrections that its neighbour goes on from.
    edges: Box<[Box<[RwLock<Vec<f64>>]>]>,
    answer: Mutex<Answer>,
}

/// What is added up of the answer, and by how many workers.
#[derive(Default)]
struct Answer {
    workers: usize,
    residual: [f64; PARTS],
    error: [f64; PARTS],
    integral: f64,
}

/// What is added up of the points inside: the square root of the mean square.
fn norm(sums: [f64; PARTS], points: usize) -> [f64; PARTS] {
    sums.map(|sum| (sum / ((points - 2) as f64).powi(3)).sqrt())
}

impl Benchmark for Lu {
    type Solver = Slab;

    fn operations(class: Class) -> f64 {
        let Size { points, steps, .. } = size(class);
        let n = points as f64;
        steps as f64 * (1984.77 * n.powi(3) - 10923.3 * n.powi(2) + 27770.9 * n - 144010.0)
    }

    fn bytes(class: Class, workers: usize) -> u64 {
        let n = size(class).points;
        let row = n * n * PARTS * size_of::<f64>();
        // State, residual and force; of each worker, the rows around the state, those shown, and the edge.
        (row * (3 * n + workers * (4 * HALO + 1))) as u64
    }

    /// A row inside each.
    fn most_workers(class: Class) -> usize {
        size(class).points - 2
    }

    fn variant() -> &'static str {
        wide_vectors::name()
    }

    fn new(class: Class, workers: usize) -> Self {
        let size = size(class);
        let n = size.points;
        Lu {
            grid: Grid::new(n, size.dt),
            workers,
            rows: (0..n).map(|_| RwLock::default()).collect(),
            passed: (0..workers).map(|_| CachePadded::default()).collect(),
            edges: (0..workers).map(|_| (0..n).map(|_| RwLock::new(vec![0.0; PARTS * n])).collect()).collect(),
            answer: Mutex::default(),
            size,
        }
    }

    fn solver(problem: &Arc<Self>, rank: usize) -> Slab {
        let n = problem.size.points;
        let inside = part(rank, problem.workers, n - 2);
        let own = inside.start + 1..inside.end + 1;
        let around = own.start.saturating_sub(HALO)..(own.end + HALO).min(n);
        let mut force = Field::new(n, own.clone());
        with_wide_vectors(
            #[inline(always)]
            || {
                flow::residual(&problem.grid, &problem.grid.exact_field(around.clone()), None, &mut force, |_| {
                    Ok::<(), Over>(())
                })
            },
        )
        .expect("nothing ends it");
        let state = Field::new(n, around);
        Slab { problem: Arc::clone(problem), rank, residual: Field::new(n, own.clone()), own, state, force }
    }
}

/// A worker's rows.
pub(super) struct Slab {
    problem: Arc<Lu>,
    rank: usize,
    own: Range<usize>,
    /// The state, with the rows around.
    state: Field,
    /// The residual, and in the sweeps the correction.
    residual: Field,
    force: Field,
}

impl Slab {
    /// Whether another worker needs this row of the state.
    fn is_shared(&self, row: usize) -> bool {
        self.own.contains(&row) && (row < self.own.start + HALO || row + HALO >= self.own.end)
    }

    /// Shows the rows of the state that others need.
    fn show(&self) {
        for row in self.own.clone().filter(|row| self.is_shared(*row)) {
            let mut shown = self.problem.rows[row].write().unwrap_or_else(PoisonError::into_inner);
            shown.clear();
            (0..self.problem.size.points).for_each(|plane| shown.extend_from_slice(self.state.row(plane, row)));
        }
    }

    /// Copies the rows around its own from those who have them. Those of the boundary do not change.
    fn look_around(&mut self) {
        let n = self.problem.size.points;
        for row in self.state.rows().filter(|row| !self.own.contains(row) && (1..n - 1).contains(row)) {
            let shown = self.problem.rows[row].read().unwrap_or_else(PoisonError::into_inner);
            for (plane, shown) in shown.chunks_exact(PARTS * n).enumerate() {
                self.state.row_mut(plane, row).copy_from_slice(shown);
            }
        }
    }

    fn find_residual(&mut self, member: &Member<'_>) -> Result<(), Over> {
        let Slab { problem, state, force, residual, .. } = self;
        with_wide_vectors(
            #[inline(always)]
            || {
                flow::residual(&problem.grid, state, Some(force), residual, |row| {
                    if row % GROUP == 0 { member.look() } else { Ok(()) }
                })
            },
        )
    }

    /// Goes through the planes behind the neighbour on one side. `before` are planes that each worker passed before.
    fn sweep<D: Direction>(&mut self, before: usize, member: &Member<'_>) -> Result<(), Over> {
        let Slab { problem, rank, own, state, residual, .. } = self;
        let n = problem.size.points;
        let neighbour = D::neighbour(*rank).filter(|neighbour| *neighbour < problem.workers);
        let mut sweep = Sweep::<D>::new(&problem.grid);
        for step in 0..n - 2 {
            let plane = D::at(1..n - 1, step);
            let passed = before + step + 1;
            let edge = match neighbour {
                None => vec![0.0; PARTS * n],
                Some(neighbour) => {
                    member.wait(|| problem.passed[neighbour].load(Ordering::Acquire) >= passed)?;
                    problem.edges[neighbour][plane].read().unwrap_or_else(PoisonError::into_inner).clone()
                }
            };
            with_wide_vectors(
                #[inline(always)]
                || {
                    sweep.plane(state, residual, own.clone(), plane, &edge, |row| {
                        if row % GROUP == 0 { member.look() } else { Ok(()) }
                    })
                },
            )?;
            let last = D::at(own.clone(), own.len() - 1);
            let mut edge = problem.edges[*rank][plane].write().unwrap_or_else(PoisonError::into_inner);
            edge.copy_from_slice(residual.row(plane, last));
            drop(edge);
            problem.passed[*rank].store(passed, Ordering::Release);
        }
        Ok(())
    }
}

impl Solver for Slab {
    fn prepare(&mut self) {
        self.residual.clear();
        self.problem.grid.set_initial(&mut self.state);
        self.problem.passed[self.rank].store(0, Ordering::Relaxed);
        self.show();
    }

    fn solve(&mut self, member: &mut Member<'_>) -> Result<(), Over> {
        let planes = self.problem.size.points - 2;
        self.look_around();
        self.find_residual(member)?;
        for step in 0..self.problem.size.steps {
            self.sweep::<sweep::Lower>(2 * step * planes, member)?;
            self.sweep::<sweep::Upper>((2 * step + 1) * planes, member)?;
            let factor = self.problem.grid.relaxation();
            self.state.add(factor, &self.residual, self.own.clone());
            // No worker shows new rows while another still works with the old ones.
            member.meet()?;
            self.show();
            member.meet()?;
            self.look_around();
            self.find_residual(member)?;
        }
        Ok(())
    }

    /// The last worker that adds its part compares.
    fn verify(&mut self) -> Result<(), String> {
        let Size { points, residual, error, integral, .. } = &self.problem.size;
        let mut answer = self.problem.answer.lock().unwrap_or_else(PoisonError::into_inner);
        let grid = &self.problem.grid;
        let add = |sums: &mut [f64; PARTS], of: &dyn Fn(usize, usize, usize) -> Point| {
            for (plane, row) in (1..points - 1).flat_map(|plane| self.own.clone().map(move |row| (plane, row))) {
                for at in 1..points - 1 {
                    sums.iter_mut().zip(of(plane, row, at)).for_each(|(sum, part)| *sum += part * part);
                }
            }
        };
        let Answer { workers, residual: left, error: away, integral: sum } = &mut *answer;
        add(left, &|plane, row, at| self.residual.point(plane, row, at));
        add(away, &|plane, row, at| {
            let (exact, found) = (grid.exact(at, row, plane), self.state.point(plane, row, at));
            std::array::from_fn(|part| exact[part] - found[part])
        });
        *sum += grid.integral(&self.state, self.own.clone());
        *workers += 1;
        if *workers < self.problem.workers {
            return Ok(());
        }
        let Answer { residual: left, error: away, integral: sum, .. } = std::mem::take(&mut *answer);
        for (what, found, expected) in [("residual", left, residual), ("error", away, error)] {
            for (part, (found, expected)) in norm(found, *points).into_iter().zip(expected).enumerate() {
                agree(&format!("the norm of the {what} {part}"), found, *expected, BOUND)?;
            }
        }
        agree("the surface integral", sum, *integral, BOUND)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::check_noticed;
    use super::*;

    #[test]
    fn another_boundary_is_noticed() {
        check_noticed::<Lu>(|slab| slab.state.row_mut(3, 0)[5] += 1e-3);
    }
}
