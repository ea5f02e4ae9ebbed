//! The memory over which two workers hand something to each other.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use charz_data::PageKind;

use crate::kernel::Error;
use crate::sys::mmap::{Line, Mapping, SharedMapping};

/// Words from the beginning of a line to that of the next one used: 128 bytes, since processors fetch lines in pairs (Intel,
/// "64 and IA-32 Architectures Optimization Reference Manual", section on the spatial prefetcher).
const STEP: usize = 2 * Line::WORDS;
/// Lines that a run uses: one per worker, and one for the flag that a worker left.
const LINES: usize = 3;
/// Runs until the first lines are used again, as many as fit in a page of 4 KiB.
const RUNS: usize = 4096 / (8 * STEP * LINES);

pub(super) const BYTES: u64 = 4096;

/// A page of lines. Each run takes other lines, so the effect of an address on the caches (the slice that it belongs to) is in
/// the spread, and nothing has to be reset while a worker may still look at it.
pub(super) struct Lines(SharedMapping);

impl Lines {
    /// Maps the page and touches it first from the calling thread: its memory lies where that thread is seated.
    pub(super) fn map() -> Result<Lines, Error> {
        let refused = |error: io::Error| {
            Error::Refused(format!("no memory for the page that the workers share ({error}): end other programs"))
        };
        let mut mapping = Mapping::new(RUNS * LINES * STEP / Line::WORDS, PageKind::Small).map_err(refused)?;
        mapping.populate().map_err(refused)?;
        Ok(Lines(SharedMapping::new(mapping)))
    }

    /// The lines of a run, by its number.
    pub(super) fn of_run(&self, run: u64) -> Meeting<'_> {
        let at = (run % RUNS as u64) as usize * LINES;
        let [first, second, over] = std::array::from_fn(|line| &self.0.words()[(at + line) * STEP]);
        Meeting { first, second, over }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Meeting<'a> {
    /// The line that goes back and forth; where each worker writes to one of its own, that of worker 0.
    pub(super) first: &'a AtomicU64,
    pub(super) second: &'a AtomicU64,
    over: &'a AtomicU64,
}

impl Meeting<'_> {
    /// Sets the lines to these words. The other worker must not use them meanwhile.
    pub(super) fn reset(&self, words: [u64; 2]) {
        // Relaxed: a gate separates this from the run.
        self.first.store(words[0], Ordering::Relaxed);
        self.second.store(words[1], Ordering::Relaxed);
        self.over.store(0, Ordering::Relaxed);
    }

    pub(super) fn words(&self) -> [u64; 2] {
        [self.first, self.second].map(|word| word.load(Ordering::Relaxed))
    }

    /// Sets the flag that ends the other worker's wait for an answer.
    pub(super) fn leave(&self) {
        self.over.store(1, Ordering::Relaxed);
    }

    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed) != 0
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn runs_that_follow_each_other_share_no_pair_of_lines() {
        let lines = Lines::map().unwrap();
        let mut seen = HashSet::new();
        for run in 0..RUNS as u64 {
            let meeting = lines.of_run(run);
            for word in [meeting.first, meeting.second, meeting.over] {
                assert!(seen.insert(std::ptr::from_ref(word).addr() / 128), "run {run}");
            }
        }
        let pages: HashSet<_> = seen.iter().map(|pair| pair * 128 / 4096).collect();
        assert_eq!(pages.len(), 1);
    }
}
