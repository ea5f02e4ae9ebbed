//! What a setting is the cause of and what it is not, and what is usual.

use super::visits::scaled;
use super::*;
use charz_data::machine::Strand;

/// So many nodes at so many visits, as `alter` has each: by its node and its visit.
pub(super) fn altered([nodes, visits]: [usize; 2], alter: impl Fn(usize, usize, &mut Report)) -> Fleet {
    let mut random = Rng::with_seed(1);
    let all = (0..nodes).flat_map(|host| (0..visits).map(move |visit| (host, visit)));
    let reports = all.map(|(host, visit)| {
        let mut report = report(&mut random, host, visit, Fault::None);
        alter(host, visit, &mut report);
        report
    });
    judged(&reports.collect::<Vec<_>>())
}

fn of<'a>(fleet: &'a Fleet, host: &str) -> &'a Node {
    fleet.nodes.iter().find(|node| node.host == host).unwrap()
}

#[test]
fn a_node_of_a_setting_has_its_own_number_and_some_without_a_loss_refute_it() {
    // Nor is what a few that are faster lack a cause.
    for (with, fast, states) in [(8, 15, [0, 5, 0, 15]), (17, 3, [0, 0, 0, 20])] {
        let fleet = altered([20, 1], |host, _, report| {
            report.host.microcode = Some(if host < with { "0x20" } else { "0x10" }.into());
            scaled(report, "arith", if host >= 20 - fast { 1.11 } else { 1.0 });
        });
        assert_eq!(State::ALL.map(|state| fleet.count(state)), states, "{:?}", fleet.nodes[0]);
    }
    let fleet = altered([20, 1], |host, _, report| {
        report.host.frequency_governor = Some(if host < 6 { "powersave" } else { "performance" }.into());
        scaled(report, "arith", [0.6, 0.9, 1.0][usize::from(host > 0) + usize::from(host > 5)]);
    });
    let [(own, drain), (others, of_class)] =
        ["n0", "n1"].map(|host| (of(&fleet, host).blame[0].effect, of(&fleet, host).drain.as_deref().unwrap()));
    assert!((own + 0.4).abs() < 0.04 && (others + 0.1).abs() < 0.04, "{own} {others}");
    assert!(!drain.contains("governor") && of_class.contains("governor powersave"), "{drain} {of_class}");
}

#[test]
fn repaired_nodes_are_well_whether_the_setting_was_changed_or_not() {
    for then in ["0x0f", "0x11"] {
        // Of node 7 it was changed for the worse.
        let fleet = altered([12, 3], |host, visit, report| {
            let is_slow = (host < 4 && visit < 2) || (host, visit) == (7, 2);
            report.host.microcode =
                Some(if host < 4 || is_slow { [then, "0x11"][visit / 2] } else { "0x10" }.to_owned());
            scaled(report, "arith", if is_slow { 0.85 } else { 1.0 });
        });
        assert_eq!(fleet.count(State::Ok), 11, "{then}: {:?}", fleet.nodes[0].why);
        assert!(of(&fleet, "n0").why.iter().any(|why| why.contains("no longer")), "{:?}", of(&fleet, "n0"));
    }
}

#[test]
fn a_setting_is_a_cause_only_where_it_can_slow() {
    for (slowed, here, others, is_cause) in [
        ("arith", "powersave", "performance", true),
        ("arith", "performance", "powersave", false),
        ("arith", "unavailable: no such file", "performance", false),
        ("arith", "powersave", "unknown", false),
        ("arith", "BIOS 2", "BIOS 1", false),
        ("arith", "2 × 1 GiB", "4 × 1 GiB", false),
        ("mem", "never", "madvise", true),
        ("mem", "always", "madvise", false),
        ("mem", "8 × 32 GiB at 3200 MT/s", "8 × 32 GiB at 4800 MT/s", true),
        ("mem", "8 × 64 GiB at 4800 MT/s", "8 × 32 GiB at 4800 MT/s", false),
    ] {
        let fleet = altered([12, 1], |host, _, report| {
            let setting = match here {
                "never" | "always" => &mut report.host.transparent_huge_pages,
                "BIOS 2" => &mut report.host.firmware,
                _ if here.contains('×') => &mut report.host.memory.modules,
                _ => &mut report.host.frequency_governor,
            };
            *setting = Some(if host == 7 { here } else { others }.into());
            // What the firmware keeps of it is no other size.
            report.host.memory.total_bytes = Some((251 << 30) + (if host == 7 { 505 << 20 } else { 515 << 20 }));
            scaled(report, slowed, if host == 7 { 0.3 } else { 1.0 });
        });
        let (own, drain) = (node(&fleet), node(&fleet).drain.clone().unwrap_or_default());
        assert!(!own.differs.contains_key("memory"), "{:?}", own.differs);
        assert_eq!((own.state == State::Slow, innocent(&fleet)), (is_cause, 0), "{here}, {others}: {:?}", own.why);
        assert!(!is_cause || drain.contains(&here.replace('×', "x")), "{drain}");
    }
}

