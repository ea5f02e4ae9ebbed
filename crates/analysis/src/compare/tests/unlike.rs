//! Reports and configurations that differ in more than their numbers.

use super::*;
use charz_data::report::{Timer, anonymous};
use charz_data::{Better, Program, ProgramValue, ReportedUnit};

/// Each configuration has its size; that of the plan was for none of them.
#[test]
fn a_default_and_a_quick_sweep_are_compared_where_they_are_alike() {
    let sweep = |plan: u64, sizes: [u64; 2]| {
        let cells = sizes.map(|size| fixtures::cell("mem-read", 1, Unit::BytesPerSecond, 1e9).sized(size));
        let mut report = fixtures::report(cells.into());
        report.plan.params.size_bytes = plan;
        report
    };
    let (base, new) = (sweep(256 << 20, [128 << 20, 1 << 20]), sweep(128 << 20, [128 << 20, 2 << 20]));
    let verdicts: Vec<Verdict> =
        compare(&base, &new, &Options::default()).unwrap().rows.iter().map(|row| row.verdict).collect();
    assert_eq!(verdicts.iter().filter(|verdict| **verdict == Verdict::Uncompared).count(), 2);
    let of_plan = |size| {
        let mut report = fixtures::report(vec![fixtures::cell("mem-read", 1, Unit::BytesPerSecond, 1e9)]);
        report.plan.params.size_bytes = size;
        report
    };
    let (without, larger) = (of_plan(128 << 20), of_plan(256 << 20));
    check_refused(&without, &larger, Options::default(), "--size");
    let crossed = Options { cross_plan: true, ..Options::default() };
    check(&without, &larger, crossed, &[(Verdict::Same, "")]);
    // What one varies, and what the plan of the other has.
    let sides = [(Verdict::Same, ""), (Verdict::Uncompared, "not in the new report")];
    check(&base, &without, Options::default(), &sides);
    check(&without, &base, Options::default(), &[(Verdict::Same, ""), (Verdict::Uncompared, "not in the base report")]);
}

