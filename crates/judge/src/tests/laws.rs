//! Invariants of any cell, of its output, and of the cells in `tests/golden/verdicts/cells.tsv`.

use proptest::prelude::*;

use super::*;
use crate::{ATTEMPTS, wants_more};
use charz_data::report::{self, Estimator};

/// Something that can happen to a repetition, with and without a cause.
fn spoil(run: &mut Run, kind: u8) {
    match kind {
        0 => stretch(run, 1.7),
        1 => run.laps[0].wait(run.interval_ns / 3),
        2 => run.laps[1].counts.cpu_ns = Some(run.interval_ns / 2),
        3 => run.laps[1].on_seat = Some(false),
        4 => run.throttled_periods = Some(2),
        5 => run.laps[0].counts.major_faults = Some(1),
        6 => run.steal_ns = Some(10_000_000),
        7 => run.laps[0].on_seat = None,
        8 => run.laps[1].start_ns = run.interval_ns / 4,
        9 => without_work(run),
        _ => {}
    }
}

prop_compose! {
    /// A cell to which several of these things happened.
    fn spoilt()(
        count in 1..20_usize,
        happened in prop::collection::vec((0..100_usize, 0..12_u8), 0..25),
        failed in prop::collection::vec((0..20_usize, 0..4_u8), 0..4),
        strands in 1..3_usize,
        apart in prop::collection::vec(20.0..60.0_f64, 20),
    ) -> Trial {
        let mut trial = clean();
        trial.cell.invocations = (0..count).map(invocation).collect();
        for (invocation, ns) in trial.cell.invocations.iter_mut().zip(apart) {
            invocation.evidence.as_mut().unwrap().apart_ns = Some(ns);
        }
        trial.facts.strands = strands;
        for (at, kind) in happened {
            if let Some(run) = trial.runs().nth(at) {
                spoil(run, kind);
            }
        }
        for (at, kind) in failed.into_iter().filter(|(at, _)| *at < count) {
            trial.failing(at, [Ending::Died, Ending::Refused, Ending::Stopped, Ending::Wrong][usize::from(kind)]);
        }
        trial
    }
}

