//! Units of numbers that a user's program reports.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::escape::is_harmless;
use crate::words::words;

/// A unit that the user named, and in which direction it is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReportedUnit {
    /// Its symbol, e.g. `MB/s`.
    pub symbol: Symbol,
    /// Whether more or less of it is better.
    pub better: Better,
}

/// Which numbers are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// Higher ones, as of rates.
    Higher,
    /// Lower ones, as of times.
    Lower,
}

words! { Better { Higher = "higher", Lower = "lower" } }

impl ReportedUnit {
    /// Seconds: the time of a run.
    pub const SECONDS: ReportedUnit = ReportedUnit { symbol: Symbol("s"), better: Better::Lower };
    /// What a number counts whose unit is not known: until a run prints one.
    pub const UNNAMED: Symbol = Symbol("units");
    /// Operations per second.
    pub const RATE: ReportedUnit = ReportedUnit { symbol: Symbol("op/s"), better: Better::Higher };

    /// Which numbers are better by the symbol. Per time, such as `H/s` and `ns/day`: higher ones. Else of times, cycles, joules and the like, also
    /// per operation, such as `ns/op` and `B/op`: lower ones. Else per cycle or joule: higher ones. `None` for all others.
    pub fn usual(symbol: &str) -> Option<Better> {
        let [unit, per] = Self::parts(symbol);
        let is_cost = |unit: &str| [TIMES, CYCLES, JOULES].iter().any(|costs| costs.contains(&unit));
        let is_used = COUNTS.contains(&&*unit) || BYTES.contains(&&*unit) && OPERATIONS.contains(&&*per);
        match (is_cost(&unit) || is_used) && !TIMES.contains(&&*per) {
            true => Some(Better::Lower),
            false => is_cost(&per).then_some(Better::Higher),
        }
    }

    /// Whether it counts time or cycles, in all or for something, and less of it is better.
    pub fn is_time(self) -> bool {
        let [unit, per] = Self::parts(self.symbol.as_str());
        let is_time = [TIMES, CYCLES].iter().any(|times| times.contains(&&*unit));
        self.better == Better::Lower && is_time && !TIMES.contains(&&*per)
    }

    /// What is counted, and for what, in lower case. Behind a name it is in parentheses: `latency (ms)`.
    fn parts(symbol: &str) -> [String; 2] {
        let named = symbol.trim().strip_suffix(')').and_then(|symbol| symbol.split_once('('));
        let symbol = named.map_or(symbol, |(_, unit)| unit);
        let (unit, per) = symbol.split_once('/').or_else(|| symbol.split_once(" per ")).unwrap_or((symbol, ""));
        [unit, per].map(|part| part.trim().to_lowercase())
    }

    /// A unit of this symbol.
    ///
    /// # Errors
    /// What is wrong with the symbol, as the end of a sentence.
    pub fn new(symbol: &str, better: Better) -> Result<Self, &'static str> {
        Symbol::new(symbol).map(|symbol| ReportedUnit { symbol, better })
    }
}

/// Symbols of times, in lower case.
const TIMES: &[&str] = &[
    "s", "sec", "secs", "second", "seconds", "ms", "msec", "msecs", "us", "µs", "μs", "usec", "usecs", "ns", "nsec",
    "nsecs", "ps", "latency", "time", "min", "mins", "minute", "minutes", "h", "hour", "hours", "d", "day", "days",
];
const CYCLES: &[&str] = &["cycle", "cycles", "tick", "ticks", "cpb", "cpe"];
const JOULES: &[&str] = &["j", "joule", "joules"];
/// What a program is to have few of, in all or for something.
const COUNTS: &[&str] = &["alloc", "allocs", "allocations", "miss", "misses", "fault", "faults"];
/// What an operation is to take little of.
const BYTES: &[&str] = &["b", "byte", "bytes", "kb", "kib", "mb", "mib"];
const OPERATIONS: &[&str] = &["op", "ops", "operation", "call", "iter", "iteration", "it", "request", "req"];

/// The symbol of a unit: 1 to [`Symbol::LONGEST`] characters that show as themselves. Copied about in every cell, so its text is kept
/// once for the whole process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Symbol(#[cfg_attr(feature = "schema", schemars(length(min = 1, max = 24)))] &'static str);

impl Symbol {
    /// The most characters.
    pub const LONGEST: usize = 24;

    fn new(text: &str) -> Result<Self, &'static str> {
        static KEPT: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
        if text.is_empty() || text.chars().count() > Self::LONGEST {
            return Err("is no unit: it has 1 to 24 characters");
        }
        if !text.chars().all(is_harmless) {
            return Err("is no unit: it has a character that does not show as itself");
        }
        // A panic elsewhere leaves the set whole.
        let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept.get(text).copied();
        Ok(Symbol(known.unwrap_or_else(|| {
            let new: &'static str = Box::leak(text.into());
            kept.insert(new);
            new
        })))
    }

    /// Its text.
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

impl Serialize for Symbol {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0)
    }
}

impl<'de> Deserialize<'de> for Symbol {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Symbol::new(&text).map_err(|what| serde::de::Error::custom(format!("{text:?} {what}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_symbol_has_a_direction_by_what_it_counts_and_for_what() {
        for (symbols, better) in [
            (
                &["s", "NS/op", "msec", "usec / call", "s/it", "cycles/B", "J", "J/op", "minutes", "ms per op"][..],
                Some(Better::Lower),
            ),
            (&["latency (ms)", "latency", "allocs/op", "B/op", "ticks", "cpb", "cycles/byte"], Some(Better::Lower)),
            (&["MB/s", "H/s", "ns/day", "op/min", "cycles/s", "insn/cycle", "flop/J"], Some(Better::Higher)),
            (&["throughput (MB/s)", "bytes per second", "allocs/s", "B/cycle"], Some(Better::Higher)),
            (&["units", "MIPS", "MB", "", "/", "(", ")"], None),
        ] {
            symbols.iter().for_each(|symbol| assert_eq!(ReportedUnit::usual(symbol), better, "{symbol}"));
        }
        let is_time = |symbol: &str| ReportedUnit::new(symbol, Better::Lower).unwrap().is_time();
        assert_eq!(["ns/op", "cycles", "ticks", "latency (ms)"].map(is_time), [true; 4]);
        assert_eq!(["J", "ns/day", "MB", "B/op", "allocs/op"].map(is_time), [false; 5]);
    }

    #[test]
    fn symbols_are_kept_once_and_bounded() {
        let [one, other] = [(), ()].map(|()| Symbol::new(&String::from("tok/s")).unwrap());
        assert!(std::ptr::eq(one.as_str(), other.as_str()));
        assert_eq!(Symbol::new(&"µ".repeat(24)).unwrap().as_str().chars().count(), 24);
        for wrong in ["", "a\u{1b}[31m", "M\u{202e}B", &"x".repeat(25)] {
            assert!(serde_json::from_value::<Symbol>(serde_json::json!(wrong)).is_err(), "{wrong:?}");
        }
    }
}
