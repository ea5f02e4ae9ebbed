//! `migrate-warm`: what a thread loses that moves away from a warm cache.
//!
//! A thread of the first worker updates its block twice on one strand, moves to the strand of the other worker, and updates it there.
//! The second pass finds the block where the first has put it; the third has to bring it over. Then the thread goes back, and so on.
//! Blocks that were only read would soon be in the caches of both strands.

use std::hint::black_box;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use charz_data::params::{MEMORY, SAMPLES, SIZE};
use charz_data::{Bytes, Card, Family, JointHistogram, Metric, Work, WorkerCount};

use crate::block::{Block, Line};
use crate::clock::Clock;
use crate::kernel::{Axes, Error, Region, Sizes, Worker};
use crate::leaving::{Leaving, Lender, Lent};
use crate::pairs::Pairs;
use crate::plain::{Extent, PlainKernel, kernels, stage};
use crate::sys::pthread::thread::Mask;
use crate::watch::Watch;

/// How long a worker sleeps between two looks at its watch.
const LOOK: Duration = Duration::from_millis(5);

kernels! {
    migrating => Card::new(
        "migrate-warm",
        Family::Memory,
        "a thread updates its block line by line, moves to the other worker's strand, and updates the block again",
        Metric::SecondTime,
    )
    .times("a pass where the last one was", "the pass after a move")
    .on_one_strand()
    .uncounted_traffic("the move itself, which has ended when the pass begins")
    .params(&[&SIZE, &MEMORY, &SAMPLES])
    .source(
        "N. Nagarajayya, Improving Application Efficiency Through Chip Multi-Threading (Sun Microsystems, 2005), section 2.1: the \
         rechoose interval; C. Li, C. Ding, K. Shen, Quantifying the cost of context switch (ExpCS 2007)",
    )
    .workers(WorkerCount::Exactly(2))
    .blocks_in_kernel(true);
}

const fn migrating(card: &'static Card) -> PlainKernel {
    PlainKernel::new(
        card,
        (),
        |kernel, params| Bytes(params.size_bytes.saturating_add(Pairs::of_samples(kernel, params).0)),
        |kernel, params, _| {
            let (name, samples, params) = (kernel.name(), kernel.samples(params)?, *params);
            let shared = Arc::<Lent>::default();
            stage("sched_setaffinity", Extent::Each(Work::ops(samples)), move |rank| {
                let shared = Arc::clone(&shared);
                if rank > 0 {
                    return Ok(Box::new(Lender::new(shared)?));
                }
                let lines = usize::try_from(params.size_bytes / Line::BYTES as u64).unwrap_or(usize::MAX);
                let block = Block::zeroed(lines, params.pages)?;
                let pairs = Pairs::with_room(samples)?;
                Ok(Box::new(Traveller { name, shared, block, samples, pairs, wrong: None }))
            })
        },
    )
    .check(|kernel| match Mask::own()?.strands().nth(1) {
        Some(_) => Ok(()),
        None => Err(kernel.unavailable("needs two strands to move between, and this process may use one")),
    })
    .axes(Axes { sizes: Sizes::Levels, ..Axes::NONE })
}

/// The strands of both workers; of workers that may run on the same ones, two of these.
fn places(lent: &Lent) -> Result<[Mask; 2], Error> {
    let own = Mask::own()?;
    let mut strands = own.strands();
    match (lent.mask()?, strands.next(), strands.next_back()) {
        (Some(lent), ..) => Ok([own.clone(), lent]),
        (None, Some(first), Some(last)) => Ok([first, last].map(Mask::of)),
        (None, ..) => Err(Error::Unavailable("both threads are on one CPU: give them two".into())),
    }
}

struct Traveller {
    name: &'static str,
    shared: Arc<Lent>,
    block: Block,
    samples: u64,
    pairs: Pairs,
    wrong: Option<Error>,
}

