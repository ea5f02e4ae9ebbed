//! Reports, which may come from anybody.

use std::borrow::Cow;

use charz::parsers;
use charz_analysis::page::Source;
use charz_claims::compare;
use charz_data::escape::one_line;
use charz_data::report::Report;
use charz_judge::JudgeContext;
use charz_render::compare::Compared;
use charz_render::formats::{FORMATS, Format, ReportWriter};
use charz_render::look::TerminalStyle;

use super::{assert_harmless, assert_readable};

/// The report in every format, JSON first.
fn shown(report: &Report) -> Vec<String> {
    let mut formats: Vec<&Format> = FORMATS.iter().filter(|format| !format.write.is_of_page()).collect();
    formats.sort_by_key(|format| format.name != "json");
    let show = |format: &&Format| {
        let mut out = Vec::new();
        format.write(report, &TerminalStyle::PLAIN, &mut out).expect("a vector takes all");
        String::from_utf8(out).expect("pages are text")
    };
    formats.iter().map(show).collect()
}

/// A report does not differ from itself, and what is said of it is as harmless as it is.
fn compared(report: &Report) {
    let options = compare::Options { allow_suspect: true, cross_build: true, ..compare::Options::default() };
    match compare::compare([report; 2], &options) {
        Err(refusal) => assert_harmless(&one_line(&charz_words::compare::refusal(&refusal, None))),
        Ok(comparison) => {
            assert_eq!((comparison.totals.faster, comparison.totals.slower), (0, 0), "it differs from itself");
            let reports = ["a", "b"].map(|name| Source { name, report });
            let compared = Compared { reports, comparison: &comparison, asides: &[] };
            for format in charz_render::compare::FORMATS {
                let mut out = Vec::new();
                (format.write)(&compared, &TerminalStyle::PLAIN, &mut out).expect("a vector takes all");
                assert_harmless(&String::from_utf8(out).expect("pages are text"));
            }
        }
    }
}

/// A report, of any version that is read, that is accepted can be shown in every way, survives being written and read again,
/// and is a report still when it is judged.
pub(super) fn report(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    match parsers::report(text) {
        Err(error) => assert_readable(&one_line(&error.to_string())),
        Ok(report) => {
            assert_tells(&report);
            assert_sound(report);
        }
    }
}

/// What is recovered from a journal, however damaged, makes a report as good as any.
pub(super) fn journal(data: &[u8]) {
    match parsers::journal(data) {
        Err(error) => assert_readable(&one_line(&error.to_string())),
        Ok((report, lost)) => {
            lost.iter().for_each(|sentence| assert_readable(&one_line(sentence)));
            // A resume refuses kernels that it does not have, and judges all else before it is told.
            if report.floor.iter().chain(&report.cells).all(|cell| charz_workloads::find(&cell.kernel).is_some()) {
                assert_sound(report);
            }
        }
    }
}

/// Judges the cells of kernels that there are, on a machine of no report's.
fn judge(report: &mut Report) {
    let params = report.plan.params;
    let (timer, virtual_machine) = (report.timer.clone(), report.host.virtual_machine);
    let is_foreign = report.measured_by.is_some();
    for cell in report.floor.iter_mut().chain(&mut report.cells) {
        let Some(kernel) = charz_workloads::find(&cell.kernel) else { continue };
        let facts = JudgeContext {
            about_memory: true,
            card: Cow::Borrowed(kernel.card()),
            params,
            strands: 2,
            numa_nodes: 2,
            last_cache_bytes: Some(1 << 25),
            timer: timer.clone(),
            virtual_machine,
            quota: false,
            cpus: 2,
            cores: 2,
            shares_l2: true,
            claimed_hz: Some(3e9),
            issue_width: Some(4),
            in_copies: false,
            is_foreign,
            optimised: true,
        };
        charz_judge::judge(cell, &facts);
    }
}

#[track_caller]
fn assert_sound(mut report: Report) {
    judge(&mut report);
    assert_tells(&report);
    let once = report.clone();
    judge(&mut report);
    assert!(report == once, "judged again, it is judged otherwise");
}

#[track_caller]
fn assert_tells(report: &Report) {
    let [json, pages @ ..] = &shown(report)[..] else { panic!("JSON is a format") };
    let again = parsers::report(json).expect("what was written reads back");
    compared(report);
    assert!(again == *report, "what was written reads back as something else");
    assert_harmless(json);
    for page in pages {
        assert_harmless(page);
        for none in ["NaN", "inf"] {
            assert!(!page.contains(none) || json.contains(none), "a number that is none: {page}");
        }
    }
}
