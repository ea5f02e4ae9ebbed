//! Moments as reports name them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The end of the year 9999, beyond which RFC 3339 has no form for a moment.
const LAST: u64 = 253_402_300_799;

/// `2026-01-31T12:00:00Z`: the second in which the moment lies. Of a clock before 1970 or after 9999, which the formatter panics on, the
/// nearest that has this form.
pub fn rfc3339(moment: SystemTime) -> String {
    let seconds = moment.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs().min(LAST));
    humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_secs(seconds)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_far_off_has_the_nearest_moment() {
        let far = Duration::from_secs(1 << 40);
        assert_eq!(rfc3339(UNIX_EPOCH - far), "1970-01-01T00:00:00Z");
        assert_eq!(rfc3339(UNIX_EPOCH + Duration::from_millis(1_769_860_800_999)), "2026-01-31T12:00:00Z");
        assert_eq!(rfc3339(UNIX_EPOCH + far), "9999-12-31T23:59:59Z");
    }
}
