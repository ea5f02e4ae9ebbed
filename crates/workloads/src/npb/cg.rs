//! CG, "conjugate gradient": the smallest eigenvalue of a sparse symmetric matrix by inverse iteration, each step of which solves a system
//! by 25 steps of conjugate gradients (RNR-94-007, section 3.4). A worker has some rows, and the whole vector that it multiplies them by.

mod matrix;

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use charz_data::Class;

use super::{Benchmark, Member, Over, Solver, agree, copy, show};
use crate::team::part;
use charz_kernels::kernel::Error;
use charz_kernels::sys::futex::Scope;
use charz_kernels::sys::shared::Shared;
use matrix::{Generators, Rows};

const STEPS: usize = 25;
/// What the eigenvalue may differ by, as in NPB.
const BOUND: f64 = 1e-10;

#[derive(Clone, Copy)]
struct Size {
    rows: usize,
    /// Non-zeros of each of the vectors that the matrix is made of.
    non_zeros: usize,
    rounds: usize,
    shift: f64,
    expected: f64,
}

fn size(class: Class) -> Size {
    let (rows, non_zeros, rounds, shift, expected) = match class {
        Class::S => (1400, 7, 15, 10.0, 8.5971775078648),
        Class::W => (7000, 8, 15, 12.0, 10.362595087124),
        Class::A => (14000, 11, 15, 20.0, 17.130235054029),
        Class::B => (75000, 13, 75, 60.0, 22.712745482631),
        Class::C => (150000, 15, 75, 110.0, 28.973605592845),
    };
    Size { rows, non_zeros, rounds, shift, expected }
}

pub(super) struct Cg {
    size: Size,
    generators: Generators,
    workers: usize,
    /// The vector that all multiply by, to which each worker gives its part.
    vector: Shared<AtomicU64>,
}

impl Benchmark for Cg {
    type Solver = Gradients;

    fn operations(class: Class) -> f64 {
        let Size { rows, non_zeros, rounds, .. } = size(class);
        let products = (non_zeros * (non_zeros + 1)) as f64;
        2.0 * (rounds * rows) as f64 * (3.0 + products + STEPS as f64 * (5.0 + products) + 3.0)
    }

    fn bytes(class: Class, workers: usize) -> u64 {
        let Size { rows, non_zeros, .. } = size(class);
        // A product of each pair of non-zeros with its column, the vectors by rows and by columns, five vectors in parts and one each.
        let a_row = 12 * (non_zeros + 1).pow(2) + 16 * (non_zeros + 1) + 40 + 8 * workers;
        (rows * a_row) as u64
    }

    fn most_workers(class: Class) -> usize {
        size(class).rows
    }

    fn new(class: Class, workers: usize, scope: Scope) -> Result<Self, Error> {
        let size = size(class);
        let generators = Generators::new(size.rows, size.non_zeros);
        Ok(Cg { size, generators, workers, vector: Shared::zeros(size.rows, scope)? })
    }

    fn solver(problem: &Arc<Self>, rank: usize) -> Gradients {
        let Size { rows, shift, .. } = problem.size;
        let own = part(rank, problem.workers, rows);
        let zeros = || vec![0.0; own.len()];
        Gradients {
            matrix: problem.generators.matrix(own.clone(), shift),
            x: zeros(),
            z: zeros(),
            r: zeros(),
            q: zeros(),
            p: vec![0.0; rows],
            own,
            eigenvalue: f64::NAN,
            problem: Arc::clone(problem),
        }
    }
}

/// A worker's rows, and its parts of the vectors as the specification names them; of p it has a copy.
pub(super) struct Gradients {
    problem: Arc<Cg>,
    own: Range<usize>,
    matrix: Rows,
    x: Vec<f64>,
    z: Vec<f64>,
    r: Vec<f64>,
    q: Vec<f64>,
    p: Vec<f64>,
    eigenvalue: f64,
}

