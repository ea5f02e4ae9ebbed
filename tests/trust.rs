//! What a file says starts no program: only what was typed, or what this user wrote here and nobody else can change.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{Ran, charz, read_json, send};

/// Leaves a line in the file `ran` of its folder.
const PROGRAM: &str = "sh -c 'echo x >> ran; sleep 0.1; echo 3'";
/// A plan that a second does not finish.
const PLAN: [&str; 8] = ["--value", "last", "--threads", "1,2", "--mapping", "dumb", "--invocations", "20"];

/// A user without an account.
const OTHER: u32 = 64_318;

/// A folder with `r.json`, the unfinished report of [`PROGRAM`] that this user began here.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let place = Place(tempfile::tempdir().unwrap());
        place.begin(PROGRAM);
        place
    }

    /// Begins the report anew, and stops once there is a number of it: how long that takes depends on what else the machine does.
    fn begin(&self, program: &str) -> Ran {
        let line = ["sweep", "--command", program, "--budget", "10m", "-v", "--output", "r.json", "--force"];
        let ran = self.stop(&with(&line, &PLAN), || self.lines() > 4);
        assert!(self.has_run(), "a program that was typed is started: {}", ran.err);
        assert_eq!(self.report()["complete"], false);
        ran
    }

    /// The lines of the journal.
    fn lines(&self) -> usize {
        fs::read_to_string(self.path("r.json.journal")).map_or(0, |text| text.lines().count())
    }

    /// Runs a line until something holds, then interrupts it.
    #[track_caller]
    fn stop(&self, args: &[&str], holds: impl Fn() -> bool) -> Ran {
        let mut child = self.charz().args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let until = Instant::now() + PATIENCE;
        while child.try_wait().unwrap().is_none() {
            assert!(Instant::now() < until, "{args:?} gets nowhere");
            if holds() {
                send(&child, Signal::INT);
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        child.wait_with_output().unwrap().into()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn report(&self) -> Value {
        read_json(&self.path("r.json"))
    }

    fn put(&self, report: &Value) {
        fs::write(self.path("r.json"), report.to_string()).unwrap();
    }

    fn mode(&self, name: &str, mode: u32) {
        fs::set_permissions(self.path(name), Permissions::from_mode(mode)).unwrap();
    }

    /// Not yet started, in the folder.
    fn charz(&self) -> Command {
        let mut command = charz();
        command.current_dir(&self.0);
        command
    }

    fn run(&self, args: &[&str], more: &[&str]) -> Ran {
        self.charz().args(args).args(more).output().unwrap().into()
    }

    /// Whether the program ran since this was asked before.
    fn has_run(&self) -> bool {
        fs::remove_file(self.path("ran")).is_ok()
    }

    /// Refused in one line with these words, the program not started and the report as it was.
    #[track_caller]
    fn refuses(&self, args: &[&str], words: &[&str]) {
        let before = fs::read(self.path("r.json")).ok();
        let ran = self.run(args, &[]);
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.err);
        assert!(words.iter().all(|word| ran.err.contains(word)), "{args:?}: {}", ran.err);
        assert_eq!(ran.err.lines().filter(|line| !line.starts_with("charz: note: ")).count(), 1, "{}", ran.err);
        assert!(!self.has_run(), "{args:?} started the program");
        assert_eq!(fs::read(self.path("r.json")).ok(), before);
    }

    /// Started, and stopped then.
    #[track_caller]
    fn starts(&self, args: &[&str]) {
        let ran = self.stop(args, || self.path("ran").exists());
        assert!(self.has_run(), "{args:?}: {:?} {}", ran.code, ran.err);
    }
}

/// How long anything may take on a machine that does much else.
const PATIENCE: Duration = Duration::from_secs(300);

const RESUME: [&str; 4] = ["sweep", "--resume", "r.json", "-q"];
const VALIDATE: [&str; 3] = ["advise", "r.json", "--validate"];

fn with<'a>(args: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [args, more].concat()
}

