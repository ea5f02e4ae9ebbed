//! How fast the processor runs, and how long it takes to wake.

use std::collections::BTreeMap;

use super::{Item, Look, Seen};
use charz_data::escape::counted;
use charz_data::units;

pub(super) const ITEMS: &[Item] = &[
    Item {
        name: "frequency governor",
        effect: "The frequency follows the load: short repetitions are measured on a processor that is still speeding up, \
                 and rates of arithmetic differ by tens of percent.",
        checks: &["V08", "V15"],
        look: governor,
    },
    Item {
        name: "turbo",
        effect: "The frequency depends on how many cores work, on heat and on power: rates by worker fall as workers are \
                 added, without any sharing.",
        checks: &["V08", "V16", "V17"],
        look: turbo,
    },
    Item {
        name: "idle states",
        effect: "A strand that slept deeply wakes late: the start of a repetition is spread over that time, and latencies of \
                 waking hold it.",
        checks: &["V18"],
        look: idle,
    },
];

const CPUS: &str = "/sys/devices/system/cpu";

/// The longest wake-up that is lost in the start of the workers, in microseconds: a hundredth of the shortest repetition of
/// 1 ms that counts.
const WAKE_US: u64 = 10;

fn governor(look: &Look) -> Result<Seen, String> {
    let mut governors: BTreeMap<String, usize> = BTreeMap::new();
    let is_cpu = |name: &String| name.strip_prefix("cpu").is_some_and(|id| id.parse::<u32>().is_ok());
    let mut reason = format!("{CPUS}: names no strand");
    for cpu in look.root.names(CPUS)?.into_iter().filter(is_cpu) {
        match look.root.text(format!("{CPUS}/{cpu}/cpufreq/scaling_governor")) {
            Ok(governor) => *governors.entry(governor).or_default() += 1,
            Err(error) => reason = error,
        }
    }
    if governors.is_empty() {
        return Err(format!("{reason}: the hypervisor or the firmware decides"));
    }
    let read = governors.iter().map(|(name, count)| format!("{name} on {}", counted(*count, "strand")));
    let read = read.collect::<Vec<_>>().join(", ");
    let fixed = governors.len() == 1 && governors.contains_key("performance");
    Ok(if fixed { Seen::ok(read) } else { Seen::disturbs(read, "`cpupower frequency-set -g performance`") })
}

fn turbo(look: &Look) -> Result<Seen, String> {
    let (intel, any) = (format!("{CPUS}/intel_pstate/no_turbo"), format!("{CPUS}/cpufreq/boost"));
    let (path, off) = if look.root.has(&intel) { (intel, 1) } else { (any, 0) };
    let value = look.root.number(&path)?;
    let read = format!("{path} is {value}");
    Ok(if value == off { Seen::ok(read) } else { Seen::disturbs(read, format!("`echo {off} > {path}`")) })
}

fn idle(look: &Look) -> Result<Seen, String> {
    let folder = format!("{CPUS}/cpu0/cpuidle");
    let mut deepest = None;
    for state in look.root.names(&folder)?.iter().filter(|name| name.starts_with("state")) {
        let file = |name: &str| format!("{folder}/{state}/{name}");
        if look.root.number(file("disable"))? == 0 {
            deepest = deepest.max(Some((look.root.number(file("latency"))?, look.root.text(file("name"))?)));
        }
    }
    let (latency, name) = deepest.ok_or_else(|| format!("{folder}: names no state that is enabled"))?;
    let read = format!("the deepest state, {name}, takes {} to leave", units::nanos(latency as f64 * 1000.0));
    Ok(if latency <= WAKE_US {
        Seen::ok(read)
    } else {
        Seen::limits(read, format!("`cpupower idle-set -D {WAKE_US}`"))
    })
}
