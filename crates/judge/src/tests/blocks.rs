//! Cells whose numbers are made of blocks.

use charz_data::checks::V34;
use charz_data::report::{Busy, Estimator, Frequency, Interval};
use charz_data::{Blocks, Role};

use super::*;
use crate::exclude;

/// Two workers of `arith-int`, of which each does an operation in a nanosecond, in ten invocations of repetitions of 130 blocks. What a
/// block takes, in nanoseconds an operation, follows from the invocation, the worker and a number below 1 that is drawn.
fn of_blocks(time: impl Fn(usize, usize, f64) -> f64) -> Trial {
    let mut trial = clean();
    (trial.facts.card, trial.cell.unit, trial.cell.precision) = (card("arith-int"), Unit::OpsPerSecond, 0.01);
    let mut random = fastrand::Rng::with_seed(7);
    for (number, invocation) in trial.cell.invocations.iter_mut().enumerate() {
        for (rank, lap) in invocation.runs.iter_mut().flat_map(|run| run.laps.iter_mut().enumerate()) {
            // Reading the clock: 0.1%.
            let times = (0..130).map(|_| time(number, rank, random.f64()) * (1.0 + 0.001 * random.f64()));
            (lap.ops, lap.bytes, lap.blocks) = (100_000_000, 0, Some(Blocks::of(times.collect())));
        }
    }
    trial
}

/// The capacity, and the marks beyond notes.
#[track_caller]
fn check(trial: Trial, capacity: f64, expected: &[(&str, Severity)]) {
    let mut trial = trial;
    trial.judge();
    let marks: Vec<_> = trial.marks().into_iter().filter(|(_, severity)| *severity > Severity::Note).collect();
    assert_eq!(marks, expected, "{:#?}", trial.cell.marks);
    let found = trial.cell.capacity.unwrap();
    assert!((found.value / capacity - 1.0).abs() < 0.003, "{found:?}");
    let Interval { low, high } = found.interval.unwrap();
    assert!(low <= capacity && capacity <= high, "{found:?}");
}

/// Of a hundred blocks, so many are disturbed, each by an amount of its own.
fn disturbed(share: f64) -> impl Fn(usize, usize, f64) -> f64 {
    move |_, _, drawn| if drawn < share { 1.02 + drawn } else { 1.0 }
}

#[test]
fn capacity_is_what_undisturbed_blocks_show() {
    check(of_blocks(disturbed(0.0)), 2e9, &[]);
    check(of_blocks(disturbed(0.5)), 2e9, &[]);
    check(of_blocks(disturbed(0.9)), 2e9, &[]);
}

/// Iterations of 0.1 s, in each of which a worker reads the clock so often.
#[test]
fn a_clock_that_is_dear_to_read_is_a_part_of_each_block() {
    for (readings, expected) in [(90, &[][..]), (110, &[("V31", Severity::Suspect)])] {
        let mut trial = of_blocks(disturbed(0.0));
        trial.facts.timer.as_mut().unwrap().overhead_ns = 10_000;
        trial.laps(|lap| lap.checks = readings);
        check(trial, 2e9, expected);
    }
}

/// Of 32 workers every other one is on a core of half the speed: none of them counts as another.
#[test]
fn workers_of_a_group_count_at_their_own_speeds() {
    let mut trial = of_blocks(disturbed(0.2));
    (trial.cell.seats, trial.cell.workers, trial.facts.strands) = ((0..32).map(Some).collect(), 32, 32);
    for run in trial.runs() {
        let laps = (0..32).map(|rank| {
            let mut lap = Lap { rank, seat: Some(rank as u32), strand: Some(rank as u32), ..run.laps[0].clone() };
            let slower = if rank % 2 == 1 { 2.0 } else { 1.0 };
            lap.blocks.iter_mut().flat_map(|blocks| &mut blocks.times).for_each(|time| *time *= slower);
            lap
        });
        run.laps = Lap::grouped(laps.collect());
    }
    check(trial, 24e9, &[]);
}

