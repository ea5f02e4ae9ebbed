//! Figures of the documents beside synthetic reports, and before a sweep.

mod basis;
mod documents;

use proptest::prelude::*;

use super::*;
use charz_data::report::{Point, Report, Severity, Timer, Unit, fixtures};
use charz_data::{CellSpec, Growth, GrowthStep, Halt, Params};
use charz_estimate::fixtures::{cell, report};
use charz_topology::{Mapping, Order, Source, discover};

/// The cells of a document on machines, each a row: kernel and what else is specified, the threads, and the value.
type Cells<'a> = &'a [(&'a str, u64, f64)];

/// A report of such cells on a machine in hwloc's words.
fn measured(machine: &str, unit: Unit, cells: Cells<'_>) -> Report {
    let mut report = report(machine);
    report.host.claimed_hz = Some(1e9);
    for (spec, workers, value) in cells {
        let spec: CellSpec = toml::from_str(&spec.replace("; ", "\n")).unwrap();
        let cell = fixtures::cell(&spec.kernel, *workers, unit, *value);
        report.cells.push(cell.under(&spec.mapping).at(spec.point()).delivering(1.0));
    }
    report
}

fn beside<'a>(of: &str, report: &'a Report, kernels: Kernels) -> ReplicatedFigure<'a> {
    let (document, number) = of.split_once(' ').unwrap();
    let document = find(document).unwrap();
    evaluate(document, &figures(document, number), report, None, kernels).figures.remove(0)
}

