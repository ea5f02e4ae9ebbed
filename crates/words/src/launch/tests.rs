use std::process::Command;

use proptest::prelude::*;

use super::*;
use charz_data::program::BINDING;
use charz_estimate::fixtures::report;

/// Two sockets of two cores of two strands.
const SERVER: &str = "Package:2 [NUMA(memory=8GB)] Core:2 PU:2";

fn launch(tool: &str, seats: &[Option<u32>], memory: MemoryHome) -> Launch {
    let report = report(SERVER);
    let tool = TOOLS.iter().find(|one| one.name == tool).unwrap();
    Placed { machine: &report.machine, seats, memory }.launch(tool)
}

fn seated(seats: &[u32]) -> Vec<Option<u32>> {
    seats.iter().copied().map(Some).collect()
}

#[track_caller]
fn check_line(tool: &str, seats: &[u32], memory: MemoryHome, expected: &str) {
    assert_eq!(launch(tool, &seated(seats), memory).line(PROGRAM).as_deref(), Some(expected));
}

#[test]
fn memory_goes_where_it_was_measured() {
    for (memory, words) in [
        (MemoryHome::Local, "--localalloc"),
        (MemoryHome::First, "--membind=1"),
        (MemoryHome::Interleaved, "--interleave=0-1"),
        (MemoryHome::Node(0), "--membind=0"),
        (MemoryHome::Remote, "--localalloc"),
    ] {
        check_line("numactl", &[4, 0], memory, &format!("numactl --physcpubind=0,4 {words} PROGRAM"));
        let notes = launch("numactl", &seated(&[4, 0]), memory).notes;
        assert_eq!(notes.len() > 1, memory == MemoryHome::Remote, "what it cannot express is said");
    }
    let docker = "docker run --cpuset-cpus=4 --cpuset-mems=1 IMAGE PROGRAM";
    check_line("docker", &[4], MemoryHome::Local, docker);
    // All memory that is local to the seats, but none that has nothing to give.
    let mut report = report(SERVER);
    let near = charz_data::machine::NumaNode { os_id: Some(5), ..report.machine.numa_nodes[1].clone() };
    report.machine.numa_nodes.push(near);
    report.machine.strands[4].numa_nodes.push(2);
    let line = |machine: &Machine, tool: &str| {
        let tool = TOOLS.iter().find(|one| one.name == tool).unwrap();
        let placed = Placed { machine, seats: &seated(&[4]), memory: MemoryHome::Local };
        placed.launch(tool).line(PROGRAM).unwrap()
    };
    for (tool, word) in [("docker", "--cpuset-mems=1,5 "), ("systemd", "AllowedMemoryNodes=1,5 ")] {
        assert!(line(&report.machine, tool).contains(word));
    }
    report.machine.numa_nodes[1].memory_bytes = Some(0);
    assert!(line(&report.machine, "docker").contains("--cpuset-mems=5 "));
    // Of one node nothing is asked: where the kernel divides a memory, hwloc may have seen a part of it.
    report.machine.numa_nodes.truncate(1);
    assert!(!line(&report.machine, "docker").contains("mems"));
}

#[test]
fn every_tool_asks_for_the_memory_that_was_measured() {
    let (pinned, floating) = (seated(&[4, 0]), [None, None]);
    for (memory, words) in [
        (MemoryHome::Interleaved, &["--interleave=0-1", "--memory interleaved"][..]),
        (MemoryHome::Node(1), &["--membind=1", "--memory node:1", "MemoryNodes=1", "--cpuset-mems=1"]),
        (MemoryHome::Remote, &["remote"]),
    ] {
        for (tool, seats) in TOOLS.iter().flat_map(|tool| [(tool, &pinned[..]), (tool, &floating)]) {
            let launch = launch(tool.name, seats, memory);
            let found = launch.notes.join("\n") + &launch.line(PROGRAM).unwrap_or_default();
            assert!(words.iter().any(|word| found.contains(word)), "{}, {memory}: {found}", tool.name);
        }
    }
    let gomp = "env -u OMP_PROC_BIND -u OMP_PLACES -u KMP_AFFINITY -u KMP_HW_SUBSET OMP_NUM_THREADS=1 GOMP_CPU_AFFINITY=4 \
                numactl --interleave=0-1 PROGRAM";
    check_line("gomp", &[4], MemoryHome::Interleaved, gomp);
    let pod = launch("kubernetes", &seated(&[0, 2]), MemoryHome::Interleaved).notes.join("\n");
    assert!(pod.contains("put numactl --interleave=0-1 before") && !pod.contains("single-numa-node"), "{pod}");
}

