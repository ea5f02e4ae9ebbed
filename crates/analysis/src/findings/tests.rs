//! Findings from synthetic cells.

use super::findings;
use charz_data::report::{Cell, Ending, Finding, FindingKind, Invocation, Status, Unit, fixtures};
use charz_estimate::fixtures::assert_words;

/// A cell whose number is `value`, give or take 2%.
pub(super) fn cell(kernel: &str, workers: u64, value: f64) -> Cell {
    let unit = match kernel {
        _ if kernel.starts_with("ring-") || kernel.starts_with("c2c-") => Unit::NanosecondsPerOp,
        _ if kernel.starts_with("pool-") || kernel.starts_with("counter-") => Unit::OpsPerSecond,
        _ if kernel.starts_with("cas-") => Unit::OpsPerSecond,
        _ => Unit::NanosecondsSampled,
    };
    fixtures::cell(kernel, workers, unit, value)
}

fn without(kernel: &str, workers: u64, status: Status, ending: Option<Ending>) -> Cell {
    let invocation = |ending| Invocation { reason: Some("a reason".into()), ..fixtures::barren(ending) };
    let invocations = ending.into_iter().map(invocation).collect();
    Cell { invocations, ..cell(kernel, workers, 1.0).unmeasured(status, "safety") }
}

fn series(kernel: &str, numbers: &[(u64, f64)]) -> Vec<Cell> {
    numbers.iter().map(|&(workers, value)| cell(kernel, workers, value)).collect()
}

/// What follows from these cells on a machine with so many strands.
fn of(kind: FindingKind, strands: usize, cells: Vec<Cell>) -> Vec<Finding> {
    let report = fixtures::report(cells).on(strands as u32);
    findings(&report).into_iter().filter(|finding| finding.kind == kind).collect()
}

/// Checks the numbers of workers that findings name, and that the first one's sentence has these words.
#[track_caller]
fn check(found: &[Finding], workers: &[Option<u64>], words: &[&str]) {
    let named: Vec<_> = found.iter().map(|finding| finding.workers).collect();
    assert_eq!(named, workers, "{found:#?}");
    assert_words(found.first().map_or("", |first| &first.text), words);
}

#[track_caller]
fn check_cliff(strands: usize, numbers: &[(u64, f64)], workers: &[Option<u64>], words: &[&str]) {
    check(&of(FindingKind::Cliff, strands, series("ring-mutex", numbers)), workers, words);
}

#[test]
fn rings_of_the_source_have_their_cliffs() {
    // libMicro's cascade_mutex in nanoseconds a lap, on a T2000 with 32 strands and on a V890 with 16.
    let hops = |laps: [(u64, f64); 3]| laps.map(|(workers, lap)| (workers, lap * 1e3 / workers as f64));
    let t2000 = hops([(16, 11.9), (32, 32.4), (33, 1140.0)]);
    check_cliff(32, &t2000, &[Some(33)], &["ring-mutex rr", "33 threads, one more than CPUs", "1.01 µs", "34.5 µs"]);
    let v890 = hops([(16, 25.3), (32, 850.0), (33, 900.0)]);
    check_cliff(16, &v890, &[Some(32)], &["32 threads, 16 more than CPUs"]);
}

#[test]
fn a_cliff_is_steep_certain_and_lasting() {
    check_cliff(4, &[(2, 400.0), (4, 500.0), (5, 1600.0)], &[Some(5)], &["500 ns per hop before", "1.60 µs after"]);
    check_cliff(4, &[(2, 400.0), (4, 500.0), (5, 900.0)], &[None], &["cliff up to 5 threads", "400 ns to 900 ns"]);
    check_cliff(4, &[(2, 400.0), (4, 4000.0), (5, 500.0)], &[None], &[]);
    check_cliff(4, &[(2, 400.0), (4, 2000.0)], &[Some(4)], &["4 threads, as many as CPUs"]);
    check_cliff(4, &[(2, 400.0), (4, 500.0)], &[], &[]);
    check_cliff(4, &[(5, 400.0)], &[], &[]);
    check_cliff(16, &[(2, 40.0), (4, 120.0), (16, 140.0)], &[], &[]);
    check_cliff(16, &[(2, 40.0), (4, 120.0), (17, 140.0)], &[None], &["no oversubscription cliff up to 17 threads"]);
    let vague = vec![cell("ring-mutex", 2, 400.0), cell("ring-mutex", 5, 1600.0).within(9.0)];
    check(&of(FindingKind::Cliff, 4, vague), &[None], &["cliff is not shown"]);
}

