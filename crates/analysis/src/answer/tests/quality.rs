//! What limits the numbers of a report, and what to do about it.

use super::*;
use charz_data::report::Measured;

fn one() -> Cell {
    rate("arith-int", "rr", 1, 1e9)
}

#[test]
fn the_level_is_by_how_many_are_reliable() {
    for (noisy, level) in [(0, Level::Good), (1, Level::Good), (2, Level::Fair), (5, Level::Fair), (6, Level::Noisy)] {
        let cell = |at: usize| rate("arith-int", "rr", at as u64 + 1, 1e9);
        let cells = (0..10).map(|at| if at < noisy { cell(at).suspect() } else { cell(at) }).collect();
        let quality = answer_of(cells).quality;
        assert_eq!((quality.level, quality.noisy, quality.reliable), (level, noisy, 10 - noisy));
        assert_eq!((quality.fix.is_some(), quality.causes.iter().map(|(_, count)| count).sum()), (noisy > 0, noisy));
    }
}

/// The deepest cause of a configuration is named, with what to do about it.
#[test]
fn a_configuration_has_one_cause_and_its_own_fix() {
    let marked = |marks: &[(&str, Severity)]| {
        marks.iter().fold(one(), |cell, (code, severity)| cell.marked(code, *severity, "a reason"))
    };
    let (note, suspect, invalid) = (Severity::Note, Severity::Suspect, Severity::Invalid);
    let cut = |cell: Cell| Cell { invocations: cell.invocations[..1].to_vec(), ..cell };
    let without = |cell: Cell| Cell { capacity: None, delivered: None, ..cell };
    let failed = |reason: &str| {
        let died = one().marked("V29", Severity::Invalid, &format!("4 of 4 runs failed: {reason}"));
        let died = Cell { status: Status::Failed, reason: Some(reason.to_owned()), ..without(died) };
        Cell { invocations: vec![fixtures::barren(Ending::Died)], ..died }
    };
    let mut disturbed = marked(&[("V12", invalid)]);
    disturbed.invocations.iter_mut().flat_map(|one| &mut one.runs).for_each(|run| run.dirty = vec!["V03".to_owned()]);
    for (cell, cause, word) in [
        (cut(marked(&[("V34", suspect), ("V12", suspect)])), "too few runs", "--budget"),
        (marked(&[("V07", note), ("V12", suspect)]), "CPU quota", "quota"),
        (without(marked(&[("V07", note), ("V12", invalid)])), "CPU quota", "quota"),
        (cut(marked(&[("V07", note), ("V12", suspect)])), "too few runs", "--budget"),
        (marked(&[("V28", suspect), ("V16", note)]), "several speeds", "more of them do not help"),
        (without(disturbed), "CPU contention", "stop other programs"),
        (failed(&format!("{} x", charz_data::NO_MATCH)), "no line of the output matches --value", "--value"),
        (failed("signal 11"), "runs failed", "signal 11"),
        (marked(&[("V23", invalid)]), "checks", "charz explain V23: a reason"),
        (marked(&[("V35", suspect)]), "ended at another size", "--span"),
        (marked(&[("V20", suspect)]), "pages", "pages"),
        (marked(&[("V21", suspect)]), "memory on other NUMA nodes", "numa_balancing"),
        (marked(&[("V27", suspect)]), "block within a cache", "--size"),
        (marked(&[("V01", suspect)]), "threads off their CPUs", "V01"),
        (marked(&[("V09", suspect)]), "short iterations", "--steps"),
        (marked(&[("V15", suspect)]), "unsteady runs", "--budget"),
        (marked(&[("V28", suspect)]), "wide intervals", "--budget"),
    ] {
        let report = Report { complete: true, stopped_by: Some("budget".to_owned()), ..report(vec![cell]) };
        let Quality { causes, fix, .. } = Answer::of(&report).quality;
        assert_eq!(causes, [(cause, 1)]);
        assert!(fix.as_ref().is_some_and(|fix| fix.contains(word)), "{cause}: {fix:?}");
    }
}

