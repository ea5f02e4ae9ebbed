//! The equations: fluxes and their derivatives at a point, the difference operator, the exact solution.

use std::ops::Range;

use super::field::{Field, PARTS, Point, at, lines};

/// The most points a side.
pub(super) const MOST_POINTS: usize = 162;

// The names and values of RNR-94-007, section 4.
const C1: f64 = 1.4;
pub(super) const C2: f64 = 0.4;
const C34: f64 = 0.1;
/// C1 × C5
const C15: f64 = 1.4 * 1.4;
/// Diffusion in the three directions.
pub(super) const DIFFUSION: [f64; 3] = [0.75, 0.75, 1.0];
/// Of the fourth differences: a quarter of the largest diffusion.
const DISSIPATION: f64 = 0.25;
/// Over-relaxation.
pub(super) const OMEGA: f64 = 1.2;

/// The coefficients of the exact solution, for each part: the constant, then those of the first to fourth powers of x, y and z.
const EXACT: [[f64; 13]; PARTS] = [
    [2.0, 0.0, 0.0, 4.0, 5.0, 3.0, 0.5, 0.02, 0.01, 0.03, 0.5, 0.4, 0.3],
    [1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 0.01, 0.03, 0.02, 0.4, 0.3, 0.5],
    [2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.04, 0.03, 0.05, 0.3, 0.5, 0.4],
    [2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.03, 0.05, 0.04, 0.2, 0.1, 0.3],
    [5.0, 4.0, 3.0, 2.0, 0.1, 0.4, 0.3, 0.05, 0.04, 0.03, 0.1, 0.3, 0.2],
];

/// What the equations need of a state.
#[derive(Clone, Copy)]
pub(super) struct State {
    /// One over the density.
    inverse: f64,
    velocity: [f64; 3],
    /// Half the square of the velocity.
    kinetic: f64,
    /// Energy by density.
    energy: f64,
}

impl State {
    #[inline(always)]
    pub(super) fn of(point: Point) -> Self {
        let inverse = 1.0 / point[0];
        let velocity = [point[1] * inverse, point[2] * inverse, point[3] * inverse];
        let kinetic = 0.5 * (velocity[0] * velocity[0] + velocity[1] * velocity[1] + velocity[2] * velocity[2]);
        State { inverse, velocity, kinetic, energy: point[4] * inverse }
    }

    /// The convective flux in direction D, and what diffuses: viscous stress and heat, and the state itself.
    #[inline(always)]
    fn flux<const D: usize>(&self, u: Point) -> (Point, Point) {
        let v = self.velocity[D];
        let pressure = C2 * (u[4] - u[0] * self.kinetic);
        let mut flux = [u[1 + D], u[1] * v, u[2] * v, u[3] * v, (u[4] + pressure) * v];
        flux[1 + D] += pressure;
        let mut diffuse = [0.0, self.velocity[0], self.velocity[1], self.velocity[2], 0.0];
        diffuse[1 + D] *= 4.0 / 3.0;
        diffuse[4] = (1.0 - C15) * self.kinetic + v * v / 6.0 + C15 * self.energy;
        for part in 0..PARTS {
            diffuse[part] = C34 * diffuse[part] + DIFFUSION[D] * u[part];
        }
        (flux, diffuse)
    }

