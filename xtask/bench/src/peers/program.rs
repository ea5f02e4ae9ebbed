//! Running one turn of a program and reading its rate.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use xtask::{Failure, Outcome, process};

use super::median;

/// MiB of a worker's block, far beyond any cache.
const BLOCK: u64 = 256;

/// Passes over the block in a turn: about a quarter of a second.
const PASSES: u64 = 20;

/// Repetitions of a chase, as many as the bare one makes: it is the fastest that is not disturbed.
const CHASES: u64 = 20;

/// Tries per turn over a level of caches, of which the fastest counts: each is shorter than a time slice, so one of several is
/// undisturbed by neighbours, on either side.
const TRIES: u64 = 5;

/// Bytes that likwid-bench moves in such a try, some 3 ms.
const LEVEL_BYTES: u64 = 300_000_000;

/// KiB from which a pass takes longer than that: four of them are a try there, and ours lasts as long.
const LARGE: u64 = 64 << 10;

#[derive(Clone, Copy, PartialEq)]
pub enum Pages {
    Small,
    Transparent,
}

/// A chain of dependent arithmetic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Chain {
    Int,
    Float,
}

/// What the rate of a turn is of the rates of its repetitions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Estimator {
    Best,
    /// Work by time over all of them.
    Mean,
    Median,
}

