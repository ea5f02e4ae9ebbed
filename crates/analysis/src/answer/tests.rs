mod quality;

use charz_estimate::{Caveat, Caveats, Strength};
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::page::{Source, page};
use charz_data::report::fixtures::{self, cell, report};
use charz_data::report::{
    Cell, Culprit, CulpritKind, Ending, Estimator, Evidence, FindingKind, Interval, Point, Severity, Status,
};

fn rate(kernel: &str, mapping: &str, threads: u64, value: f64) -> Cell {
    let unit = if kernel.starts_with("arith") { Unit::OpsPerSecond } else { Unit::BytesPerSecond };
    let cell = cell(kernel, threads, unit, value).under(mapping);
    // Two CPUs: threads beyond them share. Each mapping begins with another one.
    let first = u32::from(mapping != "rr");
    let seats: Vec<u32> = (first..first + threads as u32).map(|thread| thread % 2).collect();
    if mapping == "auto" { cell } else { cell.seated(&seats) }
}

fn answer_of(cells: Vec<Cell>) -> Answer {
    Answer::of(&report(cells))
}

/// Reports of two kernels on two CPUs, with up to four threads under three mappings; noisy, missing and invalid ones among them.
fn reports() -> impl Strategy<Value = Report> {
    let one = (1.0_f64..4.0, 0.001_f64..0.4, 0..6_u8);
    vec(one, 24).prop_map(|drawn| {
        let mut cells = Vec::new();
        let places = ["arith-int", "mem-read"].into_iter().flat_map(|kernel| {
            ["rr", "dumb", "auto"]
                .into_iter()
                .flat_map(move |mapping| (1..5).map(move |threads| (kernel, mapping, threads)))
        });
        for ((kernel, mapping, threads), (value, width, fate)) in places.zip(drawn) {
            let cell = rate(kernel, mapping, threads, value * 1e9).within(width);
            cells.push(match fate {
                0 => cell.suspect(),
                1 => cell.invalid(),
                _ => cell,
            });
        }
        report(cells)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The first screen, the figures of the page and the findings of the report are read by different people of one report.
    #[test]
    fn all_outputs_have_one_headline(report in reports()) {
        let answer = Answer::of(&report);
        let page = page(&[Source { name: "r", report: &report }]);
        let best: Vec<_> =
            findings(&Estimates::of(&report)).into_iter().filter(|found| found.kind == FindingKind::Best).collect();
        for found in &best {
            let row = answer.rows.iter().find(|row| row.kernel == found.kernel).unwrap();
            prop_assert_eq!((found.workers, found.value), (Some(row.best.threads), Some(row.best.value)));
            let is_one = [NONE, &*row.best.mapping].contains(&&*row.best_mapping) && !row.best.is_noisy;
            prop_assert_eq!(found.mapping.as_ref(), is_one.then_some(&row.best.mapping));
            let figures = page.sections.iter().flat_map(|section| &section.figures);
            let of_kernel = figures.filter(|figure| figure.title.starts_with(&row.kernel)).flat_map(|figure| &figure.about);
            let competes = |cell: &&Cell| cell.kernel == row.kernel && cell.workers <= row.best.threads.max(2);
            let largest = report.cells.iter().filter(competes).filter_map(Cell::value).fold(0.0, f64::max);
            for sentence in of_kernel.filter(|sentence| sentence.contains("peak")) {
                prop_assert!(sentence.contains(&units::value(largest, row.best.unit)) || sentence.contains("reaches 95%"), "{}", sentence);
            }
            for reading in [&row.one, &row.all].into_iter().flatten() {
                let own = |cell: &&Cell| {
                    (cell.kernel.as_str(), cell.mapping.as_str(), cell.workers)
                        == (row.kernel.as_str(), reading.mapping.as_str(), reading.threads)
                };
                let cell = report.cells.iter().find(own).unwrap();
                prop_assert_eq!(cell.capacity.map(|capacity| capacity.value), Some(reading.value));
                prop_assert_eq!(cell.status == Status::Suspect, reading.is_noisy);
            }
        }
    }

    #[test]
    fn more_threads_than_cpus_are_advised_only_where_they_are_surely_better(report in reports()) {
        let ends = |cell: &Cell| cell.capacity.and_then(|capacity| capacity.interval).map(|found| [found.low, found.high]);
        for row in Answer::of(&report).rows.iter().filter(|row| row.best.threads > 2) {
            let own = || report.cells.iter().filter(|cell| cell.kernel == row.kernel && cell.value().is_some());
            let top = own().max_by(|one, other| one.value().unwrap().total_cmp(&other.value().unwrap())).unwrap();
            let [low, _] = ends(top).unwrap();
            for cell in own().filter(|cell| cell.workers <= 2) {
                prop_assert!(ends(cell).unwrap()[1] < low, "{} x{}", cell.mapping, cell.workers);
            }
        }
    }
}

#[test]
fn a_latency_by_too_few_sizes_is_not_in_the_answer() {
    let mut report = charz_estimate::fixtures::measured(8 << 20);
    let full = Answer::of(&report).levels;
    let l3 = |table: &Table| table.rows.iter().find(|row| row.data[0].text == "L3").map(|row| row.data[2].text.clone());
    assert!(l3(&full).is_some_and(|latency| latency.ends_with(" ns")), "{full:?}");
    // Few are left beyond the edge that is reported.
    report.cells.retain(|cell| cell.point.size_bytes.is_none_or(|size| size <= 48 << 20));
    let thin = Answer::of(&report).levels;
    assert!(l3(&thin).is_none_or(|latency| latency == NONE), "{thin:?}");
}

#[test]
fn a_level_with_one_size_has_the_latency_of_that() {
    let load = |level: &str, bytes: u64, ns: f64| {
        cell("chase-random", 1, Unit::NanosecondsPerStep, ns).seated(&[0]).sized(bytes).inside(level)
    };
    let latencies = |more: Vec<Cell>| -> Vec<String> {
        let read = |level: &str| cell("level-read", 1, Unit::BytesPerSecond, 1e10).seated(&[0]).inside(level);
        let own = vec![read("L1"), read("L2"), load("L1", 16 << 10, 1.7), load("L2", 256 << 10, 5.3)];
        let machine = charz_estimate::fixtures::report(
            "Package:1 L3:1(size=32MiB) L2:1(size=1MiB) L1d:1(size=32KiB) Core:2 PU:1",
        )
        .machine;
        let report = Report { machine, ..report([own, more].concat()) };
        Answer::of(&report).levels.rows.iter().map(|row| row.data[2].text.clone()).collect()
    };
    assert_eq!(latencies(Vec::new()), ["1.70 ns", "5.30 ns"]);
    // Several sizes are a curve, or too few for one.
    assert_eq!(latencies(vec![load("L2", 512 << 10, 6.0)]), ["1.70 ns", NONE]);
}

#[test]
fn contention_has_a_column_for_the_fewest_and_the_most_threads_that_were_measured() {
    let columns = |counts: &[u64], cpus: u32| {
        let cells = counts.iter().map(|threads| cell("pool-std", *threads, Unit::OpsPerSecond, 1e7)).collect();
        Answer::of(&report(cells).on(cpus)).contended.heading[1..].join(", ")
    };
    assert_eq!(columns(&[1, 2, 4], 6), "1 thread, 2 threads, 4 threads");
    assert_eq!(columns(&[4, 8, 16], 64), "4 threads, 16 threads");
    assert_eq!(columns(&[1, 2], 1), "1 thread, 2 threads");
    let within = |inside, value| {
        cell("pool-std", 2, Unit::OpsPerSecond, value).at(Point { inside_steps: Some(inside), ..Point::default() })
    };
    let each = Answer::of(&report(vec![within(1, 4e7), within(100, 1e7)]).on(2)).contended;
    let texts = each.rows.iter().map(|row| [&row.data[0].text, &row.data[1].text].map(String::as_str));
    assert_eq!(
        texts.collect::<Vec<_>>(),
        [["pool-std inside-steps 1", "40.0 Mop/s"], ["pool-std inside-steps 100", "10.0 Mop/s"]]
    );
}

#[test]
fn pairs_of_cpus_and_of_nodes_are_in_the_answer_of_a_report_about_them() {
    let texts =
        |table: &Table, row: usize| table.rows[row].data.iter().map(|datum| datum.text.clone()).collect::<Vec<_>>();
    let nodes = Answer::of(&charz_estimate::fixtures::two()).nodes;
    assert_eq!((nodes.rows.len(), nodes.heading.len()), (4, 3));
    assert_eq!(texts(&nodes, 0)[1..], ["100 ns", "160 ns"]);
    assert!(texts(&nodes, 3)[2].ends_with('~'), "{:?}", texts(&nodes, 3));
    let mut pairs = report(fixtures::pairs("c2c-cas", 4, |home, other| f64::from(100 + home + other)));
    let lines = Answer::of(&pairs).lines;
    assert_eq!(texts(&lines, 0)[1..], ["12", "103 ns", "101 ns", "105 ns"]);
    // Beside other kernels it is one cost of many.
    pairs.cells.push(rate("arith-int", "rr", 1, 1e9));
    assert_eq!((Answer::of(&pairs).lines.rows.len(), Answer::of(&pairs).nodes.rows.len()), (0, 0));
}

#[test]
fn what_failed_is_said_once_with_its_reason() {
    let failed = |threads| rate("arith-int", "rr", threads, 1e9).unmeasured(Status::Failed, "signal 11");
    assert_eq!(answer_of(vec![failed(1), failed(2)]).failed, ["arith-int rr x1: signal 11 (and 1 more)"]);
    let planned = rate("arith-int", "rr", 1, 1e9).unmeasured(Status::Skipped, "too large");
    let refused = Cell { invocations: vec![fixtures::barren(Ending::Refused)], ..planned.clone() };
    let skipped = answer_of(vec![planned.clone()]);
    assert_eq!((skipped.failed.len(), skipped.quality.fix.as_deref()), (0, Some("too large")));
    assert_eq!(answer_of(vec![refused, planned]).failed, ["arith-int rr x1: too large"]);
}

#[test]
fn a_kernel_that_is_the_only_one_of_its_kind_keeps_its_name() {
    let cost = |kernel: &str, value| cell(kernel, 2, Unit::NanosecondsPerOp, value);
    // Where no thread sleeps, none is woken.
    let cells = [
        ("barrier-std", 3.0),
        ("flag", 0.1),
        ("futex-wake", 9.0),
        ("ring-mutex", 2.0),
        ("c2c-cas", 1.0),
        ("timeout-futex", 1.0),
    ];
    let costs = answer_of(cells.map(|(kernel, value)| cost(kernel, value)).into()).costs;
    let shown: Vec<(&str, Vec<&str>)> = costs
        .iter()
        .map(|costs| (&*costs.kind, costs.kernels.iter().map(|(kernel, _)| costs.short(kernel)).collect()))
        .collect();
    let others = vec!["flag", "timeout-futex", "ring-mutex"];
    let kinds = [("wake-up", vec!["futex-wake"]), ("barrier", vec!["std"]), ("c2c", vec!["cas"]), ("other", others)];
    assert_eq!(shown, kinds);
}

/// Times of threads that share a CPU are not set beside times of threads that do not.
#[test]
fn a_line_of_costs_is_of_one_mapping_or_names_it() {
    let of = |kernel, mapping, ns| cell(kernel, 2, Unit::NanosecondsPerOp, ns).under(mapping);
    let apart = |kernel, ns| of(kernel, "rr", ns).seated(&[0, 1]);
    let first = |cells| answer_of(cells).costs.remove(0);
    let all = |cells| first(cells).kernels;
    let both = vec![of("c2c-cas", "auto", 20.0), apart("c2c-cas", 130.0), apart("c2c-fetch-add", 140.0)];
    let costs = first([both.clone(), vec![of("c2c-fetch-add", "auto", 27.0)]].concat());
    assert_eq!(costs.place.as_deref(), Some("rr x2"));
    let kernels = costs.kernels;
    assert!(kernels.iter().all(|(name, reading)| reading.mapping == "rr" && !name.contains('(')), "{kernels:?}");
    let kernels = all([both, vec![of("c2c-exchange", "auto", 30.0)]].concat());
    for (name, reading) in kernels {
        assert_eq!(name.contains("(auto x2)"), reading.mapping == "auto", "{name} {reading:?}");
    }
    // The only kernel of its kind has a number for each of its mappings.
    let only = first(vec![of("c2c-cas", "auto", 990.0), apart("c2c-cas", 130.0)]);
    let names: Vec<&str> = only.kernels.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!((names, only.place), (vec!["c2c-cas (rr x2)", "c2c-cas (auto x2)"], None));
}

/// By the time on CPUs that threads asked for, where they do not wait for each other in the kernel.
#[test]
fn what_the_machine_gave_to_threads_that_spin_is_known() {
    let of = |blocks: bool| {
        let mut cell = cell("c2c-cas", 2, Unit::NanosecondsPerOp, 90.0).seated(&[0, 1]);
        for lap in cell.invocations.iter_mut().flat_map(|one| &mut one.runs).flat_map(|run| &mut run.laps) {
            (lap.counts.cpu_ns, lap.counts.run_delay_ns) = (Some(40), Some(60));
        }
        let mut report = report(vec![cell]);
        report.cards.iter_mut().for_each(|card| card.blocks_in_kernel = blocks);
        Answer::of(&report).quality.delivered
    };
    assert_eq!((of(false), of(true)), (Some(0.4), None));
}

/// Kernels of all families with a number in any unit, and without one.
#[test]
fn every_kernel_that_was_measured_has_a_row() {
    let units = [Unit::OpsPerSecond, Unit::BytesPerSecond, Unit::NanosecondsPerOp, Unit::NanosecondsPerStep];
    let kernels =
        ["arith-int", "mem-read", "chase-random", "pool-std", "lock-std", "c2c-cas", "timeout-futex", "noop", "npb-is"];
    let all = units.into_iter().flat_map(|unit| kernels.map(|kernel| (unit, kernel)));
    for ((unit, kernel), threads) in all.flat_map(|one| [(one, 1), (one, 3), (one, 9)]) {
        for is_measured in [true, false] {
            let other = cell("pool-mcs", 2, Unit::OpsPerSecond, 1e7);
            let own = cell(kernel, threads, unit, 1e3);
            let answer = answer_of(vec![other, if is_measured { own } else { own.invalid() }]);
            let tables = [&answer.contended, &answer.lines, &answer.levels, &answer.without].map(|table| &table.rows);
            let in_tables = tables.into_iter().flatten().filter(|row| row.data[0].text == kernel).count();
            let costs =
                answer.costs.iter().flat_map(|costs| &costs.kernels).filter(|(name, _)| name.starts_with(kernel));
            let rows = answer.rows.iter().filter(|row| row.kernel == kernel).count();
            assert!(in_tables + costs.count() + rows > 0, "{kernel} x{threads} {unit:?} {is_measured}: {answer:?}");
        }
    }
}

#[test]
fn rows_are_by_family_then_by_name_and_size() {
    let sized = |size| rate("mem-read", "rr", 1, 1e9).sized(size);
    let cells = vec![sized(1 << 30), sized(1 << 20), rate("mem-copy", "rr", 1, 1e9), rate("arith-int", "rr", 1, 1e9)];
    let names: Vec<String> = answer_of(cells).rows.iter().map(Row::name).collect();
    assert_eq!(names, ["arith-int", "mem-copy", "mem-read 1 MiB", "mem-read 1 GiB"]);
}

/// What the columns of the first row show.
fn shown(cells: Vec<Cell>, cpus: u32) -> Vec<String> {
    let answer = Answer::of(&report(cells).on(cpus));
    let (table, notes) = table(&answer.rows, answer.cpus);
    let notes = notes.into_iter().map(|note| note.split_whitespace().next().unwrap_or_default().to_owned());
    table.rows[0].data.iter().map(|datum| datum.text.clone()).chain(notes).collect()
}

#[test]
fn a_row_has_what_one_thread_and_all_cpus_do_and_why_one_is_missing() {
    let of = |threads: u64| cell("arith-int", threads, Unit::OpsPerSecond, threads as f64 * 1e9).in_order();
    let failed = |threads| of(threads).unmeasured(Status::Failed, "signal 11");
    let (one, four) = ("1.00 Gop/s", "4.00 Gop/s");
    let moved = |mapping: &str, ns| of(4).under(mapping).apart(ns);
    for (cells, cpus, expected) in [
        (vec![of(1), of(4)], 4, vec!["arith-int", one, four, "4.0x~", "4", NONE, NONE]),
        (vec![of(1).suspect(), of(4)], 4, vec!["arith-int", "1.00 Gop/s~", four, "4.0x~", "4~", NONE, NONE]),
        (vec![of(1), of(4)], 8, vec!["arith-int", one, four, "4.0x~", "4+", NONE, NONE]),
        (vec![of(1), of(4), failed(8)], 8, vec!["arith-int", one, "4.00 Gop/s at 4 a", "4.0x~", "4+", NONE, NONE, "a"]),
        (
            vec![failed(1), of(4), failed(8)],
            8,
            vec!["arith-int", "– a", "4.00 Gop/s at 4 b", NONE, NONE, NONE, NONE, "a", "b"],
        ),
        (vec![of(4)], 2, vec!["arith-int", four, NONE, NONE]),
        (
            vec![of(1), moved("rr", 50.0), moved("dumb", 200.0)],
            4,
            vec!["arith-int", one, four, "4.0x~ (CPUs moved)", "4", "no clear winner", NONE],
        ),
    ] {
        assert_eq!(shown(cells, cpus), expected);
    }
}

#[test]
fn the_cost_of_auto_is_a_share_a_range_or_its_reason() {
    let row = |strength, caveat: Option<Caveat>| {
        let row = answer_of(vec![rate("arith-int", "rr", 1, 1e9)]).rows.remove(0);
        let caveats = caveat.map_or(Caveats::default(), |caveat| Caveats::default().with(caveat));
        Row { auto: Auto::Other { strength, caveats, together: None }, ..row }.auto_costs()
    };
    let open = Strength::Open(Interval { low: -0.018, high: 0.12 });
    for (strength, caveat, expected) in [
        (Strength::Shown(0.25), None, "25.0%"),
        (Strength::Same, None, "≈0%"),
        (Strength::Same, Some(Caveat::Clock), "≈0% (clock)"),
        (open, None, "−1.8..12%"),
        (Strength::TooFew(-0.1), None, "0.0%?"),
        (Strength::TooNoisy(0.1), None, "10.0%~"),
        (Strength::NotComparable, Some(Caveat::Moved), "CPUs moved"),
    ] {
        assert_eq!(row(strength, caveat), expected);
    }
}

#[test]
fn more_threads_than_cpus_that_surely_lose_are_named() {
    let of = |four: Cell, eight: f64| {
        let rate = |threads, value| rate("arith-int", "rr", threads, value);
        answer_of(vec![rate(1, 1e9), rate(2, 2e9), four, rate(8, eight)]).rows[0].oversubscribed
    };
    let four = |value| rate("arith-int", "rr", 4, value);
    assert_eq!(of(four(1e9), 2e9), Some((4, 0.5, "")));
    assert_eq!(of(four(1e9).suspect(), 2e9), Some((4, 0.5, "~")));
    assert_eq!(of(four(3e9), 2.6e9), None);
    assert_eq!(of(four(1.98e9), 1.98e9), None, "1% is no difference");
    // Another mapping that loses says nothing of the number of threads.
    let dumb = [2, 4].map(|threads| rate("arith-int", "dumb", threads, 3e9 / threads as f64));
    let cells = [vec![rate("arith-int", "rr", 2, 2e9), four(2e9)], dumb.to_vec()].concat();
    assert_eq!(answer_of(cells).rows[0].oversubscribed, None);
}

/// Threads that a quota has no time for scale only while the pauses are not counted.
#[test]
fn rows_respect_a_quota() {
    let of = |threads: u64| cell("arith-int", threads, Unit::OpsPerSecond, threads as f64 * 1e9).in_order();
    for (quota, scaling, threads, is_noted) in [
        (None, Some(4.0), 4, false),
        (Some(1.5), Some(2.0), 2, true),
        (Some(3.5), Some(4.0), 4, true),
        (Some(0.5), None, 1, true),
    ] {
        let mut report = report([1, 2, 4].map(of).to_vec()).on(8);
        report.machine.usable.quota_cpus = quota;
        let row = Answer::of(&report).rows.remove(0);
        let found = (row.scaling(), row.best.threads, quota_note(std::slice::from_ref(&row)).is_some());
        assert_eq!(found, (scaling, threads, is_noted), "{quota:?}");
    }
}

/// Threads that load by themselves: with 8 of them eight times as much is loaded, and that is what mappings are compared at.
#[test]
fn mappings_of_a_latency_are_compared_where_most_is_loaded() {
    let of = |mapping: &str, threads: u64, ns: f64| {
        let cell = cell("chase-random", threads, Unit::NanosecondsPerStep, ns).under(mapping);
        if mapping == "auto" { cell } else { cell.in_order() }
    };
    let cells = vec![of("rr", 1, 120.0), of("auto", 1, 120.0), of("rr", 8, 122.0), of("auto", 8, 168.0)];
    let row = Answer::of(&report(cells).on(8)).rows.remove(0);
    assert_eq!((row.best_mapping.as_str(), row.best.threads, row.best.value), ("rr", 8, 122.0));
}

#[test]
fn the_best_number_is_shown_where_neither_one_thread_nor_all_have_it() {
    let at = |numbers: &[(u64, f64)]| {
        let cells = numbers.iter().map(|(threads, value)| rate("mem-read", "rr", *threads, value * 1e9));
        shown(cells.collect(), 8)[4].clone()
    };
    assert_eq!(at(&[(1, 10.0), (2, 20.0), (3, 30.0), (4, 26.0), (8, 22.0)]), "3 (30.0 GB/s)");
    assert_eq!(at(&[(1, 10.0), (4, 30.0), (8, 30.0)]), "4");
    assert_eq!(at(&[(1, 10.0), (8, 15.0), (16, 20.0)]), "16 (20.0 GB/s)");
}

/// In whatever order they were asked for.
#[test]
fn of_many_sizes_the_largest_has_the_row() {
    let names = |sizes: [u64; 5]| {
        let cells = sizes.map(|size| rate("mem-read", "rr", 1, 1e9).sized(size));
        answer_of(cells.into()).rows.iter().map(Row::name).collect::<Vec<_>>()
    };
    for sizes in [[1 << 20, 2 << 20, 8 << 20, 64 << 20, 1 << 30], [1 << 30, 64 << 20, 8 << 20, 2 << 20, 1 << 20]] {
        assert_eq!(names(sizes), ["mem-read 1 GiB"]);
    }
}

/// What has no number may be better, or worse.
#[test]
fn a_mapping_without_a_number_is_no_equal() {
    let of = |mapping: &str| rate("arith-int", mapping, 2, 2e9).within(0.005);
    let both = || vec![rate("arith-int", "rr", 1, 1e9), of("rr"), of("dumb")];
    assert_eq!(answer_of(both()).rows[0].best_mapping, "any");
    let failed = of("auto").unmeasured(Status::Failed, "signal 11");
    assert_eq!(answer_of([both(), vec![failed]].concat()).rows[0].best_mapping, "rr = dumb");
}

/// What names every CPU does nothing that the system does not.
#[test]
fn a_line_to_paste_does_something() {
    let of = |threads: u64, auto: f64| {
        let cell = |threads, value| cell("arith-int", threads, Unit::OpsPerSecond, value);
        let cells =
            vec![cell(threads, 1e9).in_order(), cell(threads, auto).under("auto"), cell(6 - threads, 1e8).in_order()];
        Answer::of(&report(cells).on(4)).advice.remove(0).launch
    };
    assert_eq!(of(2, 1e9).as_deref(), Some("taskset -c 0-1 PROGRAM"));
    assert_eq!(of(4, 1e9), None);
    assert_eq!(of(4, 5e8).as_deref(), Some("charz exec --mapping rr --threads 4 -- PROGRAM"));
}
