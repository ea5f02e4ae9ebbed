//! What an axis counts, and how its numbers are said.

use charz_data::report::Unit;
use charz_data::units;

#[derive(Clone, Debug, PartialEq)]
pub enum Quantity {
    /// A whole number of things: workers, strands.
    Count,
    /// Bytes of memory, in binary prefixes.
    Bytes,
    /// A cell's number in its unit.
    Value(Unit),
    Nanos,
    /// A fraction, said as a percentage.
    Share,
    /// A number without a unit.
    Plain,
    /// Seconds since 1970-01-01 00:00 UTC, said as a date.
    Date,
    /// Names, by their place from 0.
    Names(Vec<String>),
}

impl Quantity {
    /// The number as people read it, with its unit: `12.3 GB/s`, `48 KiB`, `4.2%`.
    pub fn shown(&self, number: f64) -> String {
        match self {
            // Beyond 2⁶⁴ the cast stays at the end.
            Quantity::Count => units::count(number.max(0.0).round() as u64),
            Quantity::Bytes => units::iec(number.max(0.0).round() as u64),
            Quantity::Value(unit) => units::value(number, *unit),
            Quantity::Nanos => units::nanos(number),
            Quantity::Share => units::percent(number),
            Quantity::Plain => units::count_of(number),
            Quantity::Date => date(number),
            Quantity::Names(names) => names.get(number.max(0.0).round() as usize).cloned().unwrap_or_default(),
        }
    }
}

/// `2026-01-31`, UTC; nothing for what is no date of this era.
fn date(seconds: f64) -> String {
    rfc3339(seconds).chars().take(10).collect()
}

/// `01-31 14:00`, UTC.
pub(super) fn minute(seconds: f64) -> String {
    rfc3339(seconds).get(5..16).unwrap_or_default().replace('T', " ")
}

/// `14:00:15`, UTC.
pub(super) fn second(seconds: f64) -> String {
    rfc3339(seconds).get(11..19).unwrap_or_default().to_owned()
}

/// The first days of every so many months between two dates.
pub(super) fn months(low: f64, high: f64, every: usize) -> Vec<f64> {
    let year = |seconds| rfc3339(seconds).get(..4)?.parse::<usize>().ok();
    let (Some(first), Some(last)) = (year(low.max(0.0)), year(high)) else { return Vec::new() };
    let months = (first * 12..(last + 1) * 12).filter(|month| month % every == 0);
    let begin = |month: usize| {
        let day = format!("{:04}-{:02}-01T00:00:00Z", month / 12, month % 12 + 1);
        humantime::parse_rfc3339(&day).ok()?.duration_since(std::time::UNIX_EPOCH).ok()
    };
    months.filter_map(begin).map(|begin| begin.as_secs_f64()).collect()
}

fn rfc3339(seconds: f64) -> String {
    /// The end of the year 9999, beyond which there is no form for a date.
    const LAST: f64 = 253_402_300_799.0;
    if !(0.0..=LAST).contains(&seconds) {
        return String::new();
    }
    let moment = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds as u64);
    humantime::format_rfc3339_seconds(moment).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_quantity_has_its_own_words() {
        let names = Quantity::Names(vec!["one".into(), "two".into()]);
        for (quantity, number, expected) in [
            (&Quantity::Count, 1536.0, "1,536"),
            (&Quantity::Bytes, 49152.0, "48 KiB"),
            (&Quantity::Value(Unit::BytesPerSecond), 12.3e9, "12.3 GB/s"),
            (&Quantity::Nanos, 1.08, "1.08 ns"),
            (&Quantity::Share, 0.042, "4.2%"),
            (&Quantity::Date, 1_769_817_600.0, "2026-01-31"),
            (&Quantity::Date, f64::NAN, ""),
            (&names, 1.0, "two"),
            (&names, 7.0, ""),
        ] {
            assert_eq!(quantity.shown(number), expected);
        }
    }
}
