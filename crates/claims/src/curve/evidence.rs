//! Whether a curve has enough points to say where a cache ends.

use super::{Edge, Point};

/// How many sizes it takes within a cache, and beyond it, to tell the two apart: as many as make a plateau.
pub const ENOUGH: usize = 3;

/// How many sizes it takes between an edge and a stated size to contradict it: one may be off by chance.
pub const BETWEEN: usize = 2;

/// What a curve lacks to contradict that a cache ends where it is claimed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    /// [`ENOUGH`] reliable sizes within the cache of `bytes`, around one of `inner`, and as many beyond: what it has, and had asked for.
    Sizes { inner: u64, bytes: u64, found: [usize; 2], asked: [usize; 2] },
    /// [`BETWEEN`] reliable sizes between the edge and the stated size.
    Between { above: u64, to: u64, found: usize },
}

/// What a curve lacks to contradict that a cache of `bytes`, around one of `inner`, ends where it is claimed to; `None` if nothing.
///
/// Only sound points count. `asked` are all sizes of the curve, those without a number included; `edge` is where it was found to end.
pub fn lack(points: &[Point], asked: &[u64], inner: u64, bytes: u64, edge: Option<Edge>) -> Option<Lack> {
    let sound = || points.iter().filter(|point| !point.doubtful).map(|point| point.size_bytes);
    let count = |sizes: &mut dyn Iterator<Item = u64>, above: u64, to: u64| {
        sizes.filter(|size| *size > above && *size <= to).count()
    };
    let sides = [(inner, bytes), (bytes, u64::MAX)];
    let found = sides.map(|(above, to)| count(&mut sound(), above, to));
    if found.iter().any(|found| *found < ENOUGH) {
        let asked = sides.map(|(above, to)| count(&mut asked.iter().copied(), above, to));
        return Some(Lack::Sizes { inner, bytes, found, asked });
    }
    let edge = edge.filter(|edge| !edge.agrees(bytes))?;
    // The sizes that would be on the other side of a cache of the stated size.
    let (above, to) = if edge.beyond_bytes < bytes { (edge.inside_bytes, bytes) } else { (bytes, edge.inside_bytes) };
    let found = count(&mut sound(), above, to);
    (found < BETWEEN).then_some(Lack::Between { above, to, found })
}
