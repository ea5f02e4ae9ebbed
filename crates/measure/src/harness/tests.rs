//! The harness against kernels and systems that misbehave.

use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;
use std::time::Duration;

use charz_kernels::{
    Bytes, Card, Error, Family, Kernel, Layout, Metric, PageKind, Params, Stage, Stop, Watch, Work, Worker,
};
use charz_topology::{Binder, Present, Seating, Seats};

use charz_data::HARDWARE_EVENTS;
use charz_data::checks::FEW_FAULTS;
use charz_data::report::{Ending, Evidence, HardwareCount, Invocation};
use rustix::time::ClockId;

use super::clock::{Clock, FakeClock, RealtimeClock};
use super::counters::hardware::{Counters, OpenCounters, Readings};
use super::{Bench, Cell, Failure, measure};

/// What one worker of the faulty kernel does wrong.
#[derive(Clone, Copy, PartialEq)]
enum Fault {
    None,
    RefusesToBuild,
    PanicsWhileBuilding,
    PanicsInPrepare,
    PanicsInRun,
    FallsShort,
    AnswersWrong,
    RaisesTheStop,
    SetsTheClock(i64),
}

/// By how much [`settable`] was set.
static SET_NS: AtomicI64 = AtomicI64::new(0);

/// Two clocks whose readings are 20 ns apart.
fn settable(clock: ClockId) -> i64 {
    static NOW: AtomicI64 = AtomicI64::new(0);
    let now = NOW.fetch_add(20, Ordering::SeqCst);
    if clock == ClockId::Realtime { 1_700_000_000_000_000_000 + now + SET_NS.load(Ordering::SeqCst) } else { now }
}

struct Faulty {
    fault: Fault,
    rank: usize,
}

static CARD: Card =
    Card::new("faulty", Family::Floor, "does what a test wants", Metric::ops("one call")).source("these tests");

impl Kernel for Faulty {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn footprint(&self, _: &Params) -> Bytes {
        Bytes(0)
    }

    fn stage(&self, _: &Params, _: usize) -> Result<Box<dyn Stage>, Error> {
        Ok(Box::new(Faulty { ..*self }))
    }
}

impl Stage for Faulty {
    fn variant(&self) -> &'static str {
        "test"
    }

    fn work(&self) -> Work {
        self.work_of(0)
    }

    fn work_of(&self, rank: usize) -> Work {
        Work::ops(5 + rank as u64)
    }

    fn worker(&self, rank: usize) -> Result<Box<dyn Worker>, Error> {
        let fault = if rank == self.rank { self.fault } else { Fault::None };
        match fault {
            Fault::RefusesToBuild => Err(Error::Refused("no memory for a test".into())),
            Fault::PanicsWhileBuilding => panic!("building"),
            _ => {
                // What the others share with one that ends early is not right.
                let disagrees = rank != self.rank && matches!(self.fault, Fault::FallsShort | Fault::RaisesTheStop);
                Ok(Box::new(FaultyWorker(if disagrees { Fault::AnswersWrong } else { fault }, self.work_of(rank))))
            }
        }
    }
}

struct FaultyWorker(Fault, Work);

impl Worker for FaultyWorker {
    fn prepare(&mut self) {
        assert!(self.0 != Fault::PanicsInPrepare, "preparing");
    }

    fn run(&mut self, watch: &Watch) -> Work {
        match self.0 {
            Fault::PanicsInRun => panic!("running"),
            Fault::FallsShort => Work::ops(4),
            Fault::RaisesTheStop => {
                watch.stop().raise();
                Work::ops(1)
            }
            Fault::SetsTheClock(ns) => {
                SET_NS.fetch_add(ns, Ordering::SeqCst);
                self.1
            }
            _ => self.1,
        }
    }

    fn verify(&mut self) -> Result<(), Error> {
        if self.0 == Fault::AnswersWrong { Err(Error::Wrong("1 instead of 2".into())) } else { Ok(()) }
    }
}

