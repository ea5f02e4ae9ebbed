//! Reports that were edited.

use charz_data::Blocks;
use charz_data::report::{Energy, Estimator, Frequency, Hardware};

use super::*;

/// Of one worker, that does half an operation per cycle, in blocks.
fn honest() -> Report {
    let mut report = sweep("arith-int", "1", |fake| fake.nanos = |_| 40e6).report;
    let cell = &mut report.cells[0];
    for invocation in &mut cell.invocations {
        let hz = 5e6;
        let frequency = Frequency { before_hz: hz, after_hz: hz, highest_hz: hz, drift: 0.0 };
        invocation.evidence.as_mut().unwrap().frequency = Some(frequency);
        for lap in invocation.runs.iter_mut().flat_map(|run| &mut run.laps) {
            let times = (0..50).map(|at| 400.0 + 0.01 * f64::from(at)).collect();
            (lap.blocks, lap.checks) = (Some(Blocks::of(times)), 51);
        }
    }
    judge_first(&mut report);
    report
}

fn judge_first(report: &mut Report) {
    let context = judge_context(report, &report.cells[0]).unwrap();
    charz_judge::judge(&mut report.cells[0], &context);
}

/// With stamped times, and runs with counters.
fn stamp(report: &mut Report) {
    let cell = &mut report.cells[0];
    for run in cell.invocations.iter_mut().flat_map(|invocation| &mut invocation.runs) {
        run.samples = Some(Box::new((0..20).map(|at| (100 + at, 200 - at)).collect()));
    }
    cell.counted = cell.invocations.clone();
    judge_first(report);
}

/// Numbers that are so many times as large, and nothing else.
fn boast(cell: &mut Cell, times: f64) {
    cell.invocations.iter_mut().for_each(|invocation| invocation.value = invocation.value.map(|value| value * times));
    for estimate in [&mut cell.capacity, &mut cell.delivered].into_iter().flatten() {
        estimate.value *= times;
        estimate.interval = estimate.interval.map(|found| [found.low * times, found.high * times].into());
    }
}

/// Blocks that are so many times as fast, and the numbers that follow from them.
fn hurry(report: &mut Report, times: f64) {
    for invocation in &mut report.cells[0].invocations {
        for blocks in invocation.runs.iter_mut().flat_map(|run| &mut run.laps).filter_map(|lap| lap.blocks.as_mut()) {
            blocks.times.iter_mut().for_each(|time| *time /= times);
        }
    }
    judge_first(report);
}

#[track_caller]
fn check_refused(word: &str, lie: impl FnOnce(&mut Report)) {
    let mut report = honest();
    lie(&mut report);
    let told = reread(&mut report).unwrap_err();
    assert!(told.contains(word), "{word:?}: {told}");
}

/// A kernel that is not this program's, with a card.
fn rename(report: &mut Report) {
    report.cards[0].name = "of-tomorrow".into();
    report.cells[0].kernel = "of-tomorrow".into();
}

#[test]
fn what_follows_from_its_repetitions_is_taken() {
    let mut report = honest();
    assert_eq!(report.cells[0].status, Status::Ok, "{:?}", report.cells[0].marks);
    let before = report.clone();
    reread(&mut report).unwrap();
    assert!(report == before, "nothing is judged anew");
    rename(&mut report);
    reread(&mut report).unwrap();
    stamp(&mut report);
    reread(&mut report).unwrap();
}

#[test]
fn no_kernel_and_no_mapping_is_beyond_doubt() {
    check_refused("an invocation with a value", |report| boast(&mut report.cells[0], 3.0));
    check_refused("an invocation with a value", |report| {
        rename(report);
        boast(&mut report.cells[0], 3.0);
    });
    check_refused("has marks", |report| report.cells[0].marks.clear());
    check_refused("seats that are not those of \"auto\"", |report| report.cells[0].mapping = "auto".into());
    check_refused("seats that are not those of \"list:3\"", |report| report.cells[0].mapping = "list:3".into());
    check_refused("seats that are not those of \"list:3\"", |report| {
        (report.cells[0].mapping, report.cells[0].seats) = ("list:3".into(), vec![Some(3)]);
    });
}

