//! The kernel that all pools share: its stage, its workers, and the check that nothing was lost.

use std::hint::black_box;
use std::mem::take;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use charz_data::{Bytes, Card, Contention, JointHistogram, Params, Work};
use crossbeam::utils::CachePadded;

use super::Pool;
use super::sampler::Sampler;
use crate::kernel::{Error, Worker};
use crate::pace::Pace;
use crate::plain::{Extent, PlainKernel, stage};
use crate::sync::primitives::Spin;
use crate::sync::section;
use crate::sync::wait_stats::WaitStats;
use crate::watch::Watch;

pub(super) const fn pooling<P: Pool>(card: &'static Card) -> PlainKernel {
    let footprint = |_: &PlainKernel, _: &Params| {
        Bytes((size_of::<Taker<P>>() + 4 * size_of::<CachePadded<AtomicU64>>() + Sampler::BYTES) as u64)
    };
    PlainKernel::new(card, (), footprint, |kernel, params, workers| {
        let span = kernel.span(params)?;
        let items = u32::try_from(workers).ok().filter(|items| *items < u32::MAX);
        let items = items.ok_or_else(|| kernel.unavailable(format_args!("has no numbers for {workers} workers")))?;
        let shared = Arc::new(Shared::<P>::new(kernel.name(), workers, items)?);
        let steps = [params.inside_steps, params.outside_steps];
        stage(P::MEETING, Extent::Span(span), move |rank| Ok(Box::new(Taker::new(Arc::clone(&shared), rank, steps)?)))
    })
}

pub(super) struct Shared<P> {
    name: &'static str,
    pub(super) pool: P,
    /// How often each item was held, counted by its holder, in two steps that a second holder would spoil.
    pub(super) uses: Box<[CachePadded<AtomicU64>]>,
    /// How often each worker says that it held one, over all of its runs.
    taken: Box<[CachePadded<AtomicU64>]>,
    /// What the check of a run found, and the number of the run.
    checked: Mutex<(u64, Result<(), Error>)>,
}

impl<P: Pool> Shared<P> {
    pub(super) fn new(name: &'static str, workers: usize, items: u32) -> Result<Self, Error> {
        let pool = P::new(workers, items)?;
        pool.fill(0..items);
        let zeros = |number: usize| (0..number).map(|_| CachePadded::new(AtomicU64::new(0))).collect();
        let (uses, taken) = (zeros(items as usize), zeros(workers));
        Ok(Shared { name, pool, uses, taken, checked: Mutex::new((0, Ok(()))) })
    }

    /// Checks run number `run`: the first worker that calls does the check, and the others get its result. To be called when
    /// all workers have ended the run, and none has begun another.
    fn check(&self, run: u64, hand: &mut P::Hand) -> Result<(), Error> {
        let mut checked = self.checked.lock().unwrap_or_else(PoisonError::into_inner);
        if checked.0 < run {
            *checked = (run, self.find_all(hand).and_then(|()| self.count_uses()));
        }
        checked.1.clone()
    }

    /// Takes all items out, which are each of them and each once, and puts them back.
    fn find_all(&self, hand: &mut P::Hand) -> Result<(), Error> {
        let items = self.uses.len();
        let wrong = |what: String| Err(Error::void(self.name, what));
        let mut found = vec![false; items];
        while let Some(item) = self.pool.take(hand, &mut WaitStats::default()) {
            match found.get_mut(item as usize) {
                Some(twice @ false) => *twice = true,
                Some(_) => return wrong(format!("item {item} came out of the pool twice")),
                None => return wrong(format!("item {item} came out of the pool, of {items} from 0")),
            }
        }
        if let Some(lost) = found.iter().position(|found| !found) {
            let lost_too = found.iter().filter(|found| !**found).count() - 1;
            return wrong(format!("item {lost} and {lost_too} more of {items} were lost"));
        }
        self.pool.fill(0..items as u32);
        Ok(())
    }

    fn count_uses(&self) -> Result<(), Error> {
        // Relaxed: the workers have ended their runs, by other means.
        let sum =
            |counts: &[CachePadded<AtomicU64>]| counts.iter().map(|count| count.load(Ordering::Relaxed)).sum::<u64>();
        let (uses, taken) = (sum(&self.uses), sum(&self.taken));
        Error::unless(uses == taken, self.name, || {
            format!("items were held {uses} times, and the workers held {taken}")
        })
    }
}

