//! Visits that disagree, whole nodes, and the settings that several nodes share.

use charz_data::PageKind;
use charz_data::report::Status;

use super::*;
use crate::classes::Gap;

/// Twelve nodes; node 7 has one of these faults at each visit, as `alter` has it.
fn visited(seed: u64, faults: &[Fault], alter: fn(&mut Report)) -> Fleet {
    let mut random = Rng::with_seed(seed);
    let mut visits = Vec::new();
    for host in 0..12 {
        for (visit, fault) in faults.iter().enumerate() {
            let mut report = report(&mut random, host, visit, if host == 7 { *fault } else { Fault::None });
            if host == 7 {
                alter(&mut report);
            }
            visits.push(Visit::of(&report, "file"));
        }
    }
    judge(&visits, Vec::new())
}

pub(super) fn scaled(report: &mut Report, kernel: &str, factor: f64) {
    for cell in report.cells.iter_mut().filter(|cell| cell.kernel.starts_with(kernel)) {
        cell.capacity.iter_mut().for_each(|number| number.value *= factor);
    }
}

#[test]
fn a_part_is_judged_by_the_newest_visit() {
    let [none, core] = [Fault::None, Fault::Core(5)];
    let new = visited(1, &[none, none, none, core], |_| {});
    assert_eq!((node(&new).state, node(&new).blame[0].ids.as_slice()), (State::Slow, &[5][..]));
    let repaired = visited(2, &[core, core, core, none], |_| {});
    assert_eq!((node(&repaired).state, node(&repaired).drain.as_ref()), (State::Ok, None));
}

#[test]
fn a_repaired_node_was_as_slow_as_its_slow_visits() {
    let fleet = visited(3, &[Fault::Whole, Fault::Whole, Fault::None, Fault::None], |_| {});
    let percent = |why: &String| why.split('%').next()?.rsplit(' ').next()?.parse::<f64>().ok();
    let slower: Vec<f64> = node(&fleet).why.iter().filter_map(percent).collect();
    assert!(!slower.is_empty() && slower.iter().all(|slower| *slower > 5.5), "{:?}", node(&fleet));
}

#[test]
fn small_fleets_without_a_fault_and_with_three_visits_have_no_slow_node() {
    let mut random = Rng::with_seed(5);
    let slow: usize = (0..30).map(|_| fleet(&mut random, 5, 3, Fault::None).count(State::Slow)).sum();
    assert_eq!(slow, 0);
}

#[test]
fn reports_of_one_hour_are_one_visit() {
    let mut random = Rng::with_seed(4);
    let mut visits: Vec<Visit> =
        (0..12).map(|host| Visit::of(&report(&mut random, host, 0, Fault::None), "file")).collect();
    for minute in 0..3 {
        let mut report = report(&mut random, 7, 1 + minute, Fault::Whole);
        report.started = format!("2026-02-01T00:{:02}:00Z", 5 * minute);
        visits.push(Visit::of(&report, "file"));
    }
    let fleet = judge(&visits, Vec::new());
    let own = node(&fleet);
    assert_eq!((own.visits, own.state, own.drain.as_ref()), (2, State::Unclear, None));
    assert!(own.why[0].contains("4 reports") && own.why[0].contains("newest 1 of 2 visits"), "{:?}", own.why);
}

/// As where its clock stands.
#[test]
fn a_node_whose_reports_have_one_beginning_has_as_many_visits() {
    let mut random = Rng::with_seed(5);
    let mut visits = Vec::new();
    for (host, visit) in (0..12).flat_map(|host| (0..3).map(move |visit| (host, visit))) {
        let fault = if host == 7 { Fault::Whole } else { Fault::None };
        let mut report = report(&mut random, host, visit, fault);
        report.started = "2026-02-01T00:00:00Z".into();
        visits.push(Visit::of(&report, "file"));
    }
    let fleet = judge(&visits, Vec::new());
    let own = node(&fleet);
    assert_eq!((own.visits, own.state), (3, State::Slow));
}

