//! How a cell ends, and when it wants no more.

use super::*;
use crate::{ATTEMPTS, RETRIES, wants_more};
use charz_data::report::Severity::{Invalid, Suspect};
use charz_stats::LOOKS;

/// A cell whose invocations ended in these ways, in this order.
fn ended(endings: &[Ending]) -> Trial {
    let mut trial = clean();
    trial.cell.invocations = (0..endings.len()).map(invocation).collect();
    for (at, &ending) in endings.iter().enumerate().filter(|(_, ending)| **ending != Ending::Done) {
        trial.failing(at, ending);
    }
    trial.judge();
    trial
}

#[track_caller]
fn check_end(endings: &[Ending], status: Status, marks: &[(&str, Severity)]) {
    let trial = ended(endings);
    assert_eq!(trial.cell.status, status, "{endings:?}");
    assert_eq!(trial.cell.reason.is_some(), status != Status::Ok, "{endings:?}");
    assert_eq!(trial.marks(), marks, "{endings:?}");
    let value = trial.cell.capacity.map(|capacity| capacity.value);
    assert_eq!(value.is_some(), matches!(status, Status::Ok | Status::Suspect), "{endings:?}");
}

#[test]
fn a_cell_ends_as_its_invocations_did() {
    use Ending::*;
    check_end(&[Done; 10], Status::Ok, &[]);
    check_end(&[Unavailable], Status::Skipped, &[]);
    check_end(&[Skipped], Status::Skipped, &[]);
    check_end(&[Refused], Status::Skipped, &[]);
    check_end(&[Stopped], Status::Failed, &[]);
    check_end(&[Died], Status::Failed, &[("V29", Invalid)]);
    check_end(&[TimedOut, Stopped], Status::Failed, &[("V29", Invalid)]);
    check_end(&[Refused, Died], Status::Failed, &[("V29", Invalid)]);
    // A stop takes nothing from what was finished.
    check_end(&[Done, Done, Done, Done, Done, Done, Done, Done, Done, Done, Stopped], Status::Ok, &[]);
}

/// The T3-4 report ran its program three times, and so does charz: repetitions of one process are no runs.
#[test]
fn the_best_of_three_is_that_of_three_invocations() {
    let mut trial = clean();
    trial.failing(0, Ending::Died);
    for (at, invocation) in trial.cell.invocations.iter_mut().enumerate() {
        // The third with a value is the fastest of the first three, and the last of all the fastest.
        let factor = [1.0, 1.0, 1.0, 0.9, 1.0, 1.0, 1.0, 1.0, 1.0, 0.8][at];
        invocation.runs.iter_mut().for_each(|run| stretch(run, factor));
    }
    trial.judge();
    let [summary, values] = [trial.cell.summary.unwrap().best_of_three, trial.cell.invocations[3].value];
    assert!(summary.is_some() && summary == values, "{summary:?}, {values:?}");
}

#[test]
fn one_wrong_answer_is_enough() {
    use Ending::*;
    check_end(&[Wrong], Status::Invalid, &[("V23", Invalid)]);
    check_end(&[Done, Done, Done, Done, Done, Done, Done, Wrong], Status::Invalid, &[("V23", Invalid)]);
    check_end(&[Died, Wrong, Done], Status::Invalid, &[("V23", Invalid)]);
}

#[test]
fn a_few_failures_are_reported_and_more_end_the_cell() {
    use Ending::*;
    let survived = |failures: &[Ending]| [failures, &[Done; 10]].concat();
    for failure in [Died, TimedOut, Refused, Skipped, Unavailable] {
        check_end(&survived(&[failure]), Status::Suspect, &[("V29", Suspect)]);
        check_end(&survived(&[failure; RETRIES]), Status::Suspect, &[("V29", Suspect)]);
        check_end(&survived(&[failure; RETRIES + 1]), Status::Failed, &[("V29", Invalid)]);
    }
}

/// With a number and a mark.
fn clean_cell() -> Cell {
    let mut trial = clean();
    trial.some_runs(1, |run| run.throttled_periods = Some(1));
    trial.judge();
    assert!(trial.cell.capacity.is_some() && !trial.cell.marks.is_empty());
    trial.cell
}

