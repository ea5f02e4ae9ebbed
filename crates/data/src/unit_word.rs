//! What programs print behind a number: units, their prefixes, and by how much two of them differ.

/// Seconds of the words for times, in lower case; `M` and `m` are no times by themselves.
const TIMES: [(&[&str], f64); 8] = [
    (&["ps", "psec"], 1e-12),
    (&["ns", "nsec", "nsecs", "nanosecond", "nanoseconds"], 1e-9),
    (&["us", "µs", "μs", "usec", "usecs", "microsecond", "microseconds"], 1e-6),
    (&["ms", "msec", "msecs", "millisecond", "milliseconds"], 1e-3),
    (&["s", "sec", "secs", "second", "seconds"], 1.0),
    (&["min", "mins", "minute", "minutes"], 60.0),
    (&["h", "hr", "hrs", "hour", "hours"], 3600.0),
    (&["d", "day", "days"], 86_400.0),
];

/// Prefixes of the SI, and of IEC 80000-13 for bytes. `K` is used for `k`.
const PREFIXES: [(&str, f64); 16] = [
    ("Ki", 1024.0),
    ("Mi", 1_048_576.0),
    ("Gi", 1_073_741_824.0),
    ("Ti", 1_099_511_627_776.0),
    ("k", 1e3),
    ("K", 1e3),
    ("M", 1e6),
    ("G", 1e9),
    ("T", 1e12),
    ("P", 1e15),
    ("m", 1e-3),
    ("u", 1e-6),
    ("µ", 1e-6),
    ("μ", 1e-6),
    ("n", 1e-9),
    ("p", 1e-12),
];

/// The prefixes that programs glue to a number without a unit, such as `12.5k`.
const ALONE: [&str; 10] = ["Ki", "Mi", "Gi", "Ti", "k", "K", "M", "G", "T", "P"];

/// What a unit counts, without its prefix, and how often the smallest unit of its kind is in it.
#[derive(Clone, Debug, PartialEq)]
struct Measure {
    /// `s`, `B`, `bit`, or the word as it stands.
    base: String,
    /// What it is divided by: `s`, or the word as it stands.
    per: Option<String>,
    factor: f64,
    /// Whether what it counts is one of the units of this module.
    is_known: bool,
}

/// The factor of a prefix that stands by itself behind a number: 1000 of `k`.
#[must_use]
pub fn prefix(word: &str) -> Option<f64> {
    PREFIXES.iter().find(|(name, _)| *name == word && ALONE.contains(name)).map(|(_, factor)| *factor)
}

/// Whether a word behind a number is its unit: a time, bytes or bits, or anything per something.
#[must_use]
pub fn is_unit(word: &str) -> bool {
    let is_name =
        |part: &str| !part.is_empty() && part.chars().all(|mark| mark.is_alphabetic() || "µμ%-_²".contains(mark));
    match word.split_once('/') {
        Some((counted, per)) => is_name(counted) && is_name(per),
        // One letter by itself is a name as often.
        None => of(word).is_known && !matches!(word, "b" | "d"),
    }
}

/// How many of the second unit one of the first is; `None` where they do not count the same, as far as their words say.
#[must_use]
pub fn factor(from: &str, to: &str) -> Option<f64> {
    if from == to {
        return Some(1.0);
    }
    let (one, other) = (of(from), of(to));
    if one.per != other.per {
        return None;
    }
    if one.base == other.base {
        return Some(one.factor / other.factor);
    }
    if one.is_known || other.is_known {
        return None;
    }
    // Of a word that is no unit of ours a prefix is only known beside the same word without it, or with another.
    let all = |base: &str| {
        let with = PREFIXES.iter().filter_map(|(name, factor)| Some((base.strip_prefix(name)?.to_owned(), *factor)));
        with.chain([(base.to_owned(), 1.0)]).filter(|(rest, _)| rest.chars().count() > 1).collect::<Vec<_>>()
    };
    let others = all(&other.base);
    let pairs = all(&one.base).into_iter().flat_map(|one| others.iter().map(move |other| (one.clone(), other)));
    let same = pairs.filter(|((one, _), (other, _))| one == other).map(|((_, one), (_, other))| one / other).next()?;
    Some(same * one.factor / other.factor)
}

/// The smallest unit of what a unit counts, and how many of these it is: 10⁶ `B/s` for `MB/s`. `None` of a word that no unit of ours is.
#[must_use]
pub fn smallest(word: &str) -> Option<(f64, String)> {
    let Measure { base, per, factor, is_known } = of(word);
    let symbol = per.map_or(base.clone(), |per| format!("{base}/{per}"));
    is_known.then_some((factor, symbol))
}

