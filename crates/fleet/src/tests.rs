//! Fleets with known faults, drawn from a generator: who is named, who is not.
#![allow(clippy::print_stdout)] // A table is what one of them is for.

use charz_analysis::figure::Body;
use charz_data::machine::{Cache, CacheHolds, Package};
use charz_data::report::{Culprit, CulpritKind, Evidence, Report, Unit, fixtures};
use charz_data::{Metric, Role};
use fastrand::Rng;

use crate::baseline::{Baseline, Checked, Level};
use crate::{Fleet, Node, State, Visit, compact, judge};

mod causes;
mod doubts;
mod loads;
mod visits;

/// Cores of a node: two sockets of two caches with four cores each.
const CORES: u32 = 16;

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    None,
    /// 8% less arithmetic.
    Core(u32),
    /// 15% less bandwidth.
    Cache(u32),
    /// 15% less bandwidth.
    Socket(u32),
    /// 30% more time.
    Pair(u32, u32),
    /// 7% less of everything.
    Whole,
    /// The same, by a governor of its own.
    Governor,
    Quota,
}

fn normal(random: &mut Rng, deviation: f64) -> f64 {
    ((0..12).map(|_| random.f64()).sum::<f64>() - 6.0) * deviation
}

/// A normal deviate, one in fifty four times as wide: noise in reports has such tails.
fn noise(random: &mut Rng, deviation: f64) -> f64 {
    normal(random, deviation) * if random.u32(0..50) == 0 { 4.0 } else { 1.0 }
}

fn report(random: &mut Rng, host: usize, visit: usize, fault: Fault) -> Report {
    let seats: Vec<u32> = (0..CORES).collect();
    let hour = [0.014, 0.08].map(|deviation| noise(random, deviation));
    let mut cells = Vec::new();
    for (kernel, unit, of) in [
        ("arith-int", Unit::OpsPerSecond, 0),
        ("arith-float", Unit::OpsPerSecond, 0),
        ("mem-read", Unit::BytesPerSecond, 1),
        ("mem-write-data", Unit::BytesPerSecond, 1),
    ] {
        let node = match fault {
            Fault::Whole | Fault::Governor => 0.93,
            _ => 1.0,
        };
        let all = node * (hour[of] + noise(random, [0.002, 0.01][of])).exp();
        let mut cell = fixtures::cell(kernel, u64::from(CORES), unit, all * 1e9 * f64::from(CORES)).seated(&seats);
        for lap in cell.invocations.iter_mut().flat_map(|one| &mut one.runs).flat_map(|run| &mut run.laps) {
            let seat = lap.seat.unwrap();
            let own = match (fault, of) {
                (Fault::Core(core), 0) if core == seat => 0.92,
                (Fault::Cache(cache), 1) if cache == seat / 4 => 0.85,
                (Fault::Socket(socket), 1) if socket == seat / 8 => 0.85,
                _ => 1.0,
            };
            // The first core is slower everywhere, as one that serves interrupts.
            let usual = if seat == 0 { 0.95 } else { 1.0 };
            lap.end_ns = (lap.end_ns as f64 / (own * usual * noise(random, [0.002, 0.01][of]).exp())) as u64;
        }
        cells.push(cell);
    }
    let near: Vec<(u32, u32)> =
        (0..4).flat_map(|cache| [(0, 1), (0, 2), (1, 3)].map(|(a, b)| (cache * 4 + a, cache * 4 + b))).collect();
    for (one, other) in near {
        let slow = if fault == Fault::Pair(one, other) { 1.3 } else { 1.0 };
        let ns = 25.0 * slow * normal(random, 0.01).exp();
        let pair = fixtures::cell("c2c-cas", 2, Unit::NanosecondsPerOp, ns).seated(&[one, other]);
        cells.push(pair.under(&format!("list:{one},{other}")));
    }
    let mut report = fixtures::report(cells).on(CORES);
    report.machine.packages = vec![Package { os_id: None, model: None, strands: 8 }; 2];
    report.machine.caches = (0..4)
        .map(|index| Cache {
            level: 3,
            holds: CacheHolds::Unified,
            index,
            size_bytes: None,
            line_bytes: None,
            ways: None,
            inclusive: None,
            strands: 4,
        })
        .collect();
    for strand in &mut report.machine.strands {
        (strand.package, strand.caches) = (Some(strand.os_id / 8), vec![strand.os_id / 4]);
        strand.numa = Some(0);
    }
    report.id = format!("{host}-{visit}");
    report.started = format!("2026-01-{:02}T00:00:00Z", visit + 1);
    report.host.name = Some(format!("n{host}"));
    report.host.frequency_governor =
        Some(if fault == Fault::Governor { "powersave" } else { "performance" }.to_owned());
    let rack = if fault == Fault::Governor { "b7" } else { "b6" };
    report.host.labels = [("rack".to_owned(), rack.to_owned())].into();
    report.host.virtual_machine = Some(false);
    if fault == Fault::Quota {
        report.host.cpu_quota = Some("8.00".into());
        report.cells.iter_mut().for_each(|cell| {
            cell.delivered = cell.capacity.map(|mut number| {
                number.value *= if cell.unit.more_is_better() { 0.5 } else { 2.0 };
                number
            });
        });
    }
    report
}

