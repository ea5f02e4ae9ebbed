//! Which placements to measure next: few of them are to settle which is the best.
//!
//! What decides is measured first: one thread, each part of the machine full, all of it. (On five published tables these predict the others
//! to 3 to 4% in the mean, where interpolation between the same points misses by 12 to 38%; random points do half as well.) Then a model says
//! what the others do, and only those are measured that could be the best, or that the model knows too little of.

use crate::topology::{Placed, Topology};
use crate::{Model, Outcome, Prediction, Table, fit};

/// A placement, and what is known of it.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Where its threads are.
    pub placed: Placed,
    /// What is known.
    pub known: Known,
}

/// What is known of a placement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Known {
    /// It was not measured.
    Nothing,
    /// Its rate.
    Rate(f64),
    /// It was tried, and has no number.
    NoNumber,
}

/// What to do next.
#[derive(Clone, Debug)]
pub enum Next {
    /// Measure the candidates at these places.
    Measure(Vec<usize>),
    /// The others are predicted well enough: their places with what is predicted, and the model's name.
    Enough(&'static str, Vec<(usize, Prediction)>),
}

/// The share of the candidates that are measured at most where a model predicts the others.
const SHARE: usize = 5;
/// By how much less than the best a prediction may be and still be measured: it may be the best.
const NEAR: f64 = 0.01;
/// Where the ends of an interval are so far apart, the model knows too little.
const WIDE: f64 = 1.35;
/// The share of the best that fewer threads are asked for.
const KNEE: f64 = 0.95;

/// What to measure next of these, which are all that may be measured.
pub fn next(topology: &Topology, candidates: &[Candidate]) -> Next {
    let is_open = |at: &usize| candidates[*at].known == Known::Nothing;
    let open: Vec<usize> = (0..candidates.len()).filter(is_open).collect();
    // Beyond a thread per CPU no model of places says anything.
    let beyond: Vec<usize> = open.iter().copied().filter(|at| !topology.holds(&candidates[*at].placed)).collect();
    let placements: Vec<&Placed> = candidates.iter().map(|candidate| &candidate.placed).collect();
    let deciding = topology.deciding(&placements);
    let first: Vec<usize> = deciding.iter().copied().filter(is_open).chain(beyond.iter().copied()).collect();
    if !first.is_empty() {
        return Next::Measure(first);
    }
    let rate = |candidate: &Candidate| match candidate.known {
        Known::Rate(rate) if topology.holds(&candidate.placed) => Some((candidate.placed.clone(), rate)),
        _ => None,
    };
    let fitted: Vec<(Placed, f64)> = candidates.iter().filter_map(rate).collect();
    let best = fitted.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
    let model = match fit(topology, &Table { fitted: fitted.clone(), held_back: Vec::new() }) {
        Outcome::Model(model) => model,
        // What cannot be predicted is measured, what lies farthest from all that was measured first.
        Outcome::None(_) => {
            return Next::Measure(farthest(candidates, &open, &fitted).into_iter().collect()).or_enough();
        }
    };
    let predicted: Vec<(usize, Prediction)> =
        open.iter().map(|at| (*at, model.predict(&candidates[*at].placed))).collect();
    let made = candidates.len() - open.len();
    if made >= (candidates.len() / SHARE).max(deciding.len() + 1) {
        return Next::Enough(model.name, predicted);
    }
    match urgent(&model, candidates, &predicted, &fitted, best) {
        Some(at) => Next::Measure(vec![at]),
        None => Next::Enough(model.name, predicted),
    }
}

impl Next {
    /// Nothing that is left to be measured is enough.
    fn or_enough(self) -> Self {
        match self {
            Next::Measure(places) if places.is_empty() => Next::Enough("", Vec::new()),
            next => next,
        }
    }
}

/// The open one that lies farthest from all that have a number, by the number of threads and by how many share a part.
fn farthest(candidates: &[Candidate], open: &[usize], fitted: &[(Placed, f64)]) -> Option<usize> {
    let distance = |one: &Placed, other: &Placed| {
        let levels = one.levels().min(other.levels());
        let loads = (0..levels).map(|level| (one.load(level) / other.load(level)).ln().abs());
        loads.fold((one.threads as f64 / other.threads as f64).ln().abs(), f64::max)
    };
    let nearest = |at: &usize| {
        fitted.iter().map(|(placed, _)| distance(&candidates[*at].placed, placed)).fold(f64::INFINITY, f64::min)
    };
    open.iter().copied().max_by(|one, other| nearest(one).total_cmp(&nearest(other)))
}

/// What would change the advice: the predicted best, what may be better and is hardly known, and fewer threads that may be enough.
fn urgent(
    model: &Model,
    candidates: &[Candidate],
    predicted: &[(usize, Prediction)],
    fitted: &[(Placed, f64)],
    best: f64,
) -> Option<usize> {
    let most =
        |by: fn(&Prediction) -> f64| predicted.iter().max_by(|one, other| by(&one.1).total_cmp(&by(&other.1))).copied();
    let (top, found) = most(|found| found.value)?;
    if found.value >= best * (1.0 - NEAR) {
        return Some(top);
    }
    let (widest, found) = most(|found| found.interval[1])?;
    if found.interval[1] > best && found.interval[1] / found.interval[0] > WIDE {
        return Some(widest);
    }
    // The model's own mistakes at what was measured say how far its word goes there.
    let off = fitted.iter().map(|(placed, rate)| (model.predict(placed).value / rate).ln().abs()).fold(0.0, f64::max);
    let fewest = fitted.iter().filter(|(_, rate)| *rate >= KNEE * best).map(|(placed, _)| placed.threads).min()?;
    let may_be_enough = |(at, found): &&(usize, Prediction)| {
        let reaches = found.value * off.exp().min(1.03) >= KNEE * best;
        reaches && candidates[*at].placed.threads * 4 <= fewest * 3
    };
    let fewer = predicted.iter().filter(may_be_enough).min_by_key(|(at, _)| candidates[*at].placed.threads);
    fewer.map(|(at, _)| *at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{Place, T3_4, noise, truth};
    use fastrand::Rng;

    /// Measures until nothing more is asked for. Returns how many were measured, and the place of the best by measurement or prediction.
    fn explored(place: &Place, all: &[Placed], rate: impl Fn(&Placed) -> f64) -> (usize, usize) {
        let mut candidates: Vec<Candidate> =
            all.iter().map(|placed| Candidate { placed: placed.clone(), known: Known::Nothing }).collect();
        let predicted = loop {
            match next(&place.topology, &candidates) {
                Next::Measure(places) => {
                    assert!(!places.is_empty(), "it ends");
                    for at in places {
                        assert_eq!(candidates[at].known, Known::Nothing, "once is enough");
                        candidates[at].known = Known::Rate(rate(&candidates[at].placed));
                    }
                }
                Next::Enough(_, predicted) => break predicted,
            }
        };
        let measured = candidates.iter().enumerate().filter_map(|(at, candidate)| match candidate.known {
            Known::Rate(rate) => Some((at, rate)),
            _ => None,
        });
        let count = measured.clone().count();
        let all = measured.chain(predicted.into_iter().map(|(at, found)| (at, found.value)));
        (count, all.max_by(|one, other| one.1.total_cmp(&other.1)).unwrap().0)
    }

    fn placements(place: &Place) -> Vec<Placed> {
        let cpus = place.cpus();
        let halves = (0..).map(|power| 1_usize << power).take_while(|threads| *threads <= cpus);
        let counts: Vec<usize> =
            halves.flat_map(|threads| [threads, threads + threads / 2]).filter(|threads| *threads <= cpus).collect();
        let mut all: Vec<Placed> = Vec::new();
        for placed in ["dumb", "round-robin", "compact"]
            .iter()
            .flat_map(|mapping| counts.iter().map(|threads| place.at(mapping, *threads)))
        {
            if !all.contains(&placed) {
                all.push(placed);
            }
        }
        all
    }

    #[test]
    fn a_quarter_of_the_placements_finds_what_all_would() {
        let mut random = Rng::with_seed(33);
        let places = ["Package:2 Core:16 PU:2", "Package:4 Core:16 Group:2 PU:4", "Package:2 L3Cache:4 Core:8 PU:1"]
            .map(Place::new);
        let (mut good, mut share) = (0, 0.0);
        let draws = 24;
        for at in 0..draws {
            let place = &places[at % places.len()];
            let truth = truth(&mut random, place);
            let all = placements(place);
            let noises: Vec<f64> = all.iter().map(|_| noise(&mut random)).collect();
            let rate = |placed: &Placed| {
                let at = all.iter().position(|other| other == placed).unwrap();
                truth(placed) * noises[at]
            };
            let (measured, chosen) = explored(place, &all, rate);
            let best = all.iter().map(&truth).fold(0.0, f64::max);
            good += usize::from(truth(&all[chosen]) >= 0.97 * best);
            share += measured as f64 / all.len() as f64 / draws as f64;
        }
        assert!(good + 1 >= draws && share <= 0.3, "{good} of {draws}, {share} measured");
    }

    #[test]
    fn a_fifth_of_figure_5_finds_the_best_of_the_t3_4() {
        let place = Place::new("Package:4 Core:16 Group:2 PU:4");
        let rows = T3_4.iter().flat_map(|(threads, dumb, round_robin)| {
            [("dumb", dumb), ("round-robin", round_robin)].map(|(mapping, rate)| (place.at(mapping, *threads), *rate))
        });
        let (all, rates): (Vec<Placed>, Vec<f64>) = rows.unzip();
        let rate = |placed: &Placed| rates[all.iter().position(|one| one == placed).unwrap()];
        let (measured, chosen) = explored(&place, &all, rate);
        assert!(measured * 5 <= all.len() && rates[chosen] >= 0.97 * 107.57, "{measured} measured, {}", rates[chosen]);
    }

    /// Threads of a program, and how much of it they do.
    type Law = fn(&Placed, f64) -> f64;

    #[test]
    fn eight_runs_find_how_many_threads_a_program_should_get() {
        let place = Place::new("Package:2 L3Cache:4 Core:8 PU:1");
        let counts = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64];
        let all: Vec<Placed> = counts.iter().map(|threads| place.at("round-robin", *threads)).collect();
        let laws: [(&str, Law); 4] = [
            ("scales", |placed, _| placed.threads as f64),
            ("serial", |placed, lot| 1.0 / (0.02 + 0.1 * lot + (0.98 - 0.1 * lot) / placed.threads as f64)),
            ("knee", |placed, lot| {
                let knee = 2.0 + 4.0 * lot;
                placed.threads as f64 * (1.0 + (placed.load(1) / knee).powi(6)).powf(-1.0 / 6.0)
            }),
            ("collapses", |placed, lot| {
                let (threads, cost) = (placed.threads as f64, 0.002 + 0.02 * lot);
                threads / (1.0 + 0.03 * (threads - 1.0) + cost * threads * (threads - 1.0))
            }),
        ];
        let mut random = Rng::with_seed(8);
        for (name, law) in laws {
            let (mut good, mut most) = (0, 0);
            for _ in 0..50 {
                let lot = random.f64();
                let noises: Vec<f64> = all.iter().map(|_| noise(&mut random)).collect();
                let at = |placed: &Placed| all.iter().position(|one| one == placed).unwrap();
                let (runs, chosen) = explored(&place, &all, |placed| law(placed, lot) * noises[at(placed)]);
                let rates: Vec<f64> = all.iter().map(|placed| law(placed, lot)).collect();
                let best = rates.iter().copied().fold(0.0, f64::max);
                let step = rates.iter().position(|rate| *rate == best).unwrap().abs_diff(chosen);
                good += usize::from(step <= 1 || rates[chosen] >= 0.97 * best);
                most = most.max(runs);
            }
            assert!(good >= 45 && most <= 8, "{name}: {good} of 50, {most} runs");
        }
    }

    #[test]
    fn what_no_model_predicts_is_measured() {
        let place = Place::new("Package:4 Core:6 PU:2");
        let mut random = Rng::with_seed(5);
        let all = placements(&place);
        let rates: Vec<f64> = all.iter().map(|_| 10.0 * (1.0 + 4.0 * random.f64())).collect();
        let (measured, chosen) =
            explored(&place, &all, |placed| rates[all.iter().position(|one| one == placed).unwrap()]);
        assert!(measured * 2 > all.len(), "{measured} of {}", all.len());
        assert!(rates[chosen] > 0.0);
    }
}
