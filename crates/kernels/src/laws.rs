//! The laws that every kernel keeps: functions of a list of kernels, for the tests of each crate that has some.
//!
//! With the feature `laws`, `charz_kernels::laws!(KERNELS)` writes the tests.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use charz_data::params::{CLASS, LAYOUT, MEMORY, ORDER, PAGES, SAMPLES, SIZE, SPAN, STEPS};
use charz_data::{Family, Layout, Metric, PageKind, Params, Period, Work};

use crate::kernel::{Error, Kernel, Stage};
use crate::tests::{Lap, Look, MAY_LOCK, may_lock, stage_laps, stopped};
use crate::watch::{Stop, Watch};

/// Small enough to be quick, and uneven, so rounding shows.
pub(crate) const PARAMS: Params = Params {
    iterations: 10_001,
    size_bytes: (3 << 20) + 4711,
    chains: 2,
    delay: 3,
    samples: 13,
    span_ns: 2_000_000,
    inside_steps: 3,
    outside_steps: 5,
    timeout_ns: 100_000,
    ..Params::SMALL
};

/// Workers that meet wait for each other's turns, on a busy machine for many milliseconds each.
fn params(kernel: &dyn Kernel) -> Params {
    let iterations = if kernel.card().family == Family::Sync { 1_001 } else { PARAMS.iterations };
    Params { iterations, ..PARAMS }
}

/// Kernels that lock memory, of which an ordinary user may lock little.
const LOCKING: [&str; 4] = ["pages-lock", "pages-shared-lock", "pages-segment-create", "pages-segment-destroy"];

/// Kernels, in the order of their list.
type Kernels<'a> = &'a [&'static dyn Kernel];

/// The kernels that can run here.
fn runnable(kernels: Kernels) -> impl Iterator<Item = &'static dyn Kernel> {
    let allowed = |kernel: &&dyn Kernel| !LOCKING.contains(&&*kernel.card().name) || *MAY_LOCK;
    kernels.iter().copied().filter(|kernel| kernel.check().is_ok()).filter(allowed)
}

/// One whole run.
fn run(stage: &dyn Stage, workers: usize) -> Vec<Lap> {
    stage_laps(stage, workers, 1, |_, _| Look::whole(stage.span())).into_iter().flatten().collect()
}

/// The fewest workers that a kernel takes, and `many` if it takes as many.
fn crews(kernel: &dyn Kernel, many: usize) -> impl Iterator<Item = usize> {
    let crew = kernel.card().workers;
    [crew.min(), many].into_iter().filter(move |&workers| crew.allows(workers)).collect::<HashSet<_>>().into_iter()
}