#[test]
fn an_own_report_starts_its_program_and_one_of_elsewhere_does_not() {
    let place = Place::new();
    place.starts(&RESUME);
    place.starts(&VALIDATE);
    let own = place.report();
    // As it would come by mail: the file is this user's, and what is in it is not.
    let program = "sh -c 'echo x >> ran'";
    // Without a seal, with that of another report or key, and with that of another program or set-up.
    for (member, value) in [
        ("/seal", Value::Null),
        ("/id", "0".repeat(32).into()),
        ("/seal", "0".repeat(32).into()),
        ("/plan/program/command", program.into()),
        ("/plan/program/setup", program.into()),
    ] {
        let mut mailed = own.clone();
        *mailed.pointer_mut(member).unwrap() = value;
        if member == "/plan/program/setup" {
            // Without the files of a set-up it would be of another program.
            mailed["plan"].as_object_mut().unwrap().remove("program_identity");
        }
        place.put(&mailed);
        let program = mailed["plan"]["program"]["command"].as_str().unwrap();
        let words = ["--trust-program", "--command", "sh -c "];
        place.refuses(&RESUME, &words);
        place.refuses(&VALIDATE, &words);
        place.refuses(&with(&RESUME, &["--command", "true"]), &["another program than was typed"]);
        let typed = match mailed["plan"]["program"]["setup"].as_str() {
            Some(setup) => vec!["--command", program, "--setup", setup],
            None => vec!["--command", program],
        };
        for allows in [&["--trust-program"], &typed[..]] {
            place.put(&mailed);
            place.starts(&with(&RESUME, allows));
            place.put(&mailed);
            place.starts(&with(&VALIDATE, allows));
        }
    }
}

/// What takes the place of `{mapping}` may be code for a shell.
#[test]
fn a_report_fills_no_program_with_its_own_words() {
    let place = Place::new();
    let program = PROGRAM.replace("echo x", "echo {mapping}");
    place.begin(&program);
    let mut report = place.report();
    for cell in ["floor", "cells"].into_iter().flat_map(|list| report[list].as_array().unwrap().clone()) {
        assert_eq!(cell["mapping"], "dumb");
    }
    let text = report.to_string().replace("\"mapping\":\"dumb\"", "\"mapping\":\"dumb; touch pwned\"");
    fs::write(place.path("r.json"), &text).unwrap();
    place.refuses(&RESUME, &["this user did not begin it so"]);
    for allows in [&["--trust-program"][..], &["--command", &program]] {
        place.refuses(&with(&RESUME, allows), &["dumb; touch pwned", "no mapping"]);
    }
    // The program of another folder may be another one.
    report["plan"]["program"]["command"] = program.as_str().into();
    place.put(&report);
    fs::create_dir(place.path("elsewhere")).unwrap();
    let mut elsewhere = place.charz();
    elsewhere.current_dir(place.path("elsewhere")).args(["sweep", "--resume", "../r.json", "-q"]);
    let ran: Ran = elsewhere.output().unwrap().into();
    assert!(ran.code == Some(2) && ran.err.contains("in this folder"), "{}", ran.err);
    place.starts(&RESUME);
}

