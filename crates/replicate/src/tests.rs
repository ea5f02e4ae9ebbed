//! The documents, and their figures beside synthetic reports.

mod sides;

use proptest::prelude::*;

use super::document::{PublishedValue, Relation};
use super::*;
use charz_data::params::Process;
use charz_data::report::{Cell, Measured, Peak, Point, Report, Status as CellStatus, Timer, Unit};
use charz_data::{CellSpec, Growth, GrowthStep, Halt, units};
use charz_estimate::fixtures::{cell, report};
use charz_topology::{Mapping, Order, Source, discover};

/// Every figure, table, listing and set of quoted numbers by an independent reading of the documents.
const NUMBERS: [(&str, &str); 5] = [
    (
        "t3-4",
        "Section 3.1; Figure 1; Figure 2; Figure 3; Figure 4; Section 4.2; Figure 5; Figure 6; Figure 7; Figure 8; Figure 9; \
         Section 6.2; Figure 10; Figure 11; Figure 12; Figure 13; Figure 14; Section 6.4; Figure 15; Figure 16",
    ),
    (
        "cmt",
        "Figure 1; Figure 2; Figure 3; Figure 4; Figure 5; Figure 6; Figure 7; Section 2.1.1.3; Section 2.1.1.5; Section 2.1.1.6; \
         Section 2.1.1.8; Section 2.2.1.2; Section 3.1; Table 1; Table 2; Figure 8; Table 3; Table 4; Figure 9; Table 5; \
         Table 6; Figure 10",
    ),
    ("cascade", "Spin city; Wow!; In conclusion"),
    (
        "tacc",
        "Figure 1; Table 1; Table 2; Section 3; Figure 2; Section 4; Figure 3; Figure 4; Table 3; Figure 5; Table 4; Table 5; \
         Figure 6",
    ),
    (
        "solaris",
        "Part 3: Devices, Reboot; Part 3: Tools; Part 2: Virtual Memory, unmapping; Part 2: Virtual Memory, counters; \
         Part 2: Resource Limits; Part 1; vmtasks: ISM; vmtasks: DISM; vmtasks: ISM, T4-2; vmtasks: 512 GB; \
         High Resolution Timeouts; Fast Crash Dump: compression; Fast Crash Dump: dumps; Fast Crash Dump: live dumps; \
         Wicked fast memstat; CPU to core mapping; Measuring lock spin utilization; Solaris for the T5440; \
         Scaling Solaris: The Clock Thread; Scaling Solaris: Memory Placement; Scaling Solaris: The Kernel Adaptive Mutex; \
         UltraSPARC T2: Thread Scheduling; UltraSPARC T2: Cache Associativity; UltraSPARC T2: Virtual Memory; \
         UltraSPARC T2: Block Copy; UltraSPARC T2: Performance Counters",
    ),
];

fn all_figures() -> impl Iterator<Item = (&'static Document, &'static Figure)> {
    DOCUMENTS.iter().flat_map(|document| document.figures.iter().map(move |figure| (document, figure)))
}

#[test]
fn every_number_and_citation_is_there() {
    for (document, (name, expected)) in DOCUMENTS.iter().zip(NUMBERS) {
        let numbers: Vec<&str> = document.figures.iter().map(|figure| figure.number.as_str()).collect();
        assert_eq!((document.citation.name.as_str(), numbers.join("; ").as_str()), (name, expected));
        let Citation { name: _, title, authors, published, id, about } = &document.citation;
        for word in [title, authors, published, id, about, &document.protocol.about] {
            assert!(!word.trim().is_empty(), "{name}");
        }
    }
    assert_eq!(DOCUMENTS.len(), NUMBERS.len());
}