#[test]
fn a_kernel_that_most_others_have_is_missed_and_a_check_without_it_is_unknown() {
    let mut random = Rng::with_seed(7);
    let mut reports: Vec<Report> = (0..12).map(|host| report(&mut random, host, 0, Fault::None)).collect();
    let baseline = Baseline::of(&visits_of(&reports)).unwrap();
    reports[7].cells.retain(|cell| !cell.kernel.starts_with("mem"));
    reports[7].cards.retain(|card| !card.name.starts_with("mem"));
    let visits = visits_of(&reports);
    let fleet = judged(&reports);
    assert_eq!(node(&fleet).state, State::Unclear);
    assert!(node(&fleet).why[0].contains("mem-read, mem-write-data"), "{:?}", node(&fleet).why);
    let checked = baseline.check(&visits[7], false);
    assert!(checked.level == Level::Unknown && checked.line.contains("mem-read, mem-write-data"), "{}", checked.line);
    assert_eq!(baseline.check(&visits[6], false).level, Level::Ok);
    let quick = baseline.check(&visits[7], true);
    let words = "OK - n7: 14 of the baseline's 16 quantities compared, all within tolerance |";
    assert!(quick.line.contains(words), "{}", quick.line);
}

#[test]
fn a_node_without_transparent_huge_pages_is_known_by_its_pages() {
    let mut random = Rng::with_seed(7);
    let mut reports: Vec<Report> = (0..12).map(|host| report(&mut random, host, 0, Fault::None)).collect();
    for (host, report) in reports.iter_mut().enumerate() {
        let pages = if host == 7 { PageKind::Small } else { PageKind::Transparent };
        let of_memory = report.cells.iter_mut().filter(|cell| cell.kernel.starts_with("mem"));
        of_memory.for_each(|cell| cell.point.pages = Some(pages));
    }
    let baseline = Baseline::of(&visits_of(&reports)).unwrap();
    let names = "mem-read x16, mem-write-data x16 on 4k pages";
    let fleet = judged(&reports);
    assert_eq!(node(&fleet).state, State::Unclear);
    assert!(node(&fleet).why.iter().any(|why| why.contains(names)), "{:?}", node(&fleet).why);
    for is_quick in [false, true] {
        let checked = baseline.check(&visits_of(&reports)[7], is_quick);
        let is_told = checked.line.contains(names) && !checked.line.contains("no reliable");
        assert!(checked.level == Level::Unknown && is_told, "{}", checked.line);
    }
    assert_eq!(baseline.check(&visits_of(&reports)[6], false).level, Level::Ok);
    // Where all of the baseline is on other pages.
    reports.iter_mut().for_each(|report| report.cells.retain(|cell| cell.kernel.starts_with("mem")));
    let visits = visits_of(&reports);
    let checked = Baseline::of(&visits[8..]).unwrap().check(&visits[7], false);
    assert!(checked.level == Level::Unknown && checked.line.contains(names), "{}", checked.line);
}

#[test]
fn a_full_load_that_is_noisy_is_not_made_up_for_by_fewer_threads() {
    let mut random = Rng::with_seed(21);
    let mut reports: Vec<Report> = (0..12).map(|host| report(&mut random, host, 0, Fault::None)).collect();
    for report in &mut reports {
        report.cells.push(fixtures::cell("mem-read", 1, Unit::BytesPerSecond, 1e9).seated(&[0]));
    }
    let baseline = Baseline::of(&visits_of(&reports)).unwrap();
    let own = reports[7].cells.iter_mut().find(|cell| cell.kernel == "mem-read").unwrap();
    *own = own.clone().suspect();
    let fleet = judged(&reports);
    assert!(
        node(&fleet).state == State::Unclear && node(&fleet).why[0].contains("mem-read x16,"),
        "{:?}",
        node(&fleet)
    );
    for is_quick in [false, true] {
        let checked = baseline.check(&visits_of(&reports)[7], is_quick);
        assert!(checked.level == Level::Unknown && checked.line.contains(" mem-read x16 "), "{}", checked.line);
    }
    reports[7].cells.retain(|cell| cell.kernel != "mem-read" || cell.workers == 1);
    let checked = baseline.check(&visits_of(&reports)[7], false);
    assert!(checked.level == Level::Unknown && checked.line.contains(" mem-read x16 "), "{}", checked.line);
    let few = reports[6].cells.last_mut().unwrap();
    *few = few.clone().suspect();
    assert_eq!(baseline.check(&visits_of(&reports)[6], false).level, Level::Ok, "of fewer threads");
}

