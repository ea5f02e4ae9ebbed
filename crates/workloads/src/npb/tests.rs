//! What holds of each benchmark.

use std::sync::Arc;
use std::time::{Duration, Instant};

use charz_data::{Class, Params};
use proptest::prelude::*;

use super::{Benchmark, KERNELS, Member, Solver, Team, process};
use charz_kernels::kernel::{Error, Kernel};
use charz_kernels::sys::futex::Scope;
use charz_kernels::tests::{Look, stage_laps, watch};
use charz_kernels::watch::{Stop, Watch};

fn all() -> impl Iterator<Item = &'static dyn Kernel> {
    KERNELS.iter().chain(process::KERNELS).copied()
}

fn params(class: Class) -> Params {
    Params { class, ..Params::SMALL }
}

/// Whole runs of a class by so many workers, one after the other, agree with the NPB.
#[track_caller]
fn check(kernel: &dyn Kernel, class: Class, workers: usize) {
    let stage = kernel.stage(&params(class), workers).unwrap();
    for lap in stage_laps(stage.as_ref(), workers, 2, |_, _| Look::whole(None)).into_iter().flatten() {
        assert_eq!(lap.verdict, Ok(()), "{} {class} x{workers}", kernel.card().name);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2))]

    #[test]
    fn any_number_of_workers_finds_the_answer_of_the_npb(workers in 1..=8_usize) {
        KERNELS.iter().for_each(|kernel| check(*kernel, Class::S, workers));
    }
}

#[test]
fn processes_find_it_too() {
    process::KERNELS.iter().for_each(|kernel| check(*kernel, Class::S, 3));
}

#[test]
fn a_larger_class_has_its_own_answer() {
    // How workers share a class does not depend on which.
    KERNELS.iter().for_each(|kernel| check(*kernel, Class::W, 1));
}

/// A run alone is verified, and one that `perturb` has changed after its preparation is not.
#[track_caller]
pub(super) fn check_noticed<B: Benchmark>(perturb: impl Fn(&mut B::Solver)) {
    let (problem, team, watch) =
        (Arc::new(B::new(Class::S, 1, Scope::Process).unwrap()), Team::of(1).unwrap(), watch(None));
    let mut solver = B::solver(&problem, 0);
    let mut verdict = |perturb: &dyn Fn(&mut B::Solver)| {
        team.open();
        solver.prepare();
        perturb(&mut solver);
        solver.solve(&mut Member::new(0, &team, &watch)).unwrap();
        solver.verify()
    };
    assert_eq!(verdict(&|_| ()), Ok(()));
    let error = verdict(&perturb).expect_err("a perturbed problem");
    assert!(error.contains("instead of"), "{error}");
}

/// Wherever in the problem a worker has to go, the others end too, and the next run is a whole one.
#[test]
fn a_worker_that_leaves_in_the_middle_ends_the_run_of_all() {
    for kernel in all() {
        let (name, workers) = (&kernel.card().name, 3);
        let stage = kernel.stage(&params(Class::S), workers).unwrap();
        let look = |rank, run| {
            let deadline =
                (rank == run && run < 3).then(|| Instant::now() + Duration::from_micros(500 + 700 * run as u64));
            Look { watch: Watch::new(&Stop::new()).with_deadline(deadline), span: None, whole: run == 3 }
        };
        for laps in stage_laps(stage.as_ref(), workers, 4, look) {
            assert_eq!((&laps[3].verdict, laps[3].work), (&Ok(()), stage.work()), "{name}");
        }
    }
}

#[test]
fn more_workers_than_rows_are_refused() {
    let lu = KERNELS.iter().find(|kernel| &*kernel.card().name == "npb-lu").unwrap();
    match lu.stage(&params(Class::S), 11).err() {
        Some(Error::Unavailable(reason)) => assert!(reason.ends_with("takes 1 to 10 workers, not 11"), "{reason}"),
        other => panic!("{other:?}"),
    }
}

/// Memory is that of the problem, however many share it, and little more for each of them; work and memory grow with the class.
#[test]
fn the_footprint_is_that_of_the_problem() {
    for kernel in all() {
        let bytes = |class, workers| kernel.footprint_together(&params(class), workers).0 as f64;
        let operations = |class| kernel.operations(&params(class)).unwrap();
        for pair in Class::ALL.windows(2) {
            assert!(operations(pair[0]) < operations(pair[1]) && bytes(pair[0], 2) <= bytes(pair[1], 2));
        }
        let (one, eight) = (bytes(Class::A, 1), bytes(Class::A, 8));
        assert!(one <= eight && eight < 2.0 * one.max(1e6), "{}: {one} and {eight}", kernel.card().name);
    }
}
