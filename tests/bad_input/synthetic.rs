//! Synthetic descriptions that describe no machine.

use super::place::Place;

/// The package that reads descriptions lists what it refuses; here the flag is named, and nothing is written.
#[test]
fn descriptions_that_are_none() {
    let place = Place::new();
    for (what, text, words) in [
        ("no package", "Package:0 PU:1", &["count 0 of level Package", "from 1 on"][..]),
        ("a level without a count", "pack:2 core", &["\"core\"", "write core:2"]),
        ("no strands", "pack:2 core:2", &["end with PU", "such as PU:2"]),
        ("a size that is none", "l2:1(size=1XB) pu:2", &["\"1XB\"", "such as 32MiB"]),
        ("what steers a terminal", "pu:\u{1b}[2J", &[r"\u{1b}"]),
        ("a file that is not there", "", &["\"\"", "no such file", "such as Package:4 Core:16 PU:8"]),
    ] {
        for verb in [&["topo"][..], &["map", "--mapping", "dumb", "--threads", "1"]] {
            let args = [verb, &["--topology", text]].concat();
            place.refuses(what, &args, &[&["topology"], words].concat());
        }
    }
    // A NUL character ends an argument, so none can be typed.
    assert!(place.charz().args(["topo", "--topology", "pu:1\0"]).output().is_err());
}
