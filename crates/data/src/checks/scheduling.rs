//! Checks of where workers ran, and of time that was taken from them.

use super::{Check, Scale};

/// The shortest time over which steal is meaningful, in nanoseconds: it is counted in ticks of 10 ms, so one tick is 1% of a
/// second, and in less time a share of 0.5% cannot be distinguished from zero.
pub const STEAL_WINDOW_NS: u64 = 1_000_000_000;

/// The stolen time from which on it counts in a shorter time too, in nanoseconds: one tick of 10 ms is an accident of when
/// the kernel looked, two are not.
pub const STEAL_TICKS_NS: u64 = 20_000_000;

/// The fewest CPUs of which what other programs used is a share (V34): of ten the limit is 0.05 of a CPU.
pub const FEWEST_SHARED: usize = 10;

pub static V01: Check = Check {
    code: "V01",
    title: "thread not on its CPU",
    cause: "The system did not honour the binding, or changed it: a cpuset shrank, a program set the mask, its own or another's, the CPU \
            went offline. The number then belongs to another place on the machine than the one it is printed for. A mask \
            that cannot be read back is no proof, and counts as off the seat.",
    quantity: "Readings of mask or CPU that were not the seat, or that a seated thread could not make.",
    scale: Scale::Count,
    invalid: Some(0.0),
    evidence: "`sched_getaffinity` and `getcpu` before and after each lap and between its blocks, independently of the \
               binding library.",
    families: "Threads with a seat, so not the mapping `auto`.",
    fix: "Turn off the binding of a program that binds its own threads, or measure it under `--mapping auto`. Else see what the process may \
           use with `charz topo`, and its mask with `taskset -p PID`; end what changes masks or cpusets, or map only onto CPUs that stay.",
    source: "Measured for charz: a cpuset shrunk from two CPUs to one moved a pinned task, and widening restored it \
             unseen. Tools that ignore the result of the pin call print numbers of the wrong place.",
    // Moved, workers meet on one strand, wait for it, and spread.
    covers: &["V02", "V03", "V06", "V12", "V13", "V14", "V15", "V16", "V18", "V28"],
    ..Check::NEVER_RAISED
};

pub static V02: Check = Check {
    code: "V02",
    title: "pinned thread migrated",
    cause: "The scheduler moved a bound thread, so its mask was wider or elsewhere for a while, even if both ends of the \
            lap look right. Part of the time was measured on another CPU, with cold caches.",
    quantity: "The share of iterations in which a seated thread migrated, which do not count; of kernels, whose threads move only where something else \
               moves them, one counts as all.",
    scale: Scale::Share,
    note: Some(0.0),
    suspect: Some(0.1),
    invalid: Some(0.5),
    evidence: "`se.nr_migrations` in `/proc/thread-self/sched`; unavailable where the kernel has no scheduler statistics.",
    families: "Threads with a seat; under `auto` migrations are recorded and no finding.",
    fix: "As for V01: find what changes masks or cpusets (`systemctl`, a container runtime, irqbalance-like daemons), and \
           end it while measuring. A program that starts threads may have one moved now and then before it is on its seat: a few runs of many are \
           no loss.",
    source: "Linux, Documentation/scheduler/sched-debug.rst; measured for charz as V01.",
    covers: &["V03", "V06", "V12", "V13", "V14", "V15", "V16", "V18", "V28"],
    ..Check::NEVER_RAISED
};

pub static V03: Check = Check {
    code: "V03",
    title: "thread was preempted",
    of_capacity: true,
    cause: "Something else ran on the CPU: another process, a kernel thread, a neighbour in the same container. The wait \
            is part of the lap's time and lowers the rate; what ran in between left its data in the caches.",
    quantity: "The share of iterations that are dirty. An iteration is dirty if one of its laps waited, runnable, for more than \
               the lap limit's share of its time.",
    scale: Scale::Share,
    lap: Some(0.01),
    note: Some(0.0),
    evidence: "The run delay in `/proc/thread-self/schedstat` around each lap, but no more than the lap's time without its processor time; \
               where that is missing, involuntary context \
               switches (`getrusage`), any of which makes the lap dirty.",
    families: "Numbers made of iterations, but for kernels without work to repeat and configurations whose threads share CPUs (V19). \
               Numbers made of blocks leave out the blocks in which a thread waited.",
    fix: "End other work (`charz doctor` shows it), or give the CPUs to charz alone: boot with `isolcpus=` or make an \
           exclusive cpuset, and move interrupts away (`/proc/irq/*/smp_affinity_list`). Then repeat the configuration.",
    source: "Measured for charz: dropping iterations by run delay brought the variation of an integer kernel from 31.8% to \
             1.2% on a busy machine, where steal showed under 3%. Among 554 configurations it predicted no error of what was left: a \
             note, and V12 where too little is left.",
    // The pressure is ours; what is left of the disturbance in the caches spreads the clean repetitions.
    covers: &["V06", "V13", "V14", "V15", "V16", "V18"],
    ..Check::NEVER_RAISED
};