    /// The derivative of the convective flux in direction D times `convection`, less that of what diffuses times `diffusion`, both
    /// applied to a small change.
    #[inline(always)]
    pub(super) fn derivative<const D: usize>(&self, change: Point, convection: f64, diffusion: f64) -> Point {
        let State { inverse, velocity: [x, y, z], kinetic, energy } = *self;
        let [w, wx, wy, wz, we] = change;
        let v = self.velocity[D];
        // Of the velocity, times the density.
        let moved = [wx - x * w, wy - y * w, wz - z * w];
        let pressure = C2 * (kinetic * w - (x * wx + y * wy + z * wz) + we);
        let enthalpy = C1 * energy - C2 * kinetic;
        let mut flux = [
            change[1 + D],
            x * moved[D] + v * wx,
            y * moved[D] + v * wy,
            z * moved[D] + v * wz,
            enthalpy * moved[D] + v * (we + pressure),
        ];
        flux[1 + D] += pressure;
        let viscous = C34 * inverse;
        let mut stress = moved;
        stress[D] *= 4.0 / 3.0;
        let heat = (x * stress[0] + y * stress[1] + z * stress[2]) - C15 * (x * moved[0] + y * moved[1] + z * moved[2])
            + C15 * (we - energy * w);
        let diffuse = [0.0, stress[0], stress[1], stress[2], heat];
        std::array::from_fn(|part| {
            convection * flux[part] - diffusion * (viscous * diffuse[part] + DIFFUSION[D] * change[part])
        })
    }
}

/// The diagonal block of the implicit equations at a point, ready to be divided by: it is lower triangular.
#[derive(Clone, Copy)]
pub(super) struct Diagonal {
    velocity: [f64; 3],
    energy: f64,
    /// Viscosity and heat, by density.
    stress: f64,
    heat: f64,
    /// One over the diagonal: of density, momentum and energy.
    density: f64,
    momentum: f64,
    total: f64,
}

impl Diagonal {
    #[inline(always)]
    pub(super) fn of(state: &State, grid: &Grid) -> Self {
        let twice = 2.0 * grid.dt * grid.second;
        let first = 1.0 + twice * (DIFFUSION[0] + DIFFUSION[1] + DIFFUSION[2]);
        let stress = twice * C34 * (4.0 / 3.0 + 2.0) * state.inverse;
        let heat = twice * C34 * 3.0 * C15 * state.inverse;
        Diagonal {
            velocity: state.velocity,
            energy: state.energy,
            stress,
            heat,
            density: 1.0 / first,
            momentum: 1.0 / (first + stress),
            total: 1.0 / (first + heat),
        }
    }

    /// The solution for a right side.
    #[inline(always)]
    pub(super) fn solve(&self, right: Point) -> Point {
        let Diagonal { velocity, energy, stress, heat, density, momentum, total } = *self;
        let rho = right[0] * density;
        let mut solution = [rho; PARTS];
        let mut rest = right[4] + heat * energy * rho;
        for axis in 0..3 {
            let part = (right[1 + axis] + stress * velocity[axis] * rho) * momentum;
            rest -= (stress - heat) * velocity[axis] * (part - velocity[axis] * rho);
            solution[1 + axis] = part;
        }
        solution[4] = rest * total;
        solution
    }
}

/// A cube of points, and a pseudo time step.
pub(super) struct Grid {
    pub(super) points: usize,
    pub(super) dt: f64,
    /// Of first and second differences: one over twice the distance of points, and over its square.
    pub(super) first: f64,
    pub(super) second: f64,
}

impl Grid {
    pub(super) fn new(points: usize, dt: f64) -> Self {
        let steps = (points - 1) as f64;
        Grid { points, dt, first: steps / 2.0, second: steps * steps }
    }

    /// What corrections are multiplied by when both sweeps have been made.
    pub(super) fn relaxation(&self) -> f64 {
        1.0 / (OMEGA * (2.0 - OMEGA))
    }

    fn share(&self, at: usize) -> f64 {
        at as f64 / (self.points - 1) as f64
    }

    /// The exact solution.
    pub(super) fn exact(&self, x: usize, y: usize, z: usize) -> Point {
        let places = [x, y, z].map(|at| self.share(at));
        EXACT.map(|c| {
            let power = |axis: usize| {
                let x = places[axis];
                x * (c[1 + axis] + x * (c[4 + axis] + x * (c[7 + axis] + x * c[10 + axis])))
            };
            c[0] + power(0) + power(1) + power(2)
        })
    }

