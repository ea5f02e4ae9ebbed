//! Cards as people read them.

use super::*;
use crate::formats::tests::{EVIL, assert_inert, written};
use charz_data::report::Status;
use charz_estimate::fixtures::measured;

#[track_caller]
fn shown(report: &Report) -> String {
    written(|out| write(report, &TerminalStyle::PLAIN, out))
}

#[test]
fn what_contradicts_is_marked_and_explained() {
    let text = shown(&measured(8 << 20));
    for words in ["32 KiB, private (×2)", "L3 !", "8 MiB to 11.3 MiB", "32 MiB reported", "MISMATCHES", "no edge seen"]
    {
        assert!(text.contains(words), "{words:?}: {text}");
    }
    let text = shown(&measured(32 << 20));
    assert!(!text.contains('!') && !text.contains("MISMATCHES"), "{text}");
}

#[test]
fn what_too_few_sizes_leave_open_has_a_list_of_its_own() {
    let mut report = measured(8 << 20);
    report.cells.retain(|cell| cell.point.size_bytes.is_none_or(|size| size <= 48 << 20));
    let text = shown(&report);
    assert!(text.contains("NOT ENOUGH MEASURED\nL3 ") && !text.contains("MISMATCHES"), "{text}");
    // Neither is there a number of it in the table, which may be that of memory.
    let row = text.lines().find(|line| line.starts_with("L3")).unwrap();
    assert!(row.contains("edge unknown") && !row.contains(" ns"), "{text}");
}

#[test]
fn an_edge_is_said_once_and_boost_is_no_mismatch() {
    let mut report = measured(32 << 20);
    report.cells.iter_mut().for_each(|cell| cell.status = Status::Suspect);
    report.host.claimed_hz = Some(2e9);
    let text = shown(&report);
    assert!(text.contains("32 KiB to 45.3 KiB~") && text.contains("boost"), "{text}");
    assert!(!text.contains("NOT ENOUGH MEASURED") && !text.contains("MISMATCHES"), "{text}");
}

#[test]
fn suspect_numbers_carry_their_mark() {
    let mut report = measured(32 << 20);
    assert!(!shown(&report).contains('?'), "{}", shown(&report));
    report.cells.iter_mut().for_each(|cell| cell.status = Status::Suspect);
    // Lines end where there is room.
    let text = shown(&report).split_whitespace().collect::<Vec<_>>().join(" ");
    for words in
        ["32 KiB to 45.3 KiB~", "1.00 ns (3.0)~", "100 GB/s~", "to 11.3 MiB~;", "20.0 ns~ longer", "140 ns~ per load"]
    {
        assert!(text.contains(words), "{words:?}: {text}");
    }
}

#[test]
fn foreign_words_cannot_steer_the_terminal() {
    let mut report = measured(8 << 20);
    report.host.processor = Some(EVIL.into());
    assert_inert("card", &shown(&report));
}
