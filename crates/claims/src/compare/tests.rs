//! Comparisons of synthetic reports: tables of what is changed and what is concluded, and laws.

mod conditions;
mod noise;

use proptest::prelude::*;

use super::*;
use charz_data::params::{Layout, Period};
use charz_data::report::{
    Ending, Estimator, Invocation, Lap, Measured, Point, Run, Severity, Status, Timer, Unit, anonymous, fixtures,
};
use charz_data::{Growth, GrowthStep, Halt, PageKind, Program, ProgramValue, ReportedUnit};
use charz_stats::Sample;

/// A report with these cells: the name of the kernel, and one value an invocation.
fn report(cells: &[(&str, &[f64])]) -> Report {
    fixtures::report(cells.iter().map(|(kernel, values)| cell(kernel, values)).collect())
}

fn cell(kernel: &str, values: &[f64]) -> Cell {
    let invocation = |value: &f64| Invocation { value: Some(*value), ..fixtures::barren(Ending::Done) };
    Cell {
        invocations: values.iter().map(invocation).collect(),
        summary: None,
        capacity: Sample::new(values.to_vec()).map(|all| Measured { value: all.median(), interval: None }),
        precision: 0.01,
        repetitions: 3,
        ..fixtures::cell(kernel, 1, Unit::OpsPerSecond, 1.0).under("round-robin").seated(&[0])
    }
}

/// Ten values around one, with half a percent of spread, times `factor`.
fn around(factor: f64) -> Vec<f64> {
    (0..10).map(|at| factor * (1.0 + 0.001 * f64::from((at * 7) % 10))).collect()
}

/// Two kernels, the second of which may be changed.
fn two() -> Report {
    report(&[("a", &around(1.0)), ("b", &around(1.0))])
}

const CROSS: Options = Options {
    quantity: Quantity::Capacity,
    cross_machine: true,
    cross_build: true,
    cross_plan: true,
    allow_suspect: false,
};

/// Rows as `Same, Uncompared Units`, a refusal as what it is.
fn told(base: &Report, new: &Report, options: &Options) -> String {
    let row = |row: &Row<'_>| match &row.reason {
        Some(reason) => format!("{:?} {reason:?}", row.verdict),
        None => format!("{:?}", row.verdict),
    };
    match compare([base, new], options) {
        Ok(found) => found.rows.iter().map(row).collect::<Vec<_>>().join(", "),
        Err(Refusal::Nothing(why, _)) => format!("{why:?}"),
        Err(Refusal::Unlike(unlike)) => format!("refused {unlike:?}"),
    }
}

#[track_caller]
fn check(base: &Report, new: &Report, options: &Options, expected: &str) {
    let found = told(base, new, options);
    assert!(found.starts_with(expected), "{found}\ninstead of {expected}");
}

