//! Two interleaved sweeps, so that drift and noise of the machine meet both.
//!
//! Cells are paired by place. A pair is measured in blocks of four invocations, ABBA or BAAB at random: a linear drift cancels out
//! within a block, and a periodic one does not meet the same side every time (D. R. Cox, "Planning of Experiments", Wiley 1958,
//! chapters 3 and 14). Blocks of different pairs are interleaved in random order.

use std::time::{Duration, Instant};

use super::{Listener, Pace, Recorder, Sweep, cell, places, round, wants_more};
use crate::journal::JournalError;
use crate::plan::nanos;
use charz_analysis::findings::findings;
use charz_data::report::{Ending, Report};

pub struct Side<'a> {
    /// The budget of the first side is that of both.
    pub sweep: Sweep<'a>,
    pub report: &'a mut Report,
    pub recorder: &'a mut dyn Recorder,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    A,
    B,
}

/// Measures all pairs until each has the invocations of its plan. If one side of a pair cannot be measured, the other is not
/// measured further either. The order follows from `seed`. If an
/// invocation cannot be recorded, both end, and the reports hold all that were.
///
/// # Panics
/// If the reports have different numbers of cells.
pub fn take_turns(sides: &mut [Side<'_>; 2], seed: u64, listener: &mut dyn Listener) -> Result<(), JournalError> {
    assert_eq!(places(sides[0].report), places(sides[1].report), "pairs have two sides");
    let sitting = Instant::now();
    let due = (0..places(sides[0].report)).map(|place| wanted(sides, place) * 2).sum();
    listener.begin(due, left(sides));
    let taken = blocks(sides, &mut fastrand::Rng::with_seed(seed), sitting, listener);
    for side in sides.iter_mut() {
        let report = &mut *side.report;
        report.wall_ns = nanos(sitting.elapsed());
        report.complete = (0..places(report)).all(|place| !wants_more(cell(report, place), report));
        report.findings = findings(report);
        listener.end(report);
    }
    taken
}

fn blocks(
    sides: &mut [Side<'_>; 2],
    random: &mut fastrand::Rng,
    sitting: Instant,
    listener: &mut dyn Listener,
) -> Result<(), JournalError> {
    let mut pace = Pace::default();
    loop {
        let mut progress = false;
        for place in round(sides[0].report, random, |place| wanted(sides, place) > 0) {
            let turns = block(wanted(sides, place), random);
            let predicted: Duration = turns.iter().map(|turn| predicted(&sides[*turn as usize], place)).sum();
            if sitting.elapsed() + pace.correct(predicted) > sides[0].sweep.budget {
                // Half a block would favour a side.
                sides.iter_mut().for_each(|side| side.report.stopped_by = Some("budget".into()));
                continue;
            }
            progress = true;
            let begun = Instant::now();
            for turn in turns {
                let side = &mut sides[turn as usize];
                if side.sweep.stop.raised() {
                    return Ok(());
                }
                let began = Instant::now();
                let ending =
                    side.sweep.step(side.report, place, random.u64(..), sitting, &mut *side.recorder, listener)?;
                if ending == Ending::Stopped {
                    return Ok(());
                }
                side.sweep.cool_down(cell(side.report, place), began.elapsed());
                let rest = left(sides);
                listener.finish(cell(sides[turn as usize].report, place), pace.correct(rest));
            }
            pace.learn(predicted, begun.elapsed());
        }
        if !progress {
            return Ok(());
        }
    }
}

/// The next turns of a pair, as many for each side.
fn block(wanted: usize, random: &mut fastrand::Rng) -> Vec<Turn> {
    let (first, second) = if random.bool() { (Turn::A, Turn::B) } else { (Turn::B, Turn::A) };
    match wanted {
        0 => vec![],
        1 => vec![first, second],
        _ => vec![first, second, second, first],
    }
}

/// How many more invocations each side of a pair is given, at least.
fn wanted(sides: &[Side<'_>; 2], place: usize) -> usize {
    let wants = sides.each_ref().map(|side| {
        let cell = cell(side.report, place);
        let values = cell.invocations.iter().filter(|invocation| invocation.value.is_some()).count();
        let due = usize::try_from(side.report.plan.min_invocations).unwrap_or(usize::MAX).saturating_sub(values);
        // A disturbed cell wants more than its number, one that has given up wants none.
        (wants_more(cell, side.report), due)
    });
    match wants {
        [(false, due), _] | [_, (false, due)] if due > 0 => 0,
        [(false, _), (false, _)] => 0,
        [(_, one), (_, other)] => one.max(other).max(1),
    }
}

fn predicted(side: &Side<'_>, place: usize) -> Duration {
    side.sweep.predicted(cell(side.report, place))
}

/// The predicted time for the rest of both sides.
fn left(sides: &[Side<'_>; 2]) -> Duration {
    let due = |place| {
        let wanted = u32::try_from(wanted(sides, place)).unwrap_or(u32::MAX);
        sides.iter().map(|side| predicted(side, place)).sum::<Duration>().saturating_mul(wanted)
    };
    (0..places(sides[0].report)).map(due).sum()
}

#[cfg(test)]
mod tests;