fn figures(document: &'static Document, number: &str) -> Vec<&'static Figure> {
    document.figures.iter().filter(|figure| figure.number == number).collect()
}

/// A conclusion beside cells, by its place in the figure, and its verdict here.
#[test]
fn conclusions_of_cells() {
    use Verdict::{Fails, Holds, Impossible, NotMeasured, Undecided};
    let (two, ops, ns) = ("Core:2 PU:1", Unit::OpsPerSecond, Unit::NanosecondsPerOp);
    let (mutex, adaptive) = ("kernel = 'ring-mutex'", "kernel = 'ring-mutex-adaptive'");
    let (spread, auto) = ("kernel = 'arith-float'; mapping = 'round-robin'", "kernel = 'arith-float'");
    let small = "kernel = 'chase-stride'; mapping = 'round-robin'; size = 524288; pages = '4k'; stride = 512";
    let large = &small.replace("4k", "thp");
    let cg = "kernel = 'npb-cg'; mapping = 'round-robin'";
    let sockets = "Package:2 L2:1(size=1MB) Core:2 PU:2";
    let rows: [(&str, usize, &str, Unit, Cells<'_>, Verdict); 13] = [
        // A lock that is slower is no better.
        ("cascade Spin city", 1, two, ns, &[(mutex, 3, 2000.0), (adaptive, 3, 4000.0)], Holds),
        ("cascade Spin city", 1, two, ns, &[(mutex, 3, 2000.0), (adaptive, 3, 2000.0)], Holds),
        ("cascade Spin city", 1, two, ns, &[(mutex, 3, 2000.0), (adaptive, 3, 1000.0)], Fails),
        ("cascade Spin city", 1, two, ns, &[(mutex, 3, 2000.0)], NotMeasured),
        // The document's words: from 512 threads on, which is all strands, the system's own mapping has the advantage.
        (
            "t3-4 Figure 2",
            2,
            two,
            ops,
            &[(spread, 2, 1e9), (auto, 2, 1.5e9), (spread, 4, 1e9), (auto, 4, 1.5e9)],
            Holds,
        ),
        ("t3-4 Figure 2", 2, two, ops, &[(spread, 2, 1e9), (auto, 2, 1e9), (spread, 4, 1e9), (auto, 4, 1e9)], Holds),
        ("t3-4 Figure 2", 2, two, ops, &[(spread, 2, 1e9), (auto, 2, 8e8), (spread, 4, 1e9), (auto, 4, 8e8)], Fails),
        ("tacc Figure 3", 2, two, Unit::NanosecondsPerStep, &[(small, 1, 8.0), (large, 1, 4.0)], Holds),
        ("tacc Figure 3", 2, two, Unit::NanosecondsPerStep, &[(small, 1, 4.0), (large, 1, 4.0)], Undecided),
        // Four cores of two strands each, half of which run a thread, then each of which does.
        ("tacc Table 4", 1, sockets, ops, &[(cg, 2, 4e9), (cg, 4, 5e9)], Holds),
        ("tacc Table 4", 1, sockets, ops, &[(cg, 2, 4e9), (cg, 4, 9e9)], Fails),
        ("tacc Table 4", 1, "Package:2 Core:2 PU:2", ops, &[(cg, 2, 4e9), (cg, 4, 5e9)], Impossible),
        ("tacc Table 4", 1, sockets, ops, &[], NotMeasured),
    ];
    let footprint = |_: &str, _: &Params, _: u64| Some(1 << 30);
    for (of, at, machine, unit, cells, expected) in rows {
        let report = measured(machine, unit, cells);
        let claim = beside(of, &report, Kernels { footprint, ..Kernels::ANY }).claims.swap_remove(at);
        assert_eq!(claim.verdict, expected, "{of} of {cells:?}: {claim:?}");
    }
}

#[test]
fn memory_is_beyond_the_caches_or_undecided_for_want_of_runs() {
    let cg = "kernel = 'npb-cg'; mapping = 'round-robin'";
    let sockets = "Package:2 L2:1(size=1MB) Core:2 PU:2";
    let mut report = measured(sockets, Unit::OpsPerSecond, &[(cg, 2, 4e9), (cg, 4, 5e9)]);
    let within = Kernels { footprint: |_, _, _| Some(1 << 20), ..Kernels::ANY };
    let held = beside("tacc Table 4", &report, within).claims.swap_remove(1);
    assert!(matches!(held.why, Some(Why::InCaches { bytes, .. }) if bytes == 1 << 20), "{held:?}");
    assert_eq!(held.verdict, Verdict::NotMeasured);
    report.cells[0].capacity.as_mut().unwrap().interval = None;
    let beyond = Kernels { footprint: |_, _, _| Some(1 << 30), ..Kernels::ANY };
    let bare = beside("tacc Table 4", &report, beyond).claims.swap_remove(1);
    assert_eq!((bare.verdict, bare.why), (Verdict::Undecided, Some(Why::TooFewRuns)));
}

/// What was measured and left open is not called unmeasured, whatever else of the figure is missing.
#[test]
fn a_figure_of_conclusions_is_undecided_once_one_was_measured() {
    let adaptive = |kernel: &str| format!("kernel = 'ring-mutex{kernel}'");
    let cells = [adaptive(""), adaptive("-adaptive")];
    let cells = [(&*cells[0], 2, 2000.0), (&*cells[1], 2, 2000.0)];
    let status = |cells| {
        beside("cascade Spin city", &measured("Core:2 PU:1", Unit::NanosecondsPerOp, cells), Kernels::ANY).status
    };
    assert_eq!([status(&cells), status(&[])], [Status::Undecided, Status::NotMeasured]);
}

/// With a thread on each CPU mappings differ in which one is on which.
#[test]
fn mappings_that_take_every_cpu_differ_by_their_order() {
    let claim = |order: [u32; 4]| {
        let mut report = report("Core:2 PU:2");
        for (mapping, seats, value) in [("dumb", [0, 1, 2, 3], 20e9), ("round-robin", order, 10e9)] {
            for seats in [seats.to_vec(), [seats; 2].concat()] {
                let cell = fixtures::cell("arith-int", seats.len() as u64, Unit::OpsPerSecond, value);
                report.cells.push(cell.under(mapping).seated(&seats));
            }
        }
        let claim = beside("t3-4 Figure 1", &report, Kernels::ANY).claims.swap_remove(2);
        (claim.verdict, claim.why.is_some_and(|why| why == Why::SameSeats))
    };
    let orders = [[0, 2, 1, 3], [0, 1, 2, 3]];
    assert_eq!(orders.map(claim), [(Verdict::Holds, false), (Verdict::Impossible, true)]);
}

#[test]
fn twice_as_long_is_neither_as_long_nor_much_longer() {
    let verdicts = |times: u64| {
        let mut report = measured("Core:2 PU:1", Unit::OpsPerSecond, &[("kernel = 'fft-mutex'", 2, 1e6)]);
        let step = |size, time_ns| GrowthStep { size, time_ns, ..GrowthStep::default() };
        let steps = vec![step(7, 1_000_000), step(8, times * 100_000)];
        let runs = report.cells[0].invocations.iter_mut().flat_map(|invocation| &mut invocation.runs);
        runs.for_each(|run| run.growth = Some(Box::new(Growth::new(steps.clone(), Halt::Time))));
        let claims = beside("t3-4 Figure 15", &report, Kernels::ANY).claims;
        [claims[0].verdict, claims[1].verdict]
    };
    let [holds, fails] = [Verdict::Holds, Verdict::Fails];
    for (times, expected) in [(5, [fails, holds]), (10, [fails, holds]), (20, [holds; 2]), (30, [holds, fails])] {
        assert_eq!(verdicts(times), expected, "{times} tenths");
    }
}

/// Four strands of one package, on which round-robin reads twice as fast as dumb.
fn reads() -> Report {
    let mut report = report("Core:4 PU:1");
    for (mapping, speed) in [("dumb", 1.0), ("round-robin", 2.0), ("auto", 2.0)] {
        for (workers, value) in [(1, 10e9), (2, 20e9), (4, 21e9)] {
            let seats: Vec<u32> = if mapping == "dumb" { (0..workers).collect() } else { (0..workers).rev().collect() };
            let point = Point { size_bytes: Some(1 << 28), ..Point::default() };
            report.cells.push(cell("mem-read", &seats, point, value * speed).under(mapping).delivering(1.0));
        }
    }
    report.cells[0] = report.cells[0].clone().marked("V08", Severity::Suspect, "the clock moved");
    report.cells[1] = report.cells[1].clone().invalid();
    report
}

#[test]
fn rows_are_beside_the_documents() {
    let mut report = reads();
    let figure = beside("t3-4 Figure 5", &report, Kernels::ANY);
    let row = |group, label| figure.rows.iter().find(|row| (row.group, row.label) == (group, label)).unwrap();
    let first = row("dumb", "1");
    let here = first.here.as_ref().unwrap();
    assert_eq!((here.value, here.suspect, here.interval.unwrap()[0]), (10.0, true, 9.8));
    assert_eq!(first.published, [PublishedRange { machine: "t3-4", low: 0.65, high: 0.65, predicted: None }]);
    assert!((first.ratio.unwrap() - 10.0 / 0.65).abs() < 1e-9);
    // An invalid number, no cell, and more workers than make sense.
    for (label, expected) in [("2", GapKind::Open), ("3", GapKind::Open), ("64", GapKind::Machine)] {
        let row = row("dumb", label);
        let kind = row.gap.as_ref().map(Why::kind);
        assert_eq!((&row.here, row.ratio, kind), (&None, None, Some(expected)), "{label}");
    }
    assert_eq!(row("auto", "2").published.len(), 3, "three machines under auto");
    assert_eq!(figure.status, Status::Partly, "{:?}", figure.reasons);
    // round-robin as auto; half of the packages of one; 42 GB/s with four workers and 40 with two.
    let verdicts = figure.claims.iter().map(|claim| claim.verdict).collect::<Vec<_>>();
    assert_eq!(verdicts, [Verdict::Holds, Verdict::Impossible, Verdict::Holds]);
    report.cells.clear();
    let empty = beside("t3-4 Figure 5", &report, Kernels::ANY);
    assert_eq!((empty.status, empty.claims[2].verdict), (Status::NotMeasured, Verdict::NotMeasured));
}

#[test]
fn five_recursions_are_held_against_the_fastest_depth() {
    let depths = [(1, 10e9), (2, 40e9), (3, 20e9), (5, 2e9)];
    let specs = depths.map(|(depth, _)| format!("kernel = 'matmul-mutex'; order = 1024; depth = {depth}"));
    let cells: Vec<_> = specs.iter().zip(depths).map(|(spec, (_, rate))| (&**spec, 2, rate)).collect();
    let slowdown = |without: usize| {
        let mut report = measured("Core:2 PU:1", Unit::OpsPerSecond, &cells);
        report.cells.get_mut(without).into_iter().for_each(|cell| cell.capacity = None);
        let row = beside("t3-4 Figure 16", &report, Kernels::ANY).rows.pop().unwrap();
        let why = row.gap.map(|why| matches!(why, Why::Depth(3, _)));
        (row.here.map(|here| (here.value.round(), here.note == Some(Note::FastestDepth(2)))), why)
    };
    assert_eq!([4, 3, 2].map(slowdown), [(Some((20.0, true)), None), (None, Some(false)), (None, Some(true))]);
}

/// Hops of 60 ns: a lap of two takes 120 ns and one of four 240 ns.
#[test]
fn times_within_what_the_clocks_differ_by_are_no_number() {
    let mut report = report("Core:4 PU:1");
    for workers in [2, 4] {
        let cell = fixtures::cell("ring-mutex-adaptive", workers, Unit::NanosecondsPerOp, 60.0);
        report.cells.push(cell.under("auto").timed(&[(60, 60 * workers); 99]));
    }
    let hop = |skew_ns: u64| {
        let mut report = report.clone();
        report.timer = Some(Timer { overhead_ns: 1, resolution_ns: 1, worst_gap_ns: 1, skew_ns: Some(skew_ns) });
        let figure = beside("cascade Wow!", &report, Kernels::ANY);
        let smallest = figure.rows.iter().find(|row| row.group == "smallest lap, V890").unwrap();
        let reasons = figure.reasons.iter().filter(|reason| matches!(reason.why, Why::WithinSkew { .. })).count();
        assert!(reasons < 2, "a reason of a row and of a conclusion is one");
        (matches!(figure.claims[1].why, Some(Why::WithinSkew { .. })), smallest.here.is_some())
    };
    assert_eq!([100, 150, 300].map(hop), [(false, true), (true, true), (true, false)]);
}

/// Four workers at twice the rate of one, whose runs did this many times the work.
#[test]
fn scalability_of_units_is_marked_where_rates_contradict_it() {
    let row = |times: u64| {
        let warm = "kernel = 'cmt-compute'; process = 'warm'";
        let mut report = measured("Core:4 PU:1", Unit::OpsPerSecond, &[(warm, 1, 1e9), (warm, 4, 2e9)]);
        for (cell, ops) in report.cells.iter_mut().zip([1000, 250 * times]) {
            let runs = cell.invocations.iter_mut().flat_map(|invocation| &mut invocation.runs);
            runs.flat_map(|run| &mut run.laps).for_each(|lap| lap.ops = ops);
        }
        let rows = beside("cmt Table 1", &report, Kernels::ANY).rows;
        let here = rows.into_iter().find(|row| row.group == "scalability" && row.workers == Some(4)).unwrap().here;
        here.map(|here| (here.value, here.suspect)).unwrap()
    };
    assert_eq!([2, 4].map(row), [(2.0, false), (4.0, true)]);
}

#[test]
fn published_quotients_are_beside_quotients() {
    let of = |kernel: &str| format!("kernel = '{kernel}'; mapping = 'round-robin'");
    let [lu, each, flags] = ["npb-lu-processes", "pages-flags-each", "pages-flags"].map(of);
    let machine = "Core:4 PU:1";
    let mut report = measured(machine, Unit::OpsPerSecond, &[(&lu, 2, 4e9), (&lu, 4, 5e9)]);
    report.cells.extend(measured(machine, Unit::MillisecondsPerGib, &[(&each, 1, 80.0), (&flags, 1, 16.0)]).cells);
    let quotient = |of: &str, machine: &str| {
        let rows = beside(of, &report, Kernels::ANY).rows;
        rows.into_iter()
            .find(|row| row.unit == "times" && row.published.iter().any(|of| of.machine == machine))
            .unwrap()
    };
    let lu = quotient("tacc Figure 5", "opteron");
    let [low, high] = lu.here.unwrap().interval.unwrap();
    assert!(low < 1.25 && 1.25 < high && (lu.ratio.unwrap() - 1.25 / 1.3).abs() < 1e-9);
    let memstat = quotient("solaris Wicked fast memstat", "t5440").here.unwrap();
    assert!((memstat.value - 5.0).abs() < 1e-9, "{memstat:?}");
    let counters = quotient("solaris Part 2: Virtual Memory, counters", "t4-4");
    assert_eq!(counters.gap.map(|why| why.kind()), Some(GapKind::Open), "neither side was measured");
}

/// Hand-overs, signals and broadcasts on a machine with this clock, of these pairs of times in turn.
fn sampled(hz: f64, pairs: [(u64, u64); 2]) -> Report {
    let mut report = report("Core:2 PU:1");
    report.host.claimed_hz = Some(hz);
    for kernel in ["unlock-pthread", "signal-pthread", "broadcast-pthread"] {
        let pairs: Vec<(u64, u64)> = pairs.into_iter().flat_map(|pair| [pair; 60]).collect();
        let cell = fixtures::cell(kernel, 2, Unit::NanosecondsSampled, 1000.0).under("auto");
        report.cells.push(cell.timed(&pairs));
    }
    report
}

fn of_two<'a>(report: &'a Report, against: Option<&'a Report>) -> ReplicatedFigure<'a> {
    let document = find("t3-4").unwrap();
    evaluate(document, &figures(document, "Section 6.4"), report, against, Kernels::ANY).figures.remove(0)
}

/// 1000 cycles against 800 and 1200, then 3000 against 2000: in nanoseconds the first would never be the faster one.
#[test]
fn the_faster_one_of_two_machines_is_so_in_cycles() {
    let [here, mut there] = [sampled(1e9, [(1000, 3000); 2]), sampled(2e9, [(400, 1000), (600, 1000)])];
    let shares = |one: &Report, other: &Report| {
        let number = |row: Row<'_>| {
            let Number { value, interval, .. } = row.here.unwrap();
            assert!(interval.is_some_and(|[low, high]| low <= value && value <= high));
            value
        };
        of_two(one, Some(other)).rows.into_iter().map(number).collect::<Vec<_>>()
    };
    assert_eq!(shares(&here, &there), [50.0, 0.0, 50.0, 50.0, 100.0, 100.0]);
    assert_eq!(shares(&there, &here), [50.0, 100.0, 50.0, 50.0, 0.0, 0.0]);
    assert_eq!(shares(&here, &here), [50.0; 6]);
    assert_eq!(of_two(&here, Some(&there)).status, Status::Done);
    let alone = of_two(&here, None);
    assert_eq!((alone.status, &alone.rows[0].gap), (Status::NotMeasured, &Some(Why::OneReport)));
    there.host.claimed_hz = None;
    assert_eq!(of_two(&here, Some(&there)).rows[0].gap, Some(Why::Other(Box::new(Why::NoClock))));
}

/// What a machine could measure of a figure before a sweep: the T3-4, one that does not state its ALU groups, one with a strand for each, and
/// small ones.
#[test]
fn a_figure_is_done_only_if_the_machine_has_all_of_it() {
    let (t3, two) = ("Package:4 NUMA:1 L2:1 Core:16 Group:2 PU:4", "Core:2 PU:1");
    use Status::{Done, Drawing, NotMeasured, Partly};
    for (machine, of, expected) in [
        (t3, "t3-4 Figure 1", Done),
        (t3, "t3-4 Figure 2", Done),
        ("Package:4 NUMA:1 L2:1 Core:16 PU:8", "t3-4 Figure 2", Partly),
        ("Package:4 Core:16 Group:8 PU:1", "t3-4 Figure 1", Partly),
        (two, "t3-4 Figure 1", Partly),
        (t3, "t3-4 Figure 5", Done),
        (two, "t3-4 Figure 5", Partly),
        (two, "t3-4 Figure 7", Drawing),
        (two, "t3-4 Figure 15", Partly),
        (two, "t3-4 Figure 16", Done),
        (two, "t3-4 Section 6.4", NotMeasured),
        (t3, "cascade Wow!", Done),
        (two, "cascade Wow!", Done),
        // No cache of the small one holds two cores.
        (t3, "tacc Table 3", Done),
        (two, "tacc Table 3", Partly),
        (t3, "cascade In conclusion", Done),
        ("L3:1 Core:2 PU:1", "cascade In conclusion", Partly),
    ] {
        let target = Target::new(&discover(&Source::Synthetic(machine.into())).unwrap(), Kernels::ANY);
        let (document, number) = of.split_once(' ').unwrap();
        let document = find(document).unwrap();
        let status = feasibility(document, &figures(document, number), &target).figures.remove(0).status;
        assert_eq!(status, expected, "{of} on {machine}");
    }
}

/// Before a sweep by what the system has; afterwards open where it was not asked.
#[test]
fn figures_by_hardware_counters_have_one_status() {
    let document = find("tacc").unwrap();
    let listed = |counters: fn() -> Result<(), String>| {
        let target = Target { packages: 2, ..Target::flat(4, Kernels { counters, ..Kernels::ANY }) };
        feasibility(document, &figures(document, "Figure 6"), &target).figures.remove(0).status
    };
    let is = "kernel = 'npb-is'; mapping = 'round-robin'";
    let report = measured("Core:2 PU:1", Unit::OpsPerSecond, &[(is, 1, 1e9), (is, 2, 1e9)]);
    let run = |counters: fn() -> Result<(), String>| {
        beside("tacc Figure 6", &report, Kernels { counters, ..Kernels::ANY }).status
    };
    let without = || Err("none".into());
    assert_eq!([listed(|| Ok(())), listed(without)], [Status::Done, Status::Impossible]);
    assert_eq!([run(|| Ok(())), run(without)], [Status::NotMeasured, Status::Impossible]);
}

#[test]
fn two_cores_are_no_two_strands_of_one() {
    let machine = discover(&Source::Synthetic("Package:2 L3:1 Core:2 PU:2".into())).unwrap();
    let document = find("tacc").unwrap();
    let figures = [figures(document, "Figure 2"), figures(document, "Table 3")].concat();
    let cells = document.cells(&figures, &Target::new(&machine, Kernels::ANY));
    assert!(cells.iter().any(|cell| cell.workers == 2));
    for cell in cells.iter().filter(|cell| cell.workers == 2) {
        let Order::Strands(order) = cell.mapping.parse::<Mapping>().unwrap().order(&machine).unwrap() else { continue };
        let core = |id: u32| machine.strands.iter().find(|strand| strand.os_id == id).unwrap().core;
        assert_ne!(core(order[0]), core(order[1]), "{cell:?}");
    }
}

#[test]
fn worker_counts_are_the_documents() {
    let document = find("t3-4").unwrap();
    let all: Vec<&Figure> = document.figures.iter().collect();
    let workers = |strands: u64| -> Vec<u64> {
        let cells = document.cells(&all, &Target::flat(strands, Kernels::ANY));
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
