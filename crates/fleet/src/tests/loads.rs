//! What shows under one load alone, reports of a part of a node, and several reports and names of one.

use charz_data::report::Point;

use super::causes::altered;
use super::visits::scaled;
use super::*;

/// With arithmetic by one thread, and with the latency of four sizes.
fn with_loads(report: &mut Report, host: usize, visit: usize) {
    let rate = 1.0 + 0.001 * ((5 * host + 3 * visit) % 7) as f64;
    let alone = |kernel| fixtures::cell(kernel, 1, Unit::OpsPerSecond, 1e9 * rate).seated(&[0]);
    let latency = |size| {
        let point = Point { size_bytes: Some(size), ..Point::default() };
        fixtures::cell("chase-random", 1, Unit::NanosecondsPerStep, 90.0 / rate).seated(&[0]).at(point)
    };
    let sizes = [1 << 14, 1 << 18, 1 << 22, 1 << 27].map(latency);
    let added = fixtures::report(["arith-int", "arith-float"].map(alone).into_iter().chain(sizes).collect());
    report.cells.extend(added.cells);
    report.cards.extend(added.cards.into_iter().filter(|card| card.name == "chase-random"));
}

#[test]
fn a_loss_under_one_load_has_its_whole_size() {
    for (kernels, load, share) in [("arith", 16, 0.9), ("arith", 1, 0.9), ("chase", 1 << 27, 0.75)] {
        let fleet = altered([12, 3], |host, visit, report| {
            with_loads(report, host, visit);
            let is_it = |cell: &charz_data::report::Cell| {
                cell.kernel.starts_with(kernels) && (cell.workers == load || cell.point.size_bytes == Some(load))
            };
            for cell in report.cells.iter_mut().filter(|cell| host == 7 && is_it(cell)) {
                let factor = if cell.unit.more_is_better() { share } else { 1.0 / share };
                cell.capacity.iter_mut().for_each(|number| number.value *= factor);
            }
        });
        let own = node(&fleet);
        assert_eq!((own.state, own.blame.len(), innocent(&fleet)), (State::Slow, 1, 0), "{kernels} {load}: {own:?}");
        for effect in [own.blame[0].effect, own.effects[&own.blame[0].quantity.replace("arith-float, ", "")]] {
            assert!((effect - (share - 1.0)).abs() < 0.03, "{kernels} {load}: {effect}");
        }
    }
}

/// As processors are that share one limit of power.
#[test]
fn nodes_that_differ_under_one_load_alone_are_well() {
    let fleet = altered([15, 3], |host, visit, report| {
        scaled(report, "arith", 1.0 + 0.02 * ((host % 5) as f64 - 2.0));
        with_loads(report, host, visit);
    });
    assert_eq!(fleet.count(State::Ok), 15, "{:?}", fleet.nodes[0]);
}

/// Arithmetic and pairs of twelve nodes, of which node 7 may have a fault.
fn twelve(seed: u64, fault: Fault) -> Vec<Report> {
    let mut random = Rng::with_seed(seed);
    let fault = |host| if host == 7 { fault } else { Fault::None };
    let mut all: Vec<Report> = (0..12).map(|host| report(&mut random, host, 0, fault(host))).collect();
    all.iter_mut().for_each(|report| report.cells.retain(|cell| !cell.kernel.starts_with("mem")));
    all
}

/// Of its first cores alone.
fn first(mut report: Report, cores: usize) -> Report {
    report.machine.strands[cores..].iter_mut().for_each(|strand| strand.usable = false);
    for cell in report.cells.iter_mut().filter(|cell| cell.seats.len() == CORES as usize) {
        cell.seats.truncate(cores);
        cell.workers = cores as u64;
        let runs = cell.invocations.iter_mut().flat_map(|one| &mut one.runs);
        runs.for_each(|run| run.laps.truncate(cores));
    }
    report
}