#[test]
fn a_cliff_beyond_cells_without_a_number_lies_somewhere_between() {
    let mut cells = series("ring-mutex", &[(2, 400.0), (8, 1600.0)]);
    let pending = |workers| cell("ring-mutex", workers, 1.0).unmeasured(Status::Pending, "");
    cells.extend([pending(4), pending(5), pending(9)]);
    check(
        &of(FindingKind::Cliff, 4, cells),
        &[Some(8)],
        &["between 2 and 8 threads", "without a number of 2 configurations between"],
    );
}

#[track_caller]
fn check_collapse(cells: Vec<Cell>, workers: &[Option<u64>], words: &[&str]) {
    check(&of(FindingKind::Collapse, 4, cells), workers, words);
}

#[test]
fn a_collapse_is_less_than_half_of_what_fewer_do() {
    let of = |numbers: &[(u64, f64)]| series("cas-counter", numbers);
    check_collapse(
        of(&[(1, 40e6), (2, 30e6), (4, 19e6)]),
        &[Some(4)],
        &["collapsed at 4 threads: 19.0 Mop/s, where 1 thread did 40.0 Mop/s"],
    );
    check_collapse(of(&[(1, 40e6), (2, 30e6), (4, 21e6)]), &[], &[]);
    check_collapse(of(&[(1, 40e6), (2, 80e6), (4, 90e6)]), &[], &[]);
    let twice = of(&[(1, 100e6), (2, 20e6), (4, 22e6), (8, 1e6)]);
    check_collapse(
        twice,
        &[Some(2)],
        &["at 2 threads", "again at 8 threads: 1.00 Mop/s, where 4 threads did 22.0 Mop/s"],
    );
    check_collapse(vec![cell("cas-counter", 1, 40e6), cell("cas-counter", 4, 10e6).within(9.0)], &[], &[]);
    check_collapse(vec![cell("cas-counter", 1, 40e6), cell("cas-counter", 4, 10e6).without_interval()], &[], &[]);
    check_collapse(series("mem-read", &[(1, 40e6), (2, 1e6)]), &[], &[]);
}

#[test]
fn what_did_not_end_has_collapsed_and_what_was_skipped_is_named() {
    let mut cells = series("cas-counter", &[(1, 40e6), (2, 30e6)]);
    cells.push(without("cas-counter", 64, Status::Failed, Some(Ending::TimedOut)));
    cells.push(without("cas-counter", 128, Status::Skipped, None));
    check_collapse(
        cells,
        &[Some(64)],
        &["at 64 threads: it did not end in its time", "with 128 threads it was skipped"],
    );
    // A cell that was skipped shows nothing.
    let skipped = vec![cell("cas-counter", 1, 40e6), without("cas-counter", 8, Status::Skipped, None)];
    check_collapse(skipped, &[], &[]);
}

#[track_caller]
fn check_fastest(cells: Vec<Cell>, kernels: &[&str], words: &[&str]) {
    let found = of(FindingKind::Fastest, 4, cells);
    let named: Vec<_> = found.iter().map(|finding| finding.kernel.as_str()).collect();
    assert_eq!(named, kernels, "{found:#?}");
    assert_words(found.first().map_or("", |first| &first.text), words);
}

