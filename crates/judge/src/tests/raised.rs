//! Marks of seats, waits and clocks: alone, from just beyond their limits on, and not just below.

use super::*;
use charz_data::checks::{V05, V06, V08, V11, V17, V18};
use charz_data::report::Counts;
use charz_data::report::Severity::{Invalid, Note, Suspect};
use charz_data::{Growth, GrowthStep, Halt, Role};

#[test]
fn nothing_speaks_against_a_clean_cell() {
    check(&[], |_| {});
}

#[test]
fn v01_off_the_seat() {
    check(&[("V01", Invalid)], |trial| trial.some_runs(1, |run| run.laps[1].on_seat = Some(false)));
    check(&[("V01", Invalid)], |trial| trial.some_runs(1, |run| run.laps[1].strays = Some(1)));
    check(&[], float);
}

#[test]
fn who_moves_threads_and_what_leaves_no_time_are_named() {
    let reason = |code: &str, mut trial: Trial| {
        trial.judge();
        trial.cell.marks.into_iter().find(|mark| mark.code == code).unwrap().reason
    };
    let mut trial = clean();
    trial.facts.card.to_mut().role = Role::Program;
    trial.some_runs(2, |run| (run.laps[1].on_seat, run.laps[1].strand) = (Some(false), Some(0)));
    let moved = reason("V01", trial);
    assert!(moved.contains("program") && moved.contains("from CPU 1 to 0"), "{moved}");
    for (quota, is_cause) in [(Some(0.5), true), (Some(1.5), false), (Some(8.0), false), (None, false)] {
        let mut trial = clean();
        trial.cell.seats = vec![None; 4];
        let mut report = fixtures::report(vec![trial.cell.clone()]).on(2);
        report.machine.usable.quota_cpus = quota;
        trial.facts = JudgeContext::of(&report, &trial.cell, trial.facts.card, false);
        assert_eq!(reason("V19", trial).contains("quota"), is_cause, "{quota:?}");
    }
}

#[test]
fn v02_moved() {
    let moved = |trial: &mut Trial, runs| trial.some_runs(runs, |run| run.laps[0].counts.migrations = Some(1));
    check(&[("V02", Invalid)], |trial| moved(trial, 1));
    // A program is only without these runs.
    let of_program = |trial: &mut Trial, runs| {
        trial.facts.card.to_mut().role = Role::Program;
        moved(trial, runs);
    };
    check_each(of_program, &[(0, &[]), (1, &[("V02", Note)]), (7, &[("V02", Suspect)]), (26, &[("V02", Invalid)])]);
    check(&[], float);
}

#[test]
fn v03_waited() {
    let wait = |run: &mut Run, share: f64| {
        run.laps[0].wait((run.interval_ns as f64 * share) as u64);
    };
    check(&[], |trial| trial.some_runs(50, |run| wait(run, 0.0099)));
    // Before or after the lap, as its processor time is all of it.
    check(&[], |trial| trial.some_runs(50, |run| run.laps[0].counts.run_delay_ns = Some(3 * run.interval_ns)));
    check(&[("V03", Note)], |trial| trial.some_runs(1, |run| wait(run, 0.0101)));
    // However many: what is left is as good.
    check(&[("V03", Note)], |trial| trial.some_runs(40, |run| wait(run, 0.5)));
    check(&[("V03", Note), ("V12", Invalid)], |trial| trial.some_runs(50, |run| wait(run, 0.5)));
    // The switch is used only if the system does not report the time that it cost.
    let unknown = |run: &mut Run, switches| {
        run.laps[0].counts = Counts { run_delay_ns: None, involuntary_switches: Some(switches), ..run.laps[0].counts }
    };
    check(&[("V03", Note)], |trial| trial.some_runs(6, |run| unknown(run, 1)));
    check(&[], |trial| trial.some_runs(50, |run| unknown(run, 0)));
}

