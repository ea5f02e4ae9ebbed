//! How long it takes to save a report and to read it, also one of a million repetitions; and to compare two of a hundred
//! thousand cells; and to make pages of them. Of the large ones less than two seconds are wanted, reading included.

mod common;
mod fixtures;

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;
use std::thread;

use charz_analysis::compare::{Options, compare};
use charz_analysis::page::{Source, page};
use charz_data::report::{Report, read};
use charz_render::{html, look::TerminalStyle};
use criterion::{Criterion, criterion_group, criterion_main};

fn save(file: &Path, report: &Report) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(file)?);
    serde_json::to_writer(&mut out, report)?;
    out.into_inner()?.sync_all()
}

fn report(criterion: &mut Criterion) {
    let report = fixtures::report(1024 / share());
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let file = folder.path().join("report.json");
    criterion.bench_function("report/save", |bencher| {
        common::measure(bencher, || save(&file, &report).expect("the disk takes it"));
    });
    save(&file, &report).expect("the disk takes it");
    criterion.bench_function("report/read", |bencher| {
        common::measure(bencher, || read(&file).expect("it is a report"));
    });
}

/// From reports to the page that a browser opens. Of a sweep of four mappings by ten numbers of workers less than 200 ms are wanted.
fn pages(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("report");
    group.sample_size(FEW);
    let mut show = |name: &str, reports: &[Report]| {
        let sources: Vec<Source<'_>> = reports.iter().map(|report| Source { name: "a", report }).collect();
        group.bench_function(name, |bencher| {
            common::measure(bencher, || {
                let mut out = Vec::new();
                html::write(&page(&sources), &TerminalStyle::PLAIN, &mut out).expect("memory takes it");
                out
            });
        });
    };
    show("html", &[fixtures::report(1024 / share())]);
    show("html/1000000-repetitions", &[fixtures::cells(16_667 / share() as usize, 10)]);
}

/// The part of the work that is done where benches only show that they work.
fn share() -> u32 {
    if std::env::args().any(|argument| argument == "--bench") { 1 } else { 1000 }
}

/// Too slow to be done a hundred times.
const FEW: usize = 10;

fn large(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let file = folder.path().join("report.json");
    let mut group = criterion.benchmark_group("report");
    group.sample_size(FEW);
    let share = share() as usize;
    save(&file, &fixtures::cells(16_667 / share, 10)).expect("the disk takes it");
    group.bench_function("read/1000000-repetitions", |bencher| {
        common::measure(bencher, || read(&file).expect("it is a report"));
    });
    save(&file, &fixtures::cells(100_000 / share, 1)).expect("the disk takes it");
    group.bench_function("compare/100000-cells", |bencher| {
        common::measure(bencher, || {
            let [base, new] = thread::scope(|scope| {
                [(); 2].map(|()| scope.spawn(|| read(&file).expect("it is a report"))).map(|side| side.join())
            });
            let (base, new) = (base.expect("reading does not panic"), new.expect("reading does not panic"));
            compare(&base, &new, &Options::default()).expect("they can be compared")
        });
    });
}

criterion_group!(benches, report, pages, large);
criterion_main!(benches);
