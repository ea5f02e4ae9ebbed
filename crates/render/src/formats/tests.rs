//! Properties of every format, for any report.

use serde_json::Value;

use super::*;
use charz_analysis::page::{Source, page};
use charz_data::escape;
use charz_data::report::fixtures;
use charz_data::report::fixtures::{cell, pairs};
use charz_data::report::{Cell, Culprit, CulpritKind, Evidence, Measured, Severity, Status, Unit, with_derived};
use charz_data::{Better, COMMAND, Program, ProgramValue, ReportedUnit};
use charz_estimate::fixtures::report as synthetic;

#[track_caller]
pub(crate) fn written(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// A report as it was written, of 16 cells under three mappings.
pub(crate) fn golden() -> Report {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/reports/waits.json");
    with_derived(&std::fs::read(file).unwrap()).unwrap()
}

/// Cells of every kind that is drawn, sound, suspect, invalid and not measured.
pub(crate) fn everything() -> Report {
    let rate = |mapping: &str, workers: u64, value: f64| {
        cell("mem-read", workers, Unit::BytesPerSecond, value * 1e9).under(mapping)
    };
    let mut cells = Vec::new();
    for (workers, [compact, spread, auto]) in [
        (1, [9.0, 9.1, 8.8]),
        (2, [14.0, 17.5, 15.0]),
        (4, [20.0, 31.0, 25.0]),
        (8, [38.0, 38.5, 36.0]),
        (16, [37.0, 38.0, 35.0]),
    ] {
        cells.extend([
            rate("dumb", workers, compact),
            rate("round-robin", workers, spread),
            rate("auto", workers, auto),
        ]);
    }
    cells[4] = cells[4].clone().suspect();
    cells[8] = cells[8].clone().invalid();
    let kind = CulpritKind::Process;
    let sh = Culprit { kind, name: "sh".into(), pid: Some(7), uid: Some(0), others: 0, cpu_ns: 90, time_ns: 100 };
    cells[4].invocations[0].evidence =
        Some(Evidence { culprits: vec![sh], looked_ns: Some(100), ..Evidence::default() });
    cells[12] = cells[12].clone().unmeasured(Status::Pending, "");
    for (octave, time) in
        (12..=28).zip([1.1, 1.1, 1.1, 1.1, 4.0, 4.1, 4.1, 4.3, 5.0, 14.0, 18.0, 19.0, 20.0, 45.0, 90.0, 101.0, 104.0])
    {
        let one = cell("chase-random", 1, Unit::NanosecondsPerStep, time).sized(1 << octave).seated(&[0]);
        cells.push(if octave == 20 { one.suspect() } else { one });
    }
    let distance =
        |home: u32, other: u32| 40.0 + 60.0 * f64::from(u8::from(home / 4 != other / 4)) + f64::from(home + other);
    let mut all = pairs("c2c-cas", 8, distance);
    all[5] = all[5].clone().suspect();
    all[9] = all[9].clone().invalid();
    cells.extend(all);
    let times: Vec<(u64, u64)> = (0..2000_u64)
        .map(|at| if at % 10 < 9 { (1000 + at, 4000 + at % 700) } else { (5000 + at, 500 + at % 90) })
        .collect();
    cells.push(cell("signal", 2, Unit::NanosecondsSampled, 4400.0).under("pair:core").timed(&times).marked(
        "V13",
        Severity::Suspect,
        "spread",
    ));
    cells.push(cell("sleep", 1, Unit::NanosecondsSampled, 1e6).timed(&times));
    cells.push(cell("page-touch", 1, Unit::MillisecondsPerGib, 212.0));
    cells.push(cell("clock-read", 1, Unit::NanosecondsPerOp, 21.0).suspect());
    cells.push(cell("spawn", 1, Unit::NanosecondsPerOp, 11_000.0));
    fixtures::report(cells)
}

/// What no reader of any format should take for anything but text.
pub(crate) const EVIL: &str = "=1+1|\"></title></script><script>alert(1)</script><img src=x onerror=x>\
    `*_[x](javascript:x)@all $x$ #1 ![i](http://x) www.x.y ~~\\ \"'\n\r\n# x\t\u{1b}[2J\u{9b}2J\u{7}\u{8}\0\
    \u{202e}\u{2066}\u{2028}\u{200b}\u{fffe}{{x}} '--></style> onload=x &lt; <!-- ]]> var(--s1,#0072b2)";

pub(crate) fn hostile() -> Report {
    spoiled(&everything(), EVIL)
}

/// The same report with evil in front of every string that may be any.
pub(crate) fn spoiled(report: &Report, evil: &str) -> Report {
    /// Fields whose words are known ones, which a reader would refuse, and a date.
    const KNOWN: &str = "status unit estimator ending severity kind stopped_by pages memory layout period class process started alu holds";
    fn spoil(value: &mut Value, key: &str, evil: &str) {
        match value {
            // How the names of kernels of pairs begin decides how they are drawn.
            Value::String(text) if text.starts_with("c2c-") => text.push_str(evil),
            Value::String(text) if !KNOWN.split(' ').any(|known| known == key) => text.insert_str(0, evil),
            Value::Array(list) => list.iter_mut().for_each(|item| spoil(item, key, evil)),
            Value::Object(fields) => {
                // What a card says in words of its own types.
                let of_types = |key: &str, value: &Value| {
                    matches!(key, "family" | "role" | "workers") || (key == "metric" && value.is_string())
                };
                let texts = fields.iter_mut().filter(|(key, value)| !of_types(key, value));
                texts.for_each(|(key, value)| spoil(value, key, evil));
            }
            _ => {}
        }
    }
    let mut value = serde_json::to_value(report).unwrap();
    spoil(&mut value, "", evil);
    let mut report: Report = serde_json::from_value(value).unwrap();
    report.started = evil.into();
    report
}

/// Text that a format wrote, of one report or its only figure; nothing where it is no text, or there is no figure.
fn shown(format: &Format, report: &Report, look: &TerminalStyle) -> Option<String> {
    let page = || page(&[Source { name: EVIL, report }]);
    match format.write {
        Draw::Report(write) => Some(written(|out| write(report, look, out))),
        Draw::Record(write) | Draw::Program(write) => Some(written(|out| write(report, out))),
        Draw::Rows(write) => Some(written(|out| write(&[report], out))),
        Draw::Page(write) => Some(written(|out| write(&page(), look, out))),
        Draw::Figure(write) => page().figures().next().map(|figure| written(|out| write(figure, out))),
        Draw::Binary(_) => None,
    }
}

/// Without the escapes for colours and bold letters.
pub(crate) fn without_colours(text: &str) -> String {
    let mut bare = String::new();
    for (at, part) in text.split("\u{1b}[").enumerate() {
        match part.split_once('m').filter(|(codes, _)| codes.bytes().all(|byte| byte.is_ascii_digit() || byte == b';'))
        {
            Some((_, rest)) if at > 0 => bare += rest,
            _ if at > 0 => panic!("an escape that is no colour: {part:?}"),
            _ => bare += part,
        }
    }
    bare
}

#[track_caller]
pub(crate) fn assert_inert(name: &str, text: &str) {
    // CSV ends its lines as RFC 4180 has it, or as Unix does.
    let odd = text.chars().find(|&mark| mark != '\n' && !escape::is_harmless(mark));
    assert_eq!(odd, None, "{name} has a mark that can steer a terminal");
    if name != "json" {
        assert!(!text.contains("NaN") && !text.contains(" inf"), "{name}: {text}");
    }
}

#[test]
fn no_format_of_a_hostile_report_steers_anything() {
    let report = hostile();
    let looks = [
        TerminalStyle::PLAIN,
        TerminalStyle { colour: true, ..TerminalStyle::PLAIN },
        TerminalStyle { columns: 40, unicode: false, ..TerminalStyle::PLAIN },
    ];
    for format in FORMATS {
        let has_looks = matches!(format.write, Draw::Report(_) | Draw::Page(_));
        for look in &looks[..if has_looks { looks.len() } else { 1 }] {
            let Some(text) = shown(format, &report, look) else { continue };
            let bare = if look.colour { without_colours(&text) } else { text };
            assert_inert(format.name, &bare);
            if !look.unicode && matches!(format.write, Draw::Report(_)) {
                assert!(bare.is_ascii(), "{:?}", bare.chars().find(|mark| !mark.is_ascii()));
            }
        }
    }
}

#[test]
fn no_field_of_a_table_is_a_formula() {
    let mut report = hostile();
    report.cells[0].unit = Unit::Reported(ReportedUnit::new("=1+1", Better::Lower).unwrap());
    for format in FORMATS.iter().filter(|format| format.name.ends_with("csv")) {
        let text = shown(format, &report, &TerminalStyle::PLAIN).unwrap();
        let mut rows = ::csv::Reader::from_reader(text.as_bytes());
        for row in rows.records().map(Result::unwrap) {
            let formula = row.iter().find(|field| field.starts_with(['=', '+', '@', '\t']));
            assert_eq!(formula, None, "{}", format.name);
            let minus = row.iter().find(|field| field.starts_with('-') && field.parse::<f64>().is_err());
            assert_eq!(minus, None, "{}", format.name);
        }
    }
}

#[test]
fn data_for_programs_is_what_it_claims() {
    let report = hostile();
    for name in ["json", "bmf", "bigger-is-better", "smaller-is-better", "hyperfine"] {
        let format = FORMATS.iter().find(|format| format.name == name).unwrap();
        let text = shown(format, &report, &TerminalStyle::PLAIN).unwrap();
        assert!(serde_json::from_str::<Value>(&text).is_ok(), "{name}: {text}");
    }
}

/// Reports with extreme contents.
fn edges() -> Vec<(&'static str, Report)> {
    let with = |change: fn(&mut Report)| {
        let mut report = everything();
        change(&mut report);
        report
    };
    fn times(cell: &mut Cell, by: f64) {
        cell.capacity = cell.capacity.map(|number| Measured { value: number.value * by, interval: None });
    }
    vec![
        ("everything", everything()),
        ("nothing", with(|report| report.cells.clear())),
        (
            "neither cells nor strands",
            with(|report| {
                report.cells.clear();
                report.machine.strands.clear();
                report.plan.kernels.clear();
            }),
        ),
        ("a single cell", with(|report| report.cells.truncate(1))),
        ("all the same", with(|report| report.cells.iter_mut().for_each(|cell| times(cell, 0.0)))),
        (
            "far apart",
            with(|report| {
                for (at, cell) in report.cells.iter_mut().enumerate() {
                    times(cell, 10_f64.powi(at as i32 * 3 - 140));
                    cell.workers = 1 << (at % 60);
                }
            }),
        ),
        ("512 strands", with(|report| report.machine = synthetic("Package:4 Core:16 Group:2 PU:4").machine)),
    ]
}

#[test]
fn every_format_takes_every_report() {
    for (what, report) in edges() {
        // Pages and pictures for browsers have such tests of their own.
        for format in FORMATS.iter().filter(|format| !["html", "svg"].contains(&format.name)) {
            // Only text for a terminal knows how wide it is.
            let columns: &[usize] = if matches!(format.write, Draw::Report(_)) { &[0, 40, 300] } else { &[100] };
            for &columns in columns {
                let look = TerminalStyle { columns, tables: columns, colour: columns == 100, unicode: columns != 40 };
                if let Some(text) = shown(format, &report, &look) {
                    assert_inert(format.name, &without_colours(&text));
                    assert!(text.ends_with('\n') || text.is_empty(), "{} of {what}", format.name);
                }
            }
        }
    }
}

/// The names of the series of a report of this program, as each export has them.
fn series(command: &str, symbol: &str, value: ProgramValue) -> [Vec<String>; 4] {
    let unit = ReportedUnit::new(symbol, Better::Lower).unwrap();
    let mut report = fixtures::report(vec![cell(COMMAND, 1, Unit::Reported(unit), 7.0)]);
    report.plan.program = Some(Program::new(command, value, unit));
    let text = |name: &str| {
        let format = FORMATS.iter().find(|format| format.name == name).unwrap();
        written(|out| format.write(&report, &TerminalStyle::PLAIN, out))
    };
    let benchmarks: Value = serde_json::from_str(&text("bmf")).unwrap();
    let columns = |text: String| {
        let mut rows = ::csv::Reader::from_reader(text.as_bytes());
        let headers = rows.headers().unwrap().clone();
        let wanted = |name: &str| ["kernel", "unit", "command", "command_value"].contains(&name);
        let key = |row: ::csv::StringRecord| {
            headers.iter().zip(&row).filter(|(name, _)| wanted(name)).map(|(_, field)| format!("{field}|")).collect()
        };
        let mut keys = rows.records().map(|row| key(row.unwrap())).collect::<Vec<String>>();
        keys.dedup();
        keys
    };
    let metrics = text("openmetrics");
    let samples = metrics.lines().filter(|line| line.starts_with("charz_reported{"));
    [
        benchmarks.as_object().unwrap().keys().cloned().collect(),
        columns(text("csv")),
        columns(text("runs-csv")),
        samples.map(str::to_owned).collect(),
    ]
}

#[test]
fn two_programs_or_units_share_no_series() {
    let long = "x".repeat(2000);
    let regex = ProgramValue::Regex("(7)".into());
    let last = || ProgramValue::Last;
    let one = series("sleep 0.1", "ms", last());
    assert!(one.iter().all(|names| names.len() == 1), "{one:?}");
    for other in [
        series("sleep 0.2", "ms", last()),
        series("sleep 0.1", "s", last()),
        series("sleep 0.1", "ms", regex),
        series(&format!("{long}a"), "ms", last()),
        series(&format!("{long}b"), "ms", last()),
    ] {
        assert!(one.iter().zip(&other).all(|(one, other)| one != other), "{one:?} {other:?}");
    }
    let [a, b] = ["a", "b"].map(|end| series(&format!("{long}{end}"), "ms", last()));
    assert!(a.iter().zip(&b).all(|(a, b)| a != b) && a[0][0].chars().count() <= 1024, "{a:?}");
}