#[test]
fn many_nodes_of_one_setting_that_are_slow_are_named_with_it() {
    let mut random = Rng::with_seed(8);
    let visits: Vec<Visit> = (0..12)
        .map(|host| report(&mut random, host, 0, if host < 6 { Fault::Governor } else { Fault::None }))
        .map(|report| Visit::of(&report, "file"))
        .collect();
    let fleet = judge(&visits, Vec::new());
    let slow: Vec<&Node> = fleet.nodes.iter().filter(|node| node.state == State::Slow).collect();
    assert_eq!(slow.len(), 6);
    for node in slow {
        assert!(node.why[0].starts_with("6 nodes with governor powersave"), "{:?}", node.why);
        assert!(node.why[0].ends_with("with performance, by arith-float, arith-int"), "{:?}", node.why);
        assert!(node.drain.as_ref().unwrap().contains("governor powersave"), "{:?}", node.drain);
    }
    let warnings = Baseline::of(&visits).unwrap().warnings();
    assert!(warnings[0].contains("6 of 12 nodes were left out as slow"), "{warnings:?}");
}

#[test]
fn one_name_of_several_machines_is_unclear() {
    let mut random = Rng::with_seed(9);
    let reports = (0..6).map(|host| {
        let mut report = report(&mut random, host, 0, Fault::Core(5));
        (report.host.name, report.wall_ns) = (Some("localhost".into()), 60_000_000_000);
        report.started = format!("2026-02-01T00:00:0{host}Z");
        report
    });
    let mut reports: Vec<Report> = reports.collect();
    let fleet = judged(&reports);
    assert_eq!((fleet.nodes.len(), fleet.nodes[0].state, fleet.nodes[0].drain.as_ref()), (1, State::Unclear, None));
    // As jobs that a batch system starts together.
    reports.iter_mut().for_each(|report| report.started = "2026-02-01T00:00:00Z".into());
    reports.push(report(&mut random, 7, 1, Fault::None));
    let fleet = judged(&reports);
    let shared = fleet.nodes.iter().find(|node| node.host == "localhost").unwrap();
    assert!(shared.state == State::Unclear && shared.why[0].contains("overlap"), "{shared:?}");
}

#[test]
fn a_slow_link_and_a_slow_latency_are_slow_by_three_visits() {
    for slow in ["c2c-cas", "chase-random"] {
        let mut random = Rng::with_seed(10);
        let mut of = |visits: usize| {
            let mut all = Vec::new();
            for (host, visit) in (0..12).flat_map(|host| (0..visits).map(move |visit| (host, visit))) {
                let mut report = report(&mut random, host, visit, Fault::None);
                let mut time = |kernel: &str, ns: f64| {
                    ns * normal(&mut random, 0.01).exp() * if host == 7 && kernel == slow { 1.43 } else { 1.0 }
                };
                let far = fixtures::cell("c2c-cas", 2, Unit::NanosecondsPerOp, time("c2c-cas", 180.0));
                let chase = fixtures::cell("chase-random", 1, Unit::NanosecondsPerStep, time("chase-random", 90.0));
                let added = fixtures::report(vec![far.seated(&[0, 8]).under("pair:machine"), chase.seated(&[0])]);
                report.cells.extend(added.cells);
                report.cards.extend(added.cards);
                all.push(Visit::of(&report, "file"));
            }
            judge(&all, Vec::new())
        };
        for (visits, state) in [(1, State::Unclear), (3, State::Slow)] {
            let fleet = of(visits);
            let own = node(&fleet);
            assert_eq!((own.state, innocent(&fleet)), (state, 0), "{slow}, {visits}: {:?}", own.why);
            assert!(own.blame[0].quantity.starts_with(slow), "{:?}", own.blame);
        }
    }
}

