//! Two interleaved sweeps, so drift and noise of the machine affect both.
//!
//! Cells are paired by place. A pair is measured in blocks of four invocations, ABBA or BAAB at random: a linear drift cancels out
//! within a block, and a periodic one does not meet the same side every time (D. R. Cox, "Planning of Experiments", Wiley 1958,
//! chapters 3 and 14). Blocks of different pairs are interleaved in random order.

use std::time::{Duration, Instant};

use super::away::{Wait, shortfall};
use super::{Listener, Sweep, order::missing, pace::Pace, places};
use crate::journal::JournalError;
use crate::plan::nanos;
use charz_data::report::Ending;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    A,
    B,
}

/// Measures all pairs until each has the invocations of its plan. If one side of a pair cannot be measured, the other is not
/// measured further either. The order follows from `seed`; the budget of the first side is that of both. If an invocation cannot be
/// recorded, both end, and the reports hold all that were.
///
/// # Panics
/// If the reports have different numbers of cells.
pub fn take_turns(sides: &mut [Sweep<'_>; 2], seed: u64, listener: &mut dyn Listener) -> Result<(), JournalError> {
    assert_eq!(places(sides[0].report), places(sides[1].report), "pairs have two sides");
    let sitting = Instant::now();
    let due = (0..places(sides[0].report)).map(|place| wanted(sides, place) * 2).sum();
    let (left, budget) = (left(sides), sides[0].budget);
    listener.begin(due, left, left.min(budget), budget);
    let taken = blocks(sides, &mut fastrand::Rng::with_seed(seed), sitting, listener);
    for side in sides.iter_mut() {
        let complete = !(0..places(side.report)).any(|place| side.wants_more(place));
        side.end(nanos(sitting.elapsed()), complete, listener);
    }
    taken
}

fn blocks(
    sides: &mut [Sweep<'_>; 2],
    random: &mut fastrand::Rng,
    sitting: Instant,
    listener: &mut dyn Listener,
) -> Result<(), JournalError> {
    let (mut pace, mut wait) = (Pace::default(), Wait::default());
    'blocks: loop {
        let (mut progress, mut gone) = (false, None);
        for place in sides[0].round(random, |place| wanted(sides, place) > 0) {
            let turns = block(wanted(sides, place), random);
            let of = |turn: &Turn| sides[*turn as usize].predicted(sides[*turn as usize].cell(place));
            let predicted = turns.iter().map(of).sum();
            if sitting.elapsed() + pace.correct(predicted) > sides[0].budget {
                // Half a block would favour a side.
                continue;
            }
            if let Some(what) = waits_for(sides, place) {
                gone = Some(what);
                continue;
            }
            (progress, wait) = (true, Wait::default());
            let begun = Instant::now();
            for turn in turns {
                let side = &mut sides[turn as usize];
                if side.stop.raised() {
                    return Ok(());
                }
                let began = Instant::now();
                match side.step(place, random.u64(..), sitting)? {
                    Ending::Stopped if side.stop.raised() => return Ok(()),
                    Ending::Stopped => break 'blocks,
                    _ => {}
                }
                side.cool_down(place, began.elapsed());
                let longest = sides[0].budget.saturating_sub(sitting.elapsed());
                let rest = pace.correct(left(sides)).min(longest);
                listener.finish(sides[turn as usize].cell(place), rest, longest);
            }
            pace.learn(place, predicted, begun.elapsed());
        }
        if !progress && !wait.goes_on(gone.as_ref(), &sides[0], listener) {
            break;
        }
    }
    let wanting: Vec<usize> = (0..places(sides[0].report)).filter(|&place| wanted(sides, place) > 0).collect();
    let short = shortfall(&wanting, |place| waits_for(sides, place));
    sides.iter_mut().for_each(|side| side.report.stopped_by.clone_from(&short));
    Ok(())
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
fn wanted(sides: &[Sweep<'_>; 2], place: usize) -> usize {
    let wants = sides.each_ref().map(|side| {
        // A disturbed cell wants more than its number, one that has given up wants none.
        (side.wants_more(place), missing(side.cell(place), side.report.plan.min_invocations) as usize)
    });
    match wants {
        [(false, due), _] | [_, (false, due)] if due > 0 => 0,
        [(false, _), (false, _)] => 0,
        [(_, one), (_, other)] => one.max(other).max(1),
    }
}

fn waits_for(sides: &[Sweep<'_>; 2], place: usize) -> Option<String> {
    sides.iter().find_map(|side| side.waits_for(place))
}

/// The predicted time for the rest of both sides.
fn left(sides: &[Sweep<'_>; 2]) -> Duration {
    let due = |place| {
        let wanted = u32::try_from(wanted(sides, place)).unwrap_or(u32::MAX);
        sides.iter().map(|side| side.predicted(side.cell(place))).sum::<Duration>().saturating_mul(wanted)
    };
    (0..places(sides[0].report)).map(due).sum()
}

#[cfg(test)]
mod tests;
