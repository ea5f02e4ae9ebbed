use std::time::{Duration, Instant};

use charz_data::{Params, Work};
use proptest::prelude::*;

use super::*;
use crate::tests::{Look, laps, watch};
use crate::watch::Stop;

fn hand<M: Mode>(shared: &Arc<Shared<M>>, rank: usize, rounds: u64) -> Hand<M> {
    Hand::new("c2c", Arc::clone(shared), rank, rounds).expect("a page of memory")
}

/// For any order of the two sides' attempts, the turns alternate, worker 0 has the first, and the accounts add up.
fn check_alternation<M: Mode>(attempts: &[bool]) {
    let lines = Lines::map().unwrap();
    let meeting = lines.of_run(0);
    meeting.reset(M::START);
    let mut sides = [M::new(0), M::new(1)];
    let mut turns = Vec::new();
    for &rank in attempts {
        if sides[usize::from(rank)].attempt(meeting) {
            turns.push(rank);
        }
    }
    assert!(turns.iter().zip([false, true].into_iter().cycle()).all(|(rank, due)| *rank == due), "{turns:?}");
    // A side that has had its turn gets no other before the other side's attempt, so there is one turn per change of side.
    let changes = attempts.windows(2).filter(|pair| pair[0] != pair[1]).count();
    let early = usize::from(attempts.first() == Some(&true));
    assert_eq!(turns.len(), if attempts.is_empty() { 0 } else { changes + 1 - early }, "{attempts:?}");
    if turns.last() == Some(&true) && attempts.last() == Some(&true) {
        assert!(M::agree(meeting.words(), sides.map(|side| side.account())), "{attempts:?}");
    }
}

proptest! {
    #[test]
    fn turns_alternate(attempts: Vec<bool>) {
        check_alternation::<ReadWrite>(&attempts);
        check_alternation::<Cas>(&attempts);
        check_alternation::<FetchAdd>(&attempts);
        check_alternation::<Exchange>(&attempts);
    }
}

/// Runs of which every third is cut short for one of the two: the other leaves as well, and the next run is whole.
fn check_runs<M: Mode>() {
    // On a busy machine most turns wait until the other worker has a CPU.
    const TURNS: u64 = 200;
    let shared = Arc::<Shared<M>>::default();
    let look = |rank: usize, run: usize| {
        let whole = run % 3 != 2;
        let leaves = !whole && run % 2 == rank;
        let deadline = leaves.then(|| Instant::now() + Duration::from_micros(run as u64));
        Look { watch: Watch::new(&Stop::new()).with_deadline(deadline), span: None, whole }
    };
    let laps = laps(2, 12, |rank| Box::new(hand(&shared, rank, TURNS)), look);
    for (run, lap) in laps.iter().flat_map(|laps| laps.iter().enumerate()) {
        assert_eq!(lap.verdict, Ok(()));
        assert!(if run % 3 != 2 { lap.work.ops.0 == TURNS } else { lap.work.ops.0 <= TURNS });
    }
}

#[test]
fn a_worker_that_leaves_releases_the_other() {
    check_runs::<ReadWrite>();
    check_runs::<Cas>();
    check_runs::<FetchAdd>();
    check_runs::<Exchange>();
}

/// A line that holds another number than the workers wrote, and a worker that claims another number of turns.
fn check_notices<M: Mode>() {
    let shared = Arc::<Shared<M>>::default();
    let mut hands = [0, 1].map(|rank| hand(&shared, rank, 100));
    hands.iter_mut().for_each(|hand| hand.prepare());
    thread::scope(|scope| {
        for hand in &mut hands {
            scope.spawn(|| hand.run(&watch(None)));
        }
    });
    let lines = shared.lines.get().unwrap();
    for planted in [lines.of_run(1).first, &shared.accounts[1].turns] {
        hands.iter_mut().for_each(|hand| hand.verify().expect("an honest run"));
        planted.fetch_add(1, Ordering::Relaxed);
        for hand in &mut hands {
            assert!(matches!(hand.verify(), Err(Error::Wrong(_))), "worker {}", hand.rank);
        }
        planted.fetch_sub(1, Ordering::Relaxed);
    }
}

#[test]
fn a_wrong_run_is_noticed_by_both() {
    check_notices::<ReadWrite>();
    check_notices::<Cas>();
    check_notices::<FetchAdd>();
    check_notices::<Exchange>();
}

#[test]
fn a_run_without_its_first_worker_ends() {
    let mut hand = hand(&Arc::<Shared<Cas>>::default(), 1, 10);
    hand.prepare();
    assert_eq!(hand.run(&watch(None)), Work::default());
    assert!(hand.verify().is_err());
}

#[test]
fn two_workers_share_the_iterations() {
    let turns =
        |iterations| KERNELS[1].stage(&Params { iterations, ..Params::SMALL }, 2).map(|stage| stage.work().ops.0);
    assert_eq!((turns(6_400), turns(1)), (Ok(100), Ok(1)));
    assert!(turns(1_000_000).is_ok_and(|turns| 2.0 * 20.0 * turns as f64 >= charz_data::checks::needed_ns(0.0, 0.0)));
}