/// The clock that is seen allows an operation in a nanosecond.
#[test]
fn a_clock_that_rises_for_a_moment_makes_no_number_impossible() {
    let timed = |time: fn(f64) -> f64| {
        let mut trial = of_blocks(move |_, _, drawn| time(drawn));
        let highest_hz = 1e9 / trial.facts.card.max_per_cycle.unwrap();
        trial.evidence(|evidence| {
            evidence.frequency =
                Some(Frequency { before_hz: highest_hz, after_hz: highest_hz, highest_hz, drift: 0.0 });
        });
        trial
    };
    check(timed(|drawn| if drawn < 0.4 { 0.9 } else { 1.0 }), 2e9 / 0.9, &[("V16", Severity::Suspect)]);
    // Work that was left out shows in most blocks, or, where others had the core in most of them, in what no clock does.
    let faster = timed(|drawn| if drawn < 0.9 { 0.9 } else { 1.0 });
    let folded = timed(|drawn| if drawn < 0.2 { 0.75 } else { 1.0 + drawn });
    for mut trial in [faster, folded] {
        trial.judge();
        assert!(trial.marks().contains(&("V17", Severity::Invalid)), "{:?}", trial.marks());
        assert_eq!(trial.cell.capacity, None);
    }
}

#[test]
fn waits_and_the_quota_leave_blocks_alone() {
    let mut trial = of_blocks(disturbed(0.5));
    for run in trial.runs() {
        run.throttled_periods = Some(1);
        run.laps[0].wait(run.interval_ns / 2);
    }
    check(trial, 2e9, &[]);
}

#[test]
fn an_invocation_without_a_fast_mode_does_not_count() {
    // A neighbour on the core from its beginning to its end.
    let mut trial = of_blocks(|number, _, drawn| if number % 5 < 3 { 1.0 } else { 1.1 + 0.2 * drawn });
    trial.judge();
    assert_eq!(trial.values().len(), 6);
    check(trial, 2e9, &[]);
    // One worker of two: the other shows what it does all the same.
    let one = |number: usize, rank, drawn| if number.is_multiple_of(2) || rank == 0 { 1.0 } else { 1.1 + 0.2 * drawn };
    check(of_blocks(one), 2e9, &[]);
}

#[test]
fn invocations_that_differ_do_not_take_the_fastest() {
    // Pages in other places: each is sharp by itself.
    let mut trial = of_blocks(|number, _, _| 1.0 + 0.004 * number as f64);
    trial.judge();
    let capacity = trial.cell.capacity.unwrap();
    assert!((capacity.value / (2e9 / 1.018) - 1.0).abs() < 0.003, "{capacity:?}");
}

/// Their work was done, and nothing disturbed it.
#[test]
fn iterations_that_are_too_short_for_blocks_are_said_to_be_short() {
    let mut trial = of_blocks(disturbed(0.0));
    trial.runs().flat_map(|run| &mut run.laps).for_each(|lap| lap.blocks = Some(Blocks::of(Vec::new())));
    trial.judge();
    let reason = trial.cell.reason.unwrap_or_default();
    assert!(trial.cell.status == Status::Invalid && reason.contains("long enough"), "{reason}");
}

#[test]
fn v33_some_of_the_work_was_faster() {
    let broad = |_, _, drawn: f64| 1.0 + 0.2 * drawn;
    let mut trial = of_blocks(broad);
    trial.judge();
    assert!(trial.marks().contains(&("V33", Severity::Suspect)), "{:?}", trial.cell.marks);
    let interval = trial.cell.capacity.unwrap().interval.unwrap();
    assert!(interval.high > 2e9 / 1.011, "it reaches the fastest blocks: {interval:?}");
}

#[test]
fn a_faster_invocation_was_not_disturbed() {
    // A neighbour that always takes the same leaves a sharp mode; without it blocks are up to a fourth faster.
    let trial = of_blocks(|number, _, drawn| if number < 4 { 0.75 + 0.2 * drawn } else { 1.0 });
    check(trial, 2e9, &[("V28", Severity::Suspect)]);
}