#[test]
fn a_cell_without_runs_is_skipped_or_pending() {
    let mut trial = clean();
    trial.cell.invocations.clear();
    for (skipped, status) in [(Some("its memory would not fit"), Status::Skipped), (None, Status::Pending)] {
        trial.cell.skipped = skipped.map(str::to_owned);
        // As a report of schema 1 may have it that lost its runs.
        let said = clean_cell();
        (trial.cell.capacity, trial.cell.summary, trial.cell.marks) = (said.capacity, said.summary, said.marks);
        trial.judge();
        assert_eq!((trial.cell.status, trial.cell.reason.as_deref()), (status, skipped));
        assert!(trial.cell.capacity.is_none() && trial.cell.summary.is_none() && trial.cell.marks.is_empty());
    }
}

#[test]
fn a_stopped_invocation_keeps_its_repetitions_and_has_no_value() {
    let mut trial = clean();
    trial.cell.invocations[9].ending = Ending::Stopped;
    trial.judge();
    assert_eq!(trial.cell.invocations[9].value, None);
    let summary = trial.cell.summary.unwrap();
    assert_eq!((summary.invocations, summary.clean_runs), (9, 45));
}

#[test]
fn the_weightiest_mark_is_the_reason() {
    let mut trial = clean();
    trial.facts.strands = 1;
    trial.facts.params.size_bytes = MIB;
    trial.evidence(|evidence| evidence.pages = Some(Pages::default()));
    trial.judge();
    assert_eq!(trial.marks(), [("V19", Severity::Note), ("V20", Invalid), ("V27", Suspect)]);
    assert_eq!(trial.cell.reason.as_deref(), Some(trial.cell.marks[1].reason.as_str()));
}

#[test]
fn an_empty_kernel_is_held_to_no_time() {
    let mut trial = clean();
    (trial.facts.card, trial.cell.unit) = (card("noop"), Unit::Nanoseconds);
    trial.cell.invocations.truncate(1);
    trial.runs().for_each(|run| stretch(run, 1e-6));
    trial.laps(|lap| (lap.counts.run_delay_ns, lap.counts.cpu_ns) = (Some(500), Some(40_000)));
    trial.evidence(|evidence| (evidence.pages, evidence.nodes, evidence.frequency) = (None, None, None));
    trial.judge();
    assert_eq!(trial.marks(), []);
    assert_eq!(trial.cell.status, Status::Ok);
}

/// As many invocations as there are at the first look.
const FIRST: usize = LOOKS[0];

/// Whether another invocation is wanted, of 6 to 30, when as many clean ones as the first look takes were changed.
#[track_caller]
fn check_more(change: impl FnOnce(&mut Trial), expected: bool) {
    let mut trial = clean();
    trial.cell.invocations.truncate(FIRST);
    change(&mut trial);
    trial.judge();
    assert_eq!(wants_more(&trial.cell, 6, 30), expected, "{:?}", trial.cell.marks);
}

/// Invocations that differ so much that no number of them is precise.
fn noisy(trial: &mut Trial, count: usize) {
    trial.cell.invocations = (0..count).map(invocation).collect();
    let steps = [0.0, 0.9, 0.3, 0.6, 0.15, 0.75, 0.45];
    for (invocation, step) in trial.cell.invocations.iter_mut().zip(steps.into_iter().cycle()) {
        invocation.runs.iter_mut().for_each(|run| stretch(run, 1.0 + step));
    }
}

#[test]
fn it_goes_on_until_it_is_precise() {
    check_more(|_| {}, false);
    check_more(|trial| trial.cell.invocations.truncate(FIRST - 1), true);
    check_more(|trial| trial.cell.invocations.clear(), true);
    check_more(|trial| noisy(trial, 6), true);
    check_more(|trial| noisy(trial, 29), true);
    check_more(|trial| noisy(trial, 30), false);
    // The clock may have risen in the first ones only.
    let fast = |evidence: &mut Evidence| evidence.frequency.as_mut().unwrap().highest_hz *= 1e-3;
    check_more(|trial| trial.evidence(fast), true);
    // So many values are between two looks, so the width is not checked.
    let more = |trial: &mut Trial| trial.cell.invocations = (0..FIRST + 1).map(invocation).collect();
    let strict = |trial: &mut Trial| {
        more(trial);
        trial.cell.precision = 1e-9;
    };
    check_more(strict, true);
}

