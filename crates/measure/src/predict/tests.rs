use super::*;
use charz_data::ReportedUnit;
use charz_kernels::{Layout, PageKind};
use charz_topology::{Source, discover};

fn cell(predictor: &Predictor, name: &str, workers: usize) -> f64 {
    let params = Params {
        iterations: 1_000_000_000,
        size_bytes: 1_000_000_000,
        pages: PageKind::Small,
        layout: Layout::Padded,
        ..Params::SMALL
    };
    predictor.invocation(charz_workloads::find(name).unwrap(), &params, &vec![None; workers], 3).as_secs_f64()
}

#[track_caller]
fn check(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 0.01, "{found} s instead of {expected} s");
}

#[test]
fn strands_and_memory_are_shared() {
    let predictor =
        Predictor::with_rates(8, [("arith-int", 2.0, 0.0), ("mem-read", 1.0, 4.0), ("pages-release", 1.0, 4.0)]);
    check(cell(&predictor, "arith-int", 1), 6.0);
    check(cell(&predictor, "arith-int", 8), 6.0);
    check(cell(&predictor, "arith-int", 16), 12.0);
    // 3 passes of 1 s and 4 s to build the block, which is not bound by the memory.
    check(cell(&predictor, "mem-read", 4), 7.0);
    check(cell(&predictor, "mem-read", 8), 10.0);
    check(cell(&predictor, "mem-read", 16), 20.0);
    // 3 spans of 1 s, each behind 4 s in which the pages are made, and 4 s before them all.
    check(cell(&predictor, "pages-release", 4), 19.0);
}

#[test]
fn a_warm_process_takes_as_long_as_all_that_it_runs() {
    let predictor = Predictor::with_rates(2, [("cmt-compute", 1.0, 0.0)]);
    let runs = |process, workers: usize| {
        let params = Params { span_ns: 1_000_000_000, process, ..Params::SMALL };
        let kernel = charz_workloads::find("cmt-compute").unwrap();
        predictor.invocation(kernel, &params, &vec![None; workers], 2).as_secs_f64()
    };
    check(runs(params::Process::Fresh, 4), 2.0);
    check(runs(params::Process::Warm, 4), 6.0);
}

#[test]
fn each_node_has_a_memory_of_its_own() {
    let machine = discover(&Source::Synthetic("NUMA:2 Core:8 PU:1".into())).unwrap();
    let predictor = Predictor::with_rates(1, [("mem-read", 1.0, 0.0)]).on(&machine, 16);
    let passes = |seats: &[Option<u32>]| {
        let params = Params { size_bytes: 1_000_000_000, ..Params::SMALL };
        predictor.invocation(charz_workloads::find("mem-read").unwrap(), &params, seats, 1).as_secs_f64()
    };
    let seats = |ids: std::ops::Range<u32>| ids.map(Some).collect::<Vec<_>>();
    check(passes(&seats(0..8)), 2.0);
    check(passes(&seats(4..12)), 1.0);
    check(passes(&seats(0..16)), 2.0);
    check(passes(&[None; 8]), 1.0);
    // The more strands a node has, the more of them its memory serves.
    let large = discover(&Source::Synthetic("NUMA:1 Core:100 PU:1".into())).unwrap();
    let predictor = Predictor::with_rates(1, [("mem-read", 1.0, 0.0)]).on(&large, 100);
    let params = Params { size_bytes: 1_000_000_000, ..Params::SMALL };
    let kernel = charz_workloads::find("mem-read").unwrap();
    check(predictor.invocation(kernel, &params, &seats(0..100), 1).as_secs_f64(), 5.0);
}

#[test]
fn a_program_takes_as_long_as_it_did_and_never_less_with_fewer_threads() {
    let seconds = Duration::from_secs;
    let known = ProgramTime::of(Some(seconds(9)), seconds(3), 4, false);
    let times = |time: ProgramTime| [1, 2, 4, 8].map(|threads| time.with(threads, 4).as_millis());
    assert_eq!(times(known), [9000, 5000, 3000, 3000]);
    assert_eq!(times(ProgramTime::of(None, seconds(3), 4, false)), [12000, 6000, 3000, 3000], "the most it can be");
    assert_eq!(times(ProgramTime::of(None, seconds(3), 4, true)), [3000, 3000, 3000, 6000]);
    // Faster with one thread than with all.
    assert_eq!(times(ProgramTime::of(Some(seconds(1)), seconds(3), 4, false)), [3000; 4]);
    assert_eq!(times(ProgramTime::of(None, seconds(3), 1, false))[0], 3000);
}

#[test]
fn what_a_program_prepares_is_counted_once_where_one_process_has_all_repetitions_and_a_setup_before_each() {
    let took = Duration::from_millis(1600);
    let runs = [20_000_000, 40_000_000].map(|interval_ns| Run { interval_ns, ..Run::default() });
    let program = |value, setup: Option<&str>| {
        let setup = setup.map(str::to_owned);
        Program { setup, ..Program::new("x", value, ReportedUnit::SECONDS) }
    };
    let parts = |value, setup, runs| ProgramTime::parts(&program(value, setup), runs, took);
    let [once, each] = [(ProgramValue::Protocol, Some("x")), (ProgramValue::Wall, Some("x"))]
        .map(|(value, setup)| parts(value, setup, &runs));
    assert_eq!([once.0, once.1], [30, 1540].map(Duration::from_millis));
    for (value, runs) in [(ProgramValue::Wall, &runs[..]), (ProgramValue::Protocol, &[])] {
        assert_eq!(parts(value, None, runs), (took, Duration::ZERO));
    }
    let time = |(run, around), per_run, repetitions| {
        let program = Some(ProgramTime { around, per_run, ..ProgramTime::of(None, run, 1, false) });
        let predictor = Predictor { program, ..Predictor::with_rates(1, []) };
        predictor.invocation(crate::user_program::kernel(), &Params::SMALL, &[None], repetitions).as_secs_f64()
    };
    check(time(once, false, 1), 1.57);
    check(time(once, false, 10), 1.84);
    check(time(each, true, 10), 8.0);
}

#[test]
fn as_many_steps_as_fill_a_span() {
    let predictor = Predictor::with_rates(8, [("arith-int", 2.0, 0.0), ("arith-float", 5.0, 0.0)]);
    let steps = |names: &[&str]| {
        let kernels: Vec<_> = names.iter().map(|name| charz_workloads::find(name).unwrap()).collect();
        predictor.iterations(&kernels, Duration::from_millis(1))
    };
    assert_eq!(steps(&["arith-int"]), 500_000);
    assert_eq!(steps(&["arith-float", "arith-int"]), 500_000, "none is shorter than asked for");
    assert_eq!(steps(&["mem-read"]), 1);
}
