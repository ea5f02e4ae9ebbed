//! The documents of the project, and replications of invented reports.

use std::collections::HashSet;

use charz_topology::Mapping;
use proptest::prelude::*;

use super::data::{CellSpec, Claim, Term};
use super::take::Take;
use super::unit::factor;
use super::*;
use crate::invoke;
use crate::numa::tests::{cell, report};
use crate::report::{Cell, Point, Report, Status};

/// Every figure, table, listing and set of quoted numbers, by a reading of the documents: the test of whether one was forgotten.
const NUMBERS: [(&str, &[&str]); 5] = [
    (
        "t3-4",
        &[
            "Figure 1",
            "Figure 2",
            "Figure 3",
            "Figure 4",
            "Figure 5",
            "Figure 6",
            "Figure 7",
            "Figure 8",
            "Figure 9",
            "Figure 10",
            "Figure 11",
            "Figure 12",
            "Figure 13",
            "Figure 14",
            "Figure 15",
            "Figure 16",
            "Section 3.1",
            "Section 4.2",
            "Section 6.2",
            "Section 6.4",
        ],
    ),
    (
        "cmt",
        &[
            "Figure 1",
            "Figure 2",
            "Figure 3",
            "Figure 4",
            "Figure 5",
            "Figure 6",
            "Figure 7",
            "Figure 8",
            "Figure 9",
            "Figure 10",
            "Table 1",
            "Table 2",
            "Table 3",
            "Table 4",
            "Table 5",
            "Table 6",
            "Section 2.1.1.5",
            "Section 2.1.1.6",
            "Section 2.1.1.8",
            "Section 2.2.1.2",
            "Section 3.1",
        ],
    ),
    ("cascade", &["Spin city", "Wow!", "In conclusion"]),
    (
        "tacc",
        &[
            "Figure 1",
            "Figure 2",
            "Figure 3",
            "Figure 4",
            "Figure 5",
            "Figure 6",
            "Table 1",
            "Table 2",
            "Table 3",
            "Table 4",
            "Table 5",
            "Section 3",
            "Section 4",
        ],
    ),
    (
        "solaris",
        &[
            "Part 3: Devices, Reboot",
            "Part 3: Tools",
            "Part 2: Virtual Memory, unmapping",
            "Part 2: Virtual Memory, counters",
            "Part 2: Resource Limits",
            "Part 1",
            "vmtasks: ISM",
            "vmtasks: DISM",
            "vmtasks: ISM, T4-2",
            "vmtasks: 512 GB",
            "High Resolution Timeouts",
            "Fast Crash Dump: compression",
            "Fast Crash Dump: dumps",
            "Fast Crash Dump: live dumps",
            "Wicked fast memstat",
            "CPU to core mapping",
            "Measuring lock spin utilization",
            "Solaris for the T5440",
            "Scaling Solaris: The Clock Thread",
            "Scaling Solaris: Memory Placement",
            "Scaling Solaris: The Kernel Adaptive Mutex",
            "UltraSPARC T2: Thread Scheduling",
            "UltraSPARC T2: Cache Associativity",
            "UltraSPARC T2: Virtual Memory",
            "UltraSPARC T2: Block Copy",
            "UltraSPARC T2: Performance Counters",
        ],
    ),
];

fn figures(document: &'static Document) -> impl Iterator<Item = (String, &'static Figure)> {
    document.figures.iter().map(|figure| (format!("{} {}", document.name, figure.number), figure))
}

fn specs(figure: &'static Figure) -> Vec<(&'static CellSpec, &'static Take, &'static str)> {
    let series = figure.series.iter();
    let rows = series.filter_map(|series| Some((series.cell.as_ref()?, &series.take, series.unit.as_str())));
    let terms = figure.claims.iter().flat_map(|claim: &'static Claim| {
        let unit = claim.unit.as_deref().unwrap_or("ns");
        let term = move |term: &'static Term| (&term.cell, &term.take, unit);
        [Some(&claim.left), claim.right.as_ref()].into_iter().flatten().map(term).collect::<Vec<_>>()
    });
    rows.chain(terms).collect()
}

