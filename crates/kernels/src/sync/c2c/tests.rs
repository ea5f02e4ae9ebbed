use std::sync::Barrier;
use std::time::{Duration, Instant};

use charz_data::{Params, Work};
use proptest::prelude::*;

use super::*;
use crate::watch::Stop;

fn handing<M: Mode>(rounds: u64) -> Handing<M> {
    Handing { name: "c2c", rounds, shared: Arc::new(Shared::default()) }
}

/// Whatever order the two sides' attempts come in, the turns alternate, worker 0 has the first, and the accounts add up.
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
    // The attempts after the last in which the other had an attempt come to nothing; otherwise there is one turn a change.
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

/// What one worker did in one run, and whether it was to do all of it.
struct Lap {
    work: Work,
    whole: bool,
    verdict: Result<(), Error>,
}

/// Runs of which every third is cut short for one of the two: the other leaves as well, and the next run is whole.
fn check_runs<M: Mode>() {
    const RUNS: u64 = 30;
    let stage = handing::<M>(2_000);
    let gate = Barrier::new(2);
    // Nothing is asserted before both have ended: who panicked at the gate would leave the other waiting.
    let serve = &|rank: usize| {
        let mut hand = stage.hand(rank).expect("a page of memory");
        let lap = |run: u64| {
            let whole = run % 3 != 2;
            let leaves = !whole && run % 2 == rank as u64;
            let deadline = leaves.then(|| Instant::now() + Duration::from_micros(run));
            let watch = Watch::new(&Stop::new()).with_deadline(deadline);
            hand.prepare();
            gate.wait();
            let work = hand.run(&watch);
            gate.wait();
            let verdict = if whole { hand.verify() } else { Ok(()) };
            gate.wait();
            Lap { work, whole, verdict }
        };
        (0..RUNS).map(lap).collect::<Vec<_>>()
    };
    let laps: Vec<_> = thread::scope(|scope| {
        let hands = [0, 1].map(|rank| scope.spawn(move || serve(rank)));
        hands.into_iter().flat_map(|hand| hand.join().expect("a worker panicked")).collect()
    });
    for lap in laps {
        assert_eq!(lap.verdict, Ok(()));
        assert!(if lap.whole { lap.work == stage.work() } else { lap.work.ops <= stage.work().ops });
    }
}

#[test]
fn whoever_leaves_releases_the_other() {
    check_runs::<ReadWrite>();
    check_runs::<Cas>();
    check_runs::<FetchAdd>();
    check_runs::<Exchange>();
}

/// A line that holds another number than the workers wrote, and a worker that claims another number of turns.
fn check_notices<M: Mode>() {
    let stage = handing::<M>(100);
    let mut hands: Vec<_> = thread::scope(|scope| {
        let hands = [0, 1].map(|rank| stage.hand(rank).unwrap()).map(|mut hand| {
            hand.prepare();
            scope.spawn(move || {
                hand.run(&Watch::new(&Stop::new()));
                hand
            })
        });
        hands.into_iter().map(|hand| hand.join().unwrap()).collect()
    });
    let lines = stage.shared.lines.get().unwrap();
    for planted in [lines.of_run(1).first, &stage.shared.accounts[1].turns] {
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
    let stage = handing::<Cas>(10);
    let mut hand = stage.hand(1).unwrap();
    hand.prepare();
    assert_eq!(hand.run(&Watch::new(&Stop::new())), Work::default());
    assert!(hand.verify().is_err());
}

#[test]
fn two_workers_share_the_iterations() {
    let turns = |iterations, workers| {
        C2C_CAS.stage(&Params { iterations, ..Params::SMALL }, workers).map(|stage| stage.work().ops.0)
    };
    assert_eq!(turns(51_200, 2), Ok(100));
    assert_eq!(turns(1, 2), Ok(1));
    assert!(turns(0, 2).is_err());
    for workers in [1, 3] {
        assert!(turns(51_200, workers).unwrap_err().to_string().contains("2 workers"));
    }
}
