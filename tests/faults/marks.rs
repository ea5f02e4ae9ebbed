//! Each disturbance that can be staged raises the mark that is named after it.
//!
//! A busy machine raises others by itself, so which marks a cell has besides is no matter here: that a disturbance raises its own and no
//! other is shown on samples that are made up, beside the judge.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::group::Group;
use crate::trial::{Ended, Trial, together};

const TRIES: usize = 5;

/// That the only cell of a disturbed sweep has one of these marks, with its evidence. What is done at a moment may miss the work, and
/// a machine may be so busy that no invocation ends (V29): then it is done again, a few times.
#[track_caller]
fn check_marks(expected: &[&str], disturbed: &dyn Fn() -> Ended) {
    let mut others = Vec::new();
    for _ in 0..TRIES {
        let ended = disturbed();
        let report = ended.report.as_ref().unwrap_or_else(|| panic!("no report: {}", ended.err));
        let marks = report["cells"][0]["marks"].as_array().expect("a cell has marks");
        if let Some(mark) = marks.iter().find(|mark| expected.iter().any(|code| mark["code"] == *code)) {
            return assert!(mark["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{mark}");
        }
        others.push(marks.clone());
    }
    panic!("{expected:?} is missing: {others:?}");
}

/// One worker on the first strand: laps of some 2 ms, ten in each of six processes. Its number is made of repetitions, of which each
/// disturbance leaves some out.
fn whole() -> Trial {
    arithmetic().with("--kernel", "honest")
}

/// The same, with a number that is made of the blocks that nothing disturbed.
fn arithmetic() -> Trial {
    let trial = Trial::of("arith-int").with("--steps", "500000");
    trial.with("--iterations", "10").with("--runs", "6")
}

/// With laps of some 100 ms, so each disturbance falls into one of them.
fn slow(trial: Trial) -> Trial {
    trial.with("--steps", "24000000").with("--runs", "2-6")
}

fn memory() -> Trial {
    arithmetic().with("--kernel", "mem-read").with("--size", "256MiB").with("--iterations", "5")
}

/// Runs a sweep, and does something to one of its processes while that measures.
#[track_caller]
fn meddle(trial: &Trial, how: impl Fn(Pid)) -> Ended {
    let child = trial.start();
    let pid = trial.measuring_for(&child, Duration::from_millis(200));
    how(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap());
    trial.wait(child)
}

/// The strands that this process may use.
fn strands() -> Vec<u32> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap_or_default();
    let ranges = list.trim().split(',').filter_map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(first.parse().ok()?..=last.parse().ok()?)
    });
    ranges.flatten().collect()
}

/// Two strands, or a word about why not.
fn two_strands() -> Option<[u32; 2]> {
    let strands = strands();
    if strands.len() < 2 {
        println!("skipped: there is one strand only");
    }
    Some([*strands.first()?, *strands.get(1)?])
}

/// A foreign process that keeps a strand busy until it is dropped.
struct Neighbour(Child);

