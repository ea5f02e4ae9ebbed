//! Values of parameters that are words.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::quantity;
use crate::words::words;

/// How the inputs of several workers lie in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Layout {
    /// Each worker's inputs on cache lines of their own.
    #[default]
    Padded,
    /// All workers' inputs in one array without gaps, as in the T3-4 report.
    Contiguous,
}

words! { Layout { Padded = "padded", Contiguous = "contiguous" } }

/// The classes of problems of the NAS Parallel Benchmarks, the smallest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Class {
    #[default]
    S,
    W,
    A,
    B,
    C,
}

words! { Class { S = "S", W = "W", A = "A", B = "B", C = "C" } }

/// What a process has done before its cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Process {
    /// Nothing.
    #[default]
    Fresh,
    /// The same with fewer threads: with 1, then 2, 4, … of them.
    Warm,
}

words! { Process { Fresh = "fresh", Warm = "warm" } }

/// When samples begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Period {
    /// By a schedule with a period found when a run begins: a multiple of the time of a sample, so samples rarely overlap.
    #[default]
    Fitting,
    /// Each when the one before has ended, as in the T3-4 report: a slow sample delays those that would have seen it, and so
    /// hides itself.
    Closed,
    /// By a schedule with this period in nanoseconds.
    EveryNs(u64),
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Period::Fitting => f.pad("fitting"),
            Period::Closed => f.pad("closed"),
            Period::EveryNs(nanos) => f.pad(&quantity::show_nanos(*nanos)),
        }
    }
}

impl FromStr for Period {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "fitting" => Ok(Period::Fitting),
            "closed" => Ok(Period::Closed),
            _ if word.starts_with(|c: char| c.is_ascii_digit()) => {
                super::PERIOD_BOUNDS.nanos(word).map(Period::EveryNs)
            }
            _ => Err(format!("{word:?} is not one of fitting, closed or a time such as 50us")),
        }
    }
}