/// `charz exec` refuses them.
#[test]
fn no_line_asks_for_several_remote_memories() {
    for (seats, is_one) in [(&[0, 2][..], true), (&[0, 4], false)] {
        let asks = |tool: &Tool| launch(tool.name, &seated(seats), MemoryHome::Remote).line("").unwrap_or_default();
        assert_eq!(TOOLS.iter().any(|tool| asks(tool).contains("--memory remote")), is_one, "{seats:?}");
    }
}

#[test]
fn slurm_takes_threads_as_a_mask_and_tasks_as_a_list() {
    let step = "srun --nodes=1 --ntasks=1 --cpus-per-task=8 --cpu-bind=mask_cpu";
    check_line("srun", &[6, 0, 2, 0], MemoryHome::Local, &format!("{step}:0x45 PROGRAM"));
    check_line(
        "srun",
        &[130, 64, 3],
        MemoryHome::Local,
        &format!("{step}:0x400000000000000010000000000000008 PROGRAM"),
    );
    check_line(
        "srun-tasks",
        &[6, 0, 6, 0],
        MemoryHome::Local,
        "srun --nodes=1 --ntasks=4 --cpu-bind=map_cpu:6,0 PROGRAM",
    );
    let starts = |tasks: usize| launch("srun-tasks", &vec![None; tasks], MemoryHome::Local).line("").unwrap();
    assert!(!starts(8).contains("--overcommit") && starts(9).contains("--overcommit"));
    // A core is kept for the system.
    let mut report = report(SERVER);
    report.machine.usable.cpuset = Some("2-7".to_owned());
    let placed = Placed { machine: &report.machine, seats: &seated(&[2, 3]), memory: MemoryHome::Local };
    let tool = TOOLS.iter().find(|one| one.name == "srun").unwrap();
    let step = placed.launch(tool).line("").unwrap();
    assert!(step.contains("--cpus-per-task=6 "), "{step}");
}

#[test]
fn a_list_that_is_started_over_keeps_the_cpus_that_repeat_in_it() {
    for (seats, list) in
        [(&[0, 0, 1][..], "0,0,1"), (&[0, 1, 0, 2], "0,1,0,2"), (&[0, 0, 1, 0, 0], "0,0,1"), (&[4, 4, 4], "4")]
    {
        let of = |tool: &str| launch(tool, &seated(seats), MemoryHome::Local).line("").unwrap();
        assert!(of("srun-tasks").contains(&format!("map_cpu:{list} ")), "{}", of("srun-tasks"));
        assert!(of("likwid").contains(&format!("-c {list} ")), "{}", of("likwid"));
        let is_over = seats.len() > list.split(',').count();
        assert_eq!(of("likwid").contains(&format!("OMP_NUM_THREADS={} ", seats.len())), is_over, "{}", of("likwid"));
        let exec = of("exec");
        let named = exec.split(' ').find_map(|word| word.strip_prefix("list:")).unwrap();
        assert_eq!(charz_data::cpulist::parse(named).unwrap().len(), list.split(',').count(), "{exec}");
        assert_eq!(exec.contains("--allow-stack"), list.len() > 1, "{exec}");
    }
}

#[test]
fn likwid_counts_within_a_cpuset() {
    let mut report = report(SERVER);
    for strand in &mut report.machine.strands {
        strand.usable = [1, 2, 3, 7].contains(&strand.os_id);
    }
    let placed = Placed { machine: &report.machine, seats: &seated(&[3, 2, 7]), memory: MemoryHome::Local };
    let tool = TOOLS.iter().find(|one| one.name == "likwid").unwrap();
    let launch = placed.launch(tool);
    // The first strands of cores, CPU 2 alone, come before the second ones.
    assert_eq!(launch.line(PROGRAM).as_deref(), Some("likwid-pin -c N:2,0,3 PROGRAM"));
    assert!(launch.notes[0].contains("CPUs 3,2,7"), "{:?}", launch.notes);
}

/// The words of the shell that a rank runs, with the number that Open MPI gives it.
#[test]
fn each_rank_of_open_mpi_binds_itself_to_its_own_seat() {
    let Form::Command(words) = launch("mpirun", &seated(&[6, 0, 2]), MemoryHome::Local).form else { panic!() };
    let at = words.iter().position(|word| word == "sh").unwrap();
    let script = words[at + 2].replace("exec taskset", "echo");
    let told = |rank: u32| shell(&format!("OMPI_COMM_WORLD_LOCAL_RANK={rank} sh -c {} sh a 'b c'", quoted(&script)));
    assert_eq!([0, 1, 2].map(told), ["-c 6 a b c\n", "-c 0 a b c\n", "-c 2 a b c\n"]);
    let starts = |ranks: usize| {
        launch("mpirun", &seated(&[0, 1, 2, 3, 4, 5, 6, 7, 0])[..ranks], MemoryHome::Local).line("").unwrap()
    };
    assert!(
        !starts(4).contains("hwthread")
            && starts(5).contains("--use-hwthread-cpus")
            && starts(9).contains("OVERSUBSCRIBE")
    );
}

