//! The length of a stretch if the time of an attempt is not known in advance.
//!
//! An attempt on a line that a core has to itself takes some nanoseconds, and one on a line that a thousand strands fight
//! for may take a hundred microseconds: no fixed number of attempts is a stretch of 20 to 100 µs in both. So the number
//! follows the time that the last stretch took. It begins at one attempt and doubles at most, so a run finds out what
//! an attempt costs before it commits to many.

use std::time::{Duration, Instant};

/// The time that a stretch is to take: within 20 to 100 µs with room on both sides.
const TARGET: Duration = Duration::from_micros(50);

/// The most attempts in a stretch: 40 µs at the 2.5 ns that one took on Zen 4, and 20 µs on a processor twice as fast. It
/// bounds a stretch that began on a line at peace and ends on one at war.
const MOST: u64 = 16_384;

pub struct Pace {
    attempts: u64,
    most: u64,
    since: Instant,
}

impl Pace {
    /// At the beginning of a run whose attempts change the line.
    pub fn start() -> Self {
        Pace::up_to(MOST)
    }

    /// At the beginning of a run whose attempts are of another kind: a stretch has so many of them at most.
    pub fn up_to(most: u64) -> Self {
        Pace { attempts: 1, most, since: Instant::now() }
    }

    /// At the beginning of another run of the same kind, which takes up where the last one ended.
    pub fn resume(&mut self) {
        self.since = Instant::now();
    }

    /// The attempts that the stretch may take, at least 1.
    pub fn attempts(&self) -> u64 {
        self.attempts
    }

    /// After a stretch that took as many attempts as it might.
    pub fn adapt(&mut self) {
        let now = Instant::now();
        self.attempts = next(self.attempts, now.duration_since(self.since), self.most);
        self.since = now;
    }
}

/// The attempts of the stretch after one of `attempts`, at most `most`, that took this long.
fn next(attempts: u64, took: Duration, most: u64) -> u64 {
    let took = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX).max(1);
    let fitting = attempts * TARGET.as_nanos() as u64 / took;
    fitting.min(2 * attempts).clamp(1, most)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// At any cost of an attempt, a few stretches on they take 20 to 100 µs, or as near to that as their bounds allow.
        #[test]
        fn it_settles(before in 1..=MOST, nanos in 1..1_000_000_u64) {
            let took = |attempts: u64| Duration::from_nanos(attempts * nanos);
            let settled = (0..20).fold(before, |attempts, _| next(attempts, took(attempts), MOST));
            let micros = took(settled).as_nanos() as f64 / 1e3;
            prop_assert!(micros >= 20.0 || settled == MOST, "{} attempts take {} µs", settled, micros);
            prop_assert!(micros <= 100.0 || settled == 1, "{} attempts take {} µs", settled, micros);
        }

        #[test]
        fn it_stays_within_its_bounds(before in 1..=MOST, nanos: u64) {
            let after = next(before, Duration::from_nanos(nanos), MOST);
            prop_assert!((1..=MOST).contains(&after) && after <= 2 * before);
        }
    }

    #[test]
    fn a_stretch_that_took_ages_is_followed_by_a_short_one() {
        assert_eq!(next(MOST, Duration::MAX, MOST), 1);
        assert_eq!(next(MOST, Duration::ZERO, MOST), MOST);
    }
}