proptest! {
    /// Neither of fewer invocations nor of the same.
    #[test]
    fn an_earlier_judgement_leaves_no_trace(mut trial in spoilt()) {
        let mut in_steps = trial.clone();
        let all = std::mem::take(&mut in_steps.cell.invocations);
        for invocation in all {
            in_steps.cell.invocations.push(invocation);
            in_steps.judge();
        }
        in_steps.judge();
        trial.judge();
        prop_assert_eq!(in_steps.cell, trial.cell);
    }

    /// Only a trend, and the T3-4 report's best of the first three, are about an order.
    #[test]
    fn the_order_of_invocations_does_not_matter(trial in spoilt(), order in Just((0..20).collect::<Vec<usize>>()).prop_shuffle()) {
        let mut shuffled = trial.clone();
        let chosen = order.iter().filter_map(|&at| trial.cell.invocations.get(at).cloned());
        shuffled.cell.invocations = chosen.collect();
        let [one, other] = [trial, shuffled].map(|mut trial| {
            trial.judge();
            let trend = trial.marks().iter().any(|(code, severity)| *code == "V15" && *severity == Severity::Suspect);
            let mut summary = trial.cell.summary;
            summary.iter_mut().for_each(|summary| summary.best_of_three = None);
            (trend, summary, trial.cell.status)
        });
        if !one.0 && !other.0 {
            prop_assert_eq!((one.1, one.2), (other.1, other.2));
        }
    }

    #[test]
    fn no_repetition_is_left_out_for_its_value(trial in spoilt(), at in 0..100_usize, factor in 1.0..1000.0_f64) {
        let causes = |mut trial: Trial| {
            trial.judge();
            let runs: Vec<Vec<String>> = trial.runs().map(|run| run.dirty.clone()).collect();
            runs.into_iter().map(|codes| codes.into_iter().filter(|code| code != "V15").collect()).collect::<Vec<Vec<_>>>()
        };
        let mut slower = trial.clone();
        let judged = causes(trial);
        let Some(run) = slower.runs().nth(at).filter(|run| judged[at].is_empty() && run.laps[0].start_ns == run.laps[1].start_ns) else {
            return Ok(());
        };
        stretch(run, factor);
        prop_assert_eq!(judged, causes(slower));
    }

    #[test]
    fn first_repetitions_go_together(mut trial in spoilt()) {
        trial.judge();
        for invocation in &trial.cell.invocations {
            let by_place = |at: usize| invocation.runs.get(at).is_some_and(|run| run.dirty.iter().any(|code| code == "V15"));
            prop_assert!(!(1..REPETITIONS).any(by_place));
        }
        let measured: Vec<_> = trial.cell.invocations.iter().filter(|invocation| !invocation.runs.is_empty()).collect();
        let left_out = measured.iter().filter(|invocation| invocation.runs[0].dirty.iter().any(|code| code == "V15")).count();
        prop_assert!(left_out == 0 || left_out == measured.len());
    }

    #[test]
    fn the_status_is_that_of_the_heaviest_mark(mut trial in spoilt()) {
        trial.judge();
        let heaviest = trial.cell.marks.iter().map(|mark| mark.severity).max();
        match trial.cell.status {
            Status::Ok => prop_assert!(heaviest < Some(Severity::Suspect)),
            Status::Suspect => prop_assert_eq!(heaviest, Some(Severity::Suspect)),
            Status::Invalid => prop_assert_eq!(heaviest, Some(Severity::Invalid)),
            Status::Failed | Status::Skipped => {}
            Status::Pending => prop_assert!(false, "a judged cell is not pending"),
        }
        if !matches!(trial.cell.status, Status::Ok | Status::Suspect) {
            prop_assert_eq!((trial.cell.capacity, trial.cell.delivered), (None, None));
        }
        let without_interval = trial.cell.capacity.is_none_or(|capacity| capacity.interval.is_none());
        prop_assert!(trial.cell.status != Status::Ok || !without_interval, "ok without an interval");
    }

    #[test]
    fn no_cell_is_measured_for_ever(mut trial in spoilt(), least in 1..10_usize, more in 0..10_usize) {
        trial.cell.invocations = (0..ATTEMPTS * (least + more)).map(invocation).collect();
        trial.judge();
        prop_assert!(!wants_more(&trial.cell, least, least + more));
    }

    #[test]
    fn numbers_are_those_of_the_repetitions(mut trial in spoilt()) {
        trial.judge();
        let Some(summary) = trial.cell.summary else { return Ok(()) };
        let runs: u64 = trial.cell.invocations.iter().filter(|each| each.ending == Ending::Done).map(|each| each.runs.len() as u64).sum();
        prop_assert_eq!(summary.clean_runs + summary.dirty_runs, runs);
        prop_assert_eq!(summary.invocations, trial.values().len() as u64);
        prop_assert!(summary.best_of_three.is_none_or(|best| summary.worst <= best && best <= summary.best));
        if let Some(raw) = summary.raw {
            prop_assert!(summary.worst <= raw && raw <= summary.best);
        }
    }
}

/// A repetition that was over before the clock ticked.
fn without_time(run: &mut Run) {
    run.interval_ns = 0;
    for lap in &mut run.laps {
        (lap.start_ns, lap.end_ns) = (0, 0);
    }
}

/// A repetition in which no operation ended.
fn without_work(run: &mut Run) {
    run.laps.iter_mut().for_each(|lap| (lap.ops, lap.bytes, lap.blocks) = Default::default());
}

proptest! {
    #[test]
    fn the_reader_takes_what_the_judge_says(
        idle in prop::collection::vec(0..50_usize, 0..50),
        timeless in prop::collection::vec((0..50_usize, any::<bool>()), 0..4),
        endings in prop::collection::vec((0..10_usize, 0..4_u8), 0..4),
    ) {
        let mut trial = clean();
        for at in idle {
            without_work(trial.runs().nth(at).expect("ten invocations of five repetitions"));
        }
        for (at, dirty) in timeless {
            let run = trial.runs().nth(at).expect("ten invocations of five repetitions");
            without_time(run);
            run.laps[0].on_seat = Some(!dirty);
        }
        for (at, kind) in endings {
            trial.cell.invocations[at].ending = [Ending::Died, Ending::TimedOut, Ending::Stopped, Ending::Wrong][usize::from(kind)];
        }
        trial.judge();
        let text = serde_json::to_string(&fixtures::report(vec![trial.cell.clone()])).unwrap();
        let mut again = report::parse(&text).map_err(TestCaseError::fail)?;
        prop_assert!(serde_json::to_string(&again).unwrap() == text, "written again, it is another text");
        let cell = &mut again.cells[0];
        (cell.precision, cell.estimator) = (trial.cell.precision, Estimator::Median);
        judge(cell, &trial.facts);
        prop_assert_eq!(&again.cells[0], &trial.cell);
    }
}

