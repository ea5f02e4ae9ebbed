//! Strands: how fast they run, how much of them this process may have, and the clock that laps are stamped with.

use std::collections::BTreeMap;

use charz_data::cpulist;
use charz_system::Status;
use charz_system::cgroup::{self, Quota};

use super::load::quieten;
use super::{Item, Look, Seen};
use charz_data::checks;
use charz_data::escape::counted;
use charz_data::units;
use charz_kernels::sys::clocks;

pub(super) const ITEMS: &[Item] = &[
    Item {
        name: "frequency governor",
        key: "governor",
        effect: "The frequency follows the load: short iterations are measured on a processor that is still speeding up, \
                 and rates of arithmetic differ by tens of percent.",
        checks: &["V08", "V15"],
        look: governor,
    },
    Item {
        name: "turbo",
        key: "turbo",
        effect: "The frequency depends on how many cores work, on heat and on power: rates by thread fall as threads are \
                 added, without any sharing.",
        checks: &["V08", "V16", "V17"],
        look: turbo,
    },
    Item {
        name: "idle states",
        key: "idle-states",
        effect: "A CPU that slept deeply wakes late: the start of an iteration is spread over that time, and latencies of \
                 waking hold it.",
        checks: &["V18"],
        look: idle,
    },
    Item {
        name: "CPU quota",
        key: "cpu-quota",
        effect: "The control group stops all threads once they have used up their share of a period; what is measured then \
                 is the quota. `charz sweep --kernel cmt-quota` shows what more threads do under it.",
        checks: &["V07", "V19"],
        look: quota,
    },
    Item {
        name: "usable CPUs",
        key: "cpus",
        effect: "Mappings use only the CPUs that the process may use: the report covers a part of the machine.",
        checks: &["V01", "V19"],
        look: usable,
    },
    Item {
        name: "SMT",
        key: "smt",
        effect: "Two or more CPUs share a core: a thread's rate depends on what runs beside it, and on the mapping.",
        checks: &["V03", "V13"],
        look: smt,
    },
    Item {
        name: "isolated CPUs",
        key: "isolated",
        effect: "The scheduler puts nothing on isolated CPUs by itself: under the mapping `auto` threads crowd on the \
                 others.",
        checks: &["V03", "V18"],
        look: isolated,
    },
    Item {
        name: "threads",
        key: "threads",
        effect: "Configurations with more threads are skipped.",
        checks: &[],
        look: threads,
    },
    Item {
        name: "mitigations",
        key: "mitigations",
        effect: "CPU vulnerability mitigations slow down system calls, faults and context switches: compare only with machines that \
                 have the same.",
        checks: &[],
        look: mitigations,
    },
    Item {
        name: "clock source",
        key: "clocksource",
        effect: "Reading this clock is a call into the kernel, or slower: short iterations hold the reading.",
        checks: &["V09", "V10"],
        look: source,
    },
    Item {
        name: "timer",
        key: "timer",
        effect: "The CPU was elsewhere while it only read the clock, or the clock is coarse: iterations have to be \
                 longer.",
        checks: &["V03", "V09"],
        look: timer,
    },
];

/// The longest wake-up that is lost in the start of the workers, in microseconds: a hundredth of the shortest repetition of
/// 1 ms that counts.
const WAKE_US: u64 = 10;

fn governor(look: &Look) -> Result<Seen, String> {
    let mut governors: BTreeMap<String, usize> = BTreeMap::new();
    let is_cpu = |name: &String| name.strip_prefix("cpu").is_some_and(|id| id.parse::<u32>().is_ok());
    let mut reason = format!("{CPUS}: lists no CPU");
    for cpu in look.root.names(CPUS)?.into_iter().filter(is_cpu) {
        match look.root.text(format!("{CPUS}/{cpu}/cpufreq/scaling_governor")) {
            Ok(governor) => *governors.entry(governor).or_default() += 1,
            Err(error) => reason = error,
        }
    }
    if governors.is_empty() {
        return Err(format!("{reason}: the hypervisor or the firmware decides"));
    }
    let read = governors.iter().map(|(name, count)| format!("{name} on {}", counted(*count, "CPU")));
    let read = read.collect::<Vec<_>>().join(", ");
    let value = governors.into_keys().collect::<Vec<_>>().join(",");
    Ok(match value == "performance" {
        true => Seen::ok(read),
        false => Seen::disturbs(read, "`cpupower frequency-set -g performance`"),
    }
    .valued(value))
}

fn turbo(look: &Look) -> Result<Seen, String> {
    let (intel, any) = (format!("{CPUS}/intel_pstate/no_turbo"), format!("{CPUS}/cpufreq/boost"));
    let (path, off) = if look.root.has(&intel) { (intel, 1) } else { (any, 0) };
    let value = look.root.number(&path)?;
    let file = path.rsplit('/').next().unwrap_or_default();
    let read = format!("{file} is {value}");
    Ok(match value == off {
        true => Seen::ok(read),
        false => Seen::disturbs(read, format!("`echo {off} > {path}`")),
    }
    .switched(value != off))
}

