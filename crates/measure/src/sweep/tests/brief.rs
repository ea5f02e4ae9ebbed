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