#[test]
fn what_a_site_keeps_on_all_nodes_makes_none_of_them_partial() {
    for (cores, state, level) in [
        (14, State::Slow, Level::Critical),
        (12, State::Slow, Level::Critical),
        (8, State::Unclear, Level::Warning),
        (1, State::Unclear, Level::Warning),
    ] {
        let all = twelve(51, Fault::Core(5));
        let part = |host: usize| Visit::of(&first(all[host].clone(), cores), "file");
        let visits: Vec<Visit> = (0..12).map(part).collect();
        let fleet = judge(&visits, Vec::new());
        let others = if state == State::Slow { State::Ok } else { State::Unclear };
        let is_as_others = |own: &Node| own.host == "n7" || own.state == others;
        assert!(node(&fleet).state == state && fleet.nodes.iter().all(is_as_others), "{cores}: {:?}", fleet.nodes);
        let baseline = Baseline::parse(&Baseline::of(&visits).unwrap().text()).unwrap();
        let checked = [7, 3].map(|host| baseline.check(&visits[host], false));
        let well = if state == State::Slow { Level::Ok } else { Level::Warning };
        assert_eq!(checked.each_ref().map(|own| own.level), [level, well], "{cores}: {checked:?}");
        // One node with less than the others is what a job had of it, and its parts are no matter of a fault.
        let mut visits: Vec<Visit> = visits_of(&all);
        let baseline = Baseline::of(&visits).unwrap();
        visits[7] = part(7);
        let (fleet, checked) = (judge(&visits, Vec::new()), baseline.check(&visits[7], false));
        if cores < 14 {
            assert_eq!((node(&fleet).state, node(&fleet).blame.len()), (State::Unclear, 0), "{:?}", node(&fleet));
            let words = format!("{cores} of 16 CPUs w");
            assert!(checked.level == Level::Warning && checked.line.contains(&words), "{}", checked.line);
        }
    }
}

#[test]
fn a_baseline_leaves_out_reports_of_a_part_of_their_cpus_where_there_are_others() {
    let all = twelve(52, Fault::None);
    for (few, count, left_out) in [(4, 8, ", and were left out"), (8, 4, ", and were left out"), (12, 12, "")] {
        let reports = all.iter().enumerate();
        let reports = reports.map(|(at, own)| if at < few { first(own.clone(), 1) } else { own.clone() });
        let baseline = Baseline::of(&visits_of(&reports.collect::<Vec<_>>())).unwrap();
        let words = format!(": {few} of 12 reports are of a part of their CPUs{left_out}");
        assert!(baseline.warnings().iter().any(|warning| warning.ends_with(&words)), "{:?}", baseline.warnings());
        assert!(baseline.text().contains(&format!("\nnodes = {count}\n")), "{few}");
    }
}

#[test]
fn memory_and_lines_of_a_guest_are_a_warning_at_most() {
    for (is_guest, level) in [(true, Level::Warning), (false, Level::Critical)] {
        let mut random = Rng::with_seed(53);
        let mut reports: Vec<Report> = (0..6).map(|host| report(&mut random, host, 0, Fault::None)).collect();
        reports.iter_mut().for_each(|report| report.host.virtual_machine = Some(is_guest));
        let baseline = Baseline::of(&visits_of(&reports)).unwrap();
        scaled(&mut reports[2], "mem", 0.05);
        scaled(&mut reports[3], "c2c", 20.0);
        scaled(&mut reports[4], "arith", 0.05);
        let checked = [2, 3, 4].map(|at| baseline.check(&Visit::of(&reports[at], "file"), false));
        assert_eq!(checked.each_ref().map(|own| own.level), [level, level, Level::Critical], "{checked:?}");
        let is_said = checked.map(|own| own.line.contains("memory of a guest"));
        assert_eq!(is_said, [is_guest, is_guest, false]);
    }
}

#[test]
fn a_short_sweep_within_the_hour_of_a_long_one_does_not_count_and_is_named() {
    let mut reports = twelve(54, Fault::Core(5));
    let mut short = pairs(&mut Rng::with_seed(54), 7, 1);
    short.started = "2026-01-01T00:05:00Z".into();
    reports.push(short);
    let fleet = judged(&reports);
    let own = node(&fleet);
    assert_eq!((own.state, own.visits, innocent(&fleet)), (State::Slow, 1, 0), "{own:?}");
    assert!(own.why.iter().any(|why| why.contains("c2c-cas of another")), "{:?}", own.why);
}