pub enum Program {
    /// A kernel of ours, in billions a second times a factor.
    Kernel { name: &'static str, workers: u64, options: String, repetitions: u64, estimator: Estimator, factor: f64 },
    /// A test of likwid-bench on so many bytes, those of all workers together: in thousands of the unit behind the label, the best of
    /// some tries.
    Likwid { test: &'static str, workers: u64, bytes: u64, passes: u64, pages: Pages, label: &'static str, tries: u64 },
    /// What the latencies of its instructions allow at the clock that the core has, in Gop/s.
    CriticalPath(Chain),
    /// A bare operation of `probe.c`, of `memory.c` or around a lock of Rust, with its words and its estimator: millions of operations
    /// a second, or megabytes where it is of pages.
    Bare(&'static str, String, &'static str),
    /// `charz`, or another program, with its words: runs a second, of so many the median.
    Runs(&'static str, &'static [&'static str], usize),
    /// Two runs a second, the goal for mapping a large machine.
    Twice,
}

impl Program {
    pub fn is_likwid(&self) -> bool {
        matches!(self, Program::Likwid { .. })
    }

    /// A memory kernel of ours, in GB/s.
    pub fn kernel(name: &'static str, workers: u64, pages: Pages) -> Self {
        let options = format!("--size {BLOCK} --pages {}", if pages == Pages::Small { "4k" } else { "thp" });
        Program::Kernel { name, workers, options, repetitions: PASSES, estimator: typical(workers), factor: 1.0 }
    }

    /// A memory kernel of likwid-bench, in GB/s.
    pub fn likwid(test: &'static str, workers: u64, pages: Pages) -> Self {
        let bytes = (BLOCK << 20) * workers;
        Program::Likwid { test, workers, bytes, passes: PASSES, pages, label: "MByte/s:", tries: 1 }
    }

    /// A kernel of ours that makes passes over a block of so many KiB a worker, in GB/s.
    pub fn level(name: &'static str, workers: u64, kib: u64) -> Self {
        let span = if kib < LARGE { 3 } else { 30 };
        let options = format!("--size-kib {kib} --pages thp --span {span}");
        Program::Kernel { name, workers, options, repetitions: TRIES, estimator: Estimator::Best, factor: 1.0 }
    }

    /// A test of likwid-bench on as much memory, in GB/s.
    pub fn likwid_level(test: &'static str, workers: u64, kib: u64) -> Self {
        let (bytes, passes) = (kib * 1024 * workers, (LEVEL_BYTES / (kib * 1024)).max(4));
        let pages = Pages::Transparent;
        Program::Likwid { test, workers, bytes, passes, pages, label: "MByte/s:", tries: TRIES }
    }

    /// Our kernel for the most flops, in Gflop/s.
    pub fn peak(workers: u64) -> Self {
        let options = "--iterations 5000000".to_owned();
        let estimator = typical(workers);
        Program::Kernel { name: "peak-float", workers, options, repetitions: 6, estimator, factor: 1.0 }
    }

    /// likwid-bench's, in Gflop/s.
    pub fn likwid_peak(workers: u64) -> Self {
        let (test, bytes, pages) = ("peakflops_avx_fma", 32_000 * workers, Pages::Small);
        Program::Likwid { test, workers, bytes, passes: 100_000, pages, label: "MFlops/s:", tries: 1 }
    }

    /// An arithmetic kernel of ours, in Gop/s. The canary, too, reports the clock of its fastest try.
    pub fn arithmetic(chain: Chain) -> Self {
        let name = if chain == Chain::Int { "arith-int" } else { "arith-float" };
        let options = "--iterations 100000".to_owned();
        Program::Kernel { name, workers: 1, options, repetitions: 50, estimator: Estimator::Best, factor: 1.0 }
    }

    /// A kernel of ours whose workers meet, in millions of operations a second; or of megabytes, where it counts bytes.
    pub fn meeting(name: &'static str, workers: u64, options: &str) -> Self {
        let (options, estimator) = (options.to_owned(), Estimator::Median);
        Program::Kernel { name, workers, options, repetitions: 5, estimator, factor: 1000.0 }
    }

    /// A kernel of ours that makes a call again and again, in millions a second.
    pub fn call(name: &'static str, options: &str) -> Self {
        let (options, estimator) = (options.to_owned(), Estimator::Best);
        Program::Kernel { name, workers: 1, options, repetitions: TRIES, estimator, factor: 1000.0 }
    }

    /// Our chase along a random cycle over so many KiB on pages of a kind, in millions of loads a second.
    pub fn chase(kib: u64, pages: &str) -> Self {
        let options = format!("--size-kib {kib} --pages {pages} --span 5");
        let estimator = Estimator::Best;
        Program::Kernel { name: "chase-random", workers: 1, options, repetitions: CHASES, estimator, factor: 1000.0 }
    }

    /// What its rate is of those that it has in a turn.
    pub fn estimator(&self) -> String {
        match self {
            Program::Kernel { repetitions, estimator, .. } => format!("{} of {repetitions}", estimator.name()),
            Program::Likwid { tries: 1, passes, .. } => format!("{} of {passes}", Estimator::Mean.name()),
            Program::Likwid { tries, .. } => format!("{} of {tries}", Estimator::Best.name()),
            Program::CriticalPath(_) => "at the best clock".to_owned(),
            Program::Bare(.., estimator) => (*estimator).to_owned(),
            Program::Runs(.., runs) => format!("{} of {runs}", Estimator::Median.name()),
            Program::Twice => "a goal".to_owned(),
        }
    }
}

/// The programs of ours.
pub struct Programs {
    pub charz: PathBuf,
    /// Where the examples of the kernels are, and the bare operations in C.
    pub folder: PathBuf,
}

impl Programs {
    pub fn rate(&self, program: &Program) -> Outcome<f64> {
        match program {
            Program::Kernel { name, workers, options, repetitions, estimator, factor } => {
                let mut command = self.command("kernel", name);
                command.args(["--workers", &workers.to_string(), "--repetitions", &repetitions.to_string()]);
                command.args(options.split_whitespace());
                let text = process::read(&mut command)?;
                let repetitions: Vec<[f64; 2]> = text.lines().filter_map(repetition).collect();
                if repetitions.is_empty() {
                    Err(strange(&command, &text))
                } else {
                    Ok(factor * estimator.of(&repetitions))
                }
            }
            Program::Likwid { test, workers, bytes, passes, pages, label, tries } => {
                let group = format!("N:{bytes}B:{workers}");
                let rates = (0..*tries).map(|_| likwid(test, &group, *passes, *pages, label));
                Ok(rates.collect::<Outcome<Vec<f64>>>()?.into_iter().fold(0.0, f64::max))
            }
            Program::CriticalPath(chain) => self.critical_path(*chain),
            Program::Bare(name, words, _) => {
                let mut command = self.command(name, words);
                let text = process::read(&mut command)?;
                let seconds = text.trim().parse::<f64>().ok().filter(|seconds| *seconds > 0.0);
                seconds.map(|seconds| 1e-6 / seconds).ok_or_else(|| strange(&command, &text))
            }
            Program::Runs(name, words, runs) => {
                let program = if *name == "charz" { &self.charz } else { Path::new(name) };
                spawns(Command::new(program).args(*words), *runs)
            }
            Program::Twice => Ok(2.0),
        }
    }

    fn command(&self, name: &str, words: &str) -> Command {
        let mut command = Command::new(self.folder.join(name));
        command.args(words.split_whitespace());
        command
    }

    fn critical_path(&self, chain: Chain) -> Outcome<f64> {
        let mut command = self.command("kernel", "canary");
        let text = process::read(&mut command)?;
        let [_, gigahertz] = text.lines().find_map(repetition).ok_or_else(|| strange(&command, &text))?;
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let unknown = || Failure::environment("the latencies of this processor are not known here");
        let cycles = cycles_a_step(&cpuinfo, chain).ok_or_else(unknown)?;
        Ok(gigahertz * 8.0 / f64::from(cycles))
    }
}

/// What likwid-bench's figure is compared with. A single worker's repetitions add up as likwid-bench's passes do. Several
/// workers of ours wait for the slowest after each repetition, whereas likwid-bench's threads go through all of their passes
/// without waiting, so a neighbour that disturbs one thread costs ours more; the median excludes it.
fn typical(workers: u64) -> Estimator {
    if workers == 1 { Estimator::Mean } else { Estimator::Median }
}

impl Estimator {
    const fn name(self) -> &'static str {
        match self {
            Estimator::Best => "best",
            Estimator::Mean => "mean",
            Estimator::Median => "median",
        }
    }

    /// The rate of repetitions that took so many seconds at such rates.
    fn of(self, repetitions: &[[f64; 2]]) -> f64 {
        let rates: Vec<f64> = repetitions.iter().map(|[_, rate]| *rate).collect();
        match self {
            Estimator::Best => rates.into_iter().fold(0.0, f64::max),
            Estimator::Mean => {
                let seconds: f64 = repetitions.iter().map(|[seconds, _]| seconds).sum();
                repetitions.iter().map(|[seconds, rate]| seconds * rate).sum::<f64>() / seconds
            }
            Estimator::Median => median(&rates),
        }
    }
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

/// Runs likwid-bench; `work_group` is `DOMAIN:SIZE:THREADS`, the size being that of all threads together. The rate is the
/// number that likwid-bench prints, divided by 1000.
fn likwid(test: &str, work_group: &str, passes: u64, pages: Pages, label: &str) -> Outcome<f64> {
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
        assert_eq!(Estimator::Mean.of(&[[1.0, 10.0], [3.0, 10.0]]), 10.0);
        assert_eq!(Estimator::Mean.of(&[[1.0, 40.0], [3.0, 10.0]]), 17.5);
        assert_eq!(Estimator::Best.of(&[[1.0, 40.0], [3.0, 10.0]]), 40.0);
        assert_eq!(Estimator::Median.of(&[[1.0, 40.0], [3.0, 10.0], [9.0, 30.0]]), 30.0);
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
