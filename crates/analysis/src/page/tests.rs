use super::*;
use crate::figure::{Body, JointPlot, Part, Plot, Role, State, Table, What};
use charz_data::report;
use charz_data::report::Report;
use charz_data::report::fixtures;
use charz_data::report::fixtures::cell;
use charz_data::report::{
    Cell, Growth, GrowthStep, Halt, MemoryHome, PageKind, Point, Severity, Sharing, Status, Unit,
};

/// Reports that earlier versions wrote.
fn golden() -> Vec<Report> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/reports");
    ["arithmetic.json", "waits.json"]
        .map(|name| report::with_derived(&std::fs::read(format!("{folder}/{name}")).unwrap()).unwrap())
        .into()
}

/// Cells of every kind, each with a number of its own.
fn of_every_kind() -> Report {
    let mut cells = Vec::new();
    let mut number = 100.0;
    let mut next = || {
        number += 1.0;
        number
    };
    for workers in [1, 2, 4, 8] {
        for mapping in ["round-robin", "auto"] {
            cells.push(cell("mem-read", workers, Unit::BytesPerSecond, 1e9 * next()).under(mapping));
            cells.push(
                cell("pool-tas", workers, Unit::OpsPerSecond, 1e6 * next()).under(mapping).contention(shared(workers)),
            );
            cells
                .push(cell("barrier-std", workers, Unit::NanosecondsSampled, 1.0).under(mapping).timed(&times(next())));
        }
    }
    for size in [4 << 10, 64 << 10, 1 << 20, 64 << 20] {
        for pages in [PageKind::Small, PageKind::Transparent] {
            let point = Point { size_bytes: Some(size), pages: Some(pages), ..Point::default() };
            cells.push(cell("chase-random", 1, Unit::NanosecondsPerStep, next()).at(point));
        }
        cells.push(cell("level-read", 2, Unit::BytesPerSecond, 1e9 * next()).sized(size));
    }
    for delay in [0, 64, 1024] {
        let point = Point { delay: Some(delay), ..Point::default() };
        cells.push(moving(
            cell("loaded-read", 3, Unit::NanosecondsPerStep, next()).at(point),
            1_000_000 * (2000 - delay),
        ));
    }
    for node in [0, 1] {
        let point = Point { memory: Some(MemoryHome::Node(node)), ..Point::default() };
        cells.push(cell("level-copy", 1, Unit::BytesPerSecond, 1e9 * next()).at(point));
        cells.push(cell("mem-read-streams", 1, Unit::BytesPerSecond, 1e9 * next()).at(point));
    }
    cells.extend(fixtures::pairs("c2c-cas", 4, |home, other| 50.0 + f64::from(4 * home + other) / 64.0));
    cells.push(cell("c2c-exchange", 2, Unit::NanosecondsPerOp, next()).under("auto"));
    cells.push(cell("timeout-poll", 1, Unit::NanosecondsSampled, 1.0).timed(&times(next())));
    cells.push(cell("unknown-kernel", 1, Unit::MillisecondsPerGib, next()));
    cells.push(grown(cell("fft-mutex", 1, Unit::Nanoseconds, next())));
    cells.push(cell("read-tsc", 1, Unit::NanosecondsPerStep, next()).suspect());
    cells.push(cell("read-tscp", 1, Unit::NanosecondsPerStep, next()).invalid());
    cells.push(cell("mem-read", 16, Unit::BytesPerSecond, 1.0).unmeasured(Status::Skipped, "no room"));
    cells.push(cell("mem-read", 32, Unit::BytesPerSecond, 1.0).unmeasured(Status::Pending, ""));
    fixtures::report(cells)
}

fn shared(workers: u64) -> Sharing {
    Sharing {
        attempts_per_success: workers as f64,
        waited: 0.5,
        wait_share: Some(0.1),
        fairness: 1.0,
        most_to_least: None,
    }
}

fn times(median: f64) -> Vec<(u64, u64)> {
    (0..400).map(|at| (20 + at % 7, 100 * median as u64 + at)).collect()
}

