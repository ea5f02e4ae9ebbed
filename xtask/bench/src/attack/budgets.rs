//! Budgets that are as short as a run, and programs with a set-up: what has no time is left out, and is no fault. Servers that a set-up
//! starts: each serves one run and is ended after it, however it was started and however the run ends.

use std::time::Duration;

use fastrand::Rng;
use rustix::process::Signal;
use xtask::{Failure, Outcome};

use super::Target;
use super::case::Case;
use super::laws::Run;
use super::reports::REPORT;

/// When a sweep with these budgets is stuck.
const STUCK: Duration = Duration::from_secs(30);

/// How a set-up starts a server, in the shell: in its group, in a session of its own, as a daemon, without an environment, deaf to SIGTERM, all
/// of these, and with a process of its own.
const SERVERS: [&str; 7] = [
    "sleep 61 & true",
    "setsid sleep 61 & true",
    "(setsid sleep 61 &)",
    "(setsid env -i sleep 61 &)",
    "(trap \"\" TERM; exec sleep 61) & true",
    "(trap \"\" TERM; setsid env -i sleep 61 &)",
    "(setsid env -i sh -c \"sleep 61 & sleep 62\" &)",
];

/// How a set-up and a run end, with what limits the run.
const ENDS: [(&str, &str); 5] = [
    ("", "sleep 0.1; echo 3"),
    ("", "sleep 0.05; exit 1"),
    ("exit 1", "echo 3"),
    ("sleep 60", "echo 3"),
    ("", "sleep 60"),
];

/// The file that shows that a server ran when a set-up began.
const POOLED: &str = "pooled";

/// A sweep to its end, or one that is stopped and resumed with another budget; or one of a program with a server.
pub fn case(_: &Target, case: &mut Case<'_>, rng: &mut Rng) -> Outcome {
    if rng.bool() {
        return served(case, rng);
    }
    let seconds = |least: f64, most: f64, rng: &mut Rng| least + (most - least) * rng.f64();
    let command = format!("sh -c 'sleep {:.3}; echo 3'", seconds(0.02, 0.2, rng));
    let setup = format!("sleep {:.3}", seconds(0.0, 0.3, rng));
    let budget = |rng: &mut Rng| format!("{:.2}s", seconds(0.3, 4.0, rng));
    let first = budget(rng);
    let sweep =
        ["sweep", "--command", &command, "--value", "last", "--setup", &setup, "--threads", "1,2", "--mapping", "dumb"];
    let sweep = [&sweep[..], &["--output", REPORT, "--budget", &first]].concat();
    let stops = rng.bool().then(|| (Duration::from_secs_f64(seconds(0.2, 2.0, rng)), Signal::INT));
    let run = case.run(&sweep, &[REPORT], stops.or(Some((STUCK, Signal::INT))))?;
    check(&run, stops.is_some())?;
    if run.after.contains_key(REPORT) {
        let budget = budget(rng);
        let run =
            case.run(&["sweep", "--resume", REPORT, "--budget", &budget], &[REPORT], Some((STUCK, Signal::INT)))?;
        check(&run, false)?;
    }
    Ok(())
}

/// None outlives the sweep, as the laws have it, nor the run that it was started for.
fn served(case: &mut Case<'_>, rng: &mut Rng) -> Outcome {
    let server = SERVERS[rng.usize(..SERVERS.len())];
    let (ends, command) = ENDS[rng.usize(..ENDS.len())];
    // The other processes in this folder are charz's, this shell, and those that look.
    let look = "for one in /proc/[0-9]*; do test \"$(readlink $one/cwd)\" = \"$PWD\" && \
                grep -q \"^sleep.6\" $one/cmdline && touch pooled; done";
    let setup = format!("sh -c '{look}; {server}; sleep 0.05; {ends}'");
    let command = format!("sh -c '{command}'");
    let sweep =
        ["sweep", "--command", &command, "--value", "last", "--setup", &setup, "--threads", "1", "--mapping", "dumb"];
    let sweep = [&sweep[..], &["--run-timeout", "0.4s", "--budget", "3s", "--output", REPORT]].concat();
    let moment = Duration::from_millis(rng.u64(20..2500));
    let signal = match rng.u8(..4) {
        0 => (STUCK, Signal::INT),
        1 => (moment, Signal::INT),
        2 => (moment, Signal::TERM),
        _ => (moment, Signal::KILL),
    };
    let run = case.run(&sweep, &[REPORT, "r.*", POOLED], Some(signal))?;
    if run.after.contains_key(POOLED) {
        Err(Failure::found("a server serves the run that it was started for"))
    } else {
        Ok(())
    }
}

fn check(run: &Run, is_stopped: bool) -> Outcome {
    let said = String::from_utf8_lossy(&[&run.out[..], &run.err].concat()).into_owned();
    let is_done = matches!(run.code, Some(0 | 5)) || (is_stopped && run.code == Some(130));
    // Of a program that does not end once, nothing is known but that.
    let not_once = || run.code == Some(3) && said.contains("did not end within the budget") && run.out.is_empty();
    let why = match () {
        () if !is_done && !not_once() => "a budget that is short is no fault of the program",
        () if said.contains(" 0.00 ns") => "nothing is given no time at all",
        () => return Ok(()),
    };
    Err(Failure::found(why))
}
