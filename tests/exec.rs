//! `charz exec`: the program's end, streams and signals are its own, and its threads are on their seats.

use std::fs;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::tempdir;

use crate::support::{Ran, charz};

/// `charz exec` with these flags and a script of the shell.
fn exec(flags: &[&str], script: &str) -> Command {
    let mut command = charz();
    command.arg("exec").args(flags).args(["--", "sh", "-c", script]);
    command
}

#[track_caller]
fn ran(flags: &[&str], script: &str) -> Ran {
    exec(flags, script).output().expect("the program starts").into()
}

const WAYS: [&str; 3] = ["ptrace", "poll", "none"];

/// CPUs that this process may use.
fn cpus() -> Vec<String> {
    crate::support::cpus().iter().map(u32::to_string).collect()
}

/// Compiles a program in C; `None` where there is no compiler.
fn compiled(folder: &Path, source: &str) -> Option<std::path::PathBuf> {
    let (file, program) = (folder.join("program.c"), folder.join("program"));
    fs::write(&file, source).unwrap();
    let built = Command::new("cc").args(["-O1", "-pthread", "-o"]).arg(&program).arg(&file).status();
    match built {
        Ok(status) => {
            assert!(status.success());
            Some(program)
        }
        Err(_) => {
            println!("skipped: there is no C compiler");
            None
        }
    }
}

/// Waits for a line of a file that a script writes when it is ready.
fn ready(file: &Path) -> String {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(120) {
        match fs::read_to_string(file) {
            Ok(text) if text.ends_with('\n') => return text.trim().to_owned(),
            _ => std::thread::sleep(Duration::from_millis(5)),
        }
    }
    panic!("{} has no line", file.display())
}

fn send(pid: impl TryInto<i32>, signal: Signal) {
    let pid = pid.try_into().ok().and_then(Pid::from_raw).unwrap();
    kill_process(pid, signal).unwrap();
}

/// The state of a process, as in ps; `None` if it has gone.
fn state(pid: &str) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

#[track_caller]
fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(120), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn the_end_is_the_programs_own() {
    for way in WAYS {
        let flags = ["-q", "--follow", way];
        assert_eq!(ran(&flags, "exit 3").code, Some(3), "{way}");
        for signal in [libc::SIGTERM, libc::SIGKILL, libc::SIGSEGV, libc::SIGABRT] {
            let status = exec(&flags, &format!("ulimit -c 0; kill -{signal} $$")).status().unwrap();
            assert_eq!(status.signal(), Some(signal), "{way}");
        }
    }
}

#[test]
fn a_closed_output_ends_the_program_as_ever() {
    let mut child = exec(&["-q"], "exec head -c 100000000 /dev/zero").stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGPIPE));
}

/// 64 threads, 4 at a time, each of which says on which CPUs it may run when it begins.
const POOL: &str = r#"
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
static void *run(void *p) {
    (void)p;
    printf("%d\n", sched_getcpu());
    return 0;
}
int main(void) {
    pthread_t threads[4];
    for (int round = 0; round < 16; round++) {
        for (int i = 0; i < 4; i++) pthread_create(&threads[i], 0, run, 0);
        for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
    }
}
"#;

#[test]
fn a_pool_that_recreates_its_threads_keeps_the_seats() {
    let folder = tempdir().unwrap();
    let Some(program) = compiled(folder.path(), POOL) else { return };
    let cpus = cpus();
    let ran: Ran = charz().arg("exec").arg(program).output().unwrap().into();
    let lines: Vec<&str> = ran.out.lines().map(str::trim).collect();
    assert_eq!(lines.len(), 64);
    assert!(lines.iter().all(|line| cpus.iter().any(|cpu| cpu == line)), "{lines:?}");
    assert!(ran.err.contains("all 65 threads stayed on"), "{}", ran.err);
}

/// A thread that is not the first becomes another program, and takes the first one's id.
const CHANGELING: &str = r#"
#include <pthread.h>
#include <unistd.h>
static void *run(void *p) { (void)p; execlp("sh", "sh", "-c", "echo changed; exit 9", (char *)0); return 0; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, run, 0);
    pthread_join(thread, 0);
    return 1;
}
"#;

#[test]
fn any_thread_may_become_another_program() {
    let folder = tempdir().unwrap();
    let Some(program) = compiled(folder.path(), CHANGELING) else { return };
    for way in WAYS {
        let ran: Ran = charz().args(["exec", "--follow", way]).arg(&program).output().unwrap().into();
        assert_eq!((ran.code, ran.out.as_str()), (Some(9), "changed\n"), "{way}: {ran:?}");
    }
}

#[test]
fn daemons_do_not_outlive_it() {
    for way in ["ptrace", "poll"] {
        let folder = tempdir().unwrap();
        let file = folder.path().join("pid");
        let daemon = format!("(setsid sh -c 'echo $$ > {}; exec sleep 1000' &) & sleep 0.3", file.display());
        let ran = ran(&["--follow", way], &daemon);
        let pid = ready(&file);
        assert!(ran.err.contains(&pid), "{way}: {}", ran.err);
        assert!(matches!(state(&pid), None | Some('Z')), "{way}");
    }
}

#[test]
fn what_is_left_may_end_by_itself() {
    let folder = tempdir().unwrap();
    // On a crowded machine it is asked to, and comes to its end all the same.
    let script = "(trap '' TERM; : > begun; sleep 0.02; echo late > late) & while [ ! -e begun ]; do sleep 0.01; done";
    exec(&["-q"], script).current_dir(folder.path()).status().unwrap();
    assert_eq!(fs::read_to_string(folder.path().join("late")).unwrap(), "late\n");
}

