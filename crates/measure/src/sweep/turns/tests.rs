use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::time::Duration;

use charz_kernels::Stop;
use charz_topology::Present;

use super::*;
use crate::fixtures::Setting;
use crate::invoke::{Invoke, MeasureRequest};
use crate::plan::{Invocations, Request};
use crate::sweep::tests::request;
use charz_claims::compare::{self, Verdict};
use charz_data::report::{Evidence, Frequency, Invocation, Lap, Report, Run, Status};

/// A machine that does a step of a kernel in about a nanosecond.
struct Fake<'a> {
    side: char,
    factor: f64,
    spread: f64,
    /// From which invocation on every process dies.
    dies_at: usize,
    /// After which invocation the user has had enough.
    stops_at: usize,
    stop: &'a Stop,
    log: &'a RefCell<Vec<(char, String)>>,
}

impl Invoke for Fake<'_> {
    fn invoke(&self, order: &MeasureRequest, seed: u64) -> Invocation {
        let mut log = self.log.borrow_mut();
        log.push((self.side, order.kernel.clone()));
        if log.len() > self.stops_at {
            self.stop.raise();
            return Invocation::without_runs(Ending::Stopped, "stopped by the user");
        }
        if log.iter().filter(|(side, _)| *side == self.side).count() > self.dies_at {
            return Invocation::without_runs(Ending::Died, "signal 11 ended the measuring process");
        }
        let mut random = fastrand::Rng::with_seed(seed);
        let mut about = |spread: f64| 1.0 + spread * (random.f64() - 0.5);
        let process = about(self.spread);
        let runs = (0..order.repetitions).map(|_| {
            let interval_ns = (order.params.iterations as f64 * self.factor * process * about(0.002)) as u64;
            let lap = Lap::undisturbed(0, Some(0), interval_ns);
            Run::undisturbed(vec![Lap { ops: order.params.iterations, ..lap }])
        });
        let frequency = Frequency { before_hz: 3e9, after_hz: 3e9, highest_hz: 3e9, drift: 0.0 };
        let evidence = Evidence { frequency: Some(frequency), ..Evidence::default() };
        Invocation {
            runs: runs.collect(),
            evidence: Some(evidence),
            reason: None,
            seed,
            ..Invocation::without_runs(Ending::Done, "")
        }
    }

    fn rest(&self, _: Duration) {}
}

struct Trial {
    kernels: &'static [&'static str],
    invocations: usize,
    /// How many there may be where the interval is wider than 0.5%.
    most: usize,
    budget: Duration,
    seed: u64,
    /// When its CPU is not there, by how often it was looked for.
    offline: Range<usize>,
}

const USUAL: Trial =
    Trial { kernels: &["arith-int"], invocations: 10, most: 10, budget: Duration::MAX, seed: 7, offline: 0..0 };

struct Taken {
    a: Report,
    b: Report,
    log: Vec<(char, String)>,
}

