//! Checks of answers, of the program itself, and of the machine as a whole.

use super::{Check, Scale};

/// By how much the first run of a program differs from the others at least where that says something, in nanoseconds: a cold start takes
/// milliseconds.
pub const FIRST_RUN_NS: u64 = 5_000_000;

/// How far the time of a program may be from that with one thread to be the same, as a fraction.
pub const SAME_TIME: f64 = 0.02;

pub static V17: Check = Check {
    code: "V17",
    title: "faster than possible",
    cause: "The rate exceeds what the hardware can do: work was left out (folded by a compiler, kept in caches), counted \
            twice, or timed wrongly. Whatever the reason, the number is not what it says.",
    quantity: "The result, or that of the block in the middle where it is up to a sixth less, divided by the peak of the clock that was \
               seen; of the run in the middle.",
    scale: Scale::Ratio,
    invalid: Some(1.05),
    evidence: "The kernel's documented operations a cycle; the clock that was seen before and after each run.",
    families: "Kernels with a known bound.",
    fix: "Nothing to fix on the machine: report it, with the report file. See whether the frequency drifted (V08) and \
           whether the block lies in caches (V27).",
    source: "ReFrame's reference of +30%, made tight by calibrating; the T3-4 report found a loop folded from 8 operations to \
             6 only by its speed.",
    // A number that cannot be true is none, however many runs it has.
    covers: &["V12"],
    ..Check::NEVER_RAISED
};

pub static V19: Check = Check {
    code: "V19",
    title: "oversubscribed",
    cause: "There are more threads than CPUs (or quota) for them, as asked for. The scheduler's turns are then part of \
            what is measured: on one machine a ring took 32 µs with a thread a CPU, and 1140 µs with one thread more.",
    quantity: "Threads beyond what can run at once: the CPUs of affinity mask and cpuset, or the quota's processors.",
    scale: Scale::Count,
    note: Some(0.0),
    evidence: "The seats of the configuration; the usable CPUs and the quota of the topology.",
    families: "All. Such a configuration is never compared with one that is not oversubscribed.",
    fix: "Nothing, if it is what you asked for. Else fewer threads: `--threads`.",
    source: "T3-4 report; charz's own definition.",
    // Waiting for a turn is what sharing is.
    waives: &["V03", "V06", "V18"],
    ..Check::NEVER_RAISED
};

pub static V23: Check = Check {
    code: "V23",
    title: "wrong answer",
    cause: "The kernel's result is not what an independent computation says: a defect of charz, of the compiler, or of the \
            hardware; of a program, no line of its output matches `--verify`. charz leaves with code 4.",
    quantity: "Answers that differ from the oracle's.",
    scale: Scale::Count,
    invalid: Some(0.0),
    evidence: "Each thread's checksum after each iteration, against an oracle that is computed in another way.",
    families: "All with an answer.",
    fix: "Look at a program's output. Repeat the configuration. If the answer stays wrong, report it; if it comes and goes, test the memory (`memtester`, \
           memtest86+) and look for machine checks (`dmesg | grep -i mce`).",
    source: "STREAM validates its arrays; stress-ng `--verify`.",
    // Work that was not done takes no time.
    covers: &["V17"],
    ..Check::NEVER_RAISED
};

pub static V24: Check = Check {
    code: "V24",
    title: "build without optimisation",
    cause: "The program is a debug build: its kernels are optimised all the same, but what times and watches them is several times slower.",
    quantity: "1 for a build without optimisation, else 0.",
    scale: Scale::Count,
    // The kernels are always optimised, also in a debug build; the code around them is not.
    suspect: Some(0.0),
    evidence: "The build profile, which the program carries.",
    families: "All.",
    fix: "Build with `cargo build --release`.",
    source: "Google Benchmark prints a warning; SPEC's run rules ask for full disclosure of the build.",
    ..Check::NEVER_RAISED
};

pub static V25: Check = Check {
    code: "V25",
    title: "machine changed",
    cause: "The quota was changed, or the governor, huge pages or NUMA balancing: the configuration began on another machine than it \
            ended on. Where only CPUs came or went, the run is made again.",
    quantity: "Things in the machine's fingerprint that differ before and after the configuration.",
    scale: Scale::Count,
    invalid: Some(0.0),
    evidence: "Online CPUs, cpuset, affinity mask, quota and governors, before and after each configuration.",
    families: "All.",
    fix: "Find who changed it (`systemctl`, a container runtime, a power daemon such as tuned), end it, and start the sweep \
           again.",
    source: "Charz: first guess.",
    // With fewer strands, less quota or another governor all of these follow.
    // What is invalid for good is not measured further.
    covers: &["V01", "V02", "V03", "V06", "V07", "V08", "V12", "V13", "V14", "V15", "V16", "V18", "V28"],
    ..Check::NEVER_RAISED
};

