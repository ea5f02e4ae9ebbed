//! Checks of the memory that was measured.

use super::{Check, Scale};

/// How many times the last-level cache a block must be to be in memory, not in caches.
pub const BLOCK_PER_CACHE: u64 = 4;

/// So many minor faults in a lap are no matter (V22): code and stack that are used for the first time have some.
pub const FEW_FAULTS: u64 = 16;

pub static V20: Check = Check {
    code: "V20",
    title: "huge pages not obtained",
    cause: "The system gave pages of another size: huge ones were short, fragmented or switched off. The number of address \
            translations, and with it the rate, is that of the other kind. Pages that cannot be read back are no proof.",
    quantity: "The share of the blocks' memory that is not on pages of the kind asked for. Without the rest of a block that no \
               transparent huge page fits in: a larger rest is a note, and so are base pages other than 4 KiB.",
    scale: Scale::Share,
    invalid: Some(0.05),
    evidence: "`AnonHugePages` and page sizes in `/proc/self/smaps`, while the threads wait at the gate.",
    families: "Kernels with `--pages`.",
    fix: "Transparent: `echo madvise > /sys/kernel/mm/transparent_hugepage/enabled`. Reserved: `echo N > \
           /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages`. Or measure what there is: `--pages 4k`.",
    source: "Linux, Documentation/admin-guide/mm/transhuge.rst; measured for charz: a block off by 4 KiB has 96.9%.",
    // What is invalid for good is not measured further.
    covers: &["V12"],
    ..Check::NEVER_RAISED
};

pub static V21: Check = Check {
    code: "V21",
    title: "memory on another NUMA node",
    cause: "Pages lie on another node than the thread's, or than `--memory` asked for: the node was full, another thread touched them first, or the kernel \
            moved them to where it thought better. The rate is that of the link between the nodes.",
    quantity: "The share of the blocks' memory that is not on the thread's node, or not as asked: of several nodes, each \
               holds as asked no more than its equal part. A kernel that moves pages between nodes by itself makes the configuration \
               suspect, wherever they are found.",
    scale: Scale::Share,
    invalid: Some(0.01),
    evidence: "`/proc/self/numa_maps`, while the threads wait at the gate; `kernel.numa_balancing`.",
    families: "Kernels with blocks of memory, threads with a seat, machines with several NUMA nodes.",
    fix: "Switch balancing off: `sysctl kernel.numa_balancing=0`. See `numactl --hardware` for free memory on the node, and \
           use smaller blocks or fewer threads.",
    source: "The manual page numa(7); the 1% is charz's first guess.",
    // Balancing unmaps pages to see which threads touch them: faults within the span, and rates that change as pages move.
    covers: &["V13", "V15", "V16", "V22", "V28"],
    ..Check::NEVER_RAISED
};

pub static V22: Check = Check {
    code: "V22",
    title: "page faults during timing",
    cause: "Memory was not there when a thread came to it: it had not been touched, was swapped out, or had its mapping taken \
            away. A minor fault costs about a microsecond in the kernel, a major one waits for a disk.",
    quantity: "The share of iterations that are dirty. A major fault makes an iteration dirty, and so do more than 16 minor ones \
               if, at a microsecond each, they took more than the lap limit's share of a lap; fewer are those of code that runs \
               for the first time.",
    scale: Scale::Share,
    lap: Some(0.01),
    note: Some(0.0),
    evidence: "`ru_minflt` and `ru_majflt` of the thread (`getrusage`) around each lap.",
    families: "All.",
    fix: "Free memory and switch swap off (`swapoff -a`); switch off what takes mappings away: `sysctl \
           kernel.numa_balancing=0`, `echo 0 > /sys/kernel/mm/ksm/run`.",
    source: "The manual page getrusage(2). The T3-4 report's programs touch all of their memory first for this reason. Iterations \
             without faults are as ever: a note, and V12 where too few are left.",
    // A major fault blocks (V04); first touches make the first repetitions slow.
    covers: &["V04", "V12", "V13", "V14", "V15", "V16", "V18", "V28"],
    ..Check::NEVER_RAISED
};

pub static V27: Check = Check {
    code: "V27",
    title: "working set fits in cache",
    cause: "Part of the block stays in caches from one pass to the next, so the rate is partly theirs. It is a fine rate \
            of caches, and not one of memory.",
    quantity: "4 times the largest cache that a CPU reaches, divided by the size of a thread's block or, where threads divide a \
               block, of all of theirs.",
    scale: Scale::Ratio,
    suspect: Some(1.0),
    evidence: "The block's size and the caches of the topology.",
    families: "Kernels with `--size`.",
    fix: "Ask for blocks of at least 4 times the largest cache (`--size`); `charz topo` shows it.",
    source: "STREAM asks it of each array, and of the sum of the last-level caches. Here it is asked of the whole block, which some \
             kernels divide into two or three arrays, and of one cache.",
    // A small block is passed in a short time, and the first pass, from memory, is slower than the next.
    covers: &["V09", "V15"],
    // The bound is memory's, and says nothing of caches.
    waives: &["V17"],
    ..Check::NEVER_RAISED
};

pub static V42: Check = Check {
    code: "V42",
    title: "memory was compacted",
    cause: "The kernel moved pages together to make large ones. Their owners wait while a page is moved, and the moves take bandwidth.",
    quantity: "Pages that were isolated to be moved, per second of the iterations, in the run in the middle.",
    note: Some(100.0),
    suspect: Some(25_000.0),
    evidence: "`compact_isolated` of `/proc/vmstat` before the first iteration and after the last.",
    families: "All.",
    fix: "Repeat the configuration; free memory first (`charz doctor` shows how much is left), or take `--pages 4k`.",
    source: "Charz: first guess. 25,000 pages of 4 KiB are moved with 0.2 GB/s, a few percent of the copy bandwidth of a core.",
    ..Check::NEVER_RAISED
};
