//! Five numbers at each point of some rows of all planes of a cube.

use std::ops::Range;

/// Numbers of a point: density, momentum in three directions, energy.
pub(super) const PARTS: usize = 5;

/// Density, momentum in three directions, energy.
pub(super) type Point = [f64; PARTS];

/// By plane, then row, then part, then point: a part of a row is contiguous, so loops along it take several points at once.
pub(super) struct Field {
    points: usize,
    rows: Range<usize>,
    data: Vec<f64>,
}

impl Field {
    /// These rows of a cube of so many points a side, all zeros.
    pub(super) fn new(points: usize, rows: Range<usize>) -> Self {
        let data = vec![0.0; points * rows.len() * PARTS * points];
        Field { points, rows, data }
    }

    /// Writes zeros, by which the calling thread touches the pages.
    pub(super) fn clear(&mut self) {
        self.data.fill(0.0);
    }

    pub(super) fn rows(&self) -> Range<usize> {
        self.rows.clone()
    }

    #[inline(always)]
    fn range(&self, plane: usize, row: usize) -> Range<usize> {
        let width = PARTS * self.points;
        let begin = (plane * self.rows.len() + row - self.rows.start) * width;
        begin..begin + width
    }

    /// The parts of a row, one after the other.
    #[inline(always)]
    pub(super) fn row(&self, plane: usize, row: usize) -> &[f64] {
        &self.data[self.range(plane, row)]
    }

    #[inline(always)]
    pub(super) fn row_mut(&mut self, plane: usize, row: usize) -> &mut [f64] {
        let range = self.range(plane, row);
        &mut self.data[range]
    }

    pub(super) fn point(&self, plane: usize, row: usize, at: usize) -> Point {
        let row = self.row(plane, row);
        std::array::from_fn(|part| row[part * self.points + at])
    }

    pub(super) fn set(&mut self, plane: usize, row: usize, at: usize, point: Point) {
        let points = self.points;
        let row = self.row_mut(plane, row);
        point.into_iter().enumerate().for_each(|(part, number)| row[part * points + at] = number);
    }

    /// Adds so many times another field to these rows.
    pub(super) fn add(&mut self, factor: f64, other: &Field, rows: Range<usize>) {
        for (plane, row) in (0..self.points).flat_map(|plane| rows.clone().map(move |row| (plane, row))) {
            let other = other.row(plane, row);
            self.row_mut(plane, row).iter_mut().zip(other).for_each(|(own, other)| *own += factor * other);
        }
    }
}

/// The parts of a row, as lines of equal length without the first `from` points.
#[inline(always)]
pub(super) fn lines(row: &[f64], points: usize, from: usize, length: usize) -> [&[f64]; PARTS] {
    std::array::from_fn(|part| &row[part * points + from..][..length])
}

#[inline(always)]
pub(super) fn at(lines: &[&[f64]; PARTS], i: usize) -> Point {
    [lines[0][i], lines[1][i], lines[2][i], lines[3][i], lines[4][i]]
}
