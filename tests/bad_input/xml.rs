//! Files that hold no topology, or a hostile one.

use std::fs::{self, File};
use std::process::Command;

use super::place::{Place, check_harmless, run};

const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n";

/// An object with all its sets: that of its strands is given, and there is one NUMA node.
fn object(kind: &str, id: u32, strands: &str, identity: u32, inside: &str) -> String {
    let sets = format!("cpuset=\"{strands}\" complete_cpuset=\"{strands}\" nodeset=\"0x1\" complete_nodeset=\"0x1\"");
    format!("<object type=\"{kind}\" os_index=\"{id}\" {sets} gp_index=\"{identity}\">{inside}</object>")
}

fn topology(strands: &str, inside: &str) -> String {
    let node = object("NUMANode", 0, strands, 90, "");
    let machine = object("Machine", 0, strands, 91, &format!("{node}{inside}"));
    format!("{HEAD}<topology version=\"2.0\">{machine}</topology>\n")
}

/// A machine of two strands.
fn good() -> String {
    topology("0x3", &(object("PU", 0, "0x1", 1, "") + &object("PU", 1, "0x2", 2, "")))
}

/// [`good`] in the format of hwloc 1.
fn version_1() -> String {
    unnumbered(&good().replace(" version=\"2.0\"", "").replace("hwloc2.dtd", "hwloc.dtd"))
}

/// hwloc 1 does not number objects.
fn unnumbered(text: &str) -> String {
    (1..100).fold(text.to_owned(), |text, number| text.replace(&format!(" gp_index=\"{number}\""), ""))
}

/// [`good`] with a third strand, 2, that exists and is not there.
pub fn machine_with_offline_strand() -> String {
    good().replace("complete_cpuset=\"0x3\"", "complete_cpuset=\"0x7\"")
}

/// The contents that are refused are a table of the package that reads them; here the file is named, and nothing is written.
#[test]
fn files_that_are_no_topology() {
    let place = Place::new();
    let xml = good();
    let changed = |from: &str, to: &str| {
        assert!(xml.contains(from), "{from}");
        xml.replacen(from, to, 1).into_bytes()
    };
    for (what, content, words) in [
        ("no XML", b"hello".to_vec(), &["not XML", "lstopo --of xml"][..]),
        ("an element that is not closed", xml.replace("</topology>", "").into_bytes(), &["cut off", "\"topology\""]),
        ("an id below zero", changed("os_index=\"1\"", "os_index=\"-1\""), &["\"-1\"", "0 to 4294967295", "line 3"]),
        ("an empty set", changed(" cpuset=\"0x2\"", " cpuset=\"0x0\""), &["PU 1"]),
        ("bytes that are no text", changed("Machine", "Mach\u{1}ine"), &["topology"]),
        ("what steers a terminal", changed("PU", "\u{1b}[2J\u{202e}"), &["topology"]),
    ] {
        place.put("a.xml", &content);
        place.refuses(what, &["topo", "--topology", "a.xml"], &[&["the file \"a.xml\""], words].concat());
        let map = ["map", "--mapping", "dumb", "--threads", "1", "--topology", "a.xml"];
        place.refuses(what, &map, &[&["the file \"a.xml\""], words].concat());
    }
}

#[test]
fn only_regular_files_of_bearable_size_are_read() {
    let place = Place::new();
    File::create(place.path().join("large.xml")).unwrap().set_len(2 << 30).unwrap();
    assert!(Command::new("mkfifo").arg(place.path().join("fifo")).status().unwrap().success());
    fs::create_dir(place.path().join("folder")).unwrap();
    let name = "n".repeat(256);
    for (what, file, word) in [
        ("2 GiB", "large.xml", "larger than 64 MiB"),
        ("a pipe without a writer", "fifo", "not a regular file"),
        ("a device without an end", "/dev/zero", "not a regular file"),
        ("a folder", "folder", "name a file"),
        ("nothing", "missing.xml", "no such file"),
        ("a name that is too long", &name, "too long"),
    ] {
        place.refuses(what, &["topo", "--topology", file], &["topology", word]);
    }
}

/// Machines that are odd and possible.
#[test]
fn odd_machines_are_shown() {
    let place = Place::new();
    let sized = |identity: u32, bytes: u64, inside: &str| {
        let cache = object("L2Cache", 0, "0x3", identity, inside);
        cache.replacen("L2Cache\"", &format!("L2Cache\" cache_size=\"{bytes}\" depth=\"2\" cache_type=\"0\""), 1)
    };
    let strands = object("PU", 0, "0x1", 1, "") + &object("PU", 1, "0x2", 2, "");
    let node = object("NUMANode", 0, "0x3", 90, "");
    let silent = version_1().replace(&unnumbered(&node), "").replace(" nodeset=\"0x1\" complete_nodeset=\"0x1\"", "");
    for (what, xml) in [
        ("strands without cores and caches", good()),
        ("a cache inside of its like", topology("0x3", &sized(5, 1 << 20, &sized(6, 1 << 20, &strands)))),
        ("a cache of no size", topology("0x3", &sized(5, 0, &strands))),
        ("no memory in version 1", silent),
        ("an offline strand", machine_with_offline_strand()),
    ] {
        place.put("a.xml", xml.as_bytes());
        let out = place.accepts(what, &["topo", "--topology", "a.xml"], &[]);
        assert!(out.contains("2 CPUs"), "{what}: {out}");
        assert_eq!(
            out.contains("warning: the file names no NUMA node"),
            what.starts_with("no memory"),
            "{what}: {out}"
        );
    }
}

#[test]
fn names_in_a_file_cannot_steer_the_terminal() {
    let place = Place::new();
    let evil = "\u{1b}[2J\u{202e}\u{9b}31m\u{2066}&#10;../../x";
    let infos = ["CPUModel", "CPUVendor", "HostName", "DMIProductName", "OSName", evil]
        .map(|name| format!("<info name=\"{name}\" value=\"{evil}\"/>"));
    let strands = object("PU", 0, "0x1", 1, "") + &object("PU", 1, "0x2", 2, "");
    let core = object("Core", 0, "0x3", 4, &strands);
    let group = object("Group", 0, "0x3", 7, &core).replacen(
        "Group\"",
        &format!("Group\" name=\"{evil}\" subtype=\"{evil}\""),
        1,
    );
    let package = object("Package", 0, "0x3", 3, &(infos.concat() + &group));
    place.put("a.xml", topology("0x3", &package).as_bytes());
    for format in ["tree", "table", "psrinfo", "json"] {
        let mut command = place.charz();
        command.args(["topo", "--topology", "a.xml", "--format", format]);
        let ran = run(format, command);
        assert_eq!(ran.code, Some(0), "{format}: {}", ran.err);
        check_harmless(format, &ran.out);
        // Marks of direction are text, and told; control characters are no XML, and blanks.
        let tells = ran.out.contains("u{202e}") || ran.out.contains("\\u202e");
        assert!(tells || format == "table", "{format} leaves out what it escapes: {}", ran.out);
    }
}
