//! Least squares on logarithms, with priors.

use crate::topology::Placed;

/// The logarithm of a value, by parameters.
pub(crate) type Law = fn(&Set, &[f64], &Placed) -> f64;

/// A model with its parameters: a law, the levels that have caps, and what was found.
#[derive(Clone, Debug)]
pub(crate) struct Set {
    pub(crate) law: Law,
    pub(crate) names: Vec<Name>,
    pub(crate) found: Vec<f64>,
    /// The covariance of the parameters.
    covariance: Vec<Vec<f64>>,
    pub(crate) noise: f64,
    /// The logarithm of the evidence, but for a constant of all models of the same points.
    pub(crate) evidence: f64,
}

/// What a parameter is; all are logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Name {
    /// The rate of one thread.
    Thread,
    /// A cap over what its CPUs could do, and the CPUs of the level.
    Cap {
        level: usize,
        size: f64,
    },
    Norm,
    Alpha,
    Beta,
}

/// A parameter before it is known.
pub(crate) struct Prior {
    pub(crate) name: Name,
    pub(crate) mean: f64,
    pub(crate) deviation: f64,
    pub(crate) starts: [f64; 2],
}

/// What points differ by from any law: reproductions of one machine's table differ by as much.
const NOISE: f64 = 0.03;
const STEPS: usize = 60;

/// The standard deviation of what was measured several times at the same places, as logarithms; 0 where nothing was.
pub(crate) fn repeated(points: &[&(Placed, f64)]) -> f64 {
    let (mut squares, mut free) = (0.0, 0);
    for (at, (placed, _)) in points.iter().enumerate() {
        let own: Vec<f64> = points.iter().filter(|(other, _)| other == placed).map(|(_, value)| value.ln()).collect();
        let is_first = points.iter().position(|(other, _)| other == placed) == Some(at);
        if is_first && own.len() > 1 {
            let mean = own.iter().sum::<f64>() / own.len() as f64;
            squares += own.iter().map(|one| (one - mean).powi(2)).sum::<f64>();
            free += own.len() - 1;
        }
    }
    if free == 0 { 0.0 } else { (squares / free as f64).sqrt() }
}

/// The best fit from two starts; `None` where none converges.
pub(crate) fn fitted(law: Law, priors: &[Prior], points: &[&(Placed, f64)]) -> Option<Set> {
    let mut set = Set {
        law,
        names: priors.iter().map(|prior| prior.name).collect(),
        found: Vec::new(),
        covariance: Vec::new(),
        noise: NOISE,
        evidence: f64::NEG_INFINITY,
    };
    let noise = NOISE.max(repeated(points));
    let residuals = |set: &Set, at: &[f64]| -> Vec<f64> {
        let data = points.iter().map(|(placed, value)| ((set.law)(set, at, placed) - value.ln()) / noise);
        let priors = priors.iter().zip(at).map(|(prior, own)| (own - prior.mean) / prior.deviation);
        data.chain(priors).collect()
    };
    let square = |all: &[f64]| all.iter().map(|one| one * one).sum::<f64>();
    let mut best: Option<(f64, Vec<f64>)> = None;
    for start in [0, 1] {
        let mut at: Vec<f64> = priors.iter().map(|prior| prior.starts[start]).collect();
        let (mut damping, mut error) = (1e-2, square(&residuals(&set, &at)));
        for _ in 0..STEPS {
            let (jacobian, own) = (jacobian(&|at| residuals(&set, at), &at), residuals(&set, &at));
            let mut normal = product(&jacobian);
            let gradient: Vec<f64> =
                (0..at.len()).map(|i| jacobian.iter().zip(&own).map(|(row, one)| row[i] * one).sum()).collect();
            (0..at.len()).for_each(|i| normal[i][i] *= 1.0 + damping);
            let Some(step) = solved(normal, &gradient) else { break };
            let next: Vec<f64> = at.iter().zip(&step).map(|(at, step)| at - step.clamp(-2.0, 2.0)).collect();
            let new = square(&residuals(&set, &next));
            if new.is_finite() && new < error {
                let is_done = error - new < 1e-9 * error.max(1e-9);
                (at, error, damping) = (next, new, (damping / 5.0).max(1e-9));
                if is_done {
                    break;
                }
            } else {
                damping *= 4.0;
                if damping > 1e9 {
                    break;
                }
            }
        }
        if error.is_finite() && best.as_ref().is_none_or(|(least, _)| error < *least) {
            best = Some((error, at));
        }
    }
    let (error, found) = best?;
    let normal = product(&jacobian(&|at| residuals(&set, at), &found));
    let determinant = log_determinant(normal.clone())?;
    let unit = |i: usize| (0..found.len()).map(|j| f64::from(u8::from(i == j))).collect::<Vec<f64>>();
    set.covariance = (0..found.len()).map(|i| solved(normal.clone(), &unit(i))).collect::<Option<_>>()?;
    set.evidence = -(error + determinant) / 2.0 - priors.iter().map(|prior| prior.deviation.ln()).sum::<f64>();
    let data: Vec<f64> = residuals(&set, &found).into_iter().take(points.len()).collect();
    let scatter = (square(&data) / points.len() as f64).sqrt() * noise;
    set.found = found;
    set.noise = scatter.max(noise);
    Some(set)
}

