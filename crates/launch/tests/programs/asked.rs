//! Programs that ask which CPUs they may use, and programs that nothing follows.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use charz_launch::{Follow, Launch};

use crate::{OWN, cpus, run, shell};

/// What the system lists is where it is bound: all seats as long as it is alone, if it cannot be shown more.
#[test]
fn a_program_that_cannot_be_shown_its_seats_has_them_until_it_makes_threads() {
    let cpus = cpus();
    let (all, first) = (charz_data::cpulist::print(&cpus), cpus[0].to_string());
    let seats: Vec<Option<u32>> = cpus.iter().copied().map(Some).collect();
    for follow in [Follow::Ptrace, Follow::Poll] {
        let (ended, said) = run(follow, &Launch { seats: seats.clone(), ..shell(OWN) });
        let is_shown = ended.following.shows_seats == Some(true);
        assert_eq!(said.trim(), if is_shown { &first } else { &all }, "{follow:?}");
    }
    // A shell that waits is no company for the program that it starts, and has its own seat from then on.
    let script = format!("grep Cpus_allowed_list /proc/self/status; {OWN}");
    let (ended, said) = run(Follow::Ptrace, &Launch { seats, ..shell(&script) });
    let lists: Vec<&str> = said.lines().filter_map(|line| line.split_whitespace().last()).collect();
    if ended.following.shows_seats == Some(false) {
        assert_eq!(lists, [&all, &first]);
    }
    assert_eq!(ended.threads[0].on_seat(), Some(true));
}

/// In whichever process, before and after others appeared, by the number of a process and without.
#[test]
#[allow(clippy::print_stdout, reason = "a skipped test says so")]
fn whoever_asks_is_shown_all_seats_and_has_one() {
    let cpus = cpus();
    let seats: Vec<Option<u32>> = cpus.iter().copied().map(Some).collect();
    let script = format!(
        "unset OMP_NUM_THREADS; nproc; (nproc); nproc & wait; taskset -pc $$; (taskset -pc $$; {OWN}) & {OWN}; wait"
    );
    for follow in [Follow::Ptrace, Follow::Poll] {
        let (ended, said) = run(follow, &Launch { seats: seats.clone(), ..shell(&script) });
        if ended.following.shows_seats != Some(true) {
            println!("not shown by {follow:?}: {:?} of {} CPUs", ended.following.shows_seats, cpus.len());
            continue;
        }
        let count = cpus.len().to_string();
        assert!(said.lines().take(3).all(|line| line == count), "{follow:?}: {said}");
        let (asked, bound): (Vec<&str>, Vec<&str>) = said.lines().skip(3).partition(|line| line.starts_with("pid"));
        let list = |line: &str| charz_data::cpulist::parse(line.rsplit(' ').next().unwrap()).unwrap();
        assert_eq!(asked.iter().map(|line| list(line)).collect::<Vec<_>>(), [&cpus[..]; 2], "{follow:?}: {said}");
        assert!(
            bound.len() == 2 && (follow == Follow::Poll || bound.iter().all(|line| list(line).len() == 1)),
            "{said}"
        );
        assert!(ended.stops >= 5, "{}", ended.stops);
    }
    // What has set its own CPUs is shown these, and so are its children.
    let own = cpus[cpus.len() - 1];
    let script = format!("taskset -pc {own} $$ > /dev/null; taskset -pc $$; nproc");
    let (ended, said) = run(Follow::Ptrace, &Launch { seats, ..shell(&script) });
    if ended.following.shows_seats == Some(true) {
        let lines: Vec<&str> = said.lines().map(|line| line.rsplit(' ').next().unwrap()).collect();
        assert_eq!(lines, [own.to_string().as_str(), "1"]);
    }
}

