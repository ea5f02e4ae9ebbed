//! Replications of synthetic reports, in every format.

use super::*;
use crate::formats::tests::{EVIL, assert_inert, written};
use charz_analysis::figure::{Body, Role};
use charz_data::report::{Cell, Estimator, Point, Report, Severity, Status as CellStatus};
use charz_estimate::fixtures::{cell, report};
use charz_model::{Placed, Topology};
use charz_replicate::{Figure, Kernels, Outcome, Target, evaluate, feasibility, find};

fn fixtures() -> Report {
    let mut report = report("Core:4 PU:1");
    for (mapping, workers) in [("dumb", 1), ("round-robin", 1), ("auto", 1), ("auto", 4)] {
        let point = Point { size_bytes: Some(1 << 28), ..Point::default() };
        let seats: Vec<u32> = (0..workers).collect();
        report.cells.push(cell("mem-read", &seats, point, 13e9).under(mapping).delivering(1.0));
    }
    report.cells[3] = Cell { estimator: Estimator::FastMode, ..report.cells[3].clone().delivering(0.6) };
    report.cells[1] = report.cells[1].clone().marked("V08", Severity::Suspect, "the clock moved");
    report
}

/// What the T3-4 report is beside this one, or before a sweep.
fn replication(report: Option<&Report>) -> Replication<'_> {
    let document = find("t3-4").unwrap();
    let figures: Vec<&Figure> = document.figures.iter().collect();
    let target = Target::flat(2, Kernels::ANY);
    match report {
        Some(report) => evaluate(document, &figures, report, None, Kernels::ANY),
        None => feasibility(document, &figures, &target),
    }
}

fn shown(format: &Format, replication: &Replication<'_>) -> String {
    written(|out| (format.write)(replication, &TerminalStyle::PLAIN, out))
}

#[test]
fn every_format_has_every_figure_and_the_citation() {
    let report = fixtures();
    for replication in [replication(Some(&report)), replication(None)] {
        for format in FORMATS {
            let text = shown(format, &replication);
            for figure in &replication.figures {
                assert!(text.contains(figure.number), "{}: {}", format.name, figure.number);
            }
            assert!(text.contains("arXiv:1106.2992") || format.name == "csv", "{}", format.name);
            assert!(!text.contains("[done]:"), "{}: there is no reason behind it", format.name);
        }
    }
}

#[test]
fn numbers_are_beside_the_documents() {
    let report = fixtures();
    let text = shown(&FORMATS[0], &replication(Some(&report)));
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let rows: Vec<Vec<String>> = text.lines().map(words).collect();
    let delivered = "4 2.72 10.39 14.05 7.80 7.64 to 7.96 60.0% 2.87 GB/s";
    for expected in ["1 0.65 13.0 12.7 to 13.3 20.0 GB/s", "1 0.65 13.0~ 12.7 to 13.3 20.0~ GB/s", delivered] {
        assert!(rows.contains(&words(expected)), "{expected}:\n{text}");
    }
}

#[test]
fn a_hostile_report_steers_nothing() {
    let mut report = fixtures();
    report.host.name = Some(EVIL.into());
    report.host.processor = Some(EVIL.into());
    report.started = EVIL.into();
    for cell in &mut report.cells {
        cell.reason = Some(EVIL.into());
        cell.status = CellStatus::Skipped;
        (cell.capacity, cell.summary) = (None, None);
    }
    let replication = replication(Some(&report));
    for format in FORMATS {
        let text = shown(format, &replication);
        assert_inert(format.name, &text);
        if format.name == "markdown" {
            assert!(!text.contains("<script") && !text.contains("http://x") && !text.contains(" @all"), "{text}");
        }
    }
}

#[test]
fn csv_has_a_record_for_each_value() {
    let report = fixtures();
    let replication = replication(Some(&report));
    let text = shown(FORMATS.iter().find(|format| format.name == "csv").unwrap(), &replication);
    let mut reader = ::csv::Reader::from_reader(text.as_bytes());
    let columns = reader.headers().unwrap().clone();
    let [low, here, suspect] =
        ["published_low", "here", "suspect"].map(|name| columns.iter().position(|column| column == name).unwrap());
    let rows: Vec<_> = reader.into_records().map(Result::unwrap).collect();
    let published = replication.figures.iter().flat_map(|figure| &figure.rows).map(|row| row.published.len());
    let values: usize = published.sum();
    assert_eq!(rows.iter().filter(|row| !row[low].is_empty()).count(), values);
    assert_eq!(rows.iter().filter(|row| !row[here].is_empty() && &row[suspect] == "true").count(), 1);
}

#[test]
fn numbers_have_three_digits() {
    for (value, text) in
        [(0.0, "0"), (0.0191, "0.019"), (0.5, "0.500"), (6.789, "6.79"), (43.21, "43.2"), (1234.5, "1,235")]
    {
        assert_eq!(digits(value), text);
    }
}

#[test]
fn published_values_keep_their_digits() {
    for (low, high, text) in [
        (0.65, 0.65, "0.65"),
        (14.0, 16.0, "14 to 16"),
        (437_244.33, 437_244.33, "437244.33"),
        (59_982_202_100.0, 59_982_202_100.0, "59,982,202,100"),
    ] {
        assert_eq!(published_words(&PublishedRange { machine: "", low, high, predicted: None }), text);
    }
}

/// Where threads of the T3-4 are, without a topology: as many of each level as a mapping fills.
fn placing(_: &str, placements: &[(&str, usize)]) -> Option<(Topology, Vec<Placed>)> {
    let machine = report("Package:4 Core:16 Group:2 PU:4").machine;
    let topology = Topology::of(&machine);
    let cpus = |threads: usize| (0..threads as u32).collect::<Vec<_>>();
    let place = |(mapping, threads): &(&str, usize)| match *mapping {
        "dumb" => topology.seated(&cpus(*threads)),
        _ => topology.spread(*threads),
    };
    Some((topology.clone(), placements.iter().map(place).collect()))
}

#[test]
fn a_model_stands_beside_the_documents_own_values() {
    let report = fixtures();
    let replication = replication(Some(&report)).with_models(placing);
    let figure = replication.figures.iter().find(|figure| figure.number == "Figure 5").unwrap();
    let of_t3_4 = figure.models.iter().find(|model| model.machine == "t3-4").unwrap();
    assert!(of_t3_4.fitted.len() >= 4 && of_t3_4.fitted.len() + of_t3_4.others == 54, "{of_t3_4:?}");
    assert!(matches!(of_t3_4.outcome, Outcome::Model { mean, worst, .. } if mean < 0.06 && worst < 0.2), "{of_t3_4:?}");
    // What is said to be predicted was not fitted, and each has its prediction.
    let predicted = figure.rows.iter().flat_map(|row| &row.published).filter_map(|range| range.predicted.as_ref());
    assert_eq!(predicted.clone().filter(|own| own.is_fitted).count(), of_t3_4.fitted.len());
    assert_eq!(predicted.filter(|own| !own.is_fitted).count(), of_t3_4.others);
    // A page has a curve of it with its band, and no other machine has one.
    let page = page::of(&replication);
    let drawn: Vec<_> = page.figures().filter(|figure| figure.id == "figure-5-t3-4").collect();
    let [drawn] = &drawn[..] else { panic!("{}", drawn.len()) };
    let Body::Lines(plot) = &drawn.body else { panic!() };
    let band = plot.series.iter().filter(|series| series.role == Role::Ideal && series.points.len() == 18).count();
    assert_eq!(band, 3);
}