#[test]
fn every_value_has_its_row_and_its_machine() {
    for (document, figure) in all_figures() {
        let name = format!("{} {}", document.citation.name, figure.number);
        for series in &figure.series {
            let rows = series.workers.len().max(series.labels.len());
            assert!(rows > 0 && (series.here.is_empty() || series.here.len() == series.workers.len()), "{name}");
            let is_labelled = series.labels.len() == rows;
            let is_numbered = series.labels.is_empty() && series.workers.iter().all(|count| count.fixed().is_some());
            assert!(series.over.is_none() || series.unit == "times", "{name}");
            assert!(is_labelled || is_numbered, "{name}: {:?}", series.labels);
            assert_eq!(series.cell().is_some(), !series.workers.is_empty(), "{name}: {}", series.group);
            for (machine, values) in &series.values {
                let is_known = document.machines.iter().filter(|known| known.key == *machine).count() == 1;
                assert!(is_known && values.len() <= rows, "{name}: {machine}");
                for value in values {
                    let none = matches!(value, PublishedValue::None(text) if text == "-");
                    let range = value.range().is_some_and(|[low, high]| low.is_finite() && low <= high);
                    assert!(none || range, "{name}: {value:?}");
                }
            }
        }
    }
}

#[test]
fn every_figure_is_answered_one_way() {
    for (document, figure) in all_figures() {
        let name = format!("{} {}", document.citation.name, figure.number);
        let measured = figure.series.iter().any(|series| series.cell().is_some()) || !figure.claims.is_empty();
        let Figure { drawing, impossible, elsewhere, same_as, .. } = figure;
        let others = [drawing, impossible, elsewhere, same_as].into_iter().flatten().count();
        assert_eq!(others + usize::from(measured), 1, "{name}");
        assert!(same_as.iter().all(|table| document.figures.iter().any(|other| other.number == *table)), "{name}");
        for claim in &figure.claims {
            assert_ne!(claim.right.is_some(), claim.limit.is_some(), "{name}: {}", claim.says);
            let is_factor = claim.by >= 1.0 || (claim.relation != Relation::Alike && claim.by > 0.0);
            assert!(is_factor && !claim.workers.is_empty(), "{name}: {}", claim.says);
        }
    }
}

#[test]
fn values_that_were_read_twice() {
    for (document, number, group, at, machine, expected) in [
        ("t3-4", "Figure 5", "round-robin", 15, "t3-4", 107.57),
        ("t3-4", "Figure 5", "auto", 5, "x4470", 20.99),
        ("t3-4", "Section 6.2", "", 0, "t3-4", 432.0),
        ("cmt", "Table 1", "scalability", 3, "e6900", 7.97),
        ("cmt", "Table 2", "MIPS", 3, "e6900", 12761.94),
        ("cascade", "Wow!", "smallest lap, T2000", 2, "t2000", 1140.0),
        ("tacc", "Table 5", "LU", 1, "woodcrest", 837.53),
        ("solaris", "Wicked fast memstat", "before", 0, "m9000", 34143.0),
        ("solaris", "vmtasks: ISM, T4-2", "destroy", 0, "t4-2", 495.0),
    ] {
        let figure = find(document).unwrap().figures.iter().find(|figure| figure.number == number).unwrap();
        let series = figure.series.iter().find(|series| series.group == group).unwrap();
        assert_eq!(series.values[machine][at], PublishedValue::Number(expected), "{document} {number}");
    }
}

#[test]
fn defaults_reach_series_and_both_sides() {
    let text = r#"
        citation = { name = "x", title = "", authors = "", published = "", id = "", about = "" }
        protocol = {}
        machines = []
        [[figure]]
        number = "1"
        title = ""
        shows = ""
        survives = ""
        defaults = { cell = { kernel = "a", mapping = "dumb" }, workers = [1], unit = "ns" }
        series = [{ cell = { mapping = "auto" }, over = { cell = { kernel = "b" }, workers = 2 } }]
        claim = [{ says = "", relation = "less", left = { cell = { stride = 8 } }, right = { cell = { kernel = "b" } } }]
    "#;
    let document = Document::read(text).unwrap();
    let [figure] = &document.figures[..] else { panic!("one figure") };
    let of = |cell: &CellSpec| (cell.kernel.clone(), cell.mapping.clone(), cell.stride);
    assert_eq!(of(figure.series[0].cell().unwrap()), ("a".into(), "auto".into(), None));
    assert_eq!(of(&figure.series[0].over.as_ref().unwrap().cell), ("b".into(), "auto".into(), None));
    let planned = document.cells(&[figure], &Target::flat(2, Kernels::ANY));
    assert!(planned.iter().any(|cell| (cell.kernel.as_str(), cell.workers) == ("b", 2)), "{planned:?}");
    let sides: Vec<_> = figure.claims[0].sides().map(|side| of(&side.cell)).collect();
    assert_eq!(sides, [("a".into(), "dumb".into(), Some(8)), ("b".into(), "dumb".into(), Some(8))]);
    assert!(Document::read(&text.replace("unit", "units")).is_err(), "a misspelled default");
}

