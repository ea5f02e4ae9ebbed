//! Checks by an independent parser that the text holds the values of the report.

use std::collections::BTreeMap;

use charz_words::point;

use super::*;
use crate::formats::tests::{golden, hostile, written};

#[derive(Default)]
struct Text {
    /// By name and labels.
    samples: BTreeMap<(String, BTreeMap<String, String>), f64>,
    /// By `HELP`, `TYPE` or `UNIT`, and name.
    about: BTreeMap<(String, String), String>,
}

impl Text {
    fn about(&self, kind: &str, name: &str) -> Option<&String> {
        self.about.get(&(kind.to_owned(), name.to_owned()))
    }
}

fn read(text: &str) -> Text {
    let mut read = Text::default();
    let lines = text.strip_suffix("# EOF\n").unwrap();
    for line in lines.lines() {
        let before = if let Some(meta) = line.strip_prefix("# ") {
            let [kind, name, rest] = *meta.splitn(3, ' ').collect::<Vec<_>>() else { panic!("{line}") };
            assert!(["HELP", "TYPE", "UNIT"].contains(&kind), "{line}");
            read.about.insert((kind.to_owned(), name.to_owned()), rest.to_owned()).is_some()
        } else {
            let (name, rest) = line.split_at(line.find(['{', ' ']).unwrap());
            let (labels, value) = labels_of(rest);
            assert!(read.about("TYPE", name).is_some(), "a sample before its type: {line}");
            read.samples.insert((name.to_owned(), labels), value.trim().parse().unwrap()).is_some()
        };
        assert!(!before, "twice: {line}");
    }
    read
}

/// The labels in braces, whose values are escaped as in JSON, and the text after them.
fn labels_of(text: &str) -> (BTreeMap<String, String>, &str) {
    let mut labels = BTreeMap::new();
    let Some(mut rest) = text.strip_prefix('{') else { return (labels, text) };
    loop {
        let (name, tail) = rest.split_once('=').unwrap();
        assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{name}");
        let mut values = serde_json::Deserializer::from_str(tail).into_iter::<String>();
        let value = values.next().unwrap().unwrap();
        let (quoted, tail) = tail.split_at(values.byte_offset());
        let escapes = quoted.replace("\\\\", "").replace("\\\"", "").replace("\\n", "");
        assert!(!escapes.contains('\\'), "no other mark is escaped: {quoted}");
        labels.insert(name.to_owned(), value);
        match tail.strip_prefix(',') {
            Some(more) => rest = more,
            None => return (labels, tail.strip_prefix('}').unwrap()),
        }
    }
}

fn shown(report: &Report) -> Text {
    read(&written(|out| write(report, out)))
}

#[test]
fn what_is_read_is_what_the_report_says() {
    let report = golden();
    let text = shown(&report);
    for cell in &report.cells {
        let named = |((name, labels), _): &(&(String, BTreeMap<String, String>), &f64)| {
            name != "charz_cell_status"
                && labels.get("kernel") == Some(&cell.kernel)
                && labels.get("mapping") == Some(&cell.mapping)
                && labels.get("workers") == Some(&cell.workers.to_string())
        };
        let found: Vec<f64> = text.samples.iter().filter(named).map(|(_, value)| *value).collect();
        match cell.value() {
            None => assert!(found.is_empty(), "{}", point::name(cell)),
            Some(value) => {
                let factor = FAMILIES.iter().find_map(|family| (family.factor)(cell.unit)).unwrap();
                assert!(found.contains(&(value * factor)), "{found:?} lacks {value}");
            }
        }
    }
    let count: f64 = text.samples.iter().filter(|((name, _), _)| name == "charz_cells").map(|(_, count)| count).sum();
    assert_eq!(count as usize, report.cells.len(), "every cell is counted");
}

#[test]
fn every_name_has_its_type_and_its_unit() {
    let text = shown(&golden());
    for ((_, name), kind) in text.about.iter().filter(|((kind, _), _)| kind == "TYPE") {
        assert!(text.about("HELP", name).is_some(), "{name}");
        assert_eq!(kind, "gauge", "a text file collector knows no other type of ours");
        if let Some(unit) = text.about("UNIT", name) {
            assert!(name.ends_with(&format!("_{unit}")), "{name} is in {unit}");
        }
    }
    assert!(text.samples.keys().any(|(name, _)| name == "charz_report_complete"));
    for (name, labels) in text.samples.keys() {
        assert!(labels.contains_key("host"), "{name}");
    }
}

