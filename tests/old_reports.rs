//! Reports, histories and collections that commits of charz 0.1 wrote, on different days, by different commands, on this and on booted
//! machines: all are read for ever.
//!
//! `tests/golden/reports-1` has them as they were written; the name of each begins with its day.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use charz_data::report::unpacked;
use serde_json::Value;

use crate::place::{Place, run};
use crate::support::root;

fn files(ending: &str) -> Vec<PathBuf> {
    let folder = fs::read_dir(root().join("tests/golden/reports-1")).unwrap();
    let mut files: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.to_str().unwrap().ends_with(ending));
    files.sort();
    assert!(!files.is_empty(), "{ending}");
    files
}

/// What a command prints of a file in a place, and its note.
#[track_caller]
fn shown(place: &Place, args: &[&str]) -> String {
    let mut command = place.charz();
    command.args(args);
    let ran = run("an old report", command);
    assert!(matches!(ran.code, Some(0 | 5)), "{args:?}: {:?}: {}", ran.code, ran.err);
    let notes = ran.err.lines().filter(|line| line.starts_with("charz: note: written by charz 0.1.0")).count();
    assert_eq!(notes, 1, "{args:?}: {}", ran.err);
    ran.out
}

/// Checks that all that an old value has under the names of now is what the new one has.
#[track_caller]
fn check_kept(old: &Value, new: &Value, at: &str) {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            for (name, value) in new {
                let Some(before) = old.get(name) else { continue };
                check_kept(before, value, &format!("{at}.{name}"));
            }
        }
        (Value::Array(old), Value::Array(new)) => {
            assert_eq!(old.len(), new.len(), "{at}");
            old.iter().zip(new).for_each(|(old, new)| check_kept(old, new, at));
        }
        _ => assert_eq!(old, new, "{at}"),
    }
}

fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

#[test]
fn nothing_that_was_measured_is_lost() {
    let place = Place::new();
    let mut days = BTreeSet::new();
    let all = files(".json.gz");
    assert!(all.len() >= 20, "{}", all.len());
    for file in all {
        let name = file.file_name().unwrap().to_str().unwrap();
        days.insert(name[..10].to_owned());
        let old: Value = serde_json::from_slice(&unpacked(name, fs::File::open(&file).unwrap()).unwrap()).unwrap();
        assert_eq!((&old["schema"]["major"], &old["tool"]["version"]), (&1.into(), &"0.1.0".into()), "{name}");
        let new: Value =
            serde_json::from_str(&shown(&place, &["render", file.to_str().unwrap(), "--format", "json"])).unwrap();
        assert_eq!(new["schema"]["major"], 2);
        for part in ["id", "started", "host", "machine", "timer", "plan", "tool", "complete", "stopped_by", "wall_ns"] {
            check_kept(&old[part], &new[part], &format!("{name}: {part}"));
        }
        let mut runs = 0;
        for part in ["floor", "cells"] {
            let (before, after) = (list(&old, part), list(&new, part));
            assert_eq!(before.len(), after.len(), "{name}");
            for (old, new) in before.iter().zip(after) {
                check_kept(&old["seats"], &new["seats"], name);
                assert_eq!((&old["kernel"], &old["mapping"]), (&new["kernel"], &new["mapping"]), "{name}");
                for (was, is) in [("invocations", "runs"), ("counted", "counted")] {
                    let (before, after) = (list(old, was), list(new, is));
                    assert_eq!(before.len(), after.len(), "{name}");
                    for (old, new) in before.iter().zip(after) {
                        assert_eq!((&old["seed"], &old["ending"]), (&new["seed"], &new["ending"]), "{name}");
                        check_kept(&old["runs"], &new["iterations"], name);
                        runs += 1;
                    }
                }
            }
        }
        assert!(runs > 0, "{name}");
        // An emulator gives no number.
        let has_value = |cell: &&Value| cell["value"].is_number();
        assert!(
            list(&new["derived"], "cells").iter().any(|cell| has_value(&cell)) || name.contains("booted"),
            "{name}"
        );
    }
    assert!(days.len() >= 7, "{days:?}");
}

#[test]
fn every_command_takes_them() {
    let place = Place::new();
    for file in files(".json.gz") {
        let file = file.to_str().unwrap();
        for format in ["summary", "table", "csv", "runs-csv", "html", "markdown"] {
            assert!(!shown(&place, &["render", file, "--format", format]).is_empty(), "{file} {format}");
        }
        shown(&place, &["advise", file]);
        shown(&place, &["compare", file, file, "--allow-suspect"]);
        shown(&place, &["render", file, "--anonymous"]);
    }
}

#[test]
fn histories_and_collections_are_read_and_added_to() {
    let place = Place::new();
    let of_now = crate::fixtures::report(&[crate::fixtures::cell("arith-int", 1, 1e9)]);
    place.put("now.json", of_now.to_string().as_bytes());
    for file in files("-history.db") {
        fs::copy(&file, place.path().join("h.db")).unwrap();
        let listed = place.accepts("an old history", &["history", "list", "--db", "h.db"], &[]);
        assert!(listed.contains("0.1.0"), "{file:?}: {listed}");
        let text = place.accepts("an old history", &["history", "show", "1", "--db", "h.db"], &[]);
        assert!(text.contains("arith-int"), "{file:?}: {text}");
    }
    for file in files("-fleet.db") {
        fs::copy(&file, place.path().join("f.db")).unwrap();
        place.accepts("an old collection", &["fleet", "add", "now.json", "--db", "f.db"], &[]);
        let mut command = place.charz();
        command.args(["fleet", "show", "f.db"]);
        let ran = run("an old collection", command);
        assert!(matches!(ran.code, Some(0 | 1 | 5)) && ran.out.contains("node"), "{file:?}: {} {}", ran.out, ran.err);
    }
}