    pub(super) fn exact_field(&self, rows: Range<usize>) -> Field {
        let mut field = Field::new(self.points, rows);
        self.fill(&mut field, |x, y, z| self.exact(x, y, z));
        field
    }

    /// The exact solution at the boundary; inside, what lies between opposite boundaries.
    pub(super) fn set_initial(&self, field: &mut Field) {
        let last = self.points - 1;
        self.fill(field, |x, y, z| {
            if [x, y, z].iter().any(|at| *at == 0 || *at == last) {
                return self.exact(x, y, z);
            }
            let between = |share: f64, ends: [Point; 2]| -> Point {
                std::array::from_fn(|part| (1.0 - share) * ends[0][part] + share * ends[1][part])
            };
            let a = between(self.share(x), [0, last].map(|x| self.exact(x, y, z)));
            let b = between(self.share(y), [0, last].map(|y| self.exact(x, y, z)));
            let c = between(self.share(z), [0, last].map(|z| self.exact(x, y, z)));
            std::array::from_fn(|part| {
                let (a, b, c) = (a[part], b[part], c[part]);
                a + b + c - a * b - b * c - c * a + a * b * c
            })
        });
    }

    fn fill(&self, field: &mut Field, point: impl Fn(usize, usize, usize) -> Point) {
        for z in 0..self.points {
            for y in field.rows() {
                for x in 0..self.points {
                    field.set(z, y, x, point(x, y, z));
                }
            }
        }
    }

    /// What these rows add to the integral of the pressure over the surface of a box inside, by trapezoids.
    pub(super) fn integral(&self, state: &Field, rows: Range<usize>) -> f64 {
        let n = self.points;
        let ranges = [1..n - 1, 1..n - 2, 2..n - 1];
        let weight = |axis: usize, at: usize| {
            let range = &ranges[axis];
            if at == range.start || at + 1 == range.end { 1.0 } else { 2.0 }
        };
        let is_face = |axis: usize, at: usize| at == ranges[axis].start || at + 1 == ranges[axis].end;
        let mut sum = 0.0;
        for y in rows.filter(|row| ranges[1].contains(row)) {
            for z in ranges[2].clone() {
                for x in ranges[0].clone() {
                    let place = [x, y, z];
                    for axis in (0..3).filter(|axis| is_face(*axis, place[*axis])) {
                        let point = state.point(z, y, x);
                        let pressure = C2 * (point[4] - point[0] * State::of(point).kinetic);
                        let others = (0..3).filter(|other| *other != axis);
                        sum += pressure * others.map(|other| weight(other, place[other])).product::<f64>();
                    }
                }
            }
        }
        0.25 * sum / self.second
    }
}

/// A row of sums while they are made: on the stack, where no other data can be.
type Sums = [[f64; MOST_POINTS]; PARTS];

/// The difference operator on a state, less a force, at the points inside of the rows of `out`. `look` is called at each row with its
/// number.
#[inline(always)]
pub(super) fn residual<E>(
    grid: &Grid,
    state: &Field,
    force: Option<&Field>,
    out: &mut Field,
    look: impl Fn(usize) -> Result<(), E>,
) -> Result<(), E> {
    let n = grid.points;
    let mut sums = [[0.0; MOST_POINTS]; PARTS];
    for z in 1..n - 1 {
        for y in out.rows() {
            look(y)?;
            match force {
                None => sums.iter_mut().for_each(|sums| sums.fill(0.0)),
                Some(force) => {
                    for (sums, force) in sums.iter_mut().zip(lines(force.row(z, y), n, 1, n - 2)) {
                        sums.iter_mut().zip(force).for_each(|(sum, force)| *sum = -force);
                    }
                }
            }
            let middle = state.row(z, y);
            let inside = |row| lines(row, n, 1, n - 2);
            add::<0>(grid, [lines(middle, n, 0, n - 2), inside(middle), lines(middle, n, 2, n - 2)], &mut sums);
            add::<1>(grid, [state.row(z, y - 1), middle, state.row(z, y + 1)].map(inside), &mut sums);
            add::<2>(grid, [state.row(z - 1, y), middle, state.row(z + 1, y)].map(inside), &mut sums);
            dissipate_along(n, middle, &mut sums);
            dissipate(n, y, |row| inside(state.row(z, row)), &mut sums);
            dissipate(n, z, |plane| inside(state.row(plane, y)), &mut sums);
            for (out, sums) in out.row_mut(z, y).chunks_exact_mut(n).zip(&sums) {
                out[1..n - 1].copy_from_slice(&sums[..n - 2]);
            }
        }
    }
    Ok(())
}