#[test]
fn a_slow_core_does_not_hide_a_slow_node() {
    let fleet = visited(11, &[Fault::Core(5)], |report| {
        scaled(report, "arith", 0.8);
        report.host.frequency_governor = Some("powersave".into());
    });
    let named: Vec<&str> = node(&fleet).blame.iter().map(|blame| blame.component.as_str()).collect();
    assert_eq!(named, ["node", "core"]);
}

#[test]
fn a_node_with_few_like_it_says_so_and_a_strange_name_has_no_line_for_slurm() {
    let mut random = Rng::with_seed(12);
    let [mut slow, other] = [Fault::Core(5), Fault::None].map(|fault| report(&mut random, 8, 0, fault));
    slow.host.name = Some("n007.cluster;rm".into());
    let fleet = judged(&[slow, other]);
    let own = &fleet.nodes[0];
    assert_eq!((own.state, own.drain.as_ref(), own.why.len()), (State::Slow, None, 1), "{:?}", own.why);
}

#[test]
fn slurm_is_given_the_name_that_it_knows() {
    let line = |host: &str, slurm_name: Option<&str>, other: &str| {
        let mut random = Rng::with_seed(12);
        let [mut slow, mut like] = [Fault::Core(5), Fault::None].map(|fault| report(&mut random, 8, 0, fault));
        (slow.host.name, slow.host.slurm_name) = (Some(host.into()), slurm_name.map(Into::into));
        like.host.name = Some(other.into());
        judged(&[slow, like]).nodes.swap_remove(0).drain
    };
    let names = |line: Option<String>, name: &str| line.unwrap().contains(&format!(" nodename={name} "));
    assert!(names(line("n7.example.org", None, "n8.example.org"), "n7"));
    assert!(names(line("n7.example.org", Some("rack-7"), "n8"), "rack-7"));
    assert!(names(line("10.0.0.7", None, "10.0.0.8"), "10.0.0.7"));
    assert_eq!(line("n7.example.org", None, "n7.example.com"), None);
}

#[test]
fn a_baseline_that_cannot_be_checked_is_refused_and_one_that_is_strict_is_obeyed() {
    let mut random = Rng::with_seed(13);
    let mut reports: Vec<Report> = (0..12).map(|host| report(&mut random, host, 0, Fault::None)).collect();
    let text = Baseline::of(&visits_of(&reports)).unwrap().text();
    for bad in ["nan", "-0.03", "0.5"] {
        let edited = text.replace("parts = { warning = 0.03", &format!("parts = {{ warning = {bad}"));
        assert!(Baseline::parse(&edited).is_err(), "{bad}");
    }
    let edited = text.replacen("nodes = 12", "nodes = 12\nfoo = 1", 1);
    let line = edited.lines().position(|line| line == "foo = 1").unwrap() + 1;
    let broken = Baseline::parse(&edited).unwrap_err().to_string();
    assert!(broken.contains(&format!("line {line}:")) && !broken.contains("\\n"), "{broken}");
    // A core that is 2% slower.
    let of_core = |cell: &mut charz_data::report::Cell| {
        let laps = cell.invocations.iter_mut().flat_map(|one| &mut one.runs).flat_map(|run| &mut run.laps);
        laps.filter(|lap| lap.seat == Some(5)).for_each(|lap| lap.end_ns += lap.end_ns / 50);
    };
    reports[7].cells.iter_mut().filter(|cell| cell.kernel.starts_with("arith")).for_each(of_core);
    let visit = Visit::of(&reports[7], "file");
    let strict = text.replace("parts = { warning = 0.03", "parts = { warning = 0.014");
    assert_eq!(Baseline::parse(&text).unwrap().check(&visit, false).level, Level::Ok);
    assert_eq!(Baseline::parse(&strict).unwrap().check(&visit, false).level, Level::Warning);
    reports[7].machine.strands.truncate(8);
    let checked = Baseline::parse(&text).unwrap().check(&Visit::of(&reports[7], "file"), false);
    assert!(checked.level == Level::Warning && checked.line.contains("8 CPUs"), "{}", checked.line);
}