/// As hwloc and Open MPI do, which bind a thread to each CPU in turn.
#[test]
#[allow(clippy::print_stdout, reason = "a skipped test says so")]
fn a_thread_that_sets_again_what_it_was_shown_is_back_on_its_seat() {
    let cpus = cpus();
    let (all, seats) = (charz_data::cpulist::print(&cpus), cpus.iter().copied().map(Some).collect());
    let visits: String = cpus.iter().map(|cpu| format!("taskset -pc {cpu} $$; ")).collect();
    let script = format!("({visits} taskset -pc {all} $$) > /dev/null; {OWN}; nproc; taskset -c {all} sh -c '{OWN}'");
    let (ended, said) = run(Follow::Ptrace, &Launch { seats, ..shell(&script) });
    if ended.following.shows_seats != Some(true) {
        println!("not shown: {:?} of {} CPUs", ended.following.shows_seats, cpus.len());
        return;
    }
    let lines: Vec<&str> = said.lines().collect();
    let [first, count, other] = lines[..] else { panic!("{said}") };
    assert_eq!((first, count), (cpus[0].to_string().as_str(), cpus.len().to_string().as_str()));
    assert!(!other.contains(['-', ',']), "{other}");
    assert!(ended.threads.iter().all(|thread| thread.on_seat() == Some(true)), "{ended:?}");
}

/// Of processes that left its group, and of one that was left for a moment, the end counts; others are ended.
#[test]
fn what_a_program_leaves_that_is_not_followed_is_waited_for_a_moment() {
    for together in [false, true] {
        let launch = Launch { together, ..shell("sleep 0.03 & (setsid sleep 0.04 &)") };
        let (ended, _) = run(Follow::None, &launch);
        // On a busy machine they may go on for longer than a moment.
        let is_whole = ended.last.duration_since(ended.start) >= Duration::from_millis(40);
        assert!(is_whole || !ended.left.is_empty(), "{ended:?}");
        let (ended, said) =
            run(Follow::None, &Launch { together, ..shell("(trap '' TERM; exec sleep 1000) & echo $!") });
        assert_eq!(ended.left, [said.trim().parse::<i32>().unwrap()]);
        assert!(!Path::new(&format!("/proc/{}", said.trim())).exists());
    }
}

/// A process has no mark while it becomes another program, and after it has cleared its environment.
#[test]
fn what_is_left_without_a_mark_is_waited_for_and_ended_too() {
    for together in [false, true] {
        // It ends at once, as the leader of a group, and leaves a child with a session of its own.
        let daemon = |words: &[&str]| {
            let arguments = words.iter().map(OsString::from).collect();
            run(Follow::None, &Launch { program: "setsid".into(), arguments, together, ..shell("") }).0
        };
        for _ in 0..30 {
            let ended = daemon(&["sleep", "0.01"]);
            let is_whole = ended.last.duration_since(ended.start) >= Duration::from_millis(10);
            assert!(is_whole || !ended.left.is_empty(), "{ended:?}");
        }
        let ended = daemon(&["env", "-i", "/bin/sleep", "0.03"]);
        let is_whole = ended.last.duration_since(ended.start) >= Duration::from_millis(30);
        assert!(is_whole || !ended.left.is_empty(), "{ended:?}");
        let ended = daemon(&["env", "-i", "/bin/sleep", "1000"]);
        assert!(!ended.left.is_empty(), "{ended:?}");
        // It closes its files on its way to its end.
        for pid in ended.left {
            let runs = || fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "));
            let until = Instant::now() + Duration::from_secs(60);
            while runs() {
                assert!(Instant::now() < until, "{pid} goes on");
                thread::sleep(Duration::from_millis(1));
            }
        }
    }
}

#[test]
fn a_program_that_is_not_followed_is_counted_in_whole() {
    let work = "n=0; while [ $n -lt 300000 ]; do n=$((n + 1)); done";
    let launch = Launch { together: true, ..shell(&format!("({work}); {work}")) };
    let (ended, _) = run(Follow::None, &launch);
    let used = ended.used_cpus().unwrap();
    assert!(used > 0.1 && used <= 1.1, "{used}");
    assert!(ended.counts.minor_faults.is_some() && ended.stops == 0);
}
