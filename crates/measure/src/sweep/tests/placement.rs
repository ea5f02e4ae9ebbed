//! Sweeps on a host that moves virtual CPUs.

use std::cell::Cell as Shared;

use charz_claims::compare::{Options, Reason, Refusal, Unlike, Verdict, compare};
use charz_data::checks::V16;
use fastrand::Rng;

use super::*;

/// Operations per second of two workers on one line, and how far they are apart, on one complex and on two.
const PLACEMENTS: [(f64, f64); 2] = [(60e6, 25.0), (91e6, 130.0)];

struct Host<'a> {
    fake: Fake<'a>,
    random: RefCell<Rng>,
    placement: Shared<usize>,
    /// How often it moves them, as a share of the invocations.
    moves: f64,
}

impl Invoke for Host<'_> {
    fn invoke(&self, order: &MeasureRequest, seed: u64) -> Invocation {
        let mut random = self.random.borrow_mut();
        if random.f64() < self.moves {
            self.placement.set(1 - self.placement.get());
        }
        let mut invocation = self.fake.invoke(order, seed);
        let Some(evidence) = invocation.evidence.as_mut().filter(|_| order.kernel == "cas-counter") else {
            return invocation;
        };
        let (rate, apart) = PLACEMENTS[self.placement.get()];
        evidence.apart_ns = Some(apart * (0.85 + 0.3 * random.f64()));
        let rate = rate * (1.0 + 0.01 * (random.f64() + random.f64() - 1.0));
        // Each worker does 100,000 operations.
        invocation.runs.fill(run(order, 1e5 * order.seats.len() as f64 / rate * 1e9));
        invocation
    }

    fn rest(&self, time: Duration) {
        self.fake.rest(time);
    }
}

fn swept(moves: f64, seed: u64) -> Report {
    let request = Request { budget: crate::plan::Budget::Of(HOUR), ..request(&["cas-counter"], "dumb", "2") };
    let (mut setting, stop, mut random) = (Setting::new(QUIET, &request, &[]), Stop::new(), Rng::with_seed(seed));
    setting.blank.host.virtual_machine = Some(true);
    let placement = Shared::new(random.usize(..2));
    let host = Host { fake: Fake::new(&stop), random: RefCell::new(random), placement, moves };
    let mut report = setting.blank.clone();
    setting.sweep(&mut report, &mut (), &host, &stop, HOUR).run(&mut ()).unwrap();
    report::check(&report).unwrap();
    report
}

/// What two workers do where they were, by the number of the report.
fn truth(report: &Report) -> f64 {
    let apart = report.cells[0].summary.as_ref().unwrap().apart_ns.unwrap();
    PLACEMENTS.into_iter().find(|(_, ns)| (apart / ns - 1.0).abs() < 0.2).unwrap().0
}

#[test]
fn numbers_of_a_host_that_moves_cpus_are_those_of_a_placement() {
    let (mut held, mut told, mut compared) = (0, 0, 0);
    for pair in 0..40 {
        let [base, new] = [0, 1].map(|side| swept(0.15, 2 * pair + side));
        for report in [&base, &new] {
            let number = report.cells[0].capacity.unwrap();
            let (interval, truth) = (number.interval.unwrap(), truth(report));
            held += u32::from(interval.low <= truth && truth <= interval.high);
            told += u32::from(report.cells[0].marks.iter().any(|mark| mark.code == V16.code));
        }
        let moved = truth(&base) != truth(&new);
        match compare([&base, &new], &Options::default()) {
            Ok(comparison) => {
                let row = &comparison.rows[0];
                assert!(!moved && !matches!(row.verdict, Verdict::Faster | Verdict::Slower), "{pair}: {row:?}");
                compared += 1;
            }
            Err(Refusal::Nothing(_, found)) => {
                let why = &found.rows[0].reason;
                assert!(moved && matches!(why, Some(Reason::Unlike(Unlike::Apart(_), _))), "{pair}: {why:?}");
            }
            Err(refusal) => panic!("{pair}: {refusal:?}"),
        }
    }
    assert!(held >= 72, "{held} of 80 intervals hold what was there");
    assert!(told >= 40 && (5..=35).contains(&compared), "{told} of 80 moved, {compared} of 40 compared");
}

/// The times of a line go by its home and the clock there.
#[test]
fn no_host_moves_the_cpus_of_a_machine_without_one() {
    let mut report = swept(0.15, 1);
    report.host.virtual_machine = Some(false);
    let context = judge_context(&report, &report.cells[0]).unwrap();
    charz_judge::judge(&mut report.cells[0], &context);
    let cell = &report.cells[0];
    assert_eq!(cell.summary.as_ref().and_then(|summary| summary.apart_ns), None);
    assert!(cell.invocations.iter().flat_map(|one| &one.runs).all(|run| !run.dirty.contains(&V16.code.to_owned())));
}

#[test]
fn cpus_that_stay_where_they_are_change_nothing() {
    let mut report = swept(0.0, 1);
    let mut without = report.clone();
    let evidence = |report: &mut Report| {
        for invocation in &mut report.cells[0].invocations {
            invocation.evidence.as_mut().unwrap().apart_ns = None;
        }
    };
    evidence(&mut without);
    let context = judge_context(&without, &without.cells[0]).unwrap();
    charz_judge::judge(&mut without.cells[0], &context);
    evidence(&mut report);
    report.cells[0].summary.as_mut().unwrap().apart_ns = None;
    assert!(report.cells == without.cells, "{:?}", report.cells[0].marks);
}
