//! The tools. Each says where its syntax is from unless it is that of the tool's own manual page.

use std::collections::BTreeSet;

use super::{Form, Launch, Placed, Tool};
use charz_data::escape::counted;
use charz_data::program::BINDING;
use charz_data::report::MemoryHome;
use charz_data::{Arrange, cpulist};

#[rustfmt::skip]
pub static TOOLS: &[Tool] = &[
    Tool { name: "taskset", about: "util-linux' taskset, for a whole process.", launch: taskset },
    Tool { name: "numactl", about: "numactl, for a whole process and its memory.", launch: numactl },
    Tool { name: "omp-places", about: "The variables of OpenMP, one place per thread.", launch: omp_places },
    Tool { name: "gomp", about: "The variable of GNU's OpenMP library.", launch: gomp },
    Tool { name: "kmp", about: "The variable of LLVM's and Intel's OpenMP library.", launch: kmp },
    Tool { name: "likwid", about: "likwid-pin, one entry per thread.", launch: likwid },
    Tool { name: "hwloc-bind", about: "hwloc-bind, for a whole process.", launch: hwloc_bind },
    Tool { name: "srun", about: "Slurm's srun, for one task of several threads.", launch: srun },
    Tool { name: "srun-tasks", about: "Slurm's srun, one task per thread.", launch: srun_tasks },
    Tool { name: "mpirun", about: "Open MPI's mpirun, one rank per thread.", launch: mpirun },
    Tool { name: "impi", about: "Intel MPI's mpirun, one rank per thread.", launch: impi },
    Tool { name: "systemd", about: "A scope of systemd, for a whole process and its children.", launch: systemd },
    Tool { name: "docker", about: "docker run, or podman run, for a container.", launch: docker },
    Tool { name: "kubernetes", about: "The resources of a pod, for nodes with the static CPU manager policy.", launch: kubernetes },
    Tool { name: "exec", about: "charz exec, one seat per thread.", launch: exec },
    Tool { name: "cpuset", about: "The CPUs as a list, for a control group's cpuset.cpus.", launch: cpuset },
];

/// What tools that bind a process cannot do.
const SET: &str = "A set, not an order: the operating system moves the process's threads within it.";

/// Why no line has memory that is remote to each thread: only a thread itself can set its policy, set_mempolicy(2).
pub(super) const ONE_POLICY: &str =
    "Memory is not remote here: to these CPUs that is on several nodes, and a program has one policy.";

/// What Slurm asks for where CPUs are named.
const WHOLE_NODE: &str = "Slurm takes CPUs by number only in a job with the whole node: salloc or sbatch --exclusive, without --hint=nomultithread.";

fn command(words: &[&str]) -> Form {
    Form::Command(words.iter().map(|word| (*word).to_owned()).collect())
}

/// A launch by a tool that binds processes to a set; where nothing is bound the tool is not needed.
fn of_set(placed: &Placed<'_>, tool: &str, form: impl FnOnce(&[u32]) -> Form) -> Launch {
    match placed.cpus() {
        Some(cpus) => Launch { notes: vec![SET.to_owned()], form: form(&cpus) },
        None => without(tool),
    }
}

fn without(tool: &str) -> Launch {
    Launch { notes: vec![format!("auto binds nothing: start the program without {tool}.")], form: Form::Without }
}

fn join(seats: &[u32], separator: &str) -> String {
    seats.iter().map(u32::to_string).collect::<Vec<_>>().join(separator)
}

fn taskset(placed: &Placed<'_>) -> Launch {
    of_set(placed, "taskset", |cpus| command(&["taskset", "-c", &cpulist::print(cpus)]))
}

fn numactl(placed: &Placed<'_>) -> Launch {
    let memory = memory_word(placed);
    if let (None, Some(memory)) = (placed.cpus(), &memory) {
        return Launch { notes: Vec::new(), form: command(&["numactl", memory]) };
    }
    of_set(placed, "numactl", |cpus| {
        let memory = memory.as_deref().unwrap_or("--localalloc");
        command(&["numactl", &format!("--physcpubind={}", cpulist::print(cpus)), memory])
    })
}

/// numactl's word for memory that is not left to the threads' own touch; none for that of the farthest node.
pub(super) fn memory_word(placed: &Placed<'_>) -> Option<String> {
    let nodes = Some(cpulist::print(&placed.nodes())).filter(|nodes| !nodes.is_empty())?;
    match placed.memory {
        MemoryHome::Interleaved => Some(format!("--interleave={nodes}")),
        MemoryHome::First | MemoryHome::Node(_) => Some(format!("--membind={nodes}")),
        MemoryHome::Local | MemoryHome::Remote => None,
    }
}

