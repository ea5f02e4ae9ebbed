//! How often times came, one by one or together with another.

use super::{Axis, Quantity};
use charz_data::Peak;

/// Two times that were stamped together, or one of them alone.
#[derive(Clone, Debug, PartialEq)]
pub struct JointPlot {
    /// What the first time is, from left to right; logarithmic.
    pub x: Axis,
    /// What the second time is, from below upwards; logarithmic. `None` where there is one time only, which is then on the x axis.
    pub y: Option<Axis>,
    /// The bins of pairs that are not empty; none where there is one time only.
    pub pairs: Vec<Pair>,
    /// How often the first time came, by ascending bins.
    pub first: Vec<Bar>,
    pub second: Vec<Bar>,
    /// In how many pairs the second is the shorter one, as a fraction; `None` where there is one time only.
    pub below: Option<f64>,
    /// Where the first gathers, the fullest first.
    pub first_bands: Vec<Peak>,
    pub second_bands: Vec<Peak>,
    /// How many times, or pairs, in all.
    pub count: u64,
    /// Whether the cell is suspect; its notes say why.
    pub is_doubtful: bool,
}

/// A bin of pairs, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// From what to what the first goes.
    pub x: [f64; 2],
    pub y: [f64; 2],
    pub count: u64,
}

/// A bin of one time, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    pub x: [f64; 2],
    pub count: u64,
}

impl JointPlot {
    /// The bands of each time in words: its label, then the bands.
    pub fn bands_in_words(&self) -> Vec<String> {
        let axes = [(Some(&self.x), &self.first_bands), (self.y.as_ref(), &self.second_bands)];
        let axes = axes.into_iter().filter_map(|(axis, bands)| Some((axis?, bands)));
        axes.filter(|(_, bands)| !bands.is_empty())
            .map(|(axis, bands)| {
                let bands: Vec<String> = bands.iter().map(Peak::in_words).collect();
                format!("{}: {}", axis.label, bands.join(", "))
            })
            .collect()
    }

    /// How many times or pairs there are, in how many the second is shorter, and whether they are suspect.
    pub fn summary(&self) -> String {
        let noun = if self.y.is_some() { "pairs of times" } else { "times" };
        let mut text = format!("{} {noun}", Quantity::Count.shown(self.count as f64));
        if let Some(share) = self.below {
            text += &format!("; in {} the second is the shorter one", Quantity::Share.shown(share));
        }
        if self.is_doubtful {
            text += "; noisy";
        }
        text
    }

    pub(super) fn in_words(&self) -> String {
        [vec![self.summary()], self.bands_in_words()].concat().join(". ") + "."
    }
}
