//! The worker that handles parts of a segment.

use std::io;
use std::sync::Arc;

use charz_data::Work;

use super::segment::Segment;
use super::{Before, Deed, Handling};
use crate::block::{Line, Region};
use crate::kernel::{Error, Worker};
use crate::sys::mmap::Mapping;
use crate::watch::Watch;

pub(super) struct Handler {
    how: Handling,
    pub(super) segment: Arc<Segment>,
    rank: usize,
    region: Option<Region>,
    run: u64,
    /// The parts that it has handled and still holds.
    pub(super) held: Vec<Mapping>,
}

impl Handler {
    /// Takes its share through everything but the release once, so a refusal is known before anything is measured.
    pub(super) fn new(how: Handling, segment: Arc<Segment>, rank: usize) -> Result<Self, Error> {
        // The list is not to grow in a run.
        let held = Vec::with_capacity(segment.parts());
        let mut worker = Handler { how, segment, rank, region: None, run: 0, held };
        let mut parts = worker.segment.fetch(0, rank)?;
        let start = parts.first().map(|part| part.lines().as_ptr().addr());
        worker.region = start.map(|start| Region { start, bytes: worker.segment.share() });
        for part in &mut parts {
            if how.touches() {
                worker.touch(part);
            }
            if how.locks() {
                worker.lock(part)?;
            }
        }
        worker.held.extend(parts);
        Ok(worker)
    }

    /// Has its share of a fresh segment go through what comes before the run, and offers it.
    fn ready(&self) -> Result<(), Error> {
        let mut parts = self.segment.fetch(self.run, self.rank)?;
        for part in &mut parts {
            if self.how.before >= Before::Touched {
                self.touch(part);
            }
            if self.how.before >= Before::Locked {
                self.lock(part)?;
            }
        }
        self.segment.offer(parts);
        Ok(())
    }

    /// Writes the number of the run into the first word of each page.
    fn touch(&self, part: &mut Mapping) {
        for page in part.lines_mut().chunks_mut(self.segment.page() / Line::BYTES) {
            page[0].0[0] = self.run;
        }
    }

    fn lock(&self, part: &Mapping) -> Result<(), Error> {
        part.lock().map_err(|error| Error::Refused(refusal(self.segment.name, &error)))
    }

    /// A page that does not hold what it should.
    fn strange(&self) -> Option<(u64, u64)> {
        let expected = if self.how.touches() { self.run } else { 0 };
        let lines = self.segment.page() / Line::BYTES;
        let words = self.held.iter().flat_map(|part| part.lines().chunks(lines)).map(|page| page[0].0[0]);
        words.into_iter().find(|found| *found != expected).map(|found| (expected, found))
    }
}

impl Worker for Handler {
    fn prepare(&mut self) {
        self.held.clear();
        self.run += 1;
        if let Err(error) = self.ready() {
            self.segment.fail(error);
        }
    }

    fn run(&mut self, watch: &Watch) -> Work {
        let mut bytes = 0;
        while !watch.should_stop() {
            let Some(mut part) = self.segment.take() else { break };
            bytes += size_of_val(part.lines()) as u64;
            match self.how.deed {
                Deed::Touch => self.touch(&mut part),
                Deed::Lock => {
                    if let Err(error) = self.lock(&part) {
                        self.segment.fail(error);
                        break;
                    }
                }
                Deed::Release => {
                    drop(part);
                    continue;
                }
            }
            self.held.push(part);
        }
        self.segment.add(bytes);
        Work::bytes(bytes)
    }

    fn verify(&mut self) -> Result<(), Error> {
        self.segment.check()?;
        let strange = self.strange();
        // The memory is gone before anybody prepares the next run.
        self.held.clear();
        strange.map_or(Ok(()), |(expected, found)| {
            let reason = format_args!("a page holds {found:#x} instead of {expected:#x}");
            Err(Error::void(self.segment.name, reason))
        })
    }

    fn region(&self) -> Option<Region> {
        self.region
    }
}

/// Why the system locked no memory, and what to do about it.
fn refusal(name: &str, error: &io::Error) -> String {
    format!(
        "{name} may lock no more memory ({error}): raise the limit, as root with `ulimit -l unlimited`, or ask for a smaller size"
    )
}
