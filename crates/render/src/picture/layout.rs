//! Finds room for words between things that are drawn already.

use super::width;
use charz_data::Arrange;

/// The space taken within a rectangle.
pub(super) struct LabelLayout {
    /// From left to right, and from above.
    within: [[f64; 2]; 2],
    taken: Vec<[[f64; 2]; 2]>,
}

impl LabelLayout {
    /// An empty rectangle, by its ends across and down.
    pub(super) fn new(across: [f64; 2], down: [f64; 2]) -> Self {
        LabelLayout { within: [across, down], taken: Vec::new() }
    }

    /// A line between two points is taken.
    pub(super) fn take_line(&mut self, from: [f64; 2], to: [f64; 2]) {
        const STEP: f64 = 6.0;
        /// Longer lines leave the picture.
        const MOST: f64 = 300.0;
        let far = (to[0] - from[0]).hypot(to[1] - from[1]);
        let parts = (far / STEP).ceil().clamp(1.0, MOST) as u32;
        for part in 0..=parts {
            let share = f64::from(part) / f64::from(parts);
            self.take([from[0] + (to[0] - from[0]) * share, from[1] + (to[1] - from[1]) * share], STEP / 2.0);
        }
    }

    /// A square around a point is taken.
    pub(super) fn take(&mut self, [x, y]: [f64; 2], radius: f64) {
        self.taken.push([[x - radius, x + radius], [y - radius, y + radius]]);
    }

    /// Takes room for words near a point and returns the left end of their line; `None` if there is no room around the point.
    pub(super) fn near(&mut self, at: [f64; 2], text: &str, size: f64) -> Option<[f64; 2]> {
        [9.0, 16.0, 26.0, 40.0, 60.0, 90.0].into_iter().find_map(|away| self.away(at, text, size, away))
    }

    /// The same right beside a point, so it is plain to what the words belong.
    pub(super) fn beside(&mut self, at: [f64; 2], text: &str, size: f64) -> Option<[f64; 2]> {
        [6.0, 9.0].into_iter().find_map(|away| self.away(at, text, size, away))
    }

    fn away(&mut self, [x, y]: [f64; 2], text: &str, size: f64, away: f64) -> Option<[f64; 2]> {
        let (wide, high) = (width::of(text, size), size);
        // Above first: that is where people look for what belongs to a point; then beside it.
        let lefts = [x - wide / 2.0, x + away, x - away - wide];
        let lines = [y - away, y + away + high * 0.8, y + high * 0.35];
        for (line, left) in lines.into_iter().flat_map(|line| lefts.map(|left| (line, left))) {
            let own = [[left, left + wide], [line - high * 0.8, line + high * 0.25]];
            if self.is_free(own) {
                self.taken.push(own);
                return Some([left, line]);
            }
        }
        None
    }

    fn is_free(&self, [across, down]: [[f64; 2]; 2]) -> bool {
        let inside = |own: [f64; 2], whole: [f64; 2]| own[0] >= whole[0] && own[1] <= whole[1];
        let apart = |one: [f64; 2], other: [f64; 2]| one[1] <= other[0] || other[1] <= one[0];
        inside(across, self.within[0])
            && inside(down, self.within[1])
            && self.taken.iter().all(|other| apart(across, other[0]) || apart(down, other[1]))
    }
}

/// Puts stretches into rows without overlap: the row of each, from 0; `None` beyond the last row. The rightmost is in the first
/// row, so a line down from the left end of a stretch crosses no other.
pub(super) fn rows(stretches: &[[f64; 2]], most: usize) -> Vec<Option<usize>> {
    let mut ends: Vec<f64> = Vec::new();
    let mut order: Vec<usize> = (0..stretches.len()).collect();
    order.arrange_by(|one, other| stretches[*other][0].total_cmp(&stretches[*one][0]));
    let mut rows = vec![None; stretches.len()];
    for at in order {
        let [from, to] = stretches[at];
        let free = ends.iter().position(|end| to <= *end);
        let row = free.or_else(|| (ends.len() < most).then(|| ends.push(f64::MAX)).map(|()| ends.len() - 1));
        if let Some(row) = row {
            ends[row] = from;
            rows[at] = Some(row);
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_do_not_overlap() {
        let mut room = LabelLayout::new([0.0, 200.0], [0.0, 100.0]);
        let found: Vec<_> = (0..40).filter_map(|_| room.near([100.0, 50.0], "word", 10.0)).collect();
        let wide = width::of("word", 10.0);
        assert!(found.len() > 3, "{found:?}");
        for (at, one) in found.iter().enumerate() {
            for other in &found[at + 1..] {
                let apart = (one[0] - other[0]).abs() >= wide || (one[1] - other[1]).abs() >= 10.0;
                assert!(apart, "{one:?} {other:?}");
            }
        }
        assert!(found.len() < 40, "what has no room is left out");
    }

    #[test]
    fn rows_hold_what_does_not_overlap() {
        let stretches = [[0.0, 10.0], [5.0, 15.0], [12.0, 20.0], [6.0, 7.0]];
        assert_eq!(rows(&stretches, 2), [None, Some(1), Some(0), Some(0)]);
    }
}