#[test]
fn a_later_report_of_the_same_plan_continues_the_series() {
    let first = golden();
    let mut later = golden();
    (later.id, later.started) = ("another".into(), "2031-05-06T07:08:09Z".into());
    let series = |report: &Report| {
        let names = shown(report).samples.into_keys();
        names.filter(|(name, _)| name != "charz_report_info").collect::<Vec<_>>()
    };
    assert_eq!(series(&first), series(&later));
    let ids = |report: &Report| {
        let names = shown(report).samples.into_keys();
        names.filter_map(|(_, labels)| labels.get("report").cloned()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&later), ["another"]);
}

#[test]
fn parameters_are_labels_that_people_read_and_none_hides_another() {
    use charz_data::report::fixtures::{cell, report};
    // 3 bytes apart: a rounded label would be the same.
    let sizes = [48 << 20, (48 << 20) + 3];
    let mut cells = sizes.map(|size| cell("mem-read", 1, Unit::BytesPerSecond, 2e9).sized(size));
    cells[1].point.ops_per_load = Some(7);
    let text = shown(&report(cells.to_vec()));
    let of = |label: &str| {
        let throughput = text.samples.keys().filter(|(name, _)| name == "charz_throughput_bytes_per_second");
        throughput.filter_map(|(_, labels)| labels.get(label).cloned()).collect::<Vec<_>>()
    };
    assert_eq!(of("size").len(), 2);
    assert!(of("size").contains(&"48 MiB".to_owned()), "{:?}", of("size"));
    assert_eq!(of("ops_per_load"), ["7"]);
}

#[test]
fn invalid_cells_are_counted_and_have_no_number() {
    let mut report = golden();
    for cell in &mut report.cells {
        cell.status = Status::Invalid;
    }
    let text = shown(&report);
    assert!(text.samples.keys().all(|(name, labels)| name == "charz_cell_status" || !labels.contains_key("kernel")));
    let is_invalid = |((name, labels), _): &(&(String, BTreeMap<String, String>), &f64)| {
        name == "charz_cells" && labels.get("status").is_some_and(|status| status == "invalid")
    };
    assert_eq!(text.samples.iter().find(is_invalid).map(|(_, count)| *count), Some(report.cells.len() as f64));
}

#[test]
fn a_status_is_no_label_of_a_number_and_one_of_a_set() {
    let suspect = golden();
    let mut sound = golden();
    sound.cells.iter_mut().filter(|cell| cell.status == Status::Suspect).for_each(|cell| cell.status = Status::Ok);
    let [sound, suspect] = [sound, suspect].map(|report| shown(&report).samples);
    let is_state = |name: &str| name == "charz_cell_status" || name == "charz_cells";
    let numbers = |samples: &BTreeMap<(String, BTreeMap<String, String>), f64>| {
        samples
            .iter()
            .filter(|((name, _), _)| !is_state(name))
            .map(|(of, value)| (of.clone(), *value))
            .collect::<Vec<_>>()
    };
    assert_eq!(numbers(&sound), numbers(&suspect));
    for samples in [&sound, &suspect] {
        let states = samples.iter().filter(|((name, _), _)| name == "charz_cell_status");
        let (count, sum) = states.fold((0, 0.0), |(count, sum), (_, value)| (count + 1, sum + value));
        let cells = golden().cells.len();
        assert_eq!((count, sum), (cells * Status::ALL.len(), cells as f64), "each cell has one of all states");
    }
    assert_ne!(sound, suspect);
}

#[test]
fn hostile_labels_come_back_as_one_line() {
    let text = shown(&hostile());
    let kernels: Vec<&String> = text.samples.keys().filter_map(|(_, labels)| labels.get("kernel")).collect();
    assert!(!kernels.is_empty());
    for kernel in kernels {
        assert!(kernel.contains('"') && kernel.chars().all(charz_data::escape::is_harmless), "{kernel:?}");
    }
}
