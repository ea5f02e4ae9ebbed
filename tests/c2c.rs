//! `charz c2c` on this machine.

use std::ffi::OsStr;
use std::path::Path;

use crate::bad_input::place::Place;
use crate::derived::with_derived;
use crate::support::{Ran, output, read_json, run};

/// The strands that this process may use.
fn strands() -> Vec<u64> {
    let machine: serde_json::Value = serde_json::from_str(&output(&["topo", "--format", "json"])).unwrap();
    let all = machine["strands"].as_array().unwrap().clone();
    let usable = all.into_iter().filter(|strand| strand["usable"] == true);
    usable.map(|strand| strand["os_id"].as_u64().unwrap()).collect()
}

/// Measures the first two strands, few times.
#[track_caller]
fn measure(file: &Path, arguments: &[&str]) -> Option<Ran> {
    let &[first, second, ..] = &strands()[..] else {
        println!("skipped: a pair takes two strands, and this process may use one");
        return None;
    };
    let list = format!("{first},{second}");
    let base = ["c2c", "--cpus", &list, "--invocations", "2", "--seed", "1", "--output"].map(OsStr::new);
    let ran = run(base.into_iter().chain([file.as_os_str()]).chain(arguments.iter().map(OsStr::new)));
    // On a busy machine it may be that no repetition counts; the report says so, and has the same shape.
    assert!(matches!(ran.code, Some(0 | 3 | 5)) && file.exists(), "{}", ran.err);
    Some(ran)
}

#[test]
fn a_matrix_comes_from_an_ordinary_report() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.json");
    let Some(ran) = measure(&file, &["--mode", "cas,read-write"]) else { return };
    for word in ["c2c-cas", "c2c-read-write", "The time of one way", "report: "] {
        assert!(ran.out.contains(word) || ran.code != Some(0), "{word}: {}", ran.out);
    }
    let report = read_json(&file);
    assert_eq!(
        (&report["plan"]["kernels"], &report["plan"]["seed"]),
        (&serde_json::json!(["c2c-read-write", "c2c-cas"]), &1.into())
    );
    let cells = report["cells"].as_array().unwrap();
    assert!([2, 4].contains(&cells.len()), "both ways where there are two homes: {}", cells.len());
    for cell in cells {
        assert_eq!((&cell["workers"], &cell["unit"]), (&2.into(), &"nanoseconds_per_op".into()));
        for run in cell["runs"].as_array().unwrap().iter().flat_map(|one| one["iterations"].as_array().unwrap()) {
            let ways: Vec<u64> =
                run["laps"].as_array().unwrap().iter().map(|lap| lap["ops"].as_u64().unwrap()).collect();
            assert!(ways.len() == 2 && ways[0] == ways[1] && ways[0] > 0, "{ways:?}");
        }
    }
    let again = output(&["render", file.to_str().unwrap()]);
    assert!(ran.out.starts_with(&again), "{again}");
}

#[test]
fn programs_get_a_row_for_each_pair_or_the_report() {
    let folder = tempfile::tempdir().unwrap();
    let [csv_file, json_file] = ["c.json", "j.json"].map(|name| folder.path().join(name));
    let Some(ran) = measure(&csv_file, &["--format", "csv", "--mode", "exchange"]) else { return };
    let report = read_json(&csv_file);
    let mut rows = csv::Reader::from_reader(ran.out.as_bytes());
    let headers = rows.headers().unwrap().clone();
    let column = |name: &str| headers.iter().position(|header| header == name).unwrap();
    let (mapping, value, status) = (column("mapping"), column("value"), column("status"));
    let rows: Vec<_> = rows.records().map(Result::unwrap).collect();
    let cells = report["cells"].as_array().unwrap();
    assert_eq!(rows.len(), cells.len());
    for (row, cell) in rows.iter().zip(cells) {
        assert_eq!(&row[mapping], cell["mapping"].as_str().unwrap());
        // Where the machine was too busy for a run, what the others came to is in the report and is no result.
        assert_eq!(row[value].parse().ok(), cell["value"].as_f64(), "{row:?}");
        assert_eq!(&row[status], cell["status"].as_str().unwrap());
    }
    assert!(ran.err.contains("report: "), "{}", ran.err);
    assert_eq!(ran.out, output(&["render", csv_file.to_str().unwrap(), "--format", "csv"]));

    let Some(ran) = measure(&json_file, &["--format", "json", "--mode", "fetch-add"]) else { return };
    let found = with_derived(serde_json::from_str(&ran.out).unwrap());
    assert_eq!(found, read_json(&json_file));
}

