//! Hardware counters beside a number.

use super::*;
use charz_data::report::{Hardware, HardwareCount, HardwareCounts};

fn counter(count: u64, running_share: f64) -> Option<HardwareCount> {
    Some(HardwareCount { count, enabled_ns: 1_000_000, running_ns: (1e6 * running_share) as u64 })
}

/// In each lap of 0.1 s: 3e8 cycles, so many instructions, 1 in 4 accesses to the cache misses it.
fn counts(instructions: u64) -> HardwareCounts {
    HardwareCounts {
        cycles: counter(300_000_000, 1.0),
        instructions: counter(instructions, 1.0),
        cache_references: counter(4000, 1.0),
        cache_misses: counter(1000, 1.0),
        ..HardwareCounts::default()
    }
}

/// The clean cell, and invocations with counters that take so many times as long.
fn counted(factor: f64, counts: HardwareCounts) -> Trial {
    let mut with = clean();
    with.runs().for_each(|run| stretch(run, factor));
    with.laps(|lap| (lap.hardware, lap.ops) = (Some(Box::new(counts)), 60_000_000));
    Trial { cell: Cell { counted: with.cell.invocations, ..clean().cell }, ..clean() }
}

fn hardware(mut trial: Trial) -> Hardware {
    trial.judge();
    trial.cell.hardware.expect("something was counted")
}

fn near(found: Option<f64>, expected: f64) -> bool {
    found.is_some_and(|found| (found / expected - 1.0).abs() < 0.02)
}

#[test]
fn rates_are_those_of_all_workers_and_shares_those_of_events() {
    let found = hardware(counted(1.0, counts(150_000_000)));
    // Two workers of 1500 million instructions a second, and 3 GHz times 2 cores times 4.
    assert!(near(found.mips, 3000.0) && near(found.cpi, 2.0) && near(found.ipc(), 0.5), "{found:?}");
    assert!(near(found.peak_mips, 24_000.0) && near(found.efficiency, 0.125), "{found:?}");
    assert_eq!((found.cache_miss_share, found.branch_miss_share, found.l1d_miss_share), (Some(0.25), None, None));
    assert_eq!(found.instructions_per_op, Some(2.5));
    assert_eq!((found.running_share, found.invocations), (1.0, 10));
    let wide = Trial { facts: JudgeContext { issue_width: None, ..clean().facts }, ..counted(1.0, counts(1)) };
    let found = hardware(wide);
    assert_eq!((found.peak_mips, found.efficiency), (None, None), "an unknown width gives no efficiency");
}

#[test]
fn the_number_is_that_of_the_invocations_without() {
    let (mut plain, mut slow) = (clean(), counted(1.25, counts(1)));
    plain.judge();
    slow.judge();
    assert_eq!(
        (plain.cell.capacity, plain.marks(), plain.cell.status),
        (slow.cell.capacity, slow.marks(), slow.cell.status)
    );
    assert_eq!(plain.cell.summary, slow.cell.summary);
    let cost = slow.cell.hardware.unwrap().cost.unwrap();
    let interval = cost.interval.unwrap();
    assert!(near(Some(cost.value), 0.2) && interval.low < cost.value && cost.value < interval.high, "{cost:?}");
    let again = slow.cell.clone();
    slow.judge();
    assert_eq!(slow.cell, again, "judging again changes nothing");
}

#[test]
fn counters_that_took_turns_are_scaled() {
    let shared = HardwareCounts { instructions: counter(75_000_000, 0.5), ..counts(0) };
    let found = hardware(counted(1.0, shared));
    assert!(near(found.mips, 3000.0), "{found:?}");
    assert_eq!(found.running_share, 0.5);
}

#[test]
fn what_was_not_counted_is_unknown_and_never_zero() {
    let found = hardware(counted(1.0, HardwareCounts { cycles: None, ..counts(150_000_000) }));
    assert!(found.cpi.is_none() && found.ipc().is_none() && found.mips.is_some(), "{found:?}");
    let found = hardware(counted(1.0, HardwareCounts::default()));
    assert!(found.mips.is_none() && found.efficiency.is_none() && found.cache_miss_share.is_none(), "{found:?}");
    let mut plain = clean();
    plain.judge();
    assert_eq!(plain.cell.hardware, None);
}

#[test]
fn repetitions_that_do_not_count_are_left_out() {
    let mut trial = counted(1.0, counts(150_000_000));
    for run in trial.cell.counted.iter_mut().map(|invocation| &mut invocation.runs[0]) {
        run.laps[0].on_seat = Some(false);
        run.laps.iter_mut().for_each(|lap| lap.hardware = Some(Box::new(counts(900_000_000))));
    }
    let found = hardware(trial);
    assert!(near(found.mips, 3000.0), "{found:?}");
}