fn idle(look: &Look) -> Result<Seen, String> {
    let first = strands(look, "online")?.first().copied().unwrap_or(0);
    let folder = format!("{CPUS}/cpu{first}/cpuidle");
    let mut deepest = None;
    for state in look.root.names(&folder)?.iter().filter(|name| name.starts_with("state")) {
        let file = |name: &str| format!("{folder}/{state}/{name}");
        if look.root.number(file("disable"))? == 0 {
            deepest = deepest.max(Some((look.root.number(file("latency"))?, look.root.text(file("name"))?)));
        }
    }
    let (latency, name) = deepest.ok_or_else(|| format!("{folder}: names no state that is enabled"))?;
    let read = format!("deepest C-state: {name} ({} exit latency)", units::nanos(latency as f64 * 1000.0));
    Ok(match latency <= WAKE_US {
        true => Seen::ok(read),
        false => Seen::limits(read, format!("`cpupower idle-set -D {WAKE_US}`")),
    }
    .valued(name))
}

const CPUS: &str = "/sys/devices/system/cpu";

fn allowed(look: &Look) -> Result<Vec<u32>, String> {
    Ok(Status::new(look.root.text(Status::OWN)?).cpus()?)
}

/// How many of them are there: a mask may hold CPUs that are offline.
pub(super) fn usable_online(look: &Look) -> Result<usize, String> {
    let online = strands(look, "online")?;
    Ok(allowed(look)?.iter().filter(|id| online.is_empty() || online.contains(id)).count())
}

fn strands(look: &Look, file: &str) -> Result<Vec<u32>, String> {
    let path = format!("{CPUS}/{file}");
    match look.root.text_or_empty(&path)? {
        list if list.is_empty() => Ok(Vec::new()),
        list => cpulist::parse(&list).map_err(|error| format!("{path}: {error}")),
    }
}

fn quota(look: &Look) -> Result<Seen, String> {
    let groups = cgroup::groups_in("cpu", &look.root.text(cgroup::OWN)?, &look.root.text(cgroup::MOUNTS)?);
    if groups.is_empty() {
        return Err(format!("{}: the controller cpu is not mounted", cgroup::MOUNTS));
    }
    let mut quotas = Vec::new();
    for group in &groups {
        let path = group.quota_file();
        // The root of version 2 has no such file, and no quota.
        if look.root.has(&path) {
            let quota = group.quota(|path| look.root.text(path))?;
            quotas.extend(quota.map(|Quota { cpus, .. }| (cpus, group.no_quota(), path)));
        }
    }
    let Some((cpus, unset, path)) = quotas.into_iter().min_by(|(one, ..), (other, ..)| one.total_cmp(other)) else {
        return Ok(Seen::ok("none"));
    };
    // What set it, a container's runtime or a service, sets it again.
    let fix = format!("Lift it where it was set, or `echo {unset} > {}`", path.display());
    let value = format!("{cpus:.2}");
    let read = format!("{value} CPUs");
    // Below 1 not even one worker can run without being stopped.
    Ok(if cpus < 1.0 { Seen::disturbs(read, fix) } else { Seen::limits(read, fix) }.valued(value))
}

fn usable(look: &Look) -> Result<Seen, String> {
    let (allowed, online, there) = (allowed(look)?, strands(look, "online")?, usable_online(look)?);
    if online.is_empty() {
        return Err(format!("{CPUS}/online: lists no CPU"));
    }
    let read = format!("{} of {} online", counted(there, "CPU"), online.len());
    if online.iter().all(|id| allowed.contains(id)) {
        return Ok(Seen::ok(read));
    }
    let fix = match there {
        0 => "Show the container the kernel's own files on CPUs: `lxcfs` or a file system like it lists others."
            .to_owned(),
        _ => format!("`taskset -c {} charz …`, where the cpuset allows it.", cpulist::print(&online)),
    };
    Ok(Seen::limits(format!("{read}: {}", cpulist::print(&allowed)), fix))
}

fn smt(look: &Look) -> Result<Seen, String> {
    let path = format!("{CPUS}/smt/active");
    Ok(match look.root.number(&path)? {
        0 => Seen::ok("not active, as far as the system reports").switched(false),
        _ => Seen::limits(
            "active",
            format!("One thread per core (`round-robin` fills cores first), or `echo off > {CPUS}/smt/control`."),
        )
        .switched(true),
    })
}

