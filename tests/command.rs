//! `charz sweep --command`: a user's program is measured as a kernel, and whatever it does ends in one sentence.

mod numbers;
mod results;
mod setup;

use std::fs;
use std::path::Path;
use std::process::Command;

use rustix::process::Pid;
use serde_json::Value;
use tempfile::{TempDir, tempdir};

use crate::support::{Ran, charz, program, read_json, root, run};

/// A sweep of a program with one thread and two runs, in a folder of its own.
struct Trial {
    folder: TempDir,
    ran: Ran,
}

impl Trial {
    fn of(command: &str, flags: &[&str]) -> Self {
        Trial::with(command, &["--threads", "1", "--mapping", "dumb"], flags)
    }

    fn with(command: &str, threads: &[&str], flags: &[&str]) -> Self {
        let folder = tempdir().unwrap();
        let ran = charz()
            .current_dir(&folder)
            .args(["sweep", "--budget", "3m", "--output", "r.json", "--command", command])
            .args(if flags.contains(&"--invocations") { [].as_slice() } else { &["--invocations", "2"] })
            .args(threads)
            .args(flags)
            .output()
            .expect("the program starts")
            .into();
        Trial { folder, ran }
    }

    fn file(&self) -> String {
        self.folder.path().join("r.json").to_str().unwrap().to_owned()
    }

    #[track_caller]
    fn report(&self) -> Value {
        assert!(!self.folder.path().join("r.json.journal").exists(), "the journal became the report");
        read_json(&self.folder.path().join("r.json"))
    }

    #[track_caller]
    fn cell(&self) -> Value {
        self.report()["cells"][0].clone()
    }
}

/// The cell ends so, for a reason of one line with these words, and nothing of the program is left.
#[track_caller]
fn check(command: &str, flags: &[&str], code: i32, status: &str, words: &[&str]) {
    let trial = Trial::of(command, flags);
    assert_eq!(trial.ran.code, Some(code), "{command}: {}", trial.ran.err);
    let cell = trial.cell();
    let reason = cell["reason"].as_str().unwrap_or_default();
    assert_eq!(cell["status"], status, "{command}: {reason}");
    assert!(words.iter().all(|word| reason.contains(word)) && !reason.contains('\n'), "{command}: {reason}");
    assert!(trial.ran.err.contains(words[0]), "it is said at once: {}", trial.ran.err);
}

/// The command is refused before anything is measured.
#[track_caller]
fn check_refused(command: &str, flags: &[&str], words: &[&str]) {
    let trial = Trial::of(command, flags);
    assert_eq!(trial.ran.code, Some(2), "{command}: {}", trial.ran.err);
    assert!(words.iter().all(|word| trial.ran.err.contains(word)), "{}", trial.ran.err);
    assert_eq!(fs::read_dir(&trial.folder).unwrap().count(), 0, "no file was begun");
}

/// A time to sleep that no other test takes, nor another run of the tests on this machine.
fn own_sleep(number: u32) -> String {
    format!("{}.{}", 86_390 + number, std::process::id())
}

/// Processes whose command line has this word.
fn running(word: &str) -> Vec<Pid> {
    let pids = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let has = |pid: &i32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|own| own == word.as_bytes())
    };
    pids.filter(has).filter_map(Pid::from_raw).collect()
}

fn alive(word: &str) -> usize {
    running(word).len()
}

