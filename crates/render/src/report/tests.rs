//! Reports with synthetic cells, as people see them.

use std::io::Write;

use crate::formats::tests::written;
use crate::formats::{FORMATS, ReportWriter};
use crate::look::TerminalStyle;
use charz_analysis::page::{Source, page};
use charz_data::report::{
    Cell, Distribution, Ending, Energy, Evidence, Frequency, Growth, GrowthStep, Halt, Hardware, Invocation, Measured,
    Peak, Report, Shape, Sharing, Unit, fixtures,
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

#[test]
fn a_kernel_has_columns_for_its_own_mappings_only() {
    let text = shown("table", vec![sampled(), cell("mem-read", "rr", 2, Unit::BytesPerSecond, 1e9)]);
    let headings: Vec<&str> = text.lines().filter(|line| line.starts_with("threads  ")).collect();
    assert_eq!(headings, ["threads  pair:core", "threads         rr"]);
}

#[test]
fn times_have_percentiles_and_bands_and_no_empty_columns() {
    let text = shown("table", vec![sampled()]);
    check(&text, &["1.50 µs", "4.40 µs", "13.2 µs", "10.0%", "90% within 4.00 µs to 5.00 µs"]);
    let heading = text.lines().find(|line| line.contains("p50")).unwrap();
    let columns: Vec<&str> = heading.split_whitespace().collect();
    assert_eq!(columns, ["mapping", "threads", "time", "p50", "p99", "second", "<", "first", "modes"]);
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
    check(&shown(vec![at(3e9, 3e9, 0.0)]), &["4.50 k", "13.2 k", "dependent multiplications"]);
    for unsteady in [at(3e9, 3e9, 0.05), at(3e9, 3.3e9, 0.0), at(0.0, 0.0, 0.0), sampled()] {
        let text = shown(vec![unsteady]);
        assert!(!text.contains("cycles"), "{text}");
    }
}

#[test]
fn what_workers_cost_each_other_has_a_table() {
    let cell = |workers| cell("pool-tas", "rr", workers, Unit::OpsPerSecond, 1e6).contention(sharing(None));
    let text = shown("table", vec![cell(1), cell(2)]);
    check(&text, &["attempts per success", "1.50   25.0%", "0.800", "one starved"]);
    assert_eq!(text.matches("1.50").count(), 1, "a worker alone shares nothing:\n{text}");
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

/// All that shows every number of a report to people.
fn tables_and_pages(report: &Report) -> [String; 3] {
    let page = page(&[Source { name: "a", report }]);
    [
        shown_of("table", report),
        written(|out| crate::html::write(&page, &TerminalStyle::PLAIN, out)),
        written(|out| crate::markdown::write(&page, &TerminalStyle::PLAIN, out)),
    ]
}

#[test]
fn hardware_counters_have_a_table_a_figure_and_columns() {
    let counted = |workers| cell("arith-int", "rr", workers, Unit::OpsPerSecond, 1e9).counted(HARDWARE);
    let cells = vec![counted(2), counted(8), cell("arith-int", "auto", 2, Unit::OpsPerSecond, 1e9)];
    for text in tables_and_pages(&fixtures::report(cells.clone())) {
        check(&text, &["12762", "0.80", "1.25", "33.2%", "12.5%", "55.0%", "75.0%", "2.0%"]);
    }
    assert!(!shown("table", cells.clone()).contains("L1d misses"), "no column of what was not counted");
    check(&shown("summary", cells.clone()), &["Counters", "1.25 instructions per cycle; the counters cost up to 2.0%"]);
    let csv = shown("csv", cells.clone());
    let mut rows = csv::Reader::from_reader(csv.as_bytes());
    let heading = rows.headers().unwrap().clone();
    let rows: Vec<csv::StringRecord> = rows.records().map(Result::unwrap).collect();
    let field = |row: usize, name: &str| rows[row][heading.iter().position(|known| known == name).unwrap()].to_owned();
    assert_eq!([field(0, "mips"), field(0, "cpi"), field(0, "ipc")], ["12761.94", "0.8", "1.25"]);
    assert_eq!([field(0, "l1d_miss_share"), field(2, "mips"), field(2, "counter_cost")], ["", "", ""]);
    let suspect = cells.into_iter().map(|cell| cell.suspect()).collect();
    check(&shown("table", suspect), &["12762~", "33.2%~"]);
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
    check(
        &tables_and_pages(&fixtures::report(cells.clone()))[1],
        &["power of the packages", "80.0 W + 20.0 W, 520 pJ per operation"],
    );
    let text = shown("csv", cells);
    let mut rows = csv::Reader::from_reader(text.as_bytes());
    let at = rows.headers().unwrap().iter().position(|name| name == "watts").unwrap();
    let first = rows.records().next().unwrap().unwrap();
    assert_eq!([&first[at], &first[at + 1]].map(|field| field.parse::<f64>().unwrap()), [100.0, 5.2e-10]);
    assert!(!shown("summary", vec![cell("arith-int", "rr", 2, Unit::OpsPerSecond, 1e9)]).contains("Energy"));
}

#[test]
fn without_counters_there_is_a_reason_and_no_zero() {
    let mut report = fixtures::report(vec![cell("arith-int", "rr", 2, Unit::OpsPerSecond, 1e9)]);
    assert!(!shown_of("summary", &report).contains("ounters"));
    report.plan.counters = true;
    let evidence = Evidence { no_counters: Some("the test has none".into()), ..Evidence::default() };
    report.cells[0].invocations[3].evidence = Some(evidence);
    for text in tables_and_pages(&report).into_iter().chain([shown_of("summary", &report)]) {
        check(&text, &["no counters here: the test has none"]);
        assert!(!text.contains("MIPS"), "{text}");
    }
}

/// The same under two sizes of a block.
fn at_two_sizes(cell: Cell) -> Vec<Cell> {
    [64 << 10, 1 << 20].map(|size| cell.clone().sized(size)).to_vec()
}

#[test]
fn what_lies_behind_cells_says_at_which_point_they_are() {
    let text = shown("table", at_two_sizes(sampled()));
    let rows: Vec<&str> = text.lines().filter(|line| line.contains("pair:core") && line.contains(" first ")).collect();
    assert!(rows.len() == 2 && rows[0].starts_with("64 KiB") && rows[1].starts_with("1 MiB"), "{text}");
    let shared = cell("pool-tas", "rr", 2, Unit::OpsPerSecond, 1e6).contention(sharing(None));
    let text = shown("table", at_two_sizes(shared));
    let rows: Vec<&str> = text.lines().filter(|line| line.contains("25.0%")).collect();
    assert!(rows.len() == 2 && rows[0].starts_with("64 KiB") && rows[1].starts_with("1 MiB"), "{text}");
}

#[test]
fn what_lies_behind_suspect_cells_carries_their_mark() {
    let suspect = at(3e9, 3e9, 0.0).contention(sharing(Some(0.5))).suspect();
    let times = ["1.50 µs~", "13.2 µs~", "10.0%~", "4.50 k~", "90% within 4.00 µs to 5.00 µs~"];
    let shared = ["1.50~", "25.0%~", "50.0%~", "0.800~", "one starved~"];
    check(&shown("table", vec![suspect]), &[times, shared].concat());
}

#[test]
fn the_best_mapping_is_that_of_a_point() {
    let rate = |mapping, size, rate| cell("mem-read", mapping, 2, Unit::BytesPerSecond, rate).sized(size);
    let cells = vec![
        rate("rr", 4096, 9e9),
        rate("rr", 8192, 1e9),
        rate("auto", 4096, 6e9),
        rate("auto", 8192, 2e9),
        rate("rr", 64, 1e9),
    ];
    let text = shown("table", cells);
    let placement = text.lines().skip_while(|line| *line != "BEST PLACEMENT");
    let text = placement.collect::<Vec<_>>().join("\n").replace("\n  ", " ");
    let rows: Vec<&str> = text.lines().filter(|line| line.trim_start_matches("- ").starts_with("mem-read ")).collect();
    assert_eq!(rows.len(), 2, "one size has one mapping:\n{text}");
    check(rows[0], &["mem-read 4 KiB", "rr", "9.00 GB/s", "loses 33.3%"]);
    check(rows[1], &["mem-read 8 KiB", "auto", "2.00 GB/s", "gains 100.0%"]);
}

#[test]
fn a_verdict_from_suspect_numbers_carries_its_mark() {
    let rate = |mapping, workers, rate| cell("mem-read", mapping, workers, Unit::BytesPerSecond, rate);
    let row_on = |cpus, cells: Vec<Cell>| {
        let text = shown_of("table", &fixtures::report(cells).on(cpus));
        let mut placement = text.lines().skip_while(|line| *line != "BEST PLACEMENT");
        let row = placement.find(|line| line.starts_with("mem-read ")).unwrap();
        row.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let row = |cells| row_on(2, cells);
    let cells = || vec![rate("rr", 1, 4e9), rate("rr", 2, 9e9), rate("rr", 4, 9e9), rate("auto", 2, 6e9)];
    assert_eq!(row(cells()), "mem-read rr 2 9.00 GB/s 2~ loses 33.3% (too few runs)");
    let auto = [cells()[..3].to_vec(), vec![rate("auto", 2, 6e9).suspect()]].concat();
    assert_eq!(row(auto), "mem-read rr 2 9.00 GB/s 2~ loses 33.3%~ (too few runs)");
    let better = [cells(), vec![rate("dumb", 2, 20e9).suspect()]].concat();
    assert_eq!(row(better), "mem-read dumb~ 2 20.0 GB/s~ 2~ loses 70.0%~ (too few runs)");
    let all: Vec<Cell> = cells().into_iter().map(Cell::suspect).collect();
    assert_eq!(row(all), "mem-read rr~ 2 9.00 GB/s~ 2~ loses 33.3%~ (too few runs)");
    let rising = vec![rate("rr", 1, 4e9), rate("rr", 2, 9e9)];
    assert_eq!(row(rising.clone()), "mem-read - 2 9.00 GB/s 2~ –");
    assert_eq!(row_on(4, rising), "mem-read - 2 9.00 GB/s 2, still rising~ –");
}

#[test]
fn the_best_time_is_the_shortest() {
    let time = |mapping, time| cell("signal", mapping, 2, Unit::NanosecondsSampled, time);
    let text = shown("table", vec![time("rr", 9e3), time("auto", 6e3), time("pair:core", 3e3)]);
    let mut placement = text.lines().skip_while(|line| *line != "BEST PLACEMENT");
    let row = placement.find(|line| line.starts_with("signal  ")).unwrap();
    check(row, &["pair:core", "3.00 µs", " - ", "takes 100.0% longer"]);
}

#[test]
fn findings_are_drawn_when_shown() {
    let ring = |workers, hop| cell("ring-mutex", "rr", workers, Unit::NanosecondsPerOp, hop);
    check(
        &shown("table", vec![ring(2, 400.0), ring(600, 6000.0)]),
        &["FINDINGS", "cliff      ring-mutex rr: oversubscription cliff at 600"],
    );
}

#[test]
fn percentiles_are_in_the_csv() {
    let column = |text: &str, name: &str| -> Vec<String> {
        let mut rows = csv::Reader::from_reader(text.as_bytes());
        let at = rows.headers().unwrap().iter().position(|header| header == name).unwrap();
        rows.records().map(|row| row.unwrap()[at].to_owned()).collect()
    };
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

#[test]
fn squares_of_pairs_and_of_nodes_follow_the_tables() {
    let nodes = shown_of("table", &charz_estimate::fixtures::two());
    check(&nodes, &["NUMA nodes: latency", "160", "40~", "1.60 times as long as local: 160 ns against 100 ns"]);
    let pairs = shown_of("table", &crate::formats::tests::everything());
    check(&pairs, &["c2c-cas: from CPU to CPU", "home", "(median of "]);
    assert!(!pairs.contains('\u{1b}'), "no colours were asked for");
}

#[test]
fn growth_has_a_row_for_each_size() {
    let step = |size, time_ns| GrowthStep {
        size,
        time_ns,
        activities: 15,
        threads: 2,
        inlined: 13,
        attempts: 14,
        failures: 7,
        ..GrowthStep::default()
    };
    let growth = Growth::new(vec![step(3, 1000), step(4, 2_000_000)], Halt::Sizes);
    let mut grown = cell("fibonacci", "rr", 2, Unit::NanosecondsPerOp, 1e3).suspect();
    grown.invocations[0].runs[0].growth = Some(Box::new(growth));
    let text = shown("table", vec![grown]);
    check(&text, &["done inline", "1.00 µs~", "2.00 ms~"]);
}
