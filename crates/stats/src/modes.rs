//! Where values gather: the modes of a histogram of positive values, each with the band around it.
//!
//! The density of the logarithms is estimated with a Gaussian kernel, and a mode is a summit of it that rises far enough above
//! the saddle to a higher one: its persistence, as in F. Chazal, L. J. Guibas, S. Y. Oudot and P. Skraba, "Persistence-Based
//! Clustering in Riemannian Manifolds", Journal of the ACM 60 (2013), which for one dimension is the topographic prominence.
//! Far enough means deep, so a shoulder is no mode, and also certain, so chance makes none: how many modes there are
//! depends on how smooth the estimate is (B. W. Silverman, "Using Kernel Density Estimates to Investigate Multimodality",
//! Journal of the Royal Statistical Society B 43 (1981)), and every one of them has to show at the same smoothness.
//!
//! Times spread in proportion to themselves, so the kernel has the same width everywhere on the logarithmic axis, except
//! where a step of the clock is wider: values on neighbouring steps are one mode, not one mode per step.

/// A column of a histogram.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bin {
    /// The least value in it, at least 0.
    pub low: f64,
    /// The least value beyond it, larger than `low`.
    pub high: f64,
    /// How many values it has.
    pub count: u64,
}

/// A mode and the values around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    /// Where its first column begins.
    pub low: f64,
    /// Where its last column ends.
    pub high: f64,
    /// Where the density has its summit.
    pub mode: f64,
    /// The share of all values that is in it, as a fraction.
    pub share: f64,
}

/// The most bands: more are no summary.
pub const MOST_BANDS: usize = 5;

/// Points of the density for each octave.
const GRID: f64 = 64.0;
/// The standard deviation of the kernel in octaves, at least: two modes of the same size show as two where one is 1.25 times the
/// other or more.
const WIDTH: f64 = 1.0 / 12.0;
/// Where the kernel ends, in standard deviations.
const REACH: f64 = 4.0;
/// A mode rises above the saddle to a higher one by this part of its own height, at least.
const DEPTH: f64 = 0.3;
/// And by so many standard deviations of a count's random error.
const CERTAINTY: f64 = 5.0;
/// A band ends where the density has sunk to this part of its summit's, if no other band has begun before.
const FOOT: f64 = 0.1;
/// On either side a band leaves out this share of the values in it, at most.
const FRINGE: f64 = 0.005;
/// A band has this share of all values, at least.
const LEAST_SHARE: f64 = 0.01;

/// The bands around which the values of a histogram gather, the fullest first, at most [`MOST_BANDS`]. They do not overlap.
///
/// Columns are in ascending order and do not overlap. `step` is the smallest difference that the instrument shows, in the unit of
/// the values.
pub fn bands(bins: &[Bin], step: f64) -> Vec<Band> {
    let all: f64 = bins.iter().map(|bin| bin.count as f64).sum();
    if all <= 0.0 {
        return Vec::new();
    }
    let density = Density::of(bins, step);
    let summits = density.summits();
    let mut found: Vec<Band> = summits
        .iter()
        .enumerate()
        .filter_map(|(at, &summit)| {
            let left = at.checked_sub(1).map_or(0, |before| density.valley(summits[before], summit));
            let right = summits.get(at + 1).map_or(density.heights.len(), |&next| density.valley(summit, next));
            density.band(bins, summit, left..right, all)
        })
        .filter(|band| band.share >= LEAST_SHARE)
        .collect();
    // Stable: of equals, the one with the smaller values comes first.
    found.sort_by(|one, other| other.share.total_cmp(&one.share));
    found.truncate(MOST_BANDS);
    found
}

/// The smoothed density of the logarithms, on points that are 1 / [`GRID`] octaves apart.
struct Density {
    /// The first point, in points from that of the value 1.
    first: i64,
    /// At each point, the number of values in an octave there.
    heights: Vec<f64>,
    /// The variances of the heights if the counts are what chance made of rates (Poisson).
    variances: Vec<f64>,
}

/// Where a value lies, in points.
fn point(value: f64) -> f64 {
    value.log2() * GRID
}

/// The middle of a column; never 0.
fn middle(bin: &Bin) -> f64 {
    f64::midpoint(bin.low, bin.high)
}

/// The standard deviation of the kernel of a column, in points. Half a column and a step of the clock are its least.
fn width(bin: &Bin, step: f64) -> f64 {
    let blur = step.max(bin.high - bin.low);
    (WIDTH * GRID).max(point(1.0 + blur / middle(bin)))
}

impl Density {
    /// Of columns that hold something.
    fn of(bins: &[Bin], step: f64) -> Self {
        let kernels = || bins.iter().map(|bin| (point(middle(bin)), width(bin, step), bin.count as f64));
        let ends = kernels().fold((f64::INFINITY, f64::NEG_INFINITY), |(first, last), (at, width, _)| {
            (first.min(at - REACH * width), last.max(at + REACH * width))
        });
        let (first, last) = (ends.0.floor() as i64, ends.1.ceil() as i64);
        let length = (last - first + 1) as usize;
        let (mut heights, mut variances) = (vec![0.0; length], vec![0.0; length]);
        for (at, width, count) in kernels() {
            let scale = GRID / (width * (2.0 * std::f64::consts::PI).sqrt());
            let from = (at - REACH * width).ceil() as i64 - first;
            let to = (at + REACH * width).floor() as i64 - first;
            for place in from.max(0)..=to.min(length as i64 - 1) {
                let distance = ((place + first) as f64 - at) / width;
                let weight = scale * (-0.5 * distance * distance).exp();
                heights[place as usize] += count * weight;
                variances[place as usize] += count * weight * weight;
            }
        }
        Density { first, heights, variances }
    }

