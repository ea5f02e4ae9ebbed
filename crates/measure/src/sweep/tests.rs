//! Sweeps whose measurements are made up.

mod adaptive;
mod away;
mod brief;
mod golden;
mod placement;

use std::cell::RefCell;
use std::time::Duration;

use charz_topology::{Source, discover};

use super::*;
use crate::fixtures::{HOUR, Setting};
use crate::plan::{Invocations, Plan, Request};
use charz_data::report::{Evidence, HardwareCount, HardwareCounts, Lap, Run, Status};
use charz_data::{Program, ReportedUnit};

/// The invocations of a cell that is precise at once.
const FIRST: usize = charz_stats::LOOKS[0];

/// Answers orders out of the air.
struct Fake<'a> {
    stop: &'a Stop,
    /// How far the rates of a kernel's invocations lie apart, as a fraction.
    spread: fn(&MeasureRequest) -> f64,
    /// How long a repetition takes, in nanoseconds.
    nanos: fn(&MeasureRequest) -> f64,
    /// How the invocation with this number, counted from 0, ends.
    ending: fn(&MeasureRequest, usize) -> Ending,
    /// Whether workers wait for their strands all the time in the invocation with this number; those of a program leave them.
    waits: fn(usize) -> bool,
    /// What of the machine changed during the invocation with this number.
    changes: fn(usize) -> &'static [&'static str],
    /// What each worker counts where counters are asked for; `None` where there are none.
    counters: Option<HardwareCounts>,
    /// After so many invocations the user wants to leave.
    patience: usize,
    /// Whether the user wants to leave when the sweep rests.
    restless: bool,
    asked: RefCell<Vec<(String, usize)>>,
    /// The longest that an invocation was given, in nanoseconds.
    given_ns: std::cell::Cell<u64>,
}

impl<'a> Fake<'a> {
    fn new(stop: &'a Stop) -> Self {
        let asked = RefCell::default();
        let (spread, nanos) = (|_: &MeasureRequest| 0.0, |_: &MeasureRequest| 100e6);
        Fake {
            stop,
            spread,
            nanos,
            ending: |_, _| Ending::Done,
            waits: |_| false,
            changes: |_| &[],
            counters: None,
            patience: usize::MAX,
            restless: false,
            asked,
            given_ns: std::cell::Cell::new(0),
        }
    }
}

impl Invoke for Fake<'_> {
    fn invoke(&self, order: &MeasureRequest, seed: u64) -> Invocation {
        let number = self.asked.borrow().len();
        if number == self.patience {
            self.stop.raise();
            return Invocation::without_runs(Ending::Stopped, "stopped by the user");
        }
        self.asked.borrow_mut().push((order.kernel.clone(), order.seats.len()));
        self.given_ns.set(self.given_ns.get().max(order.deadline_ns).max(order.time_box_ns));
        match (self.ending)(order, number) {
            Ending::Done => {
                // Evenly to both sides of the middle.
                let off = (self.spread)(order) * ((number % 7) as f64 / 3.0 - 1.0);
                let mut run = run(order, (self.nanos)(order) * (1.0 + off));
                if (self.waits)(number) {
                    run.laps.iter_mut().for_each(|lap| lap.wait(run.interval_ns / 2));
                    run.laps.iter_mut().for_each(|lap| lap.on_seat = Some(order.program.is_none()));
                }
                let counts = self.counters.filter(|_| order.counters);
                run.laps.iter_mut().for_each(|lap| lap.hardware = counts.map(Box::new));
                let runs = vec![run; order.repetitions as usize];
                let missing = order.counters && counts.is_none();
                let no_counters = missing.then(|| "the test has none".to_owned());
                let changes = (self.changes)(number).iter().map(|&change| change.to_owned()).collect();
                let evidence = Some(Evidence { no_counters, changes, ..Evidence::default() });
                Invocation { seed, reason: None, evidence, runs, ..Invocation::without_runs(Ending::Done, "") }
            }
            ending => Invocation::without_runs(ending, "as the test wants it"),
        }
    }

    fn rest(&self, _: Duration) {
        if self.restless {
            self.stop.raise();
        }
    }
}

