//! The memory that all workers of a cell share, and from which each takes the next part.
//!
//! Before a run each worker readies its own share, which is as large as everybody else's, and offers it in parts; during the run
//! anybody takes any part. So memory is made where its worker sits, and a worker that is slow leaves its parts to others, as with the
//! helpers of vmtasks.

use std::mem::take;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use charz_data::{PageKind, Params};
use crossbeam::queue::ArrayQueue;

use crate::block::Line;
use crate::kernel::Error;
use crate::sys::mmap::{HUGE_PAGE, Mapping, base_page};

/// The most parts of a segment. Each may become a mapping of its own while its neighbours are gone, and a process has some
/// 65,530 (`vm.max_map_count`), of which its threads need some.
const MOST_PARTS: usize = 32_768;

pub(super) struct Segment {
    pub(super) name: &'static str,
    workers: usize,
    /// Bytes of a worker's share: whole pages.
    share: usize,
    /// Bytes of a part, at most.
    part: usize,
    pages: PageKind,
    shared: bool,
    laid: Mutex<Laid>,
    offered: ArrayQueue<Mapping>,
    /// Bytes that were handled in the run.
    handled: AtomicU64,
}

#[derive(Debug, Default)]
struct Laid {
    /// The number of the run, from 1; the segment that workers are built with is number 0.
    run: Option<u64>,
    /// What each worker has not fetched yet.
    shares: Vec<Option<Mapping>>,
    trouble: Option<Error>,
}

/// Bytes of which shares and parts are a multiple: the system makes, locks and splits a huge page as a whole, whichever worker has it.
pub(super) fn whole_page(pages: PageKind, base: usize, huge: usize) -> usize {
    let own = pages.bytes().max(base);
    if pages == PageKind::Transparent { own.max(huge) } else { own }
}

impl Segment {
    /// A segment for so many workers, to be taken in parts of at least `part` bytes, which are a multiple of 64 KiB.
    pub(super) fn new(
        name: &'static str,
        params: &Params,
        shared: bool,
        workers: usize,
        part: usize,
    ) -> Result<Self, Error> {
        let (size, pages) = (params.size_bytes, params.pages);
        let page = whole_page(pages, base_page(), *HUGE_PAGE);
        let share = usize::try_from(size).unwrap_or(usize::MAX) / page * page;
        if share == 0 {
            let sentence = format!("{name} needs at least a page of {page} bytes a worker, not {size}: ask for more");
            return Err(Error::Unavailable(sentence));
        }
        let total = share.checked_mul(workers).filter(|total| *total < isize::MAX as usize);
        let total = total.ok_or_else(|| {
            Error::Unavailable(format!("{name} has no addresses for {workers} times {size} bytes: ask for less"))
        })?;
        let part = part.max(total / MOST_PARTS).next_multiple_of(page).min(share);
        let offered = ArrayQueue::new((workers * share.div_ceil(part)).max(1));
        let (laid, handled) = (Mutex::default(), AtomicU64::new(0));
        Ok(Segment { name, workers, share, part, pages, shared, laid, offered, handled })
    }

    pub(super) fn share(&self) -> usize {
        self.share
    }

    pub(super) fn parts(&self) -> usize {
        self.offered.capacity()
    }

    /// Bytes from one page to the next that is to be touched by itself.
    pub(super) fn page(&self) -> usize {
        match self.pages {
            // Where there is no huge page to be had, each small one is touched.
            PageKind::Small | PageKind::Transparent => PageKind::Small.bytes(),
            PageKind::Huge2M | PageKind::Huge1G => self.pages.bytes(),
        }
    }

    /// A worker's share of the segment for run number `run`, untouched and in parts. The first worker that asks has the segment mapped
    /// anew; a worker that comes when a later run has begun gets nothing.
    pub(super) fn fetch(&self, run: u64, rank: usize) -> Result<Vec<Mapping>, Error> {
        let mut laid = self.lock();
        if laid.run < Some(run) {
            *laid = Laid { run: Some(run), ..Laid::default() };
            while self.offered.pop().is_some() {}
            self.handled.store(0, Ordering::Relaxed);
            laid.shares = self.map()?.parts(self.share).into_iter().map(Some).collect();
        }
        let current = laid.run == Some(run);
        let share = laid.shares.get_mut(rank).filter(|_| current).and_then(take);
        Ok(share.map_or_else(Vec::new, |share| share.parts(self.part)))
    }

    fn map(&self) -> Result<Mapping, Error> {
        let lines = self.workers * self.share / Line::BYTES;
        let mapping = if self.shared { Mapping::shared(lines, self.pages) } else { Mapping::new(lines, self.pages) };
        mapping.map_err(|error| {
            let (name, workers, share, pages) = (self.name, self.workers, self.share, self.pages);
            let reserved = "reserve so many in /sys/kernel/mm/hugepages, or ask for other pages";
            let what = match pages {
                PageKind::Small | PageKind::Transparent => "ask for a smaller size or fewer workers",
                PageKind::Huge2M | PageKind::Huge1G => reserved,
            };
            let sentence =
                format!("{name} got no segment of {workers} times {share} bytes on {pages} pages ({error}): {what}");
            Error::Refused(sentence)
        })
    }

    pub(super) fn offer(&self, parts: Vec<Mapping>) {
        for part in parts {
            self.offered.push(part).expect("there is room for all parts of a segment");
        }
    }

    pub(super) fn take(&self) -> Option<Mapping> {
        self.offered.pop()
    }

    /// A worker has handled so much in the run.
    pub(super) fn add(&self, bytes: u64) {
        self.handled.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(super) fn fail(&self, error: Error) {
        self.lock().trouble.get_or_insert(error);
    }

    /// Checks that the workers together handled all of it. To be called when all have ended the run.
    pub(super) fn check(&self) -> Result<(), Error> {
        if let Some(trouble) = &self.lock().trouble {
            return Err(trouble.clone());
        }
        let (handled, all) = (self.handled.load(Ordering::Relaxed), (self.workers * self.share) as u64);
        Error::unless(handled == all, self.name, || format!("{handled} of {all} bytes were handled"))
    }

    fn lock(&self) -> MutexGuard<'_, Laid> {
        self.laid.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
