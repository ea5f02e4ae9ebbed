//! Numbers for people. Every unit string of the program is here: rates are decimal (G = 10⁹), memory sizes binary
//! (Mi = 2²⁰).

use std::time::Duration;

use crate::report::Unit;

/// A memory size with a binary prefix, exact where it is a whole number of a prefix: `256 MiB`, `1.5 GiB`.
pub fn iec(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let power = (bytes.max(1).ilog2() / 10).min(UNITS.len() as u32 - 1);
    format!("{} {}", short(bytes as f64 / (1_u64 << (10 * power)) as f64), UNITS[power as usize])
}

/// A rate, or a time, with its unit: `12.3 GB/s`, `1.80 Gop/s`, `450 ns`.
pub fn value(value: f64, unit: Unit) -> String {
    match unit {
        Unit::OpsPerSecond | Unit::BytesPerSecond => si(value, unit.symbol()),
        Unit::MillisecondsPerGib => format!("{} ms/GiB", three_digits(value)),
        Unit::Nanoseconds | Unit::NanosecondsPerOp | Unit::NanosecondsPerStep | Unit::NanosecondsSampled => {
            nanos(value)
        }
        Unit::Reported(_) => reported(value, unit.symbol()),
    }
}

/// A number of a user's program. Base units get a prefix; others, such as `MB/s`, may have one already.
fn reported(value: f64, symbol: &str) -> String {
    match symbol {
        "s" => nanos(value * 1e9),
        "op/s" | "B/s" => si(value, symbol),
        _ if !(0.01..1e6).contains(&value) => format!("{value:.2e} {symbol}"),
        _ if value >= 1000.0 => format!("{} {symbol}", count(value.round() as u64)),
        _ => format!("{} {symbol}", ratio(value)),
    }
}

/// By what numbers of a unit are divided to be short in a table, and the name of the unit that they have then.
pub fn billions(unit: Unit) -> (f64, &'static str) {
    match unit {
        Unit::OpsPerSecond => (1e9, "Gop/s"),
        Unit::BytesPerSecond => (1e9, "GB/s"),
        _ => (1.0, unit.symbol()),
    }
}

/// The suffix of a noisy number, `~`; else empty. The only marker of doubt that outputs have.
pub fn doubt(doubtful: bool) -> &'static str {
    if doubtful { "~" } else { "" }
}

