//! Workers that do not end: each of the three stops by itself, where the two others cannot or need not help.

use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::group::Group;
use crate::trial::{Ended, Trial, together};

/// A kernel that does not end by itself, and who ends it.
#[track_caller]
fn check_overdue(trial: &Trial, kernel: &str, said: &str) -> Ended {
    let _machine = together();
    let begun = Instant::now();
    let ended = trial.run();
    // The pilot is given 2 s and the grace, the invocation 5 s and the grace.
    assert!(begun.elapsed() < Duration::from_secs(120), "it took {:?}", begun.elapsed());
    assert_eq!(ended.code, Some(3), "{}", ended.err);
    assert_eq!(ended.status(kernel), "failed");
    assert!(ended.reason(kernel).contains(said), "{:?}", ended.reason(kernel));
    let invocations = ended.cell(kernel)["runs"].as_array().unwrap();
    assert_eq!(invocations.len(), 1, "what is stuck is not tried again");
    assert_eq!(invocations[0]["ending"], "timed_out");
    ended
}

/// It obeys its watch, whose box of half a second is over long before anybody else would interfere.
#[test]
fn a_worker_ends_itself_at_its_deadline() {
    // One more than there are strands: a storm.
    let workers = (thread::available_parallelism().unwrap().get() + 1).to_string();
    let trial = Trial::of("cas-counter").with("--span", "20s").with("--iterations", "1");
    let trial = trial.with("--threads", &workers).with("--oversubscribed", "2");
    check_overdue(&trial, "cas-counter", "time box of 500 ms");
}

/// It never looks at its watch; its supervisor, which still runs, ends the process.
#[test]
fn a_supervisor_ends_what_heeds_nothing() {
    check_overdue(&Trial::of("spins,honest"), "spins", "supervisor").check_measured("honest");
    check_overdue(&Trial::of("sleeps,honest"), "sleeps", "supervisor").check_measured("honest");
}

/// It stops its supervisor as well; the sweeping process ends it from outside.
#[test]
fn the_sweeping_process_kills_what_cannot_end_itself() {
    check_overdue(&Trial::of("stops,honest"), "stops", "watchdog").check_measured("honest");
}

/// Frozen, it does not end even by SIGKILL. The first signal ends the sweep nevertheless.
#[test]
fn a_sweep_does_not_wait_for_what_cannot_be_killed_when_it_is_stopped() {
    let _machine = together();
    let Some(group) = Group::new("freezer") else { return };
    let trial = Trial::of("spins");
    let mut child = trial.start();
    let measuring = trial.measuring(&child);
    group.set("cgroup.procs", &measuring.to_string());
    group.set("freezer.state", "FROZEN");
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let until = Instant::now() + Duration::from_secs(120);
    let ended = loop {
        match child.try_wait().unwrap() {
            None if Instant::now() < until => thread::sleep(Duration::from_millis(10)),
            ended => break ended,
        }
    };
    group.set("freezer.state", "THAWED");
    let _ = child.kill();
    child.wait().unwrap();
    assert_eq!(ended.and_then(|status| status.code()), Some(130));
    assert_eq!(trial.report().unwrap()["stopped_by"], "SIGINT");
}

/// Where one worker did not end, more of them are not let loose.
#[test]
fn a_storm_that_did_not_end_is_not_made_larger() {
    let _machine = together();
    let ended = Trial::of("fights,honest").with("--threads", "1,2").with("--oversubscribed", "2").run();
    assert_eq!(ended.code, Some(3), "{}", ended.err);
    let cells = ended.report.as_ref().unwrap()["cells"].as_array().unwrap();
    let two = cells.iter().find(|cell| cell["kernel"] == "fights" && cell["workers"] == 2).unwrap();
    assert_eq!(two["status"], "skipped");
    assert!(two["reason"].as_str().unwrap().starts_with("safety:"), "{}", two["reason"]);
}