#[test]
fn a_file_that_others_can_change_starts_no_program() {
    let place = Place::new();
    for (name, mode) in [("r.json", 0o666), (".", 0o777)] {
        let before = place.path(name).metadata().unwrap().permissions();
        place.mode(name, mode);
        for args in [&RESUME[..], &VALIDATE, &["advise", "last", "--validate"]] {
            place.refuses(args, &["other users may write to", "--trust-program"]);
        }
        fs::set_permissions(place.path(name), before).unwrap();
    }
    // In a sticky folder of their own, users replace their own files only.
    place.mode(".", 0o1777);
    place.starts(&RESUME);
    if chown(place.path("r.json"), Some(OTHER), None).is_err() {
        println!("not tested with another user's files, which only root makes");
        return;
    }
    place.mode("r.json", 0o644);
    let user = OTHER.to_string();
    place.refuses(&RESUME, &["belongs to user", &user]);
    place.refuses(&with(&RESUME, &["--trust-program"]), &["belongs to user", &user]);
    place.refuses(&VALIDATE, &["belongs to user", &user, "--trust-program"]);
    place.refuses(&["advise", "last", "--validate"], &["no report", "\"r.json\"", &user]);
    let plan = with(&["sweep", "--command", PROGRAM, "--continue", "--output", "r.json", "--budget", "10m"], &PLAN);
    place.refuses(&plan, &["belongs to user", &user]);
    assert_eq!(place.run(&["render", "r.json"], &[]).code, Some(0), "it is read by all");
    let below_sudo = place.charz().env("SUDO_UID", &user).args(["render", "last"]).output().unwrap();
    assert_eq!(below_sudo.status.code(), Some(0), "the caller's own");
    // A link of another user to a report of this one.
    fs::rename(place.path("r.json"), place.path("own.json")).unwrap();
    chown(place.path("own.json"), Some(0), None).unwrap();
    symlink("own.json", place.path("r.json")).unwrap();
    std::os::unix::fs::lchown(place.path("r.json"), Some(OTHER), None).unwrap();
    place.refuses(&RESUME, &["is a link", &user]);
}

#[test]
fn a_journal_is_a_file_like_any_other() {
    let place = Place::new();
    fs::remove_file(place.path("r.json")).unwrap();
    let line = ["sweep", "--command", PROGRAM, "--budget", "10m", "-q", "--output", "r.json"];
    let mut sweep = place.charz().args(line).args(PLAN).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let (journal, begun) = (place.path("r.json.journal"), Instant::now());
    while place.lines() < 3 {
        assert!(begun.elapsed() < PATIENCE, "the sweep gets nowhere");
        std::thread::sleep(Duration::from_millis(20));
    }
    sweep.kill().unwrap();
    sweep.wait().unwrap();
    place.has_run();
    let own = fs::read_to_string(&journal).unwrap();
    // Its first line is a report.
    let foreign = own.replacen("\"seal\":\"", "\"seal\":\"0", 1);
    assert_ne!(own, foreign);
    fs::write(&journal, &foreign).unwrap();
    place.refuses(&RESUME, &["--trust-program"]);
    assert_eq!(fs::read_to_string(&journal).unwrap(), foreign);
    place.mode(".", 0o777);
    fs::write(&journal, &own).unwrap();
    place.refuses(&RESUME, &["other users may write to"]);
    place.mode(".", 0o755);
    // A line that stands there again is one run.
    let again: Vec<&str> = own.lines().chain(own.lines().last()).collect();
    fs::write(&journal, again.join("\n") + "\n").unwrap();
    let ran = place.run(&RESUME, &[]);
    assert!(place.has_run() && ran.err.contains("has that run already"), "{}", ran.err);
    let report = place.report();
    let cells = [&report["floor"], &report["cells"]].into_iter().flat_map(|list| list.as_array().unwrap());
    for cell in cells {
        let starts: Vec<_> = cell["runs"].as_array().unwrap().iter().map(|run| &run["started_ns"]).collect();
        assert!(starts.iter().enumerate().all(|(at, start)| !starts[..at].contains(start)), "{starts:?}");
    }
}

#[test]
fn a_sweep_that_goes_on_is_the_one_that_is_typed() {
    let place = Place::new();
    let plan = with(&["sweep", "--continue", "--output", "r.json", "--budget", "10m", "-q"], &PLAN);
    place.starts(&with(&plan, &["--command", PROGRAM]));
    // What the report says of its command line is a text: here that of the next line.
    let mut report = place.report();
    let kernels = ["sweep", "--preset", "node", "--quiet", "--continue", "--output", "r.json", "--budget", "10m"];
    for line in ["charz sweep --preset node --quiet --continue --output r.json --budget 1s", "x", ""] {
        report["command"] = line.into();
        place.put(&report);
        place.refuses(&kernels, &["--kernel command", "--kernel arith-float"]);
    }
    place.refuses(&with(&plan, &["--command", "true"]), &["--command true", "echo x"]);
    place.refuses(&with(&plan, &["--command", PROGRAM, "--setup", "true"]), &["--setup true", "no --setup"]);
    let other: Vec<&str> = plan.iter().map(|word| if *word == "1,2" { "2" } else { *word }).collect();
    place.refuses(&with(&other, &["--command", PROGRAM]), &["--threads 1,2", "--threads 2"]);
    place.starts(&with(&plan, &["--command", PROGRAM]));
}

