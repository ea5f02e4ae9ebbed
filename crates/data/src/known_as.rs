//! The names that other tools give to what kernels here measure.
//!
//! They are kept beside the kernels, not in their sources: adding a name does not make a build whose numbers are compared with
//! no other's.

/// A name from elsewhere, and the kernels that measure the same.
#[derive(Debug)]
pub struct KnownAs {
    /// What it is called elsewhere.
    pub name: &'static str,
    /// The names of the kernels here.
    pub kernels: &'static [&'static str],
}

/// All names, STREAM first, then those of LIKWID, lmbench and others.
#[rustfmt::skip]
pub static KNOWN_AS: &[KnownAs] = &[
    KnownAs { name: "stream", kernels: &["mem-copy", "mem-scale", "mem-add", "mem-triad"] },
    KnownAs { name: "stream-copy", kernels: &["mem-copy"] },
    KnownAs { name: "stream-scale", kernels: &["mem-scale"] },
    KnownAs { name: "stream-add", kernels: &["mem-add"] },
    KnownAs { name: "stream-triad", kernels: &["mem-triad"] },
    KnownAs { name: "likwid-load", kernels: &["level-read"] },
    KnownAs { name: "likwid-store", kernels: &["level-write"] },
    KnownAs { name: "likwid-copy", kernels: &["level-copy"] },
    KnownAs { name: "likwid-stream", kernels: &["level-triad"] },
    KnownAs { name: "peakflops", kernels: &["peak-float"] },
    KnownAs { name: "lat_mem_rd", kernels: &["chase-stride-unrolled", "chase-random"] },
    KnownAs { name: "memcpy", kernels: &["copy-aligned"] },
    KnownAs { name: "clock_gettime", kernels: &["read-monotonic"] },
    KnownAs { name: "lat_pipe", kernels: &["channel-pipe"] },
    KnownAs { name: "lat_syscall", kernels: &["call-getpid"] },
    KnownAs { name: "lat_proc", kernels: &["call-fork", "call-spawn"] },
    KnownAs { name: "mlc-idle-latency", kernels: &["chase-random"] },
    KnownAs { name: "mlc-loaded-latency", kernels: &["loaded-read"] },
    KnownAs { name: "mlc-bandwidth", kernels: &["level-read", "level-mix-3-1", "level-mix-2-1", "level-mix-1-1"] },
    KnownAs { name: "core-to-core-latency", kernels: &["c2c-cas"] },
    KnownAs { name: "sysbench-memory", kernels: &["mem-write", "mem-read"] },
    KnownAs { name: "cascade_mutex", kernels: &["ring-mutex"] },
    KnownAs { name: "cascade_cond", kernels: &["ring-cond"] },
    KnownAs { name: "cyclictest", kernels: &["timeout-clock-nanosleep"] },
    KnownAs { name: "larson", kernels: &["alloc-system", "alloc-mimalloc", "alloc-jemalloc"] },
];

/// The kernels that are known elsewhere by a name, however it is capitalised.
pub fn known_as(name: &str) -> Option<&'static [&'static str]> {
    KNOWN_AS.iter().find(|known| known.name.eq_ignore_ascii_case(name)).map(|known| known.kernels)
}
