//! What limits the numbers of a report, and what to do about it.

use super::*;

#[test]
fn the_quality_names_the_commonest_cause_and_its_fix() {
    let cells = |noisy: usize| {
        let cell = |threads: u64| rate("arith-int", "rr", threads, 1e9);
        (1..=10).map(|at| if at <= noisy as u64 { cell(at).suspect() } else { cell(at) }).collect()
    };
    for (noisy, level) in [(0, Level::Good), (1, Level::Good), (2, Level::Fair), (5, Level::Fair), (6, Level::Noisy)] {
        let quality = answer_of(cells(noisy)).quality;
        assert_eq!((quality.level, quality.noisy, quality.reliable), (level, noisy, 10 - noisy));
        assert_eq!(quality.fix.is_some(), noisy > 0);
        assert_eq!(quality.causes.iter().map(|(_, count)| count).sum::<usize>(), noisy);
    }
}

/// The reason why nothing is left is named, not that nothing is.
#[test]
fn a_quota_that_left_nothing_is_the_cause() {
    let throttled = rate("arith-int", "rr", 2, 1e9).invalid().marked("V07", Severity::Note, "throttled");
    let throttled = throttled.marked("V12", Severity::Invalid, "no iterations");
    let mut report = report(vec![Cell { capacity: None, delivered: None, ..throttled }]);
    report.machine.usable.quota_cpus = Some(1.5);
    let answer = Answer::of(&report);
    assert_eq!(answer.quality.causes, [("CPU quota", 1)]);
    assert!(answer.machine.contains("CPU quota 1.50"), "{}", answer.machine);
}

#[test]
fn more_time_is_the_fix_only_where_it_ran_out() {
    let fix = |stopped_by: Option<&str>| {
        let wide = rate("arith-int", "rr", 1, 1e9).marked("V28", Severity::Suspect, "confidence interval");
        let ended = Report { complete: true, stopped_by: stopped_by.map(str::to_owned), ..report(vec![wide]) };
        Answer::of(&ended).quality.fix.unwrap()
    };
    assert!(fix(Some("budget")).contains("--budget"));
    assert!(!fix(None).contains("--budget"));
}

/// The deepest cause of a configuration is named, with what to do about it.
#[test]
fn a_configuration_has_one_cause_and_its_own_fix() {
    let quality = |cells: Vec<Cell>| {
        let report = Report { complete: true, stopped_by: Some("budget".to_owned()), ..report(cells) };
        let Quality { causes, fix, .. } = Answer::of(&report).quality;
        assert!(fix.as_ref().is_none_or(|fix| !fix.contains("CODE")), "{fix:?}");
        (causes, fix.unwrap())
    };
    let one = || rate("arith-int", "rr", 1, 1e9);
    let mut cut = one().marked("V34", Severity::Suspect, "others at work").marked("V12", Severity::Suspect, "1 run");
    cut.invocations.truncate(1);
    let (causes, fix) = quality(vec![cut]);
    assert!(causes == [("too few runs", 1)] && fix.contains("--budget"), "{causes:?} {fix}");
    // More runs or threads change nothing of a quota, nor more runs of several speeds.
    let throttled = || one().marked("V07", Severity::Note, "throttled").marked("V12", Severity::Suspect, "1 run");
    assert_eq!(quality(vec![throttled()]).0, [("CPU quota", 1)]);
    let cut = Cell { invocations: throttled().invocations[..1].to_vec(), ..throttled() };
    assert_eq!(quality(vec![cut]).0, [("too few runs", 1)]);
    let wide = || one().marked("V28", Severity::Suspect, "wide");
    let (causes, fix) = quality(vec![wide().marked("V16", Severity::Note, "two modes")]);
    assert!(causes == [("several speeds", 1)] && !fix.contains("--invocations"), "{causes:?} {fix}");
    // What the system does not report blames no program.
    let silent = format!("{}: waiting for memory", charz_data::checks::NOT_REPORTED);
    let fixes =
        [silent.as_str(), "others waited"].map(|why| quality(vec![wide().marked("V33", Severity::Note, why)]).1);
    assert!(!fixes[0].contains("stop other programs") && fixes[1].contains("stop other programs"), "{fixes:?}");
    let failed = |reason: &str| {
        let died = one().marked("V29", Severity::Invalid, &format!("4 of 4 runs failed: {reason}"));
        let died = Cell { status: Status::Failed, reason: Some(reason.to_owned()), ..died };
        Cell { invocations: vec![fixtures::barren(Ending::Died)], capacity: None, delivered: None, ..died }
    };
    let (causes, fix) = quality(vec![failed(&format!("{} \"x\"", charz_data::NO_MATCH))]);
    assert!(
        causes[0].0.contains("--value") && fix.contains("--value") && !fix.contains("--budget"),
        "{causes:?} {fix}"
    );
    let (causes, fix) = quality(vec![failed("signal 11")]);
    assert!(
        causes == [("runs failed", 1)] && fix.contains("signal 11") && !fix.contains("--budget"),
        "{causes:?} {fix}"
    );
    let wrong = one().marked("V23", Severity::Invalid, "no line of its output matches --verify \"y\"");
    let (_, fix) = quality(vec![wrong]);
    assert!(fix.contains("explain V23") && fix.contains("--verify"), "{fix}");
    for (code, word) in [("V35", "--span"), ("V20", "pages"), ("V21", "numa_balancing"), ("V27", "--size")] {
        let (causes, fix) = quality(vec![one().marked(code, Severity::Suspect, "a reason")]);
        assert!(causes.len() == 1 && fix.contains(word), "{causes:?} {fix}");
    }
}