pub static V26: Check = Check {
    code: "V26",
    title: "virtual machine",
    cause: "CPUs, cores, caches and memory nodes are what the hypervisor says. Two CPUs may be one core below, a core \
            may be half of one, and both may change while you look.",
    quantity: "1 under a hypervisor, else 0.",
    scale: Scale::Count,
    note: Some(0.0),
    evidence: "CPUID leaf 1, ECX bit 31, which is kept for hypervisors; else `/sys/hypervisor` and DMI.",
    families: "The machine as a whole, not a configuration. What is said of shared cores needs a measurement of its own.",
    fix: "Nothing in a guest; measure on the host, or on a bare-metal instance.",
    source: "AMD64 Architecture Programmer's Manual, volume 3, CPUID Fn0000_0001_ECX.",
    ..Check::NEVER_RAISED
};

pub static V37: Check = Check {
    code: "V37",
    title: "first run unlike the others",
    cause: "The first run did what the others found done: it built what they do not build again, or filled a cache or a database. Or it found \
            less to do than they did. The number is then that of repeated runs only.",
    quantity: "The time of the first run over the median time of the later ones, or the inverse, whichever is larger; nothing where they are less than \
               5 ms apart. Of another configuration, the time of the first run over that of its own runs, or of the later ones of the first run's \
               configuration if those are longer. Where there is none, over that of its own as often as it has fewer threads.",
    scale: Scale::Ratio,
    suspect: Some(2.0),
    evidence: "The run that was made before all others to see how long runs take, without the time in which its threads waited for a CPU, and \
               the clean runs of the same configuration; of another one, those of both.",
    families: "Programs of `--command`.",
    fix: "Undo before each run what a run leaves: `--setup 'make clean'`. If the number is to be that of repeated runs, or the first run only read \
          its files from the disk, start the sweep again: then the first run finds what the last one left.",
    source: "Charz: first guess; hyperfine warns of a first run that is an outlier.",
    ..Check::NEVER_RAISED
};

pub static V38: Check = Check {
    code: "V38",
    title: "same time as with one thread",
    cause: "The program takes as long as with one thread, and more processor time. It runs for a fixed time, as load generators do, or gives each \
            thread as much work: its time is then no measure of what it did. Or it does not scale, and its threads wait for each other or \
            for memory.",
    quantity: "The processor time of the runs over that with one thread, where their times are within 2%; else nothing.",
    scale: Scale::Ratio,
    note: Some(1.5),
    evidence: "The times of runs, and the processor time of their threads, with one thread and with several under the same mapping.",
    families: "Programs of `--command` with `{threads}`, measured by the time of a run.",
    fix: "Take what it counted by itself: `--value 'regex:events: ([0-9]+)'`. Or give it an amount of work in place of a time.",
    source: "Charz: first guess.",
    ..Check::NEVER_RAISED
};

pub static V39: Check = Check {
    code: "V39",
    title: "followed, or not",
    cause: "Under ptrace a program stands still for a moment when a thread or process of it begins or ends, and when a signal arrives. Where it \
            starts many, that is a part of its time. Where nothing follows it, its number is its own, and its threads may run on all of \
            its CPUs in place of one each.",
    quantity: "Stops times the cost of one, over the time of the runs; of copies, those of one.",
    scale: Scale::Share,
    suspect: Some(0.02),
    evidence: "Stops, as they are counted; their cost, measured with a shell that starts processes, once followed and once not. A program whose first \
            run stands still for more than 1% of its time is not followed after that, unless `--follow` says how it is to be.",
    families: "Programs of `--command` on seats. A note: a program that nothing followed, on several CPUs.",
    fix: "Suspect: leave out `--follow ptrace`, or take `--follow none`. Note: none where the number is that of these CPUs together; else let \
            the program bind its threads itself: `{cpus}` names its CPUs.",
    source: "Charz: 2% of a time is what its own loops are right within.",
    ..Check::NEVER_RAISED
};

pub static V40: Check = Check {
    code: "V40",
    title: "waited for its reader",
    cause: "The program printed faster than charz read, and stood still meanwhile: the number is also that of the pipe and of its reader.",
    quantity: "The time in which no thread of the program ran and a pipe of its output may have been full, over the time of the runs; of programs \
               that print more than 1 MiB.",
    scale: Scale::Share,
    suspect: Some(0.02),
    evidence: "The bytes in the pipes and how long nothing was read, each time before charz waits for output; the processor time of the threads, \
               and their waits for a CPU.",
    families: "Programs of `--command`.",
    fix: "Let the output go where nothing waits: `--program-output null`, or a file. Or let the program print less.",
    source: "Charz: first guess; hyperfine's `--output` has the same reason.",
    ..Check::NEVER_RAISED
};

pub static V41: Check = Check {
    code: "V41",
    title: "measured by another program",
    cause: "The number comes from a table: charz knows its values, and neither how they were measured nor what disturbed them.",
    quantity: "1 where the report is made of a table, else 0.",
    note: Some(0.5),
    evidence: "The report's `measured_by`.",
    families: "All.",
    fix: "Measure with charz what has to be trusted: `charz sweep`, or `charz sweep --command` for the same program.",
    source: "Charz: a statement, no limit.",
    ..Check::NEVER_RAISED
};
