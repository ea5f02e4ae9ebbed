//! The documents' units, and what turns a number of charz into them.

use super::take::Kind;

/// A unit that a document has its values in.
struct Known {
    name: &'static str,
    kind: Kind,
    scale: Scale,
}

enum Scale {
    /// So many base units are one of these.
    Of(f64),
    /// A cycle, or so many.
    Cycles(f64),
    /// One in each cycle.
    PerCycle,
}

const fn of(name: &'static str, kind: Kind, base: f64) -> Known {
    Known { name, kind, scale: Scale::Of(base) }
}

/// Every unit that something is measured in. GB is 10⁹ bytes wherever a document does not say otherwise.
const UNITS: [Known; 17] = [
    of("GB/s", Kind::Bytes, 1e9),
    of("GIAOPS", Kind::Rate, 1e9),
    of("GFLOPS", Kind::Rate, 1e9),
    of("Mop/s", Kind::Rate, 1e6),
    Known { name: "words/cycle", kind: Kind::Rate, scale: Scale::PerCycle },
    of("ns", Kind::Nanos, 1.0),
    of("µs", Kind::Nanos, 1e3),
    of("ms", Kind::Nanos, 1e6),
    of("s", Kind::Nanos, 1e9),
    Known { name: "cycles", kind: Kind::Nanos, scale: Scale::Cycles(1.0) },
    Known { name: "Kcycles", kind: Kind::Nanos, scale: Scale::Cycles(1e3) },
    of("ms/GiB", Kind::MillisPerGib, 1.0),
    of("s for 512 GiB", Kind::MillisPerGib, 1e3 / 512.0),
    of("%", Kind::Fraction, 0.01),
    of("share", Kind::Fraction, 1.0),
    of("times", Kind::Number, 1.0),
    of("spins", Kind::Number, 1.0),
];

/// What one of the base units of a kind is in this unit.
///
/// # Errors
/// Why it cannot be told, as a clause.
pub(super) fn factor(name: &str, kind: Kind, hz: Option<f64>) -> Result<f64, String> {
    let hertz = || hz.ok_or("the clock is not known, and with it no number of cycles");
    let unit = UNITS.iter().find(|unit| unit.name == name && unit.kind == kind);
    Ok(match unit.ok_or_else(|| format!("there is no way to {name}"))?.scale {
        Scale::Of(base) => 1.0 / base,
        Scale::Cycles(cycles) => hertz()? / 1e9 / cycles,
        Scale::PerCycle => 1.0 / hertz()?,
    })
}

/// Whether numbers in this unit are shares, between which a ratio says nothing.
pub(super) fn is_share(name: &str) -> bool {
    UNITS.iter().any(|unit| unit.name == name && unit.kind == Kind::Fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(number: f64, kind: Kind, name: &str, hz: Option<f64>, expected: Result<f64, &str>) {
        match (factor(name, kind, hz), expected) {
            (Ok(factor), Ok(expected)) => assert!((number * factor / expected - 1.0).abs() < 1e-12, "{name}"),
            (Err(found), Err(word)) => assert!(found.contains(word), "{found}"),
            (found, _) => panic!("{name}: {found:?}"),
        }
    }

    #[test]
    fn units_of_the_documents() {
        check(29e9, Kind::Bytes, "GB/s", None, Ok(29.0));
        check(259.0, Kind::Nanos, "cycles", Some(1.67e9), Ok(432.53));
        check(82_635.0, Kind::Nanos, "Kcycles", Some(1.67e9), Ok(138.000_45));
        check(2e9, Kind::Rate, "words/cycle", Some(4e9), Ok(0.5));
        check(64.0, Kind::MillisPerGib, "s for 512 GiB", None, Ok(32.768));
        check(0.7, Kind::Fraction, "%", None, Ok(70.0));
        check(1.0, Kind::Nanos, "cycles", None, Err("clock is not known"));
        check(1.0, Kind::Nanos, "GB/s", None, Err("no way"));
    }
}