/// What changes a report, the word of the refusal, and what allows the comparison nevertheless.
type Change = (fn(&mut Report), &'static str, fn(&mut Options), Caveat);

#[test]
fn unlike_reports_are_refused_unless_asked_for() {
    let machine: fn(&mut Options) = |options| options.cross_machine = true;
    let build: fn(&mut Options) = |options| options.cross_build = true;
    let plan: fn(&mut Options) = |options| options.cross_plan = true;
    let table: [Change; 17] = [
        (|r| r.host.processor = Some("other".into()), "processors", machine, Caveat::OtherMachine),
        (|r| r.machine.strands.truncate(1), "CPUs", machine, Caveat::OtherMachine),
        (|r| r.machine.strands[0].core = Some(77), "CPUs", machine, Caveat::OtherMachine),
        (|r| r.machine.numa_nodes.clear(), "memory", machine, Caveat::OtherMachine),
        (|r| r.host.memory.total_bytes = Some(1 << 50), "memory", machine, Caveat::OtherMachine),
        (|r| r.tool.kernels = "0".into(), "kernels' source code", build, Caveat::OtherBuild),
        (|r| r.tool.rustc = "rustc 1.0".into(), "compiler", build, Caveat::OtherBuild),
        (|r| r.tool.rustflags = "-Ctarget-cpu=native".into(), "compiler flags", build, Caveat::OtherBuild),
        (|r| r.tool.profile = "dev".into(), "build profile", build, Caveat::OtherBuild),
        (|r| with_kernel(r, "mem-read").params.pages = PageKind::Huge1G, "--pages", plan, Caveat::OtherPlan),
        (|r| with_kernel(r, "mem-read").params.size_bytes += 64, "--size", plan, Caveat::OtherPlan),
        (|r| with_kernel(r, "arith-int").params.layout = Layout::Contiguous, "--layout", plan, Caveat::OtherPlan),
        (|r| with_kernel(r, "pool-std").params.inside_steps += 1, "--inside-steps", plan, Caveat::OtherPlan),
        (|r| with_kernel(r, "futex-wake").params.period = Period::Closed, "--period", plan, Caveat::OtherPlan),
        (|r| with_kernel(r, "timeout-futex").params.timeout_ns += 1000, "--timeout", plan, Caveat::OtherPlan),
        (|r| r.plan.clock = "tsc".into(), "--clock", plan, Caveat::OtherPlan),
        (|r| r.plan.binder = "core-affinity".into(), "--binder", plan, Caveat::OtherPlan),
    ];
    for (change, word, allow, caveat) in table {
        let mut base = report(&[("a", &around(1.0)), ("b", &around(1.0))]);
        let mut new = report(&[("a", &around(0.9)), ("b", &around(1.0))]);
        change(&mut new);
        base.plan.kernels.clone_from(&new.plan.kernels);
        for [base, new] in [[&base, &new], [&new, &base]] {
            let refusal = check_refused(base, new, Options::default(), word);
            assert_eq!(matches!(refusal, Refusal::OtherMachine(_)), caveat == Caveat::OtherMachine, "{word}");
            assert!(!matches!(refusal, Refusal::Nothing(_)), "{word}");
        }
        let mut options = Options::default();
        allow(&mut options);
        let comparison = compare(&base, &new, &options).unwrap();
        assert_eq!(comparison.rows[0].verdict, Verdict::Slower, "{word}");
        assert!(comparison.rows.iter().all(|row| row.despite == [caveat]), "{word}: every line says so");
        assert!(comparison.differences[0].contains(word), "{:?}", comparison.differences);
    }
}

#[test]
fn what_machines_of_different_sizes_do_not_have_in_common_is_named() {
    let base = report(&[("a", &around(1.0)), ("b", &around(1.0))]);
    let mut new = base.clone();
    new.machine.strands.truncate(1);
    new.cells[1].workers = 7;
    let Refusal::OtherMachine(clause) = check_refused(&base, &new, Options::default(), "CPUs") else { panic!() };
    let sizes = [&base, &new].map(|report| charz_data::escape::counted(report.machine.strands.len(), "CPU"));
    assert!(sizes.iter().all(|size| clause.contains(size)), "{clause}");
    let sentence = |options| compare(&base, &new, &options).unwrap().sentence("new");
    let crossed = sentence(Options { cross_machine: true, ..Options::default() });
    assert!(crossed.contains("2 configurations of one machine only") && crossed.contains("--machines"), "{crossed}");
}

#[test]
fn what_an_invalid_configuration_delivered_is_no_number() {
    let base = report(&[("a", &around(1.0)), ("b", &around(1.0))]);
    let mut new = base.clone();
    new.cells[1] = fixtures::cell("b", 1, Unit::OpsPerSecond, 1.0).under("round-robin").seated(&[0]).invalid();
    let options = Options { quantity: Quantity::Delivered, cross_plan: true, ..Options::default() };
    let row = &compare(&base, &new, &options).unwrap().rows[1];
    assert_eq!((row.new.unwrap().value, row.effect), (None, None));
}

#[test]
fn joules_are_taken_and_not_fast() {
    let [base, new] = [1.0, 0.8].map(|factor| {
        let mut report = report(&[("a", &around(factor)), ("b", &around(1.0 / factor))]);
        let joules = ReportedUnit::new("J", Better::Lower).unwrap();
        report.cells[0].unit = Unit::Reported(joules);
        report
    });
    let sentence = compare(&base, &new, &Options::default()).unwrap().sentence("new");
    for words in
        ["takes 0.80 ±0.01 times as much at a round-robin x1", "is 1.25 ±0.01 times as fast at b round-robin x1"]
    {
        assert!(sentence.contains(words), "{sentence}");
    }
}

#[test]
fn a_ratio_keeps_its_digits_however_far_it_is_from_one() {
    let sentence = |factor: f64, spread: f64| {
        let values: Vec<f64> = around(1.0).iter().map(|value| 1.0 + (value - 1.0) * spread).collect();
        let new: Vec<f64> = values.iter().map(|value| value * factor).collect();
        compare(&report(&[("a", &values)]), &report(&[("a", &new)]), &Options::default()).unwrap().sentence("new")
    };
    let slow = sentence(0.004, 1.0);
    assert!(slow.starts_with("new is 250 ±") && slow.contains("times as slow") && !slow.contains("±0 "), "{slow}");
    assert!(sentence(20.0, 1.0).starts_with("new is 20.0 ±0."), "{}", sentence(20.0, 1.0));
    assert!(sentence(1.5, 0.0).starts_with("new is 1.50 ±0.01 times as fast"), "{}", sentence(1.5, 0.0));
}

/// The plan of a report, which has one kernel more.
fn with_kernel<'a>(report: &'a mut Report, kernel: &str) -> &'a mut charz_data::report::Plan {
    report.plan.kernels.push(kernel.into());
    &mut report.plan
}

#[test]
fn sections_are_the_business_of_kernels_that_have_them() {
    let of_arithmetic = || report(&[("arith-int", &around(1.0))]);
    let (base, mut new) = (of_arithmetic(), of_arithmetic());
    new.plan.params = Params { inside_steps: 10, period: Period::Closed, timeout_ns: 7, ..new.plan.params };
    // Nor is what only one of the two has a kernel for.
    with_kernel(&mut new, "mem-read").params.size_bytes += 64;
    assert!(compare(&base, &new, &Options::default()).is_ok());
}