#[test]
fn the_fastest_lock_is_held_against_the_reference() {
    let cells = |mcs: f64, parked: f64| {
        vec![cell("pool-mcs", 2, mcs), cell("pool-parking-lot", 2, parked), cell("pool-tas", 2, 1e6)]
    };
    check_fastest(
        cells(30e6, 20e6),
        &["pool-mcs"],
        &["2 threads rr: the fastest lock is pool-mcs, 30.0 Mop/s", "1.50 (1.46 to 1.54) times pool-parking-lot"],
    );
    check_fastest(cells(20e6, 30e6), &["pool-parking-lot"], &["is pool-parking-lot, 30.0 Mop/s"]);
    check_fastest(cells(30.1e6, 30e6), &["pool-mcs"], &["30.1 Mop/s, not significantly faster than pool-parking-lot"]);
    check_fastest(vec![cell("pool-mcs", 2, 30e6)], &[], &[]);
    let few = cells(30e6, 20e6).into_iter().map(Cell::without_interval);
    check_fastest(few.collect(), &[], &[]);
    let one_of_few = [cells(30e6, 20e6), vec![cell("pool-std", 2, 90e6).without_interval()]].concat();
    check_fastest(one_of_few, &["pool-mcs"], &["too few runs of 1 other"]);
    // Of those without a number it counts which might be faster.
    let mut some = cells(30e6, 20e6);
    some.push(cell("pool-std", 2, 1.0).invalid());
    some.push(cell("pool-tas-backoff", 2, 1.0).unmeasured(Status::Pending, ""));
    some.push(without("pool-std", 2, Status::Skipped, None));
    check_fastest(some, &["pool-mcs"], &["1.50 (1.46 to 1.54) times pool-parking-lot; 2 others have no number"]);
    // Sections of other lengths are other work.
    let long = |kernel: &str, value| {
        let mut cell = cell(kernel, 2, value);
        cell.point.inside_steps = Some(1000);
        cell
    };
    check_fastest(vec![cell("pool-mcs", 2, 30e6), long("pool-mcs", 1e6)], &[], &[]);
    let of_two = [cells(30e6, 20e6), vec![long("pool-mcs", 1e6), long("pool-tas", 2e6)]].concat();
    check_fastest(of_two, &["pool-mcs", "pool-tas"], &["1.50 (1.46 to 1.54) times pool-parking-lot"]);
}

#[test]
fn pools_without_a_lock_are_a_contest_of_their_own() {
    let mut cells = series("pool-deque", &[(2, 90e6)]);
    cells.extend(series("pool-treiber", &[(2, 10e6), (4, 5e6)]));
    cells.extend(series("pool-treiber-backoff", &[(2, 12e6), (4, 20e6)]));
    cells.extend(series("pool-std", &[(2, 9e6), (4, 9e6)]));
    check_fastest(cells, &["pool-deque", "pool-treiber-backoff"], &["fastest pool without a lock"]);
}

#[track_caller]
fn check_advice(strands: usize, cells: Vec<Cell>, values: &[f64], words: &[&str]) {
    let found = of(FindingKind::Advice, strands, cells);
    let named: Vec<_> = found.iter().filter_map(|finding| finding.value).collect();
    assert_eq!(named, values, "{found:#?}");
    for word in words {
        let says = |finding: &Finding| finding.text.contains(word) || finding.evidence.contains(word);
        assert!(found.iter().any(says), "{word:?} is not in {found:#?}");
    }
}

#[test]
fn advice_is_drawn_from_the_cells_that_it_names() {
    let apart = cell("futex-wake", 2, 8e3).seated(&[0, 1]);
    check_advice(4, vec![apart], &[8e3], &["8.00 µs", "futex-wake rr x2: 8.00 µs"]);
    let ways = vec![cell("c2c-cas", 2, 20.0).under("pair:core"), cell("c2c-cas", 2, 150.0).under("pair:package")];
    check_advice(16, ways, &[2400.0], &["2.40 µs", "16 cache-line transfers", "c2c-cas pair:package x2: 150 ns"]);
    check_advice(1, vec![cell("c2c-cas", 2, 20.0)], &[], &[]);
    let mut pools = series("c2c-cas", &[(2, 100.0)]);
    pools.extend(series("pool-treiber", &[(2, 10e6), (4, 5e6), (8, 1e6)]));
    pools.extend(series("pool-treiber-backoff", &[(2, 10e6), (4, 20e6), (8, 9e6)]));
    pools.extend([cell("pool-tas", 2, 10e6), cell("pool-tas-backoff", 2, 10.1e6)]);
    let words = ["400 ns", "times as fast: pool-treiber rr x4", "no significant difference: pool-tas rr x2"];
    check_advice(4, pools.clone(), &[400.0], &words);
    // Without work inside its sections the other does more for that.
    pools.retain(|cell| cell.kernel != "pool-treiber");
    pools.iter_mut().filter(|cell| cell.kernel == "pool-tas").for_each(|cell| cell.point.inside_steps = Some(1000));
    assert!(!of(FindingKind::Advice, 4, pools)[0].evidence.contains("back-off"));
    check_advice(4, vec![without("futex-wake", 2, Status::Failed, Some(Ending::Died))], &[], &[]);
}