/// A script that says when it is ready, and exec's process.
fn started(way: &str, folder: &Path, script: &str) -> (Child, String) {
    let file = folder.join("pid");
    let script = format!("{script}; echo $$ > {}.new; mv {0}.new {0}; while :; do sleep 0.02; done", file.display());
    let exec = exec(&["-q", "--follow", way], &script);
    // Tests that are run in the background ignore signals, and so would all that they start.
    let mut command = Command::new("env");
    command.arg("--default-signal").arg(exec.get_program()).args(exec.get_args()).stdin(Stdio::null());
    exec.get_envs().for_each(|(name, _)| _ = command.env_remove(name));
    // In a group of its own, whose parent is in another group of the session: members of an orphaned one stop by no ^Z (POSIX).
    let child = command.process_group(0).spawn().unwrap();
    let pid = ready(&file);
    (child, pid)
}

#[test]
fn signals_reach_the_program() {
    for way in WAYS {
        for (name, signal) in
            [("HUP", Signal::HUP), ("INT", Signal::INT), ("TERM", Signal::TERM), ("USR1", Signal::USR1)]
        {
            let folder = tempdir().unwrap();
            let (mut child, _) = started(way, folder.path(), &format!("trap 'exit 42' {name}"));
            send(child.id(), signal);
            assert_eq!(child.wait().unwrap().code(), Some(42), "{way}: {name}");
        }
        let folder = tempdir().unwrap();
        let (mut child, pid) = started(way, folder.path(), ":");
        send(child.id(), Signal::TERM);
        assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGTERM), "{way}");
        eventually("the program has gone", || matches!(state(&pid), None | Some('Z')));
    }
}

#[test]
fn nothing_outlives_an_exec_that_is_killed() {
    let folder = tempdir().unwrap();
    let (mut child, pid) = started("ptrace", folder.path(), "sleep 1000 & :");
    send(child.id(), Signal::KILL);
    child.wait().unwrap();
    eventually("the program has gone", || matches!(state(&pid), None | Some('Z')));
}

#[test]
fn a_program_can_be_stopped_and_continued() {
    for way in WAYS {
        let folder = tempdir().unwrap();
        let (mut child, pid) = started(way, folder.path(), "trap 'exit 5' USR2");
        send(pid.parse::<i32>().unwrap(), Signal::STOP);
        eventually("it stops", || matches!(state(&pid), Some('T' | 't')));
        send(pid.parse::<i32>().unwrap(), Signal::CONT);
        eventually("it goes on", || matches!(state(&pid), Some('S' | 'R')));
        send(child.id(), Signal::USR2);
        assert_eq!(child.wait().unwrap().code(), Some(5), "{way}");
    }
}

/// What a shell needs for `^Z` and `fg`: exec stops when the program has stopped, and both go on.
#[test]
fn exec_stops_with_its_program_when_asked_to() {
    for way in WAYS {
        let folder = tempdir().unwrap();
        let (mut child, pid) = started(way, folder.path(), "trap 'exit 6' USR2");
        let exec = child.id().to_string();
        send(child.id(), Signal::TSTP);
        eventually("both stop", || state(&exec) == Some('T') && matches!(state(&pid), Some('T' | 't')));
        send(child.id(), Signal::CONT);
        eventually("both go on", || matches!(state(&exec), Some('S' | 'R')) && matches!(state(&pid), Some('S' | 'R')));
        send(child.id(), Signal::USR2);
        assert_eq!(child.wait().unwrap().code(), Some(6), "{way}");
    }
}

/// A shell with job control sees its job stop when the program stops, by whatever process, and `fg` goes on with it.
#[test]
fn a_shell_gets_its_terminal_back_when_the_program_stops_itself() {
    for way in WAYS {
        let job = format!("\"$PROGRAM\" exec -q --follow {way} -- sh -c 'kill -STOP $$; echo back'");
        let shell = format!("set -m; {job}; echo stopped $?; fg; echo ended $?");
        let mut terminal = Command::new("timeout");
        terminal.args(["--kill-after=5", "120", "script", "-qec", &shell, "/dev/null"]).env("SHELL", "/bin/sh");
        terminal.env("PROGRAM", env!("CARGO_BIN_EXE_charz"));
        let output = terminal.stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let stopped = format!("stopped {}", 128 + libc::SIGSTOP);
        assert!(said.contains(&stopped) && said.contains("back") && said.contains("ended 0"), "{way}: {said}");
    }
}

#[test]
fn a_program_that_stands_still_can_be_ended() {
    for way in WAYS {
        let folder = tempdir().unwrap();
        let (mut child, pid) = started(way, folder.path(), ":");
        send(pid.parse::<i32>().unwrap(), Signal::STOP);
        eventually("it stops", || matches!(state(&pid), Some('T' | 't')));
        send(child.id(), Signal::TERM);
        assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGTERM), "{way}");
    }
}

/// `timeout` passes its signal on to exec and then to the whole group.
#[test]
fn a_signal_to_the_whole_group_arrives_once() {
    let folder = tempdir().unwrap();
    let script = "n=0; trap 'n=$((n+1))' TERM; touch ready; until [ $n -gt 0 ]; do sleep 0.05; done
        for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.05; done; echo $n";
    let words = ["600", env!("CARGO_BIN_EXE_charz"), "exec", "-q", "--", "sh", "-c", script];
    let timeout = Command::new("timeout").args(words).current_dir(&folder).stdout(Stdio::piped()).spawn().unwrap();
    eventually("the program begins", || folder.path().join("ready").exists());
    kill_process(Pid::from_child(&timeout), Signal::TERM).unwrap();
    assert_eq!(String::from_utf8_lossy(&timeout.wait_with_output().unwrap().stdout).trim(), "1");
}
