//! Series differ by the shapes of their spots and the dashes of their lines, not by colour alone.

use super::pen::path;

/// Corners, by how much of a turn they are turned, and how large they are beside a circle that looks as large.
const SHAPES: [(usize, f64, f64); 7] =
    [(12, 0.0, 1.0), (4, 0.125, 1.3), (3, 0.0, 1.45), (4, 0.0, 1.35), (3, 0.5, 1.45), (5, 0.0, 1.2), (3, 0.25, 1.45)];

/// Dashes in units of the picture; the first is a whole line.
const DASHES: [&str; 6] = ["", "8 4", "2 3", "10 3 2 3", "14 4", "5 2"];

/// The outline of a spot of a series, by the series' place from 0, around a point.
pub(super) fn shape(series: usize, [x, y]: [f64; 2], radius: f64) -> String {
    let (corners, turned, size) = SHAPES[series % SHAPES.len()];
    let corner = |at: usize| {
        let angle = std::f64::consts::TAU * (at as f64 / corners as f64 + turned);
        [x + radius * size * angle.sin(), y - radius * size * angle.cos()]
    };
    path((0..corners).map(corner), true)
}

/// The dashes of a line, by its place from 0; `None` for a whole one.
pub(super) fn dashes(series: usize) -> Option<&'static str> {
    Some(DASHES[series % DASHES.len()]).filter(|dashes| !dashes.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_differ_in_shape_and_dashes() {
        let all: Vec<_> = (0..SHAPES.len()).map(|at| shape(at, [0.0, 0.0], 4.0)).collect();
        let differ = |one: usize| all[one + 1..].iter().all(|other| all[one] != *other);
        assert!((0..all.len()).all(differ), "{all:?}");
        assert!((0..20).all(|at| dashes(at) != dashes(at + 1)));
    }
}