/// Adds convection and diffusion in direction D: of lines behind, at and before the points.
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "several lines have the same index")]
fn add<const D: usize>(grid: &Grid, [behind, here, before]: [[&[f64]; PARTS]; 3], sums: &mut Sums) {
    let n = (grid.points - 2).min(MOST_POINTS);
    let [behind, here, before] = [behind, here, before].map(|lines| lines.map(|line| &line[..n]));
    let [first, second] = [grid.first, grid.second];
    for i in 0..n {
        let flux = |lines: &[&[f64]; PARTS]| {
            let point = at(lines, i);
            State::of(point).flux::<D>(point)
        };
        let ((from, left), (_, middle), (to, right)) = (flux(&behind), flux(&here), flux(&before));
        for part in 0..PARTS {
            sums[part][i] += second * (left[part] - 2.0 * middle[part] + right[part]) - first * (to[part] - from[part]);
        }
    }
}

/// The factors of the fourth difference at a place: at the ends it leaves out what is not there.
#[inline(always)]
fn fourth(points: usize, place: usize) -> [f64; 5] {
    if place == 1 {
        [0.0, 0.0, 5.0, -4.0, 1.0]
    } else if place == 2 {
        [0.0, -4.0, 6.0, -4.0, 1.0]
    } else if place == points - 3 {
        [1.0, -4.0, 6.0, -4.0, 0.0]
    } else if place == points - 2 {
        [1.0, -4.0, 5.0, 0.0, 0.0]
    } else {
        [1.0, -4.0, 6.0, -4.0, 1.0]
    }
}

/// Subtracts the fourth difference across lines; those that have no part in it stand for any.
#[inline(always)]
fn dissipate<'a>(points: usize, place: usize, line: impl Fn(usize) -> [&'a [f64]; PARTS], sums: &mut Sums) {
    let factors = fourth(points, place).map(|factor| factor * DISSIPATION);
    let neighbours: [_; 5] = std::array::from_fn(|at| line((place + at).saturating_sub(2).clamp(0, points - 1)));
    let n = (points - 2).min(MOST_POINTS);
    for part in 0..PARTS {
        let lines: [&[f64]; 5] = std::array::from_fn(|at| &neighbours[at][part][..n]);
        for i in 0..n {
            let parts: [f64; 5] = std::array::from_fn(|at| factors[at] * lines[at][i]);
            sums[part][i] -= parts[0] + parts[1] + parts[2] + parts[3] + parts[4];
        }
    }
}

/// The same along a row.
#[inline(always)]
fn dissipate_along(points: usize, row: &[f64], sums: &mut Sums) {
    for (line, sums) in row.chunks_exact(points).zip(sums) {
        let ends = [1, 2, points - 3, points - 2];
        for place in ends {
            let factors = fourth(points, place);
            let near = |at: usize| line[(place + at).saturating_sub(2).min(points - 1)];
            sums[place - 1] -= DISSIPATION * (0..5).map(|at| factors[at] * near(at)).sum::<f64>();
        }
        for (near, sum) in line[1..points - 1].windows(5).zip(&mut sums[2..points - 4]) {
            *sum -= DISSIPATION * (near[0] - 4.0 * near[1] + 6.0 * near[2] - 4.0 * near[3] + near[4]);
        }
    }
}
