//! Which strands there are, and how much of them this process may have.

use charz_topology::{cgroup, cpulist};

use super::{Item, Look, Seen};
use charz_data::escape::counted;

pub(super) const ITEMS: &[Item] = &[
    Item {
        name: "CPU quota",
        effect: "The control group stops all workers once they have used up their share of a period; what is measured then \
                 is the quota.",
        checks: &["V07", "V19"],
        look: quota,
    },
    Item {
        name: "usable strands",
        effect: "Mappings go only over the strands that the process may use: the report is one of a part of the machine.",
        checks: &["V01", "V19"],
        look: usable,
    },
    Item {
        name: "SMT",
        effect: "Two or more strands share a core: a worker's rate depends on what runs beside it, and on the mapping.",
        checks: &["V03", "V13"],
        look: smt,
    },
    Item {
        name: "isolated strands",
        effect: "The scheduler puts nothing on isolated strands by itself: under the mapping `auto` workers crowd on the \
                 others.",
        checks: &["V03", "V18"],
        look: isolated,
    },
    Item { name: "threads", effect: "Cells with more workers are skipped.", checks: &[], look: threads },
    Item {
        name: "mitigations",
        effect: "Workarounds for flaws of the processor make system calls, faults and switches slower: compare only with \
                 machines that have the same.",
        checks: &[],
        look: mitigations,
    },
];

const CPUS: &str = "/sys/devices/system/cpu";

pub(super) fn allowed(look: &Look) -> Result<Vec<u32>, String> {
    const STATUS: &str = "/proc/self/status";
    let status = look.root.text(STATUS)?;
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let list = list.ok_or_else(|| format!("{STATUS}: has no Cpus_allowed_list"))?;
    cpulist::parse(list.trim()).map_err(|error| format!("{STATUS}: {error}"))
}

fn strands(look: &Look, file: &str) -> Result<Vec<u32>, String> {
    let path = format!("{CPUS}/{file}");
    match look.root.text_or_empty(&path)? {
        list if list.is_empty() => Ok(Vec::new()),
        list => cpulist::parse(&list).map_err(|error| format!("{path}: {error}")),
    }
}

fn quota(look: &Look) -> Result<Seen, String> {
    let groups =
        cgroup::groups_in("cpu", &look.root.text("/proc/self/cgroup")?, &look.root.text("/proc/self/mountinfo")?);
    if groups.is_empty() {
        return Err("/proc/self/mountinfo: the controller cpu is not mounted".into());
    }
    // The root of version 2 has no such file, and no quota.
    let mut tightest: Option<(f64, String)> = None;
    for group in &groups {
        let (file, unset) = if group.unified { ("cpu.max", "max") } else { ("cpu.cfs_quota_us", "-1") };
        let path = group.folder.join(file);
        if !look.root.has(&path) {
            continue;
        }
        let text = look.root.text(&path)?;
        let mut words = text.split_whitespace();
        let quota = words.next().unwrap_or_default();
        if quota == unset {
            continue;
        }
        let period = if group.unified {
            words.next().unwrap_or_default().to_owned()
        } else {
            look.root.text(group.folder.join("cpu.cfs_period_us"))?
        };
        let cpus = match (quota.parse::<u64>(), period.parse::<u64>()) {
            (Ok(quota), Ok(period)) if quota > 0 && period > 0 => quota as f64 / period as f64,
            _ => return Err(format!("{}: {text:?} and {period:?} are no quota and period", path.display())),
        };
        if tightest.as_ref().is_none_or(|(least, _)| cpus < *least) {
            let mend = format!("`echo {unset} > {}`", path.display());
            tightest = Some((cpus, mend));
        }
    }
    Ok(match tightest {
        None => Seen::ok("none"),
        // Not even one worker can run without being stopped.
        Some((cpus, mend)) if cpus < 1.0 => Seen::disturbs(format!("{cpus:.2} processors"), mend),
        Some((cpus, mend)) => Seen::limits(format!("{cpus:.2} processors"), mend),
    })
}

fn usable(look: &Look) -> Result<Seen, String> {
    let (allowed, online) = (allowed(look)?, strands(look, "online")?);
    if online.is_empty() {
        return Err(format!("{CPUS}/online: names no strand"));
    }
    let read = format!("{} of {} online", counted(allowed.len(), "strand"), online.len());
    if online.iter().all(|id| allowed.contains(id)) {
        return Ok(Seen::ok(read));
    }
    let mend = format!("`taskset -c {} charz …`, where the cpuset allows it.", cpulist::print(&online));
    Ok(Seen::limits(format!("{read}: {}", cpulist::print(&allowed)), mend))
}

fn smt(look: &Look) -> Result<Seen, String> {
    let path = format!("{CPUS}/smt/active");
    Ok(match look.root.number(&path)? {
        0 => Seen::ok("not active, as far as the system knows"),
        _ => Seen::limits(
            "active",
            format!("Stay at one worker a core (`round-robin` fills cores first), or `echo off > {CPUS}/smt/control`."),
        ),
    })
}

fn isolated(look: &Look) -> Result<Seen, String> {
    let isolated = strands(look, "isolated")?;
    // Only kernels that are built for it have the other file, and say `(null)` where it was not asked for.
    let tickless = look.root.text(format!("{CPUS}/nohz_full")).ok().filter(|list| cpulist::parse(list).is_ok());
    let tickless = tickless.map_or_else(String::new, |list| format!("; without ticks: {list}"));
    Ok(if isolated.is_empty() {
        Seen::ok(format!("none{tickless}"))
    } else {
        let read = format!("{}{tickless}", cpulist::print(&isolated));
        Seen::limits(read, "Use mappings with seats (all but `auto`).")
    })
}

fn threads(look: &Look) -> Result<Seen, String> {
    // A sweep goes up to twice the usable strands by default.
    let wanted = 2 * allowed(look)?.len();
    let limit = &look.limits.threads;
    let read = format!("at most {} ({})", limit.at_most, limit.because);
    let mend = "Raise the limit that is named: `sysctl`, `ulimit -u`, or `pids.max` of the control group.";
    Ok(if limit.at_most >= wanted { Seen::ok(read) } else { Seen::limits(read, mend) })
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
        Seen::ok(format!("none active, of {}", names.len()))
    } else {
        let mend = "Where all programs are trusted: boot with `mitigations=off`.";
        Seen::limits(format!("{} active: {}", active.len(), active.join(", ")), mend)
    })
}
