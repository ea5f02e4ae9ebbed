//! What holds of many draws, and of reports that are kept, copied or named in other ways.

use charz_data::report::Report;
use charz_data::{Metric, Role};

use super::*;
use crate::baseline::{Baseline, Level};
use crate::classes::Gap;
use crate::compact;

/// Of draws with a fault in node 7: how often it is called slow and nothing else is, how often it is unclear, and how many others are slow.
fn draws(count: usize, size: [usize; 2], speed: impl Fn(&Spot) -> [f64; 2] + Copy, blamed: &str) -> [usize; 3] {
    (0..count).fold([0; 3], |[right, unclear, wrong], seed| {
        let own = |host: usize, _: usize, spot: &Spot| if host == 7 { speed(spot) } else { [1.0; 2] };
        let fleet = judged(&drawn(seed as u64, SHAPE, size, own, |_, _, _| {}));
        let own = node(&fleet, "n7");
        let slow: Vec<String> = codes(own).into_iter().filter(|code| code.starts_with("slow")).collect();
        let is_right = !slow.is_empty() && slow.iter().all(|code| code.starts_with(blamed));
        let others = fleet.count(State::Slow) - usize::from(own.state() == State::Slow);
        let is_wrong = own.state() == State::Slow && !is_right;
        [
            right + usize::from(is_right),
            unclear + usize::from(own.state() == State::Unclear),
            wrong + others + usize::from(is_wrong),
        ]
    })
}

fn arith(share: f64) -> impl Fn(&Spot) -> [f64; 2] + Copy {
    move |spot| [if spot.kernel.starts_with("arith") { share } else { 1.0 }, 1.0]
}

#[test]
fn whole_nodes_are_slow_by_three_visits_and_unclear_by_one() {
    assert_eq!(draws(3, [40, 3], arith(0.93), "slow Node"), [3, 0, 0]);
    let [right, unclear, wrong] = draws(6, [40, 1], arith(0.93), "slow Node");
    assert!(right == 0 && unclear >= 5 && wrong == 0, "right {right}, unclear {unclear}, wrong {wrong}");
}

#[test]
fn fleets_without_a_fault_have_no_slow_node() {
    for (count, size) in [(1, [5, 1]), (1, [12, 1]), (2, [40, 1]), (20, [5, 3])] {
        let slow = (0..count)
            .map(|seed| judged(&drawn(seed, SHAPE, size, |_, _, _| [1.0; 2], |_, _, _| {})).count(State::Slow));
        assert_eq!(slow.sum::<usize>(), 0, "{size:?}");
    }
}

