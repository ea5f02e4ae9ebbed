//! `charz c2c` on this machine.

use std::ffi::OsStr;
use std::path::Path;

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
    let base = ["c2c", "--cpus", &list, "--runs", "2", "--seed", "1", "--output"].map(OsStr::new);
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
        let is_empty = ran.code != Some(0) || ran.out.contains("no results");
        assert!(ran.out.contains(word) || is_empty, "{word}: {}", ran.out);
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
    // Why a kernel has no number is no row of the matrix.
    let rows: Vec<&str> = again.lines().filter(|line| line.starts_with("c2c-") && line.contains(" ns")).collect();
    // Where nothing has a number the command says why by itself.
    let is_empty = again.contains("no results");
    assert!(is_empty || !rows.is_empty() && rows.iter().all(|row| ran.out.contains(row)), "{again}");
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