#[test]
fn a_user_who_asks_for_few_or_many_gets_them() {
    let mut trial = clean();
    trial.judge();
    assert!(wants_more(&trial.cell, 12, 30));
    assert!(wants_more(&trial.cell, 40, 50));
    trial.cell.invocations.truncate(8);
    trial.judge();
    assert!(!wants_more(&trial.cell, 8, 30), "the least is looked at");
    noisy(&mut trial, 30);
    trial.judge();
    assert!(wants_more(&trial.cell, 30, 200) && wants_more(&trial.cell, 6, 200));
    trial.cell.invocations.extend((30..100).map(invocation));
    trial.judge();
    assert!(!wants_more(&trial.cell, 6, 200), "{:?}", trial.cell.marks);
    noisy(&mut trial, 40);
    trial.judge();
    assert!(wants_more(&trial.cell, 40, 200));
    noisy(&mut trial, 3);
    trial.judge();
    assert!(!wants_more(&trial.cell, 1, 3));
    assert!(wants_more(&trial.cell, 1, 4));
    // Fewest beyond the most: the fewest are what was promised.
    assert!(wants_more(&trial.cell, 4, 2));
    (trial.cell.invocations, trial.cell.precision) = ((0..6).map(invocation).collect(), 1.0);
    trial.judge();
    assert!(!wants_more(&trial.cell, 6, 6) && wants_more(&trial.cell, 6, 7) && wants_more(&trial.cell, 6, 30));
}

#[test]
fn a_disturbance_never_ends_a_cell_and_a_lasting_cause_does() {
    let wait = |run: &mut Run| run.laps[0].wait(run.interval_ns / 2);
    let disturbed = |trial: &mut Trial, count: usize| {
        trial.cell.invocations = (0..count).map(invocation).collect();
        trial.evidence(|evidence| evidence.busy.as_mut().unwrap().own_ns = 0);
    };
    check_more(|trial| disturbed(trial, FIRST), true);
    check_more(|trial| disturbed(trial, FIRST + RETRIES - 1), true);
    check_more(|trial| disturbed(trial, FIRST + RETRIES), false);
    for at in [0, 3, 5] {
        check_more(|trial| trial.failing(at, Ending::Died), true);
    }
    check_more(|trial| trial.cell.invocations.iter_mut().take(1).for_each(|only| only.ending = Ending::Wrong), false);
    check_more(|trial| trial.some_runs(1, |run| run.laps[0].on_seat = Some(false)), false);
    // Invocations of which no repetition is clean, before others.
    let dirty = |trial: &mut Trial, count: usize, clean: usize| {
        trial.cell.invocations = (0..count + clean).map(invocation).collect();
        trial.cell.invocations.iter_mut().take(count).flat_map(|one| &mut one.runs).for_each(wait);
    };
    check_more(|trial| dirty(trial, 3, 0), true);
    check_more(|trial| dirty(trial, 3, 4), true);
    check_more(|trial| dirty(trial, ATTEMPTS * 30 - 1, 0), true);
    check_more(|trial| dirty(trial, ATTEMPTS * 30, 0), false);
    // Whatever the quota stopped, and workers that did not work together.
    let alone = |trial: &mut Trial, change: &dyn Fn(&mut Run)| {
        trial.cell.invocations.truncate(1);
        trial.runs().for_each(change);
    };
    check_more(|trial| alone(trial, &|run| run.throttled_periods = Some(1)), true);
    check_more(
        |trial| {
            alone(trial, &|run| {
                run.laps[1].start_ns = run.interval_ns * 7 / 10;
                run.start_skew_ns = run.laps[1].start_ns;
            })
        },
        true,
    );
}

#[test]
fn without_a_survivor_there_is_no_second_attempt() {
    use Ending::*;
    for ending in [Died, TimedOut, Refused, Skipped, Unavailable, Wrong] {
        assert!(!wants_more(&ended(&[ending]).cell, 6, 30), "{ending:?}");
    }
    assert!(wants_more(&ended(&[Stopped]).cell, 6, 30), "a resumed sweep goes on");
    assert!(wants_more(&ended(&[Done, Died]).cell, 6, 30));
    assert!(!wants_more(&ended(&[Done, Died, Died, Died]).cell, 6, 30));
}