#[test]
fn v04_stood_still() {
    let stand = |run: &mut Run, share: f64| {
        let lap = &mut run.laps[0].counts;
        lap.cpu_ns = Some((run.interval_ns as f64 * (1.0 - share)) as u64);
    };
    check(&[], |trial| trial.some_runs(50, |run| stand(run, 0.0099)));
    check(&[("V04", Note)], |trial| trial.some_runs(1, |run| stand(run, 0.0101)));
    check(&[("V04", Note), ("V12", Invalid)], |trial| trial.some_runs(50, |run| stand(run, 0.9)));
    // Also where workers share strands; and a wait is not a stop, even where only its switches are known.
    check(&[("V04", Note), ("V19", Note)], |trial| {
        trial.facts.strands = 1;
        trial.some_runs(6, |run| stand(run, 0.9));
    });
    // Workers that spin nap where they share strands, and nowhere else.
    let spinning = |trial: &mut Trial, strands: usize| {
        (trial.facts.card, trial.facts.strands) = (card("flag"), strands);
        trial.some_runs(6, |run| stand(run, 0.9));
    };
    check(&[("V19", Note)], |trial| spinning(trial, 1));
    check(&[("V04", Note)], |trial| spinning(trial, 2));
    check(&[("V03", Note)], |trial| {
        trial.some_runs(6, |run| {
            stand(run, 0.9);
            run.laps[0].counts.run_delay_ns = None;
        });
    });
}

#[test]
fn too_few_clean_repetitions_are_left() {
    let wait = |run: &mut Run| run.laps[0].wait(run.interval_ns);
    let of_ten = |trial: &mut Trial, dirty| {
        trial.cell.invocations.iter_mut().for_each(|invocation| invocation.runs.truncate(1));
        trial.runs().take(dirty).for_each(wait);
    };
    let few = |severity| [("V03", Note), ("V12", severity)];
    check_each(of_ten, &[(4, &few(Note)), (5, &few(Suspect)), (9, &few(Suspect)), (10, &few(Invalid))]);
}

#[test]
fn v05_stolen() {
    let note = V05.note.unwrap();
    let steal = |trial: &mut Trial, share: f64| {
        trial.runs().for_each(|run| run.steal_ns = Some((run.interval_ns as f64 * 2.0 * share) as u64));
    };
    check_each(steal, &[(note * 0.99, &[]), (note * 1.01, &[("V05", Note)]), (0.5, &[("V05", Note)])]);
    // It is that of all CPUs where threads float.
    let floating = |trial: &mut Trial, share: f64| {
        float(trial);
        trial.facts.cpus = 8;
        steal(trial, 4.0 * share);
    };
    check_each(floating, &[(note * 0.99, &[]), (note * 1.01, &[("V05", Note)])]);
    // Of a single tick in a short time nothing is known.
    let ticks = |trial: &mut Trial, count: u64| {
        trial.runs().for_each(|run| stretch(run, 0.15));
        trial.some_runs(1, |run| run.steal_ns = Some(count * 10_000_000));
    };
    check_each(ticks, &[(1, &[]), (2, &[("V05", Note)])]);
}

#[test]
fn v06_pressure() {
    let press = |trial: &mut Trial, share: f64| {
        trial.runs().for_each(|run| run.pressure_ns = Some((run.interval_ns as f64 * share) as u64));
    };
    let note = V06.note.unwrap();
    check_each(press, &[(note * 0.99, &[]), (note * 1.01, &[("V06", Note)]), (1.0, &[("V06", Note)])]);
}

#[test]
fn v07_throttled() {
    check(&[("V07", Note)], |trial| trial.some_runs(1, |run| run.throttled_periods = Some(1)));
    // It was the quota that the workers waited for.
    check(&[("V07", Note), ("V12", Invalid)], |trial| {
        trial.some_runs(50, |run| {
            run.throttled_periods = Some(1);
            run.laps[0].wait(run.interval_ns);
        });
    });
    // What a program gets of it is its number.
    check(&[("V07", Note)], |trial| {
        let card = trial.facts.card.to_mut();
        (card.role, card.blocks_in_kernel) = (Role::Program, true);
        trial.runs().for_each(|run| {
            run.throttled_periods = Some(1);
            run.laps[0].wait(run.interval_ns / 2);
        });
    });
}

