//! `hog`: a program that disturbs measurements in a known way, for a given time.
//!
//! `hog SECONDS KIND [--cpu N] [--nice N]`, where the kind is `spin ON_MS OFF_MS`, `memory`, `fork`, `compile` or `timers`.

use std::fmt::Write as _;
use std::hint;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use rustix::thread::CpuSet;
use xtask::arguments::number;
use xtask::{Failure, Outcome, process};

/// The longest that a hog runs, in seconds: it outlives no calibration by much, whatever becomes of its parent.
const LONGEST: u64 = 3600;

/// Bytes of each of the two blocks that `memory` copies, beyond most last-level caches.
const BLOCK: usize = 256 << 20;

/// Threads of `timers`: some 20,000 wake-ups a second each.
const SLEEPERS: usize = 8;

/// Functions in the source that `compile` compiles, about a second of work.
const FUNCTIONS: usize = 100;

#[derive(Debug, PartialEq)]
enum Kind {
    /// Spins and sleeps in turns. Without a time to sleep it spins only.
    Spin {
        on: Duration,
        off: Duration,
    },
    Memory,
    Fork,
    Compile,
    /// Threads that each sleep for the shortest time again and again.
    Timers,
}

#[derive(Debug, PartialEq)]
struct Request {
    seconds: u64,
    kind: Kind,
    cpu: Option<usize>,
    nice: Option<i32>,
}

pub fn start(words: &[String]) -> Outcome {
    let request = Request::parse(words)?;
    let refused = |what: &'static str| move |error: rustix::io::Errno| Failure::io(what, &error.into());
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(refused("follow the parent's death"))?;
    if let Some(cpu) = request.cpu {
        let mut cpus = CpuSet::new();
        cpus.set(cpu);
        rustix::thread::sched_setaffinity(None, &cpus).map_err(refused("bind to the CPU"))?;
    }
    if let Some(nice) = request.nice {
        rustix::process::nice(nice).map_err(refused("change the priority"))?;
    }
    let end = Instant::now() + Duration::from_secs(request.seconds);
    match request.kind {
        Kind::Spin { on, off } => spin(end, on, off),
        Kind::Memory => copy(end),
        Kind::Fork => repeat(end, || process::run(&mut Command::new("true")))?,
        Kind::Compile => {
            let source = source();
            repeat(end, || compile(&source))?;
        }
        Kind::Timers => thread::scope(|scope| (0..SLEEPERS).for_each(|_| drop(scope.spawn(|| nap(end))))),
    }
    Ok(())
}

fn spin(end: Instant, on: Duration, off: Duration) {
    while Instant::now() < end {
        let pause = Instant::now() + on;
        while Instant::now() < pause {
            hint::spin_loop();
        }
        thread::sleep(off);
    }
}

fn nap(end: Instant) {
    while Instant::now() < end {
        thread::sleep(Duration::from_nanos(1));
    }
}

/// Copies between two blocks, back and forth.
fn copy(end: Instant) {
    let (mut a, mut b) = (vec![1_u8; BLOCK], vec![2_u8; BLOCK]);
    while Instant::now() < end {
        b.copy_from_slice(hint::black_box(&a));
        a.copy_from_slice(hint::black_box(&b));
    }
}

fn repeat(end: Instant, mut step: impl FnMut() -> Outcome) -> Outcome {
    while Instant::now() < end {
        step()?;
    }
    Ok(())
}

/// A library of functions that have something to optimise.
fn source() -> String {
    let mut source = String::new();
    for n in 0..FUNCTIONS {
        let body = format!("v.iter().rev().enumerate().map(|(i, x)| x.rotate_left(i as u32 % 7) ^ {n}).sum()");
        writeln!(source, "pub fn f{n}(v: &[u64]) -> u64 {{ {body} }}").expect("a string takes any text");
    }
    source
}

/// Source and assembly pass through pipes; what a compiler that is killed leaves behind is not left in this folder.
fn compile(source: &str) -> Outcome {
    let failed = |error| Failure::io("run rustc", &error);
    let mut command = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    command
        .args(["--crate-type", "lib", "--crate-name", "hog", "-O", "--emit", "asm", "-o", "-", "-"])
        .current_dir(std::env::temp_dir());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().map_err(failed)?;
    child.stdin.take().expect("it was asked for").write_all(source.as_bytes()).map_err(failed)?;
    let status = child.wait().map_err(failed)?;
    if status.success() { Ok(()) } else { Err(Failure::environment(format!("rustc ended with {status}"))) }
}

impl Request {
    fn parse(words: &[String]) -> Outcome<Self> {
        let mut words = words.iter();
        let mut next = |what: &str| words.next().ok_or_else(|| Failure::usage(format!("`hog` needs {what}")));
        let seconds = number("SECONDS", next("SECONDS")?, &(1..=LONGEST))?;
        let kind = next("a kind")?;
        let mut millis = |what: &str, least| Ok(Duration::from_millis(number(what, next(what)?, &(least..=60_000))?));
        let kind = match kind.as_str() {
            "spin" => Kind::Spin { on: millis("ON_MS", 1)?, off: millis("OFF_MS", 0)? },
            "memory" => Kind::Memory,
            "fork" => Kind::Fork,
            "compile" => Kind::Compile,
            "timers" => Kind::Timers,
            other => return Err(Failure::usage(format!("`hog` does not know {other:?}"))),
        };
        let mut request = Request { seconds, kind, cpu: None, nice: None };
        while let Some(word) = words.next() {
            let value = words.next().map_or("", String::as_str);
            match word.as_str() {
                "--cpu" => request.cpu = Some(number(word, value, &(0..=CpuSet::MAX_CPU - 1))?),
                "--nice" => request.nice = Some(number(word, value, &(0..=19))?),
                _ => return Err(Failure::usage(format!("`hog` does not know {word:?}"))),
            }
        }
        Ok(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Outcome<Request> {
        Request::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn requests() {
        let [on, off] = [10, 90].map(Duration::from_millis);
        let spin = Request { seconds: 5, kind: Kind::Spin { on, off }, cpu: Some(1), nice: Some(19) };
        assert_eq!(parsed("5 spin 10 90 --nice 19 --cpu 1").unwrap(), spin);
        let memory = Request { seconds: 1, kind: Kind::Memory, cpu: None, nice: None };
        assert_eq!(parsed("1 memory").unwrap(), memory);
        for line in ["", "memory", "0 fork", "1", "1 eat", "1 spin 10", "1 spin 0 10", "1 fork --cpu", "1 fork 2"] {
            assert!(parsed(line).is_err(), "{line}");
        }
    }
}
