//! Mappings that are none, or do not fit the machine.

use std::fs;

use super::place::{Place, check_harmless, run};
use super::xml::machine_with_offline_strand;
use crate::support::{T3_4, cpus};

#[test]
fn mappings_that_do_not_fit() {
    let place = Place::new();
    let digits = "f".repeat(100_000);
    let (mask, strands) = (format!("list:0x{digits}"), format!("list:{}", "0,".repeat(50_000)));
    for (what, mapping, words) in [
        ("no mapper", "rr:", &["\"rr:\"", "there are round-robin, dumb"][..]),
        ("a socket too many", "S0:0@S9:0", &["likwid:S0:0@S9:0", "no domain S9"]),
        ("a parameter too many", "round-robin:", &["takes no parameter", "write round-robin"]),
        ("a level that does not exist", "round-robin:drawer", &["round-robin:drawer", "takes no parameter"]),
        ("two mappers for one placement", "auto,rr", &["\"auto,rr\"", "did you mean auto?"]),
        ("no list", "list:", &["needs a parameter", "write list:0,8,16-23"]),
        ("a strand twice", "list:0,0", &["\"list:0,0\"", "CPU 0 twice", "--allow-stack"]),
        ("a strand twice in ranges", "list:4-8,5", &["CPU 5 twice", "--allow-stack"]),
        ("a strand that does not exist", "list:9999", &["no CPU 9999"]),
        ("a strand beyond all machines", "list:4294967296", &["\"4294967296\"", "1048575"]),
        ("a range without an end", "list:1-", &["is not a CPU id", "such as 0-3,8"]),
        ("a range that runs backwards", "list:5-1", &["5-1", "backwards", "1-5"]),
        ("a range of a billion", "list:0-1000000000", &["\"1000000000\"", "1048575"]),
        ("a mask that is none", "list:0xzz", &["\"0xzz\"", "such as 0-3,8"]),
        ("an empty mask", "list:0x0", &["\"0x0\"", "such as 0-3,8"]),
        ("a mask for a mapper", "0x3", &["\"0x3\"", "there are round-robin"]),
        ("a mask of many digits", &mask, &["such as 0-3,8"]),
        ("a list of many strands", &strands, &["is not a CPU id"]),
        ("a slot that does not exist", "one-per-core:9", &["takes no parameter"]),
        ("a package too many", "occupancy:22", &["2 numbers", "4 sockets"]),
        ("no worker", "occupancy:0000", &["has no threads"]),
        ("more than a package has", "occupancy:129,0,0,0", &["128 usable CPUs", "129"]),
        ("no occupancy", "occupancy:x", &["\"x\"", "write 2200 or 12,12,0,0"]),
        ("a distance that is none", "pair:far", &["the distance \"far\" is not one of core, cache"]),
        ("no program", "command:", &["needs a parameter", "write command:PROGRAM"]),
        ("an open quotation mark", "command:'x", &["quotation mark"]),
        ("what steers a terminal", "\u{1b}[2J\u{202e}", &[r"\u{1b}[2J\u{202e}"]),
    ] {
        place.refuses(what, &["map", "--mapping", mapping, "--threads", "4", "--topology", T3_4], words);
    }
    for (what, mappings, word) in [
        ("a gap in a list", "dumb,,auto", "unknown mapping"),
        ("a comma at the end", "dumb,", "unknown mapping"),
        ("a slip of another tool's name", "scater", "unknown mapping \"scater\"; did you mean scatter (round-robin)?"),
        ("a slip of a name", "round-robn", "did you mean round-robin?"),
        ("a strand twice", "auto,list:0,0", "--allow-stack"),
        ("a strand that does not exist", "auto,list:9999", "no CPU 9999"),
    ] {
        place.refuses(what, &["sweep", "--mapping", mappings], &[word]);
    }
}

