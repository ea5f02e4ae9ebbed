//! One series, searched for changes.

use fastrand::Rng;

use super::split::{Split, Splitter};
use super::{Change, FIRST, HOPELESS, LEAST_FOR_CHANGE, MOST, MOST_FOR_CHANGE};

/// Any number; the same one each time.
const SEED: u64 = 0x0063_6861_6e67_6573;

/// Sums in another order differ in their last digits.
const ROUNDING: f64 = 1e-9;

/// A series with the changes that were found so far, and the next one that may be.
pub(super) struct Search {
    values: Vec<f64>,
    /// How many values before them are left out.
    before: usize,
    /// Indices of the changes, sorted.
    cuts: Vec<usize>,
    changes: Vec<Change>,
    next: Option<Split>,
    /// Shuffles for the next one so far, and how many of them were at least as divergent.
    shuffles: u32,
    reached: u32,
    shuffled: Vec<f64>,
    splitter: Splitter,
    random: Rng,
}

impl Search {
    /// `None` where there are too few values.
    pub(super) fn new(series: &[f64]) -> Option<Self> {
        if series.len() < LEAST_FOR_CHANGE {
            return None;
        }
        let before = series.len().saturating_sub(MOST_FOR_CHANGE);
        let mut search = Search {
            values: scaled(&series[before..]),
            before,
            cuts: Vec::new(),
            changes: Vec::new(),
            next: None,
            shuffles: 0,
            reached: 0,
            shuffled: Vec::new(),
            splitter: Splitter::default(),
            random: Rng::with_seed(SEED),
        };
        search.look();
        Some(search)
    }

    /// Finds the strongest candidate of all segments.
    fn look(&mut self) {
        self.next = strongest(&self.values, &self.cuts, &mut self.splitter);
        (self.shuffles, self.reached) = (0, 0);
    }

    /// Shuffles up to `goal` times in all, unless it is given up before.
    pub(super) fn shuffle(&mut self, goal: u32) {
        self.shuffle_unless(goal, HOPELESS);
    }

    fn shuffle_unless(&mut self, goal: u32, hopeless: u32) {
        let Some(found) = self.next else { return };
        let least = found.divergence - found.divergence.abs() * ROUNDING;
        while self.shuffles < goal && self.reached < hopeless {
            self.shuffled.clone_from(&self.values);
            for segment in segments(&self.cuts, self.values.len()) {
                self.random.shuffle(&mut self.shuffled[segment]);
            }
            let other = strongest(&self.shuffled, &self.cuts, &mut self.splitter);
            self.shuffles += 1;
            self.reached += u32::from(other.is_some_and(|other| other.divergence >= least));
        }
    }

    pub(super) fn is_hopeless(&self) -> bool {
        self.next.is_none() || self.reached >= HOPELESS
    }

    /// The share of orders that are as divergent as the one found.
    pub(super) fn p(&self) -> f64 {
        match self.next {
            None => 1.0,
            // The last shuffle is the one that made it so many.
            Some(_) if self.reached >= HOPELESS => f64::from(self.reached) / f64::from(self.shuffles),
            Some(_) => f64::from(self.reached + 1) / f64::from(self.shuffles + 1),
        }
    }

    /// Accepts the tested change, and finds further ones below `level`. Their p is adjusted by the `share` of series that changed.
    pub(super) fn conclude(&mut self, adjusted_p: f64, share: f64, level: f64) {
        self.take(adjusted_p);
        while self.next.is_some() {
            let goal = ((2.0 / level).min(f64::from(MOST)) as u32).max(FIRST);
            // Once so many are reached, p cannot fall below the level any more.
            let hopeless = (level * f64::from(goal + 1)) as u32;
            self.shuffle_unless(goal, hopeless.max(1));
            let p = f64::from(self.reached + 1) / f64::from(self.shuffles + 1);
            if p >= level {
                break;
            }
            self.take(p / share);
        }
    }

    pub(super) fn take(&mut self, adjusted_p: f64) {
        let Some(found) = self.next else { return };
        self.changes.push(Change { at: self.before + found.at, p: self.p(), adjusted_p });
        self.cuts.push(found.at);
        self.cuts.sort_unstable();
        self.look();
    }

    pub(super) fn into_changes(mut self) -> Vec<Change> {
        self.changes.sort_unstable_by_key(|change| change.at);
        self.changes
    }
}

/// Logarithms, since ratios count; the values themselves if one of them has none.
fn scaled(values: &[f64]) -> Vec<f64> {
    match values.iter().all(|value| *value > 0.0) {
        true => values.iter().map(|value| value.ln()).collect(),
        false => values.to_vec(),
    }
}

fn segments(cuts: &[usize], length: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    let starts = std::iter::once(0).chain(cuts.iter().copied());
    let ends = cuts.iter().copied().chain([length]);
    starts.zip(ends).map(|(start, end)| start..end)
}

fn strongest(values: &[f64], cuts: &[usize], splitter: &mut Splitter) -> Option<Split> {
    let mut strongest: Option<Split> = None;
    for segment in segments(cuts, values.len()) {
        let Some(found) = splitter.best(&values[segment.clone()]) else { continue };
        if strongest.is_none_or(|strongest| found.divergence > strongest.divergence) {
            strongest = Some(Split { at: segment.start + found.at, ..found });
        }
    }
    strongest
}
