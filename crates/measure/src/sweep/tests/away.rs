//! CPUs that go and come back.

use super::*;
use crate::limits::ThreadLimit;

/// A sweep during which CPU 7 is not there when it is looked for CPUs from the 20th time on until the `back`th.
fn sweep_without_a_cpu(mappings: &str, back: usize) -> Swept {
    let request = Request { budget: crate::plan::Budget::Of(HOUR), ..request(&["arith-int"], mappings, "1-8") };
    let setting = Setting::new(QUIET, &request, &[]);
    let (mut report, stop, looks) = (setting.blank.clone(), Stop::new(), std::cell::Cell::new(0));
    let fake = Fake { restless: back == usize::MAX, ..Fake::new(&stop) };
    let present = || {
        looks.set(looks.get() + 1);
        let most = if (20..back).contains(&looks.get()) { 7 } else { 8 };
        Present { online: Some((0..most).collect()), ..Present::default() }
    };
    let mut recorder = ();
    let mut sweep = setting.sweep(&mut report, &mut recorder, &fake, &stop, HOUR);
    sweep.present = &present;
    sweep.run(&mut ()).unwrap();
    report::check(&report).unwrap();
    Swept { report, asked: fake.asked.into_inner() }
}

#[test]
fn cells_wait_for_a_cpu_that_comes_back() {
    let report = sweep_without_a_cpu("dumb", 2000).report;
    let ends: Vec<_> =
        report.floor.iter().chain(&report.cells).map(|cell| (cell.workers, cell.status, made(cell))).collect();
    assert!(report.complete && report.stopped_by.is_none(), "{:?}: {ends:?}", report.stopped_by);
    for cell in &report.cells {
        assert_eq!(cell.status, Status::Ok, "x{}: {:?}", cell.workers, cell.reason);
        let away: Vec<_> = cell.invocations.iter().filter(|one| one.ending == Ending::Away).collect();
        assert_eq!(away.len(), usize::from(cell.workers == 8), "x{}", cell.workers);
        assert!(away.iter().all(|one| one.reason.as_deref() == Some("CPU 7 is offline") && one.runs.is_empty()));
        assert_eq!(made(cell) - away.len(), FIRST);
    }
}

#[test]
fn a_cpu_that_stays_away_is_named_and_the_others_keep_their_numbers() {
    // Workers that float would be on fewer CPUs than before.
    for (mappings, unhurt) in [("dumb", 7), ("auto", 0)] {
        let report = sweep_without_a_cpu(mappings, usize::MAX).report;
        assert!(!report.complete);
        assert_eq!(report.stopped_by.as_deref(), Some("a missing resource: CPU 7 is offline"));
        let (others, away) = report.cells.split_at(unhurt);
        assert!(others.iter().all(|cell| cell.status == Status::Ok && made(cell) == FIRST));
        let goes_on = |cell: &Cell| cell.is_away() && charz_judge::wants_more(cell, 6, 20);
        assert!(away.iter().all(goes_on), "a resumed sweep goes on with them");
    }
}

#[test]
fn a_setting_that_changes_between_runs_spoils_the_cells_that_began_before() {
    let request = Request { budget: crate::plan::Budget::Of(HOUR), ..request(&["arith-int"], "dumb", "1,2") };
    let setting = Setting::new(QUIET, &request, &[]);
    let (mut report, stop, looks) = (setting.blank.clone(), Stop::new(), std::cell::Cell::new(0));
    let fingerprint = |_: &[Option<u32>]| {
        looks.set(looks.get() + 1);
        let quota = if looks.get() <= 3 { "max" } else { "50000" };
        // Strands that come and go are not theirs.
        let online = (Evidence::ONLINE_STRANDS, Some(looks.get().to_string()));
        Fingerprint(vec![("CPU quota", Some(quota.to_owned())), online])
    };
    let (fake, mut recorder) = (Fake::new(&stop), ());
    let mut sweep = setting.sweep(&mut report, &mut recorder, &fake, &stop, HOUR);
    sweep.fingerprint = &fingerprint;
    sweep.run(&mut ()).unwrap();
    let (spoiled, others): (Vec<&Cell>, _) =
        report.floor.iter().chain(&report.cells).partition(|cell| cell.status == Status::Invalid);
    assert!(others.len() == 1 && others[0].status == Status::Ok && made(others[0]) == FIRST, "{:?}", others[0].reason);
    for cell in spoiled {
        let reason = cell.reason.as_ref().unwrap();
        assert!(reason.contains("quota") && !reason.contains("strands"), "{reason}");
    }
}