#[test]
fn v15_a_clock_that_rises_by_and_by_is_no_trend() {
    let faster = |number: usize| 1.0 + 0.01 * number as f64;
    let mut trial = of_blocks(move |number, _, _| 1.0 / faster(number));
    check(of_blocks(move |number, _, _| 1.0 / faster(number)), 2e9 * 1.045, &[("V15", Severity::Suspect)]);
    for (number, invocation) in trial.cell.invocations.iter_mut().enumerate() {
        invocation.evidence.as_mut().unwrap().frequency.as_mut().unwrap().highest_hz *= faster(number);
    }
    check(trial, 2e9 * 1.045, &[]);
}

#[test]
fn v16_two_speeds() {
    const SLOWER: f64 = 1.05;
    let two = |fast: f64| of_blocks(move |_, _, drawn| if drawn < fast { 1.0 } else { SLOWER });
    check(two(0.3), 2e9, &[("V16", Severity::Suspect)]);
    check(two(0.8), 2e9, &[]);
    // The canary saw a clock that is as much lower.
    let mut stepped = two(0.3);
    stepped.evidence(|evidence| evidence.frequency.as_mut().unwrap().after_hz /= SLOWER);
    check(stepped.clone(), 2e9, &[]);
    // A lock has two speeds of its own, whatever the clock.
    stepped.facts.card = card("lock-std");
    stepped.evidence(|evidence| evidence.frequency.as_mut().unwrap().highest_hz *= 10.0);
    check(stepped, 2e9, &[("V16", Severity::Suspect)]);
    // Clocks of different invocations explain no two speeds within one.
    let mut apart = two(0.3);
    let clock = apart.cell.invocations[0].evidence.as_mut().unwrap().frequency.as_mut().unwrap();
    [&mut clock.before_hz, &mut clock.after_hz, &mut clock.highest_hz].into_iter().for_each(|hz| *hz *= SLOWER);
    check(apart, 2e9, &[("V16", Severity::Suspect)]);
}

#[test]
fn v16_a_lock_that_is_rarely_fast() {
    // The slower blocks have no speed in common.
    let rarely = |kernel: &str, fast: f64| {
        let mut trial = of_blocks(move |_, _, drawn| if drawn < fast { 1.0 } else { 1.05 + 0.2 * drawn });
        trial.facts.card = card(kernel);
        // A lock takes longer than a nanosecond at 3 GHz.
        trial.evidence(|evidence| evidence.frequency.as_mut().unwrap().highest_hz = 3e10);
        trial
    };
    check(rarely("arith-int", 0.12), 2e9, &[]);
    check(rarely("lock-std", 0.12), 2e9, &[("V16", Severity::Suspect)]);
    check(rarely("lock-std", 0.5), 2e9, &[]);
    let mut trial = rarely("lock-std", 0.5);
    trial.judge();
    let share = trial.cell.summary.unwrap().fast_share.unwrap();
    assert!((share - 0.5).abs() < 0.05, "{share}");
}

#[test]
fn beyond_the_caches_of_a_core_repetitions_count() {
    let mut trial = of_blocks(disturbed(0.0));
    trial.facts.card = card("chase-random");
    for (level, by_blocks) in [(None, false), (Some("L1"), true), (Some("L2"), true), (Some("L3"), false)] {
        trial.cell.level = level.map(str::to_owned);
        assert_eq!(crate::case::is_by_blocks(&trial.cell, &trial.facts, false), by_blocks, "{level:?}");
    }
    assert!(!crate::case::is_by_blocks(&trial.cell, &trial.facts, true), "no block has a strand to itself");
}

