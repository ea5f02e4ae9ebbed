//! Threads that do work of different kinds side by side.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::words::words;

/// A kind of work that is counted in units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitKind {
    /// Arithmetic on registers.
    Compute,
    /// Updates of memory.
    WorkingSet,
    /// Files that are written and read.
    Io,
}

words! { UnitKind { Compute = "compute", WorkingSet = "working-set", Io = "io" } }

/// How many threads do which kind; none at all where all do the kind that their kernel counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Mix {
    /// Threads that do arithmetic.
    pub compute: u64,
    /// Threads that update memory.
    pub working_set: u64,
    /// Threads that write and read files.
    pub io: u64,
}

const ALONE: &str = "alone";
/// The most threads of a kind.
const MOST: u64 = 4096;

impl Mix {
    /// All threads do the kind that their kernel counts.
    pub const ALONE: Mix = Mix { compute: 0, working_set: 0, io: 0 };

    /// Threads of all kinds.
    pub fn threads(self) -> u64 {
        self.compute + self.working_set + self.io
    }

    /// The kind of a thread, by its number from 0: those of each kind in turn, and again. Not to be asked of [`Mix::ALONE`].
    pub fn kind(self, rank: u64) -> UnitKind {
        match rank % self.threads() {
            place if place < self.compute => UnitKind::Compute,
            place if place < self.compute + self.working_set => UnitKind::WorkingSet,
            _ => UnitKind::Io,
        }
    }
}

impl fmt::Display for Mix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Mix::ALONE => f.pad(ALONE),
            Mix { compute, working_set, io } => f.pad(&format!("{compute}:{working_set}:{io}")),
        }
    }
}

impl FromStr for Mix {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == ALONE {
            return Ok(Mix::ALONE);
        }
        let refused = || {
            format!("{text:?} is not alone or three numbers of threads such as 2:1:1, each at most {MOST}, not all 0")
        };
        let number = |word: &str| {
            word.parse().ok().filter(|number| *number <= MOST && word.starts_with(|c: char| c.is_ascii_digit()))
        };
        let numbers: Vec<u64> = text.split(':').map(number).collect::<Option<_>>().ok_or_else(refused)?;
        match numbers[..] {
            [0, 0, 0] => Err(refused()),
            [compute, working_set, io] => Ok(Mix { compute, working_set, io }),
            _ => Err(refused()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_shown_is_read(compute in 0..=MOST, working_set in 0..=MOST, io in 0..=MOST) {
            let mix = Mix { compute, working_set, io };
            prop_assert_eq!(mix.to_string().parse(), Ok(mix));
        }
    }

    #[test]
    fn what_is_no_mix_is_refused() {
        for text in ["", "1", "1:1", "1:1:1:1", "0:0:0", "1:-1:1", "+1:1:1", "1:1:4097", "1: 1:1", "Alone"] {
            let error = text.parse::<Mix>().expect_err(text);
            assert!(error.contains("2:1:1") && !error.contains('\n'), "{error}");
        }
    }
}