/// What is changed of the second of two equal cells, and what becomes of it: as a rule, and where all is allowed.
#[test]
fn cells_that_are_not_alike() {
    type Change = fn(&mut Report);
    fn of(change: fn(&mut Cell), report: &mut Report) {
        change(&mut report.cells[1]);
    }
    let grown = |report: &mut Report, last: u64| {
        let steps = (1..=last).map(|size| GrowthStep { size, ..GrowthStep::default() }).collect();
        let growth = Some(Box::new(Growth::new(steps, Halt::Time)));
        let run = Run { growth, ..Run::undisturbed(vec![Lap::undisturbed(0, None, 1000)]) };
        report.cells[1].invocations.iter_mut().for_each(|one| one.runs = vec![run.clone()]);
    };
    let (mut base, mut other) = (two(), two());
    grown(&mut base, 9);
    grown(&mut other, 8);
    check(&base, &base, &Options::default(), "Same, Same");
    check(&base, &other, &CROSS, "Same, Uncompared Unlike(LastSize([9, 8]), None)");
    let ended = |status: Status| move |cell: &mut Cell| (cell.status, cell.reason) = (status, Some("why".into()));
    let table: &[(Change, &str, &str)] = &[
        (|_| (), "Same", "Same"),
        (|r| of(|c| c.unit = Unit::BytesPerSecond, r), "Uncompared Units", "Uncompared Units"),
        (|r| of(|c| c.seats = vec![Some(1)], r), "Uncompared Unlike(Seats, Some(OtherMachine))", "Same"),
        (|r| of(|c| c.estimator = Estimator::Best, r), "Uncompared Unlike(Estimator, Some(OtherPlan))", "Same"),
        (|r| of(|c| c.workers = 2, r), "Uncompared Absent { side: 1 }, Uncompared Absent { side: 0 }", ""),
        (
            |r| of(|c| c.point.size_bytes = Some(64), r),
            "Uncompared Absent { side: 1 }, Uncompared Absent { side: 0 }",
            "",
        ),
        (
            |r| of(|c| c.invocations[3].variant = Some("avx512".into()), r),
            "Uncompared Unlike(Path([{}, {\"avx512\"}]), Some(OtherBuild))",
            "Same",
        ),
        (
            |r| of(|c| *c = c.clone().marked("V19", Severity::Note, "2 threads on 1 CPU"), r),
            "Uncompared Unlike(Turns, None)",
            "Uncompared Unlike(Turns, None)",
        ),
        (|r| of(|c| *c = cell("b", &around(1.0)[..3]), r), "Inconclusive Doubt(TooFew", "Inconclusive Doubt(TooFew"),
        // What a value is made of may be other than what its runs show.
        (
            |r| of(|c| c.capacity = Some(Measured { value: 1.1, interval: None }), r),
            "Inconclusive Contradicted",
            "Inconclusive Contradicted",
        ),
    ];
    for (change, expected, crossed) in table {
        let (base, mut new) = (two(), two());
        change(&mut new);
        check(&base, &new, &Options::default(), &format!("Same, {expected}"));
        check(&base, &new, &CROSS, &format!("Same, {crossed}"));
    }
    for status in [Status::Suspect, Status::Invalid, Status::Skipped, Status::Failed] {
        let (base, mut new) = (two(), two());
        ended(status)(&mut new.cells[1]);
        let expected =
            format!("Same, Uncompared Unusable([None, Some(Unusable {{ status: {status:?}, why: Some(\"why\") }})])");
        check(&base, &new, &CROSS, &expected);
        let allowed = Options { allow_suspect: true, ..Options::default() };
        let found = compare([&base, &new], &allowed).unwrap();
        let is_allowed = status == Status::Suspect;
        assert_eq!(found.rows[1].shown.despite, [Caveat::Suspect][..usize::from(is_allowed)]);
        assert_eq!(found.rows[1].verdict == Verdict::Same, is_allowed);
    }
    // The best of more is better.
    let [base, new] = [3, 5].map(|repetitions| {
        let mut report = two();
        report.cells.iter_mut().for_each(|cell| cell.repetitions = repetitions);
        report.cells[1].estimator = Estimator::Best;
        report
    });
    check(&base, &new, &Options::default(), "Same, Uncompared Unlike(BestOf([3, 5]), Some(OtherPlan))");
    check(&base, &new, &CROSS, "Same, Same");
    // What is predicted is skipped for one reason, whatever is predicted.
    let predicted = |value: &str| {
        let reason = format!("{}{value}", charz_data::report::PREDICTED);
        let mut report = two();
        report.cells[1] = report.cells[1].clone().unmeasured(Status::Skipped, &reason);
        report
    };
    assert_eq!(told(&two(), &predicted("1 GB/s"), &CROSS), told(&two(), &predicted("2 GB/s"), &CROSS));
}

