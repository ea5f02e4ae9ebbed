//! Each parser on what the kernel writes. `tests/systems` has control groups of several kinds of systems, with what is to be found there.

use std::fs;
use std::hint::spin_loop;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use charz_data::cpulist;

use crate::cgroup::{Group, counted, distinct, groups_in, tightest};
use crate::stat::Ticks;
use crate::task::{Stat, Used, migrations, times_ns, used_by_all, waited};
use crate::{Status, cpuinfo, meminfo, numa_maps, pressure, stat, threads};

/// What is found in the control groups of a system whose files are below `root`.
fn found(groups: &str, mounts: &str, root: &str) -> String {
    let of = |controller| groups_in(controller, groups, mounts);
    let or_none = |text: Option<String>| text.filter(|text| !text.is_empty()).unwrap_or_else(|| "-".to_owned());
    let number = |number: Option<u64>| or_none(number.map(|number| number.to_string()));
    let folders: Vec<String> = of("cpu").iter().map(|group| group.folder.display().to_string()).collect();
    let quota = tightest(&of("cpu"), &|path| fs::read_to_string(path).ok());
    let quota = quota.map(|quota| format!("{} in {:?}", quota.cpus, quota.period));
    let tasks = of("pids").iter().filter_map(Group::tasks).collect::<Vec<_>>();
    let current = |current: Option<u64>| current.map_or("?".to_owned(), |current| current.to_string());
    let tasks = tasks.iter().map(|tasks| format!("{} of {}", current(tasks.current), tasks.max)).collect::<Vec<_>>();
    let text = format!(
        "cpu: {}\nquota: {}, throttled {}\nmemory: limit {}, left {}\ntasks: {}\ncpuset: {}\n",
        folders.join(" "),
        or_none(quota),
        number(of("cpu").iter().find_map(|group| counted(&group.folder.join("cpu.stat"), "nr_throttled"))),
        number(of("memory").iter().filter_map(Group::memory_limit).min()),
        number(of("memory").iter().filter_map(Group::memory_left).min()),
        or_none(Some(tasks.join(", "))),
        or_none(of("cpuset").iter().find_map(Group::cpuset).map(|cpus| cpulist::print(&cpus))),
    );
    text.replace(root, "@")
}

#[test]
fn control_groups_of_all_systems_are_read() {
    let systems = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/systems")).unwrap();
    for system in systems.map(|system| system.unwrap().path()) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_str().unwrap();
        let text = fs::read_to_string(&system).unwrap().replace('@', root);
        let (mut groups, mut mounts, mut expected) = ("", "", "");
        for (path, content) in text.split("\n== ").skip(1).map(|file| file.split_once('\n').unwrap()) {
            match path {
                "/proc/self/cgroup" => groups = content,
                "/proc/self/mountinfo" => mounts = content,
                "expected" => expected = content,
                path => {
                    fs::create_dir_all(Path::new(path).parent().unwrap()).unwrap();
                    fs::write(path, content).unwrap();
                }
            }
        }
        assert_eq!(found(groups, mounts, root), expected.replace(root, "@"), "{}", system.display());
    }
}

#[test]
fn a_group_under_two_mounts_is_one() {
    let root = tempfile::tempdir().unwrap();
    let place = |name: &str| root.path().join(name);
    ["a", "b"].iter().for_each(|name| fs::create_dir(place(name)).unwrap());
    symlink(place("a"), place("again")).unwrap();
    let groups = ["a", "again", "b", "missing"].map(|name| Group { folder: place(name), unified: true });
    let folders: Vec<_> = distinct(groups.into()).into_iter().map(|group| group.folder).collect();
    assert_eq!(folders, [place("a"), place("b")]);
}

#[test]
fn nonsense_in_control_groups_is_no_limit() {
    const V2: &str = "30 23 0:26 / /g rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate";
    for text in ["", "max", "0 100000", "x 100000", "100000 0", "NaN 1", "1e400 1", "1e308 1e-308", "1e-308 1e308"] {
        assert_eq!(tightest(&groups_in("cpu", "0::/", V2), &|_| Some(text.to_owned())), None);
    }
    assert_eq!(groups_in("cpu", "", ""), []);
    assert_eq!(groups_in("cpu", "::\n:", " - \n1 2 3 - cgroup"), []);
    let group = Group { folder: "/g".into(), unified: true };
    let error = group.quota(|_| Ok::<_, String>("x 100000\n".to_owned())).unwrap_err();
    assert_eq!(error, "/g/cpu.max: \"x 100000\" and \"100000\" are no quota and period");
    assert_eq!(group.quota(|_| Err::<String, _>("refused".to_owned())), Err("refused".to_owned()));
}

#[test]
fn all_of_a_status_is_read() {
    let status = Status::new(include_str!("../tests/status"));
    assert_eq!(status.name(), Some("a) b:"));
    assert_eq!((status.process(), status.parent(), status.threads()), (Some(1234), Some(1), Some(7)));
    assert_eq!((status.users(), status.mapped_bytes()), (Some([1000, 0]), Some(8_300 << 10)));
    assert_eq!((status.cpus(), status.nodes()), (Ok(vec![0, 1, 1500]), Ok(vec![0, 1])));
    assert_eq!([1, 2, 3, 13, 64].map(|signal| status.ignores(signal)), [true, false, false, true, false]);
    assert_eq!(status.involuntary_switches(), Some(42));
}

