//! Memory by NUMA node, and what `charz topo` says of a machine that was measured.

use std::ffi::OsStr;
use std::path::Path;

use crate::bad_input::place::Place;
use crate::derived::with_derived;
use crate::support::{Ran, output, read_json, run};

/// NUMA nodes of this machine.
fn nodes() -> usize {
    let machine: serde_json::Value = serde_json::from_str(&output(&["topo", "--format", "json"])).unwrap();
    machine["numa_nodes"].as_array().unwrap().len()
}

/// A sweep over small blocks in all the places where memory may be.
fn places(file: &Path) -> Ran {
    let words = ["sweep", "--kernel", "mem-read", "--threads", "1", "--mapping", "dumb", "--size", "1MiB"];
    let more = [
        "--memory",
        "local,first,remote,interleaved,node:0",
        "--invocations",
        "1",
        "--seed",
        "1",
        "--verbose",
        "--output",
    ];
    let ran = run(words.iter().chain(&more).map(OsStr::new).chain([file.as_os_str()]));
    ran.check_swept();
    ran
}

#[test]
fn memory_is_put_and_found_where_it_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.json");
    let ran = places(&file);
    let report = read_json(&file);
    let cells = report["cells"].as_array().unwrap();
    let homes: Vec<String> = cells.iter().map(|cell| cell["point"]["memory"].to_string()).collect();
    assert_eq!(homes, ["\"local\"", "\"first\"", "\"remote\"", "\"interleaved\"", "{\"node\":0}"]);
    for cell in cells {
        let memory = cell["point"]["memory"].as_str().unwrap_or("node");
        if nodes() == 1 && !["local", "node"].contains(&memory) {
            let reason = cell["reason"].as_str().unwrap();
            assert_eq!(cell["status"], "skipped", "{memory}");
            assert!(reason.starts_with("one NUMA node here"), "{reason}");
            continue;
        }
        let Some(found) = cell["runs"][0]["evidence"]["nodes"].as_object() else {
            println!("skipped: {}", cell["runs"][0]["reason"]);
            continue;
        };
        let asked = found["asked_bytes"].as_u64();
        assert_eq!(asked.is_none(), memory == "local", "{found:?}");
        assert!(asked.is_none_or(|asked| asked > 0), "{found:?}");
    }
    assert!(ran.out.contains("memory") && ran.out.contains("node:0"), "{}", ran.out);
}

#[test]
fn a_report_has_the_squares_of_its_nodes_and_a_card() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.json");
    places(&file);
    assert_eq!(output(&["render", file.to_str().unwrap(), "--format", "table"]).contains("NUMA nodes: "), nodes() > 1);
    assert!(output(&["topo", "--measured", file.to_str().unwrap()]).contains("reported"));
    let shown = with_derived(
        serde_json::from_str(&output(&["topo", "--measured", file.to_str().unwrap(), "--format", "json"])).unwrap(),
    );
    assert_eq!(shown, read_json(&file));
}

#[test]
fn a_plan_of_all_nodes_measures_none() {
    let place = Place::new();
    // A budget that a busy machine, too, is not advised to raise.
    let args = ["numa", "--dry-run", "--size", "1MiB", "--budget", "10h"];
    let ran: Ran = place.charz().args(args).output().unwrap().into();
    assert_eq!((ran.code, ran.err.contains("one NUMA node has all memory")), (Some(0), nodes() == 1), "{}", ran.err);
    for word in ["chase-random", "mem-read", "node:0"] {
        assert!(ran.out.contains(word), "{word}: {}", ran.out);
    }
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1, "nothing but the user's own file");
}

#[test]
fn an_exported_machine_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("machine.xml");
    let synthetic = "Package:2 [NUMA(memory=1GB)] L3:1 Core:2 PU:2";
    std::fs::write(&file, output(&["topo", "--topology", synthetic, "--format", "xml"])).unwrap();
    let shown = |source: &str| output(&["topo", "--topology", source, "--format", "table"]);
    assert_eq!(shown(file.to_str().unwrap()), shown(synthetic));

    let report = folder.path().join("r.json");
    places(&report);
    let measured = ["topo", "--measured", report.to_str().unwrap(), "--format", "xml"];
    assert!(output(&measured).ends_with("</topology>\n"));
    let ran = run(measured.iter().chain(&["--topology", "PU:70"]));
    assert!(ran.code == Some(2) && ran.err.contains("another machine"), "{ran:?}");
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let place = Place::new();
    for (what, args, words) in [
        ("no place", &["sweep", "--memory", ""][..], &["--memory", "\"\"", "interleaved"][..]),
        ("a place that there is not", &["sweep", "--memory", "local,far"], &["--memory", "\"far\""]),
        ("a node that there is not", &["sweep", "--memory", "node:4711"], &["--memory", "4711", "those with memory"]),
        ("a node twice", &["sweep", "--memory", "node:0,node:0"], &["--memory", "twice"]),
        ("a node beyond any", &["sweep", "--memory", "node:99999999"], &["--memory", "99999999"]),
        ("two sizes of a matrix", &["numa", "--size", "1MiB,2MiB"], &["--size", "one size"]),
        ("a size of a matrix that follows the caches", &["numa", "--size", "curve"], &["--size", "one size"]),
        ("a format of one figure", &["numa", "--format", "svg"], &["--format", "\"svg\"", "table, csv, json"]),
        ("workers of a matrix", &["numa", "--threads", "4"], &["'--threads'"]),
        ("no time", &["numa", "--budget", "0s"], &["--budget", "no time"]),
        ("a report that is not there", &["topo", "--measured", "r.json"], &["r.json"]),
        ("no report", &["topo", "--measured", "mine.json"], &["mine.json"]),
        (
            "a card as a tree",
            &["topo", "--measured", "r.json", "--format", "tree"],
            &["--format", "table, csv, json, xml"],
        ),
        ("a card of another machine", &["topo", "--measured", "--topology", "PU:2"], &["--topology", "--format xml"]),
        (
            "time for a report that there is",
            &["topo", "--measured", "r.json", "--budget", "5s"],
            &["--budget", "--measured"],
        ),
        ("no format", &["topo", "--format", "yaml"], &["--format", "\"yaml\"", "tree"]),
    ] {
        place.refuses(what, args, words);
    }
}
