//! `charz exec`: the program's end, streams and signals are its own, and its threads are on their seats.

use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::tempdir;

use crate::support::{Ran, charz, write_program};

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
fn what_cannot_be_run_is_one_sentence() {
    let folder = tempdir().unwrap();
    let plain = folder.path().join("plain");
    fs::write(&plain, "text\n").unwrap();
    let closed = folder.path().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, Permissions::from_mode(0o000)).unwrap();
    let orphan = folder.path().join("orphan");
    write_program(&orphan, "#!/no/such/interpreter\n");
    for way in WAYS {
        for (program, code, word) in [
            (orphan.to_str().unwrap(), 127, "interpreter"),
            ("no-such-program", 127, "PATH"),
            ("./no/such/program", 127, "check the path"),
            (plain.to_str().unwrap(), 126, "cannot be executed"),
            ("/", 126, "cannot be executed"),
        ] {
            // As an ordinary user's may have: a folder that others may not search.
            let path = format!("{}:{}", closed.display(), std::env::var("PATH").unwrap());
            let ran: Ran = charz().env("PATH", path).args(["exec", "--follow", way, program]).output().unwrap().into();
            assert_eq!((ran.code, ran.err.lines().count(), ran.out.as_str()), (Some(code), 1, ""), "{way}: {ran:?}");
            assert!(ran.err.contains(word), "{way}: {ran:?}");
        }
    }
}

#[test]
fn bad_arguments_are_refused_before_anything_runs() {
    for flags in [
        &["--threads", "0"][..],
        &["--mapping", "nonsense"],
        &["--mapping", "list:0,0"],
        &["--mapping", "list:99999"],
        &["--memory", "far"],
        &["--memory", "node:99"],
        &["--skip", "first"],
        &["--follow", "blindly"],
    ] {
        let ran = ran(flags, "echo ran");
        assert_eq!((ran.code, ran.out.as_str(), ran.err.lines().count()), (Some(2), "", 1), "{flags:?}: {ran:?}");
    }
}

#[test]
fn input_passes_through() {
    for way in WAYS {
        let mut child = exec(&["-q", "--follow", way], "cat; echo end >&2")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(b"one\ntwo\n").unwrap();
        let ran: Ran = child.wait_with_output().unwrap().into();
        assert_eq!((ran.out.as_str(), ran.err.as_str()), ("one\ntwo\n", "end\n"), "{way}");
    }
}

#[test]
fn a_gigabyte_passes_through() {
    let mut child = exec(&["-q"], "head -c 1000000000 /dev/zero").stdout(Stdio::piped()).spawn().unwrap();
    let mut output = child.stdout.take().unwrap();
    assert_eq!(std::io::copy(&mut output, &mut std::io::sink()).unwrap(), 1_000_000_000);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_closed_output_ends_the_program_as_ever() {
    let mut child = exec(&["-q"], "exec head -c 100000000 /dev/zero").stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGPIPE));
}

#[test]
fn threads_are_on_their_seats_from_the_start() {
    let cpus = cpus();
    for cpu in &cpus {
        for way in WAYS {
            let mapping = format!("list:{cpu}");
            let ran = ran(&["--mapping", &mapping, "--follow", way, "-q"], "taskset -pc $$ | sed 's/.*: //'");
            assert_eq!((ran.out.trim(), ran.err.as_str()), (cpu.as_str(), ""), "{way}");
        }
    }
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

/// Where SMT is switched off, or a guest has slots for more CPUs, `/proc` lists CPUs that are offline.
#[test]
fn cpus_that_are_offline_are_no_seats() {
    let folder = tempdir().unwrap();
    let script = "sed 's/^Cpus_allowed_list:.*/Cpus_allowed_list:\t0-4095/' /proc/$$/status > status &&
        mount --bind status /proc/$$/status && exec \"$@\"";
    let listed = |program: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"]);
        command.args(program).current_dir(&folder).output().unwrap()
    };
    if !listed(&["true"]).status.success() {
        return println!("skipped: no mounts for this user");
    }
    let exec = [env!("CARGO_BIN_EXE_charz"), "exec", "--mapping", "dumb", "--", "sh", "-c", "echo $CHARZ_SEATS"];
    let ran: Ran = listed(&exec).into();
    assert_eq!(ran.out.trim(), cpus().len().to_string(), "{}", ran.err);
    assert!(!ran.err.contains("affinity was changed"), "{}", ran.err);
}

#[test]
fn skipped_threads_may_run_on_all_seats() {
    let cpus = cpus();
    let ran: Ran = charz().args(["exec", "--skip", "0,1", "--", "nproc"]).output().unwrap().into();
    assert_eq!(ran.out.trim(), cpus.len().to_string());
    // Where no thread had a seat, none stayed on one.
    assert!(ran.err.contains("unbound") && !ran.err.contains("stayed"), "{}", ran.err);
}