#[test]
fn what_a_status_lacks_is_named() {
    let why = |text: &str| Status::new(text).cpus().unwrap_err().to_string();
    assert_eq!(why("Name:\tx\nCpus_allowed:\t3\n"), "/proc/self/status: has no Cpus_allowed_list");
    assert!(why("Cpus_allowed_list:\t\n").starts_with("/proc/self/status: \"\" is not a CPU id"));
    let nothing = Status::default();
    assert_eq!((nothing.name(), nothing.users(), nothing.mapped_bytes()), (None, None, None));
    assert!(nothing.nodes().is_err() && !nothing.ignores(1));
}

#[test]
fn this_thread_may_run_somewhere() {
    // Cut inside of a character, as the kernel cuts long names.
    rustix::thread::set_name(c"fourteen bytes\xc3").unwrap();
    assert!(Status::of_thread().cpus().is_ok_and(|cpus| !cpus.is_empty()));
    assert_eq!(Status::of_thread().process(), i32::try_from(std::process::id()).ok());
}

#[test]
fn a_hostile_name_does_not_move_the_fields_of_stat() {
    let fields: Vec<String> = (3..=52).map(|field| field.to_string()).collect();
    let text = format!("17 (a) R (b) (c) {}", fields.join(" "));
    let stat = Stat::new(&text);
    assert_eq!((stat.name, stat.cpu()), ("a) R (b) (c", Some(39)));
    assert_eq!((stat.minor_faults(), stat.major_faults()), (Some(10), Some(12)));
    assert_eq!((stat.ticks(), stat.begun(), stat.is_of_kernel()), (Some(29), Some(22), Some(false)));
    assert_eq!(Stat::new("7 (kworker) S 2 0 0 0 -1 2129984 0 0").is_of_kernel(), Some(true));
    assert_eq!((Stat::new("17 (a) S 1").cpu(), Stat::new("")), (None, Stat::default()));
}

#[test]
fn scheduler_statistics_may_be_missing() {
    assert_eq!(migrations("cat (1, #threads: 1)\nse.nr_migrations      :       12\n"), Some(12));
    assert_eq!(migrations("se.exec_start : 1\n"), None);
    assert_eq!((times_ns("464010 54871 2\n"), times_ns("\n")), ([Some(464_010), Some(54_871)], [None; 2]));
}

#[test]
fn each_line_of_proc_stat_is_of_a_cpu() {
    let text = "cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 2 3 4 5 6 7 3 9 10\ncpu10 1 2 3 4 5 6 7 5 9 10\nprocs_running 2\n";
    let all = Ticks::of_all(text).unwrap();
    assert_eq!((all.busy(), all.total(), all.steal), (1 + 2 + 3 + 6 + 7, 36, 8));
    assert_eq!(Ticks::of_each(text).map(|(id, ticks)| (id, ticks.steal)).collect::<Vec<_>>(), [(0, 3), (10, 5)]);
    assert_eq!(stat::running(text), Ok(2));
}

#[test]
fn what_proc_stat_lacks_is_named() {
    let why = |text| Ticks::of_all(text).unwrap_err().to_string();
    assert_eq!(why("intr 5\n"), "/proc/stat: has no line cpu");
    assert_eq!(why("cpu  1 2 3\n"), "/proc/stat: does not count steal");
    assert_eq!(why("cpu  a b\n"), "/proc/stat: \" a b\" are not numbers");
    assert_eq!(why("cpu  0 0 0 0 0 0 0 0 0 0\n"), "/proc/stat: counts no time");
    assert!(stat::running("procs_running\n").unwrap_err().to_string().ends_with("(procs_running)"));
}

#[test]
fn the_view_of_lxcfs_is_not_the_kernels() {
    let proc = tempfile::tempdir().unwrap();
    fs::create_dir(proc.path().join("self")).unwrap();
    fs::write(proc.path().join("stat"), "cpu  1 2 3 4 5 6 7 8 9 10\n").unwrap();
    let read = |mount: &str| {
        // A mount point may be any bytes.
        let mounts = [b"30 23 0:4 / /mnt/\xff rw - ext4 /dev/sdb rw\n", mount.as_bytes(), b"\n"].concat();
        fs::write(proc.path().join("self/mountinfo"), mounts).unwrap();
        stat::read(proc.path()).map_err(|error| error.why)
    };
    for (mount, is_kernels) in [
        ("600 590 0:50 /proc/stat /proc/stat rw,nosuid - fuse.lxcfs lxcfs rw,user_id=0", false),
        ("600 590 0:50 /proc /proc rw,nosuid shared:7 - fuse.lxcfs lxcfs rw,user_id=0", false),
        ("600 590 0:50 /proc/meminfo /proc/meminfo rw,nosuid - fuse.lxcfs lxcfs rw,user_id=0", true),
        ("600 590 0:50 / /var/lib/lxcfs rw - fuse.lxcfs lxcfs rw", true),
    ] {
        let expected = is_kernels.then_some(()).ok_or(stat::OF_LXCFS.to_owned());
        assert_eq!(read(mount).map(drop), expected, "{mount}");
    }
}