impl Traveller {
    /// On a thread of its own: the worker stays on its seat. All lines begin with the same word.
    fn travel(
        lines: &mut [Line],
        places: &[Mask; 2],
        clock: &dyn Clock,
        most: u64,
        leaving: &Leaving,
        pairs: &mut Pairs,
    ) -> Result<(), Error> {
        let (before, mut passes) = (lines[0].0[0], 0);
        let mut pass = || {
            let begun = clock.now();
            lines.iter_mut().for_each(|line| line.0[0] = line.0[0].wrapping_add(1));
            black_box(&mut *lines);
            passes += 1;
            clock.now().saturating_sub(begun)
        };
        places[0].bind()?;
        pass();
        for sample in 0..most as usize {
            if leaving.has_begun() {
                break;
            }
            let stayed = pass();
            places[(sample + 1) % 2].bind()?;
            pairs.0.push((stayed, pass()));
        }
        let updated = lines.iter().filter(|line| line.0[0] == before.wrapping_add(passes)).count();
        Error::unless(updated == lines.len(), "migrate-warm", || {
            format!("{updated} of {} lines were updated in each of {passes} passes", lines.len())
        })
    }
}

impl Worker for Traveller {
    fn prepare(&mut self) {
        self.pairs.reset();
        self.wrong = None;
        self.shared.leaving.reset();
    }

    fn run(&mut self, watch: &Watch) -> Work {
        let Traveller { shared, block, samples, pairs, .. } = self;
        let (lines, clock, shared, samples) = (block.lines_mut(), Arc::clone(watch.clock()), &**shared, *samples);
        let leaving = &shared.leaving;
        // A run that was refused counts as a whole one, so it is verified: `verify` returns the error.
        let all = |travelled: &Result<(), Error>, pairs: &Pairs| match travelled {
            Ok(()) => pairs.0.len() as u64,
            Err(_) => samples,
        };
        let travelled = places(shared).and_then(|places| {
            thread::scope(|scope| {
                let travel = || {
                    let travelled = Traveller::travel(lines, &places, &*clock, samples, leaving, pairs);
                    leaving.first(all(&travelled, pairs));
                    travelled
                };
                // The thread may have moved before this worker looks again.
                if watch.should_stop() {
                    leaving.other();
                }
                let refused = |error| Error::Refused(format!("a thread cannot be made: {error}; allow more threads"));
                let thread = thread::Builder::new().spawn_scoped(scope, travel).map_err(refused)?;
                leaving.sleep(watch, LOOK);
                leaving.other();
                thread.join().expect("it does not panic")
            })
        });
        let work = leaving.first(all(&travelled, pairs));
        self.wrong = travelled.err();
        work
    }

    fn verify(&mut self) -> Result<(), Error> {
        self.wrong.take().map_or(Ok(()), Err)?;
        let (found, samples) = (self.pairs.0.len() as u64, self.samples);
        Error::unless(found == samples, self.name, || format!("there are {found} pairs of passes, not {samples}"))
    }

    fn region(&self) -> Option<Region> {
        Some(self.block.region())
    }

    fn samples(&mut self) -> Option<JointHistogram> {
        Some(self.pairs.joint())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::OsClock;
    use crate::tests::check_noticed;

    /// Says what is skipped.
    #[allow(clippy::print_stdout, reason = "a skipped test says so")]
    fn places() -> Option<[Mask; 2]> {
        let places = super::places(&Lent::default());
        places.inspect_err(|error| println!("skipped: moving between two strands: {error}")).ok()
    }

    #[test]
    fn a_line_that_was_left_out_is_noticed() {
        let Some(places) = places() else { return };
        let mut block = Block::zeroed(64, charz_data::PageKind::Small).unwrap();
        let travel = |lines: &mut [Line]| {
            let mut pairs = Pairs::default();
            let clock = OsClock::default();
            let places = &places;
            let travelled = thread::scope(|scope| {
                let travel = || Traveller::travel(lines, places, &clock, 9, &Leaving::default(), &mut pairs);
                scope.spawn(travel).join().unwrap()
            });
            (travelled, pairs.0.len())
        };
        assert_eq!(travel(block.lines_mut()), (Ok(()), 9));
        block.lines_mut()[63].0[0] -= 1;
        assert!(matches!(travel(block.lines_mut()), (Err(Error::Wrong(_)), 9)));
    }

    #[test]
    fn a_sample_that_is_missing_is_noticed() {
        if places().is_none() {
            return;
        }
        let block = Block::zeroed(64, charz_data::PageKind::Small).unwrap();
        let pairs = Pairs::with_room(20).unwrap();
        let shared = Arc::<Lent>::default();
        let mut traveller = Traveller { name: "migrate-warm", shared, block, samples: 20, pairs, wrong: None };
        check_noticed(&mut traveller, None, |traveller| traveller.pairs.0.truncate(19));
    }
}