#[test]
fn v08_drifted() {
    let faster = |kernel| {
        move |trial: &mut Trial, share: f64| {
            trial.facts.card = card(kernel);
            let first = &mut trial.cell.invocations[0];
            first.evidence.as_mut().unwrap().frequency.as_mut().unwrap().highest_hz *= 1.0 + share;
            first.runs.iter_mut().for_each(|run| stretch(run, 1.0 / (1.03 + share)));
        }
    };
    let [note, suspect] = [V08.note, V08.suspect].map(Option::unwrap);
    check_each(faster("mem-read"), &[(note * 0.99, &[]), (note * 1.01, &[("V08", Note)]), (0.5, &[("V08", Note)])]);
    check_each(faster("futex-wake"), &[(note * 1.01, &[("V08", Note)]), (suspect * 1.01, &[("V08", Suspect)])]);
    // Where the clock is all that values differ in, the number is that of its clock.
    check(&[("V08", Note)], |trial| {
        trial.facts.card = card("futex-wake");
        for (at, invocation) in trial.cell.invocations.iter_mut().enumerate() {
            let faster = 1.0 + 0.01 * at as f64;
            invocation.evidence.as_mut().unwrap().frequency.as_mut().unwrap().highest_hz *= faster;
            invocation.runs.iter_mut().for_each(|run| stretch(run, 1.0 / faster));
        }
    });
    check(&[("V08", Note)], |trial| {
        trial.facts.card = card("futex-wake");
        let first = &mut trial.cell.invocations[0];
        first.evidence.as_mut().unwrap().frequency.as_mut().unwrap().highest_hz *= 1.05;
        first.runs.iter_mut().for_each(|run| stretch(run, 1.0 / 1.05));
    });
    // Another run is the faster one.
    check(&[("V08", Note)], |trial| {
        trial.facts.card = card("futex-wake");
        let [first, second, ..] = &mut trial.cell.invocations[..] else { unreachable!() };
        first.evidence.as_mut().unwrap().frequency.as_mut().unwrap().highest_hz *= 1.05;
        first.runs.iter_mut().for_each(|run| stretch(run, 1.004));
        second.runs.iter_mut().for_each(|run| stretch(run, 1.0 / 1.05));
    });
    // What does not follow the clock is as right at another.
    check(&[], |trial| {
        trial.cell.invocations[0].evidence.as_mut().unwrap().frequency.as_mut().unwrap().highest_hz *= 1.5;
    });
    // Slower for a moment is what a disturbed canary says.
    check(&[], |trial| {
        trial.evidence(|evidence| evidence.frequency.as_mut().unwrap().drift = 0.5);
    });
}

#[test]
fn v09_short() {
    let shorten = |trial: &mut Trial, factor: f64| {
        trial.runs().for_each(|run| stretch(run, factor));
        trial.laps(|lap| lap.bytes = (lap.bytes as f64 * factor) as u64);
    };
    check_each(shorten, &[(0.0052, &[]), (0.0048, &[("V09", Suspect)]), (0.00009, &[("V09", Invalid)])]);
    let coarse = |trial: &mut Trial, step| trial.facts.timer.as_mut().unwrap().resolution_ns = step;
    check_each(coarse, &[(90_000, &[]), (110_000, &[("V09", Suspect)])]);
    check(&[("V09", Suspect)], |trial| trial.facts.timer.as_mut().unwrap().overhead_ns = 1_100_000);
}

#[test]
fn v10_another_clock() {
    let changed = || format!("{}: tsc became hpet", Evidence::CLOCK_SOURCE);
    check(&[("V10", Invalid)], |trial| trial.evidence(|evidence| evidence.changes = vec![changed()]));
}

#[test]
fn v11_clocks_apart() {
    let skew = |trial: &mut Trial, share: f64| {
        trial.facts.timer.as_mut().unwrap().skew_ns = Some((INTERVAL_NS * share) as u64);
    };
    let limit = V11.invalid.unwrap();
    check_each(skew, &[(limit * 0.95, &[]), (limit * 1.05, &[("V11", Invalid)])]);
}

