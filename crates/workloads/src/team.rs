//! The workers of a program: where they meet between phases, and what they add up together.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam::utils::CachePadded;

use charz_kernels::kernel::Error;
use charz_kernels::meeting::Meeting;
use charz_kernels::sys::shared::Shared;
use charz_kernels::watch::Watch;

/// The most sums that are made at one meeting.
const MOST_SUMS: usize = 16;

/// The terms of one worker, as bits of doubles.
type Terms = CachePadded<[AtomicU64; MOST_SUMS]>;

/// What the workers of a program share, whatever its problem, be they threads or processes.
pub(super) struct Team {
    meeting: Shared<Meeting>,
    /// The terms of every worker, of sums in turns: a worker that is late still reads those of the last one.
    terms: [Shared<Terms>; 2],
}

/// The run is to end now: a worker saw that at its watch, and no other waits for it.
#[derive(Debug)]
pub(super) struct Over;

impl Team {
    pub(super) fn of(workers: usize) -> Result<Self, Error> {
        let terms = || Shared::new(workers, Terms::default);
        Ok(Team { meeting: Shared::new(1, || Meeting::of(workers))?, terms: [terms()?, terms()?] })
    }

    fn meeting(&self) -> &Meeting {
        &self.meeting[0]
    }

    /// Before a run, by one of the workers, while no other meets.
    pub(super) fn open(&self) {
        self.meeting().open();
    }

    /// Has all workers end their run.
    pub(super) fn end(&self) {
        self.meeting().end();
    }
}

/// What is worker `rank`'s of so many things in a row, of so many workers: parts that differ by one at most.
pub(super) fn part(rank: usize, workers: usize, things: usize) -> Range<usize> {
    let begin = |rank: usize| rank * (things / workers) + rank.min(things % workers);
    begin(rank)..begin(rank + 1)
}

/// A worker in one run.
pub(super) struct Member<'a> {
    pub(super) rank: usize,
    team: &'a Team,
    watch: &'a Watch,
    /// How often it met the others.
    met: u64,
    sums: usize,
}

impl<'a> Member<'a> {
    pub(super) fn new(rank: usize, team: &'a Team, watch: &'a Watch) -> Self {
        Member { rank, team, watch, met: 0, sums: 0 }
    }

    /// Looks at the watch; to be called every 20 to 100 µs.
    #[inline]
    pub(super) fn look(&self) -> Result<(), Over> {
        if self.watch.should_stop() || self.team.meeting().is_over() { Err(self.leave()) } else { Ok(()) }
    }

    /// Ends the run for all.
    pub(super) fn leave(&self) -> Over {
        self.team.end();
        Over
    }

    /// Meets the others: what they did before is then seen by all.
    pub(super) fn meet(&mut self) -> Result<(), Over> {
        // Phases of few things have no look of their own.
        self.look()?;
        self.met += 1;
        if self.team.meeting().meet(self.met, self.watch) { Ok(()) } else { Err(Over) }
    }

    /// Waits until `ready`, for another worker that is at work on it.
    pub(super) fn wait(&self, ready: impl Fn() -> bool) -> Result<(), Over> {
        if self.team.meeting().wait(self.watch, ready) { Ok(()) } else { Err(Over) }
    }

    /// The sums of every worker's terms, added in the order of their numbers: all get the same, run for run.
    pub(super) fn sum<const N: usize>(&mut self, own: [f64; N]) -> Result<[f64; N], Over> {
        const { assert!(N <= MOST_SUMS) }
        let terms = &self.team.terms[self.sums % 2];
        self.sums += 1;
        for (place, term) in terms[self.rank].iter().zip(own) {
            // Relaxed: the meeting orders it before every reading.
            place.store(term.to_bits(), Ordering::Relaxed);
        }
        self.meet()?;
        let of_all = |at: usize| terms.iter().map(|terms| f64::from_bits(terms[at].load(Ordering::Relaxed))).sum();
        Ok(std::array::from_fn(of_all))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use charz_kernels::tests::{stopped, together, watch};

    proptest! {
        #[test]
        fn parts_are_everything_once_and_alike(workers in 1..200_usize, things in 0..10_000_usize) {
            let parts: Vec<_> = (0..workers).map(|rank| part(rank, workers, things)).collect();
            prop_assert!(parts.iter().flat_map(Clone::clone).eq(0..things));
            let lengths = || parts.iter().map(ExactSizeIterator::len);
            prop_assert!(lengths().max().unwrap() - lengths().min().unwrap() <= 1);
        }
    }

    #[test]
    fn sums_are_those_of_all_workers_however_often_they_are_made() {
        let team = Team::of(5).unwrap();
        let sums = together(5, |rank| {
            let watch = watch(None);
            let mut member = Member::new(rank, &team, &watch);
            (0..20).map(|round| member.sum([rank as f64, f64::from(round)]).unwrap()).collect::<Vec<_>>()
        });
        let expected: Vec<_> = (0..20).map(|round| [10.0, 5.0 * f64::from(round)]).collect();
        assert!(sums.iter().all(|sums| *sums == expected));
    }

    #[test]
    fn no_member_waits_for_one_that_had_to_go() {
        let team = Team::of(3).unwrap();
        let ended = together(3, |rank| {
            let watch = if rank == 1 { stopped() } else { watch(None) };
            let mut member = Member::new(rank, &team, &watch);
            match rank {
                0 => member.meet().is_err(),
                1 => member.look().is_err(),
                _ => member.wait(|| false).is_err(),
            }
        });
        assert_eq!(ended, [true; 3]);
    }
}
