//! Signals at any moment of whatever measures: nothing is left behind, and of a sweep and those that resume it nothing that was recorded
//! is lost.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use charz_system::Status;
use fastrand::Rng;
use rustix::process::Signal;
use serde_json::Value;
use xtask::{Failure, Outcome};

use super::Target;
use super::case::Case;
use super::laws::Run;
use super::lines;
use super::reports::{JOURNAL, REPORT};

/// Sweeps that take about half a second on a machine that is idle, as one types them (`_` stands for a space in a word).
const SWEEPS: [&str; 3] = [
    "sweep --kernel noop,arith-int --threads 1,2 --steps 20000 --iterations 2 --runs 3",
    "sweep --kernel lock-std,create-first --threads 2 --steps 200 --iterations 2 --runs 3",
    "sweep --command sh_-c_'sleep_0.02' --setup sh_-c_'sleep_59_&' --threads 1,2 --runs 3",
];

/// Others that measure, and a program under `exec`. A journal is left where they have one.
const OTHERS: [&str; 9] = [
    "c2c --output r.json --budget 3s",
    "numa --size 2MiB --output r.json --budget 3s",
    "replicate cmt --budget 3s --output r.json",
    "ab --kernel arith-int --threads 1 --a --mapping_dumb --b --mapping_compact --budget 3s --output r",
    "selftest --aa --budget 3s",
    "audit --budget 3s",
    "topo --measured",
    "sweep --family workload --threads 2 --budget 3s --output r.json",
    "exec -- sh -c sleep_1_&_sleep_2",
];

/// The first moment of a signal, and how many times as late the last one is: after the end, also on a machine that is busy.
const FIRST: Duration = Duration::from_millis(1);
const SPAN: f64 = 4000.0;

/// A sweep that is not done by then is stuck.
const STUCK: Duration = Duration::from_secs(60);

/// The law of sweeps that resume one.
pub const RECORDED: &str = "every invocation that was recorded is in the report";

const SIGNALS: [Signal; 4] = [Signal::KILL, Signal::TERM, Signal::INT, Signal::HUP];

pub fn case(_: &Target, case: &mut Case<'_>, rng: &mut Rng) -> Outcome {
    if rng.bool() {
        let line = OTHERS[rng.usize(..OTHERS.len())];
        return run(case, line, signal(rng)).map(drop);
    }
    let sweep = SWEEPS[rng.usize(..SWEEPS.len())];
    let (sweep, resume) = (format!("{sweep} --output {REPORT}"), format!("sweep --resume {REPORT}"));
    let mut recorded = BTreeSet::new();
    let mut line = &sweep;
    for _ in 0..rng.u8(1..5) {
        let run = run(case, line, signal(rng))?;
        recorded.append(&mut invocations(&run));
        // A kill before the first line leaves a journal that cannot be resumed, and says so.
        let begun = run.after.get(JOURNAL).is_some_and(|journal| journal.contains(&b'\n'));
        line = if begun || run.after.contains_key(REPORT) { &resume } else { &sweep };
        if line == &sweep {
            let _ = fs::remove_file(case.work().join(JOURNAL));
        }
    }
    let run = run(case, line, (STUCK, Signal::INT))?;
    let report: Value = run.after.get(REPORT).and_then(|text| serde_json::from_slice(text).ok()).unwrap_or_default();
    let why = match () {
        // On a busy machine it may have no number.
        () if !matches!(run.code, Some(0 | 5)) => "a sweep that was stopped is finished without a fault",
        () if report["complete"] != true || run.after.contains_key(JOURNAL) => "a sweep that was resumed is complete",
        () if !recorded.is_subset(&invocations(&run)) => RECORDED,
        () => return Ok(()),
    };
    Err(Failure::found(format!("{why}; the last ended with {:?}", run.code)))
}

/// A signal that charz hears: what this process ignores, as under nohup, charz ignores too.
fn signal(rng: &mut Rng) -> (Duration, Signal) {
    let own = Status::of_process();
    let heard: Vec<Signal> = SIGNALS.into_iter().filter(|signal| !own.ignores(signal.as_raw())).collect();
    (FIRST.mul_f64(SPAN.powf(rng.f64())), heard[rng.usize(..heard.len())])
}

fn run(case: &mut Case<'_>, line: &str, signal: (Duration, Signal)) -> Outcome<Run> {
    let words = lines::words(line);
    case.run(&words.iter().map(String::as_str).collect::<Vec<_>>(), &[REPORT, "r.*", "charz-*"], Some(signal))
}

/// The invocations in the whole lines of the journal, and in the report, by when they began.
pub fn invocations(run: &Run) -> BTreeSet<u64> {
    let parsed = |text: &[u8]| serde_json::from_slice::<Value>(text).unwrap_or_default();
    let journal = run.after.get(JOURNAL).map_or(&[][..], Vec::as_slice).split_inclusive(|byte| *byte == b'\n');
    let records = journal.filter(|line| line.ends_with(b"\n")).map(|line| parsed(line)["invocation"].take());
    let report = run.after.get(REPORT).map(|text| parsed(text)).unwrap_or_default();
    let lists = [&report["floor"], &report["cells"]].map(|list| list.as_array().cloned().unwrap_or_default());
    let kept = lists.iter().flatten().flat_map(|cell| cell["runs"].as_array().cloned().unwrap_or_default());
    records.chain(kept).filter_map(|invocation| invocation["started_ns"].as_u64()).collect()
}
