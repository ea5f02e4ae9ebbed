//! Default sweeps of machines that are modelled: processes whose times follow from how much each part of the machine can do.

use std::cell::{Cell as Shared, RefCell};
use std::collections::{HashMap, HashSet};
use std::iter::zip;
use std::time::Duration;

use charz_kernels::Stop;
use charz_topology::{Source, discover};

use super::plan;
use charz_analysis::page::{Source as PageSource, page};
use charz_claims::compare::{ALPHA, Options, Verdict, compare};
use charz_claims::verdict::verdicts;
use charz_data::Blocks;
use charz_data::machine::{Machine, Strand};
use charz_data::report::{self, Busy, Cell, Ending, Evidence, Frequency, Invocation, Lap, Nodes, Pages, Report, Run};
use charz_measure::fixtures::{HOUR, Setting};
use charz_measure::invoke::{Invoke, MeasureRequest};
use charz_measure::limits::Limits;
use charz_measure::predict::Predictor;
use charz_render::look::TerminalStyle;

/// Units of work in a nanosecond: of a strand that is alone, of a group of strands that share execution units, of a core, of a NUMA node.
type Caps = [f64; 4];

/// The SPARC T3-4: two groups of four strands a core share 1.98 Gop/s and 1.60 GFLOPS, a strand reads 0.65 GB/s and the machine 107.57.
const T3_4: (&str, [Caps; 4]) = (
    "Package:4 [NUMA(memory=128GB)] L2:1(size=6MiB) Core:16 Group:2 PU:4",
    [[0.5, 0.99, 1.98, 1e9], [0.4, 1.6, 1.6, 1e9], [0.65, 1e9, 1e9, 26.9], [0.6, 1e9, 1e9, 14.0]],
);

/// A server of so many packages of today, with invented caps.
fn server(packages: usize) -> (String, [Caps; 4]) {
    let description = format!("Package:{packages} [NUMA(memory=256GB)] L3:8(size=32MiB) L2:4(size=1MiB) Core:1 PU:2");
    (description, [[0.3, 1e9, 0.4, 1e9], [0.2, 1e9, 0.3, 1e9], [30.0, 1e9, 1e9, 200.0], [12.0, 1e9, 1e9, 90.0]])
}

const KERNELS: [&str; 4] = ["arith-int", "arith-float", "mem-read", "mem-write-data"];

struct Model<'a> {
    places: HashMap<u32, &'a Strand>,
    /// How many groups of strands, cores and nodes there are.
    parts: [usize; 3],
    caps: &'a dyn Fn(&str) -> Caps,
    stop: &'a Stop,
    budget: Duration,
    elapsed: Shared<Duration>,
    /// The blocks of some laps, relative to those that nothing disturbs.
    blocks: [Vec<f64>; 100],
    random: RefCell<fastrand::Rng>,
}

impl Model<'_> {
    /// What each worker does in a nanosecond. Those that float are spread evenly, and lose a fourth of it.
    fn rates(&self, order: &MeasureRequest) -> Vec<f64> {
        let [strand, group, core, node] = (self.caps)(&order.kernel);
        let place = |seat: u32| self.places[&seat];
        let all = zip(self.parts, [group, core, node]).map(|(parts, cap)| parts as f64 * cap).fold(f64::MAX, f64::min);
        let of = |key: &dyn Fn(u32) -> (Option<u32>, Option<u32>)| {
            let mut count: HashMap<_, f64> = HashMap::new();
            order.seats.iter().flatten().for_each(|seat| *count.entry(key(*seat)).or_default() += 1.0);
            count
        };
        let (by_group, by_core, by_node) = (
            |seat| (place(seat).core, Some(place(seat).alu)),
            |seat| (place(seat).core, None),
            |seat| (place(seat).numa, None),
        );
        let (groups, cores, on_nodes) = (of(&by_group), of(&by_core), of(&by_node));
        let rate = |seat: &Option<u32>| match *seat {
            Some(seat) => strand
                .min(group / groups[&by_group(seat)])
                .min(core / cores[&by_core(seat)])
                .min(node / on_nodes[&by_node(seat)]),
            None => 0.75 * strand.min(all / order.seats.len() as f64),
        };
        order.seats.iter().map(rate).collect()
    }

    fn run(&self, order: &MeasureRequest, rates: &[f64]) -> Run {
        let mut random = self.random.borrow_mut();
        let (memory, chase) = (is_memory(&order.kernel), is_chase(&order.kernel));
        let work = if memory { order.params.size_bytes } else { order.params.iterations };
        let laps = order.seats.iter().zip(rates).zip(0..).map(|((seat, rate), rank)| {
            let ns = work as f64 / rate * (1.0 + 0.002 * random.f64());
            let start_ns = random.u64(..20_000);
            // Of memory, a disturbed block would be a part of the number.
            let most = if memory { 1.001 } else { f64::MAX };
            let times = random
                .choice(&self.blocks)
                .unwrap()
                .iter()
                .map(|time| time.min(most) / rate * if chase { LINE as f64 } else { 1.0 });
            let blocks = Blocks { count: 130, times: times.collect() };
            Lap {
                start_ns,
                end_ns: start_ns + ns as u64,
                ops: if memory { 0 } else { work } + if chase { work / LINE } else { 0 },
                bytes: if memory && !chase { work } else { 0 },
                blocks: Some(blocks),
                checks: 131,
                ..Lap::undisturbed(rank, *seat, ns as u64)
            }
        });
        let laps: Vec<Lap> = laps.collect();
        let ends = laps.iter().map(|lap| lap.end_ns).max().unwrap();
        let starts = || laps.iter().map(|lap| lap.start_ns);
        let (first, last) = (starts().min().unwrap(), starts().max().unwrap());
        Run { interval_ns: ends - first, start_skew_ns: last - first, ..Run::undisturbed(Lap::grouped(laps)) }
    }
}