#[test]
fn every_number_of_the_documents_is_there() {
    let names: Vec<&str> = DOCUMENTS.iter().map(|document| document.name.as_str()).collect();
    assert_eq!(names, NUMBERS.map(|(name, _)| name));
    for (name, numbers) in NUMBERS {
        let found: Vec<&str> = find(name).unwrap().figures.iter().map(|figure| figure.number.as_str()).collect();
        for number in numbers {
            assert_eq!(found.iter().filter(|found| *found == number).count(), 1, "{name}: {number}");
        }
        assert_eq!(found.len(), numbers.len(), "{name}: {found:?}");
    }
}

#[test]
fn citations_are_complete_and_sentences_end() {
    for document in DOCUMENTS.iter() {
        for word in [&document.title, &document.authors, &document.published, &document.id] {
            assert!(!word.trim().is_empty() && !word.ends_with('.'), "{}: {word:?}", document.name);
        }
        let sentences = [&document.about, &document.protocol.about].into_iter().chain(&document.inconsistencies);
        for sentence in sentences {
            assert!(sentence.ends_with('.'), "{sentence}");
        }
        for (name, figure) in figures(document) {
            for sentence in [&figure.shows, &figure.survives].into_iter().chain(&figure.notes) {
                assert!(sentence.ends_with('.'), "{name}: {sentence}");
            }
            let clauses = [&figure.cannot, &figure.drawing, &figure.elsewhere].into_iter().flatten();
            for clause in clauses.chain(&figure.lacks).chain(figure.claims.iter().map(|claim| &claim.says)) {
                assert!(!clause.ends_with('.') && !clause.is_empty(), "{name}: {clause}");
            }
        }
    }
}

#[test]
fn every_cell_can_be_planned() {
    for (name, figure) in DOCUMENTS.iter().flat_map(figures) {
        for (spec, take, unit) in specs(figure) {
            let mapping: Mapping = spec.mapping.parse().unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(mapping.to_string(), spec.mapping, "{name}: a report has the canonical text");
            for kernel in spec.kernels() {
                let kernel = charz_kernels::find(kernel).unwrap_or_else(|| panic!("{name}: no kernel {kernel}"));
                let kind = take.kind(invoke::unit(kernel));
                let kind = kind.unwrap_or_else(|| panic!("{name}: {} has no {take:?}", kernel.card().name));
                factor(unit, kind, Some(1e9))
                    .unwrap_or_else(|why| panic!("{name}: {} {take:?}: {why}", kernel.card().name));
            }
            let places = ["local", "first", "remote", "interleaved"];
            assert!(spec.memory.as_deref().is_none_or(|home| places.contains(&home)), "{name}");
            assert!(spec.size.is_none_or(|size| size % 64 == 0 && spec.level.is_none()), "{name}");
        }
    }
}

