//! Numbers, sizes and times on the command line.

use std::ffi::OsStr;

use super::place::{Place, run};
use crate::support::root;

/// What is no list of numbers of workers, with what the sentence must name.
const LISTS: &[(&str, &str, &str)] = &[
    ("no worker", "0", "least is 1"),
    ("fewer than none", "-1", "\"-1\""),
    ("a sign", "+4", "\"+4\""),
    ("a fraction", "1.5", "\"1.5\""),
    ("an exponent", "1e3", "\"1e3\""),
    ("another base", "0x10", "\"0x10\""),
    ("a blank before it", " 4", "\" 4\""),
    ("nothing", "", "\"\""),
    ("more than 64 bits", "99999999999999999999", "\"99999999999999999999\""),
    ("a digit of another script", "\u{664}", "\u{664}"),
    ("no number", "NaN", "\"NaN\""),
    ("no end", "inf", "\"inf\""),
];

/// What only a list can have wrong.
const RANGES: &[(&str, &str, &str)] = &[
    ("a gap in a list", "1,,2", "\"\""),
    ("a comma at the end", "1,", "\"\""),
    ("a range that runs backwards", "5-1", "backwards"),
    ("a range without an end", "1-", "\"1-\""),
    ("a range of a billion", "1-1000000000", "4096"),
    ("a step of zero", "1-8:0", "the least is 1"),
    ("a step below zero", "1-8:-1", "\"-1\""),
    ("a step without a range", "4:2", "\"4:2\""),
];

#[test]
fn numbers_of_workers() {
    let place = Place::new();
    for (what, text, word) in LISTS {
        place.refuses(what, &["sweep", "--threads", text], &["--threads", word, "example: --threads 1,2"]);
        let map = ["map", "--mapping", "dumb", "--threads", text];
        place.refuses(what, &map, &["--threads", &format!("{text:?}"), "from 1 to 1048576", "example: --threads 8"]);
    }
    for (what, text, word) in RANGES {
        place.refuses(what, &["sweep", "--threads", text], &["--threads", word, "example: --threads 1,2"]);
    }
    // Beyond 32 bits a number must not come back as a small one.
    for number in ["4294967297", "1000000"] {
        let words = ["--threads", number, "safe here (", "ask for fewer"];
        place.refuses("more workers than the system holds", &["sweep", "--threads", number], &words);
    }
}

#[test]
fn what_stands_there_twice_is_taken_once_with_a_note() {
    let place = Place::new();
    let rows = |what: &str, flags: &[&str], note: &str| {
        let out = place.accepts(what, &[&["sweep", "--dry-run", "--mapping", "auto"], flags].concat(), &[note]);
        out.lines().filter(|line| line.starts_with("noop ")).count()
    };
    for (what, flags, note, cells) in [
        ("a number", &["--threads", "1,2,2", "--kernel", "noop"][..], "--threads: 2 is given more than once", 2),
        ("a number in a range", &["--threads", "1-2,1", "--kernel", "noop"], "--threads: 1", 2),
        ("a kernel", &["--threads", "1", "--kernel", "noop,noop"], "--kernel: noop", 1),
        ("a family", &["--threads", "1", "--family", "floor", "--family", "floor"], "--family: floor", 1),
        ("a mapping", &["--threads", "1", "--kernel", "noop", "--mapping", "dumb,dumb"], "--mapping: \"dumb\"", 2),
    ] {
        assert_eq!(rows(what, flags, note), cells, "{what}");
    }
}

#[test]
fn options_that_no_kernel_takes_are_named() {
    let place = Place::new();
    for (flags, notes) in [
        (&["--kernel", "arith-int", "--class", "A", "--size", "1m"][..], &["takes --size, --class"][..]),
        (&["--kernel", "arith-int,mem-read", "--size", "1m", "--iterations", "9", "--stride", "auto"], &[]),
    ] {
        place.accepts("options", &[&["sweep", "--dry-run"], flags].concat(), notes);
    }
}

