//! Squares of invented numbers.

use serde_json::Value;

use super::*;
use crate::report::Format;
use charz_analysis::fixtures::{report, two};

#[track_caller]
fn shown(write: fn(&Report, &mut dyn Write) -> io::Result<()>, report: &Report) -> String {
    let mut out = Vec::new();
    write(report, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn bare(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    write(report, &Look::PLAIN, out)
}

#[test]
fn rows_are_workers_and_columns_memory() {
    let text = shown(bare, &two());
    for line in ["        on 0  on 1", "from 0   100   160", "from 0   40.0   25.0", "from 1   25.0  40.0?"] {
        assert!(text.contains(line), "{line:?}: {text}");
    }
    for words in
        ["1.60 times as long as local: 160 ns against 100 ns", "0.62 ? times the bandwidth", "claims 2.10 times"]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(!text.contains('\u{1b}'), "nobody asked for colours");
}

#[test]
fn one_node_says_that_it_is_alone() {
    let mut one = two();
    one.machine = report("Package:1 Core:2 PU:1").machine;
    one.cells.truncate(2);
    let text = shown(bare, &one);
    assert!(text.contains("one NUMA node here") && !text.contains("times as long"), "{text}");
    assert!(shown(bare, &report("NUMA:2 PU:1")).contains("nothing was measured"));
}

#[test]
fn programs_get_all_that_there_is() {
    let mut half = two();
    half.cells.remove(0);
    let found: Value = serde_json::from_str(&shown(json, &half)).unwrap();
    assert_eq!(found["latency_ns"], serde_json::json!([[null, 160.0], [160.0, 100.0]]));
    assert_eq!(found["bytes_per_second"][0], serde_json::json!([40e9, 25e9]));
    assert_eq!((&found["claimed"][0][1], &found["suspect"]), (&21.into(), &serde_json::json!([[1, 1]])));
    let text = shown(csv, &half);
    let rows: Vec<&str> = text.lines().collect();
    assert_eq!(rows[0], HEADER.join(","));
    assert_eq!(rows[1], "0,0,,,40000000000,false,10");
    assert_eq!(rows[4], "1,1,100,false,40000000000,true,10");
}

#[test]
fn every_format_takes_every_report() {
    for Format { name, write, .. } in crate::report::FORMATS {
        let mut out = Vec::new();
        write(&two(), &Look::PLAIN, &mut out).unwrap();
        assert!(!out.is_empty(), "{name}");
    }
}