fn visits_of(reports: &[Report]) -> Vec<Visit> {
    reports.iter().map(|report| Visit::of(report, "file")).collect()
}

fn judged(reports: &[Report]) -> Fleet {
    judge(&visits_of(reports), Vec::new())
}

/// A fleet in which node 7 has a fault.
fn fleet(random: &mut Rng, nodes: usize, visits: usize, fault: Fault) -> Fleet {
    let own = |host| if host == 7 { fault } else { Fault::None };
    let all: Vec<Visit> = (0..nodes)
        .flat_map(|host| (0..visits).map(move |visit| (host, visit)))
        .map(|(host, visit)| Visit::of(&report(random, host, visit, own(host)), "file"))
        .collect();
    judge(&all, Vec::new())
}

fn node(fleet: &Fleet) -> &Node {
    fleet.nodes.iter().find(|node| node.host == "n7").unwrap()
}

/// How many of the other nodes are called slow.
fn innocent(fleet: &Fleet) -> usize {
    fleet.nodes.iter().filter(|node| node.host != "n7" && node.state == State::Slow).count()
}

/// Draws with such a fault: how often its part is named and nothing else, how often the node is unclear, and how many others are slow.
fn draws(count: u64, nodes: usize, visits: usize, fault: Fault, component: &str, ids: &[u32]) -> [usize; 3] {
    let mut random = Rng::with_seed(count);
    (0..count).fold([0; 3], |[right, unclear, wrong], _| {
        let fleet = fleet(&mut random, nodes, visits, fault);
        let own = node(&fleet);
        let named = |blame: &crate::Blame| blame.component == component && (component == "node" || blame.ids == ids);
        let is_right = own.state == State::Slow && own.blame.iter().all(named) && !own.blame.is_empty();
        [
            right + usize::from(is_right),
            unclear + usize::from(own.state == State::Unclear),
            wrong + innocent(&fleet) + usize::from(own.state == State::Slow && !is_right),
        ]
    })
}

#[test]
fn parts_that_are_slow_are_named_and_no_others() {
    for (fault, component, ids) in [
        (Fault::Core(5), "core", vec![5]),
        (Fault::Core(0), "core", vec![0]),
        (Fault::Core(15), "core", vec![15]),
        (Fault::Cache(2), "l3", vec![8, 9, 10, 11]),
        (Fault::Socket(1), "package", (8..16).collect()),
        (Fault::Pair(4, 6), "pair", vec![4, 6]),
    ] {
        assert_eq!(draws(4, 40, 1, fault, component, &ids), [4, 0, 0], "{component} {ids:?}: right, unclear, wrong");
    }
}

#[test]
fn a_node_that_lost_a_socket_is_unclear_and_a_size_of_its_own_is_a_group() {
    let mut random = Rng::with_seed(8);
    let halved = |mut report: Report| {
        report.machine.strands.truncate(8);
        report.machine.cores.truncate(8);
        report.machine.packages.truncate(1);
        report
    };
    let mut reports: Vec<Report> = (0..12).map(|host| report(&mut random, host, 0, Fault::None)).collect();
    reports[7] = halved(reports[7].clone());
    let one = judged(&reports);
    assert_eq!((one.groups.len(), node(&one).state, innocent(&one)), (1, State::Unclear, 0));
    reports[..6].iter_mut().for_each(|report| *report = halved(report.clone()));
    assert_eq!(judged(&reports).groups.len(), 2);
}