#[test]
fn a_quota_is_no_cause_of_what_exceeds_it() {
    let mut random = Rng::with_seed(15);
    let mut reports: Vec<Report> = (0..12).map(|host| report(&mut random, host, 0, Fault::None)).collect();
    let baseline = Baseline::of(&visits_of(&reports)).unwrap();
    let check = |reports: &[Report]| baseline.check(&visits_of(reports)[7], false);
    reports[7].host.cpu_quota = Some("14.00".into());
    assert_eq!(node(&judged(&reports)).state, State::Slow);
    assert!(check(&reports).line.contains("14.00"), "{}", check(&reports).line);
    // Half of its capacity, though the quota allows seven eighths.
    for cell in &mut reports[7].cells {
        cell.delivered = cell.capacity.map(|mut number| {
            number.value *= if cell.unit.more_is_better() { 0.5 } else { 2.0 };
            number
        });
    }
    let fleet = judged(&reports);
    assert_eq!((node(&fleet).state, node(&fleet).drain.as_ref()), (State::Unclear, None), "{:?}", node(&fleet).why);
    let checked = check(&reports);
    assert!(checked.level == Level::Warning && !checked.line.contains("14.00"), "{}", checked.line);
}

#[test]
fn speeds_of_another_build_are_neither_compared_nor_checked() {
    let mut random = Rng::with_seed(16);
    let mut visits = Vec::new();
    for (host, visit) in (0..12).flat_map(|host| (0..3).map(move |visit| (host, visit))) {
        let mut report = report(&mut random, host, visit, Fault::None);
        // Node 0 had it at its last visit only, and nodes 7 to 11 are enough for each other.
        if host >= 7 || (host, visit) == (0, 2) {
            report.tool.kernels = "another".into();
            scaled(&mut report, "arith", if host == 10 { 0.8 } else { 0.9 });
        }
        visits.push(report);
    }
    let not_slow = |fleet: &Fleet| fleet.nodes.iter().all(|node| node.state != State::Slow && node.drain.is_none());
    let few = judged(&visits[..3 * 8]);
    let state = |host: &str| few.nodes.iter().find(|node| node.host == host).unwrap().state;
    assert!(not_slow(&few), "{:?}", few.nodes);
    assert_eq!(["n0", "n1", "n7"].map(state), [State::Unclear, State::Ok, State::Unclear]);
    assert!(node(&few).why[0].contains("kernels' source code"), "{:?}", node(&few).why);
    let both = judged(&visits);
    let slow: Vec<&str> =
        both.nodes.iter().filter(|node| node.state == State::Slow).map(|node| node.host.as_str()).collect();
    assert_eq!(slow, ["n10"]);
    // A baseline has each build by itself.
    let baseline = |reports: &[Report]| Baseline::parse(&Baseline::of(&visits_of(reports)).unwrap().text()).unwrap();
    let [one, other] = [&visits[3], &visits[3 * 8]].map(|report| Visit::of(report, "file"));
    let all = baseline(&visits);
    assert_eq!([&one, &other].map(|visit| all.check(visit, false).level), [Level::Ok; 2]);
    let checked = baseline(&visits[3..3 * 7]).check(&other, false);
    assert!(checked.level == Level::Unknown && checked.line.contains("kernels' source code"), "{}", checked.line);
}

