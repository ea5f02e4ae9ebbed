//! The documents: that all of each is there, and reads.

use crate::document::PublishedValue;
use crate::*;
use charz_data::CellSpec;

/// Every figure, table, listing and set of quoted numbers by an independent reading of the documents.
const NUMBERS: [(&str, &str); 5] = [
    (
        "t3-4",
        "Section 3.1; Figure 1; Figure 2; Figure 3; Figure 4; Section 4.2; Figure 5; Figure 6; Figure 7; Figure 8; Figure 9; \
         Section 6.2; Figure 10; Figure 11; Figure 12; Figure 13; Figure 14; Section 6.4; Figure 15; Figure 16",
    ),
    (
        "cmt",
        "Figure 1; Figure 2; Figure 3; Figure 4; Figure 5; Figure 6; Figure 7; Section 2.1.1.3; Section 2.1.1.4; Section 2.1.1.5; \
         Section 2.1.1.6; Section 2.1.1.7; Section 2.1.1.8; Section 2.2.1.1; Section 2.2.1.2; Section 2.2.1.3; Section 2.2.1.4; \
         Section 2.2.1.5; Section 2.3; Section 3.1; Table 1; Table 2; Figure 8; Table 3; Table 4; Figure 9; Table 5; Table 6; \
         Figure 10",
    ),
    ("cascade", "Spin city; Wow!; In conclusion"),
    (
        "tacc",
        "Figure 1; Table 1; Table 2; Section 3; Figure 2; Section 4; Figure 3; Figure 4; Table 3; Figure 5; Table 4; Table 5; \
         Figure 6",
    ),
    (
        "solaris",
        "Part 3: Devices, Reboot; Part 3: Tools; Part 2: Virtual Memory, unmapping; Part 2: Virtual Memory, counters; \
         Part 2: Resource Limits; Part 1; vmtasks: ISM; vmtasks: DISM; vmtasks: ISM, T4-2; vmtasks: 512 GB; \
         High Resolution Timeouts; Fast Crash Dump: compression; Fast Crash Dump: dumps; Fast Crash Dump: live dumps; \
         Wicked fast memstat; CPU to core mapping; Measuring lock spin utilization; Solaris for the T5440; \
         Scaling Solaris: The Clock Thread; Scaling Solaris: Memory Placement; Scaling Solaris: The Kernel Adaptive Mutex; \
         UltraSPARC T2: Thread Scheduling; UltraSPARC T2: Cache Associativity; UltraSPARC T2: Virtual Memory; \
         UltraSPARC T2: Block Copy; UltraSPARC T2: Performance Counters",
    ),
];

fn all_figures() -> impl Iterator<Item = (&'static Document, &'static Figure)> {
    DOCUMENTS.iter().flat_map(|document| document.figures.iter().map(move |figure| (document, figure)))
}

#[test]
fn every_number_and_citation_is_there() {
    for (document, (name, expected)) in DOCUMENTS.iter().zip(NUMBERS) {
        let numbers: Vec<&str> = document.figures.iter().map(|figure| figure.number.as_str()).collect();
        assert_eq!((document.citation.name.as_str(), numbers.join("; ").as_str()), (name, expected));
        let Citation { name: _, title, authors, published, id, about } = &document.citation;
        for word in [title, authors, published, id, about, &document.protocol.about] {
            assert!(!word.trim().is_empty(), "{name}");
        }
    }
    assert_eq!(DOCUMENTS.len(), NUMBERS.len());
}

#[test]
fn every_value_has_its_row_and_its_machine() {
    for (document, figure) in all_figures() {
        let name = format!("{} {}", document.citation.name, figure.number);
        for series in &figure.series {
            let rows = series.workers.len().max(series.labels.len());
            assert!(rows > 0 && (series.here.is_empty() || series.here.len() == series.workers.len()), "{name}");
            assert!(series.over.is_none() || series.unit == "times", "{name}");
            assert_eq!(series.labels.len(), rows, "{name}: {:?}", series.labels);
            assert_eq!(series.cell().is_some(), !series.workers.is_empty(), "{name}: {}", series.group);
            for (machine, values) in &series.values {
                let is_known = document.machines.iter().filter(|known| known.key == *machine).count() == 1;
                assert!(is_known && values.len() <= rows, "{name}: {machine}");
                for value in values {
                    let none = matches!(value, PublishedValue::None(text) if text == "-");
                    let range = value.range().is_some_and(|[low, high]| low.is_finite() && low <= high);
                    assert!(none || range, "{name}: {value:?}");
                }
            }
        }
    }
}

