//! Runs one kernel and prints a line a repetition: `name`, `variant`, `workers`, `seconds` and `rate`, split by tabs.
//!
//! ```text
//! cargo run --release -p charz-kernels --example kernel -- mem-read --workers 2 --size 256 --pages 4k --repetitions 5
//! ```
//!
//! `--size` is in MiB a worker. The rate is in GB/s or Gop/s (10^9), over the time from the first start to the last end.
//! Worker `n` is bound to the `n`-th of the CPUs that the process may use, so that runs can be set beside those of other
//! programs that bind so.
#![allow(clippy::print_stdout, reason = "printing is what this program is for")]

use std::error::Error;
use std::hint;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use charz_kernels::{Bytes, Counts, KERNELS, Kernel, Layout, PagePolicy, Params, Stage, Stop, Watch, Work, canary};

type Result<T, E = Box<dyn Error + Send + Sync>> = std::result::Result<T, E>;

/// What was asked for.
struct Request {
    kernel: &'static dyn Kernel,
    workers: usize,
    repetitions: usize,
    params: Params,
}

/// When a worker ran, and what it did.
struct Lap {
    start: Instant,
    end: Instant,
    work: Work,
}

fn main() -> Result<()> {
    let mut words = std::env::args().skip(1);
    let request = match words.next().as_deref() {
        Some("canary") => return print_canary(),
        Some(name) => parse(name, words)?,
        None => return Err("name a kernel, or `canary` for the clock".into()),
    };
    let stage = request.kernel.stage(&request.params, request.workers)?;
    let gate = Gate { workers: request.workers, arrived: AtomicUsize::new(0) };
    let laps: Vec<Vec<Lap>> = thread::scope(|scope| {
        let (stage, gate) = (&*stage, &gate);
        let workers: Vec<_> = (0..request.workers)
            .map(|rank| scope.spawn(move || work(rank, stage, gate, request.repetitions)))
            .collect();
        workers.into_iter().map(|worker| worker.join().expect("a worker panicked")).collect::<Result<_>>()
    })?;
    for repetition in 0..request.repetitions {
        let laps = || laps.iter().map(|laps| &laps[repetition]);
        let start = laps().map(|lap| lap.start).min().expect("there is a worker");
        let end = laps().map(|lap| lap.end).max().expect("there is a worker");
        let seconds = end.duration_since(start).as_secs_f64();
        let work: Work = laps().map(|lap| lap.work).sum();
        let done = match request.kernel.card().counts {
            Counts::Ops(_) => work.ops.0,
            Counts::Bytes(_) => work.bytes.0,
            Counts::Nothing => 0,
        };
        let (name, variant) = (request.kernel.card().name, stage.variant());
        println!("{name}\t{variant}\t{}\t{seconds:.9}\t{:.4}", request.workers, done as f64 / seconds / 1e9);
    }
    Ok(())
}

fn print_canary() -> Result<()> {
    bind(0)?;
    let canary = canary::measure().ok_or("the latency of a multiplication is not known for this processor")?;
    println!("canary\t{}\t1\t{:.9}\t{:.4}", canary.latency, 1.0 / canary.hz, canary.hz / 1e9);
    Ok(())
}

fn parse(name: &str, mut words: impl Iterator<Item = String>) -> Result<Request> {
    let kernel = charz_kernels::find(name).ok_or_else(|| {
        let names: Vec<_> = KERNELS.iter().map(|kernel| kernel.card().name).collect();
        format!("no kernel is called {name:?}: there are {}", names.join(", "))
    })?;
    let params = Params {
        iterations: 10_000_000,
        size: Bytes(256 << 20),
        pages: PagePolicy::default(),
        layout: Layout::default(),
    };
    let mut request = Request { kernel, workers: 1, repetitions: 3, params };
    while let Some(flag) = words.next() {
        let value = words.next().ok_or_else(|| format!("{flag} needs a value"))?;
        match flag.as_str() {
            "--workers" => request.workers = value.parse()?,
            "--repetitions" => request.repetitions = value.parse()?,
            "--iterations" => request.params.iterations = value.parse()?,
            "--size" => request.params.size = Bytes(value.parse::<u64>()? << 20),
            "--pages" => request.params.pages = value.parse()?,
            _ => return Err(format!("no flag is called {flag:?}").into()),
        }
    }
    if request.workers == 0 || request.repetitions == 0 {
        return Err("at least 1 worker and 1 repetition are needed".into());
    }
    Ok(request)
}

/// The laps of worker `rank`.
fn work(rank: usize, stage: &dyn Stage, gate: &Gate, repetitions: usize) -> Result<Vec<Lap>> {
    let worker = bind(rank).and_then(|()| Ok(stage.worker(rank)?));
    // A worker that failed arrives as well, or the others would wait for ever.
    let mut worker = worker.inspect_err(|_| (0..2 * repetitions).for_each(|_| gate.arrive()))?;
    let mut laps = Vec::with_capacity(repetitions);
    let mut verdict = Ok(());
    for repetition in 0..repetitions {
        worker.prepare();
        gate.pass(2 * repetition + 1);
        let watch = Watch::new(&Stop::new());
        let start = Instant::now();
        let work = worker.run(&watch);
        let end = Instant::now();
        laps.push(Lap { start, end, work });
        // Nobody verifies while another still runs.
        gate.pass(2 * repetition + 2);
        verdict = verdict.and(worker.verify());
    }
    verdict?;
    Ok(laps)
}

/// A gate that opens each time that all workers have arrived. They spin: there is a CPU for each.
struct Gate {
    workers: usize,
    arrived: AtomicUsize,
}

impl Gate {
    fn arrive(&self) {
        self.arrived.fetch_add(1, Ordering::AcqRel);
    }

    /// Passes for the `time`-th time, from 1.
    fn pass(&self, time: usize) {
        self.arrive();
        while self.arrived.load(Ordering::Acquire) < self.workers * time {
            hint::spin_loop();
        }
    }
}

/// Binds the calling thread to the `rank`-th CPU that it may use.
#[cfg(target_os = "linux")]
fn bind(rank: usize) -> Result<()> {
    // SAFETY: a `cpu_set_t` is an array of integers, for which zeros are valid.
    let mut allowed: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the set is a whole one, of the size that is passed.
    if unsafe { libc::sched_getaffinity(0, size_of_val(&allowed), &mut allowed) } != 0 {
        return Err(std::io::Error::last_os_error().into());
    }
    // SAFETY: the index is below the number of bits in a set.
    let is_allowed = |cpu: &usize| unsafe { libc::CPU_ISSET(*cpu, &allowed) };
    let cpu = (0..libc::CPU_SETSIZE as usize).filter(is_allowed).nth(rank);
    let cpu = cpu.ok_or_else(|| format!("there is no CPU for worker {rank}: ask for fewer workers"))?;
    // SAFETY: as above.
    let mut one: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the index is below the number of bits in a set.
    unsafe { libc::CPU_SET(cpu, &mut one) };
    // SAFETY: the set is a whole one, of the size that is passed.
    if unsafe { libc::sched_setaffinity(0, size_of_val(&one), &one) } != 0 {
        return Err(std::io::Error::last_os_error().into());
    }
    Ok(())
}