#[test]
fn settings_that_split_the_nodes_alike_are_named_together_and_a_fault_if_all_are() {
    // The first five of ten nodes are slow; each host setting has another value on so many of the first.
    let states = |governor: usize, microcode: usize, firmware: usize| {
        let mut random = Rng::with_seed(17);
        let reports = (0..10).map(|host| {
            let mut report = report(&mut random, host, 0, Fault::None);
            scaled(&mut report, "arith", if host < 5 { 0.8 } else { 1.0 });
            let value = |count: usize, name: &str| Some(format!("{name}-{}", usize::from(host < count)));
            report.host.frequency_governor = value(governor, "governor");
            (report.host.microcode, report.host.firmware) = (value(microcode, "code"), value(firmware, "firm"));
            report
        });
        let fleet = judged(&reports.collect::<Vec<_>>());
        let of = |state: State| fleet.nodes.iter().filter(|node| node.state == state).cloned().collect::<Vec<_>>();
        (of(State::Slow), of(State::Unclear))
    };
    let has = |node: &Node, words: [&str; 3]| words.map(|word| node.why.join("; ").contains(word));
    let all = ["governor-1", "code-1", "firm-1"];
    let (slow, unclear) = states(0, 5, 5);
    assert_eq!((slow.len(), unclear.len()), (0, 5));
    assert!(unclear.iter().all(|node| has(node, all) == [false, true, true]), "{:?}", unclear[0].why);
    let (slow, unclear) = states(5, 5, 0);
    assert_eq!((slow.len(), unclear.len()), (5, 0));
    for node in slow {
        let drain = node.drain.as_ref().unwrap();
        assert!(drain.contains("governor-1") && drain.contains("code-1"), "{drain}");
    }
    // One of the fast ones has the microcode too, so the firmware explains more.
    let (slow, unclear) = states(0, 6, 5);
    assert_eq!((slow.len(), unclear.len()), (0, 5));
    assert!(unclear.iter().all(|node| has(node, all) == [false, false, true]), "{:?}", unclear[0].why);
}

#[test]
fn nodes_of_one_level_have_no_gap_and_those_of_two_have() {
    let mut random = Rng::with_seed(1);
    let mut gap = |nodes: usize, slow: usize, deviation: f64| {
        let levels = (0..nodes).map(|at| if at < slow { -0.2 } else { 0.0 });
        Gap::of(&levels.map(|level| Some(level + noise(&mut random, deviation))).collect::<Vec<_>>(), -0.03)
    };
    let wrong = (5..=60).cycle().take(40 * 56).filter(|nodes| gap(*nodes, 0, 0.05).is_some()).count();
    assert!(wrong <= 2, "{wrong} of {}", 40 * 56);
    for nodes in 5..=60 {
        let slow = nodes - nodes / 2;
        let found = gap(nodes, slow, 0.001).unwrap();
        assert_eq!(found.slow.iter().max(), Some(&(slow - 1)), "{nodes}");
        assert!((found.effect + 0.2).abs() < 0.02, "{nodes}: {}", found.effect);
    }
}

#[test]
fn half_of_a_fleet_that_is_slow_without_a_cause_is_unclear() {
    for (nodes, slow) in [(8, 4), (20, 10), (20, 15)] {
        let mut random = Rng::with_seed(18);
        let visits = (0..nodes).flat_map(|host| (0..3).map(move |visit| (host, visit)));
        let mut reports: Vec<Report> = visits
            .map(|(host, visit)| {
                let mut report = report(&mut random, host, visit, Fault::None);
                scaled(&mut report, "arith", if host < slow { 0.8 } else { 1.0 });
                report
            })
            .collect();
        let fleet = judged(&reports);
        assert_eq!([State::Slow, State::Unclear].map(|state| fleet.count(state)), [0, slow], "{nodes}");
        let blame = |node: &Node| node.blame[0].component == "node" && (node.blame[0].effect + 0.2).abs() < 0.02;
        assert!(fleet.nodes[..slow].iter().all(blame), "{:?}", fleet.nodes[0]);
        reports[..3 * slow].iter_mut().for_each(|report| report.host.labels = [("room".into(), "b7".into())].into());
        let named = judged(&reports);
        let why = |fleet: &Fleet| fleet.nodes[0].why.join("; ");
        assert!(why(&named).contains("room b7") && !why(&fleet).contains("room"), "{}", why(&named));
    }
}