/// What is changed of a report, how it is refused, and what allows the comparison.
#[test]
fn reports_that_are_not_alike() {
    fn with<'a>(report: &'a mut Report, kernel: &str) -> &'a mut charz_data::report::Plan {
        report.plan.kernels.push(kernel.into());
        &mut report.plan
    }
    use Caveat::{OtherBuild, OtherMachine, OtherPlan};
    type Change = fn(&mut Report);
    let table: [(Change, &str, Caveat); 19] = [
        (|r| r.host.processor = Some("other".into()), "Processor(", OtherMachine),
        (|r| r.machine.strands.truncate(1), "Counts(", OtherMachine),
        (|r| r.machine.strands[0].core = Some(77), "Position(", OtherMachine),
        (|r| r.machine.numa_nodes.clear(), "Memory(", OtherMachine),
        (|r| r.host.memory.total_bytes = Some(1 << 50), "Memory(", OtherMachine),
        (|r| r.machine.strands[1].numa_nodes = vec![7], "Nodes(", OtherMachine),
        (|r| r.tool.kernels = "0".into(), "Build(\"kernels' source code\"", OtherBuild),
        (|r| r.tool.rustc = "rustc 1.0".into(), "Build(\"compiler\"", OtherBuild),
        (|r| r.tool.rustflags = "-Ctarget-cpu=native".into(), "Build(\"compiler flags\"", OtherBuild),
        (|r| r.tool.profile = "dev".into(), "Build(\"build profile\"", OtherBuild),
        (|r| with(r, "mem-read").params.pages = PageKind::Huge1G, "Param(Param { name: \"pages\"", OtherPlan),
        (|r| with(r, "mem-read").params.size_bytes += 64, "Param(Param { name: \"size\"", OtherPlan),
        (|r| with(r, "arith-int").params.layout = Layout::Contiguous, "Param(Param { name: \"layout\"", OtherPlan),
        (|r| with(r, "pool-std").params.inside_steps += 1, "Param(Param { name: \"inside-steps\"", OtherPlan),
        (|r| with(r, "futex-wake").params.period = Period::Closed, "Param(Param { name: \"period\"", OtherPlan),
        (|r| with(r, "timeout-futex").params.timeout_ns += 1000, "Param(Param { name: \"timeout\"", OtherPlan),
        (|r| r.plan.clock = "tsc".into(), "Term(\"clock\"", OtherPlan),
        (|r| r.plan.binder = "core-affinity".into(), "Term(\"binder\"", OtherPlan),
        (
            |r| r.plan.program = Some(Program::new("./b", ProgramValue::Last, ReportedUnit::RATE)),
            "Term(\"command\"",
            OtherPlan,
        ),
    ];
    for (change, expected, caveat) in table {
        let (mut base, mut new) = (two(), report(&[("a", &around(0.9)), ("b", &around(1.0))]));
        base.plan.program = Some(Program::new("./a", ProgramValue::Last, ReportedUnit::RATE));
        new.plan.program.clone_from(&base.plan.program);
        change(&mut new);
        base.plan.kernels.clone_from(&new.plan.kernels);
        for [base, new] in [[&base, &new], [&new, &base]] {
            check(base, new, &Options::default(), &format!("refused {expected}"));
        }
        let found = compare([&base, &new], &CROSS).unwrap();
        assert_eq!(found.rows[0].verdict, Verdict::Slower, "{expected}");
        assert!(found.rows.iter().all(|row| row.shown.despite == [caveat]), "{expected}: every line says so");
        assert_eq!(found.differences.iter().map(Unlike::caveat).collect::<Vec<_>>(), [Some(caveat)]);
        let mut others = CROSS;
        match caveat {
            OtherMachine => others.cross_machine = false,
            OtherBuild => others.cross_build = false,
            _ => others.cross_plan = false,
        }
        check(&base, &new, &others, &format!("refused {expected}"));
    }
    // A parameter matters where a kernel of both obeys it.
    let (base, mut new) = (report(&[("arith-int", &around(1.0))]), report(&[("arith-int", &around(1.0))]));
    (new.plan.params.inside_steps, new.plan.params.period, new.plan.params.timeout_ns) = (10, Period::Closed, 7);
    with(&mut new, "mem-read").params.size_bytes += 64;
    check(&base, &new, &Options::default(), "Same");
}