#[test]
fn a_plan_tells_kinds_of_pairs_and_measures_none() {
    let place = Place::new();
    let ran: Ran = place.charz().args(["c2c", "--dry-run", "--all-pairs"]).output().unwrap().into();
    let strands = strands().len();
    if strands < 2 {
        assert_eq!(ran.code, Some(2), "{}", ran.err);
        return;
    }
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.starts_with("distance") && ran.out.contains("to measure"), "{}", ran.out);
    // On a busy machine the first runs may be slow enough for a plan that does not fit, which says so.
    let fits = ran.err.is_empty();
    assert!(fits || ran.err.contains("of the budget is left"), "{}", ran.err);
    assert!(!fits || ran.out.contains(", then refined until 5 min 00 s"), "{}", ran.out);
    let json: Ran = place.charz().args(["c2c", "--dry-run", "--all-pairs", "--json"]).output().unwrap().into();
    let plan: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert!(plan["plan"].as_array().unwrap().iter().all(|cell| cell["kernel"] == "c2c-cas"), "{plan}");
    let files = std::fs::read_dir(place.path()).unwrap().count();
    assert_eq!(files, 1, "nothing but the user's own file");
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let place = Place::new();
    let first = &strands()[0].to_string();
    let [unknown, twice] = ["1048575", first].map(|other| format!("{first},{other}"));
    for (what, args, words) in [
        (
            "a way that there is not",
            &["--mode", "cass"][..],
            &["--mode", "\"cass\"", "did you mean cas?", "exchange"][..],
        ),
        ("no way", &["--mode", ""], &["--mode", "\"\"", "read-write"]),
        ("a strand that is not there", &["--cpus", &unknown], &["--cpus", "1048575"]),
        ("a strand beyond any", &["--cpus", "0,99999999"], &["--cpus", "99999999", "example"]),
        ("one strand", &["--cpus", first], &["--cpus", "two CPUs", "the list has 1"]),
        ("a strand twice", &["--cpus", &twice], &["--cpus", &format!("CPU {first}"), "twice"]),
        ("no list", &["--cpus", "all"], &["--cpus", "\"all\"", "0-3,8"]),
        ("an empty list", &["--cpus", ""], &["--cpus", "\"\""]),
        ("a range that runs backwards", &["--cpus", "1-0"], &["--cpus", "1-0", "backwards"]),
        ("a format of one figure", &["--format", "svg"], &["--format", "\"svg\"", "table, csv, json"]),
        ("no time", &["--budget", "0s"], &["--budget", "no time"]),
        (
            "an interval without invocations",
            &["--invocations", "5", "--precision", "1%"],
            &["--precision", "--invocations"],
        ),
        ("a seed that is none", &["--seed", "-1"], &["--seed", "\"-1\""]),
        ("a file of the user's", &["--output", "mine.json"], &["\"mine.json\" exists", "--force"]),
        ("workers", &["--threads", "4"], &["'--threads'"]),
    ] {
        place.refuses(what, &[&["c2c"], args].concat(), words);
    }
}

#[test]
fn the_line_may_be_on_a_node_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.json");
    let nodes: serde_json::Value = serde_json::from_str(&output(&["topo", "--format", "json"])).unwrap();
    let has_memory = |node: &&serde_json::Value| node["usable"] == true;
    let node = nodes["numa_nodes"].as_array().unwrap().iter().find(has_memory).unwrap()["os_id"].clone();
    let Some(ran) = measure(&file, &["--home", &node.to_string()]) else { return };
    assert!(ran.code != Some(0) || ran.out.contains(&format!("lines on node:{node}")), "{}", ran.out);
    let cells = read_json(&file)["cells"].as_array().unwrap().clone();
    assert!(cells.iter().all(|cell| cell["point"]["memory"]["node"] == node), "{:?}", cells[0]["point"]);

    let ran = run(["c2c", "--home", "4096", "--dry-run"]);
    assert!(ran.code == Some(2) && ran.err.contains("--home: "), "{}", ran.err);
}