#[test]
fn beside_a_worker_without_blocks_repetitions_count() {
    let mut trial = of_blocks(disturbed(0.0));
    trial.cell.invocations[0].runs[0].laps[1].blocks = None;
    check(trial.clone(), 2e9, &[]);
    // It does work that is not counted, as in a mix.
    trial.laps(|lap| {
        if lap.rank == 1 {
            (lap.ops, lap.blocks) = (0, None);
        }
    });
    trial.judge();
    assert_eq!((trial.cell.status, trial.cell.estimator), (Status::Ok, Estimator::Median), "{:?}", trial.cell.marks);
    let found = trial.cell.capacity.unwrap().value;
    assert!((found / 1e9 - 1.0).abs() < 0.01, "{found}");
    // It stands still, as one that writes files may.
    let clean_runs = |mix: &str| {
        let mut trial = trial.clone();
        (trial.facts.card, trial.facts.params.mix) = (card("cmt-compute"), mix.parse().unwrap());
        trial.runs().for_each(|run| run.laps[1].counts.cpu_ns = Some(run.interval_ns / 2));
        trial.judge();
        trial.cell.summary.unwrap().clean_runs
    };
    assert_eq!(["1:1:0", "1:0:1"].map(clean_runs), [0, 50]);
}

/// A kernel may count all CPUs at the same moments.
#[test]
fn common_ticks_are_no_other_programs() {
    let mut random = fastrand::Rng::with_seed(7);
    // So many invocations of repetitions of this length, between which workers sleep for up to a millisecond.
    let mut is_suspect = |tick: u64, cpus: usize, [count, repetitions]: [usize; 2], run_ns: u64, others: f64| {
        let facts = JudgeContext { cpus, ..clean().facts };
        let mut made = clean().cell.invocations;
        made.extend(made.clone());
        made.truncate(count);
        for invocation in &mut made {
            invocation.runs.truncate(repetitions);
            let begun = random.u64(..1_000_000_000);
            let (mut now, mut ticks, mut own) = (begun, 0, 0);
            for _ in 0..repetitions {
                let run = run_ns * random.u64(90..110) / 100;
                ticks += (now + run) / tick - now / tick;
                (now, own) = (now + run + random.u64(..1_000_000), own + run);
            }
            let time_ns = now - begun;
            let all = ticks * tick * cpus as u64 + (others * cpus as f64 * time_ns as f64) as u64;
            // Shown are whole hundredths of a second, of user and of system.
            let shown = [all / 10, all - all / 10].map(|part| (part + random.u64(..10_000_000)) / 10_000_000);
            let all_ns = shown.iter().sum::<u64>() * 10_000_000;
            let busy = Busy { time_ns, all_ns, own_ns: own * cpus as u64, tick_ns: Some(tick) };
            invocation.evidence.as_mut().unwrap().busy = Some(busy);
        }
        let used = exclude::others(&made, cpus, &facts).unwrap();
        V34.severity(exclude::share_taken(used, cpus, &facts)).is_some()
    };
    for tick in [1_000_000, 4_000_000, 10_000_000] {
        for cpus in [2, 8, 64, 256, 1536] {
            let suspect = (0..1000).filter(|_| is_suspect(tick, cpus, [6, 3], 20_000_000, 0.0)).count();
            assert!(suspect <= 10, "{suspect} of 1000 on {cpus} CPUs with a tick of {tick} ns");
        }
    }
    // The error of a second's common ticks is almost half of 2%.
    for (others, least) in [(0.02, 500), (0.04, 990)] {
        for cpus in [64, 256, 1536] {
            let seen = (0..1000).filter(|_| is_suspect(4_000_000, cpus, [20, 1], 50_000_000, others)).count();
            assert!(seen > least, "{others}: {seen} of 1000 on {cpus} CPUs");
        }
    }
}

/// What other programs use, in strands, during so many invocations of the clean cell of memory.
fn used(invocations: usize, strands: f64) -> Trial {
    let mut trial = clean();
    for invocation in &mut trial.cell.invocations[..invocations] {
        let busy = invocation.evidence.as_mut().unwrap().busy.as_mut().unwrap();
        *busy = Busy { all_ns: busy.own_ns + (strands * busy.time_ns as f64) as u64, ..*busy };
    }
    trial
}