/// Four strands of one package, on which round-robin reads twice as fast as dumb.
fn fixtures() -> Report {
    let mut report = report("Core:4 PU:1");
    for (mapping, speed) in [("dumb", 1.0), ("round-robin", 2.0), ("auto", 2.0)] {
        for (workers, value) in [(1, 10e9), (2, 20e9), (4, 21e9)] {
            let seats: Vec<u32> = if mapping == "dumb" { (0..workers).collect() } else { (0..workers).rev().collect() };
            let point = Point { size_bytes: Some(1 << 28), ..Point::default() };
            report.cells.push(Cell { mapping: mapping.into(), ..cell("mem-read", &seats, point, value * speed) });
        }
    }
    report.cells[0].status = CellStatus::Suspect;
    report.cells[1] = report.cells[1].clone().invalid();
    report
}

fn evaluated(number: &str, report: &Report) -> ReplicatedFigure {
    of_document("t3-4", number, report, Kernels::ANY)
}

fn of_document(name: &str, number: &str, report: &Report, kernels: Kernels) -> ReplicatedFigure {
    let document = find(name).unwrap();
    let figures: Vec<&Figure> = document.figures.iter().filter(|figure| figure.number == number).collect();
    evaluate(document, &figures, report, None, kernels).figures.remove(0)
}

#[test]
fn rows_are_beside_the_documents() {
    let figure = evaluated("Figure 5", &fixtures());
    let row =
        |group: &str, label: &str| figure.rows.iter().find(|row| row.group == group && row.label == label).unwrap();
    let kind = |row: &Row| row.gap.as_ref().map(|gap| gap.kind);
    let first = row("dumb", "1");
    let here = first.here.as_ref().unwrap();
    assert_eq!((here.value, here.suspect, here.low), (10.0, true, Some(10.0 / 1.02)));
    assert_eq!(first.published, [PublishedRange { machine: "t3-4".into(), low: 0.65, high: 0.65, predicted: None }]);
    assert!((first.ratio.unwrap() - 10.0 / 0.65).abs() < 1e-9);
    // An invalid number, no cell, and more workers than make sense.
    for (label, expected) in [("2", GapKind::Open), ("3", GapKind::Open), ("64", GapKind::Machine)] {
        let row = row("dumb", label);
        assert_eq!((&row.here, row.ratio, kind(row)), (&None, None, Some(expected)), "{label}");
    }
    assert_eq!(row("auto", "2").published.len(), 3, "three machines under auto");
    assert_eq!(figure.status, Status::Partly, "{:?}", figure.reasons);
}

#[test]
fn claims_are_checked_by_intervals() {
    let mut report = fixtures();
    let verdicts = |report: &Report| {
        evaluated("Figure 5", report).claims.into_iter().map(|claim| claim.verdict).collect::<Vec<_>>()
    };
    // round-robin as auto; half of the packages of one; 42 GB/s with four workers and 40 with two.
    assert_eq!(verdicts(&report), [Verdict::Holds, Verdict::Undecided, Verdict::Holds]);
    let last = report.cells.iter().position(|cell| cell.mapping == "auto" && cell.workers == 4).unwrap();
    report.cells[last].capacity = Some(Measured { value: 80e9, interval: Some([79e9, 81e9].into()) });
    assert_eq!(verdicts(&report)[2], Verdict::Fails);
    // Less is no more.
    report.cells[last].capacity = Some(Measured { value: 30e9, interval: Some([29e9, 31e9].into()) });
    assert_eq!(verdicts(&report)[2], Verdict::Holds);
    report.cells[last].capacity = Some(Measured { value: 80e9, interval: None });
    assert_eq!(verdicts(&report)[2], Verdict::Undecided);
    report.cells.clear();
    assert_eq!(verdicts(&report), [Verdict::Undecided; 3]);
}

