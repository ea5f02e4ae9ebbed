use std::fs::File;
use std::os::unix::fs::FileExt;

use charz_data::{PageKind, Params};

use super::*;
use crate::kernel::{Error, Worker};
use crate::laws::check_refused;
use crate::sys::mmap::{HUGE_PAGE, base_page};
use crate::tests::{may_lock, watch};
use crate::turns::Turn;

const SIZE: u64 = (5 << 20) + 4711;

fn params(pages: PageKind) -> Params {
    Params { size_bytes: SIZE, pages, samples: 20, span_ns: 1_000_000, ..Params::SMALL }
}

/// Kinds of which the size has a whole page here.
fn kinds() -> impl Iterator<Item = PageKind> {
    let fits = |pages: &PageKind| segment::whole_page(*pages, base_page(), *HUGE_PAGE) as u64 <= SIZE;
    [PageKind::Small, PageKind::Transparent].into_iter().filter(fits)
}

/// Workers of a stage of this kernel, on one thread.
fn workers(how: Handling, pages: PageKind, number: usize) -> Vec<Handler> {
    let segment = Segment::new("test", &params(pages), how.shared, number, how.part(pages)).unwrap();
    let segment = Arc::new(segment);
    (0..number).map(|rank| Handler::new(how, Arc::clone(&segment), rank).unwrap()).collect()
}

const TOUCH: Handling = Handling::new(false, Before::Mapped, Deed::Touch);

/// Every way of handling that a kernel is about: whether it has pages before its run, and what is true of them afterwards, whether
/// they are locked; `None` where they are gone. Without those that this user may not lock.
fn ways() -> impl Iterator<Item = (Handling, bool, Option<bool>)> {
    let ways = [
        (TOUCH, false, Some(false)),
        (Handling { shared: true, ..TOUCH }, false, Some(false)),
        (Handling::new(false, Before::Touched, Deed::Lock), true, Some(true)),
        (Handling::new(true, Before::Touched, Deed::Lock), true, Some(true)),
        (Handling::new(true, Before::Mapped, Deed::Lock), false, Some(true)),
        (Handling::new(false, Before::Touched, Deed::Release), true, None),
        (Handling::new(true, Before::Touched, Deed::Release), true, None),
        (Handling::new(true, Before::Locked, Deed::Release), true, None),
    ];
    ways.into_iter().filter(|(how, ..)| !how.locks() || may_lock())
}

/// One worker that runs before the others takes everything, and they find nothing: the sum is what counts.
#[test]
fn parts_go_to_the_worker_that_takes_them() {
    for (how, ..) in ways() {
        for pages in kinds() {
            let share = SIZE / pages.bytes() as u64 * pages.bytes() as u64;
            let mut workers = workers(how, pages, 3);
            for order in [[0, 1, 2], [2, 0, 1]] {
                workers.iter_mut().for_each(|worker| worker.prepare());
                let done = order.map(|rank| workers[rank].run(&watch(None)).bytes.0);
                assert_eq!(done, [3 * share, 0, 0], "{how:?} {pages}");
                workers.iter_mut().for_each(|worker| assert_eq!(worker.verify(), Ok(()), "{how:?}"));
            }
        }
    }
}

#[test]
fn regions_of_workers_are_apart_and_on_pages_of_their_kind() {
    for pages in kinds() {
        let workers = workers(TOUCH, pages, 3);
        let mut regions: Vec<_> = workers.iter().filter_map(|worker| worker.region()).collect();
        regions.sort_by_key(|region| region.start);
        assert_eq!(regions.len(), 3);
        assert!(regions.windows(2).all(|pair| pair[0].start + pair[0].bytes <= pair[1].start), "{regions:?}");
        assert!(regions.iter().all(|region| region.start.is_multiple_of(pages.bytes())), "{regions:?}");
    }
}

/// On base pages of 64 KiB a huge page has 512 MiB: two workers with parts of the same one would each have all of it made.
#[test]
fn no_huge_page_has_parts_of_two_workers() {
    const KIB: usize = 1 << 10;
    for (kind, base, huge) in [(PageKind::Transparent, 64, 512 << 10), (PageKind::Transparent, 4, 2 << 10)] {
        assert_eq!(segment::whole_page(kind, base * KIB, huge * KIB), huge * KIB);
    }
    assert_eq!(segment::whole_page(PageKind::Transparent, 4 * KIB, 0), PageKind::Transparent.bytes(), "there are none");
    assert_eq!(segment::whole_page(PageKind::Small, 64 * KIB, 512 << 20), 64 * KIB);
}

