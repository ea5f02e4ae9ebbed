//! What was not compared, and what no other node confirms: no node is called slow by it, and none is well without a word.

use charz_data::report::{Cell, MemoryHome, Status};

use super::*;

fn suspect(report: &mut Report, kernels: &str) {
    for cell in report.cells.iter_mut().filter(|cell| cell.kernel.starts_with(kernels)) {
        *cell = cell.clone().suspect();
    }
}

/// Twelve nodes, of which node 7 has a slow cache; memory is reliable on some of the others.
fn with_memory_on(is_reliable: fn(usize) -> bool) -> Fleet {
    let mut random = Rng::with_seed(31);
    let reports = (0..12).map(|host| {
        let fault = if host == 7 { Fault::Cache(2) } else { Fault::None };
        let mut report = report(&mut random, host, 0, fault);
        // One thread is reliable everywhere, and shows no part.
        report.cells.push(fixtures::cell("mem-read", 1, Unit::BytesPerSecond, 1e9).seated(&[0]));
        if !is_reliable(host) {
            report.cells[..4].iter_mut().for_each(|cell| {
                if cell.kernel.starts_with("mem") {
                    *cell = cell.clone().suspect();
                }
            });
        }
        report
    });
    judged(&reports.collect::<Vec<_>>())
}

#[test]
fn a_node_that_lacks_what_some_have_is_unclear_and_the_headline_counts_them() {
    let fleet = with_memory_on(|host| host < 5);
    let own = node(&fleet);
    let why = "no reliable result of mem-read x16, mem-write-data x16, and some nodes like it have one";
    assert!(own.state == State::Unclear && own.why.join("; ").contains(why), "{own:?}");
    assert!(fleet.nodes.iter().all(|node| node.state != State::Ok || node.reliable["mem-read"]), "{:?}", fleet.nodes);
    let headline = fleet.summary().remove(0);
    assert!(headline.contains("; mem-read, mem-write-data were reliable on 5 of 12 nodes"), "{headline}");
    assert_eq!([own.reliable["mem-read"], own.reliable["arith-int"]], [false, true]);
    assert!(!with_memory_on(|_| true).summary()[0].contains("reliable"));
}

#[test]
fn a_node_of_fewer_threads_than_its_like_is_not_well() {
    let mut random = Rng::with_seed(5);
    let one = fixtures::cell("arith-int", 1, Unit::OpsPerSecond, 1e9).seated(&[0]);
    let mut reports: Vec<Report> = (0..12).map(|host| report(&mut random, host, 0, Fault::None)).collect();
    reports.iter_mut().for_each(|report| report.cells.push(one.clone()));
    let baseline = Baseline::of(&reports.iter().map(|report| Visit::of(report, "file")).collect::<Vec<_>>()).unwrap();
    // No load of all threads has its like, and what they do halved.
    for cell in reports[7].cells.iter_mut().filter(|cell| cell.workers > 2) {
        (cell.workers, cell.seats) = (15, (0..15).map(Some).collect());
        cell.capacity.iter_mut().for_each(|number| number.value *= 0.5);
    }
    let asked_for_less = judged(&reports);
    assert_eq!(
        (node(&asked_for_less).state, innocent(&asked_for_less)),
        (State::Unclear, 0),
        "{:?}",
        node(&asked_for_less)
    );
    reports[7].machine.strands[15].usable = false;
    let fleet = judged(&reports);
    let is_said = node(&fleet).why.iter().any(|why| why.contains("15 of 16 CPUs"));
    assert!(node(&fleet).state == State::Unclear && is_said, "{:?}", node(&fleet).why);
    let checked = baseline.check(&Visit::of(&reports[7], "file"), false);
    assert!(checked.level != Level::Ok && checked.line.contains("15 of 16 CPUs"), "{}", checked.line);
}