#[test]
fn settings_that_others_can_change_name_no_program() {
    let place = Place::new();
    let line = ["sweep", "--config", "c.toml", "--threads", "1", "--budget", "10m", "--output", "new.json", "--force"];
    let mapper = "mapping = \"command:sh -c 'echo x >> ran; echo [0]'\"";
    for (text, key) in [(format!("command = {PROGRAM:?}"), "--command"), (mapper.to_owned(), "--mapping")] {
        fs::write(place.path("c.toml"), &text).unwrap();
        place.mode("c.toml", 0o644);
        place.starts(&line);
        place.mode("c.toml", 0o666);
        place.refuses(&line, &["c.toml", "other users may write to", key]);
    }
    // What starts nothing is read.
    fs::write(place.path("c.toml"), "kernel = \"noop\"\niterations = 1000\ninvocations = 1").unwrap();
    place.run(&line, &[]).check_swept();
}

#[test]
fn values_of_an_environment_are_typed_again() {
    let place = Place::new();
    let secret = format!("KEY=hunter2 {PROGRAM}");
    let ran = place.begin(&secret);
    let text = fs::read_to_string(place.path("r.json")).unwrap();
    assert!(text.contains("KEY=…"), "the name is kept");
    for format in ["table", "html", "markdown", "json", "csv"] {
        let shown = place.run(&["render", "r.json", "--format", format], &[]);
        assert!(shown.code == Some(0) && !shown.out.contains("hunter2"), "{format}: {}", shown.err);
    }
    assert!(!text.contains("hunter2") && !(ran.out + &ran.err).contains("hunter2"));
    place.refuses(&RESUME, &["KEY=…", "type it"]);
    place.refuses(&with(&RESUME, &["--trust-program"]), &["KEY=…"]);
    // What cannot be compared is not taken for the same.
    let other = secret.replace("hunter2", "hunter3");
    place.refuses(&with(&RESUME, &["--command", &other]), &["other values", "--trust-program"]);
    let literal = secret.replace("hunter2", "…");
    place.refuses(&with(&RESUME, &["--command", &literal]), &["another program than was typed"]);
    let goes_on = with(&["sweep", "--continue", "--output", "r.json"], &PLAN);
    place.refuses(&with(&goes_on, &["--command", &other]), &["other values", "--trust-program"]);
    place.starts(&with(&RESUME, &["--command", &other, "--trust-program"]));
    place.starts(&with(&RESUME, &["--command", &secret]));
    place.starts(&with(
        &with(&["sweep", "--continue", "--output", "r.json", "--budget", "10m"], &PLAN),
        &["--command", &secret],
    ));
}