#[test]
fn five_recursions_are_held_against_the_fastest_depth() {
    let mut report = report("Core:2 PU:1");
    for (depth, rate) in [(1, 10e9), (2, 40e9), (3, 20e9), (5, 2e9)] {
        let point = Point { order: Some(1024), depth: Some(depth), ..Point::default() };
        let cell = charz_data::report::fixtures::cell("matmul-mutex", 2, Unit::OpsPerSecond, rate);
        report.cells.push(cell.under("auto").at(point));
    }
    let slowdown = |report: &Report| evaluated("Figure 16", report).rows.pop().unwrap();
    let row = slowdown(&report);
    let here = row.here.unwrap();
    assert!((here.value - 20.0).abs() < 1e-9 && here.note.unwrap().contains("depth 2"), "{}", here.value);
    assert_eq!(row.published.len(), 3);
    let mut no_third = report.clone();
    no_third.cells[2].capacity = None;
    let unknown = slowdown(&no_third);
    assert!(unknown.here.is_none() && unknown.gap.unwrap().reason.contains("depth 3"), "the third may be faster");
    report.cells.pop();
    assert_eq!(slowdown(&report).here, None);
}

/// Hops of 60 ns: a lap of two takes 120 ns and one of four 240 ns.
#[test]
fn times_within_what_the_clocks_differ_by_are_no_number() {
    let mut report = report("Core:4 PU:1");
    for workers in [2, 4] {
        let cell = charz_data::report::fixtures::cell("ring-mutex-adaptive", workers, Unit::NanosecondsPerOp, 60.0);
        report.cells.push(cell.under("auto").timed(&[(60, 60 * workers); 99]));
    }
    let cell = charz_data::report::fixtures::cell("ring-mutex", 4, Unit::NanosecondsPerOp, 20.0);
    let mut cell = cell.under("auto").timed(&[(20, 80); 99]);
    cell.distribution.as_mut().unwrap().second.peaks =
        vec![Peak { low_ns: 70.0, high_ns: 90.0, mode_ns: 80.0, share: 1.0 }];
    report.cells.push(cell);
    let hop = |skew_ns: Option<u64>| {
        let mut report = report.clone();
        let timer = Timer { overhead_ns: 1, resolution_ns: 1, worst_gap_ns: 1, skew_ns };
        report.timer = Some(timer);
        let figure = of_document("cascade", "Wow!", &report, Kernels::ANY);
        let smallest = figure.rows.iter().find(|row| row.group == "smallest lap, V890").unwrap();
        let median = figure.rows.iter().find(|row| row.label == "all strands").unwrap();
        let note = median.here.as_ref().unwrap().note.clone().unwrap();
        assert!(note.contains(" ns"), "two decimals of a microsecond leave nothing of it: {note}");
        let mut distinct = figure.reasons.clone();
        distinct.dedup();
        assert_eq!(distinct, figure.reasons, "a reason of a row and of a conclusion is one");
        (figure.claims[1].clone(), smallest.here.is_some())
    };
    let (unknown, lap) = hop(Some(150));
    assert!(unknown.verdict == Verdict::Undecided && unknown.evidence.contains("clocks"), "{unknown:?}");
    assert!(lap, "the lap is longer");
    assert!(!hop(Some(100)).0.evidence.contains("clocks") && !hop(Some(300)).1);
}

#[test]
fn a_lock_that_is_slower_is_no_better() {
    let verdict = |adaptive: f64| {
        let mut report = report("Core:2 PU:1");
        for (kernel, ns) in [("ring-mutex", 2000.0), ("ring-mutex-adaptive", adaptive)] {
            report.cells.push(charz_data::report::fixtures::cell(kernel, 3, Unit::NanosecondsPerOp, ns).under("auto"));
        }
        of_document("cascade", "Spin city", &report, Kernels::ANY).claims[1].verdict
    };
    assert_eq!([4000.0, 2000.0, 1000.0].map(verdict), [Verdict::Holds, Verdict::Holds, Verdict::Fails]);
}