/// Whether both words are units of what cannot be the same, such as a time and bytes per second.
#[must_use]
pub fn contradict(one: &str, other: &str) -> bool {
    let (first, second) = (of(one), of(other));
    let is_rate = |measure: &Measure| measure.per.as_deref() == Some("s");
    let are_known = first.is_known && second.is_known;
    // A unit per time and one of time itself cannot be the same either.
    let differ_in_time = (is_rate(&first) && second.base == "s" && second.per.is_none())
        || (is_rate(&second) && first.base == "s" && first.per.is_none());
    factor(one, other).is_none() && (are_known || differ_in_time)
}

fn of(word: &str) -> Measure {
    let (counted, per) = match word.split_once('/') {
        Some((counted, per)) => (counted, Some(per)),
        // Mbps, MBps.
        None => match word.strip_suffix("ps").filter(|rest| matches!(rest.chars().last(), Some('b' | 'B'))) {
            Some(counted) => (counted, Some("s")),
            None => (word, None),
        },
    };
    let (per_factor, per) = match per.map(|per| (time(per), per)) {
        Some((Some(seconds), _)) => (seconds, Some("s".to_owned())),
        Some((None, per)) => (1.0, Some(per.to_lowercase())),
        None => (1.0, None),
    };
    let known = |base: &str, factor: f64| Measure {
        base: base.to_owned(),
        per: per.clone(),
        factor: factor / per_factor,
        is_known: true,
    };
    if let Some(seconds) = time(counted) {
        return known("s", seconds);
    }
    for (base, names) in
        [("B", &["B", "byte", "bytes", "Byte", "Bytes"][..]), ("bit", &["b", "bit", "bits", "Bit", "Bits"])]
    {
        let prefixes = PREFIXES.iter().filter(|(name, _)| ALONE.contains(name)).copied().chain([("", 1.0)]);
        for (prefix, factor) in prefixes {
            if counted.strip_prefix(prefix).is_some_and(|rest| names.contains(&rest)) {
                return known(base, factor);
            }
        }
    }
    Measure { base: counted.to_owned(), per, factor: 1.0 / per_factor, is_known: false }
}

fn time(word: &str) -> Option<f64> {
    let small = word.to_lowercase();
    // Ms is no millisecond.
    let is_mega = word.starts_with('M') && small.len() == 2;
    let found = TIMES.iter().find(|(names, _)| names.contains(&&*small) && !is_mega);
    found.map(|(_, seconds)| *seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_the_same_are_converted() {
        for (from, to, expected) in [
            ("ms", "s", 1e-3),
            ("min", "sec", 60.0),
            ("GB/s", "MB/s", 1e3),
            ("MiB/s", "MB/s", 1.048576),
            ("MB/min", "MB/s", 1.0 / 60.0),
            ("Gbps", "Mbit/s", 1e3),
            ("kB", "bytes", 1e3),
            ("Mop/s", "op/s", 1e6),
            ("Gop/s", "Mop/s", 1e3),
            ("req/min", "req/s", 1.0 / 60.0),
            ("ktok/s", "tok/s", 1e3),
            ("us/op", "ns/op", 1e3),
            ("points", "points", 1.0),
        ] {
            let found = factor(from, to).unwrap_or_else(|| panic!("{from} {to}"));
            assert!((found / expected - 1.0).abs() < 1e-12, "{from} {to}: {found}");
        }
    }

    #[test]
    fn units_of_something_else_are_not() {
        for (one, other) in [("ms", "MB/s"), ("MB", "MB/s"), ("Mbit/s", "MB/s"), ("s", "op/s"), ("ns/op", "ms")] {
            assert!(factor(one, other).is_none() && contradict(one, other) && contradict(other, one), "{one} {other}");
        }
        // What only people know to be the same is left to them.
        for (one, other) in [("tokens/s", "tok/s"), ("points", "s"), ("ops", "op/s"), ("iterations", "units")] {
            assert!(factor(one, other).is_none() && !contradict(one, other), "{one} {other}");
        }
    }

    #[test]
    fn words_that_are_units() {
        for word in ["s", "ms", "µs", "GB/s", "KiB", "Mbps", "op/s", "tok/s", "ns/op", "H/s", "bytes", "min"] {
            assert!(is_unit(word), "{word}");
        }
        for word in ["errors", "of", "M", "m", "in", "x", "1/2", "and/", "Ms"] {
            assert!(!is_unit(word), "{word}");
        }
        assert_eq!([prefix("k"), prefix("Mi"), prefix("m"), prefix("ks")], [Some(1e3), Some(1_048_576.0), None, None]);
    }
}
