//! The times of the blocks of a lap.

use std::fmt;

use serde::de::{Deserializer, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

/// How long the work between two looks at the watch took, while all workers were at work.
///
/// A look is made every 20 to 100 µs, so most blocks fit between disturbances of the strand, where a whole lap does not: their
/// times show what the hardware does and what was taken from it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Blocks {
    /// How many blocks; of laps beyond 0.15 s some are left out evenly.
    pub count: u64,
    /// Nanoseconds an operation, or a byte, whichever the kernel's card counts, ascending: of each block, or of the blocks at equal
    /// distances in rank from the fastest to the slowest.
    #[serde(deserialize_with = "times")]
    pub times: Vec<f64>,
}

/// Makes room for the most times at once, and keeps what they take: most of a report is these, and a list that grows is copied at each
/// doubling.
fn times<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
    struct Times;
    impl<'de> Visitor<'de> for Times {
        type Value = Vec<f64>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of times")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<f64>, A::Error> {
            let mut times = Vec::with_capacity(Blocks::MOST);
            while let Some(time) = list.next_element()? {
                times.push(time);
            }
            times.shrink_to_fit();
            Ok(times)
        }
    }
    deserializer.deserialize_seq(Times)
}

impl Blocks {
    /// The most times that are kept of a lap: [`Blocks::times`] of a lap of 5 ms has every fourth.
    pub const MOST: usize = 33;

    /// The fewest blocks that are kept of a lap with more.
    pub const MOST_OF_A_LAP: u64 = 2048;

    /// Summarises the times of blocks, in any order.
    pub fn of(mut times: Vec<f64>) -> Self {
        times.sort_unstable_by(f64::total_cmp);
        let count = times.len() as u64;
        if times.len() > Self::MOST {
            let last = times.len() - 1;
            times = (0..Self::MOST).map(|at| times[at * last / (Self::MOST - 1)]).collect();
        }
        times.iter_mut().for_each(|time| *time = rounded(*time));
        Blocks { count, times }
    }

    /// Summarises the mean of several workers, each part with how many have them: at each rank the mean of their times, or with `by_rate`
    /// the time in which all of them together do as much work (a mean of quantile functions; S. Vincent, "The function of the vibrissae
    /// in the behavior of the white rat", 1912). Where each has one speed in most of its blocks, so does the mean. Without a block of
    /// one of them there is none.
    pub fn mean(parts: &[(&Blocks, u64)], by_rate: bool) -> Self {
        if parts.iter().any(|(blocks, _)| blocks.times.is_empty()) {
            return Blocks::default();
        }
        let count = parts.iter().map(|(blocks, _)| blocks.count).fold(0, u64::saturating_add);
        let workers: f64 = parts.iter().map(|(_, workers)| *workers as f64).sum();
        let kept = usize::try_from(count).unwrap_or(usize::MAX).min(Self::MOST);
        let at_rank = |rank: usize| {
            let of = |times: &[f64]| times[(rank * (times.len() - 1)).checked_div(kept - 1).unwrap_or(0)];
            let sum = |of_time: fn(f64) -> f64| {
                parts.iter().map(|(blocks, workers)| of_time(of(&blocks.times)) * *workers as f64).sum::<f64>()
            };
            rounded(if by_rate { workers / sum(f64::recip) } else { sum(|time| time) / workers })
        };
        Blocks { count, times: (0..kept).map(at_rank).collect() }
    }

    /// The times, and the blocks that each stands for.
    pub fn weighted(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let weight = self.count as f64 / self.times.len() as f64;
        self.times.iter().map(move |time| (*time, weight))
    }

    /// Why they are no times of blocks.
    pub fn contradiction(&self) -> Option<&'static str> {
        let kept = usize::try_from(self.count).unwrap_or(usize::MAX).min(Self::MOST);
        let is_time = |time: &f64| (1e-24..=1e24).contains(time);
        let right = self.times.len() == kept && self.times.is_sorted() && self.times.iter().all(is_time);
        (!right).then_some("has a lap whose blocks contradict each other")
    }
}