#[test]
fn twice_as_long_is_neither_as_long_nor_much_longer() {
    let verdicts = |times: u64| {
        let mut report = report("Core:2 PU:1");
        let mut cell = charz_data::report::fixtures::cell("fft-mutex", 2, Unit::OpsPerSecond, 1e6).under("auto");
        let step = |size, time_ns| GrowthStep { size, time_ns, ..GrowthStep::default() };
        let steps = vec![step(7, 1_000_000), step(8, times * 100_000)];
        let runs = cell.invocations.iter_mut().flat_map(|invocation| &mut invocation.runs);
        runs.for_each(|run| run.growth = Some(Box::new(Growth::new(steps.clone(), Halt::Time))));
        report.cells.push(cell);
        let claims = evaluated("Figure 15", &report).claims;
        [claims[0].verdict, claims[1].verdict]
    };
    let [holds, fails] = [Verdict::Holds, Verdict::Fails];
    for (times, expected) in [(5, [fails, holds]), (10, [fails, holds]), (20, [holds; 2]), (30, [holds, fails])] {
        assert_eq!(verdicts(times), expected, "{times} tenths");
    }
}

#[test]
fn what_a_conclusion_asks_for_is_in_its_sentence() {
    for (document, figure) in all_figures() {
        let checked = of_document(&document.citation.name, &figure.number, &report("Core:2 PU:1"), Kernels::ANY).claims;
        for (claim, checked) in figure.claims.iter().zip(checked) {
            let factors = [claim.by.to_string(), units::count_of(claim.by.recip())];
            let is_said = factors.iter().any(|factor| checked.says[claim.says.len()..].contains(factor.as_str()));
            assert_eq!(is_said, claim.by != 1.0, "{}", checked.says);
        }
    }
}

/// Four workers at twice the rate of one, whose runs did this many times the work.
#[test]
fn scalability_of_units_is_marked_where_rates_contradict_it() {
    let row = |times: u64| {
        let mut report = report("Core:4 PU:1");
        for (workers, rate, ops) in [(1, 1e9, 1000), (4, 2e9, 250 * times)] {
            let cell = charz_data::report::fixtures::cell("cmt-compute", workers, Unit::OpsPerSecond, rate);
            let mut cell = cell.under("auto").at(Point { process: Some(Process::Warm), ..Point::default() });
            let runs = cell.invocations.iter_mut().flat_map(|invocation| &mut invocation.runs);
            runs.flat_map(|run| &mut run.laps).for_each(|lap| lap.ops = ops);
            report.cells.push(cell);
        }
        let rows = of_document("cmt", "Table 1", &report, Kernels::ANY).rows;
        rows.into_iter().find(|row| row.group == "scalability" && row.workers == Some(4)).unwrap().here.unwrap()
    };
    let [same, more] = [2, 4].map(row);
    assert_eq!([(same.value, same.suspect), (more.value, more.suspect)], [(2.0, false), (4.0, true)]);
}

/// Before a sweep by what the system has; afterwards open where it was not asked.
#[test]
fn figures_by_hardware_counters_have_one_status() {
    let document = find("tacc").unwrap();
    let figures: Vec<&Figure> = document.figures.iter().filter(|figure| figure.number == "Figure 6").collect();
    let listed = |counters: fn() -> Result<(), String>| {
        let target = Target { packages: 2, ..Target::flat(2, Kernels { counters, ..Kernels::ANY }) };
        feasibility(document, &figures, &target).figures.remove(0).status
    };
    assert_eq!([listed(|| Ok(())), listed(|| Err("none".into()))], [Status::Done, Status::NotPossible]);
    let mut report = report("Core:2 PU:1");
    let cell = |workers| charz_data::report::fixtures::cell("npb-is", workers, Unit::OpsPerSecond, 1e9);
    report.cells.extend([1, 2].map(|workers| cell(workers).under("round-robin")));
    assert_eq!(of_document("tacc", "Figure 6", &report, Kernels::ANY).status, Status::NotMeasured);
}