#[test]
fn v34_other_programs() {
    let marks = |mut trial: Trial| {
        trial.judge();
        (trial.values().len(), trial.marks().contains(&("V34", Severity::Suspect)))
    };
    assert_eq!(marks(used(10, 0.04)), (10, false));
    assert_eq!(marks(used(10, 1.0)), (10, true));
    // What 256 CPUs hardly feel, and beside a program what free CPUs hold.
    let on = |cpus: usize, role: Role, strands: f64| {
        let mut trial = used(10, strands);
        trial.facts.cpus = cpus;
        trial.facts.card.to_mut().role = role;
        trial.judge();
        let mark = trial.cell.marks.iter().find(|mark| mark.code == "V34");
        mark.map(|mark| mark.severity)
    };
    let (note, suspect) = (Some(Severity::Note), Some(Severity::Suspect));
    assert_eq!([1.0, 2.0].map(|strands| on(256, Role::Other, strands)), [None, suspect]);
    assert_eq!([0.04, 1.0, 1.9, 2.5].map(|strands| on(4, Role::Program, strands)), [None, note, note, suspect]);
    // Those without are enough.
    assert_eq!(marks(used(4, 1.0)), (6, false));
    assert_eq!(marks(used(5, 1.0)), (10, true));
    // A second level is others' too only where it is shared.
    for (level, is_shared, is_marked) in [("L1", true, false), ("L2", true, true), ("L2", false, false)] {
        let mut trial = used(10, 1.0);
        (trial.cell.level, trial.facts.shares_l2) = (Some(level.into()), is_shared);
        assert_eq!(marks(trial), (10, is_marked), "{level}, {is_shared}");
    }
}

/// The clean cell of memory, in which a worker waited half of each lap, and so many of 999 blocks were made while both were at work, each
/// in two nanoseconds a byte.
fn waiting(together: usize) -> Trial {
    let mut trial = clean();
    for run in trial.runs() {
        run.laps[0].wait(run.interval_ns / 2);
        run.laps.iter_mut().for_each(|lap| lap.blocks = Some(Blocks::of(vec![2.0; together])));
    }
    trial.judge();
    trial
}

#[test]
fn of_memory_the_blocks_count_during_which_all_were_at_work() {
    let trial = waiting(300);
    assert_eq!(trial.cell.capacity.unwrap().value, 1e9);
    assert!(trial.marks().iter().all(|(code, _)| *code != "V03"), "{:?}", trial.cell.marks);
    // Of too few nothing is known of the rest.
    let trial = waiting(200);
    assert_eq!((trial.cell.capacity, trial.marks()), (None, vec![("V03", Severity::Note), ("V12", Severity::Invalid)]));
}

/// Others take a CPU in slices as long as an invocation: the one in the middle would be whole, or lose most.
#[test]
fn what_was_delivered_is_all_work_over_all_time() {
    let mut trial = clean();
    let starved = trial.cell.invocations.len() / 2 - 1;
    trial
        .cell
        .invocations
        .iter_mut()
        .take(starved)
        .flat_map(|invocation| &mut invocation.runs)
        .for_each(|run| stretch(run, 9.0));
    trial.judge();
    let all = |of: fn(&Run) -> f64| -> f64 {
        trial.cell.invocations.iter().flat_map(|invocation| &invocation.runs).map(of).sum()
    };
    let bytes = all(|run| run.laps.iter().map(|lap| lap.bytes as f64).sum());
    let expected = bytes / all(|run| run.interval_ns as f64) * 1e9;
    let delivered = trial.cell.delivered.unwrap();
    let whole = trial.cell.invocations.last().unwrap().delivered(trial.cell.unit).unwrap();
    assert!(delivered.value < 0.35 * whole, "{delivered:?} of {whole}");
    assert!((delivered.value / expected - 1.0).abs() < 1e-6, "{delivered:?}, {expected}");
    assert!(
        delivered.interval.is_some_and(|interval| interval.low < delivered.value && delivered.value < interval.high)
    );
}
