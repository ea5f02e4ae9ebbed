//! Reports with synthetic cells, as people see them.

use std::io::Write;

use crate::formats::tests::written;
use crate::formats::{FORMATS, ReportWriter};
use crate::look::TerminalStyle;
use charz_data::report::{
    Cell, Distribution, Ending, Energy, Evidence, Frequency, Hardware, Invocation, Measured, Peak, Report, Shape,
    Sharing, Unit, fixtures,
};

/// A cell with this number and no interval.
fn cell(kernel: &str, mapping: &str, workers: u64, unit: Unit, value: f64) -> Cell {
    fixtures::cell(kernel, workers, unit, value).under(mapping).without_interval()
}

/// What workers cost each other.
fn sharing(wait_share: Option<f64>) -> Sharing {
    Sharing { attempts_per_success: 1.5, waited: 0.25, wait_share, fairness: 0.8, most_to_least: None }
}

/// Pairs of which nine in ten are around (1000, 4000) and the others around (5000, 500).
fn distribution() -> Distribution {
    let pairs = (0_u64..1000).map(|at| if at % 10 < 9 { (1000 + at, 4000 + at) } else { (5000 + at, 500) });
    let shape = |p50: f64, peaks: &[Peak]| Shape {
        p50_ns: Some(p50),
        p90_ns: Some(p50 * 2.0),
        p99_ns: Some(p50 * 3.0),
        p999_ns: None,
        p9999_ns: None,
        peaks: peaks.to_vec(),
    };
    let peak = Peak { low_ns: 4000.0, high_ns: 5000.0, mode_ns: 4500.0, share: 0.9 };
    Distribution {
        samples: pairs.collect(),
        first: shape(1500.0, &[]),
        second: shape(4400.0, &[peak]),
        second_shorter: 0.1,
    }
}

fn shown(format: &str, cells: Vec<Cell>) -> String {
    shown_of(format, &fixtures::report(cells))
}

fn shown_of(format: &str, report: &Report) -> String {
    let format = FORMATS.iter().find(|known| known.name == format).unwrap();
    written(|out| format.write(report, &TerminalStyle::PLAIN, out))
}

fn sampled() -> Cell {
    Cell { distribution: Some(distribution()), ..cell("signal", "pair:core", 2, Unit::NanosecondsSampled, 4400.0) }
}

#[track_caller]
fn check(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "{word:?} is not in\n{text}");
    }
}

/// What the invocation of a cell saw of its cores.
fn at(before_hz: f64, highest_hz: f64, drift: f64) -> Cell {
    let frequency = Frequency { before_hz, after_hz: before_hz, highest_hz, drift };
    let evidence = Evidence { frequency: Some(frequency), ..Evidence::default() };
    let invocation = Invocation { evidence: Some(evidence), ..fixtures::barren(Ending::Done) };
    Cell { invocations: vec![invocation], ..sampled() }
}

#[test]
fn cycles_are_told_where_the_frequency_is_known_and_steady() {
    let shown = |cells| shown("table", cells);
    check(&shown(vec![at(3e9, 3e9, 0.0)]), &["4.50 k", "13.2 k"]);
    for unsteady in [at(3e9, 3e9, 0.05), at(3e9, 3.3e9, 0.0), at(0.0, 0.0, 0.0), sampled()] {
        let text = shown(vec![unsteady]);
        assert!(!text.contains("cycles"), "{text}");
    }
}

/// The best of the source: 12761.94 MIPS of 38400, with counters that took turns and cost 2%.
const HARDWARE: Hardware = Hardware {
    invocations: 6,
    mips: Some(12761.94),
    cpi: Some(0.8),
    instructions_per_op: Some(2.25),
    peak_mips: Some(38400.0),
    efficiency: Some(12761.94 / 38400.0),
    branch_miss_share: Some(0.125),
    cache_miss_share: Some(0.55),
    l1d_miss_share: None,
    running_share: 0.75,
    cost: Some(Measured { value: 0.02, interval: None }),
};

/// A column of a table in CSV; one that is left out has empty fields.
fn column(text: &str, name: &str) -> Vec<String> {
    let mut rows = csv::Reader::from_reader(text.as_bytes());
    let at = rows.headers().unwrap().iter().position(|header| header == name);
    let field = |row: csv::StringRecord| at.map(|at| row[at].to_owned()).unwrap_or_default();
    rows.records().map(|row| field(row.unwrap())).collect()
}