impl Gradients {
    /// Gives the others its part of the vector to be multiplied by, and copies theirs.
    fn exchange(&mut self, member: &mut Member<'_>) -> Result<(), Over> {
        let Gradients { problem, own, p, .. } = self;
        if problem.workers == 1 {
            return Ok(());
        }
        let vector = &*problem.vector;
        show(&vector[own.clone()], &p[own.clone()]);
        member.meet()?;
        copy(&vector[..own.start], &mut p[..own.start]);
        copy(&vector[own.end..], &mut p[own.end..]);
        Ok(())
    }

    /// Solves A z = x approximately. Returns the length of what is left, |x - A z|.
    fn solve_system(&mut self, member: &mut Member<'_>) -> Result<f64, Over> {
        self.z.fill(0.0);
        self.r.copy_from_slice(&self.x);
        self.p[self.own.clone()].copy_from_slice(&self.x);
        let [mut rho] = member.sum([dot(&self.r, &self.r)])?;
        for _ in 0..STEPS {
            self.exchange(member)?;
            self.matrix.multiply(&self.p, &mut self.q, member)?;
            let p = &mut self.p[self.own.clone()];
            let [curvature] = member.sum([dot(p, &self.q)])?;
            let alpha = rho / curvature;
            for ((z, r), (p, q)) in self.z.iter_mut().zip(&mut self.r).zip(p.iter().zip(&self.q)) {
                *z += alpha * p;
                *r -= alpha * q;
            }
            let before = rho;
            [rho] = member.sum([dot(&self.r, &self.r)])?;
            let beta = rho / before;
            p.iter_mut().zip(&self.r).for_each(|(p, r)| *p = r + beta * *p);
        }
        self.p[self.own.clone()].copy_from_slice(&self.z);
        self.exchange(member)?;
        self.matrix.multiply(&self.p, &mut self.r, member)?;
        let left: f64 = self.x.iter().zip(&self.r).map(|(x, r)| (x - r) * (x - r)).sum();
        let [left] = member.sum([left])?;
        Ok(left.sqrt())
    }
}

/// The sum of the products, in several sums: none of their additions waits for all before it.
fn dot(one: &[f64], other: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let ((one, one_rest), (other, other_rest)) = (one.as_chunks::<8>(), other.as_chunks::<8>());
    for (one, other) in one.iter().zip(other) {
        for ((sum, one), other) in sums.iter_mut().zip(one).zip(other) {
            *sum += one * other;
        }
    }
    let rest: f64 = one_rest.iter().zip(other_rest).map(|(one, other)| one * other).sum();
    sums.into_iter().sum::<f64>() + rest
}

impl Solver for Gradients {
    fn prepare(&mut self) {
        self.x.fill(1.0);
        // Touched here, and not within a run.
        show(&self.problem.vector[self.own.clone()], &self.x);
        [&mut self.z, &mut self.r, &mut self.q, &mut self.p].into_iter().for_each(|vector| vector.fill(0.0));
        self.eigenvalue = f64::NAN;
    }

    fn solve(&mut self, member: &mut Member<'_>) -> Result<(), Over> {
        for _ in 0..self.problem.size.rounds {
            self.solve_system(member)?;
            let [product, length] = member.sum([dot(&self.x, &self.z), dot(&self.z, &self.z)])?;
            self.eigenvalue = self.problem.size.shift + 1.0 / product;
            let scale = 1.0 / length.sqrt();
            self.x.iter_mut().zip(&self.z).for_each(|(x, z)| *x = scale * z);
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<(), String> {
        agree("the eigenvalue", self.eigenvalue, self.problem.size.expected, BOUND)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::check_noticed;
    use super::*;

    #[test]
    fn another_matrix_is_noticed() {
        check_noticed::<Cg>(|gradients| gradients.matrix.values[0] *= 1.01);
    }

    #[test]
    fn products_are_those_of_the_numbers_at_each_place() {
        for length in 0..40 {
            let (one, other): (Vec<_>, Vec<_>) = (0..length).map(|at| (f64::from(at), f64::from(at + 1))).unzip();
            assert_eq!(dot(&one, &other), (0..length).map(|at| f64::from(at * (at + 1))).sum::<f64>());
        }
    }
}
