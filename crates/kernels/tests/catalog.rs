//! The laws that every kernel of the catalog keeps.

use std::collections::HashSet;
use std::time::Instant;

use charz_kernels::{
    Bytes, Counts, Error, Family, KERNELS, Kernel, Knob, Layout, PagePolicy, Params, Stop, Watch, Work, Worker, find,
};

/// Small enough to be quick, and uneven, so that rounding shows.
const PARAMS: Params =
    Params { iterations: 10_001, size: Bytes((3 << 20) + 4711), pages: PagePolicy::Small, layout: Layout::Padded };

/// The kernels that can run here.
fn runnable() -> impl Iterator<Item = &'static dyn Kernel> {
    KERNELS.iter().copied().filter(|kernel| kernel.check().is_ok())
}

/// A run of `worker` from start to end.
fn repetition(worker: &mut dyn Worker, stop: &Stop) -> Work {
    worker.prepare();
    worker.run(&Watch::new(stop))
}

#[test]
fn names_are_unique_and_found() {
    let names: HashSet<_> = KERNELS.iter().map(|kernel| kernel.card().name).collect();
    assert_eq!(names.len(), KERNELS.len());
    for name in names {
        assert_eq!(find(name).map(|kernel| kernel.card().name), Some(name));
        assert!(name.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-'), "{name}");
    }
    assert!(find("mem").is_none());
}

#[test]
fn cards_are_full() {
    for card in KERNELS.iter().map(|kernel| kernel.card()) {
        let name = card.name;
        assert!(!card.about.is_empty() && !card.about.ends_with('.'), "{name}");
        assert!(!card.source.is_empty(), "{name}");
        assert!(name.starts_with("mem-") == (card.family == Family::Memory), "{name}");
        assert!(card.knobs.contains(&Knob::Size) == (card.family == Family::Memory), "{name}");
        let loops = matches!(card.family, Family::Compute | Family::Sync);
        assert!(card.knobs.contains(&Knob::Iterations) == loops, "{name}");
        assert_eq!(card.contends, card.family == Family::Sync, "{name}");
        assert!(!(card.contends && card.by_default), "{name}: nobody gets a storm without asking");
        assert_eq!(card.most_per_cycle.is_some(), card.counts != Counts::Nothing, "{name}");
        assert!(card.most_per_cycle.is_none_or(|most| most > 0.0 && most.is_finite()), "{name}");
        match card.counts {
            Counts::Ops(one) | Counts::Bytes(one) => assert!(!one.is_empty(), "{name}"),
            Counts::Nothing => assert_eq!(card.family, Family::Floor, "{name}"),
        }
    }
    let by_default: Vec<_> = KERNELS.iter().map(|kernel| kernel.card()).filter(|card| card.by_default).collect();
    let names: Vec<_> = by_default.iter().map(|card| card.name).collect();
    assert_eq!(names, ["arith-int", "arith-float", "mem-read", "mem-write"]);
}

#[test]
fn every_kernel_does_what_its_stage_promises() {
    for kernel in runnable() {
        let name = kernel.card().name;
        for layout in [Layout::Padded, Layout::Contiguous] {
            let stage = kernel.stage(&Params { layout, ..PARAMS }, 3).unwrap();
            assert!(!stage.variant().is_empty(), "{name}");
            match kernel.card().counts {
                Counts::Ops(_) => {
                    // Workers that contend share the iterations, and need several for an operation.
                    let least = if kernel.card().contends { 1 } else { PARAMS.iterations };
                    assert!(stage.work().ops.0 >= least && stage.work().bytes.0 == 0, "{name}");
                }
                Counts::Bytes(_) => {
                    let bytes = stage.work().bytes.0;
                    assert!(bytes <= PARAMS.size.0 && bytes > PARAMS.size.0 - 4096, "{name}: {bytes}");
                    assert_eq!(stage.work().ops.0, 0, "{name}");
                }
                Counts::Nothing => assert_eq!(stage.work(), Work::default(), "{name}"),
            }
            for rank in 0..3 {
                let mut worker = stage.worker(rank).unwrap();
                for _ in 0..3 {
                    assert_eq!(repetition(&mut *worker, &Stop::new()), stage.work(), "{name}");
                    worker.verify().unwrap_or_else(|error| panic!("{error}"));
                }
            }
        }
    }
}

#[test]
fn arithmetic_counts_eight_a_step() {
    for name in ["arith-int", "arith-float"] {
        assert_eq!(find(name).unwrap().stage(&PARAMS, 1).unwrap().work(), Work::ops(8 * PARAMS.iterations));
    }
}

/// Every kernel that does anything, watched so, does nothing; and is still good for a full run afterwards.
#[track_caller]
fn check_stops(watch: impl Fn() -> Watch) {
    for kernel in runnable().filter(|kernel| kernel.card().counts != Counts::Nothing) {
        let stage = kernel.stage(&PARAMS, 1).unwrap();
        let mut worker = stage.worker(0).unwrap();
        worker.prepare();
        assert_eq!(worker.run(&watch()), Work::default(), "{}", kernel.card().name);
        assert_eq!(repetition(&mut *worker, &Stop::new()), stage.work(), "{}", kernel.card().name);
        worker.verify().unwrap();
    }
}

#[test]
fn a_raised_flag_stops_a_run() {
    let stop = Stop::new();
    stop.raise();
    check_stops(|| Watch::new(&stop));
}

#[test]
fn a_deadline_stops_a_run_without_the_flag() {
    check_stops(|| Watch::new(&Stop::new()).with_deadline(Some(Instant::now())));
}

/// Ten times the work has the worker look more often, so that a run is never out of reach for longer than a stretch.
#[test]
fn a_longer_run_looks_more_often() {
    // Workers that contend look by the time that passed, which no test can foretell.
    for kernel in runnable().filter(|kernel| kernel.card().counts != Counts::Nothing && !kernel.card().contends) {
        let looks = |times: u64| {
            let params = Params { iterations: times * PARAMS.iterations, size: Bytes(times * PARAMS.size.0), ..PARAMS };
            let watch = Watch::new(&Stop::new());
            let mut worker = kernel.stage(&params, 1).unwrap().worker(0).unwrap();
            worker.prepare();
            worker.run(&watch);
            watch.checks()
        };
        // The one call of the C library is the exception, and says so on its card.
        let once = kernel.card().name == "mem-memset";
        let (short, long) = (looks(1), looks(10));
        assert!(short >= 1 && (long > short) != once, "{}: {short} and {long}", kernel.card().name);
    }
}

#[test]
fn only_workers_that_contend_tell_what_they_met() {
    for kernel in runnable() {
        let stage = kernel.stage(&PARAMS, 1).unwrap();
        let mut worker = stage.worker(0).unwrap();
        repetition(&mut *worker, &Stop::new());
        let met = worker.contention();
        assert_eq!(met.is_some(), kernel.card().contends, "{}", kernel.card().name);
        // Alone, nobody comes first.
        assert!(met.is_none_or(|met| met.failures == 0 && met.successes() == stage.work().ops.0));
    }
}

#[test]
fn memory_is_where_and_as_large_as_said() {
    for kernel in runnable() {
        for pages in [PagePolicy::Small, PagePolicy::Transparent] {
            let params = Params { pages, ..PARAMS };
            let stage = kernel.stage(&params, 1).unwrap();
            let region = stage.worker(0).unwrap().region();
            assert_eq!(region.is_some(), kernel.card().family == Family::Memory, "{}", kernel.card().name);
            if let Some(region) = region {
                assert_eq!(region.start % pages.bytes(), 0, "{}", kernel.card().name);
                assert_eq!(region.bytes as u64, stage.work().bytes.0, "{}", kernel.card().name);
                assert!(kernel.footprint(&params).0 >= region.bytes as u64, "{}", kernel.card().name);
            }
        }
    }
}

/// A kernel refuses these parameters with a sentence that holds `part`.
#[track_caller]
fn check_refused(name: &str, params: Params, part: &str) {
    match find(name).unwrap().stage(&params, 1).err() {
        Some(Error::Unavailable(reason)) => assert!(reason.contains(part), "{reason}"),
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn parameters_without_sense_are_refused() {
    for name in ["arith-int", "arith-float", "peak-int", "peak-float"] {
        check_refused(name, Params { iterations: 0, ..PARAMS }, "iterations, not 0");
        check_refused(name, Params { iterations: u64::MAX, ..PARAMS }, "iterations, not 18446744073709551615");
    }
    let size = |bytes| Params { size: Bytes(bytes), ..PARAMS };
    check_refused("mem-read", size(0), "at least 256 bytes");
    check_refused("mem-read-streams", size(2047), "at least 2048 bytes");
    check_refused("mem-write", size(63), "at least 64 bytes");
    check_refused("mem-copy", size(127), "at least 128 bytes");
    check_refused("mem-triad", size(191), "at least 192 bytes");
}

#[test]
fn memory_that_nobody_has_is_refused() {
    for pages in PagePolicy::ALL {
        let params = Params { size: Bytes(1 << 60), pages, ..PARAMS };
        let stage = find("mem-read").unwrap().stage(&params, 1).unwrap();
        match stage.worker(0).err() {
            Some(Error::Refused(reason)) => assert!(reason.contains("ask for"), "{reason}"),
            other => panic!("{pages}: {other:?}"),
        }
    }
}