#[test]
fn half_of_a_fleet_with_another_kernel_is_no_cause() {
    let mut random = Rng::with_seed(11);
    for _ in 0..4 {
        let mut reports: Vec<Report> = (0..40).map(|host| report(&mut random, host, 0, Fault::None)).collect();
        reports[..14].iter_mut().for_each(|report| report.host.kernel = Some("Linux 9".into()));
        assert_eq!(judged(&reports).count(State::Slow), 0);
    }
}

#[test]
fn a_whole_node_is_slow_by_three_visits_or_by_its_setting_and_unclear_by_one() {
    let [right, _, wrong] = draws(6, 40, 3, Fault::Whole, "node", &[]);
    assert!(right == 6 && wrong == 0, "right {right}, wrong {wrong}");
    let [right, unclear, wrong] = draws(8, 40, 1, Fault::Whole, "node", &[]);
    assert!(right == 0 && unclear >= 7 && wrong == 0, "right {right}, unclear {unclear}, wrong {wrong}");
    let mut random = Rng::with_seed(9);
    let drawn = fleet(&mut random, 40, 1, Fault::Governor);
    for (name, here, others) in [("governor", "powersave", "performance"), ("label rack", "b7", "b6")] {
        let differs = &node(&drawn).differs[name];
        assert_eq!((differs.here.as_str(), differs.others.as_str()), (here, others), "{name}");
    }
}

#[test]
fn a_quota_is_named_though_the_capacity_is_whole() {
    let drawn = fleet(&mut Rng::with_seed(3), 40, 1, Fault::Quota);
    let own = node(&drawn);
    assert_eq!((own.state, own.blame[0].quantity.as_str(), innocent(&drawn)), (State::Slow, "delivered", 0));
    assert!(own.drain.as_deref().unwrap().starts_with("scontrol update nodename=n7 state=drain reason="));
}

#[test]
fn a_quota_that_short_runs_do_not_feel_is_named_by_what_it_allows() {
    let mut random = Rng::with_seed(3);
    let mut reports: Vec<Report> = (0..12).map(|host| report(&mut random, host, 0, Fault::None)).collect();
    let cpus = reports[7].machine.strands.len();
    reports[7].host.cpu_quota = Some(format!("{cpus}.00"));
    assert_eq!(node(&judged(&reports)).state, State::Ok, "all of its CPUs");
    reports[7].host.cpu_quota = Some(format!("{:.2}", 0.6 * cpus as f64));
    let fleet = judged(&reports);
    let own = node(&fleet);
    assert_eq!((own.state, own.blame[0].quantity.as_str(), innocent(&fleet)), (State::Slow, "CPU quota", 0));
    assert!(own.why[0].contains("60%"), "{:?}", own.why);
    let mut under = |quota: f64, usual: f64| {
        let quota = |host| Some(format!("{:.2}", cpus as f64 * if host == 7 { quota } else { usual }));
        reports.iter_mut().enumerate().for_each(|(host, report)| report.host.cpu_quota = quota(host));
        let fleet = judged(&reports);
        (node(&fleet).state, innocent(&fleet), node(&fleet).blame.first().map_or(0.0, |blame| blame.effect))
    };
    assert_eq!(under(0.75, 0.5), (State::Ok, 0, 0.0), "more than the others");
    assert_eq!(under(0.5, 0.75), (State::Slow, 0, 0.5 / 0.75 - 1.0), "less than the others");
    reports.iter_mut().step_by(2).for_each(|report| report.host.cpu_quota = Some(format!("{:.2}", 0.5 * cpus as f64)));
    assert!(judged(&reports).nodes.iter().all(|node| node.state != State::Slow), "half of them");
}

#[test]
fn a_node_is_held_against_the_others_and_not_against_itself() {
    let mut random = Rng::with_seed(3);
    let reports = [(1, Fault::None), (7, Fault::Quota)].map(|(host, fault)| report(&mut random, host, 0, fault));
    let said = |reports: &[Report]| node(&judged(reports)).why.join("; ");
    let both = said(&reports);
    let words = [
        "a quota of 8.00 CPUs: it delivered 50% of its capacity, others 100%",
        "only its parts and what it delivered were compared",
    ];
    assert!(words.iter().all(|word| both.contains(word)), "{both}");
    assert!(said(&reports[1..]).ends_with("no other node of its kind, so only its parts were compared"));
}

