//! Sweeps whose time was not asked for.

use super::*;

/// On a large machine kernels are settled one after the other: the first ones are narrowed while others wait.
#[test]
fn a_brief_sweep_ends_early_only_when_all_have_their_first_runs() {
    let setting = Setting::new(QUIET, &request(&["arith-int", "arith-float"], "dumb", "1,2"), &[]);
    let (stop, mut report) = (Stop::new(), setting.blank.clone());
    let fake = Fake { spread: |_| 0.5, ..Fake::new(&stop) };
    setting.sweep(&mut report, &mut (), &fake, &stop, HOUR).run(&mut ()).unwrap();
    let ends_early = |runs: usize, is_brief: bool| {
        let (mut report, mut recorder) = (report.clone(), ());
        report.cells[0].invocations.truncate(FIRST);
        report.cells[3].invocations.truncate(runs);
        let mut sweep = setting.sweep(&mut report, &mut recorder, &fake, &stop, HOUR);
        sweep.is_brief = is_brief;
        (0..places(sweep.report)).for_each(|place| sweep.judge(place));
        sweep.ends_early()
    };
    assert_eq!([0, 5, 6, FIRST].map(|runs| ends_early(runs, true)), [false, false, true, true]);
    assert!(!ends_early(FIRST, false));
}

/// A shared line is looked at again and again, as long as others are narrowed.
#[test]
fn runs_of_shared_lines_are_spread_over_the_sweep() {
    let seconds = Duration::from_secs_f64;
    let shared = |run: f64, most: u64, last: f64, now: f64| {
        // Two million steps, or less of dear ones, which are predicted to take fifty times as long for two that contend.
        let rates = [("arith-int", 1.0, 0.0), ("atomic-fetch-add", if run < 0.1 { 0.1 } else { 40.0 }, 0.0)];
        let setting = Setting::new(QUIET, &request(&["arith-int", "atomic-fetch-add"], "dumb", "1,2"), &rates);
        let (stop, mut report) = (Stop::new(), setting.blank.clone());
        let fake = Fake::new(&stop);
        setting.sweep(&mut report, &mut (), &fake, &stop, HOUR).run(&mut ()).unwrap();
        report.plan.max_invocations = most;
        let is_of = |cell: &Cell| (&*cell.kernel, cell.workers) == ("atomic-fetch-add", 2);
        let shared = report.floor.len() + report.cells.iter().position(is_of).unwrap();
        let mut pace = Pace::default();
        pace.learn(shared, seconds(last), seconds(last));
        pace.learn(usize::MAX, seconds(now - last), seconds(now - last));
        let mut recorder = ();
        let overdue = setting.sweep(&mut report, &mut recorder, &fake, &stop, HOUR).overdue(&pace);
        overdue.into_iter().map(|place| place == shared).collect::<Vec<bool>>()
    };
    // How many seconds a run takes, the most runs, when the last one was made, when it is looked at, and whether one is due.
    for (run, most, last, now, is_due) in [
        (0.01, 30, 1.0, 3.0, false),
        (0.01, 30, 1.0, 4.1, true),
        (0.01, FIRST as u64, 1.0, 4.1, false),
        (0.01, 30, 40.0, 45.0, false),
        (0.01, 30, 40.0, 50.1, true),
        (0.8, 30, 1.0, 8.0, false),
        (0.8, 30, 1.0, 10.0, true),
    ] {
        assert_eq!(shared(run, most, last, now), [true][..usize::from(is_due)], "{run} {most} {last} {now}");
    }
}
