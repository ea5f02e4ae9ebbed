mod quality;
mod rows;

use charz_estimate::Strength;
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::page::{Source, page};
use charz_data::report::fixtures::{self, cell, report};
use charz_data::report::{
    Cell, Culprit, CulpritKind, Ending, Estimator, Evidence, FindingKind, Interval, Measured, Point, Severity, Status,
};

fn rate(kernel: &str, mapping: &str, threads: u64, value: f64) -> Cell {
    let unit = if kernel.starts_with("arith") { Unit::OpsPerSecond } else { Unit::BytesPerSecond };
    let cell = cell(kernel, threads, unit, value).under(mapping);
    // Two CPUs: threads beyond them share. Each mapping begins with another one.
    let first = u32::from(mapping != "rr");
    let seats: Vec<u32> = (first..first + threads as u32).map(|thread| thread % 2).collect();
    if mapping == "auto" { cell } else { cell.seated(&seats) }
}

fn answer_of(cells: Vec<Cell>) -> Answer {
    Answer::of(&report(cells))
}

/// Reports of two kernels on two CPUs, with up to four threads under three mappings; noisy, missing and invalid ones among them.
fn reports() -> impl Strategy<Value = Report> {
    let one = (1.0_f64..4.0, 0.001_f64..0.4, 0..6_u8);
    vec(one, 24).prop_map(|drawn| {
        let mut cells = Vec::new();
        let places = ["arith-int", "mem-read"].into_iter().flat_map(|kernel| {
            ["rr", "dumb", "auto"]
                .into_iter()
                .flat_map(move |mapping| (1..5).map(move |threads| (kernel, mapping, threads)))
        });
        for ((kernel, mapping, threads), (value, width, fate)) in places.zip(drawn) {
            let cell = rate(kernel, mapping, threads, value * 1e9).within(width);
            cells.push(match fate {
                0 => cell.suspect(),
                1 => cell.invalid(),
                _ => cell,
            });
        }
        report(cells)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The first screen, the table of the page and the findings of the report are read by different people of one report.
    #[test]
    fn all_outputs_have_one_headline(report in reports()) {
        let answer = Answer::of(&report);
        let page = page(&[Source { name: "r", report: &report }]);
        let best: Vec<_> =
            findings(&Estimates::of(&report)).into_iter().filter(|found| found.kind == FindingKind::Best).collect();
        prop_assert_eq!(page.verdicts.rows.len(), best.len());
        for found in &best {
            let row = answer.rows.iter().find(|row| row.kernel == found.kernel).unwrap();
            prop_assert_eq!((found.workers, found.value), (Some(row.best.threads), Some(row.best.value)));
            let is_one = [NONE, &*row.best.mapping].contains(&&*row.best_mapping) && !row.best.is_noisy;
            prop_assert_eq!(found.mapping.as_ref(), is_one.then_some(&row.best.mapping));
            let of_page = page.verdicts.rows.iter().find(|of_page| of_page.data[0].text == row.name()).unwrap();
            prop_assert_eq!(of_page.data[2].number, Some(row.best.threads as f64));
            prop_assert_eq!(&of_page.data[3].text, &row.best.text());
            let figures = page.sections.iter().flat_map(|section| &section.figures);
            let of_kernel = figures.filter(|figure| figure.title.starts_with(&row.kernel)).flat_map(|figure| &figure.about);
            let competes = |cell: &&Cell| cell.kernel == row.kernel && cell.workers <= row.best.threads.max(2);
            let largest = report.cells.iter().filter(competes).filter_map(Cell::value).fold(0.0, f64::max);
            for sentence in of_kernel.filter(|sentence| sentence.contains("peak")) {
                prop_assert!(sentence.contains(&units::value(largest, row.best.unit)) || sentence.contains("reaches 95%"), "{}", sentence);
            }
            for reading in [&row.one, &row.all].into_iter().flatten() {
                let own = |cell: &&Cell| {
                    (cell.kernel.as_str(), cell.mapping.as_str(), cell.workers)
                        == (row.kernel.as_str(), reading.mapping.as_str(), reading.threads)
                };
                let cell = report.cells.iter().find(own).unwrap();
                prop_assert_eq!(cell.capacity.map(|capacity| capacity.value), Some(reading.value));
                prop_assert_eq!(cell.status == Status::Suspect, reading.is_noisy);
            }
        }
    }

    #[test]
    fn more_threads_than_cpus_are_advised_only_where_they_are_surely_better(report in reports()) {
        let ends = |cell: &Cell| cell.capacity.and_then(|capacity| capacity.interval).map(|found| [found.low, found.high]);
        for row in Answer::of(&report).rows.iter().filter(|row| row.best.threads > 2) {
            let own = || report.cells.iter().filter(|cell| cell.kernel == row.kernel && cell.value().is_some());
            let top = own().max_by(|one, other| one.value().unwrap().total_cmp(&other.value().unwrap())).unwrap();
            let [low, _] = ends(top).unwrap();
            for cell in own().filter(|cell| cell.workers <= 2) {
                prop_assert!(ends(cell).unwrap()[1] < low, "{} x{}", cell.mapping, cell.workers);
            }
        }
    }
}

#[test]
fn a_scaling_is_doubted_with_its_numbers_and_where_they_are_wide() {
    let scaling = |width: f64, status: Status| {
        let of = |threads: u64, value: f64| {
            let mut cell = rate("arith-int", "rr", threads, value);
            let interval = Interval { low: value * (1.0 - width), high: value * (1.0 + width) };
            (cell.capacity, cell.status) = (Some(Measured { value, interval: Some(interval) }), status);
            cell
        };
        let answer = answer_of(vec![of(1, 1e9), of(2, 2.1e9)]);
        table(&answer.rows, answer.cpus, 9).0.rows[0].data[3].text.clone()
    };
    assert_eq!(scaling(0.01, Status::Ok), "2.1x");
    assert_eq!(scaling(0.02, Status::Ok), "2.1x~", "2.04 to 2.16");
    assert_eq!(scaling(0.01, Status::Suspect), "2.1x~");
    let slow = answer_of(vec![rate("arith-int", "rr", 1, 1e9), rate("arith-int", "rr", 2, 4e7)]);
    assert!(table(&slow.rows, 2, 9).0.rows[0].data[3].text.starts_with("0.04"));
}

#[test]
fn a_row_says_what_one_thread_and_all_cpus_do() {
    let cells = [("rr", 1, 1e9), ("rr", 2, 1.9e9), ("auto", 1, 1e9), ("auto", 2, 1.5e9), ("rr", 4, 1.2e9)];
    let answer = answer_of(cells.map(|(mapping, threads, value)| rate("arith-int", mapping, threads, value)).into());
    let row = &answer.rows[0];
    assert_eq!((row.scaling(), row.knee, row.best.threads), (Some(1.9), Some(2), 2));
    assert!(
        matches!(row.auto, Auto::Other { strength: Strength::Shown(share), .. } if (share - 4.0 / 19.0).abs() < 1e-9),
        "{:?}",
        row.auto
    );
    assert_eq!(row.best_mapping, "rr");
    let launches: Vec<_> = answer.advice.iter().map(|advice| advice.launch.as_deref()).collect();
    assert_eq!(launches, [Some("charz exec --mapping rr --threads 2 -- PROGRAM"), None]);
    assert!(answer.advice[1].text.contains("36.8%") && answer.advice[1].text.contains("with 4"), "{:?}", answer.advice);
}

#[test]
fn at_most_as_many_threads_as_cpus_is_advised_where_more_are_not_the_best() {
    let of = |four: Cell, eight: f64| {
        let rate = |threads, value| rate("arith-int", "rr", threads, value);
        let advice = answer_of(vec![rate(1, 1e9), rate(2, 2e9), four, rate(8, eight)]).advice;
        advice.into_iter().map(|advice| advice.text).find(|text| text.contains("no more than"))
    };
    let four = |value| rate("arith-int", "rr", 4, value);
    let loses = |share| Some(format!("arith-int: no more than 2 threads; it loses {share} with 4."));
    assert_eq!(of(four(1e9), 2e9), loses("50.0%"));
    assert_eq!(of(four(1e9).suspect(), 2e9), loses("50.0%~"));
    assert_eq!(of(four(3e9), 2.6e9), None);
    assert_eq!(of(four(1.98e9), 1.98e9), None, "1% is no difference");
    // Another mapping that loses says nothing of the number of threads.
    let dumb = [2, 4].map(|threads| rate("arith-int", "dumb", threads, 3e9 / threads as f64));
    let cells = [vec![rate("arith-int", "rr", 2, 2e9), four(2e9)], dumb.to_vec()].concat();
    assert_eq!(answer_of(cells).rows[0].oversubscribed, None);
}

#[test]
fn the_kernel_to_which_the_mapping_matters_is_the_one_that_is_advised_on() {
    let of = |kernel: &str, auto: f64| vec![rate(kernel, "rr", 2, 1e9), rate(kernel, "auto", 2, auto)];
    let answer = answer_of([of("arith-int", 1e9), of("arith-float", 0.5e9)].concat());
    assert!(answer.advice[0].text.contains("50.0%"), "{:?}", answer.advice);
    let with = |kernel: &str, dumb: f64| [of(kernel, 1e9), vec![rate(kernel, "dumb", 2, dumb)]].concat();
    let answer = answer_of([with("arith-int", 1e9), with("arith-float", 0.5e9)].concat());
    assert!(answer.advice[0].text.contains("rr or auto"), "dumb loses of one: {:?}", answer.advice);
}

#[test]
fn what_cannot_be_told_apart_is_not_told_apart() {
    let mapping = |cells: Vec<Cell>| answer_of(cells).rows[0].best_mapping.clone();
    let both = |auto: f64| vec![rate("arith-int", "rr", 2, 1e9), rate("arith-int", "auto", 2, auto)];
    let costs = |cells: Vec<Cell>| answer_of(cells).rows[0].auto_costs();
    let narrow = || both(0.99e9).into_iter().map(|cell| cell.within(0.006)).collect();
    assert_eq!((mapping(narrow()).as_str(), costs(narrow()).as_str()), ("any", "≈0%"));
    // What is not shown is no zero.
    assert_eq!((mapping(both(0.99e9)).as_str(), costs(both(0.99e9)).as_str()), ("no clear winner", "−1.8..3.7%"));
    let few = both(0.9e9).into_iter().map(Cell::without_interval).collect();
    assert_eq!(costs(few), "10.0%?");
    assert_eq!(mapping(both(0.5e9)), "rr");
    let noisy = both(0.5e9).into_iter().map(Cell::suspect).collect();
    let costs_of_noisy = costs(both(0.5e9).into_iter().map(Cell::suspect).collect());
    assert_eq!(mapping(noisy), "rr~");
    assert!(costs_of_noisy.contains("..") && costs_of_noisy.ends_with('~'), "{costs_of_noisy}");
    // One mapping is the best of none.
    assert_eq!(mapping(vec![rate("arith-int", "rr", 1, 1e9), rate("arith-int", "rr", 2, 2e9)]), NONE);
    let three = [both(0.99e9), vec![rate("arith-int", "dumb", 2, 0.5e9)]].concat();
    assert_eq!(mapping(three), "rr or auto");
}

/// Its last columns: what it says of all CPUs, and where 95% of the peak is reached.
fn shown(cells: Vec<Cell>, row: usize) -> [String; 2] {
    let answer = answer_of(cells);
    let data = &table(&answer.rows, answer.cpus, 9).0.rows[row].data;
    [data[2].text.clone(), data[4].text.clone()]
}

#[test]
fn a_number_of_fewer_threads_than_its_heading_says_so() {
    let at = |kernel, threads| rate(kernel, "rr", threads, threads as f64 * 1e9);
    let four = |kernel| cell(kernel, 4, Unit::OpsPerSecond, 4e9).seated(&[0, 1, 2, 3]);
    let cells = vec![at("arith-int", 1), four("arith-int"), at("arith-float", 1), at("arith-float", 2)];
    assert!(shown(cells.clone(), 1)[0].ends_with(" at 2"), "{:?}", shown(cells.clone(), 1));
    assert!(!shown(cells.clone(), 0)[0].contains("at"));
    // Two of four CPUs were used.
    assert_eq!((shown(cells.clone(), 1)[1].as_str(), shown(cells, 0)[1].as_str()), ("2+", "4"));
}

#[test]
fn noise_about_where_the_peak_is_reached_is_marked() {
    let rising = |first: Cell| vec![first, rate("arith-int", "rr", 2, 2e9)];
    assert_eq!(shown(rising(rate("arith-int", "rr", 1, 1e9)), 0)[1], "2");
    assert_eq!(shown(rising(rate("arith-int", "rr", 1, 1e9).suspect()), 0)[1], "2~");
}

#[test]
fn a_latency_by_too_few_sizes_is_not_in_the_answer() {
    let mut report = charz_estimate::fixtures::measured(8 << 20);
    let full = Answer::of(&report).levels;
    let l3 = |table: &Table| table.rows.iter().find(|row| row.data[0].text == "L3").map(|row| row.data[2].text.clone());
    assert!(l3(&full).is_some_and(|latency| latency.ends_with(" ns")), "{full:?}");
    // Few are left beyond the edge that is reported.
    report.cells.retain(|cell| cell.point.size_bytes.is_none_or(|size| size <= 48 << 20));
    let thin = Answer::of(&report).levels;
    assert!(l3(&thin).is_none_or(|latency| latency == NONE), "{thin:?}");
}

#[test]
fn a_level_with_one_size_has_the_latency_of_that() {
    let load = |level: &str, bytes: u64, ns: f64| {
        cell("chase-random", 1, Unit::NanosecondsPerStep, ns).seated(&[0]).sized(bytes).inside(level)
    };
    let latencies = |more: Vec<Cell>| -> Vec<String> {
        let read = |level: &str| cell("level-read", 1, Unit::BytesPerSecond, 1e10).seated(&[0]).inside(level);
        let own = vec![read("L1"), read("L2"), load("L1", 16 << 10, 1.7), load("L2", 256 << 10, 5.3)];
        let machine = charz_estimate::fixtures::report(
            "Package:1 L3:1(size=32MiB) L2:1(size=1MiB) L1d:1(size=32KiB) Core:2 PU:1",
        )
        .machine;
        let report = Report { machine, ..report([own, more].concat()) };
        Answer::of(&report).levels.rows.iter().map(|row| row.data[2].text.clone()).collect()
    };
    assert_eq!(latencies(Vec::new()), ["1.70 ns", "5.30 ns"]);
    // Several sizes are a curve, or too few for one.
    assert_eq!(latencies(vec![load("L2", 512 << 10, 6.0)]), ["1.70 ns", NONE]);
}

#[test]
fn a_single_number_is_in_the_answer() {
    for (kernel, unit) in [
        ("arith-int", Unit::OpsPerSecond),
        ("chase-random", Unit::NanosecondsPerStep),
        ("pool-std", Unit::OpsPerSecond),
    ] {
        let answer = answer_of(vec![cell(kernel, 2, unit, 1e3)]);
        assert_eq!(answer.rows.len() + answer.contended.rows.len() + answer.costs.len(), 1, "{kernel}");
    }
}

#[test]
fn what_contends_comes_before_words_of_each_threads_own() {
    let cells = [("atomic-fetch-add-private", 9e9), ("atomic-fetch-add", 1e9)];
    let mut report = report(cells.map(|(kernel, rate)| cell(kernel, 2, Unit::OpsPerSecond, rate)).into());
    report.cards.iter_mut().filter(|card| card.name == cells[1].0).for_each(|card| card.contends = true);
    assert_eq!(Answer::of(&report).contended.rows[0].data[0].text, cells[1].0);
}

#[test]
fn contention_has_a_column_for_the_fewest_and_the_most_threads_that_were_measured() {
    let columns = |counts: &[u64], cpus: u32| {
        let cells = counts.iter().map(|threads| cell("pool-std", *threads, Unit::OpsPerSecond, 1e7)).collect();
        Answer::of(&report(cells).on(cpus)).contended.heading[1..].join(", ")
    };
    assert_eq!(columns(&[1, 2, 4], 6), "1 thread, 2 threads, 4 threads");
    assert_eq!(columns(&[4, 8, 16], 64), "4 threads, 16 threads");
    assert_eq!(columns(&[1, 2], 1), "1 thread, 2 threads");
    let within = |inside, value| {
        cell("pool-std", 2, Unit::OpsPerSecond, value).at(Point { inside_steps: Some(inside), ..Point::default() })
    };
    let each = Answer::of(&report(vec![within(100, 1e7), within(1, 4e7)]).on(2)).contended;
    let texts = each.rows.iter().map(|row| [&row.data[0].text, &row.data[1].text].map(String::as_str));
    assert_eq!(
        texts.collect::<Vec<_>>(),
        [["pool-std inside-steps 1", "40.0 Mop/s"], ["pool-std inside-steps 100", "10.0 Mop/s"]]
    );
}

#[test]
fn the_fewest_threads_that_were_measured_are_advised_as_the_most_that_are_needed() {
    let of = |kernel: &str, numbers: [(u64, f64); 3]| {
        let numbers = numbers.map(|(threads, value)| cell(kernel, threads, Unit::OpsPerSecond, value * 1e6));
        let advice = Answer::of(&report(numbers.into()).on(8)).advice;
        advice.into_iter().map(|advice| advice.text).find(|text| text.starts_with("Contended")).unwrap_or_default()
    };
    let open = of("pool-mcs", [(1, 10.0), (4, 30.0), (8, 20.0)]);
    assert!(open.contains("at most 4 threads"), "{open}");
    let known = of("pool-mcs", [(2, 10.0), (4, 30.0), (8, 20.0)]);
    assert!(known.contains(" 4 threads") && !known.contains("at most"), "{known}");
    assert_eq!(of("counter-sharded", [(1, 10.0), (4, 30.0), (8, 60.0)]), "", "its threads share nothing");
}

#[test]
fn pairs_of_cpus_and_of_nodes_are_in_the_answer_of_a_report_about_them() {
    let texts =
        |table: &Table, row: usize| table.rows[row].data.iter().map(|datum| datum.text.clone()).collect::<Vec<_>>();
    let nodes = Answer::of(&charz_estimate::fixtures::two()).nodes;
    assert_eq!((nodes.rows.len(), nodes.heading.len()), (4, 3));
    assert_eq!(texts(&nodes, 0)[1..], ["100 ns", "160 ns"]);
    assert!(texts(&nodes, 3)[2].ends_with('~'), "{:?}", texts(&nodes, 3));
    let mut pairs = report(fixtures::pairs("c2c-cas", 4, |home, other| f64::from(100 + home + other)));
    let lines = Answer::of(&pairs).lines;
    assert_eq!(texts(&lines, 0)[1..], ["12", "103 ns", "101 ns", "105 ns"]);
    // Beside other kernels it is one cost of many.
    pairs.cells.push(rate("arith-int", "rr", 1, 1e9));
    assert_eq!((Answer::of(&pairs).lines.rows.len(), Answer::of(&pairs).nodes.rows.len()), (0, 0));
}

#[test]
fn what_failed_is_said_once_with_its_reason() {
    let failed = |threads| rate("arith-int", "rr", threads, 1e9).unmeasured(Status::Failed, "signal 11");
    assert_eq!(answer_of(vec![failed(1), failed(2)]).failed, ["arith-int rr x1: signal 11 (and 1 more)"]);
    let planned = rate("arith-int", "rr", 1, 1e9).unmeasured(Status::Skipped, "too large");
    let refused = Cell { invocations: vec![fixtures::barren(Ending::Refused)], ..planned.clone() };
    let skipped = answer_of(vec![planned.clone()]);
    assert_eq!((skipped.failed.len(), skipped.quality.fix.as_deref()), (0, Some("too large")));
    assert_eq!(answer_of(vec![refused, planned]).failed, ["arith-int rr x1: too large"]);
}

#[test]
fn a_gap_has_a_letter_and_its_reason() {
    let cells = vec![
        rate("arith-int", "rr", 1, 1e9).invalid(),
        rate("arith-int", "rr", 2, 2e9),
        rate("arith-int", "auto", 2, 2e9),
        rate("mem-read", "rr", 1, 1e9),
        rate("mem-read", "rr", 2, 1e9),
    ];
    let answer = answer_of(cells);
    let (table, notes) = table(&answer.rows, answer.cpus, 9);
    assert_eq!(table.rows[0].data[1].text, format!("{NONE} a"));
    assert_eq!(notes.len(), 1);
    assert!(notes[0].starts_with("a  arith-int rr x1: "), "{notes:?}");
}

#[test]
fn the_most_threads_that_have_a_number_are_no_answer_while_cpus_are_left() {
    let of = |threads: u64| cell("arith-int", threads, Unit::OpsPerSecond, threads as f64 * 1e9).in_order();
    let said = |last: Option<Cell>| {
        let answer = Answer::of(&report([1, 2, 4].map(of).into_iter().chain(last).collect()).on(8));
        let (table, notes) = table(&answer.rows, answer.cpus, 9);
        let texts: Vec<String> = table.rows[0].data.iter().map(|datum| datum.text.clone()).collect();
        let is_whole = answer.advice[0].launch.is_some() && !answer.advice[0].text.contains("at least 4 threads");
        (answer.advice[0].text.clone(), is_whole, texts, notes)
    };
    let (text, is_whole, texts, notes) = said(Some(of(8).unmeasured(Status::Failed, "signal 11")));
    assert!(!is_whole && text.contains("x8 failed"), "{text}");
    assert_eq!((texts[2].as_str(), texts[3].as_str()), ("4.00 Gop/s at 4 a", "4.0x~"));
    assert!(texts[4].starts_with("4+") && notes.len() == 1 && notes[0].contains("signal 11"), "{texts:?} {notes:?}");
    let (text, is_whole, _, notes) = said(None);
    assert!(!is_whole && notes.is_empty(), "{text}");
    assert!(said(Some(of(8))).1);
}

#[test]
fn numbers_of_more_threads_than_cpus_alone_are_shown() {
    let answer = answer_of(vec![rate("arith-int", "rr", 4, 3e9), rate("arith-int", "rr", 8, 2e9)]);
    let (table, _) = table(&answer.rows, 2, 9);
    let texts: Vec<&str> = table.rows[0].data.iter().map(|datum| datum.text.as_str()).collect();
    assert_eq!((table.heading[1].as_str(), texts[1]), ("4 threads", "3.00 Gop/s"));
}

#[test]
fn a_kernel_that_is_the_only_one_of_its_kind_keeps_its_name() {
    let cost = |kernel: &str, value| cell(kernel, 2, Unit::NanosecondsPerOp, value);
    // Where no thread sleeps, none is woken.
    let cells = [
        ("barrier-std", 3.0),
        ("flag", 0.1),
        ("futex-wake", 9.0),
        ("ring-mutex", 2.0),
        ("c2c-cas", 1.0),
        ("timeout-futex", 1.0),
    ];
    let costs = answer_of(cells.map(|(kernel, value)| cost(kernel, value)).into()).costs;
    let shown: Vec<(&str, Vec<&str>)> = costs
        .iter()
        .map(|costs| (&*costs.kind, costs.kernels.iter().map(|(kernel, _)| costs.short(kernel)).collect()))
        .collect();
    let others = vec!["flag", "timeout-futex", "ring-mutex"];
    let kinds = [("wake-up", vec!["futex-wake"]), ("barrier", vec!["std"]), ("c2c", vec!["cas"]), ("other", others)];
    assert_eq!(shown, kinds);
}

#[test]
fn kernels_without_a_number_are_named() {
    let pending = |kernel: &str| {
        let cell = rate(kernel, "rr", 1, 1e9);
        Cell { status: Status::Pending, capacity: None, delivered: None, invocations: Vec::new(), ..cell }
    };
    let text = |cells: Vec<Cell>| Answer::of(&report(cells)).quality.text();
    let one = || rate("arith-int", "rr", 1, 1e9);
    assert!(text(vec![one(), pending("mem-read"), pending("mem-read")]).contains("2 missing (all of mem-read)"));
    let five = ["mem-read", "mem-write", "mem-copy", "mem-triad", "lock-std"].map(pending);
    assert!(text([vec![one()], five.to_vec()].concat()).contains("(all of mem-read, mem-write, mem-copy and 2 more)"));
    // One of its two configurations has a number, or nothing has.
    assert!(!text(vec![one(), pending("arith-int")]).contains("all of"));
    assert!(!text(vec![pending("mem-read")]).contains("all of"));
}

/// Times of threads that share a CPU are not set beside times of threads that do not.
#[test]
fn a_line_of_costs_is_of_one_mapping_or_names_it() {
    let of = |kernel, mapping, ns| cell(kernel, 2, Unit::NanosecondsPerOp, ns).under(mapping);
    let apart = |kernel, ns| of(kernel, "rr", ns).seated(&[0, 1]);
    let first = |cells| answer_of(cells).costs.remove(0);
    let all = |cells| first(cells).kernels;
    let both = vec![of("c2c-cas", "auto", 20.0), apart("c2c-cas", 130.0), apart("c2c-fetch-add", 140.0)];
    let costs = first([both.clone(), vec![of("c2c-fetch-add", "auto", 27.0)]].concat());
    assert_eq!(costs.place.as_deref(), Some("rr x2"));
    let kernels = costs.kernels;
    assert!(kernels.iter().all(|(name, reading)| reading.mapping == "rr" && !name.contains('(')), "{kernels:?}");
    let kernels = all([both, vec![of("c2c-exchange", "auto", 30.0)]].concat());
    for (name, reading) in kernels {
        assert_eq!(name.contains("(auto x2)"), reading.mapping == "auto", "{name} {reading:?}");
    }
    // The only kernel of its kind has a number for each of its mappings.
    let only = first(vec![of("c2c-cas", "auto", 990.0), apart("c2c-cas", 130.0)]);
    let names: Vec<&str> = only.kernels.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!((names, only.place), (vec!["c2c-cas (rr x2)", "c2c-cas (auto x2)"], None));
}

/// Threads that a quota has no time for scale only while the pauses are not counted.
#[test]
fn rows_respect_a_quota() {
    let of_kernel = |kernel: &str, quota: Option<f64>| {
        let of = |threads: u64| cell(kernel, threads, Unit::OpsPerSecond, threads as f64 * 1e9);
        let mut report = report([1, 2, 4].map(|threads| of(threads).in_order()).to_vec()).on(8);
        report.machine.usable.quota_cpus = quota;
        let answer = Answer::of(&report);
        let (table, notes) = table(&answer.rows, answer.cpus, 9);
        let texts: Vec<String> = table.rows[0].data.iter().map(|datum| datum.text.clone()).collect();
        (answer.rows[0].clone(), texts, notes)
    };
    let under = |quota| of_kernel("arith-int", quota);
    let (row, texts, notes) = under(None);
    assert_eq!((row.scaling(), row.best.threads, texts[4].as_str(), notes.len()), (Some(4.0), 4, "4+", 0));
    assert_eq!(under(Some(4.0)).1[4], "4", "no time is left for more");
    let (row, texts, notes) = under(Some(1.5));
    assert_eq!((row.scaling(), row.best.threads, texts[4].as_str()), (Some(2.0), 2, "2"));
    assert!(notes.len() == 1 && notes[0].contains("quota of 1.50"), "{notes:?}");
    let (row, _, notes) = under(Some(3.5));
    assert_eq!((row.scaling(), notes.len()), (Some(4.0), 1), "without pauses, which is said");
    let (row, texts, notes) = under(Some(0.5));
    assert_eq!((row.scaling(), row.best.threads, notes.len()), (None, 1, 1));
    assert!(texts.iter().all(|text| !text.contains("2.00")), "{texts:?}");
    let (row, _, notes) = of_kernel("cmt-quota", Some(1.5));
    assert_eq!((row.scaling(), row.best.threads, notes.len()), (Some(4.0), 4, 0), "it measures what a quota leaves");
}

/// By the time on CPUs that threads asked for, where they do not wait for each other in the kernel.
#[test]
fn what_the_machine_gave_to_threads_that_spin_is_known() {
    let of = |blocks: bool| {
        let mut cell = cell("c2c-cas", 2, Unit::NanosecondsPerOp, 90.0).seated(&[0, 1]);
        for lap in cell.invocations.iter_mut().flat_map(|one| &mut one.runs).flat_map(|run| &mut run.laps) {
            (lap.counts.cpu_ns, lap.counts.run_delay_ns) = (Some(40), Some(60));
        }
        let mut report = report(vec![cell]);
        report.cards.iter_mut().for_each(|card| card.blocks_in_kernel = blocks);
        Answer::of(&report).quality.delivered
    };
    assert_eq!((of(false), of(true)), (Some(0.4), None));
}