#[test]
fn a_node_whose_quota_was_removed_delivers_what_its_newest_visit_does() {
    let mut random = Rng::with_seed(3);
    let visits = (0..12).flat_map(|host| (0..3).map(move |visit| (host, visit)));
    let reports = visits.map(|(host, visit)| {
        report(&mut random, host, visit, if host == 7 && visit < 2 { Fault::Quota } else { Fault::None })
    });
    let fleet = judged(&reports.collect::<Vec<_>>());
    assert_eq!((node(&fleet).state, node(&fleet).delivered), (State::Ok, Some(1.0)), "{:?}", node(&fleet).why);
}

#[test]
fn the_line_for_slurm_has_the_cause_of_its_number() {
    for (quota, cause) in [(None, "memory modules 4 x 32 GiB"), (Some("1.00"), "CPU quota 1.00")] {
        let fleet = altered([12, 1], |host, _, report| {
            report.host.memory.modules = Some(if host == 7 { "4 × 32 GiB" } else { "8 × 32 GiB" }.into());
            if host == 7 {
                report.host.frequency_governor = Some("powersave".into());
                report.host.cpu_quota = quota.map(str::to_owned);
                scaled(report, "arith", 0.8);
                scaled(report, "mem", 0.3);
            }
        });
        let (mut rows, look) = (Vec::new(), charz_render::look::TerminalStyle::PLAIN);
        (crate::formats::FORMATS[2].write)(&fleet, &look, &mut rows).unwrap();
        let rows = String::from_utf8(rows).unwrap();
        assert!(rows.contains(&format!("%, {cause}")) && rows.contains("by arith-float"), "{rows}");
    }
}

#[test]
fn what_most_nodes_have_is_usual_beside_it_too_and_most_cores_of_a_cache_are_not_the_cache() {
    let of = |slow: &[u32], is_slow: fn(usize) -> bool| {
        altered([12, 1], |host, _, report| {
            let cells = report.cells.iter_mut().filter(|cell| is_slow(host) && cell.kernel.starts_with("arith"));
            let runs = cells.flat_map(|cell| &mut cell.invocations).flat_map(|one| &mut one.runs);
            let laps = runs.flat_map(|run| &mut run.laps).filter(|lap| slow.iter().any(|cpu| lap.seat == Some(*cpu)));
            laps.for_each(|lap| lap.end_ns += lap.end_ns / 9);
        })
    };
    assert_eq!(of(&[5, 7], |host| host > 2).count(State::Ok), 12);
    let fleet = of(&[4, 5, 6], |host| host == 7);
    assert_eq!((node(&fleet).state, innocent(&fleet)), (State::Unclear, 0), "{:?}", node(&fleet));
    assert!(node(&fleet).why[0].starts_with("core (CPU 7) is "), "{:?}", node(&fleet).why);
}

/// Without its last core, which is kept for the system.
fn keep_core(report: &mut Report) {
    report.machine.strands[15].usable = false;
    for cell in report.cells.iter_mut().filter(|cell| cell.seats.len() == CORES as usize) {
        cell.seats.truncate(15);
        cell.workers = 15;
        let runs = cell.invocations.iter_mut().flat_map(|one| &mut one.runs);
        runs.for_each(|run| run.laps.truncate(15));
    }
}

