//! Marks of memory, of repetitions and invocations, of the build and the machine: from just beyond their limits on, and not just
//! below; and those of evidence that the system does not give.

use charz_data::{PageKind, Role};

use super::*;
use charz_data::checks::{V13, V20, V21, V28};
use charz_data::report::Severity::{Invalid, Note, Suspect};
use charz_data::report::{Contention, FirstElsewhere, Interval, Measured, ProgramSeen};

#[test]
fn v20_other_pages() {
    let small = |trial: &mut Trial, share: f64| {
        let pages = trial.cell.invocations[3].evidence.as_mut().unwrap().pages.as_mut().unwrap();
        pages.base_bytes = (pages.transparent_bytes as f64 * share) as u64;
        pages.transparent_bytes -= pages.base_bytes;
    };
    let limit = V20.invalid.unwrap();
    check_each(small, &[(limit * 0.99, &[]), (limit * 1.01, &[("V20", Invalid)])]);
    check(&[("V20", Invalid)], |trial| trial.facts.params.pages = PageKind::Huge1G);
    check(&[("V20", Invalid)], |trial| trial.evidence(|evidence| evidence.pages = Some(Pages::default())));
    // Base pages of 64 KiB, and 512 MiB in one block of 456 MiB and in one of 1.5 GiB.
    let large = |trial: &mut Trial, kind, block: u64, huge| {
        (trial.facts.params.pages, trial.facts.params.size_bytes) = (kind, block * MIB);
        let pages = Pages { base_page_bytes: 64 << 10, transparent_page_bytes: Some(512 * MIB), ..Pages::default() };
        let base_bytes = (block - huge) * MIB;
        let pages = Pages { base_bytes, transparent_bytes: huge * MIB, ..pages };
        trial.evidence(|evidence| evidence.pages = Some(pages));
    };
    check(&[("V20", Note)], |trial| large(trial, PageKind::Small, 456, 0));
    check(&[("V20", Note)], |trial| large(trial, PageKind::Transparent, 456, 0));
    check(&[("V20", Note)], |trial| large(trial, PageKind::Transparent, 768, 512));
    check(&[("V20", Invalid)], |trial| large(trial, PageKind::Transparent, 768, 0));
    check(&[], |trial| large(trial, PageKind::Transparent, 1536, 1536));
}

#[test]
fn v21_another_node() {
    let nodes = |trial: &mut Trial, change: &dyn Fn(&mut Nodes)| {
        change(trial.cell.invocations[3].evidence.as_mut().unwrap().nodes.as_mut().unwrap());
    };
    let away = |trial: &mut Trial, share: f64| {
        nodes(trial, &|nodes| nodes.local_bytes = (nodes.bytes as f64 * (1.0 - share)) as u64);
    };
    let limit = V21.invalid.unwrap();
    check_each(away, &[(limit * 0.99, &[]), (limit * 1.01, &[("V21", Invalid)])]);
    // What was asked to be elsewhere is right there.
    let asked = |trial: &mut Trial, share: f64| {
        nodes(trial, &|nodes| {
            (nodes.local_bytes, nodes.asked_bytes) = (0, Some((nodes.bytes as f64 * share) as u64));
        });
    };
    check_each(asked, &[(1.0, &[]), (0.5, &[("V21", Invalid)])]);
    check(&[("V21", Suspect)], |trial| {
        trial.evidence(|evidence| evidence.nodes.as_mut().unwrap().balancing = Some(true))
    });
}

#[test]
fn v22_faults() {
    let minor = |trial: &mut Trial, count| trial.some_runs(1, |run| run.laps[0].counts.minor_faults = Some(count));
    // At a microsecond each, 1% of 100 ms.
    check_each(minor, &[(950, &[]), (1050, &[("V22", Note)])]);
    check(&[("V22", Note)], |trial| trial.some_runs(1, |run| run.laps[0].counts.major_faults = Some(1)));
}

#[test]
fn v24_unoptimised() {
    check(&[("V24", Suspect)], |trial| trial.facts.optimised = false);
}