#[test]
fn a_name_with_a_domain_and_without_is_one_node_unless_there_are_two_domains() {
    let mut random = Rng::with_seed(55);
    let mut reports: Vec<Report> = (5..10).map(|host| report(&mut random, host, 0, Fault::None)).collect();
    for (visit, name, nodes, visits) in [(1, "n7.cluster.local", 5, 2), (2, "n7.example.org", 7, 1)] {
        let mut again = report(&mut random, 7, visit, Fault::None);
        again.host.name = Some(name.into());
        reports.push(again);
        let fleet = judged(&reports);
        assert_eq!((fleet.nodes.len(), node(&fleet).visits), (nodes, visits), "{name}");
    }
    let baseline = Baseline::of(&visits_of(&reports[..6])).unwrap();
    assert!(baseline.text().contains("\nnodes = 5\n"));
}

#[test]
fn a_node_that_no_other_has_the_configurations_of_is_not_well() {
    let of = |alter: fn(&mut charz_data::report::Cell)| {
        altered([12, 1], |host, _, report| {
            if host == 7 {
                report.cells.iter_mut().filter(|cell| cell.workers > 2).for_each(alter);
            }
        })
    };
    let (mapping, size) = (of(|cell| cell.mapping = "dumb".into()), of(|cell| cell.point.size_bytes = Some(1 << 30)));
    for (fleet, is_other) in [(&mapping, [true, true]), (&size, [false, true])] {
        let own = node(fleet);
        let is_named = |kernel: &str| own.why.iter().any(|why| why.contains("configurations") && why.contains(kernel));
        assert_eq!(["arith-int", "mem-read"].map(is_named), is_other, "{own:?}");
        assert_eq!((own.state, fleet.count(State::Ok)), (State::Unclear, 11), "{own:?}");
    }
    // Where there are no others, that is what is said.
    for nodes in 1..=3 {
        let fleet = judged(&twelve(51, Fault::None)[..nodes]);
        assert!(fleet.nodes.iter().all(|node| !node.why.join("; ").contains("configurations")), "{:?}", fleet.nodes);
    }
}

#[test]
fn a_check_that_cannot_tell_names_what_ran_meanwhile() {
    let mut reports = twelve(51, Fault::None);
    let baseline = Baseline::of(&visits_of(&reports)).unwrap();
    let of_float = reports[7].cells.iter_mut().filter(|cell| cell.kernel == "arith-float");
    of_float.for_each(|cell| *cell = cell.clone().suspect());
    let mut visits = visits_of(&reports);
    let alone = |visit: &Visit| baseline.check(visit, false).line;
    let line = alone(&visits[7]);
    assert!(line.starts_with("CHARZ UNKNOWN") && !line.contains("meanwhile-hog"), "{line}");
    visits[7].disturbers.push(charz_analysis::culprits::Disturber {
        kind: CulpritKind::Process,
        name: "meanwhile-hog".into(),
        pid: Some(7),
        count: 1,
        cpus: 0.6,
    });
    assert!(alone(&visits[7]).contains("meanwhile-hog"), "{}", alone(&visits[7]));
}

/// The first of the sizes has the fault.
#[test]
fn a_cache_that_is_slow_at_one_of_several_sizes_is_named_and_no_other() {
    for (fault, sizes) in [(Fault::Cache(2), 2), (Fault::Cache(2), 3), (Fault::None, 3)] {
        let mut random = Rng::with_seed(61);
        let reports = (0..20).map(|host| {
            let mut one = report(&mut random, host, 0, if host == 7 { fault } else { Fault::None });
            for size in 1..=sizes {
                let of =
                    |cell: &charz_data::report::Cell| cell.kernel.starts_with("mem") && cell.point.size_bytes.is_none();
                let at = Point { size_bytes: Some(1 << (20 + size)), ..Point::default() };
                let mut other = if size == 1 { one.clone() } else { report(&mut random, host, 0, Fault::None) };
                other.cells.retain(of);
                one.cells.extend(other.cells.into_iter().map(|cell| cell.at(at)));
            }
            one.cells.retain(|cell| !cell.kernel.starts_with("mem") || cell.point.size_bytes.is_some());
            one
        });
        let fleet = judged(&reports.collect::<Vec<_>>());
        let blamed: Vec<_> =
            node(&fleet).blame.iter().map(|own| (own.component.as_str(), own.ids.as_slice())).collect();
        let wanted = if fault == Fault::None { vec![] } else { vec![("l3", &[8, 9, 10, 11][..])] };
        assert_eq!((blamed, innocent(&fleet)), (wanted, 0), "{sizes}: {:?}", node(&fleet).why);
    }
}