/// The variables that bind and are not set here are removed: a module may have set them, each runtime prefers another, and a program may
/// have two runtimes.
fn openmp(placed: &Placed<'_>, set: &[(&'static str, Option<String>)]) -> Launch {
    let threads = ("OMP_NUM_THREADS", Some(placed.seats.len().to_string()));
    let others = BINDING.into_iter().filter(|name| !set.iter().any(|(own, _)| own == name)).map(|name| (name, None));
    let variables = others.chain([threads]).chain(set.iter().cloned()).collect();
    Launch { notes: Vec::new(), form: Form::Variables(variables) }
}

/// With as many places as threads, and `close`, thread `i` gets place `i`. With fewer places OpenMP would put neighbours on one place
/// instead of starting over, so a place that two threads share is listed twice.
fn omp_places(placed: &Placed<'_>) -> Launch {
    let places =
        placed.bound().map(|seats| seats.iter().map(|seat| format!("{{{seat}}}")).collect::<Vec<_>>().join(","));
    let bind = if places.is_some() { "close" } else { "false" };
    openmp(placed, &[("OMP_PROC_BIND", Some(bind.to_owned())), ("OMP_PLACES", places)])
}

fn gomp(placed: &Placed<'_>) -> Launch {
    let list = placed.bound().map(|seats| join(&seats, " "));
    openmp(placed, &[("GOMP_CPU_AFFINITY", list)])
}

/// Thread `i` gets entry `i` of the list, starting over at its end.
fn kmp(placed: &Placed<'_>) -> Launch {
    let list = |seats: Vec<u32>| format!("granularity=fine,proclist=[{}],explicit", join(&seats, ","));
    let affinity = placed.bound().map_or_else(|| "none".to_owned(), list);
    openmp(placed, &[("KMP_AFFINITY", Some(affinity))])
}

/// In a cpuset, or under a mask, likwid-pin takes ids for numbers within it, though not on aarch64; behind `N:` they are such numbers
/// everywhere. Those of the first strands of all cores come before those of the second ones.
fn likwid(placed: &Placed<'_>) -> Launch {
    let Some(round) = placed.round() else { return without("likwid-pin") };
    // Without the variable it would ask OpenMP for a thread per entry.
    let line = |list: &str, is_over| match is_over {
        true => command(&["env", &format!("OMP_NUM_THREADS={}", placed.seats.len()), "likwid-pin", "-c", list]),
        false => command(&["likwid-pin", "-c", list]),
    };
    let (threads, cpus) = (placed.seats.len(), placed.cpus().map_or(0, |cpus| cpus.len()));
    let over = format!("likwid-pin starts the list over: {threads} threads on {}.", counted(cpus, "CPU"));
    let is_over = round.len() < threads;
    let mut notes: Vec<String> = is_over.then_some(over).into_iter().collect();
    let mut inside: Vec<_> = placed.machine.usable_strands().collect();
    let all = placed.machine.strands.len();
    if inside.len() == all {
        return Launch { notes, form: line(&join(&round, ","), is_over) };
    }
    inside.arrange_by_key(|strand| strand.strand_in_core);
    let number = |seat: &u32| inside.iter().position(|strand| strand.os_id == *seat).map(|at| at as u32);
    let Some(numbers) = round.iter().map(number).collect::<Option<Vec<u32>>>() else { return without("likwid-pin") };
    notes.push(format!(
        "In a cpuset of {} of {all} CPUs likwid-pin numbers these from 0: the line has {}.",
        inside.len(),
        cpulist::cpus(&round)
    ));
    Launch { notes, form: line(&format!("N:{}", join(&numbers, ",")), is_over) }
}

fn hwloc_bind(placed: &Placed<'_>) -> Launch {
    of_set(placed, "hwloc-bind", |cpus| {
        let ranges = cpulist::print(cpus);
        let locations = ranges.split(',').map(|range| format!("pu:{range}"));
        let words = ["hwloc-bind", "--physical"].into_iter().map(str::to_owned);
        Form::Command(words.chain(locations).chain(["--".to_owned()]).collect())
    })
}

/// srun(1) honours masks only where the step has every CPU of the node: a step has what `--cpus-per-task` says. Slurm may keep some CPUs
/// for the system, and refuses a step that asks for these too.
fn srun(placed: &Placed<'_>) -> Launch {
    let of_job = placed.machine.usable.cpuset.as_deref().and_then(|list| cpulist::parse(list).ok());
    let all = format!("--cpus-per-task={}", of_job.map_or(placed.machine.strands.len(), |cpus| cpus.len()));
    let bind = |bind: &str| command(&["srun", "--nodes=1", "--ntasks=1", &all, &format!("--cpu-bind={bind}")]);
    match placed.cpus() {
        Some(cpus) => Launch { notes: vec![SET.to_owned(), WHOLE_NODE.to_owned()], form: bind(&mask(&cpus)) },
        None => Launch { notes: Vec::new(), form: bind("none") },
    }
}

