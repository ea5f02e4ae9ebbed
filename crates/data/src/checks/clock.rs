//! Checks of frequencies and clocks.

use super::{Check, Scale};

/// The shortest repetition that can be trusted with any clock, in nanoseconds.
const SHORTEST_NS: f64 = 5e5;

/// How many of the clock's steps a repetition must take: quantisation then costs 0.1%. The rule of nanobench.
const RESOLUTIONS: f64 = 1000.0;

/// How many readings of the clock a repetition must be worth: reading it then costs 1%. The rule of libMicro.
const OVERHEADS: f64 = 100.0;

/// How long a repetition must take to be trusted, in nanoseconds, by the clock's smallest step and the time that it takes to
/// read it, both in nanoseconds.
pub fn needed_ns(resolution_ns: f64, overhead_ns: f64) -> f64 {
    SHORTEST_NS.max(RESOLUTIONS * resolution_ns).max(OVERHEADS * overhead_ns)
}

pub static V08: Check = Check {
    code: "V08",
    title: "CPU clock changed",
    cause: "Turbo, a governor, heat, a power limit, wide vectors or the neighbours of a guest changed the processor's \
            frequency while the configuration was measured. Rates of arithmetic follow it one to one, those of memory less.",
    quantity: "By how much the highest frequency that the canary saw exceeds that of the run in the middle, as a \
               fraction, and at most the best value's lead over the number. A note for numbers of memory, where runs with a \
               higher clock are not faster, and where the best leads by at most half in cycles: the number is then that of the \
               middle clock, and comparisons allow for it. The canary is a chain of dependent multiplications, whose length \
               in cycles never changes; what disturbs it only makes it slower, so the fastest of several counts.",
    scale: Scale::Share,
    note: Some(0.01),
    suspect: Some(0.02),
    evidence: "The canary on the seats, before the iterations of a run and after each.",
    families: "All.",
    fix: "Fix the frequency: `cpupower frequency-set -g performance`, and turbo off with `echo 0 > \
           /sys/devices/system/cpu/cpufreq/boost` or `echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo`. Let the \
           machine cool. Nothing in a guest.",
    source: "Charz: first guess; Google Benchmark warns whenever frequency scaling is on.",
    // At another frequency repetitions take other times, in steps; a bound calibrated at the lower one is exceeded.
    covers: &["V13", "V14", "V15", "V16", "V17", "V28"],
    ..Check::NEVER_RAISED
};

pub static V09: Check = Check {
    code: "V09",
    title: "iteration too short to time",
    cause: "The time is made of few steps of the clock, or the reading of the clock and the start of the threads are a good \
            part of it.",
    quantity: "The time that an iteration needs, the largest of 0.5 ms, 1000 steps of the clock and 100 readings of it, \
               divided by the shortest iteration's.",
    scale: Scale::Ratio,
    suspect: Some(1.0),
    // 1000 steps divided by 50 are 20, STREAM's least. Where 0.5 ms decides, it is 10 µs, in which the start of several
    // workers is no longer small.
    invalid: Some(50.0),
    evidence: "The intervals of the iterations; the clock's resolution and overhead, measured before the sweep.",
    families: "Kernels with work to repeat; not the floor, which measures just that, and not times that are stamped within a \
               iteration, however short that is.",
    fix: "Give an iteration more work: `--steps` for arithmetic and cache lines, `--size` for memory; or a longer `--budget`, from which \
           charz chooses it.",
    source: "STREAM asks for 20 ticks; libMicro warns below 100 resolutions; nanobench takes 1000; Hoefler and Belli (SC \
             2015): overhead below 5%, resolution 10 times finer. The 0.5 ms is charz's first guess.",
    // In a short time every delay, every step of the clock and every late start is large.
    covers: &["V11", "V13", "V14", "V15", "V16", "V18", "V28"],
    ..Check::NEVER_RAISED
};

pub static V10: Check = Check {
    code: "V10",
    title: "clock changed",
    cause: "The kernel found its clock source unreliable, typically the time-stamp counters out of step, and took another. \
            All times around the change are in doubt. Sources that are read by a system call cost a microsecond, which V31 \
            accounts for. Or `--clock realtime` stamped, and CLOCK_REALTIME was set meanwhile.",
    quantity: "Readings of the clock source that differ from the one before the sweep, and settings of CLOCK_REALTIME.",
    scale: Scale::Count,
    invalid: Some(0.0),
    evidence: "`/sys/devices/system/clocksource/clocksource0/current_clocksource` before and after each configuration. Durations are \
               of the monotonic clock, with which each stamp of CLOCK_REALTIME is compared.",
    families: "All.",
    fix: "Look for the reason in `dmesg | grep -i clocksource`, then repeat the sweep. A source other than `tsc` can be \
           changed with `echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource`. Where CLOCK_REALTIME was set, stop \
           what sets it (ntpd, chronyd), or take `--clock os`.",
    source: "Linux, Documentation/timers/timekeeping.rst; clock_gettime(2).",
    // No time can be trusted, so every check that uses times is covered.
    // What is invalid for good is not measured further.
    covers: &["V04", "V08", "V09", "V11", "V12", "V13", "V14", "V15", "V16", "V17", "V18", "V28"],
    ..Check::NEVER_RAISED
};

pub static V11: Check = Check {
    code: "V11",
    title: "clock skew between CPUs",
    cause: "A result is the difference of stamps from two CPUs, and how far their clocks may be apart is no small part of \
            it.",
    quantity: "The bound of the clocks' offset, as a share of the result.",
    scale: Scale::Share,
    invalid: Some(0.10),
    evidence: "Ping-pong between two CPUs: the offset cannot exceed half of the shortest round trip.",
    families: "Results across CPUs: from the first start to the last end, and one-way latencies.",
    fix: "Use the system's clock (`--clock os`) in place of the counter's, and longer iterations.",
    source: "Cristian (Distributed Computing 1989) for the bound; the 10% is charz's first guess.",
    // Overlap is computed from stamps of several strands.
    covers: &["V18"],
    ..Check::NEVER_RAISED
};