#[test]
fn conclusions_are_counted_in_words() {
    assert_eq!([0, 1, 3].map(|count| Verdict::Fails.counted(count)), ["0 fail here", "1 fails here", "3 fail here"]);
    assert_eq!([1, 2].map(|count| Verdict::Undecided.counted(count)), ["1 undecided here", "2 undecided here"]);
}

#[test]
fn without_cells_there_is_no_number() {
    let document = find("t3-4").unwrap();
    let figures: Vec<&Figure> = document.figures.iter().collect();
    let all = [Status::Done, Status::Partly, Status::NotMeasured, Status::NotPossible, Status::Drawing];
    let empty = evaluate(document, &figures, &report("Core:2 PU:1"), None, Kernels::ANY);
    assert!(empty.figures.iter().flat_map(|figure| &figure.rows).all(|row| row.here.is_none() && row.ratio.is_none()));
    // One is another command's.
    assert_eq!(all.map(|status| empty.figures_with(status)), [0, 1, 16, 0, 3]);
    let target = Target::flat(2, Kernels::ANY);
    let expected = feasibility(document, &figures, &target);
    let status = |number: &str| expected.figures.iter().find(|figure| figure.number == number).unwrap().status;
    assert_eq!(
        ["Figure 5", "Figure 15", "Figure 16", "Figure 7"].map(status),
        [Status::Partly, Status::Partly, Status::Done, Status::Drawing]
    );
}

/// The document's words: from 512 threads on, which is all strands, the system's own mapping has the advantage.
#[test]
fn an_advantage_of_auto_holds() {
    let verdict = |auto: f64| {
        let mut report = report("Core:2 PU:1");
        for workers in [2, 4] {
            for (mapping, value) in [("round-robin", 10e9), ("auto", auto)] {
                let cell = charz_data::report::fixtures::cell("arith-float", workers, Unit::OpsPerSecond, value);
                report.cells.push(cell.under(mapping));
            }
        }
        evaluated("Figure 2", &report).claims.last().unwrap().verdict
    };
    assert_eq!([15e9, 10e9, 8e9].map(verdict), [Verdict::Holds, Verdict::Holds, Verdict::Fails]);
}

/// Four cores of two strands each, half of which run a thread, then each of which does.
#[test]
fn a_claim_about_memory_is_by_cores_and_needs_a_problem_beyond_the_caches() {
    let mut report = report("Package:2 L2:1(size=1MB) Core:2 PU:2");
    for (workers, rate) in [(2, 4e9), (4, 5e9)] {
        let cell = charz_data::report::fixtures::cell("npb-cg", workers, Unit::OpsPerSecond, rate);
        report.cells.push(cell.under("round-robin"));
    }
    let check = |report: &Report, footprint| {
        of_document("tacc", "Table 4", report, Kernels { footprint, ..Kernels::ANY }).claims.swap_remove(1)
    };
    assert_eq!(check(&report, |_, _, _| Some(1 << 30)).verdict, Verdict::Holds);
    let held = check(&report, |_, _, _| Some(1 << 20));
    assert_eq!((held.verdict, held.open), (Verdict::Undecided, true));
    assert!(held.evidence.contains("all 1 MiB") && held.evidence.contains("class S"), "{}", held.evidence);
    let mut unknown = report.clone();
    unknown.machine.caches.iter_mut().for_each(|cache| cache.size_bytes = None);
    let unknown = check(&unknown, |_, _, _| Some(1 << 20));
    assert_eq!((unknown.verdict, unknown.open), (Verdict::Undecided, false));
    report.cells[0].capacity.as_mut().unwrap().interval = None;
    let bare = check(&report, |_, _, _| Some(1 << 30));
    assert!(
        bare.open && bare.evidence.contains("too few runs") && bare.evidence.contains("--budget"),
        "{}",
        bare.evidence
    );
}

