//! How long a sweep may take.

use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budget {
    Of(Duration),
    /// This, or more where the fewest invocations of all cells take longer: half as much again, as a busy machine takes longer than predicted.
    Planned(Duration),
    /// [`USUAL_BUDGET`], or [`LARGER_BUDGET`] where the fewest invocations of all cells would not fit well.
    Fitting,
    /// [`QUICK_BUDGET`], or up to [`LARGER_QUICK_BUDGET`] where the fewest invocations of all cells would not fit.
    Quick,
}

impl Budget {
    /// The longest that it may take, whatever is to be measured.
    pub fn most(self) -> Duration {
        match self {
            Budget::Of(time) | Budget::Planned(time) => time,
            Budget::Fitting => LARGER_BUDGET,
            Budget::Quick => LARGER_QUICK_BUDGET,
        }
    }

    /// How to give more, in flags that do not exclude each other.
    pub fn remedy(self) -> &'static str {
        if self == Budget::Quick { "leave out --quick, and give more with --budget" } else { "give more with --budget" }
    }

    /// The longest that it may take before it is known what is to be measured.
    pub fn least(self) -> Duration {
        match self {
            Budget::Of(time) | Budget::Planned(time) => time,
            Budget::Fitting => USUAL_BUDGET,
            Budget::Quick => QUICK_BUDGET,
        }
    }
}

/// When a [brief](super::Plan::is_brief) sweep ends, if all cells have an interval after `took`: the width shrinks with the root of the number of
/// runs, and a user waits for all of them.
pub fn narrowed_until(took: Duration) -> Duration {
    took.mul_f64(1.6).max(Duration::from_secs(15))
}

/// What a sweep is given when nothing else is said.
pub const USUAL_BUDGET: Duration = Duration::from_secs(90);
/// What a sweep of many cells is given.
pub const LARGER_BUDGET: Duration = Duration::from_secs(230);
/// What a coarse look is given.
pub const QUICK_BUDGET: Duration = Duration::from_secs(20);
/// What it is given where blocks past the caches are so large that they alone take longer.
pub const LARGER_QUICK_BUDGET: Duration = Duration::from_secs(60);
