//! Where to cut a segment to make its two sides differ most.

use super::LEAST_SEGMENT;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Split {
    /// The index of the first value on the right side.
    pub(super) at: usize,
    /// The weighted energy distance between the sides; for the same values, the larger the more they differ.
    pub(super) divergence: f64,
}

/// Room that is used again from segment to segment.
#[derive(Default)]
pub(super) struct Splitter {
    /// The sum of the distances between the first k values.
    heads: Vec<f64>,
    /// The sum of the distances between the values from the cut up to k.
    tails: Vec<f64>,
}

impl Splitter {
    /// The best cut; `None` where a side would be too short.
    ///
    /// With l values on the left and r on the right, the distances between them summing up to B, those within the left to A
    /// and those within the right to C, it is l r / (l + r) times the energy distance:
    /// 2 / (l + r) (B − A r / (l − 1) − C l / (r − 1)).
    pub(super) fn best(&mut self, values: &[f64]) -> Option<Split> {
        let n = values.len();
        self.heads.clear();
        self.heads.push(0.0);
        let mut head = 0.0;
        for (at, value) in values.iter().enumerate() {
            head += values[..at].iter().map(|other| (other - value).abs()).sum::<f64>();
            self.heads.push(head);
        }
        self.tails.clear();
        self.tails.resize(n + 1, 0.0);
        let mut best: Option<Split> = None;
        for at in (LEAST_SEGMENT..n).rev() {
            let mut row = 0.0;
            for end in at + 1..n {
                row += (values[at] - values[end]).abs();
                self.tails[end + 1] += row;
            }
            let left = at as f64;
            for end in at + LEAST_SEGMENT..=n {
                let (right, within) = ((end - at) as f64, self.tails[end]);
                let between = self.heads[end] - self.heads[at] - within;
                let apart = between - self.heads[at] * right / (left - 1.0) - within * left / (right - 1.0);
                let divergence = 2.0 * apart / (left + right);
                if best.is_none_or(|best| divergence > best.divergence) {
                    best = Some(Split { at, divergence });
                }
            }
        }
        best
    }
}
