//! Every item both ways, on fake roots.

mod devices;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;

use super::timed::Processors;
use super::*;
use charz_data::report::{Culprit, CulpritKind, Timer};

const STATUS: &str = "Name:\tcharz\nUid:\t1000\t1000\t1000\t1000\nCpus_allowed_list:\t0-1\n";
const OWN_STAT: &str =
    "9 (charz) R 1 9 9 0 -1 0 0 0 0 0 1 1 0 0 20 0 1 0 7 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0\n";
const MOUNT: &str = "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
const STAT: &str =
    "cpu  800 0 100 9000 50 0 0 10 0 0\ncpu0 400 0 50 4500 25 0 0 5\ncpu1 400 0 50 4500 25 0 0 5\nprocs_running 1\n";

/// A quiet, ordinary machine with two strands: every item that reads files is fine with it.
const QUIET: &[(&str, &str)] = &[
    ("/.keep", ""),
    ("/proc/interrupts", "           CPU0       CPU1\n 24:  10  10  edge  timer\nNMI:  0  0  Non-maskable\n"),
    ("/proc/loadavg", "0.00 0.01 0.05 1/123 4567\n"),
    ("/proc/meminfo", "MemTotal: 100 kB\nSwapTotal:       2048 kB\nSwapFree:        2048 kB\n"),
    ("/proc/pressure/cpu", "some avg10=0.10 avg60=0.00 avg300=0.00 total=100\n"),
    ("/proc/pressure/io", "some avg10=0.00 avg60=0.00 avg300=0.00 total=100\n"),
    ("/proc/pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=100\n"),
    ("/proc/self/cgroup", "0::/a\n"),
    ("/proc/self/mountinfo", MOUNT),
    ("/proc/self/ns/cgroup", "cgroup:[4026531835]"),
    ("/proc/self/ns/pid", "pid:[4026531836]"),
    ("/proc/self/numa_maps", "7f00 default\n"),
    ("/proc/self/sched", "se.nr_migrations : 0\n"),
    ("/proc/self/schedstat", "12 34 5\n"),
    ("/proc/self/smaps", "AnonHugePages: 0 kB\n"),
    ("/proc/self/stat", OWN_STAT),
    ("/proc/self/status", STATUS),
    ("/proc/stat", STAT),
    ("/proc/sys/kernel/hung_task_panic", "0\n"),
    ("/proc/sys/kernel/numa_balancing", "0\n"),
    ("/proc/sys/kernel/perf_event_paranoid", "-1\n"),
    ("/proc/sys/kernel/randomize_va_space", "2\n"),
    ("/proc/sys/kernel/softlockup_panic", "0\n"),
    ("/proc/sys/vm/overcommit_memory", "0\n"),
    ("/sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc hpet\n"),
    ("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n"),
    ("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n"),
    ("/sys/devices/system/cpu/cpu0/cpuidle/state0/disable", "0\n"),
    ("/sys/devices/system/cpu/cpu0/cpuidle/state0/latency", "2\n"),
    ("/sys/devices/system/cpu/cpu0/cpuidle/state0/name", "C1\n"),
    ("/sys/devices/system/cpu/cpu0/cpuidle/state1/disable", "1\n"),
    ("/sys/devices/system/cpu/cpu0/cpuidle/state1/latency", "133\n"),
    ("/sys/devices/system/cpu/cpu0/cpuidle/state1/name", "C6\n"),
    ("/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance\n"),
    ("/sys/devices/system/cpu/cpufreq/boost", "0\n"),
    ("/sys/devices/system/cpu/isolated", "\n"),
    ("/sys/devices/system/cpu/online", "0-1\n"),
    ("/sys/devices/system/cpu/smt/active", "0\n"),
    ("/sys/devices/system/cpu/vulnerabilities/meltdown", "Not affected\n"),
    ("/sys/devices/system/node/online", "0-1\n"),
    ("/sys/fs/cgroup/a/cpu.max", "max 100000\n"),
    ("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "4\n"),
    ("/sys/kernel/mm/ksm/run", "0\n"),
    ("/sys/kernel/mm/transparent_hugepage/defrag", "always defer [madvise] never\n"),
    ("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
    ("/sys/kernel/mm/transparent_hugepage/use_zero_page", "1\n"),
];

/// As the counters say where the kernel refuses them.
const REFUSED: &str = "allow them with `sysctl kernel.perf_event_paranoid=2`";

/// Items that read no file of the root: they ask the processor, the build and the timer.
const WITHOUT_FILES: [&str; 3] = ["guest", "build", "timer"];

fn write(folder: &Path, path: &str, contents: impl AsRef<[u8]>) {
    let place = folder.join(path.trim_start_matches('/'));
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    if path.starts_with("/proc/self/ns/") {
        let _ = fs::remove_file(&place);
        // No link points to what is empty or too long.
        let _ = symlink(OsStr::from_bytes(contents.as_ref()), place);
    } else {
        fs::write(place, contents).unwrap();
    }
}

fn quiet_look(folder: &Path) -> Look {
    Look {
        root: Root::below(folder),
        limits: Limits { memory_budget_bytes: Some(1 << 30), ..Limits::unlimited() },
        hypervisor: Some(false),
        optimised: true,
        counters: Ok(()),
        timed: None,
    }
}

fn quiet_timed() -> Timed {
    Timed {
        processors: Ok(Processors { strands: 2, total: 200, idle: 199, steal: 0 }),
        users: Vec::new(),
        pressure: [Ok(0.0), Ok(0.0), Ok(0.0)],
        timer: Timer { resolution_ns: 20, overhead_ns: 25, worst_gap_ns: 60_000, skew_ns: None },
    }
}

/// The quiet machine with some files replaced.
fn quiet_folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    QUIET.iter().chain(files).for_each(|(path, text)| write(folder.path(), path, text));
    folder
}

/// The finding of an item on the quiet machine with some files replaced, and the look changed.
fn finding(name: &str, files: &[(&str, &str)], change: impl Fn(&mut Look)) -> Finding {
    let folder = quiet_folder(files);
    let mut look = quiet_look(folder.path());
    change(&mut look);
    let findings = examine(&look);
    findings.into_iter().find(|finding| finding.name == name).unwrap_or_else(|| panic!("there is no item {name}"))
}

#[track_caller]
fn check(name: &str, files: &[(&str, &str)], state: State, word: &str) {
    check_look(name, files, |_| {}, state, word);
}

#[track_caller]
fn check_look(name: &str, files: &[(&str, &str)], change: impl Fn(&mut Look), state: State, word: &str) {
    let finding = finding(name, files, change);
    assert!(finding.state == state && finding.read.contains(word), "{word}: {finding:?}");
    let fixable = matches!(state, State::Limits | State::Disturbs);
    assert_eq!(fixable, !finding.fix.is_empty(), "{finding:?}");
    assert_eq!(state == State::Ok, finding.effect.is_empty(), "{finding:?}");
}

#[test]
fn a_quiet_machine_has_nothing_to_fix() {
    let folder = quiet_folder(&[]);
    let look = Look { timed: Some(quiet_timed()), ..quiet_look(folder.path()) };
    for finding in examine(&look) {
        assert_eq!(finding.state, State::Ok, "{finding:?}");
    }
}

#[test]
fn an_empty_root_leaves_items_unavailable() {
    let folder = tempfile::tempdir().unwrap();
    let look = Look { limits: Limits::unlimited(), ..quiet_look(folder.path()) };
    for finding in examine(&look) {
        let expected = if ["guest", "build"].contains(&finding.name) { State::Ok } else { State::Unavailable };
        assert_eq!(finding.state, expected, "{finding:?}");
        assert!(!finding.read.is_empty(), "{finding:?}");
    }
}

#[test]
fn nonsense_is_no_value() {
    let folder = tempfile::tempdir().unwrap();
    for (path, _) in QUIET {
        write(folder.path(), path, "x[y]z -1e999 \u{1b}[2J");
    }
    // Any word is a word there; and evidence that makes no sense is evidence that is missing, which limits.
    let words = [
        "frequency governor",
        "clock source",
        "transparent huge pages",
        "huge page defragmentation",
        "mitigations",
        "evidence of the process",
    ];
    for finding in examine(&quiet_look(folder.path())) {
        if !words.contains(&finding.name) && !WITHOUT_FILES.contains(&finding.name) {
            assert_eq!(finding.state, State::Unavailable, "{finding:?}");
        }
    }
}

#[test]
fn frequencies() {
    use State::{Disturbs, Limits, Ok};
    const CPU0: &str = "/sys/devices/system/cpu/cpu0";
    check("frequency governor", &[(&format!("{CPU0}/cpufreq/scaling_governor"), "powersave\n")], Disturbs, "powersave");
    check("frequency governor", &[], Ok, "performance on 2 CPUs");
    check("turbo", &[("/sys/devices/system/cpu/cpufreq/boost", "1\n")], Disturbs, "boost is 1");
    check("turbo", &[("/sys/devices/system/cpu/intel_pstate/no_turbo", "0\n")], Disturbs, "no_turbo is 0");
    check("turbo", &[("/sys/devices/system/cpu/intel_pstate/no_turbo", "1\n")], Ok, "no_turbo is 1");
    check("idle states", &[(&format!("{CPU0}/cpuidle/state1/disable"), "0\n")], Limits, "C6 (133 µs");
}

#[test]
fn processors() {
    use State::{Disturbs, Limits, Ok, Unavailable};
    let quota = "/sys/fs/cgroup/a/cpu.max";
    check("CPU quota", &[(quota, "30000 100000\n")], Disturbs, "0.30");
    check("CPU quota", &[(quota, "150000 100000\n")], Limits, "1.50");
    check("CPU quota", &[(quota, "max\n")], Ok, "none");
    check("CPU quota", &[(quota, "lots 100000\n")], Unavailable, "lots");
    check("CPU quota", &[(quota, "100 0\n")], Unavailable, "no quota");
    let v1 = [
        ("/proc/self/cgroup", "1:cpu:/b\n"),
        ("/proc/self/mountinfo", "33 32 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"),
        ("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"),
        ("/sys/fs/cgroup/cpu/b/cpu.cfs_quota_us", "50000\n"),
        ("/sys/fs/cgroup/cpu/b/cpu.cfs_period_us", "100000\n"),
    ];
    check("CPU quota", &v1, Disturbs, "0.50");
    check("CPU quota", &v1[..3], Ok, "none");
    check("usable CPUs", &[("/proc/self/status", "Cpus_allowed_list:\t1\n")], Limits, "1 CPU of 2 online: 1");
    check("usable CPUs", &[("/sys/devices/system/cpu/online", "4294967295")], Unavailable, "online");
    let other = [("/proc/self/status", "Cpus_allowed_list:\t3,7\n")];
    check("usable CPUs", &other, Limits, "0 CPUs of 2 online: 3,7");
    assert!(!finding("usable CPUs", &other, |_| {}).fix.contains("taskset"));
    check("SMT", &[("/sys/devices/system/cpu/smt/active", "1\n")], Limits, "active");
    let isolated = ("/sys/devices/system/cpu/isolated", "1\n");
    check("isolated CPUs", &[isolated], Limits, "1");
    let reach = |allowed: &str| {
        let status = format!("Cpus_allowed_list:\t{allowed}\n");
        finding("isolated CPUs", &[isolated, ("/proc/self/status", &status)], |_| {}).fix
    };
    assert!(reach("0").contains("taskset -c 0-1") && !reach("0-1").contains("taskset"), "{}", reach("0"));
    let meltdown = "/sys/devices/system/cpu/vulnerabilities/meltdown";
    check("mitigations", &[(meltdown, "Mitigation: PTI\n")], Limits, "meltdown");
    let few = |look: &mut Look| look.limits.threads.at_most = 3;
    check_look("threads", &[], few, Limits, "at most 3");
    // A guest with room for more CPUs.
    let more = [("/proc/self/status", "Cpus_allowed_list:\t0-127\n")];
    check_look("threads", &more, |look| look.limits.threads.at_most = 4, Ok, "at most 4");
}

#[test]
fn loads() {
    use State::{Disturbs, Limits, Unavailable};
    check("steal", &[("/proc/stat", "cpu 1 1 1 1 1 1 1 100\nprocs_running 1\n")], Limits, "93.5%");
    check("steal", &[("/proc/stat", "cpu 1 1 1 1\nprocs_running 1\n")], Unavailable, "does not count steal");
    check("steal", &[("/proc/stat", "cpu 0 0 0 0 0 0 0 0\n")], Unavailable, "no time");
    let lxcfs = format!("{MOUNT}600 590 0:50 /proc/stat /proc/stat rw - fuse.lxcfs lxcfs rw\n");
    check("steal", &[("/proc/self/mountinfo", &lxcfs)], Unavailable, "lxcfs");
    check("other load", &[("/proc/stat", "cpu 1 1 1 1\nprocs_running 3\n")], Disturbs, "2 other tasks");
    let timed = |change: fn(&mut Timed)| {
        move |look: &mut Look| {
            let mut timed = quiet_timed();
            change(&mut timed);
            look.timed = Some(timed);
        }
    };
    let stolen = timed(|timed| timed.processors.as_mut().unwrap().steal = 2);
    check_look("steal", &[], stolen, Limits, "1.0% now");
    let busy = timed(|timed| timed.processors.as_mut().unwrap().idle = 100);
    check_look("other load", &[], busy, Disturbs, "1.00 of 2 CPUs busy");
    let named = timed(|timed| {
        timed.processors.as_mut().unwrap().idle = 100;
        let user = |name: &str, others, cpu_ns| Culprit {
            kind: CulpritKind::Process,
            name: name.to_owned(),
            pid: Some(13064),
            uid: None,
            others,
            cpu_ns,
            time_ns: 100,
        };
        // A thread of the kernel cannot be stopped.
        timed.users = vec![user("sh", 11, 80), user("kernel thread a", 0, 40), user("lat_mem_rd", 0, 34)];
    });
    for name in ["other load", "processor pressure"] {
        let change = |look: &mut Look| {
            named(look);
            look.timed.as_mut().unwrap().pressure[0] = Ok(0.5);
        };
        let fix = finding(name, &[], change).fix;
        assert!(fix.contains("(12 × sh use 0.80 CPUs, lat_mem_rd (pid 13064) 0.34)"), "{fix}");
    }
    let blind = timed(|timed| timed.processors = Err("no stat".into()));
    check_look("other load", &[], blind, Unavailable, "no stat");
    for (name, kind, state) in [
        ("processor pressure", "cpu", Disturbs),
        ("memory pressure", "memory", Disturbs),
        ("disk pressure", "io", Limits),
    ] {
        let path = format!("/proc/pressure/{kind}");
        check(name, &[(&path, "some avg10=35.55 avg60=0 total=7\n")], state, "35.5%");
        check(name, &[(&path, "some avg10=NaN total=7\n")], Unavailable, "average");
    }
    let pressed = timed(|timed| timed.pressure[0] = Ok(0.5));
    check_look("processor pressure", &[], pressed, Disturbs, "50.0% now");
    let before = [("/proc/pressure/cpu", "some avg10=90 total=1")];
    check_look("processor pressure", &before, timed(|_| {}), State::Ok, "0.0%");
}

#[test]
fn clocks() {
    use State::{Disturbs, Limits, Unavailable};
    const CURRENT: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    check("clock source", &[(CURRENT, "hpet\n")], Disturbs, "hpet");
    assert!(finding("clock source", &[(CURRENT, "hpet\n")], |_| {}).fix.contains("echo tsc >"));
    for fast in ["timebase", "tod", "riscv_clocksource"] {
        check("clock source", &[(CURRENT, fast)], State::Ok, fast);
    }
    let timer =
        |timer: Timer| move |look: &mut Look| look.timed = Some(Timed { timer: timer.clone(), ..quiet_timed() });
    let gap = Timer { resolution_ns: 20, overhead_ns: 25, worst_gap_ns: 4_000_000, skew_ns: None };
    check_look("timer", &[], timer(gap), Disturbs, "4.00 ms");
    let coarse = Timer { resolution_ns: 4000, overhead_ns: 900, worst_gap_ns: 4000, skew_ns: None };
    check_look("timer", &[], timer(coarse), Limits, "4.00 µs");
    check("timer", &[], Unavailable, "watched");
}

#[test]
fn memory_and_pages() {
    use State::{Disturbs, Limits, Ok, Unavailable};
    const THP: &str = "/sys/kernel/mm/transparent_hugepage";
    check("transparent huge pages", &[(&format!("{THP}/enabled"), "always madvise [never]\n")], Limits, "never");
    let [some, none, all] = [64, 128, 2048].map(|kib| format!("{THP}/hugepages-{kib}kB/enabled"));
    let sizes = [(&*some, "always [madvise] never\n"), (&none, "[never]\n"), (&all, "[inherit] never\n")];
    check("transparent huge pages", &sizes, Ok, "use_zero_page 1, 64 KiB madvise, 2 MiB inherit");
    check("huge page defragmentation", &[(&format!("{THP}/defrag"), "always [defer] never\n")], Limits, "defer");
    // Of the sizes, one that no kernel asks for.
    for (kib, state, text) in [(2048, Limits, "2 MiB: 0 free;"), (64, Ok, "64 KiB: 0 free")] {
        let file = format!("/sys/kernel/mm/hugepages/hugepages-{kib}kB/free_hugepages");
        check("reserved huge pages", &[(&file, "0")], state, text);
    }
    check("NUMA balancing", &[("/proc/sys/kernel/numa_balancing", "1\n")], Disturbs, "is 1");
    let one_node = [("/proc/sys/kernel/numa_balancing", "1\n"), ("/sys/devices/system/node/online", "0\n")];
    check("NUMA balancing", &one_node, Ok, "NUMA nodes: 1");
    check("same-page merging", &[("/sys/kernel/mm/ksm/run", "1\n")], Disturbs, "is 1");
    check("swap", &[("/proc/meminfo", "SwapTotal: 2048 kB\nSwapFree: 1024 kB\n")], Limits, "1 MiB of 2 MiB");
    let command = |name: &str, files: &[(&str, &str)]| finding(name, files, |_| {}).command().map(str::to_owned);
    for (available, fits) in [(1025, true), (1024, false)] {
        let text = format!("SwapTotal: 2048 kB\nSwapFree: 1024 kB\nMemAvailable: {available} kB\n");
        assert_eq!(command("swap", &[("/proc/meminfo", &text)]).is_some(), fits, "{available}");
    }
    // A pool that exists is never made smaller.
    let pools = |free: &str| {
        let names = ["2048kB/nr_hugepages", "2048kB/free_hugepages", "1048576kB/free_hugepages"];
        let [all, small, large] = names.map(|name| format!("/sys/kernel/mm/hugepages/hugepages-{name}"));
        command("reserved huge pages", &[(&all, "20480"), (&small, free), (&large, "0")])
    };
    assert!(pools("0").is_some_and(|command| command.contains("20992")) && pools("1024").is_none());
    check("swap", &[("/proc/meminfo", "SwapTotal: 0 kB\nSwapFree: 0 kB\n")], Ok, "none");
    check("swap", &[("/proc/meminfo", "SwapTotal: 18446744073709551615 kB\n")], Unavailable, "SwapTotal");
    check("overcommit", &[("/proc/sys/vm/overcommit_memory", "2\n")], Limits, "is 2");
    let little = |look: &mut Look| look.limits.memory_budget_bytes = Some(256 << 20);
    check_look("memory", &[], little, Limits, "256 MiB");
}

#[test]
fn systems() {
    use State::{Disturbs, Limits, Ok, Unavailable};
    check("evidence of the process", &[("/proc/self/schedstat", "0\n")], Limits, "schedstat (V03, V04)");
    check("evidence of the process", &[("/proc/self/smaps", "Rss: 0 kB\n")], Limits, "smaps (V20)");
    check("user", &[("/proc/self/status", "Uid:\t1000\t0\t0\t0\n")], Limits, "user 1000, with the rights of user 0");
    for (usual, other, word) in [
        (" 20 0 1 0 ", " 39 19 1 0 ", "policy other, nice 19"),
        (" 20 0 1 0 ", " 10 -10 1 0 ", "policy other, nice -10"),
        (" 17 0 0 0", " 17 0 50 1", "policy fifo, nice 0"),
        (" 17 0 0 0", " 17 0 0 5", "policy idle, nice 0"),
        (" 17 0 0 0", " 17 0 0 7", "policy 7, nice 0"),
    ] {
        check("priority", &[("/proc/self/stat", &OWN_STAT.replace(usual, other))], Limits, word);
    }
    let refused = |look: &mut Look| look.counters = Err(REFUSED.into());
    let paranoid = [("/proc/sys/kernel/perf_event_paranoid", "4\n")];
    check_look("hardware counters", &paranoid, refused, Limits, "is 4");
    // For root it does not matter, and a guest without counters is not helped.
    check("hardware counters", &paranoid, Ok, "is 4");
    check_look("hardware counters", &[], |look| look.counters = Err("none here".into()), Unavailable, "none here");
    let dmi = [("/sys/class/dmi/id/product_name", "KVM\n")];
    check_look("guest", &dmi, |look| look.hypervisor = Some(true), Limits, "(KVM)");
    check_look("guest", &dmi, |look| look.hypervisor = None, Unavailable, "cannot be asked");
    // A guest that was made of an image of a container is none.
    let image = ("/.dockerenv", "");
    check("container", &[image], Ok, "none");
    check("container", &[image, ("/proc/self/ns/pid", "pid:[4026532221]")], Limits, "/.dockerenv");
    check("container", &[("/proc/self/ns/cgroup", "cgroup:[4026532222]")], Limits, "cgroup");
    check("watchdog panics", &[("/proc/sys/kernel/softlockup_panic", "1\n")], Limits, "softlockup_panic is 1");
    check("watchdog panics", &[("/proc/sys/kernel/softlockup_panic", "?\n")], Unavailable, "not a number");
    check("address space layout", &[("/proc/sys/kernel/randomize_va_space", "0\n")], Limits, "is 0");
    check_look("build", &[], |look| look.optimised = false, Disturbs, "without");
    check("build", &[], Ok, "optimised");
}

/// What a knob held is no part of the command that turns it.
#[test]
fn a_knob_that_is_turned_has_a_command() {
    const PATHS: [(&str, &str, &str); 9] = [
        ("governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave"),
        ("turbo", "/sys/devices/system/cpu/cpufreq/boost", "1"),
        ("thp", "/sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]"),
        ("thp-defrag", "/sys/kernel/mm/transparent_hugepage/defrag", "always [defer] never"),
        ("numa-balancing", "/proc/sys/kernel/numa_balancing", "1"),
        ("ksm", "/sys/kernel/mm/ksm/run", "1"),
        ("counters", "/proc/sys/kernel/perf_event_paranoid", "4"),
        ("watchdogs", "/proc/sys/kernel/softlockup_panic", "1"),
        ("clocksource", "/sys/devices/system/clocksource/clocksource0/current_clocksource", "x; rm -rf /"),
    ];
    for (key, path, text) in PATHS {
        let folder = quiet_folder(&[(path, text)]);
        let findings = examine(&Look { counters: Err(REFUSED.into()), ..quiet_look(folder.path()) });
        let finding = findings.iter().find(|finding| finding.key == key).unwrap();
        assert!(finding.command().is_some_and(|command| !command.contains(text) || text.len() == 1), "{finding:?}");
    }
}

#[test]
fn keys_are_words_of_their_own() {
    let keys: std::collections::BTreeSet<_> = items().map(|item| item.key).collect();
    assert_eq!(keys.len(), items().count());
    assert!(keys.iter().all(|key| key.chars().all(|mark| mark.is_ascii_lowercase() || mark == '-')), "{keys:?}");
}

#[test]
fn names_are_unique_and_codes_exist() {
    let folder = tempfile::tempdir().unwrap();
    let findings = examine(&quiet_look(folder.path()));
    for finding in &findings {
        assert_eq!(findings.iter().filter(|other| other.name == finding.name).count(), 1, "{}", finding.name);
        for code in finding.checks {
            assert!(charz_data::checks::find(code).is_some_and(|check| check.code == *code), "{finding:?}");
        }
    }
}

#[test]
fn disturbances_are_reported_without_watching() {
    let found = disturbances();
    assert!(found.iter().all(|finding| finding.state == State::Disturbs), "{found:?}");
    // This is a build for tests, and something is sure to be found in it.
    assert_eq!(found.iter().any(|finding| finding.name == "build"), cfg!(debug_assertions), "{found:?}");
}

#[test]
fn watching_this_machine_counts_its_time() {
    let timed = Timed::watch(&Root::system(), Duration::from_millis(100));
    let processors = timed.processors.unwrap();
    assert!(processors.strands > 0 && processors.total > 0 && processors.idle <= processors.total, "{processors:?}");
    assert!(timed.timer.resolution_ns > 0 && timed.timer.overhead_ns <= timed.timer.worst_gap_ns, "{:?}", timed.timer);
}

fn contents() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        Just(Vec::new()),
        proptest::collection::vec(any::<u8>(), 0..200),
        "[-0-9a-z. \n:,\\[\\]]{0,60}".prop_map(String::into_bytes),
        prop::sample::select(vec![
            "0",
            "-1",
            "18446744073709551616",
            "NaN",
            "1e400",
            "0-4294967295",
            "some avg10=1e9 total=-"
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
        (0_usize..QUIET.len(), 0_usize..40).prop_map(|(at, cut)| {
            let text = QUIET[at].1.as_bytes();
            text[..cut.min(text.len())].to_vec()
        }),
        Just(vec![b'9'; 70_000]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// For any contents of the files every item reports something, and a missing file never becomes a value.
    #[test]
    fn no_root_is_too_strange(files in proptest::collection::vec((0..QUIET.len(), contents()), 0..12)) {
        let folder = tempfile::tempdir().unwrap();
        for (at, bytes) in &files {
            write(folder.path(), QUIET[*at].0, bytes);
        }
        let mut look = quiet_look(folder.path());
        look.timed = Some(Timed {
            processors: Processors::read(&look.root),
            pressure: timed::PRESSURES.map(|kind| timed::waited_ns(&look.root, kind).map(|_| 0.0)),
            ..quiet_timed()
        });
        let findings = examine(&look);
        prop_assert_eq!(findings.len(), items().count());
        let untouched = files.iter().all(|(at, _)| QUIET[*at].0 != "/proc/stat");
        let steal = findings.iter().find(|finding| finding.name == "steal").unwrap();
        prop_assert!(!untouched || steal.state == State::Unavailable);
        prop_assert!(findings.iter().all(|finding| !finding.read.is_empty()));
    }
}
