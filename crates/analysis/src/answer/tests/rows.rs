//! What the rows of kernels say, and the advice below them.

use super::*;

/// One thread is the answer only where no more were tried.
#[test]
fn one_thread_is_no_answer_where_more_failed() {
    let one = || cell("mem-read", 1, Unit::BytesPerSecond, 1e10).seated(&[0]);
    let auto = || one().under("auto");
    let said = |more: Vec<Cell>| {
        let answer = Answer::of(&report([vec![one(), auto()], more].concat()).on(8));
        let (table, notes) = table(&answer.rows, answer.cpus, 9);
        (answer.advice[0].clone(), table.heading.join(" "), notes)
    };
    let failed =
        |threads| cell("mem-read", threads, Unit::BytesPerSecond, 1e10).unmeasured(Status::Failed, "signal 11");
    let (advice, heading, notes) = said(vec![failed(2), failed(8)]);
    assert!(advice.launch.is_none() && advice.text.contains("at least 1 thread"), "{advice:?}");
    assert!(heading.contains("all 8 CPUs") && notes.len() == 1, "{heading} {notes:?}");
    assert!(said(Vec::new()).0.launch.is_some());
}

/// Threads that load by themselves: with 8 of them eight times as much is loaded, and that is what mappings are compared at.
#[test]
fn mappings_of_a_latency_are_compared_where_most_is_loaded() {
    let of = |mapping: &str, threads: u64, ns: f64| {
        let cell = cell("chase-random", threads, Unit::NanosecondsPerStep, ns).under(mapping);
        if mapping == "auto" { cell } else { cell.in_order() }
    };
    let cells = vec![of("rr", 1, 120.0), of("auto", 1, 120.0), of("rr", 8, 122.0), of("auto", 8, 168.0)];
    let answer = Answer::of(&report(cells).on(8));
    let row = &answer.rows[0];
    assert_eq!((row.best_mapping.as_str(), row.best.threads, row.best.value), ("rr", 8, 122.0));
    assert!(answer.advice[0].text.contains(&row.auto_costs()), "{} {:?}", row.auto_costs(), answer.advice);
}

#[test]
fn the_best_number_is_shown_where_neither_one_thread_nor_all_have_it() {
    let of = |threads, value| rate("mem-read", "rr", threads, value);
    let at = |cells: Vec<Cell>| {
        let (table, _) = table(&Answer::of(&report(cells).on(8)).rows, 8, 9);
        table.rows[0].data[4].text.clone()
    };
    let shown = at(vec![of(1, 10e9), of(2, 20e9), of(3, 30e9), of(4, 26e9), of(8, 22e9)]);
    assert!(shown.starts_with('3') && shown.contains("30.0"), "{shown}");
    assert!(!at(vec![of(1, 10e9), of(4, 30e9), of(8, 30e9)]).contains('('));
    let beyond = at(vec![of(1, 10e9), of(8, 15e9), of(16, 20e9)]);
    assert!(beyond.starts_with("16") && beyond.contains("20.0"), "{beyond}");
}

/// In whatever order they were asked for.
#[test]
fn of_many_sizes_the_largest_has_the_row() {
    let names = |sizes: [u64; 5]| {
        let cells = sizes.map(|size| rate("mem-read", "rr", 1, 1e9).sized(size));
        answer_of(cells.into()).rows.iter().map(Row::name).collect::<Vec<_>>()
    };
    let largest = names([64 << 10, 1 << 20, 8 << 20, 64 << 20, 1 << 30]);
    assert_eq!((largest.len(), names([1 << 30, 64 << 20, 8 << 20, 1 << 20, 64 << 10])), (1, largest));
}

/// Who has no number may be better, or worse.
#[test]
fn a_mapping_without_a_number_is_no_equal() {
    let of = |mapping: &str| rate("arith-int", mapping, 2, 2e9).within(0.005);
    let both = || vec![rate("arith-int", "rr", 1, 1e9), of("rr"), of("dumb")];
    assert_eq!(answer_of(both()).rows[0].best_mapping, "any");
    let failed = of("auto").unmeasured(Status::Failed, "signal 11");
    let answer = answer_of([both(), vec![failed]].concat());
    assert_eq!(answer.rows[0].best_mapping, "rr = dumb");
    assert!(answer.advice[0].text.contains("auto has no number"), "{:?}", answer.advice);
}

#[test]
fn each_missing_number_has_its_own_reason() {
    let failed = |threads: u64, why: &str| rate("mem-read", "rr", threads, 1e9).unmeasured(Status::Failed, why);
    let cells = vec![failed(1, "signal 11"), rate("mem-read", "rr", 4, 4e10), failed(8, "out of memory")];
    let (table, notes) = table(&Answer::of(&report(cells).on(8)).rows, 8, 9);
    let texts: Vec<&str> = table.rows[0].data[1..3].iter().map(|datum| &*datum.text).collect();
    assert!(texts[0].ends_with(" a") && texts[1].starts_with("40.0") && texts[1].ends_with(" b"), "{texts:?}");
    assert!(notes.len() == 2 && notes[0].contains("signal 11") && notes[1].contains("out of memory"), "{notes:?}");
}
