//! `/proc/meminfo`.

/// The file.
pub const FILE: &str = "/proc/meminfo";

/// The text of the file; empty where there is none.
pub fn read() -> String {
    std::fs::read_to_string(FILE).unwrap_or_default()
}

/// A line in bytes, e.g. of `MemTotal`; the file counts in KiB, which it calls kB. Lines that count something else are not read.
pub fn bytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}
