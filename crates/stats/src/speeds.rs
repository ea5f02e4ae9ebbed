//! Values that fall apart: a lock, a line or a host with more than one speed.

use super::Sample;

/// The fewest values of a speed: one may be an accident.
const FEWEST: usize = 2;

/// The least share of all values that a speed has.
const LEAST_SHARE: f64 = 0.15;

/// The least gap between two speeds, as a fraction.
const LEAST_GAP: f64 = 0.05;

/// How many times as far apart as values of one speed are, in the middle, two speeds are at least: a guess of few values is too low, so of n
/// it is that times n / (n − 3).
const WIDTHS: f64 = 5.0;

/// From this share of all values on one speed is the usual one.
const USUAL: f64 = 2.0 / 3.0;

impl Sample {
    /// The speeds around which its values gather, in ascending order; one where they do not fall apart. The values are positive.
    ///
    /// They are cut at the largest gap that leaves both sides a share of 15% and two values, and at others more than half as wide. The parts are
    /// speeds if each has as many, and each gap is more than 5% and five times as wide as the values are from the middle of their part. Of 4,000
    /// samples each of normal values with a spread of 5%, those of 8, 10, 15 and 20 values are cut in 4, 2.5, 0.3 and 0.05%; with a spread of 1%
    /// none.
    pub fn speeds(&self) -> Vec<Sample> {
        let (values, count) = (&self.0, self.len());
        let least = ((LEAST_SHARE * count as f64).ceil() as usize).max(FEWEST);
        if count <= 4 || values[0] <= 0.0 {
            return vec![self.clone()];
        }
        let gap = |at: usize| (values[at] / values[at - 1]).ln();
        let places = || least..=count.saturating_sub(least);
        let widest = places().map(gap).fold(0.0, f64::max);
        let cuts: Vec<usize> = places().filter(|at| gap(*at) > widest / 2.0).collect();
        let starts = std::iter::once(0).chain(cuts.iter().copied());
        let ends = cuts.iter().copied().chain([count]);
        let parts: Vec<Sample> = starts.zip(ends).map(|(start, end)| Sample(values[start..end].to_vec())).collect();
        let away = parts.iter().flat_map(|part| part.0.iter().map(|value| (value / part.median()).ln().abs()));
        let away = Sample::new(away.collect()).map_or(f64::INFINITY, |away| away.median());
        let fewest = LEAST_GAP.ln_1p().max(WIDTHS * away * count as f64 / (count - 3) as f64);
        let are_speeds = parts.iter().all(|part| part.len() >= least) && cuts.iter().all(|at| gap(*at) > fewest);
        if are_speeds { parts } else { vec![self.clone()] }
    }

    /// The speed that two thirds of the values have at least, else all of them.
    pub(crate) fn usual(&self) -> Sample {
        let usual = |speed: &Sample| speed.len() as f64 >= USUAL * self.len() as f64;
        self.speeds().into_iter().find(usual).unwrap_or_else(|| self.clone())
    }
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use crate::simulate::{Law, sample};

    /// Runs of contended lines on a guest, and what becomes of them: how many have which speed.
    #[test]
    fn runs_of_several_speeds() {
        let evenly = |count: usize, low: f64, high: f64| {
            (0..count).map(move |at| low + (high - low) * at as f64 / (count - 1) as f64)
        };
        let fetch_add = [
            227.0, 225.0, 228.0, 223.0, 190.0, 194.0, 194.0, 192.0, 192.0, 193.0, 195.0, 195.0, 223.0, 193.0, 193.0,
            193.0, 196.0, 193.0, 193.0, 192.0,
        ];
        for (values, expected) in [
            (fetch_add.to_vec(), vec![(15, 193.0), (5, 225.0)]),
            (evenly(12, 204.0, 211.0).chain(evenly(10, 227.0, 243.0)).collect(), vec![(12, 207.5), (10, 235.0)]),
            (evenly(20, 190.0, 228.0).collect(), vec![(20, 209.0)]),
            // One run is an accident, and 4% are no other speed.
            ([&[100.0; 7][..], &[130.0]].concat(), vec![(8, 100.0)]),
            ([&[100.0; 6][..], &[130.0; 2]].concat(), vec![(6, 100.0), (2, 130.0)]),
            ([&[100.0; 5][..], &[104.0; 5]].concat(), vec![(10, 102.0)]),
            // Of thirty, four are less than the share.
            ([&[100.0; 26][..], &[130.0; 4]].concat(), vec![(30, 100.0)]),
            ([[100.0; 4], [200.0; 4], [150.0; 4]].concat(), vec![(4, 100.0), (4, 150.0), (4, 200.0)]),
            (vec![0.0, 0.0, 0.0, 1.0, 1.0, 1.0], vec![(6, 0.5)]),
            (vec![1.0, 1.0, 9.0, 9.0], vec![(4, 5.0)]),
        ] {
            let speeds = sample(&values).speeds();
            let found: Vec<(usize, f64)> = speeds.iter().map(|speed| (speed.len(), speed.median())).collect();
            assert_eq!(found, expected, "{values:?}");
        }
    }

    #[test]
    fn one_speed_is_seldom_cut() {
        let mut random = Rng::with_seed(3);
        for (count, most) in [(8, 260), (10, 180), (15, 40), (20, 10)] {
            let is_cut = |_: &u32| sample(&Law::Normal(0.05).draw(count, &mut random)).speeds().len() > 1;
            let found = (0..4000_u32).filter(is_cut).count();
            assert!(found <= most, "{found} of 4000 samples of {count}");
            let is_cut = |_: &u32| sample(&Law::Normal(0.01).draw(count, &mut random)).speeds().len() > 1;
            assert_eq!((0..4000_u32).filter(is_cut).count(), 0, "{count}");
        }
    }

    #[test]
    fn the_usual_speed_has_two_thirds() {
        let of = |slow: usize| sample(&[vec![50.0; slow], vec![100.0; 10 - slow]].concat()).usual().len();
        assert_eq!([1, 2, 3, 4, 7].map(of), [10, 8, 7, 10, 7]);
    }
}