/// Each configuration has its size; that of the plan was for none of them.
#[test]
fn a_default_and_a_quick_sweep_are_compared_where_they_are_alike() {
    let sweep = |plan: u64, sizes: &[Option<u64>]| {
        let of = |size: &Option<u64>| {
            let cell = fixtures::cell("mem-read", 1, Unit::BytesPerSecond, 1e9);
            size.map_or(cell.clone(), |size| cell.sized(size))
        };
        let mut report = fixtures::report(sizes.iter().map(of).collect());
        report.plan.params.size_bytes = plan;
        report
    };
    let base = sweep(256 << 20, &[Some(128 << 20), Some(1 << 20)]);
    let quick = sweep(128 << 20, &[Some(128 << 20), Some(2 << 20)]);
    let absent = |side: usize| format!("Uncompared Absent {{ side: {side} }}");
    check(&base, &quick, &Options::default(), &format!("Same, {}, {}", absent(1), absent(0)));
    let [without, larger] = [128 << 20, 256 << 20].map(|size| sweep(size, &[None]));
    check(&without, &larger, &Options::default(), "refused Param(Param { name: \"size\"");
    check(&without, &larger, &CROSS, "Same");
    // What one varies, and what the plan of the other has.
    check(&base, &without, &Options::default(), &format!("Same, {}", absent(1)));
    check(&without, &base, &Options::default(), &format!("Same, {}", absent(0)));
    let block = |block_bytes| {
        let mut report = sweep(128 << 20, &[Some(128 << 20)]);
        report.cells[0].block_bytes = block_bytes;
        report.cells.push(fixtures::cell("arith-int", 1, Unit::OpsPerSecond, 1e9));
        report
    };
    let expected = "Uncompared Unlike(Block([33554432, 134217728]), Some(OtherPlan)), Same";
    check(&block(Some(32 << 20)), &block(None), &Options::default(), expected);
}

#[test]
fn nothing_to_compare_is_no_comparison() {
    let base = report(&[("a", &around(1.0))]);
    let (suspect, elsewhere) = (fixtures::report(vec![base.cells[0].clone().suspect()]), {
        let mut report = base.clone();
        report.cells[0].seats = vec![Some(1)];
        report
    });
    for (one, other, expected) in [
        (&base, &report(&[("b", &around(1.0))]), "InCommon"),
        (&report(&[]), &report(&[]), "InCommon"),
        (&suspect, &base, "Usable { side: 0 }"),
        (&base, &suspect, "Usable { side: 1 }"),
        (&base, &elsewhere, "Alike"),
    ] {
        check(one, other, &Options::default(), expected);
    }
}

