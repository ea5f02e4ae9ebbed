//! Pages of invented reports, in every format.

use super::*;
use crate::numa::tests::{cell, report};
use crate::replicate::{Figure, Place, draw, find, prospect};
use crate::report::{Cell, Point, Report, Status};

fn invented() -> Report {
    let mut report = report("Core:4 PU:1");
    for (mapping, workers) in [("dumb", 1), ("round-robin", 1), ("auto", 1), ("auto", 4)] {
        let point = Point { size_bytes: Some(1 << 28), ..Point::default() };
        let seats: Vec<u32> = (0..workers).collect();
        report.cells.push(Cell { mapping: mapping.into(), ..cell("mem-read", &seats, point, 13e9) });
    }
    report.cells[1].outcome.status = Status::Suspect;
    report
}

fn page(report: &Report, format: &str) -> String {
    let document = find("t3-4").unwrap();
    let figures: Vec<&Figure> = document.figures.iter().collect();
    let mut out = Vec::new();
    let format = FORMATS.iter().find(|known| known.name == format).unwrap();
    (format.write)(&draw(document, &figures, report), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn every_format_has_every_figure() {
    let report = invented();
    for format in FORMATS {
        let page = page(&report, format.name);
        for figure in &find("t3-4").unwrap().figures {
            assert!(page.contains(&figure.number), "{}: {}", format.name, figure.number);
        }
        assert!(page.contains("arXiv:1106.2992") || format.name == "csv", "{}", format.name);
    }
}

#[test]
fn numbers_stand_beside_the_documents() {
    let page = page(&invented(), "table");
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let rows: Vec<Vec<String>> = page.lines().map(words).collect();
    let row = |expected: &str| assert!(rows.contains(&words(expected)), "{expected}:\n{page}");
    row("1 0.65 13.0 12.7 to 13.3 20.0 GB/s");
    // A doubtful number, and what is made of it.
    row("1 0.65 13.0 ? 12.7 to 13.3 20.0 ? GB/s");
    assert!(page.contains("Figure 16: Recursive matrix multiplication [not possible]"), "{page}");
    let last = page.lines().last().unwrap();
    assert!(last.starts_with("t3-4: ") && last.contains("not possible") && last.contains("3 without values"), "{last}");
}

#[test]
fn a_hostile_report_steers_nothing() {
    let mut report = invented();
    let hostile = "\u{1b}[2J<script>|`*\u{202e}\r\n=cmd\u{9b}@all https://x";
    report.host.name = Some(hostile.into());
    report.host.processor = Some(hostile.into());
    report.started = hostile.into();
    for cell in &mut report.cells {
        cell.outcome.reason = Some(hostile.into());
        cell.outcome.status = Status::Skipped;
        cell.summary = None;
    }
    for format in FORMATS {
        let page = page(&report, format.name);
        let harmless = |mark: char| mark == '\n' || crate::render::text::is_harmless(mark);
        assert!(page.chars().all(harmless), "{}", format.name);
        if format.name == "markdown" {
            assert!(!page.contains("<script") && !page.contains("https://x") && !page.contains(" @all"), "{page}");
        }
    }
}

#[test]
fn csv_has_a_record_for_each_value() {
    let text = page(&invented(), "csv");
    let mut reader = ::csv::Reader::from_reader(text.as_bytes());
    let rows: Vec<::csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let values: usize = find("t3-4").unwrap().figures.iter().flat_map(|figure| &figure.series).map(values).sum();
    assert_eq!(rows.iter().filter(|row| !row[10].is_empty()).count(), values);
    assert_eq!(rows.iter().filter(|row| !row[12].is_empty() && &row[15] == "true").count(), 1);
}

fn values(series: &crate::replicate::Series) -> usize {
    series.values.values().flatten().filter(|value| value.range().is_some()).count()
}

#[test]
fn a_list_tells_why_without_a_report() {
    let document = find("t3-4").unwrap();
    let figures: Vec<&Figure> = document.figures.iter().collect();
    let place = Place::of(&report("Core:2 PU:1").machine);
    for format in FORMATS {
        let mut out = Vec::new();
        (format.list)(&prospect(document, &figures, &place), &mut out).unwrap();
        // Wherever lines end.
        let page = String::from_utf8(out).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
        for word in ["Figure 1", "Figure 16", "charz has no kernel of matrix multiplication"] {
            assert!(page.contains(word), "{}: {word}: {page}", format.name);
        }
    }
}

#[test]
fn the_generated_page_has_every_figure() {
    let page = super::page();
    for document in DOCUMENTS.iter() {
        assert!(page.contains(&document.title) && page.contains(&document.id), "{}", document.name);
        for figure in &document.figures {
            assert!(page.contains(&format!("| {} |", figure.number)), "{}", figure.number);
        }
    }
}