/// With so many bytes moved in each of its repetitions.
fn moving(mut cell: Cell, bytes: u64) -> Cell {
    let runs = cell.invocations.iter_mut().flat_map(|one| &mut one.runs);
    runs.flat_map(|run| &mut run.laps).for_each(|lap| lap.bytes = bytes);
    cell
}

fn grown(mut cell: Cell) -> Cell {
    let step = |size| GrowthStep {
        size,
        time_ns: 10_u64.pow(size as u32),
        activities: 1 << size,
        threads: size,
        attempts: 10,
        failures: size,
        ..GrowthStep::default()
    };
    let growth = Growth::new((1..8).map(step).collect(), Halt::Time);
    cell.invocations[0].runs[0].growth = Some(Box::new(growth));
    cell
}

fn page_of(report: &Report) -> Page {
    page(&[Source { name: "one", report }])
}

/// The tables with a row for each cell: those of spreads and of recursions have rows of their own.
fn tables(page: &Page) -> Vec<&Table> {
    let sections = page.sections.iter().filter(|section| !["times", "growth"].contains(&section.id));
    let lone = page.sections.iter().filter(|section| section.id == "lone").filter_map(|section| section.table.as_ref());
    sections.flat_map(|section| &section.figures).filter_map(|figure| figure.table.as_ref()).chain(lone).collect()
}

/// Each number is in the table of one figure, or in that of lone ones.
#[track_caller]
fn check_complete(report: &Report) {
    let page = page_of(report);
    let bits = |values: Vec<f64>| {
        let mut bits: Vec<u64> = values.into_iter().map(f64::to_bits).collect();
        bits.sort_unstable();
        bits
    };
    let value = |table: &Table| table.heading.iter().position(|name| name == "value").unwrap();
    let shown =
        tables(&page).into_iter().flat_map(|table| table.rows.iter().filter_map(|row| row.data[value(table)].number));
    let told = report.cells.iter().filter_map(Cell::value);
    assert_eq!(bits(shown.collect()), bits(told.collect()));
    for table in tables(&page) {
        assert!(table.rows.iter().all(|row| row.data.len() == table.heading.len()), "{:?}", table.heading);
    }
}

#[test]
fn every_cell_is_behind_one_figure() {
    golden().iter().for_each(check_complete);
    check_complete(&of_every_kind());
    check_complete(&fixtures::report(Vec::new()));
}

#[test]
fn every_kind_of_cell_has_its_section() {
    let page = page_of(&of_every_kind());
    let found: Vec<&str> = page.sections.iter().map(|section| section.id).collect();
    let expected = [
        "machine",
        "throughput",
        "time",
        "latency",
        "bandwidth",
        "loaded",
        "pairs",
        "single",
        "lone",
        "sharing",
        "growth",
        "times",
    ];
    assert_eq!(found, expected);
    let mut ids: Vec<&str> = page.figures().map(|figure| figure.id.as_str()).collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all);
}

fn plots(page: &Page) -> impl Iterator<Item = &Plot> {
    page.figures().filter_map(|figure| match &figure.body {
        Body::Lines(plot) | Body::Dots(plot) => Some(plot),
        _ => None,
    })
}

fn joints(page: &Page) -> impl Iterator<Item = &JointPlot> {
    page.figures().filter_map(|figure| match &figure.body {
        Body::Joint(joint) => Some(joint),
        _ => None,
    })
}

#[test]
fn every_drawn_point_and_bar_has_a_place() {
    for report in golden().iter().chain([&of_every_kind()]) {
        let page = page_of(report);
        for plot in plots(&page) {
            for point in plot.series.iter().flat_map(|series| &series.points) {
                assert!(point.x.is_finite() && point.y.is_none_or(f64::is_finite), "{}", point.note);
                assert!(point.spread.is_none_or(|ends| ends.iter().all(|end| end.is_finite())), "{}", point.note);
                assert_eq!(point.y.is_none(), point.state == State::Missing, "{}", point.note);
                assert!(plot.x.scale.place(point.x).is_some(), "{}", point.note);
            }
            assert!(plot.flags.iter().all(|flag| flag.series < plot.series.len()));
        }
        for joint in joints(&page) {
            let spans = joint.pairs.iter().flat_map(|pair| [pair.x, pair.y]);
            let spans = spans.chain(joint.first.iter().chain(&joint.second).map(|bar| bar.x));
            assert!(spans.into_iter().all(|[low, high]| 0.0 < low && low < high && high.is_finite()));
        }
    }
}