/// `mask_cpu:0x5` of CPUs 0 and 2.
fn mask(cpus: &[u32]) -> String {
    let digit = |digit: u32| (0..4).filter(|bit| cpus.contains(&(4 * digit + bit))).map(|bit| 1 << bit).sum::<u32>();
    let digits = 0..=cpus.iter().max().map_or(0, |max| max / 4);
    digits.rev().fold("mask_cpu:0x".to_owned(), |text, at| format!("{text}{:x}", digit(at)))
}

/// srun starts its list over by itself, but starts more tasks than CPUs only if it is asked to. The ids hold on one node only.
fn srun_tasks(placed: &Placed<'_>) -> Launch {
    let bind = placed.round().map_or_else(|| "none".to_owned(), |round| format!("map_cpu:{}", join(&round, ",")));
    let tasks = format!("--ntasks={}", placed.seats.len());
    let bind = format!("--cpu-bind={bind}");
    let notes = placed.bound().map(|_| WHOLE_NODE.to_owned()).into_iter().collect();
    let mut words = vec!["srun", "--nodes=1", &tasks, &bind];
    if placed.seats.len() > placed.machine.usable_strands().count() {
        words.insert(3, "--overcommit");
    }
    Launch { notes, form: command(&words) }
}

/// What Open MPI 4 and 5 take for the number of a hardware thread differs (prrte, issue 63), and 4.1 sorts the list of
/// `--bind-to cpu-list:ordered`, so each rank binds itself by its number on the node.
fn mpirun(placed: &Placed<'_>) -> Launch {
    let ranks = placed.seats.len();
    let strands = || placed.machine.usable_strands();
    let cores = strands().map(|strand| strand.core.unwrap_or(strand.os_id)).collect::<BTreeSet<u32>>().len();
    let ranks_text = ranks.to_string();
    let mut words = vec!["mpirun", "-np", &ranks_text];
    // Without more words it starts a rank per core.
    if ranks > strands().count() {
        words.extend(["--map-by", "slot:OVERSUBSCRIBE"]);
    } else if ranks > cores {
        words.push("--use-hwthread-cpus");
    }
    words.extend(["--bind-to", "none"]);
    let Some(seats) = placed.bound() else { return Launch { notes: Vec::new(), form: command(&words) } };
    let list = join(&seats, ",");
    let bind = format!("exec taskset -c $(echo {list} | cut -d, -f$((OMPI_COMM_WORLD_LOCAL_RANK + 1))) \"$@\"");
    words.extend(["sh", "-c", &bind, "sh"]);
    let notes = vec![
        "Each rank binds itself: the numbers of CPUs in Open MPI's own lists differ between its versions.".to_owned(),
    ];
    Launch { notes, form: command(&words) }
}

/// "Environment Variables for Process Pinning" of the Intel MPI Library's reference for developers: rank i gets entry i.
fn impi(placed: &Placed<'_>) -> Launch {
    let ranks = placed.seats.len().to_string();
    let Some(seats) = placed.bound() else {
        return Launch { notes: Vec::new(), form: command(&["mpirun", "-genv", "I_MPI_PIN", "off", "-n", &ranks]) };
    };
    let list = join(&seats, ",");
    // With a domain it ignores the list.
    let words = [
        "env",
        "-u",
        "I_MPI_PIN_DOMAIN",
        "-u",
        "I_MPI_PIN",
        "mpirun",
        "-genv",
        "I_MPI_PIN_PROCESSOR_LIST",
        &list,
        "-n",
        &ranks,
    ];
    Launch { notes: Vec::new(), form: command(&words) }
}

/// systemd.resource-control(5): `AllowedCPUs=` needs the cpuset controller of cgroup v2, which the system's manager has.
fn systemd(placed: &Placed<'_>) -> Launch {
    let mut launch = of_set(placed, "systemd-run", |cpus| {
        let mut words = vec!["systemd-run".to_owned(), "--scope".to_owned()];
        words.push(format!("--property=AllowedCPUs={}", cpulist::print(cpus)));
        if placed.memory != MemoryHome::Remote && !placed.nodes().is_empty() {
            words.push(format!("--property=AllowedMemoryNodes={}", cpulist::print(&placed.nodes())));
        }
        Form::Command(words)
    });
    if let Some(cpus) = placed.cpus() {
        launch.notes.push(format!("As root. In a unit, below [Service]: AllowedCPUs={}", cpulist::print(&cpus)));
        let needs = "It needs systemd 244 and control groups of version 2 alone; elsewhere it binds nothing.";
        launch.notes.push(needs.to_owned());
    }
    launch
}