/// A system with as many strands as a test wants, which keeps its word or does not.
#[derive(Default)]
struct System {
    seated: Mutex<Vec<(ThreadId, u32)>>,
    ignores_requests: bool,
    refuses: Option<u32>,
    present: Present,
    placed: Arc<Mutex<Vec<Vec<u32>>>>,
    counters: Option<FakeCounters>,
}

/// Counts 1000 of everything whenever it was enabled. The first event has a counter for a quarter of that time, the second has none.
struct FakeCounters {
    /// So many threads get counters.
    left: AtomicUsize,
}

impl OpenCounters for FakeCounters {
    fn open(&self) -> Result<Box<dyn Counters>, String> {
        let taken = self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        match taken {
            Ok(_) => Ok(Box::new(FakeCounts { spans: 7, on: false })),
            Err(_) => Err("the test has no more".into()),
        }
    }
}

struct FakeCounts {
    spans: u64,
    on: bool,
}

impl Counters for FakeCounts {
    fn enable(&mut self, on: bool) {
        assert!(on != self.on, "once before each span, and once after");
        self.on = on;
        self.spans += u64::from(on);
    }

    fn read(&self) -> Readings {
        assert!(!self.on, "read within a span");
        let counter = |running_ns| {
            let enabled_ns = self.spans * 100;
            Some(HardwareCount { count: self.spans * 1000, enabled_ns, running_ns })
        };
        let mut readings = [counter(self.spans * 100); HARDWARE_EVENTS];
        (readings[0], readings[1]) = (counter(self.spans * 25), counter(0));
        readings
    }
}

impl Seats for System {
    fn seat(&self, os_id: u32) -> Result<(), String> {
        if self.refuses == Some(os_id) {
            return Err("it is offline".into());
        }
        self.seated.lock().unwrap().push((std::thread::current().id(), os_id));
        Ok(())
    }

    fn place_memory(&self, nodes: &[u32]) -> Result<(), String> {
        self.placed.lock().unwrap().push(nodes.to_vec());
        if nodes == [9] { Err("it is full".into()) } else { Ok(()) }
    }

    fn read_back(&self) -> Result<Seating, String> {
        let me = std::thread::current().id();
        let seated = self.seated.lock().unwrap();
        let seat = seated.iter().rev().find(|(thread, _)| *thread == me).map(|(_, os_id)| *os_id);
        Ok(match seat {
            Some(os_id) if !self.ignores_requests => Seating { allowed: vec![os_id], on: Some(os_id) },
            _ => Seating { allowed: (0..2048).collect(), on: Some(0) },
        })
    }

    fn present(&self) -> Present {
        self.present.clone()
    }
}

fn run_on(system: System, kernel: Faulty, seats: &[Option<u32>]) -> Result<Invocation, Failure> {
    run_with_memory(system, kernel, seats, &[])
}

fn run_with_memory(
    system: System,
    kernel: Faulty,
    seats: &[Option<u32>],
    homes: &[Vec<u32>],
) -> Result<Invocation, Failure> {
    run_for(system, kernel, seats, homes, Duration::MAX)
}

fn run_for(
    system: System,
    kernel: Faulty,
    seats: &[Option<u32>],
    homes: &[Vec<u32>],
    enough: Duration,
) -> Result<Invocation, Failure> {
    let clock: Arc<dyn Clock> = match kernel.fault {
        Fault::SetsTheClock(_) => Arc::new(RealtimeClock::new(settable)),
        _ => Arc::new(FakeClock::new(10)),
    };
    run_kernel(system, kernel, clock, seats, homes, enough)
}

