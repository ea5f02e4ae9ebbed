//! Verdicts on synthetic reports.

use super::*;
use charz_data::report::Status;
use charz_data::report::fixtures::{cell, report};
use charz_estimate::Quantity;
use charz_estimate::fixtures::valued;
use charz_stats::Sample;

/// A cell of bytes per second: its mapping, its workers and its number in GB/s.
fn rate(mapping: &str, workers: u64, gigabytes: f64) -> Cell {
    cell("mem-read", workers, Unit::BytesPerSecond, gigabytes * 1e9).under(mapping)
}

/// Has a look at the only verdict on these cells.
fn only<T>(cells: Vec<Cell>, look: impl Fn(&Verdict<'_>) -> T) -> T {
    let report = report(cells).on(8);
    let verdicts = verdicts(&Estimates::of(&report));
    assert_eq!(verdicts.len(), 1, "{verdicts:#?}");
    look(&verdicts[0])
}

/// Checks which mapping is best with how many workers, and whether that is doubtful.
#[track_caller]
fn check_best(cells: Vec<Cell>, expected: (&str, u64, bool)) {
    let found = only(cells, |verdict| (verdict.best.cell.mapping.clone(), verdict.best.cell.workers, verdict.doubtful));
    assert_eq!((found.0.as_str(), found.1, found.2), expected);
}

#[test]
fn a_small_block_is_not_compared_with_a_large_one() {
    let (small, large) = (32 << 10, 256 << 20);
    let report = report(vec![
        rate("rr", 2, 100.0).sized(small),
        rate("rr", 2, 10.0).sized(large),
        rate("auto", 2, 80.0).sized(small),
        rate("auto", 2, 12.0).sized(large),
    ]);
    let verdicts = verdicts(&Estimates::of(&report));
    let best: Vec<_> =
        verdicts.iter().map(|one| (one.point.size_bytes, one.best.cell.mapping.as_str(), one.best.value)).collect();
    assert_eq!(best, [(Some(small), "rr", 100e9), (Some(large), "auto", 12e9)]);
    let Auto::Other(loss) = verdicts[0].auto else { panic!("{:?}", verdicts[0].auto) };
    assert!((loss.share - 0.2).abs() < 1e-9, "{loss:?}");
    assert!(matches!(verdicts[1].auto, Auto::Best(Some(loss)) if loss.share < 0.0), "{:?}", verdicts[1].auto);
}

#[test]
fn a_curve_under_one_mapping_compares_nothing() {
    let telling = |cells| -> Vec<bool> {
        let report = report(cells);
        verdicts(&Estimates::of(&report)).iter().map(|verdict| verdict.decides(&report)).collect()
    };
    let curve = || vec![rate("rr", 1, 10.0).sized(64), rate("rr", 1, 10.0).sized(128)];
    assert_eq!(telling(curve()), [false, false]);
    assert_eq!(telling([curve(), vec![rate("auto", 1, 9.0).sized(128)]].concat()), [false, true]);
    // A sweep with one place of memory has it in each cell.
    assert_eq!(telling(vec![rate("rr", 1, 10.0).sized(64), rate("rr", 2, 20.0).sized(64)]), [true]);
    assert_eq!(telling(vec![rate("rr", 1, 10.0)]), [false]);
}

#[test]
fn the_fewest_workers_that_reach_the_best_are_the_answer() {
    check_best(vec![rate("rr", 1, 10.0), rate("rr", 2, 20.0), rate("auto", 2, 15.0)], ("rr", 2, false));
    check_best(vec![rate("rr", 4, 20.0), rate("rr", 2, 19.8), rate("auto", 2, 19.7)], ("rr", 2, false));
    check_best(vec![rate("rr", 4, 20.0), rate("rr", 2, 18.0)], ("rr", 4, false));
    check_best(vec![rate("rr", 4, 20.0), rate("auto", 1, 18.0).within(0.2)], ("rr", 4, false));
    check_best(vec![rate("rr", 4, 20.0), rate("rr", 16, 20.1)], ("rr", 4, false));
    check_best(vec![rate("rr", 2, 20.0).invalid(), rate("auto", 2, 15.0)], ("auto", 2, false));
    let time = |mapping, workers, ns| cell("chase", workers, Unit::NanosecondsPerStep, ns).under(mapping);
    check_best(vec![time("rr", 1, 5.0), time("auto", 1, 4.0)], ("auto", 1, false));
    check_best(vec![time("rr", 2, 4.0), time("rr", 1, 4.02), time("rr", 4, 9.0)], ("rr", 1, false));
}

#[test]
fn suspect_numbers_compete_and_leave_their_mark() {
    check_best(vec![rate("rr", 2, 20.0).suspect(), rate("auto", 2, 15.0)], ("rr", 2, true));
    check_best(vec![rate("rr", 2, 10.0).suspect(), rate("auto", 2, 15.0)], ("auto", 2, false));
    check_best(vec![rate("rr", 2, 20.0).suspect(), rate("auto", 2, 15.0).suspect()], ("rr", 2, true));
    // The only sound number is not the answer where fewer workers do as much.
    check_best(
        vec![rate("rr", 4, 24.8), rate("rr", 2, 25.3).suspect(), rate("rr", 1, 13.0).suspect()],
        ("rr", 2, true),
    );
    check_best(vec![rate("rr", 4, 25.3).suspect(), rate("rr", 2, 24.9)], ("rr", 2, true));
}

/// One placement under two names: what lies between its two numbers is when they were measured.
#[test]
fn mappings_that_take_the_same_cpus_do_not_differ() {
    let two = |seats: &[u32]| vec![rate("rr", 2, 20.0).seated(&[0, 1]), rate("dumb", 2, 18.0).seated(seats)];
    let alike = |other| only(two(other), |verdict| (verdict.alike.len(), verdict.is_equal));
    assert_eq!(alike(&[0, 1]), (1, true));
    // The same CPUs for other threads are another placement.
    assert_eq!(alike(&[1, 0]).0, 0);
}

#[test]
fn what_auto_loses_is_told_with_as_many_workers() {
    let loss = |cells| {
        only(cells, |verdict| match verdict.auto {
            Auto::Other(loss) => ((loss.share * 1e6).round() / 1e6, loss.open, loss.is_doubtful()),
            other => panic!("{other:?}"),
        })
    };
    assert_eq!(
        loss(vec![rate("rr", 2, 20.0), rate("auto", 2, 15.0), rate("auto", 1, 19.0)]),
        (0.25, Some(false), false)
    );
    assert_eq!(loss(vec![rate("rr", 2, 20.0), rate("auto", 2, 19.8)]), (0.01, Some(true), false));
    assert_eq!(loss(vec![rate("rr", 2, 20.0), rate("auto", 2, 15.0).suspect()]), (0.25, Some(false), true));
    assert_eq!(loss(vec![rate("rr", 2, 20.0), rate("auto", 2, 15.0).without_interval()]), (0.25, None, false));
    for (runs, claim) in [(1, Strength::TooFew(0.25)), (10, Strength::TooNoisy(0.25))] {
        let mut auto = rate("auto", 2, 15.0).without_interval();
        auto.invocations = vec![auto.invocations[0].clone(); runs];
        let cells = vec![valued(rate("rr", 2, 20.0), vec![20e9; 10]), auto];
        assert!(
            only(cells, |verdict| matches!(verdict.auto, Auto::Other(loss) if loss.strength() == claim)),
            "{claim:?}"
        );
    }
    let time = |mapping, ns| cell("chase", 1, Unit::NanosecondsPerStep, ns).under(mapping);
    assert_eq!(loss(vec![time("rr", 10.0), time("auto", 15.0)]), (0.5, Some(false), false));
    assert!(only(vec![rate("rr", 2, 20.0), rate("auto", 2, 30.0).suspect()], |verdict| matches!(
        verdict.auto,
        Auto::Best(_)
    )));
    let elsewhere = only(vec![rate("rr", 2, 20.0), rate("auto", 1, 19.0)], |verdict| verdict.auto == Auto::Unmeasured);
    assert!(elsewhere, "auto has another number of workers");
}

/// What auto's threads took from each other counts, what other programs took from all does not.
#[test]
fn auto_is_judged_by_what_it_delivered_where_its_threads_waited() {
    let loss = |of_bound: f64, of_auto: f64| {
        let bound = rate("rr", 2, 20.0).seated(&[0, 1]).delivering(of_bound);
        let cells = vec![bound, rate("auto", 2, 20.1).delivering(of_auto)];
        only(cells, |verdict| match verdict.auto {
            Auto::Other(loss) => {
                assert!(loss.estimate.quantity == Quantity::Estimated && verdict.alike.is_empty());
                ((100.0 * loss.share).round(), loss.is_shown())
            }
            Auto::Best(Some(next)) => {
                assert_eq!(verdict.best.quantity, Quantity::Capacity);
                ((-100.0 * next.share).round(), next.is_shown())
            }
            other => panic!("{other:?}"),
        })
    };
    assert_eq!(loss(1.0, 0.6), (40.0, true));
    assert_eq!(loss(0.5, 0.3), (40.0, true));
    assert!(!loss(0.6, 0.6).1);
    assert!(!loss(0.6, 1.0).1);
    // Threads that ended on CPUs of their own took nothing from each other.
    let mut auto = rate("auto", 2, 20.1).delivering(0.6);
    let runs = auto.invocations.iter_mut().flat_map(|invocation| &mut invocation.runs);
    runs.for_each(|run| (0..).zip(&mut run.laps).for_each(|(cpu, lap)| lap.strand = Some(cpu)));
    let cells = vec![rate("rr", 2, 20.0).seated(&[0, 1]), auto];
    assert!(only(cells, |verdict| verdict.best.cell.mapping == "auto" && verdict.best.quantity == Quantity::Capacity));
}

/// Threads that wait for each other lose nothing on one CPU: their own time counts, however late the others were.
#[test]
fn threads_that_wait_for_each_other_are_judged_by_their_own_times() {
    let time = |mapping, ns| cell("futex-wake", 2, Unit::NanosecondsSampled, ns).under(mapping);
    let cells = vec![time("rr", 6000.0).seated(&[0, 1]).delivering(1.0), time("auto", 1800.0).delivering(0.1)];
    let mut report = report(cells).on(8);
    for (blocks, best) in [(true, "auto"), (false, "rr")] {
        report.cards.iter_mut().for_each(|card| card.blocks_in_kernel = blocks);
        assert_eq!(verdicts(&Estimates::of(&report))[0].best.cell.mapping, best);
    }
}

/// What bound threads could do, times how much more it delivered, is not what it delivered.
#[test]
fn an_estimate_is_not_said_to_be_delivered() {
    let bound = rate("rr", 2, 20.0).seated(&[0, 1]).delivering(0.5);
    let cells = vec![bound, rate("auto", 2, 30.0).delivering(0.4)];
    let found = only(cells, |verdict| ((verdict.best.value / 1e8).round(), verdict.best.quantity));
    assert_eq!(found, (240.0, Quantity::Estimated));
}

/// Threads that shared a CPU did no more than their capacity, whatever others took from the bound ones meanwhile.
#[test]
fn threads_that_shared_cpus_do_at_most_what_they_can() {
    let mut auto = rate("auto", 2, 21.0).within(0.01).delivering(0.6);
    for lap in auto.invocations.iter_mut().flat_map(|own| &mut own.runs).flat_map(|run| &mut run.laps) {
        lap.strand = Some(0);
    }
    let (own, bound) = (auto.capacity, rate("rr", 2, 20.0).within(0.01).seated(&[0, 1]).delivering(0.2));
    let found = only(vec![bound, auto], |verdict| verdict.best.interval.unwrap());
    let own = own.unwrap().interval.unwrap();
    assert!(found.high == own.high && found.low <= own.low, "{found:?} {own:?}");
}

#[test]
fn mappings_that_are_not_apart_are_alike() {
    let cells = vec![rate("rr", 2, 20.0), rate("dumb", 2, 19.8), rate("auto", 2, 15.0), rate("dumb", 1, 15.0)];
    let alike = only(cells, |verdict| verdict.alike.iter().map(|one| one.cell.mapping.clone()).collect::<Vec<_>>());
    assert_eq!(alike, ["dumb"]);
}

/// Checks where round-robin is saturated: the fewest workers, the most that were measured, and whether it is doubtful.
#[track_caller]
fn check_saturation(cells: Vec<Cell>, expected: Option<(Option<u64>, u64, bool)>) {
    let found = only(cells, |verdict| verdict.saturates.map(|found| (found.workers, found.most, found.doubtful)));
    assert_eq!(found, expected);
}

#[test]
fn a_mapping_is_saturated_where_it_nearly_has_its_best() {
    let sound =
        |rates: &[(u64, f64)]| -> Vec<Cell> { rates.iter().map(|&(n, gb)| rate("rr", n, gb).within(0.005)).collect() };
    check_saturation(sound(&[(1, 5.0), (2, 9.7), (4, 10.0), (8, 8.0)]), Some((Some(2), 8, false)));
    check_saturation(sound(&[(1, 5.0), (2, 10.0), (4, 20.0)]), Some((None, 4, false)));
    check_saturation(sound(&[(4, 20.0)]), None);
    let one_suspect = |gb| [sound(&[(1, 5.0), (2, 10.0), (4, 10.0)]), vec![rate("rr", 8, gb).suspect()]].concat();
    check_saturation(one_suspect(9.0), Some((Some(2), 8, false)));
    check_saturation(one_suspect(20.0), Some((None, 8, true)));
    // Its interval reaches the best, and does not show that it does.
    check_saturation(vec![rate("rr", 1, 9.0).within(0.2), rate("rr", 2, 10.0)], Some((None, 2, true)));
    let program = |threads, seconds| {
        cell("command", threads, Unit::Reported(charz_data::ReportedUnit::SECONDS), seconds).within(0.005)
    };
    check_saturation(vec![program(1, 4.0), program(2, 2.0), program(4, 1.99)], Some((Some(2), 4, false)));
    check_saturation(vec![rate("rr", 1, 5.0).suspect(), rate("rr", 2, 5.0)], Some((Some(1), 2, true)));
    let time = |workers, ns| cell("chase", workers, Unit::NanosecondsPerStep, ns);
    check_saturation(vec![time(1, 4.0), time(2, 5.0)], None);
}

#[test]
fn each_mapping_has_its_own_saturation() {
    let cells =
        vec![rate("rr", 1, 5.0), rate("auto", 1, 2.0), rate("rr", 2, 10.0), rate("auto", 2, 2.0), rate("rr", 4, 10.0)];
    let found = only(cells, |verdict| {
        verdict.saturation.iter().map(|one| (one.mapping.to_owned(), one.workers)).collect::<Vec<_>>()
    });
    assert_eq!(found, [("rr".to_owned(), Some(2)), ("auto".to_owned(), Some(1))]);
}

/// The number of workers that is advised, also where the best mapping is near its own peak with fewer.
#[test]
fn a_kernel_is_saturated_where_it_nearly_has_the_best_of_all_mappings() {
    let of = |mapping, rates: [f64; 4]| {
        [1, 2, 4, 8].into_iter().zip(rates).map(move |(n, gb)| rate(mapping, n, gb).within(0.003))
    };
    let cells = of("rr", [55.0, 97.0, 101.5, 97.0]).chain(of("dumb", [30.0, 50.0, 60.0, 105.0]));
    check_best(cells.clone().collect(), ("rr", 4, false));
    check_saturation(cells.collect(), Some((Some(4), 8, false)));
}

#[test]
fn a_kernel_without_work_has_no_verdict() {
    let report = report(vec![
        cell("noop", 1, Unit::Nanoseconds, 100.0),
        rate("rr", 1, 1.0).unmeasured(Status::Skipped, "no room"),
    ]);
    assert_eq!(verdicts(&Estimates::of(&report)), []);
}

/// What auto loses beside round-robin in a kernel of the core, each with the clocks that its invocations met, and what is said of it: the
/// share, whether it is sure, and whether it is the clock's.
fn by_clock(rr: (f64, &[f64]), auto: (f64, &[f64])) -> (f64, bool, bool) {
    let cell = |mapping: &str, (per_cycle, clocks): (f64, &[f64])| {
        let middle = Sample::new(clocks.to_vec()).unwrap().median();
        let mut cell = cell("arith-int", 2, Unit::OpsPerSecond, per_cycle * middle).under(mapping).clocked(middle);
        for (at, invocation) in cell.invocations.iter_mut().enumerate() {
            let clock = clocks[at % clocks.len()];
            let frequency = invocation.evidence.as_mut().unwrap().frequency.as_mut().unwrap();
            frequency.highest_hz = clock;
            // An error of reading of 0.1%.
            invocation.value = Some(per_cycle * clock * (1.0 + 0.001 * (at % 3) as f64));
        }
        cell.within(0.004)
    };
    only(vec![cell("rr", rr), cell("auto", auto)], |verdict| match verdict.auto {
        Auto::Other(loss) => {
            assert_eq!(verdict.alike.len(), usize::from(loss.is_clock()), "at one clock they are alike");
            let interval = loss.interval.unwrap();
            assert!(interval.low <= loss.share && loss.share <= interval.high, "{loss:?}");
            (loss.share, loss.is_shown(), loss.is_clock())
        }
        other => panic!("{other:?}"),
    })
}

/// By chance, where invocations that take turns met both clocks; of the placement, where all of one met the lower.
#[test]
fn a_step_of_the_clock_is_a_loss_where_the_clocks_differ() {
    let (share, sure, clock) = by_clock((0.5, &[2.6e9]), (0.5, &[2.5e9]));
    assert!((share - 0.1 / 2.6).abs() < 0.002 && sure && !clock, "{share}");
    let (share, sure, clock) = by_clock((0.5, &[2.6e9, 2.5e9, 2.6e9]), (0.5, &[2.5e9, 2.6e9, 2.5e9]));
    assert!(share.abs() < 0.002 && !sure && clock, "{share}");
}

#[test]
fn a_loss_in_cycles_is_one_at_any_clock() {
    for auto in [2.6e9, 2.5e9] {
        let (share, sure, clock) = by_clock((0.5, &[2.6e9]), (0.475, &[auto]));
        assert!(share > 0.045 && sure && !clock, "{auto}: {share}");
    }
}

#[test]
fn what_is_not_of_the_core_is_compared_as_it_stands() {
    let memory = |mapping: &str, gigabytes: f64, hz: f64| rate(mapping, 2, gigabytes).within(0.004).clocked(hz);
    let cells = vec![memory("rr", 26.0, 2.6e9), memory("auto", 25.0, 2.5e9)];
    assert!(only(cells, |verdict| matches!(verdict.auto, Auto::Other(loss) if loss.is_shown())));
}

#[test]
fn what_the_host_moved_is_no_loss() {
    let best = |rr: f64, auto: f64| {
        let cells = vec![rate("rr", 2, 79.0).seated(&[0, 1]).apart(rr), rate("auto", 2, 47.0).apart(auto)];
        only(cells, |verdict| {
            let Auto::Other(loss) = verdict.auto else { panic!("{:?}", verdict.auto) };
            (verdict.doubtful, loss.strength() == Strength::NotComparable)
        })
    };
    assert_eq!(best(130.0, 140.0), (false, false));
    assert_eq!(best(130.0, 25.0), (true, true));
    // Other CPUs are as far apart as they are.
    let cells =
        vec![rate("rr", 2, 79.0).seated(&[0, 2]).apart(130.0), rate("dumb", 2, 47.0).seated(&[0, 1]).apart(25.0)];
    check_best(cells, ("rr", 2, false));
}
