//! Ratios of machines, and what makes them say less.

use super::*;
use charz_claims::compare::compare;
use charz_data::Role;
use charz_data::report::{Cell, fixtures};

/// Of so many operations in a second with one thread and with two.
fn report(of: [f64; 2]) -> Report {
    let cell = |threads: u32| {
        let value = of[threads as usize - 1];
        let cell = fixtures::cell("arith-int", threads.into(), Unit::OpsPerSecond, value);
        cell.in_order()
    };
    fixtures::report(vec![cell(1), cell(2)]).on(2)
}

#[test]
fn memory_of_a_guest_is_a_matter_of_the_hour() {
    let of = |value: f64, is_guest| {
        let cells = ["mem-read", "arith-int"].map(|kernel| fixtures::cell(kernel, 1, Unit::OpsPerSecond, value));
        let mut report = fixtures::report(cells.map(Cell::in_order).to_vec()).on(2);
        report.host.virtual_machine = Some(is_guest);
        report
    };
    let in_cache = |mut report: Report| {
        report.cells.iter_mut().for_each(|cell| cell.level = Some("L2".to_owned()));
        report
    };
    let few = |mut report: Report| {
        report.cells = report.cells.into_iter().map(Cell::without_interval).collect();
        report
    };
    // What differs in a cache does not differ in memory.
    let two_sizes = |value| {
        let of = |bytes, level: &str, value| {
            fixtures::cell("mem-read", 1, Unit::BytesPerSecond, value).in_order().sized(bytes).inside(level)
        };
        let mut report = fixtures::report(vec![of(16 << 10, "L1", value), of(1 << 30, "memory", 50e9)]).on(2);
        report.host.virtual_machine = Some(true);
        report
    };
    let sides = |new: f64, is_guest| [of(50e9, is_guest), of(new, is_guest)];
    for ([base, new], is_told) in [
        (sides(40e9, true), true),
        (sides(40e9, false), false),
        (sides(50e9, true), false),
        (sides(40e9, true).map(in_cache), false),
        (sides(50e9, true).map(few), false),
        ([200e9, 150e9].map(two_sizes), false),
    ] {
        let found = machines(&[("a", &base), ("b", &new)].map(|(name, report)| Source { name, report }), &[]).notes;
        let compared = compare([&base, &new], &Options::default());
        let compared = compared.map_or_else(|_| Vec::new(), |found| found.notes.iter().map(note).collect());
        for notes in [found, compared] {
            let told: Vec<&String> = notes.iter().filter(|note| note.contains("guest")).collect();
            assert_eq!(told.len(), usize::from(is_told), "{notes:?}");
            assert!(told.iter().all(|note| note.ends_with(": mem-read")), "{told:?}");
        }
    }
}

#[test]
fn twice_as_fast_for_four_times_the_price_is_half_of_it() {
    let [slow, fast] = [report([1e9, 2e9]), report([1.5e9, 4e9])];
    let sources = [Source { name: "a", report: &slow }, Source { name: "b", report: &fast }];
    let found = machines(&sources, &[Some(1.0), Some(4.0)]);
    let of = |scope| found.rows.iter().find(|row| row.scope == scope).and_then(|row| row.values[1].clone()).unwrap();
    let (one, whole) = (of(Scope::OneThread), of(Scope::WholeMachine));
    assert_eq!((one.times.unwrap().times, one.for_its_price), (1.5, None));
    assert_eq!((whole.times.unwrap().times, whole.for_its_price.unwrap().times), (2.0, 0.5));
    let [low, high] = whole.times.unwrap().interval.unwrap();
    assert!(low <= 2.0 && 2.0 <= high);
    let against = found.against().remove(0);
    let parts = against.found.map(|found| found.unwrap().parts.iter().map(|part| part.ratio.times).collect::<Vec<_>>());
    assert_eq!(parts, [vec![2.0], vec![1.5], vec![0.5]]);
    assert_eq!(found.table().heading, ["kernel", "threads", "a", "b", "times", "for its price"]);
}

#[test]
fn a_quota_has_time_for_its_share_of_what_threads_can_do() {
    // One thread all the time does more than two for three quarters of it; what counts of a program is what the quota did not stop.
    for (role, values) in [(Role::Other, vec![2.7e9]), (Role::Program, vec![2.7e9, 3e9])] {
        let mut part = report([2.7e9, 3e9]);
        part.machine.usable.quota_cpus = Some(1.5);
        part.cards.iter_mut().for_each(|card| card.role = role.clone());
        let sources = ["a", "b"].map(|name| Source { name, report: &part });
        let rows = machines(&sources, &[]).rows;
        let found: Vec<f64> = rows.iter().map(|row| row.values[1].as_ref().unwrap().value).collect();
        assert_eq!(found, values, "{role:?}");
    }
    let whole = report([1e9, 2e9]);
    for (cpus, [one, all]) in [(0.5, [0.5, 0.25]), (1.5, [1.0, 0.75]), (2.0, [1.0, 1.0])] {
        let mut part = report([1e9, 2e9]);
        part.machine.usable.quota_cpus = Some(cpus);
        let sources = [Source { name: "a", report: &whole }, Source { name: "b", report: &part }];
        let found = machines(&sources, &[Some(1.0), Some(0.5)]);
        let of = |scope| found.rows.iter().find(|row| row.scope == scope).and_then(|row| row.values[1].clone());
        assert_eq!(of(Scope::OneThread).unwrap().times.unwrap().times, one, "{cpus}");
        let whole =
            of(Scope::WholeMachine).map(|value| [value.times, value.for_its_price].map(|one| one.unwrap().times));
        assert!(whole.is_none_or(|whole| whole == [all, 2.0 * all]), "{cpus}: {whole:?}");
        assert_eq!(found.notes.iter().any(|note| note.contains("quota")), cpus < 2.0, "{:?}", found.notes);
    }
}

