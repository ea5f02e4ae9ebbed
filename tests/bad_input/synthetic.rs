//! Synthetic descriptions that describe no machine.

use super::place::Place;

#[test]
fn descriptions_that_are_none() {
    let place = Place::new();
    let long = "pu:1 ".repeat(20_000);
    let deep = format!("{}pu:1", "group:1 ".repeat(200));
    for (what, text, words) in [
        ("no strand", "pu:0", &["\"pu:0\"", "whole number from 1 on"][..]),
        ("no package", "Package:0 PU:1", &["count 0 of level Package", "from 1 on"]),
        ("fewer than none", "pu:-1", &["\"-1\"", "from 1 on"]),
        ("an exponent", "pu:1e9", &["\"1e9\"", "from 1 on"]),
        ("an octal number", "pu:010", &["\"010\"", "from 1 on"]),
        ("a sign", "pu:+1", &["\"+1\"", "from 1 on"]),
        ("a digit of another script", "pu:\u{664}", &["'\u{664}'"]),
        ("a billion strands", "pu:1000000000", &["65536", "the limit"]),
        ("a product beyond the limit", "pack:256 core:257 pu:1", &["65536", "the limit"]),
        ("a product beyond 32 bits", "pack:65536 core:65536 pu:2", &["65536", "the limit"]),
        ("a product beyond 64 bits", "pack:4294967296 core:4294967296 pu:2", &["65536", "the limit"]),
        ("a count beyond 64 bits", "pu:99999999999999999999", &["\"99999999999999999999\""]),
        ("levels from the inside out", "core:2 pack:2 pu:2", &["Package cannot be inside Core", "outside in"]),
        ("a type that does not exist", "foo:2", &["\"foo\"", "there are Group, Package"]),
        ("a level without a count", "pack:2 core", &["\"core\"", "write core:2"]),
        ("no strands", "pack:2 core:2", &["end with PU", "such as PU:2"]),
        ("strands in strands", "pu:2 pu:2", &["PU is there twice"]),
        ("an index twice", "pu:2(indexes=0,0)", &["index 0 stands twice"]),
        ("an index beyond 32 bits", "pu:2(indexes=0,4294967296)", &["\"4294967296\"", "such as 0,2,1,3"]),
        ("an index too many", "pu:2(indexes=0,1,2)", &["3 indexes for 2 parts"]),
        ("an index too few", "pu:3(indexes=0,1)", &["2 indexes for 3 parts"]),
        ("an open round bracket", "pu:2(indexes=0,1", &["bracket is not closed", "such as (size=32MiB)"]),
        ("an open square bracket", "pack:2 [numa pu:1", &["bracket is not closed", "write [NUMA]"]),
        ("a bracket that nothing opens", "pu:2]", &["\"2]\""]),
        ("a size that is none", "l2:1(size=1XB) pu:2", &["\"1XB\"", "such as 32MiB"]),
        ("100 KiB", &long, &["longer than 64 KiB"]),
        ("too many levels", &deep, &["more than 100 levels"]),
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
