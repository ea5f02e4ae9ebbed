//! LU: the compressible Navier-Stokes equations in a cube, whose steady state is known, by pseudo time steps of symmetric successive
//! over-relaxation (RNR-94-007, section 4.3). A worker has some rows of every plane. Its sweeps through the planes follow those of its
//! neighbour, one plane behind, by a flag for each worker; what the other needs of the last row is copied plane by plane.

mod field;
mod flow;
mod sweep;

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use charz_data::Class;
use crossbeam::utils::CachePadded;

use super::{Benchmark, Member, Over, Solver, agree, copy, show};
use crate::sys::wide_vectors::{self, with_wide_vectors};
use crate::team::part;
use charz_kernels::kernel::Error;
use charz_kernels::sys::futex::Scope;
use charz_kernels::sys::shared::Shared;
use field::{Field, PARTS};
use flow::Grid;
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

#[allow(clippy::excessive_precision, reason = "the digits are those of the NPB")]
fn size(class: Class) -> Size {
    #[rustfmt::skip]
    let (points, steps, dt, residual, error, integral) = match class {
        Class::S => (
            12, 50, 0.5,
            [1.6196343210976702e-2, 2.1976745164821318e-3, 1.5179927653399185e-3, 1.5029584435994323e-3, 3.4264073155896461e-2],
            [6.4223319957960924e-4, 8.4144342047347926e-5, 5.8588269616485186e-5, 5.8474222595157350e-5, 1.3103347914111294e-3],
            7.8418928865937083,
        ),
        Class::W => (
            33, 300, 1.5e-3,
            [12.36511638192, 1.317228477799, 2.550120713095, 2.326187750252, 28.26799444189],
            [0.4867877144216, 0.05064652880982, 0.09281818101960, 0.08570126542733, 1.084277417792],
            11.61399311023,
        ),
        Class::A => (
            64, 250, 2.0,
            [7.7902107606689367e2, 6.3402765259692870e1, 1.9499249727292479e2, 1.7845301160418537e2, 1.8384760349464247e3],
            [2.9964085685471943e1, 2.8194576365003349, 7.3473412698774742, 6.7139225687777051, 7.0715315688392578e1],
            2.6030925604886277e1,
        ),
        Class::B => (
            102, 250, 2.0,
            [3.5532672969982736e3, 2.6214750795310692e2, 8.8333721850952190e2, 7.7812774739425265e2, 7.3087969592545314e3],
            [1.1401176380212709e2, 8.1098963655421574, 2.8480597317698308e1, 2.5905394567832939e1, 2.6054907504857413e2],
            4.7887162703308227e1,
        ),
        Class::C => (
            162, 250, 2.0,
            [1.03766980323537846e4, 8.92212458801008552e2, 2.56238814582660871e3, 2.19194343857831427e3, 1.78078057261061185e4],
            [2.15986399716949279e2, 1.55789559239863600e1, 5.41318863077207766e1, 4.82262643154045421e1, 4.55902910043250358e2],
            6.66404553572181300e1,
        ),
    };
    Size { points, steps, dt, residual, error, integral }
}

pub(super) struct Lu {
    size: Size,
    grid: Grid,
    workers: usize,
    /// For each row its number among those that other workers than its own need; `None` if none does.
    places: Box<[Option<usize>]>,
    /// The shown rows of the state, each over all planes.
    rows: Shared<AtomicU64>,
    /// Of each worker the planes that it has passed since the run began, in both sweeps of each step.
    passed: Shared<CachePadded<AtomicUsize>>,
    /// Of each worker, in each plane, the row of corrections that its neighbour goes on from.
    edges: Shared<AtomicU64>,
    /// What each worker adds to the answer, and how many have done so.
    sums: Shared<AtomicU64>,
    verified: Shared<AtomicUsize>,
}

/// The sums of squares of the residual and of the error, and the integral.
const SUMS: usize = 2 * PARTS + 1;

/// The square root of the mean square of the points inside.
fn norm(sum: f64, points: usize) -> f64 {
    (sum / ((points - 2) as f64).powi(3)).sqrt()
}

/// The rows inside that a worker has.
fn rows_of(rank: usize, workers: usize, points: usize) -> Range<usize> {
    let inside = part(rank, workers, points - 2);
    inside.start + 1..inside.end + 1
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

    fn new(class: Class, workers: usize, scope: Scope) -> Result<Self, Error> {
        let size = size(class);
        let n = size.points;
        let (mut places, mut shared) = (vec![None; n], 0..);
        for own in (0..workers).map(|rank| rows_of(rank, workers, n)) {
            let inner = own.start + HALO..own.end.saturating_sub(HALO);
            own.filter(|row| !inner.contains(row)).for_each(|row| places[row] = shared.next());
        }
        Ok(Lu {
            grid: Grid::new(n, size.dt),
            workers,
            places: places.into(),
            rows: Shared::zeros(shared.start * n * PARTS * n, scope)?,
            passed: Shared::new(workers, CachePadded::default)?,
            edges: Shared::zeros(workers * n * PARTS * n, scope)?,
            sums: Shared::zeros(workers * SUMS, scope)?,
            verified: Shared::new(1, AtomicUsize::default)?,
            size,
        })
    }

    fn solver(problem: &Arc<Self>, rank: usize) -> Slab {
        let n = problem.size.points;
        let own = rows_of(rank, problem.workers, n);
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
        let edge = vec![0.0; PARTS * n];
        Slab { problem: Arc::clone(problem), rank, residual: Field::new(n, own.clone()), own, state, force, edge }
    }
}