impl Invoke for Model<'_> {
    fn invoke(&self, order: &MeasureRequest, seed: u64) -> Invocation {
        let rates = self.rates(order);
        let runs: Vec<Run> = (0..order.repetitions).map(|_| self.run(order, &rates)).collect();
        // A process takes 5 ms, a thread 0.1 ms, and a page is touched at half the speed at which it is read.
        let touched = if is_memory(&order.kernel) { 2.0 * runs[0].interval_ns as f64 } else { 0.0 };
        let timed: u64 = runs.iter().map(|run| run.interval_ns).sum();
        let nanos = 5_000_000 + 100_000 * order.seats.len() as u64 + touched as u64 + timed;
        self.elapsed.set(self.elapsed.get() + Duration::from_nanos(nanos));
        if self.elapsed.get() > self.budget {
            self.stop.raise();
            return Invocation::without_runs(Ending::Stopped, "the modelled budget is used up");
        }
        let (bytes, hz) = (order.params.size_bytes * order.seats.len() as u64, 3e9);
        let evidence = Evidence {
            seen: Default::default(),
            culprits: Vec::new(),
            looked_ns: None,
            busy: Some(Busy { time_ns: nanos, all_ns: nanos, own_ns: nanos, tick_ns: None }),
            pages: Some(Pages { base_page_bytes: 4096, transparent_bytes: bytes, ..Pages::default() }),
            nodes: Some(Nodes { local_bytes: bytes, asked_bytes: None, bytes, balancing: Some(false) }),
            frequency: Some(Frequency { before_hz: hz, after_hz: hz, highest_hz: hz, drift: 0.0 }),
            changes: Vec::new(),
            apart_ns: None,
            wake_ups: None,
            program: None,
            no_counters: None,
        };
        Invocation { seed, reason: None, evidence: Some(evidence), runs, ..Invocation::without_runs(Ending::Done, "") }
    }

    fn rest(&self, _: Duration) {}
}

/// What a command makes of such a machine.
struct Made {
    machine: Machine,
    report: Report,
    figures: String,
}

/// Plans and measures what a command line asks for on such a machine, in its budget, and looks at the size of what becomes of it.
fn make(line: &str, (description, caps): (&str, [Caps; 4])) -> Made {
    let machine = discover(&Source::Synthetic(description.into())).unwrap();
    let caps = |kernel: &str| match kernel {
        "arith-int" => caps[0],
        "arith-float" => caps[1],
        "mem-write-data" => caps[3],
        _ if is_chase(kernel) => [0.01 * LINE as f64, 1e9, 1e9, 1e9],
        _ if is_memory(kernel) => caps[2],
        // A line that is handed over, so often that a repetition takes 1.5 ms.
        _ => [5e6 / 1.5e6, 1e9, 1e9, 1e9],
    };
    // What a pilot with one worker finds.
    let rates = charz_workloads::kernels().map(|kernel| {
        let name = &*kernel.card().name;
        let ns = 1.0 / caps(name)[0];
        (name, ns, if is_memory(name) { 2.0 * ns } else { 0.0 })
    });
    let (strands, limits) = (machine.worth(), Limits::of(&machine));
    let predictor = Predictor::with_rates(strands, rates).on(&machine, strands);
    let plan = plan(line, &machine, &limits, &predictor);
    let setting = Setting::of(machine, plan, predictor, &limits);
    let Setting { machine, plan, blank, .. } = &setting;
    let (mut report, stop, budget) = (blank.clone(), Stop::new(), plan.budget);
    let alus: HashSet<_> = machine.strands.iter().map(|strand| (strand.core, strand.alu)).collect();
    let mut random = fastrand::Rng::with_seed(1);
    let model = Model {
        places: machine.strands.iter().map(|strand| (strand.os_id, strand)).collect(),
        parts: [alus.len(), machine.cores.len(), machine.numa_nodes.len().max(1)],
        caps: &caps,
        stop: &stop,
        budget,
        elapsed: Shared::default(),
        blocks: std::array::from_fn(|_| {
            // Of ten, two are disturbed.
            let time = |at| if at < 26 { 1.0 + 0.001 * random.f64() } else { 1.02 + random.f64() };
            Blocks::of((0..33).map(time).collect()).times
        }),
        random: random.into(),
    };
    setting.sweep(&mut report, &mut (), &model, &stop, HOUR).run(&mut ()).unwrap();
    let (mut file, mut html) = (Vec::new(), Vec::new());
    report::write(&report, &[], true, &mut file).unwrap();
    let drawn = page(&[PageSource { name: "model", report: &report }]);
    charz_render::html::write(&drawn, &TerminalStyle::PLAIN, &mut html).unwrap();
    let figures = format!(
        "{line}, {description}: {} cells, predicted {:.0?}, took {:.0?} of {budget:.0?}; report {} KiB, predicted {} KiB; page {} KiB\n",
        report.cells.len(),
        plan.predicted(),
        model.elapsed.get(),
        file.len() >> 10,
        (plan.report_bytes() / 5) >> 10,
        html.len() >> 10,
    );
    assert!(file.len() < 20 << 20, "too large: {figures}");
    Made { machine: machine.clone(), report, figures }
}

