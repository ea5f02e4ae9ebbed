//! Memory by NUMA node, and what `charz topo` says of a machine that was measured.

use std::ffi::OsStr;
use std::path::Path;

use crate::support::{Ran, output, read_json, run};

/// NUMA nodes of this machine.
fn nodes() -> usize {
    let machine: serde_json::Value = serde_json::from_str(&output(&["topo", "--format", "json"])).unwrap();
    machine["numa_nodes"].as_array().unwrap().len()
}

/// A sweep over small blocks in all the places where memory may be.
fn places(file: &Path) -> Ran {
    let words = ["sweep", "--kernel", "mem-read", "--threads", "1", "--mapping", "dumb", "--size", "1MiB"];
    let more =
        ["--memory", "local,first,remote,interleaved,node:0", "--runs", "1", "--seed", "1", "--verbose", "--output"];
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
