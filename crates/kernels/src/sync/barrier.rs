//! `barrier-*`: workers that wait for each other, again and again.
//!
//! Each stamps when it arrives and when it leaves; the stamps are put together after the run, since no worker knows earlier
//! which one arrived last.
//!
//! No worker can leave a barrier here alone, so the workers end a run together: a worker whose watch ends stores the number of
//! the episode before it arrives. All workers see the number when they leave that episode, since an arrival publishes what
//! came before it to every worker that leaves; and all end there. No worker can have stored a later number by then, since it
//! would have had to leave this episode without seeing this one.

use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use charz_data::{Bytes, Card, JointHistogram, Params, Work};
use crossbeam::utils::CachePadded;

use super::primitives;
use super::spin::OwnStrands;
use crate::kernel::{Error, Worker};
use crate::pairs::Pairs;
use crate::plain::{Extent, PlainKernel, stage};
use crate::watch::Watch;

mod kinds;
mod own;

pub(crate) use kinds::KERNELS;

/// Nanoseconds after which a worker looks at its watch again.
const STRETCH: u64 = 20_000;

trait Meet: Send + Sync + Sized + 'static {
    const VARIANT: &'static str;

    fn new(parties: usize) -> Result<Self, Error>;

    /// The sense of a party that meets the others for the first time, where the barrier has one. All parties ask before they meet.
    fn sense(&self) -> bool {
        false
    }

    /// Waits for all others, which have a strand `each` or may have to share.
    fn meet(&self, sense: &mut bool, each: bool);
}

const fn meeting<B: Meet>(card: &'static Card) -> PlainKernel {
    // The stamps of a run and of the one before, and the last arrivals.
    let footprint = |kernel: &_, params: &Params| Bytes(Pairs::of_samples(kernel, params).0.saturating_mul(3));
    PlainKernel::new(card, (), footprint, |kernel, params, workers| {
        let (name, episodes) = (kernel.name(), kernel.samples(params)?);
        let shared = Arc::new(Shared {
            barrier: B::new(workers)?,
            strands: OwnStrands::of(workers),
            last: CachePadded::default(),
            phases: (0..workers).map(|_| CachePadded::default()).collect(),
            stamps: (0..workers).map(|_| RwLock::default()).collect(),
        });
        stage(B::VARIANT, Extent::Each(Work::ops(episodes)), move |rank| {
            let (shared, stamps) = (Arc::clone(&shared), Pairs::with_room(episodes)?);
            shared.strands.enrol();
            *shared.stamps[rank].write().unwrap_or_else(PoisonError::into_inner) = Pairs::with_room(episodes)?;
            let (sense, episode) = (shared.barrier.sense(), shared.phases[rank].load(Ordering::Relaxed));
            Ok(Box::new(Party { name, rank, episodes, shared, sense, episode, stamps, early: None, joint: None }))
        })
    })
}

struct Shared<B> {
    barrier: B,
    strands: OwnStrands,
    /// The last episode of a run that a watch ended. They are counted from 1 over all runs.
    last: CachePadded<AtomicU64>,
    /// The last episode that each worker arrived in.
    phases: Box<[CachePadded<AtomicU64>]>,
    /// When each worker arrived and left in each episode of the last run, once it has ended it.
    stamps: Box<[RwLock<Pairs>]>,
}

struct Party<B> {
    name: &'static str,
    rank: usize,
    /// Of a full run.
    episodes: u64,
    shared: Arc<Shared<B>>,
    sense: bool,
    /// The last episode that it has met the others in, over all runs.
    episode: u64,
    stamps: Pairs,
    /// An episode that it left before another worker had arrived in it, with that worker.
    early: Option<(u64, usize)>,
    /// The times of the last run, once it is verified.
    joint: Option<JointHistogram>,
}

impl<B: Meet> Worker for Party<B> {
    fn prepare(&mut self) {
        self.stamps.reset();
        (self.early, self.joint) = (None, None);
    }

    fn run(&mut self, watch: &Watch) -> Work {
        let shared = &*self.shared;
        let (mut left, mut looked, each) = (0, None, shared.strands.each());
        for _ in 0..self.episodes {
            let episode = self.episode + 1;
            if looked.is_none_or(|looked| left - looked >= STRETCH) {
                if watch.should_stop() {
                    // Relaxed, as the phases: the arrival publishes it to every worker that leaves.
                    shared.last.store(episode, Ordering::Relaxed);
                }
                looked = Some(watch.now());
            }
            shared.phases[self.rank].store(episode, Ordering::Relaxed);
            let arrived = watch.now();
            shared.barrier.meet(&mut self.sense, each);
            left = watch.now();
            let other = self.other(episode);
            if shared.phases[other].load(Ordering::Relaxed) < episode {
                self.early = self.early.or(Some((episode, other)));
            }
            self.episode = episode;
            if shared.last.load(Ordering::Relaxed) == episode {
                break;
            }
            self.stamps.0.push((arrived, left));
        }
        let done = Work::ops(self.stamps.0.len() as u64);
        let mut slot = shared.stamps[self.rank].write().unwrap_or_else(PoisonError::into_inner);
        mem::swap(&mut *slot, &mut self.stamps);
        done
    }

    fn verify(&mut self) -> Result<(), Error> {
        let (name, rank, episodes) = (self.name, self.rank, self.episodes as usize);
        if let Some((episode, other)) = self.early {
            let reason = format_args!("worker {rank} left episode {episode} before worker {other} arrived in it");
            return Err(Error::void(name, reason));
        }
        // Of each episode the last arrival, and whose it is.
        let mut last = vec![(0, 0); episodes];
        for (other, stamps) in self.shared.stamps.iter().enumerate() {
            let stamps = stamps.read().unwrap_or_else(PoisonError::into_inner);
            let found = stamps.0.len();
            Error::unless(found == episodes, name, || {
                format!("worker {other} met the others {found} times, not {episodes}")
            })?;
            last.iter_mut().zip(&stamps.0).for_each(|(last, (arrived, _))| *last = (*last).max((*arrived, other)));
        }
        let own = self.shared.stamps[rank].read().unwrap_or_else(PoisonError::into_inner);
        // The last to arrive waits for no other. With its times the median would be another percentile of the waits for each number of
        // workers.
        let waited = own.0.iter().zip(&last).filter(|(_, (_, who))| *who != rank);
        // The clocks of two strands may be apart by more than the last worker takes to leave.
        let times =
            waited.map(|((arrived, left), (last, _))| (left.saturating_sub(*arrived), left.saturating_sub(*last)));
        self.joint = Some(times.collect());
        Ok(())
    }

    fn samples(&mut self) -> Option<JointHistogram> {
        self.joint.take()
    }
}

impl<B: Meet> Party<B> {
    /// The worker whose phase is looked at after an episode: each in turn.
    fn other(&self, episode: u64) -> usize {
        let workers = self.shared.phases.len();
        (self.rank + 1 + episode as usize % (workers - 1)) % workers
    }
}

#[cfg(test)]
mod tests;
