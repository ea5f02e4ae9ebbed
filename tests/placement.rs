//! `charz map`: the source document's order, and the words of other tools.

use crate::support::{T3_4, check_golden, output};

fn seats(mapping: &str, threads: &str, topology: &str) -> Vec<Option<u64>> {
    let text = output(&["map", "--mapping", mapping, "--threads", threads, "--topology", topology, "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["mapping"], mapping);
    assert_eq!(json["threads"].to_string(), threads);
    json["seats"].as_array().unwrap().iter().map(serde_json::Value::as_u64).collect()
}

#[test]
fn dumb_loads_the_first_packages_twice_at_768() {
    let seats = seats("dumb", "768", T3_4);
    let on_package = |package: u64| seats.iter().filter(|seat| seat.unwrap() / 128 == package).count();
    assert_eq!([0, 1, 2, 3].map(on_package), [256, 256, 128, 128]);
}

#[test]
fn auto_floats() {
    assert_eq!(seats("auto", "3", T3_4), [None, None, None]);
}

#[test]
fn what_other_tools_call_a_mapping_is_known_by_our_name() {
    let mapping = |name: &str| {
        let args = ["map", "--placement", name, "--threads", "2", "--topology", T3_4, "--format", "json"];
        serde_json::from_str::<serde_json::Value>(&output(&args)).unwrap()["mapping"].clone()
    };
    assert_eq!(mapping("scatter"), "round-robin");
    assert_eq!(mapping("S0:0@S1:0"), "likwid:S0:0@S1:0");
}

#[test]
fn the_words_of_other_tools() {
    let tools = charz_words::launch::TOOLS.iter().map(|tool| tool.name);
    for format in ["table", "json"].into_iter().chain(tools) {
        let mut text = String::new();
        for (mapping, threads) in [("round-robin", "6"), ("list:3,1", "4"), ("auto", "2")] {
            text += &format!("$ charz map --mapping {mapping} --threads {threads} --format {format}\n");
            text += &output(&[
                "map",
                "--mapping",
                mapping,
                "--threads",
                threads,
                "--format",
                format,
                "--topology",
                "Package:2 Core:2 PU:2",
            ]);
        }
        check_golden(&format!("map-{format}.txt"), &text);
    }
}