impl Set {
    pub(crate) fn log(&self, placed: &Placed) -> f64 {
        (self.law)(self, &self.found, placed)
    }

    /// The logarithm of what a thread does alone.
    pub(crate) fn thread(&self) -> f64 {
        self.found.first().copied().unwrap_or(0.0)
    }

    /// The levels that have a cap.
    pub(crate) fn caps(&self) -> Vec<usize> {
        let caps = self.names.iter().filter_map(|name| match name {
            Name::Cap { level, .. } => Some(*level),
            _ => None,
        });
        caps.collect()
    }

    /// Of the logarithm, by the parameters.
    pub(crate) fn variance(&self, placed: &Placed) -> f64 {
        let rows = jacobian(&|at| vec![(self.law)(self, at, placed)], &self.found);
        let row = &rows[0];
        let sum = |i: usize| (0..row.len()).map(|j| row[i] * self.covariance[i][j] * row[j]).sum::<f64>();
        (0..row.len()).map(sum).sum::<f64>().max(0.0)
    }

    /// Their names and logarithms: caps as what a part of the machine can do.
    pub(crate) fn parameters(&self, levels: &[String]) -> Vec<(String, f64)> {
        let thread = self.thread();
        let own = |(name, found): (&Name, &f64)| match *name {
            Name::Thread => ("thread".to_owned(), *found),
            Name::Cap { level, size } => (levels[level].clone(), thread + size.ln() + found),
            Name::Norm => ("p".to_owned(), *found),
            Name::Alpha => ("alpha".to_owned(), *found),
            Name::Beta => ("beta".to_owned(), *found),
        };
        self.names.iter().zip(&self.found).map(own).collect()
    }
}

fn jacobian(residuals: &dyn Fn(&[f64]) -> Vec<f64>, at: &[f64]) -> Vec<Vec<f64>> {
    const STEP: f64 = 1e-5;
    let columns: Vec<Vec<f64>> = (0..at.len())
        .map(|i| {
            let moved = |by: f64| {
                let mut moved = at.to_vec();
                moved[i] += by;
                residuals(&moved)
            };
            let (up, down) = (moved(STEP), moved(-STEP));
            up.iter().zip(&down).map(|(up, down)| (up - down) / (2.0 * STEP)).collect()
        })
        .collect();
    let rows = columns.first().map_or(0, Vec::len);
    (0..rows).map(|row| columns.iter().map(|column| column[row]).collect()).collect()
}

/// JᵀJ.
fn product(jacobian: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let count = jacobian.first().map_or(0, Vec::len);
    let entry = |i: usize, j: usize| jacobian.iter().map(|row| row[i] * row[j]).sum();
    (0..count).map(|i| (0..count).map(|j| entry(i, j)).collect()).collect()
}

/// The Cholesky factor of a positive definite matrix.
fn factor(matrix: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    let count = matrix.len();
    let mut lower = vec![vec![0.0; count]; count];
    for i in 0..count {
        for j in 0..=i {
            let sum: f64 = (0..j).map(|k| lower[i][k] * lower[j][k]).sum();
            let rest = matrix[i][j] - sum;
            // Not a number is not above 0 either.
            let is_positive = rest > 0.0;
            if i == j && !is_positive {
                return None;
            }
            lower[i][j] = if i == j { rest.sqrt() } else { rest / lower[j][j] };
        }
    }
    Some(lower)
}

fn solved(matrix: Vec<Vec<f64>>, right: &[f64]) -> Option<Vec<f64>> {
    let lower = factor(&matrix)?;
    let count = right.len();
    let mut own = right.to_vec();
    for i in 0..count {
        own[i] = (own[i] - (0..i).map(|k| lower[i][k] * own[k]).sum::<f64>()) / lower[i][i];
    }
    for i in (0..count).rev() {
        own[i] = (own[i] - (i + 1..count).map(|k| lower[k][i] * own[k]).sum::<f64>()) / lower[i][i];
    }
    Some(own)
}

fn log_determinant(matrix: Vec<Vec<f64>>) -> Option<f64> {
    Some(factor(&matrix)?.iter().enumerate().map(|(i, row)| 2.0 * row[i].ln()).sum())
}