impl Lu {
    /// Where a row is shown over all planes, if other workers need it.
    fn shown(&self, row: usize) -> Option<&[AtomicU64]> {
        let length = self.size.points * PARTS * self.size.points;
        self.places[row].map(|place| &self.rows[place * length..][..length])
    }

    fn edge(&self, rank: usize, plane: usize) -> &[AtomicU64] {
        let n = self.size.points;
        &self.edges[(rank * n + plane) * PARTS * n..][..PARTS * n]
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
    /// The row of corrections that it goes on from.
    edge: Vec<f64>,
}

impl Slab {
    /// Shows the rows of the state that others need.
    fn show(&self) {
        let width = PARTS * self.problem.size.points;
        for (row, shown) in self.own.clone().filter_map(|row| Some((row, self.problem.shown(row)?))) {
            for (plane, shown) in shown.chunks_exact(width).enumerate() {
                show(shown, self.state.row(plane, row));
            }
        }
    }

    /// Copies the rows around its own from those who have them. Those of the boundary do not change.
    fn look_around(&mut self) {
        let Slab { problem, own, state, .. } = self;
        let width = PARTS * problem.size.points;
        let around = state.rows().filter(|row| !own.contains(row));
        for (row, shown) in around.filter_map(|row| Some((row, problem.shown(row)?))) {
            for (plane, shown) in shown.chunks_exact(width).enumerate() {
                copy(shown, state.row_mut(plane, row));
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
        let Slab { problem, rank, own, state, residual, edge, .. } = self;
        let n = problem.size.points;
        let neighbour = D::neighbour(*rank).filter(|neighbour| *neighbour < problem.workers);
        let mut sweep = Sweep::<D>::new(&problem.grid);
        edge.fill(0.0);
        for step in 0..n - 2 {
            let plane = D::at(1..n - 1, step);
            let passed = before + step + 1;
            if let Some(neighbour) = neighbour {
                member.wait(|| problem.passed[neighbour].load(Ordering::Acquire) >= passed)?;
                copy(problem.edge(neighbour, plane), edge);
            }
            with_wide_vectors(
                #[inline(always)]
                || {
                    sweep.plane(state, residual, own.clone(), plane, edge, |row| {
                        if row % GROUP == 0 { member.look() } else { Ok(()) }
                    })
                },
            )?;
            let last = D::at(own.clone(), own.len() - 1);
            show(problem.edge(*rank, plane), residual.row(plane, last));
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
        let Lu { size: Size { points, residual, error, integral, .. }, grid, sums, verified, workers, .. } =
            &*self.problem;
        let mut own = [0.0; SUMS];
        for (plane, row) in (1..points - 1).flat_map(|plane| self.own.clone().map(move |row| (plane, row))) {
            for at in 1..points - 1 {
                let (exact, found) = (grid.exact(at, row, plane), self.state.point(plane, row, at));
                let left = self.residual.point(plane, row, at);
                let away = exact.into_iter().zip(found).map(|(exact, found)| exact - found);
                own.iter_mut().zip(left.into_iter().chain(away)).for_each(|(sum, part)| *sum += part * part);
            }
        }
        own[SUMS - 1] = grid.integral(&self.state, self.own.clone());
        show(&sums[self.rank * SUMS..], &own);
        // Each sees the sums of those who were here before it.
        if verified[0].fetch_add(1, Ordering::AcqRel) + 1 < *workers {
            return Ok(());
        }
        verified[0].store(0, Ordering::Relaxed);
        let mut all = [0.0; SUMS];
        for shown in sums.chunks_exact(SUMS) {
            copy(shown, &mut own);
            all.iter_mut().zip(own).for_each(|(sum, part)| *sum += part);
        }
        let norms = all.iter().map(|sum| norm(*sum, *points)).zip(residual.iter().chain(error));
        for (number, (found, expected)) in norms.enumerate() {
            let of = if number < PARTS { "residual" } else { "error" };
            agree(&format!("the norm of the {of} {}", number % PARTS), found, *expected, BOUND)?;
        }
        agree("the surface integral", all[SUMS - 1], *integral, BOUND)
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