#[test]
fn what_a_program_reports_is_the_number_in_its_unit() {
    let trial = Trial::with(
        "sh -c 'echo rate: 1,25{threads}.5 of {mapping}'",
        &["--threads", "1,2", "--mapping", "dumb,auto"],
        &["--value", "regex:rate: (\\S+)", "--unit", "MB/s"],
    );
    trial.ran.check_swept();
    let report = trial.report();
    assert_eq!(report["plan"]["program"]["unit"]["symbol"], "MB/s");
    let cells = report["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 4);
    for cell in cells {
        assert_eq!((&cell["kernel"], &cell["unit"]["reported"]["better"]), (&"command".into(), &"higher".into()));
        let threads = cell["workers"].as_f64().unwrap();
        assert_eq!(cell["runs"][0]["iterations"][0]["reported"], 1250.5 + threads, "{cell}");
    }
    assert_eq!(report["cards"][0]["role"], "program");
    for format in ["summary", "table", "csv", "markdown", "html", "openmetrics", "benchmark"] {
        let shown = run(["render", &trial.file(), "--format", format]);
        assert_eq!(shown.code, Some(0), "{format}: {}", shown.err);
        assert!(shown.out.contains("MB/s") || format == "benchmark", "{format}");
    }
}

#[test]
fn a_command_without_a_number_of_threads_runs_in_copies_and_says_so() {
    let trial = Trial::with(
        "sh -c 'test $OMP_NUM_THREADS = 1 && echo $1' x {rank}0.5",
        &["--threads", "2", "--mapping", "dumb"],
        &["--value", "last"],
    );
    assert!(trial.ran.err.contains("2 copies") || trial.ran.err.contains("N copies"), "{}", trial.ran.err);
    let run = trial.cell()["runs"][0]["iterations"][0].clone();
    // 00.5 and 10.5: rates add up.
    assert_eq!((run["reported"].as_f64(), run["laps"].as_array().unwrap().len()), (Some(11.0), 2));
    assert!(run["laps"][1]["on_seat"] == true, "{run}");
}

#[test]
fn copies_take_more_files_together_than_each_may_have() {
    let folder = tempdir().unwrap();
    let ran: Ran = program(Path::new("sh"))
        .current_dir(&folder)
        .args(["-c", "ulimit -Sn 40 && exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_charz")])
        .args(["sweep", "--command", "sh -c 'ulimit -Sn' {rank}", "--value", "last", "--invocations", "2"])
        .args(["--threads", "24", "--mapping", "auto", "--budget", "3m", "--output", "r.json"])
        .output()
        .unwrap()
        .into();
    ran.check_swept();
    let cell = read_json(&folder.path().join("r.json"))["cells"][0].clone();
    assert_eq!(cell["runs"][0]["iterations"][0]["reported"], 24.0 * 40.0, "{cell}");
}

#[test]
fn a_program_with_fewer_threads_than_it_was_asked_for_is_marked() {
    let threads = &["--threads", "1,2", "--mapping", "dumb"];
    let trial = Trial::with("sh -c 'echo 4' x {threads}", threads, &["--value", "last"]);
    for cell in trial.report()["cells"].as_array().unwrap() {
        let fewer = |mark: &Value| mark["code"] == "V36";
        assert_eq!(cell["marks"].as_array().unwrap().iter().any(fewer), cell["workers"] == 2, "{}", cell["marks"]);
        assert_eq!(cell["value"].is_null(), cell["workers"] == 2, "a number of one thread is none of two: {cell}");
    }
    assert!(
        trial.ran.out.contains("wrong number of threads") && trial.ran.out.contains("{threads}"),
        "{}",
        trial.ran.out
    );
}

#[test]
fn a_first_run_has_no_more_threads_than_are_asked_for() {
    for command in ["sh -c 'echo x >> begun'", "sh -c 'echo {threads} >> begun'"] {
        let folder = tempdir().unwrap();
        let ran =
            charz().current_dir(&folder).args(["sweep", "--dry-run", "--threads", "1", "--command", command]).output();
        assert!(ran.as_ref().unwrap().status.success(), "{ran:?}");
        let begun = fs::read_to_string(folder.path().join("begun")).unwrap();
        // One that is short runs again when nothing follows it.
        let lines: Vec<&str> = begun.lines().collect();
        assert!(matches!(lines[..], ["x" | "1"] | ["x", "x"] | ["1", "1"]), "{command}: {begun}");
    }
}

#[test]
fn a_plan_for_another_machine_has_no_time_of_a_program() {
    let plan =
        ["sweep", "--dry-run", "--topology", "core:2 pu:1", "--command", "true", "--kernel", "arith-int", "--format"];
    let ran = run([&plan[..], &["json"]].concat());
    let json: Value = serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {}", ran.err));
    assert!(json["predicted_s"].is_null(), "{}", ran.out);
    for cell in json["plan"].as_array().unwrap() {
        assert_eq!(cell["invocation_s"].is_null(), cell["kernel"] == "command", "{cell}");
    }
    let table = run([&plan[..], &["table"]].concat()).out;
    assert!(!table.contains("about 0") && table.contains("not known"), "{table}");
}

#[test]
fn times_and_other_kernels_stand_beside_each_other() {
    let trial = Trial::with(
        "sleep 0.0{threads}",
        &["--threads", "1,2", "--mapping", "dumb"],
        &["--kernel", "arith-int", "--iterations", "20000", "--repetitions", "2"],
    );
    let report = trial.report();
    assert_eq!(report["plan"]["kernels"], serde_json::json!(["command", "arith-int"]));
    for cell in report["cells"].as_array().unwrap().iter().filter(|cell| cell["kernel"] == "command") {
        assert_eq!(cell["unit"]["reported"], serde_json::json!({"symbol": "s", "better": "lower"}));
        let took = cell["runs"][0]["iterations"][0]["reported"].as_f64().unwrap();
        assert!(took >= 0.01 * cell["workers"].as_f64().unwrap(), "{took}");
    }
}