#[test]
fn every_value_has_its_row_and_its_machine() {
    for document in DOCUMENTS.iter() {
        let keys: HashSet<&str> = document.machines.iter().map(|machine| machine.key.as_str()).collect();
        assert_eq!(keys.len(), document.machines.len(), "{}", document.name);
        for (name, figure) in figures(document) {
            for series in &figure.series {
                let rows = series.workers.len().max(series.labels.len());
                assert!(rows > 0 && (series.here.is_empty() || series.here.len() == series.workers.len()), "{name}");
                assert!(series.labels.is_empty() || series.labels.len() == rows, "{name}: {:?}", series.labels);
                assert_eq!(series.cell.is_some(), !series.workers.is_empty(), "{name}: {}", series.group);
                for (machine, values) in &series.values {
                    assert!(keys.contains(machine.as_str()) && values.len() <= rows, "{name}: {machine}");
                    for value in values {
                        let none = matches!(value, Golden::None(text) if text == "-");
                        let range = value.range().is_some_and(|[low, high]| low.is_finite() && low <= high);
                        assert!(none || range, "{name}: {value:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn every_figure_is_answered_one_way() {
    for document in DOCUMENTS.iter() {
        for (name, figure) in figures(document) {
            let measured = figure.series.iter().any(|series| series.cell.is_some()) || !figure.claims.is_empty();
            let ways = [
                figure.drawing.is_some(),
                figure.cannot.is_some(),
                figure.elsewhere.is_some(),
                figure.same_as.is_some(),
                measured,
            ];
            assert_eq!(ways.iter().filter(|way| **way).count(), 1, "{name}: {ways:?}");
            if let Some(table) = &figure.same_as {
                assert!(document.figures.iter().any(|other| other.number == *table), "{name}");
            }
            for claim in &figure.claims {
                assert_ne!(claim.right.is_some(), claim.limit.is_some(), "{name}: {}", claim.says);
                assert!(claim.by >= 1.0 && !claim.workers.is_empty(), "{name}: {}", claim.says);
            }
        }
    }
}

fn place(synthetic: &str) -> Place {
    Place::of(&report(synthetic).machine)
}

#[test]
fn plans_follow_the_document_as_far_as_the_machine_goes() {
    let document = find("t3-4").unwrap();
    let all: Vec<&Figure> = document.figures.iter().collect();
    let workers = |place: &Place| -> Vec<u64> {
        let wanted = document.wanted(place, &all);
        let reads = wanted.iter().filter(|cell| cell.kernel == "arith-int" && cell.mapping == "dumb");
        reads.map(|cell| cell.workers).collect()
    };
    let series = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024];
    assert_eq!(workers(&place("Package:4 Core:16 Group:2 PU:4")), series);
    assert_eq!(workers(&place("Core:2 PU:1")), [1, 2, 3, 4]);
    for place in [place("Core:2 PU:1"), place("Core:1 PU:1"), place("Package:2 Core:3 PU:2")] {
        let wanted = document.wanted(&place, &all);
        assert!(wanted.iter().all(|cell| (1..=2 * place.strands.max(1)).contains(&cell.workers)), "{place:?}");
        assert!(wanted.iter().enumerate().all(|(at, cell)| !wanted[..at].contains(cell)), "each once");
    }
}

/// Four strands of one package, on which round-robin reads twice as fast as dumb.
fn invented() -> Report {
    let mut report = report("Core:4 PU:1");
    for (mapping, speed) in [("dumb", 1.0), ("round-robin", 2.0), ("auto", 2.0)] {
        for (workers, value) in [(1, 10e9), (2, 20e9), (4, 21e9)] {
            let seats: Vec<u32> = if mapping == "dumb" { (0..workers).collect() } else { (0..workers).rev().collect() };
            let point = Point { size_bytes: Some(1 << 28), ..Point::default() };
            report.cells.push(Cell { mapping: mapping.into(), ..cell("mem-read", &seats, point, value * speed) });
        }
    }
    report.cells[0].outcome.status = Status::Suspect;
    let invalid = &mut report.cells[1];
    invalid.outcome = crate::report::Outcome { status: Status::Invalid, reason: Some("V01: not on its seat".into()) };
    invalid.summary = invalid.summary.map(|summary| crate::report::Summary { value: None, ..summary });
    report
}

fn drawn(number: &str, report: &Report) -> Replicated {
    let document = find("t3-4").unwrap();
    let figures: Vec<&Figure> = document.figures.iter().filter(|figure| figure.number == number).collect();
    let [figure] = <[Replicated; 1]>::try_from(draw(document, &figures, report).figures).unwrap();
    figure
}

#[test]
fn rows_stand_beside_the_documents() {
    let figure = drawn("Figure 5", &invented());
    let row =
        |group: &str, label: &str| figure.rows.iter().find(|row| row.group == group && row.label == label).unwrap();
    let first = row("dumb", "1");
    let here = first.here.as_ref().unwrap();
    assert_eq!((here.value, here.suspect, here.low), (10.0, true, Some(10.0 / 1.02)));
    assert_eq!(first.document, [Said { machine: "t3-4".into(), low: 0.65, high: 0.65 }]);
    assert!((first.ratio.unwrap() - 10.0 / 0.65).abs() < 1e-9);
    // An invalid number is no number.
    assert_eq!((&row("dumb", "2").here, row("dumb", "2").ratio), (&None, None));
    assert!(row("dumb", "2").gap.as_ref().unwrap().contains("not on its seat"));
    assert!(row("dumb", "3").gap.as_ref().unwrap().contains("mem-read dumb 256 MiB with so many workers"));
    assert!(row("dumb", "64").beyond && row("dumb", "64").gap.as_ref().unwrap().contains("twice the 4 strands"));
    assert_eq!(row("auto", "2").document.len(), 3, "three machines under auto");
    assert_eq!(figure.standing, Standing::Partly, "{:?}", figure.reasons);
    assert!(figure.notes.iter().any(|note| note.contains("went to 512")), "{:?}", figure.notes);
}

#[test]
fn conclusions_are_held_against_intervals() {
    let mut report = invented();
    let verdict = |report: &Report, word: &str| {
        let claims = drawn("Figure 5", report).claims;
        let claim = claims.into_iter().find(|claim| claim.says.contains(word)).unwrap();
        (claim.verdict, claim.because)
    };
    assert_eq!(verdict(&report, "differ little").0, Verdict::Holds);
    // 42 GB/s with four against 40 with two.
    assert_eq!(verdict(&report, "saturate").0, Verdict::Holds);
    let (unseen, why) = verdict(&report, "half of the packages");
    assert!(unseen == Verdict::Unseen && why.contains("one package"), "{why}");
    for cell in report.cells.iter_mut().filter(|cell| cell.mapping == "auto" && cell.workers == 4) {
        cell.summary =
            cell.summary.map(|summary| crate::report::Summary { value: Some(80e9), interval: None, ..summary });
    }
    let (fails, why) = verdict(&report, "saturate");
    assert!(fails == Verdict::Fails && why.contains("80.0") && why.contains("x2"), "{why}");
    report.cells.clear();
    let (unseen, why) = verdict(&report, "differ little");
    assert!(unseen == Verdict::Unseen && why.contains("no cell"), "{why}");
}

#[test]
fn what_nobody_measured_is_no_number() {
    let document = find("t3-4").unwrap();
    let figures: Vec<&Figure> = document.figures.iter().collect();
    let empty = draw(document, &figures, &report("Core:2 PU:1"));
    assert!(empty.figures.iter().flat_map(|figure| &figure.rows).all(|row| row.here.is_none() && row.ratio.is_none()));
    let Totals { done, partly, not_measured, not_possible, drawings } = empty.totals;
    // One is another command's, and the others are not possible whatever was measured.
    assert_eq!([done, partly, not_measured, not_possible, drawings], [0, 1, 14, 2, 3]);
    let expected = prospect(document, &figures, &place("Core:2 PU:1"));
    let standing = |number: &str| expected.figures.iter().find(|figure| figure.number == number).unwrap().standing;
    assert_eq!(standing("Figure 5"), Standing::Done);
    assert_eq!(standing("Figure 15"), Standing::Partly);
    assert_eq!(standing("Figure 16"), Standing::NotPossible);
    assert_eq!(standing("Section 3.1"), Standing::Partly);
    let sum =
        |totals: Totals| totals.done + totals.partly + totals.not_measured + totals.not_possible + totals.drawings;
    assert_eq!(sum(expected.totals), 20);
    assert_eq!(sum(empty.totals), 20);
}

#[test]
fn values_that_were_read_twice() {
    // Spots of each document, read again from its text.
    for (document, number, group, at, machine, expected) in [
        ("t3-4", "Figure 5", "round-robin", 15, "t3-4", 107.57),
        ("t3-4", "Figure 5", "auto", 5, "x4470", 20.99),
        ("t3-4", "Section 6.2", "", 0, "t3-4", 432.0),
        ("cmt", "Table 1", "scalability", 3, "e6900", 7.97),
        ("cmt", "Table 2", "MIPS", 3, "e6900", 12761.94),
        ("cascade", "Wow!", "smallest lap, T2000", 2, "t2000", 1140.0),
        ("tacc", "Table 5", "LU", 1, "woodcrest", 630.145),
        ("solaris", "Wicked fast memstat", "before", 0, "m9000", 34143.0),
        ("solaris", "vmtasks: ISM, T4-2", "destroy", 0, "t4-2", 495.0),
    ] {
        let figure = find(document).unwrap().figures.iter().find(|figure| figure.number == number).unwrap();
        let series = figure.series.iter().find(|series| series.group == group).unwrap();
        assert_eq!(series.values[machine][at], Golden::Number(expected), "{document} {number}");
    }
}

proptest! {
    /// Whatever the machine: no cell has no worker, or more than twice as many as there are strands.
    #[test]
    fn numbers_of_workers_stay_within_the_machine(strands in 1_u64..4096, cores in 1_u64..4096, packages in 1_u64..64) {
        let place = Place { strands, cores: cores.min(strands), packages, nodes: packages };
        for document in DOCUMENTS.iter() {
            let figures: Vec<&Figure> = document.figures.iter().collect();
            for cell in document.wanted(&place, &figures) {
                prop_assert!((1..=2 * strands).contains(&cell.workers), "{cell:?} on {place:?}");
            }
        }
    }
}
