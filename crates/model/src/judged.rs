//! Whether a model predicts points that it has not seen.

use charz_data::Arrange;
use serde::Serialize;

use super::{Family, Model, NoModel, Points, Weighed, fitting, unevenly};
use crate::{Placed, Topology};

/// By how much a table's points are missed, as fractions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Missed {
    /// The mean.
    pub mean: f64,
    /// The worst.
    pub worst: f64,
}

/// The most that fitted points may be missed by in the mean; or this many times what repeated points differ by.
const MISFIT: f64 = 0.06;
const MISFIT_OF_NOISE: f64 = 1.2;
/// What points that were left out may be missed by in the mean, whatever interpolation does, and at most; twice that where they are too few
/// for a mean.
const GOOD: f64 = 0.045;
const MOST: f64 = 0.10;
pub(super) const FEW: usize = 3;
/// The share of points that intervals are to hold.
pub(super) const CONFIDENCE: f64 = 0.9;
/// An interval that ends at a point holds it.
const ROUNDED: f64 = 1.0 + 1e-9;
/// So many placements have to be left to fit when one is left out.
const LEFT: usize = 4;
/// Of more placements evenly chosen ones are left out: each is fitted to all others, which takes a time that grows with the square.
const MOST_LEFT_OUT: usize = 100;
/// A set that weighs less is not fitted again without the point that is left out.
const WORTH: f64 = 0.01;

/// A point that a model has not seen.
struct Unseen<'a> {
    placed: &'a Placed,
    value: f64,
    interpolated: f64,
    /// The model without the point, where the model was fitted to it.
    without: Option<Model>,
}

/// What a model misses points by that it has not seen, or why it is none.
pub(super) fn judged<'a>(
    model: &mut Model,
    family: &Family,
    topology: &Topology,
    fitted: &Points<'a>,
    held_back: &Points<'a>,
) -> Result<f64, NoModel> {
    let misfit = missed(fitted.iter().map(|(placed, value)| (model.predict(placed).value, *value)));
    if misfit.mean > MISFIT.max(MISFIT_OF_NOISE * fitting::repeated(fitted)) {
        return Err(NoModel::Misfit { model: family.name, mean: misfit.mean });
    }
    let of_other = |(placed, value): &'a (Placed, f64)| {
        let interpolated = interpolated(fitted, placed.threads);
        Unseen { placed, value: *value, interpolated, without: None }
    };
    let mut unseen: Vec<Unseen<'a>> = held_back.iter().copied().map(of_other).collect();
    let mut placements: Vec<&'a Placed> = Vec::new();
    for (placed, _) in fitted.iter().copied().filter(|_| unseen.is_empty()) {
        // A copy of a point is no other.
        if !placements.contains(&placed) {
            placements.push(placed);
        }
    }
    if placements.len() > LEFT {
        let sets: Vec<Weighed> = model.sets.iter().filter(|(weight, _)| *weight >= WORTH).cloned().collect();
        let deciding = topology.deciding(&placements);
        // Nothing else shows what these do.
        let others: Vec<&'a Placed> =
            placements.iter().enumerate().filter(|(at, _)| !deciding.contains(at)).map(|(_, placed)| *placed).collect();
        for placed in others.iter().copied().step_by(others.len().div_ceil(MOST_LEFT_OUT).max(1)) {
            let (own, others): (Vec<_>, Vec<_>) = fitted.iter().copied().partition(|(other, _)| other == placed);
            let value = own.iter().map(|(_, value)| value).sum::<f64>() / own.len() as f64;
            let interpolated = interpolated(&others, placed.threads);
            let without = family.fit(topology, &others, Some(&sets));
            unseen.extend(without.map(|own| Unseen { placed, value, interpolated, without: Some(own) }));
        }
    }
    model.checked = unseen.len();
    if unseen.is_empty() {
        return Ok(misfit.mean);
    }
    let is_few = unseen.len() < FEW;
    let predict = |model: &Model, one: &Unseen<'_>| one.without.as_ref().unwrap_or(model).predict(one.placed);
    let pairs: Vec<(f64, f64)> = unseen.iter().map(|one| (predict(model, one).value, one.value)).collect();
    let error = missed(pairs.iter().copied());
    model.left_out = held_back.is_empty().then_some(error.mean);
    let straight = missed(unseen.iter().map(|one| (one.interpolated, one.value)));
    let is_worse = !is_few && error.mean > GOOD && error.mean * 2.0 > straight.mean;
    if error.mean > (if is_few { 2.0 * MOST } else { MOST }) || is_worse {
        return Err(NoModel::Misses {
            model: family.name,
            points: unseen.len(),
            mean: error.mean,
            interpolation: straight.mean,
            good: is_worse.then_some(GOOD),
        });
    }
    model.uneven = unevenly(&[fitted, held_back].concat());
    let off = |one: &Unseen<'_>| one.without.as_ref().unwrap_or(model).off((one.placed, one.value));
    model.width = width(unseen.iter().map(off).collect());
    Ok(error.mean)
}

/// The width that holds nine of ten, of errors in half widths and of one more that is none of them and has Student's distribution with two degrees
/// of freedom: the predictive distribution of a Dirichlet process (T. Ferguson, Annals of Statistics 1(2), 1973).
fn width(mut errors: Vec<f64>) -> f64 {
    errors.arrange_by(f64::total_cmp);
    let wanted = CONFIDENCE * (errors.len() + 1) as f64;
    // The width that holds such a share of the other, with 1 for nine tenths of it.
    let ratio = |share: f64| share / (1.0 - share * share).sqrt();
    let other = |held: usize| match (wanted - held as f64).max(0.0) {
        share if share < 1.0 => ratio(share) / ratio(CONFIDENCE),
        _ => f64::INFINITY,
    };
    let reach = |held: usize| other(held).max(if held > 0 { errors[held - 1] * ROUNDED } else { 0.0 });
    (0..=errors.len()).map(reach).fold(f64::INFINITY, f64::min)
}

/// By how much predictions miss what was measured.
pub fn missed(pairs: impl Iterator<Item = (f64, f64)>) -> Missed {
    let errors: Vec<f64> = pairs.map(|(predicted, measured)| (predicted / measured - 1.0).abs()).collect();
    let count = errors.len().max(1) as f64;
    Missed { mean: errors.iter().sum::<f64>() / count, worst: errors.iter().copied().fold(0.0, f64::max) }
}

/// Between the neighbours by number of threads, whatever their places; beyond the last point its value.
fn interpolated(points: &[&(Placed, f64)], threads: usize) -> f64 {
    let mut known: Vec<(f64, f64)> = Vec::new();
    let mut sorted: Vec<(usize, f64)> = points.iter().map(|(placed, value)| (placed.threads, *value)).collect();
    sorted.arrange_by(|one, other| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)));
    for own in sorted.chunk_by(|one, other| one.0 == other.0) {
        known.push((own[0].0 as f64, own.iter().map(|(_, value)| value).sum::<f64>() / own.len() as f64));
    }
    let at = threads as f64;
    let next = known.partition_point(|(threads, _)| *threads < at);
    match (next.checked_sub(1).and_then(|before| known.get(before)), known.get(next)) {
        (Some(before), Some(after)) => before.1 + (after.1 - before.1) * (at - before.0) / (after.0 - before.0),
        (Some(only), None) | (None, Some(only)) => only.1,
        (None, None) => f64::NAN,
    }
}
