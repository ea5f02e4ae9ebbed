//! Where caches end by a curve of few sizes: between two of them; and whether a curve excludes a claimed size.

use super::{Point, sorted};

/// A claimed cache beside a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bracket {
    /// Its size as claimed.
    pub claimed_bytes: u64,
    /// The two sizes between which the curve rises to the next level; `None` where it does not rise.
    pub edge: Option<[u64; 2]>,
    /// Nanoseconds a load within it, by the smallest size that only it holds.
    pub ns: Option<f64>,
    /// Whether the curve allows the claim.
    pub fit: Fit,
}

/// Whether a curve allows that a cache has a size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fit {
    /// No size that would fit takes as long as memory.
    Allowed,
    /// A block of so many bytes would fit, and takes so long a load: beyond the limit, half of the way to memory.
    Excluded {
        /// The smallest such block.
        size_bytes: u64,
        /// Nanoseconds a load.
        ns: f64,
        /// Nanoseconds a load half of the way, by the ratio.
        limit_ns: f64,
        /// How many of the measured sizes that would fit are beyond it.
        sizes: usize,
    },
    /// No measured size is within it and beyond the cache inside.
    NoSize,
    /// No size is far enough beyond it to be in memory.
    NoMemory,
}

/// A rise by less is none.
const LEAST_RISE: f64 = 1.1;
/// What an octave between an edge and the claimed size costs, as the logarithm of a rise: of two rises that are about as steep the nearer
/// one is the cache's.
const OCTAVE: f64 = 0.03;
/// Of a cache, the share of a block that fits it beside whatever else a program touches.
const HELD: f64 = 0.75;
/// So many times its size is beyond a cache.
const BEYOND: u64 = 2;
/// Latencies that differ by less are the same.
const SAME: f64 = 1.1;
/// So many times the latency of the cache inside is memory, where the claimed cache is as fast as memory.
const OUTSIDE: f64 = 2.0;

/// A bracket for each claimed cache, from the innermost, and whether the curve allows its size. Sizes are in bytes, ascending.
///
/// Edges are the steepest rises in the order of the caches, one each, and the steepest of all is one of them. A claim is excluded if a
/// block of at most three quarters of it takes longer than half of the way, by the ratio, from the latency of the cache to that of
/// memory, which is the largest size if it is twice the claim or more. Where the cache is as fast as memory there is no way to halve: the claim
/// is excluded if the cache inside of it is at least twice as fast.
pub fn brackets(points: &[Point], caches: &[u64]) -> Vec<Bracket> {
    let points = sorted(points);
    let edges = edges(&points, caches);
    let bracket = |at: usize| {
        let inner = at.checked_sub(1).map_or(0, |inner| caches[inner]);
        let (ns, fit) = fit(&points, inner, caches[at]);
        Bracket { claimed_bytes: caches[at], edge: edges[at], ns, fit }
    };
    (0..caches.len()).map(bracket).collect()
}

fn fit(points: &[Point], inner: u64, claimed: u64) -> (Option<f64>, Fit) {
    let held = |point: &&Point| point.size_bytes > inner && point.size_bytes as f64 <= HELD * claimed as f64;
    let inside: Vec<&Point> = points.iter().filter(held).collect();
    // A block that is little larger than the cache inside is half in that.
    let own = inside.iter().find(|point| point.size_bytes >= BEYOND * inner).or(inside.last()).map(|point| point.ns);
    let (Some(own), Some(last)) = (own, points.last()) else { return (None, Fit::NoSize) };
    if last.size_bytes < BEYOND.saturating_mul(claimed) {
        return (Some(own), Fit::NoMemory);
    }
    let limit_ns = (own * last.ns).sqrt();
    let faster = points.iter().rfind(|point| point.size_bytes <= inner).map_or(f64::INFINITY, |point| point.ns);
    let is_beyond = |point: &&&Point| match last.ns > SAME * own {
        true => point.ns > limit_ns,
        false => own >= OUTSIDE * faster,
    };
    let beyond: Vec<&&Point> = inside.iter().filter(is_beyond).collect();
    let Some(first) = beyond.first() else { return (Some(own), Fit::Allowed) };
    (Some(own), Fit::Excluded { size_bytes: first.size_bytes, ns: first.ns, limit_ns, sizes: beyond.len() })
}

/// The sizes around the edge of each cache.
fn edges(points: &[Point], caches: &[u64]) -> Vec<Option<[u64; 2]>> {
    let rises: Vec<f64> = points.windows(2).map(|pair| (pair[1].ns / pair[0].ns).ln()).collect();
    let Some(steepest) = (0..rises.len()).max_by(|a, b| rises[*a].total_cmp(&rises[*b])) else {
        return vec![None; caches.len()];
    };
    let worth = |cache: usize, at: usize| {
        let middle = (points[at].size_bytes as f64 * points[at + 1].size_bytes as f64).sqrt();
        rises[at] - OCTAVE * (middle / caches[cache].max(1) as f64).log2().abs()
    };
    // The best choice of a rise for each cache in order, with the steepest among them: by the caches and rises so far, and whether it is.
    let mut best: Vec<Vec<[Choice; 2]>> = vec![vec![[Some((0.0, Vec::new())), None]; rises.len() + 1]];
    for cache in 0..caches.len() {
        let mut row: Vec<[Choice; 2]> = Vec::with_capacity(rises.len() + 1);
        for used in 0..=rises.len() {
            let mut cell = [0, 1].map(|has| extended(&best[cache][used][has], 0.0, None));
            for (at, before) in best[cache].iter().enumerate().take(used) {
                for has in [0, 1] {
                    let now = usize::from(has == 1 || at == steepest);
                    let longer = extended(&before[has], worth(cache, at), Some(at));
                    if value(&longer) > value(&cell[now]) {
                        cell[now] = longer;
                    }
                }
            }
            row.push(cell);
        }
        best.push(row);
    }
    let [without, with] = &best[caches.len()][rises.len()];
    let chosen = with.as_ref().or(without.as_ref()).map(|(_, chosen)| &chosen[..]).unwrap_or_default();
    let is_rise = |at: &usize| rises[*at] >= LEAST_RISE.ln();
    let edge = |at: usize| [points[at].size_bytes, points[at + 1].size_bytes];
    (0..caches.len()).map(|cache| chosen.get(cache).copied().flatten().filter(is_rise).map(edge)).collect()
}

