//! A sweep of over-relaxation: each point is solved for, given its three neighbours that come before it.

use std::marker::PhantomData;
use std::ops::Range;

use super::field::{Field, PARTS, Point, at, lines};
use super::flow::{Diagonal, Grid, MOST_POINTS, OMEGA, State};

/// The order of points, rows, planes and workers.
pub(super) trait Direction {
    /// The sign of convection from the neighbour that comes before.
    const SIGN: f64;
    /// Whether what it finds is subtracted from what is there, which is its right side otherwise.
    const SUBTRACTS: bool;

    /// The `step`-th of these.
    fn at(range: Range<usize>, step: usize) -> usize;

    /// What comes before it.
    fn before(place: usize) -> usize;

    /// The worker that comes before it.
    fn neighbour(rank: usize) -> Option<usize>;
}

/// From the first to the last.
pub(super) struct Lower;
/// And back.
pub(super) struct Upper;

impl Direction for Lower {
    const SIGN: f64 = -1.0;
    const SUBTRACTS: bool = false;

    #[inline(always)]
    fn at(range: Range<usize>, step: usize) -> usize {
        range.start + step
    }

    #[inline(always)]
    fn before(place: usize) -> usize {
        place - 1
    }

    fn neighbour(rank: usize) -> Option<usize> {
        rank.checked_sub(1)
    }
}

impl Direction for Upper {
    const SIGN: f64 = 1.0;
    const SUBTRACTS: bool = true;

    #[inline(always)]
    fn at(range: Range<usize>, step: usize) -> usize {
        range.end - 1 - step
    }

    #[inline(always)]
    fn before(place: usize) -> usize {
        place + 1
    }

    fn neighbour(rank: usize) -> Option<usize> {
        Some(rank + 1)
    }
}

pub(super) struct Sweep<'a, D> {
    grid: &'a Grid,
    direction: PhantomData<D>,
}

impl<'a, D: Direction> Sweep<'a, D> {
    pub(super) fn new(grid: &'a Grid) -> Self {
        Sweep { grid, direction: PhantomData }
    }

    /// Corrects these rows of a plane; `edge` is the row before them. `look` is called at each row with its number.
    #[inline(always)]
    pub(super) fn plane<E>(
        &mut self,
        state: &Field,
        correction: &mut Field,
        rows: Range<usize>,
        plane: usize,
        edge: &[f64],
        look: impl Fn(usize) -> Result<(), E>,
    ) -> Result<(), E> {
        let n = self.grid.points;
        for step in 0..rows.len() {
            let row = D::at(rows.clone(), step);
            look(row)?;
            let mut right = [[0.0; MOST_POINTS]; PARTS];
            let before = if step == 0 { edge } else { correction.row(plane, D::before(row)) };
            self.gather::<1>(state.row(plane, D::before(row)), before, &mut right);
            let below = D::before(plane);
            self.gather::<2>(state.row(below, row), correction.row(below, row), &mut right);
            let own = correction.row_mut(plane, row);
            if !D::SUBTRACTS {
                for (right, own) in right.iter_mut().zip(own.chunks_exact(n)) {
                    right.iter_mut().zip(&own[1..n - 1]).for_each(|(right, own)| *right += self.grid.dt * own);
                }
            }
            self.solve(state.row(plane, row), &right, own);
        }
        Ok(())
    }

    /// Adds what comes from the neighbours in direction A.
    #[inline(always)]
    #[allow(clippy::needless_range_loop, reason = "several lines have the same index")]
    fn gather<const A: usize>(&self, state: &[f64], correction: &[f64], right: &mut [[f64; MOST_POINTS]; PARTS]) {
        let n = (self.grid.points - 2).min(MOST_POINTS);
        let cut = |row| lines(row, self.grid.points, 1, n);
        let (state, correction) = (cut(state), cut(correction));
        let (convection, diffusion) = self.factors();
        for i in 0..n {
            let from = State::of(at(&state, i)).derivative::<A>(at(&correction, i), convection, diffusion);
            for part in 0..PARTS {
                right[part][i] += from[part];
            }
        }
    }

    /// Of convection and diffusion, with the factors of the sweep: what a neighbour adds to the right side.
    #[inline(always)]
    fn factors(&self) -> (f64, f64) {
        let sign = if D::SUBTRACTS { 1.0 } else { -1.0 };
        let factor = sign * OMEGA * self.grid.dt;
        (factor * D::SIGN * self.grid.first, factor * self.grid.second)
    }

    /// Solves for the points of a row one after the other.
    #[inline(always)]
    fn solve(&self, state: &[f64], right: &[[f64; MOST_POINTS]; PARTS], own: &mut [f64]) {
        let n = self.grid.points;
        let state = lines(state, n, 0, n);
        let (convection, diffusion) = self.factors();
        let mut last: Point = [0.0; PARTS];
        let first = D::before(D::at(1..n - 1, 0));
        let mut behind = State::of(at(&state, first));
        for step in 0..n - 2 {
            let i = D::at(1..n - 1, step);
            let here = State::of(at(&state, i));
            let diagonal = Diagonal::of(&here, self.grid);
            let from = behind.derivative::<0>(last, convection, diffusion);
            let sum: Point = std::array::from_fn(|part| right[part][i - 1] + from[part]);
            let found = diagonal.solve(sum);
            for part in 0..PARTS {
                let own = &mut own[part * n + i];
                *own = if D::SUBTRACTS { *own - found[part] } else { found[part] };
                last[part] = *own;
            }
            behind = here;
        }
    }
}
