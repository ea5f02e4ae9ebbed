use super::cascade::{Cascade, Mutex};
use super::word::Flag;
use super::*;

not_send!(Member<Flag>);
not_send!(process::Remote<Flag>);

struct After(u64);

impl Lookout for After {
    fn passed(&mut self) -> bool {
        self.0 = self.0.saturating_sub(1);
        self.0 == 0
    }

    fn waited(&mut self) -> bool {
        self.0 == 0
    }

    fn now(&mut self) -> u64 {
        0
    }
}

/// A clock that shows the number of the token.
struct Counting(Arc<Ring<Cascade<Mutex<false>>>>, After, Vec<u64>);

impl Lookout for Counting {
    fn passed(&mut self) -> bool {
        self.1.passed()
    }

    fn waited(&mut self) -> bool {
        self.1.waited()
    }

    fn now(&mut self) -> u64 {
        self.2.push(self.0.token());
        self.0.token()
    }
}

#[test]
fn a_lap_is_stamped_while_the_token_is_here() {
    let ring = Arc::new(Ring::new(2, false).unwrap());
    let gate = std::sync::Barrier::new(2);
    std::thread::scope(|scope| {
        for rank in 0..2 {
            let (ring, gate) = (Arc::clone(&ring), &gate);
            scope.spawn(move || {
                let (mut member, mut clock) =
                    (Member::new(Arc::clone(&ring), rank), Counting(ring, After(10), Vec::new()));
                member.prepare();
                gate.wait();
                member.run(&mut clock);
                assert!(clock.2.iter().all(|token| token % 2 == 0), "{:?}", clock.2);
            });
        }
    });
    assert!(ring.laps().count() >= 9 && ring.laps().all(|lap| lap == 2), "{:?}", ring.laps().collect::<Vec<_>>());
}

/// Two participants, one run; then `spoil` has its way with the ring.
fn run<L: Link>(spoil: impl FnOnce(&Ring<L>)) -> Result<(), Error> {
    let ring = Arc::new(Ring::<L>::new(2, false).unwrap());
    let gate = std::sync::Barrier::new(2);
    std::thread::scope(|scope| {
        for rank in 0..2 {
            let (ring, gate) = (Arc::clone(&ring), &gate);
            scope.spawn(move || {
                let mut member = Member::new(ring, rank);
                member.prepare();
                gate.wait();
                member.run(&mut After(10));
            });
        }
    });
    assert_eq!(ring.verify(), Ok(()), "an honest run");
    spoil(&ring);
    ring.verify()
}

#[test]
fn a_token_that_was_lost_doubled_or_out_of_turn_is_noticed() {
    let add =
        |count: &AtomicU64, by: u64| count.store(count.load(Ordering::Relaxed).wrapping_add(by), Ordering::Relaxed);
    for by in [1, u64::MAX] {
        assert!(run::<Cascade<Mutex<false>>>(|ring| add(&ring.accounts[1].passes, by)).is_err());
    }
    assert!(run::<Flag>(|ring| add(&ring.accounts[0].wrong, 1)).is_err());
    assert!(run::<Flag>(|ring| ring.stations.iter().for_each(|station| add(&station.token, 2))).is_err());
    assert!(run::<Flag>(|ring| ring.common().broken.store(true, Ordering::Relaxed)).is_err());
}