fn run_kernel(
    mut system: System,
    kernel: impl Kernel + 'static,
    clock: Arc<dyn Clock>,
    seats: &[Option<u32>],
    homes: &[Vec<u32>],
    enough: Duration,
) -> Result<Invocation, Failure> {
    let params =
        Params { iterations: 1, size_bytes: 1, pages: PageKind::Small, layout: Layout::Padded, ..Params::SMALL };
    let counters = system.counters.take();
    let binder = Binder::through(system);
    let stop = Stop::new();
    let time_box = Duration::from_secs(60);
    let bench = Bench {
        binder: &binder,
        clock: &clock,
        stop: &stop,
        strands: 2,
        spins: true,
        time_box,
        enough,
        counters: counters.as_ref().map(|fake| fake as _),
    };
    // A test's kernel lives as long as the program, as those of the catalog do.
    measure(
        &Cell {
            kernel: Box::leak(Box::new(kernel)),
            params,
            seats,
            nodes: &[],
            homes,
            repetitions: 3,
            separate_laps: false,
        },
        bench,
    )
}

fn run(fault: Fault, workers: usize) -> Result<Invocation, Failure> {
    run_on(System::default(), Faulty { fault, rank: workers - 1 }, &vec![Some(0); workers])
}

#[test]
fn memory_is_asked_for_where_it_is_wanted() {
    let placed = |homes: &[Vec<u32>]| {
        let system = System::default();
        let asked = Arc::clone(&system.placed);
        let measured = run_with_memory(system, Faulty { fault: Fault::None, rank: 0 }, &[Some(0), Some(1)], homes);
        let mut asked = asked.lock().unwrap().clone();
        asked.sort();
        (measured.map(|measurement| measurement.runs.len()), asked)
    };
    assert_eq!(placed(&[]), (Ok(3), vec![]));
    assert_eq!(placed(&[vec![]]), (Ok(3), vec![]), "its own touch decides");
    assert_eq!(placed(&[vec![1], vec![0]]), (Ok(3), vec![vec![0], vec![1]]));
    assert_eq!(placed(&[vec![0, 1]]), (Ok(3), vec![vec![0, 1]; 2]), "one element applies to all workers");
    let (refused, _) = placed(&[vec![0], vec![9]]);
    let Err(Failure { ending: Ending::Unavailable, reason }) = refused else { panic!("{refused:?}") };
    assert!(reason.contains("worker 1") && reason.contains("node 9: it is full"), "{reason}");
}

#[test]
fn every_worker_has_a_lap_in_every_run() {
    for workers in [1, 2, 7] {
        let measurement = run(Fault::None, workers).unwrap();
        assert_eq!(measurement.runs.len(), 3);
        assert_eq!(measurement.ending, Ending::Done);
        for run in &measurement.runs {
            let ranks: Vec<_> = run.laps.iter().map(|lap| lap.rank).collect();
            assert_eq!(ranks, (0..workers as u64).collect::<Vec<_>>());
            for lap in &run.laps {
                assert!(lap.end_ns > lap.start_ns, "the fake clock ticks at every reading");
                assert_eq!(lap.ops, 5 + lap.rank);
            }
        }
    }
}

#[test]
fn two_repetitions_are_enough_where_they_take_too_long() {
    for workers in [1, 3] {
        let kernel = Faulty { fault: Fault::None, rank: 0 };
        let seats = vec![Some(0); workers];
        let invocation = run_for(System::default(), kernel, &seats, &[], Duration::ZERO).unwrap();
        assert_eq!((invocation.runs.len(), invocation.ending), (super::LEAST_REPETITIONS, Ending::Done));
        assert!(invocation.runs.iter().all(|run| run.laps.len() == workers));
    }
}

#[test]
fn a_realtime_clock_that_is_set_gives_no_wrong_time_and_is_evidence() {
    for (set, change) in [(-7_500_000_000, "set back by 7.50 s"), (7_500_000_000, "set forward by 7.50 s"), (0, "")] {
        let invocation = run(Fault::SetsTheClock(set), 1).unwrap();
        let times: Vec<u64> = invocation.runs.iter().map(|run| run.interval_ns).collect();
        assert!(times.len() == 3 && times.iter().all(|ns| (20..=200).contains(ns)), "{times:?}");
        let changes = invocation.evidence.unwrap().changes;
        let of_clock: Vec<_> = changes.iter().filter(|change| change.starts_with(Evidence::CLOCK_SOURCE)).collect();
        assert_eq!(of_clock.len(), usize::from(set != 0), "{changes:?}");
        assert!(of_clock.iter().all(|found| found.contains(change)), "{changes:?}");
    }
}