#[test]
fn a_load_that_was_skipped_was_asked_for() {
    let mut random = Rng::with_seed(5);
    let mut reports: Vec<Report> = (0..12).map(|host| report(&mut random, host, 0, Fault::None)).collect();
    let one = fixtures::cell("arith-int", 1, Unit::OpsPerSecond, 1e9).seated(&[0]);
    // Nor were more threads than CPUs measured anywhere.
    let twice = fixtures::cell("arith-int", 32, Unit::OpsPerSecond, 1e9).unmeasured(Status::Skipped, "no CPUs");
    reports.iter_mut().for_each(|report| report.cells.extend([one.clone(), twice.clone()]));
    let full = &mut reports[7].cells[0];
    *full = full.clone().unmeasured(Status::Skipped, "its blocks do not fit");
    let fleet = judged(&reports);
    assert!(fleet.nodes.iter().all(|node| node.host == "n7" || node.why.is_empty()), "{:?}", fleet.nodes);
    let (own, why) = (node(&fleet), node(&fleet).why.join("; "));
    assert!(own.state == State::Unclear && why.contains("arith-int x16") && why.contains("skipped"), "{own:?}");
    assert!(!why.contains("same flags") && !why.contains("idle"), "{why}");
    // What cannot run so on any node is compared with fewer threads.
    for report in &mut reports {
        let full = report.cells[0].clone();
        let (fewer, full) =
            (Cell { workers: 8, ..full.clone() }, full.unmeasured(Status::Skipped, "at most 10 threads"));
        (report.cells[0], report.cells[1]) = (full, fewer);
    }
    let fleet = judged(&reports);
    assert!(fleet.nodes.iter().all(|node| !node.why.join("; ").contains("arith-int")), "{:?}", node(&fleet));
}

#[test]
fn pairs_with_a_fixed_home_are_not_held_against_each_other() {
    let mut random = Rng::with_seed(5);
    let mut reports: Vec<Report> = (0..12).map(|host| report(&mut random, host, 0, Fault::None)).collect();
    // All lines are on a node that the first cache is far from.
    for cell in reports[7].cells.iter_mut().filter(|cell| cell.kernel == "c2c-cas") {
        cell.point.memory = Some(MemoryHome::Node(0));
        let is_far = cell.seats[0] < Some(4);
        cell.invocations.iter_mut().flat_map(|run| &mut run.value).for_each(|ns| *ns *= if is_far { 1.5 } else { 1.0 });
    }
    assert_eq!(node(&judged(&reports)).state, State::Ok, "{:?}", node(&judged(&reports)));
}

#[test]
fn a_kernel_that_hardly_any_node_has_leaves_the_others_well_and_all_say_so() {
    for (is_reliable, others, count) in
        [((|_| false) as fn(usize) -> bool, "no node like it has one", 0), (|host| host == 3, "few nodes", 1)]
    {
        let fleet = with_memory_on(is_reliable);
        let own = node(&fleet);
        assert_eq!((own.state, own.why.len()), (State::Ok, 1), "{:?}", own.why);
        let is_said = own.why[0].contains("not compared by mem-read, mem-write-data") && own.why[0].contains(others);
        assert!(is_said, "{:?}", own.why);
        let headline = fleet.summary().remove(0);
        let words = format!("; mem-read, mem-write-data were reliable on {count} of 12 nodes");
        assert!(headline.contains(&words), "{headline}");
        // The headline says it once, and the findings do not say it for each node.
        assert!(!fleet.findings().rows.iter().any(|row| row.data[0].text == "n7"));
        // The first core of the only node with memory is slower than its like, and no other shows that all are.
        assert_eq!(fleet.count(State::Slow), 0, "{:?}", fleet.nodes[0]);
    }
}

/// Of its first socket alone.
fn halved(mut report: Report) -> Report {
    report.machine.strands.truncate(8);
    report.machine.cores.truncate(8);
    report.machine.packages.truncate(1);
    report.cells.retain(|cell| cell.seats.len() == 16 || cell.seats.iter().flatten().all(|seat| *seat < 8));
    for cell in report.cells.iter_mut().filter(|cell| cell.seats.len() == 16) {
        cell.seats.truncate(8);
        cell.workers = 8;
        let runs = cell.invocations.iter_mut().flat_map(|one| &mut one.runs);
        runs.for_each(|run| run.laps.truncate(8));
    }
    report
}

#[test]
fn the_first_core_is_no_fault_of_a_node_that_lost_a_socket_or_has_no_like() {
    let mut random = Rng::with_seed(32);
    let mut reports: Vec<Report> = (0..9).map(|host| report(&mut random, host, 0, Fault::None)).collect();
    reports[7] = halved(reports[7].clone());
    for fleet in [judged(&reports), judged(&reports[7..8])] {
        let own = node(&fleet);
        assert_eq!((own.state, own.drain.as_ref(), fleet.count(State::Slow)), (State::Unclear, None, 0), "{own:?}");
        assert_eq!((own.blame[0].component.as_str(), own.blame[0].ids.as_slice()), ("core", &[0][..]));
        let is_told = own.why.iter().any(|why| why.contains("and no other node shows whether this is usual"));
        assert!(is_told, "{:?}", own.why);
    }
}