#[test]
fn v25_another_machine() {
    let changed = |evidence: &mut Evidence| evidence.changes = vec!["allowed strands: 0-1 became 0".into()];
    check(&[("V25", Invalid)], |trial| changed(trial.cell.invocations[7].evidence.as_mut().unwrap()));
    // With fewer strands workers lose their seats: one cause.
    check(&[("V25", Invalid)], |trial| {
        trial.evidence(changed);
        trial.some_runs(3, |run| run.laps[1].on_seat = Some(false));
    });
}

#[test]
fn v27_cached() {
    check(&[], |trial| trial.facts.params.size_bytes = 128 * MIB);
    check(&[("V27", Suspect)], |trial| trial.facts.params.size_bytes = 127 * MIB);
    // Two workers divide it.
    let divided =
        |trial: &mut Trial, block| (trial.facts.params.size_bytes, trial.cell.block_bytes) = (block, Some(block));
    check(&[], |trial| divided(trial, 64 * MIB));
    check(&[("V27", Suspect)], |trial| divided(trial, 63 * MIB));
}

#[test]
fn v12_few_invocations() {
    let of = |trial: &mut Trial, count| trial.cell.invocations.truncate(count);
    check_each(of, &[(1, &[("V12", Suspect)]), (5, &[("V12", Suspect)]), (6, &[("V12", Note)]), (9, &[("V12", Note)])]);
}

#[test]
fn v13_spread() {
    // Within each invocation, so their medians agree.
    let spread = |trial: &mut Trial, share: f64| {
        for invocation in &mut trial.cell.invocations {
            let factors = [1.0, 1.0 - 2.0 * share, 1.0 - share, 1.0 + share, 1.0 + 2.0 * share];
            invocation.runs.iter_mut().zip(factors).for_each(|(run, factor)| stretch(run, factor));
        }
    };
    // The median absolute deviation of such a set is its step.
    let note = V13.note.unwrap() / 1.4826;
    check_each(spread, &[(note * 0.9, &[]), (note * 1.2, &[("V13", Note)])]);
}

#[test]
fn v14_outliers() {
    // One in so many repetitions, never the first, and never so many that they move a median.
    let wild = |trial: &mut Trial, invocations: usize| {
        trial.cell.invocations[..invocations].iter_mut().for_each(|invocation| stretch(&mut invocation.runs[3], 1.5));
    };
    check_each(wild, &[(5, &[]), (6, &[("V14", Note)])]);
}

/// Readings in steps of 0.5%, most of which are equal.
#[test]
fn coarse_values_are_neither_outliers_nor_groups() {
    const STEP_NS: f64 = 0.005 * INTERVAL_NS;
    check(&[], |trial| {
        for run in trial.runs() {
            run.interval_ns = ((run.interval_ns as f64 / STEP_NS).round() * STEP_NS) as u64;
            for lap in &mut run.laps {
                (lap.end_ns, lap.counts.cpu_ns) = (run.interval_ns, Some(run.interval_ns + 2000));
            }
        }
    });
}

#[test]
fn v15_trend() {
    let slope = |trial: &mut Trial, by: f64| {
        for (number, invocation) in trial.cell.invocations.iter_mut().enumerate() {
            invocation.runs.iter_mut().for_each(|run| stretch(run, 1.0 + by * number as f64));
        }
    };
    check_each(slope, &[(0.0022, &[]), (0.005, &[("V15", Note)])]);
}

#[test]
fn v15_slow_start() {
    let start = |trial: &mut Trial, factor: f64| {
        trial.cell.invocations.iter_mut().for_each(|invocation| stretch(&mut invocation.runs[0], factor));
    };
    check_each(start, &[(1.015, &[]), (1.03, &[("V15", Note)])]);
    let mut trial = clean();
    start(&mut trial, 1.5);
    trial.judge();
    for invocation in &trial.cell.invocations {
        assert_eq!(invocation.runs[0].dirty, ["V15"]);
        assert_eq!(invocation.clean_runs().count(), REPETITIONS - 1);
    }
    // Three of ten are an accident, and stay.
    check(&[], |trial| {
        trial.cell.invocations[..3].iter_mut().for_each(|invocation| stretch(&mut invocation.runs[0], 1.05))
    });
}