#[test]
fn a_report_without_results_has_no_charts() {
    let mut report = of_every_kind();
    for cell in &mut report.cells {
        cell.status = Status::Invalid;
    }
    let page = page_of(&report);
    let others = page.figures().filter(|figure| !matches!(figure.body, Body::MachineDiagram(_)));
    assert_eq!(others.count(), 0, "nothing is drawn of no result");
    let named = page.sections.iter().flat_map(|section| &section.about);
    assert!(named.filter(|sentence| sentence.starts_with("No result for ")).count() > 3);
}

#[test]
fn a_doubtful_number_has_its_mark_wherever_it_is_shown() {
    let mut report = of_every_kind();
    report.cells.iter_mut().filter(|cell| cell.summary.is_some()).for_each(|cell| cell.status = Status::Suspect);
    let page = page_of(&report);
    for plot in plots(&page) {
        let measured = plot.series.iter().filter(|series| series.role == Role::Measured);
        for point in measured.flat_map(|series| &series.points).filter(|point| point.y.is_some()) {
            assert!(point.state == State::Suspect && point.note.contains('~'), "{}", point.note);
        }
    }
    let has_number = |sentence: &str| [" ns", "GB/s", " µs", "Mop/s"].iter().any(|unit| sentence.contains(unit));
    for row in page.answers.iter().flat_map(|answer| &answer.rows) {
        assert!(row.best.text().ends_with('~'), "{row:?}");
    }
    for figure in page.figures().filter(|figure| figure.id.starts_with("throughput") || figure.id.starts_with("pairs"))
    {
        for sentence in figure.about.iter().filter(|sentence| has_number(sentence)) {
            assert!(sentence.contains('~'), "{sentence}");
        }
    }
}

#[test]
fn reports_side_by_side_share_their_figures() {
    let report = of_every_kind();
    let one = page_of(&report);
    let mut other = report.clone();
    other.tool.version = "9.9.9".into();
    let two = page(&[Source { name: "a", report: &report }, Source { name: "b", report: &other }]);
    let measured = |page: &Page| {
        // What one report has alone is a chart of two.
        let own = page.sections.iter().filter(|section| !["single", VERSUS].contains(&section.id));
        let own = own.flat_map(|section| &section.figures);
        let plots = own.filter_map(|figure| match &figure.body {
            Body::Lines(plot) | Body::Dots(plot) => Some(plot),
            _ => None,
        });
        let series = plots.flat_map(|plot| &plot.series);
        series.filter(|series| series.role == Role::Measured).map(|series| series.points.len()).sum::<usize>()
    };
    assert_eq!(2 * measured(&one), measured(&two));
    assert!(two.figures().any(|figure| figure.id == VERSUS) && one.figures().all(|figure| figure.id != VERSUS));
    assert_eq!(two.doubts.len(), 2 * one.doubts.len());
    let lines = |page: &Page| page.figures().filter(|figure| figure.id.starts_with("throughput")).count();
    assert_eq!(lines(&one), lines(&two));
    let labels: Vec<&str> = two.differences.iter().map(|difference| difference.label).collect();
    assert_eq!(labels, ["charz"]);
    assert!(two.differences[0].words[1].starts_with("9.9.9"), "{:?}", two.differences);
    assert!(one.differences.is_empty());
}

