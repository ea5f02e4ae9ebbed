//! How far a prediction may be off.

use std::f64::consts::LN_2;

use crate::fitting::{Law, NOISE, Set};
use crate::placement::{LOADED_MACHINE, equal_work, shared_work};
use crate::{Model, Placed, Prediction};

/// The half width of an interval of 90% in standard deviations: that of Student's t with some ten degrees of freedom.
pub(super) const HALF: f64 = 1.8;
/// Parts of the half width of an interval of 90%, as logarithms: what any point has; what it has where all that it lacks is taken outside of
/// cores; how many times what parameters and sets scatter, and how many times more there; and that of e times the load that was fitted. With
/// these nine of ten points of 742 scaling curves and nine tables are held (`fixtures::real` prints how many, by kind of machine).
const LEAST: f64 = 0.012;
const SHARED: f64 = 0.045;
const FITTED: f64 = 1.4;
const FITTED_SHARED: f64 = 6.0;
const BEYOND: f64 = 0.02;
/// The half width under a mapping of which no point was measured, as a logarithm: half to twice as much, as memory of the other socket gives
/// half of what that of the own gives.
pub(super) const ELSEWHERE: f64 = LN_2;
/// From this distance on, a prediction is one beyond what was fitted.
pub(super) const FAR: f64 = 1.05;
impl Model {
    /// How many times as many parts they have as a fitted point of as many threads or more, the nearest of these.
    pub(super) fn wider(&self, placed: &Placed) -> f64 {
        let enough = self.known.iter().filter(|(own, _)| own.threads >= placed.threads);
        enough.map(|(own, _)| own.share(placed)).reduce(f64::max).map_or(1.0, f64::recip)
    }

    pub(super) fn by_fit(&self, placed: &Placed) -> Prediction {
        let (far, close) = (self.distance(placed), self.looseness(placed));
        let (middle, half) = self.logs(placed, far.max(close));
        // How well parts do that are filled unevenly, or shared less than all that were fitted, nothing has shown.
        let is_new = placed.uneven().any(|level| !self.uneven.contains(&level));
        let width = if is_new || close > FAR { self.width.max(1.0) } else { self.width };
        let half = width * half;
        let alone: f64 = self.sets.iter().map(|(weight, set)| weight * set.thread()).sum();
        let doubt = half.clamp(HALF * self.noise, (HALF * self.noise + SHARED) * self.width.max(1.0));
        let reach = |level: usize| self.known.iter().map(|(own, _)| own.load(level)).fold(1.0, f64::max);
        let is_beyond = far > FAR && (0..placed.levels()).any(|level| placed.load(level) > reach(level));
        let known = self.known.iter().filter(|(own, _)| is_beyond && own.threads <= placed.threads);
        let known = known.map(|(own, value)| value * placed.share(own)).fold(0.0, f64::max);
        let looser = || self.known.iter().filter(|(own, _)| placed.is_within(own));
        let each: Vec<f64> = looser().map(|(own, value)| value / own.threads as f64).collect();
        // The largest of many is above what they do by their noise.
        let largest = each.iter().copied().fold(0.0, f64::max);
        let near = each.into_iter().filter(|one| *one >= largest * (-2.0 * doubt).exp());
        let (sum, count) = near.fold((0.0, 0.0), |(sum, count), one| (sum + one, count + 1.0));
        let least = placed.threads as f64 * sum / f64::max(count, 1.0) * (-doubt).exp();
        // Nor whether faster threads take more of the work there.
        let ends = (is_new && self.name == "placement").then_some([equal_work, shared_work as Law]);
        let mean = |law| self.sets.iter().map(|(weight, set)| weight * set.by(law, placed)).sum();
        let [slowest, fastest]: [f64; 2] = ends.map_or([middle; 2], |laws| laws.map(mean));
        let (value, low) = (middle.exp(), (slowest - half).exp());
        let all = (placed.threads as f64).ln() + alone + doubt;
        let high = match (close > FAR, self.name) {
            // What threads do alone was not seen.
            (true, _) => self.most_of(placed, doubt).max(fastest + doubt),
            // A law of programs knows of no part beyond those that it has seen.
            (false, name) if far > FAR && name != "placement" => all.max(middle),
            (false, _) => (fastest + half).min(all.max(middle)),
        };
        // Where more was measured with fewer threads, the model has seen why.
        let low = if known > 0.0 { low.min(known * (-doubt).exp()) } else { low };
        let high = high.min(f64::MAX.ln()).exp().max(value);
        Prediction { value, interval: [low.max(least).min(value), high], distance: far.max(close) }
    }

