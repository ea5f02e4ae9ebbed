//! `tlb-shootdown`: a page is unmapped that every worker has read.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use charz_data::params::SAMPLES;
use charz_data::{Bytes, Card, Family, JointHistogram, Metric, Role, Work};
use crossbeam::utils::CachePadded;

use crate::block::Line;
use crate::kernel::{Error, Kernel, Worker};
use crate::pairs::Pairs;
use crate::plain::{Extent, PlainKernel, stage};
use crate::sync::spin::{OwnStrands, keep, until};
use crate::sys::mmap::{Mapping, SharedMapping, base_page};
use crate::watch::Watch;

pub(crate) static KERNELS: &[&dyn Kernel] = &[&PlainKernel::new(
    &CARD,
    (),
    |kernel, params| Bytes(Pairs::of_samples(kernel, params).0.saturating_add(base_page() as u64)),
    |kernel, params, workers| {
        let (samples, readers) = (kernel.samples(params)?, workers - 1);
        let shared = Arc::new(Shared { strands: OwnStrands::of(workers), ..Shared::default() });
        stage("mmap, munmap", Extent::Each(Work::ops(samples)), move |rank| {
            let shared = Arc::clone(&shared);
            shared.strands.enrol();
            if rank > 0 {
                return Ok(Box::new(Reader { samples, shared, misread: false }));
            }
            Ok(Box::new(Mapper { samples, readers, shared, pairs: Pairs::with_room(samples)?, trouble: None }))
        })
    },
)];

static CARD: Card = Card::new("tlb-shootdown", Family::Memory, "the first worker maps a page and unmaps it again when all others have read from it", Metric::SecondTime)
    .times(
        "from the call that maps the page until it is written to",
        "from the call that unmaps the page until it returns",
    )
    .on_one_strand()
    .uncounted_traffic("each strand that has the page's translation is interrupted (TLB shootdown), where the processor has no instruction for that")
    .params(&[&SAMPLES])
    .role(Role::Unmapping)
    .source("D. L. Black et al., Translation lookaside buffer consistency: a software approach, ASPLOS 1989")
    .blocks_in_kernel(true);

#[derive(Debug, Default)]
struct Shared {
    page: RwLock<Option<SharedMapping>>,
    /// Which page of the run it is, from 1.
    number: CachePadded<AtomicU64>,
    /// How many have read from it.
    seen: CachePadded<AtomicUsize>,
    over: AtomicBool,
    strands: OwnStrands,
}

impl Shared {
    fn reset(&self) {
        self.number.store(0, Ordering::Relaxed);
        self.seen.store(0, Ordering::Relaxed);
        self.over.store(false, Ordering::Relaxed);
    }

    /// Whether the page does not hold its number. `None` where it is gone before it was read, as it is when a run ends early.
    fn misreads(&self, number: u64) -> Option<bool> {
        let page = self.page.read().unwrap_or_else(PoisonError::into_inner);
        let word = page.as_ref().and_then(|page| page.words().first()).map(|word| word.load(Ordering::Relaxed));
        match word {
            // A worker sets `over` before it takes away a page that was not waited for.
            None if self.over.load(Ordering::Relaxed) => None,
            word => Some(word != Some(number)),
        }
    }

    /// Looks at the watch. Whether the run is to end for this worker or has ended for another.
    fn ends(&self, watch: &Watch) -> bool {
        if watch.should_stop() {
            self.over.store(true, Ordering::Relaxed);
        }
        self.over.load(Ordering::Relaxed)
    }

    /// Waits for another worker, awake where each has a strand: the system interrupts no idle one.
    fn wait(&self, watch: &Watch, there: impl FnMut() -> bool) -> bool {
        let ends = || self.ends(watch);
        if self.strands.each() { keep(ends, there) } else { until(ends, || false, there) }
    }
}

struct Mapper {
    samples: u64,
    readers: usize,
    shared: Arc<Shared>,
    pairs: Pairs,
    trouble: Option<Error>,
}