#[test]
fn what_the_values_show() {
    let of = |parts: [(usize, f64); 2]| -> Vec<f64> {
        parts.into_iter().flat_map(|(count, value)| (0..count).map(move |at| value + 1e-4 * at as f64)).collect()
    };
    let (rate, time) = (Unit::OpsPerSecond, Unit::Nanoseconds);
    // Most pairs of runs differ by much, and the two values by less than the margin.
    let (low, high) = (of([(14, 80.0), (16, 100.0)]), of([(16, 101.0), (14, 130.0)]));
    let table = [
        (rate, around(1.0), around(1.1), "Faster"),
        (rate, around(1.0), around(0.9), "Slower"),
        (rate, around(1.0), around(1.001), "Same"),
        (time, around(1e3), around(2e3), "Slower"),
        (rate, around(1.0)[..6].to_vec(), around(0.5)[..6].to_vec(), "Slower"),
        (rate, low.clone(), high.clone(), "Inconclusive"),
        (rate, high, low, "Inconclusive"),
        (rate, of([(7, 1.0), (3, 2.0)]), of([(3, 1.0), (7, 2.0)]), "Inconclusive"),
        (time, of([(7, 1.0), (3, 2.0)]), of([(3, 1.0), (7, 2.0)]), "Inconclusive"),
    ];
    for (unit, base, new, expected) in table {
        let [base, new] = [&base, &new].map(|values| {
            let mut report = report(&[("a", values)]);
            report.cells[0].unit = unit;
            report
        });
        check(&base, &new, &Options::default(), expected);
        // The change is the quotient of the two values.
        let row = compare([&base, &new], &Options::default()).unwrap().rows.remove(0);
        let [base, new] = row.sides.map(|side| side.unwrap().value.unwrap());
        let quotient = if unit == rate { new / base } else { base / new };
        let (effect, interval) = (row.shown.effect.unwrap(), row.shown.interval.unwrap());
        assert!((effect / quotient - 1.0).abs() < 1e-9, "{unit:?}: {effect} and {quotient}");
        assert!(interval.low <= effect && effect <= interval.high, "{interval:?}");
    }
    // Of eight comparisons six runs show none; what they would have shown is one number, whatever there is.
    for few in [3, 6] {
        let side = |first: f64| {
            let values = |at: usize| around(if at == 0 { first } else { 1.0 })[..few].to_vec();
            fixtures::report((0..8).map(|at| cell(&format!("k{at}"), &values(at))).collect())
        };
        let (base, new) = (side(1.0), side(0.5));
        let found = compare([&base, &new], &Options::default()).unwrap();
        assert_eq!((found.totals.needed, found.totals.fewest, found.totals.inconclusive > 0), (7, few, true));
        assert_eq!(found.rows[0].verdict, Verdict::Inconclusive);
    }
}

#[test]
fn what_is_skipped_does_not_hide_a_difference() {
    let values = around(0.6);
    let base = report(&[("a", &around(1.0)), ("b", &around(1.0)), ("c", &around(1.0)), ("d", &around(1.0)[..3])]);
    let mut new = report(&[("a", &around(1.0)), ("b", &values), ("c", &around(1.01)), ("d", &values[..3])]);
    new.cells[1..3].iter_mut().for_each(|cell| cell.status = Status::Suspect);
    let found = compare([&base, &new], &Options::default()).unwrap();
    assert_eq!((found.totals.uncompared, found.totals.inconclusive, found.totals.open), (2, 1, 2));
    assert_eq!(found.rows.iter().map(|row| row.shown.apart).collect::<Vec<_>>(), [false, true, false, true]);
    let shown = &found.rows[1].shown;
    assert!((shown.effect.unwrap() - 0.6).abs() < 0.01 && shown.interval.unwrap().high < 0.7, "{shown:?}");
}

