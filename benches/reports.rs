//! What it takes to write, read and judge a report, to conclude from it, and to show it.

use charz_analysis::answer::Answer;
use charz_analysis::page::{Page, Source, page};
use charz_benches::cases::{Case, case, keep};
use charz_claims::advise::advise;
use charz_claims::compare::{Options, compare};
use charz_data::report::{File, Report, Unit, fixtures, parse};
use charz_estimate::Estimates;
use charz_measure::sweep::judge_report;
use charz_render::formats::{Draw, FORMATS};
use charz_render::look::TerminalStyle;
use charz_stats::Sample;
use charz_words::advise::sentence;

fn main() {
    let mut cases = vec![
        case("report/write", || {
            let report = report(16);
            Box::new(move || keep(serde_json::to_vec(&File::of(&report, &[])).expect("a report can be written")))
        }),
        case("report/read", || {
            let text = serde_json::to_string(&File::of(&report(16), &[])).expect("a report can be written");
            Box::new(move || keep(parse(&text).expect("it is a report")))
        }),
        case("report/judge", || {
            let measured = parse(fixtures::ARITHMETIC).expect("it is a report");
            Box::new(move || {
                let mut report = measured.clone();
                judge_report(&mut report);
                keep(report);
            })
        }),
        case("statistics", || {
            let values: Vec<f64> = (0..1000).map(|n| f64::from(n * 7919 % 1009)).collect();
            Box::new(move || {
                let sample = Sample::new(values.clone()).expect("the values are numbers");
                keep((sample.median(), sample.spread()));
            })
        }),
        case("conclude/advise", || {
            let report = report(16);
            Box::new(move || {
                advise(&Estimates::of(&report)).iter().for_each(|advice| keep(sentence(advice)));
            })
        }),
        case("conclude/answer", || {
            let report = report(16);
            Box::new(move || keep(Answer::of(&report)))
        }),
        case("conclude/compare", || {
            let report = report(16);
            Box::new(move || {
                let found = compare([&report; 2], &Options::default());
                keep(found.unwrap_or_else(|_| unreachable!("they are of one plan")).totals)
            })
        }),
        case("conclude/page", || {
            let report = report(16);
            Box::new(move || keep(whole(&report)))
        }),
    ];
    // A bitmap is another library's work, and takes an emulator half a minute.
    let shown = FORMATS.iter().filter(|format| !matches!(format.write, Draw::Binary(_)));
    cases.extend(shown.map(|format| showing(format.name, format.write)));
    charz_benches::cases::run(&cases);
}

/// What a format takes beyond the page that it draws.
fn showing(name: &'static str, draw: Draw) -> Case {
    case(format!("show/{name}"), move || {
        let report = report(16);
        let page = whole(&report);
        let look = TerminalStyle::PLAIN;
        Box::new(move || {
            let mut out = Vec::new();
            match draw {
                Draw::Report(write) => write(&report, &look, &mut out),
                Draw::Record(write) | Draw::Program(write) => write(&report, &mut out),
                Draw::Rows(write) => write(&[&report], &mut out),
                Draw::Page(write) => write(&page, &look, &mut out),
                Draw::Figure(write) => page.figures().try_for_each(|figure| write(figure, &mut out)),
                Draw::Binary(_) => Ok(()),
            }
            .expect("memory takes it");
            keep(out);
        })
    })
}

fn whole(report: &Report) -> Page {
    page(&[Source { name: "a", report }])
}

/// A sweep of twelve kernels with 1 to `most` workers under three mappings, on as many strands, that nothing measured.
fn report(most: u32) -> Report {
    let workers = || (0..).map(|power| 1 << power).take_while(|&workers| workers <= most);
    let kernels = || (0..12).map(|number| format!("kernel-{number}"));
    let cell = |kernel: &str, workers: u32, mapping: &str| {
        let seats: Vec<u32> = (0..workers).collect();
        fixtures::cell(kernel, workers.into(), Unit::OpsPerSecond, 1e9).under(mapping).seated(&seats)
    };
    let of = |kernel: String| {
        ["rr", "dumb", "auto"]
            .map(|mapping| workers().map(|workers| cell(&kernel, workers, mapping)).collect::<Vec<_>>())
    };
    fixtures::report(kernels().flat_map(of).flatten().collect())
}
