//! What a thread of another program would feel: how late one wakes up that sleeps until fixed times beside the workers.
//!
//! The calling thread is that one. It sleeps while workers run anyway, and it is bound to no CPU, as most programs are. It looks
//! in an iteration of its own behind those that count, so no number has its wake-ups in it. How late it is on a quiet machine the empty kernel
//! shows, whose workers sleep at the gate meanwhile.

use std::thread;
use std::time::{Duration, Instant};

use charz_data::{Card, Family, Histogram};

use super::gate::Gate;

/// From one time to wake up at to the next. A sleep ends 50 µs late anyway, which is the slack of timers (`man 2 prctl`, `PR_SET_TIMERSLACK`).
const PERIOD: Duration = Duration::from_micros(100);

/// How long the empty kernel lets it look.
const QUIET: Duration = Duration::from_millis(50);

/// Shorter iterations show too little for what they take: those of the pairs of CPUs, of which there may be thousands.
const SHORTEST: Duration = Duration::from_millis(2);

/// Longer ones are those of a machine on which workers wait for CPUs that others have: one more would only take time.
const LONGEST: Duration = Duration::from_millis(500);

/// The most times of a process: later ones are not looked at.
const MOST: usize = 20_000;

/// Whether an iteration is added that is looked beside, and not counted, where the last one took so long. Kernels whose threads contend are those
/// that take more of a machine than their CPUs.
pub(super) fn looks_beside(card: &Card, took: Duration) -> bool {
    card.family == Family::Sync && (SHORTEST..=LONGEST).contains(&took)
}

/// How late it wakes up beside workers, until all have arrived at the gate.
pub(super) fn beside(gate: &Gate) -> Option<Histogram> {
    late(|| gate.awaits_one() || gate.closed())
}

/// How late it wakes up while workers sleep; of the empty kernel only.
pub(super) fn quiet(card: &Card) -> Option<Histogram> {
    let until = Instant::now() + QUIET;
    (card.family == Family::Floor).then(|| late(|| Instant::now() >= until)).flatten()
}

/// A time that has passed while it slept too long counts as well: a program would have waited that long then.
fn late(over: impl Fn() -> bool) -> Option<Histogram> {
    let mut due = Instant::now() + PERIOD;
    let mut times = Vec::new();
    while !over() && times.len() < MOST {
        thread::sleep(due.saturating_duration_since(Instant::now()));
        times.push(u64::try_from(due.elapsed().as_nanos()).unwrap_or(u64::MAX));
        due += PERIOD;
    }
    (!times.is_empty()).then(|| times.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn each_time_counts_whether_it_was_slept_through_or_not() {
        let looks = Cell::new(0);
        let over = || {
            looks.set(looks.get() + 1);
            // Ten times pass.
            if looks.get() == 2 {
                thread::sleep(10 * PERIOD);
            }
            looks.get() > 20
        };
        let times = late(over).unwrap();
        assert_eq!(times.count(), 20);
        assert!(times.max_ns >= 9 * PERIOD.as_nanos() as u64, "{times:?}");
        assert_eq!(late(|| true), None);
        assert_eq!(late(|| false).unwrap().count(), MOST as u64);
    }
}