#[test]
fn runtimes_get_the_number_of_seats_and_what_is_set_is_kept() {
    let print = "echo $CHARZ_SEATS $PYTHON_CPU_COUNT $RAYON_NUM_THREADS ${OMP_PROC_BIND-unset} ${KMP_AFFINITY-unset} \
                 ${OMP_PLACES-unset}";
    let first = &cpus()[0];
    let mapping = format!("list:{first}");
    let said = |flags: &[&str]| {
        let mut command = exec(flags, print);
        command.env("RAYON_NUM_THREADS", "7");
        let ran: Ran = command.output().unwrap().into();
        ran.out.trim().to_owned()
    };
    assert_eq!(said(&["--mapping", &mapping, "--threads", "3"]), "3 3 7 unset disabled unset");
    assert_eq!(said(&["--mapping", "auto", "--threads", "3"]), "3 3 7 false unset unset");
    let places = format!("1 1 7 close unset {{{first}}}");
    assert_eq!(said(&["--mapping", &mapping, "--follow", "none"]), places);
    let ran: Ran = exec(&["--mapping", &mapping], "true").env("OMP_PROC_BIND", "close").output().unwrap().into();
    assert!(ran.err.contains("OMP_PROC_BIND"), "{}", ran.err);
    // What an exec around this one has set is no user's.
    let within = |words: &[&str]| -> Ran {
        let outer = ["exec", "-q", "--mapping", &mapping, "--threads", "3", "--", env!("CARGO_BIN_EXE_charz")];
        charz().args(outer).args(words).output().unwrap().into()
    };
    let inner = ["exec", "--mapping", &mapping, "--threads", "2", "--", "sh", "-c", "echo $CHARZ_SEATS"];
    let ran = within(&inner);
    assert!(ran.out == "2\n" && !ran.err.contains("KMP_AFFINITY"), "{}{}", ran.out, ran.err);
    // Nor is it a flag of a sweep.
    let ran = within(&["config", "show"]);
    assert!(ran.code == Some(0) && !ran.out.contains("CHARZ_") && ran.err.is_empty(), "{}{}", ran.out, ran.err);
}

#[test]
fn a_program_that_moves_itself_is_told_of() {
    let cpus = cpus();
    let [first, second, ..] = &cpus[..] else { return println!("skipped: one CPU") };
    let ran = ran(&["--mapping", &format!("list:{first}")], &format!("taskset -pc {second} $$ >/dev/null"));
    assert!(ran.err.contains(&format!("from CPU {first} to {second}")), "{}", ran.err);
    assert!(ran.err.starts_with("charz: sh: 1 of 2 threads left their seats"), "{}", ran.err);
}

#[test]
fn the_summary_is_short_and_can_be_left_out() {
    let ran_it = ran(&[], "true");
    assert!(ran_it.err.starts_with("charz: sh: ") && ran_it.err.lines().count() <= 6, "{}", ran_it.err);
    assert_eq!(ran(&["-q"], "true").err, "");
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

/// A process has one tracer at most: the outer one.
#[test]
fn without_ptrace_threads_are_polled() {
    let ran: Ran = charz()
        .args(["exec", "-q", "--", env!("CARGO_BIN_EXE_charz"), "exec", "--", "sh", "-c", "exit 3"])
        .output()
        .unwrap()
        .into();
    assert_eq!(ran.code, Some(3));
    assert!(ran.err.contains("polled, since ptrace is refused"), "{}", ran.err);
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

/// `charz exec` as the first process that `unshare -p` starts: process ids of one namespace, and a `/proc` of another. `None` where this
/// user has no namespaces.
fn in_namespace(way: &str, script: &str) -> Option<Ran> {
    let unshare = |arguments: &[&str]| {
        let mut command = Command::new("timeout");
        command.args(["--kill-after=5", "120", "unshare", "--user", "--map-current-user", "--pid", "--fork"]);
        command.args(arguments).stdin(Stdio::null()).output().unwrap()
    };
    if !unshare(&["true"]).status.success() {
        println!("skipped: no namespaces for this user");
        return None;
    }
    Some(unshare(&[env!("CARGO_BIN_EXE_charz"), "exec", "--follow", way, "--", "sh", "-c", script]).into())
}

#[test]
fn the_first_process_of_a_namespace_exits_with_the_signal_of_its_program() {
    for (signal, code) in [("TERM", 143), ("INT", 130), ("HUP", 129)] {
        let Some(ran) = in_namespace("ptrace", &format!("kill -{signal} $$")) else { return };
        assert_eq!(ran.code, Some(code), "{}", ran.err);
    }
}

#[test]
fn processes_of_another_namespace_are_not_taken_for_the_programs() {
    for way in WAYS {
        let script = "for i in 1 2 3; do sleep 0.1 & done; wait; exit 4";
        let Some(ran) = in_namespace(way, script) else { return };
        assert_eq!(ran.code, Some(4), "{way}: {}", ran.err);
        assert!(!ran.err.contains("affinity was changed"), "{way}: {}", ran.err);
        assert!(way != "poll" || ran.err.contains("not followed, since /proc"), "{way}: {}", ran.err);
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
