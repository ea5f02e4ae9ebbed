//! Files for `--config` and variables that are wrong; and which of them wins where they are right.

use std::fs::{self, File};
use std::process::Command;

use super::place::{Place, run};

#[test]
fn files_that_are_no_configuration() {
    let place = Place::new();
    let (mask, nested) =
        (format!("mapping = \"list:0x{}\"", "f".repeat(1_000_000)), format!("a = {}", "[".repeat(100_000)));
    let large = format!("#{}", " ".repeat(1 << 20));
    for (what, text, words) in [
        ("a key that does not exist", "\nsiez = \"1GiB\"", &["\"c.toml\":2:1: ", "\"siez\"", "did you mean size?"][..]),
        ("a key like no other", "zzz = 1", &["\"c.toml\":1:1: ", "\"zzz\"", "the keys are kernel, family"]),
        ("a flag that must be typed", "force = true", &["\"force\"", "the keys are"]),
        ("a file in a file", "config = \"c.toml\"", &["\"config\"", "the keys are"]),
        ("a table", "[sweep]\nsize = \"1GiB\"", &["\"c.toml\":1:2: ", "\"sweep\""]),
        (
            "a fraction for a number",
            "repetitions = 1.5",
            &["\"c.toml\":1:15: ", "not a float", "write repetitions = \"auto\""],
        ),
        ("a truth for a size", "size = true", &["\"c.toml\":1:8: ", "not a boolean", "write size = \"auto\""]),
        (
            "a date for a time",
            "budget = 2026-01-01",
            &["\"c.toml\":1:10: ", "not a datetime", "write budget = \"auto\""],
        ),
        ("a list for a value", "threads = [1, 2]", &["\"c.toml\":1:11: ", "not an array", "write threads = \"auto\""]),
        ("an empty list", "kernel = []", &["\"c.toml\":1:10: ", "not an array"]),
        (
            "a number in a list",
            "mapping = [\"dumb\", 3]",
            &["\"c.toml\":1:11: ", "not an integer", "write mapping = [\""],
        ),
        (
            "a text for a truth",
            "allow-stack = \"yes\"",
            &["\"c.toml\":1:15: ", "true or false", "write allow-stack = true"],
        ),
        ("nothing", "output = \"\"", &["\"c.toml\":1:10: ", "output is empty"]),
        ("a key twice", "size = \"1GiB\"\nsize = \"2GiB\"", &["\"c.toml\":2:1: ", "duplicate key", "\"size\""]),
        ("a value that is missing", "size =", &["\"c.toml\":1:", "not TOML", "such as size = "]),
        ("an open quotation mark", "size = \"1GiB", &["\"c.toml\":1:", "not TOML"]),
        ("what steers a terminal", "\"\\u001b[2J\\u202e\" = 1", &[r#""\u{1b}[2J\u{202e}""#]),
        ("nothing but brackets", &nested, &["\"c.toml\":1:", "not TOML", "recurs"]),
        ("a mask of a million digits", &mask, &["\"c.toml\":1:11: ", "is not a CPU id"]),
        ("a megabyte and more", &large, &["\"c.toml\"", "larger than 1 MiB"]),
        // The values are judged as those of the flags are, and the place is named.
        (
            "a size without a unit",
            "kernel = \"noop\"\nsize = 5",
            &["\"c.toml\":2:8: --size: \"5\" has no unit", "example"],
        ),
        ("a strand twice", "mapping = \"list:0,0\"", &["\"c.toml\":1:11: --mapping", "--allow-stack"]),
    ] {
        place.put("c.toml", text.as_bytes());
        place.refuses(what, &["sweep", "--config", "c.toml"], words);
    }
    place.put("c.toml", b"size = \"\xff\"");
    place.refuses("bytes that are no text", &["sweep", "--config", "c.toml"], &["\"c.toml\"", "not UTF-8"]);
}

#[test]
fn only_regular_files_are_read() {
    let place = Place::new();
    assert!(Command::new("mkfifo").arg(place.path().join("fifo")).status().unwrap().success());
    File::create(place.path().join("large.toml")).unwrap().set_len(2 << 30).unwrap();
    for (what, file, word) in [
        ("nothing", "missing.toml", "cannot be read"),
        ("a folder", ".", "not a regular file"),
        ("a pipe without a writer", "fifo", "not a regular file"),
        ("a device without an end", "/dev/zero", "not a regular file"),
        ("2 GiB", "large.toml", "larger than 1 MiB"),
    ] {
        place.refuses(what, &["sweep", "--config", file], &[&format!("--config: {file:?} "), word]);
        // For a monitor, which reads one line and a code of its own.
        let mut check = place.charz();
        check.args(["fleet", "check", "--baseline", file, "r.json"]);
        let ran = run(what, check);
        assert_eq!(ran.code, Some(3), "{what}");
        assert!(
            ran.out.starts_with("CHARZ UNKNOWN") && ran.out.contains("--baseline: ") && ran.out.contains(word),
            "{}",
            ran.out
        );
    }
}

#[test]
fn variables_that_are_wrong() {
    let place = Place::new();
    for (name, value, words) in [
        ("CHARZ_SIZE", "", &["\"\" is no value", "CHARZ_SIZE=auto"][..]),
        ("CHARZ_BINDER", "\u{1b}[2J", &[r#""\u{1b}[2J""#, "hwloc, core-affinity"]),
        ("CHARZ_ALLOW_STACK", "yes", &["\"yes\" is neither true nor false", "CHARZ_ALLOW_STACK=true"]),
        ("CHARZ_OUTPUT", "mine.json", &["\"mine.json\" exists"]),
    ] {
        let mut command = place.charz();
        command.arg("sweep").env(name, value);
        // Where a report goes is looked at when it is to be written, and told in the flag's words.
        let place_named = if name == "CHARZ_OUTPUT" { "--output" } else { name };
        place.refused(name, command, &[&[place_named], words].concat());
    }
    use std::os::unix::ffi::OsStrExt;
    let mut command = place.charz();
    command.arg("sweep").env("CHARZ_SIZE", std::ffi::OsStr::from_bytes(b"1\xffGiB"));
    place.refused("bytes", command, &["CHARZ_SIZE: ", r#""1\xFFGiB""#, "not UTF-8"]);
}

#[test]
fn a_variable_of_no_flag_is_told() {
    let place = Place::new();
    for (name, word) in [("CHARZ_THREAD", "CHARZ_THREADS?"), ("CHARZ_FORCE", "ignored"), ("CHARZ_\u{202e}", "u{202e}")]
    {
        let mut command = place.charz();
        command.args(["sweep", "--dry-run", "--kernel", "noop"]).env(name, "1");
        let ran = run(name, command);
        assert_eq!((ran.code, ran.err.lines().count()), (Some(0), 1), "{name}: {}", ran.err);
        assert!(ran.err.starts_with("charz: note: CHARZ_") && ran.err.contains(word), "{name}: {}", ran.err);
    }
    // `cargo run` hands those of the build script to the program.
    assert!(!include_str!("../../crates/charz/build.rs").contains("rustc-env=CHARZ_"));
}

/// The flag wins over the variable, the variable over the file, and the file over the default.
#[test]
fn the_nearest_layer_wins() {
    let place = Place::new();
    let base = "kernel = \"noop\"\nmapping = [\"auto\", \"dumb\"]\nthreads = 1\n";
    for (what, file, variable, flags, found) in [
        ("the file", "repetitions = 7", None, &[][..], "7 iterations"),
        ("another base in the file", "repetitions = 0x10", None, &[], "16 iterations"),
        ("the variable", "repetitions = 7", Some(("CHARZ_REPETITIONS", "8")), &[], "8 iterations"),
        ("the flag", "repetitions = 7", Some(("CHARZ_REPETITIONS", "8")), &["--repetitions", "9"], "9 iterations"),
        ("no layer", "", None, &[], " × 6 runs"),
        ("a list in the file", "", None, &[], "2 of 2 configurations"),
        ("one mapping that is typed", "", None, &["--mapping", "compact"], "1 of 1 configuration "),
        ("mappings in a variable", "", Some(("CHARZ_MAPPING", "auto,dumb,compact")), &[], "3 of 3 configurations"),
        ("a typed family for a kernel in the file", "", None, &["--family", "memory", "--budget", "99h"], "mem-read"),
        ("a flag in the file", "allow-stack = true", Some(("CHARZ_MAPPING", "list:0,0")), &[], "list:0,0"),
    ] {
        place.put("c.toml", format!("{base}{file}\n").as_bytes());
        let mut command = place.charz();
        command.args(["sweep", "--dry-run", "--config", "c.toml"]).args(flags).envs(variable);
        let ran = run(what, command);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{what}");
        assert!(ran.out.contains(found), "{what}: {found:?} is missing: {}", ran.out);
        assert_eq!(ran.out.contains("noop"), !flags.contains(&"--family"), "{what}: {}", ran.out);
    }
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 2);
}

/// Resumed sweeps take their own values, and nothing that surrounds them refuses them.
#[test]
fn other_commands_and_plans_are_left_alone() {
    let place = Place::new();
    let mut command = place.charz();
    command.args(["sweep", "--dry-run", "--size", "1MiB", "--kernel", "noop"]);
    command.env("CHARZ_SIZE", "junk").env("CHARZ_FAMILY", "junk");
    assert_eq!(run("typed", command).code, Some(0));
    let mut command = place.charz();
    command.args(["map", "--mapping", "dumb", "--threads", "1", "--topology", "pu:1"]).env("CHARZ_MAPPING", "junk");
    assert_eq!(run("map", command).code, Some(0));
    let mut command = place.charz();
    command.args(["sweep", "--resume", "mine.json"]).env("CHARZ_SIZE", "1MiB");
    place.refused("a report that is none", command, &["\"mine.json\": not a usable charz report"]);
}

#[test]
fn the_values_that_hold_are_shown_with_where_they_come_from() {
    let place = Place::new();
    place.put("c.toml", b"repetitions = 7\nsize = \"1GiB\"\nkernel = [\"noop\", \"arith-int\"]");
    let shown = |args: &[&str]| {
        let mut command = place.charz();
        command.args(["config", "show"]).args(args);
        command.env("CHARZ_SIZE", "2GiB").env("CHARZ_BUDGET", "9s");
        run("config show", command)
    };
    let json = shown(&["--config", "c.toml", "--budget", "8s", "--strict", "--json"]);
    assert_eq!(json.code, Some(0), "{}", json.err);
    let settings: Vec<serde_json::Value> = serde_json::from_str(&json.out).unwrap();
    let of = |flag: &str| {
        let setting = settings.iter().find(|setting| setting["flag"] == flag).unwrap();
        (setting["values"].to_string(), setting["from"].as_str().unwrap().to_owned())
    };
    let is = |values: &str, from: &str| (values.to_owned(), from.to_owned());
    assert_eq!(of("budget"), is("[\"8s\"]", "flag"));
    assert_eq!(of("strict"), is("[\"true\"]", "flag"));
    assert_eq!(of("size"), is("[\"2GiB\"]", "CHARZ_SIZE"));
    assert_eq!(of("repetitions"), is("[\"7\"]", "\"c.toml\":1:15"));
    assert_eq!(of("kernel"), is("[\"noop\",\"arith-int\"]", "\"c.toml\":3:10"));
    assert_eq!(of("threads"), is("[\"auto\"]", "default"));
    assert_eq!(of("seed"), is("[]", "default"));
    let table = shown(&["--config", "c.toml"]);
    assert!(table.out.lines().any(|line| line.starts_with("--size ") && line.contains("CHARZ_SIZE")), "{}", table.out);
    // What a sweep refuses is refused here.
    place.refuses("a value that is none", &["config", "show", "--size", "5"], &["--size", "no unit"]);
}