#[test]
fn of_few_nodes_one_that_lost_cpus_is_not_well() {
    let mut random = Rng::with_seed(32);
    let mut reports: Vec<Report> = (0..4).map(|host| report(&mut random, host, 0, Fault::None)).collect();
    reports[2] = halved(reports[2].clone());
    reports[3].machine.strands.truncate(15);
    let fleet = judged(&reports);
    let lost: Vec<_> = fleet.nodes.iter().filter(|node| node.state == State::Unclear).collect();
    assert_eq!(lost.iter().map(|node| node.host.as_str()).collect::<Vec<_>>(), ["n2", "n3"], "{:?}", fleet.nodes);
    assert!(lost[1].why.iter().any(|why| why.contains("it has 15 CPUs, and nodes like it have 16")), "{:?}", lost[1]);
}

#[test]
fn a_lone_node_is_a_baseline_and_what_its_first_core_does_is_usual_there() {
    let mut random = Rng::with_seed(33);
    let visits = visits_of(&[report(&mut random, 7, 0, Fault::None)]);
    let baseline = Baseline::parse(&Baseline::of(&visits).unwrap().text()).unwrap();
    let checked = baseline.check(&visits[0], false);
    assert_eq!(checked.level, Level::Ok, "{}", checked.line);
    let slow = baseline.check(&Visit::of(&report(&mut random, 7, 0, Fault::Core(5)), "file"), false);
    assert!(slow.level == Level::Critical && slow.line.contains("core (CPU 5)"), "{}", slow.line);
}

#[test]
fn a_kernel_that_was_measured_and_is_noisy_is_named_as_what_would_confirm() {
    let said = |alter: fn(usize, &mut Report)| {
        let mut random = Rng::with_seed(34);
        let reports = (0..12).map(|host| {
            let mut report = report(&mut random, host, 0, if host == 7 { Fault::Cache(2) } else { Fault::None });
            alter(host, &mut report);
            report
        });
        let fleet = judged(&reports.collect::<Vec<_>>());
        assert_eq!(node(&fleet).state, State::Unclear);
        node(&fleet).why.join("; ")
    };
    let noisy = said(|host, report| {
        if host == 7 {
            suspect(report, "mem-write-data");
        }
    });
    let words = "by mem-read, and mem-write-data, which would confirm it, has no reliable result";
    assert!(noisy.contains(words) && !noisy.contains("--preset"), "{noisy}");
    // One thread has no parts to confirm.
    let lone = said(|_, report| {
        report.cells.retain(|cell| *cell.kernel != *"mem-write-data");
        let latency = fixtures::cell("chase-random", 1, Unit::NanosecondsPerStep, 90.0).seated(&[0]).suspect();
        let added = fixtures::report(vec![latency]);
        report.cells.extend(added.cells);
        report.cards.extend(added.cards);
    });
    assert!(lone.contains("no second kernel was measured") && lone.contains("--preset node"), "{lone}");
}

#[test]
fn performance_data_has_no_exponents() {
    let mut random = Rng::with_seed(35);
    let visits: Vec<Visit> = (0..6).map(|host| Visit::of(&report(&mut random, host, 0, Fault::None), "file")).collect();
    let line = Baseline::of(&visits).unwrap().check(&visits[3], false).line;
    let data = line.split(" | ").nth(1).unwrap();
    let fields: Vec<&str> = data.split(' ').flat_map(|own| own.split('=').nth(1).unwrap().split(';')).collect();
    let is_plain = |field: &&str| field.trim_end_matches(':').chars().all(|mark| "-.0123456789".contains(mark));
    assert!(fields.len() > 30 && fields.iter().all(is_plain), "{line}");
}

/// Eight nodes, of which node 7 has 15% less of such kernels at so many of its four visits; `alter` has its newest.
fn returned(slow: usize, kernels: &str, alter: impl Fn(&mut Report)) -> Fleet {
    let mut random = Rng::with_seed(36);
    let visits = (0..8).flat_map(|host| (0..4).map(move |visit| (host, visit)));
    let reports = visits.map(|(host, visit)| {
        let is_slow = host == 7 && visit < slow;
        let mut report = report(&mut random, host, visit, Fault::None);
        let ns = 90.0 * normal(&mut random, 0.01).exp();
        let added =
            fixtures::report(vec![fixtures::cell("chase-random", 1, Unit::NanosecondsPerStep, ns).seated(&[0])]);
        report.cells.extend(added.cells);
        report.cards.extend(added.cards);
        for cell in report.cells.iter_mut().filter(|cell| is_slow && cell.kernel.starts_with(kernels)) {
            let factor = if cell.unit.more_is_better() { 0.85 } else { 1.0 / 0.85 };
            cell.capacity.iter_mut().for_each(|number| number.value *= factor);
        }
        if (host, visit) == (7, 3) {
            alter(&mut report);
        }
        report
    });
    judged(&reports.collect::<Vec<_>>())
}