#[test]
fn the_page_has_every_node_as_a_dot_and_what_is_known_of_it() {
    let fleet = fleet(&mut Rng::with_seed(3), 40, 1, Fault::Core(5));
    let page = fleet.page();
    let dots = page.figures().find_map(|figure| match &figure.body {
        Body::Dots(plot) if figure.id == "distributions" => Some(plot),
        _ => None,
    });
    let dots: usize = dots.unwrap().series.iter().map(|series| series.points.len()).sum();
    assert_eq!(dots, fleet.nodes.iter().map(|node| node.effects.len()).sum::<usize>());
    let every = fleet.every();
    let row = every.rows.iter().find(|row| row.data[0].text == "n7").unwrap();
    let said: Vec<&str> = row.passport.iter().map(|(label, _)| label.as_str()).collect();
    assert!(["slow", "arith-int", "mem-read", "to do"].iter().all(|label| said.contains(label)), "{said:?}");
}

#[test]
fn what_used_the_cpus_of_a_node_is_named_whether_it_is_well_or_not() {
    let mut random = Rng::with_seed(9);
    let hog = Culprit {
        kind: CulpritKind::Process,
        name: "hog".into(),
        pid: Some(7),
        uid: None,
        others: 0,
        cpu_ns: 900_000_000,
        time_ns: 1_000_000_000,
    };
    let visits = (0..20).map(|host| {
        let mut report = report(&mut random, host, 0, if host == 7 { Fault::Quota } else { Fault::None });
        report.host.cpu_quota = None;
        let runs = report.cells.iter_mut().flat_map(|cell| &mut cell.invocations);
        if [3, 7].contains(&host) {
            let evidence =
                Evidence { culprits: vec![hog.clone()], looked_ns: Some(1_000_000_000), ..Evidence::default() };
            runs.for_each(|run| run.evidence = Some(evidence.clone()));
        }
        Visit::of(&report, "file")
    });
    let fleet = judge(&visits.collect::<Vec<_>>(), Vec::new());
    let named = |node: &Node| node.why.iter().any(|why| why.contains("hog (pid 7) used 0.9 CPUs"));
    let named: Vec<_> = fleet.nodes.iter().filter(|own| named(own)).map(|own| (own.host.as_str(), own.state)).collect();
    assert_eq!(named, [("n7", State::Unclear), ("n3", State::Ok)]);
}

#[test]
fn fleets_without_a_fault_have_no_slow_node() {
    let mut random = Rng::with_seed(1);
    for nodes in [5, 12, 40, 40, 40] {
        let drawn = fleet(&mut random, nodes, 1, Fault::None);
        assert_eq!((drawn.nodes.len(), drawn.count(State::Slow)), (nodes, 0));
    }
}

#[test]
fn a_compact_report_is_judged_as_the_whole_one() {
    let mut random = Rng::with_seed(8);
    let reports: Vec<Report> = (0..12)
        .map(|host| report(&mut random, host, 0, if host == 7 { Fault::Core(5) } else { Fault::None }))
        .collect();
    let of = |reports: Vec<Report>| {
        judged(&reports)
            .nodes
            .into_iter()
            .map(|node| (node.host, node.state, node.blame.first().map(|blame| blame.ids.clone())))
            .collect::<Vec<_>>()
    };
    let small = |report: &Report| {
        let small = compact(report.clone());
        let bytes = |report: &Report| {
            let mut text = Vec::new();
            charz_data::report::write(report, &[], false, &mut text).unwrap();
            text.len()
        };
        assert!(bytes(&small) * 2 < bytes(report), "{} of {}", bytes(&small), bytes(report));
        small
    };
    assert_eq!(of(reports.iter().map(small).collect()), of(reports));
}

