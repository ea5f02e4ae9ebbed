//! The line protocol: a program that measures itself, in any language.
//!
//! It prints `ready`; for each line `go` that it reads it does its work once and prints `START END WORK`; at `done`, or at the end of its
//! input, it ends. So its set-up is not timed, and repetitions share a process. `docs/your-kernel-in-any-language.md` has examples.

use std::io::Write;
use std::process::ChildStdin;
use std::time::Instant;

use charz_data::report::{Counts, Ending, Lap};
use charz_launch::{Crew, Ended, Streams};

use super::laps::laps;
use super::output::Answer;
use super::run::{Measured, Origin, Replica, Site, run};
use super::value::measurable;
use crate::harness::counters::MachineCounts;
use crate::harness::{Failure, LEAST_REPETITIONS};

/// What became of one repetition.
struct Round {
    answers: Vec<Answer>,
    machine: MachineCounts,
}

/// Has the program, or its copies, answer as often as it is to be repeated.
pub(super) fn measure(site: &Site<'_>) -> Result<Measured, Failure> {
    let seats = site.seats_to_watch();
    let _serving = site.set_up()?;
    let time = site.order.time_box;
    let mut crew = site.crew()?;
    let mut copies = site.start(&mut crew, Streams::Conversation)?;
    let mut inputs: Vec<Option<ChildStdin>> = copies.iter().map(|copy| crew.input(copy.id)).collect();
    let until = Instant::now() + time;
    await_all(site, &mut crew, &mut copies, until, "printed ready", |copy| copy.output.is_ready())?;
    let (mut rounds, since) = (Vec::new(), Instant::now());
    for round in 0..site.order.repetitions {
        let enough = round >= LEAST_REPETITIONS && since.elapsed() >= site.order.enough;
        if enough || site.stop.raised() {
            break;
        }
        let before = MachineCounts::read(&seats);
        let asked = Origin::now().nanos(Instant::now());
        // One that has gone is noticed as such.
        inputs.iter_mut().flatten().for_each(|input| drop(input.write_all(b"go\n")));
        let what = format!("answered go number {}", round + 1);
        let answered = |copy: &Replica<'_>| copy.output.answers().len() > round;
        await_all(site, &mut crew, &mut copies, Instant::now() + time, &what, answered)?;
        let now = Origin::now().nanos(Instant::now());
        let answers: Vec<Answer> = copies.iter().map(|copy| copy.output.answers()[round]).collect();
        if let Some(wrong) = answers.iter().find(|answer| answer.start_ns < asked || answer.end_ns > now) {
            let Answer { start_ns, end_ns, .. } = wrong;
            return Err(died(format!(
                "the program answered with the times {start_ns} and {end_ns}, which do not lie between go ({asked}) and the answer \
                 ({now}); take them from CLOCK_MONOTONIC, in nanoseconds"
            )));
        }
        rounds.push(Round { answers, machine: MachineCounts::read(&seats).since(before) });
    }
    inputs.iter_mut().flatten().for_each(|input| drop(input.write_all(b"done\n")));
    drop(inputs);
    site.end(&mut crew, &mut copies, Instant::now() + time)?;
    let ended: Vec<&Ended> = copies.iter().filter_map(|copy| copy.ended.as_ref()).collect();
    let mut measured = Measured::default();
    measured.see(site.order.seats.len(), ended.iter().copied());
    for Round { answers, machine } in rounds {
        let spans: Vec<[u64; 2]> = answers.iter().map(|answer| [answer.start_ns, answer.end_ns]).collect();
        let laps = laps(site.order.seats, site.order.program.in_copies(), &ended, &spans);
        let laps: Vec<Lap> = laps.into_iter().map(of_part).collect();
        let first = spans.iter().map(|[start, _]| *start).min().unwrap_or(0);
        let last = spans.iter().map(|[_, end]| *end).max().unwrap_or(0);
        let work: f64 = answers.iter().map(|answer| answer.work as f64).sum();
        let rate = measurable(work / ((last - first) as f64 / 1e9)).map_err(died)?;
        measured.runs.push(run(laps, machine, rate));
    }
    Ok(measured)
}

/// A lap that is a part of its process: what the system counted is of all of it, and shows no more than whether it ever left its seat.
fn of_part(lap: Lap) -> Lap {
    let strays = lap.counts.migrations.filter(|_| lap.seat.is_some()).map(|moves| u64::from(moves > 0));
    Lap { counts: Counts::default(), checks: 1, strays, ..lap }
}

fn await_all(
    site: &Site<'_>,
    crew: &mut Crew,
    copies: &mut [Replica<'_>],
    until: Instant,
    what: &str,
    holds: impl Fn(&Replica<'_>) -> bool,
) -> Result<(), Failure> {
    while !copies.iter().all(&holds) {
        if let Some(wrong) = copies.iter().find_map(|copy| copy.output.wrong()) {
            return Err(died(format!("the program does not keep to the line protocol: {wrong}")));
        }
        if let Some(gone) = copies.iter().find(|copy| copy.ended.is_some() && !holds(copy)) {
            let said = gone.output.said().map(|line| format!("; its last line is {line}")).unwrap_or_default();
            return Err(died(format!("the program ended before it had {what}{said}")));
        }
        site.step(crew, copies, until, "the program").map_err(|failure| match failure.ending {
            Ending::TimedOut => site.too_long(&format!("the program had not {what}")),
            _ => failure,
        })?;
    }
    Ok(())
}

fn died(why: String) -> Failure {
    Failure::new(Ending::Died, why)
}

#[cfg(test)]
mod tests {
    use super::super::output::Said;
    use super::*;

    #[test]
    fn lines_are_what_the_protocol_says_or_the_programs_own() {
        assert_eq!(Said::of(b" ready\r"), Said::Ready);
        assert_eq!(Said::of(b"5 9 100"), Said::Answer(Answer { start_ns: 5, end_ns: 9, work: 100 }));
        assert_eq!(Said::of(b"loading 3 files"), Said::Other);
        for (line, word) in
            [("5 9", "three whole"), ("5 9 1.5", "three whole"), ("9 5 1", "after"), ("5 9 0", "no work")]
        {
            let Said::Wrong(why) = Said::of(line.as_bytes()) else { panic!("{line}") };
            assert!(why.contains(word), "{line}: {why}");
        }
    }
}