#[test]
fn v16_groups() {
    // Alternating within each invocation, so neither a trend nor the medians reveal it.
    let groups = |trial: &mut Trial, apart: f64| {
        let far = trial.cell.invocations.clone();
        trial.cell.invocations.extend(far);
        trial.runs().skip(1).step_by(2).for_each(|run| stretch(run, 1.0 + apart));
        trial.cell.invocations.iter_mut().for_each(|invocation| invocation.runs.truncate(4));
    };
    check_each(groups, &[(0.0, &[]), (0.04, &[("V16", Note)])]);
}

#[test]
fn v16_runs_of_several_speeds() {
    // Out of order, so there is no trend.
    let slow = |trial: &mut Trial, runs: &[usize], apart: f64| {
        for &at in runs {
            trial.cell.invocations[at].runs.iter_mut().for_each(|run| stretch(run, 1.0 + apart));
        }
    };
    let found = |runs: &[usize], apart: f64| {
        let mut trial = clean();
        slow(&mut trial, runs, apart);
        trial.judge();
        let of_groups = trial.cell.marks.iter().any(|mark| mark.code == "V16" && mark.severity == Suspect);
        let Measured { value, interval } = trial.cell.capacity.unwrap();
        let Interval { low, high } = interval.unwrap();
        (of_groups, value / low, high / value)
    };
    for apart in [0.3, 3.0] {
        let (is_found, below, above) = found(&[1, 4, 8], apart);
        assert!(is_found && below > 0.98 * (1.0 + apart) && above < 1.02, "{is_found} {below} {above}");
        let (is_found, below, above) = found(&[0, 1, 4, 5, 6, 8], apart);
        assert!(is_found && below < 1.02 && above > 0.98 * (1.0 + apart), "{is_found} {below} {above}");
    }
    // One run is an accident, and 5% are no other speed.
    assert!(!found(&[4], 0.3).0);
    assert!(!found(&[1, 4, 8], 0.05).0);
    // Runs anywhere between two speeds are neither.
    let mut between = clean();
    (0..10).for_each(|at| slow(&mut between, &[(7 * at) % 10], 0.12 * at as f64));
    between.judge();
    assert!(!between.marks().contains(&("V16", Suspect)), "{:?}", between.marks());
}

#[test]
fn v28_wide() {
    // Invocations at even distances, out of order, so there are neither groups nor a trend.
    let apart = |trial: &mut Trial, by: f64| {
        trial.cell.precision = 0.005;
        for (invocation, step) in trial.cell.invocations.iter_mut().zip([3, 8, 1, 6, 0, 9, 4, 7, 2, 5]) {
            invocation.runs.iter_mut().for_each(|run| stretch(run, 1.0 + by * (f64::from(step) - 4.5)));
        }
    };
    // The interval is from about the second to the ninth: 3.5 steps to either side.
    let [note, suspect] = [V28.note, V28.suspect].map(|limit| limit.unwrap() * 0.005 / 3.5);
    check_each(apart, &[(note * 0.7, &[]), (note * 1.4, &[("V28", Note)])]);
    check_each(apart, &[(suspect * 0.8, &[("V28", Note)]), (suspect * 1.3, &[("V28", Suspect)])]);
    // An excess that is rounded away is named in words.
    let mut reasons = (100..140).filter_map(|share| {
        let mut trial = clean();
        apart(&mut trial, note * f64::from(share) / 100.0);
        trial.judge();
        trial.cell.marks.pop().map(|mark| mark.reason)
    });
    let reason = reasons.next().unwrap();
    assert!(reason.matches("0.5%").count() == 2 && reason.contains("more than"), "{reason}");
    // Beside what the clock adds, which is three times as much, the width in cycles counts.
    let on_a_moving_clock = |trial: &mut Trial, by: f64| {
        apart(trial, by);
        for (invocation, step) in trial.cell.invocations.iter_mut().zip([6, 2, 9, 0, 4, 7, 1, 8, 5, 3]) {
            let faster = 1.0 + 3.0 * suspect * (f64::from(step) - 4.5);
            invocation.evidence.as_mut().unwrap().frequency.as_mut().unwrap().highest_hz *= faster;
            invocation.runs.iter_mut().for_each(|run| stretch(run, 1.0 / faster));
        }
    };
    let of_the_clock = ("V08", Note);
    let expected: [(f64, &[_]); 2] = [(0.0, &[of_the_clock]), (suspect * 1.3, &[of_the_clock, ("V28", Suspect)])];
    check_each(on_a_moving_clock, &expected);
}

