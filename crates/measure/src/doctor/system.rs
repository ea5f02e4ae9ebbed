//! What kind of system this is, what this process may read, and how the program was built.

use charz_system::Status;
use charz_system::task::Stat;

use super::root::start;
use super::{Item, Look, NOTHING_IN_A_GUEST, Seen};

pub(super) const ITEMS: &[Item] = &[
    Item {
        name: "evidence of the process",
        key: "evidence",
        effect: "Checks whose evidence cannot be read are unavailable, and the number may be wrong unseen.",
        checks: &["V02", "V03", "V04", "V20", "V21"],
        look: evidence,
    },
    Item {
        name: "user",
        key: "user",
        effect: "Under another user's rights the kernel hides files of the process, and the program refuses to measure.",
        checks: &["V03", "V20"],
        look: user,
    },
    Item {
        name: "priority",
        key: "priority",
        effect: "Beside other programs threads get another share of the CPUs than programs of the usual priority would.",
        checks: &["V03", "V04"],
        look: priority,
    },
    Item {
        name: "hardware counters",
        key: "counters",
        effect: "Cycles and cache misses are not counted. The frequency is judged by the canary alone.",
        checks: &["V08"],
        look: counters,
    },
    Item {
        name: "guest",
        key: "guest",
        effect: "CPUs, cores and caches are what the hypervisor reports, and neighbours share them unseen.",
        checks: &["V26", "V05"],
        look: guest,
    },
    Item {
        name: "container",
        key: "container",
        effect: "Quotas and cpusets from outside apply, others' processes are not to be seen, and knobs of the kernel may be \
                 out of reach.",
        checks: &["V07", "V25"],
        look: container,
    },
    Item {
        name: "watchdog panics",
        key: "watchdogs",
        effect: "A machine that panics when a processor or a task is stuck for too long must not be filled with contending \
                 threads.",
        checks: &[],
        look: watchdogs,
    },
    Item {
        name: "address space layout",
        key: "aslr",
        effect: "All runs have the same layout: what it happens to cost or save is in every sample, and no interval \
                 shows it.",
        checks: &["V12"],
        look: layout,
    },
    Item {
        name: "build",
        key: "build",
        effect: "The code around the kernels is not optimised; nothing that it measures counts.",
        checks: &["V24"],
        look: build,
    },
];

/// A file of `/proc/self`, a word that it contains if the kernel reports the evidence, and the checks that require it.
const EVIDENCE: [(&str, &str, &str); 4] = [
    ("schedstat", "", "V03, V04"),
    ("sched", "nr_migrations", "V02"),
    ("smaps", "AnonHugePages", "V20"),
    ("numa_maps", "", "V21"),
];

fn evidence(look: &Look) -> Result<Seen, String> {
    // Without this one there is no /proc to speak of.
    look.root.text(Status::OWN)?;
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
        return Ok(Seen::ok(format!("/proc/self has {}", there.join(", "))));
    }
    let fix = "Run as the user who owns the process, on a kernel with CONFIG_SCHED_INFO, CONFIG_SCHED_DEBUG and CONFIG_NUMA, \
                with `/proc` mounted.";
    Ok(Seen::limits(format!("/proc/self lacks {}", missing.join(", ")), fix))
}

fn user(look: &Look) -> Result<Seen, String> {
    let Some([real, effective]) = Status::new(look.root.text(Status::OWN)?).users() else {
        return Err(format!("{}: does not tell the user", Status::OWN));
    };
    let root = if effective == 0 { " (root)" } else { "" };
    let read = format!("user {real}, with the rights of user {effective}{root}");
    let fix = "Take the set-user-ID bit off the program: `chmod u-s FILE`";
    Ok(if real == effective { Seen::ok(read) } else { Seen::limits(read, fix) })
}

fn priority(look: &Look) -> Result<Seen, String> {
    const OWN: &str = "/proc/self/stat";
    /// By their numbers, as in `linux/sched.h`; the fourth was never used.
    const POLICIES: [&str; 7] = ["other", "fifo", "rr", "batch", "", "idle", "deadline"];
    let stat = look.root.text(OWN)?;
    let (nice, policy) = Stat::new(&stat).priority().ok_or_else(|| format!("{OWN}: has no priority"))?;
    let name = POLICIES.get(policy as usize).map_or_else(|| policy.to_string(), |name| (*name).to_owned());
    let read = format!("policy {name}, nice {nice}");
    let is_usual = (name.as_str(), nice) == ("other", 0);
    let fix = "Start charz from a shell without `nice` and `chrt`.";
    Ok(if is_usual { Seen::ok(read) } else { Seen::limits(read, fix) }.valued(name))
}