#[test]
fn a_repaired_node_is_not_slow_by_a_kernel_that_its_newest_visit_lacks() {
    let fleet = returned(3, "", |report| suspect(report, "chase-random"));
    let own = node(&fleet);
    assert_eq!((own.state, own.drain.as_ref()), (State::Unclear, None), "{:?}", own.why);
    let blamed: Vec<&str> = own.blame.iter().map(|blame| blame.quantity.as_str()).collect();
    assert_eq!(blamed, ["chase-random"]);
    assert!(own.why.iter().all(|why| !why.contains("chase-random, chase-random")), "{:?}", own.why);
    assert!(own.why.iter().any(|why| why.starts_with("3 earlier visits")), "{:?}", own.why);
    assert_eq!(innocent(&fleet), 0);
}

#[test]
fn a_visit_that_lacks_the_second_kernel_keeps_what_the_first_says() {
    assert_eq!(node(&returned(4, "arith", |_| {})).state, State::Slow);
    let fleet = returned(4, "arith", |report| suspect(report, "arith-float"));
    let own = node(&fleet);
    let blame = own.blame.iter().find(|blame| blame.quantity == "arith-int").unwrap();
    assert!((blame.effect + 0.15).abs() < 0.03, "{blame:?}");
    let words = "by arith-int, and arith-float, which would confirm it";
    assert!(own.state == State::Unclear && own.why.iter().any(|why| why.contains(words)), "{:?}", own.why);
    // A second kernel that has a result and is not slow acquits.
    let fast = returned(4, "arith", |report| {
        let floats = report.cells.iter_mut().filter(|cell| cell.kernel == "arith-float");
        floats.flat_map(|cell| &mut cell.capacity).for_each(|number| number.value /= 0.85);
    });
    assert!(node(&fast).blame.iter().all(|blame| !blame.quantity.starts_with("arith")), "{:?}", node(&fast).blame);
}

#[test]
fn a_host_of_two_kinds_is_listed_once_with_all_of_its_reports() {
    let mut random = Rng::with_seed(37);
    let visits = (0..6).flat_map(|host| (0..3).map(move |visit| (host, visit)));
    let mut reports: Vec<Report> =
        visits.map(|(host, visit)| report(&mut random, host + 2, visit, Fault::None)).collect();
    reports[17].host.processor = Some("another".into());
    let said = |reports: &[Report]| {
        let fleet = judged(reports);
        let nodes: Vec<&Node> = fleet.nodes.iter().filter(|own| own.host == "n7").collect();
        assert_eq!((fleet.nodes.len(), nodes.len(), nodes[0].state), (6, 1, State::Unclear), "{nodes:?}");
        nodes[0].why.join("; ")
    };
    let apart = said(&reports);
    assert!(apart.contains("3 reports are of 2 kinds") && !apart.contains("overlap"), "{apart}");
    reports[17].started = reports[16].started.clone();
    reports[16].wall_ns = 3_600_000_000_000;
    let both = said(&reports);
    assert!(both.contains("3 reports are of 2 kinds") && both.contains("overlap"), "{both}");
}

#[test]
fn a_sweep_that_ended_early_is_to_be_finished() {
    let mut random = Rng::with_seed(38);
    let mut reports: Vec<Report> = (0..6).map(|host| report(&mut random, host + 2, 0, Fault::None)).collect();
    reports[5].complete = false;
    suspect(&mut reports[5], "arith-float");
    let end = |report: &mut Report, kernel: &str| {
        let cells = report.cells.iter_mut().filter(|cell| cell.kernel.starts_with(kernel));
        cells.for_each(|cell| *cell = cell.clone().unmeasured(Status::Pending, ""));
    };
    end(&mut reports[5], "mem");
    let fleet = judged(&reports);
    let advice = |kernel: &str, words: &str| {
        let whys = node(&fleet).why.iter().filter(|why| why.contains(kernel));
        whys.map(|why| why.contains(words)).collect::<Vec<_>>()
    };
    assert_eq!([advice("mem-read", "--resume"), advice("arith-float", "idle")], [[true], [true]]);
    end(&mut reports[5], "");
    let none = judged(&reports[5..]);
    assert!(node(&none).state == State::Unmeasured && node(&none).why[0].contains("--resume"), "{:?}", node(&none));
}