#[test]
fn v32_samples_that_began_late() {
    let late = |trial: &mut Trial, waits: u64| {
        trial.facts.card = card("futex-wake");
        trial.runs().for_each(|run| {
            run.laps[0].contention = Some(Contention { attempts: 1000, waits, ..Contention::default() })
        });
    };
    check_each(late, &[(20, &[]), (21, &[("V32", Note)]), (201, &[("V32", Suspect)]), (501, &[("V32", Invalid)])]);
}

#[test]
fn what_a_verdict_needs_makes_the_cell_suspect() {
    check(&[("V01", Suspect)], |trial| trial.laps(|lap| lap.on_seat = None));
    check(&[("V02", Suspect)], |trial| trial.laps(|lap| (lap.counts.migrations, lap.strays) = (None, None)));
    check(&[("V04", Suspect)], |trial| trial.laps(|lap| lap.counts.cpu_ns = None));
    check(&[("V09", Suspect)], |trial| trial.facts.timer = None);
    check(&[("V11", Suspect)], |trial| trial.facts.timer.as_mut().unwrap().skew_ns = None);
    check(&[("V20", Suspect)], |trial| trial.evidence(|evidence| evidence.pages = None));
    check(&[("V21", Suspect)], |trial| trial.evidence(|evidence| evidence.nodes = None));
    check(&[("V21", Suspect)], |trial| {
        trial.facts.card = card("migrate-warm");
        trial.evidence(|evidence| evidence.nodes = None);
    });
    check(&[("V22", Suspect)], |trial| trial.laps(|lap| lap.counts.major_faults = None));
    check(&[("V25", Suspect)], |trial| trial.cell.invocations[0].evidence = None);
    check(&[("V27", Suspect)], |trial| trial.facts.last_cache_bytes = None);
    let neither = |lap: &mut Lap| (lap.counts.run_delay_ns, lap.counts.involuntary_switches) = (None, None);
    check(&[("V03", Suspect), ("V04", Suspect)], |trial| trial.laps(neither));
}

#[test]
fn one_lap_without_evidence_is_enough() {
    check(&[("V01", Suspect)], |trial| trial.some_runs(1, |run| run.laps[1].on_seat = None));
}

#[test]
fn what_only_helps_is_a_note() {
    check(&[("V05", Note)], |trial| trial.runs().for_each(|run| run.steal_ns = None));
    check(&[("V07", Note)], |trial| trial.runs().for_each(|run| run.throttled_periods = None));
    check(&[("V34", Note)], |trial| trial.evidence(|evidence| evidence.busy = None));
    check(&[("V06", Note)], |trial| trial.runs().for_each(|run| run.pressure_ns = None));
    check(&[("V08", Note)], |trial| trial.evidence(|evidence| evidence.frequency = None));
    check(&[("V21", Note)], |trial| trial.evidence(|evidence| evidence.nodes.as_mut().unwrap().balancing = None));
}

#[test]
fn evidence_that_no_check_needs_is_not_missed() {
    let bare = |trial: &mut Trial| {
        (trial.facts.virtual_machine, trial.facts.quota, trial.facts.numa_nodes) = (Some(false), false, 1)
    };
    check(&[], |trial| {
        bare(trial);
        trial.runs().for_each(|run| (run.steal_ns, run.throttled_periods) = (None, None));
        trial.evidence(|evidence| evidence.nodes = None);
    });
    // Looks between blocks are enough without the count of migrations, and the other way round.
    check(&[], |trial| trial.laps(|lap| lap.counts.migrations = None));
    check(&[], |trial| trial.laps(|lap| lap.strays = None));
    check(&[("V19", Note)], |trial| {
        trial.facts.strands = 1;
        trial.evidence(|evidence| evidence.frequency = None);
        trial.facts.timer.as_mut().unwrap().skew_ns = None;
    });
}

#[test]
fn a_gap_hides_no_finding() {
    // Whether the worker was on its seat is unknown; that it waited is known.
    let wait = |run: &mut Run| run.laps[0].wait(run.interval_ns / 2);
    check(&[("V01", Suspect), ("V03", Note)], |trial| {
        trial.laps(|lap| lap.on_seat = None);
        trial.some_runs(6, wait);
    });
}