/// Beside other programs it is they that widen intervals and move the clock.
#[test]
fn other_programs_are_to_be_stopped_first() {
    let quality = |cpu_ns: u64, command: &str| {
        let mut cell = rate("arith-int", "rr", 2, 1e9).marked("V08", Severity::Suspect, "the clock moved");
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
        let report = Report { command: command.to_owned(), ..report(vec![cell]) };
        let quality = Answer::of(&report).quality;
        (quality.text(), quality.fix.unwrap())
    };
    let (text, fix) = quality(80, "charz sweep");
    assert!(text.contains("12 × sh (pid 7 and others) used 0.8 CPUs"), "{text}");
    assert!(fix.starts_with("stop other programs") && fix.contains("explain V08"), "{fix}");
    // After a wait in vain the programs are named.
    let (_, fix) = quality(80, "charz sweep --wait-quiet=3s");
    assert!(fix.starts_with("stop 12 × sh (pid 7 and others)") && !fix.contains("--wait-quiet"), "{fix}");
    // Other commands have no such flag.
    for command in ["charz topo --measured", ""] {
        assert!(!quality(80, command).1.contains("--wait-quiet"), "{command}");
    }
    let (_, fix) = quality(6, "charz sweep");
    assert!(fix.starts_with("charz explain V08"), "{fix}");
}

#[test]
fn iterations_that_others_disturbed_are_not_too_few() {
    let mut cell = rate("arith-int", "rr", 2, 1e9).marked("V12", Severity::Invalid, "every iteration was disturbed");
    cell.invocations.iter_mut().flat_map(|one| &mut one.runs).for_each(|run| run.dirty = vec!["V03".to_owned()]);
    let quality = answer_of(vec![cell]).quality;
    assert_eq!(quality.causes, [("CPU contention", 1)]);
    assert!(quality.fix.as_ref().is_some_and(|fix| !fix.contains("--budget")), "{quality:?}");
}

#[test]
fn a_sweep_without_a_number_on_a_busy_machine_has_a_cause_and_the_name_of_its_file() {
    let pending = || rate("arith-int", "rr", 1, 1e9).unmeasured(Status::Pending, "");
    let quality = |disturbances: &[&str]| {
        let mut report = Report { file: Some("my report.json".to_owned()), complete: false, ..report(vec![pending()]) };
        report.host.disturbances = disturbances.iter().map(|text| (*text).to_owned()).collect();
        let quality = Answer::of(&report).quality;
        (quality.text(), quality.fix.unwrap())
    };
    let (text, fix) = quality(&["turbo: on", "other load: 12 other tasks runnable now"]);
    assert!(text.contains("12 other tasks") && !text.contains("turbo"), "{text}");
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
    // The last one took a hundred times as long as each of the others.
    let cells = || vec![of(1e11, 1.0), of(1e11, 1.0), of(1e11, 1.0), of(1e9, 0.2)];
    let quality = answer_of(cells()).quality;
    assert!((quality.delivered.unwrap() - 23.0 / 103.0).abs() < 1e-3, "{quality:?}");
    assert!(quality.text().contains("got 22%"), "{}", quality.text());
    let whole = answer_of(vec![of(1e9, 0.99)]).quality.text();
    assert!(!whole.contains("CPU time"), "{whole}");
    let mut throttled = report(vec![of(1e9, 0.99)]);
    throttled.machine.usable.quota_cpus = Some(0.5);
    let text = Answer::of(&throttled).quality.text();
    assert!(text.contains("got 25%"), "{text}");
    let floating = Cell { seats: vec![None; 2], ..of(1e9, 0.2) };
    assert_eq!(answer_of(vec![floating]).quality.delivered, None, "they may have taken it from each other");
}

/// What a program does to its own threads, and a length that charz chose, are not other programs' or the clock's.
#[test]
fn a_cause_is_named_with_its_own_fix() {
    let of =
        |code: &str| answer_of(vec![rate("arith-int", "rr", 2, 1e9).marked(code, Severity::Suspect, "so")]).quality;
    for (code, other, word) in [("V01", "V03", "V01"), ("V09", "V08", "--iterations")] {
        assert_ne!(of(code).causes, of(other).causes);
        assert!(of(code).fix.is_some_and(|fix| fix.contains(word) && !fix.contains("stop")), "{code}");
    }
    // A result that drifts may have a narrow interval.
    assert_ne!(of("V15").causes, of("V28").causes);
}
