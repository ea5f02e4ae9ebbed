//! What chance seldom makes: CPUs that no machine has, failures of which nothing is to be printed, reports that contradict themselves in one place, texts in every place where a report has one, archives that
//! grow, a report of another machine for a history, a supervisor that is killed while its children stand still or before its last record
//! is old, children that stand still while it goes on, and what has to be on the disk before it counts.

use std::collections::BTreeSet;
use std::process::Command;
use std::time::Duration;
use std::{fs, iter};

use fastrand::Rng;
use rustix::process::Signal;
use serde_json::{Value, json};
use xtask::packages::{self, Need};
use xtask::{Failure, Outcome, process};

use super::case::Case;
use super::grammar::Verb;
use super::kills;
use super::lines::{self, LINES};
use super::mutant::TEXTS;
use super::reports::{JOURNAL, REPORT};
use super::{Lacks, Target};

/// Takes about half a second on a machine that is idle; of `LONG` a process measures most of the time.
const SHORT: &str = "sweep --kernel noop,arith-int --threads 1,2 --steps 20000 --iterations 2 --runs 3 --output r.json";
const LONG: &str = "sweep --kernel arith-int --threads 1,2 --steps 30000000 --budget 20s --output r.json";

const STRACE: Need = Need::new("strace", "it shows what a sweep puts on the disk, and when", ["strace"; 4]);

/// When a run that should end by itself is stuck.
const STUCK: Duration = Duration::from_secs(60);