impl Neighbour {
    fn on(strand: u32) -> Self {
        let words = ["-c", &strand.to_string(), "sh", "-c", "while :; do :; done"];
        Neighbour(Command::new("taskset").args(words).stdin(Stdio::null()).spawn().expect("taskset is installed"))
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// That the cell has its number, whatever else ran, and that it is more than the machine gave.
#[track_caller]
fn check_number(ended: &Ended) {
    let report = ended.report.as_ref().unwrap_or_else(|| panic!("no report: {}", ended.err));
    let cell = &report["cells"][0];
    let number = |estimate: &str| cell[estimate].as_f64();
    let (Some(capacity), Some(delivered)) = (number("value"), number("delivered")) else {
        panic!("it is {}: {}", cell["status"], cell["reason"]);
    };
    // A stop or a neighbour takes a good part of the sweep; how much of its repetitions depends on the machine.
    assert!(delivered < 0.98 * capacity, "{delivered} of {capacity}");
}

#[test]
fn a_neighbour_on_the_strand() {
    let _machine = together();
    let Some([strand, _]) = two_strands() else { return };
    let beside = |trial: Trial| {
        let _neighbour = Neighbour::on(strand);
        trial.with("--mapping", &format!("list:{strand}")).run()
    };
    check_marks(&["V03"], &|| beside(whole()));
    check_number(&beside(slow(arithmetic())));
}

#[test]
fn a_process_that_is_stopped_and_continued() {
    let _machine = together();
    let stopped = |trial: &Trial| {
        meddle(trial, |pid| {
            // On a busy machine it may have ended meanwhile.
            let _ = kill_process(pid, Signal::STOP);
            thread::sleep(Duration::from_millis(600));
            let _ = kill_process(pid, Signal::CONT);
        })
    };
    let few = |trial: Trial| slow(trial).with("--runs", "2");
    check_marks(&["V04"], &|| stopped(&few(whole())));
    // Of the invocations the only one, and a stop that fell into its work.
    let ended = (0..TRIES).map(|_| stopped(&few(arithmetic()).with("--runs", "1"))).find(was_stopped);
    check_number(&ended.expect("a stop falls into the work in one of a few tries"));
}

/// Whether a repetition of the only cell took longer than another by most of the stop.
fn was_stopped(ended: &Ended) -> bool {
    let report = ended.report.as_ref().unwrap_or_else(|| panic!("no report: {}", ended.err));
    let runs = report["cells"][0]["runs"][0]["iterations"].as_array().expect("runs are a list");
    let time = |run: &serde_json::Value| {
        let laps = run["laps"].as_array()?.iter();
        let end = |which: &str| laps.clone().filter_map(|lap| lap[which].as_u64()).collect::<Vec<_>>();
        Some(end("end_ns").into_iter().max()? - end("start_ns").into_iter().min()?)
    };
    let times = || runs.iter().filter_map(time);
    times().max() > times().min().map(|least| least + 500_000_000)
}

#[test]
fn a_quota() {
    let _machine = together();
    let Some(group) = Group::new("cpu") else { return };
    group.set("cpu.cfs_period_us", "100000");
    group.set("cpu.cfs_quota_us", "30000");
    let few = || slow(arithmetic()).with("--runs", "2");
    let throttled = || few().after(&group.join()).run();
    check_marks(&["V07"], &throttled);
    check_number(&throttled());
}

#[test]
fn fewer_strands_than_workers() {
    let _machine = together();
    let Some([strand, _]) = two_strands() else { return };
    let two = || arithmetic().with("--threads", "2");
    check_marks(&["V19"], &|| two().after(&format!("taskset -cp {strand} $$ > /dev/null")).run());
}

/// The strand of a worker is taken away and given back, which mask and strand at both ends of a lap do not show.
#[test]
fn a_cpuset_that_shrinks_for_a_while() {
    let _machine = together();
    let Some([first, second]) = two_strands() else { return };
    let Some(group) = cpuset(&[first, second]) else { return };
    let there = || slow(arithmetic()).with("--mapping", &format!("list:{second}"));
    check_marks(&["V01", "V02"], &|| {
        meddle(&there().after(&group.join()), |_| {
            group.set("cpuset.cpus", &first.to_string());
            thread::sleep(Duration::from_millis(20));
            group.set("cpuset.cpus", &format!("{first},{second}"));
        })
    });
}

#[test]
fn a_cpuset_that_stays_small() {
    let _machine = together();
    let Some([first, second]) = two_strands() else { return };
    let Some(group) = cpuset(&[first, second]) else { return };
    let there = || slow(arithmetic()).with("--mapping", &format!("list:{second}"));
    group.set("cpuset.cpus", &format!("{first},{second}"));
    let ended = meddle(&there().after(&group.join()), |_| group.set("cpuset.cpus", &first.to_string()));
    let report = ended.report.as_ref().unwrap_or_else(|| panic!("no report: {}", ended.err));
    let cell = &report["cells"][0];
    // Of runs that ended before, a number is left, and its mark says that the machine became another one.
    let (marks, away) = (cell["marks"].to_string(), format!("CPU {second} left the cpuset of this process"));
    assert!(marks.contains("V25") || ended.reason("arith-int").contains(&away), "{cell}");
}

fn cpuset(strands: &[u32]) -> Option<Group> {
    let group = Group::new("cpuset")?;
    let list: Vec<String> = strands.iter().map(u32::to_string).collect();
    group.set("cpuset.cpus", &list.join(","));
    group.set("cpuset.mems", "0");
    Some(group)
}

#[test]
fn huge_pages_that_are_switched_off() {
    let _machine = together();
    check_marks(&["V20"], &|| memory().variable("FAULTY_NO_THP", "1").run());
}

#[test]
fn a_block_inside_the_cache() {
    let _machine = together();
    check_marks(&["V27"], &|| memory().with("--size", "4MiB").run());
}