pub static V04: Check = Check {
    code: "V04",
    title: "thread was stalled",
    of_capacity: true,
    cause: "The thread neither ran nor waited for a CPU: it was stopped (SIGSTOP, a debugger, the freezer), slept on a \
            page fault or a lock, or the whole virtual machine was paused. Stolen time may land here too, as kernels that \
            know of steal count it neither as run nor as waited; V05 is raised as well then.",
    quantity: "The share of iterations that are dirty. An iteration is dirty if one of its laps took, beyond its processor time \
               and its run delay, more than the lap limit's share of its time.",
    scale: Scale::Share,
    lap: Some(0.01),
    note: Some(0.0),
    evidence: "The identity wall = processor time + run delay + blocked around each lap: a clock and \
               `/proc/thread-self/schedstat`.",
    families: "Numbers made of iterations of kernels that never block; not those that sleep by design.",
    fix: "Do not stop or debug the process (^Z, `docker pause`, a suspended laptop), then repeat the configuration. In a guest, ask \
           whether it was migrated or snapshotted.",
    source: "Measured for charz: a stop of 0.6 s appears as 0.6 s of that difference. A note, as V03.",
    // A stopped thread does not wait for a strand, so V03 and V06 would have causes of their own.
    covers: &["V13", "V14", "V15", "V16", "V18"],
    ..Check::NEVER_RAISED
};

pub static V05: Check = Check {
    code: "V05",
    title: "CPU steal",
    of_capacity: true,
    cause: "The host ran something else on the processor below the virtual one: neighbours, or the guest's own quota. The \
            time is missing from the lap, and the neighbour has used the caches.",
    quantity: "Stolen time, as a share of the time of the CPUs watched, over at least 1 s or from 2 ticks on.",
    scale: Scale::Share,
    note: Some(0.005),
    evidence: "The eighth number of the lines `cpu` of `/proc/stat`, in ticks of 10 ms, before and after the configuration.",
    families: "All, in guests whose hypervisor reports it.",
    fix: "Nothing in a guest. Measure at a quieter hour, on a larger or dedicated instance, or on the host.",
    source: "Charz: first guess. Steal in `/proc/stat`: the manual page proc(5).",
    // Being off the processor now and then spreads the repetitions. A late start stays a finding of its own: it may weigh
    // more than the time that was stolen explains.
    covers: &["V13", "V14", "V15", "V16", "V28"],
    ..Check::NEVER_RAISED
};

pub static V06: Check = Check {
    code: "V06",
    title: "CPU pressure (PSI)",
    of_capacity: true,
    cause: "More was runnable than could run, somewhere on the machine. Even where the threads themselves never waited \
            (V03), the others used caches, memory bandwidth, power and turbo that the number then lacks.",
    quantity: "The share of the clean iterations' time in which at least one task waited for a processor.",
    scale: Scale::Share,
    note: Some(0.02),
    evidence: "`total=` in the line `some` of `/proc/pressure/cpu`, before and after each iteration, less what the readings \
               lie apart beyond it.",
    families: "All but configurations whose threads share CPUs (V19).",
    fix: "End other work (`charz doctor` and `top` show it) and repeat the configuration.",
    source: "Linux, Documentation/accounting/psi.rst; the 2% is charz's first guess.",
    // Pressure somewhere is too weak a sign to explain a spread by.
    ..Check::NEVER_RAISED
};

