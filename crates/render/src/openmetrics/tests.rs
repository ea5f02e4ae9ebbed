//! A reader of its own for the text: what stands in a file is what the report says.

use std::collections::BTreeMap;

use charz_analysis::point;

use super::*;
use crate::formats::tests::{golden, hostile, written};

/// Samples by name and labels, and the types and units of names.
#[derive(Default)]
struct Text {
    samples: BTreeMap<(String, BTreeMap<String, String>), f64>,
    types: BTreeMap<String, String>,
    units: BTreeMap<String, String>,
    helps: BTreeMap<String, String>,
}

fn read(text: &str) -> Text {
    let mut read = Text::default();
    assert!(text.ends_with("# EOF\n"), "{text}");
    for line in text.lines() {
        if let Some(meta) = line.strip_prefix("# ") {
            let mut words = meta.splitn(3, ' ');
            let (kind, name, rest) = (words.next().unwrap(), words.next(), words.next());
            let table = match kind {
                "HELP" => &mut read.helps,
                "TYPE" => &mut read.types,
                "UNIT" => &mut read.units,
                _ => {
                    assert_eq!(meta, "EOF");
                    continue;
                }
            };
            let before = table.insert(name.unwrap().to_owned(), rest.unwrap().to_owned());
            assert_eq!(before, None, "twice: {line}");
        } else {
            let (name, rest) = line.split_at(line.find(['{', ' ']).unwrap());
            let (labels, value) = labels_of(rest);
            assert!(read.types.contains_key(name), "a sample before its type: {line}");
            let before = read.samples.insert((name.to_owned(), labels), value.trim().parse().unwrap());
            assert_eq!(before, None, "twice: {line}");
        }
    }
    read
}

/// Labels in braces, whose values are escaped as in JSON, and what stands behind them.
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
        let named = |((_, labels), _): &(&(String, BTreeMap<String, String>), &f64)| {
            labels.get("kernel") == Some(&cell.kernel)
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
    for (name, kind) in &text.types {
        assert!(text.helps.contains_key(name), "{name}");
        assert_eq!(kind, "gauge", "a text file collector knows no other type of ours");
        if let Some(unit) = text.units.get(name) {
            assert!(name.ends_with(&format!("_{unit}")), "{name} is in {unit}");
        }
    }
    assert!(text.samples.contains_key(&("charz_report_complete".to_owned(), BTreeMap::new())));
}

#[test]
fn invalid_cells_are_counted_and_have_no_number() {
    let mut report = golden();
    for cell in &mut report.cells {
        cell.outcome.status = Status::Invalid;
    }
    let text = shown(&report);
    assert!(text.samples.keys().all(|(_, labels)| !labels.contains_key("kernel")));
    let invalid = BTreeMap::from([("status".to_owned(), "invalid".to_owned())]);
    assert_eq!(text.samples[&("charz_cells".to_owned(), invalid)], report.cells.len() as f64);
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