#[test]
fn strands_are_shared_where_that_is_said() {
    let place = Place::new();
    let map = ["map", "--threads", "3", "--topology", T3_4, "--mapping"];
    let out = place.accepts("asked for", &[&map[..], &["list:7,7", "--allow-stack"]].concat(), &[]);
    assert!(out.contains("up to 3 on one CPU"), "{out}");
    // A list that is shorter than the workers starts over, as every order does, and the placement says so.
    let out = place.accepts("a short list", &[&map[..], &["list:0,1"]].concat(), &[]);
    assert!(out.contains("up to 2 on one CPU"), "{out}");
}

#[test]
fn strands_that_may_not_be_used() {
    let place = Place::new();
    place.put("offline.xml", machine_with_offline_strand().as_bytes());
    let offline = ["map", "--mapping", "list:2", "--threads", "1", "--topology", "offline.xml"];
    place.refuses("a strand that is offline", &offline, &["list:2", "CPU 2 is offline"]);
    let &[first, second, ..] = &cpus()[..] else {
        return println!("skipped: there is no second strand that could be left out of the affinity mask");
    };
    let mut command = std::process::Command::new("taskset");
    command.current_dir(place.path()).args(["-c", &first.to_string(), env!("CARGO_BIN_EXE_charz")]);
    command.args(["map", "--mapping", &format!("list:{second}"), "--threads", "1"]);
    let refusal = format!("CPU {second} is not allowed");
    place.refused("a strand outside of the mask", command, &[&refusal, "affinity mask"]);
}

#[test]
fn mapper_programs_that_misbehave() {
    let place = Place::new();
    for (name, text, word) in [
        ("fails", "cat >/dev/null; echo first >&2; echo the last words >&2; exit 7", "the last words"),
        (
            "steers",
            "cat >/dev/null; printf '\\033[2J\\302\\233\\342\\200\\256\\n' >&2; exit 1",
            r"\u{1b}[2J\u{9b}\u{202e}",
        ),
        ("silent", "cat >/dev/null", "no CPU"),
        ("nonsense", "cat >/dev/null; echo hello", "hello"),
        ("unknown", "cat >/dev/null; echo 0 4096", "4096"),
        ("twice", "cat >/dev/null; echo '[3, 3]'", "CPU 3 twice"),
        ("binary", "cat >/dev/null; printf '\\377'", "not UTF-8"),
        ("endless", "cat >/dev/null; yes 1", "more than 8 MiB"),
        ("killed", "kill -9 $$", "SIGKILL"),
    ] {
        place.put(name, text.as_bytes());
        let mapping = format!("command:sh {name}");
        place.refuses(name, &["map", "--mapping", &mapping, "--threads", "2", "--topology", T3_4], &["\"sh\"", word]);
    }
    let missing = ["map", "--mapping", "command:/no/such/program", "--threads", "2", "--topology", T3_4];
    place.refuses("missing", &missing, &["/no/such/program", "cannot be started"]);
    // A program that neither reads nor complains is fine.
    place.put("deaf", b"echo 5");
    let deaf = ["map", "--mapping", "command:sh deaf", "--threads", "2", "--topology", T3_4, "--format", "json"];
    assert!(place.accepts("deaf", &deaf, &[]).contains("[5,5]"));
    assert!(fs::read_dir(place.path()).unwrap().count() > 9);
}

/// The text of a mapping comes back in every format of a placement.
#[test]
fn a_mapping_cannot_steer_the_terminal_out_of_its_placement() {
    let place = Place::new();
    place.put("\u{1b}[2J\u{202e}", b"echo 5");
    for format in ["table", "json", "taskset", "omp-places", "gomp", "likwid", "srun", "cpuset"] {
        let mut command = place.charz();
        command.args(["map", "--mapping", "command:sh '\u{1b}[2J\u{202e}'", "--threads", "2", "--topology", T3_4]);
        command.args(["--format", format]);
        let ran = run(format, command);
        assert_eq!(ran.code, Some(0), "{format}: {}", ran.err);
        check_harmless(format, &ran.out);
    }
}