/// Beside other programs it is they that widen intervals and move the clock; more time helps only where it ran out.
#[test]
fn what_comes_first_of_a_fix_is_by_what_else_is_known() {
    let fix = |code: &str, why: &str, cpu_ns: u64, command: &str, stopped_by: Option<&str>| {
        let mut cell = one().marked("V28", Severity::Suspect, "wide").marked(code, Severity::Note, why);
        let hogs = Culprit {
            kind: CulpritKind::Process,
            name: "sh".to_owned(),
            pid: Some(7),
            uid: Some(0),
            others: 11,
            cpu_ns,
            time_ns: 100,
        };
        for run in &mut cell.invocations {
            run.evidence = Some(Evidence { culprits: vec![hogs.clone()], looked_ns: Some(100), ..Evidence::default() });
        }
        let stopped_by = stopped_by.map(str::to_owned);
        let report = Report { command: command.to_owned(), complete: true, stopped_by, ..report(vec![cell]) };
        Answer::of(&report).quality.fix.unwrap()
    };
    let silent = format!("{}: waiting for memory", charz_data::checks::NOT_REPORTED);
    let (budget, sweep) = (Some("budget"), "charz sweep");
    for (found, begins, other) in [
        (fix("V13", "", 6, sweep, budget), "a longer --budget", "stop"),
        (fix("V13", "", 6, sweep, None), "a quieter machine", "--budget"),
        (fix("V13", "", 80, sweep, budget), "stop other programs, or wait for them with --wait-quiet", "sh (pid"),
        (fix("V13", "", 80, "charz sweep --wait-quiet=3s", budget), "stop other programs", "--wait-quiet"),
        (fix("V13", "", 80, "charz topo --measured", budget), "stop other programs", "--wait-quiet"),
        (fix("V33", &silent, 6, sweep, budget), "a longer --budget", "stop"),
        (fix("V33", "others waited", 6, sweep, budget), "stop other programs", "sh (pid"),
    ] {
        assert!(found.starts_with(begins) && !found.contains(other), "{found}");
    }
}

#[test]
fn a_line_is_no_longer_than_its_room_and_names_no_program() {
    let cells = (1..=100).map(|at| rate("arith-int", "rr", at, 1e9));
    let marked =
        |cell: Cell| cell.marked("V03", Severity::Suspect, "preempted").marked("V28", Severity::Suspect, "wide");
    let mut quality = answer_of(cells.map(marked).collect()).quality;
    quality.delivered = Some(0.5);
    for (columns, clauses) in [(38, 1), (70, 3), (100, 3), (200, 4)] {
        let line = quality.line(columns);
        assert_eq!(line.split("; ").count(), clauses, "{line}");
        assert!(clauses == 1 || line.chars().count() <= columns, "{line}");
    }
}

#[test]
fn a_sweep_without_a_number_on_a_busy_machine_has_a_cause_and_the_name_of_its_file() {
    let quality = |disturbances: &[&str]| {
        let pending = one().unmeasured(Status::Pending, "");
        let mut report = Report { file: Some("my report.json".to_owned()), complete: false, ..report(vec![pending]) };
        report.host.disturbances = disturbances.iter().map(|text| (*text).to_owned()).collect();
        let quality = Answer::of(&report).quality;
        (quality.load, quality.fix.unwrap())
    };
    let (load, fix) = quality(&["turbo: on", "other load: 12 other tasks runnable now"]);
    assert_eq!(load, "12 other tasks runnable now");
    assert!(fix.starts_with("stop other programs") && fix.contains("--resume 'my report.json'"), "{fix}");
    assert!(quality(&["turbo: on"]).1.starts_with("charz sweep --resume"));
}

/// Most configurations may be whole and quick; the machine gave what it gave over the time of all.
#[test]
fn what_the_machine_gave_is_weighted_by_time_and_bounded_by_a_quota() {
    let of = |value: f64, share: f64| {
        let mut cell = rate("arith-int", "rr", 2, value);
        cell.estimator = Estimator::FastMode;
        cell.delivered = cell.capacity.map(|_| Measured { value: value * share, interval: None });
        cell
    };
    let given = |cells: Vec<Cell>, quota_cpus| {
        let mut report = report(cells);
        report.machine.usable.quota_cpus = quota_cpus;
        Answer::of(&report).quality.delivered
    };
    // The last one took a hundred times as long as each of the others.
    let cells = vec![of(1e11, 1.0), of(1e11, 1.0), of(1e11, 1.0), of(1e9, 0.2)];
    assert!((given(cells, None).unwrap() - 23.0 / 103.0).abs() < 1e-3);
    assert!((given(vec![of(1e9, 0.99)], Some(0.5)).unwrap() - 0.25).abs() < 1e-3);
    let floating = Cell { seats: vec![None; 2], ..of(1e9, 0.2) };
    assert_eq!(given(vec![floating], None), None, "they may have taken it from each other");
}