#[test]
fn advice_from_doubtful_numbers_says_so() {
    let suspect = cell("futex-wake", 2, 8e3).seated(&[0, 1]).suspect();
    check_advice(4, vec![suspect], &[8e3], &["8.00 µs~", "futex-wake rr x2: 8.00 µs~"]);
}

#[test]
fn what_more_threads_do_under_a_quota_is_said() {
    let rates = [(1, 100.0), (2, 101.0), (4, 95.0)];
    let cells = rates.map(|(workers, value)| fixtures::cell("cmt-quota", workers, Unit::OpsPerSecond, value));
    let mut report = fixtures::report(cells.into()).on(2);
    assert!(!findings(&report).iter().any(|finding| finding.text.contains("quota of")), "there is none");
    report.machine.usable.quota_cpus = Some(1.0);
    let found = findings(&report).into_iter().find(|finding| finding.text.contains("quota of")).unwrap();
    assert_eq!((found.kind, found.value), (FindingKind::Advice, Some(0.95)));
    assert_words(
        &found.text,
        &[
            "quota of 1.00, 2 threads do 1.01 (0.98 to 1.04) times and 4 threads 0.95 (0.92 to 0.98) times the work of 1 thread",
        ],
    );
}

/// A wake-up on one CPU is quick, and no thread can spin meanwhile.
#[test]
fn the_limit_of_spinning_is_that_between_two_cpus() {
    let wake = |mapping: &str, seats: [u32; 2], ns| cell("futex-wake", 2, ns).under(mapping).seated(&seats);
    let far = || wake("far", [0, 2], 30e3);
    check_advice(4, vec![wake("one", [1, 1], 3e3), far()], &[30e3], &["share a CPU (one), spinning is useless"]);
    check_advice(4, vec![wake("near", [0, 1], 9e3), far()], &[9e3, 30e3], &["under near", "under far"]);
    check_advice(4, vec![wake("near", [0, 1], 30.1e3), far()], &[30.1e3], &["under near and far"]);
    check_advice(4, vec![wake("one", [1, 1], 3e3)], &[], &["do not spin"]);
    // Unpinned, and seen on one CPU.
    let mut auto = wake("auto", [1, 1], 3e3);
    auto.seats = vec![None; 2];
    check_advice(4, vec![auto, far()], &[30e3], &["share a CPU (auto)"]);
}

#[test]
fn a_counter_for_each_thread_pays_where_the_interval_says_so() {
    let adding = |shared: f64, own: f64, width: f64| {
        let of = |kernel: &str, value| {
            let cell = fixtures::cell(kernel, 4, Unit::OpsPerSecond, value).seated(&[0, 1, 2, 3]);
            cell.within(width)
        };
        vec![of("atomic-fetch-add", shared), of("atomic-fetch-add-private", own)]
    };
    let words = ["2.50 (2.43 to 2.57) times as fast, 4 threads, rr", "atomic-fetch-add rr x4: 10.0 Mop/s"];
    check_advice(8, adding(10e6, 25e6, 0.02), &[2.5], &words);
    check_advice(8, adding(10e6, 11e6, 0.02), &[1.0], &["one global counter"]);
    check_advice(8, adding(10e6, 16e6, 0.2), &[], &[]);
    let doubtful = adding(10e6, 25e6, 0.02).into_iter().map(Cell::suspect).collect();
    check_advice(8, doubtful, &[2.5], &["2.50~ ("]);
    // With more workers than strands the scheduler decides.
    check_advice(2, adding(10e6, 900e6, 0.02), &[], &[]);
    // A resource with a limit, whose shards steal from each other, is another thing.
    let limited = vec![cell("counter-atomic", 4, 10e6), cell("counter-sharded", 4, 11e6)];
    check_advice(8, limited.into_iter().map(|cell| cell.seated(&[0, 1, 2, 3])).collect(), &[], &[]);
}