#[test]
fn hardware_counters_have_columns() {
    let counted = cell("arith-int", "rr", 2, Unit::OpsPerSecond, 1e9).counted(HARDWARE);
    let csv = shown("csv", vec![counted.clone(), cell("arith-int", "auto", 2, Unit::OpsPerSecond, 1e9)]);
    let of = |name: &str| column(&csv, name);
    assert_eq!([of("mips"), of("cpi"), of("ipc")], [["12761.94", ""], ["0.8", ""], ["1.25", ""]]);
    assert_eq!([of("l1d_miss_share"), of("counter_cost")], [["", ""], ["0.02", ""]]);
    let text = shown("table", vec![counted.suspect()]);
    check(&text, &["12762~", "33.2%~"]);
    assert!(!text.contains("L1d misses"), "no column of what was not counted");
}

#[test]
fn energy_is_told_where_it_is_counted() {
    let mut cells =
        vec![cell("arith-int", "rr", 2, Unit::OpsPerSecond, 1e9), cell("mem-read", "rr", 2, Unit::BytesPerSecond, 1e9)];
    cells[0].energy = Some(Energy { watts: vec![80.0, 20.0], joules: Some(5.2e-10) });
    cells[1].energy = Some(Energy { watts: vec![100.0, 20.0], joules: Some(3e-11) });
    check(
        &shown("summary", cells.clone()),
        &["Energy", "100 W to 120 W", "arith-int 520 pJ per operation (rr x2)", "30.0 pJ per byte"],
    );
    let text = shown("csv", cells);
    assert_eq!([column(&text, "watts")[0].as_str(), &column(&text, "joules")[0]], ["100", "0.00000000052"]);
    assert!(!shown("summary", vec![cell("arith-int", "rr", 2, Unit::OpsPerSecond, 1e9)]).contains("Energy"));
}

#[test]
fn without_counters_there_is_a_reason_and_no_zero() {
    let mut report = fixtures::report(vec![cell("arith-int", "rr", 2, Unit::OpsPerSecond, 1e9)]);
    assert!(!shown_of("summary", &report).contains("ounters"));
    report.plan.counters = true;
    let evidence = Evidence { no_counters: Some("the test has none".into()), ..Evidence::default() };
    report.cells[0].invocations[3].evidence = Some(evidence);
    for text in [shown_of("table", &report), shown_of("summary", &report)] {
        check(&text, &["no counters here: the test has none"]);
        assert!(!text.contains("MIPS"), "{text}");
    }
}

#[test]
fn what_lies_behind_suspect_cells_carries_their_mark() {
    let suspect = at(3e9, 3e9, 0.0).contention(sharing(Some(0.5))).suspect();
    let times = ["1.50 µs~", "13.2 µs~", "10.0%~", "4.50 k~", "90.0% within 4.00 µs to 5.00 µs~"];
    let shared = ["1.50~", "25.0%~", "50.0%~", "0.800~", "one starved~"];
    check(&shown("table", vec![suspect]), &[times, shared].concat());
}

#[test]
fn percentiles_are_in_the_csv() {
    let text = shown("csv", vec![sampled(), cell("mem-read", "rr", 2, Unit::BytesPerSecond, 1e9)]);
    assert_eq!(column(&text, "second_p50_ns"), ["4400", ""]);
    assert_eq!(column(&text, "first_p999_ns"), ["", ""]);
    assert_eq!(column(&text, "samples"), ["1000", ""]);
    let mut far = sampled();
    far.point.memory = Some(charz_data::report::MemoryHome::Node(3));
    assert_eq!(column(&shown("csv", vec![far]), "memory"), ["node:3"]);
}

#[test]
fn rows_of_several_reports_say_which_they_are_of() {
    let of_host = |host: &str, value| {
        let mut report = fixtures::report(vec![cell("mem-read", "rr", 2, Unit::BytesPerSecond, value)]);
        report.host.name = Some(host.into());
        report.host.processor = Some("=Model, 3 \"GHz\"".into());
        report.id = format!("id-{host}");
        report
    };
    let reports = [of_host("one", 1e9), of_host("two", 2e9)];
    let runs: usize = reports.iter().flat_map(|report| &report.cells).map(|cell| cell.invocations.len()).sum();
    assert!(runs > 2);
    for (write, count) in
        [(super::csv::write as fn(&[&Report], &mut dyn Write) -> _, 2), (super::csv::write_runs, runs)]
    {
        let text = written(|out| write(&reports.each_ref(), out));
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let headers = reader.headers().unwrap().clone();
        assert_eq!(headers.iter().take(5).collect::<Vec<_>>(), ["host", "cpu", "started", "report", "kernel"]);
        let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
        assert_eq!(rows.len(), count);
        let hosts: Vec<(&str, &str)> = rows.iter().map(|row| (&row[0], &row[3])).collect();
        assert!(hosts.contains(&("one", "id-one")) && hosts.contains(&("two", "id-two")), "{hosts:?}");
        assert!(rows.iter().all(|row| &row[1] == "'=Model, 3 \"GHz\""));
    }
}
