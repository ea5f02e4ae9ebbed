//! Budgets that are as short as a run, and programs with a set-up: what has no time is left out, and is no fault.

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

/// A sweep to its end, or one that is stopped and resumed with another budget.
pub fn case(_: &Target, case: &mut Case<'_>, rng: &mut Rng) -> Outcome {
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