fn docker(placed: &Placed<'_>) -> Launch {
    of_set(placed, "--cpuset-cpus", |cpus| {
        let mut words = vec!["docker".to_owned(), "run".to_owned()];
        words.push(format!("--cpuset-cpus={}", cpulist::print(cpus)));
        if placed.memory != MemoryHome::Remote && !placed.nodes().is_empty() {
            words.push(format!("--cpuset-mems={}", cpulist::print(&placed.nodes())));
        }
        // Without it the default seccomp profile denies numactl set_mempolicy(2).
        words.extend((placed.memory == MemoryHome::Interleaved).then(|| "--cap-add=SYS_NICE".to_owned()));
        words.push("IMAGE".to_owned());
        Form::Command(words)
    })
}

/// "Control CPU Management Policies on the Node" of the Kubernetes documentation: a pod of the Guaranteed class that asks for a whole
/// number of CPUs gets that many for itself.
fn kubernetes(placed: &Placed<'_>) -> Launch {
    // A pod that asks for more than a node has is not started.
    let most = placed.machine.usable_strands().count();
    let cpus = placed.cpus().map_or(placed.seats.len().min(most), |cpus| cpus.len());
    let form = Form::Text(format!("resources: {{limits: {{cpu: \"{cpus}\", memory: MEMORY}}}}"));
    let Some(ids) = placed.cpus() else {
        let notes = vec!["auto binds nothing: the none policy of the CPU manager limits time, not CPUs.".to_owned()];
        return Launch { notes, form };
    };
    let strands = || placed.machine.strands.iter().filter(|strand| ids.contains(&strand.os_id));
    let on_cores: BTreeSet<u32> = strands().filter_map(|strand| strand.core).collect();
    let nodes = strands().filter_map(|strand| strand.numa).collect::<BTreeSet<u32>>().len();
    let cores = on_cores.len();
    let mut notes = vec![
        format!("Kubernetes cannot name {}: a pod gets any {cpus} for itself.", cpulist::cpus(&ids)),
        "The kubelet needs cpuManagerPolicy: static, and the pod requests equal to limits (Guaranteed).".to_owned(),
    ];
    let on_core = |core: u32| placed.machine.strands.iter().filter(|strand| strand.core == Some(core)).count();
    let whole = cores < ids.len() && on_cores.iter().map(|core| on_core(*core)).sum::<usize>() == ids.len();
    notes.extend(whole.then(|| {
        "These fill whole cores: cpuManagerPolicyOptions: {full-pcpus-only: \"true\"} asks for that.".to_owned()
    }));
    notes.extend((nodes > 1).then(|| {
        format!(
            "These are on {nodes} NUMA nodes: cpuManagerPolicyOptions: {{distribute-cpus-across-numa: \"true\"}} asks for that."
        )
    }));
    notes.extend(
        (nodes == 1 && placed.machine.numa_nodes.len() > 1 && placed.memory == MemoryHome::Local)
            .then(|| "These are on one NUMA node: topologyManagerPolicy: single-numa-node asks for that.".to_owned()),
    );
    Launch { notes, form }
}

fn exec(placed: &Placed<'_>) -> Launch {
    let mapping = placed.round().map_or_else(|| "auto".to_owned(), |round| format!("list:{}", cpulist::print(&round)));
    let mut words = ["charz", "exec", "--mapping", &mapping, "--threads"].map(str::to_owned).to_vec();
    words.push(placed.seats.len().to_string());
    if placed.round().is_some_and(|round| placed.cpus().is_some_and(|cpus| cpus.len() < round.len())) {
        words.push("--allow-stack".to_owned());
    }
    let several = placed.has_several_remotes();
    let memory = match placed.memory {
        MemoryHome::Local => None,
        MemoryHome::Remote if several => None,
        // Its words have none for the first thread's node.
        MemoryHome::First => placed.nodes().first().map(|node| MemoryHome::Node(*node)),
        other => Some(other),
    };
    words.extend(memory.into_iter().flat_map(|memory| ["--memory".to_owned(), memory.to_string()]));
    words.push("--".to_owned());
    Launch { notes: several.then(|| ONE_POLICY.to_owned()).into_iter().collect(), form: Form::Command(words) }
}

/// Floating threads may use all that the process may use.
fn cpuset(placed: &Placed<'_>) -> Launch {
    let all = || placed.machine.usable_strands().map(|strand| strand.os_id).collect::<Vec<_>>();
    let mut cpus = placed.cpus().unwrap_or_else(all);
    cpus.sort_unstable();
    Launch { notes: Vec::new(), form: Form::Text(cpulist::print(&cpus)) }
}
