//! `charz topo` and `charz map`: machines that are known otherwise, and the words of other tools.

use std::collections::BTreeSet;

use crate::support::{T3_4, check_golden, output};

#[test]
fn the_t3_4_in_every_format() {
    for format in ["summary", "tree", "table", "boxes", "psrinfo", "lgrpinfo", "showcores"] {
        check_golden(&format!("topo-t3-4.{format}.txt"), &output(&["topo", "--topology", T3_4, "--format", format]));
    }
}

#[test]
fn strands_carry_their_place() {
    let text = output(&["topo", "--topology", T3_4, "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let strands = json["strands"].as_array().unwrap();
    assert_eq!(strands.len(), 512);
    for strand in strands {
        let number = |name: &str| strand[name].as_u64().unwrap();
        let id = number("os_id");
        let place = [number("package"), number("core"), number("alu"), number("slot")];
        assert_eq!(place, [id / 128, id / 8, id % 8 / 4, id % 4], "strand {id}");
    }
}

/// The kernel's own view of this machine, read independently of hwloc.
#[test]
fn this_machine_is_the_kernels() {
    let Ok(online) = std::fs::read_to_string("/sys/devices/system/cpu/online") else {
        println!("skipped: no /sys here");
        return;
    };
    let json: serde_json::Value = serde_json::from_str(&output(&["topo", "--format", "json"])).unwrap();
    let found: BTreeSet<u64> =
        json["strands"].as_array().unwrap().iter().map(|s| s["os_id"].as_u64().unwrap()).collect();
    let expected: BTreeSet<u64> = online
        .trim()
        .split(',')
        .flat_map(|range| {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            first.parse::<u64>().unwrap()..=last.parse().unwrap()
        })
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn the_words_of_other_tools() {
    let tools = charz_words::launch::TOOLS.iter().map(|tool| tool.name);
    for format in ["table", "json"].into_iter().chain(tools) {
        let mut text = String::new();
        for (mapping, threads) in [("round-robin", "6"), ("list:3,1", "4"), ("auto", "2")] {
            let line = format!("map --mapping {mapping} --threads {threads} --format {format}");
            let topology = ["--topology", "Package:2 Core:2 PU:2"];
            text += &format!("$ charz {line}\n{}", output(&line.split(' ').chain(topology).collect::<Vec<_>>()));
        }
        check_golden(&format!("map-{format}.txt"), &text);
    }
}