#[test]
fn a_program_that_fails_ends_in_one_sentence() {
    check("sh -c 'echo fine; echo oh no >&2; exit 3'", &[], 3, "failed", &["exit code 3", "oh no"]);
    check("sh -c 'kill -SEGV $$'", &[], 3, "failed", &["signal 11"]);
    check("sh -c 'kill -KILL $$'", &[], 3, "failed", &["ended the program"]);
    check("echo hello", &["--value", "regex:rate (.*)"], 3, "failed", &["no line matches", "hello"]);
    check("true", &["--value", "json:a"], 3, "failed", &["no JSON"]);
    check("echo rate nan", &["--value", "regex:rate (.*)"], 3, "failed", &["NaN"]);
    check("echo -5", &["--value", "last"], 3, "failed", &["negative"]);
    check("sh -c 'kill -TTIN $$'", &[], 3, "failed", &["the program", "terminal"]);
    check("true", &["--setup", "sh -c 'kill -TTOU $$'"], 3, "failed", &["--setup", "terminal"]);
    check("true", &["--setup", "sh -c 'echo not there >&2; exit 1'"], 3, "failed", &["--setup", "not there"]);
    check("true", &["--setup", "sleep 60", "--run-timeout", "1s"], 3, "failed", &["--setup did not end in"]);
    check("echo wrong", &["--verify", "^right$"], 4, "invalid", &["^right$", "wrong"]);
}

#[test]
fn a_program_that_hangs_is_ended_with_all_that_it_started() {
    let sleeps = &own_sleep(0);
    let command = format!("sh -c '(setsid sleep {sleeps} &); sleep {sleeps}'");
    check(&command, &["--run-timeout", "300ms"], 3, "failed", &["--run-timeout"]);
    assert_eq!(alive(sleeps), 0, "an orphan is left");
}

#[test]
fn a_first_run_ends_with_the_budget_however_long_a_run_may_take() {
    let (mut command, folder) = (charz(), tempdir().unwrap());
    let sweep = command.current_dir(&folder).args(["sweep", "--command", "sleep 20", "--threads", "1"]);
    let ran: Ran = sweep.args(["--run-timeout", "20s", "--budget", "1s"]).output().unwrap().into();
    // On a busy machine, starting alone may take a second.
    let (code, clause) =
        if ran.code == Some(5) { (5, "took the whole budget of 1") } else { (3, "within the budget of 1") };
    assert!(ran.code == Some(code) && ran.err.contains(clause), "{:?}: {}", ran.code, ran.err);
}

#[test]
fn without_time_left_the_report_is_written_and_nothing_is_run() {
    let (mut command, folder) = (charz(), tempdir().unwrap());
    let sweep = command.current_dir(&folder).args(["sweep", "--command", "touch ran", "--threads", "1"]);
    let ran: Ran =
        sweep.args(["--run-timeout", "20s", "--budget", "1ms", "--output", "r.json"]).output().unwrap().into();
    assert_eq!(ran.code, Some(5), "{}", ran.err);
    assert_eq!(read_json(&folder.path().join("r.json"))["stopped_by"], "budget");
    assert!(!folder.path().join("ran").exists());
}

#[test]
fn what_a_program_leaves_running_is_ended_and_counted() {
    let sleeps = &own_sleep(3);
    let trial = Trial::of(&format!("sh -c '(setsid sleep {sleeps} &); echo 5'"), &["--value", "last"]);
    let cell = trial.cell();
    assert_eq!(cell["runs"][0]["evidence"]["program"]["left"], 1, "{cell}");
    assert_eq!((cell["runs"][0]["ending"].as_str(), alive(sleeps)), (Some("done"), 0));
}

#[test]
fn a_program_that_leaves_its_seat_is_marked() {
    let leave = "taskset -pc 0-4095 $$ >/dev/null 2>&1";
    let trial = Trial::of(&format!("sh -c '{leave}; sleep 0.02; echo 7'"), &["--value", "last"]);
    let cell = trial.cell();
    // In a group or a machine of one CPU there is nowhere else to be; a mask, as these tests may have one, can be left.
    let cpus = Command::new("sh").args(["-c", &format!("{leave}; nproc")]).output().unwrap().stdout;
    let away = String::from_utf8_lossy(&cpus).trim() != "1";
    let marked = cell["marks"].as_array().unwrap().iter().any(|mark| mark["code"] == "V01");
    assert_eq!(marked, away, "{cell}");
    assert_eq!(cell["runs"][0]["ending"], "done");
}