#[test]
fn repetitions_without_time_or_work_leave_no_number() {
    for (spoil, word) in [(without_time as fn(&mut Run), "short"), (without_work, "--span")] {
        let mut trial = clean();
        trial.runs().for_each(spoil);
        trial.judge();
        assert_eq!(trial.cell.summary, None);
        let reason = trial.cell.reason.as_ref().unwrap();
        assert!(matches!(trial.cell.status, Status::Invalid) && reason.contains(word), "{reason}");
        assert_eq!(report::check(&fixtures::report(vec![trial.cell])), Ok(()));
    }
}

/// What can happen to repetitions: the kinds of [`spoil`].
const KINDS: u8 = 9;

fn row(what: &str, mut trial: Trial) -> String {
    trial.judge();
    let marks: Vec<String> = trial.marks().iter().map(|(code, severity)| format!("{code} {severity:?}")).collect();
    let number = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.9e}"));
    let summary = trial.cell.summary;
    let (capacity, interval) = (trial.cell.capacity, trial.cell.capacity.and_then(|capacity| capacity.interval));
    let counts = summary.map(|summary| (summary.invocations, summary.clean_runs, summary.dirty_runs));
    let numbers = [
        capacity.map(|capacity| capacity.value),
        summary.and_then(|summary| summary.raw),
        interval.map(|interval| interval.low),
        interval.map(|interval| interval.high),
        summary.and_then(|summary| summary.spread),
        summary.map(|summary| summary.best),
        summary.map(|summary| summary.worst),
    ];
    format!("{what}\t{:?}\t{}\t{counts:?}\t{}\n", trial.cell.status, marks.join(", "), numbers.map(number).join("\t"))
}

fn spoilt_on(kernel: &'static str, strands: usize, happened: &[(u8, usize)]) -> Trial {
    let mut trial = clean();
    (trial.facts.card, trial.facts.strands) = (card(kernel), strands);
    happened.iter().for_each(|&(kind, count)| trial.some_runs(count, |run| spoil(run, kind)));
    trial
}

#[test]
fn the_same_verdicts_on_cells() {
    let mut text = String::from(
        "what happened\tstatus\tmarks\tinvocations, clean, dirty\tvalue\traw\tlow\thigh\tspread\tbest\tworst\n",
    );
    for (kernel, strands) in [("mem-read", 2), ("arith-int", 2), ("flag", 1)] {
        text += &row(&format!("{kernel} on {strands}: nothing"), spoilt_on(kernel, strands, &[]));
        for kind in 0..KINDS {
            for count in [1, 6, 26, 50] {
                let what = format!("{kernel} on {strands}: {kind} in {count}");
                text += &row(&what, spoilt_on(kernel, strands, &[(kind, count)]));
            }
            let other = (kind + 4) % KINDS;
            let what = format!("{kernel} on {strands}: {kind} in 8, {other} in 3");
            text += &row(&what, spoilt_on(kernel, strands, &[(kind, 8), (other, 3)]));
        }
    }
    let endings = [
        ("died", Ending::Died),
        ("refused", Ending::Refused),
        ("stopped", Ending::Stopped),
        ("wrong", Ending::Wrong),
        ("too long", Ending::TimedOut),
        ("not made", Ending::Skipped),
        ("unavailable", Ending::Unavailable),
    ];
    for (name, ending) in endings {
        for count in [1, 4, 10] {
            let mut trial = clean();
            (0..count).for_each(|at| trial.failing(at, ending));
            text += &row(&format!("{name} {count} times"), trial);
        }
    }
    for count in [1, 3, 6, 9] {
        let mut trial = clean();
        trial.cell.invocations.truncate(count);
        text += &row(&format!("only {count} invocations"), trial);
    }
    crate::golden::check("verdicts/cells.tsv", &text);
}