#[test]
fn v36_fewer_threads() {
    let of_program = |trial: &mut Trial, working, threads| {
        let seen = ProgramSeen { working, threads, followed: "ptrace".into(), ..ProgramSeen::default() };
        trial.evidence(|evidence| evidence.program = Some(seen.clone()));
    };
    let asked = clean().cell.seats.len() as u64;
    check(&[("V36", Invalid)], |trial| of_program(trial, None, asked - 1));
    check(&[("V36", Invalid)], |trial| of_program(trial, Some(asked - 1), asked + 1));
    check(&[], |trial| of_program(trial, Some(asked), asked + 1));
    check(&[], |trial| of_program(trial, None, asked));
    // As many threads on one CPU fewer: another one waits there.
    check(&[("V04", Note), ("V36", Invalid)], |trial| {
        of_program(trial, Some(asked), asked + 1);
        let seat = trial.cell.seats[0];
        trial.laps(|lap| lap.counts.cpu_ns = lap.counts.cpu_ns.map(|ns| if lap.seat == seat { 1000 } else { ns }));
    });
    // Threads beyond those asked for share the seats; without seats they have CPUs of their own, as helpers have for a little while.
    let wants = |trial: &mut Trial, more: f64| {
        of_program(trial, Some(asked), asked + 1);
        trial.evidence(|evidence| evidence.program.as_mut().unwrap().wanted_cpus = Some(asked as f64 + more));
    };
    check(&[], |trial| wants(trial, 1.0));
    for (more, marks) in [(0.3, &[][..]), (1.0, &[("V36", Invalid)])] {
        check(marks, |trial| {
            wants(trial, more);
            float(trial);
        });
    }
    // Of a program that nothing follows no threads are known, and what it used is.
    let free = |trial: &mut Trial| {
        of_program(trial, None, 0);
        trial.evidence(|evidence| evidence.program.as_mut().unwrap().followed = "none".into());
    };
    check(&[("V39", Note)], free);
    check(&[("V36", Invalid)], |trial| {
        free(trial);
        trial.evidence(|evidence| evidence.program.as_mut().unwrap().wanted_cpus = Some(asked as f64 + 1.0));
        float(trial);
    });
    // Threads that are polled may have been on any seat before they were found.
    check(&[("V04", Note), ("V12", Invalid)], |trial| {
        of_program(trial, Some(asked), asked);
        trial.evidence(|evidence| evidence.program.as_mut().unwrap().followed = "poll".into());
        let seat = trial.cell.seats[1];
        trial.laps(|lap| lap.counts.cpu_ns = lap.counts.cpu_ns.map(|ns| if lap.seat == seat { 0 } else { ns }));
    });
}

#[test]
fn v37_a_first_run_unlike_the_others() {
    let first = |trial: &mut Trial, factor: f64| {
        let seen = ProgramSeen { threads: 2, first_ns: Some((INTERVAL_NS * factor) as u64), ..ProgramSeen::default() };
        trial.cell.invocations[0].evidence.as_mut().unwrap().program = Some(seen);
    };
    let expected: [(f64, &[_]); 5] =
        [(1.0, &[]), (1.9, &[]), (2.1, &[("V37", Suspect)]), (0.55, &[]), (0.45, &[("V37", Suspect)])];
    check_each(first, &expected);
    // As much of times that a cold start explains.
    check(&[], |trial| {
        let seen = ProgramSeen { threads: 2, first_ns: Some(9_000_000), ..ProgramSeen::default() };
        trial.cell.invocations[0].evidence.as_mut().unwrap().program = Some(seen);
        trial.runs().for_each(|run| stretch(run, 4.1e6 / INTERVAL_NS));
    });
    // Nor is that of a quota, of which the first run has no pauses.
    check(&[("V07", Note)], |trial| {
        let card = trial.facts.card.to_mut();
        (card.role, card.blocks_in_kernel) = (Role::Program, true);
        first(trial, 0.45);
        trial.runs().for_each(|run| {
            run.throttled_periods = Some(1);
            run.laps[0].wait(run.interval_ns / 2);
        });
    });
    // It is no later run of its own.
    check(&[("V37", Suspect)], |trial| {
        trial.cell.invocations.truncate(10);
        first(trial, 9.0);
        let one = trial.cell.invocations[0].evidence.as_mut().unwrap().program.take();
        trial.cell.invocations[1].evidence.as_mut().unwrap().program = one;
    });
}