/// Has two machines take turns; `change` spoils them.
fn take(trial: &Trial, change: impl Fn(&mut Fake<'_>)) -> Taken {
    let request = Request {
        iterations: Some(10_000_000),
        repetitions: Some(5),
        invocations: Invocations { least: trial.invocations, most: trial.most, counted: 0 },
        precision: Some(0.005),
        ..request(trial.kernels, "dumb", "1")
    };
    let rates: Vec<_> = trial.kernels.iter().map(|name| (*name, 1.0, 0.0)).collect();
    let setting = Setting::new("Package:1 Core:2 PU:1", &request, &rates);
    let (stop, log) = (Stop::new(), RefCell::new(Vec::new()));
    let fake = |side| {
        let never = usize::MAX;
        let mut fake =
            Fake { side, factor: 1.0, spread: 0.01, dies_at: never, stops_at: never, stop: &stop, log: &log };
        change(&mut fake);
        fake
    };
    let (fake_a, fake_b) = (fake('A'), fake('B'));
    let blank = || Report { floor: Vec::new(), ..setting.blank.clone() };
    let (mut a, mut b) = (blank(), blank());
    let (mut none_a, mut none_b, looks) = ((), (), Cell::new(0));
    let present = || {
        looks.set(looks.get() + 1);
        let online = if trial.offline.contains(&looks.get()) { vec![1] } else { vec![0, 1] };
        Present { online: Some(online), ..Present::default() }
    };
    let mut sides = [
        setting.sweep(&mut a, &mut none_a, &fake_a, &stop, trial.budget),
        setting.sweep(&mut b, &mut none_b, &fake_b, &stop, trial.budget),
    ];
    sides.iter_mut().for_each(|side| side.present = &present);
    take_turns(&mut sides, trial.seed, &mut ()).unwrap();
    Taken { a, b, log: log.into_inner() }
}

fn verdict(taken: &Taken) -> Verdict {
    compare::interleaved([&taken.a, &taken.b], &compare::Options::default()).rows[0].verdict
}

const THREE: &[&str] = &["arith-int", "arith-float", "peak-int"];

#[test]
fn blocks_are_balanced_and_drawn_by_lot() {
    let taken = take(&Trial { kernels: THREE, ..USUAL }, |_| {});
    let (mut abba, mut baab, mut firsts) = (0, 0, Vec::new());
    for block in taken.log.chunks(4).filter(|block| block.len() == 4) {
        assert!(block.iter().all(|(_, kernel)| *kernel == block[0].1), "a block is one pair's: {block:?}");
        match block.iter().map(|(side, _)| *side).collect::<String>().as_str() {
            "ABBA" => abba += 1,
            "BAAB" => baab += 1,
            other => panic!("{other} is not balanced"),
        }
        firsts.push(block[0].1.clone());
    }
    assert!(abba > 0 && baab > 0, "{abba} and {baab}");
    for round in firsts.chunks(3) {
        assert!(THREE.iter().all(|kernel| round.iter().any(|first| first == kernel)), "each pair once: {round:?}");
    }
    assert!(firsts.chunks(3).any(|round| round != &firsts[..3]), "the order of the pairs is drawn anew");
}

#[test]
fn an_odd_number_of_invocations_is_balanced_too() {
    let taken = take(&Trial { invocations: 7, most: 7, ..USUAL }, |_| {});
    assert_eq!((taken.a.cells[0].invocations.len(), taken.b.cells[0].invocations.len()), (7, 7));
    assert!(taken.a.complete && taken.b.complete);
}

#[test]
fn what_is_left_of_a_budget_narrows_both_sides() {
    let made = |spread: f64| {
        let taken = take(&Trial { most: 30, ..USUAL }, |fake| fake.spread = spread);
        [taken.a, taken.b].map(|report| report.cells[0].invocations.len())
    };
    assert_eq!(made(0.001), [10, 10]);
    let [a, b] = made(0.05);
    assert!(a == b && (11..=30).contains(&a), "{a} and {b}");
}

#[test]
fn the_seed_decides_the_order() {
    let log = |seed| take(&Trial { kernels: THREE, seed, ..USUAL }, |_| {}).log;
    assert_eq!(log(7), log(7));
    assert!((8..20).any(|seed| log(seed) != log(7)));
}

#[test]
fn differences_are_found_and_equality_is_reported() {
    let slower = take(&USUAL, |fake| fake.factor = if fake.side == 'B' { 1.1 } else { 1.0 });
    assert_eq!(slower.a.cells[0].status, Status::Ok, "{:?}", slower.a.cells[0].marks);
    assert_eq!(verdict(&slower), Verdict::Slower);
    let faster = take(&USUAL, |fake| fake.factor = if fake.side == 'A' { 1.1 } else { 1.0 });
    assert_eq!(verdict(&faster), Verdict::Faster);
    assert_eq!(verdict(&take(&USUAL, |_| {})), Verdict::Same);
}

#[test]
fn noise_is_not_called_a_difference() {
    for seed in 0..20 {
        let taken = take(&Trial { seed, ..USUAL }, |fake| fake.spread = 0.3);
        assert!(!matches!(verdict(&taken), Verdict::Slower | Verdict::Faster), "seed {seed}");
    }
}

#[test]
fn a_side_that_dies_ends_its_pair_and_is_no_verdict() {
    let taken = take(&USUAL, |fake| fake.dies_at = if fake.side == 'B' { 1 } else { usize::MAX });
    let made = taken.a.cells[0].invocations.len();
    assert!(made < USUAL.invocations, "{made} of A were made for nothing");
    let row = &compare::interleaved([&taken.a, &taken.b], &compare::Options::default()).rows[0];
    assert_eq!(row.verdict, Verdict::Uncompared);
    assert!(row.reason.as_ref().unwrap().warnings().any(|why| why.contains("signal 11")), "{row:?}");
}

#[test]
fn a_user_who_leaves_is_obeyed_at_once() {
    let taken = take(&USUAL, |fake| fake.stops_at = 5);
    assert_eq!(taken.log.len(), 6, "no invocation follows the one that was stopped");
    assert!(!taken.a.complete && !taken.b.complete);
    assert_eq!(verdict(&taken), Verdict::Inconclusive, "what was measured says nothing yet");
}

#[test]
fn a_budget_ends_between_blocks() {
    let taken = take(&Trial { budget: Duration::ZERO, ..USUAL }, |_| {});
    assert!(taken.log.is_empty());
    assert_eq!(taken.b.stopped_by.as_deref(), Some("budget"));
}

#[test]
fn both_sides_wait_for_a_cpu_that_comes_back() {
    let taken = take(&Trial { offline: 5..60, ..USUAL }, |_| {});
    for report in [&taken.a, &taken.b] {
        let done = report.cells[0].invocations.iter().filter(|one| one.ending == Ending::Done).count();
        assert_eq!((done, report.complete, report.stopped_by.as_deref()), (10, true, None));
    }
    assert!(taken.a.cells[0].invocations.len() + taken.b.cells[0].invocations.len() > 20, "it was away");
}