fn isolated(look: &Look) -> Result<Seen, String> {
    let isolated = strands(look, "isolated")?;
    // Only kernels that are built for it have the other file, and say `(null)` where it was not asked for.
    let tickless = look.root.text(format!("{CPUS}/nohz_full")).ok().filter(|list| cpulist::parse(list).is_ok());
    let tickless = tickless.map_or_else(String::new, |list| format!("; without ticks: {list}"));
    Ok(if isolated.is_empty() {
        Seen::ok(format!("none{tickless}")).valued("none")
    } else {
        let read = format!("{}{tickless}", cpulist::print(&isolated));
        let allowed = allowed(look)?;
        let fix = match isolated.iter().all(|id| allowed.contains(id)) {
            true => "Use mappings that pin threads (all but `auto`).".to_owned(),
            // The kernel begins with a mask without them.
            false => {
                let online = cpulist::print(&strands(look, "online")?);
                format!("`taskset -c {online} charz …`: the affinity mask lacks some, and mappings use the mask only.")
            }
        };
        Seen::limits(read, fix).valued(cpulist::print(&isolated))
    })
}

fn threads(look: &Look) -> Result<Seen, String> {
    // A sweep goes up to twice the usable strands by default.
    let wanted = 2 * usable_online(look)?;
    let limit = &look.limits.threads;
    let read = format!("at most {} ({})", limit.at_most, limit.because);
    let fix = "Raise the limit that is named: `sysctl`, `ulimit -u`, or `pids.max` of the control group.";
    Ok(if limit.at_most >= wanted { Seen::ok(read) } else { Seen::limits(read, fix) })
}

fn mitigations(look: &Look) -> Result<Seen, String> {
    let folder = format!("{CPUS}/vulnerabilities");
    let mut active = Vec::new();
    let names = look.root.names(&folder)?;
    for name in &names {
        if look.root.text(format!("{folder}/{name}"))?.starts_with("Mitigation") {
            active.push(name.as_str());
        }
    }
    if names.is_empty() {
        return Err(format!("{folder}: is empty"));
    }
    Ok(if active.is_empty() {
        Seen::ok(format!("none active, of {}", names.len())).valued("none")
    } else {
        let fix = "Compare only with the same; or boot with `mitigations=off` where all programs are trusted.";
        Seen::limits(format!("{} active: {}", active.len(), active.join(", ")), fix).valued(active.join(","))
    })
}

/// The longest gap between two readings of the clock that is no disturbance, in nanoseconds: 1% of a repetition of 0.1 s.
const GAP_NS: u64 = 1_000_000;

/// Clock sources that are read without a call into the kernel.
const FAST_SOURCES: [&str; 7] = [
    "tsc",
    "kvm-clock",
    "hyperv_clocksource_tsc_page",
    "arch_sys_counter",
    // POWER, s390x and RISC-V.
    "timebase",
    "tod",
    "riscv_clocksource",
];

fn source(look: &Look) -> Result<Seen, String> {
    const FOLDER: &str = "/sys/devices/system/clocksource/clocksource0";
    let current = look.root.text(format!("{FOLDER}/current_clocksource"))?;
    let choices = look.root.text(format!("{FOLDER}/available_clocksource")).unwrap_or_default();
    let better = choices.split_whitespace().find(|choice| FAST_SOURCES.contains(choice));
    let fix = match better {
        Some(better) => format!("`echo {better} > {FOLDER}/current_clocksource`"),
        None => "See why the kernel uses no faster one: `dmesg | grep -i clocksource`".into(),
    };
    let fast = FAST_SOURCES.contains(&current.as_str());
    Ok(if fast { Seen::ok(current) } else { Seen::disturbs(current, fix) })
}

fn timer(look: &Look) -> Result<Seen, String> {
    let timer = &look.timed.as_ref().ok_or("not watched")?.timer;
    let nanos = |nanos: u64| units::nanos(nanos as f64);
    let (step, cost) = (timer.resolution_ns, timer.overhead_ns);
    let said = |clock| clocks::resolution(clock).map_or("nothing".into(), |said| units::nanos(said.as_nanos() as f64));
    let read = format!(
        "longest gap {}; steps of {}, {} per reading; clock_getres says {} of CLOCK_REALTIME, {} of CLOCK_MONOTONIC_COARSE",
        nanos(timer.worst_gap_ns),
        nanos(step),
        nanos(cost),
        said(libc::CLOCK_REALTIME),
        said(libc::CLOCK_MONOTONIC_COARSE)
    );
    Ok(if timer.worst_gap_ns > GAP_NS {
        Seen::disturbs(read, quieten(look))
    } else if checks::needed_ns(step as f64, cost as f64) > checks::needed_ns(0.0, 0.0) {
        Seen::limits(read, "Give iterations more work: `--steps`, `--size`.")
    } else {
        Seen::ok(read)
    })
}