#[test]
fn v37_a_very_first_run_of_another_configuration() {
    // Factors of its time, and of that of the later ones of its configuration, with so many threads for the two of these.
    let first = |trial: &mut Trial, (factor, later, threads): (f64, Option<f64>, u64)| {
        let ns = |factor: f64| (INTERVAL_NS * factor) as u64;
        let first_elsewhere = Some(FirstElsewhere { ns: ns(factor), threads, later_ns: later.map(ns) });
        let seen = ProgramSeen { threads: 2, first_elsewhere, ..ProgramSeen::default() };
        trial.cell.invocations[0].evidence.as_mut().unwrap().program = Some(seen);
    };
    type Elsewhere = (f64, Option<f64>, u64);
    let expected: [(Elsewhere, &[_]); 6] = [
        ((2.1, Some(1.0), 2), &[("V37", Suspect)]),
        // That configuration takes so long.
        ((9.0, Some(8.0), 4), &[]),
        ((9.0, Some(1.0), 4), &[("V37", Suspect)]),
        // Four threads in turns take twice as long as two.
        ((3.9, None, 4), &[]),
        ((4.1, None, 4), &[("V37", Suspect)]),
        ((0.1, None, 1), &[]),
    ];
    check_each(first, &expected);
}

#[test]
fn v38_as_long_as_with_one_thread() {
    let alone = |trial: &mut Trial, (time, cpu): (f64, f64)| {
        let [alone_ns, alone_cpu_ns] = [time, cpu].map(|part| Some((part * INTERVAL_NS) as u64));
        let seen = ProgramSeen { threads: 2, alone_ns, alone_cpu_ns, ..ProgramSeen::default() };
        trial.cell.invocations[7].evidence.as_mut().unwrap().program = Some(seen);
    };
    // Both threads work all the time.
    check_each(alone, &[((1.0, 1.0), &[("V38", Note)]), ((1.0, 1.5), &[]), ((1.9, 1.9), &[]), ((1.05, 1.0), &[])]);
}

#[test]
fn v39_a_program_that_stood_still_for_charz() {
    let stopped = |trial: &mut Trial, (share, in_copies): (f64, bool)| {
        trial.facts.in_copies = in_copies;
        let runs = trial.cell.invocations[0].runs.len() as f64;
        let (threads, stops) = (trial.cell.seats.len() as u64, 100);
        let stop_ns = Some((share * runs * INTERVAL_NS / stops as f64) as u64);
        let seen =
            ProgramSeen { threads, followed: "ptrace".into(), stops: Some(stops), stop_ns, ..ProgramSeen::default() };
        trial.evidence(|evidence| evidence.program = Some(seen.clone()));
    };
    let suspect: &[_] = &[("V39", Suspect)];
    let expected = [((0.019, false), &[][..]), ((0.021, false), suspect), ((0.03, true), &[]), ((0.06, true), suspect)];
    check_each(stopped, &expected);
}

#[test]
fn v40_a_program_that_waited_for_its_reader() {
    let waits = |trial: &mut Trial, share: f64| {
        let run = trial.cell.invocations[0].runs.iter().map(|run| run.interval_ns).sum::<u64>() as f64;
        let seen = ProgramSeen { threads: 2, write_wait_ns: Some((run * share) as u64), ..ProgramSeen::default() };
        trial.cell.invocations[0].evidence.as_mut().unwrap().program = Some(seen);
    };
    check_each(waits, &[(0.0, &[]), (0.015, &[]), (0.025, &[("V40", Suspect)])]);
}

/// What was counted around the iterations is judged by its own row of the table.
#[test]
fn what_was_counted_around_the_iterations() {
    for (code, note, suspect) in [("V42", 200.0, 30_000.0), ("V43", 0.05, 0.2)] {
        let counted = |trial: &mut Trial, quantity: f64| {
            trial.evidence(|evidence| evidence.seen = [(code.to_owned(), quantity), ("V00".to_owned(), 1e9)].into());
        };
        check_each(counted, &[(0.0, &[]), (note, &[(code, Note)]), (suspect, &[(code, Suspect)])]);
    }
}