#[test]
fn the_blocks_of_a_lap_take_its_time() {
    for times in [0.5, 0.95, 1.05, 2.0] {
        check_refused("has blocks", |report| hurry(report, times));
    }
    // A lap of no time has no share that its blocks take, and hides no other.
    check_refused("has blocks", |report| {
        let run = &mut report.cells[0].invocations[0].runs[0];
        (run.interval_ns, run.laps[0].end_ns) = (0, run.laps[0].start_ns);
        hurry(report, 2.0);
    });
    // A host that pauses a guest takes time from laps, shown or not: a pause lies in a block that is not kept.
    let mut paused = honest();
    let runs = paused.cells[0].invocations.iter_mut().flat_map(|invocation| &mut invocation.runs);
    runs.for_each(|run| run.laps[0].checks += 2);
    hurry(&mut paused, 1.3);
    reread(&mut paused).unwrap();
    let mut shown = honest();
    let runs = shown.cells[0].invocations.iter_mut().flat_map(|invocation| &mut invocation.runs);
    runs.flat_map(|run| &mut run.laps).for_each(|lap| lap.counts.cpu_ns = Some(lap.time_ns() / 10 * 7));
    hurry(&mut shown, 1.3);
    reread(&mut shown).unwrap();
    let mut nearly = honest();
    hurry(&mut nearly, 1.01);
    reread(&mut nearly).unwrap();
}

#[test]
fn what_is_said_beside_the_number_and_of_a_cell_without_one_follows_too() {
    let spoil = |report: &mut Report| {
        let evidence = report.cells[0].invocations.iter_mut().filter_map(|invocation| invocation.evidence.as_mut());
        evidence.for_each(|evidence| evidence.changes = vec!["allowed strands: 0-1 became 0".into()]);
        judge_first(report);
        assert_eq!(report.cells[0].status, Status::Invalid);
    };
    let mut invalid = honest();
    spoil(&mut invalid);
    reread(&mut invalid).unwrap();
    check_refused("has a status", |report| {
        let good = report.cells[0].clone();
        spoil(report);
        let cell = &mut report.cells[0];
        *cell = Cell { invocations: cell.invocations.clone(), ..good };
    });
    check_refused("has a status", |report| {
        let cell = &mut report.cells[0];
        (cell.status, cell.capacity, cell.delivered) = (Status::Invalid, None, None);
    });
    check_refused("has a status", |report| report.cells[0].invocations.clear());
    check_refused("has a summary", |report| report.cells[0].summary.as_mut().unwrap().clean_runs += 1);
    check_refused("has counters", |report| report.cells[0].hardware = Some(Hardware::default()));
    check_refused("has clean iterations", |report| report.cells[0].invocations[0].runs[0].dirty = vec!["V02".into()]);
    check_refused("has an estimator", |report| report.cells[0].estimator = Estimator::Median);
    // That of the kernel, whatever follows from another.
    check_refused("has an estimator", |report| {
        let runs = report.cells[0].invocations.iter_mut().flat_map(|invocation| &mut invocation.runs);
        runs.flat_map(|run| &mut run.laps).for_each(|lap| lap.blocks = None);
        report.cells[0].estimator = Estimator::Best;
        judge_first(report);
    });
    check_refused("an invocation with a value", |report| {
        stamp(report);
        report.cells[0].counted[0].value = Some(1.0);
    });
    check_refused("has a distribution", |report| {
        stamp(report);
        report.cells[0].distribution.as_mut().unwrap().first.p50_ns = Some(1.0);
    });
    check_refused("has an energy", |report| {
        report.cells[0].energy = Some(Energy { watts: vec![1.0], joules: None });
    });
}

#[test]
fn no_chain_is_faster_than_its_latencies() {
    check_refused("has a status", |report| {
        let cell = &mut report.cells[0];
        for run in cell.invocations.iter_mut().flat_map(|invocation| &mut invocation.runs) {
            run.interval_ns /= 2;
            for lap in &mut run.laps {
                lap.end_ns /= 2;
                lap.counts.cpu_ns = lap.counts.cpu_ns.map(|ran| ran / 2);
                lap.blocks.as_mut().unwrap().times.iter_mut().for_each(|time| *time /= 2.0);
            }
        }
        boast(cell, 2.0);
    });
}

#[test]
fn a_report_of_another_version_is_judged_by_the_rules_of_this_one() {
    let mut report = honest();
    report.tool.version = "9.9.9".into();
    let before = report.clone();
    boast(&mut report.cells[0], 3.0);
    report.cells[0].marks.clear();
    reread(&mut report).unwrap();
    assert!(report == before, "{:?}", report.cells[0].capacity);
}
