//! Up to which size the TLB reaches.

use super::{Edge, Point, median, sorted, split};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reach {
    /// Where small pages become slower than huge ones.
    pub edge: Edge,
    /// Nanoseconds that a load beyond takes longer on small pages: the median.
    pub extra_ns: f64,
    /// How many times as long it takes there.
    pub times: f64,
    /// Whether half or more of the sizes beyond are doubtful on either kind of pages.
    pub doubtful: bool,
}

/// Small pages are slower where a load takes this many times as long on them.
const SLOWER: f64 = 1.1;

/// Points beyond the edge, at least: one or two may be off by chance.
const LEAST: usize = 3;

/// Up to which size `small` pages are as fast as `huge` ones, and what they cost beyond: two curves of the same chase. `None` if
/// they are as fast at all sizes, or slower at all.
///
/// Where translations are found in several TLBs, one behind the other, it is the first one that is small enough for the difference to
/// show from there on.
pub fn reach(small: &[Point], huge: &[Point]) -> Option<Reach> {
    let (small, huge) = (sorted(small), sorted(huge));
    let pairs: Vec<(Point, Point)> = small
        .iter()
        .filter_map(|point| Some((*point, *huge.iter().find(|other| other.size_bytes == point.size_bytes)?)))
        .collect();
    let is_slower = |(small, huge): &(Point, Point)| small.ns > SLOWER * huge.ns;
    let at = split(&pairs, is_slower);
    let (before, after) = pairs.split_at_checked(at)?;
    // Most of what is on either side is on the right one.
    let most = |pairs: &[(Point, Point)], slower: bool| {
        2 * pairs.iter().filter(|pair| is_slower(pair) == slower).count() > pairs.len()
    };
    if after.len() < LEAST || !most(before, false) || !most(after, true) {
        return None;
    }
    let (inside, beyond) = (before.last()?, after.first()?);
    let is_doubtful = |(small, huge): &(Point, Point)| small.doubtful || huge.doubtful;
    let most_doubtful =
        |pairs: &[(Point, Point)]| 2 * pairs.iter().filter(|pair| is_doubtful(pair)).count() >= pairs.len();
    let edge = Edge {
        inside_bytes: inside.0.size_bytes,
        beyond_bytes: beyond.0.size_bytes,
        doubtful: is_doubtful(inside) || is_doubtful(beyond) || most_doubtful(before) || most_doubtful(after),
    };
    Some(Reach {
        edge,
        doubtful: most_doubtful(after),
        extra_ns: median(after.iter().map(|(small, huge)| small.ns - huge.ns).collect())?,
        times: median(after.iter().map(|(small, huge)| small.ns / huge.ns).collect())?,
    })
}