#[test]
fn v17_impossible() {
    let of_rate = |trial: &mut Trial, rate: f64, share: f64| {
        let highest_hz = rate / (trial.facts.card.max_per_cycle.unwrap() * 2.0 * share);
        trial.evidence(|evidence| evidence.frequency.as_mut().unwrap().highest_hz = highest_hz);
    };
    let of_peak = |trial: &mut Trial, share: f64| of_rate(trial, 1024.0 * MIB as f64 / (INTERVAL_NS / 1e9), share);
    // The time from one operation to the next is that of both workers together.
    let of_serial = |trial: &mut Trial, share: f64| {
        (trial.cell.unit, trial.facts.card) = (Unit::NanosecondsPerOp, card("c2c-cas"));
        trial.laps(|lap| (lap.ops, lap.bytes) = (MIB, 0));
        of_rate(trial, 2.0 * MIB as f64 / (INTERVAL_NS / 1e9), share);
    };
    let limit = V17.invalid.unwrap();
    let cases: [(f64, &[_]); 3] =
        [(limit * 0.98, &[]), (limit * 1.02, &[("V17", Invalid)]), (f64::INFINITY, &[("V17", Invalid)])];
    check_each(of_peak, &cases);
    check_each(of_serial, &cases);
}

#[test]
fn v18_apart() {
    // One of the workers begins late, and is at work to the end all the same.
    let late = |trial: &mut Trial, (runs, share): (usize, f64)| {
        trial.some_runs(runs, |run| {
            run.laps[1].start_ns = (run.interval_ns as f64 * share) as u64;
            run.start_skew_ns = run.laps[1].start_ns;
        });
    };
    let limit = V18.lap.unwrap();
    check_each(late, &[((50, limit * 0.99), &[]), ((1, limit * 1.01), &[("V18", Note)])]);
    check_each(late, &[((50, limit * 1.01), &[("V12", Invalid), ("V18", Note)])]);
    // One that finds no more work is done.
    check(&[], |trial| {
        trial.facts.card.to_mut().shares_work = true;
        late(trial, (50, 0.9));
    });
}

#[test]
fn v19_shared() {
    check(&[("V19", Note)], |trial| trial.facts.strands = 1);
    check(&[("V19", Note)], |trial| trial.cell.seats = vec![Some(0), Some(0)]);
    // Waiting, pressure and late starts are what sharing is.
    check(&[("V19", Note)], |trial| {
        trial.facts.strands = 1;
        trial.evidence(|evidence| evidence.frequency = None);
        trial.runs().for_each(|run| {
            (run.pressure_ns, run.laps[1].start_ns) = (Some(run.interval_ns), run.interval_ns / 2);
            run.laps.iter_mut().for_each(|lap| lap.wait(run.interval_ns / 2));
        });
    });
}

/// What takes as long for other work has no median: with them the number would be that of no size.
#[test]
fn iterations_that_end_at_another_size_do_not_count() {
    let grow = |run: &mut Run, sizes: u64, unfinished: bool| {
        let step = |size| GrowthStep { size, time_ns: 1 << size, activities: 1 << size, ..GrowthStep::default() };
        let unfinished = unfinished.then(|| step(sizes + 1));
        run.growth = Some(Box::new(Growth { unfinished, ..Growth::new((1..=sizes).map(step).collect(), Halt::Time) }));
    };
    let mut trial = clean();
    trial.runs().for_each(|run| grow(run, 9, false));
    trial.judge();
    let (marks, value) = (trial.marks().len(), trial.cell.capacity.unwrap().value);
    assert_eq!(marks, 0);
    let mut other = clean();
    other.runs().for_each(|run| grow(run, 9, false));
    other.some_runs(20, |run| {
        stretch(run, 30.0);
        grow(run, 8, false);
    });
    other.some_runs(10, |run| grow(run, 9, true));
    other.judge();
    assert!((other.cell.capacity.unwrap().value / value - 1.0).abs() < 0.01, "{:?}", other.cell.capacity);
    assert_eq!(other.marks(), [("V35", Note)]);
}
