//! `charz watch` and `charz lockutil` as their users meet them.

use std::process::Command;

use serde_json::Value;

use crate::place::{Place, run};
use crate::support::Ran;

fn charz(place: &Place, args: &[&str]) -> Ran {
    let mut command = place.charz();
    command.args(args);
    run(args[0], command)
}

#[test]
fn each_sample_is_a_line_whose_shares_add_up() {
    let ran = charz(&Place::new(), &["watch", "--format", "json", "0.1", "3"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let lines: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3);
    for line in &lines {
        assert!(line["t"].as_f64().unwrap() > 1.6e9 && line["cost_ns"].as_u64().unwrap() > 0, "{line}");
        assert!(line["missing"].as_array().unwrap().iter().any(|missing| missing["column"] == "smtx"), "{line}");
        for cpu in line["cpus"].as_array().unwrap() {
            let share = |name: &str| cpu[name].as_f64().unwrap();
            let sum: f64 = ["usr", "sys", "irq", "soft", "wt", "idl", "st"].map(share).iter().sum();
            assert!((sum - 100.0).abs() < 0.1 && cpu["cpu"].is_u64(), "{cpu}");
        }
    }
}

#[test]
fn groups_and_threads_replace_the_cpus() {
    let place = Place::new();
    let one = charz(&place, &["watch", "--groups", "1", "--format", "csv", "0.1", "1"]).out;
    assert_eq!(one.lines().count(), 2, "{one}");
    let me = std::process::id().to_string();
    let line: Value =
        serde_json::from_str(&charz(&place, &["watch", "--of", &me, "--format", "json", "0.1", "1"]).out).unwrap();
    let threads = line["threads"].as_array().unwrap();
    assert!(!threads.is_empty() && threads.iter().all(|thread| !thread["allowed"].as_array().unwrap().is_empty()));
    for (args, word) in [
        (["watch", "0", "1"], "INTERVAL"),
        (["watch", "1e30", "1"], "\"1e30\""),
        (["watch", "1", "0"], "COUNT: \"0\" is not a whole number from 1 to 1073741824; example: charz watch 1 10"),
        (["watch", "--key", "usrr"], "usr"),
        (["watch", "--groups", "cores"], "core"),
        (["watch", "--groups", "1000000"], "1000000"),
        (["watch", "--of", "999999999"], "999999999"),
    ] {
        place.refuses("watch", &args, &[word]);
    }
    let csw = ["watch", "--key", "csw", "0.1", "1"];
    if std::path::Path::new("/proc/schedstat").exists() {
        assert_eq!(charz(&place, &csw).code, Some(0));
    } else {
        place.refuses("watch", &csw, &["schedstat", "usr"]);
    }
}

#[test]
fn an_interval_without_a_count_watches_until_the_process_ends() {
    let mut watched = Command::new("sleep").arg("4").spawn().unwrap();
    let pid = watched.id().to_string();
    let ran = charz(&Place::new(), &["watch", "--of", &pid, "--format", "json", "1"]);
    watched.wait().unwrap();
    assert!(ran.code == Some(0) && !ran.out.is_empty(), "{}", ran.err);
    assert!(ran.err.contains(&format!("{pid} has ended")), "{}", ran.err);
}