#[test]
fn pairs_stand_by_their_place_on_the_machine() {
    let page = page_of(&of_every_kind());
    let figure = page.figures().find(|figure| figure.id == "pairs-cas").unwrap();
    let Body::Heatmap(heat) = &figure.body else { panic!("{figure:?}") };
    assert_eq!((heat.rows.as_slice(), heat.folded), (["0", "1", "2", "3"].map(str::to_owned).as_slice(), 1));
    assert_eq!(heat.at(1, 2).value, Some(50.0 + 6.0 / 64.0));
    assert_eq!(heat.at(2, 2).value, None);
}

#[test]
fn a_page_of_too_much_is_small_and_says_so() {
    let mut cells = Vec::new();
    for kernel in 0..310 {
        for workers in [1, 2, 3, 5] {
            let mut one = cell(&format!("kernel {kernel}"), workers, Unit::OpsPerSecond, 1e6).marked(
                "V99",
                Severity::Suspect,
                "x",
            );
            one.invocations.clear();
            one.reason = Some("y".repeat(10_000));
            cells.push(one);
        }
    }
    let page = page_of(&fixtures::report(cells));
    assert!(page.figures().count() <= 300);
    assert!(page.left_out.iter().any(|sentence| sentence.contains("figures")), "{:?}", page.left_out);
    let notes = plots(&page).flat_map(|plot| &plot.series).flat_map(|series| &series.points);
    assert!(notes.into_iter().all(|point| point.note.len() < 2000));
    assert_eq!(page.doubts.iter().map(|(_, doubt)| doubt.count).sum::<usize>(), 1240);
}

#[test]
fn the_machine_holds_every_strand_once() {
    let report = golden().pop().unwrap();
    let nest = nest(&report.machine, true, Vec::new());
    assert_eq!(nest.strands(), report.machine.strands.len());
    fn leaves(parts: &[Part], found: &mut Vec<u32>) {
        for part in parts {
            assert_eq!(part.what == What::Strand, part.strand.is_some());
            found.extend(part.strand);
            leaves(&part.parts, found);
        }
    }
    let mut found = Vec::new();
    leaves(&nest.parts, &mut found);
    let ids: Vec<u32> = report.machine.strands.iter().map(|strand| strand.os_id).collect();
    assert_eq!(found, ids);
}

#[test]
fn lines_that_cannot_be_told_apart_are_one_and_more_threads_than_cpus_are_shaded() {
    let mut report = charz_estimate::fixtures::report("Package:1 Core:4 PU:2");
    report.machine.strands.iter_mut().skip(3).for_each(|strand| strand.usable = false);
    for workers in [1, 2, 4] {
        for (mapping, factor) in [("round-robin", 1.0), ("dumb", 1.001), ("auto", 0.5)] {
            let cell = cell("mem-read", workers, Unit::BytesPerSecond, 1e9 * factor * workers as f64).under(mapping);
            report.cells.push(cell);
        }
    }
    let page = page_of(&report);
    let plot = plots(&page).find(|plot| plot.series.len() > 1).unwrap();
    let names: Vec<&str> = plot.measured().map(|(_, series)| series.name.as_str()).collect();
    assert_eq!(names, ["round-robin or dumb", "auto"]);
    let shaded: Vec<[f64; 2]> = plot.reference_lines.iter().map(|line| [line.from, line.to]).collect();
    assert_eq!(shaded, [[2.0, 2.0], [3.0, 4.0]], "3 CPUs of 2 cores");
    assert!(plot.flags.iter().all(|flag| flag.series < plot.series.len()));
    let table =
        page.figures().find(|figure| figure.id.starts_with("throughput")).and_then(|figure| figure.table.as_ref());
    assert_eq!(table.map(|table| table.rows.len()), Some(9), "the table has all mappings");
    report.cells.iter_mut().for_each(|cell| *cell = cell.clone().within(0.005));
    let page = page_of(&report);
    assert!(plots(&page).flat_map(Plot::measured).any(|(_, series)| series.name == "round-robin = dumb"), "within 2%");
}