#[test]
fn sizes() {
    let place = Place::new();
    for (what, text, word) in [
        ("no size", "0MiB", "the minimum of 64 B"),
        ("a bare zero", "0", "no unit"),
        ("less than nothing", "-1MiB", "not a size"),
        ("a unit that does not exist", "10XB", "not a size"),
        ("no unit", "256", "KiB, MiB, GiB"),
        ("more than any machine has", "2048TiB", "the maximum of 1024 TiB"),
        ("more than 64 bits", "99999999999999999999GiB", "more bytes than can be counted"),
        ("a part of a cache line", "100B", "the next one is 128 B"),
        ("nothing", "", "not a size"),
        ("no number", "NaN", "not a size"),
        ("an exponent", "1e3MiB", "not a size"),
        ("two points", "1.5.5MiB", "not a size"),
        ("a blank before it", " 4MiB", "not a size"),
    ] {
        let words = [format!("--size: {text:?}"), word.to_owned(), "example: --size 256MiB".to_owned()];
        place.refuses(what, &["sweep", "--size", text], &words.each_ref().map(String::as_str));
    }
    let most = ["sweep", "--size", "99999GB"];
    place.refuses("more than this machine has", &most, &["--size", "the machine has", "example: --size 16MiB"]);
}

#[test]
fn times_and_counts() {
    let place = Place::new();
    for (what, text) in [
        ("no time", "0s"),
        ("less than no time", "-1s"),
        ("no unit", "5"),
        ("a time that no number holds", "1e400s"),
        ("a time that no clock holds", "99999999999y"),
        ("more than a month", "31d"),
        ("a word", "soon"),
        ("no number", "NaNs"),
        ("nothing", ""),
    ] {
        let words = [format!("--budget: {text:?}"), "example: --budget 10m".to_owned()];
        place.refuses(what, &["sweep", "--budget", text], &words.each_ref().map(String::as_str));
    }
    for (what, flag, text, range) in [
        ("no repetition", "--repetitions", "0", "from 1 to 10000"),
        ("too many repetitions", "--repetitions", "10001", "from 1 to 10000"),
        ("half a repetition", "--repetitions", "1.5", "from 1 to 10000"),
    ] {
        let words = [format!("{flag}: {text:?}"), range.to_owned(), format!("example: {flag} 8")];
        place.refuses(what, &["sweep", flag, text], &words.each_ref().map(String::as_str));
    }
    for (what, text, range) in [
        ("no step", "0", "minimum of 1"),
        ("a word for a number", "many", "from 1 to 1000000000000"),
        ("too many steps", "1000000000001", "maximum of 1000000000000"),
    ] {
        let words = [format!("--iterations: {text:?}"), range.to_owned(), "example: --iterations 1000000".to_owned()];
        place.refuses(what, &["sweep", "--iterations", text], &words.each_ref().map(String::as_str));
    }
}

/// The decimal point is a point, and colours are off, in every environment.
#[test]
fn odd_surroundings_change_nothing() {
    let place = Place::new();
    let golden = root().join("tests/golden/reports/arithmetic.json");
    let usual = place.accepts("as usual", &[OsStr::new("render"), golden.as_os_str()], &[]);
    for (name, value) in
        [("NO_COLOR", "1"), ("COLUMNS", "0"), ("TERM", ""), ("LC_ALL", "de_DE.UTF-8"), ("TZ", ":/no/such")]
    {
        let mut command = place.charz();
        command.arg("render").arg(&golden).env_remove("TERM").env(name, value);
        let ran = run(name, command);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{name}={value}");
        assert_eq!(ran.out, usual, "{name}={value}");
    }
    // Of a locale that does not promise UTF-8 nothing but ASCII is expected to be shown.
    let mut command = place.charz();
    command.arg("render").arg(&golden).env("LC_ALL", "xx");
    let ran = run("LC_ALL", command);
    assert_eq!((ran.code, ran.out.is_ascii()), (Some(0), true), "{}", ran.out);
}
