//! `charz fleet check`, stopped.

use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::fixtures::{RATE, cell, report};
use crate::place::Place;
use crate::support::{Ran, send};

#[test]
fn a_check_that_is_stopped_says_so_and_leaves_nothing() {
    let place = Place::new();
    place.put("n.json", report(&[cell("arith-int", 2, RATE)]).to_string().as_bytes());
    place.accepts("baseline", &["fleet", "baseline", "n.json", "--output", "site.toml"], &[]);
    let folder = place.path().join("tmp");
    std::fs::create_dir(&folder).unwrap();
    let mut command = place.charz();
    command.args(["fleet", "check", "--baseline", "site.toml"]).env("TMPDIR", &folder);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = || {
        let folders = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        folders.into_iter().any(|own| own.join("node.json.journal").exists())
    };
    let patience = Instant::now() + Duration::from_secs(300);
    while !begun() {
        assert!(Instant::now() < patience, "the sweep does not begin");
        std::thread::sleep(Duration::from_millis(5));
    }
    send(&child, Signal::TERM);
    let ran: Ran = child.wait_with_output().unwrap().into();
    assert_eq!(ran.code, Some(3), "{}{}", ran.out, ran.err);
    assert!(ran.out.starts_with("CHARZ UNKNOWN - ") && ran.out.contains("signal"), "{}", ran.out);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
}