pub fn names_are_unique(kernels: Kernels) {
    let names: HashSet<_> = kernels.iter().copied().map(|kernel| &*kernel.card().name).collect();
    assert_eq!(names.len(), kernels.iter().copied().count());
    for name in names {
        assert!(name.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-'), "{name}");
    }
}

pub fn cards_are_full(kernels: Kernels) {
    for card in kernels.iter().copied().map(Kernel::card) {
        let name = &*card.name;
        assert!(!card.about.is_empty() && !card.about.ends_with('.'), "{name}");
        assert!(!card.source.is_empty(), "{name}");
        assert!(!card.obeys(&SIZE) || matches!(card.family, Family::Memory | Family::Workload), "{name}");
        let amounts = [&STEPS, &SAMPLES, &SPAN, &CLASS, &ORDER];
        let given = amounts.into_iter().filter(|param| card.obeys(param)).count();
        // Of a block, nothing else says how much: it is passed over once.
        let by_block = given == 0 && card.obeys(&SIZE);
        let amounts = given + usize::from(by_block);
        assert_eq!(amounts, usize::from(card.family != Family::Floor), "{name}: one parameter says how much it does");
        assert_eq!(card.obeys(&SAMPLES), matches!(card.metric, Metric::SecondTime), "{name}");
        assert!(!(card.contends && card.family != Family::Sync), "{name}");
        assert!(!(card.contends && card.by_default), "{name}: a kernel that contends runs only on request");
        assert!(!(card.max_per_cycle.is_some() && card.metric == Metric::Duration), "{name}");
        assert!(card.max_per_cycle.is_none_or(|most| most > 0.0 && most.is_finite()), "{name}");
        assert!(card.metric != Metric::SecondTime || card.times.is_some(), "{name}");
        match &card.metric {
            Metric::Ops(one)
            | Metric::Bytes(one)
            | Metric::SerialTime(one)
            | Metric::OpTime(one)
            | Metric::TimePerGib(one) => {
                assert!(!one.is_empty(), "{name}")
            }
            Metric::SecondTime => {}
            Metric::Duration => assert_eq!(card.family, Family::Floor, "{name}"),
            Metric::Reported(_) => panic!("{name}: only a user's program reports its number itself"),
        }
    }
}

/// How often a run is stopped before it begins: by the flag, and by a deadline.
const STOPS: usize = 2;

/// The stages of most kernels take longer to make and to run than to look at, so one walk asks all that holds of any stage: a run that
/// is stopped ends early, and the stage is still good for whole runs, which do what it promises.
pub fn every_kernel_stops_when_told_and_does_what_its_stage_promises(kernels: Kernels) {
    // A skip is reported by this law alone: what is skipped runs again as root, and all laws take minutes.
    may_lock();
    for kernel in runnable(kernels) {
        let card = kernel.card();
        let layouts = if card.obeys(&LAYOUT) { &[Layout::Padded, Layout::Contiguous][..] } else { &[Layout::Padded] };
        for (workers, layout) in crews(kernel, 3).flat_map(|crew| layouts.iter().map(move |layout| (crew, *layout))) {
            let stage = kernel.stage(&Params { layout, ..params(kernel) }, workers).unwrap();
            check_promise(kernel, stage.as_ref());
            let is_first = workers == card.workers.min() && layout == Layout::Padded;
            let stops = if is_first && card.metric != Metric::Duration { STOPS } else { 0 };
            let watch = |run| match run {
                0 => stopped(),
                _ => Watch::new(&Stop::new()).with_deadline(Some(Instant::now())),
            };
            let look = |_, run| match run < stops {
                // What has a span may end it without an operation, and that passes too.
                true => Look { watch: watch(run), span: stage.span(), whole: stage.span().is_some() },
                false => Look::whole(stage.span()),
            };
            let laps = stage_laps(stage.as_ref(), workers, stops + 2, look);
            for lap in laps.iter().flat_map(|laps| &laps[..stops]) {
                assert_eq!((lap.work, &lap.verdict), (Work::default(), &Ok(())), "{}: it is stopped", card.name);
            }
            check_laps(kernel, stage.as_ref(), &laps.iter().map(|laps| &laps[stops..]).collect::<Vec<_>>());
        }
    }
}

/// What a stage says of itself.
#[track_caller]
fn check_promise(kernel: &dyn Kernel, stage: &dyn Stage) {
    let (card, name) = (kernel.card(), &*kernel.card().name);
    assert!(!stage.variant().is_empty(), "{name}");
    assert_eq!(stage.span().is_some(), card.obeys(&SPAN), "{name}");
    assert_eq!(stage.shares_work(), card.shares_work, "{name}");
    match card.metric {
        Metric::Ops(_) | Metric::SerialTime(_) | Metric::OpTime(_) | Metric::SecondTime => {
            let least = match card.family {
                // Workers that meet share the iterations, and need several for an operation.
                Family::Sync => 1,
                _ if card.obeys(&SAMPLES) => PARAMS.samples,
                _ => PARAMS.iterations,
            };
            assert!(stage.span().is_some() || stage.work().ops.0 >= least, "{name}");
            assert_eq!(stage.work().bytes.0, 0, "{name}");
        }
        Metric::Bytes(_) | Metric::TimePerGib(_) => {
            let bytes = stage.work().bytes.0;
            let whole = bytes <= PARAMS.size_bytes && bytes > PARAMS.size_bytes - 4096;
            assert!(stage.span().is_some() || whole, "{name}: {bytes}");
            assert_eq!(stage.work().ops.0, 0, "{name}");
        }
        Metric::Duration | Metric::Reported(_) => assert_eq!(stage.work(), Work::default(), "{name}"),
    }
}

/// What whole runs of each worker have done.
#[track_caller]
fn check_laps(kernel: &dyn Kernel, stage: &dyn Stage, laps: &[&[Lap]]) {
    let (card, name, workers) = (kernel.card(), &*kernel.card().name, laps.len());
    for run in 0..laps[0].len() {
        let together: Work = laps.iter().map(|laps| laps[run].work).sum();
        let agreed: Work = laps.iter().map(|_| stage.work()).sum();
        assert!(!stage.shares_work() || together == agreed, "{name} x{workers}: {together:?}");
    }
    for (rank, lap) in laps.iter().enumerate().flat_map(|(rank, laps)| laps.iter().map(move |lap| (rank, lap))) {
        check_contention(kernel, workers, lap);
        let by_itself = stage.span().is_none() && !stage.shares_work();
        assert!(!by_itself || lap.work == stage.work_of(rank), "{name} x{workers}: {:?}", lap.work);
        assert_eq!(lap.verdict, Ok(()), "{name} x{workers}");
        // Kernels that count otherwise may sample beside.
        let may_sample = card.metric == Metric::SecondTime || matches!(card.family, Family::Sync | Family::Memory);
        assert!(may_sample || lap.samples.as_ref().is_none_or(|samples| samples.count == 0), "{name}");
    }
}

/// What a worker met at what it shares with others, if it reports that.
#[track_caller]
fn check_contention(kernel: &dyn Kernel, workers: usize, lap: &Lap) {
    let (name, Some(met)) = (&*kernel.card().name, lap.contention) else { return };
    assert_eq!(kernel.card().family, Family::Sync, "{name}");
    assert!(met.failures <= met.attempts && met.sampled_waits <= met.waits, "{name}: {met:?}");
    // A worker alone, or at a word of its own, is never overtaken.
    let own = name.starts_with("atomic-") && ["-false", "-padded", "-private"].iter().any(|end| name.ends_with(end));
    assert!(workers > 1 && !own || met.failures == 0, "{name}: {met:?}");
    // Attempts that succeed are what is counted.
    if name.starts_with("atomic-") || name == "cas-counter" {
        assert!(met.successes() == lap.work.ops.0 && met.waits <= met.failures, "{name}: {met:?} of {:?}", lap.work);
    }
}

/// If any worker has to leave, at once or in the middle of a run, no other waits for it for ever; and the run after that is
/// a whole one.
pub fn no_worker_waits_for_one_that_has_left(kernels: Kernels) {
    let meets = |kernel: &&dyn Kernel| {
        let card = kernel.card();
        matches!(card.family, Family::Sync | Family::Workload)
            || card.family == Family::Memory && !card.obeys(&SIZE)
            || card.workers.min() > 1
    };
    for kernel in runnable(kernels).filter(meets) {
        let (name, workers) = (&*kernel.card().name, crews(kernel, 3).max().unwrap());
        for leaver in 0..workers {
            let params = Params { samples: 40, period: Period::EveryNs(50_000), ..params(kernel) };
            let stage = kernel.stage(&params, workers).unwrap();
            let look = |rank, run| {
                // So soon that a thousand turns are not over.
                let moment = Duration::from_micros(100 * run as u64);
                let deadline = (rank == leaver && run < 2).then(|| Instant::now() + moment);
                let watch = Watch::new(&Stop::new()).with_deadline(deadline);
                Look { watch, span: stage.span(), whole: run == 2 }
            };
            let laps = stage_laps(stage.as_ref(), workers, 3, look);
            // A slow machine may look for the first time when a run that takes a time has had it.
            let has_left = laps[leaver][0].deadline_passed || stage.span().is_some();
            assert!(has_left, "{name}: worker {leaver} of {workers}");
            for lap in laps.iter().map(|laps| &laps[2]) {
                assert_eq!(lap.verdict, Ok(()), "{name}: after worker {leaver} of {workers} left");
                let own = stage.span().is_none() && !stage.shares_work();
                assert!(!own || lap.work == stage.work(), "{name}: {:?}", lap.work);
            }
        }
    }
}

/// With ten times the work the worker looks more often, so a run is never out of reach for longer than a stretch.
pub fn a_longer_run_looks_more_often(kernels: Kernels) {
    // Workers that meet look by the time that passed, which no test can foretell.
    let by_work = |kernel: &&dyn Kernel| {
        let card = kernel.card();
        let amount = [&STEPS, &SIZE].iter().any(|param| card.obeys(param));
        let by_time = card.obeys(&SPAN) || card.obeys(&SAMPLES);
        matches!(card.family, Family::Compute | Family::Memory) && amount && !by_time
    };
    for kernel in runnable(kernels).filter(by_work) {
        let looks = |times: u64| {
            let params =
                Params { iterations: times * PARAMS.iterations, size_bytes: times * PARAMS.size_bytes, ..PARAMS };
            run(kernel.stage(&params, 1).unwrap().as_ref(), 1)[0].polls
        };
        // The one call of the C library is the exception, and says so on its card.
        let once = kernel.card().name == "mem-memset";
        let (short, long) = (looks(1), looks(10));
        assert!(short >= 1 && (long > short) != once, "{}: {short} and {long}", &*kernel.card().name);
    }
}

/// Only bytes have traffic: no less than themselves, and no more than each line twice.
pub fn traffic_is_that_of_bytes(kernels: Kernels) {
    for kernel in kernels {
        let (card, traffic) = (kernel.card(), kernel.traffic());
        assert!(traffic.is_none() || matches!(card.metric, Metric::Bytes(_)), "{}", &*card.name);
        assert!(traffic.is_none_or(|traffic| (1.0..=2.0).contains(&traffic)), "{}", &*card.name);
    }
}

/// How many pairs of times the workers together have for each sample.
fn pairs_per_sample(kernel: &dyn Kernel, workers: usize) -> u64 {
    let card = kernel.card();
    match &*card.name {
        // Where any number may read a clock, each reads its own.
        _ if card.family == Family::Timer && card.workers.allows(1) => workers as u64,
        name if name.starts_with("barrier") || name.starts_with("broadcast") => workers as u64 - 1,
        _ => 1,
    }
}

/// As many pairs of times as were asked for, at any period, and with more workers than strands where a kernel takes as many.
pub fn samples_are_as_many_as_asked_for(kernels: Kernels) {
    for kernel in runnable(kernels).filter(|kernel| kernel.card().metric == Metric::SecondTime) {
        let name = &*kernel.card().name;
        for (workers, period) in crews(kernel, 4).zip([Period::Closed, Period::Fitting]) {
            let stage = kernel.stage(&Params { period, ..PARAMS }, workers).unwrap();
            let laps = run(stage.as_ref(), workers);
            let count: u64 = laps.iter().filter_map(|lap| lap.samples.as_ref()).map(|samples| samples.count).sum();
            assert_eq!(count, PARAMS.samples * pairs_per_sample(kernel, workers), "{name} x{workers}");
            assert!(laps.iter().all(|lap| lap.verdict == Ok(())), "{name} x{workers}: {laps:?}");
        }
    }
}

pub fn memory_is_where_and_as_large_as_said(kernels: Kernels) {
    for kernel in runnable(kernels) {
        for pages in [PageKind::Small, PageKind::Transparent] {
            let params = Params { pages, ..PARAMS };
            let stage = match kernel.stage(&params, kernel.card().workers.min()) {
                // The system's huge page may be larger than the block.
                Err(Error::Unavailable(_)) if pages == PageKind::Transparent => continue,
                stage => stage.unwrap(),
            };
            let region = stage.worker(0).unwrap().region();
            let card = kernel.card();
            let has_memory = matches!(card.family, Family::Memory | Family::Workload);
            assert!(region.is_none() || has_memory, "{}", card.name);
            let is_placed = card.obeys(&SIZE) && card.obeys(&MEMORY);
            assert!(region.is_some() || !(is_placed || card.obeys(&PAGES)), "{}", card.name);
            if let Some(region) = region {
                assert_eq!(region.start % pages.bytes(), 0, "{}", card.name);
                let passed = stage.work().bytes.0;
                assert!(passed == 0 || region.bytes as u64 == passed, "{}", card.name);
                assert!(kernel.footprint(&params).0 >= region.bytes as u64, "{}", card.name);
            }
        }
    }
}

/// A kernel refuses these parameters with a sentence that holds `part`.
#[track_caller]
pub(crate) fn check_refused(kernel: &dyn Kernel, workers: usize, params: Params, part: &str) {
    match kernel.stage(&params, workers).err() {
        Some(Error::Unavailable(reason)) => assert!(reason.contains(part), "{reason}"),
        other => panic!("{}: {other:?}", kernel.card().name),
    }
}

pub fn parameters_without_sense_are_refused(kernels: Kernels) {
    for kernel in runnable(kernels) {
        let (card, workers) = (kernel.card(), kernel.card().workers.min());
        for others in (0..4).filter(|others| !card.workers.allows(*others)) {
            check_refused(kernel, others, PARAMS, &format!("workers, not {others}"));
        }
        if card.obeys(&SAMPLES) {
            check_refused(kernel, workers, Params { samples: 0, ..PARAMS }, "at least 1 sample");
        }
        if card.obeys(&STEPS) {
            check_refused(kernel, workers, Params { iterations: 0, ..PARAMS }, "not 0");
        }
    }
}

pub fn what_a_kernel_varies_is_on_its_card(kernels: Kernels) {
    for kernel in kernels {
        let card = kernel.card();
        for (param, list) in kernel.axes().lists {
            assert!(param.vary && *param != &SIZE && card.obeys(param), "{}: {}", card.name, param.name);
            assert!(!param.list(list).unwrap().is_empty(), "{}", card.name);
        }
    }
}

/// The tests of a crate's kernels: one per law, over what the expression lists.
#[macro_export]
#[doc(hidden)]
macro_rules! laws {
    ($kernels:expr) => {
        $crate::laws! { $kernels;
            names_are_unique cards_are_full every_kernel_stops_when_told_and_does_what_its_stage_promises no_worker_waits_for_one_that_has_left a_longer_run_looks_more_often traffic_is_that_of_bytes samples_are_as_many_as_asked_for memory_is_where_and_as_large_as_said parameters_without_sense_are_refused what_a_kernel_varies_is_on_its_card
        }
    };
    ($kernels:expr; $($law:ident)*) => {
        $(#[test]
        fn $law() {
            $crate::laws::$law(&$kernels);
        })*
    };
}
