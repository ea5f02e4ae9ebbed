//! How many invocations a cell gets.

pub const MOST_INVOCATIONS: usize = 1000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Invocations {
    pub least: usize,
    /// The most; those beyond the fewest go where the interval is still too wide.
    pub most: usize,
    /// As many more with hardware counters: none, or the fewest.
    pub counted: usize,
}

impl Default for Invocations {
    /// The fewest that give an interval (six ordered values hold the median with 97%), and the last look of the stopping rule.
    fn default() -> Self {
        Invocations { least: 6, most: 30, counted: 0 }
    }
}

impl Invocations {
    /// The fewest, those with hardware counters included.
    pub fn fewest(self) -> usize {
        self.least + self.counted
    }
}