#[test]
fn a_clock_source_that_changed_before_a_configuration_began_spoils_it_too() {
    let request = Request { budget: crate::plan::Budget::Of(HOUR), ..request(&["arith-int"], "dumb", "1,2") };
    let setting = Setting::new(QUIET, &request, &[]);
    let (mut report, stop) = (setting.blank.clone(), Stop::new());
    report.host.clock_source = Some("tsc".to_owned());
    let fingerprint = |_: &[Option<u32>]| Fingerprint(vec![(Evidence::CLOCK_SOURCE, Some("hpet".to_owned()))]);
    let (fake, mut recorder) = (Fake::new(&stop), ());
    let mut sweep = setting.sweep(&mut report, &mut recorder, &fake, &stop, HOUR);
    sweep.fingerprint = &fingerprint;
    sweep.run(&mut ()).unwrap();
    let is_spoiled = |cell: &Cell| cell.marks.iter().any(|mark| mark.code == "V10" && mark.reason.contains("hpet"));
    assert!(report.floor.iter().chain(&report.cells).all(is_spoiled));
}

#[test]
fn a_moment_without_memory_or_threads_takes_nothing_from_the_runs_before_it() {
    let swept = |short: std::ops::Range<usize>, ending: fn(&MeasureRequest, usize) -> Ending| {
        let request = Request { budget: crate::plan::Budget::Of(HOUR), ..request(&["arith-int"], "dumb", "1") };
        let setting = Setting::new(QUIET, &request, &[]);
        let (mut report, stop, looks) = (setting.blank.clone(), Stop::new(), std::cell::Cell::new(0));
        let fake = Fake { ending, ..Fake::new(&stop) };
        let limits = || {
            looks.set(looks.get() + 1);
            let at_most = if short.contains(&looks.get()) { 0 } else { 8 };
            Limits { threads: ThreadLimit { at_most, because: "the test".into() }, ..Limits::unlimited() }
        };
        let mut recorder = ();
        let mut sweep = setting.sweep(&mut report, &mut recorder, &fake, &stop, HOUR);
        sweep.limits = &limits;
        sweep.run(&mut ()).unwrap();
        let Cell { status, invocations, .. } = report.cells.remove(0);
        let ends = invocations.iter().map(|one| one.ending).filter(|ending| *ending != Ending::Done);
        (status, report.stopped_by, ends.collect::<Vec<_>>())
    };
    assert_eq!(swept(7..30, |_, _| Ending::Done), (Status::Ok, None, vec![Ending::Away]));
    fn refused(order: &MeasureRequest, when: bool) -> Ending {
        if when && order.kernel == "arith-int" { Ending::Refused } else { Ending::Done }
    }
    let once = swept(0..0, |order, number| refused(order, (6..12).contains(&number)));
    assert_eq!(once, (Status::Ok, None, vec![Ending::Away; 3]));
    let always = swept(0..0, |order, number| refused(order, number >= 6));
    assert_eq!(always.0, Status::Failed, "no accident");
}

#[test]
fn a_change_of_strands_elsewhere_costs_an_invocation_and_any_other_change_the_cell() {
    const STRANDS: &[&str] = &["online strands: 0-7 became 0-8", "allowed strands: 0-7 became 0-8"];
    const QUOTA: &[&str] = &[STRANDS[0], "CPU quota: max became 50000"];
    let swept = |changes| sweep("arith-int", "1", |fake| fake.changes = changes).report.cells.remove(0);
    let cell = swept(|number| if number % 3 == 1 { STRANDS } else { &[] });
    let away = cell.invocations.iter().filter(|one| one.ending == Ending::Away).count();
    assert!(away > 0 && cell.status == Status::Ok && made(&cell) - away == FIRST, "{:?}", cell.reason);
    let cell = swept(|number| if number % 3 == 1 { QUOTA } else { &[] });
    assert!(cell.status == Status::Invalid && cell.reason.is_some_and(|reason| reason.contains("CPU quota")));
}

#[test]
fn a_cell_whose_cpu_never_was_there_is_skipped_for_now() {
    let mut cell = sweep("arith-int", "1", |_| {}).report.cells.remove(0);
    cell.invocations = vec![Invocation::without_runs(Ending::Away, "CPU 7 is offline")];
    let report = sweep("arith-int", "1", |_| {}).report;
    let context = judge_context(&report, &cell).unwrap();
    charz_judge::judge(&mut cell, &context);
    assert_eq!((cell.status, cell.reason.as_deref()), (Status::Skipped, Some("CPU 7 is offline")));
    assert!(charz_judge::wants_more(&cell, 6, 20));
}
