//! What kind of system this is, and how the program was built.

use super::root::start;
use super::{Item, Look, NOTHING_IN_A_GUEST, Seen};

pub(super) const ITEMS: &[Item] = &[
    Item {
        name: "guest",
        effect: "Strands, cores and caches are what the hypervisor says, and neighbours share them unseen.",
        checks: &["V26", "V05"],
        look: guest,
    },
    Item {
        name: "container",
        effect: "Quotas and cpusets from outside apply, others' processes are not to be seen, and knobs of the kernel may be \
                 out of reach.",
        checks: &["V07", "V25"],
        look: container,
    },
    Item {
        name: "watchdog panics",
        effect: "A machine that panics when a processor or a task is stuck for too long must not be filled with contending \
                 workers.",
        checks: &[],
        look: watchdogs,
    },
    Item {
        name: "address space layout",
        effect: "All invocations have the same layout: what it happens to cost or save is in every sample, and no interval \
                 shows it.",
        checks: &["V12"],
        look: layout,
    },
    Item {
        name: "build",
        effect: "The code around the kernels is not optimised; nothing that it measures counts.",
        checks: &["V24"],
        look: build,
    },
];

/// Whether the processor says that a hypervisor runs below: CPUID 1, ECX bit 31, which is reserved for hypervisors. `None`
/// where there is no such question.
#[cfg(target_arch = "x86_64")]
pub fn under_hypervisor() -> Option<bool> {
    Some(raw_cpuid::CpuId::new().get_feature_info()?.has_hypervisor())
}

/// Whether the processor says that a hypervisor runs below. `None`: this architecture has no such question.
#[cfg(not(target_arch = "x86_64"))]
pub fn under_hypervisor() -> Option<bool> {
    None
}

fn guest(look: &Look) -> Result<Seen, String> {
    let tells = ["/sys/hypervisor/type", "/sys/class/dmi/id/sys_vendor", "/sys/class/dmi/id/product_name"];
    let told: Vec<String> = tells.iter().filter_map(|path| look.root.text(path).ok()).collect();
    let named = told.iter().map(|text| format!(" ({})", start(text))).collect::<String>();
    match look.hypervisor {
        Some(true) => Ok(Seen::limits(format!("a virtual machine{named}"), NOTHING_IN_A_GUEST)),
        Some(false) => Ok(Seen::ok(format!("no hypervisor{named}"))),
        None => Err(format!("the processor cannot be asked whether a hypervisor runs below{named}")),
    }
}

fn container(look: &Look) -> Result<Seen, String> {
    const MARKS: [&str; 3] = ["/.dockerenv", "/run/.containerenv", "/run/systemd/container"];
    const MEND: &str =
        "Measure outside of the container, or with `docker run --privileged --pid=host --cpuset-cpus=…`.";
    if let Some(mark) = MARKS.into_iter().find(|mark| look.root.has(mark)) {
        return Ok(Seen::limits(format!("there is {mark}"), MEND));
    }
    // The first process is in the root group, or in one that systemd calls so, unless it has been put into another.
    let groups = look.root.text("/proc/1/cgroup")?;
    let fields = groups.lines().map(|line| line.splitn(3, ':').nth(2));
    let paths = fields.collect::<Option<Vec<_>>>().ok_or("/proc/1/cgroup: is not a list of control groups")?;
    Ok(match paths.iter().find(|path| !["/", "/init.scope"].contains(path)) {
        None => Seen::ok("none to be seen"),
        Some(path) => Seen::limits(format!("the first process is in the group {}", start(path)), MEND),
    })
}

fn watchdogs(look: &Look) -> Result<Seen, String> {
    let (mut read, mut mend, mut reason) = (Vec::new(), Vec::new(), String::new());
    // A hard lock-up needs interrupts off, which no program of ours can do.
    for name in ["softlockup_panic", "hung_task_panic"] {
        match look.root.number(format!("/proc/sys/kernel/{name}")) {
            Ok(value) => {
                read.push(format!("{name} is {value}"));
                if value > 0 {
                    mend.push(format!("`sysctl kernel.{name}=0`"));
                }
            }
            // A kernel without one of the watchdogs does not panic by it.
            Err(_) if !look.root.has(format!("/proc/sys/kernel/{name}")) => {
                reason = format!("there is no kernel.{name}")
            }
            Err(error) => return Err(error),
        }
    }
    let (read, mend) = (read.join(", "), mend.join(", "));
    match (read.is_empty(), mend.is_empty()) {
        (true, _) => Err(reason),
        (false, true) => Ok(Seen::ok(read)),
        (false, false) => Ok(Seen::limits(read, mend)),
    }
}

fn layout(look: &Look) -> Result<Seen, String> {
    let mode = look.root.number("/proc/sys/kernel/randomize_va_space")?;
    let read = format!("kernel.randomize_va_space is {mode}");
    Ok(if mode > 0 { Seen::ok(read) } else { Seen::limits(read, "`sysctl kernel.randomize_va_space=2`") })
}

fn build(look: &Look) -> Result<Seen, String> {
    Ok(if look.optimised {
        Seen::ok("optimised")
    } else {
        Seen::disturbs("without optimisation", "`cargo build --release`")
    })
}
