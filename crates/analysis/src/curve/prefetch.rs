//! Whether the hardware read ahead, so that what a curve shows is none of its latencies.

use super::levels::{BEYOND, MEMORY};
use super::{Point, median, most_doubtful, sorted};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reading {
    /// Latency, also that of memory.
    Latency,
    /// No latency of memory: the hardware read ahead.
    Prefetched {
        /// Nanoseconds a load at the sizes beyond the caches.
        ns: f64,
        /// The share of what a random chase takes there; `None` where there is none beside, and so little that no memory is as fast.
        of_random: Option<f64>,
        doubtful: bool,
    },
    /// Nothing of memory: no point is far enough beyond the caches.
    Unreached,
}

/// A chase that takes less than this share of what a random one takes is not waiting for memory at each load.
const SHARE: f64 = 0.5;

/// What can be read from `points`.
///
/// `caches` are the sizes that are claimed for the data caches, from the innermost outwards; `random` is the curve of a random
/// chase on the same kind of pages, if there is any.
pub fn reading(points: &[Point], caches: &[u64], random: Option<&[Point]>) -> Reading {
    let points = sorted(points);
    let Some(beyond) = caches.last().map(|largest| largest.saturating_mul(BEYOND)) else { return Reading::Unreached };
    let far = |points: &[Point]| {
        let far: Vec<Point> = points.iter().filter(|point| point.size_bytes >= beyond).copied().collect();
        Some((median(far.iter().map(|point| point.ns).collect())?, most_doubtful(&far)))
    };
    let Some((ns, doubtful)) = far(&points) else { return Reading::Unreached };
    let fastest = points.iter().map(|point| point.ns).fold(f64::INFINITY, f64::min);
    match random.and_then(|random| far(&sorted(random))) {
        Some((waits, _)) if ns < SHARE * waits => Reading::Prefetched { ns, of_random: Some(ns / waits), doubtful },
        None if ns < MEMORY * fastest => Reading::Prefetched { ns, of_random: None, doubtful },
        _ => Reading::Latency,
    }
}
