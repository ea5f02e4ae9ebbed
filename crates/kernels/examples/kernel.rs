//! Runs kernels and prints a line a repetition: `name`, `variant`, `workers`, `seconds` and `rate`, split by tabs.
//!
//! ```text
//! cargo run --release -p charz-kernels --example kernel -- mem-read --workers 2 --size 256 --pages 4k --iterations 5
//! ```
//!
//! Several kernels, with commas between their names, take turns from one repetition to the next, so what disturbs the
//! machine meanwhile disturbs all of them. `--size` is in MiB per worker, `--span` in milliseconds, `--timeout` in
//! microseconds, `--class` that of an NPB problem. The rate is in GB/s or Gop/s (10^9), over the time from the first start to the last end; of kernels that
//! stamp pairs of times the seconds are the median of the second one, and the rate is one over it. Worker `n` is bound to
//! the `n`-th of the CPUs that the process may use, and beyond the last to the first again, so runs can be set
//! beside those of other programs that bind so. With `--clock on` a sixth column has the clock of the fastest core, in GHz.
#![allow(clippy::print_stdout, reason = "printing is what this program is for")]
#![allow(clippy::disallowed_methods)] // An example may panic.

use std::error::Error;
use std::hint;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use charz_kernels::{
    JointHistogram, Kernel, Layout, Metric, PageKind, Params, Period, Stage, Stop, Watch, Work, canary, kernels,
};

type Result<T, E = Box<dyn Error + Send + Sync>> = std::result::Result<T, E>;

/// What was asked for.
struct Request {
    kernels: Vec<&'static dyn Kernel>,
    workers: usize,
    repetitions: usize,
    params: Params,
    clock: bool,
}

/// When a worker ran, and what it did.
struct Lap {
    start: Instant,
    end: Instant,
    work: Work,
    samples: Option<JointHistogram>,
    /// The clock of its core thereafter, where it is asked for and known.
    hz: Option<f64>,
}

fn main() -> Result<()> {
    let mut words = std::env::args().skip(1);
    let request = match words.next().as_deref() {
        Some("canary") => return print_canary(),
        Some(names) => parse(names, words)?,
        None => return Err("name a kernel, or `canary` for the clock".into()),
    };
    let stage = |kernel: &&dyn Kernel| kernel.stage(&request.params, request.workers);
    let stages: Vec<_> = request.kernels.iter().map(stage).collect::<Result<_, _>>()?;
    let (runs, clock) = (request.repetitions * stages.len(), request.clock);
    let gate = Gate { workers: request.workers, arrived: AtomicUsize::new(0) };
    let laps: Vec<Vec<Lap>> = thread::scope(|scope| {
        let (stages, gate) = (&stages[..], &gate);
        let workers: Vec<_> =
            (0..request.workers).map(|rank| scope.spawn(move || work(rank, stages, gate, runs, clock))).collect();
        workers.into_iter().map(|worker| worker.join().expect("a worker panicked")).collect::<Result<_>>()
    })?;
    for run in 0..runs {
        let (kernel, stage) = (request.kernels[run % stages.len()], &stages[run % stages.len()]);
        let laps = || laps.iter().map(|laps| &laps[run]);
        let start = laps().map(|lap| lap.start).min().expect("there is a worker");
        let end = laps().map(|lap| lap.end).max().expect("there is a worker");
        let work: Work = laps().map(|lap| lap.work).sum();
        let (seconds, done) = match kernel.card().metric {
            Metric::Ops(_) | Metric::SerialTime(_) => (end.duration_since(start).as_secs_f64(), work.ops.0),
            Metric::OpTime(_) => {
                let stepping = || laps().filter(|lap| lap.work.ops.0 > 0);
                let time: Duration = stepping().map(|lap| lap.end.duration_since(lap.start)).sum();
                (time.as_secs_f64(), work.ops.0)
            }
            Metric::Bytes(_) | Metric::TimePerGib(_) => (end.duration_since(start).as_secs_f64(), work.bytes.0),
            Metric::SecondTime => (median(laps().filter_map(|lap| lap.samples.as_ref())), 1),
            // Only a user's program reports its number itself, and it is none of the catalog.
            Metric::Duration | Metric::Reported(_) => (end.duration_since(start).as_secs_f64(), 0),
        };
        let (name, variant) = (&*kernel.card().name, stage.variant());
        print!("{name}\t{variant}\t{}\t{seconds:.9}\t{:.6}", request.workers, done as f64 / seconds / 1e9);
        let highest = laps().filter_map(|lap| lap.hz).reduce(f64::max);
        println!("{}", highest.map(|hz| format!("\t{:.4}", hz / 1e9)).unwrap_or_default());
    }
    Ok(())
}

/// The median of the second times, in seconds.
fn median<'a>(samples: impl Iterator<Item = &'a JointHistogram>) -> f64 {
    JointHistogram::sum(samples).second.median() / 1e9
}