fn counters(look: &Look) -> Result<Seen, String> {
    const FIX: &str = "`sysctl kernel.perf_event_paranoid=2`";
    let paranoid = look.root.text("/proc/sys/kernel/perf_event_paranoid")?;
    let level: i64 =
        paranoid.parse().map_err(|_| "/proc/sys/kernel/perf_event_paranoid: is not a number".to_owned())?;
    let seen = match &look.counters {
        Ok(()) => Seen::ok(format!("the processor counts, kernel.perf_event_paranoid is {level}")),
        // Only where it names the command does the kernel's refusal depend on it.
        Err(why) if why.contains(FIX) => Seen::limits(format!("kernel.perf_event_paranoid is {level}"), FIX),
        Err(why) => return Err(why.clone()),
    };
    Ok(seen.valued(paranoid))
}

/// Whether the processor says that a hypervisor runs below. `None` where the architecture has no such question.
pub fn under_hypervisor() -> Option<bool> {
    #[cfg(target_arch = "x86_64")]
    let answer = Some(charz_kernels::cpu::has_hypervisor());
    #[cfg(not(target_arch = "x86_64"))]
    let answer = None;
    answer
}

fn guest(look: &Look) -> Result<Seen, String> {
    let files = ["/sys/hypervisor/type", "/sys/class/dmi/id/sys_vendor", "/sys/class/dmi/id/product_name"];
    let told: Vec<String> = files.iter().filter_map(|path| look.root.text(path).ok()).collect();
    let named = told.iter().map(|text| format!(" ({})", start(text))).collect::<String>();
    match look.hypervisor {
        Some(true) => Ok(Seen::limits(format!("a virtual machine{named}"), NOTHING_IN_A_GUEST).valued("yes")),
        Some(false) => Ok(Seen::ok(format!("no hypervisor{named}")).valued("no")),
        None => Err(format!("the processor cannot be asked whether a hypervisor runs below{named}")),
    }
}

fn container(look: &Look) -> Result<Seen, String> {
    const MARKS: [&str; 3] = ["/.dockerenv", "/run/.containerenv", "/run/systemd/container"];
    const FIX: &str = "Measure outside of the container, or with `docker run --privileged --pid=host --cpuset-cpus=…`.";
    /// Those of the system itself, whose numbers are fixed (`linux/proc_ns.h`).
    const FIRST: [(&str, &str); 2] = [("pid", "pid:[4026531836]"), ("cgroup", "cgroup:[4026531835]")];
    let namespace = |kind: &str| {
        let path = format!("/proc/self/ns/{kind}");
        let link = look.root.link(&path)?;
        if link.starts_with(&format!("{kind}:[")) { Ok(link) } else { Err(format!("{path}: is no namespace")) }
    };
    namespace("pid")?;
    // Kernels before 4.6 have none of control groups.
    let differs = |(kind, first): &(&str, &str)| namespace(kind).is_ok_and(|found| found != *first);
    let own: Vec<&str> = FIRST.into_iter().filter(differs).map(|(kind, _)| kind).collect();
    if own.is_empty() {
        return Ok(Seen::ok("none").valued("no"));
    }
    let named = MARKS.into_iter().find(|mark| look.root.has(mark));
    let named = named.map(|mark| format!(" (there is {mark})")).unwrap_or_default();
    Ok(Seen::limits(format!("a {} namespace of its own{named}", own.join(" and a ")), FIX).valued("yes"))
}

fn watchdogs(look: &Look) -> Result<Seen, String> {
    let (mut read, mut fix, mut reason) = (Vec::new(), Vec::new(), String::new());
    // A hard lock-up needs interrupts off, which no program of ours can do.
    for name in ["softlockup_panic", "hung_task_panic"] {
        match look.root.number(format!("/proc/sys/kernel/{name}")) {
            Ok(value) => {
                read.push(format!("{name} is {value}"));
                if value > 0 {
                    fix.push(format!("kernel.{name}=0"));
                }
            }
            // A kernel without one of the watchdogs does not panic by it.
            Err(_) if !look.root.has(format!("/proc/sys/kernel/{name}")) => {
                reason = format!("there is no kernel.{name}")
            }
            Err(error) => return Err(error),
        }
    }
    let read = read.join(", ");
    match (read.is_empty(), fix.is_empty()) {
        (true, _) => Err(reason),
        (false, true) => Ok(Seen::ok(read).switched(false)),
        (false, false) => Ok(Seen::limits(read, format!("`sysctl {}`", fix.join(" "))).switched(true)),
    }
}

fn layout(look: &Look) -> Result<Seen, String> {
    let mode = look.root.number("/proc/sys/kernel/randomize_va_space")?;
    let read = format!("kernel.randomize_va_space is {mode}");
    let seen = if mode > 0 { Seen::ok(read) } else { Seen::limits(read, "`sysctl kernel.randomize_va_space=2`") };
    Ok(seen.switched(mode > 0))
}

fn build(look: &Look) -> Result<Seen, String> {
    Ok(if look.optimised {
        Seen::ok("optimised")
    } else {
        Seen::disturbs("without optimisation", "Build it with `cargo build --release`")
    })
}