impl Mapper {
    /// Maps page number `number`, shows it to all others, and unmaps it, with the times that the first and the last took. `None`
    /// where the run ended before all had seen it.
    fn sample(&self, number: u64, watch: &Watch) -> std::io::Result<Option<(u64, u64)>> {
        let called = watch.now();
        let mut mapping = Mapping::plain(base_page() / Line::BYTES)?;
        mapping.lines_mut()[0].0[0] = number;
        let touched = watch.now();
        let shared = &self.shared;
        shared.seen.store(0, Ordering::Relaxed);
        *shared.page.write().unwrap_or_else(PoisonError::into_inner) = Some(SharedMapping::new(mapping));
        shared.number.store(number, Ordering::Release);
        let seen = shared.wait(watch, || shared.seen.load(Ordering::Acquire) == self.readers);
        let page = shared.page.write().unwrap_or_else(PoisonError::into_inner).take();
        let unmaps = watch.now();
        drop(page);
        let unmapped = watch.now();
        Ok(seen.then(|| (touched.saturating_sub(called), unmapped.saturating_sub(unmaps))))
    }
}

impl Worker for Mapper {
    fn prepare(&mut self) {
        self.shared.reset();
        self.pairs.reset();
        self.trouble = None;
    }

    fn run(&mut self, watch: &Watch) -> Work {
        let mut number = 0;
        while number < self.samples && !self.shared.ends(watch) {
            match self.sample(number + 1, watch) {
                Ok(Some(times)) => self.pairs.0.push(times),
                Ok(None) => break,
                Err(error) => {
                    self.shared.over.store(true, Ordering::Relaxed);
                    self.trouble = Some(Error::Refused(format!(
                        "{}: the system maps no page ({error}): end what else runs on the machine",
                        CARD.name
                    )));
                    // Counted as a whole run: the check reports what went wrong.
                    return Work::ops(self.samples);
                }
            }
            number += 1;
        }
        Work::ops(number)
    }

    fn verify(&mut self) -> Result<(), Error> {
        self.trouble.clone().map_or(Ok(()), Err)
    }

    fn samples(&mut self) -> Option<JointHistogram> {
        Some(self.pairs.joint())
    }
}

struct Reader {
    samples: u64,
    shared: Arc<Shared>,
    /// Whether a page did not hold its number.
    misread: bool,
}

impl Worker for Reader {
    fn prepare(&mut self) {
        self.shared.reset();
        self.misread = false;
    }

    fn run(&mut self, watch: &Watch) -> Work {
        let (shared, mut number) = (&self.shared, 0);
        while number < self.samples {
            let shown = || shared.number.load(Ordering::Acquire) > number;
            if !shared.wait(watch, shown) {
                break;
            }
            let Some(misread) = shared.misreads(number + 1) else { break };
            number += 1;
            self.misread |= misread;
            shared.seen.fetch_add(1, Ordering::Release);
        }
        Work::ops(number)
    }

    fn verify(&mut self) -> Result<(), Error> {
        Error::unless(!self.misread, &CARD.name, || "a worker read another page".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{check_awake, watch};

    #[test]
    fn a_reader_is_where_it_can_be_interrupted() {
        let shared = Arc::new(Shared::default());
        let mut reader = Reader { samples: 1, shared: Arc::clone(&shared), misread: false };
        check_awake(
            || assert_eq!(reader.run(&watch(None)), Work::default()),
            || shared.over.store(true, Ordering::Relaxed),
        );
    }

    #[test]
    fn a_page_that_went_with_its_run_is_no_wrong_answer() {
        let shared = Shared::default();
        assert_eq!(shared.misreads(1), Some(true), "a page that is missing in the middle of a run");
        shared.over.store(true, Ordering::Relaxed);
        assert_eq!(shared.misreads(1), None);
        let mut mapping = Mapping::plain(base_page() / Line::BYTES).unwrap();
        mapping.lines_mut()[0].0[0] = 7;
        *shared.page.write().unwrap() = Some(SharedMapping::new(mapping));
        assert_eq!((shared.misreads(7), shared.misreads(8)), (Some(false), Some(true)));
    }
}