    /// The points of the summits that count, in ascending order: walks down through the heights, and where two hills meet,
    /// the lower one of them is a summit of its own or part of the other.
    fn summits(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.heights.len()).filter(|&at| self.heights[at] > 0.0).collect();
        order.sort_by(|&a, &b| self.heights[b].total_cmp(&self.heights[a]).then(a.cmp(&b)));
        // For each point that the walk has passed, the summit of its hill; right only at the two ends of a hill.
        let mut hill: Vec<Option<usize>> = vec![None; self.heights.len()];
        // Likewise, its other end.
        let mut other_end: Vec<usize> = (0..self.heights.len()).collect();
        let mut kept = Vec::new();
        for at in order {
            let left = at.checked_sub(1).and_then(|left| Some((hill[left]?, other_end[left])));
            let right = hill.get(at + 1).copied().flatten().map(|summit| (summit, other_end[at + 1]));
            let (summit, from, to) = match (left, right) {
                (None, None) => (at, at, at),
                (Some((summit, from)), None) => (summit, from, at),
                (None, Some((summit, to))) => (summit, at, to),
                (Some((one, from)), Some((other, to))) => {
                    let (higher, lower) =
                        if self.heights[one] >= self.heights[other] { (one, other) } else { (other, one) };
                    if self.stands_out(lower, Some(at)) {
                        kept.push(lower);
                    }
                    (higher, from, to)
                }
            };
            for end in [from, to, at] {
                hill[end] = Some(summit);
            }
            (other_end[from], other_end[to]) = (to, from);
        }
        // What no other hill swallowed, such as the highest one.
        let whole = (0..self.heights.len()).filter(|&at| {
            let begins = at == 0 || self.heights[at - 1] == 0.0;
            begins && self.heights[at] > 0.0
        });
        kept.extend(whole.filter_map(|at| hill[at]).filter(|&summit| self.stands_out(summit, None)));
        kept.sort_unstable();
        kept
    }

    /// Whether a summit rises far enough above the saddle; without a saddle, above nothing.
    fn stands_out(&self, summit: usize, saddle: Option<usize>) -> bool {
        let (height, variance) = saddle.map_or((0.0, 0.0), |saddle| (self.heights[saddle], self.variances[saddle]));
        let rise = self.heights[summit] - height;
        let chance = (self.variances[summit] + variance).sqrt();
        rise >= DEPTH * self.heights[summit] && rise >= CERTAINTY * chance
    }

    /// The lowest point between two.
    fn valley(&self, from: usize, to: usize) -> usize {
        (from..=to).min_by(|&a, &b| self.heights[a].total_cmp(&self.heights[b])).unwrap_or(from)
    }

    /// The columns around a summit, from the first that is dense enough to the last, none of them outside of `within`.
    fn band(&self, bins: &[Bin], summit: usize, within: std::ops::Range<usize>, all: f64) -> Option<Band> {
        let high_enough = |&at: &usize| self.heights[at] >= FOOT * self.heights[summit];
        let from = (within.start..=summit).rev().take_while(high_enough).last()?;
        let to = (summit..within.end).take_while(high_enough).last()?;
        let inside = |bin: &&Bin| {
            let at = point(middle(bin)) - self.first as f64;
            from as f64 - 0.5 <= at && at < to as f64 + 0.5
        };
        let members: Vec<&Bin> = bins.iter().filter(|bin| bin.count > 0).filter(inside).collect();
        let members = without_fringes(&members);
        let (first, last) = (members.first()?, members.last()?);
        let count: f64 = members.iter().map(|bin| bin.count as f64).sum();
        let mode = ((summit as i64 + self.first) as f64 / GRID).exp2().clamp(first.low, last.high);
        Some(Band { low: first.low, high: last.high, mode, share: count / all })
    }
}

/// Without the outermost columns on either side that together hold no more than [`FRINGE`] of the values: a wide kernel finds
/// density far from where any but stray values are.
fn without_fringes<'a, 'b>(columns: &'b [&'a Bin]) -> &'b [&'a Bin] {
    let most = FRINGE * columns.iter().map(|bin| bin.count as f64).sum::<f64>();
    let stray = |sum: &mut f64, bin: &&Bin| {
        *sum += bin.count as f64;
        (*sum <= most).then_some(())
    };
    let left = columns.iter().scan(0.0, |sum, bin| stray(sum, bin)).count();
    let right = columns.iter().rev().scan(0.0, |sum, bin| stray(sum, bin)).count();
    &columns[left..columns.len() - right]
}

#[cfg(test)]
mod tests;
