//! `/proc/pressure/*`, pressure stall information: `some avg10=0.00 avg60=0.00 avg300=0.00 total=123` (kernel documentation,
//! `accounting/psi`).

fn some<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let line = text.lines().find_map(|line| line.strip_prefix("some "))?;
    line.split_whitespace().find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
}

/// The nanoseconds since the system started in which some task waited; the kernel counts in microseconds.
pub fn waited_ns(text: &str) -> Option<u64> {
    some(text, "total")?.parse::<u64>().ok()?.checked_mul(1000)
}

/// The share of the last 10 s in which some task waited, from 0 to 1; the kernel writes percent.
pub fn recent(text: &str) -> Option<f64> {
    let percent: f64 = some(text, "avg10")?.parse().ok()?;
    (0.0..=100.0).contains(&percent).then_some(percent / 100.0)
}
