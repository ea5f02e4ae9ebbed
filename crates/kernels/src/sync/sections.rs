//! Sections under a lock for readers and writers: of a hundred sections `--writes` change two words, and the others look whether the two are
//! the same.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};

use charz_data::card::ROOM;
use charz_data::params::{INSIDE, OUTSIDE, SPAN, WRITES};
use charz_data::{Bytes, Card, Family, Metric, Params, Work};
use crossbeam::utils::CachePadded;

use super::section;
use crate::kernel::{Error, Worker};
use crate::pace::Pace;
use crate::plain::{Extent, PlainKernel, kernels, stage};
use crate::watch::Watch;

const CARD: Card = Card::new("", Family::Sync, "", Metric::ops("one section"))
    // A lock is taken and given back by a word that changes twice: at least the 4 cycles of a load from the first-level cache each
    // (Agner Fog, "Instruction tables").
    .max_per_cycle(ROOM / 8.0)
    .blocks_in_kernel(true);
kernels! {
    read_write::<std::sync::RwLock<[u64; 2]>> => CARD.named(
            "rwlock-std",
            "reads two words under Rust's std::sync::RwLock, and changes them once in so many times",
        )
        .params(&[&SPAN, &WRITES, &INSIDE, &OUTSIDE])
        .uncounted_traffic("readers change the lock too: its line moves from core to core")
        .source("The Rust standard library, std::sync::RwLock; S. Sistare, Solaris scalability: locks for readers and writers");
    read_write::<parking_lot::RwLock<[u64; 2]>> => CARD.named(
            "rwlock-parking-lot",
            "does as rwlock-std with the lock of parking_lot",
        )
        .params(&[&SPAN, &WRITES, &INSIDE, &OUTSIDE])
        .uncounted_traffic("readers change the lock too: its line moves from core to core")
        .source("The crate parking_lot, RwLock");
}

/// A lock for readers and writers of two words.
trait ReadWrite: Default + Send + Sync + 'static {
    const VARIANT: &'static str;

    fn read<R>(&self, section: impl FnOnce(&[u64; 2]) -> R) -> R;

    fn write<R>(&self, section: impl FnOnce(&mut [u64; 2]) -> R) -> R;
}

impl ReadWrite for std::sync::RwLock<[u64; 2]> {
    const VARIANT: &'static str = "std::sync::RwLock";

    #[inline]
    fn read<R>(&self, section: impl FnOnce(&[u64; 2]) -> R) -> R {
        section(&std::sync::RwLock::read(self).unwrap_or_else(PoisonError::into_inner))
    }

    #[inline]
    fn write<R>(&self, section: impl FnOnce(&mut [u64; 2]) -> R) -> R {
        section(&mut std::sync::RwLock::write(self).unwrap_or_else(PoisonError::into_inner))
    }
}

impl ReadWrite for parking_lot::RwLock<[u64; 2]> {
    const VARIANT: &'static str = "parking_lot::RwLock";

    #[inline]
    fn read<R>(&self, section: impl FnOnce(&[u64; 2]) -> R) -> R {
        section(&parking_lot::RwLock::read(self))
    }

    #[inline]
    fn write<R>(&self, section: impl FnOnce(&mut [u64; 2]) -> R) -> R {
        section(&mut parking_lot::RwLock::write(self))
    }
}

const fn read_write<L: ReadWrite>(card: &'static Card) -> PlainKernel {
    let footprint = |_: &PlainKernel, _: &Params| Bytes(size_of::<CachePadded<L>>() as u64);
    let kernel = PlainKernel::new(card, (), footprint, |kernel, params, _| {
        let shared = Arc::new((CachePadded::new(L::default()), AtomicU64::new(0)));
        let (name, sections, writes) = (kernel.name(), [params.inside_steps, params.outside_steps], params.writes);
        stage(L::VARIANT, Extent::Span(kernel.span(params)?), move |rank| {
            let shared = Arc::clone(&shared);
            Ok(Box::new(ReaderWriter { name, rank, shared, sections, writes, due: 0, torn: 0, state: rank as u64 }))
        })
    });
    kernel.shares_memory()
}

struct ReaderWriter<L> {
    name: &'static str,
    rank: usize,
    /// The lock, and how often its words were changed in a run, once their workers have ended it.
    shared: Arc<(CachePadded<L>, AtomicU64)>,
    sections: [u64; 2],
    /// Of a hundred sections.
    writes: u64,
    /// From 100 on the next section writes.
    due: u64,
    /// Readers that found two words that differ.
    torn: u64,
    state: u64,
}

impl<L: ReadWrite> Worker for ReaderWriter<L> {
    fn prepare(&mut self) {
        self.torn = 0;
        if self.rank == 0 {
            self.shared.0.write(|words| *words = [0; 2]);
            self.shared.1.store(0, Ordering::Relaxed);
        }
    }

    fn run(&mut self, watch: &Watch) -> Work {
        let (mut pace, mut done, mut written) = (Pace::start(), 0, 0);
        let [inside, outside] = self.sections;
        let (lock, changes) = &*self.shared;
        while !watch.should_stop() {
            for _ in 0..pace.attempts() {
                self.due += self.writes;
                if self.due >= 100 {
                    self.due -= 100;
                    self.state = lock.write(|words| {
                        words[0] += 1;
                        let state = section(inside, self.state);
                        words[1] += 1;
                        state
                    });
                    written += 1;
                } else {
                    let (state, differ) = lock.read(|words| {
                        let before = words[0];
                        (section(inside, self.state), before != words[1])
                    });
                    self.state = state;
                    self.torn += u64::from(differ);
                }
                self.state = section(outside, self.state);
                done += 1;
            }
            pace.adapt();
        }
        changes.fetch_add(written, Ordering::Relaxed);
        self.state = std::hint::black_box(self.state);
        Work::ops(done)
    }

    fn verify(&mut self) -> Result<(), Error> {
        let (words, changes) = (self.shared.0.read(|words| *words), self.shared.1.load(Ordering::Relaxed));
        Error::unless(self.torn == 0 && words == [changes; 2], self.name, || {
            format!("{} readers found words that differ, and {changes} changes left {words:?}", self.torn)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::watch;
    use charz_data::Params;

    #[test]
    fn torn_words_are_noticed() {
        let shared = Arc::new((CachePadded::new(std::sync::RwLock::new([3_u64, 3])), AtomicU64::new(3)));
        let mut worker =
            ReaderWriter { name: "x", rank: 0, shared, sections: [0; 2], writes: 0, due: 0, torn: 0, state: 0 };
        assert_eq!(worker.verify(), Ok(()));
        worker.torn = 1;
        assert!(worker.verify().is_err());
        (worker.torn, worker.shared) = (0, Arc::new((CachePadded::default(), AtomicU64::new(1))));
        assert!(worker.verify().is_err());
    }

    /// As many writes as were asked for, whatever the number of readers.
    #[test]
    fn writes_have_their_share() {
        let params = Params { writes: 10, ..Params::SMALL };
        let kernel = KERNELS.iter().find(|kernel| kernel.card().name == "rwlock-parking-lot").unwrap();
        let stage = kernel.stage(&params, 1).unwrap();
        let mut workers = [stage.worker(0).unwrap()];
        workers[0].prepare();
        let done = workers[0].run(&watch(Some(std::time::Duration::from_millis(2)))).ops;
        assert_eq!(workers[0].verify(), Ok(()));
        assert!(done.0 > 100, "{done:?}");
    }
}