/// The fewest threads that are shown to be near the fastest depend on how wide an interval is.
#[test]
fn a_whole_machine_is_as_fast_as_with_the_threads_that_are_the_fastest() {
    let of = |width: f64| {
        let cell = |threads: u64, value| fixtures::cell("arith-int", threads, Unit::OpsPerSecond, value);
        fixtures::report(vec![cell(1, 50e6), cell(2, 100e6).within(width), cell(4, 103e6).within(0.005)]).on(4)
    };
    let (narrow, wide) = (of(0.005), of(0.04));
    let sources = [Source { name: "a", report: &narrow }, Source { name: "b", report: &wide }];
    let found = machines(&sources, &[]);
    let whole = found.rows.iter().find(|row| row.scope == Scope::WholeMachine).unwrap();
    let values = whole.values.iter().flatten().map(|value| (value.value, value.threads));
    assert_eq!(values.collect::<Vec<_>>(), [(103e6, 4), (103e6, 4)]);
}

#[test]
fn too_few_threads_for_the_cpus_are_no_whole_machine() {
    let cells = |counts: &[u64]| {
        let cell = |n: &u64| fixtures::cell("arith-int", *n, Unit::OpsPerSecond, *n as f64 * 1e9);
        fixtures::report(counts.iter().map(cell).collect()).on(8)
    };
    let all = cells(&[1, 2, 4, 8]);
    for few in [&[1][..], &[1, 2, 4], &[4]] {
        let part = cells(few);
        let sources = [Source { name: "a", report: &all }, Source { name: "b", report: &part }];
        let found = machines(&sources, &[]);
        assert!(found.rows.iter().all(|row| row.scope == Scope::OneThread), "{few:?}: {:?}", found.rows);
        let is_told = |name: &str| found.notes.iter().any(|note| note.starts_with(name));
        assert!(is_told("b was not measured as a whole, 8 CPUs: arith-int"), "{:?}", found.notes);
        assert_eq!(is_told("measured on one"), few == [4], "{:?}", found.notes);
    }
    let part = cells(&[4]);
    let sources = ["a", "b"].map(|name| Source { name, report: &part });
    let notes = machines(&sources, &[]).notes;
    assert!(!notes.iter().any(|note| note.starts_with("measured on one")), "{notes:?}");
}

#[test]
fn a_price_of_one_machine_alone_says_nothing() {
    let one = report([1e9, 2e9]);
    let sources = [Source { name: "a", report: &one }, Source { name: "b", report: &one }];
    let found = machines(&sources, &[None, Some(4.0)]);
    assert!(found.rows.iter().flat_map(|row| &row.values).flatten().all(|value| value.for_its_price.is_none()));
    assert!(found.against()[0].found[0].as_ref().is_some_and(|found| found.parts.is_empty() && found.rest.is_some()));
    assert!(found.notes.iter().any(|note| note.contains("price")), "{:?}", found.notes);
}

#[test]
fn one_thread_alone_is_told_and_blocks_of_other_sizes_are_held_against_each_other() {
    let small = fixtures::report(vec![fixtures::cell("arith-int", 1, Unit::OpsPerSecond, 1e9)]).on(4);
    let sources = [Source { name: "a", report: &small }, Source { name: "b", report: &small }];
    let found = machines(&sources, &[]);
    assert_eq!(found.against()[0].found.each_ref().map(Option::is_some), [false, true, false]);
    assert_eq!(found.sentences(), ["b against a: with one thread all within 3%"]);
    let of_size = |bytes| {
        let mut cell = fixtures::cell("mem-read", 1, Unit::BytesPerSecond, 1e10);
        cell.point.size_bytes = Some(bytes);
        fixtures::report(vec![cell]).on(4)
    };
    let (one, other) = (of_size(1 << 27), of_size(1 << 30));
    let sources = [Source { name: "a", report: &one }, Source { name: "b", report: &other }];
    let found = machines(&sources, &[]);
    assert_eq!(found.rows[0].kernel, "mem-read");
    assert!(found.notes.iter().any(|note| note.contains("128 MiB on a, 1 GiB on b")), "{:?}", found.notes);
}
