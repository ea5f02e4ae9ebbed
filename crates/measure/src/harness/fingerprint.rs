//! What of the machine must stay as it is while a cell is measured.

use std::collections::{BTreeMap, BTreeSet};

use charz_data::cpulist;
use charz_data::report::Evidence;
use charz_system::file::{self, word};
use charz_system::{Status, cgroup};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fingerprint(pub(crate) Vec<(&'static str, Option<String>)>);

impl Fingerprint {
    /// Reads the settings, of CPUs those of these seats; about 200 µs, and 10 µs more for each seat.
    pub fn read(seats: &[Option<u32>]) -> Self {
        Self::of(seats, |path| word(path))
    }

    fn of(seats: &[Option<u32>], word: impl Fn(&str) -> Option<String>) -> Self {
        let status = Status::of_process();
        // Files without one come and go with the services of the machine.
        let quota =
            |group: cgroup::Group| file::word(group.quota_file()).filter(|text| !text.starts_with(group.no_quota()));
        let quotas: Vec<String> = cgroup::groups("cpu").into_iter().filter_map(quota).collect();
        Fingerprint(vec![
            (Evidence::ONLINE_STRANDS, word(file::ONLINE_CPUS)),
            // The masks of the process's first thread, which is never bound.
            (Evidence::ALLOWED_STRANDS, status.cpus().ok().map(|cpus| cpulist::print(&cpus))),
            ("allowed nodes", status.nodes().ok().map(|nodes| cpulist::print(&nodes))),
            ("CPU quota", Some(if quotas.is_empty() { "none".to_owned() } else { quotas.join(" ") })),
            ("frequency governor", governors(seats, &word)),
            ("turbo", word("/sys/devices/system/cpu/cpufreq/boost")),
            ("no_turbo", word("/sys/devices/system/cpu/intel_pstate/no_turbo")),
            (Evidence::CLOCK_SOURCE, word(file::CLOCK_SOURCE)),
            ("transparent huge pages", word("/sys/kernel/mm/transparent_hugepage/enabled")),
            ("NUMA balancing", word("/proc/sys/kernel/numa_balancing")),
        ])
    }

    /// Takes another word for what was found of this setting.
    pub(crate) fn set(&mut self, setting: &str, word: &str) {
        let found = self.0.iter_mut().filter(|(name, _)| *name == setting);
        found.for_each(|(_, found)| *found = Some(word.to_owned()));
    }

    pub fn changes(&self, later: &Self) -> Vec<String> {
        let pairs = self.0.iter().zip(&later.0).filter(|(before, after)| before != after);
        let word = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".into());
        pairs.map(|(before, after)| format!("{}: {} became {}", before.0, word(&before.1), word(&after.1))).collect()
    }
}

/// `performance`; where the seats differ, `performance of 0-3, powersave of 4`. Without a seat that of the first CPU.
fn governors(seats: &[Option<u32>], word: impl Fn(&str) -> Option<String>) -> Option<String> {
    let seats: BTreeSet<u32> = seats.iter().copied().collect::<Option<_>>().unwrap_or_default();
    let online = || word(file::ONLINE_CPUS).and_then(|list| cpulist::parse(&list).ok()?.first().copied());
    let mut cpus = BTreeMap::<String, Vec<u32>>::new();
    for cpu in if seats.is_empty() { BTreeSet::from([online().unwrap_or(0)]) } else { seats } {
        let governor = word(&format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor"))?;
        cpus.entry(governor).or_default().push(cpu);
    }
    let is_one = cpus.len() == 1;
    let shown = |(governor, cpus): (String, Vec<u32>)| match is_one {
        true => governor,
        false => format!("{governor} of {}", cpulist::print(&cpus)),
    };
    Some(cpus.into_iter().map(shown).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turbo_of_intel_and_the_governors_of_all_seats_are_seen() {
        let read = |seats: &[u32], governor: &str, no_turbo: &str| {
            let seats: Vec<Option<u32>> = seats.iter().copied().map(Some).collect();
            Fingerprint::of(&seats, |path| match path {
                path if path.contains("cpu3/") => Some(governor.to_owned()),
                file::ONLINE_CPUS => Some("3-7".to_owned()),
                path if path.ends_with("scaling_governor") => Some("performance".to_owned()),
                path => path.ends_with("intel_pstate/no_turbo").then(|| no_turbo.to_owned()),
            })
        };
        let usual = |seats| read(seats, "performance", "1");
        let changes = usual(&[0, 2, 3]).changes(&read(&[0, 2, 3], "powersave", "1"));
        assert_eq!(changes.len(), 1, "{changes:?}");
        assert!(changes[0].contains("performance of 0,2") && changes[0].contains("powersave of 3"), "{changes:?}");
        assert_eq!(usual(&[0, 2]).changes(&read(&[0, 2], "powersave", "1")), [""; 0]);
        assert!(usual(&[0]).changes(&read(&[0], "performance", "0"))[0].contains("turbo"));
        // Floating threads have the first CPU that is online.
        assert_eq!(usual(&[]).changes(&read(&[], "powersave", "1")).len(), 1);
    }

    #[test]
    fn what_changed_is_named_with_both_values() {
        let before = Fingerprint(vec![("allowed strands", Some("0-1".into())), ("turbo", None)]);
        let after = Fingerprint(vec![("allowed strands", Some("0".into())), ("turbo", None)]);
        assert_eq!(before.changes(&after), ["allowed strands: 0-1 became 0"]);
        assert_eq!(before.changes(&before), [""; 0]);
    }

    #[test]
    fn this_machine_has_values_and_stays_the_same() {
        let now = Fingerprint::read(&[]);
        assert!(now.0.iter().any(|(_, value)| value.is_some()));
        assert_eq!(now.0.iter().map(|(name, _)| *name).collect::<Vec<_>>(), Evidence::SETTINGS);
        assert_eq!(now.changes(&Fingerprint::read(&[])), [""; 0]);
    }
}