fn is_memory(kernel: &str) -> bool {
    kernel.starts_with("mem") || is_chase(kernel)
}

/// A load takes 100 ns, and a line is read by each.
fn is_chase(kernel: &str) -> bool {
    kernel.starts_with("chase")
}

const LINE: u64 = 64;

/// Whether the default sweep of such a machine says of each kernel what its caps allow, without a doubt; returns its figures.
fn check(machine: (&str, [Caps; 4])) -> String {
    let (description, caps) = machine;
    let Made { machine, report, mut figures } = make("sweep", machine);
    assert!(report.complete, "not complete: {figures}");
    let strands = machine.worth() as u64;
    for (kernel, caps) in KERNELS.into_iter().zip(caps) {
        let cell = |workers| report.cells.iter().filter(move |cell| cell.kernel == kernel && cell.workers == workers);
        let best = |workers| cell(workers).filter_map(Cell::value).reduce(f64::max).unwrap() / 1e9;
        let places = [strands, machine.cores.len() as u64, machine.numa_nodes.len().max(1) as u64];
        let most = places.into_iter().zip([caps[0], caps[2], caps[3]]).map(|(places, cap)| places as f64 * cap);
        let most = most.reduce(f64::min).unwrap();
        for (found, expected) in [(best(1), caps[0]), (best(strands), most)] {
            assert!((found / expected - 1.0).abs() < 0.01, "{description}, {kernel}: {found} of {expected}");
        }
    }
    // Two of it can say "slower" of a single configuration.
    let runs = |cell: &Cell| cell.invocations.iter().filter(|invocation| invocation.value.is_some()).count();
    let (fewest, all) = (report.cells.iter().map(runs).min().unwrap(), report.cells.len());
    assert!(fewest >= charz_stats::runs_for_verdict(all, ALPHA), "{description}: {fewest} runs of {all} cells");
    let mut slower = report.clone();
    let cell = &mut slower.cells[0];
    cell.invocations.iter_mut().filter_map(|one| one.value.as_mut()).for_each(|value| *value *= 0.9);
    cell.capacity.as_mut().unwrap().value *= 0.9;
    let found = compare([&report, &slower], &Options::default()).unwrap();
    let totals = (found.rows[0].verdict, found.totals.slower, found.totals.faster);
    assert_eq!(totals, (Verdict::Slower, 1, 0), "{description}: {:?}", found.rows[0]);
    for verdict in verdicts(&charz_estimate::Estimates::of(&report)) {
        let found = &verdict.best;
        figures += &format!("  {}: {} workers, {}\n", verdict.kernel, found.cell.workers, found.cell.mapping);
        assert!(!verdict.doubtful, "{description}: {} {:?}", verdict.kernel, found.cell.marks);
    }
    figures
}

/// For the tests that are run by hand.
#[expect(clippy::print_stderr, reason = "the figures are what they are run for")]
fn show(figures: &str) {
    eprint!("{figures}");
}

#[test]
fn a_default_sweep_answers_for_each_kernel_in_its_budget() {
    let (description, caps) = server(2);
    check((&description, caps));
}

#[test]
#[ignore = "minutes: cargo test --release -p charz --lib modelled -- --ignored --nocapture"]
fn so_does_that_of_a_machine_of_any_size() {
    show(&check(T3_4));
    for packages in [1, 4, 24, 64] {
        let (description, caps) = server(packages);
        show(&check((&description, caps)));
    }
}

#[test]
#[ignore = "minutes: as above"]
fn c2c_of_1536_strands_and_numa_of_8_nodes_fit() {
    let (description, caps) = server(12);
    let made = make("c2c", (&description, caps));
    assert!(made.report.complete, "not complete: {}", made.figures);
    show(&made.figures);
    let (description, caps) = server(8);
    let made = make("numa", (&description, caps));
    let is_measured = |cell: &Cell| cell.invocations.iter().any(|invocation| invocation.value.is_some());
    assert!(made.report.cells.iter().all(is_measured), "pairs without a number: {}", made.figures);
    show(&made.figures);
}
