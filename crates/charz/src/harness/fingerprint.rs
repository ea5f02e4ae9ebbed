//! What of the machine must stay as it is while a cell is measured.

use std::fs;
use std::path::Path;

use charz_data::report::Evidence;
use charz_topology::cgroup;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint(Vec<(&'static str, Option<String>)>);

impl Fingerprint {
    /// Reads the settings; about 200 µs.
    pub fn read() -> Self {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let quota = |file: &str| {
            let groups = cgroup::groups("cpu").into_iter();
            let found: Vec<String> = groups.filter_map(|group| word(group.folder.join(file))).collect();
            (!found.is_empty()).then(|| found.join(" "))
        };
        Fingerprint(vec![
            (Evidence::ONLINE_STRANDS, word("/sys/devices/system/cpu/online")),
            (Evidence::ALLOWED_STRANDS, line(&status, "Cpus_allowed_list:")),
            ("allowed nodes", line(&status, "Mems_allowed_list:")),
            ("CPU quota", quota("cpu.cfs_quota_us").or_else(|| quota("cpu.max"))),
            ("frequency governor", word("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")),
            ("turbo", word("/sys/devices/system/cpu/cpufreq/boost")),
            (Evidence::CLOCK_SOURCE, word("/sys/devices/system/clocksource/clocksource0/current_clocksource")),
            ("transparent huge pages", word("/sys/kernel/mm/transparent_hugepage/enabled")),
            ("NUMA balancing", word("/proc/sys/kernel/numa_balancing")),
        ])
    }

    pub fn changes(&self, later: &Self) -> Vec<String> {
        let pairs = self.0.iter().zip(&later.0).filter(|(before, after)| before != after);
        let word = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".into());
        pairs.map(|(before, after)| format!("{}: {} became {}", before.0, word(&before.1), word(&after.1))).collect()
    }
}

/// A line of `/proc/self/status`, which speaks of the process's first thread; that one is never bound.
fn line(status: &str, name: &str) -> Option<String> {
    status.lines().find_map(|line| line.strip_prefix(name)).map(|value| value.trim().to_owned())
}

pub fn word(path: impl AsRef<Path>) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changed_is_named_with_both_values() {
        let before = Fingerprint(vec![("allowed strands", Some("0-1".into())), ("turbo", None)]);
        let after = Fingerprint(vec![("allowed strands", Some("0".into())), ("turbo", None)]);
        assert_eq!(before.changes(&after), ["allowed strands: 0-1 became 0"]);
        assert_eq!(before.changes(&before), [""; 0]);
    }

    #[test]
    fn this_machine_has_values_and_stays_the_same() {
        let now = Fingerprint::read();
        assert!(now.0.iter().any(|(_, value)| value.is_some()));
        assert_eq!(now.changes(&Fingerprint::read()), [""; 0]);
    }
}