/// A report of kernels of this role that synchronise, each with these numbers of threads.
fn of_role(names: &[String], role: &charz_data::Role, threads: &[u64]) -> Report {
    let mut report = of_every_kind();
    let mut card = report.card("pool-tas").cloned().unwrap();
    (card.role, card.family) = (role.clone(), charz_data::card::Family::Sync);
    report.cells.clear();
    for name in names {
        card.name = name.clone().into();
        report.cards.push(card.clone());
        report.cells.extend(threads.iter().map(|count| cell(name, *count, Unit::OpsPerSecond, 1e9)));
    }
    report
}

#[test]
fn kernels_that_do_the_same_share_a_figure() {
    let role = charz_data::Role::LockPool { is_reference: false, backs_off: None };
    let page = page_of(&of_role(&["one", "other", "third"].map(str::to_owned), &role, &[1, 2, 4]));
    let figures: Vec<&Figure> =
        page.sections.iter().filter(|own| own.id == "families").flat_map(|own| &own.figures).collect();
    let [Figure { body: Body::Lines(plot), .. }] = figures[..] else { panic!("{figures:?}") };
    let names: Vec<&str> = plot.series.iter().map(|series| series.name.as_str()).collect();
    assert_eq!(names, ["one", "other", "third"]);
}

#[test]
fn operations_by_layouts_are_a_matrix() {
    let names = ["swap", "load", "store"].map(|stem| ["", "-far", "-near"].map(|end| format!("op-{stem}{end}")));
    let report = of_role(names.as_flattened(), &charz_data::Role::Other, &[1]);
    let page = page_of(&report);
    let heat = page.figures().find_map(|figure| if let Body::Heatmap(heat) = &figure.body { Some(heat) } else { None });
    let heat = heat.unwrap();
    assert_eq!((heat.rows.len(), heat.columns.len()), (3, 3));
    assert!(heat.tiles.iter().all(|tile| tile.value == Some(1e9)));
}

/// 100 ms with three levels, 2 s with five, and 25 ms by the library.
#[test]
fn products_are_tabled_by_order_and_levels() {
    let product = |kernel: &str, depth, millis: f64| {
        let point = Point { order: Some(1024), depth, ..Point::default() };
        cell(kernel, 2, Unit::OpsPerSecond, 2e3 * 1024_f64.powi(3) / millis).at(point)
    };
    let cells = vec![
        product("matmul-mutex", Some(3), 100.0),
        product("matmul-mutex", Some(5), 2000.0),
        product("matmul-library", None, 25.0),
    ];
    let page = page_of(&fixtures::report(cells));
    let table = page.sections.iter().find(|section| section.id == "products").unwrap().table.as_ref().unwrap();
    assert_eq!(table.heading, ["line", "N", "k=3", "k=5", "best k", "time", "deepest / best", "of library"]);
    let texts: Vec<Vec<&str>> =
        table.rows.iter().map(|row| row.data[1..].iter().map(|datum| datum.text.as_str()).collect()).collect();
    assert_eq!(texts[0], ["1024", "100 ms", "2.00 s", "3", "100 ms", "20.0", "25.0%"]);
    assert_eq!(texts[1], ["1024", "-", "-", "-", "25.0 ms", "-", "100.0%"]);
}

#[test]
fn one_number_is_no_chart_two_are_bars_and_three_a_line() {
    let is_line = |counts: &[u64]| {
        let cells = counts.iter().map(|workers| cell("mem-read", *workers, Unit::BytesPerSecond, 1e9)).collect();
        let page = page_of(&fixtures::report(cells));
        plots(&page).next().map(|plot| plot.x.quantity == crate::figure::Quantity::Count)
    };
    assert_eq!([is_line(&[1]), is_line(&[1, 2]), is_line(&[1, 2, 4])], [None, Some(false), Some(true)]);
}