pub(super) struct Taker<P: Pool> {
    rank: usize,
    /// Steps with an item in hand, and after it was given back.
    steps: [u64; 2],
    shared: Arc<Shared<P>>,
    hand: P::Hand,
    /// The result of the last section, from which the next one starts.
    state: u64,
    run: u64,
    stats: WaitStats,
    sampler: Sampler,
}

impl<P: Pool> Worker for Taker<P> {
    fn prepare(&mut self) {
        self.run += 1;
        self.stats = WaitStats::default();
        self.sampler.clear();
    }

    fn run(&mut self, watch: &Watch) -> Work {
        let (mut pairs, mut pace, mut found) = (0, Pace::start(), true);
        while found && !watch.should_stop() {
            for _ in 0..pace.attempts() {
                found = if self.sampler.due() { self.stamped(watch) } else { self.pair(watch, |_| ()).is_some() };
                pairs += u64::from(found);
                // A stretch that began at peace and ends at war would take so many long waits.
                if !found || take(&mut self.stats.rested) {
                    break;
                }
            }
            pace.adapt();
        }
        black_box(self.state);
        self.shared.taken[self.rank].fetch_add(pairs, Ordering::Relaxed);
        Work::ops(pairs)
    }

    /// To be called when all workers have ended their runs, and none has begun another.
    fn verify(&mut self) -> Result<(), Error> {
        self.shared.check(self.run, &mut self.hand)
    }

    fn contention(&self) -> Option<Contention> {
        let (sampled_waits, sampled_waits_ns) = self.sampler.waits();
        Some(Contention { sampled_waits, sampled_waits_ns, ..self.stats.counts() })
    }

    fn samples(&mut self) -> Option<JointHistogram> {
        self.sampler.joint()
    }
}

impl<P: Pool> Taker<P> {
    pub(super) fn new(shared: Arc<Shared<P>>, rank: usize, steps: [u64; 2]) -> Result<Self, Error> {
        shared.pool.enrol();
        let hand = shared.pool.hand(rank)?;
        let (stats, sampler) = (WaitStats::default(), Sampler::default());
        Ok(Taker { rank, steps, shared, hand, state: 0, run: 0, stats, sampler })
    }

    /// Takes an item, uses it, gives it back, and does something else; with what `stamp` says before and after the take, and
    /// before and after the return. `None` where the run ended before an item was found.
    #[inline]
    fn pair<T>(&mut self, watch: &Watch, stamp: impl Fn(&WaitStats) -> T) -> Option<[T; 4]> {
        let before = stamp(&self.stats);
        let item = self.take(watch)?;
        let taken = stamp(&self.stats);
        let uses = &self.shared.uses[item as usize];
        // Two steps: a worker that holds the item too, or does not see what its last holder did, loses a use.
        uses.store(uses.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        self.state = section(self.steps[0], self.state);
        let held = stamp(&self.stats);
        self.shared.pool.give(&mut self.hand, item, &mut self.stats);
        let given = stamp(&self.stats);
        self.state = section(self.steps[1], self.state);
        Some([before, taken, held, given])
    }

    /// The same with stamps. Whether an item was found.
    #[inline(never)]
    fn stamped(&mut self, watch: &Watch) -> bool {
        let stamp = |stats: &WaitStats| (watch.now(), stats.waits);
        let Some([before, taken, held, given]) = self.pair(watch, stamp) else { return false };
        let time = |(from, before): (u64, u64), (to, after): (u64, u64)| (to.saturating_sub(from), after > before);
        self.sampler.record([time(before, taken), time(held, given)]);
        true
    }

    /// An item; `None` where the run ended before one was found.
    #[inline]
    fn take(&mut self, watch: &Watch) -> Option<u32> {
        let waits = self.stats.waits;
        let item = self.shared.pool.take(&mut self.hand, &mut self.stats);
        item.or_else(|| {
            self.stats.waits = waits + 1;
            self.search(watch)
        })
    }

    /// Goes on looking after a take that found nothing. Each such is a failed attempt, and all of them are one wait.
    #[cold]
    fn search(&mut self, watch: &Watch) -> Option<u32> {
        let mut spin = Spin::start();
        loop {
            self.stats.failures += 1;
            spin.turn(None);
            if watch.should_stop() {
                return None;
            }
            let waits = self.stats.waits;
            let item = self.shared.pool.take(&mut self.hand, &mut self.stats);
            self.stats.waits = waits;
            if item.is_some() {
                return item;
            }
        }
    }
}