#[test]
fn threads_that_are_put_on_their_seats_have_not_moved() {
    let command = "sh -c 'for i in 1 2 3 4; do (sleep 0.01) & done; wait; echo 5' x {threads}";
    let trial = Trial::with(command, &["--threads", "2", "--mapping", "dumb"], &["--value", "last"]);
    let run = trial.cell()["runs"][0]["iterations"][0].clone();
    let moves: u64 =
        run["laps"].as_array().unwrap().iter().filter_map(|lap| lap["counts"]["migrations"].as_u64()).sum();
    // What else a busy machine does to a run is its own.
    let moved = run["excluded"].as_array().into_iter().flatten().any(|code| code == "V02");
    assert!(moves == 0 && !moved, "{run}");
}

#[test]
fn a_signal_that_is_blocked_ends_no_run_late_and_stays_so_for_the_program() {
    if !Command::new("env").args(["--block-signal=CHLD", "true"]).status().is_ok_and(|status| status.success()) {
        return println!("skipped: env blocks no signals here");
    }
    let (folder, mut sweep) = (tempdir().unwrap(), program(Path::new("env")));
    sweep.current_dir(&folder).args(["--block-signal=CHLD", env!("CARGO_BIN_EXE_charz")]);
    let read = "while read -r name mask; do case $name in SigBlk:) echo $mask;; esac; done < /proc/self/status";
    let script = &format!("sh -c '{read}; cat /dev/null; exit'");
    let ran: Ran = sweep
        .args(["sweep", "--command", script, "--value", "last", "--run-timeout", "30s"])
        .args(["--threads", "1", "--mapping", "dumb", "--invocations", "2", "--budget", "3m", "--output", "r.json"])
        .output()
        .unwrap()
        .into();
    let cell = read_json(&folder.path().join("r.json"))["cells"][0].clone();
    // As digits of 16 each.
    assert_eq!(cell["runs"][0]["iterations"][0]["reported"], 10_000.0, "{cell} {}", ran.err);
}

#[test]
fn a_line_of_a_hundred_megabytes_takes_no_memory() {
    let trial = Trial::of(
        // The address space of what measures cannot hold it.
        "sh -c 'head -c 100000000 /dev/zero; echo; echo rate 5'",
        &["--value", "regex:rate (.*)"],
    );
    assert_eq!(trial.cell()["runs"][0]["iterations"][0]["reported"], 5.0, "{}", trial.ran.err);
}

#[test]
fn what_cannot_be_run_or_understood_is_refused_before_the_sweep() {
    check_refused("no-such-program-here", &[], &["--command", "PATH"]);
    check_refused("/etc/passwd", &[], &["--command", "/etc/passwd"]);
    check_refused("'unclosed", &[], &["--command", "quotation"]);
    check_refused("true", &["--value", "regex:a(b"], &["--value", "character 2"]);
    check_refused("true", &["--value", "mean"], &["--value", "regex:RE"]);
    check_refused("true {rank} {threads}", &[], &["{rank}"]);
    let ran = run(["sweep", "--value", "last"]);
    assert!(ran.code == Some(2) && ran.err.contains("--command"), "{}", ran.err);
    let ran = run(["sweep", "--kernel", "command"]);
    assert!(ran.code == Some(2) && ran.err.contains("--command"), "{}", ran.err);
}

#[test]
fn an_unfinished_sweep_of_a_program_is_resumed() {
    let folder = tempdir().unwrap();
    let gate = folder.path().join("broken");
    fs::write(&gate, "").unwrap();
    // Its journal is what a kill leaves: the report's plan and the invocations that were made.
    let command = format!("sh -c 'echo 4; test -e {} && kill -KILL $PPID; true' x {{threads}}", gate.display());
    let mut sweep = charz();
    sweep.current_dir(&folder).args(["sweep", "--command", &command, "--value", "last", "--threads", "1"]);
    let first = sweep.args(["--mapping", "dumb", "--invocations", "2", "--output", "r.json"]).output().unwrap();
    assert_ne!(first.status.code(), Some(0), "the measuring process was killed");
    fs::remove_file(&gate).unwrap();
    let text = fs::read_to_string(folder.path().join("r.json")).unwrap();
    let unfinished =
        text.replace("\"complete\": true", "\"complete\": false").replace("\"complete\":true", "\"complete\":false");
    fs::write(folder.path().join("r.json"), unfinished).unwrap();
    let again: Ran = charz().current_dir(&folder).args(["sweep", "--resume", "r.json"]).output().unwrap().into();
    assert!(again.err.is_empty() || !again.err.contains("error"), "{}", again.err);
    assert_eq!(read_json(&folder.path().join("r.json"))["plan"]["program"]["command"], command);
}