#[test]
fn a_suspicion_refuses_only_what_it_makes_unsafe() {
    let sound = || fixtures::cell("a", 1, Unit::OpsPerSecond, 1e9);
    let base = fixtures::report(vec![sound(), sound().under("auto")]);
    let delivered = Options { quantity: Quantity::Delivered, ..Options::default() };
    // Whether it is compared: capacities one after the other, the same in turns, and what was delivered.
    for (codes, expected) in [
        (&["V12"][..], [true; 3]),
        (&["V28", "V12"], [true; 3]),
        (&["V08"], [false, true, true]),
        (&["V15", "V28"], [false, true, true]),
        (&["V16", "V33"], [false, true, true]),
        (&["V34"], [false, true, true]),
        (&["V09"], [false; 3]),
        (&["V08", "V24"], [false; 3]),
        (&["V29", "V33"], [false; 3]),
    ] {
        let marked = codes.iter().fold(sound(), |cell, code| cell.marked(code, Severity::Suspect, code));
        let new = fixtures::report(vec![marked, sound().under("auto")]);
        for base in [&base, &new] {
            let reports = [base, &new];
            let one = compare(reports, &Options::default()).unwrap();
            let all = [one, interleaved(reports, &Options::default()), compare(reports, &delivered).unwrap()];
            for (found, expected) in all.iter().zip(expected) {
                let row = &found.rows[0];
                assert_eq!(row.verdict != Verdict::Uncompared, expected, "{codes:?}: {:?}", row.reason);
                // A mark that is carried is no reason, and no caveat.
                let named = row.reason.iter().flat_map(Reason::warnings).any(|why| codes.contains(&why));
                assert_eq!((named, row.shown.despite.is_empty()), (!expected, true), "{:?}", row.reason);
            }
        }
        let allowed = interleaved([&base, &new], &Options { allow_suspect: true, ..delivered });
        assert_eq!(allowed.rows[0].shown.despite.contains(&Caveat::Suspect), !expected[1], "{codes:?}");
    }
    let invalid = fixtures::report(vec![sound().marked("V12", Severity::Invalid, "none"), sound().under("auto")]);
    assert_eq!(interleaved([&base, &invalid], &Options::default()).rows[0].verdict, Verdict::Uncompared);
    let found = compare([&base, &invalid], &Options { cross_plan: true, ..delivered }).unwrap();
    assert_eq!((found.rows[0].sides[1].unwrap().value, found.rows[0].shown.effect), (None, None));
}

#[test]
fn what_follows_the_clock_is_compared_at_one() {
    let steps = [2.2, 2.6, 2.4, 2.8, 2.3, 2.7, 2.5, 2.9, 2.2, 2.6];
    // What it does in a cycle, at the clocks of a sweep.
    let at = |per_cycle: f64, clocks: [f64; 10]| {
        let mut cell = cell("a", &clocks.map(|clock| clock * per_cycle)).clocked(0.0);
        for (invocation, clock) in cell.invocations.iter_mut().zip(clocks) {
            let frequency = invocation.evidence.as_mut().unwrap().frequency.as_mut().unwrap();
            (frequency.before_hz, frequency.after_hz, frequency.highest_hz) = (clock, clock, clock);
        }
        fixtures::report(vec![cell])
    };
    let (base, mut backwards) = (at(0.5, steps), steps);
    backwards.reverse();
    // A clock that is lower is a difference between the two, also one of which the rank test of so few runs shows nothing.
    for (per_cycle, clocks, verdict, effect, clock, is_counted) in [
        (0.5, backwards, Some(Verdict::Same), 1.0, 1.0, false),
        (0.45, steps, Some(Verdict::Slower), 0.9, 1.0, false),
        (0.5, steps.map(|clock| clock * 0.6), Some(Verdict::Slower), 0.6, 0.6, true),
        (0.5, steps.map(|clock| clock * 0.9), None, 0.9, 0.9, true),
    ] {
        let new = at(per_cycle, clocks);
        let row = compare([&base, &new], &Options::default()).unwrap().rows.remove(0);
        assert!(verdict.map_or(row.verdict != Verdict::Same, |verdict| row.verdict == verdict), "{row:?}");
        assert!((row.shown.effect.unwrap() - effect).abs() < 1e-9, "{row:?}");
        let found = row.shown.clock.unwrap();
        assert!((found.ratio - clock).abs() < 1e-9 && found.is_counted == is_counted, "{row:?}");
    }
    // What does not follow the clock is compared as it is.
    let [one, other] = [0.0, 0.01].map(|more| {
        let mut report = base.clone();
        let runs = report.cells[0].invocations.iter_mut().enumerate();
        runs.for_each(|(at, run)| run.value = Some(1.0 + 0.001 * at as f64 + more));
        report
    });
    assert_eq!(compare([&one, &other], &Options::default()).unwrap().rows[0].shown.clock, None);
}
