//! The units of the documents.

use super::statistic::Kind;

enum Scale {
    /// How many base units are one of these.
    Base(f64),
    /// How many cycles are one of these.
    Cycles(f64),
    /// One of these is one base unit per cycle.
    PerCycle,
}

/// GB is 10⁹ bytes wherever a document does not define it.
const UNITS: [(&str, Kind, Scale); 17] = [
    ("GB/s", Kind::BytesPerSecond, Scale::Base(1e9)),
    ("GIAOPS", Kind::PerSecond, Scale::Base(1e9)),
    ("GFLOPS", Kind::PerSecond, Scale::Base(1e9)),
    ("Mop/s", Kind::PerSecond, Scale::Base(1e6)),
    ("words/cycle", Kind::PerSecond, Scale::PerCycle),
    ("ns", Kind::Nanoseconds, Scale::Base(1.0)),
    ("µs", Kind::Nanoseconds, Scale::Base(1e3)),
    ("ms", Kind::Nanoseconds, Scale::Base(1e6)),
    ("s", Kind::Nanoseconds, Scale::Base(1e9)),
    ("cycles", Kind::Nanoseconds, Scale::Cycles(1.0)),
    ("Kcycles", Kind::Nanoseconds, Scale::Cycles(1e3)),
    ("ms/GiB", Kind::MillisecondsPerGib, Scale::Base(1.0)),
    ("s for 512 GiB", Kind::MillisecondsPerGib, Scale::Base(1e3 / 512.0)),
    ("%", Kind::Fraction, Scale::Base(0.01)),
    ("share", Kind::Fraction, Scale::Base(1.0)),
    ("times", Kind::Number, Scale::Base(1.0)),
    ("spins", Kind::Number, Scale::Base(1.0)),
];

/// What turns numbers of a kind into this unit; why nothing does, as a clause.
pub(super) fn factor(name: &str, kind: Kind, hz: Option<f64>) -> Result<f64, String> {
    let hertz = || hz.ok_or("the clock is not known, so there is no number of cycles");
    let unit = UNITS.iter().find(|unit| unit.0 == name && unit.1 == kind);
    Ok(match unit.ok_or_else(|| format!("the number cannot be converted to {name}"))?.2 {
        Scale::Base(base) => 1.0 / base,
        Scale::Cycles(cycles) => hertz()? / 1e9 / cycles,
        Scale::PerCycle => 1.0 / hertz()?,
    })
}

/// Whether numbers in this unit are shares, whose ratio means nothing.
pub(super) fn is_share(name: &str) -> bool {
    UNITS.iter().any(|unit| unit.0 == name && unit.1 == Kind::Fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(number: f64, kind: Kind, name: &str, hz: Option<f64>, expected: Option<f64>) {
        match (factor(name, kind, hz), expected) {
            (Ok(factor), Some(expected)) => assert!((number * factor / expected - 1.0).abs() < 1e-12, "{name}"),
            (found, expected) => assert!(found.is_err() && expected.is_none(), "{name}: {found:?}"),
        }
    }

    #[test]
    fn units_of_the_documents() {
        check(29e9, Kind::BytesPerSecond, "GB/s", None, Some(29.0));
        check(259.0, Kind::Nanoseconds, "cycles", Some(1.67e9), Some(432.53));
        check(82_635.0, Kind::Nanoseconds, "Kcycles", Some(1.67e9), Some(138.000_45));
        check(2e9, Kind::PerSecond, "words/cycle", Some(4e9), Some(0.5));
        check(64.0, Kind::MillisecondsPerGib, "s for 512 GiB", None, Some(32.768));
        check(0.7, Kind::Fraction, "%", None, Some(70.0));
        check(1.0, Kind::Nanoseconds, "cycles", None, None);
        check(1.0, Kind::Nanoseconds, "GB/s", None, None);
    }
}