#[test]
fn two_cores_are_no_two_strands_of_one() {
    let machine = discover(&Source::Synthetic("Package:2 L3:1 Core:2 PU:2".into())).unwrap();
    let document = find("tacc").unwrap();
    let of_two = |figure: &&Figure| ["Figure 2", "Table 3"].contains(&figure.number.as_str());
    let figures: Vec<&Figure> = document.figures.iter().filter(of_two).collect();
    let cells = document.cells(&figures, &Target::new(&machine, Kernels::ANY));
    assert!(cells.iter().any(|cell| cell.workers == 2));
    for cell in cells.iter().filter(|cell| cell.workers == 2) {
        let Order::Strands(order) = cell.mapping.parse::<Mapping>().unwrap().order(&machine).unwrap() else { continue };
        let core = |id: u32| machine.strands.iter().find(|strand| strand.os_id == id).unwrap().core;
        assert_ne!(core(order[0]), core(order[1]), "{cell:?}");
    }
}

#[test]
fn a_figure_is_done_only_if_the_machine_has_all_of_it() {
    let status = |name: &str, synthetic: &str, number: &str| {
        let target = Target::new(&discover(&Source::Synthetic(synthetic.into())).unwrap(), Kernels::ANY);
        let document = find(name).unwrap();
        let figures: Vec<&Figure> = document.figures.iter().filter(|figure| figure.number == number).collect();
        feasibility(document, &figures, &target).figures.remove(0).status
    };
    // The document's own machine, one that does not state its ALU groups, one with a strand for each, and a small one.
    let (t3, unstated) = ("Package:4 NUMA:1 L2:1 Core:16 Group:2 PU:4", "Package:4 NUMA:1 L2:1 Core:16 PU:8");
    for (synthetic, expected) in [
        (t3, Status::Done),
        (unstated, Status::Partly),
        ("Package:4 Core:16 Group:8 PU:1", Status::Partly),
        ("Core:2 PU:1", Status::Partly),
    ] {
        assert_eq!(
            ["Figure 1", "Figure 2"].map(|number| status("t3-4", synthetic, number)),
            [expected; 2],
            "{synthetic}"
        );
    }
    assert_eq!([t3, "Core:2 PU:1"].map(|on| status("t3-4", on, "Figure 5")), [Status::Done, Status::Partly]);
    assert_eq!([t3, "Core:2 PU:1"].map(|on| status("cascade", on, "Wow!")), [Status::Done; 2]);
    // No cache of the small one holds two cores.
    assert_eq!([t3, "Core:2 PU:1"].map(|on| status("tacc", on, "Table 3")), [Status::Done, Status::Partly]);
    assert_eq!(
        [t3, "L3:1 Core:2 PU:1"].map(|on| status("cascade", on, "In conclusion")),
        [Status::Done, Status::Partly]
    );
}

#[test]
fn worker_counts_are_the_documents() {
    let document = find("t3-4").unwrap();
    let all: Vec<&Figure> = document.figures.iter().collect();
    let workers = |strands: u64| -> Vec<u64> {
        let target = Target::flat(strands, Kernels::ANY);
        let cells = document.cells(&all, &target);
        let reads = cells.iter().filter(|cell| cell.kernel == "arith-int" && cell.mapping == "dumb");
        reads.map(|cell| cell.workers).collect()
    };
    let series = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024];
    assert_eq!((workers(512), workers(2)), (series.to_vec(), vec![1, 2, 3, 4]));
}

proptest! {
    /// Each cell is planned once, with at least one worker and at most twice as many as there are strands, and one.
    #[test]
    fn worker_counts_stay_within_the_machine(strands in 1_u64..4096, cores in 1_u64..4096, packages in 1_u64..64) {
        let target = Target { cores: cores.min(strands), packages, nodes: packages, ..Target::flat(strands, Kernels::ANY) };
        for document in DOCUMENTS.iter() {
            let figures: Vec<&Figure> = document.figures.iter().collect();
            let cells = document.cells(&figures, &target);
            for (at, cell) in cells.iter().enumerate() {
                prop_assert!((1..=2 * strands + 1).contains(&cell.workers), "{cell:?} on {target:?}");
                prop_assert!(!cells[..at].contains(cell), "{cell:?} twice");
            }
        }
    }
}
