//! `--setup`: what is run before each run of a program, the time that it has, and the end of what it leaves running.

use std::fs;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::tempdir;

use super::{Trial, alive, own_sleep, running};
use crate::support::{Ran, charz, send, write_program};

/// The process that measures for a sweep.
fn measuring(sweep: &Child) -> Pid {
    let children = fs::read_to_string(format!("/proc/{0}/task/{0}/children", sweep.id())).unwrap();
    children.split_whitespace().find_map(|pid| Pid::from_raw(pid.parse().ok()?)).expect("it has a child")
}

/// In the last second of a budget, too, a set-up has as long as a run.
#[test]
fn a_short_budget_leaves_out_what_does_not_fit_with_its_setup() {
    let folder = tempdir().unwrap();
    let sweep =
        |flags: &[&str]| -> Ran { charz().current_dir(&folder).arg("sweep").args(flags).output().unwrap().into() };
    let command = ["--command", "sh -c 'sleep 0.1; echo 3' x {threads}", "--value", "last", "--setup", "sleep 0.05"];
    let check = |ran: &Ran| {
        // On a busy machine there may be no time for a first run.
        let first = ran.code == Some(3) && ran.err.contains("did not end within the budget");
        assert!(first || matches!(ran.code, Some(0 | 5)), "{:?}: {}", ran.code, ran.err);
    };
    for budget in ["1.05s", "1.4s", "2s"] {
        let file = format!("{budget}.json");
        let flags = ["--threads", "1,2", "--mapping", "dumb", "--output", &file, "--budget", budget];
        check(&sweep(&[&command[..], &flags].concat()));
        let file = folder.path().join(file);
        if file.exists() {
            check(&sweep(&["--resume", file.to_str().unwrap(), "--budget", "1.4s"]));
            assert!(!fs::read_to_string(file).unwrap().contains("timed_out"), "{budget}");
        }
    }
}

/// How a set-up starts a server that sleeps: in its group, apart, as a daemon, without an environment, deaf to SIGTERM, with a process of its
/// own; or is one itself.
const SERVERS: [&str; 7] = [
    "sleep {} & true",
    "setsid sleep {} & true",
    "(setsid sleep {} &)",
    "(setsid env -i sleep {} &)",
    "(trap \"\" TERM; setsid env -i sleep {} &)",
    "(setsid env -i sh -c \"sleep {} & sleep {}\" &)",
    "sleep {}",
];