/// The worth of rises, and the rise of each cache so far; `None` where there is no such choice.
type Choice = Option<(f64, Vec<Option<usize>>)>;

fn value(choice: &Choice) -> f64 {
    choice.as_ref().map_or(f64::NEG_INFINITY, |(value, _)| *value)
}

/// A choice with one more cache, which has this rise or none.
fn extended(choice: &Choice, worth: f64, rise: Option<usize>) -> Choice {
    let (value, chosen) = choice.as_ref()?;
    Some((value + worth, chosen.iter().copied().chain([rise]).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: u64 = 1 << 10;

    fn points(curve: &[(u64, f64)]) -> Vec<Point> {
        let point = |&(kib, ns): &(u64, f64)| Point { size_bytes: kib * KIB, ns, slack: 0.0, doubtful: false };
        curve.iter().map(point).collect()
    }

    fn found(curve: &[(u64, f64)], caches: &[u64]) -> Vec<(Option<[u64; 2]>, Fit)> {
        let caches: Vec<u64> = caches.iter().map(|kib| kib * KIB).collect();
        let in_kib = |edge: [u64; 2]| edge.map(|bytes| bytes / KIB);
        brackets(&points(curve), &caches).iter().map(|one| (one.edge.map(in_kib), one.fit)).collect()
    }

    const BEFORE: [(u64, f64); 5] = [(24, 1.4), (96, 4.2), (640, 5.5), (1536, 14.0), (3072, 20.0)];

    #[test]
    fn edges_are_where_the_curve_rises_and_a_claim_that_it_allows_stands() {
        let curve = [&BEFORE[..], &[(12288, 22.0), (24576, 60.0), (98304, 101.0), (196608, 104.0)]].concat();
        let edges: Vec<_> =
            found(&curve, &[48, 1024, 24576]).into_iter().map(|(edge, fit)| (edge, fit == Fit::Allowed)).collect();
        let expected = [([24, 96], true), ([640, 1536], true), ([12288, 24576], true)];
        assert_eq!(edges, expected.map(|(edge, fit)| (Some(edge), fit)));
        // The same with a claim that is half of it: the edge is where it is.
        assert_eq!(found(&curve, &[48, 1024, 12288])[2], (Some([12288, 24576]), Fit::Allowed));
    }

    #[test]
    fn a_share_of_a_cache_is_excluded_at_the_first_size_that_would_fit() {
        let curve = [&BEFORE[..], &[(6144, 70.0), (24576, 95.0), (98304, 101.0)]].concat();
        let (edge, fit) = found(&curve, &[48, 1024, 36864])[2];
        assert_eq!(edge, Some([3072, 6144]));
        assert!(matches!(fit, Fit::Excluded { size_bytes, ns: 70.0, .. } if size_bytes == 6144 * KIB));
        // As slow as memory from its smallest size on.
        let curve = [&BEFORE[..3], &[(12288, 98.0), (24576, 99.0), (98304, 101.0)]].concat();
        assert!(matches!(found(&curve, &[48, 1024, 36864])[2].1, Fit::Excluded { ns: 98.0, .. }));
    }

    #[test]
    fn a_curve_that_ends_too_early_or_has_no_size_excludes_nothing() {
        let curve = [&BEFORE[..], &[(6144, 70.0), (24576, 95.0)]].concat();
        assert_eq!(found(&curve, &[48, 1024, 36864])[2], (Some([3072, 6144]), Fit::NoMemory));
        assert_eq!(found(&[(24, 1.0), (98304, 90.0)], &[48, 1024, 8192])[1].1, Fit::NoSize);
        assert_eq!(found(&[], &[48]), [(None, Fit::NoSize)]);
        assert_eq!(found(&BEFORE, &[]), []);
        let flat = [(16, 2.0), (256, 2.05), (4096, 2.1)];
        assert_eq!(found(&flat, &[32, 1024]), [(None, Fit::Allowed), (None, Fit::Allowed)]);
    }

    #[test]
    fn the_steepest_rise_is_an_edge_of_any_curve() {
        let mut random = fastrand::Rng::with_seed(3);
        for _ in 0..200 {
            let mut ns = 1.0;
            let curve: Vec<(u64, f64)> = (0..9)
                .map(|at| {
                    ns *= 1.0 + random.f64() * random.f64();
                    (16 << at, ns)
                })
                .collect();
            let steepest = curve.windows(2).max_by(|a, b| (a[1].1 / a[0].1).total_cmp(&(b[1].1 / b[0].1))).unwrap();
            let caches: Vec<u64> = (0..1 + random.usize(..3)).map(|level| 32 << (3 * level)).collect();
            let edges: Vec<_> = found(&curve, &caches).into_iter().filter_map(|(edge, _)| edge).collect();
            assert!(edges.contains(&[steepest[0].0, steepest[1].0]), "{curve:?}: {edges:?}");
            assert!(edges.is_sorted());
        }
    }
}
