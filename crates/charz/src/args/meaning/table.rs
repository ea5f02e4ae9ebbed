//! What other tools, and users before they have read a help, call what charz has. A row is data: words, where they were typed, the answer.

/// A command that charz has by another name.
pub(super) struct Verb {
    /// The command above it, such as `fleet`; empty for charz itself.
    pub(super) below: &'static str,
    pub(super) words: &'static [&'static str],
    /// The command with which the other words are right, if there is one.
    pub(super) verb: &'static str,
    /// The line where it is not.
    pub(super) line: &'static str,
    /// What else there is to know.
    pub(super) why: &'static str,
}

const fn verb(words: &'static [&'static str], verb: &'static str, line: &'static str) -> Verb {
    Verb { below: "", words, verb, line, why: "" }
}

const fn because(words: &'static [&'static str], line: &'static str, why: &'static str) -> Verb {
    Verb { below: "", words, verb: "", line, why }
}

const fn below(below: &'static str, words: &'static [&'static str], verb: &'static str, line: &'static str) -> Verb {
    Verb { below, words, verb, line, why: "" }
}

/// Unknown commands, by what they are called elsewhere.
#[rustfmt::skip]
pub(super) const VERBS: &[Verb] = &[
    verb(&["show", "view", "print", "display", "open", "cat", "report", "reports", "result", "results", "summary", "stats", "last"],
        "render", "charz render last"),
    verb(&["html", "page", "web", "plot", "chart", "graph", "draw", "picture", "flamegraph", "plots"], "", "charz render last --format html"),
    verb(&["csv", "export", "convert", "dump", "save", "table"], "", "charz render last --format csv"),
    verb(&["json"], "", "charz render last --format json"),
    verb(&["svg", "png"], "", "charz render last --format html"),
    verb(&["markdown", "md"], "", "charz render last --format markdown"),
    verb(&["prometheus", "openmetrics", "metrics"], "", "charz render last --format openmetrics"),
    verb(&["diff", "cmp", "versus", "vs", "against", "delta", "regression", "regress"], "compare", "charz compare old.json new.json"),
    verb(&["run", "bench", "benchmark", "start", "perf", "stress", "all", "go", "micro", "benchmarks", "criterion", "hyperfine", "time"],
        "sweep", "charz sweep"),
    verb(&["quick", "test", "try", "smoke", "demo", "fast"], "", "charz sweep --quick"),
    verb(&["memory", "mem", "ram", "bandwidth", "stream", "membench", "memcpy", "throughput"], "", "charz sweep --family memory"),
    verb(&["latency", "mlc", "lat_mem_rd", "lmbench", "tinymembench", "cachebench"], "", "charz sweep --kernel chase-random --size levels"),
    verb(&["flops", "peakflops", "fpu", "alu"], "", "charz sweep --family compute"),
    verb(&["locks", "lock", "mutex", "atomics", "atomic", "contention"], "", "charz sweep --family sync"),
    verb(&["core-to-core", "core2core", "core-latency", "corelat", "c2clat", "ping", "pingpong", "cachelines"], "c2c", "charz c2c"),
    verb(&["numa-latency", "nodes-latency", "distance", "distances"], "numa", "charz numa"),
    verb(&["pin", "bind", "taskset", "numactl", "affinity", "likwid-pin", "hwloc-bind", "launch", "spawn", "srun", "mpirun", "execute", "exec-pinned", "wrap"],
        "exec", "charz exec ./bench"),
    verb(&["info", "lscpu", "lstopo", "topology", "cpuinfo", "hwinfo", "hwloc-ls", "hwloc", "sockets", "cores", "cpus", "hardware", "machine", "system",
        "likwid-topology", "nproc", "caches", "cache", "tree"], "topo", "charz topo"),
    because(&["cpu", "processor"], "charz topo", "charz sweep --family compute measures what it computes"),
    verb(&["list", "ls", "kernel", "tests", "list-kernels", "stressors", "families", "catalog"], "kernels", "charz kernels"),
    verb(&["top", "monitor", "mpstat", "htop", "vmstat", "sar", "iostat", "trapstat", "corestat", "turbostat", "live", "stat"], "watch", "charz watch 1"),
    because(&["record", "profile", "trace", "strace", "annotate", "sample"], "charz exec ./bench",
        "charz has no profiler, but reports where the threads of a program ran and what they waited for"),
    verb(&["lockstat", "lock-contention", "lockstats"], "lockutil", "charz lockutil lockstat.out"),
    verb(&["check", "lint", "diagnose", "diagnostics", "health", "status", "preflight", "env", "inspect", "setup", "tune"], "doctor", "charz doctor"),
    verb(&["verify", "prove", "validate"], "audit", "charz audit"),
    verb(&["recommend", "suggest", "advice", "best", "optimize", "optimise"], "advise", "charz advise last"),
    verb(&["estimate", "model", "extrapolate", "forecast", "simulate"], "predict", "charz predict last --mapping compact --threads 2"),
    verb(&["place", "placement", "mapping", "mappings", "order", "layout", "cpulist"], "map", "charz map --mapping compact --threads 2"),
    verb(&["log", "trend", "trends", "track", "timeline", "db", "database"], "", "charz history list"),
    verb(&["baseline"], "history add", "charz history add last"),
    verb(&["nodes", "node", "cluster", "hosts"], "fleet show", "charz fleet show ."),
    verb(&["load", "read", "ingest"], "import", "charz import table.tsv --topology 'Package:2 Core:8 PU:2'"),
    verb(&["resume", "continue", "finish"], "", "charz sweep --resume last"),
    verb(&["noise", "aa", "a-a", "calibrate", "self-test"], "", "charz selftest --aa"),
    verb(&["abtest", "ab-test", "a-b"], "ab", "charz ab --help"),
    verb(&["warning", "warnings", "why", "what", "codes", "checks", "errors"], "explain", "charz explain"),
    verb(&["settings", "options", "configure", "configuration", "defaults"], "", "charz config show"),
    verb(&["paper", "papers", "reproduce", "studies"], "", "charz replicate --list"),
    verb(&["completion", "complete", "shell-completion"], "completions", "charz completions bash"),
    verb(&["man", "manual", "pages", "doc"], "docs", "charz docs"),
    verb(&["version", "about"], "", "charz --version"),
    verb(&["commands", "usage", "?"], "", "charz --help"),
    below("fleet", &["list", "report", "view", "render", "status", "compare", "summary"], "fleet show", "charz fleet show ."),
    below("fleet", &["verify", "test", "doctor"], "fleet check", "charz fleet check --baseline site.toml"),
    below("fleet", &["learn", "reference"], "fleet baseline", "charz fleet baseline ."),
    below("history", &["log", "ls", "reports"], "history list", "charz history list"),
    below("history", &["graph", "chart", "view", "draw", "changes", "trend"], "history plot", "charz history plot"),
    below("history", &["record", "import", "append", "push"], "history add", "charz history add last"),
    below("config", &["list", "get", "print", "view", "dump"], "config show", "charz config show"),
];

/// An option that charz has by another name, or answers otherwise.
pub(super) struct Flag {
    pub(super) words: &'static [&'static str],
    /// Where: commands, or any if there is none.
    pub(super) verbs: &'static [&'static str],
    /// Options in its place, with `{}` for its value; or, if it begins so, a whole `charz` line; or nothing, to leave it out.
    pub(super) here: &'static str,
    pub(super) why: &'static str,
}

