//! What every format keeps to.

use serde_json::Value as Json;

use super::*;
use crate::history::invented::{around, entries, series};
use crate::report::{Status, Unit};

const EVIL: &str = "=1|<script>\n\u{1b}[2J\u{202e}\"";

/// Twenty reports; the first of two series changes, has a gap and a suspect value, and every name is hostile.
fn timeline() -> Timeline {
    let mut entries = entries(20, 12);
    for entry in &mut entries {
        entry.label = Some(EVIL.into());
        entry.head.host.name = Some(EVIL.into());
        entry.head.tool.version = EVIL.into();
    }
    entries[12].head.host.frequency_governor = Some(EVIL.into());
    entries[11].head.host.frequency_governor = Some("performance".into());
    let mut values = [around(1e9, 10), vec![None, None], around(0.9e9, 8)].concat();
    values[3] = None;
    let mut changed = series(EVIL, Unit::BytesPerSecond, &values);
    changed.mapping = EVIL.into();
    changed.values[3].reason = Some(EVIL.into());
    changed.values[15].status = Status::Suspect;
    Timeline::new(entries, vec![changed, series("calm", Unit::Nanoseconds, &around(5.0, 8))])
}

fn shown(write: impl Fn(&View<'_>, &mut dyn Write) -> io::Result<()>) -> String {
    let timeline = timeline();
    let view = View { timeline: &timeline, tracks: timeline.tracks.iter().collect() };
    let mut out = Vec::new();
    write(&view, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn plotted(name: &str) -> String {
    shown(PLOTS.iter().find(|format| format.name == name).unwrap().write)
}

fn listed(name: &str) -> String {
    let write = LISTS.iter().find(|format| format.name == name).unwrap().write;
    shown(|view, out| write(&view.timeline.entries, out))
}

#[test]
fn hostile_names_steer_nothing() {
    for text in PLOTS.iter().map(|format| plotted(format.name)).chain(LISTS.iter().map(|format| listed(format.name))) {
        let odd = text.chars().find(|mark| *mark != '\n' && !crate::render::text::is_harmless(*mark));
        assert_eq!(odd, None, "{text}");
        assert!(text.contains("script"), "{text}");
    }
    for text in [plotted("csv"), listed("csv")] {
        let mut rows = csv::Reader::from_reader(text.as_bytes());
        let formulas = rows.records().flat_map(|row| row.unwrap().iter().map(str::to_owned).collect::<Vec<_>>());
        assert!(formulas.into_iter().all(|field| !field.starts_with('=')), "{text}");
    }
}

#[test]
fn the_table_tells_changes_doubts_and_gaps() {
    let text = plotted("table");
    for words in [
        "between reports",
        "10 (2026-01-10) and 13 (2026-01-13)",
        "-10.",
        "904 MB/s",
        "system's kernel Linux 1 -> Linux 2",
        " ?",
    ] {
        assert!(text.contains(words), "{words:?} is missing: {text}");
    }
    assert!(text.contains("fewer than 10 values: 1 of 2 series"), "{text}");
    let calm = text.lines().find(|line| line.starts_with("calm")).unwrap();
    assert!(calm.contains(" 8 ") && calm.trim_end().ends_with('0'), "{calm}");
}

#[test]
fn json_has_the_numbers_and_no_number_for_a_gap() {
    let json: Json = serde_json::from_str(&plotted("json")).unwrap();
    let series = &json["series"][0];
    assert_eq!(series["values"].as_array().unwrap().len(), 20);
    assert_eq!((&series["values"][3]["value"], &series["values"][3]["status"]), (&Json::Null, &"invalid".into()));
    let change = &series["changes"][0];
    assert_eq!((&change["before"]["last_report"], &change["after"]["first_report"]), (&10.into(), &13.into()));
    assert_eq!(change["after"]["suspect"], 1);
    assert!((change["effect"].as_f64().unwrap() - 0.9).abs() < 0.01);
    assert_eq!(json["reports"].as_array().unwrap().len(), 20);
    let list: Json = serde_json::from_str(&listed("json")).unwrap();
    assert_eq!(list["reports"], json["reports"]);
}

#[test]
fn csv_has_a_row_a_value_with_its_segment() {
    let text = plotted("csv");
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let headers = reader.headers().unwrap().clone();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let column =
        |row: usize, name: &str| rows[row][headers.iter().position(|header| header == name).unwrap()].to_owned();
    assert_eq!(rows.len(), 28);
    assert_eq!((column(3, "value"), column(3, "low"), column(3, "segment")), Default::default());
    assert_eq!((column(9, "segment"), column(12, "segment")), ("1".into(), "2".into()));
    assert_eq!((column(12, "unit"), column(27, "kernel")), ("B/s".into(), "calm".into()));
}

#[test]
fn an_empty_history_says_so() {
    let mut out = Vec::new();
    for format in LISTS {
        (format.write)(&[], &mut out).unwrap();
    }
    assert!(String::from_utf8(out).unwrap().starts_with("no report is in this history yet\n"));
}

#[test]
fn what_was_added_is_told_with_what_became_other() {
    let entries = timeline().entries;
    let addition = |id: i64| Addition {
        file: format!("{EVIL}{id}").into(),
        text: String::new(),
        report: entries[id as usize - 1].head.clone(),
    };
    let added = [Added::New(13), Added::Same(3)];
    let mut out = Vec::new();
    write_added(&[addition(13), addition(3)], &added, &entries, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines.len() == 2 && text.chars().all(|mark| mark == '\n' || crate::render::text::is_harmless(mark)),
        "{text}"
    );
    assert!(lines[0].starts_with("report 13: ") && lines[0].contains("system's kernel Linux 1 -> Linux 2"), "{text}");
    assert!(lines[1].contains("nothing changed"), "{text}");
}