    /// The logarithm of a value, and the half width of its interval before any point has checked it.
    fn logs(&self, placed: &Placed, distance: f64) -> (f64, f64) {
        let mean = |of: &dyn Fn(&Set) -> f64| self.sets.iter().map(|(weight, set)| weight * of(set)).sum::<f64>();
        let middle = mean(&|set| set.log(placed));
        let spread = mean(&|set| set.variance(placed) + (set.log(placed) - middle).powi(2));
        let shared = 1.0 - (-mean(&|set| set.beyond_cores(placed))).exp();
        // Of points that lie on a line the model knows all that they do.
        let known = (spread - NOISE.powi(2) / self.known.len() as f64).max(0.0);
        let noise = HALF.powi(2) * (self.noise.powi(2) - NOISE.powi(2));
        let parts = [LEAST, SHARED * shared, BEYOND * distance.ln(), (FITTED + FITTED_SHARED * shared) * known.sqrt()];
        (middle, (parts.iter().map(|part| part.powi(2)).sum::<f64>() + noise).sqrt())
    }

    /// By how many half widths it misses a value.
    pub(super) fn off(&self, (placed, value): (&Placed, f64)) -> f64 {
        let (middle, half) = self.logs(placed, self.distance(placed).max(self.looseness(placed)));
        (middle - value.ln()).abs() / half
    }

    /// The logarithm of the most that threads can do where all that were fitted share more.
    fn most_of(&self, placed: &Placed, doubt: f64) -> f64 {
        let least = |all: &mut dyn Iterator<Item = &f64>| all.copied().fold(f64::INFINITY, f64::min).ln() + doubt;
        // More threads at the same parts do no less in all, and one does no more than any that were fitted.
        let is_more = |own: &Placed| own.threads >= placed.threads && own.share(placed) >= 1.0 && placed.is_within(own);
        let more = least(&mut self.known.iter().filter(|(own, _)| is_more(own)).map(|(_, value)| value));
        let one = least(&mut self.known.iter().map(|(_, value)| value));
        let most = more.min((placed.threads as f64).ln() + one);
        // Threads that wait for each other do less where they are more.
        let is_part = self.name != "usl" && placed.threads < self.full.threads && placed.is_within(&self.full);
        if is_part { most.min(self.predict(&self.full).interval[1].ln()) } else { most }
    }

    /// How many times as many threads share a part as in the points that say what it can do. Where a point fills nearly all of the machine,
    /// what keeps it down may be any part: it says so of smaller ones only to placements that fill about as much.
    fn distance(&self, placed: &Placed) -> f64 {
        let last = self.levels.len() - 1;
        let (room, near) = (LOADED_MACHINE * self.full.threads as f64, placed.load(last) / LOADED_MACHINE);
        let reach = |level: usize| {
            let is_telling = |own: &&Placed| level == last || own.load(last) < room || own.load(last) <= near;
            let telling = self.known.iter().map(|(own, _)| own).filter(is_telling);
            telling.map(|own| own.load(level)).fold(1.0, f64::max)
        };
        // A law of programs knows of threads only, also where a part of another machine counts as one of this.
        let threads = if self.name == "placement" { 1.0 } else { placed.threads as f64 / self.threads().max(1) as f64 };
        (0..=last).map(|level| placed.load(level) / reach(level)).fold(threads.max(1.0), f64::max)
    }

    /// How many times as many threads share a part in the fitted point that comes nearest to sharing as little; 1 where one does.
    fn looseness(&self, placed: &Placed) -> f64 {
        let of = |(own, _): &(Placed, f64)| {
            (0..own.levels()).map(|level| own.load(level) / placed.load(level)).fold(1.0, f64::max)
        };
        self.known.iter().map(of).fold(f64::INFINITY, f64::min)
    }
}