/// Whether the page at this address has memory, by the top bit of its entry in the system's page map.
fn is_resident(address: usize) -> bool {
    let mut entry = [0; 8];
    let map = File::open("/proc/self/pagemap").unwrap();
    map.read_exact_at(&mut entry, (address / base_page() * 8) as u64).unwrap();
    u64::from_le_bytes(entry) >> 63 == 1
}

/// Whether the mapping at this address is locked, by its flags.
fn is_locked(address: usize) -> bool {
    let text = std::fs::read_to_string("/proc/self/smaps").unwrap();
    let holds = |line: &str| {
        let (start, end) = line.split_once(' ')?.0.split_once('-')?;
        Some((usize::from_str_radix(start, 16).ok()?..usize::from_str_radix(end, 16).ok()?).contains(&address))
    };
    let flags = text.lines().skip_while(|line| holds(line) != Some(true));
    let flags = flags.into_iter().find_map(|line| line.strip_prefix("VmFlags:"));
    flags.is_some_and(|flags| flags.split_whitespace().any(|flag| flag == "lo"))
}

#[test]
fn memory_is_made_locked_and_given_back() {
    for (how, before, locked) in ways() {
        let mut workers = workers(how, PageKind::Small, 1);
        let worker = &mut workers[0];
        worker.prepare();
        let part = worker.segment.take().unwrap();
        assert_eq!(is_resident(part.lines().as_ptr().addr()), before, "{how:?}: before");
        worker.segment.offer(vec![part]);
        worker.run(&watch(None));
        let address = worker.held.last().map(|part| part.lines().as_ptr().addr());
        assert!(address.is_none_or(is_resident), "{how:?}: after");
        assert_eq!(address.map(is_locked), locked, "{how:?}");
        worker.verify().unwrap();
        assert!(worker.held.is_empty(), "{how:?}");
    }
}

#[test]
fn a_part_that_is_left_and_a_page_that_was_not_written_are_wrong() {
    let mut workers = workers(TOUCH, PageKind::Small, 1);
    let worker = &mut workers[0];
    worker.prepare();
    let left = worker.segment.take().unwrap();
    worker.run(&watch(None));
    drop(left);
    assert!(matches!(worker.verify(), Err(Error::Wrong(sentence)) if sentence.contains("bytes were handled")));
    worker.prepare();
    worker.run(&watch(None));
    let last = worker.held.last_mut().unwrap();
    last.lines_mut()[0].0[0] = 0;
    assert!(
        matches!(worker.verify(), Err(Error::Wrong(sentence)) if sentence.contains("a page holds 0x0 instead of 0x2"))
    );
}

#[test]
fn a_refusal_reaches_everybody() {
    let mut workers = workers(TOUCH, PageKind::Small, 2);
    workers.iter_mut().for_each(|worker| worker.prepare());
    workers[1].segment.fail(Error::Refused("no more".into()));
    for worker in &mut workers {
        worker.run(&watch(None));
    }
    for worker in &mut workers {
        assert_eq!(worker.verify(), Err(Error::Refused("no more".into())));
    }
}

/// Page faults of the calling thread that needed no disk: the tenth field of its `stat`, the second of which is in brackets.
fn faults() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
    text.rsplit_once(") ").unwrap().1.split(' ').nth(7).unwrap().parse().unwrap()
}

/// One that is read first is answered with a page of zeros, and takes a second one when it is written.
#[test]
fn a_page_that_is_mapped_and_written_takes_one_fault() {
    const TURNS: u64 = 100;
    let mut remap = turns::Remap::<64>::new().unwrap();
    let before = faults();
    (0..TURNS).for_each(|_| assert!(remap.turn().unwrap()));
    let pages = 64 * TURNS;
    let taken = faults() - before;
    assert!(taken < pages + pages / 10, "{taken} faults of {pages} pages");
}

#[test]
fn sizes_without_sense_are_refused() {
    for (size_bytes, pages, workers, part) in [
        (0, PageKind::Small, 1, "at least a page of 4096 bytes a worker, not 0"),
        (1 << 20, PageKind::Transparent, 1, "at least a page of 2097152 bytes"),
        (1 << 62, PageKind::Small, 2, "no addresses for 2 times"),
    ] {
        check_refused(KERNELS[0], workers, Params { size_bytes, ..params(pages) }, part);
    }
}
