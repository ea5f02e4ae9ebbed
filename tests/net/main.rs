//! What every command and every format makes of reports: 185 of them, drawn by code, measured, or made of tables, and what is printed of each, recorded.
//!
//! `cargo insta review` (or `INSTA_UPDATE=always cargo test -p charz --test net`, and `git diff`) shows what a change does to what readers
//! see.

mod draw;
mod groups;
mod pages;
mod shown;

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use charz_data::at_once;
use draw::{Drawn, drawn};
use shown::Place;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Checks texts by their names against what was recorded; all that differ are shown, and then named.
fn check(folder: &str, texts: BTreeMap<String, String>) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(root().join("tests/net/recorded").join(folder));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let differs = |(name, text): (&String, &String)| {
        let checked = || settings.bind(|| insta::assert_snapshot!(name.as_str(), text));
        catch_unwind(AssertUnwindSafe(checked)).is_err().then(|| name.clone())
    };
    let different: Vec<String> = texts.iter().filter_map(differs).collect();
    assert!(different.is_empty(), "{} of {} differ: {}", different.len(), texts.len(), different.join(", "));
    // What is recorded of a report that is no more drawn would never differ.
    let recorded = fs::read_dir(root().join("tests/net/recorded").join(folder)).unwrap();
    let names = recorded.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let left: Vec<String> =
        names.filter(|name| name.strip_suffix(".snap").is_some_and(|name| !texts.contains_key(name))).collect();
    assert!(left.is_empty(), "recorded, and no more drawn: {}", left.join(", "));
}

/// The texts of these, by their names.
fn texts<T: Sync>(all: &[T], text: impl Fn(&T) -> (String, String) + Sync) -> BTreeMap<String, String> {
    let texts: BTreeMap<String, String> = at_once(all, text).into_iter().collect();
    assert_eq!(texts.len(), all.len(), "two have one name");
    texts
}

#[test]
fn of_reports_that_are_drawn() {
    let all = drawn();
    assert!(all.len() >= 150, "{}", all.len());
    check(
        "drawn",
        texts(&all, |Drawn { name, report }| {
            let place = Place::new();
            place.put("report.json", report);
            (name.clone(), place.of_one(name))
        }),
    );
}

#[test]
fn of_reports_that_were_measured() {
    let folder = root().join("tests/golden/reports-1");
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.to_str().unwrap().ends_with(".json.gz"));
    files.sort();
    check(
        "measured",
        texts(&files, |file| {
            let place = Place::new();
            fs::copy(file, place.path().join("report.json")).unwrap();
            let name = file.file_name().unwrap().to_str().unwrap().trim_end_matches(".json.gz").to_owned();
            let text = place.of_one(&name);
            (name, text)
        }),
    );
}

#[test]
fn of_several_reports() {
    let all = groups::groups();
    check(
        "several",
        texts(&all, |group| {
            let place = Place::new();
            group.reports.iter().for_each(|(file, report)| place.put(file, report));
            let lines = group.lines.iter().map(|line| place.shown(line));
            (group.name.to_owned(), lines.collect())
        }),
    );
}

#[test]
fn of_tables_of_other_programs() {
    let folder = root().join("tests/net/tables");
    let files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    check(
        "tables",
        texts(&files, |file| {
            let place = Place::new();
            fs::copy(file, place.path().join("table")).unwrap();
            let lines = [
                "import table",
                "import table --format json --output report.json",
                "advise report.json",
                "advise report.json --format json",
                "predict report.json --mapping compact --threads 5",
            ];
            let text = lines.iter().map(|line| place.shown(line)).collect();
            (file.file_stem().unwrap().to_str().unwrap().to_owned(), text)
        }),
    );
}
