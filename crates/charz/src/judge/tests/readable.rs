//! What is judged is written, and what is written must be read again.

use proptest::prelude::*;

use super::*;
use charz_data::report;
use charz_data::report::Report;

/// A report with the trial's cell in it.
fn report(trial: &Trial) -> Report {
    let golden = include_str!("../../../../../tests/golden/reports/arithmetic.json");
    let mut report: Report = serde_json::from_str(golden).expect("the golden report can be read");
    report.cells = vec![trial.cell.clone()];
    report
}

/// A repetition that was over before the clock ticked.
fn without_time(run: &mut Run) {
    run.interval_ns = 0;
    for lap in &mut run.laps {
        (lap.start_ns, lap.end_ns) = (0, 0);
    }
}

proptest! {
    #[test]
    fn the_reader_takes_what_the_judge_says(
        timeless in prop::collection::vec((0..50_usize, any::<bool>()), 0..4),
        endings in prop::collection::vec((0..10_usize, 0..4_u8), 0..4),
    ) {
        let mut trial = clean();
        for (at, dirty) in timeless {
            let run = trial.runs().nth(at).expect("ten invocations of five repetitions");
            without_time(run);
            run.laps[0].on_seat = Some(!dirty);
        }
        for (at, kind) in endings {
            trial.cell.invocations[at].ending = [Ending::Died, Ending::Overdue, Ending::Stopped, Ending::Wrong][usize::from(kind)];
        }
        trial.judge();
        let text = serde_json::to_string(&report(&trial)).unwrap();
        let again: Report = serde_json::from_str(&text).expect("no number is infinite");
        prop_assert_eq!(report::check(&again), Ok(()), "{:?}", again.cells[0].summary);
        prop_assert_eq!(&again.cells[0], &trial.cell);
        prop_assert!(serde_json::to_string(&again).unwrap() == text, "written again, it is another text");
    }
}

#[test]
fn repetitions_without_time_leave_no_infinity() {
    let mut trial = clean();
    trial.runs().for_each(without_time);
    trial.judge();
    assert_eq!(trial.cell.summary, None);
    assert!(matches!(trial.cell.outcome.status, Status::Invalid), "{:?}", trial.cell.outcome);
    assert_eq!(report::check(&report(&trial)), Ok(()));
}