/// To six digits: the clock resolves no more of 40 µs, and a report is no longer than it needs.
fn rounded(time: f64) -> f64 {
    let digits = (5.0 - time.log10().floor()).clamp(-22.0, 22.0) as i32;
    let scale = 10_f64.powi(digits.abs());
    if digits < 0 { (time / scale).round() * scale } else { (time * scale).round() / scale }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_any_list_of_numbers() {
        let read = |times: &str| serde_json::from_str::<Blocks>(&format!(r#"{{"count": 2, "times": {times}}}"#));
        let few = read("[1, 2.5]").unwrap();
        assert_eq!((few.times.as_slice(), few.times.capacity()), (&[1.0, 2.5][..], 2));
        assert_eq!(read(&format!("{:?}", vec![1.5; 40])).unwrap().times, [1.5; 40]);
        for other in ["null", "7", "[null]", r#"["1"]"#, r#"{"a": 1}"#] {
            assert!(read(other).is_err(), "{other}");
        }
    }

    #[test]
    fn few_times_are_kept_as_they_are() {
        let blocks = Blocks::of(vec![3.0, 1.0, 2.000_000_4]);
        assert_eq!(blocks, Blocks { count: 3, times: vec![1.0, 2.0, 3.0] });
        assert_eq!(blocks.weighted().collect::<Vec<_>>(), [(1.0, 1.0), (2.0, 1.0), (3.0, 1.0)]);
        assert_eq!(Blocks::of(vec![]).weighted().count(), 0);
    }

    #[test]
    fn six_digits_are_kept() {
        for (time, expected) in
            [(0.123_456_78, 0.123_457), (98_765_432.1, 98_765_400.0), (1e-9, 1e-9), (0.999_999_9, 1.0)]
        {
            assert_eq!(Blocks::of(vec![time]).times, [expected]);
        }
        assert!(rounded(f64::NAN).is_nan() && rounded(0.0) == 0.0 && rounded(f64::INFINITY).is_infinite());
    }

    #[test]
    fn of_many_times_the_ends_and_equal_ranks_are_kept() {
        let blocks = Blocks::of((1..=3201).rev().map(f64::from).collect());
        assert_eq!((blocks.count, blocks.times.len()), (3201, Blocks::MOST));
        assert_eq!((blocks.times[0], blocks.times[16], blocks.times[32]), (1.0, 1601.0, 3201.0));
        assert_eq!(blocks.contradiction(), None);
    }

    #[test]
    fn the_mean_does_the_work_of_all_in_the_same_time() {
        let mean = |workers: &[(&[f64], u64)], by_rate| {
            let parts: Vec<_> = workers.iter().map(|(times, workers)| (Blocks::of(times.to_vec()), *workers)).collect();
            Blocks::mean(&parts.iter().map(|(blocks, workers)| (blocks, *workers)).collect::<Vec<_>>(), by_rate)
        };
        // One and a third of a unit of work in a nanosecond, by two; and one and two thirds, by three.
        assert_eq!(mean(&[(&[1.0, 1.0], 1), (&[3.0, 3.0], 1)], true), Blocks { count: 4, times: vec![1.5; 4] });
        assert_eq!(mean(&[(&[1.0], 1), (&[3.0], 2)], true).times, [1.8; 2]);
        assert_eq!(mean(&[(&[1.0], 1), (&[3.0], 3)], false).times, [2.5; 2]);
        assert_eq!(mean(&[(&[], 1), (&[2.0], 1)], true), Blocks::default());
        let many: Vec<f64> = (1..=100).map(f64::from).collect();
        let both = mean(&[(&many, 1), (&[7.0], 1)], true);
        assert_eq!((both.count, both.contradiction()), (101, None));
        assert_eq!((both.times[0], both.times[32]), (1.75, 13.0841));
    }

    #[test]
    fn made_up_blocks_are_refused() {
        let with = |count, times: &[f64]| Blocks { count, times: times.to_vec() }.contradiction().is_some();
        assert!(
            with(1, &[]) && with(1, &[0.0]) && with(1, &[f64::NAN]) && with(2, &[2.0, 1.0]) && with(34, &[1.0; 34])
        );
    }
}