fn print_canary() -> Result<()> {
    bind(0)?;
    let canary = canary::measure().ok_or("the latency of a multiplication is not known for this processor")?;
    println!("canary\t{}\t1\t{:.9}\t{:.4}", canary.latency, 1.0 / canary.hz, canary.hz / 1e9);
    Ok(())
}

fn parse(names: &str, mut words: impl Iterator<Item = String>) -> Result<Request> {
    let find = |name| {
        charz_kernels::find(name).ok_or_else(|| {
            let names: Vec<_> = kernels().map(|kernel| &*kernel.card().name).collect();
            format!("no kernel is called {name:?}: there are {}", names.join(", "))
        })
    };
    let kernels = names.split(',').map(find).collect::<Result<_, _>>()?;
    let params = Params {
        iterations: 10_000_000,
        size_bytes: 256 << 20,
        pages: PageKind::default(),
        layout: Layout::default(),
        ..Params::SMALL
    };
    let mut request = Request { kernels, workers: 1, repetitions: 3, params, clock: false };
    while let Some(flag) = words.next() {
        let value = words.next().ok_or_else(|| format!("{flag} needs a value"))?;
        match flag.as_str() {
            "--workers" => request.workers = value.parse()?,
            "--iterations" => request.repetitions = value.parse()?,
            "--steps" => request.params.iterations = value.parse()?,
            "--size-bytes" => request.params.size_bytes = value.parse()?,
            "--size" => request.params.size_bytes = value.parse::<u64>()? << 20,
            "--size-kib" => request.params.size_bytes = value.parse::<u64>()? << 10,
            "--stride" => request.params.stride_bytes = value.parse()?,
            "--chains" => request.params.chains = value.parse()?,
            "--delay" => request.params.delay = value.parse()?,
            "--samples" => request.params.samples = value.parse()?,
            "--span" => request.params.span_ns = value.parse::<u64>()? * 1_000_000,
            "--timeout" => request.params.timeout_ns = value.parse::<u64>()? * 1000,
            "--period" if value == "closed" => request.params.period = Period::Closed,
            "--inside-steps" => request.params.inside_steps = value.parse()?,
            "--outside-steps" => request.params.outside_steps = value.parse()?,
            "--per-process" => request.params.per_process = value.parse()?,
            "--class" => request.params.class = value.parse()?,
            "--clock" => request.clock = value == "on",
            "--pages" => request.params.pages = value.parse()?,
            _ => return Err(format!("no flag is called {flag:?}").into()),
        }
    }
    if request.workers == 0 || request.repetitions == 0 {
        return Err("at least 1 worker and 1 repetition are needed".into());
    }
    Ok(request)
}

/// The laps of worker `rank`, on each stage in turn.
fn work(rank: usize, stages: &[Box<dyn Stage>], gate: &Gate, runs: usize, clock: bool) -> Result<Vec<Lap>> {
    let build = || stages.iter().map(|stage| stage.worker(rank)).collect::<Result<Vec<_>, _>>();
    let workers = bind(rank).and_then(|()| Ok(build()?));
    // A worker that failed arrives as well, or the others would wait for ever.
    let mut workers = workers.inspect_err(|_| (0..3 * runs).for_each(|_| gate.arrive()))?;
    let mut laps = Vec::with_capacity(runs);
    let mut verdict = Ok(());
    for run in 0..runs {
        let (worker, stage) = (&mut workers[run % stages.len()], &stages[run % stages.len()]);
        worker.prepare();
        gate.pass(3 * run + 1);
        let watch = Watch::new(&Stop::new());
        watch.begin(stage.span());
        let start = Instant::now();
        let work = worker.run(&watch);
        let end = Instant::now();
        // No worker verifies while another still runs.
        gate.pass(3 * run + 2);
        verdict = verdict.and(worker.verify());
        let hz = clock.then(canary::measure).flatten().map(|canary| canary.hz);
        laps.push(Lap { start, end, work, samples: worker.samples(), hz });
        // Nor does anybody prepare while another still verifies.
        gate.pass(3 * run + 3);
    }
    verdict?;
    Ok(laps)
}

/// A gate that opens each time that all workers have arrived. They spin, and let others run where there is no CPU for each.
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
            thread::yield_now();
        }
    }
}

/// Binds the calling thread to the `rank`-th CPU that it may use.
#[cfg(target_os = "linux")]
fn bind(rank: usize) -> Result<()> {
    let cpus = charz_system::Status::of_thread().cpus()?;
    let cpu = cpus[rank % cpus.len()];
    // SAFETY: a `cpu_set_t` is an array of integers, for which zeros are valid.
    let mut one: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the index is below the number of bits in a set.
    unsafe { libc::CPU_SET(cpu as usize, &mut one) };
    // SAFETY: the set is a whole one, of the size that is passed.
    if unsafe { libc::sched_setaffinity(0, size_of_val(&one), &one) } != 0 {
        return Err(std::io::Error::last_os_error().into());
    }
    Ok(())
}