#[test]
fn three_of_four_slow_caches_are_no_size_of_their_socket() {
    let mut random = Rng::with_seed(39);
    let reports = (0..12).map(|host| {
        let mut report = report(&mut random, host, 0, Fault::None);
        for cell in report.cells.iter_mut().filter(|cell| host == 7 && cell.kernel.starts_with("mem")) {
            let runs = cell.invocations.iter_mut().flat_map(|one| &mut one.runs);
            let laps = runs.flat_map(|run| &mut run.laps).filter(|lap| lap.seat >= Some(4));
            laps.for_each(|lap| lap.end_ns = (lap.end_ns as f64 / 0.85) as u64);
        }
        report
    });
    let visits = visits_of(&reports.collect::<Vec<_>>());
    let fleet = judge(&visits, Vec::new());
    let own = node(&fleet);
    assert_eq!((own.state, own.blame.len(), innocent(&fleet)), (State::Unclear, 0, 0), "{own:?}");
    let is_told = |text: &str| text.contains("L3 cache (CPUs 0-3) is") && text.contains("faster");
    assert!(is_told(&own.why[0]), "{:?}", own.why);
    let checked = Baseline::of(&visits[..7]).unwrap().check(&visits[7], false);
    assert!(checked.level == Level::Warning && is_told(&checked.line), "{}", checked.line);
}

#[test]
fn of_copies_of_a_sweep_that_with_the_most_runs_counts_in_any_order() {
    let mut random = Rng::with_seed(41);
    let mut reports: Vec<Report> = (0..12).map(|host| report(&mut random, host, 0, Fault::None)).collect();
    let begun = {
        let mut begun = reports[7].clone();
        begun.cells.truncate(2);
        begun
    };
    reports.insert(7, begun.clone());
    let early = judged(&reports);
    reports.remove(7);
    reports.push(begun);
    for fleet in [early, judged(&reports)] {
        assert_eq!((node(&fleet).state, node(&fleet).visits), (State::Ok, 1), "{:?}", node(&fleet).why);
    }
}

#[test]
fn a_kernel_that_a_sweep_did_not_plan_needs_other_flags_and_no_idle_node() {
    let mut random = Rng::with_seed(43);
    let mut reports: Vec<Report> = (0..12).map(|host| report(&mut random, host, 0, Fault::None)).collect();
    suspect(&mut reports[8], "mem");
    reports[7].cells.retain(|cell| !cell.kernel.starts_with("mem"));
    reports[7].cards.retain(|card| !card.name.starts_with("mem"));
    let fleet = judged(&reports);
    let why = |host: &str| fleet.nodes.iter().find(|node| node.host == host).unwrap().why.join("; ");
    assert_eq!((node(&fleet).state, fleet.count(State::Unclear)), (State::Unclear, 2));
    assert!(!why("n7").contains("idle") && why("n7").contains("mem-read, mem-write-data"), "{}", why("n7"));
    assert!(why("n8").contains("idle"), "{}", why("n8"));
}

#[test]
fn a_size_is_said_once_and_a_time_that_is_longer_is_slower() {
    let mut random = Rng::with_seed(47);
    let mut reports: Vec<Report> = (0..12).map(|host| report(&mut random, host, 0, Fault::None)).collect();
    let baseline = Baseline::of(&visits_of(&reports)).unwrap();
    reports[7].machine.packages.truncate(1);
    let fleet = judged(&reports);
    assert_eq!(node(&fleet).differs["sockets"].here, "1");
    let (mut text, look) = (Vec::new(), charz_render::look::TerminalStyle::PLAIN);
    (crate::formats::FORMATS[0].write)(&fleet, &look, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert_eq!(text.matches("socket").count(), 2, "{text}");
    for cell in reports[6].cells.iter_mut().filter(|cell| cell.kernel == "c2c-cas") {
        *cell = fixtures::cell("c2c-cas", 2, Unit::NanosecondsPerOp, 50.0)
            .seated(&cell.seats.iter().copied().flatten().collect::<Vec<_>>())
            .under(&cell.mapping);
    }
    let line = baseline.check(&Visit::of(&reports[6], "file"), false).line;
    assert!(line.contains("CRITICAL") && line.contains("% slower)") && !line.contains("(-"), "{line}");
}
