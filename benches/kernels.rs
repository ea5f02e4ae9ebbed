//! Each kernel of the catalog. One worker by itself is counted, and timed if it does a given work; all others are timed in a cell of the
//! harness.

use std::sync::LazyLock;
use std::time::Instant;

use charz_benches::cases::{self, Case, case, counted, keep, timed};
use charz_benches::cells::Cells;
use charz_kernels::params::{SAMPLES, SPAN};
use charz_kernels::{Family, Kernel, Params, Stop, Watch, Worker};

/// What takes about a millisecond at most: 4096 steps; 256 KiB, which stays in the second cache of a core and so away from what
/// neighbours do to memory.
const PARAMS: Params = Params { iterations: 4096, samples: 256, size_bytes: 1 << 18, ..Params::SMALL };

/// The looks after which a worker ends that would go on for a given time.
const LOOKS: u64 = 400;

static CELLS: LazyLock<Cells> = LazyLock::new(Cells::here);

fn main() {
    let here = charz_workloads::kernels().filter(|kernel| kernel.check().is_ok());
    cases::run(&here.flat_map(cases_of).collect::<Vec<_>>());
}

fn cases_of(kernel: &'static dyn Kernel) -> Vec<Case> {
    let card = kernel.card();
    let name = || format!("kernel/{}", card.name);
    let by_work = !card.obeys(&SPAN) && !card.obeys(&SAMPLES);
    // Workloads take an emulator minutes, timers wait for a clock, and the floor does nothing. What blocks has other threads or processes to
    // wait for.
    let is_long = matches!(card.family, Family::Floor | Family::Timer | Family::Workload);
    let is_alone = card.workers.min() == 1 && !card.blocks_in_kernel;
    if is_alone && by_work && is_long {
        return vec![timed(name(), move || {
            let mut run = alone(kernel);
            Box::new(move |times| {
                let start = Instant::now();
                (0..times).for_each(|_| keep(run()));
                start.elapsed()
            })
        })];
    }
    if is_alone && by_work {
        return vec![case(name(), move || {
            let mut run = alone(kernel);
            Box::new(move || keep(run()))
        })];
    }
    let together = CELLS.fewest(kernel, &PARAMS).map(|workers| {
        timed(name(), move || Box::new(move |times| CELLS.measured(kernel, PARAMS, workers).mul_f64(times as f64)))
    });
    let alone = (is_alone && !is_long).then(|| counted(name(), move || Box::new(alone(kernel))));
    together.into_iter().chain(alone).collect()
}

/// The run of one worker by itself, which gives its work.
fn alone(kernel: &'static dyn Kernel) -> impl FnMut() -> u64 {
    let stage = kernel.stage(&PARAMS, 1).expect("the kernel can run here");
    let mut worker = stage.worker(0).expect("there is memory");
    let by_time = stage.span().is_some();
    // Made before the runs, since it takes as many instructions as a short one. One that ends by its looks is good for one run.
    let watch = || Watch::new(&Stop::new());
    let always = watch();
    let mut once: Vec<Watch> = (0..if by_time { 3 } else { 0 }).map(|_| watch().with_looks(LOOKS)).collect();
    let mut spent = Vec::with_capacity(once.len());
    let mut run = move |worker: &mut dyn Worker| {
        let watch = once.pop();
        let work = worker.run(watch.as_ref().unwrap_or(&always));
        // Its memory is given back when the run is not counted any more.
        spent.extend(watch);
        work.ops.0.max(work.bytes.0)
    };
    worker.prepare();
    run(&mut *worker);
    worker.verify().expect("the answer is right");
    worker.prepare();
    move || run(&mut *worker)
}
