//! What tells series apart besides their colours: the shapes of their spots, the dashes of their lines.

use super::pen::path;

const SHAPES: usize = 7;

/// Dashes in units of the picture; the first is a whole line.
const DASHES: [&str; 6] = ["", "8 4", "2 3", "10 3 2 3", "14 4", "5 2"];

/// The outline of a spot of a series, by the series' place from 0, around a point.
pub(super) fn shape(series: usize, [x, y]: [f64; 2], radius: f64) -> String {
    let round = |corners: usize, turned: f64, radius: f64| {
        let corner = move |at: usize| {
            let angle = std::f64::consts::TAU * (at as f64 / corners as f64 + turned);
            [x + radius * angle.sin(), y - radius * angle.cos()]
        };
        path((0..corners).map(corner), true)
    };
    match series % SHAPES {
        0 => round(12, 0.0, radius),
        1 => round(4, 0.125, radius * 1.3),
        2 => round(3, 0.0, radius * 1.45),
        3 => round(4, 0.0, radius * 1.35),
        4 => round(3, 0.5, radius * 1.45),
        5 => round(5, 0.0, radius * 1.2),
        _ => round(3, 0.25, radius * 1.45),
    }
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
        let all: Vec<_> = (0..SHAPES).map(|at| shape(at, [0.0, 0.0], 4.0)).collect();
        let differ = |one: usize| (one + 1..SHAPES).all(|other| all[one] != all[other]);
        assert!((0..SHAPES).all(differ), "{all:?}");
        assert!((0..20).all(|at| dashes(at) != dashes(at + 1)));
    }
}