/// However a server is started, and however a set-up, a run and the sweep end, it ends with them.
#[test]
fn what_a_setup_starts_is_ended_with_the_sweep() {
    // How the set-up and the run end, and the sweep.
    let ends = [
        ("", "sleep 0.05", None),
        ("", "exit 1", None),
        ("exit 1", "true", None),
        ("", "sleep 60", None),
        ("", "sleep 60", Some((Signal::INT, Some(130)))),
        ("", "sleep 60", Some((Signal::TERM, Some(143)))),
        ("", "sleep 60", Some((Signal::KILL, None))),
    ];
    // All at once: most of them wait.
    let pairs = [0, 5].map(|shift| SERVERS.iter().zip(ends.iter().cycle().skip(shift)));
    let sweeps = pairs.into_iter().flatten().zip(10..).map(|((server, (ends, command, signal)), number)| {
        let (folder, mut sweep, sleeps) = (tempdir().unwrap(), charz(), own_sleep(number));
        let setup = format!("sh -c '{}; sleep 0.01; {ends}'", server.replace("{}", &sleeps));
        let command = format!("sh -c '{command}'");
        // What nothing else ends has a limit.
        let limit = if signal.is_some() { "2m" } else { "0.5s" };
        let programs = ["sweep", "--command", &command, "--setup", &setup];
        sweep.current_dir(&folder).args(programs).args(["--run-timeout", limit, "--budget", "3m"]);
        let child = sweep.args(["--runs", "2"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        (folder, child, sleeps, server, signal)
    });
    for (_folder, mut child, sleeps, server, signal) in sweeps.collect::<Vec<_>>() {
        if let Some((signal, _)) = signal {
            while alive(&sleeps) == 0 {
                assert_eq!(child.try_wait().unwrap(), None, "{server}");
            }
            send(&child, *signal);
        }
        let code = child.wait().unwrap().code();
        assert!(signal.is_none_or(|(_, expected)| code == expected), "{server}: {code:?}");
        // Of a sweep that is killed, its measuring process ends what is left.
        let is_killed = signal.is_some_and(|(signal, _)| signal == Signal::KILL);
        let until = Instant::now() + Duration::from_secs(if is_killed { 120 } else { 0 });
        while alive(&sleeps) > 0 && Instant::now() < until {}
        assert_eq!(alive(&sleeps), 0, "{server}, {signal:?}");
    }
}

/// Of a measuring process that is killed, the sweep ends what has left the set-up's group; where both are killed, the system ends the group.
#[test]
fn a_setup_is_ended_with_the_processes_that_ran_it_however_they_end() {
    let [own, apart, runs] = [5, 6, 7].map(own_sleep);
    let command = format!("sleep {runs}");
    let setup = format!("sh -c 'sleep {own} & (setsid sleep {apart} &)'");
    for with_sweep in [false, true] {
        let (folder, mut sweep) = (tempdir().unwrap(), charz());
        sweep.current_dir(&folder).args(["sweep", "--command", &command, "--setup", &setup, "--budget", "3m"]);
        let mut child = sweep.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while alive(&runs) == 0 || running(&own).is_empty() || running(&apart).is_empty() {
            assert_eq!(child.try_wait().unwrap(), None);
        }
        let left = [running(&own), if with_sweep { Vec::new() } else { running(&apart) }].concat();
        let measuring = measuring(&child);
        if with_sweep {
            send(&child, Signal::STOP);
        }
        kill_process(measuring, Signal::KILL).unwrap();
        let until = Instant::now() + Duration::from_secs(120);
        while left.iter().any(|pid| running(&own).contains(pid) || running(&apart).contains(pid)) {
            assert!(Instant::now() < until, "sweep killed: {with_sweep}");
        }
        send(&child, if with_sweep { Signal::KILL } else { Signal::INT });
        child.wait().unwrap();
        running(&apart).into_iter().for_each(|pid| _ = kill_process(pid, Signal::KILL));
        assert_eq!(alive(&own), 0);
    }
}

#[test]
fn what_a_setup_leaves_running_serves_its_run_and_is_ended_after_it() {
    let sleeps = &own_sleep(2);
    let given = format!("$CHARZ_SEATS {{cpus}} {}", std::env::var("OMP_NUM_THREADS").unwrap_or_default());
    let setup = "echo $! > served; echo \"$CHARZ_SEATS {cpus} $OMP_NUM_THREADS\" > given";
    // Asked, it prints more than a pipe holds.
    let serve = "until test -e asked; do sleep 0.01; done; head -c 200000 /dev/zero && touch answered";
    let setup = format!("sh -c 'rm -f asked answered; ({serve} && exec sleep {sleeps}) & {setup}'");
    let wait = "touch asked; until test -e answered; do kill -0 $(cat served) || exit; sleep 0.01; done";
    let command = format!("sh -c '{wait}; test \"$(cat given)\" = \"{given}\" && echo 5' x {{threads}}");
    let threads = &["--threads", "2", "--mapping", "dumb"];
    let trial = Trial::with(&command, threads, &["--value", "last", "--setup", &setup]);
    let cell = trial.cell();
    assert_eq!((cell["runs"][0]["ending"].as_str(), alive(sleeps)), (Some("done"), 0), "{cell}");
}

/// Whatever it did to be no child of the set-up.
#[test]
fn what_a_server_uses_is_the_program_s_own() {
    let folder = tempdir().unwrap();
    let (sleeps, server) = (own_sleep(3), folder.path().join("server"));
    let work = "until test -e asked; do sleep 0.01; done; i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; cat /proc/$$/schedstat > now; mv now used";
    write_program(&server, &format!("#!/bin/sh\n{work}; exec sleep {sleeps}\n"));
    let setup = format!("sh -c 'rm -f asked used; (setsid env -i {} &)'", server.display());
    let trial = Trial::of("sh -c 'touch asked; until test -e used; do sleep 0.01; done'", &["--setup", &setup]);
    trial.ran.check_swept();
    let used = fs::read_to_string(trial.folder.path().join("used")).unwrap();
    let used: u64 = used.split(' ').next().unwrap().parse().unwrap();
    let cell = trial.cell();
    let last = cell["runs"].as_array().unwrap().last().unwrap();
    let busy = &last["evidence"]["busy"];
    assert!(busy.is_null() || busy["own_ns"].as_u64() >= Some(used), "{used} ns of {busy}");
    let culprits = last["evidence"]["culprits"].as_array().cloned().unwrap_or_default();
    assert!(culprits.iter().all(|culprit| culprit["name"] != "server"), "{culprits:?}");
    assert_eq!(alive(&sleeps), 0);
}

/// Nobody interrupted it.
#[test]
fn a_setup_that_fails_is_what_a_sweep_lacks() {
    let trial = Trial::of("sleep 0.01", &["--setup", "sh -c 'test ! -e there && touch there'", "--runs", "6"]);
    let report = trial.report();
    if report["complete"] == false {
        let why = report["stopped_by"].as_str().unwrap_or_default();
        assert!(why.starts_with("a failure: --setup ended with exit code 1"), "{why}");
    }
    assert!(!trial.ran.out.contains("interruption"), "{}", trial.ran.out);
}