/// `cargo test -p charz-fleet --release -- --ignored --nocapture`: the table of faults.
#[test]
#[ignore = "takes minutes; the other tests make fewer draws"]
#[allow(clippy::print_stdout, reason = "a table is what it is for")]
fn the_table_of_faults() {
    println!("fault, nodes, visits: right, unclear, wrong of 200 draws");
    type Fault = (&'static str, usize, fn(&Spot) -> [f64; 2], &'static str);
    let faults: [Fault; 6] = [
        ("none", 1, |_| [1.0; 2], "slow None"),
        (
            "core -8%",
            1,
            |s| [if s.kernel.starts_with("arith") && s.cpu == 5 { 0.92 } else { 1.0 }, 1.0],
            "slow Core 5 ",
        ),
        (
            "l3 -15%",
            1,
            |s| [if s.kernel.starts_with("mem") && s.cpu / 4 == 2 { 0.85 } else { 1.0 }, 1.0],
            "slow Cache(3) 8-11 ",
        ),
        (
            "latency +20%",
            1,
            |s| [if s.kernel.starts_with("chase") && s.cpu / 8 == 1 { 1.0 / 1.2 } else { 1.0 }, 1.0],
            "slow NumaNode 8-15 ",
        ),
        ("node -7%", 1, |_| [0.93, 1.0], "slow Node"),
        ("node -7%", 3, |_| [0.93, 1.0], "slow Node"),
    ];
    for (name, visits, fault, blamed) in faults {
        for nodes in [40, 500] {
            let [right, unclear, wrong] = draws(200, [nodes, visits], fault, blamed);
            println!("{name}, {nodes}, {visits}: {right}, {unclear}, {wrong}");
        }
    }
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

fn bytes(report: &Report) -> Vec<u8> {
    let mut text = Vec::new();
    charz_data::report::write(report, &[], false, &mut text).unwrap();
    text
}

#[test]
fn a_compact_report_is_judged_as_the_whole_one() {
    let throttled = |host: usize, _: usize, spot: &Spot| match (host, spot.cpu) {
        (7, 5) => [0.8, 1.0],
        (3, _) if spot.second > 20.0 => [0.8; 2],
        _ => [1.0; 2],
    };
    let reports = drawn(8, SHAPE, [12, 1], throttled, |_, _, _| {});
    let small: Vec<Report> = reports.iter().cloned().map(compact).collect();
    assert!(bytes(&small[0]).len() * 2 < bytes(&reports[0]).len());
    let of = |reports: &[Report]| {
        judged(reports).nodes.iter().map(|node| (node.host.clone(), codes(node))).collect::<Vec<_>>()
    };
    assert_eq!(of(&small), of(&reports));
}

#[test]
fn a_compact_report_does_not_say_what_was_run() {
    let mut whole = well(1, |_, _| {}).remove(0);
    let secret = || "zqsecretqz".to_owned();
    (whole.command, whole.stopped_by, whole.host.disturbances) = (secret(), Some(secret()), vec![secret()]);
    (whole.cells[0].reason, whole.cells[0].skipped) = (Some(secret()), Some(secret()));
    let (kernel, card) = (whole.cells[0].kernel.clone(), &mut whole.cards);
    let card = card.iter_mut().find(|card| card.name == kernel).unwrap();
    (card.role, card.about, card.metric) = (Role::Program, secret().into(), Metric::Reported(secret().into()));
    let text = |report: &Report| String::from_utf8(bytes(report)).unwrap();
    assert_eq!(text(&whole).matches("zqsecretqz").count(), 7);
    assert!(!text(&compact(whole)).contains("zqsecretqz"));
}

#[test]
fn a_report_that_comes_twice_counts_once_and_kinds_and_sizes_are_kept_apart() {
    let mut reports = well(12, |host, report| {
        if host < 6 {
            report.machine.strands.truncate(8);
            report.machine.cores.truncate(8);
        }
    });
    assert_eq!(judged(&reports).groups.len(), 2, "of two sizes");
    reports.truncate(2);
    reports.push(reports[0].clone());
    reports[1].host.processor = Some("another".into());
    reports[1].id = reports[0].id.clone();
    let fleet = judged(&reports);
    assert_eq!((fleet.nodes.len(), fleet.groups.len(), fleet.nodes[0].visits), (2, 2, 1), "of one id");
    // Of copies of a sweep that with the most runs counts, in any order.
    let mut begun = reports[0].clone();
    begun.cells.truncate(2);
    for reports in [vec![begun.clone(), reports[0].clone()], vec![reports[0].clone(), begun]] {
        let fleet = judged(&reports);
        assert_eq!((fleet.nodes[0].visits, fleet.nodes[0].reliable.len()), (1, 6));
    }
}

#[test]
fn a_name_with_a_domain_and_without_is_one_node_unless_there_are_two_domains() {
    let mut reports = well(10, |_, _| {}).split_off(5);
    for (name, nodes, visits) in [("n7.cluster.local", 5, 2), ("n7.example.org", 7, 1)] {
        let mut again = reports[2].clone();
        again.id = name.into();
        again.started = "2026-02-01T00:00:00Z".into();
        again.host.name = Some(name.into());
        reports.push(again);
        let fleet = judged(&reports);
        assert_eq!((fleet.nodes.len(), node(&fleet, "n7").visits), (nodes, visits), "{name}");
    }
}

#[test]
fn slurm_is_given_the_name_that_it_knows() {
    let line = |host: &str, slurm_name: Option<&str>, other: &str| {
        let speed = |host: usize, _: usize, spot: &Spot| [if host == 0 && spot.cpu == 5 { 0.9 } else { 1.0 }, 1.0];
        let mut reports = drawn(12, SHAPE, [2, 1], speed, |_, _, _| {});
        (reports[0].host.name, reports[0].host.slurm_name) = (Some(host.into()), slurm_name.map(Into::into));
        reports[1].host.name = Some(other.into());
        words::drain(&judged(&reports).nodes[0])
    };
    for (host, known, other, name) in [
        ("n7.example.org", None, "n8.example.org", Some("n7")),
        ("n7.example.org", Some("rack-7"), "n8", Some("rack-7")),
        ("10.0.0.7", None, "10.0.0.8", Some("10.0.0.7")),
        ("n7.example.org", None, "n7.example.com", None),
        ("n007.cluster;rm", None, "n8", None),
    ] {
        let found = line(host, known, other);
        let reason =
            name.map(|name| format!("scontrol update nodename={name} state=drain reason=\"charz: core CPU 5 -10%"));
        let is_it = found.as_ref().zip(reason.as_ref()).is_some_and(|(found, reason)| found.starts_with(reason));
        assert!(is_it || (found.is_none() && reason.is_none()), "{host}: {found:?}");
    }
}

#[test]
fn a_page_has_every_node_as_a_dot() {
    use charz_analysis::figure::Body;
    let fleet = judged(&well(12, |_, _| {}));
    let page = fleet.page();
    let dots = page.figures().find_map(|figure| match &figure.body {
        Body::Dots(plot) if figure.id == "distributions" => Some(plot),
        _ => None,
    });
    let dots: usize = dots.unwrap().measured().map(|(_, series)| series.points.len()).sum();
    assert_eq!(dots, fleet.nodes.iter().map(|node| node.effects.len()).sum::<usize>());
}

/// Several nodes of one setting are one line, and what the headline says no node says again.
#[test]
fn what_is_true_of_several_is_said_once() {
    let reports = well(40, |host, report| {
        report.host.firmware = Some(if host < 20 { "BIOS 1.3" } else { "BIOS 1.2" }.into());
        scaled(report, "mem", if host < 20 { 0.8 } else { 1.0 });
        if host > 0 {
            suspect(report, "c2c");
        }
    });
    let fleet = judged(&reports);
    assert_eq!(states(&fleet), [0, 20, 0, 20]);
    assert_eq!(fleet.findings().rows.len(), 1, "{:?}", fleet.findings());
}

#[test]
fn a_node_that_delivers_more_than_its_capacity_is_a_baseline() {
    let visits = visits_of(&well(1, |_, report| delivers(report, 1.08)));
    let made = Baseline::of(&visits).unwrap();
    let read = Baseline::parse(&words::text(&made)).unwrap();
    assert_eq!(read.check(&visits[0], false).level, Level::Ok);
}