pub static V07: Check = Check {
    code: "V07",
    title: "throttled by the CPU quota",
    of_capacity: true,
    cause: "The control group had used up its processor time for the period, and all its threads were stopped until the \
            next. What is delivered is the quota's then, not the machine's.",
    quantity: "Periods in which the control group or one of its ancestors was throttled. An iteration with one does not count, where \
               the number is made of iterations and is not about the quota. Of a program all count: it gets these pauses with its CPUs.",
    scale: Scale::Count,
    note: Some(0.0),
    evidence: "`nr_throttled` in `cpu.stat` of the control group and its ancestors, versions 1 and 2, before and after.",
    families: "All.",
    fix: "Lift the quota: version 2 `echo max > /sys/fs/cgroup/GROUP/cpu.max`, version 1 `echo -1 > \
           /sys/fs/cgroup/cpu/GROUP/cpu.cfs_quota_us`, `docker run` without `--cpus`, Kubernetes without a CPU limit. Or \
           use fewer threads than the quota's processors.",
    source: "Linux, Documentation/scheduler/sched-bwc.rst; measured for charz: throttled time appears as run delay.",
    covers: &["V03", "V06", "V13", "V14", "V15", "V16", "V18"],
    ..Check::NEVER_RAISED
};

pub static V34: Check = Check {
    code: "V34",
    title: "other programs used the CPUs",
    of_capacity: true,
    cause: "Something else ran meanwhile, on other CPUs too: it moved memory, and used the caches, the power and the clock that \
            CPUs share. A thread that never waits gets less of them even so.",
    quantity: "The time that other processes were busy on any CPU, over all runs together, as a share of the time of all CPUs, or of 10 \
               where there are fewer. Beside a program, what the CPUs that it leaves free do not hold; what they hold is a note.",
    scale: Scale::Share,
    suspect: Some(0.005),
    evidence: "`user`, `nice` and `system` of the line `cpu` of `/proc/stat` around the iterations, in ticks of 10 ms, less the processor \
               time of the measuring process. Interrupts are left out: those of the threads' own CPUs are among them.",
    families: "Programs, and kernels whose blocks lie beyond the caches of a core; of those in a second level that CPUs share, what was used of other CPUs \
               than the threads' own.",
    fix: "End other work (`charz doctor` and `top` show it) and repeat the configuration, or start with `--wait-quiet`.",
    source: "Measured for charz: beside a program that copies memory on the other of two CPUs, reads were 15 to 19% slower, and \
             nothing else showed it. The limit is a first guess: where a quarter of the CPUs can take all bandwidth, 0.5% take the 2% \
             that numbers of memory are wanted to.",
    ..Check::NEVER_RAISED
};

pub static V36: Check = Check {
    code: "V36",
    title: "wrong number of threads",
    cause: "The program made fewer threads than the configuration is named for, left some of them idle, ran them one after the other, or on \
            fewer CPUs; or it used more CPUs where the operating system places its threads. Its number is one of more or fewer threads, \
            and is left out.",
    quantity: "Threads that were asked for and did not work at the same time. A thread works if it used 1% of the processor time of the busiest one, or 10 ms. \
               Where the operating system places threads, also CPUs beyond those asked for: 95% of how many the program had work for on average, rounded.",
    scale: Scale::Count,
    invalid: Some(0.0),
    evidence: "The threads of the program and of all processes that it starts, and the processor time and run delay of each when it ends.",
    families: "Programs of `--command`.",
    fix: "Give the program its number of threads: {threads} where it takes one, in an option or in a variable, as in \
           `--command 'OMP_NUM_THREADS={threads} ./bench'`. Let a thread that waits begin after those that work. Measure one that has a fixed number with that number alone, such as `--threads 1`.",
    source: "Charz: first guess for the limits of work.",
    // What is invalid for good is not measured further.
    covers: &["V02", "V03", "V06", "V12", "V13", "V14", "V15", "V16", "V18", "V28"],
    ..Check::NEVER_RAISED
};

pub static V43: Check = Check {
    code: "V43",
    title: "the SMT sibling was busy",
    of_capacity: true,
    cause: "Another strand of a thread's core ran something that was not measured, and took its share of the execution units and caches.",
    quantity: "The share of the iterations' time in which tasks ran on strands of the seats' cores that no thread had, in the run in the middle.",
    scale: Scale::Share,
    note: Some(0.02),
    suspect: Some(0.1),
    evidence: "`user`, `nice` and `system` of those CPUs in `/proc/stat`, in ticks of 10 ms, before the first iteration and after the last.",
    families: "Threads with a seat on a core whose other strands are free.",
    fix: "End other work, keep it off those cores (`charz topo` shows which CPUs share one), or start with `--wait-quiet`.",
    source: "Charz: first guess. A busy sibling takes 20 to 50% of a core's throughput, so a tenth of the time takes 2 to 5%.",
    ..Check::NEVER_RAISED
};
