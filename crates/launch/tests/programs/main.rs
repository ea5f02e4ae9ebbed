//! Programs of the system, launched.
#![allow(clippy::disallowed_methods)] // A test may panic.

mod asked;

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{lchown, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use charz_launch::{Crew, Ended, Error, Event, Follow, Launch, Streams};
use rustix::process::{Pid, Resource, Rlimit, Signal, WaitOptions, getrlimit, kill_process, setrlimit, waitpid};

const WAYS: [Follow; 3] = [Follow::Ptrace, Follow::Poll, Follow::None];

fn shell(script: &str) -> Launch {
    Launch {
        program: "sh".into(),
        arguments: ["-c", script].map(OsString::from).into(),
        streams: Streams::Captured,
        ..Launch::default()
    }
}

/// The CPUs of this process.
fn cpus() -> Vec<u32> {
    let status = fs::read_to_string("/proc/thread-self/status").unwrap();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    charz_data::cpulist::parse(list.trim()).unwrap()
}

fn run(follow: Follow, launch: &Launch) -> (Ended, String) {
    let mut crew = Crew::new(follow).unwrap();
    crew.start(launch).unwrap();
    let (mut ended, mut said) = (None, Vec::new());
    let until = Instant::now() + Duration::from_secs(600);
    loop {
        match crew.next(Some(until), None).unwrap() {
            Event::Output(_, _, bytes) => said.extend(bytes),
            Event::Ended(_, end) => ended = Some(*end),
            Event::Idle => return (ended.unwrap(), String::from_utf8_lossy(&said).into_owned()),
            Event::Stopped(..) => {}
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn status_and_output_are_the_programs_own() {
    for follow in WAYS {
        let (ended, said) = run(follow, &shell("echo out; echo err >&2; exit 3"));
        assert_eq!((ended.status.code(), said.as_str()), (Some(3), "out\nerr\n"), "{follow:?}");
        let (ended, _) = run(follow, &shell("kill -USR1 $$"));
        assert_eq!(ended.status.signal(), Some(libc::SIGUSR1), "{follow:?}");
    }
}

#[test]
fn a_program_that_waits_for_its_reader_is_told_from_one_that_does_not() {
    let waits = |script: &str, pause: Duration| {
        let mut crew = Crew::new(Follow::Ptrace).unwrap();
        crew.start(&shell(script)).unwrap();
        loop {
            match crew.next(None, None).unwrap() {
                Event::Output(..) => thread::sleep(pause),
                Event::Ended(_, ended) => return (ended.printed, ended.unread, ended.write_wait()),
                _ => {}
            }
        }
    };
    let pause = Duration::from_millis(20);
    let (printed, unread, wait) = waits("head -c 4000000 /dev/zero", pause);
    assert_eq!(printed, 4_000_000);
    assert!(unread >= pause && wait.is_none_or(|wait| wait > Duration::ZERO && wait <= unread), "{unread:?} {wait:?}");
    assert_eq!(waits("echo; sleep 0.1; echo", pause).1, Duration::ZERO, "the pipe was never full");
}

#[test]
#[allow(clippy::print_stdout, reason = "a skipped test says so")]
fn output_goes_to_a_file_that_is_written_anew() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("out");
    let launch = |path: &Path| Launch { output: Some(path.to_owned()), ..shell("echo out; echo err >&2") };
    for _ in 0..2 {
        assert_eq!(run(Follow::Ptrace, &launch(&file)).1, "err\n");
        assert_eq!(fs::read_to_string(&file).unwrap(), "out\n");
    }
    assert_eq!(run(Follow::None, &launch(Path::new("/dev/null"))).1, "err\n");
    let refused = Crew::new(Follow::Ptrace).unwrap().start(&launch(folder.path()));
    assert!(matches!(refused, Err(Error::Output(..))), "{refused:?}");
    let link = folder.path().join("link");
    symlink(&file, &link).unwrap();
    assert_eq!(run(Follow::Ptrace, &launch(&link)).1, "err\n");
    if lchown(&link, Some(65_534), None).is_err() {
        println!("not tested: only root makes links of other users");
        return;
    }
    fs::write(&file, "kept").unwrap();
    let refused = Crew::new(Follow::Ptrace).unwrap().start(&launch(&link));
    assert!(matches!(refused, Err(Error::Output(..))), "{refused:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "kept");
}

#[test]
fn a_program_has_as_many_files_as_before_more_were_taken() {
    let limit = getrlimit(Resource::Nofile);
    let fewer = limit.maximum.map(|most| most - 1);
    setrlimit(Resource::Nofile, Rlimit { current: fewer, ..limit }).unwrap();
    charz_launch::allow_files();
    assert_eq!(getrlimit(Resource::Nofile), Rlimit { current: limit.maximum, ..limit });
    for follow in WAYS {
        let (_, said) = run(follow, &shell("ulimit -Sn"));
        assert_eq!(said.trim().parse().ok(), fewer, "{follow:?}");
    }
}

/// Signals that a child gets on its way to the program keep it from nothing.
#[test]
fn a_child_that_gets_signals_becomes_the_program() {
    let starts = AtomicBool::new(true);
    thread::scope(|scope| {
        scope.spawn(|| {
            let children = |task: &Path| fs::read_to_string(task.join("children")).unwrap_or_default();
            while starts.load(Ordering::Relaxed) {
                let tasks = fs::read_dir("/proc/self/task").unwrap().filter_map(Result::ok);
                let pids: Vec<Pid> = tasks
                    .flat_map(|task| {
                        let pids = children(&task.path());
                        pids.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)).collect::<Vec<_>>()
                    })
                    .collect();
                // Nothing happens by it otherwise.
                pids.into_iter().for_each(|pid| _ = (0..100).try_for_each(|_| kill_process(pid, Signal::URG)));
            }
        });
        for _ in 0..50 {
            let ended = run(Follow::Ptrace, &Launch { program: "true".into(), ..Launch::default() }).0;
            assert!(ended.status.success(), "{ended:?}");
        }
        starts.store(false, Ordering::Relaxed);
    });
}

#[test]
fn what_cannot_be_run_says_why() {
    for follow in WAYS {
        let mut crew = Crew::new(follow).unwrap();
        let launch = |program: &str| Launch { program: program.into(), ..Launch::default() };
        assert!(matches!(crew.start(&launch("no-such-program-at-all")), Err(Error::NotFound)), "{follow:?}");
        assert!(matches!(crew.start(&launch("")), Err(Error::NotFound)), "{follow:?}");
        assert!(matches!(crew.start(&launch("/")), Err(Error::NotExecutable(_))), "{follow:?}");
        assert!(matches!(crew.next(None, None).unwrap(), Event::Idle));
    }
}

/// A thread that runs or waits for a CPU does so while it lives: what charz did to start it is not its own.
#[test]
fn a_thread_used_no_more_time_than_there_was() {
    for _ in 0..20 {
        let (ended, _) = run(Follow::Ptrace, &shell("exit"));
        let [used, missed] = [ended.counts.cpu_ns, ended.counts.run_delay_ns].map(Option::unwrap_or_default);
        let wall = (ended.end - ended.start).as_nanos() as u64;
        assert!(used + missed <= wall, "{used} and {missed} of {wall}");
    }
}

#[test]
fn a_program_is_on_its_seat_from_its_first_instruction() {
    for cpu in cpus() {
        let launch = Launch { seats: vec![Some(cpu)], ..shell("grep Cpus_allowed_list /proc/self/status") };
        for follow in WAYS {
            let (_, said) = run(follow, &launch);
            assert_eq!(said.split_whitespace().nth(1), Some(cpu.to_string().as_str()), "{follow:?}");
        }
    }
}

/// Prints where the shell, or a fork of it, may run.
const OWN: &str =
    "while read -r name list; do case $name in Cpus_allowed_list:) echo $list;; esac; done < /proc/self/status";

#[test]
fn a_polled_program_that_ends_at_once_is_seen_at_its_end() {
    let cpus = cpus();
    for seats in [&cpus[..1], &cpus[..]] {
        let launch = Launch { seats: seats.iter().copied().map(Some).collect(), ..shell("exit") };
        let (ended, _) = run(Follow::Poll, &launch);
        let seats = if ended.following.shows_seats == Some(true) { &seats[..1] } else { seats };
        assert_eq!((&ended.threads[0].allowed[..], ended.unseen), (seats, 0));
    }
}

#[test]
fn threads_without_a_seat_may_run_where_no_other_has_one() {
    let cpus = cpus();
    let seats: Vec<Option<u32>> = cpus.iter().copied().map(Some).collect();
    let (ended, _) = run(Follow::Ptrace, &Launch { seats, skip: vec![0], ..shell("(:) & wait") });
    assert_eq!((ended.threads[0].seat, ended.threads[1].seat), (None, Some(cpus[0])));
    assert_eq!(ended.threads[0].allowed, if cpus.len() > 1 { &cpus[1..] } else { &cpus[..] });
}

#[test]
fn threads_work_at_the_same_time_only_as_far_as_they_used_it() {
    let [work, much] =
        [300_000, 1_000_000].map(|times| format!("n=0; while [ $n -lt {times} ]; do n=$((n + 1)); done"));
    for (script, appeared, working, why) in [
        // On a busy machine a shell that only starts them uses 5 ms.
        (format!("for i in 1 2; do ({much}) & done; wait"), 3, 2, "the first one waits"),
        (format!("for i in 1 2 3; do ({much}); done"), 4, 1, "one after the other"),
        (format!("{work}; ({work}); {work}"), 2, 1, "the first one works before and after the other"),
        (format!("({work}) & {work}; wait"), 2, 2, "both work"),
    ] {
        let (ended, _) = run(Follow::Ptrace, &shell(&script));
        assert_eq!((ended.appeared, Ended::working([&ended])), (appeared, Some(working)), "{why}: {ended:?}");
    }
    let (ended, _) = run(Follow::Poll, &shell("(:)"));
    assert_eq!(Ended::working([&ended]), None, "what ended unseen may have worked");
}

#[test]
fn forked_workers_have_a_seat_each() {
    let cpus = cpus();
    let seats = cpus.iter().copied().map(Some).collect();
    let script = &format!("for i in 1 2 3 4; do ({OWN}) & done; wait");
    let (ended, said) = run(Follow::Ptrace, &Launch { seats, ..shell(script) });
    assert_eq!(said.lines().count(), 4);
    assert_eq!(ended.appeared, 5);
    assert!(
        ended.threads.iter().all(|thread| thread.on_seat() == Some(true) && thread.unseated_ns == Some(0)),
        "{ended:?}"
    );
    let mut used: Vec<u32> = ended.threads.iter().filter_map(|thread| thread.seat).collect();
    used.sort_unstable();
    used.dedup();
    assert_eq!(used, cpus);
}

/// As make, a compiler's driver and the compiler: those that wait for what they started keep no seat from it.
#[test]
fn programs_that_work_are_not_where_another_one_works() {
    let cpus = cpus();
    let seats = cpus.iter().copied().take(2).map(Some).collect();
    let work = "n=0; while [ $n -lt 400000 ]; do n=$((n + 1)); done";
    let script = format!("export W='{work}'; sh -c \"$W\" & sleep 0.02; sh -c 'sh -c \"$W\"; :' & wait");
    let (mut ended, _) = run(Follow::Ptrace, &Launch { seats, ..shell(&script) });
    ended.threads.sort_by_key(|thread| std::cmp::Reverse(thread.counts.cpu_ns));
    let busiest: Vec<Option<u32>> = ended.threads[..2].iter().map(|thread| thread.seat).collect();
    assert!(cpus.len() < 2 || busiest[0] != busiest[1], "{ended:?}");
}

#[test]
fn seats_are_taken_in_the_order_of_creation() {
    let script = "i=0; while [ $i -lt 200 ]; do : & i=$((i + 1)); done; wait";
    let (mut ended, _) = run(Follow::Ptrace, &Launch { seats: vec![Some(cpus()[0])], ..shell(script) });
    assert_eq!(ended.appeared, 201);
    ended.threads.sort_unstable_by_key(|thread| thread.ordinal);
    let tids: Vec<i32> = ended.threads.iter().map(|thread| thread.tid).collect();
    // Ids start over once, at most.
    assert!(tids.windows(2).filter(|pair| pair[0] > pair[1]).count() <= 1, "{tids:?}");
}

#[test]
#[allow(clippy::print_stdout, reason = "a skipped test says so")]
fn a_program_that_moves_itself_is_off_its_seat() {
    let [first, second, ..] = cpus()[..] else {
        println!("skipped: a program moves between two CPUs, and this process may use one");
        return;
    };
    let launch = Launch { seats: vec![Some(first)], ..shell(&format!("taskset -pc {second} $$ >/dev/null")) };
    let (ended, _) = run(Follow::Ptrace, &launch);
    assert_eq!(ended.threads[0].on_seat(), Some(false));
    assert_eq!(ended.threads[0].allowed, [second]);
    // One that moves itself while it may run on all seats stays there when others appear.
    let launch = Launch {
        seats: vec![Some(first), Some(second)],
        ..shell(&format!("exec taskset -c {second} sh -c '(:) & wait'"))
    };
    let (ended, _) = run(Follow::Ptrace, &launch);
    assert_eq!((ended.threads[0].on_seat(), &ended.threads[0].allowed[..]), (Some(false), &[second][..]));
}

#[test]
fn nothing_outlives_its_program() {
    for follow in [Follow::Ptrace, Follow::Poll] {
        // Two forks and a session of its own: a daemon. Of some the poller sees no parent. Its shell says "Killed" where a `sleep` is
        // killed before it.
        let daemon = "setsid sh -c 'trap \"\" TERM HUP; echo $$; n=0; while [ $n -lt 2400 ]; do sleep 0.05; n=$((n+1)); done' \
                      2> /dev/null";
        let launch = shell(&format!("for i in 1 2 3 4 5 6 7 8; do ({daemon} &); done; sleep 1"));
        let (ended, said) = run(follow, &launch);
        let daemons: Vec<i32> = said.split_whitespace().map(|pid| pid.parse().unwrap()).collect();
        assert_eq!(daemons.len(), 8, "{follow:?}");
        for daemon in daemons {
            assert!(ended.left.contains(&daemon), "{follow:?}: {ended:?}");
            let state = fs::read_to_string(format!("/proc/{daemon}/stat")).unwrap_or_default();
            assert!(state.is_empty() || state.contains(") Z "), "{follow:?}: {state}");
        }
    }
}

#[test]
fn what_a_program_leaves_that_is_not_followed_ends_with_what_stands_for_it() {
    charz_launch::adopt_orphans();
    // One in its group that heeds SIGKILL only, and one that has left the group.
    let folder = tempfile::tempdir().unwrap();
    let [own, other] = ["own", "other"].map(|name| folder.path().join(name));
    let script = format!(
        "echo $$ > {0}; (trap '' TERM; exec sleep 1000) & echo $! >> {0}; (setsid sh -c 'echo $$ > {1}; exec sleep 1000' &); \
         while ! test -s {1}; do sleep 0.01; done",
        own.display(),
        other.display()
    );
    let mut crew = Crew::new(Follow::None).unwrap();
    let id = crew.start(&shell(&script)).unwrap();
    let mut left = crew.left(id, Duration::from_millis(50)).unwrap();
    while !matches!(crew.next(None, None).unwrap(), Event::Idle) {}
    drop(crew);
    left.look();
    let pids: Vec<String> = [own, other]
        .map(|file| fs::read_to_string(file).unwrap())
        .iter()
        .flat_map(|text| text.lines())
        .map(str::to_owned)
        .collect();
    let runs = |pid: &String| {
        let state = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        !state.is_empty() && !state.contains(") Z ")
    };
    assert_eq!(pids.iter().map(runs).collect::<Vec<_>>(), [false, true, true], "what it left serves");
    drop(left);
    assert!(!pids.iter().any(runs));
}

#[test]
fn a_deadline_is_kept_and_all_can_be_killed() {
    for follow in WAYS {
        let mut crew = Crew::new(follow).unwrap();
        let ids = [(); 3].map(|()| crew.start(&shell("trap '' TERM INT; sleep 100 & sleep 100")).unwrap());
        let soon = Instant::now() + Duration::from_millis(50);
        while !matches!(crew.next(Some(soon), None).unwrap(), Event::Deadline) {}
        crew.kill_all();
        let mut killed = Vec::new();
        loop {
            match crew.next(None, None).unwrap() {
                Event::Ended(id, ended) => {
                    assert_eq!(ended.status.signal(), Some(libc::SIGKILL));
                    killed.push(id);
                }
                Event::Idle => break,
                _ => {}
            }
        }
        killed.sort_unstable();
        assert_eq!(killed, ids, "{follow:?}");
    }
}

/// As where the system refuses the call that asks for its end.
#[test]
fn a_program_whose_end_cannot_be_seen_is_not_waited_for() {
    for follow in [Follow::Poll, Follow::None] {
        let mut crew = Crew::new(follow).unwrap();
        let id = crew.start(&shell("exit")).unwrap();
        // Another part of the process has taken note of its end.
        waitpid(crew.pid(id).and_then(Pid::from_raw), WaitOptions::empty()).unwrap();
        let until = Instant::now() + Duration::from_secs(120);
        while !matches!(crew.next(Some(until), None), Err(_) | Ok(Event::Idle)) {
            assert!(Instant::now() < until, "{follow:?}");
        }
    }
}

#[test]
fn a_stopped_program_goes_on() {
    for (follow, signal) in
        WAYS.into_iter().flat_map(|follow| [libc::SIGSTOP, libc::SIGTTIN].map(|signal| (follow, signal)))
    {
        let mut crew = Crew::new(follow).unwrap();
        let id = crew.start(&shell(&format!("kill -{signal} $$; exit 7"))).unwrap();
        let mut stops = 0;
        loop {
            match crew.next(Some(Instant::now() + Duration::from_secs(600)), None).unwrap() {
                Event::Stopped(stopped, by) => {
                    assert_eq!((stopped, by), (id, signal), "{follow:?}");
                    stops += 1;
                    let pid = Pid::from_raw(crew.pid(id).unwrap()).unwrap();
                    kill_process(pid, Signal::CONT).unwrap();
                }
                Event::Ended(_, ended) => assert_eq!(ended.status.code(), Some(7)),
                Event::Idle => break,
                other => panic!("{follow:?}: {other:?}"),
            }
        }
        assert_eq!(stops, 1, "{follow:?}");
    }
}

#[test]
fn a_gigabyte_of_output_arrives() {
    let mut crew = Crew::new(Follow::Ptrace).unwrap();
    crew.start(&shell("head -c 1000000000 /dev/zero")).unwrap();
    let mut bytes = 0;
    loop {
        match crew.next(None, None).unwrap() {
            Event::Output(_, _, more) => bytes += more.len(),
            Event::Idle => break,
            _ => {}
        }
    }
    assert_eq!(bytes, 1_000_000_000);
}

#[test]
fn a_crew_is_of_use_again_after_all_were_killed() {
    let mut crew = Crew::new(Follow::Ptrace).unwrap();
    crew.start(&shell("sleep 100")).unwrap();
    crew.kill_all();
    while !matches!(crew.next(None, None).unwrap(), Event::Idle) {}
    crew.start(&shell("sh -c 'exit 4' & wait $!")).unwrap();
    loop {
        match crew.next(None, None).unwrap() {
            Event::Ended(_, ended) => assert_eq!(ended.status.code(), Some(4)),
            Event::Idle => break,
            other => panic!("{other:?}"),
        }
    }
}

/// Programs that are started one after the other begin together, so none measures alone.
#[test]
fn programs_begin_together() {
    let mut crew = Crew::new(Follow::Ptrace).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("begun");
    let ids = [(); 2].map(|()| crew.start(&shell(&format!("echo begun >> {}", file.display()))).unwrap());
    thread::sleep(Duration::from_millis(100));
    assert!(!file.exists(), "a program began before all were started");
    let mut ended = Vec::new();
    loop {
        match crew.next(None, None).unwrap() {
            Event::Ended(id, _) => ended.push(id),
            Event::Idle => break,
            _ => {}
        }
    }
    ended.sort_unstable();
    assert_eq!((ended, fs::read_to_string(file).unwrap().lines().count()), (ids.to_vec(), 2));
}
