//! What of the machine must stay as it is while a cell is measured.

use charz_data::cpulist;
use charz_data::report::Evidence;
use charz_system::file::{self, word};
use charz_system::{Status, cgroup};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint(Vec<(&'static str, Option<String>)>);

impl Fingerprint {
    /// Reads the settings; about 200 µs.
    pub fn read() -> Self {
        let status = Status::of_process();
        let quotas: Vec<String> = cgroup::groups("cpu").iter().filter_map(|group| word(group.quota_file())).collect();
        Fingerprint(vec![
            (Evidence::ONLINE_STRANDS, word(file::ONLINE_CPUS)),
            // The masks of the process's first thread, which is never bound.
            (Evidence::ALLOWED_STRANDS, status.cpus().ok().map(|cpus| cpulist::print(&cpus))),
            ("allowed nodes", status.nodes().ok().map(|nodes| cpulist::print(&nodes))),
            ("CPU quota", (!quotas.is_empty()).then(|| quotas.join(" "))),
            ("frequency governor", word("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")),
            ("turbo", word("/sys/devices/system/cpu/cpufreq/boost")),
            (Evidence::CLOCK_SOURCE, word(file::CLOCK_SOURCE)),
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
