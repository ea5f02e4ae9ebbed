//! Sizes and times as they are typed, and back without loss.

const SIZES: [(&str, u64); 5] = [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)];
const SHORT_SIZES: [(&str, u64); 4] = [("K", 1 << 10), ("M", 1 << 20), ("G", 1 << 30), ("T", 1 << 40)];
const DECIMAL_SIZES: [(&str, u64); 4] =
    [("KB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000), ("TB", 1_000_000_000_000)];
const TIMES: [(&str, u64); 7] = [
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("µs", 1_000),
    ("ns", 1),
];

/// The bytes of `256MiB`, `256M`, `1.5 GiB` or `64B`, rounded down. Case does not matter; a letter alone is a power of 1024.
///
/// # Errors
/// A clause that says why `text` is no size.
pub fn bytes(text: &str) -> Result<u64, String> {
    let (number, unit) = split(text).ok_or_else(|| format!("{text:?} is not a size"))?;
    if unit.is_empty() {
        return Err(format!("{text:?} has no unit (B, KiB, MiB, GiB, KB, MB, GB; K, M, G are KiB, MiB, GiB)"));
    }
    let scale =
        SIZES.iter().chain(&SHORT_SIZES).chain(&DECIMAL_SIZES).find(|(name, _)| unit.eq_ignore_ascii_case(name));
    let (_, scale) = scale.ok_or_else(|| format!("{text:?} is not a size"))?;
    scaled(number, *scale).ok_or_else(|| format!("{text:?} is more bytes than can be counted"))
}

/// The nanoseconds of `20ms`, `1.5s` or `1h 30m`.
///
/// # Errors
/// A clause that says why `text` is no time.
pub fn nanos(text: &str) -> Result<u64, String> {
    let wrong = || format!("{text:?} is not a time with a unit (ns, us, ms, s, m, h)");
    let (mut rest, mut sum) = (text.trim(), 0_u64);
    loop {
        let (number, after) = split(rest).ok_or_else(wrong)?;
        let (unit, next) = after.split_at(after.find(|c: char| c.is_ascii_digit() || c == ' ').unwrap_or(after.len()));
        let (_, scale) = TIMES.iter().find(|(name, _)| *name == unit).ok_or_else(wrong)?;
        let part = scaled(number, *scale).and_then(|part| sum.checked_add(part));
        sum = part.ok_or_else(|| format!("{text:?} is longer than 500 years"))?;
        rest = next.trim_start();
        if rest.is_empty() {
            return Ok(sum);
        }
    }
}

/// The shortest text that [`bytes`] reads as this number: `48 KiB`, `100 B`.
pub fn show_bytes(bytes: u64) -> String {
    let (unit, scale) =
        SIZES.into_iter().find(|(_, scale)| bytes >= *scale && bytes.is_multiple_of(*scale)).unwrap_or(("B", 1));
    format!("{} {unit}", bytes / scale)
}

/// The shortest text of one unit that [`nanos`] reads as this number: `20 ms`.
pub fn show_nanos(nanos: u64) -> String {
    let units = TIMES.into_iter().filter(|(unit, _)| !["h", "m", "us"].contains(unit));
    let (unit, scale) =
        units.into_iter().find(|(_, scale)| nanos >= *scale && nanos.is_multiple_of(*scale)).unwrap_or(("ns", 1));
    format!("{} {unit}", nanos / scale)
}

/// A number of digits with at most one point, and what follows it.
fn split(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    let is_number = number.starts_with(|c: char| c.is_ascii_digit()) && number.matches('.').count() <= 1;
    is_number.then(|| (number, rest.trim_start()))
}

/// A number of digits times `scale`, rounded down.
fn scaled(number: &str, scale: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let whole = whole.parse::<u64>().ok()?.checked_mul(scale)?;
    // 18 digits of a fraction times any scale fit 128 bits; more make no difference to any unit.
    let digits = &fraction[..fraction.len().min(18)];
    let part = digits.parse::<u128>().unwrap_or(0) * u128::from(scale) / 10_u128.pow(digits.len() as u32);
    whole.checked_add(u64::try_from(part).ok()?)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_shown_is_read(number: u64) {
            prop_assert_eq!(bytes(&show_bytes(number)), Ok(number));
            prop_assert_eq!(nanos(&show_nanos(number)), Ok(number));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[0-9.]{0,25} ?[a-zA-Zµ]{0,3}[0-9 ]{0,3}[a-z]{0,2}") {
            let _ = (bytes(&text), nanos(&text));
        }
    }

    #[test]
    fn sizes() {
        let sizes = [
            ("256MiB", 256 << 20),
            ("8M", 8 << 20),
            ("8k", 8 << 10),
            ("1GB", 1_000_000_000),
            ("1.5 GiB", 3 << 29),
            ("64B", 64),
            ("0KiB", 0),
        ];
        for (text, expected) in sizes {
            assert_eq!(bytes(text), Ok(expected));
        }
        for text in
            ["", "256", "10XB", "-1MiB", "inf", "1e3MiB", "1..5GiB", "99999999999999999999GiB", "17179869184GiB"]
        {
            assert!(bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn times() {
        let minute = 60_000_000_000;
        for (text, expected) in [
            ("20ms", 20_000_000),
            ("1h 30m", 90 * minute),
            ("1m30s", 90 * minute / 60),
            ("1.5 s", 1_500_000_000),
            ("0s", 0),
        ] {
            assert_eq!(nanos(text), Ok(expected));
        }
        for text in ["", " ", "5", "-1s", "1e400s", "soon", "1s x", "99999999999h"] {
            assert!(nanos(text).is_err(), "{text}");
        }
    }
}