#[test]
fn what_the_harness_touches_is_no_fault_of_the_lap() {
    let measurement = run(Fault::None, 1).unwrap();
    // Where the code has run before.
    let faults = measurement.runs.last().unwrap().laps[0].counts.minor_faults;
    assert!(faults.is_none_or(|faults| faults <= FEW_FAULTS), "{faults:?}");
}

#[test]
fn runs_do_not_overlap() {
    let measurement = run(Fault::None, 3).unwrap();
    for pair in measurement.runs.windows(2) {
        let last_end = pair[0].laps.iter().map(|lap| lap.end_ns).max();
        let first_start = pair[1].laps.iter().map(|lap| lap.start_ns).min();
        assert!(last_end < first_start);
    }
}

#[track_caller]
fn check_fails(fault: Fault, ending: Ending, words: &str) {
    for workers in [1, 2, 5] {
        let found = run(fault, workers).expect_err("the fault is found");
        assert!(found.ending == ending && found.reason.contains(words), "{found:?}");
    }
}

#[test]
fn a_failing_worker_does_not_hang_the_others() {
    check_fails(Fault::RefusesToBuild, Ending::Refused, "no memory for a test");
    check_fails(Fault::PanicsWhileBuilding, Ending::Died, "panicked: building");
    check_fails(Fault::PanicsInPrepare, Ending::Died, "panicked: preparing");
    check_fails(Fault::PanicsInRun, Ending::Died, "panicked: running");
    check_fails(Fault::FallsShort, Ending::Wrong, "4 operations and 0 bytes instead of");
    check_fails(Fault::AnswersWrong, Ending::Wrong, "1 instead of 2");
    check_fails(Fault::RaisesTheStop, Ending::Stopped, "stopped before");
}

#[test]
fn seats_beyond_1024_are_honoured() {
    let seats: Vec<_> = [0, 1023, 1024, 1535].map(Some).to_vec();
    let measurement = run_on(System::default(), Faulty { fault: Fault::None, rank: 0 }, &seats).unwrap();
    for lap in &measurement.runs[0].laps {
        assert_eq!(lap.on_seat, Some(true));
        assert_eq!(lap.strand, lap.seat);
    }
}

#[test]
fn a_system_that_ignores_the_binding_is_found_out() {
    let system = System { ignores_requests: true, ..System::default() };
    let measurement = run_on(system, Faulty { fault: Fault::None, rank: 0 }, &[Some(1), None]).unwrap();
    for run in &measurement.runs {
        assert_eq!(run.laps[0].on_seat, Some(false));
        assert_eq!(run.laps[1].on_seat, None, "a floating worker has no seat to miss");
    }
}

#[test]
fn a_refused_seat_fails_the_cell() {
    let system = System { refuses: Some(3), ..System::default() };
    let failure = run_on(system, Faulty { fault: Fault::None, rank: 0 }, &[Some(0), Some(3)]).unwrap_err();
    let Failure { ending: Ending::Refused, reason } = failure else { panic!("{failure:?}") };
    assert!(reason.contains("worker 1") && reason.contains("offline"), "{reason}");
}

#[test]
fn a_seat_or_a_node_that_went_away_is_named() {
    let present = Present { online: Some(vec![0, 1]), online_nodes: Some(vec![0]), ..Present::default() };
    for (refuses, homes, expected) in [(Some(3), 0, "CPU 3 is offline"), (None, 9, "NUMA node 9 is offline")] {
        let system = System { refuses, present: present.clone(), ..System::default() };
        let kernel = Faulty { fault: Fault::None, rank: 0 };
        let failure = run_with_memory(system, kernel, &[Some(0), Some(3)], &[vec![homes]]).unwrap_err();
        assert_eq!((failure.ending, failure.reason.as_str()), (Ending::Away, expected));
    }
}

