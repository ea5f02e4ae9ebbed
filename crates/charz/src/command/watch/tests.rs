//! The groups of a machine of 256 CPUs.

use super::*;
use crate::view::watch::SHARES;

/// The CPUs 0 to 255 of the T5440 in S. Sistare's "Solaris for the T5440", by what his mpstat listing says of each.
const LISTING: &str = include_str!("t5440.tsv");

fn rows() -> Vec<Row> {
    let read = |(cpu, line): (usize, &str)| {
        let figures: Vec<f64> = line.split('\t').map(|figure| figure.parse().unwrap()).collect();
        let [intr, csw, usr, sys, idl] = figures[..] else { panic!("{line}") };
        let mut shares = [0.0; SHARES];
        (shares[0], shares[1], shares[SHARES - 1]) = (usr, sys, idl);
        let shares = Some(shares);
        Row { cpu: cpu as u32, name: cpu.to_string(), shares, intr: Some(intr), csw: Some(csw), ..Row::default() }
    };
    LISTING.lines().skip(1).enumerate().map(read).collect()
}

/// Rows by their names and some of their columns.
fn means(groups: Groups, key: Option<&str>, columns: [&str; 3]) -> Vec<(String, [f64; 3])> {
    let machine = discover(&Source::Synthetic("pack:4 [numa] core:8 pu:8".to_owned())).unwrap();
    let rows = grouped(rows(), Some(groups), key, &machine);
    rows.iter().map(|row| (row.name.clone(), columns.map(|column| row.value(column).unwrap()))).collect()
}

#[track_caller]
fn check(found: &[(String, [f64; 3])], expected: &[(&str, [f64; 3])]) {
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for ((name, found), (of, expected)) in found.iter().zip(expected) {
        let is_near = found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 0.001);
        assert!(name == of && is_near, "{name}: {found:?} is not {of}: {expected:?}");
    }
}

#[test]
fn top_leaves_the_busy_share_that_of_all_cpus() {
    let sample = |ticks: [[u64; 2]; 2]| {
        let ticks = ticks.map(|[user, idle]| Ticks { user, idle, ..Ticks::default() });
        let cpus = (0..).zip(ticks.map(|ticks| Cpu { ticks, ..Cpu::default() })).collect();
        Sample { cpus, softirqs: Vec::new(), missing: Vec::new() }
    };
    let samples = [sample([[0, 0], [0, 0]]), sample([[20, 80], [100, 0]])];
    let (interval, format) = (Duration::from_secs(1), &FORMATS[0]);
    let options = Options { interval, count: None, key: Some("busy"), groups: None, top: Some(1), of: None, format };
    let machine = discover(&Source::Synthetic("core:2 pu:1".to_owned())).unwrap();
    let told = of_cpus(&options, &machine, [&samples[0], &samples[1]], 0.0, 1.0);
    assert_eq!((told.rows.len(), told.rows[0].cpu, told.busy), (1, 1, Some(60.0)));
}

#[test]
fn a_cpu_without_ticks_has_no_shares() {
    let ticks = |user| Cpu { ticks: Ticks { user, idle: 90, ..Ticks::default() }, ..Cpu::default() };
    let busy = |before, after| row(0, &ticks(before), &ticks(after), 1.0).busy();
    assert_eq!((busy(0, 0), busy(0, 5)), (None, Some(100.0)));
}

#[test]
fn a_counter_of_32_bits_that_begins_anew_is_not_a_machine_without_interrupts() {
    const OTHERS: u64 = 5 << 32;
    let cpu = |count| Cpu { interrupts: Some(count), calls: Some([count; 3]), softirqs: vec![count], ..Cpu::default() };
    let rates = |before, after| {
        let row = row(0, &cpu(before), &cpu(after), 2.0);
        [row.intr.unwrap(), row.calls.unwrap()[2], row.softirqs[0]]
    };
    assert_eq!(rates(OTHERS + u64::from(u32::MAX), OTHERS + 199), [100.0; 3]);
    assert_eq!(rates(OTHERS, OTHERS + 20), [10.0; 3]);
    // A device that has gone.
    assert_eq!(rates(OTHERS, OTHERS - 1000), [0.0; 3]);
}

#[test]
fn the_busiest_threads_of_a_process_are_on_top() {
    let thread = |tid| Thread { tid, name: String::new(), cpu: None, allowed: Vec::new(), busy: 0.0 };
    let all = |ticks: [u64; 3], of_all| Process {
        ticks: of_all,
        threads: (1..).zip(ticks).map(|(tid, ticks)| (tid, (ticks, thread(tid)))).collect(),
    };
    let since = |of_all, top| all([10, 70, 40], of_all).since(&all([0; 3], 1000), 2.0, top);
    let shown = |top| since(1120, top).0.iter().map(|thread| thread.tid).collect::<Vec<_>>();
    assert_eq!((shown(Some(2)), shown(None)), (vec![2, 3], vec![1, 2, 3]));
    // Others ended after 100 ticks of 10 ms, in two seconds; a tick of each thread is lost by rounding.
    assert_eq!([1220, 1123].map(|of_all| since(of_all, Some(1)).1), [50.0, 0.0]);
}

/// The expected figures were added up from the listing by other means.
#[test]
fn quartiles_and_sockets_of_a_machine_of_256_cpus_have_the_means_of_their_cpus() {
    let by_interrupts = [
        ("1/4", [1391.625, 62.031, 36.844]),
        ("2/4", [439.750, 45.797, 53.266]),
        ("3/4", [235.312, 60.188, 39.344]),
        ("4/4", [36.703, 12.703, 87.203]),
    ];
    check(&means(Groups::Equal(4), Some("intr"), ["intr", "sys", "idl"]), &by_interrupts);
    let sockets = [
        ("socket 0", [604.375, 0.750, 30.297]),
        ("socket 1", [460.938, 0.578, 88.594]),
        ("socket 2", [743.281, 0.594, 75.547]),
        ("socket 3", [510.750, 0.562, 22.219]),
    ];
    check(&means(Groups::Socket, None, ["csw", "usr", "idl"]), &sockets);
    // By a key, the sockets too.
    let idle = means(Groups::NumaNode, Some("idl"), ["csw", "usr", "idl"]);
    assert_eq!(
        idle.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
        ["node 1", "node 2", "node 0", "node 3"]
    );
}