#[test]
fn two_programs_are_compared_on_purpose_only() {
    let of = |command: &str| Trial::of(command, &["--value", "last", "--invocations", "6"]);
    let (one, same, other) = (of("echo 100"), of("echo 100"), of("echo 200"));
    let compare = |new: &Trial, flags: &[&str]| {
        run([&["compare", one.file().as_str(), new.file().as_str(), "--allow-suspect"], flags].concat())
    };
    assert_ne!(compare(&same, &[]).code, Some(2), "the same program is the same series");
    let refused = compare(&other, &[]);
    assert!(refused.err.contains("--command") && refused.err.contains("--cross-plan"), "{}", refused.err);
    let compared = compare(&other, &["--cross-plan", "--json"]);
    let json: Value = serde_json::from_str(&compared.out).unwrap();
    assert_eq!(json["rows"][0]["base"]["value"], 100.0, "{}", compared.err);
    assert_eq!(json["rows"][0]["new"]["value"], 200.0);
}

#[test]
fn sides_of_an_ab_test_may_be_two_programs() {
    let ran = run([
        "ab",
        "--a",
        "--command 'echo 100'",
        "--b",
        "--command 'echo 50'",
        "--value",
        "last",
        "--threads",
        "1",
        "--mapping",
        "dumb",
        "--invocations",
        "8",
        "--json",
        "--allow-suspect",
    ]);
    let json: Value = serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {}", ran.err));
    assert_eq!(json["rows"][0]["verdict"], "slower", "{}", ran.out);
    assert_eq!(ran.code, Some(1));
}

/// The program in a fenced block of the page on the line protocol.
fn example(language: &str) -> String {
    let page = fs::read_to_string(root().join("docs/your-kernel-in-any-language.md")).unwrap();
    let fence = format!("```{language}\n");
    page.split_once(&fence).unwrap().1.split_once("```").unwrap().0.to_owned()
}

#[track_caller]
fn check_protocol(folder: &Path, command: &str) {
    let ran: Ran = charz()
        .current_dir(folder)
        .args(["sweep", "--command", command, "--value", "protocol", "--unit", "cells/s", "--threads", "2"])
        .args(["--mapping", "dumb", "--invocations", "1", "--repetitions", "3", "--budget", "60s"])
        .args(["--output", "r.json"])
        .output()
        .unwrap()
        .into();
    let report = read_json(&folder.join("r.json"));
    let invocation = &report["cells"][0]["runs"][0];
    assert_eq!(invocation["ending"], "done", "{command}: {} {invocation}", ran.err);
    let runs = invocation["iterations"].as_array().unwrap();
    // Of three; fewer where other programs leave it little of the time.
    let is_measured = |run: &Value| run["reported"].as_f64() > Some(0.0);
    assert!((1..=3).contains(&runs.len()) && runs.iter().all(is_measured), "{invocation}");
}

#[test]
fn the_examples_of_the_line_protocol_are_measured() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("walk.c");
    fs::write(&file, example("c")).unwrap();
    match Command::new("cc").args(["-O1", "-o"]).arg(folder.path().join("walk")).arg(&file).status() {
        Ok(built) => {
            assert!(built.success());
            check_protocol(folder.path(), "./walk");
        }
        Err(_) => println!("skipped: there is no C compiler"),
    }
}

#[test]
fn the_example_in_python_is_measured() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("hash.py"), example("python")).unwrap();
    match Command::new("python3").arg("--version").output() {
        Ok(version) if version.status.success() => check_protocol(folder.path(), "python3 hash.py {threads}"),
        _ => println!("skipped: there is no python3"),
    }
}

#[test]
fn a_program_that_breaks_the_protocol_is_told_how() {
    let protocol: &[&str] = &["--value", "protocol"];
    check("sh -c 'echo ready; read go; echo 1 2'", protocol, 3, "failed", &["line protocol", "START_NS"]);
    check("sh -c 'echo ready; read go; echo 1 2 3; read go'", protocol, 3, "failed", &["CLOCK_MONOTONIC"]);
    check("sh -c 'echo hello'", protocol, 3, "failed", &["printed ready", "hello"]);
    check("sh -c 'echo ready'", protocol, 3, "failed", &["answered go number 1"]);
    let limited = &["--value", "protocol", "--run-timeout", "300ms"];
    check("sh -c 'echo ready; sleep 60'", limited, 3, "failed", &["the program had not", "--run-timeout"]);
}
