//! `/proc/pressure/*`, pressure stall information: `some avg10=0.00 avg60=0.00 avg300=0.00 total=123` (kernel documentation,
//! `accounting/psi`).

fn some<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let line = text.lines().find_map(|line| line.strip_prefix("some "))?;
    line.split_whitespace().find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
}

/// The nanoseconds since the system started in which some task waited; the kernel counts in microseconds.
#[must_use]
pub fn waited_ns(text: &str) -> Option<u64> {
    some(text, "total")?.parse::<u64>().ok()?.checked_mul(1000)
}

/// The share of the last 10 s in which some task waited, from 0 to 1; the kernel writes percent.
#[must_use]
pub fn recent(text: &str) -> Option<f64> {
    let percent: f64 = some(text, "avg10")?.parse().ok()?;
    (0.0..=100.0).contains(&percent).then_some(percent / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_of_some_tasks_count() {
        let text = "some avg10=2.50 avg60=0.00 avg300=0.00 total=12\nfull avg10=1.00 avg60=0.00 avg300=0.00 total=5\n";
        assert_eq!((waited_ns(text), recent(text)), (Some(12_000), Some(0.025)));
        assert_eq!((waited_ns("full avg10=1 total=5\n"), recent("some avg10=101\n")), (None, None));
    }
}
