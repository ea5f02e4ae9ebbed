//! Workers that write words, meet, and read them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use charz_data::{JointHistogram, Work};

use crate::block::{Block, Line, Region};
use crate::kernel::{Error, Worker};
use crate::sys::mmap::SharedMapping;
use crate::watch::Watch;

use super::reader::sum;
use super::{Form, Setting, Shared, check_sum, sum_of};

pub(super) struct Rounds {
    name: &'static str,
    rank: usize,
    /// The worker whose words it reads.
    from: usize,
    own: Arc<SharedMapping>,
    region: Region,
    shared: Arc<Shared>,
    /// Runs that were begun: all workers begin as many.
    runs: u64,
    /// Rounds of the last run.
    rounds: u64,
    pub(super) found: u64,
    /// How long the two phases of each took.
    pub(super) phases: Vec<(u64, u64)>,
}

/// The most rounds of a run that there is room for from the beginning: a MiB.
const MOST_ROUNDS: u128 = 1 << 16;

/// Words that a core writes in a nanosecond, at most: two stores a cycle at 6 GHz. It reads them as fast or faster.
const WORDS_A_NANO: u128 = 12;

/// Rounds for which there is to be room: more than there can be, but for those of tiny blocks.
fn room(words: u64, span: Duration) -> usize {
    let least = (u128::from(words) / WORDS_A_NANO).max(1);
    (span.as_nanos() / least + 1).min(MOST_ROUNDS) as usize
}

impl Rounds {
    pub(super) fn new(stage: &Setting, rank: usize) -> Result<Self, Error> {
        let block = Block::filled(stage.lines, stage.pages, |_| 0)?;
        let (region, own) = (block.region(), Arc::new(block.shared()));
        let shared = Arc::clone(&stage.shared);
        *shared.blocks[rank].lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&own));
        let from = if stage.form == Form::Cross { (rank + 1) % shared.blocks.len() } else { rank };
        let name = stage.name;
        let phases = Vec::with_capacity(room((region.bytes / 8) as u64, stage.span));
        Ok(Rounds { name, rank, from, own, region, shared, runs: 0, rounds: 0, found: 0, phases })
    }

    fn words(&self) -> u64 {
        (self.region.bytes / 8) as u64
    }

    /// What a worker writes into its first word in a round of this run; the others count up from there.
    fn first(&self, rank: usize, round: u64) -> u64 {
        ((rank as u64) << 56).wrapping_add((self.runs << 40).wrapping_add(round << 20))
    }

    /// Makes rounds as long as all do.
    fn go(&mut self, source: &SharedMapping, watch: &Watch) {
        let meeting = &self.shared.meeting;
        while !watch.should_stop() {
            let (round, start) = (self.rounds, watch.now());
            write(self.own.words(), self.first(self.rank, round));
            let written = watch.now();
            if !meeting.meet(2 * round + 1, watch) {
                return;
            }
            let begun = watch.now();
            let found = sum(source.words());
            let read = watch.now();
            if !meeting.meet(2 * round + 2, watch) {
                return;
            }
            self.found = self.found.wrapping_add(found);
            self.phases.push((written.saturating_sub(start), read.saturating_sub(begun)));
            self.rounds += 1;
        }
        meeting.end();
    }
}

#[inline]
fn write(words: &[AtomicU64], first: u64) {
    for (line, first) in words
        .as_chunks::<{ Line::WORDS }>()
        .0
        .iter()
        .zip((0..).step_by(Line::WORDS))
        .map(|(line, at)| (line, first.wrapping_add(at)))
    {
        for (word, value) in line.iter().zip(0..) {
            word.store(first.wrapping_add(value), Ordering::Relaxed);
        }
    }
}

impl Worker for Rounds {
    /// Touches the memory for the times, so no round meets a page fault.
    fn prepare(&mut self) {
        if self.rank == 0 {
            self.shared.meeting.open();
        }
        self.runs += 1;
        (self.rounds, self.found) = (0, 0);
        self.phases.resize(self.phases.capacity(), (1, 1));
        self.phases.clear();
    }

    fn run(&mut self, watch: &Watch) -> Work {
        let source = self.shared.blocks[self.from].lock().unwrap_or_else(PoisonError::into_inner).clone();
        match source {
            Some(source) => self.go(&source, watch),
            // The owner of the block could not be built: there is no worker to meet.
            None => self.shared.meeting.end(),
        }
        Work::ops(2 * self.rounds * self.words())
    }

    fn verify(&mut self) -> Result<(), Error> {
        let sums = (0..self.rounds).map(|round| sum_of(self.first(self.from, round), self.words()));
        check_sum(self.name, self.found, sums.fold(0, u64::wrapping_add))
    }

    fn region(&self) -> Option<Region> {
        Some(self.region)
    }

    fn samples(&mut self) -> Option<JointHistogram> {
        Some(self.phases.drain(..).collect())
    }
}