/// Every command by what it does with files: lines that read `r.json` in each way, or none.
const COMMANDS: [(&str, &[&str]); 31] = [
    ("topo", &["topo --topology r.json", "topo --measured=r.json"]),
    ("map", &["map --mapping dumb --threads 1 --topology r.json"]),
    ("kernels", &[]),
    ("sweep", &["sweep --resume r.json", "sweep --preset node --continue --output r.json", "sweep --config r.json"]),
    ("exec", &[]),
    ("c2c", &["c2c --output r.json", "c2c --topology r.json --dry-run"]),
    ("numa", &["numa --output r.json"]),
    ("audit", &["audit --against r.json"]),
    ("ab", &[]),
    ("selftest", &[]),
    ("replicate", &["replicate --from r.json", "replicate --from r.json --base r.json"]),
    ("advise", &["advise r.json", "advise last", "advise r.json --validate", "advise last --validate"]),
    ("predict", &["predict r.json --mapping dumb --threads 2", "predict --table r.json --topology r.json"]),
    ("render", &["render r.json", "render last", "render r.json r.json --format html"]),
    (
        "compare",
        &["compare r.json r.json", "compare r.json --baseline newest --db h.db", "compare --machines r.json r.json"],
    ),
    ("history", &[]),
    ("history add", &["history add r.json --db h.db"]),
    ("history list", &["history list --db h.db", "history list --db r.json"]),
    ("history show", &["history show --db h.db"]),
    ("history plot", &["history plot --db h.db"]),
    ("fleet", &[]),
    ("fleet show", &["fleet show r.json", "fleet show ."]),
    ("fleet add", &["fleet add r.json --db f.db", "fleet add r.json --db r.json"]),
    ("fleet baseline", &["fleet baseline r.json"]),
    ("fleet check", &["fleet check r.json --baseline r.json"]),
    ("doctor", &[]),
    ("watch", &[]),
    ("lockutil", &["lockutil r.json"]),
    ("explain", &[]),
    ("config", &[]),
    ("config show", &["config show --config r.json"]),
];
/// Commands that print a page of the program.
const PAGES: [&str; 2] = ["completions", "docs"];

#[test]
fn no_command_starts_what_a_file_names() {
    let place = Place::new();
    let grammar: Value = serde_json::from_str(&place.run(&["docs", "grammar"], &[]).out).unwrap();
    let words = |command: &Value| {
        command["words"].as_array().unwrap().iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")
    };
    let commands = grammar["commands"].as_array().unwrap().iter().map(words).filter(|words| !words.is_empty());
    let mut commands: Vec<String> = commands.filter(|words| !PAGES.contains(&words.as_str())).collect();
    let mut known: Vec<&str> = COMMANDS.iter().map(|(words, _)| *words).collect();
    commands.sort_unstable();
    known.sort_unstable();
    assert_eq!(commands, known, "what does the new command do with a file?");
    let mut foreign = place.report();
    foreign["seal"] = Value::Null;
    for line in COMMANDS.iter().flat_map(|(_, lines)| *lines) {
        place.put(&foreign);
        let mut command = place.charz();
        command.args(line.split(' ')).stdout(Stdio::null()).stderr(Stdio::piped());
        let ran: Ran = command.output().unwrap().into();
        assert!(!place.has_run(), "{line} started the program");
        assert!(ran.code.is_some_and(|code| (0..=5).contains(&code)), "{line}: {:?} {}", ran.code, ran.err);
        assert!(Path::new(&place.path("r.json")).exists(), "{line}");
    }
}

/// Two programs in one number are none.
#[test]
fn a_sweep_goes_on_with_the_program_that_it_was_begun_with() {
    let place = Place::new();
    let script = "#!/bin/sh\necho x >> ran; sleep 0.1; echo 3\n";
    let write = |name: &str, text: &str| {
        fs::write(place.path("written"), text).unwrap();
        fs::set_permissions(place.path("written"), Permissions::from_mode(0o755)).unwrap();
        fs::rename(place.path("written"), place.path(name)).unwrap();
    };
    let plan = with(&["sweep", "--continue", "--output", "r.json", "--budget", "10m", "-q"], &PLAN);
    for (command, name) in [("./b.sh {threads}", "b.sh"), ("sh c.sh {threads}", "c.sh")] {
        write(name, script);
        place.begin(command);
        place.starts(&RESUME);
        place.starts(&with(&plan, &["--command", command]));
        // As a build would write it again.
        write(name, &format!("{script}true\n"));
        let words = ["another program", name, "start a new sweep"];
        place.refuses(&RESUME, &words);
        place.refuses(&with(&RESUME, &["--trust-program"]), &words);
        place.refuses(&with(&plan, &["--command", command]), &words);
    }
    let anonymous = place.run(&["render", "r.json", "--anonymous", "--format", "json"], &[]);
    assert!(!anonymous.out.contains("c.sh") && !anonymous.out.contains("program_identity"), "{}", anonymous.out);
}