/// A repetition in which nothing went wrong, of so many nanoseconds.
fn run(order: &MeasureRequest, nanos: f64) -> Run {
    let lap = |(rank, seat): (u64, &Option<u32>)| {
        let lap = Lap::undisturbed(rank, *seat, nanos as u64);
        Lap { ops: 100_000, ..lap }
    };
    let run = Run::undisturbed((0..).zip(&order.seats).map(lap).collect());
    Run { reported: order.program.as_ref().map(|_| nanos / 1e9), ..run }
}

/// As [`fixtures::request`](crate::fixtures::request), in as many invocations as a sweep makes.
pub(super) fn request(kernels: &[&str], mappings: &str, threads: &str) -> Request {
    Request {
        iterations: Some(1_000_000),
        repetitions: Some(2),
        invocations: Invocations { least: 6, most: 20, counted: 0 },
        oversubscribed: 64,
        accept_panic: true,
        ..crate::fixtures::request(kernels, mappings, threads)
    }
}

struct Swept {
    report: Report,
    asked: Vec<(String, usize)>,
}

const QUIET: &str = "Package:1 Core:8 PU:1";

fn sweep(kernels: &str, threads: &str, change: impl FnOnce(&mut Fake<'_>)) -> Swept {
    sweep_under("dumb", kernels, threads, change)
}

fn sweep_under(mappings: &str, kernels: &str, threads: &str, change: impl FnOnce(&mut Fake<'_>)) -> Swept {
    let names: Vec<&str> = kernels.split(',').collect();
    swept(request(&names, mappings, threads), change)
}

fn swept(request: Request, change: impl FnOnce(&mut Fake<'_>)) -> Swept {
    let request = Request { budget: crate::plan::Budget::Of(HOUR), ..request };
    let setting = Setting::new(QUIET, &request, &[]);
    let mut report = setting.blank.clone();
    let stop = Stop::new();
    let mut fake = Fake::new(&stop);
    change(&mut fake);
    setting.sweep(&mut report, &mut (), &fake, &stop, HOUR).run(&mut ()).unwrap();
    Swept { report, asked: fake.asked.into_inner() }
}

/// A sweep of two cells that asks for hardware counters.
fn sweep_with_counters(change: impl FnOnce(&mut Fake<'_>)) -> Report {
    let request = request(&["arith-int"], "dumb", "1,2");
    let invocations = Invocations { counted: request.invocations.least, ..request.invocations };
    swept(Request { invocations, ..request }, change).report
}

#[test]
fn half_of_the_fewest_invocations_are_counted_and_give_no_number() {
    let counter = Some(HardwareCount { count: 5_000_000, enabled_ns: 10, running_ns: 10 });
    let counts = HardwareCounts { cycles: counter, instructions: counter, ..HardwareCounts::default() };
    let report = sweep_with_counters(|fake| fake.counters = Some(counts));
    assert!(report.complete && report.plan.counters && report.plan.issue_width == Some(4));
    report::check(&report).unwrap();
    for cell in &report.cells {
        assert_eq!((cell.invocations.len(), cell.counted.len(), cell.no_counters()), (FIRST, 6, None));
        let mut kinds: Vec<(u64, bool)> = Vec::new();
        kinds.extend(cell.invocations.iter().map(|one| (one.started_ns, false)));
        kinds.extend(cell.counted.iter().map(|one| (one.started_ns, true)));
        kinds.sort_unstable();
        let in_turns = |(at, (_, counted)): (usize, &(u64, bool))| *counted == (at % 2 == 1 && at < 12);
        assert!(kinds.iter().enumerate().all(in_turns), "in turns: {kinds:?}");
        let found = cell.hardware.unwrap();
        // 5 million of each worker in 0.1 s.
        assert_eq!((found.mips, found.cpi), (Some(50.0 * cell.workers as f64), Some(1.0)));
        assert!(found.cost.unwrap().value.abs() < 1e-9);
    }
    assert!(report.floor.iter().all(|cell| cell.counted.is_empty()));
}

#[test]
fn a_sweep_without_counters_has_the_reason_and_its_numbers() {
    let report = sweep_with_counters(|_| {});
    assert!(report.complete);
    for cell in &report.cells {
        assert_eq!((made(cell), cell.counted.len(), cell.hardware), (FIRST, 0, None));
        assert_eq!(cell.no_counters(), Some("the test has none"));
        let asked = |one: &&Invocation| one.evidence.as_ref().is_some_and(|seen| seen.no_counters.is_some());
        assert_eq!(cell.invocations.iter().filter(asked).count(), 1, "asked once");
    }
    assert_eq!(
        charz_analysis::answer::Answer::of(&report).counters.as_deref(),
        Some("no counters here: the test has none")
    );
}

/// A request of a program that reports its time.
fn request_of_program(command: &str, mappings: &str, threads: &str) -> Request {
    let program = serde_json::from_value(serde_json::json!({
        "command": command, "setup": null, "value": "last", "unit": ReportedUnit::SECONDS, "verify": null, "timeout_ns": null,
    }));
    let kernels = vec![user_program::find(COMMAND).unwrap()];
    Request { kernels, program: Some(program.unwrap()), repetitions: None, ..request(&[], mappings, threads) }
}

/// A sweep of a program with the budget, after such pilots.
fn sweep_after_pilots(change: fn(&mut Fake<'_>), budget: Duration) -> (Report, usize) {
    let request = request_of_program("x {threads}", "round-robin", "1,4,8");
    let mut setting = Setting::new(QUIET, &request, &[]);
    let stop = Stop::new();
    let fake = Fake::new(&stop);
    let seats = setting.plan.cells.last().unwrap().seats.clone();
    setting.order.program = request.program;
    let order = MeasureRequest { seats, mapping: "round-robin".into(), ..setting.order.clone() };
    let mut pilots = Fake::new(&stop);
    change(&mut pilots);
    setting.predictor = setting.predictor.clone().with_program(&order, &pilots).0;
    let mut report = setting.blank.clone();
    setting.sweep(&mut report, &mut (), &fake, &stop, budget).run(&mut ()).unwrap();
    report::check(&report).unwrap();
    let asked = fake.asked.borrow().iter().filter(|(kernel, _)| *kernel == COMMAND).count();
    (report, asked)
}

#[test]
fn a_budget_never_ends_without_a_number_where_a_pilot_ended() {
    let (report, asked) = sweep_after_pilots(|_| {}, Duration::ZERO);
    let ends: Vec<(u64, usize, bool)> =
        report.cells.iter().map(|cell| (cell.workers, made(cell), cell.capacity.is_some())).collect();
    assert_eq!((asked, ends), (0, vec![(1, 1, true), (4, 0, false), (8, 1, true)]));
    assert_eq!((report.complete, report.stopped_by.as_deref()), (false, Some("budget")));
    // A first run is a cold start: with time for others it is none of them.
    let (report, asked) = sweep_after_pilots(|_| {}, HOUR);
    assert!(report.complete && asked == report.cells.iter().map(made).sum::<usize>());
    let (report, _) = sweep_after_pilots(|pilots| pilots.waits = |_| true, Duration::ZERO);
    let ends: Vec<_> = report.cells.iter().map(|cell| (made(cell), cell.capacity)).collect();
    assert_eq!(ends, [(1, None), (0, None), (1, None)], "one without a value is counted once");
}

#[test]
fn the_very_first_run_stands_beside_the_runs_of_other_configurations() {
    let (report, _) = sweep_after_pilots(|_| {}, HOUR);
    let last = |cell: &Cell| cell.invocations.last()?.evidence.as_ref()?.program.as_ref()?.first_elsewhere;
    let seen: Vec<_> =
        report.cells.iter().map(|cell| last(cell).map(|first| (first.threads, first.later_ns.is_some()))).collect();
    assert_eq!(seen, [Some((8, true)), Some((8, true)), None]);
}

#[test]
fn a_run_of_a_program_is_ended_before_the_process_that_waits_for_it() {
    for (setup, timeout_ns) in [(None, None), (None, Some(1_000_000_000)), (Some("true"), Some(1_000_000_000))] {
        let request = request_of_program("x {threads}", "round-robin", "1");
        let mut setting = Setting::new(QUIET, &request, &[]);
        let program = request.program.unwrap();
        setting.order.program = Some(Program { setup: setup.map(str::to_owned), timeout_ns, ..program });
        let (stop, mut report) = (Stop::new(), setting.blank.clone());
        let mut fake = Fake::new(&stop);
        fake.ending = |order, _| {
            let program = order.program.as_ref().filter(|_| order.kernel == COMMAND);
            // Each of its runs, and the set-up before it, may take so long.
            let most = |program: &Program| {
                let (spans, runs) =
                    (1 + u64::from(program.setup.is_some()), program.timeout_ns.map(|_| order.repetitions));
                spans * runs.unwrap_or(1) * order.time_box_ns
            };
            assert!(program.is_none_or(|program| most(program) < order.deadline_ns), "{order:?}");
            Ending::Done
        };
        report.cells.iter_mut().for_each(|cell| cell.repetitions = 10);
        setting.sweep(&mut report, &mut (), &fake, &stop, HOUR).run(&mut ()).unwrap();
    }
}

#[test]
fn a_pilot_that_failed_is_all_that_is_known_of_its_cell() {
    let (report, _) = sweep_after_pilots(|pilots| pilots.ending = |_, _| Ending::Died, Duration::ZERO);
    let failed = report.cells.last().unwrap();
    assert_eq!((failed.status, failed.invocations[0].ending), (Status::Failed, Ending::Died));
    let (report, _) = sweep_after_pilots(|pilots| pilots.ending = |_, _| Ending::Died, HOUR);
    assert!(report.cells.iter().all(|cell| cell.status == Status::Ok), "it did not fail again");
    // With one thread it was given less time than an invocation is.
    let (report, _) = sweep_after_pilots(
        |pilots| pilots.ending = |order, _| if order.seats.len() == 1 { Ending::TimedOut } else { Ending::Done },
        Duration::ZERO,
    );
    let ends: Vec<_> = report.cells.iter().map(|cell| (cell.status, made(cell))).collect();
    assert_eq!(ends, [(Status::Pending, 0), (Status::Pending, 0), (Status::Suspect, 1)]);
}

#[test]
fn no_invocation_is_given_more_time_than_the_budget_has_left() {
    let request = request(&["arith-int"], "dumb", "1,2");
    let (setting, stop, second) = (Setting::new(QUIET, &request, &[]), Stop::new(), Duration::from_secs(1));
    let fake = Fake::new(&stop);
    // An edited report may have taken any time.
    let mut old = Report { wall_ns: u64::MAX, ..setting.blank.clone() };
    setting.sweep(&mut old, &mut (), &fake, &stop, second).run(&mut ()).unwrap();
    assert_eq!(old.wall_ns, u64::MAX);
    assert!((1..=1_125_000_000).contains(&fake.given_ns.get()), "{} ns", fake.given_ns.get());
    // Ended by the budget, it has not failed.
    let late = |_: &MeasureRequest, _| {
        std::thread::sleep(Duration::from_millis(3));
        Ending::TimedOut
    };
    let (fake, mut report) = (Fake { ending: late, ..Fake::new(&stop) }, setting.blank.clone());
    setting.sweep(&mut report, &mut (), &fake, &stop, Duration::from_millis(1)).run(&mut ()).unwrap();
    assert_eq!((report.cells.iter().map(made).sum::<usize>(), report.stopped_by.as_deref()), (0, Some("budget")));
}

#[test]
fn pilots_without_time_leave_the_budget_to_small_amounts() {
    let stop = Stop::new();
    let fake = Fake::new(&stop);
    let kernels = [charz_workloads::find("arith-int").unwrap(), charz_workloads::find("arith-float").unwrap()];
    let order = MeasureRequest::new(&Params::SMALL);
    let predictor = Predictor::pilot(&kernels, &order, Duration::ZERO, &fake);
    assert!(fake.asked.borrow().iter().all(|(kernel, _)| kernel == "noop"));
    let machine = discover(&Source::Synthetic(QUIET.into())).unwrap();
    let (limits, request) = (Limits::unlimited(), Request { iterations: None, ..request(&["arith-int"], "dumb", "1") });
    let plan = Plan::new(&request, &request.fit(&machine, &limits).unwrap(), &limits, &predictor);
    assert_eq!(plan.params.iterations, 1_000_000);
    let told = plan.shortfall(Duration::ZERO).unwrap();
    assert!(told.contains("took the whole budget of 1 min 40 s") && !told.contains("0.00"), "{told}");
}

fn made(cell: &Cell) -> usize {
    cell.invocations.len()
}

#[test]
fn time_goes_where_the_spread_is() {
    let swept = sweep("arith-int,arith-float", "1,2", |fake| {
        fake.spread = |order| if order.kernel == "arith-float" { 0.5 } else { 0.0 };
    });
    let count = |kernel: &str| -> Vec<usize> {
        swept.report.cells.iter().filter(|cell| cell.kernel == kernel).map(made).collect()
    };
    assert_eq!(count("arith-int"), [FIRST; 2]);
    // One that seems to have several speeds gets one more.
    assert!(count("arith-float").iter().all(|made| (20..22).contains(made)), "{:?}", count("arith-float"));
    assert!(swept.report.complete);
    let wide = swept.report.cells.last().unwrap().capacity.unwrap();
    assert!(wide.interval.unwrap().half_width(wide.value) > 0.01, "the width that was reached is reported: {wide:?}");
}

#[test]
fn cells_take_turns_in_an_order_that_changes() {
    let swept = sweep("arith-int", "1-8", |_| {});
    let rounds: Vec<Vec<usize>> = swept
        .asked
        .iter()
        .filter(|(kernel, _)| kernel == "arith-int")
        .map(|(_, workers)| *workers)
        .collect::<Vec<_>>()
        .chunks(8)
        .map(<[usize]>::to_vec)
        .collect();
    assert_eq!(rounds.len(), FIRST);
    for round in &rounds {
        let mut sorted = round.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (1..=8).collect::<Vec<_>>(), "a round has every cell once");
    }
    assert!(rounds.windows(2).any(|pair| pair[0] != pair[1]), "{rounds:?}");
}

#[test]
fn the_user_who_leaves_loses_the_invocation_in_flight_only() {
    // Two cells of the floor, then those of the plan: one invocation of each is made in the first round.
    let swept = sweep("arith-int", "1,2", |fake| fake.patience = 5);
    assert!(!swept.report.complete);
    let cells = || swept.report.floor.iter().chain(&swept.report.cells);
    assert_eq!(cells().map(made).sum::<usize>(), 5);
    assert!(
        cells().all(|cell| cell.summary.is_some_and(|summary| summary.raw.is_some())),
        "each has what was made of it"
    );
}

#[test]
fn disturbances_delay_a_cell_and_do_not_end_it() {
    let swept = sweep("arith-int", "1", |fake| fake.waits = |number| number < 12);
    let cell = &swept.report.cells[0];
    let values = cell.invocations.iter().filter(|invocation| invocation.value.is_some()).count();
    assert!(swept.report.complete && made(cell) > values && values >= 6, "{values} of {}", made(cell));
    // A machine that never gives a value ends at the budget, or here at the bound.
    let swept = sweep("arith-int", "1", |fake| fake.waits = |_| true);
    assert_eq!(made(&swept.report.cells[0]), charz_judge::ATTEMPTS * 20);
}

#[test]
fn numbers_come_first_and_then_what_decides_the_advice() {
    let swept = sweep("arith-int", "1,8,16", |fake| {
        fake.spread = |_| 0.1;
        fake.nanos = |order| 100e6 * (order.seats.len() as f64 / 8.0).max(1.0);
    });
    let order: Vec<usize> =
        swept.asked.iter().filter(|(kernel, _)| kernel == "arith-int").map(|(_, workers)| *workers).collect();
    let (table, rest) = order.split_at(3 * 6);
    assert!([1, 8, 16].iter().all(|workers| table.iter().filter(|one| *one == workers).count() == 6), "{table:?}");
    let (few, rest) = rest.split_at(2 * (FIRST - 6));
    assert!(few.iter().all(|workers| *workers != 16), "{few:?}");
    // 8 workers are the best, 1 is far from them, and 16 have no strands of their own.
    let last = |workers: usize| rest.iter().rposition(|one| *one == workers).unwrap();
    let first = |workers: usize| rest.iter().position(|one| *one == workers).unwrap();
    assert!(last(8) < first(1) && last(1) < first(16), "{rest:?}");
}

#[test]
fn a_full_table_is_announced_once() {
    struct Fills(Vec<usize>);
    impl Listener for Fills {
        fn fill(&mut self, report: &Report, took: Duration, until: Duration) {
            self.0.extend(report.cells.iter().map(made));
            assert!(took < until && until < HOUR, "the most runs end before the budget: {until:?}");
        }
    }
    let check = |spread: fn(&MeasureRequest) -> f64, expected: &[usize]| {
        let request = request(&["arith-int"], "dumb", "1,2");
        let setting = Setting::new(QUIET, &request, &[]);
        let (mut report, stop, mut fills) = (setting.blank.clone(), Stop::new(), Fills(Vec::new()));
        let fake = Fake { spread, ..Fake::new(&stop) };
        setting.sweep(&mut report, &mut (), &fake, &stop, HOUR).run(&mut fills).unwrap();
        assert_eq!(fills.0, expected);
    };
    check(|_| 0.1, &[6, 6]);
    check(|_| 0.0, &[6, 6]);
}

#[test]
fn workers_that_contend_become_more_only_as_long_as_they_end_in_time() {
    let swept = sweep("cas-counter", "1,8,16,32,64", |fake| {
        fake.ending = |order, _| match order.seats.len() {
            16 if order.kernel == "cas-counter" => Ending::TimedOut,
            _ => Ending::Done,
        };
    });
    let round: Vec<usize> =
        swept.asked.iter().filter(|(kernel, _)| kernel == "cas-counter").map(|(_, workers)| *workers).take(3).collect();
    assert_eq!(round, [1, 8, 16], "ever more");
    assert!(swept.asked.iter().all(|(kernel, workers)| kernel != "cas-counter" || *workers <= 16));
    let status: Vec<Status> = swept.report.cells.iter().map(|cell| cell.status).collect();
    assert_eq!(status[2..], [Status::Failed, Status::Skipped, Status::Skipped]);
    assert!(swept.report.cells[4].reason.as_ref().unwrap().starts_with("safety: "));
}

/// Of 4 kernels under 2 mappings with 1 to 8 threads, of 1 s a run.
#[test]
fn a_budget_that_settles_a_part_settles_kernels_as_a_whole() {
    let setting =
        Setting::new(QUIET, &request(&["arith-int", "arith-float", "mem-read", "mem-copy"], "dumb,auto", "1-8"), &[]);
    let (stop, mut report, second) = (Stop::new(), setting.blank.clone(), Duration::from_secs(1));
    let (fake, floor) = (Fake::new(&stop), report.floor.len() as u32);
    // What is measured where there is time for so many configurations, and a kernel has 16.
    let now = |report: &mut Report, cells: u32| {
        let mut recorder = ();
        let sweep = setting.sweep(report, &mut recorder, &fake, &stop, HOUR);
        let later = sweep.later(second * 6 * cells, |_| second);
        let now: Vec<&Cell> =
            (0..places(sweep.report)).filter(|place| !later.contains(place)).map(|place| sweep.cell(place)).collect();
        let mut kernels: Vec<(String, usize)> = Vec::new();
        for cell in now {
            match kernels.iter_mut().find(|(kernel, _)| *kernel == cell.kernel) {
                Some((_, count)) => *count += 1,
                None => kernels.push((cell.kernel.clone(), 1)),
            }
        }
        kernels
    };
    let of = |kernels: &[&str]| -> Vec<(String, usize)> {
        let count = |kernel: &&str| if *kernel == "noop" { floor as usize } else { 16 };
        kernels.iter().map(|kernel| (kernel.to_string(), count(kernel))).collect()
    };
    let all = of(&["noop", "arith-int", "arith-float", "mem-read", "mem-copy"]);
    assert_eq!(now(&mut report, 64 + floor), all);
    // A quarter at a time, and one where that is too little for any.
    assert_eq!(now(&mut report, 63 + floor), of(&["noop"]));
    assert_eq!(now(&mut report, 4 * floor - 1), of(&["noop"]));
    assert_eq!(now(&mut report, floor - 1), all, "each gets what there is");
    // What has begun is ended first, or gets what there is.
    let done = Invocation { value: Some(1.0), ..Invocation::without_runs(Ending::Done, "") };
    report.cells[20].invocations.push(done);
    assert_eq!(now(&mut report, 63 + floor), of(&["arith-float"]));
    assert_eq!(now(&mut report, floor - 1), of(&["arith-float"]));
    // What had its invocations and has no number does not keep the others waiting.
    let disturbed = vec![Invocation::without_runs(Ending::Done, ""); 6];
    report.cells[16..32].iter_mut().for_each(|cell| cell.invocations.clone_from(&disturbed));
    report.floor.iter_mut().for_each(|cell| cell.invocations.clone_from(&disturbed));
    assert_eq!(now(&mut report, 64), of(&["arith-int"]));
}
