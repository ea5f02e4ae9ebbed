//! Running one turn of a program and reading its rate.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use xtask::{Failure, Outcome, process};

use super::median;

/// Bytes of a worker's block, far beyond any cache.
const BLOCK: u64 = 256 << 20;

/// Passes over the block in a turn: about a quarter of a second.
const PASSES: usize = 20;

/// Repetitions of a chase, as many as the bare one makes: it is the fastest that is not disturbed.
const CHASES: usize = 20;

/// Tries of a turn over a level of caches, the best of which counts: each is shorter than a time slice, so that among several one
/// meets no neighbour, on either side.
const TRIES: usize = 5;

/// Bytes that likwid-bench moves in such a try, some 3 ms.
const LEVEL_BYTES: u64 = 300_000_000;

/// KiB from which a pass takes longer than that: four of them are a try there, and ours lasts as long.
const LARGE: u64 = 64 << 10;

/// Runs in a turn of what takes a few milliseconds.
const SPAWNS: usize = 20;

/// The kind of memory pages.
#[derive(Clone, Copy, PartialEq)]
pub enum Pages {
    /// Base pages.
    Small,
    /// Transparent huge pages.
    Transparent,
}

/// A chain of dependent arithmetic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Chain {
    /// 64-bit integers.
    Int,
    /// Double-precision numbers.
    Float,
}