#[test]
fn the_fastest_way_to_meet_and_to_hand_over_are_named() {
    let barriers = vec![cell("barrier-std", 4, 9e3), cell("barrier-spin", 4, 300.0), cell("barrier-sense", 4, 305.0)];
    check_advice(
        4,
        barriers,
        &[300.0],
        &[
            "barrier under rr, 4 threads: barrier-spin, 300 ns (not significantly different: barrier-sense)",
            "rr x4: 300 ns",
        ],
    );
    let waker = [cell("signal-std", 2, 9e3), cell("channel-std", 2, 7e3), cell("flag", 2, 80.0)];
    check_advice(4, waker.to_vec(), &[7e3], &["channel-std, 7.00 µs", "80.0 ns", "flag rr x2: 80.0 ns"]);
}

#[test]
fn a_report_without_such_cells_has_no_findings() {
    assert_eq!(findings(&fixtures::report(Vec::new())), []);
}

#[test]
fn the_lock_that_does_most_is_named_with_the_work_outside_that_frees_it() {
    let pool = |kernel: &str, one: f64, two: f64, width: f64| {
        let of =
            |workers: u64, value| fixtures::cell(kernel, workers, Unit::OpsPerSecond, value).in_order().within(width);
        vec![of(1, one), of(2, two)]
    };
    let locks = |cells: Vec<Cell>| {
        let found = of(FindingKind::Advice, 2, cells);
        found.into_iter().find(|finding| finding.text.contains("the sections of 1"))
    };
    let cells = [pool("pool-std", 40e6, 10e6, 0.02), pool("pool-mcs", 20e6, 16e6, 0.02)].concat();
    let found = locks(cells).unwrap();
    assert_eq!((found.kernel.as_str(), found.workers), ("pool-mcs", Some(2)));
    // A section each 62.5 ns is one of a thread each 125 ns, of which it is 50 ns in the lock.
    assert_words(
        &found.text,
        &["0.80 (0.78 to 0.82) times", "1.60 (1.56 to 1.65) times those of pool-std", "75.0 ns (", "225 ns"],
    );
    // One that loses more and still does more is the better one.
    let faster = locks([pool("pool-mcs", 40e6, 20e6, 0.02), pool("pool-std", 60e6, 24e6, 0.02)].concat()).unwrap();
    assert_words(&faster.text, &["is pool-std: ", "0.40 (", "times those of pool-mcs"]);
    // Nor is one that does more without a number of one thread passed over.
    let mut more = pool("pool-tas", 40e6, 30e6, 0.02);
    more.remove(0);
    assert_eq!(locks([pool("pool-std", 40e6, 10e6, 0.02), pool("pool-mcs", 20e6, 16e6, 0.02), more].concat()), None);
    // What decides nothing is no advice.
    assert_eq!(locks([pool("pool-std", 40e6, 10e6, 0.7), pool("pool-mcs", 20e6, 16e6, 0.7)].concat()), None);
    let alike = locks([pool("pool-std", 20e6, 15.8e6, 0.02), pool("pool-mcs", 20e6, 16e6, 0.02)].concat()).unwrap();
    assert_words(&alike.text, &["not significantly different: pool-std"]);
    let alone = locks(pool("pool-std", 40e6, 10e6, 0.02)).unwrap();
    assert_words(&alone.text, &["pool-std", "0.25 (", "175 ns ("]);
    assert!(!alone.text.contains("does most"), "of one: {}", alone.text);
    // The sweep varies the sections: the plan has none.
    let mut long = pool("pool-std", 40e6, 10e6, 0.02);
    long.iter_mut().for_each(|cell| (cell.point.inside_steps, cell.point.outside_steps) = (Some(10), Some(100)));
    assert_words(&locks(long).unwrap().text, &["10 steps inside and 100 outside"]);
}