#[test]
fn every_figure_is_answered_one_way() {
    for (document, figure) in all_figures() {
        let name = format!("{} {}", document.citation.name, figure.number);
        let measured = figure.series.iter().any(|series| series.cell().is_some()) || !figure.claims.is_empty();
        let Figure { drawing, impossible, elsewhere, same_as, .. } = figure;
        let others = [drawing, impossible, elsewhere, same_as].into_iter().flatten().count();
        assert_eq!(others + usize::from(measured), 1, "{name}");
        assert!(same_as.iter().all(|table| document.figures.iter().any(|other| other.number == *table)), "{name}");
        for claim in &figure.claims {
            assert_ne!(claim.right.is_some(), claim.limit.is_some(), "{name}: {}", claim.says);
            let is_factor = claim.by >= 1.0 || (claim.relation != Relation::Alike && claim.by > 0.0);
            assert!(is_factor && !claim.workers.is_empty(), "{name}: {}", claim.says);
        }
    }
}

#[test]
fn values_that_were_read_twice() {
    for (document, number, group, at, machine, expected) in [
        ("t3-4", "Figure 5", "round-robin", 15, "t3-4", 107.57),
        ("t3-4", "Figure 5", "auto", 5, "x4470", 20.99),
        ("t3-4", "Section 6.2", "", 0, "t3-4", 432.0),
        ("cmt", "Table 1", "scalability", 3, "e6900", 7.97),
        ("cmt", "Section 2.2.1.5", "", 0, "solaris", 7.0),
        ("cmt", "Table 2", "MIPS", 3, "e6900", 12761.94),
        ("cascade", "Wow!", "smallest lap, T2000", 2, "t2000", 1140.0),
        ("tacc", "Table 5", "LU", 1, "woodcrest", 837.53),
        ("solaris", "Wicked fast memstat", "before", 0, "m9000", 34143.0),
        ("solaris", "vmtasks: ISM, T4-2", "destroy", 0, "t4-2", 495.0),
    ] {
        let figure = find(document).unwrap().figures.iter().find(|figure| figure.number == number).unwrap();
        let series = figure.series.iter().find(|series| series.group == group).unwrap();
        assert_eq!(series.values[machine][at], PublishedValue::Number(expected), "{document} {number}");
    }
}

#[test]
fn defaults_reach_series_and_both_sides() {
    let text = r#"
        citation = { name = "x", title = "", authors = "", published = "", id = "", about = "" }
        protocol = {}
        machines = []
        [[figure]]
        number = "1"
        title = ""
        shows = ""
        survives = ""
        defaults = { cell = { kernel = "a", mapping = "dumb" }, workers = [1], unit = "ns" }
        series = [{ cell = { mapping = "auto" }, over = { cell = { kernel = "b" }, workers = 2 } }]
        claim = [{ says = "", relation = "less", left = { cell = { stride = 8 } }, right = { cell = { kernel = "b" } } }]
    "#;
    let document = Document::read(text).unwrap();
    let [figure] = &document.figures[..] else { panic!("one figure") };
    let of = |cell: &CellSpec| (cell.kernel.clone(), cell.mapping.clone(), cell.stride);
    assert_eq!(of(figure.series[0].cell().unwrap()), ("a".into(), "auto".into(), None));
    assert_eq!(of(&figure.series[0].over.as_ref().unwrap().cell), ("b".into(), "auto".into(), None));
    let planned = document.cells(&[figure], &Target::flat(2, Kernels::ANY));
    assert!(planned.iter().any(|cell| (cell.kernel.as_str(), cell.workers) == ("b", 2)), "{planned:?}");
    let sides: Vec<_> = figure.claims[0].sides().map(|side| of(&side.cell)).collect();
    assert_eq!(sides, [("a".into(), "dumb".into(), Some(8)), ("b".into(), "dumb".into(), Some(8))]);
    assert!(Document::read(&text.replace("unit", "units")).is_err(), "a misspelled default");
}