/// Something that has a rate.
#[derive(Clone, Copy)]
pub enum Program {
    /// A memory kernel of ours, in GB/s.
    Kernel { name: &'static str, workers: usize, pages: Pages },
    /// A memory kernel of likwid-bench, in GB/s.
    Likwid { test: &'static str, workers: usize, pages: Pages },
    /// A kernel of ours that makes passes over a block of so many KiB a worker, in GB/s.
    Level { name: &'static str, workers: usize, kib: u64 },
    /// A test of likwid-bench on as much memory, in GB/s.
    LikwidLevel { test: &'static str, workers: usize, kib: u64 },
    /// Our kernel for the most flops, in Gflop/s.
    Peak { workers: usize },
    /// likwid-bench's, in Gflop/s.
    LikwidPeak { workers: usize },
    /// An arithmetic kernel of ours, in Gop/s.
    Arithmetic(Chain),
    /// What the latencies of its instructions allow at the clock that the core has, in Gop/s.
    CriticalPath(Chain),
    /// A kernel of ours whose workers meet, with its flags, in millions of operations a second; or of megabytes, where it
    /// counts bytes.
    Meeting { name: &'static str, workers: usize, flags: &'static [&'static str] },
    /// A bare operation of `probe.c`, likewise.
    Probe(&'static [&'static str]),
    /// A bare operation of `memory.c`: of pages in MB/s, of objects in millions a second.
    Memory(&'static [&'static str]),
    /// A bare loop around a lock of Rust, likewise.
    Bare(&'static str),
    /// Our chase along a random cycle over so many KiB on pages of a kind, in millions of loads a second.
    Chase { kib: &'static str, pages: &'static str },
    /// That of `probe.c`.
    ProbeChase { kib: &'static str, pages: &'static str },
    /// `charz topo`, in runs a second.
    Topo,
    /// `lscpu`, in runs a second.
    Lscpu,
    /// Mapping a synthetic machine of 65,536 strands, in runs a second.
    LargeMap,
    /// Two runs a second, the goal for the above.
    Twice,
}

impl Program {
    /// Whether likwid-bench is needed for it.
    pub fn is_likwid(&self) -> bool {
        matches!(self, Program::Likwid { .. } | Program::LikwidLevel { .. } | Program::LikwidPeak { .. })
    }
}

/// The programs of ours.
pub struct Programs {
    /// charz itself.
    pub charz: PathBuf,
    /// The example of the kernels that runs one of them.
    pub kernel: PathBuf,
    /// The example with the bare loops.
    pub bare: PathBuf,
    /// The bare operations in C.
    pub probe: PathBuf,
    /// Those on memory.
    pub memory: PathBuf,
}

impl Programs {
    /// Runs one turn.
    pub fn rate(&self, program: &Program) -> Outcome<f64> {
        match *program {
            Program::Kernel { name, workers, pages } => {
                let pages = if pages == Pages::Small { "4k" } else { "thp" };
                let options = ["--size", &(BLOCK >> 20).to_string(), "--pages", pages];
                self.kernel(name, workers, &options, PASSES).map(|passes| typical(passes, workers))
            }
            Program::Level { name, workers, kib } => {
                let span = if kib < LARGE { "3" } else { "30" };
                let options = ["--size-kib", &kib.to_string(), "--pages", "thp", "--span", span];
                self.kernel(name, workers, &options, TRIES).map(best)
            }
            Program::LikwidLevel { test, workers, kib } => {
                let (size, passes) = (kib * 1024 * workers as u64, (LEVEL_BYTES / (kib * 1024)).max(4));
                let turn =
                    |_| likwid(test, &format!("N:{size}B:{workers}"), passes as usize, Pages::Transparent, "MByte/s:");
                let rates: Vec<f64> = (0..TRIES).map(turn).collect::<Outcome<_>>()?;
                Ok(rates.into_iter().fold(0.0, f64::max))
            }
            Program::Peak { workers } => {
                let repetitions = self.kernel("peak-float", workers, &["--iterations", "5000000"], 6);
                repetitions.map(|repetitions| typical(repetitions, workers))
            }
            Program::Arithmetic(chain) => {
                let name = if chain == Chain::Int { "arith-int" } else { "arith-float" };
                // The canary tells the clock of its best try, too.
                self.kernel(name, 1, &["--iterations", "100000"], 50).map(best)
            }
            Program::CriticalPath(chain) => self.critical_path(chain),
            Program::Likwid { test, workers, pages } => {
                let size = BLOCK * workers as u64;
                likwid(test, &format!("N:{size}B:{workers}"), PASSES, pages, "MByte/s:")
            }
            Program::LikwidPeak { workers } => {
                let size = 32_000 * workers;
                likwid("peakflops_avx_fma", &format!("N:{size}B:{workers}"), 100_000, Pages::Small, "MFlops/s:")
            }
            Program::Meeting { name, workers, flags } => {
                let rates: Vec<f64> = self.kernel(name, workers, flags, 5)?.iter().map(|[_, rate]| *rate).collect();
                Ok(1000.0 * median(&rates))
            }
            Program::Chase { kib, pages } => {
                let options = ["--size-kib", kib, "--pages", pages, "--span", "5"];
                self.kernel("chase-random", 1, &options, CHASES).map(|repetitions| 1000.0 * best(repetitions))
            }
            Program::ProbeChase { kib, pages } => a_second(Command::new(&self.probe).args(["chase", kib, pages])),
            Program::Probe(words) => a_second(Command::new(&self.probe).args(words)),
            Program::Memory(words) => a_second(Command::new(&self.memory).args(words)),
            Program::Bare(lock) => a_second(Command::new(&self.bare).arg(lock)),
            Program::Topo => spawns(Command::new(&self.charz).arg("topo"), SPAWNS),
            Program::Lscpu => spawns(&mut Command::new("lscpu"), SPAWNS),
            Program::LargeMap => {
                let machine = "Package:64 Core:128 Group:2 PU:4";
                let arguments = ["map", "--mapping", "round-robin", "--threads", "65536", "--format", "json"];
                spawns(Command::new(&self.charz).args(arguments).args(["--topology", machine]), 1)
            }
            Program::Twice => Ok(2.0),
        }
    }

    /// The rates of the repetitions, each with its seconds.
    fn kernel(&self, name: &str, workers: usize, options: &[&str], repetitions: usize) -> Outcome<Vec<[f64; 2]>> {
        let mut command = Command::new(&self.kernel);
        command.arg(name).args(["--workers", &workers.to_string()]).args(options);
        command.args(["--repetitions", &repetitions.to_string()]);
        let text = process::read(&mut command)?;
        let rates: Vec<[f64; 2]> = text.lines().filter_map(repetition).collect();
        if rates.is_empty() { Err(strange(&command, &text)) } else { Ok(rates) }
    }

    fn critical_path(&self, chain: Chain) -> Outcome<f64> {
        let mut command = Command::new(&self.kernel);
        let text = process::read(command.arg("canary"))?;
        let [_, gigahertz] = text.lines().find_map(repetition).ok_or_else(|| strange(&command, &text))?;
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let cycles = cycles_a_step(&cpuinfo, chain);
        let cycles =
            cycles.ok_or_else(|| Failure::environment("the latencies of this processor are not known here"))?;
        Ok(gigahertz * 8.0 / f64::from(cycles))
    }
}

/// What likwid-bench's figure is compared with. A single worker's repetitions add up as likwid-bench's passes do. Several
/// workers of ours wait for the slowest after each repetition, whereas likwid-bench's threads go through all of their passes
/// without waiting, so that a neighbour who disturbs one thread costs ours more; the median leaves him out.
fn typical(repetitions: Vec<[f64; 2]>, workers: usize) -> f64 {
    if workers == 1 {
        return mean(repetitions);
    }
    median(&repetitions.iter().map(|[_, rate]| *rate).collect::<Vec<f64>>())
}

/// Work by time over all repetitions.
fn mean(repetitions: Vec<[f64; 2]>) -> f64 {
    let seconds: f64 = repetitions.iter().map(|[seconds, _]| seconds).sum();
    repetitions.iter().map(|[seconds, rate]| seconds * rate).sum::<f64>() / seconds
}

fn best(repetitions: Vec<[f64; 2]>) -> f64 {
    repetitions.iter().map(|[_, rate]| *rate).fold(0.0, f64::max)
}

/// The cycles from one step of a chain to the next: four times an addition or subtraction and a multiplication, each of
/// which waits for the one before. Latencies from Agner Fog, "Instruction tables" (2025), and uops.info: `add` 1, `imul`
/// 3; `addsd` and `mulsd` 3 on AMD's Zen 2 to 4, 4 on Intel's Skylake to Rocket Lake.
fn cycles_a_step(cpuinfo: &str, chain: Chain) -> Option<u32> {
    let field = |name: &str| {
        let line = cpuinfo.lines().find(|line| line.split(':').next().is_some_and(|key| key.trim() == name))?;
        line.split_once(':').map(|(_, value)| value.trim())
    };
    let number = |name| field(name).and_then(|text| text.parse::<u32>().ok());
    let float = match (field("vendor_id")?, number("cpu family")?, number("model")?) {
        // Family 23 begins with Zen and Zen+, whose 64-bit multiplication takes 4.
        ("AuthenticAMD", 23, 0x30..) | ("AuthenticAMD", 25, _) => 3 + 3,
        ("GenuineIntel", 6, 0x4e | 0x5e | 0x55 | 0x8e | 0x9e | 0xa5 | 0xa6 | 0x7d | 0x7e | 0x6a | 0x6c | 0xa7) => 4 + 4,
        _ => return None,
    };
    Some(4 * if chain == Chain::Int { 1 + 3 } else { float })
}

/// The seconds and the rate in `name⇥variant⇥workers⇥seconds⇥rate`.
fn repetition(line: &str) -> Option<[f64; 2]> {
    let mut columns = line.split('\t').skip(3);
    let mut number = || columns.next()?.trim().parse::<f64>().ok();
    Some([number()?, number()?])
}

/// Runs likwid-bench; `work_group` is `DOMAIN:SIZE:THREADS`, the size being that of all threads together. The rate is in
/// thousands of what likwid-bench says.
fn likwid(test: &str, work_group: &str, passes: usize, pages: Pages, label: &str) -> Outcome<f64> {
    let mut command = Command::new("likwid-bench");
    command.args(["-t", test, "-w", work_group, "-i", &passes.to_string()]);
    // It has no option for huge pages, but its memory comes from the C library, which has one.
    let tunables = if pages == Pages::Transparent { "glibc.malloc.hugetlb=1" } else { "" };
    let output = command.env("GLIBC_TUNABLES", tunables).stderr(Stdio::null()).output();
    let output = output.map_err(|error| Failure::io("start likwid-bench", &error))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let rate = text.lines().find_map(|line| line.strip_prefix(label)?.trim().parse::<f64>().ok());
    rate.map(|mega| mega / 1000.0).ok_or_else(|| strange(&command, &text))
}

/// Millions a second, of a program that prints the seconds that one takes.
fn a_second(command: &mut Command) -> Outcome<f64> {
    let text = process::read(command)?;
    let seconds = text.trim().parse::<f64>().ok().filter(|seconds| *seconds > 0.0);
    seconds.map(|seconds| 1e-6 / seconds).ok_or_else(|| strange(command, &text))
}

/// Runs a second: of so many runs the median.
fn spawns(command: &mut Command, runs: usize) -> Outcome<f64> {
    command.stdin(Stdio::null());
    let mut seconds = Vec::with_capacity(runs);
    for _ in 0..runs {
        let start = Instant::now();
        process::read(command)?;
        seconds.push(start.elapsed().as_secs_f64());
    }
    Ok(1.0 / median(&seconds))
}

fn strange(command: &Command, text: &str) -> Failure {
    let first = text.lines().next().unwrap_or_default();
    Failure::environment(format!("`{}` said something unexpected: {first:?}", process::line(command)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_are_read() {
        assert_eq!(repetition("mem-read\tavx2\t1\t0.25\t27.5"), Some([0.25, 27.5]));
        assert_eq!(repetition("mem-read avx2 1 0.25 27.5"), None);
        assert_eq!(repetition("a\tb\t1\tx\t2"), None);
    }

    #[test]
    fn the_mean_weighs_by_time() {
        // 10 in the first second and 30 in the next three: 40 in four.
        assert_eq!(mean(vec![[1.0, 10.0], [3.0, 10.0]]), 10.0);
        assert_eq!(mean(vec![[1.0, 40.0], [3.0, 10.0]]), 17.5);
        assert_eq!(best(vec![[1.0, 40.0], [3.0, 10.0]]), 40.0);
        assert_eq!(typical(vec![[1.0, 40.0], [3.0, 10.0]], 1), 17.5);
        assert_eq!(typical(vec![[1.0, 40.0], [3.0, 10.0], [9.0, 30.0]], 2), 30.0);
    }

    #[test]
    fn latencies_of_processors() {
        let cpu = |vendor, family, model| {
            format!(
                "processor\t: 0\nvendor_id\t: {vendor}\ncpu family\t: {family}\nmodel\t\t: {model}\nmodel name\t: x\n"
            )
        };
        assert_eq!(cycles_a_step(&cpu("AuthenticAMD", 25, 17), Chain::Int), Some(16));
        assert_eq!(cycles_a_step(&cpu("AuthenticAMD", 25, 17), Chain::Float), Some(24));
        assert_eq!(cycles_a_step(&cpu("GenuineIntel", 6, 0x55), Chain::Float), Some(32));
        assert_eq!(cycles_a_step(&cpu("AuthenticAMD", 23, 1), Chain::Int), None);
        assert_eq!(cycles_a_step("", Chain::Int), None);
    }
}