const fn flag(words: &'static [&'static str], here: &'static str) -> Flag {
    Flag { words, verbs: &[], here, why: "" }
}

const fn of(verbs: &'static [&'static str], words: &'static [&'static str], here: &'static str) -> Flag {
    Flag { words, verbs, here, why: "" }
}

const fn why(words: &'static [&'static str], here: &'static str, why: &'static str) -> Flag {
    Flag { words, verbs: &[], here, why }
}

const EXPERIMENTS: &[&str] = &["sweep", "ab", "c2c", "numa", "replicate", "selftest"];

/// Unknown options. The first row whose answer is right is taken: one that names an option which the command lacks is not, nor one whose
/// value would be refused.
#[rustfmt::skip]
pub(super) const FLAGS: &[Flag] = &[
    // How many threads, and which CPUs.
    of(&["watch"], &["-d", "-I", "--interval", "--delay", "--interval-print"], "charz watch 1"),
    of(&["watch"], &["-n", "--count", "--iterations"], "charz watch 1 10"),
    of(&["lockutil"], &["--threads", "--cores", "-c"], "--cpus {}"),
    of(&["c2c"], &["--cores", "-c", "--cpu", "--cpu-list", "--core-list"], "--cpus {}"),
    of(&["exec", "sweep", "map"], &["-c", "-C", "--cpu-list", "--physcpubind", "--cpus", "--cpuset-cpus", "--taskset", "--cpu-bind", "--cpu_bind",
        "--core-list", "--bind", "--pin", "--affinity", "--cores", "--cpus_allowed"], "--mapping list:{}"),
    of(&["exec", "sweep", "map"], &["--bind", "--pin", "--affinity", "--cpu-bind", "--cpu_bind", "--bind-to", "--map-by", "--distribution", "-m",
        "--place", "--policy", "--strategy", "--taskset-method"], "--mapping {}"),
    flag(&["-t", "-T", "-j", "-c", "-C", "-np", "-P", "--cores", "--cpus", "--cpu", "--jobs", "--nthreads", "--num-threads", "--num_threads",
        "--thread-count", "--workers", "--parallel", "--parallelism", "--concurrency", "--numjobs", "--ntasks", "--cpus-per-task", "--matrix"], "--threads {}"),
    of(&["sweep"], &["--pin", "--bind", "--affinity", "--bind-to", "--map-by"], "charz sweep --mapping compact"),
    of(&["exec"], &["--pin", "--bind", "--affinity", "--bind-to", "--map-by", "--cpunodebind", "-N"], "charz exec --mapping compact ./bench"),
    // How often, and how long.
    of(EXPERIMENTS, &["-m", "-n", "-N", "-r", "-R", "--min-runs", "--count", "--reps", "--repeat", "--repeats", "--trials", "--num-runs", "--nruns",
        "--number", "--sample-size", "--executions", "--processes", "--n", "--sets"], "--runs {}"),
    of(EXPERIMENTS, &["-M", "--max-runs"], "--runs 6-{}"),
    of(EXPERIMENTS, &["--loops", "--loop", "--passes", "--inner", "--iters", "--ntimes"], "--iterations {}"),
    of(EXPERIMENTS, &["--ops", "--max-ops", "--num-ops", "--events", "--cycles", "--work-size"], "--steps {}"),
    flag(&["-d", "-l", "--time", "--duration", "--runtime", "--timeout", "--max-time", "--measurement-time", "--min-time", "--length", "--seconds",
        "--time-limit", "--limit", "--max-duration", "--benchtime"], "--budget {}"),
    why(&["-w", "--warmup", "--warm-up", "--warm-up-time", "--warmup-time", "--prewarm"], "", "memory is touched and threads are at work before anything is timed"),
    // What is measured.
    flag(&["-k", "-b", "-s", "--bench", "--benchmark", "--test", "--suite", "--kernels", "--workload", "--stressor", "--filter", "--only", "--run", "--method", "-t"],
        "--kernel {}"),
    flag(&["--bench", "--benchmark", "--test", "--suite", "--workload", "--filter", "--group", "--families"], "--family {}"),
    flag(&["--bs", "--block-size", "--memory-block-size", "--buffer-size", "--buffer", "--vm-bytes", "--bytes", "--working-set", "--array-size", "-b", "-s", "-W"],
        "--size {}"),
    flag(&["--hugepages", "--huge-pages", "--hugepage", "--thp", "--huge"], "--pages thp"),
    flag(&["--membind", "--mem-bind", "--preferred", "--mempolicy", "--node", "--numa-node"], "--memory node:{}"),
    of(&["exec"], &["--interleave", "-i", "--localalloc"], "charz exec --memory interleave ./bench"),
    of(&["sweep"], &["--interleave", "--localalloc"], "charz sweep --memory interleaved"),
    flag(&["--cmd", "--program", "--binary", "--executable", "--exec"], "--command {}"),
    flag(&["-p", "--prepare", "--before", "--init"], "--setup {}"),
    flag(&["-i", "--ignore-failures", "--keep-going"], "--ignore-failure"),
    flag(&["--metrics", "--perf", "--pmc", "--events", "--counter", "--event", "-e", "-g"], "--counters"),
    of(&["sweep"], &["-S", "--shell", "-N", "--no-shell"], "charz sweep --command './bench --threads {threads}'"),
    flag(&["--random-seed", "--rand-seed", "--srand"], "--seed {}"),
    flag(&["--oversubscribe", "--overcommit"], "--oversubscribed"),
    flag(&["--conf", "--config-file", "--settings", "-C"], "--config {}"),
    // What is written, and how it looks.
    flag(&["--export-json", "--export-csv", "--export-markdown", "--export", "--out", "--outfile", "--output-file", "--file", "--save", "--save-baseline",
        "--log", "--log-file", "--write", "--report", "--json-out", "--output-path"], "--output {}"),
    flag(&["-f", "-F", "--fmt", "--of", "--output-format", "--type", "--style", "--as", "--report-format"], "--format {}"),
    flag(&["-f", "-F", "--fmt", "--output-format", "--style", "--as", "--report-format"], "charz render last --format {}"),
    flag(&["--html", "--page", "--web", "--plot", "--graph", "--chart", "--open"], "--format html"),
    flag(&["--csv", "-x", "--parsable", "--parseable", "-p"], "--format csv"),
    flag(&["--markdown", "--md"], "--format markdown"),
    flag(&["--svg"], "--format svg"),
    flag(&["--png"], "--format png"),
    flag(&["--xml"], "--format xml"),
    flag(&["--tree"], "--format tree"),
    flag(&["--ascii", "--text", "--txt", "--boxes"], "--format boxes"),
    of(&["topo"], &["-p", "-P", "--physical", "--logical", "--whole-system", "--no-io"], "charz topo --format table"),
    flag(&["--table", "--long", "--extended", "-l", "-a", "--all", "-e", "-g"], "--format table"),
    flag(&["-j", "-J", "--to-json"], "--json"),
    flag(&["-v", "-vv", "--details", "--full", "--long", "--all", "-a", "--detailed", "--debug", "--show-output", "--stats"], "--verbose"),
    flag(&["--verbose", "-v", "--details", "--full", "--debug", "--detailed"], "--format table"),
    flag(&["-s", "--silent", "--no-progress", "--noplot", "--no-summary"], "--quiet"),
    why(&["-q", "--quiet", "--silent", "-s", "--no-progress"], "", "it prints its answer and no more"),
    flag(&["--colour", "--colors", "--colours"], "--color {}"),
    flag(&["--no-color", "--nocolor", "--no-colour", "--monochrome"], "--color never"),
    flag(&["--dry", "--plan", "--simulate", "--pretend", "--preview", "--just-print", "--what-if"], "--dry-run"),
    flag(&["-y", "--yes", "--overwrite", "--clobber", "--force-overwrite"], "--force"),
    // Lines of other commands.
    of(&["sweep", "render"], &["--baseline", "--load-baseline", "--compare", "--reference", "--diff"], "charz compare old.json new.json"),
    flag(&["--html", "--page", "--web", "--plot", "--graph", "--chart", "--open", "--svg", "--png", "--noplot"], "charz render last --format html"),
    flag(&["--csv", "--export-csv"], "charz render last --format csv"),
    flag(&["--json", "--export-json", "-j", "-J"], "charz render last --format json"),
    flag(&["--markdown", "--md", "--export-markdown"], "charz render last --format markdown"),
    of(&[""], &["-l", "--list", "--ls", "--list-kernels", "--list-tests"], "charz kernels"),
    flag(&["--list", "-L", "--ls", "--list-kernels", "--list-tests", "--kernels", "--available"], "charz kernels"),
    of(&[""], &["-v", "-version", "--ver"], "charz --version"),
    flag(&["--version", "-V"], "charz --version"),
    of(&[""], &["-q", "--quick", "--fast", "--benchmark", "--bench", "--run", "-a", "--all"], "charz sweep --quick"),
    of(&[""], &["-t", "--threads", "-n", "-c", "-j"], "charz sweep --threads 1,2"),
    of(&[""], &["--topology", "--info", "--cpuinfo", "--hardware", "-H", "--show"], "charz topo"),
    of(&[""], &["--compare", "--diff"], "charz compare old.json new.json"),
    of(&[""], &["--help-all", "-?", "--usage"], "charz --help"),
    flag(&["--fast", "--short", "--brief"], "--quick"),
];