#[test]
fn a_compact_report_does_not_say_what_was_run() {
    let mut whole = report(&mut Rng::with_seed(3), 1, 0, Fault::None);
    let secret = || "zqsecretqz".to_owned();
    (whole.command, whole.stopped_by, whole.host.disturbances) = (secret(), Some(secret()), vec![secret()]);
    (whole.cells[0].reason, whole.cells[0].skipped) = (Some(secret()), Some(secret()));
    let (kernel, card) = (whole.cells[0].kernel.clone(), &mut whole.cards);
    let card = card.iter_mut().find(|card| card.name == kernel).unwrap();
    (card.role, card.about, card.metric) = (Role::Program, secret().into(), Metric::Reported(secret().into()));
    let text = |report: &Report| {
        let mut text = Vec::new();
        charz_data::report::write(report, &[], false, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    };
    assert_eq!(text(&whole).matches("zqsecretqz").count(), 7);
    assert!(!text(&compact(whole)).contains("zqsecretqz"));
}

#[test]
fn two_nodes_are_enough_for_a_slow_core() {
    let mut random = Rng::with_seed(5);
    let all = [(7, Fault::Core(3)), (8, Fault::None)].map(|(host, fault)| report(&mut random, host, 0, fault));
    let fleet = judged(&all);
    assert_eq!((node(&fleet).state, node(&fleet).blame[0].ids.as_slice()), (State::Slow, &[3][..]));
}

#[test]
fn a_report_that_comes_twice_counts_once_and_kinds_are_kept_apart() {
    let mut random = Rng::with_seed(2);
    let one = report(&mut random, 1, 0, Fault::None);
    let mut other = report(&mut random, 2, 0, Fault::None);
    other.host.processor = Some("another".into());
    other.id.clone_from(&one.id);
    let fleet = judged(&[one.clone(), one, other]);
    assert_eq!((fleet.nodes.len(), fleet.groups.len(), fleet.nodes[0].visits), (2, 2, 1), "of one id");
}

#[test]
fn a_node_without_a_reliable_number_is_unmeasured() {
    let mut report = report(&mut Rng::with_seed(4), 7, 0, Fault::None);
    report.cells = report.cells.into_iter().map(charz_data::report::Cell::suspect).collect();
    let fleet = judged(&[report]);
    assert_eq!((node(&fleet).state, node(&fleet).why.len()), (State::Unmeasured, 1));
}

#[test]
fn a_baseline_survives_its_file_and_tells_a_slow_node() {
    let mut random = Rng::with_seed(6);
    let visits: Vec<Visit> =
        (0..20).map(|host| Visit::of(&report(&mut random, host, 0, Fault::None), "file")).collect();
    let baseline = Baseline::of(&visits).unwrap();
    let read = Baseline::parse(&baseline.text()).unwrap();
    let check = |fault, random: &mut Rng| read.check(&Visit::of(&report(random, 7, 0, fault), "file"), false);
    assert_eq!(read.check(&visits[3], false).level, Level::Ok, "{}", read.check(&visits[3], false).line);
    let slow = check(Fault::Core(2), &mut random);
    assert!(slow.level == Level::Critical && slow.line.contains("core (CPU 2)"), "{}", slow.line);
    let fields =
        slow.line.split(" | ").nth(1).unwrap().split(' ').flat_map(|own| own.split('=').nth(1).unwrap().split(';'));
    let numbers: Vec<f64> = fields.map(|field| field.trim_end_matches(':').parse().unwrap()).collect();
    assert!(numbers.iter().all(|number| *number > 0.0), "{}", slow.line);
    assert!(slow.line.starts_with("CHARZ CRITICAL - n7: ") && slow.line.contains(" | '"), "{}", slow.line);
    // Its part comes first where whole quantities are as far away.
    let mut both = report(&mut random, 7, 0, Fault::Core(2));
    let numbers = both.cells.iter_mut().flat_map(|cell| [&mut cell.capacity, &mut cell.delivered]);
    numbers.flatten().for_each(|number| number.value *= 0.3);
    let line = read.check(&Visit::of(&both, "file"), false).line;
    assert!(line.contains("core (CPU 2)") && line.contains(" more"), "{line}");
    let mut strange = report(&mut random, 7, 0, Fault::None);
    strange.host.processor = Some("another".into());
    assert_eq!(read.check(&Visit::of(&strange, "file"), false).level, Level::Unknown);
    for text in ["", "group = 1", "[[group]]\nname = 1", "[[group]]\nname = 'x'"] {
        assert!(Baseline::parse(text).is_err(), "{text:?}");
    }
    assert!(Baseline::parse(&baseline.text().replacen("warning = 0.0", "warning = 7.0", 9)).is_err());
    assert!(Baseline::of(&[]).is_err());
}

/// A report of transfers alone: no part of a node is slower than its like, whatever the other nodes have.
fn pairs(random: &mut Rng, host: usize, visit: usize) -> Report {
    let mut report = report(random, host, visit, Fault::None);
    report.cells.retain(|cell| cell.kernel.starts_with("c2c"));
    report
}

#[test]
fn what_a_baseline_tolerates_is_told_by_nodes_and_not_by_their_reports() {
    let mut random = Rng::with_seed(14);
    let mut of = |host| (0..6).map(|visit| pairs(&mut random, host, visit)).collect::<Vec<_>>();
    let (one, other) = (of(1), of(2));
    let text = |reports: &[Report], times: usize| {
        let visits = reports.iter().map(|report| Visit::of(report, "file"));
        let visits: Vec<Visit> = visits.flat_map(|visit| vec![visit; times]).collect();
        Baseline::of(&visits).unwrap().text()
    };
    assert_eq!(text(&one[..2], 5), text(&one[..2], 1), "reports that come several times");
    let tolerances =
        |text: &str| text.lines().filter(|line| line.starts_with("warning = ")).map(str::to_owned).collect::<Vec<_>>();
    let both: Vec<Report> = one.iter().chain(&other).cloned().collect();
    assert_eq!(tolerances(&text(&both, 1)), tolerances(&text(&one[..1], 1)), "too few nodes for a spread");
    let head = "3% to 45%. Fewer than 5 nodes show no\n# deviation, so 1.2% is assumed.\n";
    assert!(text(&both, 1).contains(head), "{}", text(&both, 1));
}

#[test]
fn a_baseline_of_nodes_that_deliver_more_than_their_capacity_can_be_read() {
    let mut report = pairs(&mut Rng::with_seed(15), 1, 0);
    report.cells.iter_mut().for_each(|cell| {
        cell.delivered = cell.capacity.map(|mut number| {
            number.value *= if cell.unit.more_is_better() { 1.08 } else { 1.0 / 1.08 };
            number
        });
    });
    let visit = Visit::of(&report, "file");
    let baseline = Baseline::of(std::slice::from_ref(&visit)).unwrap();
    let read = Baseline::parse(&baseline.text()).unwrap();
    assert_eq!(read.check(&visit, false).level, Level::Ok);
}

#[test]
fn only_nodes_that_were_compared_were_so_by_their_parts() {
    let mut report = report(&mut Rng::with_seed(4), 7, 0, Fault::None);
    let unread = || vec![crate::Unreadable { file: "x".into(), why: "empty".into() }];
    let summary = |report: &Report| judge(&[Visit::of(report, "file")], unread()).summary().remove(0);
    let one = summary(&report);
    assert!(one.find("parts") < one.find("1 file") && one.contains("parts"), "{one}");
    report.cells = report.cells.into_iter().map(charz_data::report::Cell::suspect).collect();
    assert!(!summary(&report).contains("parts"), "{}", summary(&report));
}

/// `cargo test -p charz-fleet --release -- --ignored --nocapture`: the table of faults.
#[test]
#[ignore = "takes minutes; the other tests make fewer draws"]
fn the_table_of_faults() {
    println!("fault, nodes, visits: right, unclear, wrong of 200 draws");
    for (name, visits, fault, component, ids) in [
        ("none", 1, Fault::None, "none", vec![]),
        ("core -8%", 1, Fault::Core(5), "core", vec![5]),
        ("l3 -15%", 1, Fault::Cache(2), "l3", vec![8, 9, 10, 11]),
        ("socket -15%", 1, Fault::Socket(1), "package", (8..16).collect()),
        ("pair +30%", 1, Fault::Pair(4, 6), "pair", vec![4, 6]),
        ("node -7%", 1, Fault::Whole, "node", vec![]),
        ("node -7%", 3, Fault::Whole, "node", vec![]),
        ("governor -7%", 1, Fault::Governor, "node", vec![]),
        ("governor -7%", 3, Fault::Governor, "node", vec![]),
    ] {
        for nodes in [40, 500] {
            let [right, unclear, wrong] = draws(200, nodes, visits, fault, component, &ids);
            println!("{name}, {nodes}, {visits}: {right}, {unclear}, {wrong}");
        }
    }
}
