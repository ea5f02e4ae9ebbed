//! Least squares on logarithms, with priors.

use charz_data::Arrange;
use std::cmp::Ordering;

use crate::topology::Placed;

/// The logarithm of a value, and its slopes by the parameters.
pub(crate) type Law = fn(&[Name], &[f64], &Placed) -> (f64, Vec<f64>);

/// By how many standard deviations something is missed, and the slopes of that by the parameters.
type Residual = (f64, Vec<f64>);

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
    /// That of a thread and the parts of its core, which are the first roofs.
    NormOfCore {
        roofs: usize,
    },
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
pub(crate) const NOISE: f64 = 0.03;
const STEPS: usize = 60;
/// The logarithm of a cap that nothing reaches.
const ENDLESS: f64 = 30.0;

/// Points by placement: those at the same places beside each other.
fn sorted<'a>(points: &[&'a (Placed, f64)]) -> Vec<&'a (Placed, f64)> {
    let mut sorted = points.to_vec();
    sorted.arrange_by(|one, other| one.0.partial_cmp(&other.0).unwrap_or(Ordering::Equal));
    sorted
}

/// Each placement once, with the mean of its values.
pub(crate) fn averaged(points: &[&(Placed, f64)]) -> Vec<(Placed, f64)> {
    let mean = |own: &[&(Placed, f64)]| own.iter().map(|(_, value)| value).sum::<f64>() / own.len() as f64;
    sorted(points).chunk_by(|one, other| one.0 == other.0).map(|own| (own[0].0.clone(), mean(own))).collect()
}

/// The standard deviation of values measured several times at the same places, as logarithms; 0 where none were.
pub(crate) fn repeated(points: &[&(Placed, f64)]) -> f64 {
    let (mut squares, mut free) = (0.0, 0);
    for own in sorted(points).chunk_by(|one, other| one.0 == other.0) {
        let mean = own.iter().map(|(_, value)| value.ln()).sum::<f64>() / own.len() as f64;
        squares += own.iter().map(|(_, value)| (value.ln() - mean).powi(2)).sum::<f64>();
        free += own.len() - 1;
    }
    if free == 0 { 0.0 } else { (squares / free as f64).sqrt() }
}

/// The standard deviation that points are taken to have before they are fitted.
pub(crate) fn noise(points: &[&(Placed, f64)]) -> f64 {
    NOISE.max(repeated(points))
}

/// The best fit from what was found for nearly the same points, else from two starts; `None` where none converges.
pub(crate) fn fitted(
    law: Law,
    priors: &[Prior],
    noise: f64,
    known: Option<&Set>,
    points: &[&(Placed, f64)],
) -> Option<Set> {
    let names: Vec<Name> = priors.iter().map(|prior| prior.name).collect();
    let residuals = |at: &[f64]| -> Vec<Residual> {
        let data = points.iter().map(|(placed, value)| {
            let (log, mut slopes) = law(&names, at, placed);
            slopes.iter_mut().for_each(|slope| *slope /= noise);
            ((log - value.ln()) / noise, slopes)
        });
        let priors = priors.iter().enumerate().map(|(i, prior)| {
            let slopes = (0..at.len()).map(|j| if i == j { prior.deviation.recip() } else { 0.0 });
            ((at[i] - prior.mean) / prior.deviation, slopes.collect())
        });
        data.chain(priors).collect()
    };
    let square = |all: &[Residual]| all.iter().map(|(one, _)| one * one).sum::<f64>();
    let starts = match known {
        Some(known) => vec![known.found.clone()],
        None => [0, 1].map(|start| priors.iter().map(|prior| prior.starts[start]).collect()).into(),
    };
    let mut best: Option<(f64, Vec<f64>, Vec<Residual>)> = None;
    for mut at in starts {
        let (mut damping, mut own) = (1e-2, residuals(&at));
        let mut error = square(&own);
        for _ in 0..STEPS {
            let mut normal = product(&own);
            let gradient: Vec<f64> =
                (0..at.len()).map(|i| own.iter().map(|(one, slopes)| slopes[i] * one).sum()).collect();
            (0..at.len()).for_each(|i| normal[i][i] *= 1.0 + damping);
            let Some(step) = solved(normal, &gradient) else { break };
            let next: Vec<f64> = at.iter().zip(&step).map(|(at, step)| at - step.clamp(-2.0, 2.0)).collect();
            let there = residuals(&next);
            let new = square(&there);
            if new.is_finite() && new < error {
                let is_done = error - new < 1e-9 * error.max(1e-9);
                (at, own, error, damping) = (next, there, new, (damping / 5.0).max(1e-9));
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
        if error.is_finite() && best.as_ref().is_none_or(|(least, ..)| error < *least) {
            best = Some((error, at, own));
        }
    }
    let (error, found, own) = best?;
    let normal = product(&own);
    let determinant = log_determinant(normal.clone())?;
    let unit = |i: usize| (0..found.len()).map(|j| f64::from(u8::from(i == j))).collect::<Vec<f64>>();
    let covariance = (0..found.len()).map(|i| solved(normal.clone(), &unit(i))).collect::<Option<_>>()?;
    let evidence = -(error + determinant) / 2.0 - priors.iter().map(|prior| prior.deviation.ln()).sum::<f64>();
    let scatter = (square(&own[..points.len()]) / points.len() as f64).sqrt() * noise;
    Some(Set { law, names, found, covariance, noise: scatter.max(noise), evidence })
}

impl Set {
    pub(crate) fn log(&self, placed: &Placed) -> f64 {
        self.by(self.law, placed)
    }

    /// By another law of the same parameters.
    pub(crate) fn by(&self, law: Law, placed: &Placed) -> f64 {
        law(&self.names, &self.found, placed).0
    }

    /// The logarithm of what a thread does alone.
    pub(crate) fn thread(&self) -> f64 {
        self.found.first().copied().unwrap_or(0.0)
    }

    /// By how much less they do than their cores would without anything around them, as a logarithm.
    pub(crate) fn beyond_cores(&self, placed: &Placed) -> f64 {
        let of_core = self.names.iter().find_map(|name| match name {
            Name::NormOfCore { roofs } => Some(*roofs),
            _ => None,
        });
        let alone = |(at, (name, found)): (usize, (&Name, &f64))| match name {
            Name::Cap { .. } if at >= of_core.unwrap_or(1) => ENDLESS,
            Name::Alpha | Name::Beta => -ENDLESS,
            _ => *found,
        };
        let found: Vec<f64> = self.names.iter().zip(&self.found).enumerate().map(alone).collect();
        (self.law)(&self.names, &found, placed).0 - self.log(placed)
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
        let (_, row) = (self.law)(&self.names, &self.found, placed);
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
            Name::NormOfCore { .. } => ("p of a core".to_owned(), *found),
            Name::Alpha => ("alpha".to_owned(), *found),
            Name::Beta => ("beta".to_owned(), *found),
        };
        self.names.iter().zip(&self.found).map(own).collect()
    }
}

/// JᵀJ.
fn product(residuals: &[Residual]) -> Vec<Vec<f64>> {
    let count = residuals.first().map_or(0, |(_, slopes)| slopes.len());
    let entry = |i: usize, j: usize| residuals.iter().map(|(_, slopes)| slopes[i] * slopes[j]).sum();
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