type Check = fn(&Target, &mut Case<'_>, &mut Rng) -> Outcome;

const CHECKS: [Check; 11] =
    [contradictions, texts, archive, another_machine, frozen, served, orphaned, resumed, durable, beyond, reasons];

pub fn lacks() -> Lacks {
    let lack = packages::ensure(&[STRACE]).err().map(|failure| format!("what is on the disk and when ({failure})"));
    Ok(lack.into_iter().collect())
}

/// All of them, in any order.
pub fn case(target: &Target, case: &mut Case<'_>, rng: &mut Rng) -> Outcome {
    let mut checks = CHECKS;
    rng.shuffle(&mut checks);
    for check in checks {
        case.empty()?;
        check(target, case, rng)?;
    }
    Ok(())
}

/// The reports that cases begin with, read.
fn reports(target: &Target) -> Vec<Value> {
    let bases = target.prepared.bases.iter().filter(|base| base.name == REPORT);
    bases.filter_map(|base| serde_json::from_slice(&base.bytes).ok()).collect()
}

fn report(target: &Target, rng: &mut Rng) -> Value {
    rng.choice(reports(target)).unwrap_or_default()
}

fn put(case: &Case<'_>, report: &Value) -> Outcome {
    case.put(REPORT, report.to_string().as_bytes())
}

/// What makes a sound report one that cannot be: a name, and the change of it or of its first cell that has a number. `false` where the report
/// has nothing to change.
type Edit = (&'static str, fn(&mut Value) -> bool);

const EDITS: [Edit; 9] = [
    ("a seat is missing", |report| cell(report).is_some_and(|cell| pop(&mut cell["seats"]))),
    ("it has no workers", |report| set(report, |cell| cell["workers"] = 0.into())),
    ("the precision is zero", |report| {
        report["plan"]["precision"] = 0.into();
        true
    }),
    ("a lap is missing", |report| cell(report).is_some_and(|cell| pop(&mut cell["runs"][0]["iterations"][0]["laps"]))),
    ("a lap ends before it begins", |report| {
        set(report, |cell| cell["runs"][0]["iterations"][0]["laps"][0]["end_ns"] = 0.into())
    }),
    ("two cells are the same", |report| double(&mut report["cells"])),
    ("two runs are the same", |report| cell(report).is_some_and(|cell| double(&mut cell["runs"]))),
    ("two cards are the same", |report| double(&mut report["cards"])),
    ("there are no cards", |report| {
        report["cards"] = json!([]);
        true
    }),
];

fn cell(report: &mut Value) -> Option<&mut Value> {
    let mut cells = report["cells"].as_array_mut()?.iter_mut();
    cells.find(|cell| cell["runs"][0]["iterations"][0]["laps"].is_array())
}

fn set(report: &mut Value, change: fn(&mut Value)) -> bool {
    cell(report).map(change).is_some()
}

fn pop(list: &mut Value) -> bool {
    list.as_array_mut().and_then(Vec::pop).is_some()
}

fn double(list: &mut Value) -> bool {
    list.as_array_mut().is_some_and(|items| {
        items.extend(items.first().cloned());
        !items.is_empty()
    })
}

fn contradictions(target: &Target, case: &mut Case<'_>, rng: &mut Rng) -> Outcome {
    for (what, edit) in EDITS {
        let mut report = report(target, rng);
        if edit(&mut report) {
            put(case, &report)?;
            let run = case.run(&["render", REPORT], &[], None)?;
            refused(run.code, &format!("a report in which {what} is refused"))?;
        }
    }
    Ok(())
}

/// CPUs that no machine has, in every way in which a list names them.
fn beyond(_: &Target, case: &mut Case<'_>, rng: &mut Rng) -> Outcome {
    let id = rng.u64((1 << 20)..=u64::from(u32::MAX) + 1);
    for list in [format!("{id}"), format!("0-{id}"), format!("0,{id}"), format!("0-{id}:2")] {
        let run = case.run(&["map", "--threads", "1", "--mapping", &format!("list:{list}")], &[], None)?;
        refused(run.code, "a CPU beyond all that there can be is refused")?;
    }
    Ok(())
}

/// A sweep that fails says why, also where it is to print nothing.
fn reasons(_: &Target, case: &mut Case<'_>, _: &mut Rng) -> Outcome {
    for output in ["wall", "last"] {
        case.empty()?;
        let sweep =
            format!("sweep --threads 1 --mapping dumb --runs 2 --budget 4s --value {output} -q --output r.json");
        let words: Vec<&str> = sweep.split(' ').chain(["--command", "sh -c 'exit 7'"]).collect();
        let run = case.run(&words, &[REPORT], None)?;
        // Of the configuration, not of a first run only.
        let is_told = String::from_utf8_lossy(&run.err).contains("command dumb x1: the program ended with exit code 7");
        if run.code != Some(3) || !is_told {
            return Err(Failure::found("a quiet sweep of a program that fails says why it failed"));
        }
    }
    Ok(())
}

fn refused(code: Option<i32>, law: &str) -> Outcome {
    if code == Some(2) { Ok(()) } else { Err(Failure::found(law)) }
}

/// Hostile texts wherever a report has words of its own, and all lines that name it, in all formats. Always of the report with reliable
/// numbers too, since little is said of others.
fn texts(target: &Target, case: &mut Case<'_>, rng: &mut Rng) -> Outcome {
    let mut reports = reports(target);
    let reliable = reports.pop().unwrap_or_default();
    in_words(target, case, reliable)?;
    rng.choice(reports).map_or(Ok(()), |report| in_words(target, case, report))
}

fn in_words(target: &Target, case: &mut Case<'_>, mut report: Value) -> Outcome {
    let hostile = TEXTS.concat().replace('\0', "");
    let mut words = BTreeSet::new();
    each_text(&mut report, &mut |text| words.extend([text.clone()]));
    for word in words {
        // The same word in two places is one name; some are known to the reader, who takes no others.
        let mut changed = report.clone();
        each_text(&mut changed, &mut |text| {
            if *text == word {
                text.push_str(&hostile);
            }
        });
        put(case, &changed)?;
        if case.run(&["render", REPORT], &[], None)?.code != Some(2) {
            report = changed;
        }
    }
    for line in LINES.into_iter().filter(|line| line.split(' ').any(|word| word == REPORT)) {
        let words = lines::words(line);
        let named = |words: &[String]| words.iter().any(|word| word == "--format" || word == "--validate");
        let formats = lines::verb(&target.verbs, &words).map_or(&[][..], Verb::formats).iter();
        let in_formats = formats
            .filter(|_| !named(&words))
            .map(|format| [&words[..], &["--format".to_owned(), format.clone()]].concat());
        for words in iter::once(words.clone()).chain(in_formats.filter(|_| words[0] != "sweep")) {
            case.empty()?;
            for name in words.iter().filter(|name| *name != REPORT) {
                target.file(name).map_or(Ok(()), |bytes| case.put(name, bytes))?;
            }
            put(case, &report)?;
            target.run(case, &words)?;
        }
    }
    Ok(())
}

fn each_text(value: &mut Value, work: &mut impl FnMut(&mut String)) {
    match value {
        Value::String(text) => work(text),
        Value::Array(items) => items.iter_mut().for_each(|item| each_text(item, work)),
        Value::Object(members) => members.values_mut().for_each(|member| each_text(member, work)),
        _ => {}
    }
}

/// What a report may take of memory, in bytes.
const MODEST: u64 = 1 << 30;

/// A small archive of more than there is memory for is refused before it is taken.
fn archive(_: &Target, case: &mut Case<'_>, _: &mut Rng) -> Outcome {
    let path = case.work().join("bomb.json.gz");
    // Members of one file follow each other: each is 32 MiB of spaces.
    let script = "head -c 33554432 /dev/zero | tr '\\0' ' ' | gzip -9 > m; for i in $(seq 40); do cat m; done > bomb.json.gz; rm m";
    process::run(Command::new("sh").args(["-c", script]).current_dir(case.work()))?;
    case.memory = MODEST;
    let run = case.run(&["render", "bomb.json.gz"], &[], None)?;
    let _ = fs::remove_file(path);
    refused(run.code, "an archive that grows beyond any report is refused")
}

fn another_machine(target: &Target, case: &mut Case<'_>, rng: &mut Rng) -> Outcome {
    let mut report = report(target, rng);
    put(case, &report)?;
    case.run(&["history", "add", REPORT, "--db", "h.db"], &["h.db"], None)?;
    report["host"]["processor"] = "another processor".into();
    let id: String = report["id"].as_str().unwrap_or("0").chars().rev().collect();
    report["id"] = id.into();
    case.put("other.json", report.to_string().as_bytes())?;
    let run = case.run(&["history", "add", "other.json", "--db", "h.db"], &["h.db"], None)?;
    refused(run.code, "a history takes no report of another machine")
}

/// Its children stand still when it is killed: they end all the same.
fn frozen(_: &Target, case: &mut Case<'_>, rng: &mut Rng) -> Outcome {
    case.freezes = Some(2);
    let moment = Duration::from_millis(rng.u64(300..1500));
    case.run(&LONG.split(' ').collect::<Vec<_>>(), &[REPORT], Some((moment, Signal::KILL))).map(drop)
}

/// What measures stands still for good, with the servers that its program has: all end when a run has had its time.
fn served(_: &Target, case: &mut Case<'_>, rng: &mut Rng) -> Outcome {
    let line = "sweep --command sh_-c_'sleep_0.6;_true' --setup sh_-c_'sleep_57_&_setsid_sleep_56_&' --threads 1 --mapping dumb --budget 4s -q --output r.json";
    let words = lines::words(line);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    // charz, what measures, two servers, and the program, which is two. The signal changes nothing for charz itself, which gives its children time.
    (case.freezes, case.limit) = (Some(6), STUCK);
    let moment = Duration::from_millis(rng.u64(50..400));
    case.run(&words, &[REPORT], Some((moment, Signal::CONT))).map(drop)
}

/// The program under `exec` and what it started end with it.
fn orphaned(_: &Target, case: &mut Case<'_>, rng: &mut Rng) -> Outcome {
    let moment = Duration::from_millis(rng.u64(300..900));
    // They would end by themselves long after it is looked for what is left.
    case.run(&["exec", "--", "sh", "-c", "sleep 58 & sleep 59"], &[], Some((moment, Signal::KILL))).map(drop)
}

/// What was recorded when it was killed is in the report of the sweep that goes on.
fn resumed(_: &Target, case: &mut Case<'_>, rng: &mut Rng) -> Outcome {
    let words: Vec<&str> = SHORT.split(' ').collect();
    for _ in 0..10 {
        case.empty()?;
        let moment = Duration::from_millis(rng.u64(100..600));
        let killed = case.run(&words, &[REPORT], Some((moment, Signal::KILL)))?;
        let recorded = kills::invocations(&killed);
        if killed.after.contains_key(JOURNAL) && !recorded.is_empty() {
            let run = case.run(&["sweep", "--resume", REPORT], &[REPORT], Some((STUCK, Signal::INT)))?;
            return if recorded.is_subset(&kills::invocations(&run)) {
                Ok(())
            } else {
                Err(Failure::found(kills::RECORDED))
            };
        }
    }
    Ok(())
}

/// Each line of the journal is on the disk before the next is measured, and the report before it gets its name.
fn durable(_: &Target, case: &mut Case<'_>, _: &mut Rng) -> Outcome {
    if packages::ensure(&[STRACE]).is_err() {
        return Ok(());
    }
    let trace = case.work().with_file_name("strace.txt");
    case.under = [
        "strace",
        "--follow-forks",
        "--quiet=all",
        "--trace=fsync,fdatasync,rename,renameat,renameat2,linkat",
        "--output",
    ]
    .map(str::to_owned)
    .into();
    case.under.push(trace.display().to_string());
    let run = case.run(&SHORT.split(' ').collect::<Vec<_>>(), &[REPORT], Some((STUCK, Signal::INT)))?;
    let report: Value = run.after.get(REPORT).and_then(|text| serde_json::from_slice(text).ok()).unwrap_or_default();
    let cells = [&report["floor"], &report["cells"]].map(|list| list.as_array().cloned().unwrap_or_default());
    let records: usize = cells.iter().flatten().filter_map(|cell| Some(cell["runs"].as_array()?.len())).sum();
    let trace = fs::read_to_string(&trace).map_err(|error| Failure::io("read what strace wrote", &error))?;
    let at = |call: &str| trace.lines().position(|line| line.contains(call) && line.ends_with("= 0"));
    let named = |line: &str| line.contains("\"r.json\"") || line.contains("/r.json\"");
    let renamed = trace.lines().position(|line| (line.contains("rename") || line.contains("linkat")) && named(line));
    let synced = trace.lines().filter(|line| line.contains("fdatasync(")).count();
    let why = match () {
        () if run.code != Some(0) || run.after.contains_key(JOURNAL) => "a sweep under strace ends as any other",
        () if synced < records => "each line of a journal is put on the disk",
        () if renamed.is_none() || at(" fsync(").is_none_or(|at| Some(at) > renamed) => {
            "a report is on the disk before it has its name"
        }
        () => return Ok(()),
    };
    Err(Failure::found(why))
}