#[test]
fn a_baseline_is_made_of_nodes_that_are_not_in_question() {
    for (slow, nodes) in [(1, 8), (5, 8), (1, 2)] {
        let mut random = Rng::with_seed(18);
        let visits = (0..nodes).flat_map(|host| (0..3).map(move |visit| (host, visit)));
        let reports = visits.map(|(host, visit)| {
            let mut report = report(&mut random, host, visit, Fault::None);
            report.cells.retain(|cell| !cell.kernel.starts_with("mem"));
            scaled(&mut report, "arith", if host < slow { 0.5 } else { 1.0 });
            report
        });
        let visits = visits_of(&reports.collect::<Vec<_>>());
        let baseline = Baseline::of(&visits).unwrap();
        let levels = [&visits[0], &visits[3 * nodes - 1]].map(|visit| baseline.check(visit, false).level);
        assert!(levels[0] == Level::Critical && levels[1] < Level::Critical, "{slow} of {nodes}: {levels:?}");
        let words = format!("{slow} of {nodes} nodes may be slow");
        let is_told = baseline.warnings().iter().any(|warning| warning.contains(&words));
        assert_eq!([is_told, baseline.text().contains(&words)], [2 * slow >= nodes; 2], "{slow} of {nodes}");
    }
}

#[test]
fn a_baseline_names_what_incomplete_reports_lack() {
    let mut random = Rng::with_seed(31);
    let mut reports: Vec<Report> = (0..4).map(|host| report(&mut random, host, 0, Fault::None)).collect();
    let is_told = |reports: &[Report], words: &[&str]| {
        let baseline = Baseline::of(&visits_of(reports)).unwrap();
        let is_it = |text: &String| words.iter().all(|word| text.contains(word));
        baseline.warnings().iter().any(is_it) && baseline.text().lines().map(str::to_owned).any(|line| is_it(&line))
    };
    assert!(!is_told(&reports, &["incomplete"]));
    let pending = |report: &mut Report| {
        report.complete = false;
        let reads = report.cells.iter_mut().filter(|cell| cell.kernel == "mem-read");
        reads.for_each(|cell| *cell = cell.clone().unmeasured(Status::Pending, ""));
    };
    pending(&mut reports[0]);
    assert!(is_told(&reports, &["1 of 4 reports incomplete"]) && !is_told(&reports, &["incomplete", "mem-read"]));
    reports.iter_mut().for_each(pending);
    assert!(is_told(&reports, &["4 of 4 reports incomplete", "mem-read"]));
}

/// So many nodes at so many visits, of which node 0 has this share of the arithmetic.
fn few(random: &mut Rng, nodes: usize, visits: usize, share: f64, fault: Fault) -> Fleet {
    let visits = (0..nodes).flat_map(|host| (0..visits).map(move |visit| (host, visit)));
    let reports = visits.map(|(host, visit)| {
        let mut report = report(random, host, visit, if host == 0 { fault } else { Fault::None });
        scaled(&mut report, "arith", if host == 0 { share } else { 1.0 });
        report
    });
    judged(&reports.collect::<Vec<_>>())
}

#[test]
fn one_of_few_nodes_that_is_far_below_the_others_is_unclear() {
    let mut random = Rng::with_seed(19);
    for (nodes, visits) in [(2, 1), (2, 3), (3, 1), (4, 1), (4, 3)] {
        let fleet = few(&mut random, nodes, visits, 0.5, Fault::None);
        let first = &fleet.nodes[0];
        assert_eq!((first.host.as_str(), first.state, first.drain.as_ref()), ("n0", State::Unclear, None));
        assert_eq!(fleet.count(State::Ok), nodes - 1, "{nodes} {visits}");
        assert!((first.blame[0].effect + 0.5).abs() < 0.03, "{:?}", first.blame);
        // The first core is slower on all of them.
        for _ in 0..6 {
            let fleet = few(&mut random, nodes, visits, 1.0, Fault::None);
            assert_eq!(fleet.count(State::Ok), nodes, "{nodes} {visits}: {:?}", fleet.nodes[0]);
        }
        let fleet = few(&mut random, nodes, visits, 1.0, Fault::Core(0));
        assert_eq!((fleet.count(State::Slow), fleet.nodes[0].blame[0].ids.as_slice()), (1, &[0][..]));
    }
}
