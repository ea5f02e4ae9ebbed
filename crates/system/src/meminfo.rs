//! `/proc/meminfo`.

/// The file.
pub const FILE: &str = "/proc/meminfo";

/// The text of the file; empty where there is none.
#[must_use]
pub fn read() -> String {
    std::fs::read_to_string(FILE).unwrap_or_default()
}

/// A line in bytes, e.g. of `MemTotal`; the file counts in KiB, which it calls kB. Lines that count something else are not read.
#[must_use]
pub fn bytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn lines_count_in_kib() {
        let text = "MemTotal:       24684084 kB\nMemAvailable:   1024 kB\nHugePages_Total:       0\n";
        assert_eq!(bytes(text, "MemAvailable"), Some(1 << 20));
        assert_eq!(bytes(text, "MemFree"), None);
        assert_eq!(bytes(text, "HugePages_Total"), None);
        assert_eq!(bytes("MemTotal: 18446744073709551615 kB\n", "MemTotal"), None);
    }
}
