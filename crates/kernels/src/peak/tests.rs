use std::iter;

use charz_data::Work;
use proptest::prelude::*;

use super::*;
use crate::tests::watch;

/// A worker on a path of choice, after a run of `rounds` rounds.
fn ran<T: Lane>(path: &'static Path<T>, rounds: u64) -> Adder<T> {
    let mut worker = Adder::new("test", path, rounds);
    worker.prepare();
    assert_eq!(worker.run(&watch(None)), Work::ops(rounds * path.ops()));
    worker
}

/// Every path of a type: honest runs pass, and a spoilt accumulator or count does not.
#[track_caller]
fn check<T: Lane>(paths: impl Iterator<Item = &'static Path<T>>, rounds: u64) {
    for path in paths {
        let mut worker = ran(path, rounds);
        worker.verify().expect("an honest run");
        worker.done += 1;
        assert!(matches!(worker.verify(), Err(Error::Wrong(_))), "{}: a round less than claimed", path.name);
        let last = path.updates().count() - 1;
        for planted in [0, last] {
            let mut worker = ran(path, rounds);
            worker.accumulators[planted] = T::from_count(12_345_678);
            assert!(matches!(worker.verify(), Err(Error::Wrong(_))), "{}: accumulator {planted}", path.name);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn every_path_adds_up(rounds in 1..5000_u64) {
        check(paths_int(), rounds);
        check(paths_float(), rounds);
    }
}

#[test]
fn an_account_matches_its_updates() {
    // A fused multiply-add counts two: so the operations lie between once and twice the updates.
    for path in paths_float() {
        let updates: u64 = path.updates().map(|(updates, _)| updates).sum();
        assert!((updates..=2 * updates).contains(&path.ops()), "{}: {updates}, {}", path.name, path.ops());
    }
    for path in paths_int() {
        assert_eq!(path.updates().map(|(updates, _)| updates).sum::<u64>(), path.ops(), "{}", path.name);
    }
}

/// On cores of two kinds.
#[test]
fn each_worker_has_its_own_path() {
    let paths: Vec<_> = paths_float().collect();
    let [first, last] = [paths[0], paths[paths.len() - 1]];
    let paths = [first, last].map(OnceLock::from).into();
    let stage = Paths { name: "test", rounds: 100, paths, names: OnceLock::new() };
    for (rank, path) in [first, last].into_iter().enumerate() {
        let mut worker = stage.worker(rank).unwrap();
        worker.prepare();
        assert_eq!(worker.run(&watch(None)), Work::ops(100 * path.ops()));
        assert_eq!((worker.verify(), stage.work_of(rank)), (Ok(()), Work::ops(100 * path.ops())));
        assert!(stage.variant().contains(path.name), "{}", stage.variant());
    }
}

#[test]
fn each_kind_of_core_has_the_path_that_was_chosen_on_it() {
    let (known, paths) = (ByKind::default(), paths_float().collect::<Vec<_>>());
    let chosen = |kind, path: &'static Path<f64>| fastest_on(kind, &known, iter::once(path)).name;
    for (kind, path) in (0..).zip(&paths) {
        assert_eq!((chosen(kind, path), chosen(kind, paths[0])), (path.name, path.name));
    }
}

#[test]
fn names_are_unique() {
    let mut names: Vec<_> = paths_float().map(|path| path.name).collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
}