#[test]
fn a_line_that_floats_binds_nothing() {
    for tool in TOOLS {
        let launch = launch(tool.name, &[None, None], MemoryHome::Local);
        assert!(
            launch.line(PROGRAM).is_none_or(|line| !line.contains("taskset") && !line.contains("mask_cpu")),
            "{}",
            tool.name
        );
        assert!(launch.form != Form::Without || launch.notes[0].starts_with("auto binds nothing"), "{}", tool.name);
    }
    let line = launch("omp-places", &[None, None], MemoryHome::Local).line(PROGRAM);
    let unset = "-u GOMP_CPU_AFFINITY -u KMP_AFFINITY -u KMP_HW_SUBSET -u OMP_PLACES";
    let binds_nothing = format!("{unset} OMP_NUM_THREADS=2 OMP_PROC_BIND=false");
    assert_eq!(line, Some(format!("env {binds_nothing} PROGRAM")));
}

#[test]
fn what_another_tool_exported_does_not_bind() {
    let own = [
        ("omp-places", &["OMP_PROC_BIND", "OMP_PLACES"][..]),
        ("gomp", &["GOMP_CPU_AFFINITY"]),
        ("kmp", &["KMP_AFFINITY"]),
    ];
    for (tool, own) in own {
        let script = launch(tool, &seated(&[4, 0]), MemoryHome::Local).script();
        let set = BINDING.map(|name| format!("export {name}=x\n")).concat();
        let left = shell(&format!(
            "{set}{script}for name in {}; do printenv $name >/dev/null && echo $name; done; true",
            BINDING.join(" ")
        ));
        assert_eq!(left.split_whitespace().collect::<Vec<_>>(), own, "{tool}");
    }
}

#[test]
fn a_pod_is_told_what_it_cannot_have() {
    let notes = |seats: &[u32]| launch("kubernetes", &seated(seats), MemoryHome::Local).notes.join("\n");
    assert!(notes(&[0, 1]).contains("cannot name CPUs 0-1") && notes(&[0, 1]).contains("full-pcpus-only"));
    assert!(notes(&[0, 2]).contains("single-numa-node") && !notes(&[0, 2]).contains("full-pcpus-only"));
    assert!(!notes(&[0, 1, 2]).contains("full-pcpus-only"));
    assert!(notes(&[0, 4]).contains("distribute-cpus-across-numa"));
    let floating = launch("kubernetes", &[None; 9], MemoryHome::Local);
    assert!(floating.line("").unwrap().contains("cpu: \"8\""), "the node has 8: {floating:?}");
}

/// What a shell prints when it runs a script.
fn shell(script: &str) -> String {
    let output = Command::new("sh").args(["-c", script]).output().unwrap();
    assert!(output.status.success(), "{script}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn a_shell_reads_words_back(words in prop::collection::vec("[ -~äß]{0,8}", 1..6)) {
        let found = shell(&format!("printf '%s\\n' {}", line(&words)));
        prop_assert_eq!(found.lines().collect::<Vec<_>>(), words);
    }

    #[test]
    fn every_line_is_one_that_a_shell_runs(seats in prop::collection::vec(0_u32..8, 1..12)) {
        for tool in TOOLS {
            let launch = launch(tool.name, &seated(&seats), MemoryHome::Local);
            match &launch.form {
                Form::Without => panic!("{}: seats are bound", tool.name),
                Form::Text(text) => {
                    prop_assert!(launch.script().lines().filter(|line| !line.starts_with('#')).eq([text]));
                }
                Form::Command(words) => {
                    let echoed = shell(&format!("echo {}", launch.line(PROGRAM).unwrap()));
                    prop_assert_eq!(echoed, format!("{} {PROGRAM}\n", words.join(" ")));
                }
                Form::Variables(variables) => {
                    let (name, value) = variables.last().unwrap();
                    let exported = shell(&format!("{}printenv {name}", launch.script()));
                    let alone = shell(&launch.line(&format!("printenv {name}")).unwrap());
                    for found in [&exported, &alone] {
                        prop_assert_eq!(Some(found.trim_end()), value.as_deref());
                    }
                    let digits = exported.split(|mark: char| !mark.is_ascii_digit()).filter_map(|id| id.parse().ok());
                    prop_assert_eq!(digits.collect::<Vec<u32>>(), &seats[..], "one entry per thread, in order");
                }
            }
        }
    }
}
