//! Why there is no verdict.

use std::fmt;

/// Why a comparison is inconclusive. Its text is a clause that follows "inconclusive: ".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// A value is zero, negative or not finite, and has no ratio.
    NotPositive,
    /// A side has too few values for any verdict.
    TooFew {
        /// How many a side there must be.
        needed: usize,
    },
    /// By itself the pair differs, but no p-value of so few values is small enough among so many comparisons.
    TooFewForSoMany {
        /// How many a side would be enough if this were the only difference.
        needed: usize,
        /// How many comparisons the batch has.
        comparisons: usize,
    },
    /// By itself the pair differs, but among so many comparisons this may be chance.
    PerhapsChance,
    /// They differ, and it is not clear whether by more than the margin.
    AtMargin,
    /// The values vary so much that both no difference and one beyond the margin are possible.
    TooNoisy,
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Doubt::NotPositive => write!(f, "a value is not a positive number, so that there is no ratio"),
            Doubt::TooFew { needed } => write!(f, "too few invocations; measure at least {needed} on either side"),
            Doubt::TooFewForSoMany { needed, comparisons } => write!(
                f,
                "too few invocations for {comparisons} comparisons at once; measure at least {needed} on either side"
            ),
            Doubt::PerhapsChance => write!(f, "among so many comparisons it may be chance; measure this one again"),
            Doubt::AtMargin => write!(f, "a difference, but perhaps within the margin; measure more invocations"),
            Doubt::TooNoisy => write!(f, "too noisy; measure more invocations, or on a quieter machine"),
        }
    }
}
