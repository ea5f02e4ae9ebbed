use charz_data::Params;

use super::passer::Passer;
use super::*;
use crate::kernel::Worker;
use crate::tests::watch;

fn passer(level: &Level, size: u64) -> Passer {
    let params = Params { size_bytes: size, ..Params::SMALL };
    Passer::new(level.passing(&params).unwrap(), 2).unwrap()
}

/// Runs for some time and gives the verdict after `plant` has spoilt the worker.
fn verdict(passer: &mut Passer, micros: u64, plant: impl FnOnce(&mut Passer)) -> Result<(), Error> {
    passer.prepare();
    passer.run(&watch(Some(Duration::from_micros(micros))));
    plant(passer);
    passer.verify()
}

/// In small blocks a run makes many passes, in large ones less than one: wherever it stops, the answer is known.
#[test]
fn honest_runs_pass_wherever_they_stop() {
    for level in LEVELS.iter().copied().filter(|level| level.check().is_ok()) {
        for size in [4096, 40_000, 3 << 20, 24 << 20] {
            let mut passer = passer(level, size);
            for micros in [0, 30, 300, 70, 2000] {
                let verdict = verdict(&mut passer, micros, |_| ());
                assert_eq!(verdict, Ok(()), "{} of {size} bytes, {micros} µs", level.card.name);
            }
        }
    }
}

/// One line of every five has a wrong bit, so that the lines that are checked, as far apart as they are, meet one.
#[test]
fn wrong_stores_are_noticed() {
    for level in LEVELS.iter().copied().filter(|level| level.check().is_ok() && level.op != Op::Read) {
        let mut passer = passer(level, 1 << 20);
        verdict(&mut passer, 1000, |_| ()).expect("an honest run");
        let spoil = |passer: &mut Passer| {
            passer.block.lines_mut().iter_mut().step_by(5).for_each(|line| line.0[7] ^= 1);
        };
        let error = verdict(&mut passer, 1000, spoil).expect_err("a planted error");
        assert!(matches!(error, Error::Wrong(_)), "{error}");
    }
}

/// A pass more or fewer than was counted leaves another number in every line, and another sum.
#[test]
fn passes_that_were_not_made_are_noticed() {
    for level in LEVELS.iter().copied().filter(|level| level.check().is_ok() && level.op != Op::Copy) {
        let mut passer = passer(level, 40_000);
        let error = verdict(&mut passer, 500, Passer::skip).expect_err("a planted error");
        assert!(matches!(error, Error::Wrong(_)), "{error}");
    }
}

#[test]
fn a_copy_that_was_not_made_is_noticed() {
    let mut passer = passer(&LEVEL_COPY, 40_000);
    for _ in 0..3 {
        verdict(&mut passer, 500, |_| ()).expect("an honest run");
    }
    passer.prepare();
    passer.skip();
    passer.skip();
    assert!(matches!(passer.verify(), Err(Error::Wrong(_))));
}

#[test]
fn sums_of_groups_are_those_of_their_words() {
    for level in [&LEVEL_READ, &LEVEL_MIX_1_1, &LEVEL_MIX_2_1, &LEVEL_MIX_3_1] {
        for groups in [0, 1, 2, 5, 72] {
            let (op, first) = (level.op, u64::MAX - 100);
            let lines = groups as usize * op.group();
            let read = (0..lines).filter(|line| op == Op::Read || line % op.group() != op.group() - 1);
            let words = read.flat_map(|line| (line * Line::WORDS) as u64..((line + 1) * Line::WORDS) as u64);
            let sum = words.fold(0_u64, |sum, word| sum.wrapping_add(first.wrapping_add(word)));
            assert_eq!(passer::sum_of_groups(op, first, groups), sum, "{op:?} {groups}");
        }
    }
}

/// What a line costs that moves twice: once to be read, and once to be written.
#[test]
fn traffic_follows_from_what_is_written() {
    let factor = |level: &Level| level.traffic().unwrap();
    assert_eq!(
        LEVELS.iter().copied().map(factor).collect::<Vec<_>>(),
        [1.0, 2.0, 1.0, 1.5, 4.0 / 3.0, 1.5, 4.0 / 3.0, 1.25]
    );
}

#[test]
fn blocks_too_small_for_a_round_are_refused() {
    for (level, least) in [(&LEVEL_READ, 512), (&LEVEL_COPY, 1024), (&LEVEL_TRIAD, 1536), (&LEVEL_MIX_2_1, 576)] {
        let stage = |size| level.stage(&Params { size_bytes: size, ..Params::SMALL }, 1);
        assert!(matches!(stage(least - 1).err(), Some(Error::Unavailable(_))), "{}", level.card.name);
        assert!(stage(least).is_ok(), "{}", level.card.name);
    }
}