fn counted(threads: usize) -> Invocation {
    let system = System { counters: Some(FakeCounters { left: threads.into() }), ..System::default() };
    run_on(system, Faulty { fault: Fault::None, rank: 0 }, &[Some(0), Some(1)]).unwrap()
}

#[test]
fn counters_count_the_span_of_each_repetition() {
    let invocation = counted(2);
    assert!(invocation.is_counted() && invocation.evidence.as_ref().unwrap().no_counters.is_none());
    for lap in invocation.runs.iter().flat_map(|run| &run.laps) {
        let found = lap.hardware.as_deref().unwrap();
        let [cycles, branches] = [found.cycles, found.branches].map(Option::unwrap);
        assert_eq!((cycles.count, branches.count), (1000, 1000), "not those of the repetitions before");
        assert_eq!((cycles.scaled(), branches.scaled()), (4000.0, 1000.0));
        assert_eq!(found.instructions, None, "a counter that never ran is not zero");
    }
}

#[test]
fn all_workers_are_counted_or_none() {
    for threads in [0, 1] {
        let invocation = counted(threads);
        assert!(!invocation.is_counted(), "{threads} of 2");
        assert_eq!(invocation.evidence.unwrap().no_counters.as_deref(), Some("the test has no more"));
        assert_eq!(invocation.runs.len(), 3, "it is measured all the same");
    }
    let without = run(Fault::None, 2).unwrap();
    assert!(!without.is_counted() && without.evidence.unwrap().no_counters.is_none());
}

/// Whose workers contend, for so long.
struct Slow(&'static Card, Duration, Arc<AtomicUsize>);

impl Kernel for Slow {
    fn card(&self) -> &'static Card {
        self.0
    }
    fn footprint(&self, _: &Params) -> Bytes {
        Bytes(0)
    }
    fn stage(&self, _: &Params, _: usize) -> Result<Box<dyn Stage>, Error> {
        Ok(Box::new(Slow(self.0, self.1, Arc::clone(&self.2))))
    }
}

impl Stage for Slow {
    fn variant(&self) -> &'static str {
        "test"
    }
    fn work(&self) -> Work {
        Work::ops(1)
    }
    fn worker(&self, _: usize) -> Result<Box<dyn Worker>, Error> {
        Ok(Box::new(Slow(self.0, self.1, Arc::clone(&self.2))))
    }
}

impl Worker for Slow {
    fn run(&mut self, _: &Watch) -> Work {
        std::thread::sleep(self.1);
        self.2.fetch_add(1, Ordering::Relaxed);
        Work::ops(1)
    }
}

/// The iteration beside which a thread wakes up is one more, and no number has it.
#[test]
fn wake_ups_are_looked_at_behind_what_counts() {
    const fn card(family: Family) -> Card {
        Card::new("slow", family, "sleeps", Metric::ops("one sleep")).source("these tests")
    }
    static CARDS: [Card; 3] = [card(Family::Sync), card(Family::Memory), card(Family::Floor)];
    let [long, short] = [Duration::from_millis(5), Duration::ZERO];
    for (card, time, runs, looks) in [
        (&CARDS[0], long, 4, true),
        (&CARDS[0], short, 3, false),
        (&CARDS[1], long, 3, false),
        (&CARDS[2], short, 3, true),
    ] {
        let count = Arc::new(AtomicUsize::new(0));
        let kernel = Slow(card, time, Arc::clone(&count));
        let (clock, seats) = (Arc::new(FakeClock::new(10)), [Some(0), Some(1)]);
        let measured = run_kernel(System::default(), kernel, clock, &seats, &[], Duration::MAX).unwrap();
        let wake_ups = measured.evidence.unwrap().wake_ups;
        // On a machine that is so busy that a short iteration takes milliseconds it is looked at too.
        if time == long || card.family != Family::Sync {
            assert_eq!((count.load(Ordering::Relaxed), wake_ups.is_some()), (2 * runs, looks), "{:?}", card.family);
        }
        assert_eq!((measured.runs.len(), measured.ending), (3, Ending::Done));
        assert!(wake_ups.is_none_or(|times| times.count() > 0));
    }
}