#[test]
fn meminfo_counts_in_kib() {
    let text = "MemTotal:       24684084 kB\nMemAvailable:   1024 kB\nHugePages_Total:       0\nSwapFree: 18446744073709551615 kB\n";
    let bytes = |name| meminfo::bytes(text, name);
    assert_eq!(
        ["MemAvailable", "MemFree", "HugePages_Total", "SwapFree"].map(bytes),
        [Some(1 << 20), None, None, None]
    );
}

#[test]
fn the_first_value_of_cpuinfo_counts() {
    let text = "model name\t: x: y\ncpu MHz\t\t: 2596.134\nmicrocode\t: \n\ncpu MHz\t\t: 1.0\nbogomips\t: fast\n";
    assert_eq!((cpuinfo::number(text, "cpu MHz"), cpuinfo::value(text, "model name")), (Some(2596.134), Some("x: y")));
    assert_eq!((cpuinfo::value(text, "microcode"), cpuinfo::number(text, "bogomips")), (Some(""), None));
    assert_eq!((cpuinfo::value(text, "model"), cpuinfo::value("", "processor")), (None, None));
}

#[test]
fn pages_on_nodes_count_by_their_size() {
    let text = "7f0 default file=/a=b anon=3 N0=1 N2=2 kernelpagesize_kB=4\n8f0 bind:0 huge N2=2 kernelpagesize_kB=2048\n\
                9f0 default N1=3\na00 default N0=18446744073709551615\nx\nx y\n";
    let found: Vec<_> = numa_maps::mappings(text).map(|mapping| (mapping.start, mapping.bytes_by_node())).collect();
    let [small, huge] = [vec![(0, 4096), (2, 8192)], vec![(2, 4 << 20)]].map(Some);
    assert_eq!(found, [(0x7f0, small), (0x8f0, huge), (0x9f0, Some(vec![(1, 3 * 4096)])), (0xa00, None)]);
}

#[test]
fn waits_of_some_tasks_are_pressure() {
    let text = "some avg10=2.50 avg60=0.00 avg300=0.00 total=12\nfull avg10=1.00 avg60=0.00 avg300=0.00 total=5\n";
    assert_eq!((pressure::waited_ns(text), pressure::recent(text)), (Some(12_000), Some(0.025)));
    assert_eq!((pressure::waited_ns("full avg10=1 total=5\n"), pressure::recent("some avg10=101\n")), (None, None));
}

#[test]
fn threads_of_a_user_are_at_least_those_of_this_process() {
    let beside = thread::spawn(|| thread::sleep(Duration::from_millis(100)));
    assert!(threads::of_user().is_some_and(|threads| threads >= 2));
    assert!(threads::all() >= Some(2));
    beside.join().unwrap();
}

#[test]
fn threads_of_a_user_count_once() {
    let proc = tempfile::tempdir().unwrap();
    for (process, user) in [("7", 5), ("8", 5), ("9", 0)] {
        fs::create_dir(proc.path().join(process)).unwrap();
        fs::write(proc.path().join(process).join("status"), format!("Uid:\t{user}\t5\t5\t5\nThreads:\t3\n")).unwrap();
    }
    ["self", "thread-self"].iter().for_each(|name| symlink("7", proc.path().join(name)).unwrap());
    assert_eq!(threads::of_user_in(proc.path()), Some(6));
}

#[test]
fn none_of_many_processes_is_lost_among_those_that_read() {
    let proc = tempfile::tempdir().unwrap();
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    for process in 1..=1100 {
        fs::create_dir(proc.path().join(process.to_string())).unwrap();
        fs::write(proc.path().join(format!("{process}/stat")), &stat).unwrap();
    }
    let found = used_by_all(proc.path());
    assert!(found.keys().copied().eq(1..=1100) && found[&7] == Used::of(&stat).unwrap());
    assert!(used_by_all(&proc.path().join("1")).is_empty());
}

#[test]
fn the_limit_on_threads_is_the_one_that_the_system_shows() {
    let limits = fs::read_to_string("/proc/self/limits").unwrap();
    let line = limits.lines().find_map(|line| line.strip_prefix("Max processes")).unwrap();
    assert_eq!(threads::max_of_user(), line.split_whitespace().next().unwrap().parse().ok());
    assert!(threads::mappings() > 0);
}

/// More threads than CPUs have to wait for each other.
#[test]
#[allow(clippy::print_stdout, reason = "a skipped test says so")]
fn a_thread_that_waits_for_a_cpu_is_seen() {
    let Some(before) = fs::read_to_string("/proc/thread-self/schedstat").ok().and_then(|text| times_ns(&text)[1])
    else {
        println!("skipped: the system does not count how long a thread waits");
        return;
    };
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..=thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    spin_loop();
                }
            });
        }
        while waited(std::process::id()).as_nanos() <= u128::from(before) {
            thread::yield_now();
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(waited(0), Duration::ZERO, "no process has this id");
}
