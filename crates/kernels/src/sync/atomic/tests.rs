use std::time::Duration;

use proptest::prelude::*;

use super::operation::{Cas, FetchAdd, Load, Store, Swap};
use super::*;
use crate::tests::watch;

const LIES: [Lie; 5] = [Lie::Contended, Lie::FalseShared, Lie::NextLine, Lie::Padded, Lie::Private];

const SPAN: Option<Duration> = Some(Duration::from_micros(500));

fn repeater<O: Operation>(lie: Lie, shared: &Arc<Shared<O>>, rank: usize) -> Repeater<O> {
    Repeater::new("test", lie, Arc::clone(shared), rank)
}

/// A word that holds something else after an honest run is noticed by all who have it.
#[track_caller]
fn check_noticed<O: Operation<Word = AtomicU64>>(lie: Lie) {
    let shared = Arc::new(Shared::<O>::new(lie, 3));
    let mut workers = [0, 1, 2].map(|rank| repeater(lie, &shared, rank));
    for worker in &mut workers {
        worker.run(&watch(SPAN));
    }
    workers.iter_mut().for_each(|worker| worker.verify().expect("an honest run"));
    for planted in [1, u64::MAX] {
        let spoilt = workers[1].word();
        spoilt.fetch_add(planted, Ordering::Relaxed);
        let noticed = workers.iter_mut().map(|worker| matches!(worker.verify(), Err(Error::Wrong(_))));
        assert_eq!(noticed.collect::<Vec<_>>(), [lie == Lie::Contended, true, lie == Lie::Contended], "{lie:?}");
        workers[1].word().fetch_sub(planted, Ordering::Relaxed);
    }
}

#[test]
fn a_lost_or_invented_operation_is_noticed() {
    for lie in LIES {
        check_noticed::<Load>(lie);
        check_noticed::<Store>(lie);
        check_noticed::<FetchAdd>(lie);
        check_noticed::<Swap>(lie);
        check_noticed::<Cas>(lie);
    }
}

proptest! {
    /// Who has a word with whom, and who a line of 64 bytes.
    #[test]
    fn words_lie_as_they_are_called(ranks in prop::array::uniform2(0..40_usize)) {
        let [one, other] = ranks;
        for lie in LIES {
            let shared = Arc::new(Shared::<FetchAdd>::new(lie, 40));
            let workers = [one, other].map(|rank| repeater(lie, &shared, rank));
            let [here, there] = [&workers[0], &workers[1]].map(|worker| std::ptr::from_ref(worker.word()) as usize);
            let alone = lie == Lie::Private;
            prop_assert_eq!(here == there, lie == Lie::Contended || (one == other && !alone));
            let lined = here / 64 == there / 64;
            prop_assert_eq!(lined, match lie {
                Lie::Contended => true,
                Lie::FalseShared => one / NEIGHBOURS == other / NEIGHBOURS,
                Lie::NextLine | Lie::Padded => one == other,
                Lie::Private => false,
            });
            let in_pair = lie == Lie::NextLine && one / 2 == other / 2;
            prop_assert!(!in_pair || here / 128 == there / 128);
        }
    }
}
