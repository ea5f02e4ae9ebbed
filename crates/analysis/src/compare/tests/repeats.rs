//! Margins that a report widens by measuring one thing twice.

use charz_data::report::Point;

use super::*;

#[test]
fn the_margin_is_doubled_and_widened_by_what_one_placement_shows_under_two_names() {
    let one =
        |kernel: &str, mapping: &str, value: f64| Cell { mapping: mapping.into(), ..cell(kernel, &around(value)) };
    let [base, new] =
        [1.0, 0.9].map(|value| fixtures::report(vec![one("a", "round-robin", value), one("b", "round-robin", value)]));
    let with = |other: Cell| {
        let mut report = base.clone();
        report.cells.push(other);
        report
    };
    let check = |base: &Report, new: &Report, expected: (f64, Verdict)| {
        let found = compare(base, new, &Options::default()).unwrap();
        let [a, b] = [0, 1].map(|at| (found.rows[at].margin, found.rows[at].verdict));
        assert_eq!((found.margin, a), (0.04, (0.04, Verdict::Slower)), "{}", found.rule());
        assert!((b.0 - expected.0).abs() < 1e-9 && b.1 == expected.1, "{b:?} {}", found.rule());
        let wider = expected.0 > 0.04;
        assert_eq!([found.rule(), found.sentence("new")].map(|text| text.contains("20.0%")), [wider; 2]);
        assert_eq!(found.rule().contains(": b x1 differs so between round-robin and dumb on the same CPUs"), wider);
    };
    let usual = (0.04, Verdict::Slower);
    check(&base, &new, usual);
    check(&with(one("b", "dumb", 1.01)), &new, usual);
    let apart = one("b", "dumb", 1.2);
    check(&with(apart.clone()), &new, (0.2, Verdict::Same));
    let mut other = new.clone();
    other.cells.push(one("b", "dumb", 1.08));
    check(&base, &other, (0.2, Verdict::Same));
    check(&with(apart.clone().seated(&[1])), &new, usual);
    check(&with(Cell { seats: vec![None], ..apart.clone() }), &new, usual);
    check(&with(apart.clone().suspect()), &new, usual);
    check(&with(Cell { point: Point { size_bytes: Some(64), ..apart.point }, ..apart }), &new, usual);
}

/// Threads that share nothing are the same on the same CPUs in any order; of those that pass something on, neighbours matter.
#[test]
fn the_order_of_the_cpus_matters_where_threads_meet() {
    let margin = |kernel: &str| {
        let one = |mapping: &str, seats: &[u32], value| cell(kernel, &around(value)).under(mapping).seated(seats);
        let mut report = fixtures::report(vec![one("round-robin", &[0, 1], 1.0), one("dumb", &[1, 0], 1.2)]);
        report.cells.iter_mut().for_each(|cell| cell.workers = 2);
        compare(&report, &report, &Options::default()).unwrap().rows[0].margin
    };
    assert!((margin("mem-read") - 0.2).abs() < 1e-9);
    assert_eq!(margin("ring-mutex"), 0.04);
}