#[test]
fn slow_parts_are_named_where_a_core_is_kept_for_the_system() {
    for (fault, component, ids) in [
        (Fault::None, "none", vec![]),
        (Fault::Core(5), "core", vec![5]),
        (Fault::Core(13), "core", vec![13]),
        (Fault::Cache(2), "l3", vec![8, 9, 10, 11]),
        (Fault::Cache(3), "l3", vec![12, 13, 14, 15]),
        (Fault::Socket(1), "package", (8..16).collect()),
    ] {
        let mut random = Rng::with_seed(12);
        let reports = (0..12).map(|host| {
            let mut report = report(&mut random, host, 0, if host == 7 { fault } else { Fault::None });
            keep_core(&mut report);
            report
        });
        let fleet = judged(&reports.collect::<Vec<_>>());
        let blamed: Vec<_> = node(&fleet).blame.iter().map(|own| (own.component.as_str(), &own.ids)).collect();
        let wanted = if ids.is_empty() { vec![] } else { vec![(component, &ids)] };
        assert_eq!((blamed, innocent(&fleet)), (wanted, 0), "{component} {ids:?}: {:?}", node(&fleet).why);
    }
    // Where the second thread of each core is kept from programs, half of the CPUs are all cores.
    let mut random = Rng::with_seed(12);
    let reports = (0..12).map(|host| {
        let mut report = report(&mut random, host, 0, if host == 7 { Fault::Core(5) } else { Fault::None });
        let second = |strand: &Strand| Strand { os_id: strand.os_id + CORES, usable: false, ..strand.clone() };
        let seconds: Vec<Strand> = report.machine.strands.iter().map(second).collect();
        report.machine.strands.extend(seconds);
        report
    });
    let fleet = judged(&reports.collect::<Vec<_>>());
    let blamed: Vec<_> = node(&fleet).blame.iter().map(|own| own.ids[0]).collect();
    assert_eq!((blamed, fleet.count(State::Ok)), (vec![5], 11), "{:?}", fleet.nodes);
    // The memory of a socket is shared by one core less, and so each of them has more of it.
    let fleet = altered([12, 1], |host, _, report| {
        if host == 7 {
            keep_core(report);
            let cells = report.cells.iter_mut().filter(|cell| cell.kernel.starts_with("mem"));
            let runs = cells.flat_map(|cell| &mut cell.invocations).flat_map(|one| &mut one.runs);
            let laps = runs.flat_map(|run| &mut run.laps).filter(|lap| lap.seat >= Some(8));
            laps.for_each(|lap| lap.end_ns = lap.end_ns * 7 / 8);
        }
    });
    assert!(node(&fleet).blame.is_empty(), "{:?}", node(&fleet).why);
}

#[test]
fn a_check_names_the_worst_first_and_what_was_not_measured() {
    let mut random = Rng::with_seed(9);
    let mut reports: Vec<Report> = (0..6).map(|host| report(&mut random, host, 0, Fault::None)).collect();
    let baseline = Baseline::of(&visits_of(&reports)).unwrap();
    scaled(&mut reports[0], "arith-float", 0.6);
    scaled(&mut reports[0], "arith-int", 0.4);
    let half = &mut reports[1];
    half.machine.strands[8..].iter_mut().for_each(|strand| strand.usable = false);
    half.cells.retain(|cell| cell.workers == u64::from(CORES));
    half.cells.iter_mut().for_each(|cell| cell.workers = 8);
    for (at, said) in ["CRITICAL - n0: arith-int", "UNKNOWN - n1: 8 of 16 CPUs were measured"].iter().enumerate() {
        let line = baseline.check(&Visit::of(&reports[at], "file"), false).line;
        assert!(line.contains(said), "{line}");
    }
}

#[test]
fn a_check_knows_a_quota_that_the_baseline_lacks() {
    let mut random = Rng::with_seed(3);
    let mut reports: Vec<Report> = (0..6).map(|host| report(&mut random, host, 0, Fault::None)).collect();
    let half = Some(format!("{:.2}", 0.5 * reports[0].machine.strands.len() as f64));
    let visit = |report: &Report| Visit::of(report, "file");
    let baseline = |reports: &[Report]| Baseline::parse(&Baseline::of(&visits_of(reports)).unwrap().text()).unwrap();
    let (free, free_text) = (baseline(&reports), Baseline::of(&visits_of(&reports)).unwrap().text());
    reports.iter_mut().for_each(|report| report.host.cpu_quota.clone_from(&half));
    let checked = free.check(&visit(&reports[0]), false);
    assert!(checked.level == Level::Warning && checked.line.contains("50%"), "{}", checked.line);
    // What may follow from it comes after it, and where that is worse, it is said all the same.
    let lenient = |line| if str::starts_with(line, "critical = ") { "critical = 0.9" } else { line };
    let lenient = Baseline::parse(&free_text.lines().map(lenient).collect::<Vec<_>>().join("\n")).unwrap();
    let mut slow = reports[0].clone();
    let numbers = slow.cells.iter_mut().flat_map(|cell| [&mut cell.capacity, &mut cell.delivered]);
    numbers.flatten().for_each(|number| number.value *= 0.6);
    let line = lenient.check(&visit(&slow), false).line;
    assert!(line.starts_with("CHARZ WARNING - n0: a quota") && line.contains(" more"), "{line}");
    let Checked { level, line } = free.check(&visit(&slow), false);
    assert!(level == Level::Critical && line.contains("; a quota"), "{line}");
    // Where all have it, it is no fault.
    let checked = baseline(&reports).check(&visit(&reports[0]), false);
    assert_eq!(checked.level, Level::Ok, "{}", checked.line);
}