#[test]
fn settings_are_worth_a_note() {
    let (mut base, mut new) = (report(&[("a", &around(1.0))]), report(&[("a", &around(1.0))]));
    new.host.frequency_governor = Some("powersave\u{1b}".into());
    (base.host.timer_slack_ns, new.host.timer_slack_ns) = (Some(50_000), Some(1));
    new.id = "another".into();
    new.schema.minor = charz_data::report::SCHEMA_MINOR + 1;
    let notes = compare(&base, &new, &Options::default()).unwrap().notes;
    assert!(notes.iter().any(|note| note.contains("governor") && note.contains("powersave\\u{1b}")), "{notes:?}");
    assert!(notes.iter().any(|note| note.contains("format version")), "{notes:?}");
    assert!(notes.iter().any(|note| note.contains("timer slack") && note.contains("\"1ns\"")), "{notes:?}");
    let notes = compare(&base, &base, &Options::default()).unwrap().notes;
    assert!(notes.iter().any(|note| note.contains("the same report")), "{notes:?}");
}

/// What changes one cell of the new report, and the word of the reason why it is not compared.
type Odd = (fn(&mut Cell), &'static str);

#[test]
fn unlike_cells_are_listed_with_their_reasons() {
    let table: [Odd; 9] = [
        (|c| (c.status, c.reason) = ended(Status::Suspect, "waited"), "new report: noisy"),
        (|c| (c.status, c.reason) = ended(Status::Invalid, "moved"), "new report: invalid (moved)"),
        (|c| (c.status, c.reason) = ended(Status::Skipped, "memory"), "skipped"),
        (|c| (c.status, c.reason) = ended(Status::Failed, "signal 9"), "failed"),
        (|c| c.invocations[3].variant = Some("avx512".into()), "avx512"),
        (|c| c.seats = vec![Some(1)], "different CPUs"),
        (|c| c.estimator = Estimator::Best, "different ways"),
        (|c| c.unit = Unit::BytesPerSecond, "different things"),
        (|c| c.workers = 2, "not in the new report"),
    ];
    let base = report(&[("a", &around(1.0)), ("b", &around(1.0))]);
    for (change, word) in table {
        let mut new = report(&[("a", &around(1.0)), ("b", &around(1.0))]);
        change(&mut new.cells[1]);
        let mut expected = vec![(Verdict::Same, ""), (Verdict::Uncompared, word)];
        if new.cells[1].workers == 2 {
            expected.push((Verdict::Uncompared, "not in the base report"));
        }
        check(&base, &new, Options::default(), &expected);
    }
}

/// On a host that moves virtual CPUs, in between and on either side.
#[test]
fn what_was_measured_elsewhere_is_not_compared_and_open() {
    let of = |ns, value| fixtures::cell("mem-read", 2, Unit::BytesPerSecond, value).seated(&[0, 1]).apart(ns);
    let report = |ns, value| fixtures::report(vec![of(ns, value), fixtures::cell("calm", 1, Unit::OpsPerSecond, 1e9)]);
    let (base, near, far) = (report(64.0, 47e9), report(75.0, 47e9), report(235.0, 79e9));
    let expected = "64.0 ns apart, and are 235 ns";
    check(&base, &far, Options::default(), &[(Verdict::Uncompared, expected), (Verdict::Same, "")]);
    assert_eq!(compare(&base, &far, &Options::default()).unwrap().totals.open, 1);
    let turns = interleaved(&base, &far, &Options::default());
    assert_eq!(turns.rows[0].verdict, Verdict::Uncompared);
    assert!(!turns.rows[0].reason.as_deref().unwrap().contains("--"), "there is no option for it");
    check(&base, &near, Options::default(), &[(Verdict::Same, ""), (Verdict::Same, "")]);
    let across = Options { cross_machine: true, ..Options::default() };
    check(&base, &far, across, &[(Verdict::Faster, ""), (Verdict::Same, "")]);
    // Sides that sit elsewhere on purpose are as far apart as they are.
    let mut elsewhere = far.clone();
    elsewhere.cells[0] = of(235.0, 79e9).seated(&[0, 2]);
    assert_eq!(interleaved(&base, &elsewhere, &Options::default()).rows[0].verdict, Verdict::Faster);
}

/// A thread bound to each of two CPUs, and two that share one of them most of the time.
#[test]
fn a_capacity_does_not_show_what_sharing_a_cpu_costs() {
    let side = |mapping: &str, factor: f64, share: f64, strands: [u32; 2]| {
        let values = around(factor * 1e9);
        let cell = charz_estimate::fixtures::valued(
            fixtures::cell("arith-int", 2, Unit::OpsPerSecond, 1e9).under(mapping),
            values,
        );
        let mut cell = Cell { seats: vec![None; 2], ..cell.delivering(share).seated(&strands) };
        if mapping == "rr" {
            cell.seats = vec![Some(0), Some(1)];
        }
        fixtures::report(vec![cell])
    };
    let verdict = |new: &Report, quantity: Quantity| {
        let base = side("rr", 1.0, 0.9, [0, 1]);
        interleaved(&base, new, &Options { quantity, ..Options::default() }).rows[0].verdict
    };
    let shared = |share: f64| side("auto", 1.0, share, [0, 0]);
    assert_eq!(verdict(&side("auto", 1.0, 0.9, [0, 1]), Quantity::Capacity), Verdict::Same);
    assert_eq!(verdict(&shared(0.5), Quantity::Capacity), Verdict::Inconclusive);
    assert_eq!(verdict(&shared(0.92), Quantity::Capacity), Verdict::Inconclusive);
    // What is slower even so is slower.
    assert_eq!(verdict(&side("auto", 0.8, 0.5, [0, 0]), Quantity::Capacity), Verdict::Slower);
    // Of two sides that float the one shared a CPU.
    let floating = side("auto", 1.0, 0.99, [0, 1]);
    let between = |base: &Report, new: &Report| compare(base, new, &Options::default()).unwrap().rows[0].verdict;
    assert_eq!(between(&floating, &shared(0.57)), Verdict::Inconclusive);
    assert_eq!(between(&shared(0.57), &floating), Verdict::Inconclusive);
    assert_eq!(between(&side("auto", 0.8, 0.57, [0, 0]), &floating), Verdict::Faster);
    assert_eq!(between(&shared(0.57), &shared(0.5)), Verdict::Same);
}

/// Under a mapping without seats only the allowed CPUs say where threads may have been.
#[test]
fn threads_that_float_over_other_cpus_are_not_compared() {
    let of = |mapping: &str, allowed: u32| {
        let floating = fixtures::cell("arith-int", 2, Unit::OpsPerSecond, 1e9).under(mapping);
        let cells = vec![floating, fixtures::cell("a", 1, Unit::OpsPerSecond, 1e9).seated(&[0])];
        let mut report = fixtures::report(cells).on(4);
        report.machine.strands.iter_mut().for_each(|strand| strand.usable = strand.os_id < allowed);
        report
    };
    let (base, new) = (of("auto", 4), of("auto", 2));
    let expected = [(Verdict::Uncompared, "the CPUs 0-3 in the one report, 0-1"), (Verdict::Same, "")];
    check(&base, &new, Options::default(), &expected);
    let notes = compare(&base, &new, &Options::default()).unwrap().notes;
    assert!(notes.iter().any(|note| note.contains("\"0-3\" and \"0-1\"")), "{notes:?}");
    let across = Options { cross_machine: true, ..Options::default() };
    check(&base, &new, across, &[(Verdict::Same, ""), (Verdict::Same, "")]);
    // Whatever is allowed, turns on a CPU are another number.
    let mut crowded = new;
    crowded.cells[0] = crowded.cells[0].clone().marked("V19", Severity::Note, "2 threads on 1 CPU");
    check(&base, &crowded, across, &[(Verdict::Uncompared, "oversubscribed (V19)"), (Verdict::Same, "")]);
}

#[test]
fn blocks_of_other_sizes_are_another_plan() {
    let of = |block_bytes| {
        let cell = fixtures::cell("mem-read", 2, Unit::BytesPerSecond, 1e9).sized(128 << 20);
        fixtures::report(vec![Cell { block_bytes, ..cell }, cell_of_one()])
    };
    let (base, new) = (of(Some(32 << 20)), of(None));
    check(&base, &base, Options::default(), &[(Verdict::Same, ""), (Verdict::Same, "")]);
    let expected = [(Verdict::Uncompared, "has 32 MiB and 128 MiB; --cross-plan"), (Verdict::Same, "")];
    check(&base, &new, Options::default(), &expected);
}

fn cell_of_one() -> Cell {
    fixtures::cell("arith-int", 1, Unit::OpsPerSecond, 1e9)
}

/// As a system of a later version describes the machine of an earlier one.
#[test]
fn a_machine_of_which_more_is_known_is_the_same() {
    let base = report(&[("a", &around(1.0))]);
    let mut new = base.clone();
    for strand in &mut new.machine.strands {
        (strand.groups, strand.caches) = (vec![0], vec![0]);
    }
    let notes = compare(&base, &new, &Options::default()).unwrap().notes;
    assert!(notes.iter().any(|note| note.contains("caches and groups")), "{notes:?}");
    let refused = |change: fn(&mut Report), words: &str| {
        let mut new = base.clone();
        change(&mut new);
        check_refused(&base, &new, Options::default(), words);
    };
    refused(|report| report.machine.strands[1].core = Some(77), "of core 1, socket 0 against CPU 1 of core 77");
    refused(|report| report.machine.strands[1].numa_nodes = vec![7], "NUMA nodes");
}

#[test]
fn no_quota_is_known_and_enough_runs_are_not_too_few() {
    let mut base = report(&[("a", &around(1.0)[..6]), ("b", &around(1.0)[..6])]);
    let mut new = base.clone();
    (base.id, new.host.cpu_quota) = ("other".into(), Some("0.50".into()));
    let remarks = compare(&base, &new, &Options::default()).unwrap().remarks().concat();
    assert!(remarks.contains("none") && !remarks.contains("unknown"), "{remarks}");
    assert!(!remarks.contains("too few"), "{remarks}");
}

#[test]
fn what_an_anonymous_report_leaves_out_is_no_difference() {
    let mut base = report(&[("a", &around(1.0))]);
    base.plan.program = Some(Program::new("./a", ProgramValue::Last, ReportedUnit::RATE));
    base.host.kernel = Some("Linux 6.8.0-45-generic".into());
    let notes = |base: &Report, new: &Report| {
        let options = Options { cross_plan: true, ..Options::default() };
        compare(base, new, &options).unwrap().notes
    };
    let hidden = anonymous(Report { id: "2".into(), ..base.clone() });
    assert!(base.host.name.is_some() && notes(&base, &hidden).is_empty(), "{:?}", notes(&base, &hidden));
    // Of two programs without names nothing says that they are one.
    check_refused(&base, &hidden, Options::default(), "--command");
    let other = anonymous(Report { id: "3".into(), ..base.clone() });
    assert!(notes(&hidden, &other).iter().any(|note| note.contains("program")), "{:?}", notes(&hidden, &other));
}

/// A page of two reports says what a comparison says.
#[test]
fn a_page_gives_no_verdict_that_a_comparison_refuses() {
    let side = |factor: f64, estimator: Estimator| {
        let cells = vec![Cell { estimator, ..cell("a", &around(factor)) }, cell("b", &around(1.0))];
        fixtures::report(cells)
    };
    let (base, new) = (side(1.0, Estimator::FastMode), side(0.3, Estimator::Median));
    let sources = [("base", &base), ("new", &new)].map(|(name, report)| crate::page::Source { name, report });
    let found = compare(&base, &new, &Options::default()).unwrap();
    assert_eq!(crate::page::page(&sources).summary[0], found.sentence("new"));
    assert!(found.rows.iter().any(|row| row.verdict == Verdict::Uncompared));
}

#[test]
fn no_verdict_is_finer_than_stamped_times() {
    let sampled = |nanos: f64, resolution_ns: u64| {
        let mut report = report(&[]);
        report.cells = vec![Cell { unit: Unit::NanosecondsSampled, ..cell("a", &around(nanos)) }];
        report.timer = Some(Timer { overhead_ns: 20, resolution_ns, worst_gap_ns: 1000, skew_ns: None });
        report
    };
    let check = |base: f64, new: f64, step: u64, verdict: Verdict, word: &str| {
        check(&sampled(base, step), &sampled(new, step), Options::default(), &[(verdict, word)]);
    };
    check(24.0, 25.5, 1, Verdict::Inconclusive, "bins");
    check(24.0, 24.0, 1, Verdict::Inconclusive, "bins");
    check(24.0, 48.0, 1, Verdict::Slower, "");
    // Bins of 1.3%.
    check(2400.0, 2550.0, 1, Verdict::Slower, "");
    check(2400.0, 2400.0, 1, Verdict::Same, "");
    check(2400.0, 2550.0, 100, Verdict::Inconclusive, "step");
    let intervals = [(24.0, 24.0), (2400.0, 2400.0)].map(|(base, new)| {
        let comparison = compare(&sampled(base, 1), &sampled(new, 1), &Options::default()).unwrap();
        comparison.rows[0].interval.unwrap()
    });
    assert!(intervals[0].low < 0.96 && intervals[0].high > 1.04, "{intervals:?}");
    assert!(intervals[1].low > 0.96 && intervals[1].high < 1.04, "{intervals:?}");
}
