//! What this process may read, without which checks have no evidence.

use super::{Item, Look, Seen};

pub(super) const ITEMS: &[Item] = &[
    Item {
        name: "evidence of the process",
        effect: "Checks whose evidence cannot be read are unavailable: nobody can tell whether the number is right.",
        checks: &["V02", "V03", "V04", "V20", "V21"],
        look: evidence,
    },
    Item {
        name: "user",
        effect: "Under another user's rights the kernel hides files of the process, and the program refuses to measure.",
        checks: &["V03", "V20"],
        look: user,
    },
    Item {
        name: "hardware counters",
        effect: "Cycles and cache misses are not told. The frequency is judged by the canary alone.",
        checks: &["V08"],
        look: counters,
    },
];

/// A file of `/proc/self`, a word that it holds where the kernel tells what is wanted, and the checks that want it.
const EVIDENCE: [(&str, &str, &str); 4] = [
    ("schedstat", "", "V03, V04"),
    ("sched", "nr_migrations", "V02"),
    ("smaps", "AnonHugePages", "V20"),
    ("numa_maps", "", "V21"),
];

fn evidence(look: &Look) -> Result<Seen, String> {
    // Without this one there is no /proc to speak of.
    look.root.text("/proc/self/status")?;
    let (mut there, mut missing) = (Vec::new(), Vec::new());
    for (file, word, checks) in EVIDENCE {
        let text = look.root.text(format!("/proc/self/{file}"));
        // The kernel was built without the statistics where the file is there and says nothing of them.
        let told = text.as_ref().is_ok_and(|text| match file {
            "schedstat" => text.split(' ').filter(|word| word.parse::<u64>().is_ok()).count() == 3,
            _ => text.contains(word),
        });
        if told { there.push(file.to_owned()) } else { missing.push(format!("{file} ({checks})")) }
    }
    if missing.is_empty() {
        return Ok(Seen::ok(format!("/proc/self tells {}", there.join(", "))));
    }
    let mend = "Run as the user who owns the process, on a kernel with CONFIG_SCHED_INFO, CONFIG_SCHED_DEBUG and CONFIG_NUMA, \
                with `/proc` mounted.";
    Ok(Seen::limits(format!("/proc/self does not tell {}", missing.join(", ")), mend))
}

fn user(look: &Look) -> Result<Seen, String> {
    const STATUS: &str = "/proc/self/status";
    let status = look.root.text(STATUS)?;
    let ids = status.lines().find_map(|line| line.strip_prefix("Uid:")).map(|line| {
        let ids = line.split_whitespace().map(str::parse::<u32>);
        ids.collect::<Result<Vec<_>, _>>().unwrap_or_default()
    });
    let Some([real, effective, ..]) = ids.as_deref() else {
        return Err(format!("{STATUS}: does not tell the user"));
    };
    let root = if *effective == 0 { " (root)" } else { "" };
    let read = format!("user {real}, with the rights of user {effective}{root}");
    let mend = "Take the set-user-ID bit off the program: `chmod u-s FILE`";
    Ok(if real == effective { Seen::ok(read) } else { Seen::limits(read, mend) })
}

fn counters(look: &Look) -> Result<Seen, String> {
    const SOURCES: &str = "/sys/bus/event_source/devices";
    /// The most that still lets a process count its own cycles in user space.
    const OWN: i64 = 2;
    let paranoid = look.root.text("/proc/sys/kernel/perf_event_paranoid")?;
    let level: i64 =
        paranoid.parse().map_err(|_| "/proc/sys/kernel/perf_event_paranoid: is not a number".to_owned())?;
    // The processor's own counters are `cpu`, on hybrid processors `cpu_core` and `cpu_atom`, on ARM `armv8_…`.
    let sources = look.root.names(SOURCES)?;
    let of_processor = |name: &&String| name.starts_with("cpu") || name.starts_with("armv");
    let Some(source) = sources.iter().find(of_processor) else {
        return Err(format!("the processor's counters are not offered ({SOURCES} has only {})", sources.join(", ")));
    };
    let read = format!("{source} counts, kernel.perf_event_paranoid is {level}");
    Ok(if level <= OWN { Seen::ok(read) } else { Seen::limits(read, "`sysctl kernel.perf_event_paranoid=2`") })
}
