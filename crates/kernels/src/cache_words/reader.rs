//! Workers that read their own words over and over again.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use charz_data::Work;

use crate::block::{Block, Line, Region};
use crate::kernel::{Error, Worker};
use crate::pace::Pace;
use crate::sys::mmap::SharedMapping;
use crate::watch::Watch;

use super::{Form, Setting, check_sum, sum_of};

/// The most passes between two looks at the watch: of 512 bytes, they take 40 µs at 2 words a cycle and 6 GHz.
const MOST: u64 = 8192;

enum Data {
    /// A load each.
    Each(Arc<SharedMapping>),
    /// As the compiler likes.
    Any(Block),
}

pub(super) struct Reader {
    name: &'static str,
    data: Data,
    region: Region,
    whole: u64,
    /// What was found since the worker was built, and in how many passes.
    pub(super) found: u64,
    pub(super) passes: u64,
}

impl Reader {
    pub(super) fn new(stage: &Setting, rank: usize) -> Result<Self, Error> {
        let first = (rank as u64) << 40;
        let block = Block::filled(stage.lines, stage.pages, |i| first + i)?;
        let region = block.region();
        let data = match stage.form {
            Form::Compiled => Data::Any(block),
            _ => Data::Each(Arc::new(block.shared())),
        };
        let whole = sum_of(first, (stage.lines * Line::WORDS) as u64);
        Ok(Reader { name: stage.name, data, region, whole, found: 0, passes: 0 })
    }

    fn pass(&self) -> u64 {
        match &self.data {
            Data::Each(shared) => sum(shared.words()),
            // What is not known to be the same as before cannot be taken from there.
            Data::Any(block) => {
                let words = black_box(block.lines()).iter().flat_map(|line| &line.0);
                words.fold(0, |sum, word| sum.wrapping_add(*word))
            }
        }
    }
}

/// The sum modulo 2^64 of whole lines of words, a load each.
#[inline]
pub(super) fn sum(words: &[AtomicU64]) -> u64 {
    // As many sums as there are words in a line, so no addition has to wait for another.
    let mut sums = [0_u64; Line::WORDS];
    for line in words.as_chunks::<{ Line::WORDS }>().0 {
        for (sum, word) in sums.iter_mut().zip(line) {
            *sum = sum.wrapping_add(word.load(Ordering::Relaxed));
        }
    }
    sums.into_iter().fold(0, u64::wrapping_add)
}

impl Worker for Reader {
    fn run(&mut self, watch: &Watch) -> Work {
        let (mut passes, mut pace) = (0, Pace::up_to(MOST));
        while !watch.should_stop_after(passes * (self.region.bytes / 8) as u64) {
            for _ in 0..pace.attempts() {
                self.found = self.found.wrapping_add(self.pass());
            }
            passes += pace.attempts();
            pace.adapt();
        }
        self.passes += passes;
        Work::ops(passes * (self.region.bytes / 8) as u64)
    }

    fn verify(&mut self) -> Result<(), Error> {
        check_sum(self.name, self.found, self.passes.wrapping_mul(self.whole))
    }

    fn region(&self) -> Option<Region> {
        Some(self.region)
    }
}