/// A duration given in nanoseconds: `450 ns`, `12.3 µs`, `1.20 s`.
pub fn nanos(nanos: f64) -> String {
    scaled(nanos, "", &[(1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s")])
}

/// `520 pJ`.
pub fn joules(joules: f64) -> String {
    scaled(joules, "", &[(1e-12, "pJ"), (1e-9, "nJ"), (1e-6, "µJ"), (1e-3, "mJ"), (1.0, "J")])
}

/// `87.5 W`.
pub fn watts(watts: f64) -> String {
    format!("{} W", three_digits(watts))
}

/// A duration as people say it: `45 s`, `1 min 05 s`.
pub fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0 => nanos(duration.as_nanos() as f64),
        1..60 => format!("{} s", three_digits(duration.as_secs_f64())),
        60..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// What to give as a budget of at least so much: `40s`, `3m`.
pub fn budget(seconds: f64) -> String {
    if seconds < 100.0 { format!("{:.0}s", seconds.ceil()) } else { format!("{:.0}m", (seconds / 60.0).ceil()) }
}

/// A whole number with its thousands apart: `100,000,000`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let pieces: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    pieces.join(",")
}

/// A number of things that need not be whole, in three digits: `850`, `12.3 k`.
pub fn count_of(number: f64) -> String {
    si(number, "").trim_end().to_owned()
}

/// A frequency: `3.69 GHz`.
pub fn hertz(hertz: f64) -> String {
    si(hertz, "Hz")
}

/// A fraction as a percentage: `4.2%`.
pub fn percent(fraction: f64) -> String {
    // What is rounded to nothing has no sign.
    format!("{:.1}%", fraction * 100.0).replace("-0.0%", "0.0%")
}

/// A range of fractions as percentages: `2.1 to 4.4%`.
pub fn percent_range(low: f64, high: f64) -> String {
    format!("{} to {}", percent(low).trim_end_matches('%'), percent(high))
}

/// How many times as much: `1.31`, `12.3`, `250`, and below 0.1 in three digits too: `0.00412`.
pub fn ratio(ratio: f64) -> String {
    match ratio.abs() {
        r if r < 1e-4 && r > 0.0 => format!("{ratio:.2e}"),
        r if r < 0.0995 && r > 0.0 => format!("{ratio:.*}", (2.0 - r.log10().floor()) as usize),
        _ => three_digits(ratio),
    }
}

fn si(value: f64, unit: &str) -> String {
    scaled(value, unit, &[(1.0, ""), (1e3, "k"), (1e6, "M"), (1e9, "G"), (1e12, "T")])
}

/// By the first of these prefixes that leaves fewer than four digits, after rounding: 999.7 M is 1.00 G.
fn scaled(value: f64, unit: &str, prefixes: &[(f64, &str)]) -> String {
    let is_short = |(scale, _): &&(f64, &str)| (value / scale).abs() < 999.5;
    let (scale, prefix) = prefixes.iter().find(is_short).unwrap_or(&prefixes[prefixes.len() - 1]);
    let number = if prefix.is_empty() { ratio(value) } else { three_digits(value / scale) };
    format!("{number} {prefix}{unit}")
}

/// Three significant digits for numbers under 1000.
fn three_digits(value: f64) -> String {
    match value.abs() {
        v if v < 9.995 => format!("{value:.2}"),
        v if v < 99.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// Without a fraction where there is none.
fn short(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { three_digits(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_binary() {
        for (bytes, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1 KiB"),
            (256 << 20, "256 MiB"),
            (3 << 29, "1.50 GiB"),
            (1 << 50, "1024 TiB"),
        ] {
            assert_eq!(iec(bytes), text);
        }
    }

    #[test]
    fn rates_are_decimal_with_three_digits() {
        assert_eq!(value(12_345_678_901.0, Unit::BytesPerSecond), "12.3 GB/s");
        assert_eq!(value(1.8e9, Unit::OpsPerSecond), "1.80 Gop/s");
        assert_eq!(value(999.0, Unit::OpsPerSecond), "999 op/s");
        assert_eq!(value(1234.0, Unit::Nanoseconds), "1.23 µs");
        for (number, text) in
            [(999.7e6, "1.00 Gop/s"), (9.996e9, "10.0 Gop/s"), (99.96, "100 op/s"), (999.4, "999 op/s")]
        {
            assert_eq!(value(number, Unit::OpsPerSecond), text);
        }
    }

    #[test]
    fn what_is_rounded_to_nothing_has_no_sign() {
        assert_eq!([0.042, -2e-4, -0.1, -1.0].map(percent), ["4.2%", "0.0%", "-10.0%", "-100.0%"]);
        assert_eq!(percent_range(-4e-4, 0.044), "0.0 to 4.4%");
    }

    #[test]
    fn ratios_keep_their_digits() {
        for (number, text) in
            [(0.0, "0.00"), (3.2e-7, "3.20e-7"), (0.004, "0.00400"), (0.0412, "0.0412"), (0.9, "0.90"), (250.3, "250")]
        {
            assert_eq!(ratio(number), text);
        }
    }

    #[test]
    fn numbers_of_programs_keep_their_unit() {
        use crate::{Better, ReportedUnit};
        let unit = |symbol: &str| Unit::Reported(ReportedUnit::new(symbol, Better::Higher).unwrap());
        for (number, symbol, text) in [
            (12_345.0, "MB/s", "12,345 MB/s"),
            (0.0125, "MB/s", "0.0125 MB/s"),
            (0.0033, "op/s", "0.00330 op/s"),
            (12.34, "tok/s", "12.3 tok/s"),
            (3.76e9, "cells/s", "3.76e9 cells/s"),
            (0.00123, "%", "1.23e-3 %"),
            (1.23e7, "op/s", "12.3 Mop/s"),
            (0.0123, "s", "12.3 ms"),
        ] {
            assert_eq!(value(number, unit(symbol)), text);
        }
    }

    #[test]
    fn thousands_stand_apart() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (100_000_000, "100,000,000")] {
            assert_eq!(count(number), text);
        }
    }

    #[test]
    fn durations_read_aloud() {
        assert_eq!(duration(Duration::from_millis(20)), "20.0 ms");
        assert_eq!(duration(Duration::from_secs(45)), "45.0 s");
        assert_eq!(duration(Duration::from_secs(65)), "1 min 05 s");
        assert_eq!(duration(Duration::from_secs(3720)), "1 h 02 min");
    }
}