#[test]
fn a_family_of_locks_is_one_chart_of_locks_and_threads() {
    let locks = ["pool-tas", "pool-std", "pool-mcs"].into_iter().flat_map(|lock| {
        [1, 2].into_iter().flat_map(move |threads| {
            ["round-robin", "auto"].map(|by| cell(lock, threads, Unit::OpsPerSecond, 1e6 * threads as f64).under(by))
        })
    });
    let page = page_of(&fixtures::report(locks.collect()));
    let section = page.sections.iter().find(|section| section.id == "families").unwrap();
    let [figure] = &section.figures[..] else { panic!("{} figures", section.figures.len()) };
    let Body::Dots(plot) = &figure.body else { panic!("{figure:?}") };
    let series: Vec<(&str, usize)> = plot.measured().map(|(_, own)| (own.name.as_str(), own.points.len())).collect();
    assert_eq!(series, [("1 thread", 3), ("2 threads", 3)]);
    assert_eq!(figure.table.as_ref().unwrap().rows.len(), 12, "the other mapping too");
}

#[test]
fn a_program_has_a_chart_of_its_levels_with_a_line_for_each_number_of_threads() {
    let levels = [1, 3, 5].into_iter().flat_map(|depth| {
        let point = Point { order: Some(1024), depth: Some(depth), ..Point::default() };
        let rate = 1e9 * depth as f64;
        [1, 2].map(|threads| cell("matmul-mutex", threads, Unit::OpsPerSecond, rate).under("rr").at(point))
    });
    let page = page_of(&fixtures::report(levels.collect()));
    let section = page.sections.iter().find(|section| section.id == "products").unwrap();
    assert_eq!((section.figures.len(), section.table.as_ref().map(|table| table.rows.len())), (1, Some(2)));
    for figure in &section.figures {
        let Body::Lines(plot) = &figure.body else { panic!("{figure:?}") };
        let lines: Vec<(&str, Vec<f64>)> = plot
            .measured()
            .map(|(_, own)| (own.name.as_str(), own.points.iter().map(|point| point.x).collect()))
            .collect();
        assert_eq!(lines, [("rr x1", vec![1.0, 3.0, 5.0]), ("rr x2", vec![1.0, 3.0, 5.0])]);
    }
}

#[test]
fn what_is_no_bytes_is_no_bandwidth() {
    let sized = |kernel: &str, unit| [4 << 10, 1 << 20].map(|size| cell(kernel, 1, unit, 1e9).sized(size));
    let cells = [sized("level-read", Unit::BytesPerSecond), sized("cmt-working-set", Unit::OpsPerSecond)].concat();
    let page = page_of(&fixtures::report(cells));
    let of = |id: &str| -> Vec<&str> {
        let sections = page.sections.iter().filter(|section| section.id == id);
        sections.flat_map(|section| &section.figures).map(|figure| figure.id.as_str()).collect()
    };
    assert_eq!((of("bandwidth"), of("sizes")), (vec!["bandwidth-level-read"], vec!["throughput-cmt-working-set"]));
}

#[test]
fn a_single_pair_of_cpus_is_no_square() {
    let of = |count| {
        let page = page_of(&fixtures::report(fixtures::pairs("c2c-cas", count, |_, _| 50.0)));
        let figure = page.figures().find(|figure| figure.id == "pairs-cas").unwrap();
        matches!(figure.body, Body::Heatmap(_))
    };
    assert_eq!([of(2), of(3)], [false, true]);
}

/// Programs that ended at other sizes did other work.
#[test]
fn numbers_of_another_size_are_in_figures_of_their_own() {
    let mut small = grown(cell("fft-mutex", 1, Unit::Nanoseconds, 21e3));
    let own = small.invocations.iter_mut().flat_map(|invocation| &mut invocation.runs);
    own.filter_map(|run| run.growth.as_mut()).for_each(|growth| growth.steps.truncate(4));
    let cells = vec![
        small.clone().under("auto"),
        small,
        grown(cell("fft-rayon", 1, Unit::Nanoseconds, 39.0)).under("auto"),
        grown(cell("fft-rayon", 1, Unit::Nanoseconds, 39.0)),
    ];
    let page = page_of(&fixtures::report(cells));
    let own = page.sections.iter().filter(|section| section.id == "single").flat_map(|section| &section.figures);
    let titles: Vec<&str> = own.map(|figure| figure.title.as_str()).collect();
    assert_eq!(titles, ["fft-mutex: time of a run, size 4", "fft-rayon: time of a run, size 7"]);
}
