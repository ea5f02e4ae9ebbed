use charz_data::Params;

use super::passer::Passer;
use super::*;
use crate::kernel::Worker;
use crate::tests::{check_noticed, verdict};

fn passer(op: Op, size: u64) -> Passer {
    let params = Params { size_bytes: size, ..Params::SMALL };
    Passer::new(Passing::new("test", op, &params).unwrap(), 2).unwrap()
}

/// The operations of the kernels that can run here.
fn ops() -> impl Iterator<Item = Op> {
    Op::ALL.into_iter().filter(|op| Loop::fastest(*op).is_some())
}

fn micros(micros: u64) -> Option<Duration> {
    Some(Duration::from_micros(micros))
}

/// In small blocks a run makes many passes, in large ones less than one: wherever it stops, the answer is known.
#[test]
fn honest_runs_pass_wherever_they_stop() {
    for op in ops() {
        for size in [4096, 40_000, 3 << 20, 24 << 20] {
            let mut passer = passer(op, size);
            for span in [0, 30, 300, 70, 2000] {
                let verdict = verdict(&mut passer, micros(span), |_| ());
                assert_eq!(verdict, Ok(()), "{op:?} of {size} bytes, {span} µs");
            }
        }
    }
}

/// One line of every five has a wrong bit, so the lines that are checked, as far apart as they are, include one.
#[test]
fn wrong_data_is_noticed() {
    for op in ops() {
        check_noticed(&mut passer(op, 1 << 20), micros(1000), |passer| {
            passer.block.lines_mut().iter_mut().step_by(5).for_each(|line| line.0[7] ^= 1);
        });
    }
}

/// A pass more or fewer than was counted leaves another number in every line, and another sum.
#[test]
fn passes_that_were_not_made_are_noticed() {
    for op in ops().filter(|op| *op != Op::Copy) {
        check_noticed(&mut passer(op, 40_000), micros(500), Passer::skip);
    }
}

#[test]
fn a_copy_that_was_not_made_is_noticed() {
    let mut passer = passer(Op::Copy, 40_000);
    for _ in 0..3 {
        verdict(&mut passer, micros(500), |_| ()).expect("an honest run");
    }
    passer.prepare();
    passer.skip();
    passer.skip();
    assert!(matches!(passer.verify(), Err(Error::Wrong(_))));
}

#[test]
fn sums_of_groups_are_those_of_their_words() {
    for op in [Op::Read, Op::Mix1, Op::Mix2, Op::Mix3] {
        for groups in [0, 1, 2, 5, 72] {
            let first = u64::MAX - 100;
            let lines = groups as usize * op.group();
            let summed = (0..lines).filter(|line| line % op.group() < op.summed());
            let words = summed.flat_map(|line| (line * Line::WORDS) as u64..((line + 1) * Line::WORDS) as u64);
            let sum = words.fold(0_u64, |sum, word| sum.wrapping_add(first.wrapping_add(word)));
            assert_eq!(passer::sum_of_groups(op, first, groups), sum, "{op:?} {groups}");
        }
    }
}

/// What a line costs that moves twice: once to be read, and once to be written.
#[test]
fn traffic_follows_from_what_is_written() {
    let factors: Vec<f64> = KERNELS.iter().filter_map(|kernel| kernel.traffic()).collect();
    assert_eq!(factors, [1.0, 2.0, 1.0, 1.5, 4.0 / 3.0, 1.5, 4.0 / 3.0, 1.25]);
}

#[test]
fn blocks_too_small_for_a_round_are_refused() {
    for (op, least) in [(Op::Read, 512), (Op::Copy, 1024), (Op::Triad, 1536), (Op::Mix2, 576)] {
        let passing = |size| Passing::new("test", op, &Params { size_bytes: size, ..Params::SMALL });
        assert!(matches!(passing(least - 1).err(), Some(Error::Unavailable(_))), "{op:?}");
        assert!(passing(least).is_ok(), "{op:?}");
    }
}
