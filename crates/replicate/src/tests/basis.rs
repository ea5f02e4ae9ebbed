//! Which numbers decide: what CPUs can do, or what was delivered.

use super::*;
use charz_data::report::{Cell, Estimator};

const INT: &str = "arith-int";

/// Four CPUs with cells of a mapping and threads: their capacity in Gop/s, and the share of it that was delivered.
fn given(cells: &[(&str, u64, f64, f64)]) -> Report {
    let mut report = report("Core:4 PU:1");
    for (mapping, workers, value, share) in cells {
        let seat = |nth: u32| if *mapping == "dumb" { nth % 4 } else { 3 - nth % 4 };
        let seats: Vec<u32> = (0..*workers as u32).map(seat).collect();
        let cell = fixtures::cell(INT, *workers, Unit::OpsPerSecond, value * 1e9).within(0.02);
        let cell = if *mapping == "auto" { cell } else { cell.seated(&seats) };
        let cell = cell.under(mapping).delivering(*share);
        report.cells.push(Cell { estimator: Estimator::FastMode, ..cell });
    }
    report
}

/// Where threads that float are compared with bound ones, or a curve goes beyond the CPUs, on a machine of four.
#[test]
fn figures_of_mappings_and_curves_beyond_the_cpus_are_of_what_was_delivered() {
    let target = Target::flat(4, Kernels::ANY);
    for (document, expected) in [
        ("t3-4", "Figure 1; Figure 2; Figure 3; Figure 4; Figure 5; Figure 6"),
        ("cmt", "Section 2.1.1.7; Table 1; Table 3; Table 6"),
        ("cascade", ""),
        ("tacc", ""),
        ("solaris", "Scaling Solaris: The Kernel Adaptive Mutex; UltraSPARC T2: Thread Scheduling"),
    ] {
        let document = find(document).unwrap();
        let figures: Vec<&Figure> = document.figures.iter().collect();
        let found = feasibility(document, &figures, &target).figures;
        let found: Vec<&str> =
            found.iter().filter(|figure| figure.basis == Basis::Delivered).map(|figure| figure.number).collect();
        assert_eq!(found.join("; "), expected, "{}", document.citation.name);
    }
}

/// A conclusion by its figure and place, the cells, and the verdict with its reason's kind.
#[test]
fn what_floats_is_decided_by_what_was_delivered() {
    use Verdict::{Fails, Holds, Impossible, Undecided};
    let of_two_and_three = |(mapping, value, share)| [(mapping, 2, value, share), (mapping, 3, value, share)];
    let scheduling = "solaris UltraSPARC T2: Thread Scheduling";
    for (of, at, cells, expected, is_shared) in [
        // Two threads that float on one CPU are not as good as bound ones, whatever each CPU can do.
        (scheduling, 0, vec![("auto", 2, 4.0, 0.5), ("round-robin", 2, 4.0, 1.0)], Fails, false),
        (scheduling, 0, vec![("auto", 2, 4.0, 1.0), ("round-robin", 2, 4.0, 1.0)], Holds, false),
        // Another program is on a CPU of the bound ones, and the others give way to it.
        (scheduling, 0, vec![("auto", 2, 4.0, 0.8), ("round-robin", 2, 4.0, 0.5)], Holds, false),
        // Beyond the CPUs there is no capacity: both are what was delivered, unless other programs had a part of one.
        ("t3-4 Figure 3", 1, vec![("auto", 4, 8.0, 1.0), ("auto", 8, 8.0, 0.98)], Holds, false),
        ("t3-4 Figure 3", 1, vec![("auto", 4, 8.0, 0.6), ("auto", 8, 8.0, 0.6)], Undecided, true),
        ("t3-4 Figure 1", 1, vec![("dumb", 4, 8.0, 0.96), ("dumb", 6, 7.0, 1.0)], Holds, false),
        // Bound threads on both sides, each with a CPU: what these can do, without what others took.
        (
            "t3-4 Figure 1",
            0,
            [("dumb", 2.0, 1.0), ("round-robin", 4.0, 0.4)].map(of_two_and_three).concat(),
            Holds,
            false,
        ),
    ] {
        let report = given(&cells);
        let claim = beside(of, &report, Kernels::ANY).claims.swap_remove(at);
        let found = (claim.verdict, matches!(claim.why, Some(Why::SharedCpus { .. })));
        assert_eq!(found, (expected, is_shared), "{of}: {claim:?}");
    }
    let two = measured("Core:2 PU:1", Unit::OpsPerSecond, &[]);
    let claim = beside(scheduling, &two, Kernels::ANY).claims.swap_remove(0);
    assert_eq!((claim.verdict, claim.why), (Impossible, Some(Why::OneIsNotSpread { cpus: 2 })));
}

#[test]
fn rows_of_one_curve_are_one_quantity() {
    let report = given(&[("auto", 1, 2.0, 1.0), ("auto", 4, 8.0, 0.6), ("auto", 8, 8.0, 0.6), ("dumb", 4, 8.0, 0.97)]);
    let rows = beside("t3-4 Figure 1", &report, Kernels::ANY).rows;
    let found: Vec<_> = rows.iter().filter_map(|row| Some((row.workers?, row.here.as_ref()?))).collect();
    let found: Vec<_> =
        found.iter().map(|(count, here)| (*count, (here.value * 100.0).round(), here.delivered_share)).collect();
    assert_eq!(found, [(4, 776.0, None), (1, 200.0, None), (4, 480.0, Some(0.6)), (8, 480.0, None)]);
}

/// Strides of a line and of a page beside loads in random order.
#[test]
fn strides_that_a_prefetcher_foresees_are_noted() {
    let found = |at_random: f64| {
        let of = |kernel: &str, stride: &str| {
            format!("kernel = '{kernel}'; mapping = 'round-robin'; level = 'memory'; pages = '4k'{stride}")
        };
        let [random, line, page] =
            [of("chase-random", ""), of("chase-stride", "; stride = 64"), of("chase-stride", "; stride = 4096")];
        let cells = [(&*random, 1, at_random), (&*line, 1, 30.0), (&*page, 1, 500.0)];
        let mut report = measured("Core:2 PU:1", Unit::NanosecondsPerStep, &cells);
        report.cells.iter_mut().for_each(|cell| cell.level = Some("memory".into()));
        let rows = beside("tacc Figure 3", &report, Kernels::ANY).rows;
        let rows = rows.iter().filter(|row| row.group == "small pages, memory");
        let noted = |here: &Number<'_>| matches!(here.note, Some(Note::Foreseen(other)) if other == at_random);
        rows.filter_map(|row| Some((row.label.to_owned(), noted(row.here.as_ref()?)))).collect::<Vec<_>>()
    };
    for (at_random, is_foreseen) in [(600.0, true), (500.0, true), (50.0, false)] {
        let expected = [("at random", false), ("stride 64", is_foreseen), ("stride 4096", false)];
        assert_eq!(found(at_random), expected.map(|(label, noted)| (label.to_owned(), noted)));
    }
}
